"""The expectation of a left side over the noise, given a tape: on quadratics with additive noise.

Every instruction is affine in the registers, and each local step adds noise of its own. So a register is its mean and
the coefficients of all noise so far, and the second moment of what a record shows is a sum of squares.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from boundlab.errors import AssumptionError, SpecError
from boundlab.execute import enclosed, iterates
from boundlab.execute._rows import Update, own_numbers
from boundlab.execute.enclosed import EPS, TINY, UP, EnclosedVectors, Point, norm, summed
from boundlab.metrics import Enclosure, Metric, Series, of_models, squares
from boundlab.objective import NO_NOISY_PROX, Problem
from boundlab.randomness import Floats, Ints
from boundlab.tape import Initial, Tape

# A quadratic in coordinates that do not mix: where its matrices are diagonal, moments take one number each.


@final
@dataclass(frozen=True, slots=True)
class Frame:
    """A quadratic in coordinates that do not mix, or in one block of all.

    Parameters
    ----------
    A
        Shape (c, n, e, e): c independent blocks of dimension e; c·e = d.
    b, x0, star
        The clients' minimisers, x0 and x*; shapes (c, n, e), (c, e), (c, e).
    noise
        Shape (c, e, e): the blocks of the covariance of the noise where its trace, E‖noise‖², is 1. Blocks may be
        correlated; what one block does, and what metrics see of it, depends on its own alone.
    roots
        Shape (c, e, r): R with R·Rᵀ the noise, block by block.
    """

    A: Floats
    b: Floats
    x0: Floats
    star: Floats
    noise: Floats
    roots: Floats

    @property
    def mean(self) -> Floats:
        """The Hessian of f, shape (c, e, e)."""
        out: Floats = self.A.mean(axis=1)
        return out

    def centred(self) -> "Frame":
        """Return the same relative to x*."""
        return replace(self, b=self.b - self.star[:, None], x0=self.x0 - self.star, star=np.zeros_like(self.star))


def frame(problem: Problem) -> Frame:
    """Return the quadratic coordinate by coordinate where all its matrices are diagonal.

    No other basis is looked for: turning to one would round.

    Raises
    ------
    AssumptionError
        If the problem gives no :meth:`boundlab.objective.Problem.quadratic`.
    """
    form = problem.require_quadratic("the moments")
    best, x0 = (np.asarray(one, dtype=np.float64) for one in (problem.optimum().x, problem.x0))
    one = replace(form, sigma=1.0)
    noise, roots = one.covariance(), one.roots()
    if (form.A * (1.0 - np.eye(problem.d))).any():
        return Frame(form.A[None], form.b[None], x0[None], best[None], noise[None], roots[None])
    diagonal = np.diagonal(form.A, axis1=1, axis2=2)
    return Frame(
        diagonal.T[:, :, None, None],
        form.b.T[:, :, None],
        x0[:, None],
        best[:, None],
        np.diagonal(noise)[:, None, None],
        np.sqrt(np.diagonal(noise))[:, None, None],
    )


LARGEST = 10**7  # coefficients that all registers have together, once they are made as few as they can be
_FEW = 4096  # sources of noise
# A triangle that floats find is that of a matrix whose columns are off by this·entries·EPS (Higham, Theorem 19.4).
_HOUSEHOLDER = 4.0


def entries(registers: int, problem: Problem) -> int:
    """Return about how many coefficients all registers have together."""
    c, _, e = frame(problem).b.shape
    return int(4 * c * (registers * e) ** 2)


def conditional(metric: Metric, problem: Problem, tape: Tape, sigma: float, ks: Ints) -> Enclosure:
    """Return E[metric | tape] at ``ks``, and between which ends it is proved to lie.

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
    AssumptionError
        If a step is implicit and the gradients are noisy.
    """
    if not metric.from_expectations:
        raise SpecError(f"moments need a left side that is a mean of recorded quantities, which {metric.id} is not")
    where, best = frame(problem), problem.optimum()
    vectors = Spread(problem, where, sigma)
    hessian, L = where.mean, max(one.L for one in vectors.bounds)
    # The left side is the square of a norm that is no larger than this times the Euclidean one.
    heavy = metric.root_of_norm(L)
    series = Series(metric, ks, (3,))
    unsure = np.inf if best.distance is None else best.distance

    def observe(_row: int, point: Point[Floats]) -> None:
        away = point.value.copy()
        away[:, :, 0] -= where.star
        value = float(metric.of_second_moment(hessian, away @ away.swapaxes(1, 2)))
        size = float(np.linalg.norm(away))
        rounding = (heavy * size) ** 2 * problem.d * (away.shape[2] + 2 * problem.d + 16) * EPS
        low, _ = squares(float(np.sqrt(max(value - rounding, 0.0))), heavy * (point.error + unsure))
        _, high = squares(float(np.sqrt(value + rounding)), heavy * (point.error + unsure))
        series.add(np.array([value, low, high]))

    enclosed.run(tape, own_numbers(tape), vectors, observe)
    return series.enclosure()


@final
class Spread(EnclosedVectors[Floats]):
    """Means, and beside them the coefficients of all noise: on quadratics with additive noise.

    A register has shape (c, e, 1 + k): its mean in c blocks of e coordinates that do not mix, and its coefficients of
    k independent sources of variance 1. Each step brings new ones; where they become many, all registers are multiplied
    by one orthogonal matrix a block.

    Parameters
    ----------
    sigma
        E‖noise‖² = sigma² of each stochastic gradient.
    """

    unit = 1.0
    ulp = EPS

    def __init__(self, problem: Problem, where: Frame, sigma: float) -> None:
        self._where, (self._c, _, self._e) = where, where.b.shape
        form = problem.require_quadratic("the moments")
        self.bounds = [form.step_bounds(client) for client in range(problem.n)]
        self._noise, self._sources, self._most = sigma * where.roots, 0, _FEW

    def origin(self, initial: Initial) -> Point[Floats]:
        """Return x0 or 0, without noise."""
        value = self._where.x0[:, :, None] * (initial is Initial.START)
        return Point(value, norm(value), 0.0)

    def combined(self, terms: Mapping[Point[Floats], float]) -> tuple[Floats, float, float]:
        """Return Σ coefficient·point; sources that a point has not seen have the coefficient 0."""
        wide = max((point.value.shape[2] for point in terms), default=1)
        return summed(terms, np.zeros((self._c, self._e, wide)), self.ulp)

    def descend(self, start: Point[Floats], row: Update[float]) -> tuple[Point[Floats], float]:
        """Do the steps, each with new noise.

        Raises
        ------
        AssumptionError
            If a step is implicit.
        """
        if row.implicit:
            raise AssumptionError(NO_NOISY_PROX)
        A, bounds, d = self._where.A[:, row.client], self.bounds[row.client], self._c * self._e
        shift = (A @ self._where.b[:, row.client, :, None])[..., 0]
        x, new, error, moved, before = start.value, self._noise[:, :, :0], start.error, 0.0, norm(start.value)
        for size in row.sizes:
            x, new = x - size * (A @ x), np.concatenate([new - size * (A @ new), size * self._noise], axis=2)
            x[:, :, 0] += size * shift
            after = math.hypot(norm(x), norm(new))
            rounding = (d + 8) * self.ulp * (before + after) + size * (bounds.offset + bounds.slope * before) + TINY
            if new.shape[2] > 4 * self._e:
                rounding += _HOUSEHOLDER * new.size * self.ulp * after
                new = _triangle(new)
            growth = bounds.growth(size)
            moved += bounds.moved(size, growth) * error + rounding
            error = (growth * error + rounding) * UP
            before = after
        whole = np.zeros((self._c, self._e, 1 + self._sources + new.shape[2]))
        whole[:, :, : x.shape[2]], whole[:, :, 1 + self._sources :] = x, new
        self._sources += new.shape[2]
        return Point(whole, before, error), moved * UP

    def crowded(self) -> bool:
        """Return whether there are many sources."""
        return self._sources > self._most

    def tidy(self, points: Sequence[Point[Floats]]) -> None:
        """Multiply all coefficients by orthogonal matrices that leave one source a coordinate of a point."""
        e = self._e
        self._most = max(self._most, 4 * len(points) * e)
        if self._sources <= self._most:
            return
        table = np.zeros((self._c, len(points) * e, self._sources))
        for place, point in enumerate(points):
            table[:, place * e : (place + 1) * e, : point.value.shape[2] - 1] = point.value[:, :, 1:]
        short, off = _triangle(table), _HOUSEHOLDER * table.size * self.ulp
        for place, point in enumerate(points):
            point.value = np.concatenate([point.value[:, :, :1], short[:, place * e : (place + 1) * e]], axis=2)
            point.error, point.size = point.error + off * point.size, point.size * (1.0 + off)
        self._sources = short.shape[2]


def _triangle(table: Floats) -> Floats:
    """Return S·Q for an orthogonal Q that leaves as few columns as S has rows, in each block, up to rounding."""
    found: Floats = np.asarray(np.linalg.qr(table.swapaxes(1, 2), mode="r"))
    return found.swapaxes(1, 2)


# The left side given a tape, without sampling: of the one run without noise, or its expectation over the noise.

_NO_MODEL: Final = "the mean of {} over noise is not computed: it is no quantity of the server model alone"


def why_not(metric: Metric, problem: Problem, tape: Tape) -> str:
    """Return '' if :func:`left_side` can be computed, else why not."""
    if problem.noiseless:
        return ""
    if not of_models(metric):
        return _NO_MODEL.format(metric.id)
    if not metric.from_expectations:
        return f"{metric.id} is not a mean of recorded quantities"
    if problem.quadratic() is None:
        return f"problem {problem.id} with noise: the expectation given a schedule needs a quadratic"
    if entries(tape.registers, problem) > LARGEST:
        return f"the noise in {tape.registers} registers and {problem.d} dimensions has too many coefficients"
    return ""


def left_side(metric: Metric, problem: Problem, tape: Tape, ks: Ints, *, compiled: bool = False) -> Enclosure:
    """Return the left side at ``ks``, shape (points,), and between which ends it is proved to lie.

    Parameters
    ----------
    tape
        With the records that :class:`boundlab.metrics.Watch` asks for at ``ks``.
    compiled
        Whether machine code is to run it.

    Raises
    ------
    UndecidedError
        If rounding could decide at a kink.
    SpecError
        If the noise is not on quadratics, or the metric is not a mean of recorded quantities.
    """
    if problem.noiseless:
        return iterates.along(metric, problem, tape, problem.full_gradients(), ks, compiled=compiled)
    if not of_models(metric):
        raise SpecError(_NO_MODEL.format(metric.id))
    return conditional(metric, problem, tape, problem.require_quadratic("the moments").sigma, ks)
