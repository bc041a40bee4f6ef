"""AREA, Appendix B.1 as printed: Lemmas 9, 10 and 11."""

from fractions import Fraction

from boundlab.proofs._appendix_b import AppendixB
from boundlab.prove import Range, equal, expr, finite_sum, power_root, scalar, squared, variable


def write(b: AppendixB) -> None:
    """From (8) to the end of B.1."""
    proof = b.proof
    proof.remark("(8)", "the definition x*_{i,k} = x* − α_k·M·∇f_i(x*)", "(8)")
    proof.remark("(9)", "the definition of the matrix A_k", "(9)")
    _inequalities(b)
    _lemma_9(b)
    _lemma_10(b)
    _lemma_11(b)


def _inequalities(b: AppendixB) -> None:
    proof, kernel = b.proof, b.kernel
    # x = −u; what (10) is used for are the powers 1/3, 1/2, 4 and the whole ones.
    proof.remark(
        "(10)", "Bernoulli's inequalities for every real r; those that are used follow, each a step of its own", "(10)"
    )
    u = kernel.context.declare("bern", Range(low=scalar(0), high=scalar(1)))
    for degree, name in ((3, "third"), (2, "half")):
        root = power_root(kernel, f"bern_{name}", 1 - u, degree, high=1)
        r = variable(f"bern_{name}")
        # (1 − u/q) − r is (1 − r)²·(…)/q once u is 1 − r^q.
        proof.step(
            f"(10) with r = 1/{degree}",
            expr(r) <= 1 - u / degree,
            multipliers=[(Fraction(-1, degree), root)],
            at=f"(10), used for (1 − u)^(1/{degree})",
        )
    proof.step("(10) with r = 4", expr((1 - u) ** 4) >= 1 - 4 * u, at="(10), used for (1 − u)^4")
    b.s.name("bern_base", 1 - u, 0, 1)
    base, m = variable("bern_base"), b.k
    proof.induction(
        "(10) with whole r",
        expr(base**m) >= 1 - m * (1 - base),
        "k",
        [],
        lambda known: [
            kernel.scale(kernel.combine(expr(base) >= 0, [], known.context), known),
            kernel.combine(expr(m * (1 - base) ** 2) >= 0, [], known.context),
        ],
        at="(10), used for (1 − u)^m",
    )
    one, other, c = b.vec("u"), b.vec("v"), kernel.context.declare("young", Range(low=scalar(0), above=True))
    for sign, name in ((1, "+"), (-1, "−")):
        proof.step(
            f"(11) with {name}",
            b.s.dot(one, other) * (2 * sign) <= squared(one) * c + squared(other) / c,
            [],
            squares=[one * c - other * sign],
            at="(11)",
        )


def _lemma_9(b: AppendixB) -> None:
    proof, s, kernel = b.proof, b.s, b.kernel
    x, y, g, h = b.vec("u"), b.vec("v"), b.vec("gu", b.i), b.vec("gv", b.i)
    alpha = kernel.context.declare("alpha", Range(low=scalar(0), high=2 / (b.mu + b.L), above=True))
    proof.step(
        "Lemma 9",
        squared(x - g * alpha - y + h * alpha) <= squared(x - y) * (1 - alpha * b.gamma),
        [s.interpolation(g, h), s.interpolation(h, g)],
        squares=[g - h],
        at="Lemma 9, also for α = 2/(μ + L)",
    )


def _lemma_10(b: AppendixB) -> None:
    proof, kernel, n, p, p_s, p_min = b.proof, b.kernel, b.n, b.p, b.p_s, b.p_min
    t = kernel.context.declare("cube", Range(low=scalar(0), high=scalar(1), above=True))
    beta = t**3
    proof.remark(
        "(12)", "the definition of w_k; here cube = β_k^(1/3), any number in (0, 1], which is α_k < 4/(Mγ)", "(12)"
    )
    x, y, server = 1 / (n * p * t**2), 1 / (n * p * t), 1 / p_s
    proof.step(
        "(13), the sum of the weights",
        finite_sum("i", 0, n, x + y) <= expr(2 * b.qbar / beta),
        [b.s.qbar()],
        at="(13), left",
    )
    proof.step(
        "(13), with the probabilities",
        finite_sum("i", 0, n, p * x) <= expr(1 / beta),
        [],
        at="(13), right (≤ where = is printed: the sum is β^(-2/3))",
    )
    v = (x * (1 - p) + y * p, y * (1 - p) + server * p_s / n, 1 / t**2 * beta + server * (1 - p_s))
    proof.step(
        "[v]_i, first form", equal(expr(v[0]), ((1 - p) / (p * t**2) + 1 / t) / n), at="Lemma 10, [v]_i, first ="
    )
    proof.step("[v]_i, second form", equal(expr(v[0]), x * (1 - p + p * t)), at="Lemma 10, [v]_i, second =")
    proof.step(
        "[v]_(i+n), first form", equal(expr(v[1]), (1 - p) / (n * p * t) + 1 / n), at="Lemma 10, [v]_(i+n), first ="
    )
    proof.step(
        "[v]_(i+n), second form",
        equal(expr(v[1]), y * (1 - p + p * t)),
        at="Lemma 10, [v]_(i+n) (w_(i+n) where w_i is printed)",
    )
    proof.step(
        "[v]_(2n+1), first form", equal(expr(v[2]), beta / t**2 + (1 - p_s) / p_s), at="Lemma 10, [v]_(2n+1), first ="
    )
    proof.step(
        "[v]_(2n+1), second form", equal(expr(v[2]), server * (1 - p_s + p_s * t)), at="Lemma 10, [v]_(2n+1), second ="
    )
    proof.remark(
        "(15)",
        "[v]_i ≤ max{1 − p_i + p_i·β^(1/3), 1 − p_s + p_s·β^(1/3)}·[w]_i: each entry is one that the maximum "
        "is of, by the three forms above",
        "(15)",
    )
    rho = 1 - p_min + p_min * t
    for name, left, right in (("x", v[0], x), ("y", v[1], y), ("x_s", v[2], server)):
        proof.step(f"(14) for {name}", expr(left) <= rho * right, at="(14)")


def _lemma_11(b: AppendixB) -> None:
    proof, s, kernel = b.proof, b.s, b.kernel
    a, d, D, M, k, p, gamma, mu, L = b.a, b.d, b.D, b.M, b.k, b.p_min, b.gamma, b.mu, b.L
    proof.remark(
        "(16)", "the definition of α_k = c/(k + d), c = 48/(pMγ), d = 48/(pMγD); here p = p_min, as it is used", "(16)"
    )
    step, offset, q0 = s.named_step, s.named_offset, s.named_q0
    own_d = proof.step(
        "d by the printed formula",
        equal(expr(d), 48 / (p * M * gamma * D)),
        multipliers=[(1, offset), (-48 / (p * variable("q0") * D * M * gamma), q0)],
        at="(16)",
    )
    c = proof.step(
        "c by the printed formula", equal(expr(b.c), 48 / (p * M * gamma)), multipliers=[(D, own_d)], at="(16)"
    )
    whole = 48 / (p * M * gamma * (k + 48 / (p * M * gamma * D)))
    # D·d/(k + d) with d replaced: both sides times (k + d)·(k + 48/(pMγD)).
    other_d = 48 / (p * M * gamma * D)
    proof.step(
        "Lemma 11, first claim, first =",
        equal(expr(a(k)), whole),
        multipliers=[(1, step), (D * k / ((k + d) * (k + other_d)), own_d)],
        at="Lemma 11, first display, first =",
    )
    proof.step(
        "Lemma 11, first claim, second =",
        equal(expr(whole), D / (1 + p * M * gamma * D * k / 48)),
        at="Lemma 11, first display, second =",
    )
    proof.step("Lemma 11, first claim", expr(a(k)) <= D, multipliers=[(-1, step)], at="Lemma 11, first display, ≤")
    proof.step(
        "Lemma 11, d from below",
        expr(d) >= 24 / p * (mu + L) ** 2 / (2 * mu * L),
        multipliers=[(1, own_d)],
        at="Lemma 11, the constant d, first ≥",
    )
    proof.step(
        "Lemma 11, d from below, simpler",
        expr(24 / p * (mu + L) ** 2 / (2 * mu * L)) >= 24 / p,
        at="Lemma 11, the constant d, second ≥",
    )
    beta = lambda j: 1 - a(j) * M * gamma / 4
    falling = b.known["falling"] = proof.step(
        "the steps decrease",
        expr(a(k + 1)) <= a(k),
        multipliers=[(-1, kernel.at(step, {"k": k + 1})), (1, step)],
        at="Lemma 11, strictly decreasing",
    )
    at_0 = kernel.at(step, {"k": 0})
    proof.step(
        "Lemma 11, β_0 is least",
        expr(beta(k)) >= beta(0),
        multipliers=[(-M * gamma / 4, step), (M * gamma / 4, at_0)],
        at="Lemma 11, min β_k = β_0",
    )
    proof.step(
        "Lemma 11, β_0",
        equal(expr(beta(0)), 1 - 12 / (p * d)),
        multipliers=[(-M * gamma / 4, at_0), (-M * gamma / (4 * d), c)],
        at="Lemma 11, β_0, =",
    )
    proof.step("Lemma 11, β_0 from below", expr(1 - 12 / (p * d)) >= Fraction(1, 2), at="Lemma 11, β_0, ≥")
    b.known["(17)"] = proof.step("(17)", expr(beta(k)) >= Fraction(1, 2), at="(17)")
    # A root of 1/β_k: where it stands in sums over k, nothing is divided by.
    inverse = power_root(kernel, "v", 1 / beta(k), 3, "k", low=1, high=Fraction(4, 3))
    r = b.root
    root = b.known["root"] = kernel.combine(equal(expr(r(k) ** 3), beta(k)), [(-beta(k) * r(k) ** 3, inverse)])
    rho, t = 1 - p + p * r(k), k + d
    product = proof.step(
        "α_k in terms of p",
        equal(expr(a(k) * M * gamma), 48 / (p * t)),
        multipliers=[(M * gamma, step), (M * gamma / t, c)],
        says="α_k·M·γ = 48/(p·(k + d))",
    )
    by_root = proof.step(
        "Lemma 11, ρ, first =",
        equal(expr(r(k) ** 3), 1 - 12 / (p * t)),
        multipliers=[(1, root), (Fraction(-1, 4), product)],
        at="Lemma 11, ρ = 1 − p + p·(1 − 12/(p(k + d)))^(1/3)",
    )
    small = proof.step(
        "Lemma 11, ρ", expr(rho) <= 1 - 4 / t, multipliers=[(-p / 3, by_root)], at="Lemma 11, ρ ≤ 1 − 4/(k + d)"
    )
    proof.step(
        "Lemma 11, times (k + d)^4",
        expr(t**4 * rho) <= t**4 * (1 - 4 / t),
        multipliers=[(t**4, small)],
        at="Lemma 11, last display, first ≤",
    )
    last = proof.step(
        "Lemma 11, (1 − 1/(k + d))^4",
        expr(t**4 * (1 - 4 / t)) <= t**4 * (1 - 1 / t) ** 4,
        at="Lemma 11, last display, second ≤",
    )
    proof.step("Lemma 11, 1 − 1/(k + d)", equal(expr(1 - 1 / t), (t - 1) / t), at="Lemma 11, last line")
    b.known["(18)"] = proof.step(
        "(18)", expr(rho * t**4) <= (t - 1) ** 4, multipliers=[(t**4, small), (1, last)], at="(18)"
    )
    b.known["falling"], b.known["c"], b.known["d"], b.known["product"] = falling, c, own_d, product
