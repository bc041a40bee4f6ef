"""AREA's Theorem 7 with explicit constants: docs/theory/area.md#the-proofs; one pass is in another module."""

from dataclasses import dataclass
from typing import Any

from boundlab.prove import (
    Fact,
    Proof,
    Range,
    Script,
    chord,
    equal,
    exponential,
    expr,
    finite_sum,
    monotone,
    scalar,
    squared,
    tangent,
    total,
    variable,
)

# AREA's Theorem 7 with explicit constants, first part: one pass, from docs/theory/area.md#the-proofs.
#
# Every exponential is a power of F[k] = e^(q_k/(6M)), with q_k = α_k·M·γ = 48/(p·τ) and τ = k + d, so that F[k]^M is
# the page's e^(q_k/6), or of w = e^(1/6).


class PassNames:
    """Numbers that the proof gives names to, and what is known of them."""

    def __init__(self, proof: Proof) -> None:
        s = self.s = proof.setting()
        kernel = self.kernel = s.kernel
        self.k = s.k
        self.p, self.M, self.D = s.symbol("p_min"), s.M, variable("D")
        self.mu, self.L, self.sigma, self.zeta = (s.symbol(one) for one in ("mu", "L", "sigma", "zeta"))
        self.gamma = 2 * self.mu * self.L / (self.mu + self.L)
        self.named_q, self.named_d, self.named_a = s.named_q0, s.named_offset, s.named_step
        self.q0, self.d, self.tau = variable("q0"), s.offset, self.k + s.offset
        self.a = s.step(self.k)
        self.F = exponential(kernel, "F", 8 / (self.p * self.M * self.tau), "k")
        self.w = exponential(kernel, "w", scalar(1) / 6)
        self.E = self.F**self.M


def _local(proof: Proof, v: PassNames) -> Fact:
    """Show that the noisy pass from the server's model stays near the noise-free one from x*: (C7.1) to (P7.2)."""
    s, kernel = v.s, v.kernel
    i, k, m, a, gamma, sigma = s.i, v.k, s.m, v.a, v.gamma, v.sigma
    z, zh, g, gh, e = s.z(i, k, m), s.zh(i, k, m), s.g(i, k, m), s.gh(i, k, m), s.e(i, k, m)
    moves = [s.move(i, k, m), s.quiet_move(i, k, m)]
    V = lambda j: squared(s.z(i, k, j) - s.zh(i, k, j))
    contracts = proof.step(
        "(C7.1) a gradient step contracts",
        squared(z - zh - (g - gh) * a) <= V(m) * (1 - a * gamma),
        [s.interpolation(g, gh), s.interpolation(gh, g)],
        squares=[g - gh],
        says="for a ≤ 2/(μ+L): ‖u − a(g − g')‖² ≤ (1 − aγ)‖u‖²",
    )
    still = [s.unbiased(e, one) for one in (z, zh, g, gh)]
    one = proof.step(
        "one noisy step",
        V(m + 1) <= V(m) * (1 - a * gamma) + a**2 * sigma**2,
        [*moves, contracts, s.variance(e), *still],
    )
    F, q = v.F, 48 / (v.p * v.M * v.tau)
    same = proof.step(
        "α_k·γ",
        equal(expr(a * gamma), q),
        multipliers=[(gamma, v.named_a), (-v.d / (v.M * v.tau), v.named_q), (v.q0 / (v.M * v.tau), v.named_d)],
        says="α_k·γ = 48/(p·M·τ)",
    )
    down = proof.step("(P7.2)", expr(1 - a * gamma) <= expr(F**-6), [tangent(kernel, F**-6), same])
    below = monotone(kernel, F**-6, scalar(1))
    room = kernel.combine(expr(F**-6 - (1 - a * gamma)) >= 0, [(1, down)])
    ll = s.index("l", 0, v.M)
    rest = kernel.combine(expr(a**2 * ll * sigma**2 * (1 - F**-6)) >= 0, [(a**2 * ll * sigma**2, below)])
    return proof.induction(
        "(C7.2) m noisy steps",
        V(ll) <= V(0) * F ** (-6 * ll) + a**2 * ll * sigma**2,
        "l",
        [],
        lambda known: [
            kernel.at(one, {"m": ll}, known.context),
            kernel.scale(room, kernel.square(s.z(i, k, ll) - s.zh(i, k, ll), known.context)),
            kernel.scale(kernel.combine(expr(F**-6) >= 0, [], known.context), known),
            rest,
        ],
    )


def _quiet(proof: Proof, v: PassNames) -> tuple[Fact, Fact]:
    """Show that the noise-free pass from x* stays near M equal steps: (C7.4), (C7.5); return ‖h‖ ≤ Lζ too."""
    s, kernel = v.s, v.kernel
    i, k, m, a, L, zeta = s.i, v.k, s.m, v.a, v.L, v.zeta
    star, h, hu = s.star, s.vec("h", i), s.vec("hu", i)
    zh, gh = (lambda j: s.zh(i, k, j)), (lambda j: s.gh(i, k, j))
    size = L * zeta
    slope = proof.step(
        "‖∇f_i(x*)‖ ≤ Lζ", squared(h) <= expr(size**2), [s.smooth(h, hu), s.heterogeneity(i), s.own_minimiser(i)]
    )
    begin = s.quiet_begin(i, k)
    at_star = proof.step("the first gradient", squared(gh(0) - h) <= expr(scalar(0)), [s.smooth(gh(0), h), begin])
    cross = kernel.norms(slope, at_star, h, gh(0) - h, size, 0)
    move = s.quiet_move(i, k, m)
    shorter = proof.step(
        "(C7.4) gradients do not grow",
        squared(gh(m + 1)) <= squared(gh(m)),
        [move, s.cocoercive(gh(m), gh(m + 1)), s.cocoercive(gh(m + 1), gh(m))],
        squares=[gh(m) - gh(m + 1)],
    )
    ll = variable("l")
    bounded = proof.induction(
        "(C7.4)",
        squared(gh(ll)) <= expr(size**2),
        "l",
        [slope, at_star, cross],
        lambda known: [known, kernel.at(shorter, {"m": ll}, known.context)],
    )

    def farther(known: Fact) -> list[Any]:
        at_l = kernel.at(bounded, {}, known.context)
        return [
            s.quiet_move(i, k, ll),
            known,
            at_l,
            kernel.norms(known, at_l, zh(ll) - star, gh(ll), ll * a * size, size, -1),
        ]

    far = proof.induction(
        "how far from x*", squared(zh(ll) - star) <= expr((ll * a * size) ** 2), "l", [begin], farther
    )
    j = s.index("jj", 1, v.M)
    near = proof.step(
        "how far gradients are from that at x*",
        squared(gh(j) - h) <= expr((j * a * L * size) ** 2),
        [s.smooth(gh(j), h), kernel.at(far, {"l": j})],
    )
    drift = lambda q: zh(q) - star + h * (a * q)

    def drifts(known: Fact) -> list[Any]:
        at_j, e = kernel.at(near, {}, known.context), a**2 * L * size * j * (j - 1) / 2
        return [
            s.quiet_move(i, k, j),
            known,
            at_j,
            kernel.norms(known, at_j, drift(j), gh(j) - h, e, j * a * L * size, -1),
        ]

    bound = proof.induction(
        "(C7.5)",
        squared(drift(j)) <= expr((a**2 * L * size * j * (j - 1) / 2) ** 2),
        "jj",
        [s.quiet_move(i, k, scalar(0)), begin, at_star],
        drifts,
    )
    return kernel.at(bound, {"jj": v.M}), slope


def one_pass(proof: Proof, v: PassNames) -> tuple[Fact, Fact]:
    """(P7.3) and (P7.4): what a pass brings near its target."""
    s, kernel, E, w = v.s, v.kernel, v.E, v.w
    i, k, M, a, p = s.i, v.k, v.M, v.a, v.p
    local = kernel.at(_local(proof, v), {"l": M})
    drift, slope = _quiet(proof, v)
    b = a**2 * v.L**2 * v.zeta * M * (M - 1) / 2
    u, rest = s.z(i, k, M) - s.zh(i, k, M), s.zh(i, k, M) - s.star + s.vec("h", i) * (a * M)
    young = proof.step(
        "(P7.3)",
        squared(u + rest)
        <= squared(s.xs(k) - s.star) * E**-3 + E**3 * a**2 * M * v.sigma**2 + b**2 * E**3 / (E**3 - 1),
        [local, drift, s.begin(i, k), s.quiet_begin(i, k)],
        squares=[u - rest / (E**3 - 1)],
    )
    q = 48 / (p * v.tau)
    below = chord(kernel, E**-3, q, w**-3)
    gain = proof.step(
        "(P7.4), the factor",
        expr(E**3 / (E**3 - 1)) <= expr(1 / (q * (1 - w**-3))),
        multipliers=[(E**3 / ((E**3 - 1) * q * (1 - w**-3)), below)],
    )
    whole = proof.step(
        "(P7.4)",
        squared(s.z(i, k, M) - s.star + s.vec("h", i) * (a * M))
        <= squared(s.xs(k) - s.star) * E**-3 + E**3 * a**2 * M * v.sigma**2 + b**2 / (q * (1 - w**-3)),
        multipliers=[(1, young), (b**2, gain)],
    )
    return kernel.unname(whole, "step"), slope


@dataclass(frozen=True)
class _TheoremForm:
    """What the two forms of the theorem have different numbers for.

    Parameters
    ----------
    top
        At least every E[k].
    kappas
        At least (1 + 1/τ)·top⁵, top² + top, and (1 + 1/τ)·top²/(1 − e^(−1/2)).
    spread, weight
        At least every ‖x_i,0 − x*_i,0‖², and top² + top again.
    ratio
        At least (K + d)/(K + d − 1).
    numbers
        Whether all of these are numbers.
    """

    top: Any
    kappas: tuple[Any, Any, Any]
    spread: Any
    weight: Any
    ratio: Any
    numbers: bool = False


def explicit(proof: Proof) -> None:
    """With numbers for constants: w = e^(1/6), d ≥ 96."""
    v = PassNames(proof)
    share = scalar(95) / 96
    R, way = v.s.symbol("R"), v.D * v.M * v.L * v.zeta
    kappas = (1130 * share**5 * 5 / 2304, 1550 * share**4 / 576, 26000 * share**4 / 6912)
    _theorem(proof, v, _TheoremForm(v.w, kappas, 2 * R**2 + 2 * way**2, scalar(13) / 5, 1 / share, numbers=True))


def onepass(proof: Proof) -> None:
    """With the exponentials themselves: top = e^(q_0/6)."""
    v = PassNames(proof)
    top = exponential(v.kernel, "E0", 8 / (v.p * v.d))
    more, w = 1 + 1 / v.d, v.w
    kappas = (more * top**5, top**2 + top, more * top**2 / (1 - w**-3))
    spread = (v.s.symbol("R") + v.D * v.M * v.L * v.zeta) ** 2
    _theorem(proof, v, _TheoremForm(top, kappas, spread, top**2 + top, v.d / (v.d - 1)))


def _theorem(proof: Proof, v: PassNames, form: _TheoremForm) -> None:
    """One iteration for weighted distances to the moving targets; then all of them; then numbers."""
    s, kernel, E, w, p, tau, M = v.s, v.kernel, v.E, v.w, v.p, v.tau, v.M
    i, k, n, star, h, p_i, p_s = s.i, v.k, s.n, s.star, s.vec("h", s.i), s.p(s.i), s.p_s
    c, size = v.D * v.d, v.L * v.zeta
    local, slope = one_pass(proof, v)
    target = lambda q: star - h * (c / (q + v.d) * M)
    X = lambda q, r: squared(s.x(i, q) - target(r))
    Y = lambda q, r: squared(s.y(i, q) - target(r))
    S = lambda q: squared(s.xs(q) - star)
    over = lambda of: finite_sum("i", 0, n, of / (n * p_i))
    noise = E**3 * (c / tau) ** 2 * M * v.sigma**2 + ((c / tau) ** 2 * v.L * size * M * (M - 1) / 2) ** 2 * p * tau / (
        48 * (1 - w**-3)
    )
    rho = 1 - p + p / E
    # one event, with the weights and targets of k
    client = proof.step(
        "(P7.7) for one client",
        (X(k + 1, k) * E**2 + Y(k + 1, k) * E) / p_i
        <= (X(k, k) * E**2 + Y(k, k) * E) * (rho / p_i) - Y(k, k) + S(k) / E + E**2 * noise,
        [s.event(X(k + 1, k), k), s.event(Y(k + 1, k), k), local],
        squares=[s.x(i, k) - target(k), s.y(i, k) - target(k)],
    )
    mean = s.mean_vector(lambda j: s.y(j, k))
    H = s.mean_vector(lambda j: s.vec("h", j))
    still = [kernel.against(s.optimality(), u) for u in (mean, H, star)]
    jensen = s.over_clients(kernel.square(s.y(i, k) - target(k) - (mean - star + H * (c / tau * M))))
    server = proof.step(
        "(R7.5)",
        S(k + 1)
        <= S(k) * (1 - p_s) + s.mean(lambda j: squared(s.y(j, k) - star + s.vec("h", j) * (c / tau * M))) * p_s,
        [s.event(S(k + 1), k), jensen, *still],
    )
    event = proof.step(
        "(P7.7)",
        over(X(k + 1, k) * E**2 + Y(k + 1, k) * E) + S(k + 1) / p_s
        <= (over(X(k, k) * E**2 + Y(k, k) * E) + S(k) / p_s) * rho + E**2 * noise,
        [s.over_clients(client), server],
        squares=[s.xs(k) - star],
    )
    # the targets move, and the weights get smaller
    F1 = variable("F", k + 1) ** M
    moved = []
    for name, of, weight, later in (("x", s.x, E**2, F1**2), ("y", s.y, E, F1)):
        u = of(i, k + 1)
        far = proof.step(
            f"(P7.5) for {name}",
            squared(u - target(k + 1)) <= squared(u - target(k)) * (1 + 1 / tau) + c**2 * M**2 * size**2 / tau**3,
            [slope],
            squares=[u - target(k) + h * (c * M / (tau + 1))],
        )
        lighter = kernel.scale(
            kernel.combine(expr(weight - later) >= 0, [(1, monotone(kernel, later, weight))]),
            kernel.square(u - target(k + 1)),
        )
        largest = monotone(kernel, weight, form.top ** (2 if name == "x" else 1))
        moved.append(
            proof.step(
                f"(P7.9) for {name}",
                squared(u - target(k + 1)) * later
                <= squared(u - target(k)) * (weight * (1 + 1 / tau))
                + c**2 * M**2 * size**2 / tau**3 * form.top ** (2 if name == "x" else 1),
                multipliers=[(weight, far), (1, lighter), (c**2 * M**2 * size**2 / tau**3, largest)],
            )
        )
    # one iteration
    _conclude(proof, v, form, (X, Y, S, over), event, moved, rho, slope)


def _conclude(
    proof: Proof, v: PassNames, form: _TheoremForm, squares: Any, event: Fact, moved: list[Fact], rho: Any, slope: Fact
) -> None:
    s, kernel, E, w, p, tau, M = v.s, v.kernel, v.E, v.w, v.p, v.tau, v.M
    i, k, K, n, star, p_i, p_s, qbar = s.i, v.k, s.symbol("K"), s.n, s.star, s.p(s.i), s.p_s, s.symbol("qbar")
    X, Y, S, over = squares
    c, size, R, sigma = v.D * v.d, v.L * v.zeta, s.symbol("R"), v.sigma
    shrinks = proof.step(
        "(P7.8)",
        expr((1 + 1 / tau) * rho) <= expr((1 - 1 / tau) ** 6),
        multipliers=[((1 + 1 / tau) * p, chord(kernel, 1 / E, 48 / (p * tau), 1 / w))],
    )
    top, (kappa4, kappa2, kappa3) = form.top, form.kappas
    # For constants, e^(1/6) to 15 digits decides these three.
    number4, number2, number3 = (
        proof.step(name, expr(left) <= expr(right), [])
        for name, left, right in (
            ("(E7.2), the number", (1 + 1 / tau) * top**5, kappa4),
            ("(E7.3), the first number", top**2 + top, kappa2),
            ("(E7.3), the second number", (1 + 1 / tau) * top**2 / (1 - w**-3), kappa3),
        )
    )
    size4, size2 = c**2 * M * sigma**2 / tau**2, c**2 * M**2 * size**2 / tau**3
    size3 = c**4 * v.L**2 * size**2 * M**2 * (M - 1) ** 2 * p / (192 * tau**3)
    named4 = kernel.name("A4", kappa4 * size4 * tau**2, Range(low=scalar(0)))
    named3 = kernel.name("A3", (kappa2 * qbar * size2 + kappa3 * size3) * tau**3, Range(low=scalar(0)))
    A4, A3 = variable("A4"), variable("A3")
    weights = lambda q: variable("F", q) ** M
    Lam = lambda q: over(X(q, q) * weights(q) ** 2 + Y(q, q) * weights(q)) + S(q) / p_s
    five, two = monotone(kernel, E**5, top**5), monotone(kernel, E**2, top**2)
    noisy = proof.step(
        "(P7.7), constants",
        event.claim.left <= Lam(k) * rho + top**5 * size4 + top**2 / (1 - w**-3) * size3,
        multipliers=[(1, event), (size4, five), (size3 / (1 - w**-3), two)],
    )
    small = top**2 + top
    one = proof.step(
        "(P7.9)",
        Lam(k + 1)
        <= Lam(k) * ((1 + 1 / tau) * rho)
        + (1 + 1 / tau) * (top**5 * size4 + top**2 / (1 - w**-3) * size3)
        + small * qbar * size2,
        multipliers=[
            (1 + 1 / tau, noisy),
            *((1, total(kernel, fact, "i", 0, n, 1 / (n * p_i))) for fact in moved),
            (small * size2, s.qbar()),
            (1 / (tau * p_s), kernel.square(s.xs(k + 1) - star)),
        ],
    )
    # Λ is not negative, so that a larger factor makes it larger.
    not_negative = proof.step(
        "Λ ≥ 0",
        Lam(k) >= 0,
        [
            total(kernel, kernel.square(of(i, k) - star + s.vec("h", i) * (c / tau * M)), "i", 0, n, 1 / (n * p_i))
            for of in (s.x, s.y)
        ],
        squares=[s.xs(k) - star],
    )
    slack = kernel.combine(expr((1 - 1 / tau) ** 6 - (1 + 1 / tau) * rho) >= 0, [(1, shrinks)])
    iteration = proof.step(
        "(P7.10)",
        Lam(k + 1) <= Lam(k) * (1 - 1 / tau) ** 6 + A4 / tau**2 + A3 / tau**3,
        multipliers=[
            (1, one),
            (1, kernel.scale(slack, not_negative)),
            (size4, number4),
            (size3, number3),
            (qbar * size2, number2),
            (1 / tau**2, named4),
            (1 / tau**3, named3),
        ],
    )
    G = lambda q: A4 * (q + v.d) ** 5 / 5 + A3 * (q + v.d) ** 4 / 4
    summed = proof.induction(
        "(P7.11)",
        Lam(k) * (tau - 1) ** 6 <= Lam(0) * (v.d - 1) ** 6 + G(k),
        "k",
        [],
        lambda known: [
            kernel.combine(
                Lam(k + 1) * tau**6 <= Lam(0) * (v.d - 1) ** 6 + G(k + 1),
                [(tau**6, iteration), (1, known)],
                known.context,
            )
        ],
    )
    at_end = kernel.at(summed, {"k": K})
    final, Kt = K + v.d, K + v.d - 1
    below = [
        total(
            kernel,
            kernel.square(of(s.i, K) - star + s.vec("h", i) * (c / final * M)),
            "i",
            0,
            n,
            weights(K) ** e / (n * p_i),
        )
        for of, e in ((s.x, 2), (s.y, 1))
    ]
    server = proof.step(
        "(P7.12)",
        S(K) <= Lam(0) * (p_s * (v.d - 1) ** 6 / Kt**6) + p_s * G(K) / Kt**6,
        multipliers=[(p_s / Kt**6, at_end), *((p_s, one) for one in below)],
    )
    starts, away = [], s.vec("h", i) * (v.D * M)
    at_start = kernel.combine(squared(s.xs(0) - star) <= expr(R**2), [(-1, s.start())])
    meets = kernel.norms(at_start, slope, s.xs(0) - star, s.vec("h", i), R, size)
    for name, of in (("x", s.x), ("y", s.y)):
        near = proof.step(
            f"{name} at the start",
            squared(of(i, 0) - star + away) <= expr(form.spread),
            [s.first(name, i), s.start(), slope, *([] if form.numbers else [meets])],
            squares=[s.xs(0) - star - away] if form.numbers else [],
        )
        starts.append(total(kernel, near, "i", 0, n, weights(0) ** (2 if name == "x" else 1) / (n * p_i)))
    F0, spread = weights(scalar(0)), form.spread
    number = proof.step("(E7.1), the number", expr(top**2 + top) <= expr(form.weight), [])
    first = proof.step(
        "(P7.13)",
        Lam(0) <= expr(R**2 / p_s + qbar * spread * form.weight),
        multipliers=[
            *((1, one) for one in starts),
            (-1 / p_s, s.start()),
            ((F0**2 + F0) * spread, s.qbar()),
            (qbar * spread, monotone(kernel, F0**2, top**2)),
            (qbar * spread, monotone(kernel, F0, top)),
            (qbar * spread, number),
        ],
    )
    last = proof.step(
        "with names for numbers",
        S(K)
        <= expr(
            (R**2 + p_s * qbar * spread * form.weight) * (v.d - 1) ** 6 / Kt**6
            + p_s * A4 * form.ratio**5 / (5 * Kt)
            + p_s * A3 * form.ratio**4 / (4 * Kt**2)
        ),
        multipliers=[(1, server), (p_s * (v.d - 1) ** 6 / Kt**6, first)],
    )
    _finish(proof, v, form, kernel.unname(last, "A4", "A3"), S(K), Kt)


def _finish(proof: Proof, v: PassNames, form: _TheoremForm, last: Fact, left: Any, Kt: Any) -> None:
    """Write c as the theorem does: it has 1/γ for c·p·M/48, and constants have no c at all."""
    s, p, M = v.s, v.p, v.M
    c, size, p_s, qbar = v.D * v.d, v.L * v.zeta, s.p_s, s.symbol("qbar")
    kappa4, kappa2, kappa3 = form.kappas
    e = 48 / (p * M * v.gamma)
    same = proof.step(
        "c = 48/(p·M·γ)", equal(expr(c), e), multipliers=[(v.D, v.named_d), (-48 / (p * v.q0 * M * v.gamma), v.named_q)]
    )
    drift = p_s * form.ratio**4 / (4 * Kt**2) * kappa3 * v.L**2 * size**2 * M**2 * (M - 1) ** 2 * p / 192
    if not form.numbers:
        bound = last.claim.right + drift * (c**3 * e - c**4)
        proof.conclude(proof.step("with γ", left <= bound, multipliers=[(1, last), (-drift * c**3, same)]))
        return
    squares = p_s * form.ratio**5 / (5 * Kt) * kappa4 * M * v.sigma**2
    squares = squares + p_s * form.ratio**4 / (4 * Kt**2) * kappa2 * qbar * M**2 * size**2
    bound = last.claim.right + squares * (e**2 - c**2) + drift * (e**4 - c**4)
    by = -(squares * (c + e) + drift * (c + e) * (c**2 + e**2))
    proof.conclude(proof.step("(E7.4)", left <= bound, multipliers=[(1, last), (by, same)]))


_SOURCE = "derived for boundlab; docs/theory/area.md#the-proofs"
PROOFS = (
    Script(
        "area.theorem7.onepass",
        "Theorem 7 before its constants are rounded",
        _SOURCE,
        onepass,
        "area.theorem7.onepass",
    ),
    Script(
        "area.theorem7.explicit",
        "Theorem 7 with explicit constants",
        _SOURCE,
        explicit,
        "area.theorem7.explicit",
    ),
)
