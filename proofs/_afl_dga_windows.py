"""AFL-DGA: distances and noise by windows of the server's steps; (AD17) to (AD24)."""

from boundlab.proofs._afl_dga_points import orthogonal_part, own_gradients, part_size
from boundlab.proofs._afl_dga_rounds import RoundProof
from boundlab.prove import (
    Context,
    Fact,
    Lin,
    expr,
    finite_sum,
    scalar,
    split_sum,
    squared,
    total,
    variable,
    vector_sum,
)


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
    pairs = b.sums(kernel.square(kept(p) - kept(b.o)), ("p_1", 0, own, 1), ("p", 0, own, 1))
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
