"""Stochastic gradients that arrive late."""

from boundlab.prove import (
    Proof,
    Script,
    expr,
    finite_sum,
    squared,
    telescope,
    telescope_vector,
    total,
    vector_sum,
    windows,
)


def delayed_sgd(proof: Proof) -> None:
    """Descent lemma, polarisation, and how far a model is from the one that its gradient was taken at."""
    s, kernel = proof.setting(), proof.kernel
    k, j, other, T, alpha, L = s.k, s.j, s.l, s.symbol("T"), s.alpha, s.symbol("L")
    sigma, S = s.symbol("sigma"), s.tau_max
    x, g, e = s.x, s.g, s.e
    old = s.s(k)
    stale = lambda index: g(s.s(index))
    f = s.objective
    one = proof.step(
        "descent",
        f(x(k + 1)) <= f(x(k)) - s.dot(g(k), stale(k)) * alpha + (squared(stale(k)) + sigma**2) * (L * alpha**2 / 2),
        [s.move(k), s.descent(g(k), x(k + 1)), s.variance(e(k)), s.unbiased(e(k), g(k)), s.unbiased(e(k), stale(k))],
    )
    lag = proof.step(
        "the gradient is that of an old model",
        squared(g(k) - stale(k)) <= squared(x(k) - x(old)) * L**2,
        [s.smooth(g(k), stale(k))],
    )
    between = proof.step(
        "how far away it is",
        squared(x(k) - x(old))
        <= squared(vector_sum("j", old, k, stale(j))) * (2 * alpha**2)
        + squared(vector_sum("j", old, k, e(j))) * (2 * alpha**2),
        [*_moved(proof, k, old), kernel.square(vector_sum("j", old, k, stale(j) - e(j)))],
    )
    pairs = total(kernel, total(kernel, kernel.square(stale(j) - stale(other)), "l", old, k), "j", old, k)
    many = finite_sum("j", old, k, squared(stale(j)))
    few = proof.step("Jensen", squared(vector_sum("j", old, k, stale(j))) <= many * (k - old), [pairs])
    positive = total(kernel, kernel.square(stale(j)), "j", old, k)
    fewer = proof.step(
        "at most tau_max of them", many * (k - old) <= many * S, multipliers=[(1, kernel.scale(s.delay(k), positive))]
    )
    noise = proof.step(
        "the noise in between",
        squared(vector_sum("j", old, k, e(j))) <= expr(S * sigma**2),
        [
            s.independent(e(j), "j", old, k),
            total(kernel, s.variance(e(j)), "j", old, k),
            kernel.scale(kernel.combine(expr(sigma**2) >= 0, []), s.delay(k)),
        ],
    )
    late = proof.step(
        "lateness",
        squared(g(k) - stale(k)) <= many * (2 * alpha**2 * L**2 * S) + 2 * alpha**2 * L**2 * S * sigma**2,
        [lag, between, few, fewer, noise],
    )
    per_step = proof.step(
        "one step",
        f(x(k + 1))
        <= f(x(k))
        - squared(g(k)) * (alpha / 2)
        - squared(stale(k)) * (alpha / 2 - L * alpha**2 / 2)
        + many * (alpha**3 * L**2 * S)
        + alpha**3 * L**2 * S * sigma**2
        + L * alpha**2 / 2 * sigma**2,
        [one, late],
    )
    exchange = windows(kernel, kernel.square(stale(j)), "j", "k", old, S, T, (s.delay(k),))
    everything = finite_sum("k", 0, T, squared(stale(k)))
    summed = proof.step(
        "all steps",
        finite_sum("k", 0, T, squared(g(k))) * (alpha / 2)
        <= f(x(0))
        - f(x(T))
        - everything * (alpha / 2 - L * alpha**2 / 2 - alpha**3 * L**2 * S**2)
        + T * (alpha**3 * L**2 * S * sigma**2 + L * alpha**2 / 2 * sigma**2),
        [total(kernel, per_step, "k", 0, T), telescope(kernel, "k", 0, T, f(x(k))), exchange],
    )
    positive = total(kernel, kernel.square(stale(k)), "k", 0, T)
    last = proof.step(
        "together",
        s.metric()
        <= expr(2 * s.symbol("F0") / (alpha * T) + alpha * L * sigma**2 + 2 * alpha**2 * L**2 * S * sigma**2),
        [summed, s.start_gap(x(T)), positive],
    )
    proof.conclude(last)


def _moved(proof: Proof, k, old):  # type: ignore[no-untyped-def]
    """Return ‖x[k] − x[s]‖² in terms of the steps between: from the moves, summed."""
    s, kernel = proof.setting(), proof.kernel
    moves = total(kernel, s.move(s.j), "j", old, k)
    path = telescope_vector(kernel, "j", old, k, s.x(s.j))
    steps = vector_sum("j", old, k, s.g(s.s(s.j)) + s.e(s.j))
    tests = [s.x(k) - s.x(old), steps]
    return [kernel.against(fact, test) for fact in (moves, path) for test in tests]


PROOFS = (
    Script(
        "classics.delayed-sgd",
        "asynchronous SGD with any delays up to tau_max",
        "explicit constants derived here",
        delayed_sgd,
        "classics.delayed-sgd",
    ),
)
