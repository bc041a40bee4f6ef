"""Whether problem, delays and options meet the assumptions of a theorem."""

from collections.abc import Mapping, Sequence
from typing import Any

from boundlab.assumptions import assumption
from boundlab.delays import DelayModel, ServerPolicy, why_not_iid
from boundlab.errors import AssumptionError
from boundlab.instance.rounding import EQUAL_RATES
from boundlab.objective import Problem
from boundlab.theorems import Theorem


def check(
    theorem: Theorem,
    problem: Problem,
    parameters: Any,
    delays: DelayModel,
    policy: ServerPolicy,
    beyond: Sequence[str],
) -> dict[str, str]:
    """Return which assumptions fail and were allowed to, with the reasons.

    Raises
    ------
    AssumptionError
        If one fails that is not in ``beyond``, or without which the bound has no value.
    """
    outside: dict[str, str] = {}
    if {"R", "zeta"} & set(theorem.inputs()):
        problem.require("minimiser", theorem.id)
    for name in theorem.assumptions:
        assumed = assumption(name)
        if assumed.by_construction:
            continue
        if assumed.of == "functions":
            if name in beyond and problem.assumptions().get(name):
                raise AssumptionError(
                    f"--beyond {name} is not possible: the bound has no value on problem {problem.id} "
                    f"({problem.assumptions()[name]})"
                )
            problem.require(name, theorem.id)
            continue
        if name == "iid-events":
            reason = why_not_iid(delays, policy)
        elif name == "stationary-participation":
            reason = why_not_stationary(parameters, delays)
        else:
            reason = _why_not_uniform(parameters, delays)
        if reason and name not in beyond:
            raise AssumptionError(
                f"{theorem.id} assumes {name} ({assumed.words}), which this run under {delays.id} delays does not "
                f"meet: {reason}; "
                f"{assumed.fits} (or --beyond {name} to compare outside the theorem)"
            )
        if reason:
            outside[name] = reason
    return outside


def why_not_stationary(parameters: Any, delays: DelayModel) -> str:
    """Return '' if each update of a buffer is client i's with probability π_i whatever came before, else why not."""
    damped = getattr(getattr(parameters, "staleness", None), "kind", "constant") != "constant"
    if delays.n == 1 and not damped:
        return ""  # one client has all the weight of every buffer
    if delays.memoryless:
        return delays.memoryless
    if getattr(parameters, "reply", "") == "wait":
        return "with reply=wait a client that is in the buffer cannot enter it again"
    if getattr(parameters, "scale", 0.0) != 0.0:
        return "weights that follow the staleness depend on what came before; scale=0 would fit"
    if damped:
        return "weights that follow the staleness depend on what came before; staleness=constant would fit"
    return ""


def _why_not_uniform(parameters: Any, delays: DelayModel) -> str:
    rates = delays.rates()
    if delays.memoryless:
        return delays.memoryless
    if rates.max() > rates.min() * (1.0 + EQUAL_RATES):
        return "clients are not equally fast"
    if parameters.count > 1 and parameters.reply != "wait":
        return "a client can stand in a buffer twice"
    return ""


def deviations(theorem: Theorem, chosen: Mapping[str, Any], beyond: Sequence[str]) -> dict[str, str]:
    """Return the options in which the run differs from what the proof takes.

    Raises
    ------
    AssumptionError
        If there is one and ``options`` is not in ``beyond``.
    """
    outside: dict[str, str] = {}
    for key, want in theorem.options.items():
        if str(chosen[key]) != want:
            reason = f"the proof takes {key}={want}, the run {key}={chosen[key]}"
            if "options" not in beyond:
                raise AssumptionError(f"{theorem.id}: {reason} (--beyond options compares outside the theorem)")
            outside[f"{key}={want}"] = reason
    return outside
