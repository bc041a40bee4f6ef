"""FedBuff and FedStaleWeight with any schedule: rf1; docs/theory/fedstaleweight.md, step by step."""

from typing import Any

from boundlab.proofs._along import with_forms
from boundlab.prove import (
    Fact,
    Proof,
    Script,
    combine_vectors,
    equal,
    expr,
    finite_sum,
    scalar,
    squared,
    telescope,
    telescope_vector,
    total,
    vector_sum,
)


def any_schedule(proof: Proof) -> None:
    """Any participation, any step size."""
    s, kernel = proof.setting(), proof.kernel
    k, q, i, T, Q, L, n = s.k, s.q, s.i, s.T, s.Q, s.symbol("L"), s.n
    s2, size = s.symbol("G_sq") + s.symbol("sigma_l") ** 2, s.rate * s.step
    second = _second_moment(proof, s2)
    move = _update(proof, second, s2)
    far = _far(proof, second, move, s2)
    late = _late(proof, far, s2)
    unequal = _unequal(proof)
    F, df, du, hb = s.objective, s.df(k), s.du(k), s.hb(k, q)
    chi = expr(s.spread(k) * s.symbol("sigma_g_mean") ** 2)
    distance = lambda place: (size * Q * s.symbol("tau_max") + s.step * place) ** 2
    gap = proof.step(
        "(R10)",
        squared(df - hb) <= 2 * chi + 2 * L**2 * s2 * distance(q),
        [unequal, late],
        squares=[df - du - (du - hb)],
    )
    still = _still(proof)
    one = proof.step(
        "(R9), (R10)",
        -2 * s.dot(df, hb + s.xb(k, q)) <= squared(df) * -1 + 2 * chi + 2 * L**2 * s2 * distance(q),
        [gap, still],
        squares=[hb],
    )
    every = total(kernel, one, "q", 0, Q)
    closed = [telescope(kernel, "q", 0, Q, form) for form in (q * (q - 1) / 2, q * (q - 1) * (2 * q - 1) / 6)]
    drift = s.step**2 * (
        (s.rate * Q * s.symbol("tau_max")) ** 2 + s.rate * Q * s.symbol("tau_max") * (Q - 1) + (Q - 1) * (2 * Q - 1) / 6
    )
    steps = vector_sum("q", 0, Q, s.hb(k, q) + s.xb(k, q))
    local = proof.step(
        "(R15), all local steps of an update",
        -2 * s.dot(df, steps) <= squared(df) * -Q + 2 * Q * chi + 2 * L**2 * s2 * Q * drift,
        [every, *closed],
    )
    way = s.w(k + 1) - s.w(k)
    down = total(kernel, s.descent(s.d(i, k), s.w(k + 1)), "i", 0, n, 1 / n)
    descent = proof.step(
        "(R7), with the update as it is",
        F(s.w(k + 1)) <= F(s.w(k)) - s.dot(df, steps) * size + squared(way) * (L / 2),
        [down, kernel.against(s.whole_gradient(k), way), kernel.against(s.update(k), df)],
    )
    update = proof.step(
        "(R12)",
        squared(df)
        <= (F(s.w(k)) - F(s.w(k + 1))) * (2 / (size * Q)) + 2 * chi + 2 * L**2 * s2 * drift + L * size * Q * s2,
        [descent, local, kernel.at(move, {"r": k})],
    )
    far = -2 / (size * Q * T)
    proof.conclude(
        proof.step(
            "(R13)",
            s.metric()
            <= expr(
                2 * s.symbol("F0") / (size * Q * T)
                + 2 * s.symbol("chi2_path") * s.symbol("sigma_g_mean") ** 2
                + 2 * L**2 * s2 * drift
                + L * size * Q * s2
            ),
            multipliers=[
                (1, total(kernel, update, "k", 0, T, 1 / T)),
                (-far, telescope(kernel, "k", 0, T, F(s.w(k)))),
                (-far, s.start_gap(s.w(T))),
                (2 * s.symbol("sigma_g_mean") ** 2 / T, s.path()),
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


def _far(proof: Proof, second: Fact, move: Fact, s2: Any) -> Fact:
    """(R4): how far the point of a local step is from w[k]."""
    s, kernel = proof.setting(), proof.kernel
    r, k, j, q, Q = s.r, s.k, s.j, s.q, s.Q
    D, eta = s.rate * s.step * Q, s.step
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
    tau = s.symbol("tau_max")
    less = kernel.combine(expr(tau - (k - old)) >= 0, [(1, s.delay(k, j))])
    more = kernel.combine(expr(D * (D * (tau + k - old) + 2 * eta * h)) >= 0, [])
    return proof.step(
        "(R4)",
        squared(s.w(k) - s.z(k, j, h)) <= expr((D * tau + eta * h) ** 2 * s2),
        multipliers=[(1, apart), (s2, kernel.scale(less, more))],
    )


def _late(proof: Proof, far: Fact, s2: Any) -> Fact:
    """(R10), the second part: Jensen's inequality with the weights alpha, and smoothness."""
    s, kernel = proof.setting(), proof.kernel
    k, j, q, L = s.k, s.j, s.q, s.symbol("L")
    gap = s.d(s.c(k, j), k) - s.g(k, j, q)
    mean = s.du(k) - s.hb(k, q)
    size = (s.rate * s.step * s.Q * s.symbol("tau_max") + s.step * q) ** 2
    one = proof.step(
        "the gradient of a local step",
        squared(gap) <= expr(L**2 * s2 * size),
        [s.smooth(s.d(s.c(k, j), k), s.g(k, j, q)), kernel.at(far, {"h": q})],
    )
    over = lambda fact: total(kernel, fact, "j", 0, s.many, s.alpha(k, j))
    return proof.step(
        "(R10), late gradients",
        squared(mean) <= expr(L**2 * s2 * size),
        [
            over(one),
            over(kernel.square(gap - mean)),
            s.weights(k, squared(mean)),
            s.weights(k, expr(1)),
            kernel.against(s.there(k), mean),
            kernel.against(s.added("hb", k, q), mean),
        ],
    )


def _unequal(proof: Proof) -> Fact:
    """(R8): the weights of the clients in a buffer in place of 1/n."""
    s, kernel = proof.setting(), proof.kernel
    k, i, n = s.k, s.i, s.n
    other = s.index("i_0", 0, n - 1)
    gap = lambda place: s.d(place, k) - s.df(k)
    y = lambda place: s.share(place, k) - 1 / n
    bias = vector_sum("i", 0, n, gap(i) * y(i))
    product = kernel.square(gap(i) * y(other) - gap(other) * y(i))
    parts = s.over(other, k) ** 2 + s.under(other, k) ** 2
    mixed = kernel.times(s.one_sided(other, k), squared(gap(i)))
    over_all = lambda fact: total(kernel, total(kernel, fact, "i", 0, n), "i_0", 0, n)
    cauchy = proof.step(
        "(R8), Cauchy-Schwarz",
        squared(bias) <= finite_sum("i_0", 0, n, finite_sum("i", 0, n, squared(gap(i)) * parts)),
        multipliers=[(scalar(1) / 2, over_all(product)), (2, over_all(mixed))],
    )
    mean = total(kernel, s.mean_heterogeneity(k), "i_0", 0, n, s.over(other, k) ** 2 + s.under(other, k) ** 2)
    whole = s.du(k) - s.df(k)
    same = combine_vectors(
        kernel, whole, bias, [(1, s.regrouped(k)), (-1, s.whole_gradient(k)), (1, s.whole_share(k, s.df(k)))]
    )
    return proof.step(
        "(R8)",
        squared(whole) <= expr(s.spread(k) * s.symbol("sigma_g_mean") ** 2),
        [cauchy, mean, s.spread_of(k), kernel.against(same, whole), kernel.against(same, bias)],
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
