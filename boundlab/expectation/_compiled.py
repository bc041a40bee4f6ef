"""Second moments of a control state as one sparse matrix: where events do not change with time, it is made once.

A matrix of second moments is symmetric: its upper triangle, row by row, is the vector that moves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Control

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_EPS: Final = float(np.finfo(np.float64).eps)
LARGEST: Final = 300_000  # entries of all upper triangles


@final
@dataclass(frozen=True, slots=True)
class Linear:
    """An event, as far as it is linear in second moments: T S Tᵀ + noise.

    Parameters
    ----------
    share
        Its probability.
    written, sources
        Coordinates that change, and those that they are made of, 0 among them.
    T
        Shape (c, written, sources).
    noise
        Shape (c, written, written): added times S_00.
    unsure, lost
        From how far a sum of products is off: what any product is off by, with T; and weights of a diagonal that
        bounds what floats lose.
    """

    share: float
    written: Ints
    sources: Ints
    T: Floats
    noise: Floats
    unsure: Callable[[float], float]
    lost: Callable[[float], Floats]


@final
class Triangle:
    """Upper triangles of c symmetric matrices of a size, one after the other."""

    def __init__(self, blocks: int, size: int) -> None:
        self.blocks, self.size = blocks, size
        self.each = size * (size + 1) // 2
        self.diagonal = self.place(np.arange(size), np.arange(size))

    def place(self, i: Ints, j: Ints) -> Ints:
        """Return where entry (i, j) of the first block stands."""
        low, high = np.minimum(i, j), np.maximum(i, j)
        return np.asarray(low * self.size - low * (low - 1) // 2 + high - low)

    def pack(self, matrices: Floats) -> Floats:
        """Return shape (c·each,) from shape (c, size, size)."""
        i, j = np.triu_indices(self.size)
        return np.ascontiguousarray(matrices[:, i, j]).ravel()

    def entries(self, vector: Floats, rows: Ints) -> Floats:
        """Return the blocks of these rows and columns, shape (c, rows, rows)."""
        return vector.reshape(self.blocks, self.each)[:, self.place(rows[:, None], rows)]


def compiled(events: Sequence[tuple[Linear, Control]], triangle: Triangle) -> list[tuple[Control, Any, Any]]:
    """Return for each control state that follows the sparse matrix that moves upper triangles to it.

    Beside it stands one that makes of diagonals, c times size entries, a diagonal that bounds what floats lose.
    """
    from scipy.sparse import coo_array

    out = []
    total = triangle.blocks * triangle.each
    for after in dict.fromkeys(control for _, control in events):
        mine = [event for event, control in events if control == after]
        parts = [_unchanged(mine, triangle), *(_entries(event, triangle) for event in mine)]
        values, rows, columns = (np.concatenate(column) for column in zip(*parts, strict=True))
        kept = values != 0.0
        matrix = coo_array((values[kept], (rows[kept], columns[kept])), shape=(total, total)).tocsr()
        longest = int(np.diff(matrix.indptr).max(initial=0)) + 2 * len(mine)
        out.append((after, matrix, _lost(mine, triangle, _EPS * (longest + 8.0))))
    return out


def _lost(events: Sequence[Linear], triangle: Triangle, rounding: float) -> Any:
    from scipy.sparse import coo_array

    c, size = triangle.blocks, triangle.size
    blocks = size * np.arange(c)[:, None, None]
    values, rows, columns = [], [], []
    kept = np.zeros(size)
    for event in events:
        stays = np.ones(size)
        stays[event.written] = 0.0
        kept += 2.0 * event.unsure(rounding) * event.share * stays
        weights = event.share * event.lost(rounding)
        values.append(weights.ravel())
        rows.append(np.broadcast_to(blocks + event.written[:, None], weights.shape).ravel())
        columns.append(np.broadcast_to(blocks + event.sources, weights.shape).ravel())
    every = np.arange(c * size)
    parts = (
        np.concatenate([*values, np.tile(kept, c)]),
        (np.concatenate([*rows, every]), np.concatenate([*columns, every])),
    )
    return coo_array(parts, shape=(c * size, c * size)).tocsr()


def _unchanged(events: Sequence[Linear], triangle: Triangle) -> tuple[Floats, Ints, Ints]:
    """Return what becomes of entries of two coordinates that an event does not write: they stay."""
    shares = np.zeros((triangle.size, triangle.size))
    for event in events:
        stays = np.ones(triangle.size)
        stays[event.written] = 0.0
        shares += event.share * (stays[:, None] * stays)
    places = np.arange(triangle.blocks * triangle.each)
    return triangle.pack(np.broadcast_to(shares, (triangle.blocks, *shares.shape))), places, places


def _entries(event: Linear, triangle: Triangle) -> tuple[Floats, Ints, Ints]:
    """Return values, rows and columns of one event's matrix, as far as it concerns what is written."""
    written, sources, T = event.written, event.sources, event.T
    stays = np.ones(triangle.size, dtype=np.bool_)
    stays[written] = False
    rest = np.flatnonzero(stays)
    shape = len(written), len(sources), len(rest)
    crossed_rows = np.broadcast_to(triangle.place(written[:, None, None], rest), shape)
    crossed_from = np.broadcast_to(triangle.place(sources[:, None], rest), shape)
    a, b = np.triu_indices(len(written))
    pair = len(a), len(sources), len(sources)
    own_rows = np.broadcast_to(triangle.place(written[a], written[b])[:, None, None], pair)
    own_from = np.broadcast_to(triangle.place(sources[:, None], sources), pair)
    out: tuple[list[Floats], list[Ints], list[Ints]] = ([], [], [])
    for block in range(triangle.blocks):
        first = block * triangle.each
        crossed = np.broadcast_to(T[block][:, :, None], shape)
        own = T[block][a][:, :, None] * T[block][b][:, None, :]
        noise = event.noise[block][a, b]
        pieces = (
            (crossed, crossed_rows, crossed_from),
            (own, own_rows, own_from),
            (noise, triangle.place(written[a], written[b]), np.zeros(len(a), dtype=np.int64)),
        )
        for values, rows, columns in pieces:
            out[0].append(event.share * values.ravel())
            out[1].append(first + rows.ravel())
            out[2].append(first + columns.ravel())
    return np.concatenate(out[0]), np.concatenate(out[1]), np.concatenate(out[2])
