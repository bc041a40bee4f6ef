"""What is assumed in each setting of the prover, at symbolic places."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from boundlab.prove import Fact, Lin, ProofError, VectorFact, dot, expr, squared
from boundlab.prove.models import Model, models_of
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem

F = Fraction


@cache
def setting(theorem: str) -> Any:
    """Return the setting of a theorem."""
    return setting_of(load_theorem(theorem))


@cache
def models(theorem: str) -> tuple[Model, ...]:
    """Return the exact models of its setting."""
    return tuple(models_of(setting(theorem)))


def axioms(theorem: str) -> Iterator[Fact | VectorFact]:
    """Yield every axiom and every rule about chance that a theorem's assumptions allow, at symbolic places."""
    s = setting(theorem)
    match theorem.split("."):
        case ["afl_dga", _]:
            yield from (*_of_rounds(s), *_sizes_in_rounds(s), *_moves_of_rounds(s))
        case ["fedfa", *_]:
            yield from _of_windows(s)
        case ["fedcompass", *_]:
            yield from _of_printed_work(s) if s.theorem.of_paper else _of_work(s)
        case ["fedbuff" | "fedstaleweight", "rf3"]:
            yield from _of_random_schedules(s)
        case ["fedbuff" | "fedstaleweight", _]:
            yield from _of_given_schedules(s)
        case _:
            yield from _of_gradients(s)


def vectors(theorem: str) -> tuple[Lin, ...]:
    """Return vectors whose products with both sides of an equation of vectors are compared."""
    s = setting(theorem)
    match theorem.split("."):
        case ["afl_dga", _]:
            return s.w(s.t), s.v(s.t), s.df(0)
        case ["fedfa", *_]:
            return s.w(0), s.w(s.t), s.fv(s.t)
        case ["fedcompass", *_]:
            return s.w(0), s.w(s.t), s.df(s.t)
        case _:
            return (s.star, s.model(0), s.vec("h", s.i)) if "minimiser" in s.assumed else (s.model(0), s.model(s.k))


# ---------------------------------------------------------------------- AREA and the textbook


def _of_gradients(s: Any) -> Iterator[Fact | VectorFact]:
    if s.theorem.algorithm == "async_sgd":
        yield from _of_delays(s)
        return
    i, k, star = s.i, s.k, s.star
    if s.theorem.algorithm == "area":
        slopes = [(s.g(i, s.r, s.m), s.z(i, s.r, s.m)), (s.d(i, k), s.xs(k))]
        noise, points = s.e(i, s.r, s.m), (s.xs(k), s.x(i, k), s.y(i, k), star)
        known = (s.z(i, s.r, s.m), s.g(i, s.r, s.m), star, s.vec("h", i))
    else:
        slopes, noise, points = [(s.g(i, k), s.x(k))], s.vec("e", i, k), (s.x(k + 1), star)
        known = (s.x(k), s.g(i, k), star, s.gradient(k))
    slopes += [(s.vec("h", i), star), (s.vec("gbar", i), s.average())]
    if s.theorem.algorithm == "area" and s.diminishing:
        slopes += [(s.gh(i, s.r, s.m), s.zh(i, s.r, s.m)), (s.vec("hu", i), s.vec("ustar", i))]
    for slope, _ in slopes:
        yield from _of_slope(s, slope, (*points, *(at for _, at in slopes)), [other for other, _ in slopes])
    yield from _of_chance(s, noise, known)
    yield s.optimality()
    yield from _allowed(s.averaging)
    yield s.start()
    yield from (s.minimal(at) for at in (*points, s.average()))
    yield from _moves(s)


def _of_delays(s: Any) -> Iterator[Fact | VectorFact]:
    k, j = s.k, s.j
    for old in (k, j, s.s(k)):
        yield s.move(k)
        yield s.delay(k)
        yield s.variance(s.e(k))
        yield s.start_gap(s.x(old))
        yield s.independent(s.e(j), "j", s.s(k), k)
        yield s.descent(s.g(old), s.x(k + 1))
        yield s.smooth(s.g(k), s.g(old))
    for known in (s.x(k), s.g(k), s.g(s.s(k)), s.x(s.s(k))):
        yield s.unbiased(s.e(k), known)


def _of_slope(s: Any, slope, points, others) -> Iterator[Fact]:  # type: ignore[no-untyped-def]
    for to in points:
        for axiom in (s.convex, s.strongly_convex, s.descent):
            yield from _allowed(axiom, slope, to)
    for other in others:
        for axiom in (s.smooth, s.cocoercive, s.interpolation):
            yield from _allowed(axiom, slope, other)
    yield from _allowed(s.lipschitz, slope)


def _of_chance(s: Any, noise, known) -> Iterator[Fact]:  # type: ignore[no-untyped-def]
    if not s.noisy:
        return
    yield s.variance(noise)
    for vector in known:
        for one in vector.terms:
            if not one.ranges:
                (vector,) = one.base.vectors
                yield s.unbiased(noise, s.vec(vector.name, *vector.indices))
    if s.theorem.algorithm == "gd":
        yield s.independent(s.e(s.i, s.k), "i", 0, s.n, 1 / s.n)


def _moves(s: Any) -> Iterator[Fact | VectorFact]:
    k, star = s.k, s.star
    if s.theorem.algorithm == "area":
        yield s.begin(s.i, k)
        if s.diminishing:
            yield s.move(s.i, k, s.m)
            yield s.quiet_move(s.i, k, s.m)
            yield s.quiet_begin(s.i, k)
            yield s.heterogeneity(s.i)
            yield s.own_minimiser(s.i)
        else:
            yield s.move(s.i, s.r, s.m)
        yield s.first("x", s.i)
        yield s.first("y", s.i)
        yield s.qbar()
        if s.opening:
            yield s.broadcast(s.i)
        for one in (s.x(s.i, k + 1), s.y(s.i, k + 1), s.xs(k + 1)):
            yield s.event(squared(one - star), k)
            yield s.event(dot(one, s.xs(k)), k)
        yield s.event(s.part(s.i, s.y(s.i, k + 1)), k)
        yield s.event(s.part(s.i, s.x(s.i, k + 1)), k)
    elif s.sampling == "all":
        yield s.move(k)
    else:
        yield s.event(squared(s.x(k + 1) - star), k)


def _allowed(axiom, *args) -> Iterator[Fact]:  # type: ignore[no-untyped-def]
    """Yield an axiom, unless the theorem does not assume it or the two gradients are of two functions."""
    try:
        yield axiom(*args)
    except ProofError:
        return


# ---------------------------------------------------------------------- AFL-DGA


def _moves_of_rounds(s: Any) -> Iterator[VectorFact]:
    t, i, q = s.t, s.i, s.q
    yield from (s.move(t), s.average(t), s.slopes(t), s.whole(t), s.place(t, i, q))
    if s.noisy:
        yield from (s.noise(t), s.split_noise(t))


def _of_rounds(s: Any) -> Iterator[Fact]:
    t, i, q = s.t, s.i, s.q
    known = s.own_symbols
    yield from (s.each_once(t, i), s.missing_steps(t, i, q), s.lasting(t, i))
    if "S" in known:
        yield s.missing(t)
    if "Q_age" in known:
        yield from (s.age(t, i), s.ages(t))
    for name, means in (
        ("SM2", s.mean_distance),
        ("reuse", s.mean_age),
        ("reuse_n", s.mean_root),
        ("tau_sum", s.sum_of_ages),
    ):
        if name in known:
            yield means()


def _sizes_in_rounds(s: Any) -> Iterator[Fact]:
    t, i, q, p, r = s.t, s.i, s.q, s.p, s.first(s.t, s.i)
    yield s.moment(t, i, q)
    held = [] if s.theorem.id == "afl_dga.r0" else [s.o(i, r, q, p)]  # there no point holds an own gradient
    yield from (s.own_moment(t, i, q, p) for _ in held)
    yield from (s.smooth(s.d(i, t), s.g(i, r, q)), s.smooth(s.d(i, t), s.d(i, r)))
    yield from (s.descent(s.d(i, t), s.w(t + 1)), s.start_gap(s.w(t)))
    if s.noisy:
        yield from (s.variance(s.e(i, r, q)), s.uncorrelated(t))
        for known in (s.w(r), s.d(i, r), s.df(r), s.z(i, r, q), s.g(i, r, q), *held):
            yield s.unbiased(s.e(i, r, q), known)


# ---------------------------------------------------------------------- FedFa


def _of_windows(s: Any) -> Iterator[Fact | VectorFact]:
    a, t, k, i, u, q, r = s.a, s.t, s.k, s.i, s.u, s.q, s.r
    yield s.begin(t, 0)
    yield s.move(a, 0, q)
    yield s.update(t)
    yield s.whole_gradient(t)
    yield s.added("gr", a)
    yield s.bounded_gradient(s.g(a, 0, q))
    yield s.bounded_gradient(s.d(i, t))
    yield s.descent(s.d(i, t), s.w(t + 1))
    yield s.smooth(s.d(s.c(k + u, 0), k), s.g(k + u, 0, q))
    if s.noisy:
        yield s.added("er", a)
        yield s.variance(s.e(a, 0, q))
        yield s.independent(s.e(a, 0, q), "q", 0, s.Q)
        for known in (s.g(a, 0, q), s.z(a, 0, q), s.z(a, 0, 0)):
            yield s.unbiased(s.e(a, 0, q), known)
        for known in (s.w(t), s.v(t), s.fv(t), s.w(s.s(t, 0)), s.er(t - 1)):
            yield s.unbiased(s.e(t, 0, q), known)
    if s.printed:
        yield s.its_own(t, i, s.earliest(t))
        yield s.unbiased(s.e(s.coming(t, i), 0, q), s.w(s.earliest(t)))
        return
    yield s.ahead(t if s.delta else 0)
    yield s.delay(r, 0)
    yield s.start_gap(s.v(t))
    yield s.descent(s.dv(i, k), s.v(k + s.N))
    yield s.smooth(s.d(i, k), s.dv(i, k))
    yield s.smooth(s.dv(s.c(k + u, 0), k), s.g(k + u, 0, q))
    yield s.regrouped(k)
    yield s.balance(k, squared(s.fv(k)))
    yield s.balance(k, expr(1))
    yield s.bias(k)
    yield s.spread(i, t)
    yield s.mean_slope(i, t)
    yield s.bounded_mean(i, t)
    yield s.length(t)
    yield s.lengths()
    if not s.delta:
        yield s.virtual_move(t)
        yield s.response(r)
        yield s.response_error(r)


# ---------------------------------------------------------------------- FedCompass


def _of_work(s: Any) -> Iterator[Fact | VectorFact]:
    t, j, q, k, u, i = s.t, s.j, s.q, s.k, s.u, s.i
    g, r = s.g(t, j, q), s.r
    yield from (s.begin(t, j), s.move(t, j, q), s.delay(r, j), s.update(r), s.work(r), s.whole_gradient(t))
    yield from (s.added("gr", t), s.moved(t, u), s.regrouped(k), s.weights(expr(1)), s.weights(squared(s.df(t))))
    yield from (s.balance(k, s.df(k)), s.balance(k, s.w(k) - s.w(0)))
    yield from (s.heterogeneity(i, t), s.bounded_gradient(g), s.mean_slope(i, t), s.bounded_mean(i, t))
    yield from (s.smooth(s.d(s.c(t, j), k), g), s.descent(s.d(i, k), s.w(k + s.N)), s.start_gap(s.w(t)))
    yield from (s.length(t), s.lengths())
    known = s.own_symbols
    if "N" in known:
        yield s.window_work(k)
    else:
        yield s.bias(k)
    if "V_max" in known:
        yield s.window_squares(k)
    if "Q_mean" in known:
        yield s.mean_work()
    if s.noisy:
        e = s.e(t, j, q)
        yield from (s.added("er", t), s.variance(e), s.independent(e, "q", 0, s.steps(t, j)))
        yield from (s.unbiased(e, v) for v in (g, s.z(t, j, q), s.w(t), s.d(i, t), s.df(t), s.w(s.s(t, j))))


def _of_printed_work(s: Any) -> Iterator[Fact | VectorFact]:
    t, i, q = s.k, s.i, s.q
    begun = (s.begins_at(t, i), s.steps_on(t, i, q), s.update(t), s.added("su", t), s.late(t, i), s.indicator(t, i))
    who = (s.arrivals(t, expr(1)), s.arrivals(t, squared(s.df(t))), s.largest(t, i), s.smallest(t, i))
    noise = (s.noise_bound(t, i, q), s.uncorrelated_arriving(t), s.uncorrelated_all(t))
    sizes = (s.heterogeneity_at(t, i, q), s.bounded_whole(t, i, q), s.bounded_gradient(s.gy(t, i, q)))
    yield from (*begun, *who, *noise, *sizes, s.whole_gradient(t), s.weights(expr(1)), s.start_gap(s.w(t)))
    yield from (s.noise_meets(t, i, q, v) for v in (s.gy(t, i, q), s.fy(t, i, q), s.df(t)))
    yield from (s.heterogeneity(i, t), s.descent(s.d(i, t), s.w(t + 1)), s.smooth(s.d(i, t), s.gy(t, i, q)))


# ---------------------------------------------------------------------- FedBuff and FedStaleWeight


def _of_given_schedules(s) -> Iterator[Fact | VectorFact]:  # type: ignore[no-untyped-def]
    k, j, q, i = s.k, s.j, s.q, s.i
    g, e = s.g(k, j, q), s.e(k, j, q)
    yield from (s.begin(k, j), s.move(k, j, q), s.delay(k, j), s.update(k), s.whole_gradient(k), s.there(k))
    yield from (s.regrouped(k), s.added("hb", k, q), s.added("xb", k, q), s.weights(k, expr(1)))
    yield from (s.weights(k, squared(s.w(k))), s.whole_share(k, s.df(k)), s.one_sided(i, k), s.spread_of(k), s.path())
    yield from (s.bounded_gradient(g), s.variance(e), s.mean_heterogeneity(k), s.start_gap(s.w(s.T)))
    yield from (s.smooth(s.d(s.c(k, j), k), g), s.descent(s.d(i, k), s.w(k + 1)))
    yield from (s.unbiased(e, v) for v in (g, s.z(k, j, q), s.df(k), s.w(k), s.d(i, k), s.w(s.s(k, j))))


def at(s, name: str):  # type: ignore[no-untyped-def]
    return s.vec(name, s.k, s.q)


def _of_random_schedules(s) -> Iterator[Fact | VectorFact]:  # type: ignore[no-untyped-def]
    k, q, m, i = s.k, s.q, s.m, s.i
    past = (s.w(k), s.d(i, k), s.df(k), s.vec("db", k), at(s, "mb"))
    yield from (s.update(k), s.entry_move(k, q), s.way_begin(k), s.way_end(k), s.way_move(k, m), s.whole_gradient(k))
    yield from (s.expected(k), s.whole_share(s.df(k)), s.one_sided(i), s.largest(i), s.shares_apart())
    yield from (s.drawn_client(k, v) for v in past)
    yield from (s.given_past(k, q, v) for v in past)
    yield s.drawn_distance(k)
    free = (*past, s.w(k + 1), at(s, "hb"), at(s, "xb"), s.vec("mb", k, 0))
    yield from (s.entry_of(name, k, q, v) for name in ("hb", "xb") for v in free)
    yield from (s.met_entry_of(k, m, q, s.vec("pk", k, place)) for place in (m, m + 1, 0))
    yield from (s.entry_gradient(k, q), s.met_gradient(k, m, q), s.entry_smooth(k, q), s.entry_variance(k, q))
    yield from s.met_noise(k, m, q)
    yield from (s.buffer_noise(k, q), s.squared_weights(), s.mean_heterogeneity(k), s.start_gap(s.w(s.T)))
    known = (
        *past[:4],
        at(s, "gk"),
        at(s, "zk"),
        at(s, "hb"),
        s.vec("dk", k),
        s.vec("pk", k, m),
        s.vec("gu", k, m, q),
    )
    yield from (s.unbiased(at(s, noise), v) for noise in ("ek", "xb") for v in known)
    yield from (s.independent(at(s, noise), "q", 0, s.Q) for noise in ("ek", "xb"))
    yield s.descent(s.d(i, k), s.w(k + 1))
