"""FedBuff and FedStaleWeight, buffers with fixed expected weights: rf2, rf3; docs/theory/fedstaleweight.md.

An entry of each buffer is drawn with the buffer's weights; so the means over a buffer of the written proof are means
over the drawn entry here. See boundlab/prove/settings/stationary.toml.
"""

from typing import Any

from boundlab.proofs._along import Buffer, with_forms
from boundlab.prove import (
    Fact,
    Proof,
    Script,
    expr,
    finite_sum,
    squared,
    telescope,
    telescope_vector,
    total,
    variable,
    vector_sum,
)


class DrawnBuffer(Buffer):
    """Beside what all buffers have: the drawn entry, and local steps."""

    def __init__(self, proof: Proof) -> None:
        super().__init__(proof)
        s = self.s
        self.m, self.p, self.h = s.m, s.index("p", 0, self.Q - 1), s.index("h", 0, self.Q)
        self.db, self.dk = s.db(self.k), s.dk(self.k)


def any_step(proof: Proof) -> None:
    """rf2: any step size."""
    b = DrawnBuffer(proof)
    s, kernel, L, k, q = b.s, b.kernel, b.L, b.k, b.q
    second = _second_moment(b)
    move = _update(b, second)
    late, unequal = _late(b, _far(b, second)), _unequal(b)
    gk, hb, xb = b.at("gk"), b.at("hb"), b.at("xb")
    rest = 2 * s.symbol("chi2") * b.sigma_g**2 + 2 * L**2 * b.s2 * b.distance(q)
    one = proof.step(
        "(R19), without the means",
        -2 * s.dot(b.df, hb + xb) <= squared(b.df) * -1 + rest,
        [
            late,
            unequal,
            s.entry_of("hb", k, q, b.df),
            s.unbiased(xb, b.df),
            s.drawn_client(k, b.df),
        ],
        squares=[b.db + gk - b.dk, b.df - b.db + (gk - b.dk)],
    )
    every = total(kernel, one, "q", 0, b.Q)
    steps = vector_sum("q", 0, b.Q, hb + xb)
    shares = 2 * s.symbol("chi2") * b.sigma_g**2
    local = proof.step(
        "(R15), all local steps of an update",
        -2 * s.dot(b.df, steps) <= squared(b.df) * -b.Q + b.Q * (shares + 2 * L**2 * b.s2 * b.drift),
        [every, *b.closed()],
    )
    F = s.objective
    update = proof.step(
        "(R12), in the mean",
        squared(b.df) <= (F(s.w(k)) - F(s.w(k + 1))) * (2 / b.D) + shares + 2 * L**2 * b.s2 * b.drift + L * b.D * b.s2,
        [b.descent(), local, move],
    )
    value = shares + 2 * L**2 * b.s2 * b.drift + L * b.D * b.s2
    proof.conclude(_summed(b, "(R20)", update, value))


def small_step(proof: Proof) -> None:
    """rf3: L·η_g·A ≤ 1/2."""
    b = DrawnBuffer(proof)
    s, kernel, L, k, q, Q = b.s, b.kernel, b.L, b.k, b.q, b.Q
    late, unequal = _late(b, _far(b, _second_moment(b))), _unequal(b)
    mb, hb, xb = b.at("mb"), b.at("hb"), b.at("xb")
    shares = 2 * s.symbol("chi2") * b.sigma_g**2
    past = lambda other: s.given_past(k, q, other)
    jensen = proof.step(
        "(R17), Jensen's inequality",
        squared(mb - b.db) <= squared(b.at("gk") - b.dk),
        [past(mb), past(b.db), s.drawn_client(k, mb), s.drawn_client(k, b.db)],
        squares=[b.at("gk") - b.dk - (mb - b.db)],
    )
    near = proof.step(
        "(R17)",
        squared(b.df - mb) <= expr(shares + 2 * L**2 * b.s2 * b.distance(q)),
        [late, unequal, jensen],
        squares=[b.df - b.db + (mb - b.db)],
    )
    one = proof.step(
        "(R19)",
        -2 * s.dot(b.df, hb + xb) <= squared(b.df) * -1 - squared(mb) + shares + 2 * L**2 * b.s2 * b.distance(q),
        [near, s.entry_of("hb", k, q, b.df), past(b.df), s.unbiased(xb, b.df)],
    )
    steps = vector_sum("q", 0, Q, hb + xb)
    means = finite_sum("q", 0, Q, squared(mb))
    local = proof.step(
        "(R19), all local steps of an update",
        -2 * s.dot(b.df, steps) <= squared(b.df) * -Q - means + Q * (shares + 2 * L**2 * b.s2 * b.drift),
        [total(kernel, one, "q", 0, Q), *b.closed()],
    )
    parts = proof.step(
        "a second moment is that of the mean and the variance",
        squared(hb) <= squared(mb) + squared(hb - mb),
        [s.entry_of("hb", k, q, mb), past(mb)],
    )
    limits = _who_is_there(b, late)
    gradients, noises = vector_sum("q", 0, Q, hb), vector_sum("q", 0, Q, xb)
    way = s.w(k + 1) - s.w(k)
    two = proof.step(
        "(R21), gradients and noise",
        squared(way) <= (squared(gradients) + squared(noises)) * (2 * b.size**2),
        [kernel.against(s.update(k), v) for v in (way, gradients, noises)],
        squares=[gradients - noises],
    )
    known = {"way": two, "noise": _noise(b), "local": local, "descent": b.descent()}
    facts = [_second_order(b, limit, value, parts, known) for limit, value in limits]
    gap = limits[1][1] - limits[0][1]
    s.name("gap", gap)
    less, more = kernel.split("gap", 0)
    proof.conclude(
        proof.step("(R25), V_s is the second", facts[1].claim, [facts[1]], context=less),
        proof.step("(R25), V_s is G", facts[0].claim, [facts[0]], context=more),
    )


def _second_order(b: DrawnBuffer, limit: Fact, value: Any, parts: Fact, update: dict[str, Fact]) -> Fact:
    """(R22) to (R25), with ``value`` for V_s; ``update`` holds what is known of an update."""
    s, kernel, proof, L, k, Q, p = b.s, b.kernel, b.proof, b.L, b.k, b.Q, b.p
    tag = ", G" if value.names() == {"G_sq"} else ", who is in the buffer"
    hb, mb, y = b.at("hb"), b.at("mb"), variable("q_0")
    gradients = vector_sum("q", 0, Q, hb)
    each = kernel.combine(
        squared(b.at("hb", y)) <= squared(b.at("mb", y)) + value, [(1, kernel.at(parts, {"q": y})), (1, limit)]
    )
    pairs = total(kernel, total(kernel, kernel.square(hb - b.at("hb", p)), "p", 0, Q), "q", 0, Q)
    means = finite_sum("q", 0, Q, squared(mb))
    square = proof.step(
        f"(R22), (R23){tag}",
        squared(gradients) <= means * Q + Q**2 * value,
        [total(kernel, each, "q_0", 0, Q), pairs],
    )
    moved = proof.step(
        f"(R21){tag}",
        squared(s.w(k + 1) - s.w(k))
        <= means * (2 * b.size**2 * Q) + 2 * b.size**2 * (Q**2 * value + Q * s.symbol("sigma_l") ** 2 * s.al2(k)),
        multipliers=[(1, update["way"]), (2 * b.size**2, square), (2 * b.size**2, update["noise"])],
    )
    less = kernel.combine(expr(1 - 2 * L * b.D) >= 0, [(2, s.limit(0))])
    positive = total(kernel, kernel.square(mb), "q", 0, Q)
    F = s.objective
    constant = 2 * s.symbol("chi2") * b.sigma_g**2 + 2 * L**2 * b.s2 * b.drift + 2 * L * b.D * value
    one = proof.step(
        f"(R24){tag}",
        squared(b.df)
        <= (F(s.w(k)) - F(s.w(k + 1))) * (2 / b.D) + constant + 2 * L * b.size * s.symbol("sigma_l") ** 2 * s.al2(k),
        multipliers=[
            (2 / b.D, update["descent"]),
            (1 / Q, update["local"]),
            (L / b.D, moved),
            (1 / Q, kernel.scale(less, positive)),
        ],
    )
    return _summed(b, f"(R25){tag}", one, constant, 2 * L * b.size * s.symbol("sigma_l") ** 2)


def _who_is_there(b: DrawnBuffer, late: Fact) -> list[tuple[Fact, Any]]:
    """(R23): the variance of a buffer's mean gradient, for every local step before Q, in two ways."""
    s, kernel, proof, k, n, i = b.s, b.kernel, b.proof, b.k, b.n, b.i
    y = s.index("q_0", 0, b.Q - 1)
    hb, mb, gk = (b.at(name, y) for name in ("hb", "mb", "gk"))
    variance = proof.step(
        "the variance of a buffer's gradient",
        squared(hb - mb) <= squared(gk) - squared(mb),
        [s.entry_of("hb", k, y, hb), s.entry_of("hb", k, y, mb), s.given_past(k, y, mb)],
        squares=[gk - hb],
    )
    first = proof.step(
        "(R23), G", squared(hb - mb) <= expr(s.symbol("G_sq")), [variance, s.entry_gradient(k, y)], squares=[mb]
    )
    pi_max = s.symbol("pi_max")
    gap = s.d(i, k) - b.df
    rare = kernel.scale(s.largest(i), kernel.square(gap))
    other = proof.step(
        "the gradient of the drawn client",
        squared(b.dk - b.df) <= expr(n * pi_max * b.sigma_g**2),
        [s.drawn_distance(k), total(kernel, rare, "i", 0, n), s.mean_heterogeneity(k)],
    )
    here = b.L**2 * b.s2 * b.distance(y)
    most = b.L**2 * b.s2 * b.distance(b.Q - 1)
    longer = kernel.combine(expr(most - here) >= 0, [])
    value = 2 * n * pi_max * b.sigma_g**2 + 2 * most
    second = proof.step(
        "(R23), who is in the buffer",
        squared(hb - mb) <= expr(value),
        multipliers=None,
        uses=[
            variance,
            s.given_past(k, y, b.df),
            other,
            kernel.at(late, {"q": y}),
            longer,
        ],
        squares=[mb - b.df, gk - b.dk - (b.dk - b.df)],
    )
    return [(first, s.symbol("G_sq")), (second, value)]


def _noise(b: DrawnBuffer) -> Fact:
    """(R6)."""
    s, kernel, k, q, Q = b.s, b.kernel, b.k, b.q, b.Q
    return b.proof.step(
        "(R6)",
        squared(vector_sum("q", 0, Q, b.at("xb"))) <= expr(Q * s.symbol("sigma_l") ** 2 * s.al2(k)),
        [s.independent(b.at("xb"), "q", 0, Q), total(kernel, s.buffer_noise(k, q), "q", 0, Q)],
    )


def _second_moment(b: DrawnBuffer) -> Fact:
    s, k, q = b.s, b.k, b.q
    gk, ek = b.at("gk"), b.at("ek")
    return b.proof.step(
        "(R3)", squared(gk + ek) <= expr(b.s2), [s.entry_gradient(k, q), s.entry_variance(k, q), s.unbiased(ek, gk)]
    )


def _update(b: DrawnBuffer, second: Fact) -> Fact:
    """(R11)."""
    s, kernel, k, q, Q = b.s, b.kernel, b.k, b.q, b.Q
    way, drawn = s.w(k) - s.w(k + 1), b.at("gk") + b.at("ek")
    means = [s.entry_of(name, k, q, s.w(t)) for name in ("hb", "xb") for t in (k, k + 1)]
    facts = [kernel.square(drawn * b.D - way), second, *means]
    return b.proof.step(
        "(R11)",
        squared(s.w(k + 1) - s.w(k)) <= expr(b.D**2 * b.s2),
        [*(total(kernel, one, "q", 0, Q) for one in facts), kernel.against(s.update(k), way)],
    )


def _far(b: DrawnBuffer, second: Fact) -> Fact:
    """(R4), in the mean: how far a point of the drawn entry is from w[k]."""
    s, kernel, proof, k, m, q, p, h, Q = b.s, b.kernel, b.proof, b.k, b.m, b.q, b.p, b.h, b.Q
    pk = lambda place: s.vec("pk", k, place)
    met = s.vec("gu", k, m, q) + s.vec("eu", k, m, q)
    met_second = proof.step(
        "(R3), of an update before", squared(met) <= expr(b.s2), [s.met_gradient(k, m, q), *s.met_noise(k, m, q)]
    )
    go = lambda place: pk(place + 1) - pk(place)
    means = [s.met_entry_of(k, m, q, pk(place)) for place in (m, m + 1)]
    facts = [kernel.square(met * b.D - go(m)), met_second, *means]
    move = proof.step(
        "(R11), of an update before", squared(go(m)) <= expr(b.D**2 * b.s2),
        [*(total(kernel, one, "q", 0, Q) for one in facts), kernel.against(s.way_move(k, m), go(m))],
    )  # fmt: skip
    other = s.index("m_0")
    v = lambda place: b.at("gk", place) + b.at("ek", place)
    at = lambda place: kernel.at(second, {"q": place})
    moves = proof.step(
        "two updates", s.dot(go(m), go(other)) <= expr(b.D**2 * b.s2), [move, kernel.at(move, {"m": other})],
        squares=[go(m) - go(other)],
    )  # fmt: skip
    mixed = proof.step(
        "an update and a local step", s.dot(go(m), v(q)) * -1 <= expr(b.D * b.s2), [move, second],
        squares=[go(m) + v(q) * b.D],
    )  # fmt: skip
    steps = proof.step("two local steps", s.dot(v(q), v(p)) <= expr(b.s2), [second, at(p)], squares=[v(q) - v(p)])
    tau = b.tau
    zk = lambda place: b.at("zk", place)
    one, two = pk(tau) - pk(0), zk(0) - zk(h)
    path = telescope_vector(kernel, "m", 0, tau, pk(m))
    walk = telescope_vector(kernel, "q", 0, h, zk(q))
    first = total(kernel, s.entry_move(k, q), "q", 0, h)
    way, local = vector_sum("m", 0, tau, go(m)), vector_sum("q", 0, h, v(q))
    ends = lambda test: [kernel.against(first, test), kernel.against(walk, test)]
    older = proof.step(
        "(R4), the model that an entry began at", squared(one) <= expr((b.D * tau) ** 2 * b.s2),
        [
            total(kernel, total(kernel, moves, "m_0", 0, tau), "m", 0, tau),
            *(kernel.against(path, test) for test in (one, way)),
        ],
    )  # fmt: skip
    nearer = proof.step(
        "(R4), local steps", squared(two) <= expr((b.eta * h) ** 2 * b.s2),
        [total(kernel, total(kernel, steps, "p", 0, h), "q", 0, h), *ends(two), *ends(local)],
    )  # fmt: skip
    both = proof.step(
        "(R4), updates and local steps", s.dot(one, two) * -1 <= expr(b.D * b.eta * tau * h * b.s2),
        [
            total(kernel, total(kernel, mixed, "q", 0, h), "m", 0, tau),
            kernel.against(path, two), *ends(one), kernel.against(path, local), *ends(way),
        ],
    )  # fmt: skip
    return proof.step(
        "(R4)", squared(zk(h) - s.w(k)) <= expr(b.distance(h) * b.s2),
        [older, nearer, both, s.way_begin(k), s.way_end(k)],
    )  # fmt: skip


def _late(b: DrawnBuffer, far: Fact) -> Fact:
    s, k, q = b.s, b.k, b.q
    return b.proof.step(
        "(R18), late gradients", squared(b.at("gk") - b.dk) <= expr(b.L**2 * b.s2 * b.distance(q)),
        [s.entry_smooth(k, q), b.kernel.at(far, {"h": q})],
    )  # fmt: skip


def _unequal(b: DrawnBuffer) -> Fact:
    """(R8), for the expected weights."""
    s = b.s
    return b.unequal(s.pi, (), b.db - b.df, s.expected, s.symbol("chi2"), s.shares_apart)


def _summed(b: DrawnBuffer, name: str, one: Fact, constant: Any, noise: Any = None) -> Fact:
    """Return the mean over the updates before T; ``noise`` is what al2 is multiplied with."""
    s, kernel, T = b.s, b.kernel, b.T
    far = 2 / (b.D * T)
    value = far * s.symbol("F0") + constant + (0 if noise is None else noise * s.symbol("alpha2"))
    more = [] if noise is None else [(noise / T, s.squared_weights())]
    return b.proof.step(
        name, s.metric() <= expr(value),
        multipliers=[
            (1, total(kernel, one, "k", 0, T, 1 / T)), (far, telescope(kernel, "k", 0, T, s.objective(s.w(b.k)))),
            (far, s.start_gap(s.w(T))), *more,
        ],
    )  # fmt: skip


_SOURCE = "docs/theory/fedstaleweight.md"
PROOFS = with_forms(
    *(
        Script(f"{one}.{which}", f"fixed expected weights, {says}", _SOURCE, write, f"{one}.{which}")
        for one in ("fedstaleweight", "fedbuff")
        for which, says, write in (("rf2", "any step size", any_step), ("rf3", "small steps", small_step))
    )
)
