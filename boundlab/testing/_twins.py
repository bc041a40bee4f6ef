"""Checks that what a problem can do beyond values and gradients is the problem itself.

That is: many points at once, steps in closed form, matrices, tensors, exact numbers.
"""

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boundlab.arithmetic import numbers
from boundlab.arithmetic.exactly import exact_array
from boundlab.arithmetic.problem import InexactError, RationalProblem
from boundlab.errors import AssumptionError
from boundlab.objective import OF_OBJECTIVE, Problem
from boundlab.randomness import Streams
from boundlab.testing._check import ROUNDING, about, at_most, equal, expect
from boundlab.testing._sample import SamplePoints, norms

_SIZE = 0.25  # of steps
_BITS = 256
_POINTS = [0, 3, 6]  # of the sample, since rational numbers are slow


def batches(at: SamplePoints) -> None:
    """Check that many points at once are the same points one by one."""
    p = at.problem
    for client in range(p.n):
        what = f"gradients({client}, X) and gradient({client}, x) row by row"
        equal(what, p.gradients(client, at.points), at.gradients[client], scale=at.steepest)
    equal("values(X) and value(x) row by row", p.values(at.points), at.values, scale=at.largest)


def descents(at: SamplePoints) -> None:
    """Check that a local step in place is the gradient step."""
    for client, slopes in enumerate(at.gradients):
        found = np.array(at.points)
        for x in found:
            at.problem.descend(client, x, _SIZE)
        what = f"descend({client}, x, {_SIZE}) and x − {_SIZE}·gradient({client}, x)"
        equal(what, found, at.points - _SIZE * slopes, scale=at.steepest + at.size)


def proximal_steps(at: SamplePoints) -> None:
    """Check that no point of the sample is better than the proximal point, where there is one."""
    p, size = at.problem, 0.7
    if at.client_values is None:
        return
    for client, place in np.ndindex(p.n, len(at.points)):
        x = at.points[place]
        try:
            z = p.prox(client, x, size)
        except AssumptionError:
            return
        found = p.client_value(client, z) + float(((z - x) ** 2).sum()) / (2.0 * size)
        others = at.client_values[client] + ((at.points - x) ** 2).sum(axis=1) / (2.0 * size)
        what = f"the objective at prox({client}, x, {size}) of point {place} ≤ that at the points"
        at_most(what, found, others, scale=at.largest)


def scaled(at: SamplePoints) -> None:
    """Check that the problem with factor_i·f_i has these values and gradients."""
    factors = [Fraction(1 + client, 2) for client in range(at.problem.n)]
    other = at.problem.scaled(factors)
    if other is not None:
        same(at, other, "scaled()", factors)


def same(at: SamplePoints, other: Problem, what: str, factors: Sequence[Fraction], rounding: float = ROUNDING) -> None:
    """Check that another problem has the problem's start, and multiples of its functions."""
    p, twin = at.problem, SamplePoints(other, at.scale, at.name)
    expect((other.n, other.d) == (p.n, p.d), f"{what} rebuilds n, d = {other.n}, {other.d}, not {p.n}, {p.d}")
    expect(np.array_equal(other.x0, p.x0), f"{what} rebuilds another x0")
    gradients, values = twin.gradients_at(at.points), twin.client_values_at(at.points)
    for client, factor in enumerate(factors):
        by, words = float(factor), f"({client}, x) of {what} and {factor} times the problem's"
        slopes = by * at.gradients[client]
        equal(f"gradient{words}", gradients[client], slopes, scale=by * at.steepest, rounding=rounding)
        if values is not None and at.client_values is not None:
            expected = by * at.client_values[client]
            equal(f"client_value{words}", values[client], expected, scale=by * at.largest, rounding=rounding)


def kinks(at: SamplePoints) -> None:
    """Check that gradients are continuous where near_kink() says that they do not jump."""
    p, room = at.problem, 1e-9 * at.reach
    points = np.concatenate((at.points, at.centres))  # random points are at no kink
    v = np.random.Generator(np.random.Philox(31)).normal(size=points.shape)
    v *= room / norms(v)[:, None]
    jumps = norms(at.gradients_at(points + v) - at.gradients_at(points))
    for client in range(p.n):
        quiet = ~p.near_kink(client, points, room)
        far = float(jumps[client, quiet].max(initial=0.0))
        words = f"the gradient of client {client} jumps by {far:.4g} within {room:.4g} of a point"
        expect(far <= 1e-3 * at.steepest, f"{words}, and near_kink() sees none")


def quadratic(at: SamplePoints) -> None:
    """Check that the matrices give the problem's gradients and values."""
    p, form = at.problem, at.problem.quadratic()
    if form is None:
        return
    expect(form.A.shape == (p.n, p.d, p.d), f"A of quadratic() has shape {form.A.shape}, not (n, d, d)")
    expect(form.b.shape == (p.n, p.d), f"b of quadratic() has shape {form.b.shape}, not (n, d)")
    equal("A of quadratic() and its transpose", form.A, form.A.transpose(0, 2, 1))
    silent = p.noiseless and form.sigma > 0.0
    expect(not silent, f"sigma of quadratic() is {form.sigma:g}, but the oracle gives full gradients")
    if p.sign_noise is not None:
        noise = np.outer(p.sign_noise, p.sign_noise)
        equal("covariance() of quadratic() and that of ±sign_noise", form.covariance(), noise)
    away = at.points - form.b[:, None]  # (n, S, d)
    slopes = np.einsum("nde,nse->nsd", form.A, away)
    equal("A_i(x − b_i) of quadratic() and gradient(i, x)", slopes, at.gradients, scale=at.steepest)
    values = (slopes * away).sum(axis=2).mean(axis=0) / 2.0
    what = "½(x − b_i)ᵀA_i(x − b_i) of quadratic() and value(x), up to a constant"
    equal(what, values - values[0], at.values - at.values[0], scale=at.largest)


def least_squares(at: SamplePoints) -> None:
    """Check that the rows and targets give the problem's gradients and values."""
    p, form = at.problem, at.problem.least_squares()
    if form is None:
        return
    expect(len(form.rows) == len(form.targets) == p.n, f"least_squares() must give rows of n = {p.n} clients")
    expect(form.weights.shape == (p.n,), f"weights of least_squares() have shape {form.weights.shape}, not (n,)")
    slopes, values = np.zeros((p.n, *at.points.shape)), np.zeros(len(at.points))
    for client, (rows, targets) in enumerate(zip(form.rows, form.targets, strict=True)):
        errors, weight = at.points @ rows.T - targets, float(form.weights[client])
        slopes[client] = weight * (errors @ rows / len(rows) + form.nu * at.points)
        each = (errors**2).mean(axis=1) + form.nu * (at.points**2).sum(axis=1)
        values += weight * each / (2.0 * p.n)
    equal("the gradients of least_squares() and gradient(i, x)", slopes, at.gradients, scale=at.steepest)
    equal("the values of least_squares() and value(x)", values, at.values, scale=at.largest)


def tensors(at: SamplePoints) -> None:
    """Check the problem on tensors, where torch is installed: values, gradients and stochastic steps."""
    if importlib.util.find_spec("torch") is None:
        return
    import torch

    p = at.problem
    twin = p.tensors(torch.device("cpu"), torch.float64)
    if twin is None:
        return
    X = torch.from_numpy(np.ascontiguousarray(at.points))
    equal("on tensors: values(X)", twin.values(X).numpy(), at.values, scale=at.largest)
    mean = at.gradients.mean(axis=0)
    equal("on tensors: full_gradients(X)", twin.full_gradients(X).numpy(), mean, scale=at.steepest)
    clients, one = torch.arange(p.n), np.ones((p.n, 1), dtype=np.int64)
    draws = twin.draws(3, torch.zeros(1, dtype=torch.int64), clients[:, None], torch.full((p.n, 1), 2), one)
    oracle, x = p.oracle(Streams(3)), at.points[-1]
    numbers_ = oracle.draws(np.arange(p.n), np.full(p.n, 2), 1)
    sizes = torch.full((1,), _SIZE, dtype=torch.float64)
    for client in range(p.n):
        moved, expected = X[-1:].clone(), np.array(x)
        twin.step(moved, clients[client : client + 1], draws[client][:, 0], sizes)
        oracle.step(expected, client, numbers_[client][0], _SIZE)
        what = f"on tensors: a stochastic step of client {client}"
        equal(what, moved.numpy()[0], expected, scale=at.steepest + at.size)


def rational(at: SamplePoints, options: Mapping[str, Any]) -> None:
    """Check the twin in rational numbers against the floats.

    Parameters
    ----------
    options
        Those that rebuild the problem.
    """
    twin = at.problem.rational(options)
    if twin is None:
        return
    with about("in rational numbers"):
        _exact_functions(at, twin)
        _exact_constants(at, twin)
        _exact_minimum(at, twin)
        _same_form("quadratic()", twin.quadratic(), at.problem.quadratic())
        _same_form("least_squares()", twin.least_squares(), at.problem.least_squares())
        noise, given = twin.sign_noise(), at.problem.sign_noise
        expect(noise is None or given is not None, "sign_noise() is given, but the problem has none")
        if noise is not None and given is not None:  # the twin has none where it is not rational
            equal("sign_noise()", _floats(noise), given)


def _exact_functions(at: SamplePoints, twin: RationalProblem) -> None:
    """Compare x0, values, gradients, descent and proximal steps."""
    p, step = at.problem, numbers.rational(Fraction(_SIZE))
    expect((twin.n, twin.d) == (p.n, p.d), f"n, d = {twin.n}, {twin.d}; the problem's are {p.n}, {p.d}")
    equal("x0", _floats(twin.x0), p.x0)
    points = exact_array(at.points[_POINTS])
    equal("value(x)", _numbers(map(twin.value, points)), at.values[_POINTS], scale=at.largest)
    for client in range(p.n):
        for place, point in zip(_POINTS, points, strict=True):
            x, slope = at.points[place], at.gradients[client, place]
            equal(f"gradient({client}, x)", _numbers(twin.gradient(client, point)), slope, scale=at.steepest)
            words, reach = f"({client}, x, {_SIZE})", norms(x) + at.steepest
            found = _numbers(twin.descend(client, point, step))
            equal(f"descend{words} and x − {_SIZE}·gradient", found, x - _SIZE * slope, scale=reach)
            try:
                pair = _numbers(twin.prox(client, point, step)), p.prox(client, x, _SIZE)
            except (AssumptionError, InexactError):
                continue
            equal(f"prox{words}", *pair, scale=reach)


def _exact_constants(at: SamplePoints, twin: RationalProblem) -> None:
    """Compare constants: those that are certified may only err on their side."""
    known, best = at.problem.constants(), at.optimum
    certain = best is not None and best.distance is not None
    for name, value in twin.constants().items():
        if name not in known or (name in OF_OBJECTIVE and not certain):  # the twin may have a minimiser of its own
            continue
        found, given, what = float(value), known[name], f"constant {name}"
        if given.side == "exact":
            equal(what, found, given.value)
        elif given.side == "upper":
            at_most(f"{what} ≤ the certified one", found, given.value)
        else:
            at_most(f"{what} ≥ the certified one", given.value, found)


def _exact_minimum(at: SamplePoints, twin: RationalProblem) -> None:
    """Compare f* with the certified one."""
    exact, best = twin.minimum(), at.optimum
    if exact is None or best is None:
        return
    least = float(exact.value)
    at_most("f* ≤ the certified one", least, best.value, scale=at.largest)
    at_most("the certified f* ≤ f* + gap", best.value, least + best.gap, scale=at.largest)


def _same_form(name: str, found: Any, expected: Any) -> None:
    """Compare matrices, or rows and targets, in fractions with those in floats, part by part."""
    expect((found is None) == (expected is None), f"{name} must be None for both or for neither")
    for part in () if found is None else fields(found):
        one, other = (getattr(form, part.name) for form in (found, expected))
        if part.name == "direction":  # of any length: the covariance says the same
            one, other = found.covariance(), expected.covariance()
        by_client = isinstance(other, tuple)  # their rows differ in number
        for a, b in zip(one, other, strict=True) if by_client else ((one, other),):
            equal(f"{part.name} of {name}", _floats(a), b)


def rounding(at: SamplePoints) -> None:
    """Check how far the problem says that rounding may put its value and its gradient off, in more digits."""
    p, twin = at.problem, at.problem.in_balls()
    for x in [] if twin is None else at.points[_POINTS]:
        known = p.rounding(x)
        if twin is None or known is None:
            return
        with numbers.digits(_BITS), about("in the very numbers of its floats"):
            point = exact_array(x)
            at_most("the error of value(x) ≤ that of rounding(x)", _apart([p.value(x)], [twin.value(point)]), known[0])
            lost = _apart(p.full_gradient(x), twin.full_gradient(point))
            at_most("the error of ∇f(x) ≤ that of rounding(x)", lost, known[1])
            for client in range(p.n):
                bounds = p.step_bounds(client)
                if bounds is not None and not bounds.kinks:
                    lost = _apart(p.gradient(client, x), twin.gradient(client, point))
                    what = f"the error of gradient({client}, x) ≤ that of step_bounds({client})"
                    at_most(what, lost, bounds.error(x, norms(x)))


def _apart(floats: Iterable[float], exact: Iterable[Any]) -> float:
    """Return from above how far a vector of floats is from that of exact numbers or balls."""
    off = [float(abs(numbers.ball(b) - float(a)).upper()) for a, b in zip(floats, exact, strict=True)]
    return float(norms(off))


def _numbers(x: Iterable[Any]) -> list[float]:
    """Return exact numbers as floats."""
    return [float(numbers.fraction(entry)) for entry in x]


def _floats(x: Any) -> ArrayLike:
    """Return fractions, or lists of them, as floats."""
    return np.array(x, dtype=np.float64)
