"""What a theorem bounds: a quantity at a point, and how the iterates of a run enter it.

A metric is a quantity (squared distance, function gap, squared gradient norm) of what a run shows, and a rule over its
iterations (the last iterate, the average iterate, the mean over all versions). Every reader of a run asks the metric
in its own arithmetic: which records it needs, the quantity at one of them, and the left side that they make.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundlab.errors import SpecError
from boundlab.registry import lookup, registered

if TYPE_CHECKING:  # whoever evaluates a formula needs no tape and no problem
    from boundlab.objective import Array, Problem
    from boundlab.tape import RecordAt

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Measured(Protocol):
    """A function that knows the three quantities at a point, in an arithmetic of its own."""

    def squared_distance(self, x: Any) -> Any:
        """Return ‖x − x*‖²."""

    def gap(self, x: Any) -> Any:
        """Return f(x) − f*."""

    def squared_slope(self, x: Any) -> Any:
        """Return ‖∇f(x)‖²."""


class Quantity(Enum):
    """What is measured at a point: degrees (a, b) under f → c·f and x → s·x, the unit in words, and the symbol."""

    DISTANCE = ((0, 2), "length²", "‖x_s,k − x*‖²")
    GAP = ((1, 0), "function value", "f(x_s,k) − f*")
    SLOPE = ((2, -2), "function value²/length²", "‖∇f(x_s,k)‖²")

    @property
    def units(self) -> tuple[int, int]:
        """Degrees (a, b)."""
        return self.value[0]

    @property
    def unit(self) -> str:
        """The unit, for an axis."""
        return self.value[1]

    @property
    def symbol(self) -> str:
        """What one record shows."""
        return self.value[2]


class Over(ABC):
    """How the iterates of a run enter a left side.

    Parameters
    ----------
    first
        The smallest horizon that has a left side.
    averages_iterates
        Whether the run must record the ergodic average of its iterates in place of the iterates.
    one_record
        Whether each record is a left side by itself.
    """

    first: int = 0
    averages_iterates: bool = False
    one_record: bool = False

    @abstractmethod
    def records(self, ks: Ints) -> "RecordAt":
        """Return what a run must show for the left sides at the sorted horizons ``ks``."""

    @abstractmethod
    def complete(self, ks: Ints) -> Ints:
        """Return after how many records the left side at each of ``ks`` is known, shape (points,)."""

    @abstractmethod
    def fold(self, total: Any, value: Any) -> Any:
        """Return what is kept of the records so far; ``total`` is None before the first."""

    def read(self, total: Any, count: int) -> Any:
        """Return the left side after ``count`` records."""
        return total

    def share(self, k: int) -> Fraction | None:
        """Return the weight of each record in the left side at ``k``, where that is the one horizon asked for.

        None where a left side is no weighted sum of what the records show: then it has no expectation by moments,
        no exact value and no worst case.
        """
        return None


@final
class _OneRecord(Over):
    """Each record is a left side: the last iterate, or the average of all before it."""

    one_record = True

    def __init__(self, *, averages_iterates: bool) -> None:
        # An average needs one term, a last iterate exists at 0.
        self.averages_iterates, self.first = averages_iterates, int(averages_iterates)

    def records(self, ks: Ints) -> "RecordAt":
        """Return the horizons."""
        from boundlab.tape import RecordAt

        return RecordAt(ks, self.averages_iterates)

    def complete(self, ks: Ints) -> Ints:
        """Return 1, 2, …, one record a left side."""
        return np.arange(1, len(ks) + 1)

    def fold(self, total: Any, value: Any) -> Any:
        """Keep the newest."""
        return value

    def share(self, k: int) -> Fraction:
        """Return 1: there is one record."""
        return Fraction(1)


@final
class _MeanOverVersions(Over):
    """The mean over the versions 0 … T−1, the initial one included."""

    first = 1

    def records(self, ks: Ints) -> "RecordAt":
        """Return all versions before the last horizon."""
        from boundlab.tape import RecordAt

        return RecordAt(np.arange(int(ks[-1])))

    def complete(self, ks: Ints) -> Ints:
        """Return T, which takes the versions 0 … T−1."""
        return ks

    def fold(self, total: Any, value: Any) -> Any:
        """Add."""
        return value if total is None else total + value

    def read(self, total: Any, count: int) -> Any:
        """Divide the sum."""
        return total / count

    def share(self, k: int) -> Fraction:
        """Return 1/k."""
        return Fraction(1, k)


LAST: Over = _OneRecord(averages_iterates=False)
AVERAGE_ITERATE: Over = _OneRecord(averages_iterates=True)
MEAN: Over = _MeanOverVersions()


@final
@dataclass(frozen=True, slots=True)
class Metric:
    """A number that a theorem bounds.

    Parameters
    ----------
    id
        How theorems, files and the command line name it.
    label
        A noun for tables.
    symbol
        What a single run shows, without the expectation.
    expectation, latex
        The left side as text and as LaTeX.
    quantity, over
        What is measured, and how the iterates enter.
    counter
        The symbol that counts iterations: ``K`` (events) or ``T`` (server updates).
    """

    id: str
    label: str
    symbol: str
    expectation: str
    latex: str
    quantity: Quantity
    over: Over
    counter: Literal["K", "T"]

    @property
    def units(self) -> tuple[int, int]:
        """Degrees (a, b) under f → c·f and x → s·x."""
        return self.quantity.units

    @property
    def unit(self) -> str:
        """The unit, for an axis."""
        return self.quantity.unit

    @property
    def point(self) -> str:
        """What a single record shows: the symbol, unless the left side takes several records."""
        return self.symbol if self.over.one_record else self.quantity.symbol

    @property
    def first(self) -> int:
        """The smallest value of the counter."""
        return self.over.first

    @property
    def is_mean(self) -> bool:
        """Whether left sides are weighted sums of what records show: only then do moments give expectations."""
        return self.over.share(1) is not None

    def records(self, ks: ArrayLike) -> "RecordAt":
        """Return what a run must show for the left sides at the sorted horizons ``ks``."""
        return self.over.records(np.asarray(ks, dtype=np.int64))

    def at(self, function: Measured, x: Any) -> Any:
        """Return the quantity at a point, in the arithmetic of ``function``."""
        match self.quantity:
            case Quantity.DISTANCE:
                return function.squared_distance(x)
            case Quantity.GAP:
                return function.gap(x)
            case Quantity.SLOPE:
                return function.squared_slope(x)

    def of_second_moment(self, hessian: Any, second: Any) -> Any:
        """Return E quantity on a quadratic: E (x − x*)ᵀ W (x − x*) with W = I, H/2 or H².

        Parameters
        ----------
        hessian, second
            Shape (c, e, e) each: H and E (x − x*)(x − x*)ᵀ in c blocks that do not mix; floats, or objects of an
            exact arithmetic.
        """
        match self.quantity:
            case Quantity.DISTANCE:
                return np.einsum("cii->", second)
            case Quantity.GAP:
                return np.einsum("cij,cij->", hessian / 2, second)
            case Quantity.SLOPE:
                return np.einsum("cij,cij->", hessian @ hessian, second)


BUILT_IN: tuple[Metric, ...] = (
    Metric(
        "squared-distance", "squared distance of the last iterate", "‖x_s,k − x*‖²", "E‖x_s,K − x*‖²",
        r"\mathbb{E}\|x_{s,K}-x^\star\|^2", Quantity.DISTANCE, LAST, "K",
    ),
    Metric(
        "ergodic-gap", "gap of the ergodic average", "f(x̄_k) − f*", "E f(x̄_K) − f*",
        r"\mathbb{E}\,f(\bar x_K)-f^\star", Quantity.GAP, AVERAGE_ITERATE, "K",
    ),
    Metric(
        "gap", "gap of the last iterate", "f(x_s,k) − f*", "E f(x_s,K) − f*",
        r"\mathbb{E}\,f(x_{s,K})-f^\star", Quantity.GAP, LAST, "K",
    ),
    Metric(
        "gradient-norm", "average squared gradient norm over server updates", "(1/T) Σ_{t<T} ‖∇f(w^t)‖²",
        "(1/T) Σ_{t<T} E‖∇f(w^t)‖²", r"\frac{1}{T}\sum_{t=0}^{T-1}\mathbb{E}\|\nabla f(w^t)\|^2",
        Quantity.SLOPE, MEAN, "T",
    ),
    Metric(
        "gradient-norm-last", "squared gradient norm at the last iterate", "‖∇f(x_s,k)‖²", "E‖∇f(x_s,K)‖²",
        r"\mathbb{E}\|\nabla f(x_{s,K})\|^2", Quantity.SLOPE, LAST, "K",
    ),
)  # fmt: skip
METRICS: Mapping[str, Metric] = MappingProxyType({one.id: one for one in BUILT_IN})


def choices(name: str) -> Mapping[str, Metric]:
    """Return the metrics among which an id is looked for; plug-ins are asked only where no built-in one has it."""
    return METRICS if name in METRICS else registered("metrics")


def metric(name: str) -> Metric:
    """Return the metric of that id, built in or of a plug-in.

    Raises
    ------
    SpecError
        If there is none.
    """
    found: Metric = METRICS[name] if name in METRICS else lookup("metrics", name)
    return found


@final
@dataclass(frozen=True, slots=True)
class Certified:
    """The quantities of a problem as intervals (smallest, largest): what the certificate of its optimum allows."""

    problem: "Problem"

    def squared_distance(self, x: "Array") -> tuple[float, float]:
        """Widen ‖x − x̂‖ by the certified ‖x̂ − x*‖ on both sides.

        Raises
        ------
        SpecError
            If the problem has no unique minimiser with a certified distance.
        """
        problem, optimum = self.problem, self.problem.optimum()
        if optimum.distance is None:
            raise SpecError(f"problem {problem.id} has no unique minimiser with a certified distance; use ergodic-gap")
        away = float(np.linalg.norm(x.astype(np.float64) - optimum.x))
        return max(0.0, away - optimum.distance) ** 2, (away + optimum.distance) ** 2

    def gap(self, x: "Array") -> tuple[float, float]:
        """Use f(x̂) − gap ≤ f* ≤ f(x̂)."""
        optimum = self.problem.optimum()
        above = self.problem.value(x) - optimum.value
        return max(0.0, above), max(0.0, above + optimum.gap)

    def squared_slope(self, x: "Array") -> tuple[float, float]:
        """Return the number twice: it is exact up to rounding, and no optimum is needed."""
        gradient = self.problem.full_gradient(x)
        square = float(gradient @ gradient)
        return (square, square) if np.isfinite(square) else (np.inf, np.inf)


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

    def add(self, value: Any) -> None:
        """Take the next record."""
        self._total = self._over.fold(self._total, value)
        self._count += 1
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
        """What the run must show."""
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
