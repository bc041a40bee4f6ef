"""AREA, Appendix C as printed: every displayed relation, one step each, nothing repaired.

Misprints without consequence are encoded as they are meant, with a note: E f(G^{M−1}) without its minus sign in the
last displays of Lemma 21's proof, p_i in place of 1/p_i in (40), an equality in T1's first line where Assumption 1
only gives an upper bound.
"""

from typing import Any

from boundlab.prove import Expr, Proof, Script, equal, expr, finite_sum, squared, telescope, total, variable


def appendix_c(proof: Proof) -> None:
    """From (34) to the end of the appendix."""
    s, kernel = proof.setting(), proof.kernel
    i, r, m, k, M = s.i, s.r, s.m, s.k, s.M
    alpha, B, sigma, star, p = s.alpha, s.symbol("B"), s.symbol("sigma"), s.star, s.p(i)
    z, g, e = s.z, s.g, s.e
    f = lambda u: s.part(i, u)
    D = lambda j: squared(z(i, r, j) - star)
    gap = lambda u: s.objective(u) - s.objective(star)
    noise = [s.unbiased(e(i, r, m), v) for v in (z(i, r, m), g(i, r, m))]
    move, convex = s.move(i, r, m), s.convex(g(i, r, m), z(i, r, m + 1))

    proof.remark("(34)", "the definition of V_k", "(34)")
    proof.step(
        "(35)", f(star) >= f(z(i, r, m)) + s.dot(g(i, r, m), star - z(i, r, m)), [s.convex(g(i, r, m), star)], at="(35)"
    )

    # Lemma 21, with m − 1 of the paper as m
    inserted = s.dot(g(i, r, m), (g(i, r, m) + e(i, r, m)) * -alpha)
    first, second, third = (f"proof of Lemma 21, first display, {one} line" for one in ("first", "second", "third"))
    # The minus in front of the scalar product has become a plus.
    wrong = -f(z(i, r, m)) + inserted
    proof.printed("Lemma 21, first relation", -f(z(i, r, m + 1)) <= wrong, [move, convex], at=first)
    proof.step(
        "Lemma 21, first relation",
        -f(z(i, r, m + 1)) <= -f(z(i, r, m)) - inserted,
        [move, convex],
        at=first,
    )
    squares = -f(z(i, r, m)) - squared(g(i, r, m)) * alpha
    proof.printed("Lemma 21, second relation", equal(wrong, squares), noise, at=second)
    proof.step(
        "Lemma 21, second relation",
        equal(-f(z(i, r, m)) - inserted, -f(z(i, r, m)) + squared(g(i, r, m)) * alpha),
        noise,
        at=second,
    )
    lipschitz = s.lipschitz(g(i, r, m))
    proof.printed(
        "Lemma 21, third relation", squares <= -f(z(i, r, m)) + alpha * B**2, [kernel.square(g(i, r, m))], at=third
    )
    down = proof.step(
        "Lemma 21, third relation",
        -f(z(i, r, m + 1)) <= -f(z(i, r, m)) + alpha * B**2,
        [move, convex, lipschitz, *noise],
        at=third,
    )
    far = proof.induction(
        "(37)", -f(z(i, r, m)) <= -f(z(i, r, 0)) + alpha * m * B**2, "m", [], lambda known: [known, down], at="(37)"
    )
    before = finite_sum("m", 0, M - 1, f(z(i, r, m)))
    whole = finite_sum("m", 0, M, f(z(i, r, m)))
    end = f(z(i, r, M - 1))
    last_term = s.last_term("m", 0, M - 1, f(z(i, r, m)))
    first, second, third = (f"proof of Lemma 21, last display, {one} line" for one in ("first", "second", "third"))
    # Here the minus in front of the last term is lost, and two lines below that of M·f_i, too.
    proof.printed("Lemma 21, the last term", -whole <= end - before, [last_term], at=first)
    proof.step(
        "Lemma 21, the last term",
        -whole <= -end - before,
        [last_term],
        at=first,
    )
    earlier = proof.step(
        "(36) for M − 1",
        -before <= f(z(i, r, 0)) * -(M - 1) + alpha * (M - 1) * (M - 2) / 2 * B**2,
        [total(kernel, far, "m", 0, M - 1), telescope(kernel, "m", 0, M - 1, m * (m - 1) / 2)],
        says="the hypothesis of the induction, -Σ_{m<M-1} E f_i ≤ -(M-1) f_i + α(M-1)(M-2)B²/2",
        at="proof of Lemma 21, induction",
    )
    rest = expr(alpha * (M - 1) * (M - 2) / 2 * B**2) - f(z(i, r, 0)) * (M - 1)
    proof.printed("Lemma 21, second line", -whole <= end + rest, [last_term, earlier], at=second)
    proof.step("Lemma 21, second line", -whole <= -end + rest, [last_term, earlier], at=second)
    known = [last_term, earlier, kernel.at(far, {"m": M - 1})]
    size = expr(alpha * (M - 1) * B**2 + alpha * (M - 1) * (M - 2) / 2 * B**2)
    proof.printed("Lemma 21, third line", -whole <= f(z(i, r, 0)) * M + size, known, at=third)
    lemma = proof.step("Lemma 21, third line", -whole <= size - f(z(i, r, 0)) * M, known, at=third)
    proof.step(
        "M − 1 + (M − 1)(M − 2)/2",
        equal(expr(M - 1 + (M - 1) * (M - 2) / 2), M * (M - 1) / 2),
        [],
        at="proof of Lemma 21, last line",
    )
    lemma = proof.step(
        "(36), Lemma 21", -whole <= f(z(i, r, 0)) * -M + alpha * M * (M - 1) / 2 * B**2, [lemma], at="(36)"
    )

    # Theorem 8
    S = lambda j: squared(s.xs(j) - star)
    X = lambda j: squared(s.x(i, j) - star)
    Y = lambda j: squared(s.y(i, j) - star)
    T1 = squared(z(i, k, M) - star)
    proof.step("(38)", equal(X(k + 1), X(k) * (1 - p) + T1 * p), [s.event(X(k + 1), k)], at="(38)")
    still = [*noise, s.unbiased(e(i, r, m), star)]
    slope = s.dot(z(i, r, m) - star, g(i, r, m) * -alpha)
    without = squared(z(i, r, m) - g(i, r, m) * alpha - star) + alpha**2 * sigma**2
    first, known = "after (38), first line", [move, s.variance(e(i, r, m)), *still]
    proof.printed("T1, first line", equal(D(m + 1), without), known, at=first)
    proof.step("T1, first line", D(m + 1) <= without, known, at=first)
    proof.step(
        "T1, second line",
        without <= D(m) + alpha**2 * B**2 + slope * 2 + alpha**2 * sigma**2,
        [s.lipschitz(g(i, r, m))],
        at="after (38), second line",
    )
    one = proof.step(
        "T1, third line",
        D(m + 1) <= D(m) - (f(z(i, r, m)) - f(star)) * (2 * alpha) + alpha**2 * (sigma**2 + B**2),
        [move, s.convex(g(i, r, m), star), s.lipschitz(g(i, r, m)), s.variance(e(i, r, m)), *still],
        at="after (38), third line",
    )
    summed = proof.step(
        "T1, telescoping sum",
        D(M) <= D(0) - finite_sum("m", 0, M, f(z(i, r, m)) - f(star)) * (2 * alpha) + alpha**2 * M * (sigma**2 + B**2),
        [total(kernel, one, "m", 0, M), telescope(kernel, "m", 0, M, D(m))],
        at="before Lemma 21 is applied",
    )
    size = alpha**2 * M * sigma**2 + alpha**2 * M * (M + 1) / 2 * B**2
    local = proof.step(
        "Lemma 21 is applied",
        D(M) <= D(0) - (f(z(i, r, 0)) - f(star)) * (2 * alpha * M) + size,
        [summed, lemma],
        at="before (39), where Lemma 21 is applied",
    )
    _after_lemma(proof, local, size, (S, X, Y), gap)


def _after_lemma(proof: Proof, local: Any, size: Any, squares: Any, gap: Any) -> None:
    """From the local pass to the theorem."""
    s, kernel = proof.setting(), proof.kernel
    i, k, K, M, n, star, p, p_s = s.i, s.k, s.symbol("K"), s.M, s.n, s.star, s.p(s.i), s.p_s
    alpha, B, sigma, R, qbar = s.alpha, s.symbol("B"), s.symbol("sigma"), s.symbol("R"), s.symbol("qbar")
    S, X, Y = squares
    at_k = kernel.at(local, {"r": k})
    client = proof.step(
        "(39) for one client",
        X(k + 1) / p <= X(k) * (1 / p - 1) + S(k) - (s.part(i, s.xs(k)) - s.part(i, star)) * (2 * alpha * M) + size,
        [s.event(X(k + 1), k), at_k, s.begin(i, k)],
        at="before (39)",
    )
    over = lambda of: finite_sum("i", 0, n, of / n)
    mean = proof.step(
        "(39)",
        over(X(k + 1) / p) <= over(X(k) * (1 / p - 1)) + S(k) - gap(s.xs(k)) * (2 * alpha * M) + size,
        [s.over_clients(client)],
        at="(39)",
    )
    memory = proof.step(
        "before (40)", equal(Y(k + 1), Y(k) * (1 - p) + X(k) * p), [s.event(Y(k + 1), k)], at="before (40)"
    )
    known, right = [total(kernel, memory, "i", 0, n, 1 / (n * p))], over(Y(k) * (1 / p - 1)) + over(X(k))
    proof.printed("(40)", equal(over(Y(k + 1) * p), right), known, at="(40), with p_i on the left")
    forty = proof.step("(40)", equal(over(Y(k + 1) / p), right), known, at="(40), with 1/p_i on the left")
    average = s.mean_vector(lambda j: s.y(j, k))
    proof.step(
        "before (41), first line",
        equal(S(k + 1), S(k) * (1 - p_s) + squared(average - star) * p_s),
        [s.event(S(k + 1), k)],
        at="before (41), first line",
    )
    jensen = s.over_clients(kernel.square(s.y(i, k) - average))
    server = proof.step(
        "before (41), second line",
        S(k + 1) <= S(k) * (1 - p_s) + over(Y(k)) * p_s,
        [s.event(S(k + 1), k), jensen],
        at="before (41), second line",
    )
    last = proof.step("(41)", S(k + 1) / p_s <= S(k) * (1 / p_s - 1) + over(Y(k)), [server], at="(41)")
    V = lambda j: over(X(j) / p) + over(Y(j) / p) + S(j) / p_s
    one = proof.step(
        "V decreases", V(k + 1) <= V(k) - gap(s.xs(k)) * (2 * alpha * M) + size, [mean, forty, last], at="after (41)"
    )
    proof.step(
        "re-arranged",
        gap(s.xs(k)) * (2 * alpha * M) <= V(k) - V(k + 1) + size,
        [one],
        at="after (41), total expectation",
    )
    gaps: Expr = finite_sum("k", 0, K, gap(s.xs(k)))
    summed = proof.step(
        "summed",
        gaps / K <= (V(0) - V(K)) / (2 * alpha * M * K) + alpha * sigma**2 / 2 + alpha * (M + 1) / 4 * B**2,
        [total(kernel, one, "k", 0, K), telescope(kernel, "k", 0, K, V(k))],
        at="the sum over k",
    )
    A = (1 / p_s + 2 * qbar) * R**2
    below = [total(kernel, kernel.square(v - star), "i", 0, n, 1 / (n * p)) for v in (s.x(i, K), s.y(i, K))] + [
        kernel.square(s.xs(K) - star)
    ]
    starts = []
    for name in ("x", "y"):
        at_start = proof.step(
            f"{name} at the start", equal(squared(s.vec(name, i, 0) - star), R**2), [s.first(name, i), s.start()]
        )
        starts.append(total(kernel, at_start, "i", 0, n, 1 / (n * p)))
    proof.step(
        "V is not negative",
        (V(0) - V(K)) / (2 * alpha * M * K) <= V(0) / (2 * alpha * M * K),
        below,
        at="non-negativity of V",
    )
    proof.step("V at the start", equal(V(0), A), [*starts, s.start(), s.qbar()], at="x_s,0 = x_i,0 = y_i,0")
    at_average = s.over_clients(s.convex(s.vec("gbar", i), s.xs(k)))
    means = [
        total(kernel, at_average, "k", 0, K, 1 / K),
        kernel.against(s.averaging(), s.mean_vector(lambda j: s.vec("gbar", j))),
    ]
    fixed = proof.step(
        "any step",
        s.metric() <= expr(A / (2 * alpha * M * K) + alpha * sigma**2 / 2 + alpha * (M + 1) / 4 * B**2),
        [summed, *below, *starts, s.start(), s.qbar(), *means],
        at="before the step is chosen",
    )
    size_of, step = s.step_facts  # sigma² + (M+1)·B²/2, and alpha² times it
    root = s.root("bound", s.formula(s.theorem.bound.terms["bound"] ** 2))
    bound, V1 = variable("bound"), variable("alpha_1")
    both = proof.step(
        "both sides squared",
        equal(expr(bound**2), (alpha * V1 / 2) ** 2),
        multipliers=[(1, root), (-V1 / 4, step), (-A / (2 * M * K), size_of)],
        at="the step is chosen",
    )
    same = proof.rule("the bound at this step", None, lambda: kernel.by_squares(both, bound, alpha * V1 / 2))
    proof.conclude(
        proof.step(
            "Theorem 8",
            s.metric() <= expr(bound),
            multipliers=[(1, fixed), (1 / (4 * alpha), step), (alpha / 4, size_of), (1, same)],
            at="Theorem 8",
        )
    )


PROOFS = (
    Script(
        "area.theorem8",
        "Appendix C, every display as printed",
        "AREA, Appendix C",
        appendix_c,
        "area.theorem8",
        printed=True,
    ),
)
