"""Put a theorem, a problem, delays and an algorithm together, and check that they fit."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
import sympy

from boundlab.algorithms import Algorithm
from boundlab.arguments import checked
from boundlab.arithmetic.numbers import START_BITS, digits
from boundlab.assumptions import FIXED_TIMES
from boundlab.delays import DelayModel, ServerPolicy, frequencies
from boundlab.errors import AssumptionError, BoundlabError, InfiniteError, SilentError, SpecError, UndecidedError
from boundlab.events import Events
from boundlab.formulas.enclose import Formulas, KnownNumber, Number, at_most, fraction_of
from boundlab.formulas.symbols import SYMBOLS
from boundlab.instance.applicability import applying, check, defined, deviations, looked_at, require_steps
from boundlab.instance.readings import (
    AtEveryX,
    Sources,
    SymbolValue,
    at_start,
    formulas_at,
    grows_with,
    known_number,
    left_side,
    right_sides,
)
from boundlab.instance.schedules import (
    Schedules,
    at_options,
    chosen_window,
    filled,
    fractional_options,
    options_of,
    own_parameters,
    rates,
    split,
    taken,
)
from boundlab.metrics import Enclosure, Metric, summands, terms_of
from boundlab.objective import Constant, Problem, by_client
from boundlab.objective.facts import start_from_below
from boundlab.objective.weighted import minimised, objective_of
from boundlab.options import Options, count, nearest, number, whole
from boundlab.randomness import Floats, Ints, Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial, spaced_iterations
from boundlab.tape import RecordAt, Tape
from boundlab.theorems import SECONDS, Evaluation, Theorem

# Until which update a run goes whose theorem says within how many seconds.
#
# Times are floats, and a run in them is one in exact numbers all the same: its updates take what the floats say. So
# ``compute`` is a little more than the delays say, by more than all that rounding adds to an update, and each time is
# the number that it is. Whether an update ends within the seconds of a theorem is then decided without rounding.

MOST_UPDATES: Final = 50_000
_FIRST: Final = 64  # updates that are looked at first
_SHORT: Final = 2.0**20  # durations that are so many parts of a unit, and no longer than that, add up without rounding
_MORE: Final = 2.0**-24  # what is added to others, relatively


def compute_times(delays: DelayModel) -> dict[str, Any]:
    """Return the most seconds that updates take, of each client and from the fastest on; none where times are drawn."""
    times = delays.seconds
    if times is None:
        return {}
    most = times if _short(times) else times * (1.0 + _MORE)
    return {"compute": most, "compute_sorted": np.sort(most)}


def _short(times: Floats) -> bool:
    return bool((times * _SHORT == np.floor(times * _SHORT)).all() and times.max() <= _SHORT)


def within_seconds(theorem: Theorem, plan: "Callable[[int], Plan]", most: int) -> "Plan":
    """Return the plan up to the last update within the seconds that the theorem gives the run.

    Parameters
    ----------
    plan
        Makes it for a number of updates.
    most
        Of updates.

    Raises
    ------
    AssumptionError
        If no update ends within the time and the left side begins with one.
    SpecError
        If there are too many, or the time is another one for each horizon.
    UndecidedError
        If nothing decides whether an update ends within the time.
    """
    tried = max(min(_FIRST, most + 1), theorem.left.first)
    while True:
        found = plan(tried)
        times = _times(found, tried)
        if not _ends_within(found, float(times[-1])):
            break
        if tried > most:
            raise SpecError(f"{theorem.id}: within its time there are more than {most} updates; ask for less accuracy")
        tried = min(most + 1, 8 * tried)
    if not _ends_within(found, 0.0):
        raise AssumptionError(f"{theorem.id}: the seconds that it gives the run are negative")
    # The start is there, and the last update that was tried is too late.
    low = _first(lambda update: not _ends_within(found, float(times[update])), 0, tried) - 1
    if low < theorem.left.first:
        raise AssumptionError(
            f"{theorem.id}: {low} updates end within its time, and the left side begins at "
            f"{theorem.horizon_symbol} = {theorem.left.first}: nothing is claimed"
        )
    last = plan(low)
    if not _ends_within(last, float(times[low])) or _ends_within(last, float(times[low + 1])):
        raise SpecError(
            f"{theorem.id}: its time reads what depends on how far the run goes, and has no one last update"
        )
    return last


def _times(plan: "Plan", updates: int) -> Floats:
    """Return when the updates 0, …, ``updates`` have ended.

    Raises
    ------
    SpecError
        If rounding could add more to an update than ``compute`` allows for.
    """
    times, each = _tape(plan, np.arange(updates + 1)).record.time, plan.delays.seconds
    assert each is not None  # noqa: S101  (the theorem assumes it)
    limit = 2.0**32 if _short(each) else _MORE * 2.0**51 * float(each.min())
    if times[-1] > limit:
        raise SpecError(
            f"{plan.theorem.id}: update {updates} ends after {times[-1]:.3g} s, which floats round too much"
        )
    return times


def require_last(plan: "Plan", formulas: Formulas) -> None:
    """Make sure that the words of a case, which its floats round, end the run at the same update.

    Raises
    ------
    SpecError
        If they do not, or if nothing decides it.
    """
    last = int(plan.ks[-1])
    times, clock = _times(plan, last + 1), plan.theorem.symbols[SECONDS].symbol
    for update, wanted in ((last, True), (last + 1, False)):
        gap = clock - sympy.Rational(float(times[update]))
        with digits(START_BITS):
            sign = formulas.exact(gap)
            sign = formulas.ball(gap) if sign is None else sign
            if not (sign >= 0 if wanted else sign < 0):
                raise SpecError(
                    f"{plan.theorem.id}: as the case writes numbers down, another update than {last} may be the last "
                    f"within its time; take numbers that floats hold, such as 1/8"
                )


def events_of(plan: "Plan") -> Events:
    """Return the events of the one run up to the horizon of its plan."""
    return _tape(plan, plan.ks).events


def _tape(plan: "Plan", shown: Ints) -> Tape:
    return compile_trial(
        plan.algorithm, plan.parameters, plan.problem.n, plan.delays, plan.policy, int(shown[-1]), RecordAt(shown),
        Streams(0, 0),
    )  # fmt: skip


def _ends_within(plan: "Plan", time: float) -> bool:
    values = {name: _number(value, name, plan) for name, value in plan.values.items()}
    clock = plan.theorem.symbols[SECONDS].symbol
    found = at_most(sympy.Rational(time), clock, plan.theorem.defining(), values)
    if found is None:
        raise UndecidedError(
            f"{plan.theorem.id}: nothing decides whether {time!r} s are within the time of the theorem"
        )
    return found


def _number(value: Any, name: str, plan: "Plan") -> Number:
    if np.ndim(value):
        return tuple(map(Fraction, np.asarray(value).tolist()))
    known = fraction_of(known_number(float(value), rounded=name in plan.measured).exact)
    return Fraction(float(value)) if known is None else known


# At which numbers of iterations a theorem is compared: where it speaks, from the first such number on.


def spoken(
    theorem: Theorem, left: Metric, iterations: int, evaluate: Callable[[Ints], Evaluation]
) -> tuple[Ints, Evaluation]:
    """Return about a dozen K (or T) at which the conditions on K are met and the bound is finite, and the bounds.

    Parameters
    ----------
    left
        The left side, with the numbers of its weights.
    iterations
        The largest; the only one where the step is chosen for it.
    evaluate
        Gives the bounds at some of them.

    Raises
    ------
    SilentError, InfiniteError
        If the theorem says nothing at any of them.
    SpecError
        If there is no left side yet.
    """
    points = begun(theorem, left, np.array([iterations], dtype=np.int64))
    if theorem.horizon == "fixed":
        return points, evaluate(points)
    # A printed shape is made for large K: nothing is read off it at K = 0.
    grid = spaced_iterations(iterations, max(theorem.first_iteration, left.first, int(theorem.shape)))
    try:
        return grid, evaluate(grid)
    except (SilentError, InfiniteError):
        heard = [k for k in grid.tolist() if _speaks(evaluate, k)]
        if not heard:
            evaluate(grid[-1:])
            raise
    silent = max((k for k in grid.tolist() if k < heard[0]), default=heard[0] - 1)
    first = _first(lambda k: _speaks(evaluate, k), silent, heard[0])
    later = [k for k in spaced_iterations(iterations, first).tolist() if k > first and _speaks(evaluate, k)]
    points = np.array([first, *later], dtype=np.int64)
    return points, evaluate(points)


def begun(theorem: Theorem, left: Metric, ks: Ints) -> Ints:
    """Return those of ``ks`` at which there is a left side: a model that counts.

    Raises
    ------
    SpecError
        If there is none.
    """
    found = ks[ks >= left.first]
    if not len(found):
        raise SpecError(f"{theorem.id}: the left side begins at {theorem.horizon_symbol} = {left.first}")
    return found


def _speaks(evaluate: Callable[[Ints], Evaluation], k: int) -> bool:
    try:
        evaluate(np.array([k], dtype=np.int64))
    except (SilentError, InfiniteError):
        return False
    return True


def _first(holds: Callable[[int], bool], before: int, last: int) -> int:
    """Return from where on something holds between two numbers: by bisection, for there is one such place."""
    while last - before > 1:
        middle = (before + last) // 2
        before, last = (before, middle) if holds(middle) else (middle, last)
    return last


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Everything that a comparison needs, checked.

    Parameters
    ----------
    problem
        The one whose objective the algorithm with these parameters minimises.
    iterations, ks
        The horizon (events for AREA, server updates for the others), and the recorded iterations, shape
        (points,), all of them ≤ the horizon.
    values
        What the bound was evaluated with at the last of ks, by symbol; what is read off the schedule is that of the
        first trial, or what all trials keep where the theorem is about their mean.
    constants
        The certified constants behind those values.
    bound, terms
        Shape (points,) each: the right side and its named terms at ks, with what ``values`` has of the schedules.
    outside
        Assumptions that are not met and that the user chose to go beyond, with the reasons.
    schedules
        What is read off the schedules, None where the bound does not depend on them.
    fixed
        Values by symbol that no schedule changes.
    symbols
        All symbols that the bound reads, with values, sides and origins.
    asked
        The id of the theorem that was asked for, where its form along the run stands in its place.
    """

    theorem: Theorem
    problem: Problem
    delays: DelayModel
    policy: ServerPolicy
    algorithm: Algorithm[Any]
    parameters: Any
    parameter_values: Mapping[str, Any]
    metric: Metric
    iterations: int
    ks: Ints
    values: Mapping[str, Any]
    constants: Mapping[str, Constant]
    bound: Floats
    terms: Mapping[str, Floats]
    outside: Mapping[str, str]
    schedules: Schedules | None
    fixed: Mapping[str, Any]
    symbols: tuple[SymbolValue, ...]
    asked: str = ""

    def leaning(self, names: Collection[str]) -> "Plan":
        """Return the same, whose verdicts lean on symbols that some trial does not certify."""
        return replace(
            self, symbols=tuple(replace(one, certified=one.certified and one.name not in names) for one in self.symbols)
        )

    @property
    def random_run(self) -> tuple[Metric, Algorithm[Any], Problem, Any, DelayModel, ServerPolicy]:
        """The run that :mod:`boundlab.expectation` averages over events and noise: its functions take it first."""
        return self.metric, self.algorithm, self.problem, self.parameters, self.delays, self.policy

    @property
    def summands(self) -> list[tuple[Fraction, "Plan"]]:
        """Plans of one quantity each, whose left sides add up with these shares to that of this one."""
        if not terms_of(self.metric):
            return [(Fraction(1), self)]
        return [(share, replace(self, metric=one)) for share, one in summands(self.metric, self.problem.n)]

    @property
    def own_case(self) -> bool:
        """True if each trial has a bound for its very schedule, and so, without noise, is a case of its own."""
        return self.schedules is not None and not self.schedules.averaged

    def known(self, seen: Sequence[Mapping[str, float]] | None = None) -> list[dict[str, Any]]:
        """Return what the bound is evaluated with at each of ``ks``, by symbol.

        Parameters
        ----------
        seen
            What was read off a schedule for each of ``ks``; by default what all schedules have in common, if that is
            known.
        """
        if self.schedules is not None and (seen := seen or self.schedules.common):
            return self.schedules.known(seen, self.ks, self.fixed)
        every = self.theorem.horizon == "every"
        return [{**self.values, **({self.theorem.horizon_symbol: k} if every else {})} for k in self.ks.tolist()]

    def right_sides(self, known: Sequence[Sequence[Mapping[str, Any]]] | None = None) -> Enclosure:
        """Enclose the bound at ``ks``, or at ``ks`` for each of several schedules, one after the other.

        Parameters
        ----------
        known
            What :meth:`known` gives for each of the schedules.
        """
        return right_sides(self.theorem, [one for own in known or [self.known()] for one in own], self.measured)

    def lifted(self, excess: float, known: Sequence[Sequence[Mapping[str, Any]]] | None = None) -> bool:
        """Return whether the bound may be larger by a factor at the true R and F0, of which upper limits enter.

        A bound that grows with them is largest at these. One that falls with them may be true of the numbers alone.

        Parameters
        ----------
        excess
            The factor: a left side over the bound.
        known
            As for :meth:`right_sides`.
        """
        read = {name: one for name, one in self.constants.items() if name in self.theorem.inputs(self.fixed)}
        start = {name: one for name, one in read.items() if self.values.get(name) == one.value}
        below = start_from_below(self.problem, start)
        if not (below and self.theorem.bound.closed):  # what is iterated grows with R
            return False
        within = {name: KnownNumber.between(low, start[name].value) for name, low in below.items()}
        rows = [one for own in known or [self.known()] for one in own]
        top = right_sides(self.theorem, rows, self.measured)
        try:
            upper = right_sides(self.theorem, rows, self.measured, within).upper
        except BoundlabError:  # somewhere the bound has no value
            upper = np.full(len(rows), np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            reached = np.where(top.lower > 0.0, ~(upper / top.lower < excess), upper > 0.0)
        return bool(reached.any()) and not grows_with(self.theorem, below, rows[0])

    @property
    def measured(self) -> frozenset[str]:
        """The symbols that were read off a schedule, computed from rates, or are options: their floats may be rounded.

        An option such as a probability is the simple fraction that the law of what is drawn takes it for.
        """
        rounded = {"chi2", "pi_max"} & set(self.values) | fractional_options(self.theorem)
        return frozenset(set(self.values) - set(self.fixed) - self.theorem.read_off_runs | rounded)

    @property
    def rates(self) -> list[str]:
        """The step sizes that the theorem sets and the run has."""
        return [name for name in self.theorem.step if name in self.parameter_values]

    @property
    def one_schedule(self) -> bool:
        """True if all trials have the same schedule, whatever the delays are."""
        program = self.algorithm.program(self.parameters, self.problem.n)
        return program is not None and program.certain(self.problem.n)

    @property
    def objective(self) -> str:
        """Objective that is minimised and measured, in words."""
        return objective_of(self.problem)

    @property
    def near_minimiser(self) -> bool:
        """True if the bound rests on ‖x0 − x*‖ while no minimiser is certified: R is then that to a near one."""
        return (
            "R" in self.constants and "R" in self.theorem.inputs(self.fixed) and self.problem.optimum().distance is None
        )


@checked
def make_plan(
    theorem: Theorem,
    problem: Problem,
    delays: DelayModel,
    policy: ServerPolicy,
    iterations: int,
    settings: Mapping[str, str],
    beyond: Sequence[str] = (),
    ks: Ints | None = None,
    trials: int = 1,
    seed: int = 0,
    algorithm: Algorithm[Any] | None = None,
    most: int = MOST_UPDATES,
    forms: bool = False,
) -> Plan:
    """Check the assumptions, gather the constants, and evaluate the bound.

    Parameters
    ----------
    policy
        As :func:`boundlab.delays.read_policy` reads it for the theorem's algorithm.
    iterations
        At least 1, or 0 where the theorem is about K = 0, too: there stands what is known before anything moves. A
        statement in seconds says itself how many there are, ``most`` at most; ``ks`` is then that one.
    settings
        Algorithm parameters (M, start, clock, reply) and free symbols of the theorem (alpha, D, a_init).
        The step size is the theorem's own unless the theorem leaves it free.
    beyond
        Assumptions that may fail; the result then says so and cannot refute the theorem.
    ks
        Iterations to compare at; default: about twelve at which the theorem says something, or the horizon alone
        where the step depends on it.
    trials, seed
        Whose schedules the step size must suit where it depends on the schedule.
    algorithm
        In place of the registered one, such as one with events of its own.
    forms
        Whether the theorem's form along the run may stand in its place, where gradients have no bound everywhere.

    Raises
    ------
    AssumptionError
        If an assumption is not met and not in ``beyond``.
    SpecError
        If a setting is unknown or a number is out of range.
    """
    iterations, trials, seed = whole(iterations, "iterations"), count(trials, "trials", 1), count(seed, "seed", 0)
    if forms and (form := applying(theorem, problem, beyond)) is not theorem:
        asked = settings, beyond, ks, trials, seed, algorithm, most
        return replace(make_plan(form, problem, delays, policy, iterations, *asked), asked=theorem.id)
    planned = partial(
        _at_own_steps, theorem, problem, delays, policy, settings=settings, beyond=beyond, trials=trials, seed=seed,
        algorithm=algorithm,
    )  # fmt: skip
    if theorem.left.in_seconds:
        return within_seconds(theorem, lambda until: planned(iterations=until, ks=np.array([until])), most)
    return planned(iterations=iterations, ks=ks)


def _at_own_steps(*what: Any, **how: Any) -> Plan:
    """Return a plan whose set, if it has one, is that of its own steps: one is first made to know these."""
    first = _plan(*what, **how)
    if first.problem.run_limit != math.inf:
        return first
    return _plan(*what, **how, size=first.algorithm.largest_step(first.parameters, first.problem.n))


def _plan(
    theorem: Theorem,
    problem: Problem,
    delays: DelayModel,
    policy: ServerPolicy,
    iterations: int,
    settings: Mapping[str, str],
    beyond: Sequence[str],
    ks: Ints | None,
    trials: int,
    seed: int,
    algorithm: Algorithm[Any] | None,
    *,
    size: float | None = None,
) -> Plan:
    delays.require(problem.n)
    least = theorem.first_iteration if theorem.horizon == "every" else 1
    if iterations < min(least, 1):
        raise SpecError(f"iterations must be ≥ {min(least, 1)}, got {iterations}")
    ks = ks if iterations else np.array([0])
    may_fail = (*(one.id for one in theorem.core.asked), *theorem.assume, "options")
    for name in beyond:
        if name not in may_fail:
            raise SpecError(f"{theorem.id} does not assume {name!r}; {nearest(name, may_fail)}")
    algorithm = algorithm or lookup("algorithms", theorem.algorithm)
    chosen, rest = _settings(theorem, algorithm, settings, policy)
    schedules = Schedules(theorem, algorithm, problem.n, delays, policy, iterations, seed, {**chosen})
    problem = looked_at(theorem, minimised(problem, algorithm, schedules.parameters), schedules, size)
    outside = check(theorem, problem, algorithm, schedules.parameters, delays, policy, beyond)
    known = defined(theorem, problem, outside, rest)
    outside |= deviations(theorem, algorithm, chosen, beyond)
    read = theorem.takes
    kept = (read if algorithm.server != "any" else known.keys()) - theorem.read_off_runs
    constants = {name: one for name, one in known.items() if name in kept}
    values = _known(theorem, problem, constants, delays, policy)
    values[theorem.horizon_symbol] = iterations
    early = theorem.rule_reads | theorem.assume_reads
    given = {name: number(text, f"{theorem.id}: {name}") for name, text in rest.items() if name in early}
    at_every_x = _at_every_x(theorem, problem, {**values, **given}, beyond)
    outside |= at_every_x.outside
    values |= at_every_x.values
    filled(theorem, algorithm, chosen, {**values, **given}, partial(schedules.measured, values))
    schedules = replace(schedules, chosen={**chosen})
    theorem = at_options(theorem, algorithm, chosen, schedules.one_tape)
    schedules = replace(schedules, theorem=theorem)
    first = None if algorithm.server == "any" else schedules.tape(0)
    if first is not None and "N" in read:
        values["N"] = chosen_window(schedules, first, rest, {**at_start(theorem, problem), **values})
    scheduled = schedules.read(first, schedules.horizon(values), values) if first is not None else {}
    for parameter, (name, value) in own_parameters(theorem, algorithm, chosen, scheduled).items():
        chosen[parameter] = values[name] = value
    yours = _symbols(theorem, algorithm, rest)
    measured = dict(values)
    given = {name: value for name, value in yours.items() if name not in measured}
    schedules = replace(schedules, chosen={**chosen}, given=given)
    sources = Sources(
        theorem, problem, delays, constants, measured, scheduled, schedules.averaged, yours, at_every_x.certified
    )
    if problem.run_limit != math.inf:  # else it is not yet known what the run's own steps have
        sources.check()
    values |= sources.chosen
    worst = schedules.worst(values, scheduled, trials)
    step = theorem.step_options(worst)
    schedules = schedules.with_step_of(worst, values)
    parameter_values = {**chosen, **step}
    parameters = algorithm.read(Options(algorithm.id, parameter_values))
    require_steps(theorem, problem, algorithm, parameters, delays)
    values |= taken(theorem, step)
    followed = {one.id: one.along for one in theorem.core.asked if one.id not in beyond}
    limits = {name: (*one, values.get(one[1], known[one[1]].value)) for name, one in followed.items() if one}
    schedules = schedules.running(problem, parameter_values, limits)
    schedules.require_lag(trials)
    if first is not None and schedules.points is not None:
        first = schedules.tape(0)

    def bounds(at: Ints) -> Evaluation:
        if first is None:
            return theorem.at_iterations(values, at)
        return schedules.evaluate(schedules.read_at(first, at, values), at, values)

    left = left_side(theorem, partial(formulas_at, theorem, values, fractional_options(theorem)), iterations)
    if ks is None:
        points, evaluation = spoken(theorem, left, schedules.horizon(values), bounds)
    else:
        points = begun(theorem, left, ks)
        evaluation = bounds(points)
    along = {} if first is None else schedules.along(first, int(points[-1]), values)
    scheduled |= {name: one.value for name, one in along.items()}
    if first is not None and scheduled:
        schedules = schedules.sharing(first, points, values, trials)
    if schedules.common:
        evaluation = schedules.evaluate(schedules.common, points, values)
        scheduled |= schedules.common[-1]
    sources = replace(sources, scheduled=scheduled, along=along)
    used = {**scheduled, **schedules.pinned, **values}
    readings = _pinned(schedules, sources.readings(used, {**evaluation.derived, **step}), worst, used)
    found = Plan(
        theorem, problem, delays, policy, algorithm, parameters, parameter_values, left, iterations, points, used,
        constants, evaluation.total, evaluation.terms, outside, schedules if first is not None else None, values,
        (*readings, *at_every_x.readings),
    )  # fmt: skip
    return found if first is None else found.leaning(schedules.unenclosed(first, points, values))


def _at_every_x(theorem: Theorem, problem: Problem, values: Mapping[str, Any], beyond: Sequence[str]) -> AtEveryX:
    if not theorem.assume:
        return AtEveryX()
    from boundlab.instance.assumed import decided

    return decided(theorem, problem, values, fractional_options(theorem), beyond)


def _pinned(
    schedules: Schedules, readings: tuple[SymbolValue, ...], worst: Mapping[str, Any], used: Mapping[str, Any]
) -> tuple[SymbolValue, ...]:
    """Return the readings, where what the step was computed from says so, or the step names what the table has not."""
    apart = {name for name in worst.keys() & used.keys() if np.ndim(used[name]) == 0 and worst[name] != used[name]}

    def how(one: SymbolValue) -> str:
        if one.name in schedules.pinned:
            return "the largest of all trials' schedules: their one step is computed from it"
        read = sorted(schedules.theorem.read_by([one.name]) & apart) if one.name in schedules.theorem.step else ()
        return one.how + "".join(f"; {name} = {worst[name]:.6g} there, the largest of all trials" for name in read)

    return tuple(replace(one, how=how(one)) for one in readings)


def _known(
    theorem: Theorem,
    problem: Problem,
    constants: Mapping[str, Constant],
    delays: DelayModel,
    policy: ServerPolicy,
) -> dict[str, Any]:
    """Return what problem and delays say about the symbols."""
    values: dict[str, Any] = {name: constant.value for name, constant in constants.items()}
    values["n"] = problem.n
    if "iid-events" in theorem.core.assumed or policy.kind != "own":
        values["p"], values["p_s"] = frequencies(delays, policy)
    if "stationary-participation" in theorem.core.assumed and not delays.memoryless:
        share = delays.rates() / delays.rates().sum()
        values |= {"chi2": problem.n * float(((share - 1.0 / problem.n) ** 2).sum()), "pi_max": float(share.max())}
    if FIXED_TIMES in theorem.core.assumed:
        values |= compute_times(delays)
    each = [
        one.name
        for one in map(theorem.symbols.__getitem__, theorem.core.symbols)
        if one.vector and one.role != "schedule"
    ]
    values |= by_client(problem, (*each, *theorem.bound.replaces))
    for name in each:
        if name not in values and name in theorem.inputs(values):
            raise AssumptionError(
                f"{theorem.id} reads {name} ({theorem.symbols[name].meaning}), which nobody has found of problem "
                f"{problem.id}"
            )
    unread = theorem.unused(values)
    return {name: value for name, value in values.items() if name not in unread}


def _settings(
    theorem: Theorem, algorithm: Algorithm[Any], settings: Mapping[str, str], policy: ServerPolicy
) -> tuple[dict[str, Any], dict[str, str]]:
    """Tell parameters of the algorithm from symbols of the theorem; the server policy may set one too."""
    count = settings.get("count")
    if count is not None and (algorithm.server == "any" or str(policy.count or count) != count):
        raise SpecError("count belongs to the server policy: server count:every=…")
    chosen, rest = split(theorem, algorithm, settings)
    return chosen if policy.count is None else {**chosen, "count": policy.count}, rest


def _symbols(theorem: Theorem, algorithm: Algorithm[Any], rest: Mapping[str, str]) -> dict[str, float]:
    """Read the symbols that the user sets."""
    free = theorem.free() - {theorem.horizon_symbol}
    found: dict[str, float] = {}
    for key, text in rest.items():
        if key in free and not theorem.symbols[key].vector:
            found[key] = number(text, f"{theorem.id}: {key}")
        elif key in rates(theorem, algorithm):
            raise SpecError(
                f"{theorem.id} sets its own step size; {key} cannot be chosen (a fixed-step theorem takes any alpha)"
            )
        elif key == theorem.horizon_symbol:
            raise SpecError(f"{key} counts the iterations; the option iterations sets it")
        elif key in theorem.symbols and theorem.symbols[key].vector:
            raise SpecError(f"{key} holds one number a client and comes from problem and delays; it cannot be set")
        elif key in SYMBOLS:
            raise SpecError(f"{theorem.id} does not read {key} ({SYMBOLS[key].meaning}); leave it out")
        else:
            raise SpecError(
                f"{key!r} is neither a free symbol of {theorem.id} nor a parameter of {algorithm.id}; "
                f"{nearest(key, free | options_of(theorem, algorithm))}"
            )
    return found
