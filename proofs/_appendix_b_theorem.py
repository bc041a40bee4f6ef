"""AREA, Appendix B.3 as printed: the proof of Theorem 7 from its lemmas."""

from boundlab.proofs._appendix_b import AppendixB
from boundlab.prove import (
    Range,
    below_square,
    expr,
    finite_sum,
    no_norm_is_negative,
    scalar,
    telescope,
    total,
    variable,
)

_O = "an O(·) without constants; the explicit form is the step beside it"


def write(b: AppendixB) -> None:
    """From the definition of Λ_k to the end of the proof."""
    _system(b)
    _sums(b)
    _jensen(b)


def _system(b: AppendixB) -> None:
    proof, kernel, i, k, M, L, p, p_s, d = b.proof, b.kernel, b.i, b.k, b.M, b.L, b.p, b.p_s, b.d
    a, fall, zeta, sigma, qbar, c = b.a(k), b.fall, b.zeta, b.sigma, b.qbar, b.c
    size, q, n = L * zeta, a * M * b.gamma, b.n
    parts = b.square_parts = (
        lambda j: b.square("xe", i, j, j),
        lambda j: b.square("ye", i, j, j),
        lambda j: b.square("se", j),
    )
    norms = b.norm_parts = (lambda j: b.norm("xe", i, j, j), lambda j: b.norm("ye", i, j, j), lambda j: b.norm("se", j))
    X, Y, S = (part(k) for part in parts)
    x, y, s = (part(k) for part in norms)
    Lam = b.Lam = lambda j: b.weighted(j, j, parts)
    proof.remark("Λ_k and B_k", "the definitions of Λ_k, u_k and B_k", "proof of Theorem 7")
    twice = kernel.scale(b.known["push"], b.known["push"])  # (fall·M)² ≥ 0
    move, far = fall * M * size, 2 * fall**2 * M**2 * size**2
    rest = a**2 * b.c_sigma2 * sigma**2 + a**3 * b.c_zeta2 * zeta**2
    over = lambda of: finite_sum("i", 0, n, of / n)
    row_x = proof.step(
        "the system with B_k, x",
        parts[0](k + 1)
        <= X * (1 - p) + S * (p * (1 - q / 4)) + (x * (1 - p) + s * (p * (1 - q / 2))) * (2 * move) + far + p * rest,
        multipliers=[(1, b.known["20"]), (size**2 * (1 - p), twice)],
        at="proof of Theorem 7, the system, first ≤: the rows of x",
    )
    row_y = proof.step(
        "the system with B_k, y",
        parts[1](k + 1) <= Y * (1 - p) + X * p + (y * (1 - p) + x * p) * (2 * move) + far,
        multipliers=[(1, b.known["19"]), (size**2, twice)],
        at="proof of Theorem 7, the system, first ≤: the rows of y",
    )
    row_s = proof.step(
        "the system with B_k, x_s",
        parts[2](k + 1) <= S * (1 - p_s) + over(Y) * p_s,
        [b.known["18"]],
        at="proof of Theorem 7, the system, first ≤: the row of x_s",
    )
    moves = kernel.combine(expr(2 * move) >= 0, [(2 * size, b.known["push"])])
    more = lambda *at: kernel.scale(moves, no_norm_is_negative(kernel, b.vec(*at)))
    row_x = proof.step(
        "the system with A_k, x",
        parts[0](k + 1)
        <= X * (1 - p) + S * (p * (1 - q / 4)) + (x * (1 - p) + s * (p * (1 - q / 4))) * (2 * move) + far + p * rest,
        multipliers=[(1, row_x), (p * q / 4, more("se", k))],
        at="proof of Theorem 7, the system, second ≤: the rows of x",
    )
    row_s = proof.step(
        "the system with A_k, x_s",
        parts[2](k + 1) <= S * (1 - p_s) + over(Y) * p_s + (s * (1 - p_s) + over(y) * p_s) * (2 * move),
        multipliers=[(1, row_s), (1 - p_s, more("se", k)), (p_s, total(kernel, more("ye", i, k, k), "i", 0, n, 1 / n))],
        at="proof of Theorem 7, the system, second ≤: the row of x_s",
    )
    proof.step(
        "the system with A_k, y", row_y.claim, [row_y], at="proof of Theorem 7, the system, second ≤: the rows of y"
    )
    root = b.root(k)
    rho, beta, lam = 1 - b.p_min + b.p_min * root, root**3, b.lam
    by = 2 * size**2
    one = b.weigh(
        "w_k'u_{k+1}",
        b.weighted(k, k + 1, parts)
        <= Lam(k) * rho + lam(k) * (2 * move * rho) + expr(by * 2 * qbar * (fall * M) ** 2 / beta + rest / beta),
        (row_x, row_y, row_s),
        parts,
        (twice, by),
        rest,
        "proof of Theorem 7, w_k'u_{k+1}, first ≤",
        (moves, norms),
    )
    half = b.known["half"]
    two = proof.step(
        "w_k'u_{k+1}, (17)",
        b.weighted(k, k + 1, parts)
        <= Lam(k) * rho + lam(k) * (2 * move * rho) + expr(8 * size**2 * qbar * (fall * M) ** 2 + 2 * rest),
        multipliers=[(1, one), (2 * by * qbar, kernel.scale(half, twice)), (rest, half)],
        at="proof of Theorem 7, w_k'u_{k+1}, second ≤",
    )
    grow = b.growing()
    three = proof.step(
        "Λ and the weights",
        Lam(k + 1) <= b.weighted(k, k + 1, parts),
        b.smaller_weights(grow, parts),
        at="proof of Theorem 7, Λ_{k+1} = w_{k+1}'u_{k+1} ≤ w_k'u_{k+1} (u_k is printed)",
    )
    whole = kernel.combine(
        Lam(k + 1) <= Lam(k) * rho + lam(k) * (2 * move * rho) + expr(8 * size**2 * qbar * (fall * M) ** 2 + 2 * rest),
        [(1, two), (1, three)],
    )
    t = k + d
    c1, c2, c3, c4 = b.constants = (
        2 * c * L * M,
        8 * c**2 * L**2 * M**2 * qbar,
        2 * c**2 * b.c_sigma2,
        2 * c**3 * b.c_zeta2,
    )
    four = proof.step(
        "Λ with the steps",
        Lam(k + 1)
        <= Lam(k) * rho
        + lam(k) * (c1 * zeta * rho / (t * (t + 1)))
        + expr(c2 * zeta**2 / (t**2 * (t + 1) ** 2) + c3 * sigma**2 / t**2 + c4 * zeta**2 / t**3),
        multipliers=[(1, kernel.unname(whole, "step"))],
        at="proof of Theorem 7, before (26)",
    )
    eighteen = b.known["(18)"]
    share = c1 * zeta / (t * (t + 1))
    flat = kernel.combine(expr((t - 1) ** 2 - (t - 1) ** 4 / (t * (t + 1))) >= 0, [])
    b.known["26"] = proof.step(
        "(26)",
        Lam(k + 1) * t**4
        <= Lam(k) * (t - 1) ** 4
        + lam(k) * (c1 * zeta * (t - 1) ** 2)
        + expr(c2 * zeta**2 + c3 * sigma**2 * t**2 + c4 * zeta**2 * t),
        multipliers=[
            (t**4, four),
            *((1, one) for one in b.scaled(eighteen, k, lam, parts)),
            *((share, one) for one in b.scaled(eighteen, k, lam, norms)),
            *((c1 * zeta, one) for one in b.scaled(flat, k, lam, norms)),
        ],
        at="(26)",
    )


def _sums(b: AppendixB) -> None:
    proof, kernel, k, K, d, L, zeta, sigma = b.proof, b.kernel, b.k, b.s.symbol("K"), b.d, b.L, b.zeta, b.sigma
    c1, c2, c3, c4 = b.constants
    Lam, lam, t, j = b.Lam, b.lam, k + d, b.j
    del L
    squares, cubes = finite_sum("j", 0, k, (j + d) ** 2), finite_sum("j", 0, k, (j + d) ** 3)
    bound = lam(0) * (d - 1) ** 4 + squares * (b.Q * zeta) + cubes * (b.c_sigma * sigma)
    proof.remark("(26) with Lemma 16", _O, "after (26), first display")
    proof.step(
        "(26) with Lemma 16, explicit",
        Lam(k + 1) * t**4
        <= Lam(k) * (t - 1) ** 4
        + bound * (c1 * zeta / (t - 1) ** 2)
        + expr(c2 * zeta**2 + c3 * sigma**2 * t**2 + c4 * zeta**2 * t),
        multipliers=[(1, b.known["26"]), (c1 * zeta / (t - 1) ** 2, b.known["16"])],
    )
    proof.remark("(26) with Lemma 16, summed", _O, "after (26), second display")
    fixed = finite_sum("k", 0, K, c2 * zeta**2 + c3 * sigma**2 * t**2 + c4 * zeta**2 * t)
    proof.step(
        "(26), summed, explicit",
        Lam(K) * (K + d - 1) ** 4
        <= Lam(0) * (d - 1) ** 4 + finite_sum("k", 0, K, lam(k) * (t - 1) ** 2) * (c1 * zeta) + fixed,
        multipliers=[
            (1, total(kernel, b.known["26"], "k", 0, K)),
            (1, telescope(kernel, "k", 0, K, Lam(k) * (t - 1) ** 4)),
        ],
    )
    kernel_range = Range(low=scalar(0))
    named = kernel.name_family("inverse", "k", 1 / (k + d - 2), kernel_range)
    u = lambda at: variable("inverse", at)
    later = kernel.at(named, {"k": k + 1})
    small = proof.step(
        "1/k̃²",
        expr(u(k + 1) ** 2) <= u(k) - u(k + 1),
        multipliers=[(1, named), (-1 - u(k + 1) - 1 / (t - 1), later)],
        says="1/k̃² ≤ 1/(k̃ − 1) − 1/k̃",
    )
    ends = [kernel.combine(expr(u(0)) <= 1, [(-1, kernel.at(named, {"k": 0}))]), kernel.combine(expr(u(K)) >= 0, [])]
    proof.step(
        "the sum of 1/k̃²",
        finite_sum("k", 0, K, u(k + 1) ** 2) <= 2,
        multipliers=[
            (1, total(kernel, small, "k", 0, K)),
            (1, telescope(kernel, "k", 0, K, u(k))),
            *((1, one) for one in ends),
        ],
        at="after (26), Σ 1/k̃² ≤ ζ(2) < 2",
    )
    proof.remark("(27)", _O, "(27)")


def _jensen(b: AppendixB) -> None:
    proof, kernel, i, k, n, qbar = b.proof, b.kernel, b.i, b.k, b.n, b.qbar
    t = kernel.context.declare("tangent", Range(low=scalar(0), above=True))
    weights = b.weights(k)
    vectors = (("xe", i, k, k), ("ye", i, k, k), ("se", k))
    each = [below_square(kernel, b.vec(*at), t) for at in vectors]
    summed = [total(kernel, each[0], "i", 0, n, weights[0]), total(kernel, each[1], "i", 0, n, weights[1])]
    all_weights = finite_sum("i", 0, n, weights[0] + weights[1]) + weights[2]
    one = proof.step(
        "Jensen for Λ",
        b.lam(k) <= all_weights * (t / 2) + b.Lam(k) / (2 * t),
        multipliers=[*((1, one) for one in summed), (weights[2], each[2])],
        says="λ ≤ √(Λ·Σw), as: λ ≤ t·Σw/2 + Λ/(2t) for every t > 0",
        at="after (27), √Λ ≥ λ/√Σw, both relations and the =",
    )
    beta = b.root(k) ** 3
    # Σw holds 1/p_s > 1 beside the weights of (13): for n = 1, p = p_s = ½ it is at least 6, and 1 + 2q̄/β < 6 for
    # β > 4/5, as β_k is for large k.
    two = proof.step(
        "the sum of all weights",
        all_weights <= expr(1 + 2 * qbar / beta),
        [b.s.qbar()],
        at="after (27), λ/√Σw ≥ λ/√(1 + 2q̄/β) (false: the weight of x_s is 1/p_s, not 1)",
    )
    three = proof.step(
        "1 + 2q̄/β and ψ",
        expr(1 + 2 * qbar / beta) <= 1 + qbar,
        at="after (27), λ/√(1 + 2q̄/β) ≥ λ/√ψ (always false: 2q̄/β ≥ 2q̄ > q̄)",
    )
    proof.step(
        "λ ≤ √(ψΛ)",
        b.lam(k) <= expr((1 + qbar) * t / 2) + b.Lam(k) / (2 * t),
        multipliers=[(1, one), (t / 2, two), (t / 2, three)],
        says="λ ≤ √(ψΛ), as: λ ≤ t·ψ/2 + Λ/(2t) for every t > 0",
        at="after (27), √Λ ≥ λ/√ψ",
    )
    for place, name in (
        ("after (27), λ_k with c_5 … c_9", "λ with c_5 … c_9"),
        ("after (27), inserted in (26)", "(26) with the new bound"),
        ("after (27), summed", "(26) with the new bound, summed"),
        ("(28), first ≤", "(28)"),
        ("(28), second ≤", "(28) with simple constants"),
    ):
        proof.remark(
            name,
            "an O(·) without constants; its terms are those of (27) and of B.4, which are steps of their own",
            place,
        )
