"""The compiler of every algorithm: what its program says of one event after the other becomes a tape.

Programs are walked in Python, which only asks for events that it has not met in the same control state; what they write
is then put into the columns of a tape all at once.
"""

import heapq
from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import count
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms._option import Parameters
from boundlab.algorithms._program import X_S, AffineRow, Control, DescendRow, EventProgram, MoveRow, Row, Step
from boundlab.arithmetic.compiled import machine_code, worth
from boundlab.arithmetic.rational import Recipe, column
from boundlab.arithmetic.recurrence import Weights
from boundlab.delays import Clock
from boundlab.errors import SpecError
from boundlab.events import SERVER, Events
from boundlab.randomness import Floats, Ints
from boundlab.tape import SERVER_MODEL, Affine, Descend, Identity, Initial, Op, Record, RecordAt, Tape, Uses, verify

# The columns of a tape, filled code by code.
#
# One text with two readers: Python runs it, and Numba compiles it where that is installed and there is enough to do
# (:mod:`boundlab.arithmetic.compiled`). So it knows whole numbers and columns of them alone.

# Codes: a term of a combination, and the combination; local steps; a change of names; a result that has arrived, is
# used, ignored, or stopped; a record; a place at the end of a queue, and the first result of one.
TERM, SUM, BEGIN, MOVE, CAME, USED, DROPPED, STOPPED, SHOWN, PUSH, POP = range(11)
KINDS: Final = 11
# Terms: with the coefficient that stands there, with the weight of a result, with what that leaves of 1, with another
# coefficient in every event.
FIXED, WEIGHT, REST, VARIES = range(4)
PLACES: Final = 5  # of parts in a slot; what stands in the first one belongs to the event before
AFFINE, DESCEND, RECORD = (int(op) for op in Op)


class Codes(NamedTuple):
    """Parts of events.

    Parameters
    ----------
    start
        Part p has the codes start[p] … start[p + 1] − 1.
    kind, register, other, value
        Of each code. TERM: which of the kinds, and the coefficient. SUM: the server updates before it in its event,
        where the register is a copy of the server model; else −1. BEGIN: where the steps begin, and which row of these
        they are. MOVE and POP: from where. USED: the weight.
    client, shift
        Of each row of local steps: whose they are, and the server updates before it in its event; −1: it begins at a
        copy.
    """

    start: Any
    kind: Any
    register: Any
    other: Any
    value: Any
    client: Any
    shift: Any


class Desk(NamedTuple):
    """Places, results and queues while columns are filled.

    Parameters
    ----------
    at, holds, stamp
        Where each register lies; the run whose result each place holds, or −1; the version that each copy is of.
    updates
        One a client.
    first, behind, free
        The place of the first result in each queue, and of the one behind each, −1: none; places that hold nothing, and
        last how many these are.
    """

    at: Any
    holds: Any
    stamp: Any
    updates: Any
    first: Any
    behind: Any
    free: Any


class Sheet(NamedTuple):
    """Columns of the tape.

    Parameters
    ----------
    op, row, event
        Of all rows.
    dst, start, src, coef, role
        Of combinations, and of their terms; which coefficients are still open.
    to, origin, client, update, version, arrival, begun, slot
        Of local steps; which row of codes they are, and in which slot.
    used, entered, weight
        Of results that enter server updates: the row of local steps, the version, and the weight.
    shown
        Registers of records.
    dropped, stopped
        Rows of local steps that the server ignores, and whether they end before they are done.
    """

    op: Any
    row: Any
    event: Any
    dst: Any
    start: Any
    src: Any
    coef: Any
    role: Any
    to: Any
    origin: Any
    client: Any
    update: Any
    version: Any
    arrival: Any
    begun: Any
    slot: Any
    used: Any
    entered: Any
    weight: Any
    shown: Any
    dropped: Any
    stopped: Any


def reader(loop: Callable[..., Any], *, compiled: bool) -> Callable[..., Any]:
    """Return a loop as machine code, or in Python, which reads views of columns as fast as lists."""
    return machine_code(loop) if compiled else lambda *tables: loop(*map(_viewed, tables))


def _viewed(table: Any) -> Any:
    if isinstance(table, tuple):
        return type(table)(*map(_viewed, table))
    return table if isinstance(table, int) else memoryview(table)


def new_desk(registers: int, clients: int, queues: list[int]) -> Desk:
    """Return that every register lies at its own place, and queues are empty."""
    stamp, updates = (np.zeros(size, np.int64) for size in (registers, clients))
    holds, first, behind, free = np.full((4, registers + 1), -1)
    free[: len(queues)], free[-1] = queues, len(queues)
    return Desk(np.arange(registers), holds, stamp, updates, first, behind, free)


def new_sheet(sizes: list[int]) -> Sheet:
    """Return columns with room for so many codes of each kind."""
    rows = sizes[SUM] + sizes[BEGIN] + sizes[SHOWN]

    def new(size: int, count: int, kind: Any = np.int64) -> list[Any]:
        return [np.empty(size, dtype=kind) for _ in range(count)]

    starts, terms = np.zeros(sizes[SUM] + 1, np.int64), sizes[TERM]
    combined = [*new(sizes[SUM], 1), starts, *new(terms, 1), *new(terms, 1, np.float64), *new(terms, 1, np.int8)]
    uses = [*new(sizes[USED], 2), *new(sizes[USED], 1, np.float64)]
    ends = [*new(sizes[SHOWN], 1), *new(sizes[DROPPED] + sizes[STOPPED], 2)]
    return Sheet(*new(rows, 1, np.int8), *new(rows, 2), *combined, *new(sizes[BEGIN], 8), *uses, *ends)


def follow(width: int, iterations: int, keys: Any, numbers: Any, states: Any, ends: Any, now: Any, found: Any) -> None:
    """Go from event to event as long as it is known what they do, and some iterations are left.

    Parameters
    ----------
    keys
        The kind of each event.
    numbers, states, ends
        In cell state·width + kind: the effect, −1 where it is not known, the state after it, the iterations that end.
    now
        The next event, the control state, and the iterations that have ended.
    """
    place, state, done = now[0], now[1], now[2]
    while place < len(keys) and done < iterations:
        cell = state * width + keys[place]
        if cell >= len(numbers) or numbers[cell] < 0:
            break
        found[place] = numbers[cell]
        state, done = states[cell], done + ends[cell]
        place += 1
    now[0], now[1], now[2] = place, state, done


def fill(slots: Any, versions: Any, codes: Codes, desk: Desk, sheet: Sheet) -> int:
    """Write the rows of a run, and return −1, or the slot whose queue is empty.

    Parameters
    ----------
    slots
        The parts of each slot, −1 where there is none; slot 0 is before the first event.
    versions
        Before each slot.
    """
    at, holds, start, kinds = desk.at, desk.holds, codes.start, codes.kind
    registers, others = codes.register, codes.other
    src, coef, role, values = sheet.src, sheet.coef, sheet.role, codes.value
    rows = sums = terms = runs = uses = shows = drops = 0
    empty = desk.free[len(desk.free) - 1]  # places that hold nothing
    for slot in range(len(versions)):
        version = versions[slot]
        for place in range(PLACES):
            part = slots[PLACES * slot + place]
            if part < 0:
                continue
            event = max(slot - (2 if place == 0 else 1), -1)
            for code in range(start[part], start[part + 1]):
                kind, register, other = kinds[code], registers[code], others[code]
                lies = at[register]
                if kind == TERM:
                    src[terms], coef[terms], role[terms] = lies, values[code], other
                    terms += 1
                elif kind == SUM:
                    if other >= 0:
                        desk.stamp[register] = version + other
                    sheet.op[rows], sheet.row[rows], sheet.event[rows] = AFFINE, sums, event
                    rows += 1
                    sheet.dst[sums], sheet.start[sums + 1] = lies, terms
                    sums += 1
                elif kind == BEGIN:
                    row = int(values[code])
                    client, shift = codes.client[row], codes.shift[row]
                    sheet.op[rows], sheet.row[rows], sheet.event[rows] = DESCEND, runs, event
                    rows += 1
                    sheet.to[runs], sheet.origin[runs], sheet.client[runs] = lies, at[other], client
                    sheet.update[runs], sheet.arrival[runs] = desk.updates[client], -1
                    sheet.version[runs] = desk.stamp[other] if shift < 0 else version + shift
                    sheet.begun[runs], sheet.slot[runs] = row, slot
                    desk.updates[client] += 1
                    holds[lies] = runs
                    runs += 1
                elif kind == MOVE:
                    at[register], desk.stamp[register] = at[other], desk.stamp[other]
                    at[other] = lies
                elif kind == PUSH:
                    empty -= 1
                    free = desk.free[empty]
                    if desk.first[register] < 0:
                        desk.first[register] = free
                    else:
                        desk.behind[lies] = free
                    at[register], desk.behind[free] = free, -1
                elif kind == POP:
                    first = desk.first[other]
                    if first < 0:
                        return slot
                    desk.free[empty] = lies
                    empty += 1
                    at[register], desk.first[other] = first, desk.behind[first]
                    sheet.arrival[holds[first]] = event
                elif kind == SHOWN:
                    sheet.op[rows], sheet.row[rows], sheet.event[rows] = RECORD, shows, event
                    rows += 1
                    sheet.shown[shows] = lies
                    shows += 1
                else:
                    run = holds[lies]
                    if run >= 0 and sheet.arrival[run] < 0:
                        sheet.arrival[run] = max(event, 0)
                    if kind == USED:
                        sheet.used[uses], sheet.entered[uses], sheet.weight[uses] = run, version, values[code]
                        uses += 1
                    elif kind != CAME:
                        sheet.dropped[drops], sheet.stopped[drops] = run, 1 if kind == STOPPED else 0
                        drops += 1
    return -1


# The events of a run, each as what it does: the program is asked once for each event in each control state.

NONE: Final = -1
_CELLS: Final = 1 << 22  # pairs of a control state and a kind of event that are kept
_FEW: Final = 1 << 13  # parts, and pairs, that are kept for the next run
_ALGORITHMS: Final = 8  # of which they are kept


class Passage(NamedTuple):
    """Rows that always stand together.

    Parameters
    ----------
    rows, uses, dropped, sent
        As in :class:`Step`.
    stopped
        Registers of results that end here without being done.
    shown
        The register that is recorded, behind all rows; −1: none.
    """

    rows: tuple[Row, ...]
    uses: tuple[tuple[int, float], ...] = ()
    dropped: tuple[int, ...] = ()
    stopped: tuple[int, ...] = ()
    sent: bool = True
    shown: int = NONE


class _Effect(NamedTuple):
    """The effect of an event.

    Parameters
    ----------
    before, main
        Numbers of parts: local steps that were begun when the event before ended (−1: none), and all else.
    iterations, updates
        How many iterations it ends, and how often it changes the server model.
    begin
        The clients that begin in it, each with the updates that the event has made before.
    """

    before: int
    main: int
    iterations: int
    updates: int
    begin: tuple[tuple[int, int], ...]


@final
class Course:
    """The events of a run, each as the number of its effect; what is met once in a control state is known there.

    Parameters
    ----------
    exact
        Whether the numbers of its rows know what they stand for.
    """

    def __init__(self, owner: str, program: EventProgram, clients: int, *, exact: bool = False) -> None:
        self.owner, self.program, self.clients, self.exact = owner, program, clients, exact
        self._states: dict[Control, int] = {}
        self._controls: list[Control] = []
        self._known: dict[tuple[int, Any], tuple[int, int]] = {}
        self._parts: dict[Passage, int] = {}
        self._effects: dict[Hashable, int] = {}
        self._ignored: dict[int, int] = {}
        self._stops: dict[tuple[int, tuple[int, ...]], int] = {}
        self.parts: list[Passage] = []
        self.laid: dict[int, tuple[int, Any]] = {}  # by the register that is shown: columns of so many parts
        self.effects: list[_Effect] = []
        rows, self._first = program.opening()
        self.opening, _ = self._found(Step(rows, self._first, iteration=False), NONE)
        self.restart()

    def restart(self) -> None:
        """Go back to before the first event."""
        self._here = _number(self._states, self._controls, self._first)
        self._begun, self._version, self._events = [0] * self.clients, 0, 0

    @classmethod
    @contextmanager
    def of(
        cls,
        owner: str,
        makers: Sequence[Callable[[Any, int], Any]],
        parameters: Any,
        clients: int,
        point: tuple[str, int] | None = None,
    ) -> Iterator["Course"]:
        """Lend what an algorithm with these parameters does; what is found out about it serves its next run, too.

        Parameters
        ----------
        makers
            What makes its program, first, and that of which it is made.
        point
            What records show in place of the server model.
        """
        exact = isinstance(parameters, Parameters) and parameters.exact
        key: Hashable = (*makers, parameters, clients, exact, None if point is None else point[0])
        try:
            course = _KEPT.pop(key, None)
        except TypeError:  # parameters of a plug-in without a hash
            key = course = None
        if course is None:
            course = cls(owner, makers[0](parameters, clients).compiled().showing(point), clients, exact=exact)
        yield course
        course.restart()
        if key is not None and len(course.parts) <= _FEW and len(course._known) <= _FEW:
            if len(_KEPT) >= _ALGORITHMS:
                _KEPT.clear()
            _KEPT[key] = course

    def part(self, part: Passage) -> int:
        """Return the number of a part."""
        return _number(self._parts, self.parts, part)

    def run(self, events: Any, iterations: int) -> Ints:
        """Return the effects of the events up to the one that ends the last iteration asked for."""
        clock = self.program.clock
        timed = self.program.sizes is None and clock(0) is not None
        keys, met = _kinds(zip(events, map(clock, count()), strict=False) if timed else events)
        width, walk = max(len(met), 1), reader(follow, compiled=worth(len(keys)) and not timed)
        cells, now, found = _cells(width), np.array([0, self._here, 0]), np.empty(len(keys), dtype=np.int64)
        while True:
            walk(width, iterations, keys, *cells, now, found)
            place, state, done = now.tolist()
            if place == len(keys) or done >= iterations:
                return found[:place]
            if len(self._controls) > max(_CELLS // width, 1):  # what is known is forgotten, but for where the run is
                control = self._controls[state]
                self._states, self._controls, self._known, cells = {}, [], {}, _cells(width)
                now[1] = state = _number(self._states, self._controls, control)
            key = met[keys[place]]
            number, after = self._next(state, key, key[0] if timed else key, place)
            cell = state * width + int(keys[place])
            if cell >= cells.shape[1]:
                cells = np.concatenate([cells, _cells(max(cells.shape[1], cell + 1))], axis=1)
            cells[:, cell] = number, after, self.effects[number].iterations

    def advance(self, event: Any) -> int:
        """Return the effect of the next event, where results that are too stale are ignored, or stopped."""
        client, late = event[0] if isinstance(event, tuple) else event, tuple[int, ...]()
        stalest = self.program.stalest
        if stalest is not None and self._version - self._begun[client] > stalest:
            number = self._late(client)
        else:
            number, self._here = self._next(self._here, event, event, self._events)
        effect = self.effects[number]
        for other, updates in effect.begin:
            self._begun[other] = self._version + updates
        self._version, self._events = self._version + effect.updates, self._events + 1
        if stalest is not None and self.program.stops and effect.updates:
            late = tuple(i for i, one in enumerate(self._begun) if self._version - one > stalest)
        for other in late:
            self._begun[other] = self._version
        return self._stopping(number, late) if late else number

    def run_with_ages(self, events: Any, iterations: int) -> Ints:
        """As :meth:`run`, one event after the other."""
        found, done = array("q"), 0
        for event in events.tolist():
            if done >= iterations:
                break
            found.append(self.advance(event))
            done += self.effects[found[-1]].iterations
        return np.array(found, dtype=np.int64)

    def _late(self, client: int) -> int:
        """Return the effect of a result that is ignored."""
        if client not in self._ignored:
            step = self.program.ignored(client)
            part = self.part(Passage(step.rows, dropped=step.dropped))
            self._ignored[client] = self._effect(_Effect(NONE, part, 0, 0, ((client, 0),)))
        return self._ignored[client]

    def _stopping(self, number: int, clients: tuple[int, ...]) -> int:
        """Return the effect of an event after which these clients stop and begin anew."""
        if (number, clients) in self._stops:
            return self._stops[number, clients]
        effect, ends = self.effects[number], [self.program.ignored(client) for client in clients]
        main = self.parts[effect.main]
        rows = (*main.rows, *(row for end in ends for row in end.rows))
        stopped = tuple(register for end in ends for register in end.dropped)
        begin = (*effect.begin, *((client, effect.updates) for client in clients))
        main = main._replace(rows=rows, stopped=stopped)
        found = self._effect(effect._replace(main=self.part(main), begin=begin))
        self._stops[number, clients] = found
        return found

    def _effect(self, effect: _Effect) -> int:
        return _number(self._effects, self.effects, effect)

    def _next(self, state: int, key: Any, event: Any, number: int) -> tuple[int, int]:
        """Return the effect of an event, and the state after it, which the program is asked for where they are new."""
        known = self._known.get((state, key))
        if known is None:
            details = event if isinstance(event, tuple) else (event,)
            try:
                step = self.program.event(self._controls[state], details, number)
            except SpecError as why:
                raise SpecError(f"{self.owner}: event {number + 1}: {why}") from why
            self._known[state, key] = known = self._found(step, number)
        return known

    def _found(self, step: Step, number: int) -> tuple[int, int]:
        rows, before, lead = step.rows, NONE, 0
        if self.program.sizes is not None:  # a k counts from the number of its event
            rows = tuple(
                row._replace(k=row.k - number, step_size=0.0)
                if isinstance(row, DescendRow) and row.k is not None
                else row
                for row in rows
            )
        if self.program.draws:  # nobody works but for the event, which ends when all are done
            lead = next((place for place, row in enumerate(rows) if not isinstance(row, DescendRow)), len(rows))
            before = self.part(Passage(rows[:lead])) if lead else NONE
        main = self.part(Passage(rows[lead:], step.uses, step.dropped, sent=step.sent))
        updates, begin = 0, list[tuple[int, int]]()
        for row in rows[lead:]:
            if isinstance(row, DescendRow):
                begin.append((row.client, updates))
            elif row.dst == X_S:
                updates += 1
        effect = self._effect(_Effect(before, main, int(step.iteration), updates, tuple(begin)))
        return effect, _number(self._states, self._controls, step.control)


def _number(known: dict[Any, int], listed: list[Any], one: Hashable) -> int:
    """Return the number of a thing in a list, into which it comes when it is met first."""
    number = known.setdefault(one, len(listed))
    if number == len(listed):
        listed.append(one)
    return number


_KEPT: dict[Hashable, Course] = {}


def _cells(size: int) -> Ints:
    """Return room for the effect of a kind of event in a control state, the state after it, the iterations that end."""
    return np.full((3, size), NONE)


def _kinds(events: Any) -> tuple[Ints, Sequence[Any]]:
    """Return the kind of each event, a number, and which events these are."""
    if isinstance(events, np.ndarray):
        actors = range(SERVER, max(int(events.max(initial=SERVER)), SERVER) + 1)
        return events.astype(np.int64) - SERVER, actors
    kinds: dict[Any, int] = {}
    keys = np.array([kinds.setdefault(one, len(kinds)) for one in events], dtype=np.int64)
    return keys, list(kinds)


def drive(course: Course, clock: Clock, details: Sequence[tuple[int, ...]], count: int) -> Events:
    """Return the first ``count`` arrivals where it is the server's answers that clients begin to work with.

    What a client at work is given it does behind that, if it has a queue, and else in its place.

    Parameters
    ----------
    details
        What else each event says, if it says more than who arrives.
    """
    coming: list[tuple[float, int, int]] = []
    turn, waiting, busy = ([0] * course.clients for _ in range(3))

    def begin(client: int, now: float) -> None:
        if busy[client] and course.program.queues:
            waiting[client] += 1
            return
        turn[client], busy[client] = turn[client] + 1, 1
        heapq.heappush(coming, (clock.arrival(client, now), client, turn[client]))

    for client, _ in course.effects[course.opening].begin:
        begin(client, 0.0)
    time, actor = np.empty(count), np.empty(count, dtype=np.int32)
    for place in range(count):
        now, client, own = heapq.heappop(coming)
        while own != turn[client]:  # that work was stopped
            now, client, own = heapq.heappop(coming)
        time[place], actor[place], busy[client] = now, client, 0
        for other, _ in course.effects[course.advance((client, *details[place]) if details else client)].begin:
            begin(other, now)
        if waiting[client] and not busy[client]:
            waiting[client] -= 1
            begin(client, now)
    return Events(time, actor, tuple(details))


# (client, staleness) of all results, in the order in which they enter server updates → their weights there.
Weigh = Callable[[Ints, Ints], Floats]


def of_staleness(weight: Callable[[int], float]) -> Weigh:
    """Return weights that depend on the staleness alone."""

    def weigh(_: Ints, taus: Ints) -> Floats:
        often = np.bincount(taus, minlength=1)
        return column([weight(tau) if count else 0.0 for tau, count in enumerate(often.tolist())])[taus]

    return weigh


@final
class _Columns:
    """All parts, one behind the other, as codes; and what is the same whenever local steps are begun.

    Parameters
    ----------
    shown
        The register that is recorded: rows of other points that nothing reads are left out.
    """

    def __init__(self, program: EventProgram, parts: Sequence[Passage], shown: int, *, exact: bool) -> None:
        self._program = program
        self._codes: list[tuple[int, int, int, float]] = []
        self._begun: list[DescendRow] = []
        self._shifts: list[int] = []
        read = {shown} | {src for part in parts for row in part.rows for src in _sources(row)}
        self._idle = {register for own in program.points.values() for register in own} - read
        sums = [row for part in parts for row in part.rows if isinstance(row, AffineRow)]
        # Copies of the server model: local steps that begin there begin at an earlier version.
        self._copies = {row.dst for row in sums if _copies(row)} - {row.dst for row in sums if not _copies(row)}
        if self._copies:
            moves = [row for part in parts for row in part.rows if isinstance(row, MoveRow)]
            while more := {row.dst for row in moves if row.src in self._copies} - self._copies:
                self._copies |= more
        start = [0]
        for part in parts:
            self._put(part)
            start.append(len(self._codes))
        self.values = [one[3] for one in self._codes]
        table = np.array([one[:3] for one in self._codes], dtype=np.int64).reshape(-1, 3)
        kind, register, other = np.ascontiguousarray(table.T)
        # In place of a number that knows what it stands for stands where it is found.
        own = [place if exact and one[0] in (TERM, USED) else one[3] for place, one in enumerate(self._codes)]
        clients, shifts = (np.array(one, dtype=np.int64) for one in ([row.client for row in self._begun], self._shifts))
        self.codes = Codes(np.array(start), kind, register, other, np.array(own, dtype=np.float64), clients, shifts)
        self.steps = np.array([row.steps for row in self._begun], dtype=np.int64)
        self.size = column([row.step_size for row in self._begun])
        self.k = np.array([NONE if row.k is None else row.k for row in self._begun], dtype=np.int64)
        self.implicit = np.array([row.implicit for row in self._begun], dtype=np.bool_)

    def numbers(self, found: Floats) -> NDArray[Any]:
        """Return the numbers for which a column stands; in exact runs it says where they are found."""
        return np.array([self.values[int(one)] for one in found.tolist()], dtype=object)

    def sizes(self, parts: Ints) -> list[int]:
        """Return how many codes of each kind these parts have, all together."""
        each = np.bincount(parts, minlength=len(self.codes.start) - 1)
        often = np.repeat(each, np.diff(self.codes.start))
        return [int(often[self.codes.kind == kind].sum()) for kind in range(KINDS)]

    def _put(self, part: Passage) -> None:
        tell, own, used = self._codes.append, self._program.initial, {register for register, _ in part.uses}
        for kind, ends in ((DROPPED, part.dropped), (STOPPED, part.stopped)):
            for register in ends:
                tell((kind, register, 0, 0.0))
        begun, updates = set[int](), 0
        for row in part.rows:
            if isinstance(row, DescendRow):
                begun.add(row.dst)
                if row.dst in self._program.queues:
                    tell((PUSH, row.dst, 0, 0.0))
                tell((BEGIN, row.dst, row.src, len(self._begun)))
                self._begun.append(row)
                self._shifts.append(NONE if row.src in self._copies else updates)
                continue
            if isinstance(row, MoveRow) and row.src in self._program.queues:
                tell((POP, row.dst, row.src, 0.0))
                continue
            if row.dst in self._idle:
                continue
            for src in _sources(row) if part.sent else ():
                if src not in begun and X_S != src < len(own) and own[src] is not Initial.ZERO:
                    tell((CAME, src, 0, 0.0))  # other registers are made of it: it has reached the server
            if isinstance(row, MoveRow):
                tell((MOVE, row.dst, row.src, 0.0))
                continue
            update = row.dst == X_S
            for coef, src in row.terms:
                role = FIXED
                if coef != coef:  # NaN: the program tells it for each event
                    role = VARIES
                elif update:
                    role = WEIGHT if src in used else REST if src == X_S and self._program.models else FIXED
                tell((TERM, src, role, coef))
            tell((SUM, row.dst, updates if row.dst in self._copies else NONE, 0.0))
            updates += update
            for register, weight in part.uses if update else ():
                tell((USED, register, 0, weight))
        if part.shown != NONE:
            tell((SHOWN, part.shown, 0, 0.0))


def _sources(row: Row) -> tuple[int, ...]:
    """Return the registers that a row reads."""
    return tuple(src for _, src in row.terms) if isinstance(row, AffineRow) else (row.src,)


def _copies(row: AffineRow) -> bool:
    """Return whether a row copies the server model."""
    return row.dst != X_S and row.terms == ((1.0, X_S),)


@final
class _Average:
    """Shares of server models in the averages of a run."""

    def __init__(self, weights: Weights, *, exact: bool) -> None:
        self._weights, self._exact, self._equal = weights, exact, weights.values is None and not exact

    def share(self, first: Ints | int, last: Ints | int, whole: Ints | None = None) -> Floats:
        """Return (w_first + … + w_{last−1})/(w_0 + … + w_{whole−1}); without ``whole`` the sum itself."""
        if self._equal:
            return np.asarray((np.asarray(last) - first) / (1 if whole is None else whole), dtype=np.float64)
        ends = np.broadcast_arrays(first, last, 0 if whole is None else whole)
        before, rows = self._weights.before, zip(*(one.tolist() for one in ends), strict=True)
        return self._column([(before(b) - before(a)) / (1 if whole is None else before(c)) for a, b, c in rows])

    def inverse(self, whole: Ints) -> Floats:
        """Return 1/(w_0 + … + w_{whole−1})."""
        if self._equal:
            return np.asarray(1.0 / whole, dtype=np.float64)
        return self._column([1 / self._weights.before(one) for one in whole.tolist()])

    def _column(self, shares: list[Fraction]) -> NDArray[Any]:
        return column([Recipe(one, one) if self._exact else float(one) for one in shares])

    def known(self, whole: Ints) -> NDArray[np.bool_]:
        """Return where there is an average: of nothing there is none."""
        if self._weights.values is None:
            return whole > 0
        return np.array([self._weights.before(one) != 0 for one in whole.tolist()], dtype=np.bool_)


def fold(course: Course, weigh: Weigh | None, events: Events, drawn: Any, records: RecordAt, iterations: int) -> Tape:
    """Return the tape of a run.

    Parameters
    ----------
    course
        What events do, before the first one.
    weigh
        What results weigh in server updates, if that depends on more than the program is told.
    drawn
        The events as the program has them.

    Raises
    ------
    SpecError
        If an event is none that can come.
    TapeError
        If records ask for a point that the algorithm does not have.
    """
    program, clients, shown = course.program, course.clients, course.program.register(records.point)
    found = (course.run if program.stalest is None else course.run_with_ages)(drawn, iterations)
    events = events.head(len(found))
    # The parts of all events become columns: slot e + 1 is event e, slot 0 what happens before the first one.
    effects = np.concatenate([[course.opening], found])
    each = np.array([one[:4] for one in course.effects], dtype=np.int64)
    done, version = (np.cumsum(column[effects]) for column in (each[:, 2], each[:, 3]))
    average, total, mean = _Average(records.weights, exact=course.exact), len(program.initial), len(program.initial) + 1
    averaged = records.average and not records.events
    shows = _shows(records, done)
    slots = np.full((len(effects), PLACES), NONE, dtype=np.int64)  # the parts of each
    slots[:, 0], slots[:, 2] = each[effects, 0], each[effects, 1]
    if averaged:
        shows &= average.known(done + records.weights.closed)
        whole, at_update = done[shows] + records.weights.closed, np.flatnonzero(np.diff(version, prepend=0))
        since = np.concatenate([[0], done[at_update]])  # all iterations from here to the next update have one model
        held = average.share(since[:-1], since[1:])
        last = since[np.searchsorted(at_update, np.flatnonzero(shows), side="right")]
        own = average.share(last, whole, whole)
        pair = (1.0, total), (0.0, X_S)
        slots[at_update[held != 0.0], 1] = course.part(Passage((AffineRow(total, pair),), sent=False))
        means = [course.part(Passage((AffineRow(mean, pair[:size]),), sent=False)) for size in (1, 2)]
        slots[shows, 3] = np.array(means)[(own != 0.0).astype(int)]
    slots[shows, 4] = course.part(Passage((), shown=mean if averaged else shown))

    many, columns = course.laid.get(shown, (0, None))
    if many != len(course.parts):
        columns = _Columns(program, course.parts, shown, exact=course.exact)
        course.laid[shown] = len(course.parts), columns
    flat = slots.ravel()
    sheet = new_sheet(columns.sizes(flat[flat != NONE]))
    desk = new_desk(total + 2, clients, sorted(program.queues))
    before = np.concatenate([[0], version[:-1]])
    idle = reader(fill, compiled=worth(len(effects)))(flat, before, columns.codes, desk, sheet)
    if idle >= 0:
        raise SpecError(f"{course.owner}: event {idle}: client {events.actor[idle - 1]} has no model to work on")

    begun, sheet.arrival[sheet.arrival >= len(events)] = sheet.begun, NONE  # without events nothing arrives
    size = columns.size[begun]
    if program.sizes is not None:
        k = columns.k[begun]
        size = np.where(k == NONE, size, program.sizes(k + sheet.slot - 1))
    coef, weight = (columns.numbers(one) if course.exact else one for one in (sheet.coef, sheet.weight))
    if weigh is not None:
        weight = weigh(sheet.client[sheet.used], sheet.entered - sheet.version[sheet.used])
        coef[sheet.role == WEIGHT] = weight
        if program.models:
            coef[sheet.role == REST] = 1.0 - weight
    if program.coefficients is not None:
        coef[sheet.role == VARIES] = column([one for k in range(len(events)) for one in program.coefficients(k)])
    if averaged:
        start = sheet.start[:-1]
        coef[start[sheet.dst == total] + 1] = held[held != 0.0]
        of_mean = start[sheet.dst == mean]
        coef[of_mean] = average.inverse(whole)
        coef[of_mean[own != 0.0] + 1] = own[own != 0.0]
    implicit = columns.implicit[begun]
    identities = (*program.sums, *([] if program.identity is None else [program.identity]))
    notes = {"dropped": sheet.dropped, "stopped": sheet.dropped[sheet.stopped == 1]}
    tape = Tape(
        registers=total + 2 * averaged,
        initial=np.array([*program.initial, *(Initial.ZERO, Initial.UNWRITTEN)[: 2 * averaged]], dtype=np.int8),
        op=sheet.op,
        row=sheet.row,
        event=sheet.event,
        affine=Affine(sheet.dst, sheet.start, sheet.src, coef.astype(np.float64)),
        descend=Descend(
            dst=sheet.to,
            src=sheet.origin,
            client=sheet.client,
            update=sheet.update + program.first_update,
            steps=columns.steps[begun],
            step_size=size.astype(np.float64),
            version=sheet.version,
            arrival=sheet.arrival,
        ),
        record=Record(sheet.shown, done[shows], version[shows], np.concatenate([[0.0], events.time])[shows]),
        events=events,
        clients=clients,
        server=SERVER_MODEL,
        version=version,
        iterations=int(done[-1]),
        identities=tuple(Identity(one.name, desk.at[one.register], one.coef) for one in identities),
        uses=Uses.none() if program.models else Uses(sheet.used, sheet.entered, weight.astype(np.float64)),
        local=np.array(program.local, dtype=np.float64),
        implicit=implicit if implicit.any() else implicit[:0],
        notes={name: rows for name, rows in notes.items() if len(rows)},
        exact=(coef.tolist(), size.tolist(), list(program.local)) if course.exact else None,
    )
    verify(tape)
    return tape


def _shows(records: RecordAt, done: Ints) -> NDArray[np.bool_]:
    """Return behind which slots a record is asked for."""
    if records.events:
        return np.arange(len(done)) > 0
    ends = np.diff(done, prepend=-1) > 0  # before the first event the iteration 0 has ended
    return ends if records.iterations is None else ends & np.isin(done, records.iterations)
