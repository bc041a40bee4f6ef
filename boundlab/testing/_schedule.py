"""Checks of one schedule: the events of a run, their tape, what it does to a small problem, and what updates become."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import X_S, AffineRow, Algorithm, DescendRow, EventLaw, example_options, undeclared_draws
from boundlab.arithmetic.recurrence import Weights
from boundlab.assumptions import Assumption
from boundlab.case import build_problem, delays_from
from boundlab.delays import DelayModel
from boundlab.errors import BoundlabError, CaseError, SpecError
from boundlab.events import Events
from boundlab.execute.floats import run
from boundlab.objective import Array, Problem
from boundlab.objective.composite import Composite
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import registered
from boundlab.tape import NOTHING, Initial, Op, RecordAt, Tape, usage, verify, verify_identities
from boundlab.testing._check import about, at_most, equal, expect

# A second interpreter of tapes: the columns as they read, one instruction after the other.
#
# It shares neither the decoder nor the loop of :mod:`boundlab.execute`. Its vectors are those of a problem, or
# coefficients: whatever the functions are, a register is c_0·x0 + Σ c_r·(move of update r), the move of an update being
# its end minus its start; and also a combination of x0 and of the ends themselves.

Floats = NDArray[np.float64]
Vectors = list[Array]
NEGLIGIBLE = 1e-12  # a coefficient that rounding may have left of 0


@final
@dataclass(frozen=True, slots=True)
class Run:
    """Run of a tape with full gradients.

    Parameters
    ----------
    starts, ends
        The models before and after the local steps of each row of ``descend``, shape (d,) each.
    shown
        What each row of ``record`` shows, shape (d,) each.
    reads
        What each instruction reads, with its event.
    registers
        The final registers; None: never written.
    """

    starts: Vectors
    ends: Vectors
    shown: Vectors
    reads: list[tuple[int, Array]]
    registers: list[Array | None]

    def models(self, tape: Tape) -> Vectors:
        """Return the server's model of each version, from a tape that records all iterations."""
        versions = tape.record.version.tolist()
        return [self.shown[versions.index(version)] for version in range(int(tape.version[-1]) + 1)]


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """The server's models as combinations.

    Parameters
    ----------
    models
        Shape (versions + 1, 1 + updates): the coefficients of x0 and of each row of ``descend``.
    read
        Shape (updates,): whether an instruction reads the update, or what was made of it, once it has arrived.
    held
        Shape (updates,): whether it stands in a register at the end.
    depth
        Shape (versions + 1,): the most local steps that lie behind each model, one after the other.
    """

    models: Floats
    read: NDArray[np.bool_]
    held: NDArray[np.bool_]
    depth: NDArray[np.int64]

    @property
    def entering(self) -> Floats:
        """The coefficients with which each update moves the model, shape (versions, updates)."""
        out: Floats = np.diff(self.models[:, 1:], axis=0)
        return out


def interpret(tape: Tape, problem: Problem) -> Run:
    """Execute a tape.

    Raises
    ------
    AssertionError
        If an instruction is none of the three, or reads what nobody has written.
    """
    table = tape.descend

    def descend(row: int, x: Array) -> Array:
        sizes = float(table.step_size[row]) * (tape.local if len(tape.local) else np.ones(table.steps[row]))
        implicit = bool(len(tape.implicit) and tape.implicit[row])
        return local_steps(problem, int(table.client[row]), x, sizes.tolist(), implicit=implicit)

    return _interpreted(tape, problem.x0.astype(np.float64), descend)


def reading(tape: Tape, *, ends: bool = False) -> Reading:
    """Read a tape that records all iterations.

    Parameters
    ----------
    ends
        Whether the combinations are of the ends of updates in place of their moves.
    """
    arrival = tape.descend.arrival
    unit = np.eye(1 + len(arrival))
    run = _interpreted(tape, unit[0], lambda row, x: unit[1 + row] if ends else x + unit[1 + row])
    read, held = np.zeros((2, len(arrival)), dtype=np.bool_)
    for event, value in run.reads:
        read |= _holds(value)[1:] & (arrival >= 0) & (arrival <= event)
    for register in run.registers:
        held |= False if register is None else _holds(register)[1:]
    steps = np.zeros(1 + len(arrival), dtype=np.int64)  # behind x0 and behind each end
    for row, start in enumerate(run.starts):
        steps[1 + row] = tape.descend.steps[row] + steps[_holds(start)].max(initial=0)
    models = run.models(tape)
    return Reading(np.array(models), read, held, np.array([steps[_holds(one)].max(initial=0) for one in models]))


def _holds(combination: Array) -> NDArray[np.bool_]:
    """Return which coefficients are not 0."""
    return np.abs(combination) > NEGLIGIBLE


def _interpreted(tape: Tape, start: Array, descend: Callable[[int, Array], Array]) -> Run:
    """Execute a tape from a vector, with a function of the row and its vector for the local steps."""
    registers = initial(tape.initial, start)
    run = Run([], [], [], [], registers)

    def read(register: int, event: int) -> Array:
        value = registers[register]
        assert value is not None, f"register {register} is read before it is written"  # noqa: S101
        run.reads.append((event, value))
        return value

    for op, row, event in zip(tape.op.tolist(), tape.row.tolist(), tape.event.tolist(), strict=True):
        if op == Op.AFFINE:
            total = np.zeros_like(start)
            for term in range(tape.affine.start[row], tape.affine.start[row + 1]):
                total = total + tape.affine.coef[term] * read(tape.affine.src[term], event)
            registers[tape.affine.dst[row]] = total
        elif op == Op.DESCEND:
            run.starts.append(read(tape.descend.src[row], event))
            run.ends.append(descend(row, run.starts[-1]))
            registers[tape.descend.dst[row]] = run.ends[-1]
        else:
            assert op == Op.RECORD, f"instruction {op} is none that this interpreter knows"  # noqa: S101
            run.shown.append(read(tape.record.src[row], event))
    return run


def initial(kinds: Iterable[int], start: Array) -> list[Array | None]:
    """Return what registers hold at first; None: nothing may read it."""
    first = {Initial.START: start, Initial.ZERO: np.zeros_like(start)}
    return [first.get(Initial(int(kind))) for kind in kinds]


def local_steps(problem: Problem, client: int, x: Array, sizes: Iterable[float], *, implicit: bool = False) -> Array:
    """Return where a client's local steps end."""
    f = problem.inner if isinstance(problem, Composite) else problem
    for size in sizes:
        x = problem.prox(client, x, size) if implicit else x - size * f.gradient(client, x)
        if problem.simple is not None and not implicit:
            x = problem.simple.prox(x, size)
    return x


# Algorithms with the settings and the delays under which they are looked at, and their runs there.

ITERATIONS = 8
REFUSED = (SpecError, CaseError)  # of what does not go together
_DELAYS = ("exponential:spread=5", "deterministic", "pareto:spread=3", "iid")
_LONGEST = 64  # times as many events as the algorithm thinks that the iterations take


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
    delays
        What the events are drawn from, where they are.
    """

    who: str
    algorithm: Algorithm[Any]
    parameters: Any
    events: Events
    problem: Problem
    most: int
    delays: DelayModel | None = None

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
        with about(f"{self.who}: {most} iterations do not compile"):
            tape = self.algorithm.schedule(self.parameters, self.events, self.problem.n, shown, most)
            verify(tape)
            verify_identities(tape)
        return tape

    def shown(self, records: RecordAt | None = None) -> tuple[Tape, Vectors]:
        """Return the tape and what it shows with full gradients in floats."""
        tape, seen = self.tape(records=records), []
        run(tape, self.problem.x0, self.problem.full_gradients(), lambda _row, x: seen.append(x.copy()))
        return tape, seen

    def quantities(self, until: int) -> dict[str, float]:
        """Return what theorems read off the long tape over its first server updates."""
        return self.algorithm.quantities(self.parameters, self.long, until, {})


@final
@dataclass(frozen=True)
class Subject:
    """An algorithm with the settings and delays under which it is looked at.

    Parameters
    ----------
    algorithm
        Which one.
    options
        The one setting to look at; None: those that its examples make.
    clients
        n; None: 3, or 1 where the algorithm is about one client.
    delays
        Models for so many clients; none: exponential, deterministic, Pareto and i.i.d. ones.
    server
        The policy as it is typed; None: what goes with the algorithm and the delays.
    drawn
        How many drawn combinations of options are looked at.
    """

    algorithm: Algorithm[Any]
    options: Mapping[str, Any] | None = None
    clients: int | None = None
    delays: Sequence[DelayModel] = ()
    server: str | None = None
    drawn: int = 4
    _made: dict[tuple[str, str, int, int], CompiledRun] = field(default_factory=dict)

    @property
    def who(self) -> str:
        """How messages begin."""
        return f"algorithm {getattr(self.algorithm, 'id', type(self.algorithm).__name__)}"

    @cached_property
    def n(self) -> int:
        """The number of clients."""
        if self.clients is not None:
            return self.clients
        refused: list[BoundlabError] = []
        for clients in (3, 1):
            try:
                self.schedule(self.options_for(clients)[0], self._models(clients)[0])
            except REFUSED as error:
                refused.append(error)
            else:
                return clients
        raise AssertionError(f"{self.who}: {refused[0]}")

    @cached_property
    def models(self) -> Sequence[DelayModel]:
        """The delay models."""
        return self._models(self.n)

    @cached_property
    def settings(self) -> Sequence[Mapping[str, Any]]:
        """The simplest setting first."""
        return self.options_for()

    @cached_property
    def schedules(self) -> list[CompiledRun]:
        """The first setting under every delay model, each other one under one of them, by turns."""
        simple, *others = self.settings
        turned = [(setting, self.models[number % len(self.models)]) for number, setting in enumerate(others)]
        return [*(self.schedule(simple, model) for model in self.models), *self.runs(turned)]

    def options_for(self, clients: int | None = None) -> Sequence[Mapping[str, Any]]:
        """Return the settings for so many clients, by default n, the simplest first."""
        if self.options is not None:
            return [self.options]
        return example_options.settings(self.who, self.algorithm, clients or self.n, self.drawn)

    def schedule(
        self, setting: Mapping[str, Any], model: DelayModel, iterations: int = ITERATIONS, trial: int = 0
    ) -> CompiledRun:
        """Return a setting under a delay model.

        Raises
        ------
        SpecError
            If the options do not go together, or not with so many clients.
        """
        key = example_options.words(setting), f"{model.n} {model.spec()}", iterations, trial
        if key not in self._made:
            self._made[key] = self._compile(setting, model, iterations, trial)
        return self._made[key]

    def runs(
        self, places: Iterable[tuple[Mapping[str, Any], DelayModel]], iterations: int = ITERATIONS
    ) -> Iterator[CompiledRun]:
        """Yield settings under delay models that they go with: not a buffer that so few clients never fill."""
        for setting, model in places:
            try:
                yield self.schedule(setting, model, iterations)
            except REFUSED:
                continue

    def _models(self, n: int) -> Sequence[DelayModel]:
        return self.delays or [delays_from(spec, n) for spec in _DELAYS]

    def _compile(self, setting: Mapping[str, Any], model: DelayModel, iterations: int, trial: int) -> CompiledRun:
        """Sample enough events for all iterations."""
        a, n, who = self.algorithm, model.n, self.words(setting, model)
        parameters = a.read(Options(a.id, setting))
        count = first = max(a.events_for(parameters, n, iterations), 1)
        while True:
            events = self.sample(setting, model, count, trial)
            try:
                made = a.schedule(parameters, events, n, NOTHING, iterations).iterations
            except REFUSED:
                raise
            except BoundlabError as error:
                raise AssertionError(f"{who}: {iterations} iterations do not compile: {error}") from error
            if made >= iterations:
                return CompiledRun(who, a, parameters, events, _small(n), iterations, model)
            expect(count < _LONGEST * first, f"{who}: {count} events make {made} of {iterations} iterations")
            count *= 2

    def words(self, setting: Mapping[str, Any], model: DelayModel | None = None) -> str:
        """Return how messages about a setting begin, perhaps under a delay model."""
        under = "" if model is None else f" under {model.id} delays"
        return f"{self.who} with {example_options.words(setting)}{under}"

    def sample(self, setting: Mapping[str, Any], model: DelayModel, count: int, trial: int = 0) -> Events:
        """Return the first events of a trial; a count that the server's policy may set is set by it."""
        a, server = self.algorithm, self.server
        if server is None and a.server == "any" and "count" in setting:
            server = f"count:every={setting['count']}"
        policy = a.policy(server, model)
        return a.sample(a.read(Options(a.id, setting)), model, policy, Streams(7, trial), model.n, count)


@cache
def _small(n: int) -> Problem:
    """Return the problem on which schedules of so many clients are executed."""
    return build_problem("quadratic", {"clients": n, "dimension": 2, "mu": 0.25, "L": 1})


_ROUNDING = 1e-10  # of the largest number of two trajectories, at least of 1
_CHOSEN = np.array([0, 2, 3, ITERATIONS])


def round_trip(at: CompiledRun) -> None:
    """Check that events survive a case file."""
    raw = at.algorithm.events_as_json(at.events)
    expect(len(raw) == len(at.events), f"events_as_json gives {len(raw)} of {len(at.events)} events")
    with about("read_events does not read what events_as_json gives"):
        again = at.algorithm.read_events(json.loads(json.dumps(raw)), at.problem.n, "events_as_json")
    same_events("read_events of events_as_json", again, at.events)


def same_events(what: str, found: Events, expected: Events) -> None:
    """Check that events are the same, to the last digit."""
    for name in ("time", "actor", "detail"):
        one, other = getattr(found, name), getattr(expected, name)
        same = one == other if name == "detail" else np.array_equal(one, other)
        expect(same, f"{what} gives other events: their {name} differs")


def readers(at: CompiledRun) -> None:
    """Check that a program is the same whenever it is compiled, and that a second interpreter shows its numbers."""
    again, tape = at.tape(), at.long
    same = np.array_equal(again.affine.coef, tape.affine.coef) and np.array_equal(again.op, tape.op)
    expect(same, "the same events are compiled twice, and make two programs")
    with np.errstate(over="ignore", invalid="ignore"):
        _, models = at.shown()
    expect(np.isfinite(models).all(), f"one of {len(models)} iterates is not finite; take smaller steps")
    what = "what the executor and a second interpreter show"
    equal(what, models, at.executed.shown, scale=1.0, rounding=_ROUNDING)


def records(at: CompiledRun, chosen: NDArray[np.int64] = _CHOSEN) -> None:
    """Check that all, chosen and averaged iterates, and those after each event, are of one run."""
    tape, models = at.shown()
    ks = tape.record.iteration.tolist()
    expect(ks == list(range(len(ks))), f"RecordAt() must show the iterations 0, 1, 2, …; it shows {ks}")
    wanted = [k for k in ks if k in chosen]
    picked = _shown(at, f"RecordAt({chosen.tolist()})", RecordAt(chosen), wanted)
    for k, x in zip(wanted, picked, strict=True):
        expect(x.tolist() == models[k].tolist(), f"iterate {k} differs where only some are shown")
    means = _shown(at, "RecordAt(average=True)", RecordAt(average=True), ks[1:])
    for k, mean in enumerate(means, 1):
        what = f"the average of {k} iterates and their mean"
        equal(what, mean, np.mean(models[:k], axis=0), scale=1.0, rounding=_ROUNDING)
    for closed in (False, True) if len(ks) > 1 else ():
        # No two weights are equal, and the first model does not count.
        weights = Weights.of([Fraction(k * k, 3) for k in ks], closed=closed, what="RecordAt")
        shown = ks[2 - closed :]
        asked = RecordAt(np.array(shown, dtype=np.int64), average=True, weights=weights)
        means = _shown(at, "RecordAt with weights", asked, shown)
        for k, mean in zip(shown, means, strict=True):
            parts = [float(weights.at(j)) for j in range(k + closed)]
            expected = np.average(models[: k + closed], axis=0, weights=parts)
            equal(f"a weighted average of {k + closed} iterates", mean, expected, scale=1.0, rounding=_ROUNDING)
    each, last = at.shown(RecordAt(events=True))
    size = len(each.events)
    expect(len(last) == size, f"RecordAt(events=True) shows {len(last)} models after {size} events")
    for k in each.record.iteration.tolist():
        expect(k in ks, f"RecordAt(events=True) names iteration {k}, which there is not")
    if size:
        same = last[-1].tolist() == models[-1].tolist()
        expect(same, "the model after the last event is not the last one")


def _shown(at: CompiledRun, words: str, asked: RecordAt, wanted: list[int]) -> list[Array]:
    """Return the models of records, once these are of the iterations that are wanted."""
    tape, models = at.shown(asked)
    found = tape.record.iteration.tolist()
    expect(found == wanted, f"{words} shows the iterations {found}, not {wanted}")
    return models


def beginnings(at: CompiledRun, asked: Iterable[int] = (0, 1, ITERATIONS // 2, ITERATIONS)) -> None:
    """Check that tapes of fewer iterations are the beginning of the long one, and end with the event that counts."""
    long = at.long
    for some in asked:
        short = at.tape(some)
        expected = min(some, long.iterations)
        what = f"of {long.iterations} iterations {some} were asked for"
        expect(short.iterations == expected, f"{what}, {short.iterations} were compiled")
        size = len(short.events)
        if some <= long.iterations:
            # Where the server is an actor of its own every event is an iteration.
            last = some if at.algorithm.server == "any" else int(np.argmax(long.version >= some))
            expect(size == last, f"{what}; the tape ends after event {size}, and event {last} completes them")
        first = f"the first {some} iterations"
        same = np.array_equal(short.version, long.version[: size + 1])
        expect(same, f"{first} have other versions where more are asked for")
        models, longer = interpret(short, at.problem).shown, at.executed.shown
        same = [x.tolist() for x in models] == [x.tolist() for x in longer[: len(models)]]
        expect(same, f"{first} are others where more are asked for")
        used = long.uses.version < int(short.version[-1])
        for name in ("update", "version", "weight"):
            same = np.array_equal(getattr(short.uses, name), getattr(long.uses, name)[used])
            expect(same, f"{first} use other updates where more are asked for: {name}")


def uses(at: CompiledRun) -> None:
    """Check x_s^{t+1} − x_s^t = Σ weight·(end − start) over the uses of version t, where the table is filled."""
    tape = at.long
    if not len(tape.uses.update):
        return
    found = np.diff(at.linear.models, axis=0)  # column 0 is x0
    said = np.zeros_like(found)
    np.add.at(said, (tape.uses.version, 1 + tape.uses.update), tape.uses.weight)
    off = np.abs(said - found)
    version, column = np.unravel_index(int(np.argmax(off)), off.shape)
    of = f"(end − start) of update {column - 1}, of client {tape.descend.client[column - 1]}" if column else "x0"
    words = f"server update {version} moves by {found[version, column]:.10g}·{of}"
    near = off[version, column] <= 1e-9 * max(1.0, float(np.abs(found).max()))
    expect(near, f"{words}; the use table says {said[version, column]:.10g}")


def plain(at: CompiledRun) -> bool | None:
    """Return whether an empty use table could be filled; None where this run does not tell.

    An empty table is for algorithms whose messages are not the moves of updates. Where updates come late and each moves
    one server model, with a weight above 0, they are.
    """
    tape, found = at.long, at.linear.entering
    late = (tape.version[tape.descend.arrival] > tape.descend.version) & (tape.descend.arrival >= 0)
    enters = np.abs(found) > NEGLIGIBLE
    if len(tape.uses.update) or not enters[:, late].any():
        return None
    return bool((found > -NEGLIGIBLE).all() and (enters.sum(axis=0) <= 1).all())


def arrivals(at: CompiledRun) -> None:
    """Check that every update that arrives is used, read or kept by the server, or dropped with a note that says so."""
    tape = at.long
    arrived = tape.descend.arrival >= 0
    used, dropped = np.zeros((2, len(arrived)), dtype=np.bool_)
    used[tape.uses.update] = True
    for row in np.asarray(tape.notes.get("dropped", ()), dtype=np.int64).tolist():
        noted = f"update {row} is noted as dropped, and"
        expect(0 <= row < len(arrived), f"{noted} there is none")
        expect(arrived[row], f"{noted} has not arrived")
        expect(not used[row], f"{noted} stands in the use table")
        dropped[row] = True
    for row in np.flatnonzero(arrived & ~(dropped | used | at.linear.read | at.linear.held)).tolist():
        expect(
            False,
            f"update {row}, of client {tape.descend.client[row]}, arrives with event {tape.descend.arrival[row]}, and "
            f"nothing reads it; where it is to be ignored, it is `dropped`",
        )


def quantities(at: CompiledRun) -> None:
    """Check that quantities are finite, and those of the use table what another count finds, at several horizons."""
    rate, last = at.algorithm.server_rate(at.parameters), int(at.long.version[-1])
    expect(rate is None or rate > 0.0, f"server_rate() is {rate}, which must be > 0")
    for until in sorted({1, (last + 1) // 2, last} & set(range(1, last + 1))):
        found, table = at.quantities(until), usage(at.long, until, rate)
        for name, value in found.items():
            expect(np.isfinite(value).all(), f"quantity {name} is {value}")
        said = {} if table is None else table.symbols()
        for name, count in counted(at.long, until, rate).items() if said else ():
            equal(f"{name} of the use table and a count", said[name], count, scale=1e-3)
            if name in found.keys() - at.algorithm.redefines:
                equal(f"quantity {name} and a count in the use table", found[name], count, scale=1e-3)


def counted(tape: Tape, until: int, rate: float | None) -> dict[str, float]:
    """Return the symbols of :class:`boundlab.tape.Usage`, counted without its blocks and running sums.

    Parameters
    ----------
    rate
        What all weights are divided by; None: the mean over server updates of their sum.
    """
    n, used = tape.clients, tape.uses.version < until
    weight, update = tape.uses.weight[used], tape.uses.update[used]
    weights = client_weights(tape)[:until]
    scale = weights.sum() / until if rate is None else rate
    shares = weights.sum(axis=0) / scale / until
    arrives = np.where(tape.descend.arrival < 0, len(tape.events), tape.descend.arrival)
    spans = list(zip(tape.event[tape.op == Op.DESCEND].tolist(), arrives.tolist(), strict=True))
    before = range(int(np.argmax(tape.version >= until)))
    working = [sum(begin < event <= end for begin, end in spans) for event in before]
    taus = tape.uses.version[used] - tape.descend.version[update]
    return {
        "n": n,
        "tau_max": int(taus.max()),
        "tau_mean": float(taus.mean()),
        "concurrency": max(working),
        "concurrency_mean": sum(working) / len(working),
        "chi2": n * float(((shares - 1 / n) ** 2).sum()),
        "chi2_path": n * float(((weights / scale - 1 / n) ** 2).sum()) / until,
        "alpha2": float((weight**2).sum()) / scale**2 / until,
        "pi_max": float(shares.max()),
    }


def client_weights(tape: Tape) -> NDArray[np.float64]:
    """Return the sum of each client's weights in each server update, shape (versions, n), off the use table."""
    weights = np.zeros((int(tape.version[-1]), tape.clients))
    np.add.at(weights, (tape.uses.version, tape.descend.client[tape.uses.update]), tape.uses.weight)
    return weights


def averages(at: CompiledRun) -> None:
    """Check that server models are averages of local passes, and how many lie behind each, where that is said."""
    tape = at.long
    said = at.algorithm.averages(at.parameters, at.problem.n)
    if not at.algorithm.stays_feasible(at.parameters, at.problem.n):
        return
    found = reading(tape, ends=True)
    what = "0 ≤ the weights of passes in a server model, by stays_feasible()"
    at_most(what, -found.models, 0.0, scale=1e-3)
    total = found.models.sum(axis=1)
    equal("the sum of the weights of passes in a server model and 1", total, np.ones_like(total))
    size = float(tape.descend.step_size.max(initial=0.0)) * float(tape.local.max(initial=1.0))
    largest = at.algorithm.largest_step(at.parameters, at.problem.n)
    if largest is not None:
        at_most("the largest step ≤ largest_step()", size, largest)
    if said is None:
        return
    at_most("the largest step ≤ that of averages()", size, said.step_size)
    ks = tape.record.iteration
    steps, most = found.depth[tape.record.version], said.steps * said.depth(ks)
    for k, found_steps, allowed in zip(ks.tolist(), steps.tolist(), most.tolist(), strict=True):
        words = f"averages() says at most {allowed} local steps behind iterate {k}"
        expect(found_steps <= allowed, f"{words}; there are {found_steps}")


def in_flight(at: CompiledRun) -> None:
    """Check how much is on its way, where that is said: when updates began and entered, and what they weigh."""
    said, tape = at.algorithm.in_flight(at.parameters, at.problem.n), at.long
    if said is None:
        return
    begun, enters, weight = tape.descend.version[tape.uses.update], tape.uses.version, tape.uses.weight
    expect(bool((weight >= 0.0).all()), "in_flight() is about weights ≥ 0")
    size = float(tape.descend.step_size.max(initial=0.0)) * float(tape.local.max(initial=1.0))
    at_most("the largest step ≤ that of in_flight()", size, said.step_size)
    at_most("the local steps of an update ≤ those of in_flight()", tape.descend.steps, said.steps)
    for version in range(int(tape.version[-1])):
        for what, which, most in (
            ("begun", begun == version, said.begun),
            ("pending", (begun < version) & (enters >= version), said.pending),
            ("used", enters == version, said.used),
        ):
            at_most(f"weights {what} at version {version}", float(weight[which].sum()), most)


def weights(at: CompiledRun) -> None:
    """Check the weights of the objective, exactly; and on rounds of everybody, where they are the clients' shares."""
    n, tape = at.problem.n, at.long
    p = at.algorithm.objective_weights(at.parameters, n)
    if p is not None:
        expect(len(p) == n, f"objective_weights() gives {len(p)} weights for {n} clients")
        expect(sum(p) == 1, f"objective_weights() sum to {sum(p)}, not to 1")
        expect(min(p) > 0, f"objective_weights() hold {min(p)}, and each must be > 0")
    fresh = (tape.descend.version[tape.uses.update] == tape.uses.version).all()
    same = len(set(tape.descend.steps[tape.uses.update].tolist())) == 1
    each = client_weights(tape)
    if not (fresh and same and sorted(used_clients(tape)) == [*np.ndindex(each.shape)]):
        return
    shares = each / each.sum(axis=1, keepdims=True)
    if np.ptp(shares, axis=0).max() <= NEGLIGIBLE:  # else they are drawn, and say nothing each
        expected = np.full(n, 1.0 / n) if p is None else np.array([float(one) for one in p])
        what = "the clients' shares of a server update that nobody misses and objective_weights()"
        equal(what, shares, np.broadcast_to(expected, shares.shape))


def used_clients(tape: Tape) -> list[tuple[int, int]]:
    """Return the server update and the client of each use."""
    return list(zip(tape.uses.version.tolist(), tape.descend.client[tape.uses.update].tolist(), strict=True))


def draws(at: CompiledRun) -> None:
    """Check that what trials differ in while arrivals are sure is declared: a statement is about its mean, or not."""
    reason = undeclared_draws(at.algorithm, at.parameters, at.problem.n)
    expect(not reason, reason)


def run_assumptions() -> dict[str, Assumption]:
    """Return the assumptions on runs, those of plug-ins among them."""
    return {name: one for name, one in registered("assumptions").items() if one.of == "run"}


def promises(at: CompiledRun) -> None:
    """Check what an assumption on runs says of every single run, where ``why_not`` says that it is met."""
    tape = at.long
    if at.delays is None or not len(tape.uses.update):
        return
    met = {one for one in run_assumptions() if not at.algorithm.why_not(one, at.parameters, at.delays)}
    pairs = used_clients(tape)
    if "uniform-buffer" in met:
        expect(len(set(pairs)) == len(pairs), "uniform-buffer is met, but a client is twice in a server update")
    if "uniform-sampling" in met:
        one = len({version for version, _ in pairs}) == len(pairs)
        expect(one, "uniform-sampling is met, but a server update uses several updates")
    if "equal-weights" in met:
        found = tape.uses.weight
        equal("equal-weights is met; the weight of an update and 1/n", found, 0.0 * found + 1.0 / at.problem.n)


def program(at: CompiledRun) -> None:
    """Check that the program of one event, over the events of a tape, makes the iterates of the tape."""
    n, tape = at.problem.n, at.long
    said = at.algorithm.program(at.parameters, n)
    if said is None:
        return
    law = EventLaw(np.full(n, 0.5 / n), 0.5)
    registers: dict[int, Any] = dict(enumerate(initial(said.initial, at.problem.x0.astype(np.float64))))
    rows, control = said.opening()
    _run(rows, registers, at.problem, said.local)
    expect(said.points.keys() == at.algorithm.points.keys(), "program() has other points than the algorithm")
    looked = {(name, i): own[i] for name, own in said.points.items() for i in range(n)}
    models, number, ignored = [registers[X_S]], 0, list[int]()
    seen = [{point: registers[own] for point, own in looked.items()}]
    details = tape.events.detail or ((),) * len(tape.events)
    dropped = _brought_in_vain(tape)
    for place, (actor, detail) in enumerate(zip(tape.events.actor.tolist(), details, strict=True)):
        # An event is who acts, and whom it concerns; who counts, after those who are ignored; a round is its members.
        choices = [event for event, _ in said.choices(control, law)]
        found = [event for event in ((*sorted(ignored), actor, *detail), tuple(detail)) if event in choices]
        if not found and place in dropped:
            ignored.append(actor)
            continue
        words = f"event {place + 1} of a run, {(*ignored, actor, *detail)}, is none of the choices of program()"
        expect(found, f"{words}: {', '.join(map(str, choices[:5]))}")
        step = said.event(control, found[0], number)
        number, ignored = number + 1, []
        _run(step.rows, registers, at.problem, said.local)
        control = step.control
        if step.iteration:
            models.append(registers[X_S])
            seen.append({point: registers[own] for point, own in looked.items()})
    shown = at.executed.shown
    expect(len(models) == len(shown), f"program() makes {len(models) - 1} iterations, the tape {len(shown) - 1}")
    equal("the iterates of program() and of the tape", models, shown, scale=1.0, rounding=_ROUNDING)
    for point in looked:
        _, vectors = at.shown(RecordAt(point=point))
        found = [one[point] for one in seen]
        equal(f"{point} of program() and of the tape", found, vectors, scale=1.0, rounding=_ROUNDING)


def _brought_in_vain(tape: Tape) -> set[int]:
    """Return the events that bring what is dropped, not those that stop it."""
    dropped, stopped = (np.asarray(tape.notes.get(name, ()), dtype=np.int64) for name in ("dropped", "stopped"))
    return set(tape.descend.arrival[np.setdiff1d(dropped, stopped)].tolist())


def _run(rows: Iterable[object], registers: dict[int, Any], problem: Problem, local: Sequence[float]) -> None:
    """Execute rows in place."""
    for row in rows:
        match row:
            case AffineRow():
                registers[row.dst] = sum((coef * registers[src] for coef, src in row.terms), start=np.zeros(problem.d))
            case DescendRow():
                sizes = [row.step_size * part for part in local or (1.0,) * row.steps]
                registers[row.dst] = local_steps(problem, row.client, registers[row.src], sizes)
            case _:
                registers[row.dst] = registers.pop(row.src)  # type: ignore[attr-defined]
