"""Run a function on all runs of a plan, through the NumPy executor."""

from typing import Any

import numpy as np

from boundlab.errors import AssumptionError
from boundlab.execute.floats import run
from boundlab.objective import Array, Problem
from boundlab.worst_case.question import Question


def replay(plan: Question, problem: Problem) -> float | None:
    """Return the mean of the left side over the runs; f* = 0 at x* = 0. None if a step has no closed form.

    Runs with full gradients in float64.
    """
    side = plan.side
    values: dict[bytes, float] = {}

    def left(x: Array) -> float:
        known = x.tobytes()
        if known not in values:
            if side.id == "squared-distance":
                values[known] = float(x @ x)
            elif side.id.startswith("gradient-norm"):
                gradient = problem.full_gradient(x)
                values[known] = float(gradient @ gradient)
            else:
                values[known] = problem.value(x)
        return values[known]

    total = []
    for tape, weight in plan.tapes():
        seen: list[Any] = []
        try:
            run(tape, problem.x0, problem.full_gradients(), lambda _, x, seen=seen: seen.append(np.array(x)))  # type: ignore[misc]
        except AssumptionError:
            return None
        shown = seen if side.every else seen[-1:]
        total.append(float(weight) * sum(left(x) for x in shown) / len(shown))
    return float(np.sum(np.sort(total)))
