"""All checks of one algorithm: its options, its runs under several delays, and their tapes.

Of its options: they are the documented ones, each has an effect, and staleness functions damp. Of a run: its events,
their tape, what it does to a small problem, and what updates become.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, cached_property, partial
from itertools import product
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundlab.algorithms import Algorithm, example_options, undeclared_draws
from boundlab.case import build_delays, build_problem, delays_from
from boundlab.delays import DelayModel
from boundlab.errors import CaseError, SpecError, TapeError
from boundlab.events import Events
from boundlab.execute.floats import run
from boundlab.formulas.symbols import SYMBOLS
from boundlab.objective import Array, Oracle, Problem
from boundlab.options import Options
from boundlab.randomness import Floats, Ints, Streams
from boundlab.registry import registered
from boundlab.tape import NOTHING, RecordAt, Tape, usage, verify, verify_identities
from boundlab.testing._check import (
    Check,
    about,
    at_each,
    at_most,
    equal,
    expect,
    named,
    reads_declared,
    reasoned,
    spoken,
)

NEGLIGIBLE = 1e-12  # a coefficient that rounding may have left of 0


@final
class Marks(Oracle):
    """An oracle by which every update adds a coordinate of its own: iterates are then combinations of x0 and updates.

    Parameters
    ----------
    updates
        How many there are. x0 is the first coordinate.
    ends
        True: a local step ends in its coordinate, in place of adding it.
    """

    def __init__(self, updates: int, *, ends: bool) -> None:
        self.ends, self.drawn = ends, 0
        self.depth = np.zeros(1 + updates, dtype=np.int64)  # the local steps behind x0 and behind each end

    def draws(self, clients: Ints, updates: Ints, steps: int) -> list[list[int]]:
        """Return the coordinate of each update."""
        first = 1 + self.drawn
        self.drawn += len(clients)
        return [[first + place] * steps for place in range(len(clients))]

    def draw_size(self, steps: int) -> int:
        """Return that one update takes as many numbers as it has steps."""
        return steps

    def step(self, x: Array, client: int, draw: int, step_size: float) -> None:
        """Mark x."""
        self.depth[draw] = 1 + self.depth[_holds(x)].max(initial=0)
        x *= not self.ends
        x[draw] = 1.0

    implicit_step = step


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """The server's models as combinations.

    Parameters
    ----------
    models
        Shape (versions + 1, 1 + updates): the coefficients of x0 and of each update.
    depth
        Shape (versions + 1,): the most local steps that lie behind each model, one after the other.
    """

    models: Floats
    depth: Ints

    @property
    def entering(self) -> Floats:
        """The coefficients with which each update moves the model, shape (versions, updates)."""
        return np.asarray(np.diff(self.models[:, 1:], axis=0))


def reading(tape: Tape, *, ends: bool = False) -> Reading:
    """Read a tape that records all iterations: whatever the functions are, a register is a combination of these.

    Parameters
    ----------
    ends
        Whether the combinations are of the ends of updates in place of their moves, each its end minus its start.
    """
    marks, shown = Marks(len(tape.descend.arrival), ends=ends), list[Array]()
    run(tape, np.eye(1, len(marks.depth))[0], marks, lambda _row, x: shown.append(x.copy()))
    models = np.array(shown, dtype=np.float64)[of_versions(tape)]
    return Reading(models, np.array([marks.depth[_holds(one)].max(initial=0) for one in models]))


def of_versions(tape: Tape) -> Ints:
    """Return the record of the server's model of each version, of the records of all iterations."""
    return np.searchsorted(tape.record.version, np.arange(int(tape.version[-1]) + 1))


def _holds(combination: Array) -> NDArray[np.bool_]:
    """Return which coefficients are not 0."""
    return np.abs(combination) > NEGLIGIBLE


# Algorithms with the settings and the delays under which they are looked at, and their runs there.

ITERATIONS = 8
REFUSED = (SpecError, CaseError)  # of what does not go together
_DELAYS = ("exponential:spread=5", "deterministic", "pareto:spread=3", "iid")
_DOUBLED = 6  # times at most: the events that the algorithm thinks that the iterations take


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
    def models(self) -> Floats:
        """Records of the long tape with full gradients."""
        return self.shown()[1]

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

    def shown(self, records: RecordAt | None = None, iterations: int | None = None) -> tuple[Tape, Floats]:
        """Return the tape and what it shows with full gradients in floats, shape (records, d)."""
        tape, seen = self.tape(iterations, records), list[Array]()
        with np.errstate(over="ignore", invalid="ignore"):
            run(tape, self.problem.x0, self.problem.full_gradients(), lambda _row, x: seen.append(x.copy()))
        return tape, np.array(seen, dtype=np.float64).reshape(-1, self.problem.d)

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
    _made: dict[tuple[str, str], CompiledRun] = field(default_factory=dict)

    @property
    def who(self) -> str:
        """How messages begin."""
        return f"algorithm {getattr(self.algorithm, 'id', type(self.algorithm).__name__)}"

    @cached_property
    def n(self) -> int:
        """The number of clients."""
        given = self.clients or next((one.n for one in self.delays), None)
        return given or next((n for n in (3, 1) if self._goes(n)), 3)

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

    def schedule(self, setting: Mapping[str, Any], model: DelayModel) -> CompiledRun:
        """Return a setting under a delay model.

        Raises
        ------
        SpecError
            If the options do not go together, or not with so many clients.
        """
        key = example_options.words(setting), f"{model.n} {model.spec()}"
        if key not in self._made:
            self._made[key] = self._compile(setting, model)
        return self._made[key]

    def runs(self, places: Iterable[tuple[Mapping[str, Any], DelayModel]]) -> Iterator[CompiledRun]:
        """Yield settings under delay models that they go with: not a buffer that so few clients never fill."""
        for setting, model in places:
            with suppress(*REFUSED):
                yield self.schedule(setting, model)

    def _goes(self, n: int) -> bool:
        """Return whether the simplest setting goes with so many clients."""
        return any(self.runs((setting, model) for setting in self.options_for(n)[:1] for model in self._models(n)[:1]))

    def _models(self, n: int) -> Sequence[DelayModel]:
        for one in self.delays:
            one.require(n)
        return self.delays or [delays_from(spec, n) for spec in _DELAYS]

    def _compile(self, setting: Mapping[str, Any], model: DelayModel) -> CompiledRun:
        """Sample enough events for all iterations."""
        a, n, who, made = self.algorithm, model.n, self.words(setting, model), 0
        parameters = a.read(Options(a.id, setting))
        first = max(a.events_for(parameters, n, ITERATIONS), 1)
        for times in range(_DOUBLED + 1):
            events = self.sample(setting, model, first << times)
            try:
                made = a.schedule(parameters, events, n, NOTHING, ITERATIONS).iterations
            except TapeError as error:
                raise AssertionError(f"{who}: {ITERATIONS} iterations do not compile: {error}") from error
            if made >= ITERATIONS:
                return CompiledRun(who, a, parameters, events, _small(n), ITERATIONS, model)
        raise AssertionError(f"{who}: {first << _DOUBLED} events make {made} of {ITERATIONS} iterations")

    def words(self, setting: Mapping[str, Any], model: DelayModel | None = None) -> str:
        """Return how messages about a setting begin, perhaps under a delay model."""
        under = "" if model is None else f" under {model.id} delays"
        return f"{self.who} with {example_options.words(setting)}{under}"

    def sample(self, setting: Mapping[str, Any], model: DelayModel, count: int) -> Events:
        """Return the first events; a count that the server's policy may set is set by it."""
        a, server = self.algorithm, self.server
        if server is None and a.server == "any" and "count" in setting:
            server = f"count:every={setting['count']}"
        policy = a.policy(server, model)
        return a.sample(a.read(Options(a.id, setting)), model, policy, Streams(7), model.n, count)


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


def repeats(at: CompiledRun) -> None:
    """Check that a program is the same whenever it is compiled, and that its iterates are finite."""
    same = _fingerprint(at.tape()) == _fingerprint(at.long)
    expect(same, "the same events are compiled twice, and make two programs")
    expect(np.isfinite(at.models).all(), f"one of {len(at.models)} iterates is not finite; take smaller steps")


def records(at: CompiledRun, chosen: Ints = _CHOSEN) -> None:
    """Check that all, chosen and averaged iterates, and those after each event, are of one run."""
    (tape, models), every = at.shown(), RecordAt(events=True)
    ks = tape.record.iteration
    running = np.cumsum(models, axis=0) / np.arange(1.0, len(ks) + 1)[:, None]
    each = at.tape(records=every).record.iteration
    for words, asked, wanted, expected in (
        ("RecordAt()", RecordAt(), np.arange(len(ks)), models),
        (f"RecordAt({chosen.tolist()})", RecordAt(chosen), chosen[chosen < len(ks)], models),
        ("RecordAt(average=True)", RecordAt(average=True), ks[1:], np.concatenate((models[:1], running))),
        ("RecordAt(events=True)", every, each, models),
    ):
        found, shown = at.shown(asked)
        equal(f"the iterations that {words} shows, and those that it asks for,", found.record.iteration, wanted)
        what = f"the iterates that {words} shows, and all of them,"
        equal(what, shown, expected[wanted], scale=1.0, rounding=_ROUNDING, axes=("record", "coordinate"))
    size = len(tape.events)
    expect(len(each) == size, f"RecordAt(events=True) shows {len(each)} models after {size} events")


def beginnings(at: CompiledRun, asked: Iterable[int] = (0, 1, ITERATIONS // 2, ITERATIONS)) -> None:
    """Check that tapes of fewer iterations are the beginning of the long one, and end with the event that counts."""
    long = at.long
    for some in asked:
        short, models = at.shown(iterations=some)
        what = f"of {long.iterations} iterations {some} were asked for"
        compiled = short.iterations == min(some, long.iterations)
        expect(compiled, f"{what}, {short.iterations} were compiled")
        size = len(short.events)
        if some <= long.iterations:
            # Where the server is an actor of its own every event is an iteration.
            last = some if at.algorithm.server == "any" else int(np.argmax(long.version >= some))
            expect(size == last, f"{what}; the tape ends after event {size}, and event {last} completes them")
        used = long.uses.version < int(short.version[-1])
        for name, found, expected in (
            ("versions", short.version, long.version[: size + 1]),
            ("models", models, at.models[: len(models)]),
            ("updates used", short.uses.update, long.uses.update[used]),
            ("versions of uses", short.uses.version, long.uses.version[used]),
            ("weights of uses", short.uses.weight, long.uses.weight[used]),
        ):
            what = f"the {name} of the first {some} iterations, asked for alone and among more,"
            equal(what, found, expected, rounding=0.0)


def uses(at: CompiledRun) -> None:
    """Check x_s^{t+1} − x_s^t = Σ weight·(end − start) over the uses of version t, where the table is filled."""
    tape, found = at.long, at.linear
    if not len(tape.uses.update):
        return
    said = np.zeros_like(found.entering)
    np.add.at(said, (tape.uses.version, tape.uses.update), tape.uses.weight)
    start = found.models[:, 0]
    equal("the weight of x0 in the server's model and 1", start, np.ones_like(start), axes=("version",))
    what = "the weights of (end − start) in what moves the server, and those of the use table,"
    equal(what, found.entering, said, scale=1.0, axes=("server update", "update"))


def quantities(at: CompiledRun) -> None:
    """Check that quantities are finite, and those of the use table what that says, at several horizons."""
    rate, last = at.algorithm.server_rate(at.parameters), int(at.long.version[-1])
    expect(rate is None or rate > 0.0, f"server_rate() is {rate}, which must be > 0")
    for until in sorted({1, (last + 1) // 2, last} & set(range(1, last + 1))):
        found, table = at.quantities(until), usage(at.long, until, rate)
        for name, value in found.items():
            expect(np.isfinite(value).all(), f"quantity {name} is {value}")
        said = {} if table is None else table.symbols()
        for name in sorted(said.keys() & found.keys() - at.algorithm.redefines):
            equal(f"quantity {name} and a count in the use table", found[name], said[name], scale=1e-3)


def of_clients(tape: Tape, each: ArrayLike) -> Floats:
    """Return the sum over each client's uses in each server update, shape (versions, n), of a number of each use."""
    found = np.zeros((int(tape.version[-1]), tape.clients))
    np.add.at(found, (tape.uses.version, tape.descend.client[tape.uses.update]), each)
    return found


def steps(at: CompiledRun) -> None:
    """Check that no local step is larger than is said."""
    a, given = at.algorithm, (at.parameters, at.problem.n)
    sizes = {"largest_step()": a.largest_step(*given)}
    for name, said in (("averages()", a.averages(*given)), ("in_flight()", a.in_flight(*given))):
        sizes[name] = None if said is None else said.step_size
    size = float(at.long.descend.step_size.max(initial=0.0)) * float(at.long.local.max(initial=1.0))
    for name, most in sizes.items():
        if most is not None:
            at_most(f"the largest step ≤ that of {name}", size, most)


def averages(at: CompiledRun) -> None:
    """Check that server models are averages of local passes, and how many lie behind each, where that is said."""
    given, record = (at.parameters, at.problem.n), at.long.record
    if not at.algorithm.stays_feasible(*given):
        return
    found = reading(at.long, ends=True)
    at_most("0 ≤ the weights of passes in a server model, by stays_feasible()", -found.models, 0.0, scale=1e-3)
    total = found.models.sum(axis=1)
    equal("the sum of the weights of passes in a server model and 1", total, np.ones_like(total))
    said = at.algorithm.averages(*given)
    if said is not None:
        most = said.steps * said.depth(record.iteration)
        what = "the local steps behind each iterate ≤ those that averages() says"
        at_most(what, found.depth[record.version], most, axes=("iterate",))


def in_flight(at: CompiledRun) -> None:
    """Check how much is on its way, where that is said: when updates began and entered, and what they weigh."""
    said, tape = at.algorithm.in_flight(at.parameters, at.problem.n), at.long
    if said is None:
        return
    begun, enters, weight = tape.descend.version[tape.uses.update], tape.uses.version, tape.uses.weight
    at_most("0 ≤ the weights that in_flight() is about", -weight, 0.0)
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
    used = tape.uses.update
    fresh = (tape.descend.version[used] == tape.uses.version).all()
    everyone = (of_clients(tape, 1.0) == 1.0).all()
    if not (fresh and everyone and len(set(tape.descend.steps[used].tolist())) == 1):
        return
    each = of_clients(tape, tape.uses.weight)
    shares = each / each.sum(axis=1, keepdims=True)
    if np.ptp(shares, axis=0).max() <= NEGLIGIBLE:  # else they are drawn, and say nothing each
        expected = np.full(n, 1.0 / n) if p is None else np.array([float(one) for one in p])
        what = "the clients' shares of a server update that nobody misses and objective_weights()"
        equal(what, shares, np.broadcast_to(expected, shares.shape), axes=("server update", "client"))


def draws(at: CompiledRun) -> None:
    """Check that what trials differ in while arrivals are sure is declared: a statement is about its mean, or not."""
    reason = undeclared_draws(at.algorithm, at.parameters, at.problem.n)
    expect(not reason, reason)


def promises(at: CompiledRun) -> None:
    """Check what an assumption on runs says of every single run, where ``why_not`` says that it is met."""
    tape = at.long
    if at.delays is None or not len(tape.uses.update):
        return
    counts = of_clients(tape, 1.0)
    for name, what, found, most in (
        ("uniform-buffer", "the updates of a client in a server update", counts, 1.0),
        ("uniform-sampling", "the updates in a server update", counts.sum(axis=1), 1.0),
        ("equal-weights", "|n·weight − 1| of an update", np.abs(at.problem.n * tape.uses.weight - 1.0), 0.0),
    ):
        if not at.algorithm.why_not(name, at.parameters, at.delays):
            at_most(f"{name} is met; {what} ≤ {most:g}", found, most, scale=1.0)


# The algorithm as a whole, in all of its settings.

_FEW, _MANY = 9, 80  # events


def algorithm_checks(algorithm: Algorithm[Any], **given: Any) -> Iterator[Check]:
    """Return the checks, those first whose failure explains others; ``given``: fields of :class:`Subject`."""
    subject = Subject(algorithm, **given)
    return named(subject.who, _CHECKS, subject)


def _named(subject: Subject) -> None:
    spoken(subject.algorithm, "id", "summary")


def _declared(subject: Subject) -> None:
    """Check every setting against the help of the options and the fields of the parameters."""
    a, says = subject.algorithm, subject.algorithm.parameters
    for given in subject.settings:
        _declared_in(a, given)
    for name in a.step_size_symbols:
        expect(name in says, example_options.unknown_step(name))
    expect(a.server != "count" or "count" in says, "server is 'count', but there is no option count")


def _declared_in(a: Algorithm[Any], given: Mapping[str, Any]) -> None:
    with about(f"the options {dict(given)} are refused"):
        found = a.read(Options(a.id, given))
    again = a.read(Options(a.id, json.loads(json.dumps(dict(given)))))
    expect(again == found, f"the options {dict(given)} are read as other ones once they have been JSON")
    expect(isinstance(found, a.parameter_type), f"read() gives no {a.parameter_type.__name__}, but {found!r}")
    unread = sorted(a.parameters.keys() - reads_declared(a.id, a.read, given, a.parameters))
    expect(not unread, f"option {', '.join(unread)} is declared, but never read")
    for one in fields(a.parameter_type):
        usual = one.default_factory() if one.default_factory is not MISSING else one.default
        spelt = one.name not in a.parameters and bool(given)  # perhaps by given options of other names
        if usual is not MISSING and one.name not in given and not spelt:
            value = getattr(found, one.name)
            expect(value == usual, f"without the option {one.name} it is {value!r}; its default is {usual!r}")


def _fingerprint(tape: Tape) -> bytes:
    """Return what only equal runs share: the events, and the program."""
    parts: list[NDArray[Any]] = [tape.events.time, tape.events.actor, tape.op, tape.row, tape.local, tape.implicit]
    for table in (tape.affine, tape.descend, tape.record, tape.uses):
        parts += [getattr(table, one.name) for one in fields(table)]
    return repr(tape.events.detail).encode() + b"".join(part.tobytes() for part in parts)


def _answers(subject: Subject) -> None:
    """Check that the algorithm answers for every assumption on runs: '' or a sentence."""
    names = [name for name, one in registered("assumptions").items() if one.of == "run"]
    for setting, model, name in product(subject.settings, subject.models, names):
        parameters = subject.algorithm.read(Options(subject.algorithm.id, setting))
        who = f"{subject.who} under {model.id} delays: why_not({name})"
        reasoned(who, subject.algorithm.why_not(name, parameters, model))


def _begins(subject: Subject) -> None:
    """Check that more events of a trial begin with the same ones."""
    for setting, model in product(subject.settings, subject.models):
        with about(subject.words(setting, model)), suppress(*REFUSED):
            short, long = (subject.sample(setting, model, count) for count in (_FEW, _MANY))
            size = len(short)
            expect(size >= _FEW, f"{size} events are sampled where {_FEW} are asked for")
            same_events(f"sample({_MANY})", long.head(size), short)


def _alone(subject: Subject) -> None:
    """Check that ``single_client_values`` describe a run of some setting, in which the model does gradient descent."""
    if subject.algorithm.single_client_values is None or subject.options is not None:  # of some setting, not of each
        return
    said = {name: info.alone for name, info in SYMBOLS.items() if info.alone is not None}
    said |= subject.algorithm.single_client_values
    places = product(subject.options_for(1), [build_delays("deterministic", {}, 1)])
    found = [(list(_not_alone(at, said)), at.who) for at in subject.runs(places)]
    wrong, who = min(found, key=lambda one: len(one[0]), default=(["none is accepted"], ""))
    words = f"no setting of one client without delay has single_client_values: {who} {'; '.join(wrong)}"
    expect(not wrong, words)


def _not_alone(at: CompiledRun, said: Mapping[str, int]) -> Iterator[str]:
    """Yield in words what is otherwise in a run."""
    tape = at.long
    quantities = at.quantities(int(tape.version[-1]))
    for name, value in said.items():
        if name in quantities and quantities[name] != value:
            yield f"{name} is {quantities[name]:g}, and single_client_values say {value:g}"
    models, size = at.models[of_versions(tape)], float(tape.descend.step_size[0])
    stepped = np.array([x - size * at.problem.gradient(0, x) for x in models])
    if not np.allclose(models[1:], stepped[:-1], rtol=1e-9, atol=1e-12):
        yield "its server updates are no gradient steps"


_each = partial(at_each, lambda subject: subject.schedules)
_CHECKS: Mapping[str, Callable[[Subject], None]] = {
    "it has an id and a summary": _named,
    "options are read as they are declared, and again from JSON": _declared,
    "every assumption on runs is answered": _answers,
    "more events begin with the same ones": _begins,
    "events survive a case file": _each(round_trip),
    "the same events make the same program": _each(repeats),
    "a shorter run is the beginning of a longer one": _each(beginnings),
    "all records show one run": _each(records),
    "the use table is what moves the server's model": _each(uses),
    "quantities are what a count finds": _each(quantities),
    "server models are the averages that it says, of steps no larger": _each(steps, averages),
    "no more is on its way than it says": _each(in_flight),
    "what trials draw is declared": _each(draws),
    "the objective has the weights of the updates": _each(weights),
    "assumptions that are met show in every run": at_each(
        lambda subject: subject.runs(product(subject.settings, subject.models)), promises
    ),
    "alone and without delay it is gradient descent": _alone,
}
