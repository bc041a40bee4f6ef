"""Checks that the quadratic form and the rational twin of a problem are that problem."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.problem import InexactError, RationalProblem, Vector
from boundlab.errors import AssumptionError
from boundlab.objective import OF_OBJECTIVE
from boundlab.testing._agree import at_most, equal, expect
from boundlab.testing._sample import SamplePoints

_BITS = 256
_POINTS = (0, 3, 6)  # of the sample, since rational numbers are slow


def quadratic(at: SamplePoints) -> None:
    """Check that the matrices give the problem's gradients and values."""
    p, form = at.problem, at.problem.quadratic()
    if form is None:
        return
    expect(form.A.shape == (p.n, p.d, p.d), f"{at.who}: A of quadratic() has shape {form.A.shape}, not (n, d, d)")
    expect(form.b.shape == (p.n, p.d), f"{at.who}: b of quadratic() has shape {form.b.shape}, not (n, d)")
    equal(f"{at.who}: A of quadratic() and its transpose", form.A, form.A.transpose(0, 2, 1))
    silent = p.noiseless and form.sigma > 0.0
    expect(not silent, f"{at.who}: sigma of quadratic() is {form.sigma:g}, but the oracle gives full gradients")
    trace = float(np.trace(form.covariance()))
    equal(f"{at.who}: sigma² and the trace of covariance() of quadratic()", trace, form.sigma**2)
    if p.sign_noise is not None:
        what = f"{at.who}: covariance() of quadratic() and that of ±sign_noise"
        equal(what, form.covariance(), np.outer(p.sign_noise, p.sign_noise))
    away = at.points - form.b[:, None]  # (n, S, d)
    slopes = np.einsum("nde,nse->nsd", form.A, away)
    equal(f"{at.who}: A_i(x − b_i) of quadratic() and gradient(i, x)", slopes, at.gradients, scale=at.steepest)
    values = (slopes * away).sum(axis=2).mean(axis=0) / 2.0
    what = f"{at.who}: ½(x − b_i)ᵀA_i(x − b_i) of quadratic() and value(x), up to a constant"
    equal(what, values - values[0], at.values - at.values[0], scale=at.largest)


def least_squares(at: SamplePoints) -> None:
    """Check that the rows and targets give the problem's gradients and values."""
    p, form = at.problem, at.problem.least_squares()
    if form is None:
        return
    expect(len(form.rows) == len(form.targets) == p.n, f"{at.who}: least_squares() must give rows of n = {p.n} clients")
    expect(
        form.weights.shape == (p.n,), f"{at.who}: weights of least_squares() have shape {form.weights.shape}, not (n,)"
    )
    slopes, values = np.zeros((p.n, *at.points.shape)), np.zeros(len(at.points))
    for client, (rows, targets) in enumerate(zip(form.rows, form.targets, strict=True)):
        errors, weight = at.points @ rows.T - targets, float(form.weights[client])
        slopes[client] = weight * (errors @ rows / len(rows) + form.nu * at.points)
        each = (errors**2).mean(axis=1) + form.nu * (at.points**2).sum(axis=1)
        values += weight * each / (2.0 * p.n)
    equal(f"{at.who}: the gradients of least_squares() and gradient(i, x)", slopes, at.gradients, scale=at.steepest)
    equal(f"{at.who}: the values of least_squares() and value(x)", values, at.values, scale=at.largest)


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
    who = f"{at.who}, in rational numbers"
    for check in (_functions, _constants, _minimum, _form, _squares, _signs):
        check(who, at, twin)


def rounding(at: SamplePoints) -> None:
    """Check how far the problem says that rounding may put its value and its gradient off, in more digits."""
    twin = at.problem.in_balls()
    if twin is None:
        return
    who = f"{at.who}, in the very numbers of its floats"
    for place in _POINTS:
        x, known = at.points[place], at.problem.rounding(at.points[place])
        if known is None:
            return
        size = float(np.linalg.norm(x))
        with numbers.digits(_BITS):
            point = [numbers.rational(Fraction(entry)) for entry in x.tolist()]
            lost = _apart([at.problem.value(x)], [twin.value(point)])
            at_most(f"{who}: the error of value(x) ≤ that of rounding(x)", lost, known[0])
            lost = _apart(at.problem.full_gradient(x), twin.full_gradient(point))
            at_most(f"{who}: the error of ∇f(x) ≤ that of rounding(x)", lost, known[1])
            for client in range(at.problem.n):
                bounds = at.problem.step_bounds(client)
                if bounds is not None and not bounds.kinks:
                    lost = _apart(at.problem.gradient(client, x), twin.gradient(client, point))
                    what = f"{who}: the error of gradient({client}, x) ≤ that of step_bounds({client})"
                    at_most(what, lost, bounds.error(x, size))


def _apart(floats: Iterable[float], exact: Vector) -> float:
    """Return from above how far a vector of floats is from that of exact numbers or balls."""
    return float(
        np.linalg.norm([float(abs(numbers.ball(b) - float(a)).upper()) for a, b in zip(floats, exact, strict=True)])
    )


def _functions(who: str, at: SamplePoints, twin: RationalProblem) -> None:
    """Compare x0, values, gradients, descent and proximal steps."""
    p, size = at.problem, Fraction(1, 4)
    expect((twin.n, twin.d) == (p.n, p.d), f"{who}: n, d = {twin.n}, {twin.d}; the problem's are {p.n}, {p.d}")
    equal(f"{who}: x0", [float(entry) for entry in twin.x0], p.x0)
    step = numbers.rational(size)
    for place in _POINTS:
        x, point = at.points[place], [numbers.rational(Fraction(entry)) for entry in at.points[place].tolist()]
        equal(f"{who}: value(x)", _floats([twin.value(point)])[0], at.values[place], scale=at.largest)
        reach = float(np.linalg.norm(x)) + at.steepest
        for client in range(p.n):
            slope = at.gradients[client, place]
            what = f"{who}: gradient({client}, x)"
            equal(what, _floats(twin.gradient(client, point)), slope, scale=at.steepest)
            what = f"{who}: descend({client}, x, {size}) and x − {size}·gradient"
            equal(what, _floats(twin.descend(client, point, step)), x - float(size) * slope, scale=reach)
            try:
                pair = _floats(twin.prox(client, point, step)), p.prox(client, x, float(size))
            except (AssumptionError, InexactError):
                continue
            equal(f"{who}: prox({client}, x, {size})", *pair, scale=reach)


def _constants(who: str, at: SamplePoints, twin: RationalProblem) -> None:
    """Compare constants: those that are certified may only err on their side."""
    known, best = at.problem.constants(), at.optimum
    certain = best is not None and best.distance is not None
    for name, value in twin.constants().items():
        if name not in known or (name in OF_OBJECTIVE and not certain):  # the twin may have a minimiser of its own
            continue
        found, given, what = float(value), known[name], f"{who}: constant {name}"
        if given.side == "exact":
            equal(what, found, given.value)
        elif given.side == "upper":
            at_most(f"{what} ≤ the certified one", found, given.value)
        else:
            at_most(f"{what} ≥ the certified one", given.value, found)


def _minimum(who: str, at: SamplePoints, twin: RationalProblem) -> None:
    """Compare f* with the certified one."""
    exact, best = twin.minimum(), at.optimum
    if exact is None or best is None:
        return
    least = float(exact.value)
    at_most(f"{who}: f* ≤ the certified one", least, best.value, scale=at.largest)
    at_most(f"{who}: the certified f* ≤ f* + gap", best.value, least + best.gap, scale=at.largest)


def _form(who: str, at: SamplePoints, twin: RationalProblem) -> None:
    """Compare the matrices of quadratics."""
    found, expected = twin.quadratic(), at.problem.quadratic()
    expect((found is None) == (expected is None), f"{who}: quadratic() must be None for both or for neither")
    if found is not None and expected is not None:
        equal(f"{who}: A of quadratic()", [[list(map(float, row)) for row in one] for one in found.A], expected.A)
        equal(f"{who}: b of quadratic()", [list(map(float, row)) for row in found.b], expected.b)
        equal(f"{who}: sigma of quadratic()", float(found.sigma), expected.sigma)
        covariance = [[float(entry) for entry in row] for row in found.covariance()]
        equal(f"{who}: covariance() of quadratic()", covariance, expected.covariance())


def _squares(who: str, at: SamplePoints, twin: RationalProblem) -> None:
    """Compare the rows and targets of least squares."""
    found, expected = twin.least_squares(), at.problem.least_squares()
    expect((found is None) == (expected is None), f"{who}: least_squares() must be None for both or for neither")
    if found is None or expected is None:
        return
    for client, rows in enumerate(found.rows):
        what = f"{who}: of client {client} in least_squares() the"
        equal(f"{what} rows", [[float(entry) for entry in row] for row in rows], expected.rows[client])
        equal(f"{what} targets", [float(entry) for entry in found.targets[client]], expected.targets[client])
    equal(f"{who}: weights of least_squares()", [float(entry) for entry in found.weights], expected.weights)
    equal(f"{who}: nu of least_squares()", float(found.nu), expected.nu)
    drawn = (found.batch, found.replacement), (expected.batch, expected.replacement)
    expect(drawn[0] == drawn[1], f"{who}: batch and replacement of least_squares() are {drawn[0]}, not {drawn[1]}")


def _signs(who: str, at: SamplePoints, twin: RationalProblem) -> None:
    """Compare the noise of either sign; the twin has none where it is not rational."""
    found, expected = twin.sign_noise(), at.problem.sign_noise
    expect(found is None or expected is not None, f"{who}: sign_noise() is given, but the problem has none")
    if found is not None and expected is not None:
        equal(f"{who}: sign_noise()", [float(entry) for entry in found], expected)


def _floats(x: Vector) -> list[float]:
    return [float(numbers.fraction(entry)) for entry in x]
