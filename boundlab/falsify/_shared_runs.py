"""The runs behind a candidate: one tape, or one for each sequence of events, that serve many candidates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import sha256
from itertools import islice
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Algorithm, Event
from boundlab.delays import frequencies
from boundlab.errors import AssumptionError, SpecError
from boundlab.expectation import event_law, event_sequences, why_no_law
from boundlab.falsify import _candidate as catalog
from boundlab.falsify._candidate import Candidate, local_rate, server_rates
from boundlab.instance.applicability import check, deviations, looked_at
from boundlab.instance.plan import begun
from boundlab.instance.readings import formulas_at, left_side
from boundlab.instance.schedules import Schedules, kept_by_all
from boundlab.instance.settings import at_options, filled, own_parameters, split
from boundlab.metrics import Metric, range_of, terms_of
from boundlab.objective import Optimum, Problem, by_client
from boundlab.options import number
from boundlab.randomness import Streams
from boundlab.simulate.work import compile_trial, spaced_iterations
from boundlab.tape import NOTHING, RecordAt, Tape
from boundlab.theorems import Theorem, over

SEQUENCES = 256  # event sequences that a mean is taken over


@final
@dataclass(frozen=True, slots=True)
class SharedRun:
    """Tapes of unit local steps with their probabilities, and what the theorem reads off them at several horizons.

    Parameters
    ----------
    left
        The left side, with the numbers of its weights.
    tapes
        One, or one for each sequence of independent events.
    ks
        Sorted horizons, shape (points,).
    seen
        What is read off the tape at each of them.
    values
        Symbols that neither problem nor step size changes.
    server
        Rates that are part of the tape.
    """

    theorem: Theorem
    left: Metric
    algorithm: Algorithm[Any]
    tapes: tuple[tuple[Tape, float], ...]
    ks: NDArray[np.int64]
    seen: tuple[Mapping[str, float], ...]
    values: Mapping[str, Any]
    server: Mapping[str, float]

    @property
    def rate(self) -> str:
        """The name of the local step size."""
        return local_rate(self.theorem)

    @property
    def fingerprint(self) -> bytes:
        """Digest shared only by runs that do the same, at whatever times they do it."""
        read = repr((self.ks.tolist(), self.seen, sorted(self.server.items())))
        parts = [read.encode()]
        for tape, _ in self.tapes:
            of, at = tape.affine, tape.descend
            parts += [
                part.tobytes() for part in (tape.op, of.dst, of.start, of.src, of.coef, at.dst, at.src, at.client)
            ]
            parts += [part.tobytes() for part in (at.steps, at.step_size, tape.local, tape.record.src)]
        return sha256(b"".join(parts)).digest()


def make_shared_run(theorem: Theorem, candidate: Candidate, ks: Sequence[int] | None = None) -> SharedRun:
    """Compile the tapes of a candidate.

    Parameters
    ----------
    ks
        Horizons; by default about a dozen, or the longest alone where the theorem is about one.

    Raises
    ------
    AssumptionError
        If problem, delays or options do not fit the theorem.
    BoundlabError
        If settings, delays and clients do not fit each other.
    """
    algorithm = catalog.algorithm(theorem.algorithm)
    problem = looked_at(theorem, candidate.build())
    options, symbols = split(theorem, algorithm, candidate.settings)
    values: dict[str, Any] = {"n": problem.n, **{name: int(number(value, name)) for name, value in symbols.items()}}
    delays, policy = catalog.delays(candidate.delays, problem.n, algorithm)
    first = Schedules(theorem, algorithm, problem.n, delays, policy, candidate.iterations, 0, dict(options))
    check(theorem, problem, algorithm, first.parameters, delays, policy, ())
    deviations(theorem, algorithm, options, ())
    if theorem.rule is not None:
        known = {**values, **problem_values(theorem, problem), **candidate.step}
        filled(theorem, algorithm, options, known, partial(first.measured, values))
        first = replace(first, chosen=dict(options))
    theorem = at_options(theorem, algorithm, options, first.one_tape)
    first = replace(first, theorem=theorem)
    horizon = first.horizon(values)
    if horizon < min(1, theorem.first_iteration):
        raise AssumptionError("the window is longer than the run")
    if algorithm.server == "any":
        values["p"], values["p_s"] = frequencies(delays, policy)
    shown = _shown(theorem, horizon, ks)
    events = None if algorithm.server == "any" else first.tape(0, shown)
    scheduled = {} if events is None else first.read(events, horizon, values)
    for parameter, (name, value) in own_parameters(theorem, algorithm, options, scheduled).items():
        options[parameter] = values[name] = value
    unread = theorem.unused(values)
    values = {name: value for name, value in values.items() if name not in unread}
    server = {}
    if server_rates(theorem):
        known = {**values, **problem_values(theorem, problem), **candidate.step, theorem.horizon_symbol: horizon}
        step = theorem.step_options({**scheduled, **known})
        server = {name: step[name] for name in server_rates(theorem)}
    behind = theorem.read_by(theorem.rule_reads, values) & scheduled.keys()
    schedules = replace(first, chosen={**options, **server}, pinned={name: scheduled[name] for name in behind})
    points = points_of(theorem, horizon, ks)
    left = left_side(theorem, partial(formulas_at, theorem, values, ()), int(points[-1]))
    points = begun(theorem, left, points)
    runs: tuple[tuple[Tape, float], ...]
    if events is None or shown is NOTHING or schedules.parameters != first.parameters or several(schedules):
        runs = tuple(tapes(schedules, left.records(points)))
    else:  # the run is the one that was made to read off it
        runs = ((events, 1.0),)
    if events is None:
        seen: tuple[Mapping[str, float], ...] = ({},) * len(points)
    else:
        # A statement about the mean over schedules takes limits that all of them keep.
        seen = tuple(kept_by_all(theorem, [schedules.read_at(tape, points, values) for tape, _ in runs]))
        seen = tuple({**own, **schedules.pins(own)} for own in seen)
    return SharedRun(theorem, left, algorithm, runs, points, seen, values, server)


def _shown(theorem: Theorem, horizon: int, ks: Sequence[int] | None) -> RecordAt:
    """Return what a run shall show; nothing where the left side reads numbers that come with the run."""
    left = theorem.left
    if range_of(left) is not None or terms_of(left):
        return NOTHING
    try:
        return left.records(begun(theorem, left, points_of(theorem, horizon, ks)))
    except SpecError:  # whoever asks for it once more says so
        return NOTHING


def points_of(theorem: Theorem, horizon: int, ks: Sequence[int] | None) -> NDArray[np.int64]:
    """Return the horizons to look at, sorted.

    Raises
    ------
    SpecError
        If none is left.
    """
    if theorem.horizon == "fixed":
        return np.array([horizon])
    if ks is None:
        ks = spaced_iterations(max(1, horizon), theorem.first_iteration).tolist()
    found = np.array([k for k in ks if theorem.first_iteration <= k <= horizon], dtype=np.int64)
    if not len(found):
        raise SpecError("no horizon is left to look at")
    return found


def tapes(schedules: Schedules, records: RecordAt) -> Iterator[tuple[Tape, float]]:
    """Yield tapes with their probabilities: one where the theorem is about each schedule, or where there is one.

    Raises
    ------
    SpecError
        If events are not those of the algorithm's program, or there are too many sequences of them.
    """
    who, parameters, n, last = schedules.algorithm, schedules.parameters, schedules.clients, schedules.iterations
    delays, policy = schedules.delays, schedules.policy
    if not several(schedules):
        yield compile_trial(who, parameters, n, delays, policy, last, records, Streams(0, 0)), 1.0
        return
    program = who.program(parameters, n)
    reason = f"{who.id} has no one-event program" if program is None else ""
    if program is None or (reason := why_no_law(program, delays, policy)):
        raise SpecError(f"the mean over {over(schedules.theorem).words} is not enumerated: {reason}")
    sequences = list(islice(event_sequences(program, event_law(delays, policy), last), SEQUENCES + 1))
    if len(sequences) > SEQUENCES:
        raise SpecError(f"more than {SEQUENCES} sequences of events are too many for a search")
    asked = None if records.iterations is None else tuple(records.iterations.tolist())
    for events, weight in sequences:
        yield _drawn(who, parameters, n, last, tuple(events), asked, replace(records, iterations=None)), weight


@lru_cache(maxsize=2048)
def _drawn(
    who: Algorithm[Any],
    parameters: Any,
    clients: int,
    last: int,
    events: tuple[Event, ...],
    asked: tuple[int, ...] | None,
    records: RecordAt,
) -> Tape:
    """Compile a sequence of events, whatever its probability is; ``asked``: the iterations to show."""
    shown = replace(records, iterations=None if asked is None else np.array(asked, dtype=np.int64))
    return who.schedule(parameters, who.drawn_events(parameters, events), clients, shown, last)


def several(schedules: Schedules) -> bool:
    """Return whether the mean is one over several tapes; it is not where the order of arrivals has no influence.

    Where everybody waits for everybody, every order makes the same sums.
    """
    parameters = schedules.parameters
    together = getattr(parameters, "reply", "") == "wait" and getattr(parameters, "count", None) == schedules.clients
    return schedules.averaged and not together


def problem_values(theorem: Theorem, problem: Problem) -> dict[str, Any]:
    """Return the certified constants that the theorem reads."""
    read, found = {*theorem.inputs(), *theorem.settable}, problem.constants()
    return {name: one.value for name, one in found.items() if name in read} | by_client(problem, read)


def constants(theorem: Theorem, candidates: Sequence[Candidate]) -> list[tuple[dict[str, Any], Optimum]]:
    """Return the constants and the optimum of each candidate, computed once a problem."""
    problems = [one.build() for one in candidates]
    known: dict[int, tuple[dict[str, Any], Optimum]] = {}
    for one in problems:  # equal options make the same object
        if id(one) not in known:
            problem = looked_at(theorem, one)
            known[id(one)] = problem_values(theorem, problem), problem.optimum()
    return [known[id(one)] for one in problems]
