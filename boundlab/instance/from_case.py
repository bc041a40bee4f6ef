"""A case file as a plan: the same checks as a comparison, on explicit or on random events."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, final

import numpy as np

from boundlab.algorithms import Algorithm, EventProgram, InFlight, undeclared_draws
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.rational import TooLongError
from boundlab.case import Case, RandomEvents, build_delays, plain
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import AssumptionError, SpecError
from boundlab.events import Events
from boundlab.expectation import event_law, exact_parameters, why_no_law
from boundlab.formulas.enclose import Formulas, scalar
from boundlab.instance.plan import Plan, make_plan
from boundlab.instance.readings import SymbolValue
from boundlab.instance.schedules import parameters, rates, split
from boundlab.metrics import Certified, terms_of
from boundlab.randomness import Streams
from boundlab.simulate.work import compile_trial
from boundlab.tape import NOTHING, RecordAt, Tape
from boundlab.theorems import Theorem, about_each, over
from boundlab.verdict import Verdict

if TYPE_CHECKING:
    from boundlab.classes import Formal

# Conditional verdicts: those that depend on values which nothing certifies.

Judged = tuple[Verdict, str]
P = ParamSpec("P")
_WEAKER = {Verdict.VIOLATED: Verdict.INCONCLUSIVE, Verdict.HOLDS: Verdict.CONSISTENT}


def uncertified(readings: Iterable[SymbolValue]) -> tuple[str, ...]:
    """Return the values that nothing certifies, in words."""
    return tuple(reading.words() for reading in readings if not reading.certified)


def conditional(values: Sequence[str], verdict: Verdict, reason: str) -> Judged:
    """Return what may be said where a verdict depends on uncertified ``values``, in words.

    ``violated`` becomes ``inconclusive``, for the true value may give a larger bound; ``holds`` becomes
    ``consistent``. Both name the values.
    """
    if not values or verdict not in (*_WEAKER, Verdict.CONSISTENT):
        return verdict, reason
    return _WEAKER.get(verdict, verdict), f"{verdict}, if {' and '.join(values)}: {reason}"


def qualified(judge: Callable[Concatenate[Plan, P], Judged]) -> Callable[Concatenate[Plan, P], Judged]:
    """Make what a judge of plans says conditional on the readings of the plan."""

    @wraps(judge)
    def careful(plan: Plan, /, *args: P.args, **kwargs: P.kwargs) -> Judged:
        return conditional(uncertified(plan.symbols), *judge(plan, *args, **kwargs))

    return careful


# Vacuous bounds: those that are not below the left side of a run that never moves.

_EQUAL: Final = 1e-9


def never_moving(plan: Plan, smallest: float) -> tuple[float, str]:
    """Compare a bound with the error of never moving.

    A start at a minimiser is no such case: what a bound says there is how far noise may drive the iterates.

    Parameters
    ----------
    smallest
        The smallest bound in question, in the units of the metric.

    Returns
    -------
    The left side of a run that stays at x0, the same at every horizon and NaN where it is not known; and a half
    sentence, empty unless the bound is not below that: the theorem is then vacuous here.
    """
    if terms_of(plan.metric):  # of a run that never moves only the model is known
        return np.nan, ""
    level = float(plan.metric.at(Certified(plan.problem), plan.problem.x0)[0])
    below = plan.theorem.shape or level <= 0.0 or not smallest >= level * (1.0 - _EQUAL)
    return level, "" if below else f"the bound is not below {level:.3g}, the error of never moving"


def headline(verdict: Verdict, vacuous: str) -> str:
    """Return a verdict in words, with the addition where the theorem is ``vacuous`` here."""
    return f"{verdict.value}, but vacuous here" if vacuous else verdict.value


# The run of a plan with its numbers as they stand: options at their word, steps by the theorem's formulas.


def exact_rate(plan: Plan, formulas: Formulas, name: str, *, balls: bool) -> Scalar:
    """Return what the theorem sets, or the option that stands in the run.

    Parameters
    ----------
    formulas
        What the theorem's symbols are, its step size among them.
    balls
        Whether it may be a ball of the present precision.

    Raises
    ------
    TooLongError
        If it may not, and is no rational number.
    """
    values, theorem = plan.parameter_values, plan.theorem
    if name not in theorem.step:
        return numbers.rational(Fraction(values[name]))
    symbol = theorem.symbols[name].symbol
    if balls:
        return formulas.ball(symbol)
    exact = scalar(formulas.exact(symbol))
    if exact is None or isinstance(exact, numbers.Surd):
        raise TooLongError(f"{name} is no rational number")
    return exact


def exact_rates(plan: Plan, formulas: Formulas, *, balls: bool) -> list[Scalar]:
    """Return all rates in the order in which :func:`exact_tape` takes them."""
    return [exact_rate(plan, formulas, name, balls=balls) for name in plan.rates]


def exact_tape(plan: Plan, streams: Streams, records: RecordAt | None = None) -> Tape:
    """Return the tape of one trial with numbers that know what they stand for.

    Parameters
    ----------
    streams
        Those of the trial.
    records
        What it shows; None: what the metric needs at plan.ks.
    """
    shown = plan.metric.records(plan.ks) if records is None else records
    parameters = exact_parameters(plan.algorithm, plan.parameter_values, plan.rates)
    return compile_trial(
        plan.algorithm, parameters, plan.problem.n, plan.delays, plan.policy, plan.iterations, shown, streams
    )


# Membership of the runs in hand in the class that a theorem's proof is about, decided on them.

LOOKED: Final = 20_000  # iterations of all runs together: about half a second
_DRAWN: Final = 256  # events of a program


@final
@dataclass(frozen=True, slots=True)
class Membership:
    """Where runs stand to the class that a proof is about.

    Parameters
    ----------
    of
        The class.
    runs
        How many runs were looked at, in words.
    iterations
        How far; 0: to their ends.
    tau_max
        The most updates that a pass was late; None where that has no meaning.
    outside
        Where the first run that is not in the class is otherwise; empty where all are in it.
    """

    of: str
    runs: str
    iterations: int = 0
    tau_max: int | None = None
    outside: str = ""

    @property
    def words(self) -> str:
        """One sentence."""
        if self.outside:
            return f"the proof does not speak of this run (class {self.of}): {self.outside}"
        late = "" if self.tau_max is None else f", tau_max = {self.tau_max}"
        far = f", the first {self.iterations} iterations looked at" if self.iterations else ""
        return f"the proof speaks of {self.runs} (class {self.of}{late}{far})"


def proved(theorem: Theorem) -> bool:
    """Return whether a registered proof ends in this theorem; a paper's own proof as printed is none."""
    return bool(theorem.proofs) and not theorem.of_paper and theorem.status != "user"


def of_runs(plan: Plan, trials: int, seed: int) -> Membership | None:
    """Decide whether the trials of a plan are in the class of their theorem's proof; None where it has none.

    Parameters
    ----------
    trials
        How many there are; 0: an expectation was computed, and events of the program are drawn.
    """
    if not proved(plan.theorem):
        return None
    from boundlab.classes import drawn, of_program, of_tape

    n = plan.problem.n
    if not trials and (program := _program(plan)) is not None:
        events = drawn(program, event_law(plan.delays, plan.policy), _DRAWN, seed)
        return _decided(plan, [of_program(program, n, events)], f"what was averaged, as {_DRAWN} of its events show")
    trials = max(trials, 1)
    far, looked = min(plan.iterations, max(1, LOOKED // trials)), min(trials, LOOKED)
    runs = "the run" if trials == 1 else f"all {trials} runs" if looked == trials else f"{looked} of {trials} runs"
    run = (plan.algorithm, plan.parameters.known(), n, plan.delays, plan.policy, far, NOTHING)
    tapes = (compile_trial(*run, Streams(seed, trial)) for trial in range(looked))
    return _decided(plan, map(of_tape, tapes), runs, far if far < plan.iterations else 0)


def of_events(plan: Plan, events: Events | None) -> Membership | None:
    """Decide whether one run is in the class of its theorem's proof.

    Parameters
    ----------
    events
        Of the run; None: an expectation over drawn ones was computed.
    """
    if events is None:
        return of_runs(plan, 0, 0)
    if not proved(plan.theorem):
        return None
    from boundlab.classes import of_tape

    tape = plan.algorithm.schedule(plan.parameters.known(), events, plan.problem.n, NOTHING, plan.iterations)
    return _decided(plan, [of_tape(tape)], "the run")


def _program(plan: Plan) -> EventProgram | None:
    """Return the program of which expectations are taken, where events are drawn independently."""
    try:
        program = plan.algorithm.program(plan.parameters.known(), plan.problem.n)
    except SpecError:
        return None
    return None if program is None or why_no_law(program, plan.delays, plan.policy) else program


def _decided(plan: Plan, runs: "Iterable[Formal]", words: str, far: int = 0) -> Membership:
    from boundlab.classes import class_of

    known, late = class_of(plan.algorithm, plan.parameters.known(), plan.problem.n), list[int]()
    for run in runs:
        for why in known.why_not(run):
            return Membership(known.id, words, outside=why)
        late += known.staleness(run)
    return Membership(known.id, words, far, max(late, default=None))


# A step size that a file writes down is the theorem's own if it is so near: files keep fewer digits.
_WRITTEN: Final = 1e-9


@final
class FixedEvents(Algorithm[Any]):
    """An algorithm whose every trial has the events of a case; all else is that of the algorithm itself."""

    # What says something of other events than these stands here; the algorithm itself is asked for everything else.
    OWN: Final = frozenset(
        ("inner", "events", "arrivals", "draws", "sample", "program", "under", "in_one_pass", "in_flight", "averages")
    )

    def __init__(self, inner: Algorithm[Any], events: Events) -> None:
        self.inner, self.events = inner, events
        self.arrivals, self.draws = False, ()  # nothing is left to chance

    def __getattribute__(self, name: str) -> Any:
        """Return what the algorithm has of that name, apart from :data:`OWN`."""
        own = name in FixedEvents.OWN or name.startswith("__")
        return object.__getattribute__(self, name) if own else getattr(self.inner, name)

    def sample(
        self, parameters: Any, delays: DelayModel, policy: ServerPolicy, streams: Streams, clients: int, count: int
    ) -> Events:
        """Return the events of the case."""
        return self.events

    def in_flight(self, parameters: Any, clients: int) -> InFlight | None:
        """Return that of the algorithm, unless the events say how old their models are."""
        given = self.events.detail and self.inner.updates_a_version(parameters) is not None
        return None if given else self.inner.in_flight(parameters, clients)


def given(case: Case) -> dict[str, Any]:
    """Return the parameters and settings of a case, as they stand there."""
    return {**case.raw.get("settings", {}), **case.raw.get("parameters", {})}


def own_rates(theorem: Theorem, case: Case) -> dict[str, Any]:
    """Return the rates that stand in the case although the theorem sets them itself."""
    set_by_theorem = rates(theorem, case.algorithm) - theorem.free()
    return {name: value for name, value in given(case).items() if name in set_by_theorem}


def plan_of(theorem: Theorem, case: Case) -> Plan:
    """Check a case against a theorem, as a comparison would.

    Raises
    ------
    AssumptionError
        If an assumption is not met, or the step size of the case is not that of the theorem.
    SpecError
        If case and theorem do not fit.
    """
    if case.algorithm.id != theorem.algorithm:
        raise SpecError(f"{theorem.id} is about {theorem.algorithm}, the case about {case.algorithm.id}")
    own = own_rates(theorem, case)
    settings = {name: _setting(value) for name, value in given(case).items() if name not in own}
    plan = (
        _random(theorem, case, case.events, settings)
        if isinstance(case.events, RandomEvents)
        else _fixed(theorem, case, case.events, settings)
    )
    for name, value in own.items():
        want, got = plan.parameter_values.get(name), plain(value)
        if want is None:
            raise AssumptionError(
                f"{theorem.id} says what {' and '.join(theorem.step)} is; leave {name} = {value} out of the case"
            )
        if not isinstance(got, (int, float)) or abs(got - want) > _WRITTEN * abs(want):
            raise AssumptionError(
                f"{theorem.id} sets {name} = {want} itself; the case has {name} = {value}, which may be left out"
            )
    return plan


def _setting(value: Any) -> Any:
    found = plain(value)
    if isinstance(found, float) and found.is_integer():
        return str(int(found))
    return repr(found) if isinstance(found, float) else str(found) if isinstance(found, int) else found


def _random(theorem: Theorem, case: Case, law: RandomEvents, settings: dict[str, Any]) -> Plan:
    if case.iterations is None:
        raise SpecError('a case of random events needs "iterations", how many there are')
    if law.policy.count is not None and settings.get("count") == str(law.policy.count):
        del settings["count"]
    return make_plan(
        theorem, case.problem, law.delays, law.policy, case.iterations, settings, ks=_at(theorem, case, case.iterations)
    )


def _fixed(theorem: Theorem, case: Case, events: Events, settings: dict[str, Any]) -> Plan:
    for name in over(theorem).laws:
        raise AssumptionError(
            f"{theorem.id} assumes {name} and bounds a mean over random events; this case has one explicit "
            'schedule: give "delays" and "iterations" in place of "events"'
        )
    if case.algorithm.server == "any":
        raise SpecError(f'theorems about {case.algorithm.id} are about random events; give "delays" and "iterations"')
    clients = case.problem.n
    algorithm = FixedEvents(case.algorithm, events)
    own = parameters(theorem, algorithm, split(theorem, algorithm, settings)[0])
    drawn = [one for one in case.algorithm.draws if one.when(own, clients)]
    if not about_each(theorem) and (reason := undeclared_draws(case.algorithm, own, clients)):
        raise AssumptionError(reason)
    if any(over(theorem)[one.id] == "averaged" for one in drawn):
        raise AssumptionError(
            f"{theorem.id} bounds the mean over {' and '.join(one.words for one in drawn)}; this case has one outcome: "
            'give "delays" and "iterations" in place of "events"'
        )
    if place := _impossible(case.algorithm, own, clients, events):
        raise AssumptionError(
            f"{theorem.id} is about what {case.algorithm.id} draws: event {place} of this case is none with its options"
        )
    most = algorithm.schedule(own, events, clients, NOTHING, 4 * len(events) + 4).iterations
    iterations = most if case.iterations is None else case.iterations
    if iterations > most or most == 0:
        raise SpecError(f"the events of the case make {most} server updates, {max(iterations, 1)} are asked for")
    delays = build_delays("deterministic", {}, clients)
    policy = algorithm.policy(None, delays)
    return make_plan(
        theorem, case.problem, delays, policy, iterations, settings, ks=_at(theorem, case, None), algorithm=algorithm
    )


def _impossible(algorithm: Algorithm[Any], own: Any, clients: int, events: Events) -> int:
    """Return the place, from 1 on, of the first event that an algorithm never draws; 0 where there is none."""
    program = algorithm.program(own, clients)
    if program is None or not program.draws:
        return 0
    control = program.opening()[1]
    for place, one in enumerate(algorithm.as_drawn(events), 1):
        event = one if isinstance(one, tuple) else (int(one),)
        if not program.possible(control, event, clients):
            return place
        control = program.event(control, event, place - 1).control
    return 0


def _at(theorem: Theorem, case: Case, horizon: int | None) -> Any:
    """Return the one iteration to look at: that of the claim, or the horizon (None: as far as windows go).

    A claim about another theorem says nothing of windows, which may leave the run after the last that it is about.
    """
    claim, windows = case.raw.get("claim"), "N" in theorem.read and case.raw.get("theorem", theorem.id) != theorem.id
    if theorem.horizon == "every" and isinstance(claim, dict) and isinstance(claim.get("k"), int) and not windows:
        return np.array([claim["k"]])
    return None if horizon is None else np.array([horizon])
