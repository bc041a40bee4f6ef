"""AREA: asynchronous exact averaging (Iakovidou and Kim), Algorithms 1 and 2 and Appendix A."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm
from boundlab.algorithms._averages import Averages
from boundlab.algorithms._option import Parameters
from boundlab.algorithms._program import (
    X_S,
    AffineRow,
    Control,
    DescendRow,
    Event,
    EventLaw,
    EventProgram,
    MoveRow,
    Row,
    Share,
    Step,
)
from boundlab.algorithms._steps import StepSize, step_size
from boundlab.errors import SpecError
from boundlab.events import SERVER, Events
from boundlab.tape import BulkWriter, Identity, Initial, RecordAt, Tape, keep

Ints = NDArray[np.int64]
IntOrInts = TypeVar("IntOrInts", int, Ints)

# Registers: x_s, u, two a client, then the ergodic sum and average. The two of a client take turns: y_i ← x_i
# is a change of names, not a copy, and Descend writes the new x_i over the old y_i, which nothing needs any more.
_X_S, _U, _CLIENTS = X_S, 1, 2


@final
@dataclass(frozen=True, slots=True)
class AreaParameters(Parameters):
    """The parameters of AREA: M local steps of size α_k, unit (−1, 2), and aggregations after ``count`` arrivals (Δ).

    Where ``count`` is None, the events name the aggregations. With ``start=analysis`` x_i,0 = y_i,0 = x_s,0;
    otherwise the first message is Descend(x_s,0) − x_s,0 with α_0. The clocks are those of Algorithm 1 and of
    Appendix A, eq. (5).
    """

    step: StepSize = step_size()
    M: int = option.integer("local steps (default 1)", 1, minimum=1, maximum=10**6)
    count: int | None = option.integer("aggregate after every so many client updates", None, minimum=1)
    reply: Literal["pre", "post"] = option.choice(
        "pre (default) or post: is the client that completes the count answered before the aggregation?",
        ("pre", "post"),
    )
    start: Literal["algorithm", "analysis"] = option.choice(
        "algorithm (default, Algorithm 2) or analysis (Appendix A: first messages are 0)", ("algorithm", "analysis")
    )
    clock: Literal["algorithm", "analysis"] = option.choice(
        "algorithm (default: iteration k answers with alpha_k) or analysis (with alpha_{k-1})",
        ("algorithm", "analysis"),
    )

    def check(self, owner: str) -> None:
        """Refuse reply=post without count."""
        if self.reply == "post" and self.count is None:
            raise SpecError(f"{owner}: reply=post needs count: without it no arrival completes an aggregation")

    def answers_with(self, event: IntOrInts) -> IntOrInts:
        """Return the k of the α_k with which the server answers in event 0, 1, …, for one event or an array."""
        return event + (1 if self.clock == "algorithm" else 0)


@final
class Area(Algorithm[AreaParameters]):
    """The compiler of AREA."""

    id = "area"
    summary = "asynchronous exact averaging: clients send residuals, memory removes the bias of unequal rates"
    parameter_type = AreaParameters
    step_size_symbols = ("alpha", "c")
    server = "any"

    def schedule(
        self, parameters: AreaParameters, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        """Compile; each arrival and each aggregation is one iteration.

        Raises
        ------
        SpecError
            If ``count`` is set and the events name aggregations themselves.
        """
        events = _with_aggregations(events, parameters.count).head(iterations)
        actor = events.actor
        arrivals, aggregations = np.flatnonzero(actor >= 0), np.flatnonzero(actor == SERVER)
        version = np.concatenate([[0], np.cumsum(actor == SERVER)])  # version[k]: after k iterations
        asm = BulkWriter()
        _client_events(asm, parameters, arrivals, actor, version, clients)
        sums = _Sums(records, clients)
        _server_events(asm, aggregations, sums)
        shown = records.at(len(events))
        _records(asm, shown, aggregations, version, events, sums)
        initial = np.full(_CLIENTS + 2 * clients + 2 * records.average, Initial.START, dtype=np.int8)
        initial[_U] = Initial.ZERO
        if records.average:
            initial[-2:] = Initial.ZERO, Initial.UNWRITTEN
        # Appendix A: the average of the y_i is x_s + u after every event.
        seen = np.bincount(actor[arrivals], minlength=clients)
        identity = Identity(
            "mean(y_i) = x_s + u",
            np.concatenate([_register(np.arange(clients), seen + 1, clients), [_X_S, _U]]),
            np.concatenate([np.full(clients, 1.0 / clients), [-1.0, -1.0]]),
        )
        return asm.tape(initial, events, clients, _X_S, version, (identity,), sums.exact)

    def averages(self, parameters: AreaParameters, clients: int) -> Averages:
        """Return how x_s averages passes: after every event mean(y_i) = x_s + u (the tape's identity).

        So an aggregation writes x_s ← mean(y_i), and a y_i is x0 or an earlier x_i, which is x0 or Descend(x_s). A
        pass takes three events to the next one: an arrival computes x_i, the client's next arrival makes it y_i, an
        aggregation reads it. The first messages spare an event if they are passes, and with reply=post the
        aggregation itself is the event that computes the next x_i.
        """
        ahead = 1 if parameters.start == "algorithm" else 0
        every = 3
        if parameters.reply == "post":
            every, ahead = 2, ahead - 1
        return Averages(parameters.M, float(parameters.step.at(np.array(0))), every, ahead)

    def drawn_events(self, parameters: AreaParameters, drawn: Sequence[Event]) -> Events:
        """Return clients and aggregations; where a count makes these, clients alone."""
        return super().drawn_events(parameters, [one for one in drawn if parameters.count is None or one[0] != SERVER])

    def program(self, parameters: AreaParameters, clients: int) -> "AreaProgram":
        """Return one arrival, or one aggregation."""
        return AreaProgram(parameters, clients)


@final
class AreaProgram(EventProgram):
    """One event of AREA on x_s, u, x_1 … x_n, y_1 … y_n.

    Control: who waits for an answer (reply=post), and the arrivals since the last aggregation where a count makes them.
    """

    def __init__(self, parameters: AreaParameters, clients: int) -> None:
        self._parameters, self._clients = parameters, clients
        self.initial = (Initial.START, Initial.ZERO, *[Initial.START] * (2 * clients))
        self.slots = tuple((_CLIENTS + client, _CLIENTS + clients + client) for client in range(clients))
        self.identity = Identity(
            "mean(y_i) = x_s + u",
            np.array([*(y for _, y in self.slots), _X_S, _U]),
            np.array([*[1.0 / clients] * clients, -1.0, -1.0]),
        )

    def opening(self) -> tuple[tuple[Row, ...], Control]:
        """Return the first messages, where they are passes."""
        passes = [self._answer(client, 0) for client in range(self._clients)]
        waits = (False,) * self._clients if self._parameters.reply == "post" else ()
        control = Control(waits, None if self._parameters.count is None else 0)
        return tuple(passes) if self._parameters.start == "algorithm" else (), control

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return clients and server; under a count whose turn it is."""
        if self._parameters.count is None:
            return law.everybody()
        return law.equally([(SERVER,)]) if control.shared == self._parameters.count else law.clients()

    def clock(self, number: int) -> int | None:
        """Return the k of α_k where that diminishes."""
        return None if self._parameters.step.d is None else self._parameters.answers_with(number)

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Do what the server does: with a message, or when it aggregates."""
        k, actor, n = self._parameters.answers_with(number), event[0], self._clients
        waits, arrivals = control
        if actor == SERVER:
            rows = [AffineRow(_X_S, ((1.0, _X_S), (1.0, _U))), AffineRow(_U, ())]
            answers = [self._answer(client, k) for client, waiting in enumerate(waits) if waiting]
            return Step((*rows, *answers), Control((False,) * len(waits), None if arrivals is None else 0), True)
        x, y = self.slots[actor]
        news = AffineRow(_U, ((1.0, _U), (1.0 / n, x), (-1.0 / n, y)))
        if isinstance(arrivals, int):
            arrivals += 1
            if waits and arrivals == self._parameters.count:
                waits = tuple(client == actor for client in range(n))
                return Step((news, MoveRow(y, x)), Control(waits, arrivals), True)
        return Step((news, MoveRow(y, x), self._answer(actor, k)), Control(waits, arrivals), True)

    def _answer(self, client: int, k: int) -> DescendRow:
        step = self._parameters.step
        size, of = float(step.at(np.array(k))), None if step.d is None else k
        return DescendRow(self.slots[client][0], _X_S, client, self._parameters.M, size, of)


def _register(client: Ints, turn: Ints, n: int) -> Ints:
    """Return the register of x_i after ``turn`` arrivals of client i; that of y_i is the one of turn + 1."""
    return _CLIENTS + client + n * (turn % 2)


def _with_aggregations(events: Events, count: int | None) -> Events:
    """Insert an aggregation, at the same time, after every ``count`` arrivals."""
    if count is None:
        return events
    if (events.actor == SERVER).any():
        raise SpecError("area: with count the events must not name aggregations ('s'); drop them or drop count")
    after = np.arange(count, len(events) + 1, count)
    return Events(
        np.insert(events.time, after, events.time[after - 1]),
        np.insert(events.actor, after, np.int32(SERVER)),
    )


def _client_events(
    asm: BulkWriter,
    parameters: AreaParameters,
    arrivals: Ints,
    actor: NDArray[np.int32],
    version: Ints,
    n: int,
) -> None:
    """Emit u ← u + (x_i − y_i)/n; y_i ← x_i; x_i ← Descend(x_s)."""
    client = actor[arrivals].astype(np.int64)
    update = np.zeros(len(client), dtype=np.int64)
    order = np.argsort(client, kind="stable")
    counts = np.bincount(client, minlength=n)
    update[order] = np.arange(len(client)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    arrives = np.full(len(client), -1, dtype=np.int64)
    arrives[order[:-1]] = np.where(client[order[1:]] == client[order[:-1]], arrivals[order[1:]], -1)
    x, y = _register(client, update - 1, n), _register(client, update, n)
    asm.affine(arrivals, 0, _U, [(1.0, _U), (1.0 / n, x), (-1.0 / n, y)])
    answered = arrivals.copy()
    if parameters.reply == "post":
        completes = np.append(actor, 0)[arrivals + 1] == SERVER
        answered[completes] += 1
        answered = np.minimum(answered, len(actor) - 1)
    asm.descend(
        answered,
        3,
        dst=y,
        src=_X_S,
        client=client,
        update=update,
        steps=parameters.M,
        step_size=parameters.step.at(parameters.answers_with(answered)),
        version=version[answered + 1],
        arrival=arrives,
    )
    if parameters.start == "algorithm":
        everyone = np.arange(n)
        first = np.full(n, -1, dtype=np.int64)
        first[client[::-1]] = arrivals[::-1]
        asm.descend(
            np.full(n, -1),
            3,
            dst=_CLIENTS + everyone,
            src=_X_S,
            client=everyone,
            update=0,
            steps=parameters.M,
            step_size=parameters.step.at(np.zeros(n, dtype=np.int64)),
            version=0,
            arrival=first,
        )


@final
class _Sums:
    """The ergodic sum and average of a run, where records ask for them: registers, and coefficients from weights."""

    def __init__(self, records: RecordAt, n: int) -> None:
        self.average, self.weights = records.average, records.weights
        self.total, self.mean = _CLIENTS + 2 * n, _CLIENTS + 2 * n + 1
        self.exact: dict[float, Fraction | None] = {}

    def between(self, first: Ints, last: Ints) -> NDArray[np.float64]:
        """Return w_first + … + w_{last−1}."""
        if self.weights.values is None:
            return (last - first).astype(np.float64)
        return self._floats(self._before(last) - self._before(first))

    def shares(self, of: Ints, shown: Ints) -> NDArray[np.float64]:
        """Return the weights of the models from ``of`` on in the averages that are shown: 1 from the first on."""
        if self.weights.values is None:
            last = shown + self.weights.closed
            return np.asarray((last - of) / last, dtype=np.float64)
        whole = self._before(shown + self.weights.closed)
        return self._floats((whole - self._before(of)) / whole)

    def of_sum(self, shown: Ints) -> NDArray[np.float64]:
        """Return 1 over the sums of all weights in the averages that are shown."""
        if self.weights.values is None:
            return np.asarray(1.0 / (shown + self.weights.closed), dtype=np.float64)
        return self._floats(Fraction(1) / self._before(shown + self.weights.closed))

    def _before(self, places: Ints) -> NDArray[np.object_]:
        return np.array([self.weights.before(one) for one in places.tolist()], dtype=object)

    def _floats(self, fractions: NDArray[np.object_]) -> NDArray[np.float64]:
        return np.array([keep(self.exact, one) for one in fractions.tolist()], dtype=np.float64)


def _server_events(asm: BulkWriter, aggregations: Ints, sums: _Sums) -> None:
    """Emit x_s ← x_s + u; u ← 0, and the ergodic sum before x_s changes."""
    if sums.average:
        # x_s,k is constant from one aggregation to the next: one term for all these iterations.
        ends = aggregations + 1
        held = sums.between(np.concatenate([[0], ends[:-1]]), ends)
        asm.affine(aggregations, 0, sums.total, [(1.0, sums.total), (held, _X_S)])
    asm.affine(aggregations, 1, _X_S, [(1.0, _X_S), (1.0, _U)])
    asm.affine(aggregations, 2, _U, [])


def _records(asm: BulkWriter, shown: Ints, aggregations: Ints, version: Ints, events: Events, sums: _Sums) -> None:
    """Emit the records, and x̄_k = (sum + (k − last)·x_s)/k before each where the average is asked for."""
    time = np.concatenate([[0.0], events.time])
    src = _X_S
    if sums.average:
        last, src = np.concatenate([[0], aggregations + 1])[version[shown]], sums.mean
        asm.affine(shown - 1, 6, src, [(sums.of_sum(shown), sums.total), (sums.shares(last, shown), _X_S)])
    asm.record(shown - 1, 7, src=src, iteration=shown, version=version[shown], time=time[shown])


AREA = Area()
