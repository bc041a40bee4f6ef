"""Left sides of a run while it goes by, and computed ones as intervals between proved ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from boundlab.assumptions import UNBIASED
from boundlab.errors import SpecError
from boundlab.metrics._metric import Metric
from boundlab.randomness import Floats, Ints

if TYPE_CHECKING:  # whoever evaluates a formula needs no tape and no problem
    from boundlab.objective import Array, Problem
    from boundlab.tape import RecordAt


@final
@dataclass(frozen=True, slots=True, eq=False)
class Enclosure:
    """Computed left sides, shape (points,) each: the number, and between which ends it is proved to lie.

    Parameters
    ----------
    value
        The number as it was computed, in the units of the metric.
    lower, upper
        lower ≤ value ≤ upper. Where nothing is proved, 0 and infinity: no left side is negative.
    """

    value: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def around(cls, value: ArrayLike, error: ArrayLike) -> "Enclosure":
        """Return what differs from computed numbers by at most ``error``; what overflows is not proved.

        Raises
        ------
        RuntimeError
            If an upper end is negative: no left side is, so the number or its error is wrong.
        """
        numbers, errors = np.asarray(value, dtype=np.float64), np.asarray(error, dtype=np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            lower, upper = np.nextafter(numbers - errors, -np.inf), np.nextafter(numbers + errors, np.inf)
        if (upper < 0.0).any():
            raise RuntimeError(f"a left side is at most {float(np.nanmin(upper)):.3g}, but none is negative")
        known = np.isfinite(lower) & np.isfinite(upper)
        return cls(
            np.maximum(numbers, 0.0), np.where(known, np.maximum(lower, 0.0), 0.0), np.where(known, upper, np.inf)
        )

    @classmethod
    def of_means(cls, shown: ArrayLike, records: int) -> "Enclosure":
        """Return left sides that are means of at most so many records, summed up in floats: their ends go outwards.

        Parameters
        ----------
        shown
            (value, smallest, largest) at each point, shape (points, 3): sums of numbers ≥ 0, divided.
        """
        value, low, high = np.asarray(shown, dtype=np.float64).T
        folding = 1.0 + 2.0 * records * float(np.finfo(np.float64).eps)
        known = np.isfinite(value) & np.isfinite(high)
        return cls(value, np.where(known, low / folding, 0.0), np.where(known, high * folding, np.inf))

    @classmethod
    def weighted(cls, parts: "Sequence[tuple[Fraction, Enclosure]]") -> "Enclosure":
        """Return Σ share·part of shares ≥ 0, the ends outwards; a single part of share 1 as it is.

        Parts have one shape, whichever: (points,), or (trials, points).
        """
        if len(parts) == 1 and parts[0][0] == 1:
            return parts[0][1]
        shares = np.array([float(share) for share, _ in parts])
        value, low, high = (
            np.tensordot(shares, np.array([getattr(part, name) for _, part in parts]), axes=1)
            for name in ("value", "lower", "upper")
        )
        folding = 1.0 + (len(parts) + 4.0) * float(np.finfo(np.float64).eps)
        known = np.isfinite(high)
        return cls(value, np.where(known, low / folding, 0.0), np.where(known, high * folding, np.inf))

    @classmethod
    def unproved(cls, value: ArrayLike) -> "Enclosure":
        """Return computed numbers of whose errors nothing is known."""
        numbers = np.asarray(value, dtype=np.float64)
        return cls(numbers, np.zeros_like(numbers), np.full_like(numbers, np.inf))

    def spread(self, shape: tuple[int, ...]) -> "Enclosure":
        """Return the same numbers in another shape, repeated where it has more."""
        ends = (self.value, self.lower, self.upper)
        size = int(np.prod(shape))
        return Enclosure(*((one.reshape(shape) if one.size == size else np.broadcast_to(one, shape)) for one in ends))


# Left sides of a run while it goes by: what each record shows, and what the records make.


_EPS = float(np.finfo(np.float64).eps)
_ROUNDED = 16.0 * _EPS


@final
@dataclass(frozen=True, slots=True)
class Certified:
    """The quantities of a problem as intervals (smallest, largest): what the certificate of its optimum allows.

    A point has shape (d,), and the ends are numbers; of points of shape (S, d) the ends have shape (S,).
    """

    problem: "Problem"

    def squared_distance(self, x: "Array") -> tuple[Any, Any]:
        """Widen ‖x − x̂‖ by the certified ‖x̂ − x*‖ on both sides.

        Raises
        ------
        SpecError
            If the problem has no unique minimiser with a certified distance.
        """
        return self.squared_norm(*_from_best(self.problem, x))

    def squared_norm(self, x: "Array", unsure: float = 0.0) -> tuple[Any, Any]:
        """Return the ends of ‖v‖² for all v this near to x."""
        size = _norm(np.asarray(x, dtype=np.float64))
        return np.maximum(0.0, size - unsure) ** 2, (size + unsure) ** 2

    def gap(self, x: "Array") -> tuple[Any, Any]:
        """Use f(x̂) − gap ≤ f* ≤ f(x̂)."""
        optimum = self.problem.optimum()
        above = _value(self.problem, x) - optimum.value
        return np.maximum(0.0, above), np.maximum(0.0, above + optimum.gap)

    def squared_slope(self, x: "Array") -> tuple[Any, Any]:
        """Return the number twice: it is exact up to rounding, and no optimum is needed."""
        return self.squared_norm(_gradient(self.problem, x))

    def squared_control(self, x: "Array", client: int) -> tuple[Any, Any]:
        """Widen ‖x − ∇f_i(x̂)‖ by L times the certified ‖x̂ − x*‖ on both sides."""
        goal, unsure = gradient_at_minimum(self.problem, client)
        return self.squared_norm(x - goal, unsure)


@final
@dataclass(frozen=True)
class Proved:
    """The quantities of a problem at a point that is known up to an error, as (value, smallest, largest).

    Rounding is allowed for, and what the certificate of the optimum leaves open. What is not known to be smooth or
    Lipschitz enough, or of whose rounding nobody knows, is between 0 and infinity. Of points of shape (S, d), with
    errors of shape (S,), all three have shape (S,).
    """

    problem: "Problem"

    def at(self, metric: Metric, points: "Array", off: Floats) -> Floats:
        """Return (value, smallest, largest) of a metric's quantity at points of shape (S, d), shape (S, 3)."""
        return np.stack(metric.at(self, (points, off)), axis=1)

    @cached_property
    def _rounding_at_best(self) -> tuple[float, float] | None:
        return self.problem.rounding(np.asarray(self.problem.optimum().x, dtype=np.float64))

    def squared_distance(self, at: tuple["Array", Any]) -> tuple[Any, Any, Any]:
        """Return ‖x − x*‖² for all x this near.

        Raises
        ------
        SpecError
            If the problem has no unique minimiser with a certified distance.
        """
        away, unsure = _from_best(self.problem, at[0])
        return self.squared_norm((away, at[1] + unsure))

    def squared_norm(self, at: tuple["Array", Any]) -> tuple[Any, Any, Any]:
        """Return ‖x‖² for all x this near."""
        x, error = at
        size = _norm(np.asarray(x, dtype=np.float64))
        return size * size, *squares(size, error + (x.shape[-1] + 8) * _EPS * size)

    def gap(self, at: tuple["Array", Any]) -> tuple[Any, Any, Any]:
        """Return the gap for all x this near: by smoothness, else by B."""
        x, error = at
        problem, best = self.problem, self.problem.optimum()
        value, constants = _value(problem, x), problem.constants()
        here, there = _rounding(problem, np.asarray(x, dtype=np.float64)), self._rounding_at_best
        above = np.maximum(0.0, value - best.value)
        if here is None or there is None:
            return above, np.zeros_like(value)[()], np.full_like(value, np.inf)[()]
        moved = constants["B"].value * error if "B" in constants else np.inf
        if "L" in constants:
            L = constants["L"].value
            if problem.simple is None:
                slope = _norm(_gradient(problem, x)) + here[1]
            else:  # F has no gradient, but f has one at x*
                unsure = np.inf if best.distance is None else best.distance
                slope = problem.steepness() + L * (_norm(x - best.x) + 2.0 * unsure)
            moved = np.minimum(moved, (slope + L * error) * error)
        if problem.simple is not None:
            moved = moved + problem.simple.rate(problem.d) * error
        off = moved + here[0] + there[0] + 4.0 * _EPS * (np.abs(value) + abs(best.value))
        known = off < np.inf
        low = np.where(known, np.maximum(0.0, value - best.value - off), 0.0)
        return above, low[()], np.where(known, np.maximum(0.0, value - best.value + best.gap + off), np.inf)[()]

    def squared_slope(self, at: tuple["Array", Any]) -> tuple[Any, Any, Any]:
        """Return the squared norm of the gradient for all x this near."""
        x, error = at
        wide, L = np.asarray(x, dtype=np.float64), self.problem.constants().get("L")
        rounding = self.problem.gradient_roundings(wide if x.ndim > 1 else wide[None])
        if rounding is None or L is None:
            return self.squared_norm((_gradient(self.problem, x), np.inf))
        lost = rounding if x.ndim > 1 else rounding[0]
        return self.squared_norm((_gradient(self.problem, x), L.value * error + lost))

    def squared_control(self, at: tuple["Array", Any], client: int) -> tuple[Any, Any, Any]:
        """Return ‖x − ∇f_i(x*)‖² for all x this near."""
        x, error = at
        goal, unsure = gradient_at_minimum(self.problem, client)
        bounds = self.problem.step_bounds(client)
        if bounds is None:
            return self.squared_norm((x - goal, np.inf))
        best = np.asarray(self.problem.optimum().x, dtype=np.float64)
        lost = bounds.error(best, float(np.linalg.norm(best)) * (1.0 + _ROUNDED)) * (1.0 + _ROUNDED)
        return self.squared_norm((x - goal, error + unsure + lost))


def _from_best(problem: "Problem", x: "Array") -> tuple["Array", float]:
    """Return x − x̂, and the certified ‖x̂ − x*‖."""
    optimum = problem.optimum()
    if optimum.distance is None:
        raise SpecError(f"problem {problem.id} has no unique minimiser with a certified distance; use ergodic-gap")
    return x.astype(np.float64) - optimum.x, optimum.distance


def _value(problem: "Problem", x: "Array") -> Any:
    return _or_infinite(problem.value(x) if x.ndim == 1 else problem.values(x))


def _or_infinite(value: Any) -> Any:
    """Return what has left the floats, ∞ − ∞ included, as infinite."""
    return np.where(np.isnan(value), np.inf, value)[()]


def _gradient(problem: "Problem", x: "Array") -> Floats:
    return problem.full_gradient(x) if x.ndim == 1 else problem.full_gradients_at(x)


def _rounding(problem: "Problem", x: Floats) -> tuple[Any, Any] | None:
    return problem.rounding(x) if x.ndim == 1 else problem.roundings(x)


def _norm(x: "Array") -> Any:
    return _or_infinite(np.linalg.norm(x) if x.ndim == 1 else np.linalg.norm(x, axis=1))


def gradient_at_minimum(problem: "Problem", client: int) -> tuple["Array", float]:
    """Return ∇f_i(x̂), and how far it is at most from ∇f_i(x*), rounding apart.

    Raises
    ------
    SpecError
        If the problem is not smooth, its gradients have errors, or no unique minimiser has a certified distance.
    """
    best, L = problem.optimum(), problem.constants().get("L")
    if best.distance is None or L is None or problem.simple is not None or problem.why_not(UNBIASED):
        raise SpecError(f"problem {problem.id} has no gradients ∇f_i(x*) that are known up to a certified error")
    x = np.asarray(best.x, dtype=problem.dtype)
    moved = best.distance + float(np.linalg.norm(x.astype(np.float64) - best.x))
    return problem.gradient(client, x).astype(np.float64), L.value * moved


def squares(root: Any, off: Any) -> tuple[Any, Any]:
    """Return the ends of a square whose root is off by this much at most."""
    known = off < np.inf
    low, high = np.maximum(0.0, root - np.where(known, off, 0.0)), root + off
    # No powers: those of Python's floats raise.
    ends = np.where(known, low * low * (1.0 - _ROUNDED), 0.0), np.where(known, high * high * (1.0 + _ROUNDED), np.inf)
    return ends[0][()], ends[1][()]


@final
class Series:
    """Left sides at several horizons, from what the records show one after the other.

    Parameters
    ----------
    ks
        Sorted horizons, shape (points,).
    shape
        Of what a record shows.

    Attributes
    ----------
    values
        Shape (points, …): NaN where the run has not come so far.
    """

    def __init__(self, metric: Metric, ks: Ints, shape: tuple[int, ...] = ()) -> None:
        self._over = metric.over
        self._complete = metric.over.complete(ks).tolist()
        self._total: Any = None
        self._count = self._next = 0
        self.values: Floats = np.full((len(ks), *shape), np.nan)

    def enclosure(self) -> Enclosure:
        """Return left sides of which each record showed (value, smallest, largest), shape (points, 3)."""
        return Enclosure.of_means(self.values, 1 if self._over.one_record else self._count)

    def add(self, value: Any) -> None:
        """Take the next record."""
        self._total = self._over.fold(self._total, value)
        self._counted(1)

    def extend(self, values: Floats) -> None:
        """Take what the next records show, shape (records, …)."""
        while len(values):
            left = self._complete[self._next] - self._count if self._next < len(self._complete) else 0
            left = left if left > 0 else len(values)
            self._total = self._over.fold_all(self._total, values[:left])
            self._counted(len(values[:left]))
            values = values[left:]

    def _counted(self, more: int) -> None:
        self._count += more
        if self._next < len(self._complete) and self._count == self._complete[self._next]:
            self.values[self._next] = self._over.read(self._total, self._count)
            self._next += 1


@final
class Watch:
    """Evaluates a metric while a run goes by.

    Parameters
    ----------
    ks
        Sorted iterations, shape (points,).
    """

    def __init__(self, metric: Metric, problem: "Problem", ks: Ints) -> None:
        self.metric, self.ks = metric, ks
        self._function = Certified(problem)
        self._series = Series(metric, ks, (2,))

    @property
    def records(self) -> "RecordAt":
        """Records that the run must show."""
        return self.metric.records(self.ks)

    @property
    def low(self) -> Floats:
        """Shape (points,): the smallest left side that the certificate of the optimum allows."""
        return self._series.values[:, 0]

    @property
    def high(self) -> Floats:
        """Shape (points,): the largest."""
        return self._series.values[:, 1]

    def __call__(self, row: int, x: "Array") -> None:
        """See the next record."""
        self._series.add(np.array(self.metric.at(self._function, x)))

    def take(self, intervals: Floats) -> None:
        """Take what the next records show, shape (records, 2), where someone else has evaluated it."""
        self._series.extend(intervals)
