"""Claims that are wrong about a setting of the prover: each is false in one of its exact models."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from boundlab.prove import Claim, dot, equal, expr, finite_sum, squared, vector_sum

F = Fraction


def at(s: Any, name: str) -> Any:
    return s.vec(name, s.k, s.q)


def _wrong_about_area(s: Any) -> Iterator[Claim]:
    i, k, r, m, M, star, B = s.i, s.k, s.r, s.m, s.M, s.star, s.symbol("B")
    z, e, g, x, xs = s.z, s.e, s.g, s.x, s.xs
    yield equal(dot(e(i, r, m), z(i, r, m + 1)), 0)  # noise that the point depends on
    yield equal(dot(e(i, r, m), g(i, r, m + 1)), 0)
    yield squared(g(i, r, m)) <= expr(B**2 * F(9, 10))
    yield squared(e(i, r, m)) <= expr(s.symbol("sigma") ** 2 * F(9, 10))
    yield squared(g(i, r, m) + e(i, r, m)) <= expr(B**2)
    yield equal(squared(x(i, k + 1) - z(i, k, M)), 0)  # whoever acts
    yield equal(squared(s.y(i, k + 1) - x(i, k)), 0)
    after, before, branch = (squared(v - star) for v in (x(i, k + 1), x(i, k), z(i, k, M)))
    yield equal(after, before * s.p(i) + branch * (1 - s.p(i)))  # the other way round
    yield equal(squared(xs(k + 1) - star), squared(s.mean_vector(lambda j: s.y(j, k)) - star))
    yield equal(squared(s.vec("h", i)), 0)
    yield s.part(i, star) <= s.part(i, xs(k))  # minimal for the mean, not for each
    yield s.part(i, xs(k)) <= s.part(i, star) + dot(s.vec("h", i), xs(k) - star)
    yield equal(squared(s.average() - xs(0)), 0)


def _wrong_about_gd(s: Any) -> Iterator[Claim]:
    i, k, star, L, mu, n = s.i, s.k, s.star, s.symbol("L"), s.symbol("mu"), s.n
    x, g, e, h = s.x, s.g, s.e, s.vec("h", s.i)
    yield squared(g(i, k) - h) <= squared(x(k) - star) * L**2 * F(9, 10)
    yield s.part(i, star) >= s.part(i, x(k)) + dot(g(i, k), star - x(k)) + squared(g(i, k) - h) / L
    yield s.part(i, star) >= s.part(i, x(k)) + dot(g(i, k), star - x(k)) + squared(x(k) - star) * mu
    yield s.part(i, star) <= s.part(i, x(k)) + dot(g(i, k), star - x(k)) + squared(x(k) - star) * (L / 4)
    yield equal(squared(s.mean_vector(lambda j: e(j, k))), finite_sum("i", 0, n, squared(e(i, k))) / n)
    yield equal(dot(e(i, k), x(k + 1)), 0)
    yield equal(squared(x(k + 1) - x(k) + s.gradient(k) * s.alpha), 0)  # without the noise
    yield equal(squared(x(0) - star), s.symbol("R"))
    yield squared(g(i, k)) <= squared(x(k) - star) * L**2  # the clients' own minimisers differ


def _wrong_about_delays(s: Any) -> Iterator[Claim]:
    k, L, x, g, e, f = s.k, s.symbol("L"), s.x, s.g, s.e, s.objective
    old = s.s(k)
    yield equal(squared(x(k + 1) - x(k) + (g(k) + e(k)) * s.alpha), 0)  # as if nothing were late
    yield expr(k - old) <= expr(s.tau_max - 1)
    yield equal(dot(e(k), x(k + 1)), 0)
    yield squared(g(k) - g(old)) <= squared(x(k) - x(old)) * L**2 * F(9, 10)
    yield f(x(old)) >= f(x(k)) + dot(g(k), x(old) - x(k))  # not convex
    yield f(x(0)) - f(x(k)) <= expr(s.symbol("F0") * F(9, 10))


def _wrong_about_diminishing_steps(s: Any) -> Iterator[Claim]:
    i, k, m, star, L, zeta = s.i, s.k, s.m, s.star, s.symbol("L"), s.symbol("zeta")
    z, g, e = s.z, s.g, s.e
    yield equal(squared(z(i, k, m + 1) - z(i, k, m) + (g(i, k, m) + e(i, k, m)) * s.step(k + 1)), 0)
    yield equal(squared(z(i, k, m + 1) - z(i, k, m) + (g(i, k, m) + e(i, k, m)) * s.step(0)), 0)
    yield squared(star - s.vec("ustar", i)) <= expr(zeta**2 * F(9, 10))
    yield squared(s.vec("h", i)) <= expr((L * zeta) ** 2 * F(1, 20))
    yield equal(squared(s.zh(i, k, m + 1) - s.zh(i, k, m)), 0)


def _wrong_about_rounds(s: Any) -> Iterator[Claim]:
    t, i, q, r, n = s.t, s.i, s.q, s.first(s.t, s.i), s.n
    S, Q, M, G, L = (s.symbol(name) for name in ("S", "Q_age", "M_own", "G", "L"))
    yield equal(dot(s.e(i, r, q), s.w(t)), 0)  # as if stored noise were drawn anew
    yield equal(dot(s.m(t), s.df(t)), 0)
    yield equal(squared(s.w(t) - s.z(i, r, q)), 0)
    yield squared(s.a(t)) <= expr(G**2 / n)
    yield squared(s.g(i, r, q)) <= expr(G**2 - s.symbol("sigma") ** 2 - F(1, 10))
    yield squared(s.m(t)) <= expr(s.symbol("sigma") ** 2 / n**2)
    yield expr(t - r) <= expr(Q - 1)
    yield expr(t - s.lo(t)) <= expr(S - 1)
    yield expr(s.kept(t, i, q)) <= expr(M - 1)
    yield equal(squared(s.w(t + 1) - s.w(t) + s.v(t) * s.eta), 0)  # without the noise
    yield squared(s.df(t) - s.df(0)) <= squared(s.w(t) - s.w(0)) * (L**2 * F(9, 10))
    yield equal(expr(s.one(t, i, t)), 1)


def _wrong_about_windows(s: Any) -> Iterator[Claim]:
    a, t, k, i, u, q, K = s.a, s.t, s.k, s.i, s.u, s.q, s.K
    yield equal(dot(s.e(a, 0, q), s.z(a, 0, q + 1)), 0)
    yield equal(dot(s.e(t, 0, q), s.v(t + 1)), 0)
    yield equal(squared(s.v(t) - s.w(t)), 0)  # as if K were 1
    yield equal(squared(s.v(t + 1) - s.v(t) - s.change(t)), 0)  # without the server rate
    yield equal(squared(s.w(t + 1) - s.w(t) - s.change(t) * s.rate), 0)
    yield equal(squared(s.v(0) - s.w(0)), 0)  # what filled the window is forgotten
    yield expr(s.r - s.s(s.r, 0)) <= expr(s.symbol("tau_a") - 1)
    yield squared(s.dv(i, t) - s.fv(t)) <= expr(s.symbol("sigma_g") ** 2 * F(9, 10))
    yield squared(s.e(a, 0, q)) <= expr(s.symbol("sigma_l") ** 2 * F(9, 10))
    yield equal(squared(vector_sum("u", 0, s.N, s.dv(s.c(k + u, 0), k)) - s.fv(k) * s.N), 0)  # even shares
    yield s.objective(s.w(0)) - s.objective(s.v(t)) <= expr(s.symbol("F0") * F(1, 10))
    yield squared(s.held_back(t)) <= expr((s.rate * s.Q * s.step * (K - 1) / 4) ** 2 * s.symbol("G_sq"))


def _wrong_about_work(s: Any) -> Iterator[Claim]:
    t, j, q, k, u, i, W = s.t, s.j, s.q, s.k, s.u, s.i, s.W(s.k)
    every = vector_sum("u", 0, s.N, s.du(k, u))
    yield expr(s.r - s.s(s.r, j)) <= expr(s.symbol("tau_max") - 1)
    yield equal(squared(s.z(t, j, 0) - s.w(t)), 0)  # as if nothing were late
    yield equal(squared(s.w(s.r + 1) - s.w(s.r) + s.gr(s.r) * s.step), 0)  # without the noise
    yield equal(squared(s.w(s.r + 1) - s.w(s.r) + (s.gr(s.r) + s.er(s.r)) * (s.step / s.n)), 0)  # weighed twice
    yield equal(dot(s.e(t, j, q), s.z(t, j, q + 1)), 0)
    yield equal(W, s.A(k))  # as if a window were one update
    yield equal(s.runs_of(s.r, expr(s.a(s.r, j))), s.A(s.r))  # as if each run had one local step
    yield s.squares_of(k) <= expr(s.symbol("V_max") * F(9, 10))
    yield finite_sum("i", 0, s.n, s.over(i, k) + s.under(i, k)) <= expr(W * s.symbol("share_bias") * F(9, 10))
    yield equal(squared(every - s.df(k) * W), 0)  # even shares
    yield equal(finite_sum("k", 0, s.T, s.size(k)), s.T * s.mean_size(s.T - 1))
    yield equal(s.part(i, s.w(t)) - s.part(i, s.w(0)), dot(s.d(i, 0), s.w(t) - s.w(0)))
    yield equal(squared(s.df(t) - s.mean_vector(lambda one: s.d(one, t))), 0)  # as if all clients weighed the same
    yield squared(s.d(i, t) - s.df(t)) <= expr(s.symbol("sigma_g") ** 2 * F(9, 10))
    yield squared(s.vec("mv", i, t)) <= expr(s.symbol("G_sq") * F(9, 10))


def _wrong_about_one_group(s: Any) -> Iterator[Claim]:
    yield finite_sum("k", 0, s.T, expr(s.A(s.k))) <= expr(s.T * s.symbol("Q_mean") * F(9, 10))
    yield finite_sum("i", 0, s.n, s.over(s.i, s.k) + s.under(s.i, s.k)) <= expr(s.W(s.k) * s.largest_bias(s.k) / 2)
    yield equal(expr(s.many(s.t)), s.n)  # as if all clients were in each update


def _wrong_about_printed_work(s: Any) -> Iterator[Claim]:
    t, i, q = s.k, s.i, s.q
    yield equal(squared(s.vec("y", t, i, 0) - s.w(t)), 0)  # as if nothing were late
    yield equal(squared(s.w(t + 1) - s.w(t) + s.su(t) * s.step), 0)  # without 1/n
    yield expr(t - s.o(t, i)) <= expr(s.symbol("tau_max") - 1)
    yield equal(expr(s.pi(t, i)), 1)  # as if everybody arrived
    yield equal(expr(s.P(t)), s.n)
    yield equal(squared(s.vec("gy", t, i, q) - s.fy(t, i, q)), 0)
    yield equal(dot(s.vec("ey", t, i, q), s.vec("y", t, i, q + 1)), 0)


def _wrong_about_lag(s: Any) -> Iterator[Claim]:
    yield equal(squared(s.w(s.t) - s.v(s.t)), 0)
    yield squared(s.w(s.r) - s.v(s.r)) <= expr((s.symbol("C_lag") * s.Q * s.step / 2) ** 2 * s.symbol("G_sq"))
    yield expr(s.r - s.s(s.r, 0)) <= expr(s.symbol("lag") - 1)


def _wrong_about_given_schedules(s: Any) -> Iterator[Claim]:
    k, j, q, i, n, many = s.k, s.j, s.q, s.i, s.n, s.many
    g, e, size = s.g(k, j, q), s.e(k, j, q), s.rate * s.step
    yield expr(k - s.s(k, j)) <= expr(s.symbol("tau_max") - 1)
    yield equal(squared(s.z(k, j, 0) - s.w(k)), 0)  # as if nothing were late
    yield equal(squared(s.w(k + 1) - s.w(k) + s.hb(k, 0) * size), 0)  # without the noise
    yield equal(dot(e, s.z(k, j, q + 1)), 0)
    yield equal(squared(s.du(k) - s.df(k)), 0)  # as if each buffer were fair
    yield equal(expr(s.alpha(k, j)), 1 / many)  # as FedBuff has it
    yield finite_sum("r", 0, s.T, expr(s.spread(s.r))) <= expr(s.T * s.symbol("chi2_path") * F(9, 10))
    yield squared(g) <= expr(s.symbol("G_sq") * F(9, 10))
    yield squared(s.d(i, k) - s.df(k)) <= expr(s.symbol("sigma_g_mean") ** 2 * F(9, 10))
    yield equal(expr(s.share(i, k)), 1 / n)


def _wrong_about_random_schedules(s: Any) -> Iterator[Claim]:
    k, m = s.k, s.m
    dk, db, w = s.vec("dk", k), s.vec("db", k), s.w
    yield equal(dot(dk, w(k + 1)), dot(db, w(k + 1)))  # w[k + 1] depends on who is in the buffer
    yield equal(dot(dk, dk), dot(db, dk))
    yield equal(dot(at(s, "mb"), at(s, "hb")), dot(at(s, "gk"), at(s, "hb")))
    yield equal(dot(at(s, "hb"), at(s, "gk")), dot(at(s, "gk"), at(s, "gk")))  # the entry itself
    # Noise of a run that has begun is in the mean already, and in those of the buffers that it did not enter.
    yield equal(dot(s.vec("xb", k, 0), s.vec("mb", k, 1)), 0)
    yield equal(dot(s.vec("xb", 1, 0), s.vec("mb", 0, 1)), 0)
    yield equal(dot(s.vec("xb", k, 0), s.vec("gk", k, 1)), 0)
    yield equal(dot(at(s, "ek"), w(k + 1)), 0)
    yield equal(squared(s.vec("zk", k, 0) - w(k)), 0)
    yield squared(at(s, "xb")) <= expr(s.symbol("sigma_l") ** 2 * s.al2(k) * F(9, 10))
    yield equal(squared(s.vec("pk", k, m + 1) - s.vec("pk", k, m)), 0)
    yield equal(squared(db - s.df(k)), 0)
    yield expr(s.symbol("pi_max")) <= 1 / s.n


WRONG: Mapping[str, Callable[[Any], Iterator[Claim]]] = {
    "area.theorem8.repaired.fixed-step": _wrong_about_area,
    "classics.sgd.distance": _wrong_about_gd,
    "classics.delayed-sgd": _wrong_about_delays,
    "area.theorem7.explicit": _wrong_about_diminishing_steps,
    "afl_dga.r3": _wrong_about_rounds,
    "fedfa.delta.a": _wrong_about_windows,
    "fedfa.param.a": _wrong_about_lag,
    "fedcompass.window.b": _wrong_about_work,
    "fedcompass.group": _wrong_about_one_group,
    "fedcompass.theorem1": _wrong_about_printed_work,
    "fedstaleweight.rf1": _wrong_about_given_schedules,
    "fedbuff.rf3": _wrong_about_random_schedules,
}
