"""The exact mean and covariance of all registers of a tape on quadratics with additive noise.

Every instruction is affine in the registers, and each local step adds noise of its own, so mean and covariance of all
registers together follow the tape: exact over the noise, for any algorithm. Where the A_i commute, coordinates in
their common basis do not mix.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.expectation._moments import Frame, frame
from boundlab.metrics import Metric, Series
from boundlab.objective import Problem
from boundlab.tape import Initial, Op, Tape

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
    """
    series = Series(metric, ks)

    def observe(mean: Floats, covariance: Floats, where: Frame) -> None:
        away = mean - where.star
        second = covariance + away[:, :, None] * away[:, None, :]
        series.add(float(metric.of_second_moment(where.mean, second)))

    run(tape, problem, sigma, observe)
    return series.values


def run(tape: Tape, problem: Problem, sigma: float, observe: Callable[[Floats, Floats, Frame], None]) -> None:
    """Follow a tape; ``observe`` sees mean (c, e) and covariance (c, e, e) of each recorded register."""
    where = frame(problem)
    c, _, e = where.b.shape
    mean = np.zeros((c, tape.registers, e))
    mean[:, tape.initial == Initial.START] = where.x0[:, None]
    cov = np.zeros((c, tape.registers, e, tape.registers, e))
    variance = sigma**2 / problem.d
    affine, descend, record = tape.affine, tape.descend, tape.record
    implicit = tape.implicit if len(tape.implicit) else np.zeros(len(descend.client), dtype=np.bool_)

    def write(register: int, cross: Floats, own: Floats) -> None:
        cov[:, register] = cross
        cov[:, :, :, register] = cross.transpose(0, 2, 3, 1)
        cov[:, register, :, register] = own

    for op, row in zip(tape.op.tolist(), tape.row.tolist(), strict=True):
        if op == Op.AFFINE.value:
            part = slice(int(affine.start[row]), int(affine.start[row + 1]))
            terms, coef, dst = affine.src[part], affine.coef[part], int(affine.dst[row])
            point = np.einsum("t,cte->ce", coef, mean[:, terms])
            cross = np.einsum("t,cterf->cerf", coef, cov[:, terms])
            own = np.einsum("t,cetf->cef", coef, cross[:, :, terms])
            mean[:, dst] = point
            write(dst, cross, own)
        elif op == Op.DESCEND.value:
            src, who = int(descend.src[row]), int(descend.client[row])
            total: Any = np.eye(e)
            point, own = mean[:, src], cov[:, src, :, src]
            for place in range(int(descend.steps[row])):
                size = float(descend.step_size[row]) * (float(tape.local[place]) if len(tape.local) else 1.0)
                one: Any = np.eye(e) - size * where.A[:, who]
                if implicit[row]:  # (I + size·A)⁻¹; such steps have no noise
                    one = np.linalg.inv(np.eye(e) + size * where.A[:, who])
                point = (one @ (point - where.b[:, who])[..., None])[..., 0] + where.b[:, who]
                noise = 0.0 if implicit[row] else size**2 * variance
                own = np.asarray(one @ own @ one.swapaxes(1, 2) + noise * np.eye(e))
                total = one @ total
            cross = np.asarray(np.einsum("cef,cfrg->cerg", total, cov[:, src]))
            mean[:, int(descend.dst[row])] = point
            write(int(descend.dst[row]), cross, own)
        else:
            observe(mean[:, int(record.src[row])], cov[:, int(record.src[row]), :, int(record.src[row])], where)
