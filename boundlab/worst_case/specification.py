"""Worst-case question: the runs, their probabilities, the constants, the step size and the bound."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from boundlab.algorithms import Algorithm, Event, EventLaw, EventProgram, undeclared_draws
from boundlab.arithmetic.rational import PROGRAM, Exact, Formula, Recipe, exact, known_fraction
from boundlab.delays import DelayModel
from boundlab.errors import BoundlabError, SpecError, SymbolError
from boundlab.events import Events
from boundlab.expectation import event_sequences
from boundlab.files import json_value
from boundlab.formulas.assignments import of_arrivals, parse_values
from boundlab.formulas.symbols import ZERO_WITHOUT_NOISE
from boundlab.instance.schedules import Schedules
from boundlab.instance.settings import at_options, filled, options_of, own_parameters, split
from boundlab.metrics import Metric
from boundlab.options import Options, nearest, parse_spec
from boundlab.randomness import Streams
from boundlab.registry import lookup, registered
from boundlab.simulate.work import compile_trial
from boundlab.tape import NOTHING, RecordAt, Tape
from boundlab.theorems import Theorem, about_each, core, over
from boundlab.worst_case.bound_value import Exactly, exactly
from boundlab.worst_case.classes import CONSTANTS, fill, noise, require_alike, undefined
from boundlab.worst_case.model import AllEvents

_MOST_RUNS = 1_500


@final
@dataclass(frozen=True, slots=True)
class Question:
    """A question, checked.

    Parameters
    ----------
    options
        All options of the algorithm, the step size among them.
    values
        What the bound was evaluated with, by symbol.
    defaults
        Those of ``values`` that nobody set.
    bound
        The right side at K, or T, in floating point.
    exactly
        The same in rational numbers, and the step sizes with which the program is written.
    repaired
        The bounds of the repaired theorems, by id.
    average
        Whether the left side is the mean over all event sequences; else there is one run.
    sequences
        The event sequences with their probabilities; for one run empty.
    events
        Of the one run.
    beside
        Why the bound does not speak about this run, or ''.
    noise
        What makes the theorem one about gradients with noise, which the runs here do not have.
    conditional_on
        Values that the bound depends on and that nothing here certifies, in words.
    asked
        What was asked, as a file has it: :func:`ask` makes the same question of it.
    """

    theorem: Theorem
    algorithm: Algorithm[Any]
    clients: int
    iterations: int
    options: Mapping[str, Any]
    parameters: Any
    values: Mapping[str, Any]
    defaults: tuple[str, ...]
    bound: float
    exactly: Exactly
    repaired: Mapping[str, float]
    average: bool
    sequences: tuple[tuple[list[Event], Fraction], ...]
    events: Events | None
    beside: str
    noise: tuple[str, ...]
    conditional_on: tuple[str, ...]
    asked: Mapping[str, Any]

    @property
    def metric(self) -> Metric:
        """The left side."""
        return self.exactly.left

    def records(self) -> RecordAt:
        """Return what a run must show."""
        return self.metric.records([self.horizon])

    @property
    def horizon(self) -> int:
        """The K or T that the bound is about."""
        return int(self.values.get(self.theorem.horizon_symbol, self.iterations))

    def tapes(self) -> Iterator[tuple[Tape, Exact]]:
        """Compile the runs, with their probabilities."""
        records = self.records()
        if self.events is not None:
            yield self._compile(self.events, records), Exact(1)
            return
        for events, weight in self.sequences:
            yield self._compile(self.algorithm.drawn_events(self.parameters, events), records), Exact(weight)

    def runs(self) -> Iterator[tuple[Tape, Exact]] | AllEvents:
        """Return the runs: all event sequences at once where the algorithm says what one event does, else tapes."""
        program = self.algorithm.program(self.parameters, self.clients) if self.average else None
        if program is None:
            return self.tapes()
        return AllEvents(program, _law(program, self.values, self.clients), self.horizon)

    def rounded(self) -> bool:
        """Return whether some number of the runs is rounded from its formula: a root, or a quotient of long numbers."""
        parts = (part for tape, _ in self.tapes() for part in tape.recipes())
        found = {float(one) for part in parts for one in part if known_fraction(one) is None}
        return any(exact(one).value.denominator > PROGRAM.denominator for one in found)

    def _compile(self, events: Events, records: RecordAt) -> Tape:
        return self.algorithm.schedule(self.parameters, events, self.clients, records, self.iterations)


def ask(
    theorem: Theorem,
    iterations: int,
    settings: Mapping[str, Any],
    average: bool | None = None,
    delays: str | None = None,
    events: Sequence[Any] | None = None,
) -> Question:
    """Read the settings and choose the runs.

    Parameters
    ----------
    iterations
        K, or server updates.
    settings
        Symbols of the theorem and parameters of its algorithm: numbers, lists, or what ``--set`` takes.
    average
        Average over all event sequences; by default where the theorem is about their mean and none are given.
    delays
        A spec: ``iid:p_s=0.5`` sets the probabilities of events, others the schedule of a single run.
    events
        The one run, as a case file lists it.

    Raises
    ------
    BoundlabError
        If something is missing or does not fit.
    """
    if theorem.left.in_seconds:
        raise SpecError(f"{theorem.id}: worst-case takes so many iterations, and this left side is within seconds")
    if theorem.left.over.summed:
        raise SpecError(f"{theorem.id}: worst-case takes one quantity on the left side, and this is a sum of several")
    if iterations < 1:
        raise SpecError(f"iterations must be ≥ 1, got {iterations}")
    algorithm: Algorithm[Any] = lookup("algorithms", theorem.algorithm)
    asked = {
        "theorem": theorem.id,
        "core": core(theorem).sha256,
        "iterations": iterations,
        "settings": {name: _plain(value) for name, value in settings.items()},
        "average": average,
        "delays": delays,
        "events": None if events is None else _plain(list(events)),
    }
    chosen, values = _read(theorem, algorithm, settings)
    require_alike(theorem := at_options(theorem, algorithm, chosen))
    _probabilities(theorem, values, delays)
    clients = len(values["p"]) if "p" in values else int(float(values.pop("n", 1)))
    values["n"] = clients
    if "iid-events" in theorem.core.assumed and "p" not in values:
        raise SymbolError(f"{theorem.id} needs p: set p=0.5 (one probability a client), or delays iid:p_s=0.5")
    model = _delays(delays, clients) if events is None else _delays(None, clients)
    several = _several(theorem, algorithm, chosen, clients, model)
    random = over(theorem).independent or (several and over(theorem).drawn)
    average = random and events is None if average is None else average
    if average and not random:
        raise SpecError(f"{theorem.id} is about each schedule; averages need iid-events or uniform-sampling")
    if average and events is not None:
        raise SpecError("give the events of one run, or ask for the average, not both")
    yours = frozenset(values) - {"n"}
    values[theorem.horizon_symbol] = iterations
    defaults = fill(theorem, values, clients)
    filled(theorem, algorithm, chosen, values)
    for parameter, (name, value) in own_parameters(theorem, algorithm, chosen, {}).items():
        chosen[parameter] = values[name] = value
    if average:
        scheduled: frozenset[str] = frozenset()
        events_found = None
        options, bound = _averaged(theorem, chosen, values, iterations)
    else:
        options, events_found, bound, scheduled = _single(
            theorem, algorithm, chosen, values, clients, iterations, model, events, yours
        )
    rational = exactly(theorem, values, options, bound)
    parameters = exact_parameters(algorithm, options, rational.steps)
    sequences = _sequences(algorithm, parameters, values, clients, iterations) if average else ()
    beside = f"these numbers do not meet {rational.broken}, by however little" if rational.broken else ""
    if not average and several:
        beside = "the theorem bounds the mean over random events, and this is one run"
    return Question(
        theorem, algorithm, clients, iterations, options, parameters, values, defaults, bound, rational,
        _repaired(theorem, values, options), average, sequences, events_found, beside,
        noise(theorem), (*undefined(theorem, values, clients), *_uncertified(theorem, values, yours - scheduled)),
        asked,
    )  # fmt: skip


def exact_parameters(algorithm: Algorithm[Any], options: Mapping[str, Any], steps: Mapping[str, Formula]) -> Any:
    """Return parameters whose numbers know what they stand for.

    Parameters
    ----------
    steps
        What some options stand for; others are read as the program reads floats.
    """
    own = {name: Recipe(float(options[name]), one) for name, one in steps.items()}
    return algorithm.read(Options(algorithm.id, {**options, **own})).known(lambda value: exact(value).value)


def _plain(value: Any) -> Any:
    """Return what was asked as JSON has it: numbers, texts and lists, and the text of what is none of them."""
    value = json_value(value)
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _delays(spec: str | None, clients: int) -> DelayModel:
    """Read the delays of a single run."""
    from boundlab.case import build_delays

    kind, options = parse_spec(spec or "deterministic", "delays")
    return build_delays(kind, options, clients)


def _several(
    theorem: Theorem, algorithm: Algorithm[Any], chosen: Mapping[str, Any], clients: int, delays: DelayModel
) -> bool:
    """Return whether the theorem bounds a mean over several runs; events that are given leave no arrival to chance."""
    parameters = algorithm.read(Options(algorithm.id, {**dict.fromkeys(theorem.step, 1), **chosen}))
    if len(set(algorithm.objective_weights(parameters, clients) or ())) > 1:
        raise SpecError(
            f"worst-case measures f, the mean of all f_i; with these weights {algorithm.id} minimises Σ p_i f_i; leave "
            "the weights out"
        )
    averaged = over(theorem).averaged(algorithm, parameters, clients, delays)
    if not averaged and not about_each(theorem) and (reason := undeclared_draws(algorithm, parameters, clients)):
        raise SpecError(reason)
    return averaged


def _law(program: EventProgram, values: Mapping[str, Any], clients: int) -> EventLaw[Fraction]:
    """Return the law of events: p where the program does not draw by itself."""
    shares = [exact(float(one)).value for one in np.ravel(values.get("p", []))]
    if program.draws:
        shares = [Fraction(1, clients)] * clients
    return EventLaw(np.array(shares, dtype=object), 1 - sum(shares, start=Fraction(0)))


def _sequences(
    algorithm: Algorithm[Any], parameters: Any, values: Mapping[str, Any], clients: int, iterations: int
) -> tuple[tuple[list[Event], Fraction], ...]:
    """Return all event sequences.

    Raises
    ------
    SpecError
        If there are too many, or the algorithm has no one-event program.
    """
    program = algorithm.program(parameters, clients)
    if program is None:
        raise SpecError(f"averages need the one-event program of {algorithm.id}, which it does not have")
    if not program.draws and "p" not in values:
        raise SpecError(f"averages over arrivals need their probabilities, which no assumption gives {algorithm.id}")
    found = event_sequences(program, _law(program, values, clients), iterations)
    some = tuple(itertools.islice(found, _MOST_RUNS + 1))
    if len(some) > _MOST_RUNS:
        raise SpecError(f"more than {_MOST_RUNS} event sequences are too many; take fewer iterations")
    return some


def _uncertified(theorem: Theorem, values: Mapping[str, Any], yours: frozenset[str]) -> tuple[str, ...]:
    """Return what the user set in place of a definition, or of what the run would have to say."""
    anchored = {*CONSTANTS, *theorem.step, *theorem.core.read_as.values(), theorem.horizon_symbol, "p"}
    anchored |= {*of_arrivals([1], 1), *ZERO_WITHOUT_NOISE, *theorem.bound.replacements()}
    return tuple(
        f"{name} = {float(values[name]):.6g} (your word)"
        for name in sorted(yours - anchored)
        if theorem.symbols[name].side != "any" and name in theorem.free(yours - {name})
    )


def _read(
    theorem: Theorem, algorithm: Algorithm[Any], settings: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell options of the algorithm from symbols, and read the numbers."""
    chosen, symbols = split(theorem, algorithm, settings, override=False)
    texts: list[str] = []
    for name, value in symbols.items():
        if name not in theorem.symbols:
            own = options_of(theorem, algorithm)
            raise SpecError(
                f"{name!r} is neither a symbol nor a parameter of {algorithm.id}; "
                f"{nearest(name, {*theorem.inputs(), *own})}"
            )
        listed = isinstance(value, (list, tuple, np.ndarray))
        texts.append(f"{name}={','.join(map(repr, map(float, value))) if listed else value}")
    found = parse_values(texts, theorem.symbols)
    if found.axes:
        raise SymbolError(f"{next(iter(found.axes))} has several values; worst-case takes one of each")
    values: dict[str, Any] = {name: found.grid()[name] for name in found.given}
    for name in sorted(ZERO_WITHOUT_NOISE):
        if np.any(values.get(name, 0.0)):
            raise SpecError(f"worst-case runs with full gradients: {name} must be 0, got {values[name]}")
    if theorem.horizon_symbol in values:
        raise SpecError(f"{theorem.horizon_symbol} is set by --iterations")
    return chosen, values


def _probabilities(theorem: Theorem, values: dict[str, Any], delays: str | None) -> None:
    if "iid-events" not in theorem.core.assumed or delays is None:
        return
    if "p" in values:
        raise SpecError("give p or delays, not both")
    from boundlab.case import build_delays

    kind, options = parse_spec(delays, "delays")
    if kind != "iid":
        raise SpecError(f"{theorem.id} assumes iid-events; delays iid:p_s=0.5 would fit, got {kind}")
    clients = int(float(values.pop("n", 1)))
    if "p" in options:
        clients = len(Options("delays iid", dict(options)).numbers("p"))
    model: Any = build_delays(kind, options, clients)
    values["p"] = model.p


def _averaged(
    theorem: Theorem, chosen: Mapping[str, Any], values: dict[str, Any], iterations: int
) -> tuple[dict[str, Any], float]:
    known = _used(theorem, values)
    options = {**chosen, **theorem.step_options(known)}
    return options, float(theorem.value_at(known, [iterations])[0])


def _single(
    theorem: Theorem,
    algorithm: Algorithm[Any],
    chosen: Mapping[str, Any],
    values: dict[str, Any],
    clients: int,
    iterations: int,
    model: DelayModel,
    events: Sequence[Any] | None,
    yours: frozenset[str],
) -> tuple[dict[str, Any], Events, float, frozenset[str]]:
    policy_free = algorithm.server == "any" and events is None
    if policy_free and "iid-events" in theorem.core.assumed:
        raise SpecError(f"{theorem.id}: a single run needs its events; give them, or take the average")
    policy = algorithm.policy(None, model)
    own = {name: float(values[name]) for name in yours if np.ndim(values[name]) == 0}
    schedules = Schedules(theorem, algorithm, clients, model, policy, iterations, 0, chosen, own)
    if events is None:
        tape = compile_trial(
            algorithm, schedules.parameters, clients, model, policy, iterations, NOTHING, Streams(0, 0)
        )
    else:
        given = algorithm.read_events(list(events), clients, "events")
        tape = algorithm.schedule(schedules.parameters, given, clients, NOTHING, iterations)
        if tape.iterations < iterations:
            raise SpecError(f"the events make {tape.iterations} iterations, {iterations} are asked for")
    known = _used(theorem, values)
    horizon = iterations
    if algorithm.server == "any":
        bound_of = float(theorem.value_at(known, [iterations])[0])
        options = {**chosen, **theorem.step_options(known)}
        return options, tape.events, bound_of, frozenset()
    if "N" in {*theorem.inputs(), *theorem.settable}:
        known["N"] = int(float(values.get("N", 1)))
        horizon = schedules.horizon(known)
        known[theorem.horizon_symbol] = values[theorem.horizon_symbol] = horizon
    scheduled = schedules.read(tape, horizon, known)
    step = theorem.step_options({**scheduled, **known})
    free = {name: value for name, value in step.items() if name in (*theorem.settable, *theorem.inputs())}
    ks = np.array([horizon])
    total = schedules.evaluate([scheduled], ks, {**known, **free}).total
    values |= {name: value for name, value in scheduled.items() if name not in values}
    return {**chosen, **step}, tape.events, float(total[0]), frozenset(scheduled)


def _used(theorem: Theorem, values: Mapping[str, Any]) -> dict[str, Any]:
    unread = set(theorem.unused(values)) - {theorem.horizon_symbol}
    return {name: value for name, value in values.items() if name not in unread}


def _repaired(theorem: Theorem, values: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, float]:
    """Return the bounds of the repaired forms of a printed theorem, as far as the same values say them."""
    if not theorem.of_paper:
        return {}
    words = theorem.id.split(".")
    prefix = ".".join([*words[:2], "repaired"])
    found: dict[str, float] = {}
    for name, other in registered("theorems").items():
        if name == prefix or name.startswith(f"{prefix}."):
            known = {**values, **{key: options[key] for key in ("alpha",) if key in other.free() and key in options}}
            try:
                found[name] = float(other.value_at(_used(other, known), [int(values[other.horizon_symbol])])[0])
            except BoundlabError:
                continue  # this form speaks about other runs
    return found
