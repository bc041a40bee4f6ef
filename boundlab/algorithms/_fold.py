"""The compiler of every algorithm: what its program says of one event after the other becomes a tape.

Programs are walked in Python, which only asks for events that it has not met in the same control state; what they write
is then put into the columns of a tape all at once.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms._course import NONE, Course, Passage
from boundlab.algorithms._fill import (
    BEGIN,
    CAME,
    DROPPED,
    FIXED,
    KINDS,
    MOVE,
    PLACES,
    POP,
    PUSH,
    REST,
    SHOWN,
    STOPPED,
    SUM,
    TERM,
    USED,
    VARIES,
    WEIGHT,
    Codes,
    fill,
    new_desk,
    new_sheet,
    reader,
)
from boundlab.algorithms._program import X_S, AffineRow, DescendRow, EventProgram, MoveRow, Row
from boundlab.arithmetic.compiled import worth
from boundlab.arithmetic.rational import Recipe, column
from boundlab.arithmetic.weights import Weights
from boundlab.errors import SpecError, TapeError
from boundlab.events import Events
from boundlab.tape import (
    SERVER_MODEL,
    Affine,
    Descend,
    Identity,
    Initial,
    Record,
    RecordAt,
    Tape,
    Uses,
    verify,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
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
    program, shown = course.program, X_S
    if records.point is not None:
        if records.point[0] not in program.points:
            raise TapeError(f"records ask for the point {records.point}, which this algorithm does not have")
        shown = program.points[records.point[0]][records.point[1]]
    found = (course.run if program.stalest is None else course.run_with_ages)(drawn, iterations)
    return _tape(course, weigh, events.head(len(found)), found, records, shown)


def _tape(course: Course, weigh: Weigh | None, events: Events, found: Ints, records: RecordAt, shown: int) -> Tape:
    """Put the parts of all events into columns: slot e + 1 is event e, slot 0 what happens before the first one."""
    program, clients = course.program, course.clients
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
