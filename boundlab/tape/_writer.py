"""Write a tape one event after the other: for algorithms whose iterations are server updates."""

from array import array
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.rational import Recipe
from boundlab.errors import TapeError
from boundlab.events import Events
from boundlab.tape._records import RecordAt
from boundlab.tape._tape import Affine, Descend, Identity, Initial, Op, Record, Tape, Uses
from boundlab.tape._verify import verify

Term = tuple[float, int]
_AFFINE, _DESCEND, _RECORD = Op.AFFINE.value, Op.DESCEND.value, Op.RECORD.value
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
        chosen = records.iterations
        self._wanted = None if chosen is None else frozenset(chosen.tolist())
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

    def columns(self) -> dict[str, NDArray[np.int64]]:
        """Return a copy of each column."""
        rows = np.array(self._rows).reshape(-1, len(self._names))
        return {name: rows[:, place].copy() for place, name in enumerate(self._names)}
