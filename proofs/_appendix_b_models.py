"""AREA, Appendix B.3 as printed: Lemma 20, the squares of the local models' errors."""

from typing import Any

from boundlab.proofs._appendix_b import AppendixB
from boundlab.prove import Expr, Fact, cauchy, equal, expr, no_norm_is_negative, squared, total, variable


def write(b: AppendixB) -> None:
    """From the start of Lemma 20 to its end."""
    first = _without_arrival(b)
    second = _with_arrival(b, _pass(b))
    _together(b, first, second)


def _without_arrival(b: AppendixB) -> Fact:
    proof, s, kernel, i, k, M, p = b.proof, b.s, b.kernel, b.i, b.k, b.M, b.p
    h, fall, G, size = s.vec("h", i), b.fall, b.G, b.L * b.zeta
    X, Z = (lambda j, r: b.square("xe", i, j, r)), b.square("ze", i, k + 1, k)
    b.known["23"] = proof.step(
        "(23)",
        equal(X(k + 1, k + 1), X(k + 1, k) * (1 - p) + Z * p),
        [b.errors.event(X(k + 1, k + 1), k)],
        at="Lemma 20, first display (x_i where y_i is printed), and (23); the pass is written out by (20) below",
    )
    step = h * (fall * M)
    moved = kernel.replace(X(k + 1, k), [b.moved["xe"]])
    proof.step(
        "T_1, expanded",
        equal(X(k + 1, k), X(k, k) + squared(step) - s.dot(b.vec("xe", i, k, k), step) * 2),
        [moved],
        at="after (23), T_1, first =",
    )
    proof.step(
        "T_1, the targets",
        equal(X(k + 1, k), X(k, k) + squared(h) * (fall**2 * M**2) - s.dot(b.vec("xe", i, k, k), h) * (2 * fall * M)),
        [moved],
        at="after (23), T_1, second = (−2 where + is printed)",
    )
    x = b.norm("xe", i, k, k)
    third = proof.step(
        "T_1, Cauchy–Schwarz",
        X(k + 1, k) <= X(k, k) + fall**2 * M**2 * G**2 + x * (2 * fall * M * G),
        [moved, b.known["cauchy xe"], b.lengths],
        at="after (23), T_1, ≤",
    )
    return proof.step(
        "(24)",
        X(k + 1, k) <= X(k, k) + fall**2 * M**2 * size**2 + x * (2 * fall * M * size),
        multipliers=[(1, third), (1, b.known["G²"]), (2, b.known["longer xe"])],
        at="(24)",
    )


def _pass(b: AppendixB) -> Fact:
    """T_2 with the squares of the errors."""
    proof, s, kernel, i, k, M = b.proof, b.s, b.kernel, b.i, b.k, b.M
    a, fall, G = b.a(k), b.fall, b.G
    h, sh, ed, eg = s.vec("h", i), b.vec("sh", i, k), b.vec("ed", i, k), b.vec("eg", i, k)
    after = b.square("ze", i, k + 1, k)
    step = h * (fall * M)
    whole = b.vectors(b.vec("ze", i, k + 1, k), sh - step + ed * a + eg * a, (1, b.moved["ze"]), (1, b.pass_error))
    proof.step(
        "T_2, by (20)", equal(after, squared(sh - step + ed * a + eg * a)), [whole], at="after (24), T_2, first ="
    )
    inner = lambda one, other: s.dot(one, other) * 2
    drift = inner(sh, ed * a) - inner(step, ed * a) + inner(ed * a, eg * a)
    size = b.square("sh", i, k) + squared(step) + b.square("ed", i, k) * a**2 + b.square("eg", i, k) * a**2
    noise = inner(sh, eg * a) - inner(step, eg * a)
    expanded = proof.step(
        "T_2, expanded", equal(after, size - inner(sh, step) + drift + noise), [whole], at="after (24), T_2, second ="
    )
    e = s.e(i, k, b.m)
    still = []
    for vector in (sh, h):
        still += [kernel.against(b.define("eg", i, k), vector), total(kernel, s.unbiased(e, vector), "m", 0, M)]
    unbiased = proof.step(
        "T_2, the noise is unbiased",
        after <= size - inner(sh, step) + drift,
        [expanded, *still],
        at="after (24), T_2, ≤ (the squares of ε^d and ε^g where norms of ε^d are printed)",
    )
    slope = kernel.scale(b.known["push"], cauchy(kernel, b.known["h²"], sh, h, G, -1))
    proof.step(
        "T_2, Cauchy–Schwarz",
        s.dot(sh, h) * -1 <= b.norm("sh", i, k) * G,
        [cauchy(kernel, b.known["h²"], sh, h, G, -1)],
        at="after (24), the inner products, first line (for −ŝ, as it is used)",
    )
    theta, q = variable("theta", k), a * M * b.gamma
    b.known["theta"] = s.short_steps()
    young = [
        proof.step(
            "T_2, (11) for ε^d",
            inner(sh, ed * a)
            <= b.square("sh", i, k) * (q / (2 * theta)) + b.square("ed", i, k) * (2 * a * theta / (M * b.gamma)),
            squares=[sh * (q / (2 * theta)) - ed * a],
            at="after (24), the inner products, second line (ε^d where ε^g is printed; 1 − αMγ > 0 is needed)",
        ),
        proof.step(
            "T_2, (11) for the targets",
            -inner(step, ed * a) <= squared(step) + b.square("ed", i, k) * a**2,
            squares=[step + ed * a],
            at="after (24), the inner products, third line",
        ),
        proof.step(
            "T_2, (11) for the noise",
            inner(ed * a, eg * a) <= b.square("ed", i, k) * a**2 + b.square("eg", i, k) * a**2,
            squares=[ed - eg],
            at="after (24), the inner products, fourth line",
        ),
    ]
    far = b.norm("sh", i, k) * (2 * fall * M * G)
    return kernel.combine(
        after
        <= b.square("sh", i, k) * (1 + q / (2 * theta))
        + 2 * fall**2 * M**2 * G**2
        + far
        + b.square("ed", i, k) * (2 * a / (M * b.gamma) + a**2)
        + b.square("eg", i, k) * (2 * a**2),
        [
            (1, unbiased),
            (2, slope),
            *((1, one) for one in young),
            (2 * fall**2 * M**2, kernel.combine(squared(h) <= expr(G**2), [(-1, b.lengths)])),
            (-2 * a / (M * b.gamma), kernel.times(b.known["theta"], b.square("ed", i, k))),
        ],
    )


def _with_arrival(b: AppendixB, expanded: Fact) -> Fact:
    proof, kernel, i, k, M, L, mu = b.proof, b.kernel, b.i, b.k, b.M, b.L, b.mu
    a, gamma, fall, G, sigma, zeta, size = b.a(k), b.gamma, b.fall, b.G, b.sigma, b.zeta, b.L * b.zeta
    after, theta, q = b.square("ze", i, k + 1, k), variable("theta", k), a * M * gamma
    S, N = b.square("se", k), b.norm("sh", i, k)
    delta, cube = 1 - 1 / M, L**4 * (M - 1) ** 3
    tilde_sigma = 1 + 2 * L * delta / mu + 4 * L**2 * delta / (M * (mu + L) ** 2)
    tilde_zeta = 2 / gamma + 2 / (mu + L)
    c_sigma, c_zeta = b.c_sigma2, b.c_zeta2 = 2 * M * tilde_sigma, 4 * cube * tilde_zeta
    three_ = lambda last: 1 + 2 * a * L**2 * (M - 1) ** 3 / (M**2 * gamma) + a**2 * L**2 * (M - 1) ** 3 / last
    four_, five_ = 2 / gamma + a * M, 8 * a**3 * cube / gamma + 4 * a**4 * cube * M
    base = b.square("sh", i, k) * (1 + q / (2 * theta)) + 2 * fall**2 * M**2 * G**2 + N * (2 * fall * M * G)
    bound = lambda last: base + 2 * a**2 * M * three_(last) * sigma**2 + 4 * a**3 * cube * four_ * zeta**2 + S * five_
    errors = [(1, expanded), (2 * a / (M * gamma) + a**2, b.known["ed²"]), (2 * a**2, b.known["eg²"])]
    proof.step(
        "T_2, Lemma 17, as printed",
        after <= bound(M**2),
        multipliers=errors,
        at="after (24), T_2, Lemma 17 (the last term of T_3 is over M², where Lemma 17 gives it over M)",
    )
    right = proof.step(
        "T_2, Lemma 17",
        after <= bound(M),
        multipliers=errors,
        says="as printed, with the last term of T_3 over M",
        at="after (24), T_2, Lemma 17 (M where M² is printed in T_3: a slip without consequence)",
    )
    middle = 1 + 2 * (2 / (M * (mu + L))) * L**2 * (M - 1) / gamma + 4 * L**2 * (M - 1) / (M**2 * (mu + L) ** 2)
    proof.step("T_3 as printed, first ≤", expr(three_(M**2)) <= middle, at="the bounds of T_3, T_4, T_5: T_3, first ≤")
    proof.step("T_3 as printed, second ≤", expr(middle) <= tilde_sigma, at="the bounds of T_3, T_4, T_5: T_3, second ≤")
    # With M in place of M²: half of what c̃_σ has for κ bounds each of the two terms.
    z = delta**2 * a * L**2 * M / gamma
    square = kernel.combine(expr(z**2) <= delta / 64, [(delta / (64 * gamma**2 * M), b.known["limit 2"])])
    three = proof.step(
        "T_3",
        expr(three_(M)) <= tilde_sigma,
        multipliers=[(2 * delta, square)],
        says="T_3 with its last term over M is at most c̃_σ, too",
        at="the bounds of T_3, T_4, T_5: T_3",
    )
    four_middle = 2 / gamma + 2 * M / (M * (mu + L))
    proof.step("T_4, first ≤", expr(four_) <= four_middle, at="the bounds of T_3, T_4, T_5: T_4, first ≤")
    four = proof.step("T_4", expr(four_) <= tilde_zeta, at="the bounds of T_3, T_4, T_5: T_4, second ≤")
    five = proof.step(
        "T_5",
        expr(five_) <= q / 8 + q / 8,
        multipliers=[(a / (8 * gamma), b.known["limit 2"]), (a * M / 8, b.known["limit 3"])],
        at="the bounds of T_3, T_4, T_5: T_5",
    )
    rest = a**2 * c_sigma * sigma**2 + a**3 * c_zeta * zeta**2
    simple = proof.step(
        "T_2, with c_σ and c_ζ",
        after <= base + rest + S * (q / 4),
        multipliers=[
            (1, right),
            (2 * a**2 * M * sigma**2, three),
            (4 * a**3 * cube * zeta**2, four),
            (1, kernel.scale(five, kernel.square(b.vec("se", k)))),
        ],
        at="after the bounds of T_3, T_4, T_5",
    )
    long, sh = b.long, b.known["sh"]
    near: Expr = S * (1 - q / 4)
    shorter = kernel.scale(kernel.combine(expr(fall * M * G) >= 0, [(G, b.known["push"])]), b.known["shorter"])
    first = proof.step(
        "(25), first ≤",
        after <= near + 2 * fall**2 * M**2 * G**2 + b.norm("se", k) * (2 * fall * M * G * long) + rest,
        multipliers=[
            (1, simple),
            (1 + q / (2 * theta), sh),
            (2, shorter),
            (q / (2 * theta), kernel.times(b.known["theta"], S)),
        ],
        at="(25), first ≤",
    )
    longer = kernel.scale(
        kernel.combine(expr(long) >= 0, []), kernel.scale(b.known["move"], no_norm_is_negative(kernel, b.vec("se", k)))
    )
    return proof.step(
        "(25)",
        after <= near + 2 * fall**2 * M**2 * size**2 + b.norm("se", k) * (2 * fall * M * size * long) + rest,
        multipliers=[(1, first), (2, b.known["G²"]), (2, longer)],
        at="(25), second ≤",
    )


def _together(b: AppendixB, first: Fact, second: Fact) -> None:
    proof, kernel, i, k, M, p = b.proof, b.kernel, b.i, b.k, b.M, b.p
    a, fall, size, sigma, zeta = b.a(k), b.fall, b.L * b.zeta, b.sigma, b.zeta
    q, S, s_norm, x = a * M * b.gamma, b.square("se", k), b.norm("se", k), b.norm("xe", i, k, k)
    X = lambda j: b.square("xe", i, j, j)
    rest = p * a**2 * b.c_sigma2 * sigma**2 + p * a**3 * b.c_zeta2 * zeta**2

    def bound(times: Any, root: Any) -> Any:
        return (
            X(k) * (1 - p)
            + times * fall**2 * size**2 * M**2
            + x * (2 * (1 - p) * fall * M * size)
            + S * (p * (1 - q / 4))
            + s_norm * (2 * p * fall * M * size * root)
            + rest
        )

    parts = [(-1, b.known["23"]), (1 - p, first), (p, second)]
    proof.step(
        "(24) and (25) in (23), as printed",
        X(k + 1) <= bound(1, b.long),
        multipliers=parts,
        at="after (25) (the square of the targets' step has the factor (1 − p_i) + 2·p_i = 1 + p_i, not 1)",
    )
    own = proof.step(
        "(24) and (25) in (23)",
        X(k + 1) <= bound(1 + p, b.long),
        multipliers=parts,
        says="as printed, with the factor 1 + p_i",
        at="after (25) (1 + p_i for the factor 1: the theorem's proof has 2)",
    )
    less = kernel.combine(expr(1 - q / 2 - b.long) >= 0, [(1, b.known["root of 1 - q"])])
    slack = kernel.scale(
        kernel.combine(expr(2 * p * fall * M * size) >= 0, [(2 * p * size, b.known["push"])]),
        kernel.scale(less, no_norm_is_negative(kernel, b.vec("se", k))),
    )
    proof.step(
        "Lemma 20, √(1 − αMγ)",
        expr(b.long) <= 1 - q / 2,
        multipliers=[(1, b.known["root of 1 - q"])],
        at="Lemma 20, last line",
    )
    b.known["20"] = proof.step(
        "Lemma 20",
        X(k + 1) <= bound(1 + p, 1 - q / 2),
        multipliers=[(1, own), (1, slack)],
        says="as printed, with the factor 1 + p_i",
        at="Lemma 20 (1 + p_i for the factor 1 of (α_{k+1} − α_k)²)",
    )
