"""FedFa: the theorems about both modes through a virtual iterate; docs/theory/fedfa.md, step by step."""

from fractions import Fraction
from typing import Any

from boundlab.proofs._along import with_forms
from boundlab.proofs._fedfa_runs import Lemma, gradients, lateness, noise, roots, shares, virtual
from boundlab.prove import (
    Context,
    Fact,
    Proof,
    Script,
    VectorFact,
    combine_vectors,
    equal,
    expr,
    finite_sum,
    scalar,
    shift,
    split_sum,
    squared,
    telescope,
    telescope_vector,
    total,
    variable,
    vector_sum,
)


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
