"""What the left side of a theorem is, as an interval that holds whatever the certificate allows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from boundlab.errors import SpecError
from boundlab.objective import Array, Optimum, Problem
from boundlab.specs import nearest


class Metric(ABC):
    """A number that a theorem bounds, evaluated at one recorded vector."""

    id: str
    label: str
    symbol: str
    average: bool

    @abstractmethod
    def interval(self, problem: Problem, optimum: Optimum, x: Array) -> tuple[float, float]:
        """Return the smallest and the largest value that the certificate of the optimum allows."""


@final
@dataclass(frozen=True, slots=True)
class SquaredDistance(Metric):
    """‖x_s,k − x*‖², unit (0, 2)."""

    id: str = "squared-distance"
    label: str = "squared distance of the last iterate"
    symbol: str = "‖x_s,k − x*‖²"
    average: bool = False

    def interval(self, problem: Problem, optimum: Optimum, x: Array) -> tuple[float, float]:
        """Widen ‖x − x̂‖ by the certified ‖x̂ − x*‖ on both sides."""
        if optimum.distance is None:
            raise SpecError(f"problem {problem.id} has no unique minimiser with a certified distance; use ergodic-gap")
        away = float(np.linalg.norm(x.astype(np.float64) - optimum.x))
        return max(0.0, away - optimum.distance) ** 2, (away + optimum.distance) ** 2


@final
@dataclass(frozen=True, slots=True)
class FunctionGap(Metric):
    """f(x) − f* at the recorded point, unit (1, 0)."""

    id: str
    label: str
    symbol: str
    average: bool

    def interval(self, problem: Problem, optimum: Optimum, x: Array) -> tuple[float, float]:
        """Use f(x̂) − gap ≤ f* ≤ f(x̂)."""
        above = problem.value(x) - optimum.value
        return max(0.0, above), max(0.0, above + optimum.gap)


_ALL: tuple[Metric, ...] = (
    SquaredDistance(),
    FunctionGap("ergodic-gap", "gap of the ergodic average", "f(x̄_k) − f*", average=True),
    FunctionGap("gap", "gap of the last iterate", "f(x_s,k) − f*", average=False),
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
