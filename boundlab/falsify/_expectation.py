"""Candidates one by one, on any problem: by the ways of a comparison, or over all event sequences."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from boundlab.errors import AssumptionError, SpecError, SymbolError
from boundlab.execute import moments
from boundlab.expectation import batches_along, left_side, operations
from boundlab.falsify import _candidate as catalog
from boundlab.falsify._candidate import Candidate, rounding
from boundlab.falsify._shared_runs import points_of, several, tapes
from boundlab.falsify._sides import CandidateSides
from boundlab.instance import Plan, make_plan
from boundlab.instance.schedules import Schedules
from boundlab.metrics import Enclosure, Quantity, terms_of
from boundlab.theorems import Theorem, once

_KEPT: Final = 256  # candidates that are asked for once more: shrinking begins again and again
_UPDATES: Final = 512  # of a statement in seconds
_MOST: Final = 3e7  # operations of one candidate: a tenth of a second


def plan_of(theorem: Theorem, candidate: Candidate, ks: Sequence[int]) -> Plan:
    """Return the plan of a comparison on the candidate.

    Raises
    ------
    BoundlabError
        If problem, delays, options and theorem do not fit each other.
    """
    return _plan_of(theorem, candidate, tuple(ks))


@once(_KEPT)
def _plan_of(theorem: Theorem, candidate: Candidate, ks: tuple[int, ...]) -> Plan:
    algorithm, problem = catalog.algorithm(theorem.algorithm), candidate.build()
    delays, policy = catalog.delays(candidate.delays, problem.n, algorithm)
    return make_plan(
        theorem,
        problem,
        delays,
        policy,
        candidate.iterations,
        candidate.all_settings(),
        ks=np.array(ks, dtype=np.int64),
        algorithm=algorithm,
        most=_UPDATES,
    )


def horizon(candidate: Candidate) -> int:
    """Return K or T: a window of N updates looks beyond it."""
    return candidate.iterations - int(candidate.settings.get("N", "1")) + 1


def evaluate(theorem: Theorem, candidate: Candidate, ks: Sequence[int] | None = None) -> CandidateSides:
    """Return both sides; the right one is inf where a condition is not met.

    Raises
    ------
    AssumptionError
        If problem, delays or options do not fit the theorem.
    SpecError
        If no exact engine applies.
    """
    return _evaluate(theorem, candidate, tuple(points_of(theorem, horizon(candidate), ks).tolist()))


@once(_KEPT)
def _evaluate(theorem: Theorem, candidate: Candidate, ks: tuple[int, ...]) -> CandidateSides:
    points = np.array(ks)
    nothing = CandidateSides(
        points, np.zeros((len(points), 1)), np.full((len(points), 1), np.inf), [np.empty(0)], np.zeros(1)
    )
    try:
        plan = plan_of(theorem, candidate, ks)
    except SymbolError:
        return nothing
    except AssumptionError as error:
        if any(condition.statement in str(error) for condition in theorem.conditions):
            return nothing
        raise
    if plan.metric.quantity is Quantity.DISTANCE and plan.problem.optimum().distance is None:
        raise SpecError("no unique minimiser")
    found = left_of(plan, candidate)
    # Nothing but its ends confirms a violation of a function without fractions.
    ends = terms_of(plan.metric) or not (candidate.independent or plan.problem.rational({}))
    left = found.lower if ends else found.value
    if candidate.separable and not terms_of(plan.metric):
        left = left - rounding(plan.metric, candidate, candidate.iterations)
    return CandidateSides(plan.ks, left[:, None], plan.bound[:, None].copy(), [np.empty(0)], np.zeros(1))


def left_of(plan: Plan, candidate: Candidate, lost: float = 0.0) -> Enclosure:
    """Enclose the left side at all points of a plan.

    Parameters
    ----------
    lost
        √(3P) of a run with normal noise that leaves the quadratic part of its functions with a probability of at most
        P, see :mod:`boundlab.falsify._noise`: the left side is then one of quadratics, and only its lower end holds.
    """
    noisy = candidate.noisy and not candidate.carried
    if plan.algorithm.server == "any" or (noisy and (plan.one_schedule or not plan.own_case)):
        return left_side(*plan.random_run, plan.iterations, plan.ks)
    return run_by_run(plan, candidate, lost)


def run_by_run(plan: Plan, candidate: Candidate, lost: float = 0.0) -> Enclosure:
    """Enclose the left side as :func:`left_of`, by each run that there may be: a way of its own to a mean over events.

    Raises
    ------
    SpecError
        If these are too many.
    """
    problem = candidate.quadratic().build() if candidate.carried else plan.problem
    schedules = Schedules(
        plan.theorem,
        plan.algorithm,
        plan.problem.n,
        plan.delays,
        plan.policy,
        plan.iterations,
        0,
        plan.parameter_values,
    )
    if plan.metric.over.summed and several(schedules):  # sequence by sequence, and term by term, takes too long
        if operations(*plan.random_run, plan.iterations) > _MOST:
            raise SpecError("this sum takes too many operations for a search")
        return left_side(*plan.random_run, plan.iterations, plan.ks)
    total = np.zeros((3, len(plan.ks)))
    for share, own in plan.summands:
        for tape, weight in tapes(schedules, own.metric.records(plan.ks)):
            if candidate.sampled:
                found = batches_along(problem, tape, own.metric, plan.ks)
            else:
                found = moments.left_side(own.metric, problem, tape, plan.ks)
            total += float(share) * weight * np.array([found.value, found.lower, found.upper])
    value, lower, upper = total
    kept = max(0.0, 1.0 - lost)
    return Enclosure(kept * value, kept * lower * (1.0 - 1e-9), upper * (1.0 + 1e-9))
