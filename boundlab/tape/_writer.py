"""Write a tape one event after the other: for algorithms whose iterations are server updates."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundlab.events import Events
from boundlab.tape._records import RecordAt
from boundlab.tape._tape import Affine, Descend, Identity, Initial, Op, Record, Tape, Uses
from boundlab.tape._verify import verify

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

    def __init__(self, events: Events, clients: int, records: RecordAt, iterations: int, local: ArrayLike = ()) -> None:
        self.events, self.clients, self.records, self.iterations = events, clients, records, iterations
        self.version = 0
        self.event = -1
        self._local = np.asarray(local, dtype=np.float64)
        self._initial = [int(Initial.START)]
        self._op: list[int] = []
        self._row: list[int] = []
        self._at: list[int] = []
        self._affine: tuple[list[int], list[int], list[int], list[float]] = ([], [0], [], [])
        self._descend: dict[str, list[Any]] = {name: [] for name in Descend.__dataclass_fields__}
        self._record: dict[str, list[Any]] = {name: [] for name in Record.__dataclass_fields__}
        self._uses: dict[str, list[Any]] = {name: [] for name in Uses.__dataclass_fields__}
        self._updates = [0] * clients
        self._implicit: list[bool] = []
        self._versions = [0]
        self._notes: dict[str, list[Any]] = {}
        chosen = records.iterations
        self._wanted = None if chosen is None else frozenset(chosen.tolist())
        self._sum = self.register(Initial.ZERO) if records.average else -1
        self._mean = self.register() if records.average else -1
        if not records.events:
            self._show()

    @property
    def done(self) -> bool:
        """Whether all server updates asked for have happened."""
        return self.version >= self.iterations

    def register(self, initial: Initial = Initial.UNWRITTEN, count: int = 1) -> int:
        """Make new registers and return the first."""
        first = len(self._initial)
        self._initial += [int(initial)] * count
        return first

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
        dsts, starts, srcs, coefs = self._affine
        self._put(Op.AFFINE, len(dsts))
        dsts.append(dst)
        for coef, src in terms:
            srcs.append(src)
            coefs.append(coef)
        starts.append(len(srcs))

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
        columns = self._descend
        row = len(columns["dst"])
        self._put(Op.DESCEND, row)
        values = (dst, src, client, update, steps, step_size, self.version if version is None else version, -1)
        for name, value in zip(columns, values, strict=True):
            columns[name].append(value)
        self._implicit.append(implicit)
        return row

    def arrive(self, run: int) -> None:
        """Say that the result of a run reaches the server with the present event."""
        self._descend["arrival"][run] = self.event

    def use(self, run: int, weight: float) -> None:
        """Say that the coming server update holds a run's result with this weight."""
        self._uses["update"].append(run)
        self._uses["version"].append(self.version)
        self._uses["weight"].append(weight)

    def server_update(self, *terms: Term) -> None:
        """Write x_s ← x_s + Σ coef·src, count it, and record what is asked for."""
        self.replace_model((1.0, SERVER_MODEL), *terms)

    def replace_model(self, *terms: Term) -> None:
        """Write x_s ← Σ coef·src, count it, and record what is asked for."""
        if self._sum >= 0:
            self.affine(self._sum, (1.0, self._sum), (1.0, SERVER_MODEL))
        self.affine(SERVER_MODEL, *terms)
        self.version += 1
        if not self.records.events:
            self._show()

    def note(self, name: str, value: Any) -> None:
        """Append to a column of the algorithm's own statistics."""
        self._notes.setdefault(name, []).append(value)

    def tape(self, identities: tuple[Identity, ...] = ()) -> Tape:
        """Return the tape, its invariants checked."""
        dst, start, src, coef = self._affine
        ints = {name: np.array(column, dtype=np.int64) for name, column in self._descend.items() if name != "step_size"}
        shown = {name: np.array(column, dtype=np.int64) for name, column in self._record.items() if name != "time"}
        tape = Tape(
            registers=len(self._initial),
            initial=np.array(self._initial, dtype=np.int8),
            op=np.array(self._op, dtype=np.int8),
            row=np.array(self._row, dtype=np.int64),
            event=np.array(self._at, dtype=np.int64),
            affine=Affine(
                np.array(dst, dtype=np.int64), np.array(start, dtype=np.int64), np.array(src, dtype=np.int64),
                np.array(coef, dtype=np.float64),
            ),
            descend=Descend(step_size=np.array(self._descend["step_size"], dtype=np.float64), **ints),
            record=Record(time=np.array(self._record["time"], dtype=np.float64), **shown),
            events=self.events.head(len(self._versions) - 1),
            clients=self.clients,
            server=SERVER_MODEL,
            version=np.array(self._versions, dtype=np.int64),
            iterations=self.version,
            identities=identities,
            uses=Uses(
                np.array(self._uses["update"], dtype=np.int64), np.array(self._uses["version"], dtype=np.int64),
                np.array(self._uses["weight"], dtype=np.float64),
            ),
            local=self._local,
            implicit=np.array(self._implicit if any(self._implicit) else [], dtype=np.bool_),
            notes=self._columns(),
        )  # fmt: skip
        verify(tape)
        return tape

    def _columns(self) -> Mapping[str, NDArray[Any]]:
        return {name: np.array(column) for name, column in self._notes.items()}

    def _put(self, op: Op, row: int) -> None:
        self._op.append(op.value)
        self._row.append(row)
        self._at.append(self.event)

    def _show(self) -> None:
        """Record the present version, or the average of all before it, if it is wanted."""
        k = self.version
        if (self._wanted is not None and k not in self._wanted) or k > self.iterations:
            return
        if self._sum < 0:
            self._put_record(SERVER_MODEL)
        elif k > 0:
            self.affine(self._mean, (1.0 / k, self._sum))
            self._put_record(self._mean)

    def _put_record(self, src: int) -> None:
        columns = self._record
        self._put(Op.RECORD, len(columns["src"]))
        time = float(self.events.time[self.event]) if self.event >= 0 else 0.0
        for name, value in zip(columns, (src, self.version, self.version, time), strict=True):
            columns[name].append(value)
