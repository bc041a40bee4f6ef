"""How the iterates of a run enter a left side, the quantities, and the built-in metrics."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from boundlab import registry
from boundlab.arithmetic.recurrence import EQUAL, Weights
from boundlab.errors import SpecError
from boundlab.randomness import Ints

if TYPE_CHECKING:  # whoever evaluates a formula needs no tape and no problem
    from boundlab.tape import RecordAt


class Over(ABC):
    """How the iterates of a run enter a left side.

    Parameters
    ----------
    id
        Its name in core statements; empty where only its metric has it.
    first
        The smallest horizon that has a left side.
    averages_iterates
        Whether the run must record the ergodic average of its iterates in place of the iterates.
    one_record
        Whether each record is a left side by itself.
    weights
        Of the models in an average.
    linear
        Whether left sides are weighted sums of what records show; None: where :meth:`share` says a weight.
    of_expectations
        Whether they are made of the expectation of each record though they are no such sums, so that no single run
        shows them.
    at_mean
        Whether the quantity is that of the expected iterate, ‖E x_k − x*‖²: no mean over runs is.
    summed
        Whether left sides are sums of several quantities, each of which is had by itself.
    """

    id: str = ""
    first: int = 0
    averages_iterates: bool = False
    one_record: bool = False
    weights: Weights = EQUAL
    linear: bool | None = None
    of_expectations: bool = False
    at_mean: bool = False
    summed: bool = False

    @abstractmethod
    def records(self, ks: Ints) -> "RecordAt":
        """Return what a run must show for the left sides at the sorted horizons ``ks``."""

    @abstractmethod
    def complete(self, ks: Ints) -> Ints:
        """Return after how many records the left side at each of ``ks`` is known, shape (points,)."""

    @abstractmethod
    def fold(self, total: Any, value: Any) -> Any:
        """Return what is kept of the records so far; ``total`` is None before the first."""

    def fold_all(self, total: Any, values: Any) -> Any:
        """Return what is kept after several records, the first axis of ``values``."""
        for value in values:
            total = self.fold(total, value)
        return total

    def read(self, total: Any, count: int) -> Any:
        """Return the left side after ``count`` records."""
        return total

    def share(self, k: int) -> Fraction | None:
        """Return the weight of each record in the left side at ``k``, where that is the one horizon asked for.

        None where a left side is no weighted sum of what the records show: then it has no expectation by moments,
        no exact value and no worst case.
        """
        return None

    def each(self, k: int) -> "tuple[Over, Ints] | None":
        """Return of what the left side at ``k`` is the smallest expectation, and at which horizons; None of no such."""
        return None

    def shares(self, count: int) -> tuple[Fraction, ...] | None:
        """Return the weight of each of all ``count`` records of a left side, in their order; None as :meth:`share`."""
        share = self.share(count)
        return None if share is None else (share,) * count


class OneRecord(Over):
    """Each record is a left side: the last iterate, or the average of all before it."""

    one_record = True

    def __init__(self, *, averages_iterates: bool) -> None:
        # An average needs one term, a last iterate exists at 0.
        self.averages_iterates, self.first = averages_iterates, int(averages_iterates)
        self.id = "average" if averages_iterates else "last"

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

    def share(self, k: int) -> Fraction | None:
        """Return 1: there is one record."""
        return Fraction(1)


@final
class _MeanIterate(OneRecord):
    """The quantity at the expectation of the last iterate."""

    id = "mean-iterate"
    linear = False
    of_expectations = at_mean = True

    def __init__(self) -> None:
        self.averages_iterates = False

    def share(self, k: int) -> None:
        """Return None."""
        return


@final
class _MeanOverVersions(Over):
    """The mean over the versions 0 … T−1, the initial one included."""

    id = "mean"
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

    def fold_all(self, total: Any, values: Any) -> Any:
        """Add one after the other."""
        return np.cumsum(values if total is None else [total, *values], axis=0)[-1]

    def read(self, total: Any, count: int) -> Any:
        """Divide the sum."""
        return total / count

    def share(self, k: int) -> Fraction:
        """Return 1/k."""
        return Fraction(1, k)


LAST: Over = OneRecord(averages_iterates=False)
MEAN_ITERATE: Over = _MeanIterate()
AVERAGE_ITERATE: Over = OneRecord(averages_iterates=True)
MEAN: Over = _MeanOverVersions()


# Metrics: the quantities, the built-in metrics, and where others are found.


class Measured(Protocol):
    """A function that knows the quantities at a point, in an arithmetic of its own."""

    def squared_distance(self, x: Any) -> Any:
        """Return ‖x − x*‖²."""

    def gap(self, x: Any) -> Any:
        """Return f(x) − f*."""

    def squared_slope(self, x: Any) -> Any:
        """Return ‖∇f(x)‖²."""


@runtime_checkable
class MeasuresControl(Protocol):
    """A function that knows the gradients of the clients at x*."""

    def squared_control(self, x: Any, client: int) -> Any:
        """Return ‖x − ∇f_client(x*)‖², of a vector x that stands for a gradient; sums alone ask for it."""


class Quantity(Enum):
    """Quantity measured at a point: degrees (a, b) under f → c·f and x → s·x, the unit in words, and how it is written.

    That is as text and as LaTeX, each with a place for the point, and which point one record shows.
    """

    DISTANCE = ((0, 2), "length²", "‖{} − x*‖²", r"\|{} - x^\star\|^2", "x_s,k")
    GAP = ((1, 0), "function value", "f({}) − f*", r"f({}) - f^\star", "x_s,k")
    SLOPE = ((2, -2), "function value²/length²", "‖∇f({})‖²", r"\|\nabla f({})\|^2", "x_s,k")
    CONTROL = (
        (2, -2), "function value²/length²", "‖{} − ∇f_i(x*)‖²", r"\|{} - \nabla f_i(x^\star)\|^2", "h_i,k",
    )  # fmt: skip

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
        """Symbol of the quantity that one record shows."""
        return self.at(self.value[4])[0]

    @property
    def of_model(self) -> bool:
        """True if it is one of a model: every arithmetic measures these."""
        return self.value[4] == "x_s,k"

    @property
    def of_moments(self) -> bool:
        """True if it is vᵀ W v on quadratics, v a model less x* or a difference of models: then moments give it."""
        return self is not Quantity.CONTROL

    def at(self, text: str, latex: str = "") -> tuple[str, str]:
        """Return the quantity at a point, as text and as LaTeX."""
        return self.value[2].format(text), self.value[3].format(latex)


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
    shows
        Which vector of which client is looked at: a key of :attr:`boundlab.algorithms.Algorithm.points`, and the
        client; None: the server's model.
    in_seconds
        Whether the horizon is the last update that ends within the symbol ``seconds``.
    """

    id: str
    label: str
    symbol: str
    expectation: str
    latex: str
    quantity: Quantity
    over: Over
    counter: Literal["K", "T"]
    shows: tuple[str, int] | None = None
    in_seconds: bool = False

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
        """Quantity shown by a single record: the symbol, unless the left side takes several records."""
        return self.symbol if self.over.one_record else self.quantity.symbol

    @property
    def first(self) -> int:
        """The smallest value of the counter."""
        return self.over.first

    @property
    def is_mean(self) -> bool:
        """True if left sides are weighted sums of what records show: only then do moments give expectations."""
        return self.over.share(1) is not None if self.over.linear is None else self.over.linear

    @property
    def from_expectations(self) -> bool:
        """True if the expectation of each record gives the left side: of a mean, and of the smallest expectation."""
        return self.is_mean or (self.over.of_expectations and not self.over.at_mean)

    def records(self, ks: ArrayLike) -> "RecordAt":
        """Return what a run must show for the left sides at the sorted horizons ``ks``."""
        found = self.over.records(np.asarray(ks, dtype=np.int64))
        return found if self.shows is None else replace(found, point=self.shows)

    @property
    def _alone(self) -> Quantity:
        """The quantity, where a left side has no more than one.

        Raises
        ------
        SpecError
            If it is a sum of several.
        """
        if self.over.summed:
            raise SpecError(f"{self.id} is a sum of several quantities, and here one is taken at a time")
        return self.quantity

    def at(self, function: Measured, x: Any) -> Any:
        """Return the quantity at a point, in the arithmetic of ``function``.

        Raises
        ------
        SpecError
            If the left side is a sum of several.
        """
        match self._alone:
            case Quantity.DISTANCE:
                return function.squared_distance(x)
            case Quantity.GAP:
                return function.gap(x)
            case Quantity.SLOPE:
                return function.squared_slope(x)
            case Quantity.CONTROL:
                if not isinstance(function, MeasuresControl):
                    raise SpecError(f"{self.id} is not measured in this arithmetic")
                return function.squared_control(x, 0 if self.shows is None else self.shows[1])

    def of_matrix(self, eye: Any, hessian: Any) -> Any:
        """Return W of the quantity (x − x*)ᵀ W (x − x*) on a quadratic: I, H/2 or H², in matrices of any arithmetic.

        Of 1 and a limit of ‖H‖, which are matrices of one entry, that is one of ‖W‖.

        Raises
        ------
        SpecError
            If the quantity is no such form.
        """
        match self._alone:
            case Quantity.DISTANCE:
                return eye
            case Quantity.GAP:
                return hessian / 2
            case Quantity.SLOPE:
                return hessian * hessian
        raise SpecError(f"{self.id} is no quadratic form of the distance to x*")

    def root_of_norm(self, size: float) -> float:
        """Return √‖W‖ for ‖H‖ = size, up to rounding, where their product may be no float."""
        return float(self.of_matrix(1.0, np.sqrt(size)) / np.sqrt(self.of_matrix(1.0, 1.0)))

    def of_second_moment(self, hessian: Any, second: Any) -> Any:
        """Return E quantity on a quadratic: E (x − x*)ᵀ W (x − x*) with W = I, H/2 or H².

        Parameters
        ----------
        hessian, second
            Shape (c, e, e) each: H and E (x − x*)(x − x*)ᵀ in c blocks that do not mix; floats, or objects of an
            exact arithmetic.

        Raises
        ------
        SpecError
            If the quantity is no such form.
        """
        if self._alone is Quantity.DISTANCE:
            return np.einsum("cii->", second)
        weight = hessian @ hessian if self.quantity is Quantity.SLOPE else self.of_matrix(None, hessian)
        return np.einsum("cij,cij->", weight, second)


BUILT_IN: tuple[Metric, ...] = (
    Metric(
        "squared-distance",
        "squared distance of the last iterate",
        "‖x_s,k − x*‖²",
        "E‖x_s,K − x*‖²",
        r"\mathbb{E}\|x_{s,K}-x^\star\|^2",
        Quantity.DISTANCE,
        LAST,
        "K",
    ),
    Metric(
        "ergodic-gap",
        "gap of the ergodic average",
        "f(x̄_k) − f*",
        "E f(x̄_K) − f*",
        r"\mathbb{E}\,f(\bar x_K)-f^\star",
        Quantity.GAP,
        AVERAGE_ITERATE,
        "K",
    ),
    Metric(
        "gap",
        "gap of the last iterate",
        "f(x_s,k) − f*",
        "E f(x_s,K) − f*",
        r"\mathbb{E}\,f(x_{s,K})-f^\star",
        Quantity.GAP,
        LAST,
        "K",
    ),
    Metric(
        "gradient-norm",
        "average squared gradient norm over server updates",
        "(1/T) Σ_{t<T} ‖∇f(w^t)‖²",
        "(1/T) Σ_{t<T} E‖∇f(w^t)‖²",
        r"\frac{1}{T}\sum_{t=0}^{T-1}\mathbb{E}\|\nabla f(w^t)\|^2",
        Quantity.SLOPE,
        MEAN,
        "T",
    ),
    Metric(
        "gradient-norm-last",
        "squared gradient norm at the last iterate",
        "‖∇f(x_s,k)‖²",
        "E‖∇f(x_s,K)‖²",
        r"\mathbb{E}\|\nabla f(x_{s,K})\|^2",
        Quantity.SLOPE,
        LAST,
        "K",
    ),
    Metric(
        "mean-distance",
        "squared distance of the mean of the last iterate",
        "‖E x_s,k − x*‖²",
        "‖E x_s,K − x*‖²",
        r"\|\mathbb{E}\,x_{s,K}-x^\star\|^2",
        Quantity.DISTANCE,
        MEAN_ITERATE,
        "K",
    ),
)
METRICS: Mapping[str, Metric] = MappingProxyType({one.id: one for one in BUILT_IN})


def choices(name: str) -> Mapping[str, Metric]:
    """Return the metrics among which an id is looked for."""
    return registry.choices("metrics", name, METRICS)


def metric(name: str) -> Metric:
    """Return the metric of that id, built in or of a plug-in.

    Raises
    ------
    SpecError
        If there is none.
    """
    found: Metric = registry.lookup("metrics", name, METRICS)
    return found
