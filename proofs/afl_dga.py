"""AFL-DGA's repaired theorems; docs/theory/afl_dga.md, step by step."""

from boundlab.proofs._afl_dga_rounds import (
    RoundProof,
    coefficient,
    missing_steps,
    orthogonal_part,
    own_steps,
    part_size,
    point_by_steps,
    point_distance,
    stale_round,
    used_again,
    used_again_once,
    windows_of_steps,
    without_own,
)
from boundlab.proofs._along import with_forms
from boundlab.prove import (
    Proof,
    Script,
    equal,
    expr,
    finite_sum,
    scalar,
    squared,
    total,
    variable,
    windows,
)


def any_step(proof: Proof) -> None:
    """r2."""
    b = RoundProof(proof)
    s, t, sigma = b.s, b.t, b.s.symbol("sigma")
    size = b.size()
    pair = b.pair(size)
    stale = stale_round(b, point_distance(b, pair))
    age = s.mean(lambda _: expr(t - b.since))
    lost = b.proof.step(
        "(AD7)",
        s.dot(s.df(t), s.m(t)) >= age * (-b.x * b.G * sigma),
        [b.kernel.against(s.noise(t), s.df(t)), b.over_used(used_again_once(b, pair))],
    )
    one = b.proof.step(
        "one round",
        squared(s.df(t))
        <= b.fall() + s.distances(t) * (b.x**2 * b.G**2) + age * (2 * b.x * b.G * sigma) + b.x * b.G**2,
        [b.round(), stale, lost, size],
        squares=[s.v(t)],
    )
    bound = expr(
        2 * s.symbol("F0") / (b.eta * b.T)
        + b.x * b.G**2
        + b.x**2 * b.G**2 * s.symbol("SM2")
        + 2 * b.x * b.G * sigma * s.symbol("reuse")
    )
    proof.conclude(b.proof.step("(AD11)", s.metric() <= bound, [*b.together(one), s.mean_distance(), s.mean_age()]))


def full_gradients(proof: Proof) -> None:
    """r2n."""
    b = RoundProof(proof)
    s, t = b.s, b.t
    stale = stale_round(b, point_distance(b, b.pair(b.size())))
    one = b.proof.step(
        "one round",
        squared(s.df(t)) <= b.fall() + s.distances(t) * (b.x**2 * b.G**2),
        [b.round(), stale, s.average(t), b.kernel.scale(s.small_step(), b.kernel.square(s.v(t)))],
    )
    bound = expr(2 * s.symbol("F0") / (b.eta * b.T) + b.x**2 * b.G**2 * s.symbol("SM2"))
    proof.conclude(b.proof.step("(AD12)", s.metric() <= bound, [*b.together(one), s.mean_distance()]))


def synchronous(proof: Proof) -> None:
    """r0."""
    b = RoundProof(proof)
    s, t, i, q, h, sigma, kernel = b.s, b.t, b.i, b.q, b.h, b.s.symbol("sigma"), b.kernel
    pair = b.pair(b.size())
    stale = stale_round(b, point_distance(b, pair))
    lo, gone, own = s.lo(t), expr(s.gone(t, i, q)), s.kept(t, i, q)
    one = kernel.combine(expr(s.miss(t, i, q, h)) <= 1, [])
    none = b.proof.step(
        "no server step is missing",
        gone <= 0,
        multipliers=[
            (1, s.missing_steps(t, i, q)),
            (1, total(kernel, one, "h", lo, t)),
            (1, s.missing(t)),
            (1, kernel.end("S", "high")),
        ],
    )
    fresh = b.proof.step(
        "every point is the server's model",
        expr((s.gone(t, i, q) + own) ** 2) <= 0,
        multipliers=[(s.gone(t, i, q) + 2 * own, none), (own, kernel.end("M_own", "high"))],
    )
    exact = b.proof.step("v is the gradient", squared(s.df(t) - s.v(t)) <= expr(0), [stale, b.over_used(fresh)])
    noise = b.noise()
    small = b.proof.step("(AD5) for n ≥ 1", squared(s.m(t)) <= expr(sigma**2), [noise])
    met = b.proof.step(
        "noise and gradients",
        s.dot(s.v(t) - s.df(t), s.m(t)) <= 0,
        [
            kernel.norms(
                kernel.combine(squared(s.v(t) - s.df(t)) <= expr(0), [(1, exact)]),
                small,
                s.v(t) - s.df(t),
                s.m(t),
                0,
                sigma,
            )
        ],
    )
    now = b.proof.step(
        "(AD6), one local step",
        s.dot(s.df(t), s.e(i, b.since, q)) >= 0,
        multipliers=[
            (1, used_again_once(b, pair)),
            *((b.x * b.G * sigma, one) for one in (s.age(t, i), kernel.end("Q_age", "high"))),
        ],
    )
    lost = b.proof.step("(AD6)", s.dot(s.df(t), s.m(t)) >= 0, [kernel.against(s.noise(t), s.df(t)), b.over_used(now)])
    small_step = s.small_step()
    one = b.proof.step(
        "(AD15)",
        squared(s.df(t)) <= b.fall() + b.x * sigma**2 / b.n,
        [
            b.round(),
            exact,
            noise,
            met,
            lost,
            s.average(t),
            kernel.scale(small_step, kernel.square(s.v(t))),
            kernel.scale(small_step, lost),
        ],
    )
    bound = expr(2 * s.symbol("F0") / (b.eta * b.T) + b.x * sigma**2 / b.n)
    proof.conclude(b.proof.step("(AD16)", s.metric() <= bound, b.together(one)))


def by_age(proof: Proof) -> None:
    """r2b."""
    b = RoundProof(proof)
    s, t, sigma, kernel = b.s, b.t, b.s.symbol("sigma"), b.kernel
    pair = b.pair(b.size())
    stale = stale_round(b, point_distance(b, pair))
    lipschitz, drift = b.lipschitz, b.drift(pair)
    u, root = b.u, s.root_of(t, b.u)
    gap, part = s.df(t) - s.df(u), s.noise_of(t, u)
    size, other = (t - u) * b.x * b.G, sigma * root / b.n
    near = b.proof.step("how far the gradient has moved", squared(gap) <= expr(size**2), [lipschitz, drift])
    few = b.proof.step("(AD7), its size", squared(part) <= expr(other**2), [part_size(b, u), s.clients_of(t, u)])
    again = b.proof.step(
        "(AD7), one age",
        s.dot(s.df(t), part) >= expr(-size * other),
        [kernel.norms(near, few, gap, part, size, other, -1), orthogonal_part(b, u)],
    )
    ages = finite_sum("u", s.old(t), t + 1, (t - u) * root) / b.n
    lost = b.proof.step(
        "(AD7)",
        s.dot(s.df(t), s.m(t)) >= ages * (-b.x * b.G * sigma),
        [kernel.against(s.split_noise(t), s.df(t)), total(kernel, again, "u", s.old(t), t + 1)],
    )
    noise = b.noise()
    second = b.proof.step(
        "(AD13)",
        squared(s.a(t)) * b.x <= squared(s.v(t)) + 2 * b.x * sigma**2 / b.n,
        [s.average(t), noise, kernel.scale(s.small_step(), kernel.square(s.v(t)))],
        squares=[s.v(t) - s.m(t)],
    )
    one = b.proof.step(
        "one round",
        squared(s.df(t))
        <= b.fall() + s.distances(t) * (b.x**2 * b.G**2) + ages * (2 * b.x * b.G * sigma) + 2 * b.x * sigma**2 / b.n,
        [b.round(), stale, lost, second],
    )
    bound = expr(
        2 * s.symbol("F0") / (b.eta * b.T)
        + 2 * b.x * sigma**2 / b.n
        + b.x**2 * b.G**2 * s.symbol("SM2")
        + 2 * b.x * b.G * sigma * s.symbol("reuse_n")
    )
    proof.conclude(b.proof.step("(AD14)", s.metric() <= bound, [*b.together(one), s.mean_distance(), s.mean_root()]))


def stale_steps(proof: Proof) -> None:
    """r1."""
    b = RoundProof(proof)
    s, t, kernel, S, M, x = b.s, b.t, b.kernel, b.s.symbol("S"), b.s.symbol("M_own"), b.x
    pair = b.pair(b.size())
    missing, much = missing_steps(b)
    held, little = own_steps(b)
    spread, one_round, exact = b.spread(), b.round(), s.average(t)
    far = point_by_steps(b, missing, held, much, little)
    exchange = windows(kernel, kernel.square(s.v(b.h)), "h", "t", s.lo(t), S, b.T, (s.missing(t),))
    same = b.proof.step(
        "no noise", equal(squared(s.a(t)), squared(s.v(t))), [kernel.against(exact, v) for v in (s.a(t), s.v(t))]
    )
    same = total(kernel, kernel.at(same, {"t": b.h}), "h", s.lo(t), t)
    none, some = kernel.split("M_own", 0)
    facts = []
    for case, c, name in ((none, 1, "no own steps"), (some, 2, "own steps, too")):
        own = 2 * x**2 * M**2 * b.G**2 * (c - 1)
        place = far if c == 2 else without_own(b, case, missing, held, much, pair)
        steps = finite_sum("h", s.lo(t), t, squared(s.v(b.h)))
        stale = b.proof.step(
            f"{name}: (AD18), one round",
            squared(s.df(t) - s.v(t)) <= steps * (c * S * x**2) + own,
            [spread, b.over_used(place), same],
            context=case,
        )
        one = b.proof.step(
            f"{name}: one round",
            squared(s.df(t)) + squared(s.v(t)) * (1 - x) <= b.fall() + steps * (c * S * x**2) + own,
            [one_round, exact, stale],
            context=case,
        )
        every = total(kernel, kernel.square(s.v(t)), "t", 0, b.T, 1 / b.T)
        last = b.proof.step(
            f"{name}: (AD20)",
            s.metric() <= expr(2 * s.symbol("F0") / (b.eta * b.T) + 2 * x**2 * M**2 * b.G**2),
            [*b.together(one), exchange, kernel.scale(coefficient(b, case, name, c), every)],
            context=case,
        )
        facts.append(last)
    proof.conclude(*facts)


def noise_and_stale_steps(proof: Proof) -> None:
    """r3."""
    b = RoundProof(proof)
    s, t, h, kernel, S, M, x = b.s, b.t, b.h, b.kernel, b.s.symbol("S"), b.s.symbol("M_own"), b.x
    Q, sigma, n = s.symbol("Q_age"), s.symbol("sigma"), b.n
    s_n = sigma**2 / n
    pair = b.pair(b.size())
    noise = b.noise()
    missing, much = missing_steps(b)
    held, little = own_steps(b)
    far, steps_of = point_by_steps(b, missing, held, much, little), windows_of_steps(b, noise)
    steps = finite_sum("h", s.lo(t), t, squared(s.v(h)))
    own = 2 * x**2 * M**2 * b.G**2
    stale = b.proof.step(
        "(AD22), one round",
        squared(s.df(t) - s.v(t)) <= steps * (4 * x**2 * S) + 4 * x**2 * S**2 * s_n + own,
        [b.spread(), b.over_used(far), steps_of],
    )
    second = b.proof.step(
        "second order",
        squared(s.a(t)) <= squared(s.v(t)) * 2 + 2 * s_n,
        [s.average(t), noise],
        squares=[s.v(t) - s.m(t)],
    )
    one = b.proof.step(
        "one round",
        squared(s.df(t)) + squared(s.v(t)) * (1 - 2 * x)
        <= b.fall() + steps * (4 * x**2 * S) + (2 * x + 4 * x**2 * S**2) * s_n + own - s.dot(s.df(t), s.m(t)) * 2,
        [b.round(), stale, second],
    )
    coefficient = b.proof.step(
        "(AD24)",
        expr(2 * x + 4 * x**2 * S**2) <= expr(scalar(3) / 4),
        multipliers=[((3 + 4 * S * x) * (1 + S), s.small_step())],
    )
    squares = total(kernel, kernel.square(s.v(t)), "t", 0, b.T, 1 / b.T)
    exchange = windows(kernel, kernel.square(s.v(h)), "h", "t", s.lo(t), S, b.T, (s.missing(t),))
    late = windows(kernel, kernel.square(s.v(h)), "h", "t", s.old(t), Q, b.T, (s.ages(t),))
    bound = 2 * s.symbol("F0") / (b.eta * b.T) + own + s_n * (2 * x + 4 * x**2 * S**2)
    again = used_again_once(b, pair)
    none, some = kernel.split("Q_age", 0)

    now = b.proof.step(
        "no age: (AD6), one local step",
        s.dot(s.df(t), s.e(b.i, b.since, b.q)) >= 0,
        multipliers=[
            (1, again),
            *((x * b.G * sigma, part) for part in (s.age(t, b.i), kernel.end("Q_age", "high", none))),
        ],
        context=none,
    )
    lost = b.proof.step(
        "no age: (AD6)",
        s.dot(s.df(t), s.m(t)) >= 0,
        [kernel.against(s.noise(t), s.df(t)), b.over_used(now)],
        context=none,
    )
    first = b.proof.step(
        "no age: one round",
        squared(s.df(t)) + squared(s.v(t)) * (1 - 2 * x)
        <= b.fall() + steps * (4 * x**2 * S) + (2 * x + 4 * x**2 * S**2) * s_n + own,
        [one, lost],
        context=none,
    )
    more = lambda of: s_n * (2 * x * of + 4 * x**2 * Q**3)
    s.root("Y_0", Q**3, none)
    left = b.proof.step(
        "no age: (AD25)",
        s.metric() <= expr(bound + more(variable("Y_0"))),
        [
            *b.together(first),
            exchange,
            kernel.scale(kernel.combine(expr(2 * x + 4 * x**2 * S**2) <= 1, [(1, coefficient)]), squares),
        ],
        context=none,
    )

    lost, root = used_again(b, some, noise)
    y = variable("y")
    later = finite_sum("h", s.old(t), t, squared(s.v(h)))
    first = b.proof.step(
        "ages: one round",
        squared(s.df(t)) + squared(s.v(t)) * (1 - 2 * x)
        <= b.fall()
        + steps * (4 * x**2 * S)
        + later / (4 * y**2)
        + (2 * x + 4 * x**2 * S**2 + 2 * x * y**3 + 4 * x**2 * y**6) * s_n
        + own,
        [one, lost],
        context=some,
    )
    quarter = b.proof.step(
        "ages: every gradient is counted Q times",
        b.per_round(later) <= b.per_round(squared(s.v(t))) * y**2,
        multipliers=[(1, late), (1, kernel.times(root, b.per_round(squared(s.v(t)))))],
        context=some,
    )
    right = b.proof.step(
        "ages: all rounds",
        s.metric() <= expr(bound + s_n * (2 * x * y**3 + 4 * x**2 * y**6)),
        [*b.together(first), exchange, quarter, kernel.scale(coefficient, squares)],
        context=some,
    )
    cube, Y = s.root("Y", Q**3, some), variable("Y")
    powers = (y**4 + y**2 * Q + Q**2, root)
    alike = b.proof.step(
        "ages: both roots, squared", equal(expr(y**6), Y**2), multipliers=[powers, (-1, cube)], context=some
    )
    same = b.proof.rule(
        "ages: both roots", equal(expr(y**3), Y), lambda: kernel.by_squares(alike, y**3, Y), context=some
    )
    right = b.proof.step(
        "ages: (AD25)",
        s.metric() <= expr(bound + more(Y)),
        multipliers=[(1, right), (-s_n * 4 * x**2 * powers[0], root), (-s_n * 2 * x, same)],
        context=some,
    )
    proof.conclude(left, right)


_PAGE = "docs/theory/afl_dga.md"
PROOFS = with_forms(
    Script("afl_dga.r0", "AFL-DGA where nothing is late", _PAGE, synchronous, "afl_dga.r0"),
    Script("afl_dga.r1", "AFL-DGA with full gradients", _PAGE, stale_steps, "afl_dga.r1"),
    Script("afl_dga.r2", "AFL-DGA with any step size", _PAGE, any_step, "afl_dga.r2"),
    Script("afl_dga.r2n", "AFL-DGA with full gradients, by distances", _PAGE, full_gradients, "afl_dga.r2n"),
    Script("afl_dga.r2b", "AFL-DGA, noise averaged over the clients", _PAGE, by_age, "afl_dga.r2b"),
    Script("afl_dga.r3", "AFL-DGA, noise averaged, limited steps", _PAGE, noise_and_stale_steps, "afl_dga.r3"),
)
