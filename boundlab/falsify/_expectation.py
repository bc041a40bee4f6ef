"""Candidates one by one, on any problem: by the ways of a comparison, or over all event sequences."""

from collections.abc import Sequence

import numpy as np

from boundlab.errors import AssumptionError, SpecError, SymbolError
from boundlab.execute.floats import run
from boundlab.expectation import left_side
from boundlab.falsify import _catalog as catalog
from boundlab.falsify._benches import points_of, tapes
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._columns import rounding
from boundlab.falsify._sides import Sides
from boundlab.instance import Plan, make_plan
from boundlab.instance.schedules import Schedules
from boundlab.metrics import Quantity, Watch
from boundlab.theorems import Theorem


def plan_of(theorem: Theorem, candidate: Candidate, ks: Sequence[int]) -> Plan:
    """Return the plan of a comparison on the candidate.

    Raises
    ------
    BoundlabError
        If problem, delays, options and theorem do not fit each other.
    """
    algorithm, problem = catalog.algorithm(theorem.algorithm), candidate.build()
    delays, policy = catalog.delays(candidate.delays, problem.n, algorithm)
    points = np.array(ks, dtype=np.int64)
    return make_plan(
        theorem, problem, delays, policy, candidate.iterations, candidate.all_settings(), ks=points
    )  # fmt: skip


def horizon(candidate: Candidate) -> int:
    """Return K or T: a window of N updates looks beyond it."""
    return candidate.iterations - int(candidate.settings.get("N", "1")) + 1


def evaluate(theorem: Theorem, candidate: Candidate, ks: Sequence[int] | None = None) -> Sides:
    """Return both sides; the right one is inf where a condition is not met.

    Raises
    ------
    AssumptionError
        If problem, delays or options do not fit the theorem.
    SpecError
        If no exact engine applies.
    """
    points = points_of(theorem, horizon(candidate), ks)
    nothing = Sides(points, np.zeros((len(points), 1)), np.full((len(points), 1), np.inf), [np.empty(0)], np.zeros(1))
    try:
        plan = plan_of(theorem, candidate, points.tolist())
    except SymbolError:
        return nothing
    except AssumptionError as error:
        if any(condition.statement in str(error) for condition in theorem.conditions):
            return nothing
        raise
    if plan.metric.quantity is Quantity.DISTANCE and plan.problem.optimum().distance is None:
        raise SpecError("no unique minimiser")
    left = left_of(plan, candidate)
    if candidate.separable:
        left = left - rounding(theorem.left, candidate, candidate.iterations)
    return Sides(points, left[:, None], plan.bound[:, None].copy(), [np.empty(0)], np.zeros(1))


def left_of(plan: Plan, candidate: Candidate) -> np.ndarray:
    """Return the left side at all points of a plan, from below where the optimum is not exact."""
    if plan.algorithm.server == "any":
        return left_side(
            plan.theorem, plan.algorithm, plan.problem, plan.parameters, plan.delays, plan.policy, plan.iterations,
            plan.ks,
        )  # fmt: skip
    if candidate.noisy:
        raise SpecError(f"noise on {plan.problem.id} can only be sampled")
    options = plan.parameter_values
    schedules = Schedules(
        plan.theorem, plan.algorithm, plan.problem.n, plan.delays, plan.policy, plan.iterations, 0, options
    )
    left = np.zeros(len(plan.ks))
    for tape, weight in tapes(schedules, plan.theorem.left.records(plan.ks)):
        watch = Watch(plan.metric, plan.problem, plan.ks)
        run(tape, plan.problem.x0.astype(np.float64), plan.problem.full_gradients(), watch)
        left += weight * watch.low
    return left
