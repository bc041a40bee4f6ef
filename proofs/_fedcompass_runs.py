"""FedCompass, what holds of any schedule: how far models move, and what gradients at old models differ by."""

from dataclasses import dataclass
from typing import Any

from boundlab.prove import (
    Context,
    Fact,
    Proof,
    VectorFact,
    equal,
    expr,
    finite_sum,
    scalar,
    split_vector,
    squared,
    telescope,
    telescope_vector,
    total,
    variable,
    vector_sum,
)


@dataclass
class Window:
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

    proof: Proof
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
        self.facts: dict[str, Any] = {}

    def _steps(self, t: Any, tag: str) -> tuple[Any, Any, Any, Any]:
        """Return a run of update t, two of its local steps, and how many there may be before one."""
        s, j = self.s, self.s.index(f"j_{tag}", 0, self.s.many(t) - 1)
        last = s.steps(t, j) - 1
        return j, s.index(f"q_{tag}", 0, last), s.index(f"p_{tag}", 0, last), s.index(f"h_{tag}", 0, last + 1)

    def __getitem__(self, name: str) -> Any:
        return self.facts[name]

    def step(self, key: str, name: str, *args: Any, **more: Any) -> Fact:
        """Show a step and keep it."""
        fact = self.facts[key] = self.proof.step(name, *args, **more)
        return fact


def gradients(w: Window) -> None:
    """(W2): every stochastic gradient has E‖g‖² ≤ c²."""
    s, kernel, r, (j, q, _, _) = w.s, w.kernel, w.s.r, w.runs[0]
    g = s.g(r, j, q)
    facts: list[Any] = [s.bounded_gradient(g)]
    if s.noisy:
        facts += [s.variance(s.e(r, j, q)), s.unbiased(s.e(r, j, q), g)]
    second = w.proof.step("(W2), second moment", squared(s.sampled(r, j, q)) <= expr(w.G + w.sigma**2), facts)
    w.step("c", "(W2)", squared(s.sampled(r, j, q)) <= expr(w.c**2), multipliers=[(1, second), (1, w.root_c)])
    # Two of them.
    w.facts["two"] = lambda t, a, b: kernel.norms(
        kernel.at(w["c"], {"r": t, "j_2": a[0], "q_2": a[1]}),
        kernel.at(w["c"], {"r": t, "j_2": b[0], "q_2": b[1]}),
        s.sampled(t, *a),
        s.sampled(t, *b),
        w.c,
        w.c,
    )


def moves(w: Window) -> None:
    """(C3): how far an update, several updates, and some local steps move a model."""
    s, kernel, r, (j, q, p, h), (other, there, _, _) = w.s, w.kernel, w.s.r, *w.runs
    # all pairs of gradients of an update
    pairs = total(kernel, w["two"](r, (j, q), (other, there)), "q_3", 0, s.steps(r, other), s.a(r, other))
    pairs = total(kernel, pairs, "q_2", 0, s.steps(r, j), s.a(r, j))
    pairs = total(kernel, total(kernel, pairs, "j_3", 0, s.many(r)), "j_2", 0, s.many(r))
    sums = vector_sum("j_2", 0, s.many(r), vector_sum("q_2", 0, s.steps(r, j), s.sampled(r, j, q) * s.a(r, j)))
    both = total(kernel, s.work(r), "j_3", 0, s.many(r), s.a(r, other) * s.steps(r, other))
    A = s.A(r)
    added = w.proof.step(
        "(C3), the gradients of an update",
        squared(sums) <= expr(w.c**2 * A**2),
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
    local = total(kernel, total(kernel, w["two"](r, (j, q), (j, p)), "p_2", 0, h), "q_2", 0, h)
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
    other = s.index("l", 0, w.T + w.N - 2)
    move = lambda t: s.w(t + 1) - s.w(t)
    size = w.eta * w.c * w.A
    two = kernel.norms(w["most"], kernel.at(w["most"], {"r": other}), move(s.r), move(other), size, size)
    pairs = total(kernel, total(kernel, two, "l", a, b), "r", a, b)
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
    cross = s.unbiased(s.e(r, h + 1, q), s.e(r, before, p))
    cross = total(kernel, cross, "p_1", 0, s.steps(r, before), s.a(r, before))
    cross = total(kernel, cross, "q", 0, s.steps(r, h + 1), s.a(r, h + 1))
    own = s.independent(s.e(r, j, q), "q", 0, s.steps(r, j), s.a(r, j))
    squares = lambda place: finite_sum("q", 0, s.steps(r, place), squared(s.e(r, place, q)) * s.a(r, place) ** 2)
    added = _added(w, "(W3), the runs of an update", "j", run, squares, cross, own)
    variances = total(kernel, s.variance(s.e(r, j, q)), "q", 0, s.steps(r, j), s.a(r, j) ** 2)
    variances = total(kernel, variances, "j", 0, s.many(r))
    own_squares = s.runs_of(r, expr(s.a(r, j) ** 2 * s.steps(r, j)))
    update = w.proof.step(
        "(W3), the noise of an update",
        squared(s.er(r)) <= own_squares * w.sigma**2,
        [s.added("er", r), kernel.at(added, {"x": s.many(r)}), variances],
    )
    # the updates of a window
    of = lambda place: s.er(k + place)
    cross = s.unbiased(s.e(k + h + 1, j, q), of(before))
    cross = total(kernel, cross, "q", 0, s.steps(k + h + 1, j), s.a(k + h + 1, j))
    cross = _inserted(w, total(kernel, cross, "j", 0, s.many(k + h + 1)), s.added("er", k + h + 1), of(before))
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
    still = s.unbiased(s.e(k + u, j, q), s.df(k))
    still = total(kernel, still, "q", 0, s.steps(k + u, j), s.a(k + u, j))
    still = _inserted(w, total(kernel, still, "j", 0, s.many(k + u)), s.added("er", k + u), s.df(k))
    w.step("still", "(W10), the mean", equal(s.dot(s.df(k), every), 0), [total(kernel, still, "u", 0, w.N)])


def _inserted(w: Window, fact: Fact, definition: VectorFact, other: Any) -> Fact:
    """Return E⟨u, v⟩ = 0 for a defined vector u from the same for what it is."""
    claim = equal(w.s.dot(definition.left, other), 0)
    found: Fact = w.kernel.combine(claim, [(1, fact), (1, w.kernel.against(definition, other))])
    return found


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
    sums = lambda many: vector_sum(index, 0, many, of(place))
    facts = [
        crossed,
        kernel.at(own, {index: h + 1}),
        s.last_term(index, 0, h + 1, squares(place)),
        *(kernel.against(last, v) for v in (sums(h + 2), sums(h + 1), of(h + 1))),
    ]
    some = w.proof.induction(
        f"{name}, one or more", claim(h + 1), "h", [kernel.at(own, {index: 0})], lambda known: [known, *facts]
    )
    if kernel.context.find("x") is None:
        s.index("x")
    x = variable("x")
    _, more = kernel.split("x", 0)
    first = kernel.combine(claim(scalar(0)), [])
    rest = kernel.at(some, {"h": x - 1}, more)
    return w.proof.rule(name, None, lambda: kernel.lowest(first, rest))


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
    two_steps = kernel.norms(slopes, kernel.at(slopes, {"q_4": p}), lag(q), lag(p), gap(q), gap(p))
    pairs = total(kernel, total(kernel, two_steps, "p_4", 0, steps), "q_4", 0, steps)
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
    two_runs = kernel.norms(run, kernel.at(run, {"j_4": h}), of(j), of(h), steps * eps, s.steps(t, h) * eps)
    pairs = total(kernel, total(kernel, two_runs, "j_5", 0, many, s.a(t, h)), "j_4", 0, many, s.a(t, j))
    both = total(kernel, s.work(t), "j_5", 0, many, s.a(t, h) * s.steps(t, h))
    A = s.A(t)
    runs = proof.step(
        f"the runs of an update{tag}",
        squared(vector_sum("j_4", 0, many, of(j) * s.a(t, j))) <= expr((A * eps) ** 2),
        multipliers=[(1, pairs), (-(eps**2), both), (-(eps**2) * A, s.work(t))],
        context=case,
    )
    differ = s.du(k, u) - s.gr(t)
    update = proof.step(
        f"(C5) for an update{tag}",
        squared(differ) <= expr((A * eps) ** 2),
        [runs, s.moved(k, u), s.added("gr", t)],
        context=case,
    )
    w.facts["eps"] = eps
    every, W, work = vector_sum("u", 0, w.N, differ), w.W(k), w["work"]
    if w.N.constant == 1:
        # A window of one update; its work is at most W.
        less, more = kernel.combine(expr(W - s.A(k)) >= 0, [(1, work)]), kernel.combine(expr(W + s.A(k)) >= 0, [])
        parts = [(1, kernel.at(update, {"u": 0})), (eps**2, kernel.scale(less, more))]
    else:
        two_updates = kernel.norms(
            update, kernel.at(update, {"u": v}), differ, s.du(k, v) - s.gr(k + v), A * eps, s.A(k + v) * eps
        )
        pairs = total(kernel, total(kernel, two_updates, "v", 0, w.N), "u", 0, w.N)
        # Σ A[k + u] ≤ W twice
        both = total(kernel, work, "v", 0, w.N, s.A(k + v))
        parts = [(1, pairs), (eps**2, both), (eps**2 * W, work)]
    w.step("late", f"(C5){tag}", squared(every) <= expr((W * eps) ** 2), multipliers=parts, context=case)


def shares(w: Window) -> None:
    """Show by how much the gradients at w[k], weighted as in the window, differ from W·∇F: at most by B."""
    s, kernel, proof, k, i, n = w.s, w.kernel, w.proof, w.s.k, w.s.i, w.s.n
    o = s.index("i_0", 0, n - 1)
    sigma_g = s.symbol("sigma_g")
    gap = lambda place: s.d(place, k) - s.df(k)
    near = proof.step("heterogeneity", squared(gap(i)) <= expr(sigma_g**2), [s.heterogeneity(i, k)])
    there = kernel.at(near, {"i": o})
    alike, opposite = (kernel.norms(near, there, gap(i), gap(o), sigma_g, sigma_g, sign) for sign in (1, -1))
    over, under = (lambda place: s.over(place, k)), (lambda place: s.under(place, k))
    signs = (
        (alike, over(i) * over(o) + under(i) * under(o)),
        (opposite, over(i) * under(o) + under(i) * over(o)),
    )
    pairs = [total(kernel, total(kernel, fact, "i_0", 0, n, weight), "i", 0, n) for fact, weight in signs]
    extra = vector_sum("i", 0, n, gap(i) * (over(i) - under(i)))
    parts = w["bias"]
    W, beta = w.W(k), w.beta
    twice = total(kernel, parts, "i_0", 0, n, over(o) + under(o))
    bound = proof.step(
        "unequal shares",
        squared(extra) <= expr((W * beta * sigma_g) ** 2),
        multipliers=[*((1, one) for one in pairs), (sigma_g**2, twice), (sigma_g**2 * W * beta, parts)],
    )
    plain = vector_sum("i", 0, n, s.d(i, k) * (over(i) - under(i)))
    balance = s.balance(k, s.df(k))
    w.step(
        "shares",
        "(W9), the shares",
        squared(plain) <= expr((W * beta * sigma_g) ** 2),
        [bound, kernel.against(balance, plain), kernel.against(balance, balance.left)],
    )
