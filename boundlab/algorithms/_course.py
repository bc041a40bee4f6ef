"""The events of a run, each as what it does: the program is asked once for each event in each control state."""

import heapq
from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms._fill import follow, reader
from boundlab.algorithms._option import Parameters
from boundlab.algorithms._program import X_S, Control, DescendRow, EventProgram, Row, Step
from boundlab.arithmetic.compiled import worth
from boundlab.delays import Clock
from boundlab.errors import SpecError
from boundlab.events import SERVER, Events

Ints = NDArray[np.int64]
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
        cls, owner: str, makers: Sequence[Callable[[Any, int], Any]], parameters: Any, clients: int
    ) -> Iterator["Course"]:
        """Lend what an algorithm with these parameters does; what is found out about it serves its next run, too.

        Parameters
        ----------
        makers
            What makes its program, first, and that of which it is made.
        """
        exact = isinstance(parameters, Parameters) and parameters.exact
        key: Hashable = (*makers, parameters, clients, exact)
        try:
            course = _KEPT.pop(key, None)
        except TypeError:  # parameters of a plug-in without a hash
            key = course = None
        if course is None:
            course = cls(owner, makers[0](parameters, clients).compiled(), clients, exact=exact)
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
            rows = tuple(_counted(row, number) if isinstance(row, DescendRow) else row for row in rows)
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


def _counted(row: DescendRow, number: int) -> DescendRow:
    return row if row.k is None else row._replace(k=row.k - number, step_size=0.0)


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
