"""Put blocks of instructions, given in any order, into a tape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundlab.events import Events
from boundlab.tape._tape import Affine, Descend, Identity, Op, Record, Tape
from boundlab.tape._verify import verify

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_ORDER_BITS = 4


@dataclass(slots=True)
class BulkWriter:
    """Collects blocks of instructions in any order and sorts them into a tape.

    A block is a set of instructions of one kind. Each has a position (event, order): events from −1 on,
    and within an event the order 0 … 15.
    """

    affine_at: list[Ints] = field(default_factory=list)
    affine_dst: list[Ints] = field(default_factory=list)
    affine_src: list[list[Ints]] = field(default_factory=list)
    affine_coef: list[list[Floats]] = field(default_factory=list)
    descend_at: list[Ints] = field(default_factory=list)
    descend_columns: list[dict[str, NDArray[Any]]] = field(default_factory=list)
    record_at: list[Ints] = field(default_factory=list)
    record_columns: list[dict[str, NDArray[Any]]] = field(default_factory=list)

    def affine(self, event: Ints, order: int, dst: ArrayLike, terms: list[tuple[ArrayLike, ArrayLike]]) -> None:
        """Add dst ← Σ coef·src for each event; dst, coef and src broadcast to the events."""
        size = len(event)
        self.affine_at.append(_position(event, order))
        self.affine_dst.append(_column(dst, size, np.int64))
        self.affine_src.append([_column(src, size, np.int64) for _, src in terms])
        self.affine_coef.append([_column(coef, size, np.float64) for coef, _ in terms])

    def descend(self, event: Ints, order: int, **columns: ArrayLike) -> None:
        """Add local steps; the columns are those of :class:`Descend`."""
        self.descend_at.append(_position(event, order))
        types = {"step_size": np.float64}
        self.descend_columns.append(
            {name: _column(value, len(event), types.get(name, np.int64)) for name, value in columns.items()}
        )

    def record(self, event: Ints, order: int, **columns: ArrayLike) -> None:
        """Add records; the columns are those of :class:`Record`."""
        self.record_at.append(_position(event, order))
        types = {"time": np.float64}
        self.record_columns.append(
            {name: _column(value, len(event), types.get(name, np.int64)) for name, value in columns.items()}
        )

    def tape(
        self,
        initial: NDArray[np.int8],
        events: Events,
        clients: int,
        server: int,
        version: Ints,
        identities: tuple[Identity, ...],
        exact: Mapping[float, Fraction | None],
    ) -> Tape:
        """Sort everything into its place and check the invariants; each event is an iteration.

        The writer is empty then: what it held would double the memory of a long tape.
        """
        affine_at, affine = self._affine_table()
        descend_at, descend = _table(self.descend_at, self.descend_columns, Descend)
        record_at, record = _table(self.record_at, self.record_columns, Record)
        op, row, event = _order((affine_at, descend_at, record_at))
        tape = Tape(
            len(initial),
            initial,
            op,
            row,
            event,
            affine,
            descend,
            record,
            events,
            clients,
            server,
            version,
            len(events),
            identities,
            exact=exact,
        )
        verify(tape)
        return tape

    def _affine_table(self) -> tuple[Ints, Affine]:
        at = np.concatenate([*self.affine_at, np.empty(0, np.int64)])
        order = np.argsort(at, kind="stable")
        dst = np.concatenate([*self.affine_dst, np.empty(0, np.int64)])[order]
        widths = np.concatenate(
            [np.full(len(b), len(s)) for b, s in zip(self.affine_at, self.affine_src, strict=True)] + [np.empty(0, int)]
        )
        # Terms of instruction j of a block with w terms stand at offset + j·w + (0 … w−1).
        src = np.concatenate([np.stack(s, 1).ravel() for s in self.affine_src if s] + [np.empty(0, np.int64)])
        coef = np.concatenate([np.stack(c, 1).ravel() for c in self.affine_coef if c] + [np.empty(0)])
        begin = np.concatenate([[0], np.cumsum(widths)])[:-1]
        widths = widths[order]
        start = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        self.affine_src, self.affine_coef, self.affine_dst, self.affine_at = [], [], [], []
        take = np.repeat(begin[order] - start[:-1], widths)
        take += np.arange(start[-1])
        src = src[take]
        coef = coef[take]
        return at[order], Affine(dst, start, src, coef)


def _position(event: Ints, order: int) -> Ints:
    return ((np.asarray(event, dtype=np.int64) + 1) << _ORDER_BITS) + order


def _column(value: ArrayLike, size: int, dtype: type[np.generic]) -> NDArray[Any]:
    found = np.asarray(value, dtype=dtype)
    return found if found.shape == (size,) else np.full(size, found)


def _table(at: list[Ints], columns: list[dict[str, NDArray[Any]]], kind: type[Any]) -> tuple[Ints, Any]:
    """Return where rows stand, and the table; the lists are empty then."""
    where = np.concatenate([*at, np.empty(0, np.int64)])
    order = np.argsort(where, kind="stable")
    floats = {"step_size", "time"}
    merged: dict[str, NDArray[Any]] = {}
    for name in kind.__dataclass_fields__:
        empty = np.empty(0, float if name in floats else np.int64)
        merged[name] = np.concatenate([block.pop(name) for block in columns] + [empty])[order]
    at.clear()
    return where[order], kind(**merged)


def _order(places: tuple[Ints, Ints, Ints]) -> tuple[NDArray[np.int8], Ints, Ints]:
    """Return (op, row, event) of the instructions, given where the rows of each table stand."""
    at = np.concatenate(places)
    op = np.repeat(np.array([Op.AFFINE, Op.DESCEND, Op.RECORD], dtype=np.int8), [len(part) for part in places])
    order = np.argsort(at, kind="stable")
    event = at[order]
    event >>= _ORDER_BITS
    event -= 1
    del at
    op = op[order]
    # Rows of each table are in order, so an instruction's row is how many of its kind stand before it.
    row = np.empty(len(op), dtype=np.int64)
    for kind, part in zip((Op.AFFINE, Op.DESCEND, Op.RECORD), places, strict=True):
        row[op == kind] = np.arange(len(part))
    return op, row, event
