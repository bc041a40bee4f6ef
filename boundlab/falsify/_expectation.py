"""Theorems about i.i.d. events: both sides exactly, the left one over all event sequences."""

from collections.abc import Sequence

import numpy as np

from boundlab.errors import AssumptionError, SpecError, SymbolError
from boundlab.expectation import left_side
from boundlab.falsify import _catalog as catalog
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._columns import rounding
from boundlab.falsify._schedules import Sides
from boundlab.instance import make_plan
from boundlab.metrics import Quantity
from boundlab.theorems import Theorem


def evaluate(theorem: Theorem, candidate: Candidate, ks: Sequence[int] | None = None) -> Sides:
    """Return both sides; the right one is inf where a condition is not met.

    Raises
    ------
    AssumptionError
        If problem, delays or options do not fit the theorem.
    SpecError
        If no exact engine applies.
    """
    algorithm = catalog.algorithm(theorem.algorithm)
    problem = candidate.build()
    delays, policy = catalog.delays(candidate.delays, problem.n, algorithm)
    horizon = candidate.iterations
    if theorem.horizon == "fixed" or ks is None:
        points = np.array([horizon])
    else:
        points = np.array([k for k in ks if theorem.start <= k <= horizon], dtype=np.int64)
    nothing = Sides(points, np.zeros((len(points), 1)), np.full((len(points), 1), np.inf), np.zeros(1))
    try:
        plan = make_plan(theorem, problem, delays, policy, horizon, candidate.all_settings(), ks=points)
    except SymbolError:
        return nothing
    except AssumptionError as error:
        if any(condition.statement in str(error) for condition in theorem.conditions):
            return nothing
        raise
    if plan.metric.quantity is Quantity.DISTANCE and problem.optimum().distance is None:
        raise SpecError("no unique minimiser")
    left = left_side(theorem, algorithm, problem, plan.parameters, delays, policy, horizon, points)
    left = left - rounding(theorem.left, candidate.problem, horizon)
    return Sides(points, left[:, None], plan.bound[:, None].copy(), np.zeros(1))
