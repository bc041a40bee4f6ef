"""How the iterates of a run enter a left side: the last one, their average, or the mean over all versions."""

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.recurrence import EQUAL, Weights

if TYPE_CHECKING:  # whoever evaluates a formula needs no tape
    from boundlab.tape import RecordAt

Ints = NDArray[np.int64]


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


class _OneRecord(Over):
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
class _MeanIterate(_OneRecord):
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


LAST: Over = _OneRecord(averages_iterates=False)
MEAN_ITERATE: Over = _MeanIterate()
AVERAGE_ITERATE: Over = _OneRecord(averages_iterates=True)
MEAN: Over = _MeanOverVersions()
