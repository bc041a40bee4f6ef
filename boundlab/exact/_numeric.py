"""A case in floating point, without sampling: where exact numbers do not reach."""

import numpy as np

from boundlab.case import Case, RandomEvents
from boundlab.errors import SpecError, UndecidedError
from boundlab.exact._result import ExactResult
from boundlab.execute import given_tape
from boundlab.expectation import engine, left_side
from boundlab.instance.plan import Plan
from boundlab.metrics import Enclosure, terms_of
from boundlab.theorems import core


def result(plan: Plan, case: Case, why: str) -> ExactResult:
    """Return both sides as floats.

    Parameters
    ----------
    why
        Why there are no exact numbers.

    Raises
    ------
    SpecError
        If the expectation can only be sampled, saying why.
    """
    right = plan.right_sides([plan.known(_seen(plan))])
    if isinstance(case.events, RandomEvents):
        left, method = _random(plan)
    else:
        left, method = _fixed(plan, case)
    low, high = float(left.lower[-1]), float(left.upper[-1])
    violated, note = low > float(right.upper[-1]), f"floating point: {why}"
    decided = violated or high <= float(right.lower[-1])
    if not decided and not plan.theorem.shape:
        note = f"{note}; rounding leaves the left side between {low:.10g} and {high:.10g}"
    if violated and plan.near_minimiser:
        violated, decided, note = False, False, f"{note}; above the bound, but R is the distance to a near-minimiser"
    if plan.theorem.shape:
        violated, note = False, "the printed O(·) has unknown constants, so nothing can refute or confirm it"
        note = note if not plan.theorem.growth else "the printed O(·) has unknown constants, so no one case refutes it"
    value, bound = float(left.value[-1]), float(right.value[-1])
    return ExactResult(
        plan.theorem.id,
        value,
        bound,
        f"{value:.10g}",
        f"{bound:.10g}",
        "numeric",
        violated,
        method,
        int(plan.ks[-1]),
        {name: np.asarray(value).tolist() for name, value in plan.values.items()},
        {name: constant.as_dict() for name, constant in plan.constants.items()},
        note,
        plan.symbols,
        decided=decided and not plan.theorem.shape,
        objective=plan.objective,
        core=core(plan.theorem).sha256,
    )


def _seen(plan: Plan) -> list[dict[str, float]] | None:
    """Return what the bound reads off the schedule of a case, or off that of random events, which then is one."""
    schedules = plan.schedules
    return None if schedules is None else schedules.read_at(schedules.tape(0), plan.ks, plan.fixed)


def _random(plan: Plan) -> tuple[Enclosure, str]:
    method, reason = engine(*plan.random_run)
    if reason:
        raise SpecError(f"no exact engine applies: {reason}")
    return left_side(*plan.random_run, iterations=plan.iterations, ks=plan.ks[-1:]), f"{method}, in floating point"


def _fixed(plan: Plan, case: Case) -> tuple[Enclosure, str]:
    ks = plan.ks[-1:]
    assert not isinstance(case.events, RandomEvents)  # noqa: S101  (for the type checker)
    if terms_of(plan.metric):
        parts = [(share, _fixed(own, case)) for share, own in plan.summands]
        return Enclosure.weighted([(share, found) for share, (found, _) in parts]), parts[0][1][1]
    tape = plan.algorithm.schedule(plan.parameters, case.events, plan.problem.n, plan.metric.records(ks), int(ks[-1]))
    if reason := given_tape.why_not(plan.metric, plan.problem, tape):
        raise SpecError(f"no exact engine applies: {reason}")
    try:
        found = given_tape.left_side(plan.metric, plan.problem, tape, ks)
    except UndecidedError as error:
        raise SpecError(f"no exact engine applies: {error}") from None
    if plan.problem.noiseless:
        return found, "the schedule in floating point"
    return found, "means and the coefficients of all noise along the schedule, in floating point"
