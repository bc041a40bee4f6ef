"""FedFa: the theorems about both modes through a virtual iterate; docs/theory/fedfa.md, step by step."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from boundlab.proofs._along import Lemmas, square_of_sum, with_forms
from boundlab.prove import (
    Context,
    Fact,
    Proof,
    Range,
    Script,
    VectorFact,
    combine_vectors,
    equal,
    expr,
    finite_sum,
    scalar,
    shift,
    split_sum,
    split_vector,
    squared,
    telescope,
    telescope_vector,
    total,
    variable,
    vector_sum,
)

# FedFa, what holds of any schedule: how far models and the virtual iterate move, and what old gradients differ by.


@dataclass
class Lemma(Lemmas):
    """Numbers and facts that the steps share; see docs/theory/fedfa.md.

    Parameters
    ----------
    proof
        What is written.
    """

    def __post_init__(self) -> None:
        s = self.s = self.proof.setting()
        self.kernel, self.eta, self.N, self.T, self.K, self.Q, self.n = s.kernel, s.step, s.N, s.T, s.K, s.Q, s.n
        self.L, self.G, self.sigma, self.rate = s.symbol("L"), s.symbol("G_sq"), s.symbol("sigma_l"), s.rate
        self.A = self.Q * self.eta
        self.root_c, self.root_g = s.root("c_2", self.G + self.sigma**2), s.root("g_2", self.G)
        self.root_gc = s.root("gc_2", self.G * (self.G + self.sigma**2))
        self.c, self.g, self.gc = variable("c_2"), variable("g_2"), variable("gc_2")
        self.move = self.rate * self.A * self.c
        # How far the model is from the virtual iterate, by A·c.
        self.away = self.rate * (self.K - 1) / 2 if s.delta or s.printed else s.symbol("C_lag")
        # A second local step, how many there may be; v[b + m], of which none is looked at after T + N − 1 updates.
        self.p, self.h = s.index("p_1", 0, self.Q - 1), s.index("h", 0, self.Q)
        self.b = s.index("b", 0, self.T + self.N - 1)
        self.m = s.index("m", 0, self.T + self.N - 1 - self.b)
        s.index("u_2", 0, self.N - 1)

    def fresh(self, letter: str) -> str:
        """Return a name that no case has used."""
        number = self.facts[letter] = self.facts.get(letter, -1) + 1
        return f"{letter}_{number}"

    def sampled(self, t: Any) -> Any:
        """Return the stochastic gradients of arrival t, added up."""
        return self.s.gr(t) + self.s.er(t) if self.s.noisy else self.s.gr(t)


def roots(w: Lemma) -> None:
    """√G·c is the root of G·c²."""
    squares = w.kernel.combine(
        equal(expr(w.gc**2), w.g**2 * w.c**2),
        [(1, w.root_gc), (-(w.G + w.sigma**2), w.root_g), (-(w.g**2), w.root_c)],
    )
    w.facts["gc"] = w.proof.rule(
        "√G·c", equal(expr(w.gc), w.g * w.c), lambda: w.kernel.by_squares(squares, w.gc, w.g * w.c)
    )


def gradients(w: Lemma) -> None:
    """(W2) and (V2): second moments, and how far local steps go."""
    s, kernel, a, q, h = w.s, w.kernel, w.s.a, w.s.q, w.h
    g = s.g(a, 0, q)
    facts: list[Any] = [s.bounded_gradient(g)]
    if s.noisy:
        facts += [s.variance(s.e(a, 0, q)), s.unbiased(s.e(a, 0, q), g)]
    x = lambda place: s.sampled(a, 0, place)
    second = w.step("second", "(W2), second moment", squared(x(q)) <= expr(w.G + w.sigma**2), facts)
    one = w.step("c", "(W2)", squared(x(q)) <= expr(w.c**2), multipliers=[(1, second), (1, w.root_c)])
    steps = w.step(
        "steps",
        "(V2), the gradients of some local steps",
        squared(vector_sum("q", 0, h, x(q))) <= expr((w.c * h) ** 2),
        [square_of_sum(kernel, one, ("q", "p_1"), (0, h), x, lambda _: w.c)],
    )
    way = walked(w, h)
    w.step(
        "local",
        "(V2), local steps",
        squared(s.z(a, 0, h) - s.z(a, 0, 0)) <= expr((w.eta * w.c * h) ** 2),
        [steps, *(kernel.against(way, v) for v in (way.left, way.right))],
    )
    w.facts["changed"] = combine_vectors(
        kernel,
        s.change(a),
        w.sampled(a) * -w.eta,
        [(1, kernel.at(way, {"h": w.Q})), *((w.eta, s.added(name, a)) for name in _sums(w))],
    )
    w.step(
        "change",
        "(V2), a whole run",
        squared(s.change(a)) <= expr((w.A * w.c) ** 2),
        [kernel.at(w["local"], {"h": w.Q})],
    )


def _sums(w: Lemma) -> tuple[str, ...]:
    return ("gr", "er") if w.s.noisy else ("gr",)


def walked(w: Lemma, h: Any) -> VectorFact:
    """(V1): z[a, 0, h] − z[a, 0, 0] = −η·Σ of the stochastic gradients of the steps before h."""
    s, kernel, a, q = w.s, w.kernel, w.s.a, w.s.q
    moves = total(kernel, s.move(a, 0, q), "q", 0, h)
    path = telescope_vector(kernel, "q", 0, h, s.z(a, 0, q))
    right = vector_sum("q", 0, h, s.sampled(a, 0, q)) * -w.eta
    return combine_vectors(kernel, path.right, right, [(1, moves), (-1, path)])


def virtual(w: Lemma) -> None:
    """(V3): how the virtual iterate moves, how far from the model it is, and where it begins."""
    s, kernel, r, b, m, K = w.s, w.kernel, w.s.r, w.b, w.m, w.K
    step = _step_of_delta(w) if s.delta else s.virtual_move(r)
    right = w.s.v(r) - w.sampled(r) * (w.rate * w.eta)
    w.facts["v"] = combine_vectors(kernel, step.left, right, [(1, step), (w.rate, kernel.at(w["changed"], {"a": r}))])
    move = lambda at: s.v(at + 1) - s.v(at)
    one = w.step(
        "move",
        "(V3), one step",
        squared(move(r)) <= expr(w.move**2),
        [step, kernel.at(w["change"], {"a": r})],
    )
    far = lambda known: kernel.norms(
        known, kernel.at(one, {"r": b + m}, known.context), s.v(b + m) - s.v(b), move(b + m), w.move * m, w.move
    )
    path = w.proof.induction(
        "(V9), several steps",
        squared(s.v(b + m) - s.v(b)) <= expr((w.move * m) ** 2),
        "m",
        [],
        lambda known: [known, kernel.at(one, {"r": b + m}, known.context), far(known)],
    )
    w.facts["path"] = path
    _any_two(w, path)
    # what the window holds back
    now = b if s.delta else scalar(0)
    one, two = s.index("j_1", 1, K - 1), s.index("j_2", 1, K - 1)
    change = lambda place: s.change(now - K + place)
    early = kernel.at(w["change"], {"a": now - K + one})
    pairs = square_of_sum(kernel, early, ("j_1", "j_2"), (1, K), change, lambda _: w.A * w.c, lambda place: place)
    closed = telescope(kernel, "j_1", 1, K, one * (one - 1) / 2)
    again = total(kernel, telescope(kernel, "j_2", 1, K, two * (two - 1) / 2), "j_1", 1, K, one)
    size = (w.rate * w.A * w.c / K) ** 2
    held = w.proof.step(
        "(V12), what the window holds back",
        squared(s.held_back(now)) <= expr((w.move * (K - 1) / 2) ** 2),
        multipliers=[((w.rate / K) ** 2, pairs), (-size, again), (-size * K * (K - 1) / 2, closed)],
    )
    if s.delta:
        w.step(
            "away",
            "(V12), the model and the virtual iterate",
            squared(s.w(b) - s.v(b)) <= expr((w.away * w.A * w.c) ** 2),
            [held, s.ahead(b)],
        )
    w.step(
        "first",
        "(V3), where it begins",
        squared(s.v(0) - s.w(0)) <= expr((w.move * (K - 1) / 2) ** 2),
        [kernel.at(held, {"b": 0}) if s.delta else held, s.ahead(0)],
    )
    if not s.delta:
        _away_in_param(w)


def _step_of_delta(w: Lemma) -> VectorFact:
    """(V12): the sums of the window telescope."""
    s, kernel, t, K, j = w.s, w.kernel, w.s.r, w.K, w.s.j
    change = s.change(t - K + j)
    path = telescope_vector(kernel, "j", 1, K, change * (j - 1))
    last = split_vector(kernel, "j", 1, K, K + 1, change)
    weight = w.rate / K
    return combine_vectors(
        kernel,
        s.v(t + 1),
        s.v(t) + s.change(t) * w.rate,
        [(1, s.ahead(t + 1)), (1, s.update(t)), (-1, s.ahead(t)), (weight, last), (weight, path)],
    )


def _away_in_param(w: Lemma) -> None:
    """(V18): the shares of changes in the model differ from those in the virtual iterate by C_lag in all."""
    s, kernel, r = w.s, w.kernel, w.s.r
    low, size, C = 1 - w.K, w.A * w.c, s.symbol("C_lag")
    inside = Range(low=low, high=r - 1, integer=True)
    one, _ = (s.context.declare(name, inside) for name in ("a_1", "a_2"))
    uneven = (lambda place: variable("more", r, place)), (lambda place: variable("less", r, place))
    bound = w.uneven_sum(
        "(V18), the shares of changes",
        kernel.at(w["change"], {"a": one}),
        ("a_1", "a_2"),
        (low, r),
        s.change,
        size,
        uneven,
        s.response_error(r),
        C,
    )
    w.step(
        "away",
        "(V18), the model and the virtual iterate",
        squared(s.w(r) - s.v(r)) <= expr((C * size) ** 2),
        [bound, s.response(r)],
    )


def _any_two(w: Lemma, path: Fact) -> None:
    """(V9): the virtual iterates after o and after t updates, whichever is the earlier."""
    s, kernel, t = w.s, w.kernel, w.b
    o = s.index("o", 0, w.T + w.N - 1)
    far = squared(s.v(o) - s.v(t)) <= expr((w.move * (t - o)) ** 2)
    older, newer = kernel.split("o", t)
    first = w.proof.step("(V9), an earlier one", far, [kernel.at(path, {"b": o, "m": t - o}, older)], context=older)
    second = w.proof.step("(V9), a later one", far, [kernel.at(path, {"m": o - t}, newer)], context=newer)
    w.facts["apart"] = w.proof.rule("(V9), any two", None, lambda: kernel.join(first, second))


def window_noise(w: Lemma, first: Any, lo: int) -> tuple[Fact, Fact]:
    """(W3): noise of a run, and of the runs first + lo, first + lo + 1, …: variances add up; h_1 ≥ 1 counts runs."""
    s, kernel, a, q, j, h = w.s, w.kernel, w.s.a, w.s.q, w.s.j, w.s.index("h_1", 1)
    own = s.independent(s.e(a, 0, q), "q", 0, w.Q)
    variances = total(kernel, s.variance(s.e(a, 0, q)), "q", 0, w.Q)
    run = w.proof.step(
        "(W3), the noise of a run", squared(s.er(a)) <= expr(w.Q * w.sigma**2), [s.added("er", a), own, variances]
    )
    x = lambda place: s.er(first + place)
    other, last = s.index("u_1", lo, lo + h - 1), lo + h
    cross = total(kernel, s.unbiased(s.e(first + last, 0, q), x(other)), "q", 0, w.Q)
    cross = total(kernel, w.inserted(cross, s.added("er", first + last), x(other)), "u_1", lo, last)
    sums = lambda end: vector_sum("j", lo, end, x(j))
    parted = split_vector(kernel, "j", lo, last, last + 1, x(j))
    apart = w.proof.induction(
        "(W3), the runs of a window",
        equal(squared(sums(last)), finite_sum("j", lo, last, squared(x(j)))),
        "h_1",
        [],
        lambda known: [
            known,
            cross,
            s.last_term("j", lo, last, squared(x(j))),
            *(kernel.against(parted, v) for v in (sums(last + 1), sums(last), x(last))),
        ],
    )
    return run, apart


def noise(w: Lemma) -> None:
    """(W10): noise of a window is orthogonal to ∇f at its begin, and its variances add up."""
    s, kernel, k, q, u = w.s, w.kernel, w.s.k, w.s.q, w.s.u
    run, apart = window_noise(w, k, 0)
    sums = vector_sum("u", 0, w.N, s.er(k + u))
    w.step(
        "noise",
        "(W10), the variance",
        squared(sums) <= expr(w.N * w.Q * w.sigma**2),
        [kernel.at(apart, {"h_1": w.N}), total(kernel, kernel.at(run, {"a": k + u}), "u", 0, w.N)],
    )
    still = total(kernel, s.unbiased(s.e(k + u, 0, q), s.fv(k)), "q", 0, w.Q)
    still = w.inserted(still, s.added("er", k + u), s.fv(k))
    w.step("still", "(W10), the mean", equal(s.dot(s.fv(k), sums), 0), [total(kernel, still, "u", 0, w.N)])


def shares(w: Lemma) -> None:
    """(W9), first part: the clients' shares of a window."""
    s, k, i, n, beta = w.s, w.s.k, w.s.i, w.n, w.s.symbol("share_bias")
    bound = w.unequal_shares(lambda place: s.dv(place, k) - s.fv(k), s.spread(i, k), s.bias(k), beta)
    plain = s.uneven(k)
    same = finite_sum("i", 0, n, squared(s.fv(k)) * (s.over(i, k) - s.under(i, k)))
    balance = [s.balance(k, value) for value in (same, s.dot(s.fv(k), plain))]
    claim = squared(plain) <= expr((beta * s.symbol("sigma_g")) ** 2)
    w.step("shares", "(W9), the shares", claim, [bound, *balance])


def lateness(w: Lemma, far: Any, case: Context) -> None:
    """(V9) and (W6): gradients of a window differ from those at v[k] by at most e on average; ``far`` ≥ their age."""
    s, kernel, proof = w.s, w.kernel, w.proof
    k, u, q, p = s.k, s.u, s.q, w.p
    which = "b" if s.delta else "r"
    t, tag = k + u, f", {case.why}" if case.why else ""
    old = s.s(t, 0)
    late = kernel.combine(expr(far + (k - old)) >= 0, [], case)  # s ≤ t, and N − 1 ≤ far
    early = kernel.combine(expr(far - (k - old)) >= 0, [(1, s.delay(t, 0))], case)
    age = proof.step(
        f"how old models are{tag}", expr((k - old) ** 2) <= far**2, [kernel.scale(late, early)], context=case
    )
    away = kernel.at(w["away"], {which: old})
    models = proof.step(
        f"(V9), the virtual iterate that a run began near{tag}",
        squared(s.v(old) - s.v(k)) <= expr((w.move * far) ** 2),
        multipliers=[(1, kernel.at(w["apart"], {"o": old, "b": k})), (w.move**2, age)],
        context=case,
    )
    local = kernel.at(w["local"], {"a": t, "h": q})
    unit = w.eta * w.c
    one, two, three = s.z(t, 0, q) - s.z(t, 0, 0), s.w(old) - s.v(old), s.v(old) - s.v(k)
    sizes = (unit * q, w.away * w.A * w.c, w.move * far)
    size = sizes[0] + sizes[1] + sizes[2]
    points = proof.step(
        f"(V9), the point of a local step{tag}",
        squared(s.z(t, 0, q) - s.v(k)) <= expr(size**2),
        [
            local,
            away,
            models,
            s.begin(t, 0),
            kernel.norms(local, away, one, two, sizes[0], sizes[1]),
            kernel.norms(local, models, one, three, sizes[0], sizes[2]),
            kernel.norms(away, models, two, three, sizes[1], sizes[2]),
        ],
        context=case,
    )
    lag = lambda place: s.dv(s.c(t, 0), k) - s.g(t, 0, place)
    gap = lambda place: w.L * w.c * (w.eta * place + w.A * (w.rate * far + w.away))
    slopes = proof.step(
        f"the gradient of a local step{tag}", squared(lag(q)) <= expr(gap(q) ** 2),
        [s.smooth(s.dv(s.c(t, 0), k), s.g(t, 0, q)), points], context=case,
    )  # fmt: skip
    pairs = square_of_sum(kernel, slopes, ("q", "p_1"), (0, w.Q), lag, gap)
    closed = telescope(kernel, "q", 0, w.Q, q * (q - 1) / 2)
    eps = w.facts["eps"] = w.L * w.c * (w.A * (w.rate * far + w.away) + w.eta * (w.Q - 1) / 2)
    nested = total(kernel, closed, "p_1", 0, w.Q, w.L * w.c * w.eta * gap(p))
    run = proof.step(
        f"(W6), a run{tag}", squared(vector_sum("q", 0, w.Q, lag(q))) <= expr((w.Q * eps) ** 2),
        [pairs, closed, nested], context=case,
    )  # fmt: skip
    differ = lambda place: s.dv(s.c(k + place, 0), k) * w.Q - s.gr(k + place)
    summed = proof.step(
        f"(W6), its gradients added up{tag}", squared(differ(u)) <= expr((w.Q * eps) ** 2),
        [run, s.added("gr", t)], context=case,
    )  # fmt: skip
    pairs = square_of_sum(kernel, summed, ("u", "u_2"), (0, w.N), differ, lambda _: w.Q * eps)
    every = vector_sum("u", 0, w.N, differ(u))
    w.step("late", f"(W6){tag}", squared(every) <= expr((w.N * w.Q * eps) ** 2), [pairs], context=case)


def any_step(proof: Proof) -> None:
    """Any step size: a quadratic inequality for the root of the mean."""
    w = _lemma(proof)
    proof.conclude(*[_near(w, case, *_quadratic(w, case)) for case in _cases(w)])


def small_steps(proof: Proof) -> None:
    """Small steps, with noise or without."""
    w = _lemma(proof)
    proof.conclude(*[_near(w, case, *_small(w, case)) for case in _cases(w)])


def _lemma(proof: Proof) -> Lemma:
    w = Lemma(proof)
    roots(w)
    gradients(w)
    virtual(w)
    if w.s.noisy:
        noise(w)
    shares(w)
    _start(w)
    _descent(w)
    _model(w)
    return w


def _cases(w: Lemma) -> list[Context]:
    """Return the two cases of max(age, N − 1), with what the lemma says of each."""
    few, many = w.kernel.split(str(w.s.age), w.N - 1)
    for far, case in ((w.N - 1, few), (w.s.age, many)):
        lateness(w, far, case)
        w.facts[case.why] = _mean_gradient(w, case)
    return [few, many]


# ---------------------------------------------------------------------- summation by parts


def _start(w: Lemma) -> None:
    """(V10) and (W14): Σ f(v[k]) − f(v[k + N]) over the windows."""
    s, kernel, proof, T, N, t, i = w.s, w.kernel, w.proof, w.T, w.N, w.s.t, w.s.i
    y = s.index("y", 0, N - 1)  # one of the first N virtual iterates
    F = lambda at: s.objective(s.v(at))
    began = (w.K - 1) / 2
    path = kernel.at(w["path"], {"b": 0, "m": y})
    both = kernel.norms(path, w["first"], s.v(y) - s.v(0), s.v(0) - s.w(0), w.move * y, w.move * began)
    size = w.move * (y + began)
    away = proof.step(
        "(W14), how far from the start", squared(s.v(y) - s.w(0)) <= expr(size**2), [path, w["first"], both]
    )
    slope = kernel.combine(squared(s.mv(i, y)) <= expr(w.g**2), [(1, s.bounded_mean(i, y)), (1, w.root_g)])
    one = kernel.combine(
        s.part(i, s.v(y)) - s.part(i, s.w(0)) <= expr(w.g * size),
        [(-1, s.mean_slope(i, y)), (1, kernel.norms(slope, away, s.mv(i, y), s.v(y) - s.w(0), w.g, size))],
    )
    above = proof.step(
        "(W14), the first values",
        F(y) - s.objective(s.w(0)) <= expr(w.gc * w.rate * w.A * (y + began)),
        multipliers=[(1, s.over_clients(one)), (w.rate * w.A * (y + began), w["gc"])],
    )
    front, back = split_sum(kernel, "t", 0, N, T + N, F(t)), split_sum(kernel, "t", 0, T, T + N, F(t))
    moved, ends = shift(kernel, "t", 0, T, N, F(t + N)), shift(kernel, "t", 0, N, T, F(T + t))
    decrease = w.facts["decrease"] = finite_sum("k", 0, T, F(w.s.k) - F(w.s.k + N))
    parts = proof.step(
        "(W14), summation by parts",
        equal(decrease, finite_sum("t", 0, N, F(t) - F(T + t))),
        [front, back, moved, ends],
    )
    F0, slope_size = s.symbol("F0"), w.gc * w.rate * w.A
    each = proof.step(
        "(W14), one term", F(y) - F(T + y) <= expr(F0 + slope_size * (y + began)), [above, s.start_gap(s.v(T + y))]
    )
    closed = telescope(kernel, "y", 0, N, y * (y - 1) / 2)
    w.step(
        "start",
        "(W14)",
        decrease <= expr(N * F0 + slope_size * (N * (N - 1) / 2 + N * began)),
        [parts, total(kernel, each, "y", 0, N), closed],
    )


# ---------------------------------------------------------------------- one window


def _used(w: Lemma, name: str = "gr") -> Any:
    """Return the gradients of a window, added up; er: their noise."""
    return vector_sum("u", 0, w.N, w.s.vec(name, w.s.k + w.s.u))


def _descent(w: Lemma) -> None:
    """(W8) and (W11): the descent lemma over a window."""
    s, kernel, k, i = w.s, w.kernel, w.s.k, w.s.i
    here, end = s.v(k), s.v(k + w.N)
    way = w.facts["way"] = _moved(w)
    mean = s.whole_gradient(k)
    facts: list[Any] = [s.over_clients(s.descent(s.dv(i, k), end))]
    facts += [kernel.against(mean, v) for v in (here, end)]
    facts.append(kernel.against(way, s.fv(k)))
    if s.noisy:
        facts.append(w["still"])
    rate = w.rate * w.eta
    w.step(
        "descent",
        "(W11)",
        s.dot(s.fv(k), _used(w)) * rate <= s.objective(here) - s.objective(end) + squared(end - here) * (w.L / 2),
        facts,
    )


def _moved(w: Lemma) -> VectorFact:
    s, kernel, k, u = w.s, w.kernel, w.s.k, w.s.u
    moves = total(kernel, kernel.at(w["v"], {"r": k + u}), "u", 0, w.N)
    path = telescope_vector(kernel, "u", 0, w.N, s.v(k + u))
    right = (_used(w) + _used(w, "er") if s.noisy else _used(w)) * (-w.rate * w.eta)
    return combine_vectors(kernel, s.v(k + w.N) - s.v(k), right, [(1, moves), (-1, path)])


def _mean_gradient(w: Lemma, case: Context) -> tuple[Fact, Any]:
    """(W9), times N·Q: ∇f and the gradients of the window; return what bounds the difference, too."""
    s, kernel, k, u = w.s, w.kernel, w.s.k, w.s.u
    whole, B, eps = w.N * w.Q, s.symbol("sigma_g") * s.symbol("share_bias"), w["eps"]
    plain = s.uneven(k)
    moved = vector_sum("u", 0, w.N, s.dv(s.c(k + u, 0), k))
    late = moved * w.Q - _used(w)
    grouped = s.regrouped(k)
    both = kernel.norms(w["shares"], w["late"], plain, late, B, whole * eps, -1)
    differ = s.fv(k) * whole - _used(w)
    # N·∇f = Σ ∇f_c − N·(the uneven part)
    same = kernel.against(grouped, late - plain * whole + differ)
    mean = w.proof.step(
        f"(W9), {case.why}",
        squared(differ) <= expr((whole * (B + eps)) ** 2),
        multipliers=[(whole**2, w["shares"]), (1, w["late"]), (2 * whole, both), (w.Q, same)],
        context=case,
    )
    return mean, B + eps


# ---------------------------------------------------------------------- any step size


def _summed(w: Lemma) -> Any:
    """Return T·Y = Σ E‖∇f(v[k])‖²."""
    return finite_sum("k", 0, w.T, expr(w.s.size(w.s.k) ** 2))


def _begins(w: Lemma) -> Any:
    """Return E_init of the theorem."""
    began = w.gc * (w.N - 1) / 2 + w.gc * (w.K - 1) / 2
    return (w.s.symbol("F0") / (w.rate * w.A) + began) / w.T


def _cauchy(w: Lemma) -> Fact:
    """Return that the square of the mean of the lengths is at most the mean of their squares."""
    if "cauchy" in w.facts:
        known: Fact = w["cauchy"]
        return known
    s, kernel, k, T, m = w.s, w.kernel, w.s.k, w.T, w.s.mean_size(w.T)
    square = kernel.combine(expr((s.size(k) - m) ** 2) >= 0, [])
    return w.step(
        "cauchy",
        "the mean of the lengths",
        expr(m**2) <= _summed(w) / T,
        multipliers=[(1 / T, total(kernel, square, "k", 0, T)), (2 * m / T, s.lengths())],
    )


def _quadratic(w: Lemma, case: Context) -> tuple[Fact, Fact, Any, Any]:
    """(W12), (W15) and (W17); return X_v² ≥ Y, X_v ≥ the mean of the lengths, and X_v."""
    s, kernel, proof, k, T, tag = w.s, w.kernel, w.proof, w.s.k, w.T, case.why
    mean, b = w.facts[case.why]
    whole, W, m = w.N * w.Q, w.rate * w.A * w.N, s.mean_size(w.T)
    long = kernel.combine(squared(s.fv(k)) <= expr(s.size(k) ** 2), [(-1, s.length(k))])
    cross = kernel.norms(long, mean, s.fv(k), s.fv(k) * whole - _used(w), s.size(k), whole * b)
    one = proof.step(
        f"(W12), {tag}",
        expr(W * (s.size(k) ** 2 - b * s.size(k)))
        <= s.objective(s.v(k)) - s.objective(s.v(k + w.N)) + w.L / 2 * W**2 * w.c**2,
        [w["descent"], cross, s.length(k), kernel.at(w["path"], {"b": k, "m": w.N})],
        context=case,
    )
    rest = _begins(w) + w.L / 2 * W * w.c**2
    quadratic = proof.step(
        f"(W15), {tag}",
        _summed(w) / T <= expr(b * m + rest),
        multipliers=[(1 / (W * T), total(kernel, one, "k", 0, T)), (1 / (W * T), w["start"]), (-b / T, s.lengths())],
        context=case,
    )
    number = _begins(w) + w.L / 2 * W * (w.G + w.sigma**2)
    name = w.fresh("r")
    root = s.root(name, b**2 + 4 * number)
    r = variable(name)
    squares = kernel.combine(
        expr((2 * m - b) ** 2) <= r**2,
        [(4, _cauchy(w)), (4, quadratic), (1, root), (-2 * w.L * W, w.root_c)],
        case,
    )
    X = (b + r) / 2
    shorter = kernel.by_squares(squares, 2 * m - b, r)
    length = proof.step(f"(W17), {tag}", expr(m) <= X, [shorter], context=case)
    bound = proof.step(
        f"(V5), {tag}",
        _summed(w) / T <= expr(X**2),
        multipliers=[
            (1, quadratic),
            (b, length),
            (Fraction(1, 4), root),
            (-w.L / 2 * W, w.root_c),
        ],
        context=case,
    )
    return bound, length, X, X**2


# ---------------------------------------------------------------------- small steps


def _small(w: Lemma, case: Context) -> tuple[Fact, Fact, Any, Any]:
    """(W13) and (W16); what is returned is that of :func:`_quadratic`."""
    s, kernel, proof, k, T, tag = w.s, w.kernel, w.proof, w.s.k, w.T, case.why
    mean, b = w.facts[case.why]
    W, m, rate = w.rate * w.A * w.N, s.mean_size(w.T), w.rate * w.eta
    used = _used(w)
    way, sampled = w["way"], (used + _used(w, "er") if s.noisy else used)
    room = kernel.scale(s.limit(len(s.theorem.conditions) - 1), kernel.square(used))
    facts: list[Any] = [w["descent"], mean, s.length(k), room]
    facts += [kernel.against(way, v) for v in (s.v(k + w.N) - s.v(k), sampled)]
    noisy = scalar(0)
    if s.noisy:
        facts += [w["noise"], kernel.square(used - _used(w, "er"))]
        noisy = 2 * w.L * rate * w.sigma**2
    one = proof.step(
        f"(W13), {tag}",
        expr(W * s.size(k) ** 2) <= (s.objective(s.v(k)) - s.objective(s.v(k + w.N))) * 2 + W * (b**2 + noisy),
        facts,
        context=case,
    )
    number = 2 * _begins(w) + b**2 + noisy
    bound = proof.step(
        f"(V6), {tag}",
        _summed(w) / T <= expr(number),
        multipliers=[(1 / (W * T), total(kernel, one, "k", 0, T)), (2 / (W * T), w["start"])],
        context=case,
    )
    name = w.fresh("r")
    root = s.root(name, number)
    X = variable(name)
    squares = kernel.combine(expr(m**2) <= X**2, [(1, _cauchy(w)), (1, bound), (1, root)], case)
    shorter = kernel.by_squares(squares, m, X)
    length = proof.step(f"the mean of the lengths, {tag}", expr(m) <= X, [shorter], context=case)
    return bound, length, X, number


# ---------------------------------------------------------------------- the model


def _model(w: Lemma) -> None:
    """(V7) at one update: ∇f at the model and at the virtual iterate."""
    s, kernel, proof, k, i = w.s, w.kernel, w.proof, w.s.k, w.s.i
    size = w.facts["shift"] = w.L * w.away * w.A * w.c
    gap = lambda place: s.d(place, k) - s.dv(place, k)
    away = kernel.at(w["away"], {("b" if s.delta else "r"): k})
    one = proof.step("(V7), one client", squared(gap(i)) <= expr(size**2), [s.smooth(s.d(i, k), s.dv(i, k)), away])
    mean = s.mean_vector(gap)
    jensen = s.over_clients(kernel.square(gap(i) - mean))
    near = proof.step("(V7), all clients", squared(mean) <= expr(size**2), [s.over_clients(one), jensen])
    long = kernel.combine(squared(s.fv(k)) <= expr(s.size(k) ** 2), [(-1, s.length(k))])
    cross = kernel.norms(long, near, s.fv(k), mean, s.size(k), size)
    whole = s.whole_gradient(k)
    tests = (s.fv(k), s.gradient(k), whole.right)
    w.step(
        "model",
        "(V7), one update",
        squared(s.gradient(k)) <= expr((s.size(k) + size) ** 2),
        [s.length(k), near, cross, *(kernel.against(whole, v) for v in tests)],
    )


def _near(w: Lemma, case: Context, bound: Fact, length: Fact, X: Any, square: Any) -> Fact:
    """(V7): the model instead of the virtual iterate; ``square`` is X_v² as the theorem writes it."""
    s, kernel, T, size = w.s, w.kernel, w.T, w["shift"]
    every = total(kernel, w["model"], "k", 0, T)
    return w.proof.step(
        f"(V7), {case.why}",
        s.metric() <= expr(square + 2 * X * size + size**2),
        multipliers=[(1 / T, every), (1, bound), (-2 * size / T, s.lengths()), (2 * size, length)],
        context=case,
    )


_SOURCE = "docs/theory/fedfa.md"
PROOFS = with_forms(
    *(
        Script(f"fedfa.{mode}.{form}", f"mode {mode}, {words}", _SOURCE, write, f"fedfa.{mode}.{form}")
        for mode in ("delta", "param")
        for form, words, write in (
            ("a", "any step size", any_step),
            ("b", "small steps", small_steps),
            ("b.noiseless", "full gradients, small steps", small_steps),
        )
    )
)
