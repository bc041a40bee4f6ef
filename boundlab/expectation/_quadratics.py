"""A problem as a quadratic about its minimum, with additive noise or that of mini-batches, for second moments.

In floats it comes with what these are off.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic import numbers
from boundlab.arithmetic.exactly import exact_array
from boundlab.arithmetic.problem import Core, InexactError, RationalProblem, batch_share
from boundlab.errors import SpecError, UndecidedError
from boundlab.execute.coordinates import frame
from boundlab.expectation._passes import EPS, MinibatchNoise, Off, Passes, norm
from boundlab.expectation._recursion import BlockQuadratic
from boundlab.objective import Problem

Array = NDArray[Any]
_SMALL: Final = 1e-60
WIDEST: Final = 40  # coordinates that mini-batches may mix: a tensor has the fourth power of entries


def by_batches(problem: Problem) -> bool:
    """Return whether noise comes from mini-batches of least squares."""
    form = problem.least_squares()
    return form is not None and form.batch > 0


def in_floats(problem: Problem) -> tuple[BlockQuadratic, Array, float]:
    """Return the quadratic, its Hessian, and how far that is off beside the mean's own rounding.

    Raises
    ------
    SpecError
        If the coordinates that mini-batches mix are too many.
    UndecidedError
        If the data are so small, or so large, that products of four of them leave floats.
    """
    return _mini_batches(problem) if by_batches(problem) else _additive(problem)


def _additive(problem: Problem) -> tuple[BlockQuadratic, Array, float]:
    sigma = problem.require_quadratic("the moments").sigma
    where = frame(problem).centred()
    g = -(where.A @ where.b[..., None])[..., 0]
    covariance = sigma**2 * where.noise
    off = [
        Off(
            c=(problem.d + 4) * EPS * norm(where.A[:, i]) * norm(where.b[:, i]), covariance=8.0 * EPS * norm(covariance)
        )
        for i in range(problem.n)
    ]
    return BlockQuadratic(Passes(where.A, g, covariance, (), 1.0, off), where.x0, where.star, 1.0), where.mean, 0.0


def _mini_batches(problem: Problem) -> tuple[BlockQuadratic, Array, float]:
    form = problem.least_squares()
    assert form is not None  # noqa: S101  (asked before)
    size = max(float(np.abs(part).max(initial=0.0)) for part in (*form.rows, *form.targets))
    if size and not _SMALL < size < 1.0 / _SMALL:
        raise UndecidedError(f"data of size {size:.3g} leave floats when squared twice; rescale them")
    if problem.d > WIDEST:
        raise SpecError(f"moments under mini-batches take at most {WIDEST} coordinates, got {problem.d}")
    star = np.asarray(problem.optimum().x, dtype=np.float64)
    A, g, batches, off, d = [], [], [], [], problem.d
    for rows, targets, weight in zip(form.rows, form.targets, form.weights.tolist(), strict=True):
        m, residuals = len(rows), rows @ star - targets
        A.append(weight * (rows.T @ rows / m + form.nu * np.eye(problem.d)))
        g.append(weight * (rows.T @ residuals / m + form.nu * star))
        share = weight**2 * batch_share(form, m)
        batches.append(MinibatchNoise(rows, residuals, share))
        size, at = norm(rows[None]), norm(star[None])
        lost = (d + 3) * EPS * (size * at + norm(targets[None]))  # of the residuals
        both = size + norm(residuals[None])
        each = (size * both) ** 2 / m
        off.append(
            Off(
                weight * (m + 6) * EPS * (size * size / m + form.nu * np.sqrt(d)),
                weight * (size * (lost + (m + 6) * EPS * both) / m + 4.0 * EPS * form.nu * at),
                0.0,
                share * ((8 * m + 80) * EPS * each + 4.0 * size * size * both * lost / m),
            )
        )
    zero = np.zeros((1, problem.d, problem.d))
    hessians = np.array(A)[None]
    passes = Passes(hessians, np.array(g)[None], zero, tuple(batches), 1.0, off)
    away = np.asarray(problem.x0, dtype=np.float64) - star
    return BlockQuadratic(passes, away[None], 0.0 * star[None], 1.0), hessians.mean(axis=1), max(one.H for one in off)


def in_exact_numbers(model: RationalProblem, core: Core | None) -> tuple[BlockQuadratic, Array]:
    """Return the quadratic and its Hessian.

    Parameters
    ----------
    core
        The quadratic that the problem is wherever a run can come; None: it is one itself.

    Raises
    ------
    InexactError
        If it is none, or its minimum is not found.
    """
    best = model.minimum()
    if best is None:
        raise InexactError("the minimum is not found in rational numbers")
    star = exact_array(best.x)
    A, g, covariance, batches = _exact_batches(model, star) or _exact_additive(model, star, core)
    one = numbers.rational(1)
    passes = Passes(A[None], g[None], covariance[None], batches, one)
    away = exact_array(model.x0) - star
    return BlockQuadratic(passes, away[None], (star - star)[None], one), A.sum(axis=0)[None] / model.n


def _exact_additive(
    model: RationalProblem, star: Array, core: Core | None
) -> tuple[Array, Array, Array, tuple[MinibatchNoise, ...]]:
    form = model.quadratic() if core is None else core.form
    if form is None:
        raise InexactError("exact moments need `quadratic()`, which this problem does not give")
    A, b = exact_array(form.A), exact_array(form.b)
    g = (A @ (star - b)[..., None])[..., 0]
    return A, g, exact_array(form.covariance()), ()


def _exact_batches(
    model: RationalProblem, star: Array
) -> tuple[Array, Array, Array, tuple[MinibatchNoise, ...]] | None:
    form = model.least_squares()
    if form is None or not form.batch:
        return None
    nu, zero = numbers.rational(form.nu), numbers.rational(0)
    eye = np.full((model.d, model.d), zero)
    A, g, batches = [], [], []
    for own, goals, share in zip(form.rows, form.targets, form.weights, strict=True):
        rows, targets, weight, m = exact_array(own), exact_array(goals), numbers.rational(share), len(own)
        eye[range(model.d), range(model.d)] = nu
        residuals = rows @ star - targets
        A.append(weight * (rows.T @ rows / m + eye))
        g.append(weight * (rows.T @ residuals / m + nu * star))
        batches.append(MinibatchNoise(rows, residuals, weight * weight * numbers.rational(batch_share(form, m))))
    return np.array(A), np.array(g), np.full((model.d, model.d), zero), tuple(batches)
