"""FedCompass: the window theorems and the theorem on one group; docs/theory/fedcompass.md, step by step."""

from dataclasses import dataclass
from typing import Any

from boundlab.proofs._along import Lemmas, square_of_sum, with_forms
from boundlab.prove import (
    Context,
    Fact,
    Proof,
    Script,
    combine_vectors,
    equal,
    expr,
    finite_sum,
    nothing,
    scalar,
    shift,
    split_sum,
    split_vector,
    squared,
    sums,
    telescope,
    telescope_vector,
    total,
    variable,
    vector_sum,
)

# FedCompass, what holds of any schedule: how far models move, and what gradients at old models differ by.


@dataclass
class Window(Lemmas):
    """Numbers and facts that the lemmas share; see docs/theory/fedcompass.md.

    Parameters
    ----------
    proof
        What is written.
    W, low, high
        The work of the window at k, at least ``low`` and at most ``high``.
    beta
        The largest Σ|ω_i − p_i|.
    """

    W: Any
    low: Any
    high: Any
    beta: Any

    def __post_init__(self) -> None:
        s = self.s = self.proof.setting()
        self.kernel, self.eta, self.N, self.T = s.kernel, s.step, s.N, s.T
        self.L, self.G, self.sigma, self.A = s.symbol("L"), s.symbol("G_sq"), s.symbol("sigma_l"), s.symbol("A_max")
        self.root_c = s.root("c_2", self.G + self.sigma**2)
        self.c = variable("c_2")
        self.p, self.h = s.index("p_1"), s.index("h")
        # Local steps of two runs of update r, and of update k + u; of the first of each a third step, and a count.
        self.runs = tuple(self._steps(s.r, f"{number}") for number in (2, 3))
        self.late = tuple(self._steps(s.k + s.u, f"{number}") for number in (4, 5))

    def _steps(self, t: Any, tag: str) -> tuple[Any, Any, Any, Any]:
        """Return a run of update t, two of its local steps, and how many there may be before one."""
        s, j = self.s, self.s.index(f"j_{tag}", 0, self.s.many(t) - 1)
        last = s.steps(t, j) - 1
        return j, s.index(f"q_{tag}", 0, last), s.index(f"p_{tag}", 0, last), s.index(f"h_{tag}", 0, last + 1)


def gradients(w: Window) -> None:
    """(W2): every stochastic gradient has E‖g‖² ≤ c²."""
    s, r, (j, q, _, _) = w.s, w.s.r, w.runs[0]
    g = s.g(r, j, q)
    facts: list[Any] = [s.bounded_gradient(g)]
    if s.noisy:
        facts += [s.variance(s.e(r, j, q)), s.unbiased(s.e(r, j, q), g)]
    second = w.proof.step("(W2), second moment", squared(s.sampled(r, j, q)) <= expr(w.G + w.sigma**2), facts)
    w.step("c", "(W2)", squared(s.sampled(r, j, q)) <= expr(w.c**2), multipliers=[(1, second), (1, w.root_c)])


def moves(w: Window) -> None:
    """(C3): how far an update, several updates, and some local steps move a model."""
    s, kernel, r, (j, q, _, h), (other, there, _, _) = w.s, w.kernel, w.s.r, *w.runs
    # all pairs of gradients of an update
    both_runs = kernel.norms(
        w["c"],
        kernel.at(w["c"], {"j_2": other, "q_2": there}),
        s.sampled(r, j, q),
        s.sampled(r, other, there),
        w.c,
        w.c,
    )
    pairs = sums(
        kernel,
        both_runs,
        ("q_3", 0, s.steps(r, other), s.a(r, other)),
        ("q_2", 0, s.steps(r, j), s.a(r, j)),
        ("j_3", 0, s.many(r)),
        ("j_2", 0, s.many(r)),
    )
    used = vector_sum("j_2", 0, s.many(r), vector_sum("q_2", 0, s.steps(r, j), s.sampled(r, j, q) * s.a(r, j)))
    both = total(kernel, s.work(r), "j_3", 0, s.many(r), s.a(r, other) * s.steps(r, other))
    A = s.A(r)
    added = w.proof.step(
        "(C3), the gradients of an update",
        squared(used) <= expr(w.c**2 * A**2),
        multipliers=[(1, pairs), (-(w.c**2), both), (-(w.c**2) * A, s.work(r))],
    )
    w.step(
        "move", "(C3), an update", squared(s.w(r + 1) - s.w(r)) <= expr((w.eta * w.c * A) ** 2), [s.update(r), added]
    )
    w.step(
        "most", "(C3), the largest move", squared(s.w(r + 1) - s.w(r)) <= expr((w.eta * w.c * w.A) ** 2), [w["move"]]
    )
    _paths(w)
    # local steps
    local = square_of_sum(kernel, w["c"], ("q_2", "p_2"), (0, h), lambda place: s.sampled(r, j, place), lambda _: w.c)
    way = s.z(r, j, h) - s.z(r, j, 0)
    steps = vector_sum("q_2", 0, h, s.sampled(r, j, q))
    walk = [total(kernel, s.move(r, j, q), "q_2", 0, h), telescope_vector(kernel, "q_2", 0, h, s.z(r, j, q))]
    from_start = w.proof.step(
        "(C3), local steps from the first point",
        squared(way) <= expr((w.eta * w.c * h) ** 2),
        [local, *(kernel.against(fact, test) for fact in walk for test in (way, steps))],
    )
    w.step(
        "local",
        "(C3), local steps",
        squared(s.z(r, j, h) - s.w(s.s(r, j))) <= expr((w.eta * w.c * h) ** 2),
        [from_start, s.begin(r, j)],
    )


def _paths(w: Window) -> None:
    """How far two models are from each other, whichever is the older one."""
    s, kernel = w.s, w.kernel
    b = s.index("b", 0, w.T + w.N - 1)
    a = s.index("b_0", 0, b)
    s.index("l", 0, w.T + w.N - 2)
    move = lambda t: s.w(t + 1) - s.w(t)
    size = w.eta * w.c * w.A
    pairs = square_of_sum(kernel, w["most"], ("r", "l"), (a, b), move, lambda _: size)
    path = telescope_vector(kernel, "r", a, b, s.w(s.r))
    way, steps = s.w(b) - s.w(a), vector_sum("r", a, b, move(s.r))
    apart = w.proof.step(
        "(C3), several updates",
        squared(way) <= expr((size * (b - a)) ** 2),
        [pairs, *(kernel.against(path, test) for test in (way, steps))],
    )
    # o: the model that a run began at
    k = s.k
    o = s.index("o", 0, w.T + w.N - 2)
    far = squared(s.w(k) - s.w(o)) <= expr((size * (k - o)) ** 2)
    older, newer = kernel.split("o", k)
    first = w.proof.step("(C3), an older model", far, [kernel.at(apart, {"b": k, "b_0": o}, older)], context=older)
    second = w.proof.step("(C3), a newer model", far, [kernel.at(apart, {"b": o, "b_0": k}, newer)], context=newer)
    w.facts["path"] = apart
    w.facts["apart"] = w.proof.rule("(C3), any two models", None, lambda: kernel.join(first, second))


def noise(w: Window) -> None:
    """(W10): noise of a window is orthogonal to ∇F at its begin, and its variances add up."""
    s, kernel, r, j, q, k, u, h, p = w.s, w.kernel, w.s.r, w.s.j, w.s.q, w.s.k, w.s.u, w.h, w.p
    before = s.index("h_0", 0, h)
    # runs of one update, one after the other
    run = lambda place: vector_sum("q", 0, s.steps(r, place), s.e(r, place, q) * s.a(r, place))
    before_it = ("p_1", 0, s.steps(r, before), s.a(r, before))
    cross = s.unbiased(s.e(r, h + 1, q), s.e(r, before, p))
    cross = sums(kernel, cross, before_it, ("q", 0, s.steps(r, h + 1), s.a(r, h + 1)))
    own = s.independent(s.e(r, j, q), "q", 0, s.steps(r, j), s.a(r, j))
    squares = lambda place: finite_sum("q", 0, s.steps(r, place), squared(s.e(r, place, q)) * s.a(r, place) ** 2)
    added = _added(w, "(W3), the runs of an update", "j", run, squares, cross, own)
    one = s.variance(s.e(r, j, q))
    variances = sums(kernel, one, ("q", 0, s.steps(r, j), s.a(r, j) ** 2), ("j", 0, s.many(r)))
    own_squares = s.runs_of(r, expr(s.a(r, j) ** 2 * s.steps(r, j)))
    update = w.proof.step(
        "(W3), the noise of an update",
        squared(s.er(r)) <= own_squares * w.sigma**2,
        [s.added("er", r), kernel.at(added, {"x": s.many(r)}), variances],
    )
    # the updates of a window
    of = lambda place: s.er(k + place)
    cross = _still(w, k + h + 1, of(before))
    own = kernel.combine(equal(squared(of(s.t)), squared(of(s.t))), [])
    added = _added(w, "(W3), the updates of a window", "t", of, lambda place: squared(of(place)), cross, own)
    window = total(kernel, kernel.at(update, {"r": k + u}), "u", 0, w.N)
    every = vector_sum("u", 0, w.N, of(u))
    w.step(
        "noise",
        "(W10), the variance",
        squared(every) <= s.squares_of(k) * w.sigma**2,
        [kernel.at(added, {"x": w.N}), window],
    )
    still = _still(w, k + u, s.df(k))
    w.step("still", "(W10), the mean", equal(s.dot(s.df(k), every), 0), [total(kernel, still, "u", 0, w.N)])


def _still(w: Window, t: Any, known: Any) -> Fact:
    """Return that the noise of update t is orthogonal to what is known before it."""
    s, j, q = w.s, w.s.j, w.s.q
    runs = ("q", 0, s.steps(t, j), s.a(t, j)), ("j", 0, s.many(t))
    return w.inserted(sums(w.kernel, s.unbiased(s.e(t, j, q), known), *runs), s.added("er", t), known)


def _added(w: Window, name: str, index: str, of: Any, squares: Any, cross: Fact, own: Fact) -> Fact:
    """Show that the square of a sum is the sum of squares, for sums of x terms each orthogonal to those before.

    Parameters
    ----------
    of, squares
        A term by its place, and what its square is.
    cross
        That the term of place h + 1 is orthogonal to that of place h_0 ≤ h.
    own
        What the square of the term of place ``index`` is.
    """
    s, kernel, h = w.s, w.kernel, w.h
    place = variable(index)
    claim = lambda many: equal(
        squared(vector_sum(index, 0, many, of(place))), finite_sum(index, 0, many, squares(place))
    )
    crossed = total(kernel, cross, "h_0", 0, h + 1)
    last = split_vector(kernel, index, 0, h + 1, h + 2, of(place))
    first = lambda many: vector_sum(index, 0, many, of(place))
    facts = [
        crossed,
        kernel.at(own, {index: h + 1}),
        s.last_term(index, 0, h + 1, squares(place)),
        *(kernel.against(last, v) for v in (first(h + 2), first(h + 1), of(h + 1))),
    ]
    some = w.proof.induction(
        f"{name}, one or more", claim(h + 1), "h", [kernel.at(own, {index: 0})], lambda known: [known, *facts]
    )
    if kernel.context.find("x") is None:
        s.index("x")
    x = variable("x")
    _, more = kernel.split("x", 0)
    none = kernel.combine(claim(scalar(0)), [])
    rest = kernel.at(some, {"h": x - 1}, more)
    return w.proof.rule(name, None, lambda: kernel.lowest(none, rest))


def lateness(w: Window, far: Any, case: Context) -> None:
    """(C4), (C5): gradients at old models differ from those at w[k] by at most ε on average; ``far`` ≥ their age.

    Parameters
    ----------
    far
        max(τ, N − 1), which one it is being known in this case.
    """
    s, kernel, proof = w.s, w.kernel, w.proof
    k, u, v, (j, q, p, _), (h, *_) = s.k, s.u, s.v, *w.late
    t, tag = k + u, f", {case.why}" if case.why else ""
    old = s.s(t, j)
    size = w.eta * w.c * w.A
    late = kernel.combine(expr(far + (k - old)) >= 0, [], case)  # s ≤ t, and N − 1 ≤ far
    early = kernel.combine(expr(far - (k - old)) >= 0, [(1, s.delay(t, j))], case)
    age = proof.step(f"(C4){tag}", expr((k - old) ** 2) <= far**2, [kernel.scale(late, early)], context=case)
    models = proof.step(
        f"the model that a run began at{tag}",
        squared(s.w(k) - s.w(old)) <= expr((size * far) ** 2),
        multipliers=[(1, kernel.at(w["apart"], {"o": old})), (size**2, age)],
        context=case,
    )
    local = kernel.at(w["local"], {"r": t, "j_2": j, "h_2": q})
    one, two = s.w(k) - s.w(old), s.w(old) - s.z(t, j, q)
    flipped = kernel.combine(squared(two) <= expr((w.eta * w.c * q) ** 2), [(1, local)])
    points = proof.step(
        f"the point of a local step{tag}",
        squared(s.w(k) - s.z(t, j, q)) <= expr((size * far + w.eta * w.c * q) ** 2),
        [models, flipped, kernel.norms(models, flipped, one, two, size * far, w.eta * w.c * q)],
        context=case,
    )
    lag = lambda place: s.d(s.c(t, j), k) - s.g(t, j, place)
    gap = lambda place: w.L * w.eta * w.c * (w.A * far + place)
    slopes = proof.step(
        f"the gradient of a local step{tag}",
        squared(lag(q)) <= expr(gap(q) ** 2),
        [s.smooth(s.d(s.c(t, j), k), s.g(t, j, q)), points],
        context=case,
    )
    steps, many = s.steps(t, j), s.many(t)
    pairs = square_of_sum(kernel, slopes, ("q_4", "p_4"), (0, steps), lag, gap)
    closed = telescope(kernel, "q_4", 0, steps, q * (q - 1) / 2)
    few = w.L * w.eta * w.c
    whole = few * (w.A * far * steps + steps * (steps - 1) / 2)
    eps = few * (w.A * far + (s.Qmax - 1) / 2)
    nested = total(kernel, closed, "p_4", 0, steps, few**2 * (w.A * far + p))
    run = proof.step(
        f"the gradients of a run{tag}",
        squared(vector_sum("q_4", 0, steps, lag(q))) <= expr(whole**2),
        [pairs, closed, nested],
        context=case,
    )
    run = proof.step(
        f"the gradients of a run, at most Qmax{tag}",
        squared(vector_sum("q_4", 0, steps, lag(q))) <= expr((steps * eps) ** 2),
        [run],
        context=case,
    )
    of = lambda place: vector_sum("q_4", 0, s.steps(t, place), s.d(s.c(t, place), k) - s.g(t, place, q))
    sizes, weights = (lambda place: s.steps(t, place) * eps), (lambda place: s.a(t, place))
    pairs = square_of_sum(kernel, run, ("j_4", "j_5"), (0, many), of, sizes, weights)
    both = total(kernel, s.work(t), "j_5", 0, many, s.a(t, h) * s.steps(t, h))
    A = s.A(t)
    runs = proof.step(
        f"the runs of an update{tag}",
        squared(vector_sum("j_4", 0, many, of(j) * s.a(t, j))) <= expr((A * eps) ** 2),
        multipliers=[(1, pairs), (-(eps**2), both), (-(eps**2) * A, s.work(t))],
        context=case,
    )
    differ = lambda place: s.du(k, place) - s.gr(k + place)
    update = proof.step(
        f"(C5) for an update{tag}",
        squared(differ(u)) <= expr((A * eps) ** 2),
        [runs, s.moved(k, u), s.added("gr", t)],
        context=case,
    )
    w.facts["eps"] = eps
    every, W, work = vector_sum("u", 0, w.N, differ(u)), w.W(k), w["work"]
    if w.N.constant == 1:
        # A window of one update; its work is at most W.
        less, more = kernel.combine(expr(W - s.A(k)) >= 0, [(1, work)]), kernel.combine(expr(W + s.A(k)) >= 0, [])
        parts = [(1, kernel.at(update, {"u": 0})), (eps**2, kernel.scale(less, more))]
    else:
        pairs = square_of_sum(kernel, update, ("u", "v"), (0, w.N), differ, lambda place: s.A(k + place) * eps)
        # Σ A[k + u] ≤ W twice
        both = total(kernel, work, "v", 0, w.N, s.A(k + v))
        parts = [(1, pairs), (eps**2, both), (eps**2 * W, work)]
    w.step("late", f"(C5){tag}", squared(every) <= expr((W * eps) ** 2), multipliers=parts, context=case)


def shares(w: Window) -> None:
    """Show by how much the gradients at w[k], weighted as in the window, differ from W·∇F: at most by B."""
    s, kernel, k, most = w.s, w.kernel, w.s.k, w.W(w.s.k) * w.beta
    bound = w.unequal_shares(lambda i: s.d(i, k) - s.df(k), s.heterogeneity(s.i, k), w["bias"], most)
    plain = vector_sum("i", 0, s.n, s.d(s.i, k) * (s.over(s.i, k) - s.under(s.i, k)))
    balance = s.balance(k, s.df(k))
    w.step(
        "shares",
        "(W9), the shares",
        squared(plain) <= expr((most * s.symbol("sigma_g")) ** 2),
        [bound, kernel.against(balance, plain), kernel.against(balance, balance.left)],
    )


def window_a(proof: Proof) -> None:
    """Any step size."""
    w = _window(proof)
    _before_the_cases(w)
    _way(w)
    proof.conclude(*[_any_step(w, far, case) for far, case in _cases(w)])


def window_b(proof: Proof) -> None:
    """Small steps."""
    w = _window(proof)
    _before_the_cases(w)
    squares = w.s.window_squares(w.s.k) if w.s.noisy else None
    small = _small_step(w, w.s.limit(0 if w.s.noisy else 1))
    proof.conclude(*[_small(w, far, case, small, squares) for far, case in _cases(w)])


def group(proof: Proof) -> None:
    """One group at equilibrium: N = 1, and all A[t] are equal."""
    s = proof.setting()
    Q = s.symbol("Q_mean")
    w = Window(proof, lambda _: Q, Q, Q, s.symbol("Q_bias"))
    squares = _equal_work(w)
    _before_the_cases(w)
    # Of the conditions this is the third one.
    proof.conclude(_small(w, scalar(0), s.context, _small_step(w, s.limit(2)), squares))


# ---------------------------------------------------------------------- the numbers of a window


def _window(proof: Proof) -> Window:
    s = proof.setting()
    w = Window(proof, s.W, s.symbol("W_min"), s.symbol("W_max"), s.symbol("share_bias"))
    every = finite_sum("u", 0, w.N, expr(s.A(s.k + s.u)))
    work = w.kernel.combine(every <= expr(w.W(s.k)), [(-1, s.window_work(s.k))])
    w.facts |= {"work": work, "bias": s.bias(s.k), "regrouped": s.regrouped(s.k)}
    return w


def _cases(w: Window) -> list[tuple[Any, Context]]:
    """Return max(τ, N − 1) in two cases."""
    few, many = w.kernel.split("tau_max", w.N - 1)
    return [(w.N - 1, few), (w.s.symbol("tau_max"), many)]


def _equal_work(w: Window) -> Fact:
    """(C9): no mean is above the largest term unless all are equal; return what Σ a²·Q_x is at most."""
    s, kernel, proof, k, t, T = w.s, w.kernel, w.proof, w.s.k, w.s.t, w.T
    Q, A = s.symbol("Q_mean"), s.A(k)
    most = kernel.combine(expr(s.A(t)) <= w.A, [])
    before, after = total(kernel, most, "t", 0, k), total(kernel, most, "t", k + 1, T)
    parts = split_sum(kernel, "t", 0, k, T, s.A(t)), split_sum(kernel, "t", k, k + 1, T, s.A(t))
    least = proof.step("(C9), no update has less work", expr(A) >= Q, [s.mean_work(), *parts, before, after])
    more = proof.step("(C9), none has more", expr(A) <= Q, [])
    square = kernel.scale(kernel.combine(expr(Q - A) >= 0, [(1, more)]), kernel.combine(expr(A - Q) >= 0, [(1, least)]))
    df = s.df(k)
    zero = kernel.combine(squared(df * (A - Q)) <= 0, [(1, kernel.scale(square, kernel.square(df)))])
    same = nothing(kernel, zero, df * (A - Q))
    regrouped = s.regrouped(k)
    plain = combine_vectors(kernel, regrouped.left, regrouped.right - df * (A - Q), [(1, regrouped), (1, same)])
    bias = kernel.combine(
        finite_sum("i", 0, s.n, expr(s.over(s.i, k) + s.under(s.i, k))) <= expr(Q * w.beta),
        [(1, s.bias(k)), (w.beta, more)],
    )
    w.facts |= {"work": more, "bias": bias, "regrouped": plain}
    return proof.step("(C9), squared weights", s.squares_of(k) <= expr(Q / s.n), [s.work(k), more])


def _before_the_cases(w: Window) -> None:
    gradients(w)
    moves(w)
    if w.s.noisy:
        noise(w)
    shares(w)
    _start(w)
    _descent(w)


def _small_step(w: Window, limit: Fact) -> Fact:
    """Return 1 ≥ 2·L·η·W[k], without noise 1 ≥ L·η·W[k]."""
    many, W = 2 if w.s.noisy else 1, w.W(w.s.k)
    most = w.kernel.combine(expr(w.high - W) >= 0, [])
    enough = expr(1 - many * w.L * w.eta * W) >= 0
    found: Fact = w.kernel.combine(enough, [(many, limit), (many * w.L * w.eta, most)])
    return found


# ---------------------------------------------------------------------- summation by parts


def _start(w: Window) -> None:
    """(W14): Σ F(w[k]) − F(w[k + N]) over the windows."""
    s, kernel, proof, T, N, A, c = w.s, w.kernel, w.proof, w.T, w.N, w.A, w.c
    F, t, F0 = s.objective, s.t, s.symbol("F0")
    y = s.index("y", 0, N - 1)  # one of the first N models
    root, g = s.root("g_2", w.G), variable("g_2")
    near = kernel.at(w["path"], {"b": y, "b_0": 0})
    slope = kernel.combine(squared(s.mv(s.i, y)) <= expr(g**2), [(1, s.bounded_mean(s.i, y)), (1, root)])
    far = w.eta * c * A * y
    one = kernel.combine(
        s.part(s.i, s.w(y)) - s.part(s.i, s.w(0)) <= expr(g * far),
        [(-1, s.mean_slope(s.i, y)), (1, kernel.norms(slope, near, s.mv(s.i, y), s.w(y) - s.w(0), g, far))],
    )
    above = proof.step(
        "(W14), the first models",
        F(s.w(y)) - F(s.w(0)) <= expr(g * far),
        [total(kernel, one, "i", 0, s.n, s.p(s.i)), s.weights(expr(1))],
    )
    at = lambda place: F(s.w(place))
    decrease = finite_sum("t", 0, T, at(t) - at(t + N))
    parts = proof.step(
        "(W14), summation by parts",
        equal(decrease, finite_sum("t", 0, N, at(t) - at(T + t))),
        [
            split_sum(kernel, "t", 0, N, T + N, at(t)),
            split_sum(kernel, "t", 0, T, T + N, at(t)),
            shift(kernel, "t", 0, T, N, at(t + N)),
            shift(kernel, "t", 0, N, T, at(T + t)),
        ],
    )
    each = proof.step("(W14), one term", at(y) - at(T + y) <= expr(F0 + g * far), [above, s.start_gap(s.w(T + y))])
    # The theorem has one root of the product.
    both, product = s.root("gc_2", w.G * (w.G + w.sigma**2)), variable("gc_2")
    squares = kernel.combine(equal(expr(product**2), (g * c) ** 2), [(1, both), (-(c**2), root), (-w.G, w.root_c)])
    roots = kernel.by_squares(squares, product, g * c)
    closed = telescope(kernel, "y", 0, N, y * (y - 1) / 2)
    size = w.eta * A * N * (N - 1) / 2
    summed = proof.step(
        "(W14), the sum", decrease <= expr(N * F0 + g * c * size), [parts, total(kernel, each, "y", 0, N), closed]
    )
    w.step("start", "(W14)", decrease <= expr(N * F0 + product * size), multipliers=[(1, summed), (size, roots)])


# ---------------------------------------------------------------------- one window


def _sampled(s: Any, t: Any) -> Any:
    return s.gr(t) + s.er(t) if s.noisy else s.gr(t)


def _descent(w: Window) -> None:
    """(W8), and (W11): the descent lemma over a window, by η."""
    s, kernel, k, u, i = w.s, w.kernel, w.s.k, w.s.u, w.s.i
    F, end = s.objective, s.w(k + w.N)
    way, names = end - s.w(k), ("gr", "er") if s.noisy else ("gr",)
    move = vector_sum("u", 0, w.N, _sampled(s, k + u))
    one = combine_vectors(
        kernel,
        s.w(s.r + 1) - s.w(s.r),
        _sampled(s, s.r) * -w.eta,
        [(1, s.update(s.r)), *((w.eta, s.added(name, s.r)) for name in names)],
    )
    every = total(kernel, kernel.at(one, {"r": k + u}), "u", 0, w.N)
    path = telescope_vector(kernel, "u", 0, w.N, s.w(k + u))
    w.facts["moved"] = moved = combine_vectors(kernel, way, move * -w.eta, [(1, every), (-1, path)])
    down = total(kernel, s.descent(s.d(i, k), end), "i", 0, s.n, s.p(i))
    w.step(
        "descent",
        "(W11)",
        s.dot(s.df(k), move) <= (F(s.w(k)) - F(end)) / w.eta + squared(way) * (w.L / (2 * w.eta)),
        [
            down,
            s.weights(squared(way)),
            kernel.against(s.whole_gradient(k), way),
            *(kernel.against(moved, v) for v in (s.df(k), way)),
        ],
    )


def _mean_gradient(w: Window, tag: str, case: Context) -> None:
    """(W9), times W: W·∇F and the gradients of the window."""
    s, kernel, k, u = w.s, w.kernel, w.s.k, w.s.u
    W, B, eps, regrouped = w.W(k), w.beta * s.symbol("sigma_g"), w["eps"], w["regrouped"]
    used = vector_sum("u", 0, w.N, s.gr(k + u))
    there = vector_sum("u", 0, w.N, s.du(k, u))
    bias, late = there - s.df(k) * W, there - used
    unequal = w.proof.step(
        f"(W9), B{tag}",
        squared(bias) <= expr((W * B) ** 2),
        [w["shares"], *(kernel.against(regrouped, v) for v in (there, s.df(k), regrouped.right))],
        context=case,
    )
    both = kernel.norms(unequal, w["late"], bias, late, W * B, W * eps, -1)
    w.step(
        "mean",
        f"(W9){tag}",
        squared(s.df(k) * W - used) <= expr((W * (B + eps)) ** 2),
        [unequal, w["late"], both],
        context=case,
    )


def _small(w: Window, far: Any, case: Context, small: Fact, squares: Fact | None) -> Fact:
    """(W13), (W16), where the step is small; ``squares`` says what Σ a²·Q_x is at most."""
    s, kernel, proof, k, T, L, eta, N = w.s, w.kernel, w.proof, w.s.k, w.T, w.L, w.eta, w.N
    F, W, tag = s.objective, w.W(k), f", {case.why}" if case.why else ""
    lateness(w, far, case)
    _mean_gradient(w, tag, case)
    used, noisy = (vector_sum("u", 0, N, of(k + s.u)) for of in (s.gr, s.er))
    part = kernel.combine(expr(small.claim.left.number / (2 * W)) >= 0, [(1 / (2 * W), small)])
    moved = [kernel.against(w["moved"], v) for v in (w["moved"].left, w["moved"].right)]
    size = w.beta * s.symbol("sigma_g") + w["eps"]
    wide, facts, noises = expr(0), [], []
    if squares is not None and s.noisy:
        wide, facts, noises = squares.claim.right * w.sigma**2, [squares, w["noise"], w["still"]], [used - noisy]
    one = proof.step(
        f"(W13){tag}",
        squared(s.df(k)) * W <= (F(s.w(k)) - F(s.w(k + N))) * (2 / eta) + W * size**2 + wide * (2 * L * eta),
        [w["descent"], w["mean"], kernel.scale(part, kernel.square(used)), *moved, *facts],
        squares=noises,
        context=case,
    )
    low, high = w.low, w.high
    less = kernel.scale(kernel.combine(expr(W - low) >= 0, []), kernel.square(s.df(k)))
    bounded = proof.step(
        f"(W13), all windows alike{tag}",
        squared(s.df(k)) * low <= (F(s.w(k)) - F(s.w(k + N))) * (2 / eta) + high * size**2 + wide * (2 * L * eta),
        multipliers=[(1, one), (1, less)],
        context=case,
    )
    first = _first(w)
    return proof.step(
        f"(W16){tag}",
        s.metric() <= wide * (2 * L * eta / low) + 2 * first + high / low * size**2,
        [total(kernel, bounded, "k", 0, T), w["start"]],
        context=case,
    )


def _first(w: Window) -> Any:
    """Return E_0 of (W7)."""
    gap = w.N * w.s.symbol("F0") + w.eta * variable("gc_2") * w.A * w.N * (w.N - 1) / 2
    return gap / (w.eta * w.low * w.T)


def _way(w: Window) -> None:
    """How far a window moves the model: at most η·c·W."""
    s, kernel, k, u, v = w.s, w.kernel, w.s.k, w.s.u, w.s.v
    size, W = w.eta * w.c, w.W(k)
    move = lambda place: s.w(k + place + 1) - s.w(k + place)
    each = kernel.at(w["move"], {"r": k + u})
    pairs = square_of_sum(kernel, each, ("u", "v"), (0, w.N), move, lambda place: size * s.A(k + place))
    both = total(kernel, w["work"], "v", 0, w.N, s.A(k + v))
    path = telescope_vector(kernel, "u", 0, w.N, s.w(k + u))
    way, steps = s.w(k + w.N) - s.w(k), vector_sum("u", 0, w.N, move(u))
    ends = [kernel.against(path, test) for test in (way, steps)]
    w.step(
        "way",
        "the move over a window",
        squared(way) <= expr((size * W) ** 2),
        multipliers=[(1, pairs), (size**2, both), (size**2 * W, w["work"]), *((1, one) for one in ends)],
    )


def _any_step(w: Window, far: Any, case: Context) -> Fact:
    """(W12), (W15), (W17): any step, with √E‖∇F(w[k])‖² as numbers."""
    s, kernel, proof, k, T, L, eta = w.s, w.kernel, w.proof, w.s.k, w.T, w.L, w.eta
    F, W, tag = s.objective, w.W(k), f", {case.why}"
    lateness(w, far, case)
    _mean_gradient(w, tag, case)
    size, mean, df = s.size(k), s.mean_size(T), s.df(k)
    used = vector_sum("u", 0, w.N, s.gr(k + s.u))
    length = kernel.combine(squared(df) <= expr(size**2), [(-1, s.length(k))])
    error = w.beta * s.symbol("sigma_g") + w["eps"]
    near = kernel.norms(length, w["mean"], df, df * W - used, size, W * error)
    decrease = (F(s.w(k)) - F(s.w(k + w.N))) / eta
    noise_parts = [w["still"]] if s.noisy else []
    one = proof.step(
        f"(W12){tag}",
        squared(df) * W - W * error * size <= decrease + L * eta / 2 * w.c**2 * W**2,
        [w["descent"], w["way"], near, *noise_parts],
        context=case,
    )
    low, high = w.low, w.high
    bounded = proof.step(
        f"(W12), all windows alike{tag}",
        squared(df) * low - high * error * size <= decrease + L * eta / 2 * w.c**2 * high**2,
        multipliers=[
            (1, one),
            (1, kernel.scale(kernel.combine(expr(W - low) >= 0, []), kernel.square(df))),
            (1, kernel.combine(expr((high - W) * error * size) >= 0, [])),
            (1, kernel.combine(expr(L * eta / 2 * w.c**2 * (high**2 - W**2)) >= 0, [])),
        ],
        context=case,
    )
    line = high / low * error
    constant = _first(w) + L * eta * high**2 * (w.G + w.sigma**2) / (2 * low)
    lengths = s.lengths()
    summed = proof.step(
        f"(W15){tag}",
        s.metric() <= expr(line * mean + constant),
        multipliers=[
            (1 / (T * low), total(kernel, bounded, "k", 0, T)),
            (1 / (T * low * eta), w["start"]),
            (-line / T, lengths),
            (-L * eta * high**2 / (2 * low), w.root_c),
        ],
        context=case,
    )
    spread = total(kernel, kernel.combine(expr((size - mean) ** 2) >= 0, []), "k", 0, T, 1 / T)
    squares = total(kernel, s.length(k), "k", 0, T, 1 / T)
    jensen = proof.step(
        f"the mean of the lengths{tag}",
        expr(mean**2) <= s.metric(),
        multipliers=[(1, spread), (1, squares), (2 * mean / T, lengths)],
        context=case,
    )
    name = "rho_0" if "N" in far.names() else "rho_1"
    root, rho = s.root(name, line**2 + 4 * constant), variable(name)
    square = proof.step(
        f"(W17), squares{tag}",
        expr((mean - line / 2) ** 2) <= expr((rho / 2) ** 2),
        multipliers=[(1, summed), (1, jensen), (scalar(1) / 4, root)],
        context=case,
    )
    at_most = kernel.by_squares(square, mean - line / 2, rho / 2)
    return proof.step(
        f"(W17){tag}",
        s.metric() <= expr(((line + rho) / 2) ** 2),
        multipliers=[(1, summed), (line, at_most), (scalar(1) / 4, root)],
        context=case,
    )


_SOURCE = "docs/theory/fedcompass.md"
PROOFS = with_forms(
    Script("fedcompass.window.a", "any schedule, any step size", _SOURCE, window_a, "fedcompass.window.a"),
    Script("fedcompass.window.b", "any schedule, small steps", _SOURCE, window_b, "fedcompass.window.b"),
    Script(
        "fedcompass.window.b.noiseless",
        "any schedule, full gradients",
        _SOURCE,
        window_b,
        "fedcompass.window.b.noiseless",
    ),
    Script("fedcompass.group", "one group at equilibrium", _SOURCE, group, "fedcompass.group"),
)
