"""Contents of registers in an enumeration: each vector once, under a number, so that equal states have equal numbers.

Merging needs exact numbers: rationals are equal where they are, floats where their bits are, balls where middle and
radius are.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Final, Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic import numbers
from boundlab.arithmetic.exactly import exact_array
from boundlab.arithmetic.numbers import Scalar, hashable
from boundlab.arithmetic.problem import AtMinimum, Minimum, OfClients, RationalProblem, Vector
from boundlab.errors import UndecidedError
from boundlab.execute.enclosed import EPS, TINY, UNKNOWN, UP
from boundlab.execute.iterates import CLOSE
from boundlab.expectation._history import Steps
from boundlab.metrics import Metric, Proved, gradient_at_minimum
from boundlab.objective import Problem

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Number = TypeVar("Number")
_TOLD: Final = 30_000  # points at which a left side is enclosed: about a second


class VectorTable(ABC, Generic[Number]):
    """Vectors under numbers 0, 1, …; all methods take arrays of numbers and give arrays of them.

    Parameters
    ----------
    start, zero
        The numbers of x0 and of 0, until the first :meth:`keep`.
    noisy
        Whether local steps draw a sign.
    """

    start: int
    zero: int
    noisy: bool

    @abstractmethod
    def __len__(self) -> int:
        """Return how many there are."""

    @abstractmethod
    def combine(self, coefficients: Sequence[Number], terms: Ints) -> Ints:
        """Return Σ coefficient·vector, shape (U,), of terms of shape (U, len(coefficients))."""

    @abstractmethod
    def descend(self, client: int, size: Number, at: Ints) -> Ints:
        """Return one local step from each vector; where there is noise without that, and without what follows it."""

    @abstractmethod
    def noise(self, size: Number, at: Ints, sign: int) -> Ints:
        """Return the end of a noisy local step: each vector less sign·size·σu, and on F = f + h the proximal map."""

    @abstractmethod
    def total(self, metric: Metric, at: Ints, weights: Any, whole: Any, terms: Fraction) -> Any:
        """Return Σ weight·metric(vector/terms), over ``whole``, which is the sum of all weights.

        Parameters
        ----------
        weights
            Shape (U,); floats, or integers of any length.
        """

    @abstractmethod
    def keep(self, used: Ints) -> None:
        """Forget all others; what was used[j] is called j from now on."""


@final
class FloatValues(VectorTable[float]):
    """Vectors of floats, and how far each is at most from all that it stands for."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self._proved = problem, Proved(problem)
        x0 = np.asarray(problem.x0, dtype=np.float64)
        self.points, self.errors = np.empty((64, problem.d)), np.zeros(64)
        self._number: dict[bytes, int] = {}
        self.start, self.zero = self._put(np.stack([x0, np.zeros(problem.d)]), np.zeros(2)).tolist()
        self._bounds = [problem.step_bounds(client) for client in range(problem.n)]
        self._noise = problem.sign_noise if not problem.noiseless else None
        self.noisy = self._noise is not None
        self._descending = problem.gradient_part if self.noisy else problem
        self._told = 0

    def __len__(self) -> int:
        return len(self._number)

    def _put(self, found: Floats, errors: Floats) -> Ints:
        found = found + 0.0  # −0 becomes 0
        rows = found.view(f"V{8 * found.shape[1]}").ravel().tolist()
        known, first = self._number, len(self._number)
        out = np.array([known.setdefault(row, len(known)) for row in rows], dtype=np.int64)
        if len(known) > len(self.points):
            wide, off = np.empty((2 * len(known), found.shape[1])), np.zeros(2 * len(known))
            wide[:first], off[:first] = self.points[:first], self.errors[:first]
            self.points, self.errors = wide, off
        new = out >= first
        self.points[out[new]] = found[new]
        np.maximum.at(self.errors, out, errors * UP + TINY)
        return out

    def combine(self, coefficients: Sequence[float], terms: Ints) -> Ints:
        """Return Σ coefficient·vector, term by term as an executor adds."""
        total, off = np.zeros((len(terms), self.points.shape[1])), np.zeros(len(terms))
        rounding = (len(coefficients) + 2.0) * EPS
        for coefficient, column in zip(coefficients, terms.T, strict=True):
            total += coefficient * self.points[column]
            off += abs(coefficient) * (self.errors[column] + rounding * _norms(self.points[column]))
        return self._put(total, off)

    def descend(self, client: int, size: float, at: Ints) -> Ints:
        """Return one step with the full gradient.

        Raises
        ------
        UndecidedError
            If rounding could decide on which side of a kink it is taken.
        """
        x, off, bounds = self.points[at], self.errors[at], self._bounds[client]
        before = _norms(x)
        if bounds is not None and bounds.kinks:
            room = float((off + (x.shape[1] + 8) * EPS * before).max(initial=0.0))
            if not room < UNKNOWN or self.problem.near_kink(client, x, room).any():
                raise UndecidedError(CLOSE)
        found, doubts, doubt = x.copy(), np.zeros(len(at)), None if bounds is None else bounds.doubt
        if self._descending.simple is None and doubt is None:
            found -= size * self._descending.gradients(client, x)
        else:
            for row, point in enumerate(found):
                doubts[row] = 0.0 if doubt is None else doubt(point)
                self._descending.descend(client, point, size)  # a proximal map may follow
        if bounds is None:
            return self._put(found, np.full(len(at), UNKNOWN))
        both = before + _norms(found)
        rounding = 8.0 * EPS * both + size * (bounds.offset + bounds.slope * both + doubts)
        return self._put(found, bounds.growth(size) * off + rounding)

    def noise(self, size: float, at: Ints, sign: int) -> Ints:
        """Return each vector less sign·size·σu, and where there is an h its proximal point: no error grows by that."""
        assert self._noise is not None  # noqa: S101  (only noisy problems are asked)
        x, h = self.points[at], self.problem.simple
        found = x - (sign * size) * self._noise
        rounding = 8.0 * EPS * (_norms(x) + abs(size) * float(np.linalg.norm(self._noise)))
        if h is not None:
            rounding += (found.shape[1] + 8) * EPS * _norms(found)
            found = h.prox(found, size)
        return self._put(found, self.errors[at] + rounding)

    def total(self, metric: Metric, at: Ints, weights: Any, whole: Any, terms: Fraction) -> Floats:
        """Return the mean in floating point, and between which ends it is proved to lie."""
        divisor = float(terms)
        points = self.points[at] / divisor
        self._told += len(at)
        if self._told > _TOLD:
            mean = float(weights @ metric.at(_AtPoints(self.problem), points)) / float(whole)
            return np.array([mean, 0.0, np.inf])
        off = self.errors[at] / divisor + 4.0 * EPS * _norms(points)
        each = np.array([metric.at(self._proved, one) for one in zip(points, off.tolist(), strict=True)])
        return np.asarray(weights @ each) / float(whole)

    def keep(self, used: Ints) -> None:
        """Forget all others."""
        points, errors, self._number = self.points[used], self.errors[used], {}
        self.errors[:] = 0.0
        self._put(points, errors)


def _norms(points: Floats) -> Floats:
    return np.asarray(np.sqrt(np.square(points).sum(axis=1)) * (1.0 + (points.shape[1] + 8) * EPS))


@final
class _AtPoints:
    """The quantities of a problem at many points, shape (S,) for points of shape (S, d)."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def squared_distance(self, points: Floats) -> Floats:
        return np.asarray(((points - self.problem.optimum().x) ** 2).sum(axis=1))

    def gap(self, points: Floats) -> Floats:
        return np.maximum(self.problem.values(points) - self.problem.optimum().value, 0.0)

    def squared_slope(self, points: Floats) -> Floats:
        return np.asarray((self.problem.full_gradients_at(points) ** 2).sum(axis=1))

    def squared_control(self, points: Floats, client: int) -> Floats:
        goal, _ = gradient_at_minimum(self.problem, client)
        return np.asarray(((points - goal) ** 2).sum(axis=1))


@final
class ExactValues(VectorTable[Scalar]):
    """Vectors of rationals, surds or balls.

    Parameters
    ----------
    unit
        1 in the numbers of the step sizes, so that all vectors are of one kind.
    """

    def __init__(self, model: RationalProblem, best: Minimum | None, unit: Scalar) -> None:
        self.model, self._function = model, AtMinimum.of(model, best)
        self._zero = unit - unit
        self.points: list[tuple[Scalar, ...]] = []
        self._number: dict[Any, int] = {}
        self._steps: dict[Any, dict[int, int]] = {}
        noise = model.sign_noise()
        self.noisy = noise is not None
        self._descending = model.gradient_part if self.noisy else model
        self._noise = exact_array(noise or [])
        self.start = self._put(tuple(exact_array(model.x0) + self._zero))
        self.zero = self._put((self._zero,) * model.d)

    def __len__(self) -> int:
        return len(self.points)

    def _put(self, point: tuple[Scalar, ...]) -> int:
        number = self._number.setdefault(tuple(map(hashable, point)), len(self.points))
        if number == len(self.points):
            self.points.append(point)
        return number

    def _rows(self, at: Ints) -> Vector:
        return np.array([self.points[number] for number in at.tolist()], dtype=object).reshape(len(at), self.model.d)

    def _numbers(self, rows: Iterable[Vector]) -> Ints:
        return np.array([self._put(tuple(row)) for row in rows], dtype=np.int64)

    def combine(self, coefficients: Sequence[Scalar], terms: Ints) -> Ints:
        """Return Σ coefficient·vector."""
        total = np.full((len(terms), self.model.d), self._zero)
        for coefficient, column in zip(coefficients, terms.T, strict=True):
            total = total + coefficient * self._rows(column)
        return self._numbers(total)

    def descend(self, client: int, size: Scalar, at: Ints) -> Ints:
        """Return one step with the full gradient.

        Raises
        ------
        UndecidedError
            If a ball meets a kink.
        """
        known, model = self._steps.setdefault((client, hashable(size)), {}), self._descending
        new = [number for number in dict.fromkeys(at.tolist()) if number not in known]
        if new:
            moved = model.descend_each(client, self._rows(np.array(new)), size)
            known |= zip(new, self._numbers(moved).tolist(), strict=True)
        return np.array([known[number] for number in at.tolist()], dtype=np.int64)

    def steps(self) -> list[Steps]:
        """Return all steps without noise since the last :meth:`keep`, as far as possible in a row; each step once."""
        found = []
        for (client, _), known in self._steps.items():
            left = dict(known)
            firsts = [number for number in known if number not in set(known.values())] or list(known)[:1]
            for first in (*firsts, *known):
                row = [first]
                while row[-1] in left:
                    row.append(left.pop(row[-1]))
                if len(row) > 1:
                    found.append(Steps(client, tuple(self.points[number] for number in row)))
        return found

    def noise(self, size: Scalar, at: Ints, sign: int) -> Ints:
        """Return each vector less sign·size·σu, and where there is an h its proximal point."""
        moved = self._rows(at) - sign * size * self._noise
        return self._numbers(self.model.proximal(x, size) for x in moved)

    def total(self, metric: Metric, at: Ints, weights: Any, whole: Any, terms: Fraction) -> Scalar:
        """Return the mean without rounding."""
        X = numbers.rational(1 / terms) * self._rows(at)
        together = isinstance(self.model, OfClients)
        each = metric.at(self._function, X) if together else np.array([metric.at(self._function, x) for x in X])
        return exact_array(weights) @ each / numbers.rational(whole)

    def keep(self, used: Ints) -> None:
        """Forget all others."""
        points = [self.points[number] for number in used.tolist()]
        self.points, self._number, self._steps = [], {}, {}
        for point in points:
            self._put(point)
