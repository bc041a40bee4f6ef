"""AREA's Theorem 7 with explicit constants, first part: one pass, from docs/theory/area.md#the-proofs.

Every exponential is a power of F[k] = e^(q_k/(6M)), with q_k = α_k·M·γ = 48/(p·τ) and τ = k + d, so that F[k]^M is the
page's e^(q_k/6), or of w = e^(1/6).
"""

from typing import Any

from boundlab.prove import Fact, Proof, chord, equal, exponential, expr, monotone, scalar, squared, tangent, variable


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
