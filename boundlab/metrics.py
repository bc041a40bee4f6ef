"""What the left side of a theorem is, as an interval that holds whatever the certificate allows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.left_side import LEFT_SIDES, LeftSide
from boundlab.objective import Array, Problem
from boundlab.options import nearest
from boundlab.tape import RecordAt


class Metric(ABC):
    """A number that a theorem bounds, evaluated at recorded vectors."""

    side: LeftSide

    @property
    def id(self) -> str:
        """The id of the left side."""
        return self.side.id

    @property
    def symbol(self) -> str:
        """What a single run shows, for tables and plots."""
        return self.side.symbol

    @property
    def point(self) -> str:
        """What a single record shows; the same, unless the left side is an average over records."""
        return self.side.symbol

    @abstractmethod
    def interval(self, problem: Problem, x: Array) -> tuple[float, float]:
        """Return the smallest and the largest value that the certificate of the optimum allows."""


@final
@dataclass(frozen=True, slots=True)
class SquaredDistance(Metric):
    """‖x_s,k − x*‖², unit (0, 2)."""

    side: LeftSide = LEFT_SIDES["squared-distance"]

    def interval(self, problem: Problem, x: Array) -> tuple[float, float]:
        """Widen ‖x − x̂‖ by the certified ‖x̂ − x*‖ on both sides."""
        optimum = problem.optimum()
        if optimum.distance is None:
            raise SpecError(f"problem {problem.id} has no unique minimiser with a certified distance; use ergodic-gap")
        away = float(np.linalg.norm(x.astype(np.float64) - optimum.x))
        return max(0.0, away - optimum.distance) ** 2, (away + optimum.distance) ** 2


@final
@dataclass(frozen=True, slots=True)
class FunctionGap(Metric):
    """f(x) − f* at the recorded point, unit (1, 0)."""

    side: LeftSide

    def interval(self, problem: Problem, x: Array) -> tuple[float, float]:
        """Use f(x̂) − gap ≤ f* ≤ f(x̂)."""
        optimum = problem.optimum()
        above = problem.value(x) - optimum.value
        return max(0.0, above), max(0.0, above + optimum.gap)


@final
@dataclass(frozen=True, slots=True)
class SquaredGradientNorm(Metric):
    """‖∇f(x)‖², unit (2, −2); no optimum is needed."""

    side: LeftSide

    @property
    def point(self) -> str:
        """The squared gradient norm at one version."""
        return "‖∇f(x_s,k)‖²"

    def interval(self, problem: Problem, x: Array) -> tuple[float, float]:
        """Return the number twice: it is exact up to rounding."""
        gradient = problem.full_gradient(x)
        square = float(gradient @ gradient)
        value = square if np.isfinite(square) else float("inf")
        return value, value


_ALL: tuple[Metric, ...] = (
    SquaredDistance(),
    FunctionGap(LEFT_SIDES["ergodic-gap"]),
    FunctionGap(LEFT_SIDES["gap"]),
    SquaredGradientNorm(LEFT_SIDES["gradient-norm"]),
    SquaredGradientNorm(LEFT_SIDES["gradient-norm-last"]),
)
METRICS: dict[str, Metric] = {metric.id: metric for metric in _ALL}


def metric(name: str) -> Metric:
    """Return the metric of that id.

    Raises
    ------
    SpecError
        If there is none.
    """
    if name not in METRICS:
        raise SpecError(f"unknown metric {name!r}; {nearest(name, METRICS)}")
    return METRICS[name]


@final
class Watch:
    """Evaluates a metric while a run goes by.

    Where the left side is an average over every server version, ‖∇f‖² is taken at all of them and the value at
    T is the mean over versions 0 … T−1; else records are looked at one by one.

    Parameters
    ----------
    ks
        Sorted iterations, shape (points,).
    """

    def __init__(self, metric: Metric, problem: Problem, ks: NDArray[np.int64]) -> None:
        self.metric, self.problem, self.ks = metric, problem, ks
        self.low, self.high = np.empty(len(ks)), np.empty(len(ks))
        self._sum = np.zeros(2)
        self._next = 0

    @property
    def records(self) -> RecordAt:
        """What the run must show."""
        if self.metric.side.every:
            return RecordAt(np.arange(int(self.ks[-1])))
        return RecordAt(self.ks, self.metric.side.average)

    def __call__(self, row: int, x: Array) -> None:
        """See record ``row``."""
        values = self.metric.interval(self.problem, x)
        if not self.metric.side.every:
            self.low[row], self.high[row] = values
            return
        self._sum += values
        if self._next < len(self.ks) and row + 1 == self.ks[self._next]:
            self.low[self._next], self.high[self._next] = self._sum / (row + 1)
            self._next += 1
