"""AREA, Appendix B.2 as printed: Lemmas 13 to 16, the mean norms."""

from boundlab.proofs._appendix_b import AppendixB
from boundlab.prove import (
    equal,
    expr,
    finite_sum,
    length,
    no_norm_is_negative,
    power_root,
    scalar,
    shorter,
    squared,
    telescope,
    total,
    triangle,
    variable,
)


def write(b: AppendixB) -> None:
    """From Lemma 13 to the end of Lemma 16."""
    _steps(b)
    _lemma_13(b)
    _lemma_14(b)
    _lemma_15(b)
    _lemma_16(b)


def _steps(b: AppendixB) -> None:
    """Δ_k = α_k − α_{k+1} ≥ 0, how far targets move, and what is known of α_k under the printed D."""
    kernel, k, M = b.kernel, b.k, b.M
    b.known["fall"] = kernel.combine(expr(b.fall) >= 0, [(1, b.known["falling"])])
    b.known["push"] = kernel.combine(expr(b.fall * M) >= 0, [(M, b.known["fall"])])
    b.known["below D"] = kernel.combine(expr(b.a(k)) <= b.D, [(-1, b.s.named_step)])
    first, second, third = b.s.printed_limits()
    D, L, a, gamma = b.D, b.L, b.a(k), b.gamma
    below = b.known["below D"]
    size = L**2 * (M - 1)
    b.known["limit 1"] = kernel.combine(expr(size * a) <= gamma, [(1, first), (size, below)])
    size = 64 * L**4 * (M - 1) ** 3
    b.known["limit 2"] = kernel.combine(expr(size * a**2) <= M * gamma**2, [(1, second), (size * (D + a), below)])
    size = 32 * L**4 * (M - 1) ** 3
    b.known["limit 3"] = kernel.combine(expr(size * a**3) <= gamma, [(1, third), (size * (D**2 + D * a + a**2), below)])
    G = b.known["G"]
    b.known["move"] = kernel.scale(b.known["push"], G)


def _lemma_13(b: AppendixB) -> None:
    proof, s, kernel, i, k, p_s = b.proof, b.s, b.kernel, b.i, b.k, b.p_s
    S = lambda j: b.norm("se", j)
    event = proof.step(
        "Lemma 13, an aggregation",
        equal(S(k + 1), S(k) * (1 - p_s) + b.norm("me", k) * p_s),
        [b.errors.event(S(k + 1), k)],
        at="Lemma 13, first display, and second display, first =",
    )
    mean = s.mean_vector(lambda one: s.y(one, k))
    slopes = s.mean_vector(lambda one: s.vec("h", one))
    proof.step(
        "Lemma 13, the optimality of x*",
        equal(b.square("me", k), squared(mean - slopes * (b.a(k) * b.M) - s.star)),
        [b.define("me", k), *(kernel.against(s.optimality(), v) for v in (mean, s.star, slopes))],
        at="Lemma 13, second display, second = (as squares: the two vectors are one)",
    )
    each = b.mean_of(b.define("ye", i, k, k))
    b.mean_error = b.vectors(
        b.vec("me", k), each.left, (1, b.define("me", k)), (-1, each), (-b.a(k) * b.M, s.optimality())
    )
    third = proof.step(
        "Lemma 13, the triangle inequality",
        S(k + 1) <= S(k) * (1 - p_s) + s.mean(lambda one: b.norm("ye", one, k, k)) * p_s,
        [event, triangle(kernel, b.mean_error)],
        at="Lemma 13, second display, ≤",
    )
    b.known["13"] = proof.step(
        "Lemma 13",
        S(k + 1) <= S(k) * (1 - p_s) + s.mean(lambda one: b.norm("ye", one, k, k)) * p_s,
        [third],
        at="Lemma 13",
    )


def _lemma_14(b: AppendixB) -> None:
    proof, kernel, i, k, M, p = b.proof, b.kernel, b.i, b.k, b.M, b.p
    X, Y = (lambda j, r: b.norm("xe", i, j, r)), (lambda j, r: b.norm("ye", i, j, r))
    event = proof.step(
        "Lemma 14, an arrival",
        equal(Y(k + 1, k + 1), Y(k + 1, k) * (1 - p) + X(k + 1, k) * p),
        [b.errors.event(Y(k + 1, k + 1), k)],
        at="Lemma 14, first display, =",
    )
    size, moved = length(kernel, b.lengths), {}
    for name in ("xe", "ye", "ze"):
        other = b.vectors(
            b.vec(name, i, k + 1, k),
            b.vec(name, i, k, k) - b.vec("h", i) * (b.fall * M),
            (1, b.define(name, i, k + 1, k)),
            (-1, b.define(name, i, k, k)),
        )
        moved[name] = triangle(kernel, other, [b.known["push"]])
        b.moved[name] = other
    shift = kernel.scale(
        kernel.combine(expr(b.fall * M) >= 0, [(M, b.known["fall"])]),
        kernel.combine(b.norm("h", i) <= expr(b.G), [(-1, size)]),
    )
    b.known["shift"] = shift
    b.known |= {f"moved {name}": fact for name, fact in moved.items()}
    proof.step(
        "Lemma 14, the triangle inequality",
        Y(k + 1, k + 1)
        <= Y(k, k) * (1 - p)
        + b.norm("h", i) * (b.fall * M * (1 - p))
        + X(k, k) * p
        + b.norm("h", i) * (b.fall * M * p),
        [event, moved["xe"], moved["ye"]],
        at="Lemma 14, first display, first ≤",
    )
    proof.step(
        "Lemma 14, the targets",
        Y(k + 1, k + 1) <= Y(k, k) * (1 - p) + X(k + 1, k) * p + b.fall * M * b.G,
        [event, moved["ye"], shift, kernel.scale(b.known["push"], kernel.combine(expr(b.G) >= 0, []))],
        at="Lemma 14, first display, second ≤",
    )
    third = proof.step(
        "Lemma 14, in the mean",
        Y(k + 1, k + 1) <= Y(k, k) * (1 - p) + X(k, k) * p + b.fall * M * b.G,
        [event, moved["xe"], moved["ye"], shift],
        at="Lemma 14, second display, first ≤",
    )
    size_of = b.fall * b.L * M * b.zeta
    fourth = proof.step(
        "Lemma 14, Assumption 4",
        Y(k + 1, k + 1) <= Y(k, k) * (1 - p) + X(k, k) * p + size_of,
        multipliers=[(1, third), (1, b.known["move"])],
        at="Lemma 14, second display, second ≤",
    )
    b.known["14"] = proof.step(
        "Lemma 14", Y(k + 1, k + 1) <= Y(k, k) * (1 - p) + X(k, k) * p + size_of, [fourth], at="Lemma 14"
    )


def _lemma_15(b: AppendixB) -> None:
    proof, s, kernel, i, k, M, L, p = b.proof, b.s, b.kernel, b.i, b.k, b.M, b.L, b.p
    a, gamma, sigma, zeta = b.a(k), b.gamma, b.sigma, b.zeta
    X, Z = (lambda j, r: b.norm("xe", i, j, r)), (lambda j: b.norm("ze", i, j, k))
    S = b.norm("se", k)
    c_zeta, c_sigma = b.c_zeta, b.c_sigma = L**2 * M * (M - 1) / 2, (1 + gamma / (4 * L)) * M
    event = proof.step(
        "Lemma 15, an arrival",
        equal(X(k + 1, k + 1), X(k + 1, k) * (1 - p) + Z(k + 1) * p),
        [b.errors.event(X(k + 1, k + 1), k)],
        at="Lemma 15, first display, =",
    )
    moved, shift = [b.known["moved xe"], b.known["moved ze"]], b.known["shift"]
    proof.step(
        "Lemma 15, the triangle inequality",
        X(k + 1, k + 1)
        <= X(k, k) * (1 - p) + b.norm("h", i) * (b.fall * M * (1 - p)) + Z(k) * p + b.norm("h", i) * (b.fall * M * p),
        [event, *moved],
        at="Lemma 15, first display, first ≤",
    )
    slack = kernel.scale(b.known["push"], kernel.combine(expr(b.G) >= 0, []))
    proof.step(
        "Lemma 15, the targets",
        X(k + 1, k + 1) <= X(k, k) * (1 - p) + Z(k + 1) * p + b.fall * M * b.G,
        [event, moved[0], shift, slack],
        at="Lemma 15, first display, second ≤",
    )
    fixed = b.fall * M * b.G
    pass_ = b.pass_error = b.vectors(
        b.vec("ze", i, k, k),
        b.vec("sh", i, k) + b.vec("ed", i, k) * a + b.vec("eg", i, k) * a,
        (1, b.define("ze", i, k, k)),
        (1, b.pass_),
        (-1, b.define("sh", i, k)),
    )
    third = proof.step(
        "Lemma 15, in the mean",
        X(k + 1, k + 1) <= X(k, k) * (1 - p) + fixed + Z(k) * p,
        [event, *moved, shift],
        at="Lemma 15, second display, first relation (≤ where = is printed; (20) is what ze[i, k, k] is)",
    )
    fourth = proof.step(
        "Lemma 15, the errors of the pass",
        X(k + 1, k + 1)
        <= X(k, k) * (1 - p)
        + fixed
        + b.norm("sh", i, k) * p
        + b.norm("ed", i, k) * (a * p)
        + b.norm("eg", i, k) * (a * p),
        [third, triangle(kernel, pass_)],
        at="Lemma 15, second display, first ≤",
    )
    root = b.known["long"] = power_root(kernel, "long", 1 - a * M * gamma, 2, "k", high=1)
    long = b.long = variable("long", k)
    h, d = s.vec("h", i), s.d(i, k)
    contracts = b.known["sh"] = proof.step(
        "Lemma 9 with αM",
        b.square("sh", i, k) <= b.square("se", k) * (1 - a * M * gamma),
        [s.interpolation(d, h), s.interpolation(h, d), b.define("sh", i, k), b.define("se", k)],
        squares=[d - h],
        at="before (25), and Lemma 15",
    )
    own = kernel.combine(
        b.square("sh", i, k) <= b.square("se", k) * long**2,
        [(1, contracts), (1, kernel.times(root, b.square("se", k)))],
    )
    b.known["shorter"] = shorter(kernel, own, b.vec("sh", i, k), b.vec("se", k), long)
    fifth = proof.step(
        "Lemma 15, Lemma 9",
        X(k + 1, k + 1)
        <= X(k, k) * (1 - p) + fixed + S * (p * long) + b.norm("ed", i, k) * (a * p) + b.norm("eg", i, k) * (a * p),
        [fourth, b.known["shorter"]],
        at="Lemma 15, second display, second ≤",
    )
    r = long + a**2 * L**2 * M * (M - 1) / 4
    sixth = proof.step(
        "Lemma 15, Lemma 12",
        X(k + 1, k + 1)
        <= X(k, k) * (1 - p)
        + fixed
        + S * (p * r)
        + a**2 * p * L**2 * M * (M - 1) * zeta / 2
        + a**2 * p * L * M * (M - 1) * sigma / 4
        + a * p * M * sigma,
        multipliers=[(1, fifth), (a * p, b.known["ed"]), (a * p, b.known["eg"])],
        at="Lemma 15, third display, first ≤",
    )
    less = proof.step(
        "Lemma 15, α_k < γ/(L²(M − 1))",
        expr(a**2 * p * L * M * (M - 1) * sigma / 4) <= a * p * gamma * M * sigma / (4 * L),
        multipliers=[(a * p * M * sigma / (4 * L), b.known["limit 1"])],
        at="Lemma 15, after the third display (≤ where < is printed)",
    )
    rest = a**2 * p * c_zeta * zeta + a * p * c_sigma * sigma
    seventh = proof.step(
        "Lemma 15, the constants",
        X(k + 1, k + 1) <= X(k, k) * (1 - p) + fixed + S * (p * r) + rest,
        multipliers=[(1, sixth), (1, less)],
        at="Lemma 15, third display, second ≤",
    )
    size = b.fall * L * M * zeta
    eighth = proof.step(
        "Lemma 15, Assumption 4",
        X(k + 1, k + 1) <= X(k, k) * (1 - p) + size + S * (p * r) + rest,
        multipliers=[(1, seventh), (1, b.known["move"])],
        at="Lemma 15, third display, third ≤",
    )
    first = proof.step(
        "Lemma 15, r",
        expr(r) <= long + a * M * gamma / 4,
        multipliers=[(a * M / 4, b.known["limit 1"])],
        at="Lemma 15, fourth display, first ≤",
    )
    second = b.known["root of 1 - q"] = proof.step(
        "Lemma 15, r, Bernoulli",
        expr(long + a * M * gamma / 4) <= 1 - a * M * gamma / 2 + a * M * gamma / 4,
        multipliers=[(-scalar(1) / 2, root)],
        at="Lemma 15, fourth display, second ≤",
    )
    smaller = kernel.scale(
        kernel.combine(expr(p * (1 - a * M * gamma / 4 - r)) >= 0, [(p, first), (p, second)]),
        no_norm_is_negative(kernel, b.vec("se", k)),
    )
    b.known["15"] = proof.step(
        "Lemma 15",
        X(k + 1, k + 1) <= X(k, k) * (1 - p) + size + S * (p * (1 - a * M * gamma / 4)) + rest,
        multipliers=[(1, eighth), (1, smaller)],
        at="Lemma 15",
    )


def _lemma_16(b: AppendixB) -> None:
    proof, kernel, k, M, L, d, c = b.proof, b.kernel, b.k, b.M, b.L, b.d, b.c
    a, zeta, sigma, qbar, t = b.a(k), b.zeta, b.sigma, b.qbar, k + d
    r = b.root
    parts = (lambda j: b.norm("xe", b.i, j, j), lambda j: b.norm("ye", b.i, j, j), lambda j: b.norm("se", j))
    lam = b.lam = lambda j: b.weighted(j, j, parts)
    proof.remark("λ_k", "the definition of λ_k and of û_k", "Lemma 16")
    for number, name in (("13", "x_s"), ("14", "y"), ("15", "x")):
        proof.step(
            f"Lemma 16, the system, {name}",
            b.known[number].claim,
            [b.known[number]],
            at=f"Lemma 16, the system: the rows of {name} are Lemma {number}",
        )
    rho = 1 - b.p_min + b.p_min * r(k)
    beta = r(k) ** 3
    rows = (b.known["15"], b.known["14"], b.known["13"])
    fixed = a**2 * b.c_zeta * zeta + a * b.c_sigma * sigma
    one = b.weigh(
        "Lemma 16, w_k'u_{k+1}",
        b.weighted(k, k + 1, parts) <= lam(k) * rho + expr(b.fall * 2 * qbar * L * M * zeta / beta + fixed / beta),
        rows,
        parts,
        (b.known["fall"], L * M * zeta),
        fixed,
        "Lemma 16, first display after the system, first ≤",
    )
    half = b.known["half"] = kernel.combine(
        expr(1 / beta) <= 2, [(2 / beta, b.known["(17)"]), (2 / beta, b.known["root"])]
    )
    second = proof.step(
        "Lemma 16, (17)",
        b.weighted(k, k + 1, parts) <= lam(k) * rho + expr(4 * b.fall * qbar * L * M * zeta + 2 * fixed),
        multipliers=[(1, one), (2 * qbar * L * M * zeta, kernel.scale(half, b.known["fall"])), (fixed, half)],
        at="Lemma 16, first display after the system, second ≤",
    )
    grow = b.growing()
    third = proof.step(
        "Lemma 16, the weights decrease",
        lam(k + 1) <= b.weighted(k, k + 1, parts),
        b.smaller_weights(grow, parts),
        at="Lemma 16, [w_{k+1}]_i ≤ [w_k]_i",
    )
    whole = kernel.combine(
        lam(k + 1) <= lam(k) * rho + expr(4 * b.fall * qbar * L * M * zeta + 2 * fixed), [(1, second), (1, third)]
    )
    bound = lambda x, y, z: expr(
        4 * c * qbar * L * M * zeta * x + 2 * c**2 * b.c_zeta * zeta * y + 2 * c * b.c_sigma * sigma * z
    )
    plain = kernel.unname(whole, "step")
    fourth = proof.step(
        "Lemma 16, the steps",
        lam(k + 1) <= lam(k) * rho + bound(1 / (t * (t + 1)), 1 / t**2, 1 / t),
        multipliers=[(1, plain)],
        at="Lemma 16, second display after the system",
    )
    Q = b.Q = 4 * c * qbar * L * M + 2 * c**2 * b.c_zeta
    eighteen = b.scaled(b.known["(18)"], k, lam, parts)
    proof.step(
        "Lemma 16, times (k + d)^4, with the factor 2c",
        lam(k + 1) * t**4 <= lam(k) * (t - 1) ** 4 + expr(Q * zeta * t**2 + 2 * c * b.c_sigma * sigma * t**3),
        multipliers=[
            (t**4, fourth),
            *((1, one) for one in eighteen),
            (1, kernel.combine(expr(4 * c * qbar * L * M * zeta * (t**2 - t**4 / (t * (t + 1)))) >= 0, [])),
        ],
        says="as printed, with 2·c·ĉ_σ in place of ĉ_σ",
    )
    # Printed without the factor 2c, which is at least 96·p/(p·M·γ) there. One client, f = x²/2, M = 1, p = p_s = ½,
    # x_0 = x* = 0, noise ±1, k = 0: c = d = 96, λ_1 = β_1^(-2/3) ≥ 1, and 96⁴·λ_1 ≤ 1.25·96³ is claimed.
    fifth = b.known["16 printed"] = proof.step(
        "Lemma 16, times (k + d)^4",
        lam(k + 1) * t**4 <= lam(k) * (t - 1) ** 4 + expr(Q * zeta * t**2 + b.c_sigma * sigma * t**3),
        [fourth, *eighteen],
        at="Lemma 16, third display after the system (the factor 2c of σ is lost; false for f = x²/2, x_0 = x*, k = 0)",
    )
    proof.remark(
        "Lemma 16, summed",
        "… + QζK³/3 + ĉ_σσK⁴/4 + O(σK³ + ζK²): no constants; the explicit form is the next step",
        "Lemma 16, fourth display after the system",
    )
    at_j, j = kernel.at(fifth, {"k": b.j}), b.j
    shifted = total(kernel, at_j, "j", 0, k)
    tele = telescope(kernel, "j", 0, k, lam(j) * (j + d - 1) ** 4)
    squares, cubes = finite_sum("j", 0, k, (j + d) ** 2), finite_sum("j", 0, k, (j + d) ** 3)
    b.known["16"] = proof.step(
        "Lemma 16, summed, explicit",
        lam(k) * (t - 1) ** 4 <= lam(0) * (d - 1) ** 4 + squares * (Q * zeta) + cubes * (b.c_sigma * sigma),
        multipliers=[(1, shifted), (1, tele)],
        says="as printed, with the sums in place of K³/3, K⁴/4 and O(·)",
    )
    proof.remark(
        "Lemma 16", "λ_k ≤ … + O(σ/k + ζ/k²): the line above, divided by (K + d − 1)⁴; no constants", "Lemma 16"
    )
