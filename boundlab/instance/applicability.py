"""Applicability of a theorem: whether problem, delays and options meet its assumptions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from boundlab.algorithms import Algorithm, InFlight, undeclared_draws
from boundlab.assumptions import (
    BOUNDED_DOMAIN,
    BOUNDED_RUN,
    DETERMINISTIC,
    FIXED_TIMES,
    UNBIASED,
    UNCONSTRAINED,
    assumption,
    with_implied,
)
from boundlab.delays import DelayModel, ServerPolicy, Trace, why_not_iid
from boundlab.errors import AssumptionError, SpecError
from boundlab.instance.ranges import along_run
from boundlab.instance.schedules import Schedules
from boundlab.instance.settings import differences
from boundlab.metrics import Quantity, measures
from boundlab.objective import Constant, Problem
from boundlab.theorems import Theorem, about_each, form_along_run, over, read_off_runs
from boundlab.traces import departure


def applying(theorem: Theorem, problem: Problem, beyond: Sequence[str]) -> Theorem:
    """Return the theorem, or its form along the run where nothing but bounds of gradients everywhere is missing.

    Raises
    ------
    AssumptionError
        If that is so, and the form does not apply either, since gradients have noise.
    """
    asked = [name for name in theorem.core.asked if assumption(name).of == "functions" and name not in beyond]
    missing = [name for name in asked if problem.why_not(name)]
    form = form_along_run(theorem) if missing else None
    if form is None or not all(form.points.keys() & {*assumption(name).defines} for name in missing):
        return theorem
    if read_off_runs(form) and (noisy := problem.why_not(DETERMINISTIC)):
        try:
            problem.require(missing[0], theorem.id)
        except AssumptionError as error:
            names = " and ".join(form.points)
            raise AssumptionError(f"{error}; {form.id} reads {names} off the run, but {noisy}") from None
    return form


def asked_of(theorem: Theorem) -> tuple[str, ...]:
    """Return the assumptions that problem and run are asked about: those whose constants a run shows are met there.

    A theorem is about gradients without an error, unless it says how large errors may be.
    """
    shown = read_off_runs(theorem)
    met = {name for name in theorem.core.asked if shown & {*assumption(name).defines}} | (
        {BOUNDED_RUN} if shown else set()
    )
    unbiased = (UNBIASED,) if theorem.core.unbiased else ()
    return (*unbiased, *(name for name in theorem.core.asked if name not in met))


def looked_at(theorem: Theorem, problem: Problem, run: Schedules | None = None, size: float | None = None) -> Problem:
    """Return the problem with the constants that the theorem is about: on a bounded set, where it says so.

    That is the set of h, or one that no step of the run leaves.

    Parameters
    ----------
    run
        Whose algorithm, parameters and iterations count; None: any run that keeps to what no step leaves.
    size
        The largest local step of the run; None: nobody knows it yet.
    """
    if BOUNDED_RUN in theorem.core.assumed:
        if read_off_runs(theorem):
            return problem
        flight = None if run is None else _flight(run.algorithm, run.parameters, problem.n, run.delays)
        if run is None or flight is None:
            return along_run(problem)
        from boundlab.instance.delayed import on_its_set

        return on_its_set(problem, flight, run.iterations, size)
    found = problem.on_domain() if BOUNDED_DOMAIN in theorem.core.assumed else None
    return problem if found is None else found


def _flight(algorithm: Algorithm[Any], parameters: Any, clients: int, delays: DelayModel) -> InFlight | None:
    """Return what is on its way at most; None where the delay model says by itself how old each update is."""
    return None if algorithm.follows(parameters, delays) else algorithm.in_flight(parameters, clients)


def require_steps(
    theorem: Theorem, problem: Problem, algorithm: Algorithm[Any], parameters: Any, delays: DelayModel
) -> None:
    """Make sure that a run stays where the constants hold, as :func:`looked_at` has them.

    Raises
    ------
    AssumptionError
        If its steps are too long for that, or nobody knows where it takes its gradients.
    """
    limit, largest = problem.run_limit, algorithm.largest_step(parameters, problem.n)
    if limit is None:
        return
    flies = _flight(algorithm, parameters, problem.n, delays) is not None
    if largest is None or not (flies or algorithm.stays_on_set(parameters, problem.n)):
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
        If one fails that is not in ``beyond``, or without which the left side has no value.
    """
    outside: dict[str, str] = {}
    for name in theorem.core.errors or [UNBIASED]:  # beyond these nothing goes
        problem.require(name, theorem.id)
    if (theorem.assume or theorem.points or measures(theorem.left, Quantity.CONTROL)) and problem.why_not(UNBIASED):
        raise AssumptionError(f"{theorem.id} reads gradients at points, which a problem with error=… does not show")
    _require_objective(theorem, problem, algorithm, parameters, beyond)
    if delays.rounds is not None:
        raise AssumptionError(
            f"{theorem.id}: these delays say who is in each round, and no theorem does; run follows them"
        )
    require_declared(theorem, algorithm, parameters, problem.n, delays)
    allowed = with_implied(name for name in theorem.core.asked if name in beyond)
    if {"R", "zeta"} & set(theorem.inputs()) and "minimiser" not in allowed:
        problem.require("minimiser", theorem.id)
    for name in asked_of(theorem):
        assumed = assumption(name)
        if assumed.by_construction:
            continue
        if assumed.of == "functions":
            if name not in beyond:
                problem.require(name, theorem.id)
            elif reason := problem.why_not(name):
                outside[name] = f"{name} is not met: problem {problem.id}: {reason}"
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


def defined(
    theorem: Theorem, problem: Problem, outside: Iterable[str], given: Mapping[str, Any]
) -> dict[str, Constant]:
    """Return the constants of a problem, without those that stand for nothing: only assumptions that fail define them.

    Values of these are the user's word.

    Parameters
    ----------
    outside
        The assumptions that fail, as :func:`check` returns them.
    given
        What the user sets.

    Raises
    ------
    AssumptionError
        If the bound reads such a symbol with one value a client, which nobody can set.
    SpecError
        If it reads another one that is not set.
    """
    failing = {name for name in with_implied(outside) if assumption(name).of == "functions" and problem.why_not(name)}
    met = {symbol for name in theorem.core.assumed - failing for symbol in assumption(name).defines}
    void = {symbol for name in failing for symbol in assumption(name).defines} - met
    needed = [name for name in theorem.inputs(given) if name in void - given.keys()]
    if vectors := [name for name in needed if theorem.symbols[name].vector]:
        raise AssumptionError(
            f"{theorem.id} reads {' and '.join(vectors)}, one number a client, which the problem has to give: "
            f"--beyond {' '.join(sorted(failing))} is not possible"
        )
    if needed:
        words = "; ".join(theorem.symbols[name].describe() for name in needed)
        raise SpecError(
            f"{theorem.id} goes beyond {' and '.join(sorted(failing))} on your word for {words}: add "
            f"{' '.join(f'--set {name}=…' for name in needed)}"
        )
    sizes = [symbol for name in theorem.core.errors for symbol in assumption(name).defines]
    none = dict.fromkeys(sizes, Constant(0.0, "exact", "gradients have no error"))
    return {name: one for name, one in {**none, **problem.constants()}.items() if name not in void}


def require_declared(
    theorem: Theorem, algorithm: Algorithm[Any], parameters: Any, clients: int, delays: DelayModel
) -> None:
    """Make sure that no mean over draws that nobody declared is judged by one run.

    Raises
    ------
    AssumptionError
        If runs draw what the algorithm does not say.
    """
    if about_each(theorem) or over(theorem).averaged(algorithm, parameters, clients, delays):
        return
    if reason := undeclared_draws(algorithm, parameters, clients):
        raise AssumptionError(reason)


def _why_not_fixed(algorithm: Algorithm[Any], parameters: Any, clients: int, delays: DelayModel) -> str:
    """Return '' if every run has its updates at the same times, and each client always takes as long, else why not."""
    if algorithm.server == "any":
        return f"a server beside the clients decides when {algorithm.id} updates"
    drawn = [one.words for one in algorithm.draws if one.when(parameters, clients)]
    if drawn:
        return f"{algorithm.id} draws {' and '.join(drawn)}"
    return "" if delays.seconds is not None else "its updates do not always take the same time"


def _require_objective(
    theorem: Theorem, problem: Problem, algorithm: Algorithm[Any], parameters: Any, beyond: Sequence[str]
) -> None:
    """Make sure that a theorem is about the objective, and that its left side is defined for it.

    A theorem is about f alone unless it says that it covers F = f + h: nothing else is asked of its author.

    Raises
    ------
    AssumptionError
        Naming what does not fit.
    """
    for name in (UNCONSTRAINED, BOUNDED_DOMAIN, BOUNDED_RUN):
        shown = name == BOUNDED_RUN and read_off_runs(theorem)
        if name in theorem.core.assumed and name not in beyond and not shown:
            problem.require(name, theorem.id)
    if problem.simple is None:
        return
    if (
        BOUNDED_DOMAIN in theorem.core.assumed
        and BOUNDED_DOMAIN not in beyond
        and not algorithm.stays_on_set(parameters, problem.n)
    ):
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
