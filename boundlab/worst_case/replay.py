"""Run a function on all runs of a plan, through the NumPy executor."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from boundlab.errors import AssumptionError
from boundlab.execute.floats import run
from boundlab.objective import Array, Problem
from boundlab.worst_case.specification import Question


def replay(plan: Question, problem: Problem) -> float | None:
    """Return the mean of the left side over the runs; f* = 0 at x* = 0. None if a step has no closed form.

    Runs with full gradients in float64.
    """
    function, values = _AtOrigin(problem), dict[bytes, float]()

    def left(x: Array) -> float:
        known = x.tobytes()
        if known not in values:
            values[known] = plan.metric.at(function, x)
        return values[known]

    total = []
    for tape, weight in plan.tapes():
        seen: list[Any] = []
        try:
            run(tape, problem.x0, problem.full_gradients(), lambda _, x, seen=seen: seen.append(np.array(x)))  # type: ignore[misc]
        except AssumptionError:
            return None
        shares = plan.metric.over.shares(len(seen)) or ()
        total.append(float(weight) * sum(float(share) * left(x) for share, x in zip(shares, seen, strict=True)))
    return float(np.sum(np.sort(total)))


@final
@dataclass(frozen=True, slots=True)
class _AtOrigin:
    """The quantities of a problem with f* = 0 at x* = 0."""

    problem: Problem

    def squared_distance(self, x: Array) -> float:
        return float(x @ x)

    def gap(self, x: Array) -> float:
        return self.problem.value(x)

    def squared_slope(self, x: Array) -> float:
        gradient = self.problem.full_gradient(x)
        return float(gradient @ gradient)
