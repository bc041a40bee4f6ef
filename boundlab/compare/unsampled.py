"""Expectations in place of samples, where an exact engine applies: over the events, or over the noise given them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.delays import frequencies
from boundlab.errors import SpecError, UndecidedError
from boundlab.execute import moments
from boundlab.expectation import AFFORDABLE, engine, left_side, operations
from boundlab.instance.plan import Plan
from boundlab.tape import Tape

Floats = NDArray[np.float64]
_ROW = 10**5  # operations that the interpreter costs for a row of a tape, or a local step, beside the arithmetic


def expectation(plan: Plan, *, unasked: bool = False) -> tuple[Floats, str] | None:
    """Return the left side at plan.ks over all events and all noise, and the method; None if no engine gives it.

    Parameters
    ----------
    unasked
        Whether that is done only where the predicted number of operations is at most
        :data:`boundlab.expectation.AFFORDABLE`.
    """
    arguments = plan.theorem, plan.algorithm, plan.problem, plan.parameters, plan.delays, plan.policy
    if plan.own_case and (plan.problem.noiseless or plan.problem.quadratic() is not None or not plan.one_schedule):
        return None  # a number for each schedule is what such a bound is about
    method, reason = engine(*arguments)
    if reason:
        return None
    words = f"no sampling: {method}"
    if unasked:
        predicted = operations(*arguments, iterations=plan.iterations)
        if predicted > AFFORDABLE:
            return None
        words += f"; {predicted:.1g} operations predicted, up to {AFFORDABLE:.0e} are done unasked"
    try:
        return left_side(*arguments, iterations=plan.iterations, ks=plan.ks), words
    except UndecidedError:
        if unasked:  # rounding could decide at a kink; trials are taken then
            return None
        raise


def given_schedule_operations(plan: Plan, tape: Tape) -> float:
    """Return how many operations :func:`given_schedule` takes, predicted; infinite where it does not apply."""
    problem = plan.problem
    if problem.noiseless or problem.quadratic() is None or not plan.metric.is_mean or tape.implicit.any():
        return float("inf")
    if moments.entries(tape.registers, problem) > moments.LARGEST:
        return float("inf")
    # A row of the tape writes one register's covariance with all others; a local step multiplies matrices.
    each, step = _ROW + 4.0 * tape.registers * problem.d**2, _ROW + 4.0 * problem.d**3
    return len(tape) * each + float(tape.descend.steps.sum()) * step


def require_given_schedule(plan: Plan) -> None:
    """Say why neither the events nor the noise can be averaged exactly, if so.

    Raises
    ------
    SpecError
        If every engine has a reason not to apply.
    """
    problem = plan.problem
    if plan.own_case and problem.noiseless:
        return  # each schedule is a case of its own
    given = problem.quadratic() is not None and not problem.noiseless
    if given and plan.metric.is_mean:
        return
    reason = engine(plan.theorem, plan.algorithm, problem, plan.parameters, plan.delays, plan.policy)[1]
    reason = reason or f"{plan.theorem.id} is about each schedule by itself"
    more = (
        "without noise there is nothing left to average given a schedule" if problem.noiseless
        else f"the expectation over the noise given a schedule needs a mean of what a run shows, not {plan.metric.id}"
        if given
        else f"the expectation over the noise given a schedule needs a quadratic, not {problem.id}"
    )  # fmt: skip
    raise SpecError(f"--exact: no exact engine applies: {reason}; {more}")


def given_schedule(plan: Plan, tape: Tape) -> Floats:
    """Return E[left side | schedule] at plan.ks.

    Raises
    ------
    SpecError
        If the covariance of all registers is too large.
    """
    if moments.entries(tape.registers, plan.problem) > moments.LARGEST:
        raise SpecError(
            f"--exact: the covariance of {tape.registers} registers in {plan.problem.d} dimensions is too large; "
            "take fewer clients or dimensions"
        )
    sigma = plan.problem.require_quadratic("the moments").sigma
    return moments.conditional(plan.metric, plan.problem, tape, sigma, plan.ks)


def random_events(plan: Plan) -> dict[str, Any]:
    """Return the part of a case file that stands for i.i.d. events, or for arrivals that a count aggregates."""
    p, p_s = frequencies(plan.delays, plan.policy)
    if plan.policy.count is not None:
        delays = {"type": "exponential", "rates": plan.delays.rates().tolist()}
        return {"delays": delays, "server": plan.policy.describe()}
    return {"delays": {"type": "iid", "p": p.tolist(), "p_s": p_s}}
