"""Checks of one schedule: the events of a run, their tape, and what it does to a small problem."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Algorithm
from boundlab.errors import BoundlabError
from boundlab.events import Events
from boundlab.execute.floats import run
from boundlab.objective import Problem
from boundlab.tape import RecordAt, Tape, usage, verify, verify_identities
from boundlab.testing._agree import equal, expect
from boundlab.testing._count import counted
from boundlab.testing._interpret import Run, Vectors, interpret
from boundlab.testing._linear import Reading, reading

NOTHING = RecordAt(np.empty(0, dtype=np.int64))
_ROUNDING = 1e-10  # of the largest number of two trajectories, at least of 1


@final
@dataclass(frozen=True)
class CompiledRun:
    """An algorithm, its parameters, and events on a small problem.

    Parameters
    ----------
    who
        How messages begin.
    most
        Iterations of the long tape, or more than the events hold.
    """

    who: str
    algorithm: Algorithm[Any]
    parameters: Any
    events: Events
    problem: Problem
    most: int

    @cached_property
    def long(self) -> Tape:
        """The long tape with all records."""
        return self.tape()

    @cached_property
    def executed(self) -> Run:
        """Run of the long tape by the second interpreter."""
        return interpret(self.long, self.problem)

    @cached_property
    def linear(self) -> Reading:
        """Its models as combinations of the moves of updates."""
        return reading(self.long)

    def tape(self, iterations: int | None = None, records: RecordAt | None = None) -> Tape:
        """Compile, by default to the long tape with all records, and let :func:`boundlab.tape.verify` look at it."""
        most = self.most if iterations is None else iterations
        shown = RecordAt() if records is None else records
        try:
            tape = self.algorithm.schedule(self.parameters, self.events, self.problem.n, shown, most)
            verify(tape)
            verify_identities(tape)
        except BoundlabError as error:
            raise AssertionError(f"{self.who}: {most} iterations do not compile: {error}") from error
        return tape

    def shown(self, records: RecordAt | None = None) -> tuple[Tape, Vectors]:
        """Return the tape and what it shows with full gradients in floats."""
        tape, seen = self.tape(records=records), []
        run(tape, self.problem.x0, self.problem.full_gradients(), lambda _row, x: seen.append(x.copy()))
        return tape, seen


def round_trip(at: CompiledRun) -> None:
    """Check that events survive a case file."""
    raw = at.algorithm.events_as_json(at.events)
    expect(len(raw) == len(at.events), f"{at.who}: events_as_json gives {len(raw)} of {len(at.events)} events")
    try:
        again = at.algorithm.read_events(json.loads(json.dumps(raw)), at.problem.n, "events_as_json")
    except (BoundlabError, TypeError) as error:
        raise AssertionError(f"{at.who}: read_events does not read what events_as_json gives: {error}") from error
    same_events(f"{at.who}: read_events of events_as_json", again, at.events)


def same_events(what: str, found: Events, expected: Events) -> None:
    """Check that events are the same, to the last digit."""
    for name in ("time", "actor"):
        same = np.array_equal(getattr(found, name), getattr(expected, name))
        expect(same, f"{what} gives other events: their {name} differs")
    expect(found.detail == expected.detail, f"{what} gives other events: their detail differs")


def readers(at: CompiledRun) -> None:
    """Check that a program is the same whenever it is compiled, and that a second interpreter shows its numbers."""
    again, tape = at.tape(), at.long
    same = np.array_equal(again.affine.coef, tape.affine.coef) and np.array_equal(again.op, tape.op)
    expect(same, f"{at.who}: the same events are compiled twice, and make two programs")
    with np.errstate(over="ignore", invalid="ignore"):
        _, models = at.shown()
    finite = bool(np.isfinite(models).all())
    expect(finite, f"{at.who}: one of {len(models)} iterates is not finite; take smaller steps")
    what = f"{at.who}: what the executor and a second interpreter show"
    equal(what, models, at.executed.shown, scale=1.0, rounding=_ROUNDING)


def records(at: CompiledRun, chosen: NDArray[np.int64]) -> None:
    """Check that all, chosen and averaged iterates, and those after each event, are of one run."""
    tape, models = at.shown()
    ks = tape.record.iteration.tolist()
    expect(ks == list(range(len(ks))), f"{at.who}: RecordAt() must show the iterations 0, 1, 2, …; it shows {ks}")
    some, picked = at.shown(RecordAt(chosen))
    wanted = [k for k in ks if k in chosen]
    found = some.record.iteration.tolist()
    expect(found == wanted, f"{at.who}: RecordAt({chosen.tolist()}) shows the iterations {found}, not {wanted}")
    for k, x in zip(wanted, picked, strict=True):
        expect(x.tolist() == models[k].tolist(), f"{at.who}: iterate {k} differs where only some are shown")
    averaged, means = at.shown(RecordAt(average=True))
    found = averaged.record.iteration.tolist()
    expect(found == ks[1:], f"{at.who}: RecordAt(average=True) shows the iterations {found}, not {ks[1:]}")
    for k, mean in zip(found, means, strict=True):
        what = f"{at.who}: the average of {k} iterates and their mean"
        equal(what, mean, np.mean(models[:k], axis=0), scale=1.0, rounding=_ROUNDING)
    each, last = at.shown(RecordAt(events=True))
    size = len(each.events)
    expect(len(last) == size, f"{at.who}: RecordAt(events=True) shows {len(last)} models after {size} events")
    for k in each.record.iteration.tolist():
        expect(k in ks, f"{at.who}: RecordAt(events=True) names iteration {k}, which there is not")
    if size:
        expect(
            last[-1].tolist() == models[-1].tolist(), f"{at.who}: the model after the last event is not the last one"
        )


def beginnings(at: CompiledRun, asked: int) -> None:
    """Check that a tape of fewer iterations is the beginning of the long one, and ends with the event that counts."""
    short, long = at.tape(asked), at.long
    expected = min(asked, long.iterations)
    what = f"{at.who}: of {long.iterations} iterations {asked} were asked for"
    expect(short.iterations == expected, f"{what}, {short.iterations} were compiled")
    size = len(short.events)
    if asked <= long.iterations:
        # Where the server is an actor of its own every event is an iteration.
        last = asked if at.algorithm.server == "any" else int(np.argmax(long.version >= asked))
        expect(size == last, f"{what}; the tape ends after event {size}, and event {last} completes them")
    same = np.array_equal(short.version, long.version[: size + 1])
    expect(same, f"{at.who}: the first {asked} iterations have other versions where more are asked for")
    models, longer = interpret(short, at.problem).shown, at.executed.shown
    same = [x.tolist() for x in models] == [x.tolist() for x in longer[: len(models)]]
    expect(same, f"{at.who}: the first {asked} iterations are others where more are asked for")
    used = long.uses.version < int(short.version[-1])
    for name in ("update", "version", "weight"):
        same = np.array_equal(getattr(short.uses, name), getattr(long.uses, name)[used])
        expect(same, f"{at.who}: the first {asked} iterations use other updates where more are asked for: {name}")


def moves(at: CompiledRun) -> None:
    """Check x_s^{t+1} − x_s^t = Σ weight·(end − start) over the uses of version t, where the table is filled."""
    uses, executed = at.long.uses, at.executed
    if not len(uses.update):
        return
    models = executed.models(at.long)
    total = np.zeros((len(models), at.problem.d))
    for use, version, weight in zip(uses.update.tolist(), uses.version.tolist(), uses.weight.tolist(), strict=True):
        total[version + 1] += weight * (executed.ends[use] - executed.starts[use])
    what = f"{at.who}: the sum of weight·(end − start) over the use table and x_s − x_0"
    equal(what, np.cumsum(total, axis=0), np.array(models) - models[0], scale=1.0, rounding=_ROUNDING)


def quantities(at: CompiledRun) -> None:
    """Check that quantities are finite and those of the use table what a count in loops finds, at several horizons."""
    last = int(at.long.version[-1])
    for until in sorted({1, (last + 1) // 2, last}):
        if 1 <= until <= last:
            _quantities(at, until)


def _quantities(at: CompiledRun, until: int) -> None:
    a, tape = at.algorithm, at.long
    found = a.quantities(at.parameters, tape, until, {})
    for name, value in found.items():
        expect(bool(np.isfinite(value).all()), f"{at.who}: quantity {name} is {value}")
    rate = a.server_rate(at.parameters)
    expect(rate is None or rate > 0.0, f"{at.who}: server_rate() is {rate}, which must be > 0")
    table = usage(tape, until, rate)
    if table is None:
        return
    expected = counted(tape, until, rate)
    for name, value in table.symbols().items():
        equal(f"{at.who}: {name} of the use table and a count", value, expected[name], scale=1e-3)
        if name not in a.recounts and name in found:
            equal(f"{at.who}: quantity {name} and a count in the use table", found[name], expected[name], scale=1e-3)
