"""The tape: a straight-line program on vectors, in compact arrays.

An asynchronous algorithm is a compiler from events to a tape of three instructions,

- ``Affine``   dst ← Σ coef·src,
- ``Descend``  dst ← src, then ``steps`` times dst ← dst − step_size·g_client(dst), or, where the row is implicit,
  dst ← prox_{step_size·f_client}(dst), which is dst − step_size·(a (sub)gradient at the new point),
- ``Record``   show src to the metrics.

Where the objective is F = f + h with a simple h, a local step is a proximal gradient step,
dst ← prox_{step_size·h}(dst − step_size·g_client(dst)). Only the problem knows what f_client and h are, and whoever
executes a tape has them from there.

A tape knows nothing of problems; an executor knows nothing of algorithms.
"""

import hashlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.rational import ENGINE, Recipe, rational
from boundlab.arithmetic.recurrence import EQUAL, Weights
from boundlab.errors import TapeError
from boundlab.events import Events
from boundlab.randomness import Floats, Ints


class Op(IntEnum):
    """The three instructions."""

    AFFINE = 0
    DESCEND = 1
    RECORD = 2


class Initial(IntEnum):
    """Content of a register before the first instruction."""

    UNWRITTEN = 0
    START = 1
    ZERO = 2


@final
@dataclass(frozen=True, slots=True)
class Affine:
    """Row a: register dst[a] ← Σ coef[t]·src[t] over t in start[a] … start[a+1]−1; no terms means zero."""

    dst: Ints
    start: Ints
    src: Ints
    coef: Floats


@final
@dataclass(frozen=True, slots=True)
class Descend:
    """Row j: register dst[j] ← steps[j] local steps of client[j] from src[j]; update[j] keys its randomness.

    ``version[j]`` is the server version of src[j]; ``arrival[j]`` the event at which the result reaches the
    server, −1 if it does not on this tape. Step sizes have unit (−1, 2).
    """

    dst: Ints
    src: Ints
    client: Ints
    update: Ints
    steps: Ints
    step_size: Floats
    version: Ints
    arrival: Ints


@final
@dataclass(frozen=True, slots=True)
class Uses:
    """Row u: the result of update[u] enters the server update version[u] → version[u]+1 with weight[u].

    An update is a row of :class:`Descend`, and its result is how far it moved its start model, so that
    x_s^{t+1} − x_s^t = Σ weight·(end − start) over the rows of version t. Algorithms whose messages are not
    such results (AREA's are differences of two of them) leave the table empty.
    """

    update: Ints
    version: Ints
    weight: Floats

    @classmethod
    def none(cls) -> "Uses":
        """Return the empty table."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


@final
@dataclass(frozen=True, slots=True)
class Record:
    """Row m: register src[m] after iteration[m], of server version[m], at time[m]."""

    src: Ints
    iteration: Ints
    version: Ints
    time: Floats


@final
@dataclass(frozen=True, slots=True)
class Identity:
    """A linear identity Σ coef·register = 0 that holds after every event, and at the end of a run."""

    name: str
    register: Ints
    coef: Floats


@final
@dataclass(frozen=True, slots=True, eq=False)
class Tape:
    """A compiled run.

    Parameters
    ----------
    registers
        Their number r.
    initial
        Shape (r,), values of :class:`Initial`.
    op, row, event
        Shape (I,): instruction j is row ``row[j]`` of the table of ``op[j]``, part of event ``event[j]``
        (−1: before the first event). Rows of each table stand in the order of execution.
    events
        All K events, aggregations included.
    clients
        Their number n.
    version
        Shape (K+1,): server versions after 0 … K events.
    iterations
        How far the algorithm's own count k has come.
    identities
        What holds of the final registers; see :func:`boundlab.tape.verify_identities`.
    uses
        Which client update enters which server update.
    local
        Relative sizes of the local steps: step q of row j has step_size[j]·local[q]; empty where all are 1.
    implicit
        Shape (rows of Descend,): whether the steps of a row are implicit (proximal); empty where none is.
    notes
        Columns that the compiler keeps for the algorithm's own statistics; those named ``event_…`` have one
        entry an event. ``dropped`` holds rows of Descend that have arrived and that the server ignores, ``stopped``
        those of them that end there without being done.
    exact
        Coefficients, step sizes and relative sizes of local steps as numbers that know what they stand for
        (:class:`boundlab.arithmetic.rational.Recipe`); None: floats are all that is known.
    """

    registers: int
    initial: NDArray[np.int8]
    op: NDArray[np.int8]
    row: Ints
    event: Ints
    affine: Affine
    descend: Descend
    record: Record
    events: Events
    clients: int
    server: int
    version: Ints
    iterations: int
    identities: tuple[Identity, ...] = ()
    uses: Uses = field(default_factory=Uses.none)
    local: Floats = field(default_factory=lambda: np.empty(0))
    implicit: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    notes: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    exact: tuple[Sequence[float], Sequence[float], Sequence[float]] | None = None

    def __len__(self) -> int:
        return len(self.op)

    def recipes(self) -> Iterator[Sequence[float]]:
        """Yield coefficients, step sizes and relative sizes with all that is known of them; floats that differ win."""
        columns = self.affine.coef, self.descend.step_size, self.local
        own = [column.tolist() for column in columns]
        for plain, known in zip(own, self.exact or own, strict=True):
            yield known if np.array_equal(np.array(known, dtype=np.float64), plain) else plain

    def digest(self) -> bytes:
        """Return what only equal programs share: who does what in which order, events and their times apart."""
        affine, descend = self.affine, self.descend
        columns = (
            self.initial,
            self.op,
            self.row,
            affine.dst,
            affine.start,
            affine.src,
            affine.coef,
            descend.dst,
            descend.src,
            descend.client,
            descend.steps,
            descend.step_size,
            self.record.src,
            self.local,
            self.implicit,
        )
        found = hashlib.sha256()
        for column in columns:
            found.update(str(column.shape).encode() + np.ascontiguousarray(column).tobytes())
        return found.digest()


# Records that a run shows to the metrics.


@final
@dataclass(frozen=True, slots=True)
class RecordAt:
    """Records that a run shows to the metrics.

    Parameters
    ----------
    iterations
        Sorted iterations in 0 … K, or None for all of them.
    average
        Whether to record x̄_k = Σ_{j<k} w_j·x_s,j / Σ_{j<k} w_j instead of x_s,k (k ≥ 1).
    events
        Show x_s after each event instead, labelled with the iteration that it belongs to: what replay shows.
    weights
        The weights w of an average, and whether j = k counts, too (then k ≥ 0).
    point
        Which of the algorithm's points to show in place of x_s, and of which client; None: x_s.
    """

    iterations: Ints | None = None
    average: bool = False
    events: bool = False
    weights: Weights = EQUAL
    point: tuple[str, int] | None = None

    @property
    def first(self) -> int:
        """The first iteration that can be recorded."""
        return int(self.average and not self.weights.closed)

    def at(self, total: int) -> Ints:
        """Return the iterations of a run of ``total`` of them, where each event is an iteration."""
        if self.events:
            return np.arange(1, total + 1)
        if self.iterations is None:
            return np.arange(self.first, total + 1)
        keep = self.iterations[(self.iterations >= self.first) & (self.iterations <= total)]
        return np.unique(keep).astype(np.int64)


NOTHING: Final = RecordAt(np.empty(0, dtype=np.int64))
"""No record: what is asked of a run is in its tape."""


# The invariants of a tape: always checked, vectorised, cheap.

_AFFINE, _DESCEND, _RECORD = Op.AFFINE.value, Op.DESCEND.value, Op.RECORD.value


def verify(tape: Tape) -> None:
    """Check a tape.

    Time does not decrease; actors are clients or the server; nothing is read before it is written; versions
    do not go back; no update is computed from a model newer than its reader, arrives before it was begun, or
    is used before it arrived; coefficients, step sizes and weights are finite; relative sizes of local steps, where
    there are any, are as many as the steps of every update.

    Raises
    ------
    TapeError
        Naming the invariant and the first place that breaks it.
    """
    _events(tape)
    _finite(tape)
    at_affine = np.flatnonzero(tape.op == _AFFINE)
    at_descend = np.flatnonzero(tape.op == _DESCEND)
    at_record = np.flatnonzero(tape.op == _RECORD)
    _registers(tape)
    first_write = np.full(tape.registers, len(tape), dtype=np.int64)
    np.minimum.at(first_write, tape.affine.dst, at_affine)
    np.minimum.at(first_write, tape.descend.dst, at_descend)
    first_write[tape.initial != Initial.UNWRITTEN] = -1
    first_read = np.full(tape.registers, len(tape) + 1, dtype=np.int64)
    np.minimum.at(first_read, tape.affine.src, np.repeat(at_affine, tape.affine.start[1:] - tape.affine.start[:-1]))
    np.minimum.at(first_read, tape.descend.src, at_descend)
    np.minimum.at(first_read, tape.record.src, at_record)
    early = np.flatnonzero(first_write >= first_read)
    if len(early):
        raise TapeError(f"register {early[0]} is read before it is written")
    _versions(tape, at_descend)
    _uses(tape, at_descend)


def verify_identities(tape: Tape) -> None:
    """Check what a tape promises of its final registers, without rounding: a number stands for each local result.

    Raises
    ------
    TapeError
        If an identity does not hold, whatever the functions are.
    """
    if not tape.identities:
        return
    starts = {Initial.START: Fraction(_number(0)), Initial.ZERO: Fraction(0)}
    held = [starts.get(Initial(kind), Fraction(0)) for kind in tape.initial.tolist()]
    affine, descend = tape.affine, tape.descend
    weights = [_exact(one) for one in affine.coef.tolist()]
    for op, row in zip(tape.op.tolist(), tape.row.tolist(), strict=True):
        if op == Op.AFFINE:
            terms = range(affine.start[row], affine.start[row + 1])
            held[affine.dst[row]] = sum((weights[term] * held[affine.src[term]] for term in terms), Fraction(0))
        elif op == Op.DESCEND:
            held[descend.dst[row]] = Fraction(_number(row + 1))
    for identity in tape.identities:
        pairs = zip(identity.coef.tolist(), identity.register.tolist(), strict=True)
        if sum((_exact(share) * held[register] for share, register in pairs), Fraction(0)):
            raise TapeError(f"the tape breaks {identity.name}")


def _number(place: int) -> int:
    """Return a number that no others make by the few combinations of a tape."""
    return pow(3, place + 40, (1 << 61) - 1)


def _exact(weight: float) -> Fraction:
    found = rational(weight, ENGINE)
    return Fraction(weight) if found is None else found


def _events(tape: Tape) -> None:
    time, actor = tape.events.time, tape.events.actor
    if not np.isfinite(time).all() or (len(time) and time[0] < 0.0) or _falls(time):
        raise TapeError("event times must be finite, ≥ 0 and must not decrease")
    if ((actor < -1) | (actor >= tape.clients)).any():
        raise TapeError(f"an event names an actor outside -1…{tape.clients - 1}")


def _falls(column: NDArray[Any]) -> bool:
    return bool((column[1:] < column[:-1]).any())


def _finite(tape: Tape) -> None:
    if not np.isfinite(tape.affine.coef).all():
        raise TapeError("an affine coefficient is not finite")
    if not (np.isfinite(tape.descend.step_size) & (tape.descend.step_size >= 0.0)).all():
        raise TapeError("a step size is negative or not finite")
    if (tape.descend.steps < 1).any():
        raise TapeError("an update has no local steps")
    if len(tape.implicit) not in (0, len(tape.descend.dst)):
        raise TapeError("implicit must say for every update whether its steps are, or be empty")
    if not np.isfinite(tape.local).all():
        raise TapeError("a relative size of a local step is not finite")
    if len(tape.local) and (tape.descend.steps != len(tape.local)).any():
        raise TapeError(f"local gives {len(tape.local)} relative sizes, but an update has another number of steps")


def _registers(tape: Tape) -> None:
    affine, descend = tape.affine, tape.descend
    for kind, columns in (("written", (affine.dst, descend.dst)), ("read", (affine.src, descend.src, tape.record.src))):
        if any(len(column) and not (column.min() >= 0 and column.max() < tape.registers) for column in columns):
            raise TapeError(f"a register outside 0…{tape.registers - 1} is {kind}")


def _versions(tape: Tape, at_descend: Ints) -> None:
    events = len(tape.events)
    if tape.version.shape != (events + 1,) or tape.version[0] != 0 or _falls(tape.version):
        raise TapeError(
            "server versions must start at 0 and must not go back, one after each event, which Writer.end() ends"
        )
    if len(tape.event) and tape.event.max() >= events:
        raise TapeError(f"event {tape.event.max()} was begun and not ended: Writer.end() ends one")
    seen = tape.version[tape.event[at_descend] + 1]
    if (tape.descend.version > seen).any() or (tape.descend.version < 0).any():
        raise TapeError("an update is computed from a model version that does not exist yet")
    arrives = tape.descend.arrival
    if ((arrives >= 0) & (arrives <= tape.event[at_descend])).any() or (arrives >= events).any():
        raise TapeError("an update arrives before it is begun, or after the last event")
    if _falls(tape.record.iteration) or _falls(tape.record.version):
        raise TapeError("records go back in iteration or version")


def _uses(tape: Tape, at_descend: Ints) -> None:
    uses = tape.uses
    if not len(uses.update):
        return
    if not np.isfinite(uses.weight).all():
        raise TapeError("the weight of an update is not finite")
    if not (uses.update.min() >= 0 and uses.update.max() < len(at_descend)):
        raise TapeError("a server update uses a run that does not exist")
    last = int(tape.version[-1])
    if uses.version.min() < 0 or uses.version.max() >= last or _falls(uses.version):
        raise TapeError(f"updates must be used in the order of the server versions 0…{last - 1}")
    # Version t → t+1 happens in the first event after which the version is above t.
    when = np.searchsorted(tape.version, uses.version, side="right") - 1
    arrived = tape.descend.arrival[uses.update]
    if ((arrived < 0) | (arrived > when)).any():
        raise TapeError("a server update uses an update that has not arrived")


# Write a tape one event after the other: for algorithms whose iterations are server updates.

Term = tuple[float, int]
SERVER_MODEL = 0  # the register of x_s


class Writer:
    """Builds a tape in program order; register 0 is the server model x_s.

    Parameters
    ----------
    events
        All events that may be needed; the tape ends with the one that completes ``iterations``.
    records
        What to show: chosen server versions, their ergodic average, or x_s after each event.
    iterations
        Server updates asked for.
    local
        Relative sizes of the local steps, empty where all are 1.
    """

    def __init__(
        self, events: Events, clients: int, records: RecordAt, iterations: int, local: Sequence[float] = ()
    ) -> None:
        self.events, self.clients, self.records, self.iterations = events, clients, records, iterations
        self.version = 0
        self.event = -1
        self._local = [*local]
        self._initial = [int(Initial.START)]
        # Numbers and not objects: a long tape has millions of them.
        self._ops = _Table("op", "row", "event")
        self._dst, self._start, self._src, self._coef = array("q"), array("q", [0]), array("q"), list[float]()
        self._descend = _Table("dst", "src", "client", "update", "steps", "version", "arrival")
        self._sizes = list[float]()
        self._record, self._times = _Table("src", "iteration", "version"), array("d")
        self._uses, self._weights = _Table("update", "version"), array("d")
        self._updates = [0] * clients
        self._implicit = array("b")
        self._versions = [0]
        self._notes: dict[str, list[Any]] = {}
        self._wanted = None if records.iterations is None else frozenset(records.iterations.tolist())
        self._sum = self.register(Initial.ZERO) if records.average else -1
        self._mean = self.register() if records.average else -1
        self._source = SERVER_MODEL if records.point is None else -1
        if not records.events and records.point is None:
            self._show()

    @property
    def done(self) -> bool:
        """True if all server updates asked for have happened."""
        return self.version >= self.iterations

    def register(self, initial: Initial = Initial.UNWRITTEN, count: int = 1) -> int:
        """Make new registers and return the first."""
        first = len(self._initial)
        self._initial += [int(initial)] * count
        return first

    def shows(self, point: str) -> int | None:
        """Return the client whose vector records ask for at a point of the algorithm; None: another point, or none."""
        asked = self.records.point
        return asked[1] if asked is not None and asked[0] == point else None

    def show_from(self, register: int) -> None:
        """Show this register in place of x_s, from the start on; belongs before the first event, once it is written."""
        self._source = register
        self._show()

    def begin(self, event: int) -> None:
        """Enter an event, 0-based."""
        self.event = event

    def end(self) -> None:
        """Leave the event."""
        self._versions.append(self.version)
        if self.records.events:
            self._put_record(SERVER_MODEL)

    def affine(self, dst: int, *terms: Term) -> None:
        """Write dst ← Σ coef·src; no terms means zero."""
        self._ops.add(_AFFINE, len(self._dst), self.event)
        self._dst.append(dst)
        for coef, src in terms:
            self._src.append(src)
            self._coef.append(coef)
        self._start.append(len(self._src))

    def descend(
        self,
        dst: int,
        src: int,
        client: int,
        steps: int,
        step_size: float,
        update: int | None = None,
        version: int | None = None,
        *,
        implicit: bool = False,
    ) -> int:
        """Write local steps and return their row.

        Parameters
        ----------
        update
            Keys the randomness; by default the client's updates are counted from 0.
        version
            Of the model in ``src``; by default the present one.
        implicit
            Whether each step is proximal: x ← prox_{step_size·f_client}(x).
        """
        if update is None:
            update = self._updates[client]
            self._updates[client] += 1
        row = len(self._sizes)
        self._ops.add(_DESCEND, row, self.event)
        self._descend.add(dst, src, client, update, steps, self.version if version is None else version, -1)
        self._sizes.append(step_size)
        self._implicit.append(implicit)
        return row

    def arrive(self, run: int) -> None:
        """Say that the result of a run reaches the server with the present event."""
        self._descend.put("arrival", run, self.event)

    def use(self, run: int, weight: float) -> None:
        """Say that the coming server update holds a run's result with this weight."""
        self._uses.add(run, self.version)
        self._weights.append(weight)

    def server_update(self, *terms: Term) -> None:
        """Write x_s ← x_s + Σ coef·src, count it, and record what is asked for."""
        self.replace_model((1.0, SERVER_MODEL), *terms)

    def replace_model(self, *terms: Term) -> None:
        """Write x_s ← Σ coef·src, count it, and record what is asked for."""
        if self._sum >= 0 and (weight := self.records.weights.at(self.version)):
            self.affine(self._sum, (1.0, self._sum), (Recipe(weight, weight), SERVER_MODEL))
        self.affine(SERVER_MODEL, *terms)
        self.version += 1
        if not self.records.events:
            self._show()

    def note(self, name: str, value: Any) -> None:
        """Append to a column of the algorithm's own statistics."""
        self._notes.setdefault(name, []).append(value)

    def tape(self, identities: tuple[Identity, ...] = ()) -> Tape:
        """Return the tape, its invariants checked.

        Raises
        ------
        TapeError
            If records ask for a point that nothing shows.
        """
        if self._source < 0:
            raise TapeError(f"records ask for the point {self.records.point}, which this algorithm does not have")
        ops, exact = self._ops.columns(), (self._coef, self._sizes, self._local)
        coef, sizes, local = (np.array(one, dtype=np.float64) for one in exact)
        tape = Tape(
            registers=len(self._initial),
            initial=np.array(self._initial, dtype=np.int8),
            op=ops["op"].astype(np.int8),
            row=ops["row"],
            event=ops["event"],
            affine=Affine(np.array(self._dst), np.array(self._start), np.array(self._src), coef),
            descend=Descend(step_size=sizes, **self._descend.columns()),
            record=Record(time=np.array(self._times), **self._record.columns()),
            events=self.events.head(len(self._versions) - 1),
            clients=self.clients,
            server=SERVER_MODEL,
            version=np.array(self._versions, dtype=np.int64),
            iterations=self.version,
            identities=identities,
            uses=Uses(weight=np.array(self._weights), **self._uses.columns()),
            local=local,
            implicit=np.array(self._implicit if any(self._implicit) else [], dtype=np.bool_),
            notes={name: np.array(column) for name, column in self._notes.items()},
            exact=exact,
        )
        verify(tape)
        return tape

    def _show(self) -> None:
        """Record the present version, or the average of all before it, if it is wanted."""
        k = self.version
        if (self._wanted is not None and k not in self._wanted) or k > self.iterations:
            return
        weights = self.records.weights
        if self._sum < 0:
            self._put_record(self._source)
        elif total := weights.total(k):
            shares = [1 / total, *([weights.at(k) / total] if weights.closed else [])]
            terms = zip((Recipe(one, one) for one in shares), (self._sum, SERVER_MODEL), strict=False)
            self.affine(self._mean, *terms)
            self._put_record(self._mean)

    def _put_record(self, src: int) -> None:
        self._ops.add(_RECORD, len(self._times), self.event)
        self._record.add(src, self.version, self.version)
        self._times.append(float(self.events.time[self.event]) if self.event >= 0 else 0.0)


@final
class _Table:
    """Rows of integers, in one array."""

    def __init__(self, *names: str) -> None:
        self._names = names
        self._rows = array("q")

    def add(self, *row: int) -> None:
        """Append a row."""
        self._rows.extend(row)

    def put(self, name: str, row: int, value: int) -> None:
        """Change an entry."""
        self._rows[len(self._names) * row + self._names.index(name)] = value

    def columns(self) -> dict[str, Ints]:
        """Return a copy of each column."""
        rows = np.array(self._rows).reshape(-1, len(self._names))
        return {name: rows[:, place].copy() for place, name in enumerate(self._names)}
