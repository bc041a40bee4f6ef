"""FedBuff and FedStaleWeight with any schedule: rf1; docs/theory/fedstaleweight.md, step by step."""

from typing import Any

from boundlab.proofs._along import Buffer, with_forms
from boundlab.prove import (
    Fact,
    Proof,
    Script,
    equal,
    expr,
    squared,
    telescope,
    telescope_vector,
    total,
    vector_sum,
)


def any_schedule(proof: Proof) -> None:
    """Any participation, any step size."""
    b = Buffer(proof)
    s, kernel, k, q, T, Q, L, s2, size, df = b.s, b.kernel, b.k, b.q, b.T, b.Q, b.L, b.s2, b.size, b.df
    second = _second_moment(proof, s2)
    move = _update(proof, second, s2)
    late = _late(b, _far(b, second, move))
    du, hb = s.du(k), s.hb(k, q)
    unequal = b.unequal(lambda i: s.share(i, k), (k,), du - df, s.regrouped, s.spread(k), s.spread_of)
    F, chi = s.objective, expr(s.spread(k) * b.sigma_g**2)
    gap = proof.step(
        "(R10)",
        squared(df - hb) <= 2 * chi + 2 * L**2 * s2 * b.distance(q),
        [unequal, late],
        squares=[df - du - (du - hb)],
    )
    still = _still(proof)
    one = proof.step(
        "(R9), (R10)",
        -2 * s.dot(df, hb + s.xb(k, q)) <= squared(df) * -1 + 2 * chi + 2 * L**2 * s2 * b.distance(q),
        [gap, still],
        squares=[hb],
    )
    every = total(kernel, one, "q", 0, Q)
    steps = vector_sum("q", 0, Q, s.hb(k, q) + s.xb(k, q))
    local = proof.step(
        "(R15), all local steps of an update",
        -2 * s.dot(df, steps) <= squared(df) * -Q + 2 * Q * chi + 2 * L**2 * s2 * Q * b.drift,
        [every, *b.closed()],
    )
    rest, more = 2 * L**2 * s2 * b.drift, L * size * Q * s2
    update = proof.step(
        "(R12)",
        squared(df) <= (F(s.w(k)) - F(s.w(k + 1))) * (2 / (size * Q)) + 2 * chi + rest + more,
        [b.descent(), local, kernel.at(move, {"r": k})],
    )
    far = 2 / (size * Q * T)
    proof.conclude(
        proof.step(
            "(R13)",
            s.metric() <= expr(far * s.symbol("F0") + 2 * s.symbol("chi2_path") * b.sigma_g**2 + rest + more),
            multipliers=[
                (1, total(kernel, update, "k", 0, T, 1 / T)),
                (far, telescope(kernel, "k", 0, T, F(s.w(k)))),
                (far, s.start_gap(s.w(T))),
                (2 * b.sigma_g**2 / T, s.path()),
            ],
        )
    )


def _second_moment(proof: Proof, s2: Any) -> Fact:
    s = proof.setting()
    at = (s.r, s.j, s.q)
    return proof.step(
        "(R3)",
        squared(s.sampled(*at)) <= expr(s2),
        [s.bounded_gradient(s.g(*at)), s.variance(s.e(*at)), s.unbiased(s.e(*at), s.g(*at))],
    )


def _update(proof: Proof, second: Fact, s2: Any) -> Fact:
    """(R11), by Jensen's inequality with the weights alpha/Q."""
    s, kernel = proof.setting(), proof.kernel
    r, j, q, Q, size = s.r, s.j, s.q, s.Q, s.rate * s.step
    way = s.w(r) - s.w(r + 1)
    total_of = lambda fact: total(kernel, total(kernel, fact, "j", 0, s.many, s.alpha(r, j)), "q", 0, Q)
    inner = [kernel.against(s.added(name, r, q), way) for name in ("hb", "xb")]
    inner = [total(kernel, one, "q", 0, Q) for one in inner]
    weights = [total(kernel, s.weights(r, value), "q", 0, Q) for value in (expr(1), squared(way))]
    return proof.step(
        "(R11)",
        squared(s.w(r + 1) - s.w(r)) <= expr((size * Q) ** 2 * s2),
        [
            total_of(kernel.square(s.sampled(r, j, q) * (size * Q) - way)),
            total_of(second),
            *inner,
            *weights,
            kernel.against(s.update(r), way),
        ],
    )


def _far(b: Buffer, second: Fact, move: Fact) -> Fact:
    """(R4): how far the point of a local step is from w[k]."""
    s, kernel, proof, k, q, Q, D, eta, s2, tau = b.s, b.kernel, b.proof, b.k, b.q, b.Q, b.D, b.eta, b.s2, b.tau
    r, j = s.r, s.j
    old, p, other = s.s(k, j), s.index("p", 0, Q - 1), s.index("r_0", 0, s.T - 1)
    h = s.index("h", 0, Q)  # how many local steps
    go = lambda t: s.w(t + 1) - s.w(t)
    v = lambda place: s.sampled(k, j, place)
    at = lambda place: kernel.at(second, {"r": k, "q": place})
    # Products of two moves, of a move and a local step, of two local steps.
    moves = proof.step(
        "two updates",
        s.dot(go(r), go(other)) <= expr(D**2 * s2),
        [move, kernel.at(move, {"r": other})],
        squares=[go(r) - go(other)],
    )
    mixed = proof.step(
        "an update and a local step",
        s.dot(go(r), v(p)) <= expr(D * s2),
        [move, at(p)],
        squares=[go(r) - v(p) * D],
    )
    steps = proof.step("two local steps", s.dot(v(q), v(p)) <= expr(s2), [at(q), at(p)], squares=[v(q) - v(p)])
    one, two = s.w(k) - s.w(old), s.z(k, j, 0) - s.z(k, j, h)
    path = telescope_vector(kernel, "r", old, k, s.w(r))
    first = total(kernel, s.move(k, j, q), "q", 0, h)
    walk = telescope_vector(kernel, "q", 0, h, s.z(k, j, q))
    way, local = vector_sum("r", old, k, go(r)), vector_sum("q", 0, h, v(q))
    older = proof.step(
        "(R4), the model that a run began at",
        squared(one) <= expr((D * (k - old)) ** 2 * s2),
        [
            total(kernel, total(kernel, moves, "r_0", old, k), "r", old, k),
            *(kernel.against(path, test) for test in (one, way)),
        ],
    )
    # z_0 − z_h = η·Σ (g + e)
    ends = lambda test: [kernel.against(first, test), kernel.against(walk, test)]
    nearer = proof.step(
        "(R4), local steps",
        squared(two) <= expr((eta * h) ** 2 * s2),
        [total(kernel, total(kernel, steps, "p", 0, h), "q", 0, h), *ends(two), *ends(local)],
    )
    both = proof.step(
        "(R4), updates and local steps",
        s.dot(one, two) <= expr(D * eta * (k - old) * h * s2),
        [
            total(kernel, total(kernel, kernel.at(mixed, {"p": q}), "q", 0, h), "r", old, k),
            kernel.against(path, two),
            *ends(one),
            kernel.against(path, local),
            *ends(way),
        ],
    )
    apart = proof.step(
        "(R4), with the entry's own staleness",
        squared(s.w(k) - s.z(k, j, h)) <= expr((D * (k - old) + eta * h) ** 2 * s2),
        [older, nearer, both, s.begin(k, j)],
    )
    less = kernel.combine(expr(tau - (k - old)) >= 0, [(1, s.delay(k, j))])
    more = kernel.combine(expr(D * (D * (tau + k - old) + 2 * eta * h)) >= 0, [])
    return proof.step(
        "(R4)",
        squared(s.w(k) - s.z(k, j, h)) <= expr(b.distance(h) * s2),
        multipliers=[(1, apart), (s2, kernel.scale(less, more))],
    )


def _late(b: Buffer, far: Fact) -> Fact:
    """(R10), the second part: Jensen's inequality with the weights alpha, and smoothness."""
    s, kernel, proof, k, j, q = b.s, b.kernel, b.proof, b.k, b.s.j, b.q
    gap = s.d(s.c(k, j), k) - s.g(k, j, q)
    mean = s.du(k) - s.hb(k, q)
    size = b.L**2 * b.s2 * b.distance(q)
    one = proof.step(
        "the gradient of a local step",
        squared(gap) <= expr(size),
        [s.smooth(s.d(s.c(k, j), k), s.g(k, j, q)), kernel.at(far, {"h": q})],
    )
    over = lambda fact: total(kernel, fact, "j", 0, s.many, s.alpha(k, j))
    return proof.step(
        "(R10), late gradients",
        squared(mean) <= expr(size),
        [
            over(one),
            over(kernel.square(gap - mean)),
            s.weights(k, squared(mean)),
            s.weights(k, expr(1)),
            kernel.against(s.there(k), mean),
            kernel.against(s.added("hb", k, q), mean),
        ],
    )


def _still(proof: Proof) -> Fact:
    """(R5): the noise of a buffer is orthogonal to the gradient at the model that it is added to."""
    s, kernel = proof.setting(), proof.kernel
    k, j, q = s.k, s.j, s.q
    each = total(kernel, s.unbiased(s.e(k, j, q), s.df(k)), "j", 0, s.many, s.alpha(k, j))
    return proof.step(
        "(R5)", equal(s.dot(s.df(k), s.xb(k, q)), 0), [each, kernel.against(s.added("xb", k, q), s.df(k))]
    )


_SOURCE = "docs/theory/fedstaleweight.md"
PROOFS = with_forms(
    *(
        Script(f"{one}.rf1", "any participation, any step size", _SOURCE, any_schedule, f"{one}.rf1")
        for one in ("fedstaleweight", "fedbuff")
    )
)
