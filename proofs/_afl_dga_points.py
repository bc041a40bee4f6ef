"""AFL-DGA: how far points are from the server's model, and noise that is used again; (AD4), (AD6), (AD7), (AD10)."""

from boundlab.proofs._afl_dga_rounds import RoundProof
from boundlab.prove import (
    Fact,
    Scalar,
    equal,
    expr,
    finite_sum,
    squared,
    total,
    vector_sum,
)


def own_gradients(b: RoundProof, pair: Fact) -> tuple[Fact, Fact]:
    """(AD4): a step of the server with an own gradient, and two own gradients."""
    s, t, i, q, h, p, G = b.s, b.t, b.i, b.q, b.h, b.p, b.G
    kept = lambda k: s.o(i, b.since, q, k)
    mixed = b.proof.step(
        "a step of the server and an own gradient",
        s.dot(s.a(h), kept(p)) >= expr(-(G**2)),
        [b.kernel.at(pair, {"l": h}), s.own_moment(t, i, q, p)],
        squares=[s.a(h) + kept(p)],
    )
    two = b.proof.step(
        "two own gradients",
        s.dot(kept(p), kept(b.o)) <= expr(G**2),
        [s.own_moment(t, i, q, p), s.own_moment(t, i, q, b.o)],
        squares=[kept(p) - kept(b.o)],
    )
    own, lo = s.kept(t, i, q), s.lo(t)
    return (
        b.sums(mixed, ("p", 0, own, 1), ("h", lo, t, s.miss(t, i, q, h))),
        b.sums(two, ("p_1", 0, own, 1), ("p", 0, own, 1)),
    )


def point_distance(b: RoundProof, pair: Fact) -> Fact:
    """(AD10) for one round: how far the points are, by how much they lack and hold."""
    s, t, i, q, h, p = b.s, b.t, b.i, b.q, b.h, b.p
    r, G, eta = b.since, b.G, b.eta
    own, miss = s.kept(t, i, q), lambda k: s.miss(t, i, q, k)
    lo = s.lo(t)
    missing = vector_sum("h", lo, t, s.a(h) * miss(h))
    held = vector_sum("p", 0, own, s.o(i, r, q, p))
    gap = s.w(t) - s.z(i, r, q)
    place, many = s.place(t, i, q), s.missing_steps(t, i, q)
    return b.proof.step(
        "(AD4), a point",
        squared(gap) <= expr((s.gone(t, i, q) + own) ** 2 * eta**2 * G**2),
        [
            b.kernel.against(place, gap),
            b.kernel.against(place, missing),
            b.kernel.against(place, held),
            b.sums(pair, ("l", lo, t, miss(b.l)), ("h", lo, t, miss(h))),
            *own_gradients(b, pair),
            many,
            total(b.kernel, many, "h", lo, t, miss(h)),
        ],
    )


def stale_round(b: RoundProof, far: Fact) -> Fact:
    s, t = b.s, b.t
    return b.proof.step(
        "(AD10), one round",
        squared(s.df(t) - s.v(t)) <= s.distances(t) * (b.x**2 * b.G**2),
        [b.spread(), b.over_used(far)],
    )


def used_again_once(b: RoundProof, pair: Fact) -> Fact:
    """(AD7): how far noise that is used again is from being unbiased, for the noise of one local step."""
    s, t, r, e = b.s, b.t, b.since, b.s.e(b.i, b.since, b.q)
    near = b.proof.step(
        "how far the gradient has moved",
        squared(s.df(t) - s.df(r)) <= expr(((t - r) * b.x * b.G) ** 2),
        [b.kernel.at(b.lipschitz, {"u": r}), b.kernel.at(b.drift(pair), {"u": r})],
    )
    gap, size, sigma = s.df(t) - s.df(r), (t - r) * b.x * b.G, s.symbol("sigma")
    return b.proof.step(
        "(AD7), one local step",
        s.dot(s.df(t), e) >= expr(-size * sigma),
        [b.kernel.norms(near, s.variance(e), gap, e, size, sigma, -1), s.unbiased(e, s.df(r))],
    )


def part_size(b: RoundProof, u: Scalar) -> Fact:
    """(AD5) for what was first used in one round: E‖part‖² ≤ σ²/n²·(how many clients)."""
    s, t, i, q, sigma, n, kernel = b.s, b.t, b.i, b.any, b.s.symbol("sigma"), b.n, b.kernel
    one, K = s.one(t, i, u), s.steps(i, u)
    weight = (one / K) ** 2
    fewer = kernel.combine(expr(one**2 / K) <= expr(one), [])
    return b.proof.step(
        "(AD7), noise of one age",
        squared(s.noise_of(t, u)) <= finite_sum("i", 0, n, one) * (sigma**2 / n**2),
        [
            s.noise_part(t, u),
            s.uncorrelated_part(t, u),
            b.sums(s.variance(s.e(i, u, q)), ("q_0", 0, K, weight), ("i", 0, n, 1 / n**2)),
            total(kernel, fewer, "i", 0, n, sigma**2 / n**2),
        ],
    )


def orthogonal_part(b: RoundProof, u: Scalar) -> Fact:
    """(AD6): noise that is first used in round u is orthogonal to ∇f(w[u])."""
    s, t, i, q, K = b.s, b.t, b.i, b.any, b.s.steps(b.i, u)
    none = b.sums(s.unbiased(s.e(i, u, q), s.df(u)), ("q_0", 0, K, s.one(t, i, u) / K), ("i", 0, b.n, 1 / b.n))
    return b.proof.step(
        "(AD6), noise of one age",
        equal(s.dot(s.df(u), s.noise_of(t, u)), 0),
        [b.kernel.against(s.noise_part(t, u), s.df(u)), none],
    )
