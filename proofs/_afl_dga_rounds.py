"""What all proofs about AFL-DGA use: sizes, noise, one round; docs/theory/afl_dga.md, (AD4) to (AD9)."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from boundlab.prove import (
    Context,
    Expr,
    Fact,
    Lin,
    Proof,
    Scalar,
    equal,
    expr,
    finite_sum,
    scalar,
    split_sum,
    squared,
    sums,
    telescope,
    telescope_vector,
    total,
    variable,
    vector_sum,
)


class RoundProof:
    """A proof about AFL-DGA, with its setting and the facts that were shown so far."""

    def __init__(self, proof: Proof) -> None:
        self.proof, self.s, self.kernel = proof, proof.setting(), proof.kernel
        s = self.s
        self.i, self.t, self.q, self.p, self.h, self.l, self.r = s.i, s.t, s.q, s.p, s.h, s.l, s.r
        self.T, self.n, self.eta, self.L = s.symbol("T"), s.n, s.eta, s.symbol("L")
        self.x = self.eta * self.L
        self.G = s.symbol("G")
        self.u = s.index("u", 0, self.t)  # a round up to t
        self.o = s.index("p_1", 0, s.kept(self.t, self.i, self.q) - 1)
        self.any = s.index("q_0")  # a local step of any average
        self.since = s.first(self.t, self.i)
        self.K = s.steps(self.i, self.since)

    # ------------------------------------------------------------------ sums

    def over_used(self, fact: Fact) -> Fact:
        """Return the mean of a fact about client i and its point q over what round t uses."""
        return sums(self.kernel, fact, ("q", 0, self.K, 1 / self.K), ("i", 0, self.n, 1 / self.n))

    # ------------------------------------------------------------------ sizes

    def size(self) -> Fact:
        """(AD4): E‖a[t]‖² ≤ G²."""
        s, a = self.s, self.s.a(self.t)
        each = s.sampled(self.i, self.since, self.q)
        mean = [s.average(self.t), s.slopes(self.t)] + ([s.noise(self.t)] if s.noisy else [])
        tested = [self.kernel.against(one, a) for one in mean]
        return self.proof.step(
            "(AD4), a step of the server",
            squared(a) <= expr(self.G**2),
            [
                *tested,
                self.over_used(s.moment(self.t, self.i, self.q)),
                self.over_used(self.kernel.square(each - a)),
            ],
        )

    def pair(self, size: Fact) -> Fact:
        """Two steps of the server: E⟨a[h], a[l]⟩ ≤ G²."""
        s, h, other = self.s, self.h, self.l
        return self.proof.step(
            "two steps of the server",
            s.dot(s.a(h), s.a(other)) <= expr(self.G**2),
            [self.kernel.at(size, {"t": h}), self.kernel.at(size, {"t": other})],
            squares=[s.a(h) - s.a(other)],
        )

    def moved(self, begin: Any) -> list[Fact]:
        """Return w[t] − w[begin] as the sum of the steps between, against itself and against that sum."""
        s, kernel, t, h = self.s, self.kernel, self.t, self.h
        moves = total(kernel, s.move(h), "h", begin, t)
        path = telescope_vector(kernel, "h", begin, t, s.w(h))
        steps = vector_sum("h", begin, t, s.a(h))
        return [kernel.against(fact, test) for fact in (moves, path) for test in (s.w(t) - s.w(begin), steps)]

    def path(self, begin: Any) -> Any:
        """Return the sum of the server's steps from a round on, up to round t."""
        return vector_sum("h", begin, self.t, self.s.a(self.h))

    def averages(self, begin: Any) -> Any:
        """Return that sum, by gradients and noise."""
        return total(self.kernel, self.s.average(self.h), "h", begin, self.t)

    def drift(self, pair: Fact) -> Fact:
        """(AD4): E‖w[t] − w[u]‖² ≤ (t − u)²·η²·G²."""
        s, t = self.s, self.t
        u = self.u
        return self.proof.step(
            "(AD4), models of two rounds",
            squared(s.w(t) - s.w(u)) <= expr((t - u) ** 2 * self.eta**2 * self.G**2),
            [*self.moved(u), sums(self.kernel, pair, ("l", u, t), ("h", u, t, 1))],
        )

    @cached_property
    def lipschitz(self) -> Fact:
        """∇f is L-Lipschitz, at the models of rounds t and u."""
        s, t, u = self.s, self.t, self.u
        gap = s.df(t) - s.df(u)
        mine = s.d(self.i, t) - s.d(self.i, u)
        return self.proof.step(
            "the gradient is Lipschitz",
            squared(gap) <= squared(s.w(t) - s.w(u)) * self.L**2,
            [
                self.kernel.against(s.whole(t), gap),
                self.kernel.against(s.whole(u), gap),
                s.over_clients(s.smooth(s.d(self.i, t), s.d(self.i, u))),
                s.over_clients(self.kernel.square(mine - gap)),
            ],
        )

    def noise(self) -> Fact:
        """(AD5): E‖m[t]‖² ≤ σ²/n."""
        s, n, sigma = self.s, self.n, self.s.symbol("sigma")
        variance = s.variance(s.e(self.i, self.since, self.q))
        few = self.kernel.combine(expr(1 / self.K) <= 1, [])
        return self.proof.step(
            "(AD5)",
            squared(s.m(self.t)) <= expr(sigma**2 / n),
            [
                s.noise(self.t),
                s.uncorrelated(self.t),
                sums(self.kernel, variance, ("q", 0, self.K, 1 / self.K**2), ("i", 0, n, 1 / n**2)),
                total(self.kernel, few, "i", 0, n, sigma**2 / n**2),
            ],
        )

    def many_steps(self, begin: Any, of: Any) -> Fact:
        """Return ‖Σ v[h]‖² ≤ (t − begin)·Σ ‖v[h]‖², over begin ≤ h < t, by squares of all differences."""
        pairs = self.kernel.square(of(self.h) - of(self.l))
        return sums(self.kernel, pairs, ("l", begin, self.t), ("h", begin, self.t, 1))

    # ------------------------------------------------------------------ one round

    def round(self) -> Fact:
        """(AD8), with ‖a‖² as it is."""
        s, t, eta = self.s, self.t, self.eta
        f = s.objective
        down = s.over_clients(s.descent(s.d(self.i, t), s.w(t + 1)))
        lost = s.dot(s.df(t), s.m(t)) * 2 if s.noisy else expr(0)
        step = s.w(t + 1) - s.w(t)
        along = [self.kernel.against(s.average(t), s.df(t)), self.kernel.against(s.whole(t), s.a(t))]
        first = self.proof.step(
            "descent",
            f(s.w(t + 1)) <= f(s.w(t)) - s.dot(s.df(t), s.a(t)) * eta + squared(s.a(t)) * (eta * self.x / 2),
            [down, self.kernel.against(s.whole(t), step), s.move(t)],
        )
        return self.proof.step(
            "(AD8)",
            squared(s.df(t)) + squared(s.v(t))
            <= (f(s.w(t)) - f(s.w(t + 1))) * (2 / eta) + squared(s.df(t) - s.v(t)) - lost + squared(s.a(t)) * self.x,
            [first, *along],
        )

    def fall(self) -> Expr:
        """Return 2/η·(f(w[t]) − f(w[t + 1]))."""
        s = self.s
        return (s.objective(s.w(self.t)) - s.objective(s.w(self.t + 1))) * (2 / self.eta)  # type: ignore[no-any-return]

    def spread(self) -> Fact:
        """(AD9): how far v[t] is from ∇f(w[t])."""
        s, t, i = self.s, self.t, self.i
        r, gap = self.since, s.df(t) - s.v(t)
        mine = s.d(i, t) - s.g(i, r, self.q)
        return self.proof.step(
            "(AD9)",
            squared(gap) <= s.used(t, squared(s.w(t) - s.z(i, r, self.q))) * self.L**2,
            [
                self.kernel.against(s.whole(t), gap),
                self.kernel.against(s.slopes(t), gap),
                self.over_used(s.smooth(s.d(i, t), s.g(i, r, self.q))),
                self.over_used(self.kernel.square(mine - gap)),
            ],
        )

    # ------------------------------------------------------------------ all rounds

    def per_round(self, of: Any) -> Any:
        """Return the sum over all rounds."""
        return finite_sum("t", 0, self.T, of)

    def together(self, one: Fact, more: Sequence[Fact] = (), **how: Any) -> list[Fact]:
        """Return what the sum over all rounds needs: the rounds, the values, the start."""
        s = self.s
        return [
            total(self.kernel, one, "t", 0, self.T, 1 / self.T, **how),
            telescope(self.kernel, "t", 0, self.T, s.objective(s.w(self.t)) * scalar(1)),
            s.start_gap(s.w(self.T)),
            *more,
        ]


# AFL-DGA: how far points are from the server's model, and noise that is used again; (AD4), (AD6), (AD7), (AD10).


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
        sums(b.kernel, mixed, ("p", 0, own), ("h", lo, t, s.miss(t, i, q, h))),
        sums(b.kernel, two, ("p_1", 0, own), ("p", 0, own, 1)),
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
            sums(b.kernel, pair, ("l", lo, t, miss(b.l)), ("h", lo, t, miss(h))),
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
            sums(b.kernel, s.variance(s.e(i, u, q)), ("q_0", 0, K, weight), ("i", 0, n, 1 / n**2)),
            total(kernel, fewer, "i", 0, n, sigma**2 / n**2),
        ],
    )


def orthogonal_part(b: RoundProof, u: Scalar) -> Fact:
    """(AD6): noise that is first used in round u is orthogonal to ∇f(w[u])."""
    s, t, i, q, K = b.s, b.t, b.i, b.any, b.s.steps(b.i, u)
    none = sums(b.kernel, s.unbiased(s.e(i, u, q), s.df(u)), ("q_0", 0, K, s.one(t, i, u) / K), ("i", 0, b.n, 1 / b.n))
    return b.proof.step(
        "(AD6), noise of one age",
        equal(s.dot(s.df(u), s.noise_of(t, u)), 0),
        [b.kernel.against(s.noise_part(t, u), s.df(u)), none],
    )


# AFL-DGA: distances and noise by windows of the server's steps; (AD17) to (AD24).


def missing_steps(b: RoundProof) -> tuple[Lin, Fact]:
    """Return what is missing in a point, and that its square is at most S·Σ ‖a[h]‖²."""
    s, t, i, q, h, kernel = b.s, b.t, b.i, b.q, b.h, b.kernel
    lo, S, miss = s.lo(t), s.symbol("S"), s.miss(t, i, q, h)
    missing = vector_sum("h", lo, t, s.a(h) * miss)
    pairs = b.many_steps(lo, lambda k: s.a(k) * s.miss(t, i, q, k))
    fewer = kernel.scale(kernel.combine(expr(miss**2) <= 1, []), kernel.square(s.a(h)))
    steps = total(kernel, kernel.square(s.a(h)), "h", lo, t)
    return missing, b.proof.step(
        "what is missing",
        squared(missing) <= finite_sum("h", lo, t, squared(s.a(h))) * S,
        [
            pairs,
            total(kernel, fewer, "h", lo, t, t - lo),
            kernel.scale(s.missing(t), steps),
        ],
    )


def own_steps(b: RoundProof) -> tuple[Lin, Fact]:
    """Return what own steps a point holds, and that the square of that is at most M²·G²."""
    s, t, i, q, p, G, M, kernel = b.s, b.t, b.i, b.q, b.p, b.G, b.s.symbol("M_own"), b.kernel
    own, kept = s.kept(t, i, q), lambda k: s.o(i, b.since, q, k)
    held = vector_sum("p", 0, own, kept(p))
    pairs = sums(b.kernel, kernel.square(kept(p) - kept(b.o)), ("p_1", 0, own), ("p", 0, own, 1))
    most = kernel.combine(expr(own**2 * G**2) <= expr(M**2 * G**2), [])
    return held, b.proof.step(
        "own steps",
        squared(held) <= expr(M**2 * G**2),
        multipliers=[
            (1 / scalar(2), pairs),
            (own, total(kernel, s.own_moment(t, i, q, p), "p", 0, own)),
            (1, most),
        ],
    )


def point_by_steps(b: RoundProof, missing: Lin, held: Lin, much: Fact, little: Fact) -> Fact:
    """(AD17)."""
    s, t, i, q = b.s, b.t, b.i, b.q
    gap, place = s.w(t) - s.z(i, b.since, q), s.place(t, i, q)
    steps = finite_sum("h", s.lo(t), t, squared(s.a(b.h)))
    return b.proof.step(
        "(AD17)",
        squared(gap) <= (steps * s.symbol("S") + s.symbol("M_own") ** 2 * b.G**2) * (2 * b.eta**2),
        [*(b.kernel.against(place, v) for v in (gap, missing, held)), much, little],
        squares=[missing + held],
    )


def without_own(b: RoundProof, case: Context, missing: Lin, held: Lin, much: Fact, pair: Fact) -> Fact:
    """(AD17) without its last term, where no own steps are held."""
    s, t, i, q, kernel = b.s, b.t, b.i, b.q, b.kernel
    lo, own, miss = s.lo(t), s.kept(t, i, q), s.miss(t, i, q, b.h)
    gap, place = s.w(t) - s.z(i, b.since, q), s.place(t, i, q)
    steps = finite_sum("h", lo, t, squared(s.a(b.h)))
    count = finite_sum("h", lo, t, own * miss)
    whole = b.proof.step(
        "a point, with and without own steps",
        squared(gap) <= squared(missing) * b.eta**2 + (count * 2 + own**2) * (b.eta**2 * b.G**2),
        [*(kernel.against(place, v) for v in (gap, missing, held)), *own_gradients(b, pair)],
    )
    end = kernel.end("M_own", "high", case)
    none = kernel.combine(expr(own * miss) <= 0, [(miss, end)], case)
    return b.proof.step(
        "no own steps: (AD17)",
        squared(gap) <= steps * (s.symbol("S") * b.eta**2),
        multipliers=[
            (1, whole),
            (b.eta**2, much),
            (2 * b.eta**2 * b.G**2, total(kernel, none, "h", lo, t)),
            (own * b.eta**2 * b.G**2, end),
        ],
        context=case,
    )


def coefficient(b: RoundProof, case: Context, name: str, c: int) -> Fact:
    """(AD19), with c·S² in place of u²."""
    s, x = b.s, b.x
    below = s.step_below_one()
    return b.proof.step(
        f"{name}: (AD19)",
        expr(c * s.symbol("S") ** 2 * x**2) <= expr(1 - x),
        multipliers=[(1, s.small_step_in(case)), (x, below)],
        context=case,
    )


def windows_of_steps(b: RoundProof, noise: Fact) -> Fact:
    """(AD21): Σ ‖a[h]‖² over what may be missing, by gradients and noise."""
    s, t, h, kernel, S, sigma = b.s, b.t, b.h, b.kernel, b.s.symbol("S"), b.s.symbol("sigma")
    two = b.proof.step(
        "a step, by gradients and noise",
        squared(s.a(t)) <= squared(s.v(t)) * 2 + 2 * sigma**2 / b.n,
        [s.average(t), noise],
        squares=[s.v(t) - s.m(t)],
    )
    every = total(kernel, kernel.at(two, {"t": h}), "h", s.lo(t), t)
    steps = finite_sum("h", s.lo(t), t, squared(s.v(h)))
    return b.proof.step(
        "(AD21), the server's steps",
        finite_sum("h", s.lo(t), t, squared(s.a(h))) <= steps * 2 + 2 * S * sigma**2 / b.n,
        multipliers=[(1, every), (2 * sigma**2 / b.n, s.missing(t))],
    )


def used_again(b: RoundProof, case: Context, noise: Fact) -> tuple[Fact, Fact]:
    """(AD23) for Q ≥ 1, by squares with weights, which gives the same bound; and y² = Q."""
    s, t, h, kernel, x, sigma, n = b.s, b.t, b.h, b.kernel, b.x, b.s.symbol("sigma"), b.n
    old, y, s_n = s.old(t), variable("y"), sigma**2 / n
    u = s.index("u_2", old, t)
    fresh = orthogonal_part(b, b.u)
    root = s.root("y", s.symbol("Q_age"), case)
    ages = b.proof.step(
        "at most Q of them", expr(t - old) <= expr(y**2), multipliers=[(1, s.ages(t)), (1, root)], context=case
    )
    few = kernel.combine(expr(t - u) <= expr(y**2), [(1, ages)])
    v, m = (vector_sum("h", u, t, of(h)) for of in (s.v, s.m))
    squares = kernel.square(s.v(h))
    slopes = finite_sum("h", old, t, squared(s.v(h)))
    gradients = b.proof.step(
        "gradients between two rounds",
        squared(v) <= slopes * y**2,
        [
            b.many_steps(u, s.v),
            kernel.scale(few, total(kernel, squares, "h", u, t)),
            split_sum(kernel, "h", old, u, t, squared(s.v(h))),
            total(kernel, squares, "h", old, u),
        ],
        context=case,
    )
    most = kernel.combine(expr((t - u) ** 2) <= expr(y**4), [(y**2 + t - u, few)])
    noises = b.proof.step(
        "noise between two rounds",
        squared(m) <= expr(y**4 * s_n),
        multipliers=[
            (1 / scalar(2), b.many_steps(u, s.m)),
            (t - u, total(kernel, kernel.at(noise, {"t": h}), "h", u, t)),
            (s_n, most),
        ],
        context=case,
    )
    c = 1 / (4 * x * y**3)
    apart = b.proof.step(
        "models of two rounds",
        squared(s.w(t) - s.w(u)) <= (squared(v) * (1 + c) + squared(m) * (1 + 1 / c)) * b.eta**2,
        [*b.moved(u), *(kernel.against(b.averages(u), test) for test in (v, m, b.path(u)))],
        squares=[v * c - m],
        context=case,
    )
    gap, part = s.df(t) - s.df(u), s.noise_of(t, u)
    near = b.proof.step(
        "gradients of two rounds",
        squared(gap) <= slopes * ((1 + c) * y**2 * x**2) + (1 + 1 / c) * y**4 * x**2 * s_n,
        [kernel.at(b.lipschitz, {"u": u}), apart, gradients, noises],
        context=case,
    )
    weight = x * y**3 * (4 * x * y**3 + 1)
    one = b.proof.step(
        "(AD23), one age",
        s.dot(s.df(t), part) * -2 <= slopes / (4 * y**4) + x * y * s_n + squared(part) * weight,
        [near, kernel.at(fresh, {"u": u})],
        squares=[gap + part * weight],
        context=case,
    )
    # The noise of all ages that are not 0.
    parts = total(kernel, kernel.at(part_size(b, b.u), {"u": u}), "u_2", old, t)
    now = s.last_term("r", old, t, expr(s.one(t, b.i, b.r)))
    some = kernel.combine(expr(s.one(t, b.i, t)) >= 0, [])
    clients = [total(kernel, one, "i", 0, n) for one in (now, some, s.each_once(t, b.i))]
    every = b.proof.step(
        "(AD23), noise of all ages",
        finite_sum("u_2", old, t, squared(part)) <= expr(s_n),
        [parts, *clients],
        context=case,
    )
    positive = kernel.combine(
        slopes / (4 * y**4) + x * y * s_n >= 0, [(1 / (4 * y**4), total(kernel, squares, "h", old, t))], case
    )
    last = s.last_term("r", old, t, s.dot(s.df(t), s.noise_of(t, b.r)))
    lost = b.proof.step(
        "(AD23)",
        s.dot(s.df(t), s.m(t)) * -2 <= slopes / (4 * y**2) + (2 * x * y**3 + 4 * x**2 * y**6) * s_n,
        [
            kernel.against(s.split_noise(t), s.df(t)),
            last,
            kernel.at(fresh, {"u": t}),
            total(kernel, one, "u_2", old, t),
            kernel.scale(ages, positive),
            every,
        ],
        context=case,
    )
    return lost, root
