"""Applicability of a theorem: whether problem, delays and options meet its assumptions."""

from collections.abc import Mapping, Sequence
from typing import Any

from boundlab.algorithms import Algorithm
from boundlab.assumptions import BOUNDED_DOMAIN, BOUNDED_RUN, DETERMINISTIC, FIXED_TIMES, UNCONSTRAINED, assumption
from boundlab.delays import DelayModel, ServerPolicy, Trace, why_not_iid
from boundlab.errors import AssumptionError
from boundlab.instance.ranges import along_run
from boundlab.instance.settings import differences
from boundlab.metrics import Quantity
from boundlab.objective import Problem
from boundlab.theorems import Theorem, form_along_run, read_off_runs
from boundlab.traces import departure


def applying(theorem: Theorem, problem: Problem, beyond: Sequence[str]) -> Theorem:
    """Return the theorem, or its form along the run where nothing but bounds of gradients everywhere is missing.

    Raises
    ------
    AssumptionError
        If that is so, and the form does not apply either, since gradients have noise.
    """
    form = form_along_run(theorem)
    if form is None:
        return theorem
    asked = [name for name in theorem.core.asked if assumption(name).of == "functions" and name not in beyond]
    missing = [name for name in asked if problem.why_not(name)]
    if not missing or not all(form.points.keys() & {*assumption(name).defines} for name in missing):
        return theorem
    if noisy := problem.why_not(DETERMINISTIC):
        try:
            problem.require(missing[0], theorem.id)
        except AssumptionError as error:
            names = " and ".join(form.points)
            raise AssumptionError(f"{error}; {form.id} reads {names} off the run, but {noisy}") from None
    return form


def asked_of(theorem: Theorem) -> tuple[str, ...]:
    """Return the assumptions that problem and run are asked about: those whose constants a run shows are met there."""
    shown = read_off_runs(theorem)
    met = {name for name in theorem.core.asked if shown & {*assumption(name).defines}} | (
        {BOUNDED_RUN} if shown else set()
    )
    return tuple(name for name in theorem.core.asked if name not in met)


def looked_at(theorem: Theorem, problem: Problem) -> Problem:
    """Return the problem with the constants that the theorem is about: on a bounded set, where it says so.

    That is the set of h, or one that no step of the run leaves.
    """
    if BOUNDED_RUN in theorem.core.assumed:
        return problem if read_off_runs(theorem) else along_run(problem)
    found = problem.on_domain() if BOUNDED_DOMAIN in theorem.core.assumed else None
    return problem if found is None else found


def require_steps(theorem: Theorem, problem: Problem, algorithm: Algorithm[Any], parameters: Any) -> None:
    """Make sure that a run stays where the constants hold, as :func:`looked_at` has them.

    Raises
    ------
    AssumptionError
        If its steps are too long for that, or nobody knows where it takes its gradients.
    """
    limit, largest = problem.run_limit, algorithm.largest_step(parameters, problem.n)
    if limit is None:
        return
    if largest is None or not algorithm.stays_on_set(parameters, problem.n):
        raise AssumptionError(
            f"{theorem.id} assumes {BOUNDED_RUN}, and nothing shows where {algorithm.id} takes its gradients; gd with "
            "steps that do not grow would fit"
        )
    if largest > limit:
        raise AssumptionError(
            f"{theorem.id} assumes {BOUNDED_RUN}: no step of at most {limit:.17g} leaves the set on which G is known, "
            f"and this run has one of {largest:.17g}"
        )


def check(
    theorem: Theorem,
    problem: Problem,
    algorithm: Algorithm[Any],
    parameters: Any,
    delays: DelayModel,
    policy: ServerPolicy,
    beyond: Sequence[str],
) -> dict[str, str]:
    """Return which assumptions fail and were allowed to, with the reasons.

    Parameters
    ----------
    problem
        As :func:`looked_at` returns it.

    Raises
    ------
    AssumptionError
        If one fails that is not in ``beyond``, or without which the bound has no value.
    """
    outside: dict[str, str] = {}
    _require_objective(theorem, problem, algorithm, parameters)
    if {"R", "zeta"} & set(theorem.inputs()):
        problem.require("minimiser", theorem.id)
    for name in asked_of(theorem):
        assumed = assumption(name)
        if assumed.by_construction:
            continue
        if assumed.of == "functions":
            if name in beyond and (reason := problem.why_not(name)):
                raise AssumptionError(
                    f"--beyond {name} is not possible: the bound has no value on problem {problem.id} ({reason})"
                )
            problem.require(name, theorem.id)
            continue
        if name == "iid-events":
            reason = why_not_iid(delays, policy)
        elif name == FIXED_TIMES:
            reason = _why_not_fixed(algorithm, parameters, problem.n, delays)
        else:
            reason = algorithm.why_not(name, parameters, delays)
        if isinstance(delays, Trace) and reason == delays.memoryless:
            # One path can refute that events are i.i.d., and cannot show it: either way the theorem does not apply.
            reason = departure(delays.arrivals.actor, delays.n, delays.arrivals.time).words(delays.source)
        if reason and (name not in beyond or name == FIXED_TIMES):  # without it compute has no value
            raise AssumptionError(
                f"{theorem.id} assumes {name} ({assumed.words}), which this run under {delays.id} delays does not "
                f"meet: {reason}; "
                f"{assumed.fits}"
                + ("" if name == FIXED_TIMES else f" (or --beyond {name} to compare outside the theorem)")
            )
        if reason:
            outside[name] = reason
    return outside


def _why_not_fixed(algorithm: Algorithm[Any], parameters: Any, clients: int, delays: DelayModel) -> str:
    """Return '' if every run has its updates at the same times, and each client always takes as long, else why not."""
    if algorithm.server == "any":
        return f"a server beside the clients decides when {algorithm.id} updates"
    drawn = [one.words for one in algorithm.draws if one.when(parameters, clients)]
    if drawn:
        return f"{algorithm.id} draws {' and '.join(drawn)}"
    return "" if delays.seconds is not None else "its updates do not always take the same time"


def _require_objective(theorem: Theorem, problem: Problem, algorithm: Algorithm[Any], parameters: Any) -> None:
    """Make sure that a theorem is about the objective, and that its left side is defined for it.

    A theorem is about f alone unless it says that it covers F = f + h: nothing else is asked of its author.

    Raises
    ------
    AssumptionError
        Naming what does not fit.
    """
    if UNCONSTRAINED in theorem.core.assumed:
        problem.require(UNCONSTRAINED, theorem.id)
    if BOUNDED_DOMAIN in theorem.core.assumed:
        problem.require(BOUNDED_DOMAIN, theorem.id)
    if problem.simple is None:
        return
    if BOUNDED_DOMAIN in theorem.core.assumed and not algorithm.stays_on_set(parameters, problem.n):
        raise AssumptionError(
            f"{theorem.id} assumes {BOUNDED_DOMAIN}, and nothing shows that {algorithm.id} takes its gradients in "
            f"{problem.simple.words} alone: outside of it they may be larger than is assumed; gd would fit"
        )
    what = f"{theorem.id}: problem {problem.id} with {problem.simple.words}"
    if theorem.left.quantity is Quantity.SLOPE:
        raise AssumptionError(f"{what} has no gradient norm: F need not have a gradient; a gap or a distance would fit")
    if (
        theorem.left.quantity is Quantity.GAP
        and problem.simple.bounded
        and not algorithm.stays_feasible(parameters, problem.n)
    ):
        raise AssumptionError(
            f"{what} has an infinite gap outside, where the models of {algorithm.id} may go: not all of them are "
            "averages of local results; squared-distance would fit"
        )


def deviations(
    theorem: Theorem, algorithm: Algorithm[Any], chosen: Mapping[str, Any], beyond: Sequence[str]
) -> dict[str, str]:
    """Return the options in which the run differs from what the theorem is about.

    Raises
    ------
    AssumptionError
        If there is one and ``options`` is not in ``beyond``.
    """
    found = differences(theorem, algorithm, chosen)
    if found and "options" not in beyond:
        reason = next(iter(found.values()))
        raise AssumptionError(f"{theorem.id}: {reason} (--beyond options compares outside the theorem)")
    return found
