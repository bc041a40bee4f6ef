"""The exact mean and covariance of all registers of a tape on quadratics with additive noise.

Every instruction is affine in the registers, and each local step adds noise of its own, so mean and covariance of all
registers together follow the tape: exact over the noise, for any algorithm. Where the A_i commute, coordinates in
their common basis do not mix.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import AssumptionError, SpecError
from boundlab.execute._rows import Combine, Show, Update, own_numbers, rows
from boundlab.execute.coordinates import Frame, frame
from boundlab.metrics import Metric, Series
from boundlab.objective import NO_NOISY_PROX, Problem
from boundlab.tape import Initial, Tape

Floats = NDArray[np.float64]
LARGEST = 10**6  # entries of the covariance of all registers


def entries(registers: int, problem: Problem) -> int:
    """Return how many entries the covariance of all registers has."""
    where = frame(problem)
    c, _, e = where.b.shape
    return int(c * (registers * e) ** 2)


def conditional(metric: Metric, problem: Problem, tape: Tape, sigma: float, ks: NDArray[np.int64]) -> Floats:
    """Return E[metric | tape] at ``ks``, shape (points,).

    Parameters
    ----------
    tape
        With the records that :class:`boundlab.metrics.Watch` asks for at ``ks``.
    sigma
        E‖noise‖² = sigma² of each stochastic gradient.

    Raises
    ------
    SpecError
        If the metric is no mean of what the records show: then moments of the records do not tell its expectation.
    """
    if not metric.is_mean:
        raise SpecError(f"moments need a left side that is a mean of what a run shows, which {metric.id} is not")
    series = Series(metric, ks)

    def observe(mean: Floats, covariance: Floats, where: Frame) -> None:
        away = mean - where.star
        second = covariance + away[:, :, None] * away[:, None, :]
        series.add(float(metric.of_second_moment(where.mean, second)))

    run(tape, problem, sigma, observe)
    return series.values


def run(tape: Tape, problem: Problem, sigma: float, observe: Callable[[Floats, Floats, Frame], None]) -> None:
    """Follow a tape; ``observe`` sees mean (c, e) and covariance (c, e, e) of each recorded register.

    Raises
    ------
    AssumptionError
        If a step is implicit and the gradients are noisy.
    """
    if sigma > 0.0 and tape.implicit.any():
        raise AssumptionError(NO_NOISY_PROX)
    where = frame(problem)
    c, _, e = where.b.shape
    mean = np.zeros((c, tape.registers, e))
    mean[:, tape.initial == Initial.START] = where.x0[:, None]
    cov = np.zeros((c, tape.registers, e, tape.registers, e))
    covariance = sigma**2 * where.noise

    def write(register: int, cross: Floats, own: Floats) -> None:
        cov[:, register] = cross
        cov[:, :, :, register] = cross.transpose(0, 2, 3, 1)
        cov[:, register, :, register] = own

    for row in rows(tape, own_numbers(tape)):
        match row:
            case Combine(dst, parts):
                coef, terms = np.array([one for one, _ in parts]), [source for _, source in parts]
                point = np.einsum("t,cte->ce", coef, mean[:, terms])
                cross = np.einsum("t,cterf->cerf", coef, cov[:, terms])
                own = np.einsum("t,cetf->cef", coef, cross[:, :, terms])
                mean[:, dst] = point
                write(dst, cross, own)
            case Update():
                src, total = row.src, np.eye(e)
                point, own = mean[:, src], cov[:, src, :, src]
                hessian, centre = where.A[:, row.client], where.b[:, row.client]
                for size in row.sizes:
                    one: Any = np.eye(e) - size * hessian
                    if row.implicit:  # (I + size·A)⁻¹; such steps have no noise
                        one = np.linalg.inv(np.eye(e) + size * hessian)
                    point = (one @ (point - centre)[..., None])[..., 0] + centre
                    own = np.asarray(one @ own @ one.swapaxes(1, 2))
                    if not row.implicit:
                        own += size**2 * covariance
                    total = one @ total
                cross = np.asarray(np.einsum("cef,cfrg->cerg", total, cov[:, src]))
                mean[:, row.dst] = point
                write(row.dst, cross, own)
            case Show(_, src):
                observe(mean[:, src], cov[:, src, :, src], where)
