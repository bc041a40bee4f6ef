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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.events import Events

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


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
@dataclass(frozen=True, slots=True)
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
