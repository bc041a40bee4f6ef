"""The compiler of all algorithms whose clients always work, and whose server moves at arrivals."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundlab.algorithms import _loop
from boundlab.algorithms._loop import Asked, Busy, Rules, Sheet
from boundlab.algorithms._steps import LocalSteps
from boundlab.arithmetic.compiled import machine_code, worth
from boundlab.arithmetic.weights import Weights
from boundlab.errors import SpecError, TapeError
from boundlab.events import Events
from boundlab.tape import SERVER_MODEL, Affine, Descend, Initial, Record, RecordAt, Tape, Uses, keep, verify

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Exact = dict[float, Fraction | None]
# (client, staleness) of all results, in the order in which they enter server updates → their weights there.
Weigh = Callable[[Ints, Ints], Floats]


def of_staleness(weight: Callable[[int], float]) -> Weigh:
    """Return weights that depend on the staleness alone."""

    def weigh(_: Ints, taus: Ints) -> Floats:
        often = np.bincount(taus, minlength=1)
        return np.array([weight(tau) if count else 0.0 for tau, count in enumerate(often.tolist())])[taus]

    return weigh


@final
@dataclass(frozen=True, slots=True)
class Arrivals:
    """An algorithm, as a compiler from arrivals to a tape.

    Parameters
    ----------
    rules
        How results become server updates.
    local
        The local steps.
    spare
        Registers beside one a client.
    weigh
        Weights of the results; where models are mixed into x_s that keeps the rest.
    idle
        What is said where a client arrives that has nothing to send; {client} stands for it.
    """

    rules: Rules
    local: LocalSteps
    spare: int
    weigh: Weigh
    idle: str = "client {client} has nothing to send"

    def tape(
        self,
        owner: str,
        events: Events,
        clients: int,
        records: RecordAt,
        iterations: int,
        target: ArrayLike = (),
    ) -> Tape:
        """Compile.

        Parameters
        ----------
        owner
            Whose events these are, for messages.
        target
            Who gets the new model of each event; empty where it is who arrives.

        Raises
        ------
        SpecError
            If a client arrives that has nothing to send.
        TapeError
            If records ask for a point that nothing shows.
        """
        if records.point is not None:
            raise TapeError(f"records ask for the point {records.point}, which this algorithm does not have")
        iterations = min(iterations, len(events))  # each takes one at least, whatever was asked for
        asked, columns = _asked(records, iterations), _numbers if worth(len(events)) else array
        loop: Any = _loop.arrivals if columns is array else machine_code(_loop.arrivals)
        first = 1 + 2 * records.average
        registers = first + clients + self.spare
        actor, answered = (_column(columns, one) for one in (events.actor, target))
        asked = asked._replace(shown=_column(columns, asked.shown), added=_column(columns, asked.added))
        room, ended = clients + len(events) + 1 + max(self.rules.size, clients * self.rules.stops), _loop.NO_ROOM
        while ended == _loop.NO_ROOM:
            work, rows = self._columns(columns, room, clients, len(events), iterations, records)
            work.free[: registers - first] = _column(columns, np.arange(registers - 1, first - 1, -1))
            count = columns("q", bytes(8 * 16))
            count[_loop.FREE] = registers - first
            ended = loop(actor, answered, self.rules, asked, work, rows, count)
            room *= 2
        if ended == _loop.NO_WORK:
            now = count[_loop.EVENTS]
            raise SpecError(f"{owner}: event {now + 1}: " + self.idle.format(client=actor[now]))
        written = Sheet(*(np.asarray(one) for one in rows))
        return self._put(written, [int(one) for one in count], events, clients, asked, records, registers)

    def _columns(
        self, columns: Any, room: int, clients: int, events: int, iterations: int, records: RecordAt
    ) -> tuple[Busy, Sheet]:
        """Return empty columns with room for so many rows of local steps."""
        rules = self.rules
        moves = min(iterations, events if rules.slides else events // rules.size)
        combined = room * (not rules.models) + 3 * moves + 1
        terms = 2 * room * (not rules.models) + (rules.size + 5) * moves + 2
        shown = moves + 1 + events * records.events

        def new(size: int, kind: str = "q") -> Any:
            return columns(kind, bytes(8 * size))

        work = Busy(new(clients + self.spare), new(rules.size + 1), new(clients), new(clients), new(clients), new(room))
        for client in range(clients):
            work.oldest[client] = -1
        begin = [combined + room + shown] * 3 + [combined] * 2 + [terms]
        end = [room] * 5 + [rules.size * moves] * 3 + [room] * 2 + [shown] * 2 + [events]
        sheet: list[Any] = [*map(new, begin), new(terms, "d"), *map(new, end)]
        return work, Sheet(*sheet)

    def _put(
        self, rows: Sheet, count: list[int], events: Events, clients: int, asked: Asked, records: RecordAt,
        registers: int,
    ) -> Tape:  # fmt: skip
        """Return the tape of what was written, with its weights."""
        total, combined, terms, runs, uses, dropped, shows, seen, moves = count[:9]
        op, event = rows.op[:total].astype(np.int8), rows.event[:total]
        start = np.concatenate([[0], np.cumsum(rows.width[:combined])]).astype(np.int64)
        run, entered, term = (one[:uses] for one in (rows.run, rows.entered, rows.term))
        coef, version = rows.coef[:terms], rows.version[:runs]
        client = rows.client[:runs]
        weight = self.weigh(client[run], entered - version[run])
        coef[term] = weight
        if self.rules.models and self.rules.base:
            coef[term - 1] = 1.0 - weight
        dst, of, exact = rows.dst[:combined], rows.of[:shows], Exact()
        if records.average:
            sums, means = (start[:-1][dst == SERVER_MODEL + place] for place in (1, 2))
            versions = np.flatnonzero(asked.added)[: len(sums)]
            exact = _weighted(coef, versions, sums, means, of, records.weights)
        begin, time = event[op == _loop.RECORD], np.zeros(shows)
        time[begin >= 0] = events.time[begin[begin >= 0]]
        initial = np.full(registers, Initial.UNWRITTEN, dtype=np.int8)
        initial[SERVER_MODEL] = Initial.START
        initial[1 : 1 + records.average] = Initial.ZERO
        tape = Tape(
            registers=registers,
            initial=initial,
            op=op,
            row=rows.row[:total],
            event=event,
            affine=Affine(dst, start, rows.src[:terms], coef),
            descend=Descend(
                dst=rows.to[:runs],
                src=np.full(runs, SERVER_MODEL, dtype=np.int64),
                client=client,
                update=rows.update[:runs],
                steps=np.full(runs, self.local.steps, dtype=np.int64),
                step_size=np.full(runs, self.local.first),
                version=version,
                arrival=rows.arrival[:runs],
            ),
            record=Record(rows.shows[:shows], of, of, time),
            events=events.head(seen),
            clients=clients,
            server=SERVER_MODEL,
            version=np.concatenate([[0], rows.versions[:seen]]).astype(np.int64),
            iterations=moves,
            uses=Uses.none() if self.rules.models else Uses(run, entered, weight),
            local=self.local.relative,
            notes=_notes(rows.dropped[:dropped], rows.stopped[:dropped] == 1),
            exact=exact,
        )
        verify(tape)
        return tape


def _numbers(kind: str, data: bytes) -> Any:
    """Return a writable array, made as one of the standard library is."""
    return np.frombuffer(bytearray(data), dtype=np.float64 if kind == "d" else np.int64)


def _column(columns: Any, values: ArrayLike) -> Any:
    return columns("q", np.asarray(values, dtype=np.int64).tobytes())


def _asked(records: RecordAt, iterations: int) -> Asked:
    """Return what is asked for: where weights are 0 nothing is added, and there is no mean of nothing."""
    weights, wanted = records.weights, np.ones(iterations + 1, dtype=np.bool_)
    if records.iterations is not None:
        wanted[:] = False
        wanted[records.iterations[records.iterations <= iterations]] = True
    added = np.ones(iterations, dtype=np.bool_)
    if records.average:
        for k in np.flatnonzero(wanted).tolist() if weights.values is not None else (0,):
            wanted[k] &= weights.total(k) != 0
        if weights.values is not None:
            added[:] = [float(weights.at(j)) != 0.0 for j in range(iterations)]
    total = SERVER_MODEL + 1 if records.average else -1
    return Asked(iterations, records.events, wanted, added, total, weights.closed)


def _weighted(coef: Floats, added: Ints, sums: Ints, means: Ints, of: Ints, weights: Weights) -> Exact:
    """Write the weights of an average into its sums and means, and return which fractions they are.

    Parameters
    ----------
    added, of
        The versions that enter the sums, and of which the means are.
    sums, means
        Where the terms of these begin.
    """
    if weights.values is None:
        coef[sums + 1] = 1.0
        coef[means] = 1.0 / (of + weights.closed)
        if weights.closed:
            coef[means + 1] = coef[means]
        return {}
    exact: Exact = {}
    coef[sums + 1] = [keep(exact, weights.at(version)) for version in added.tolist()]
    totals = [weights.total(version) for version in of.tolist()]
    coef[means] = [keep(exact, 1 / total) for total in totals]
    if weights.closed:
        pairs = zip(of.tolist(), totals, strict=True)
        coef[means + 1] = [keep(exact, weights.at(version) / total) for version, total in pairs]
    return exact


def _notes(dropped: Ints, stopped: NDArray[np.bool_]) -> dict[str, Ints]:
    found = {"dropped": dropped, "stopped": dropped[stopped]}
    return {name: column for name, column in found.items() if len(column)}
