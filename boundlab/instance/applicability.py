"""Applicability of a theorem: whether problem, delays and options meet its assumptions."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from boundlab.algorithms import Algorithm, Averages, InFlight, undeclared_draws
from boundlab.assumptions import (
    BOUNDED_DOMAIN,
    BOUNDED_RUN,
    DETERMINISTIC,
    FIXED_TIMES,
    UNBIASED,
    UNCONSTRAINED,
    Assumption,
    assumption,
    with_implied,
)
from boundlab.delays import DelayModel, ServerPolicy, Trace, why_not_iid
from boundlab.errors import AssumptionError, CertificateError, SpecError
from boundlab.instance.schedules import Schedules, differences
from boundlab.metrics import MEAN, Metric, Proved, Quantity, of_models, range_of, terms_of
from boundlab.objective import Constant, Optimum, Problem, Wrapped
from boundlab.objective.confinement import InvariantBall, InvariantSet, InvariantSets, Pull, plain
from boundlab.randomness import Floats, Ints
from boundlab.theorems import Theorem, about_each, form_along_run, load_theorem, over

# From sets that no step leaves to the range of a left side.
#
# x_s is a convex combination of x0 and of results of local passes from earlier x_s
# (:class:`boundlab.algorithms.Averages`), so that by induction a convex set with x0 that no local step leaves holds
# every x_s, and a ball around z whose radius grows with the number of passes does, too:
#
# - ‖x − αg − z‖ ≤ ‖x − z‖ + α‖g‖;
# - ‖x − αg − z‖² ≤ ‖x − z‖² + 2α(h(z) − inf h) + α²‖g‖² for a (sub)gradient g of a drawn convex function h.
#
# Averages of iterates obey the average of such limits, since ‖·‖ and ‖·‖² are convex.

_UP = 1.0 + 1e-12
_BELOW = 1e-12


@final
@dataclass(frozen=True, slots=True)
class MetricEnclosure:
    """Between which numbers a left side lies for every event sequence and every mini-batch.

    Parameters
    ----------
    low, high
        Shape (points,), in the units of the metric; ``high`` is infinite where nothing is known. They are equal, up
        to the certificate of the optimum, where no pass has reached the model yet.
    how
        Why, at the last point.
    """

    low: Floats
    high: Floats
    how: str


def certain_range(
    metric: Metric, problem: Problem, algorithm: Algorithm[Any], parameters: Any, ks: Ints
) -> MetricEnclosure | None:
    """Return the range of the left side at each of ``ks``, or None where nothing is known.

    Parameters
    ----------
    ks
        Shape (points,): iterations.
    """
    averages = algorithm.averages(parameters, problem.n)
    if terms_of(metric) or not metric.quantity.of_model:  # these are the limits of one quantity, and of no sum
        return None
    if problem.simple is not None:  # the rules above are those of gradient steps, and ∇f(x*) = 0
        return None
    weighed = range_of(metric) is not None
    if averages is None or metric.over.at_mean or not (metric.over.one_record or metric.over is MEAN or weighed):
        return None
    known = [found for found in (problem.confinement(), of_constants(problem)) if found is not None]
    if weighed:  # no model that counts is behind more passes than the last one
        depth = averages.depth(ks).astype(np.float64)
    elif metric.over.averages_iterates:
        depth = averages.mean_depth(ks)
    else:  # the mean over versions 0 … T − 1 is at most the largest of them
        depth = averages.depth(ks - 1 if metric.over is MEAN else ks).astype(np.float64)
    start = _at_start(metric, problem)
    if start is None:
        return None
    high, how = _high(metric, problem, known, averages, depth, start[1])
    low = np.zeros(len(ks))
    low[depth == 0.0], high[depth == 0.0] = start
    return MetricEnclosure(low, high, how) if np.isfinite(high).any() else None


def _at_start(metric: Metric, problem: Problem) -> tuple[float, float] | None:
    """Return between which numbers the quantity at x0 is proved to lie, or None if the problem does not give it.

    R and F0 bound it, too, to the last digit: so do the theorems that are tight at the start.
    """
    try:
        _, low, high = metric.at(Proved(problem), (problem.x0, 0.0))
    except (CertificateError, SpecError):
        return None
    known = problem.constants()
    if metric.quantity is Quantity.GAP and "F0" in known:
        high = min(high, known["F0"].value)
    if metric.quantity is Quantity.DISTANCE and "R" in known:
        square = known["R"].value ** 2
        high = min(high, math.nextafter(square, math.inf) if square < Fraction(known["R"].value) ** 2 else square)
    return low, high


def _high(
    metric: Metric, problem: Problem, known: list[InvariantSets], averages: Averages, depth: Floats, start: float
) -> tuple[Floats, str]:
    """Return the smallest upper limits that the rules give, and which rule gives the last."""
    constants = {name: one.value for name, one in problem.constants().items()}
    x0 = plain(problem.x0)
    found = [
        (_from_start(metric.quantity, constants, start, away), how)
        for away, how in _reaches(known, averages, depth, x0, x0)
    ]
    if metric.quantity is not Quantity.SLOPE:
        best = problem.optimum()
        found += [
            (_from_best(metric.quantity, constants, best, away), how)
            for away, how in _reaches(known, averages, depth, plain(best.x), x0)
        ]
    elif "B" in constants:
        found.append((np.full(len(depth), constants["B"] ** 2), "no gradient is longer than B"))
    high, how = np.full(len(depth), np.inf), ""
    for limit, why in found:
        how = why if limit[-1] < high[-1] else how
        high = np.minimum(high, limit)
    return high * _UP, how


def _from_start(quantity: Quantity, constants: Mapping[str, float], start: float, away: Floats) -> Floats:
    """Return the largest quantity at points at most ``away`` from x0, where it is ``start``; shape (points,)."""
    B, L = constants.get("B", np.inf), constants.get("L", np.inf)
    if quantity is Quantity.GAP:
        return start + _times(B, away)
    moved = away if quantity is Quantity.DISTANCE else _times(L, away)
    out: Floats = (np.sqrt(start) + moved) ** 2
    return out


def _from_best(quantity: Quantity, constants: Mapping[str, float], best: Optimum, away: Floats) -> Floats:
    """Return the largest quantity at points at most ``away`` from the solver's point, shape (points,)."""
    near = away + (np.inf if best.distance is None else best.distance)
    if quantity is Quantity.DISTANCE:
        return near**2
    smooth = _times(constants.get("L", np.inf), near**2) / 2.0
    return np.minimum(smooth, _times(constants.get("B", np.inf), away) + best.gap)


def _times(constant: float, away: Floats) -> Floats:
    """Return their product; infinite where either is, even if the other is 0."""
    known = np.isfinite(away) & np.isfinite(constant)
    return np.where(known, constant * np.where(known, away, 0.0), np.inf) if np.isfinite(constant) else away + np.inf


def _reaches(
    known: list[InvariantSets], averages: Averages, depth: Floats, z: Floats, x0: Floats
) -> Iterator[tuple[Floats, str]]:
    """Yield upper limits of the distance of models to z, shape (points,), and why they hold."""
    size, steps, start = averages.step_size, averages.steps * depth, float(np.linalg.norm(x0 - z)) * _UP
    for one in known:
        for region in one.regions(size):
            yield np.full(len(depth), region.farthest(z)), region.how
        steepest = one.steepest()
        if steepest is None:
            continue
        yield start + steps * size * steepest, "no step is longer than the step size times the largest slope"
        excess = one.excess(z)
        if excess is not None:
            yield (
                np.sqrt(start**2 + steps * (2.0 * size * excess + (size * steepest) ** 2)),
                "one step grows it by no more than the loss explains",
            )


@final
@dataclass(frozen=True, slots=True)
class OfConstants(InvariantSets):
    """Full (sub)gradient steps on functions with the constants of a problem.

    - ‖g‖ ≤ B.
    - If every f_i is mu-strongly convex and L-smooth and α ≤ 2/(mu + L), a step brings any two points nearer by the
      factor 1 − α·mu (Nesterov, Introductory Lectures, Theorem 2.1.12), so
      ‖x − α∇f_i(x) − x*‖ ≤ (1 − α·mu)‖x − x*‖ + α‖∇f_i(x*)‖: balls around x* with a radius of max‖∇f_i(x*)‖/mu or
      more keep their points.
    - The same of late gradients: for ‖y_k − x‖ ≤ D and t = Σ s_k ≤ 2/(mu + L), Σ s_kf_k/t is one more such function,
      and its gradient at x differs from Σ s_k∇f_k(y_k)/t by at most L·D.
    """

    problem: Problem

    def regions(self, step_size: float) -> Sequence[InvariantSet]:
        """Return the ball around x* that contains x0, where the step size allows it."""
        # Moved from x* to the solver's point, which is at most ``off`` away.
        return [
            InvariantBall(one.centre, (max(one.start, one.slope / one.mu) + one.off) * _UP, "every step contracts")
            for one in self.pulls()
            if step_size <= one.longest
        ]

    def pulls(self) -> Sequence[Pull]:
        """Return the pull towards x*."""
        constants = self.problem.constants()
        mu, L = constants.get("mu"), constants.get("L")
        if mu is None or L is None or mu.value <= 0.0 or "R" not in constants:
            return ()
        norms, best = self.problem.gradient_norms_at_optimum(), self.problem.optimum()
        if norms is None or best.distance is None:
            return ()
        slope, longest = float(norms.max()), 2.0 * (1.0 - _BELOW / 8.0) / (mu.value + L.value)
        return (Pull(plain(best.x), constants["R"].value, slope, mu.value, L.value, longest, best.distance),)

    def steepest(self) -> float | None:
        """Return B."""
        found = self.problem.constants().get("B")
        return None if found is None else found.value


def along_run(problem: Problem) -> Problem:
    """Return a problem with the constants along its runs, or itself where no bounded set is known that these keep to.

    The set is that of steps up to 1/L, or all but: where all curvatures are L, rounding finds 1/L too long.
    """
    known = [found for found in (problem.confinement(), of_constants(problem)) if found is not None]
    L = problem.constants().get("L")
    if L is None or L.value <= 0.0 or isinstance(problem, Wrapped):  # what a wrapper makes of constants is its own
        return problem
    from boundlab.objective.composite import AlongRun

    for limit in (1.0 / L.value, (1.0 - _BELOW) / L.value):
        if regions := [region for one in known for region in one.regions(limit)]:
            return AlongRun(problem, min(regions, key=lambda one: one.around()[2]), limit)
    return problem


def of_constants(problem: Problem) -> OfConstants | None:
    """Return what the constants say; None where gradients have noise or an error: of these they say nothing certain."""
    return OfConstants(problem) if problem.noiseless and not problem.why_not(UNBIASED) else None


# Sets that no schedule leaves, however late updates are: for a server that adds differences which clients make.
#
# Let v be the server's model with all updates in it that have begun, whenever they enter. It differs from the server's
# model x by the updates on their way, whose total weight has a limit (:class:`boundlab.algorithms.InFlight`), and it
# moves by updates that begin at x. So staleness needs no limit: docs/theory/fedstaleweight.md has the proof.

_LOAD = 0.9  # of steps before anybody knows how long they are: at 1 there is no ball


def reach(pull: Pull, flight: InFlight, size: float) -> float | None:
    """Return the radius around the centre that no schedule leaves with local steps of at most a size; None: no ball."""
    total = flight.steps * size
    if max(size, flight.begun * total) * _UP > pull.longest:
        return None
    ahead = flight.pending * total
    away = ahead + (ahead + (flight.steps - 1) * size) * (pull.L / pull.mu)
    load = pull.L * away * _UP
    if load >= 1.0:
        return None
    settled = (pull.slope / pull.mu + away * pull.slope) / (1.0 - load)
    return max(settled, (pull.start + ahead * pull.slope) / (1.0 - pull.L * ahead * _UP)) * _UP


def drifted(pull: Pull, flight: InFlight, size: float, last: int) -> float | None:
    """Return a radius that no schedule leaves within ``last`` server updates: it grows with every one."""
    if size * _UP > pull.longest:
        return None
    shift, rate = pull.slope / pull.L, pull.L * flight.used * flight.steps * size * _UP
    with np.errstate(over="ignore"):
        grown = float(np.exp(last * np.log1p(rate))) * (max(pull.start, pull.slope / pull.mu) + shift) - shift
    return grown * _UP if math.isfinite(grown) else None


def on_its_set(problem: Problem, flight: InFlight, last: int, size: float | None) -> Problem:
    """Return a problem with the constants on a set that no schedule leaves, or itself where nobody knows such a set.

    Parameters
    ----------
    last
        How many server updates the run has.
    size
        The largest local step; None: nobody knows it yet, and the constants are those of any steps with a set.
    """
    known = [found for found in (problem.confinement(), of_constants(problem)) if found is not None]
    pulls = [] if isinstance(problem, Wrapped) else [pull for one in known for pull in one.pulls()]
    if not pulls:
        return problem
    tried = max(_shortest(pull, flight) for pull in pulls) if size is None else size
    within = [(reach(pull, flight, tried), pull) for pull in pulls]
    words = "the set that no schedule leaves"
    if all(radius is None for radius, _ in within):
        within = [(drifted(pull, flight, tried, last), pull) for pull in pulls]
        words = f"the set that no schedule leaves within {last} updates"
    balls = [
        InvariantBall(pull.centre, radius + pull.off, "late updates are pulled back")
        for radius, pull in within
        if radius is not None
    ]
    if not balls:
        return problem
    from boundlab.objective.composite import AlongRun

    limit = math.inf if size is None else size
    return AlongRun(problem, min(balls, key=lambda one: one.radius), limit, words)


def _shortest(pull: Pull, flight: InFlight) -> float:
    """Return a local step with which there is a ball around the centre."""
    ahead = flight.pending * flight.steps
    load = pull.L * (ahead + (ahead + flight.steps - 1) * (pull.L / pull.mu))
    most = max(1.0, flight.begun * flight.steps) * _UP / pull.longest
    return 1.0 / max(load / _LOAD, most * _UP)


def applying(theorem: Theorem, problem: Problem, beyond: Sequence[str]) -> Theorem:
    """Return the theorem, or its form along the run where nothing but bounds of gradients everywhere is missing.

    Raises
    ------
    AssumptionError
        If that is so, and the form does not apply either, since gradients have noise.
    """
    asked = [one for one in theorem.core.asked if one.of == "functions" and one.id not in beyond]
    missing = [one for one in asked if problem.why_not(one.id)]
    form = form_along_run(theorem) if missing else None
    if form is None or not all(form.points.keys() & {*one.defines} for one in missing):
        return theorem
    if form.read_off_runs and (noisy := problem.why_not(DETERMINISTIC)):
        try:
            problem.require(missing[0].id, theorem.id)
        except AssumptionError as error:
            names = " and ".join(form.points)
            raise AssumptionError(f"{error}; {form.id} reads {names} off the run, but {noisy}") from None
    return form


def _require(problem: Problem, assumed: Assumption, theorem: Theorem) -> None:
    """Raise AssumptionError if a problem does not meet an assumption; it names the repairs that ask less."""
    try:
        problem.require(assumed.id, theorem.id)
    except AssumptionError as error:
        forms = [form_along_run(load_theorem(one)) for one in theorem.repaired_by]
        less = [form.id for form in forms if form is not None and {*assumed.defines} & form.points.keys()]
        if not less:
            raise
        told = f"true instead, with {assumed.id} along the run only: {', '.join(less)}"
        raise AssumptionError(f"{error}; {told}") from None


def asked_of(theorem: Theorem) -> tuple[Assumption, ...]:
    """Return the assumptions that problem and run are asked about: those whose constants a run shows are met there.

    A theorem is about gradients without an error, unless it says how large errors may be.
    """
    shown = theorem.read_off_runs
    met = {one.id for one in theorem.core.asked if shown & {*one.defines}} | ({BOUNDED_RUN} if shown else set())
    unbiased = (assumption(UNBIASED),) if theorem.core.unbiased else ()
    return (*unbiased, *(one for one in theorem.core.asked if one.id not in met))


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
        if theorem.read_off_runs:
            return problem
        flight = None if run is None else _flight(run.algorithm, run.parameters, problem.n, run.delays)
        if run is None or flight is None:
            return along_run(problem)

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
    if (theorem.assume or theorem.points or not of_models(theorem.left)) and problem.why_not(UNBIASED):
        raise AssumptionError(f"{theorem.id} reads gradients at points, which a problem with error=… does not show")
    _require_objective(theorem, problem, algorithm, parameters, beyond)
    if delays.rounds is not None:
        raise AssumptionError(
            f"{theorem.id}: these delays say who is in each round, and no theorem does; run follows them"
        )
    require_declared(theorem, algorithm, parameters, problem.n, delays)
    allowed = with_implied(one.id for one in theorem.core.asked if one.id in beyond)
    if {"R", "zeta"} & set(theorem.inputs()) and "minimiser" not in allowed:
        problem.require("minimiser", theorem.id)
    for assumed in asked_of(theorem):
        name = assumed.id
        if assumed.by_construction:
            continue
        if assumed.of == "functions":
            if name not in beyond:
                _require(problem, assumed, theorem)
            elif reason := problem.why_not(name):
                outside[name] = f"{name} is not met: problem {problem.id}: {reason}"
            if assumed.along and name in beyond:
                outside[name] = f"{name} is not looked at"
            elif assumed.along and over(theorem).averaged(algorithm, parameters, problem.n, delays):
                raise AssumptionError(
                    f"{theorem.id} assumes {name} of all runs that it takes the mean of, and no one run shows where "
                    'the others go; full gradients in a fixed order, or about = "each schedule", would fit'
                )
            continue
        if name == "iid-events":
            reason = why_not_iid(delays, policy)
        elif name == FIXED_TIMES:
            reason = _why_not_fixed(algorithm, parameters, problem.n, delays)
        else:
            reason = algorithm.why_not(name, parameters, delays)
        if isinstance(delays, Trace) and reason == delays.memoryless:
            from boundlab.traces import departure

            # One path can refute that events are i.i.d., and cannot show it: either way the theorem does not apply.
            reason = departure(delays.arrivals.actor, delays.n, delays.arrivals.time).words(delays.source)
        if reason and (name not in beyond or name == FIXED_TIMES):  # without it compute has no value
            raise AssumptionError(
                f"{theorem.id} assumes {name} ({assumed.words}), which this run under {delays.id} delays does not "
                f"meet: {reason}; "
                f"{assumed.fits}"
                + ("" if name == FIXED_TIMES else f" (or go beyond {name} to compare outside the theorem)")
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
            f"it does not go beyond {' and '.join(sorted(failing))}"
        )
    if needed:
        words = ", ".join(f"{name}, the {theorem.symbols[name].meaning}" for name in needed)
        raise SpecError(
            f"beyond {' and '.join(sorted(failing))} the bound of {theorem.id} takes your word for {words}: set "
            f"{', '.join(f'{name}=…' for name in needed)}"
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
        shown = name == BOUNDED_RUN and theorem.read_off_runs
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
        raise AssumptionError(f"{theorem.id}: {reason} (or go beyond options to compare outside the theorem)")
    return found
