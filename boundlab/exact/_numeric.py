"""A case in floating point, without sampling: where exact numbers do not reach."""

import numpy as np

from boundlab.case import Case, RandomEvents
from boundlab.errors import SpecError, UndecidedError
from boundlab.exact._result import ExactResult
from boundlab.execute import moments
from boundlab.execute.floats import run
from boundlab.execute.kinks import WaryGradients
from boundlab.expectation import engine, left_side
from boundlab.instance.plan import Plan
from boundlab.instance.rounding import above, ceiling
from boundlab.metrics import Watch
from boundlab.tape import Tape


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
    right = float(plan.bound[-1])
    if isinstance(case.events, RandomEvents):
        left, method = _random(plan)
    else:
        left, method = _fixed(plan, case)
    note = f"floating point: {why}"
    violated = above(left, right) and left > float(ceiling(plan, plan.bound)[-1])
    if violated and plan.near_minimiser:
        violated, note = False, f"{note}; above the bound, but R is the distance to a near-minimiser"
    if plan.theorem.shape:
        violated, note = False, "the printed O(·) has unknown constants, so nothing can refute or confirm it"
    return ExactResult(
        plan.theorem.id, left, right, f"{left:.10g}", f"{right:.10g}", "numeric", violated, method, int(plan.ks[-1]),
        {name: np.asarray(value).tolist() for name, value in plan.values.items()},
        {name: constant.as_dict() for name, constant in plan.constants.items()}, note, plan.symbols,
        decided=violated or (left <= right and not plan.theorem.shape),
    )  # fmt: skip


def _random(plan: Plan) -> tuple[float, str]:
    arguments = plan.theorem, plan.algorithm, plan.problem, plan.parameters, plan.delays, plan.policy
    method, reason = engine(*arguments)
    if reason:
        raise SpecError(f"no exact engine applies: {reason}")
    return float(left_side(*arguments, iterations=plan.iterations, ks=plan.ks[-1:])[0]), f"{method}, in floating point"


def _fixed(plan: Plan, case: Case) -> tuple[float, str]:
    ks = plan.ks[-1:]
    watch = Watch(plan.metric, plan.problem, ks)
    assert not isinstance(case.events, RandomEvents)  # noqa: S101  (for the type checker)
    tape = plan.algorithm.schedule(plan.parameters, case.events, plan.problem.n, watch.records, int(ks[-1]))
    if plan.problem.noiseless:
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                run(tape, plan.problem.x0, WaryGradients(plan.problem), watch)
        except UndecidedError as error:
            raise SpecError(f"no exact engine applies: {error}") from None
        return float(watch.low[0]), "the schedule in floating point"
    reason = why_no_moments(plan, tape)
    if reason:
        raise SpecError(f"no exact engine applies: {reason}")
    sigma = plan.problem.require_quadratic("the moments").sigma
    found = moments.conditional(plan.metric, plan.problem, tape, sigma, ks)
    return float(found[0]), "mean and covariance of all registers along the schedule, in floating point"


def why_no_moments(plan: Plan, tape: Tape) -> str:
    """Return '' if the expectation over the noise given a tape can be computed, else why not."""
    if not plan.metric.is_mean:
        return f"{plan.metric.id} is no mean of what a run shows"
    if plan.problem.quadratic() is None:
        return f"problem {plan.problem.id} with noise: the expectation given a schedule needs a quadratic"
    if moments.entries(tape.registers, plan.problem) > moments.LARGEST:
        return f"the covariance of {tape.registers} registers in {plan.problem.d} dimensions is too large"
    return ""
