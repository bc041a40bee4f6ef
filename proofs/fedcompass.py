"""FedCompass: the window theorems and the theorem on one group; docs/theory/fedcompass.md, step by step."""

from typing import Any

from boundlab.proofs._along import with_forms
from boundlab.proofs._fedcompass_runs import Window, gradients, lateness, moves, noise, shares
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
    squared,
    telescope,
    telescope_vector,
    total,
    variable,
    vector_sum,
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
    at = lambda place: kernel.at(w["move"], {"r": k + place})
    two = kernel.norms(at(u), at(v), move(u), move(v), size * s.A(k + u), size * s.A(k + v))
    pairs = total(kernel, total(kernel, two, "v", 0, w.N), "u", 0, w.N)
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
