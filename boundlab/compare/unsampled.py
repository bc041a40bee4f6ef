"""Expectations in place of samples, where an exact engine applies: over the events, or over the noise given them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.delays import frequencies
from boundlab.errors import SpecError
from boundlab.execute import moments
from boundlab.expectation import engine, left_side
from boundlab.instance.plan import Plan
from boundlab.tape import Tape

Floats = NDArray[np.float64]


def expectation(plan: Plan) -> tuple[Floats, str] | None:
    """Return the left side at plan.ks over all events and all noise, and the method; None if no engine gives it."""
    arguments = plan.theorem, plan.algorithm, plan.problem, plan.parameters, plan.delays, plan.policy
    method, reason = engine(*arguments)
    if reason:
        return None
    return left_side(*arguments, iterations=plan.iterations, ks=plan.ks), f"no sampling: {method}"


def require_given_schedule(plan: Plan) -> None:
    """Say why neither the events nor the noise can be averaged exactly, if so.

    Raises
    ------
    SpecError
        If every engine has a reason not to apply.
    """
    problem = plan.problem
    if plan.schedules is not None and not plan.schedules.averaged and problem.noiseless:
        return  # each schedule is a case of its own
    given = problem.quadratic() is not None and not problem.noiseless
    if given and plan.metric.is_mean:
        return
    reason = engine(plan.theorem, plan.algorithm, problem, plan.parameters, plan.delays, plan.policy)[1]
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
