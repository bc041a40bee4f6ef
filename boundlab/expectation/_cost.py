"""How many operations an exact engine will take, predicted from sizes alone: never a clock, never a trial run."""

import math
from typing import Any, Final

from boundlab.delays import DelayModel, ServerPolicy
from boundlab.expectation._enumerate import LARGEST
from boundlab.expectation._law import event_law
from boundlab.objective import Problem

AFFORDABLE: Final = 3 * 10**9  # seconds, on one core
_LARGEST_MOMENTS = 4 * 10**6  # entries of each of some ten matrices of second moments
# What the interpreter costs beside the arithmetic, in operations: of one event, and of one call of a gradient.
_EVENT, _CALL = 10**5, 10**4


def moments_operations(problem: Problem, iterations: int, *, average: bool) -> float:
    """Return the operations of the moments of AREA: some twenty passes over all second moments an event.

    Infinite where so many second moments would take too much memory.

    Parameters
    ----------
    average
        Whether the left side is about the average iterate, whose moments are followed too.
    """
    n, d = problem.n, problem.d
    if (n * d) ** 2 > _LARGEST_MOMENTS:
        return math.inf
    # Where the matrices commute there are fewer; telling costs as much as an event.
    entries = (n * d) ** 2 + n * d**3
    return iterations * (_EVENT + (30 if average else 20) * entries)


def enumeration_operations(
    problem: Problem, parameters: Any, delays: DelayModel, policy: ServerPolicy, iterations: int
) -> float:
    """Return the operations of enumerating all event sequences of AREA as if no two states were equal.

    Infinite where so many states would not fit into memory, and where the problem does not take many points at a time:
    then nobody knows what one of its gradients costs.
    """
    if type(problem).gradients is Problem.gradients:
        return math.inf
    law = event_law(parameters, delays, policy)
    width = (2 * problem.n + 2) * problem.d
    states, total = 1.0, 0.0
    for event in range(iterations):
        choices = len(law.at(event))
        reached = states * choices
        if reached * width > LARGEST:
            return math.inf
        # Every client's answer takes M gradients for all states at once; then equal states are looked for.
        total += _EVENT + choices * parameters.M * (_CALL + 100 * states * problem.d) + 50 * reached * width
        states = reached
        if total > AFFORDABLE:
            return math.inf
    return total
