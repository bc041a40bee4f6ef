"""Expectations in place of samples, where an exact engine applies: over the events, or over the noise given them."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from boundlab import theorems
from boundlab.delays import frequencies
from boundlab.errors import SpecError, UndecidedError
from boundlab.execute import moments
from boundlab.execute.floats import run
from boundlab.expectation import AFFORDABLE, engine, left_side, operations
from boundlab.instance.plan import Plan
from boundlab.metrics import Enclosure, Watch
from boundlab.objective import Array, Oracle
from boundlab.tape import Tape

Floats = NDArray[np.float64]
# A second evaluation: at half the digits of a problem's own, or at twice as many.
OTHER: Final[Mapping[Any, Any]] = {np.float64: np.float32, np.float32: np.float64}
_ROW = 10**5  # operations that the interpreter costs for a row of a tape, or a local step, beside the arithmetic


def expectation(plan: Plan, *, unasked: bool = False) -> tuple[Enclosure, str] | None:
    """Return the left side at plan.ks over all events and all noise, and the method; None if no engine gives it.

    Parameters
    ----------
    unasked
        Whether that is done only where the predicted number of operations is at most
        :data:`boundlab.expectation.AFFORDABLE`.
    """
    averaged = plan.problem.quadratic() is not None and plan.metric.from_expectations
    if plan.own_case and (plan.problem.noiseless or averaged or not plan.one_schedule):
        return None  # a number for each schedule is what such a bound is about
    method, reason = engine(*plan.random_run)
    if reason:
        return None
    words = f"no sampling: {method}"
    if unasked:
        predicted = operations(*plan.random_run, iterations=plan.iterations)
        if predicted > AFFORDABLE:
            return None
        words += f"; {predicted:.1g} operations predicted, up to {AFFORDABLE:.0e} are done unasked"
    try:
        return left_side(*plan.random_run, iterations=plan.iterations, ks=plan.ks), words
    except UndecidedError:
        if unasked:  # rounding could decide at a kink; trials are taken then
            return None
        raise


def certain(plan: Plan) -> bool:
    """Return whether all trials have the same tape, so that one of them is all there is beside noise."""
    return theorems.certain(plan.algorithm, plan.parameters, plan.problem.n, plan.delays, plan.policy)


def given_schedule_operations(plan: Plan, tape: Tape) -> float:
    """Return how many operations :func:`left_sides` takes, predicted; infinite where it does not apply."""
    problem = plan.problem
    if problem.noiseless or tape.implicit.any() or moments.why_not(plan.metric, problem, tape):
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
    if problem.noiseless and (plan.own_case or certain(plan)):
        return  # each schedule is a case of its own
    given = problem.quadratic() is not None and not problem.noiseless
    if given and plan.metric.from_expectations:
        return
    reason = engine(*plan.random_run)[1]
    reason = reason or f"{plan.theorem.id} is about each schedule by itself"
    more = (
        "without noise there is nothing left to average given a schedule"
        if problem.noiseless
        else f"the mean over the noise given a schedule needs a mean of recorded quantities, not {plan.metric.id}"
        if given
        else f"the expectation over the noise given a schedule needs a quadratic, not {problem.id}"
    )
    raise SpecError(f"--exact: no exact engine applies: {reason}; {more}")


def left_sides(plan: Plan, tape: Tape, *, compiled: bool = False) -> Enclosure:
    """Return the left side given a schedule at plan.ks: without noise, or its expectation over the noise.

    Parameters
    ----------
    compiled
        Whether machine code is to run it.

    Raises
    ------
    SpecError
        If the coefficients of all noise are too many.
    """
    problem = plan.problem
    if reason := moments.why_not(plan.metric, problem, tape):
        raise SpecError(f"--exact: {reason}; take fewer clients or dimensions")
    try:
        return moments.left_side(plan.metric, problem, tape, plan.ks, compiled=compiled)
    except UndecidedError:  # rounding could decide at a kink: what floats make of it proves nothing
        if not problem.noiseless:
            raise
        return Enclosure.unproved(in_floats(plan, tape, problem.x0, problem.full_gradients())[1])


def in_floats(plan: Plan, tape: Tape, x0: Array, oracle: Oracle) -> Floats:
    """Return the ends of the left sides at plan.ks, shape (2, points), as floats of the type of ``x0`` give them."""
    watch = Watch(plan.metric, plan.problem, plan.ks)
    with np.errstate(over="ignore", invalid="ignore"):
        run(tape, x0, oracle, watch)
    return np.array([watch.low, watch.high])


def random_events(plan: Plan) -> dict[str, Any]:
    """Return the part of a case file that stands for i.i.d. events, or for arrivals that a count aggregates."""
    p, p_s = frequencies(plan.delays, plan.policy)
    if plan.policy.count is not None:
        delays = {"type": "exponential", "rates": plan.delays.rates().tolist()}
        return {"delays": delays, "server": plan.policy.describe()}
    if not p_s:  # nothing but arrivals
        return {"delays": {"type": "exponential", "rates": p.tolist()}}
    return {"delays": {"type": "iid", "p": p.tolist(), "p_s": p_s}}
