"""The mini-batch oracle: gather rows, two matrix products, nothing allocated on the way.

Least squares with large mini-batches gather nothing: their errors on all rows of a client, each times how often the
mini-batch holds it, give the same step by two products with rows as they lie, which cost less than a copy.
"""

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.numbers import FLOATS
from boundlab.objective import Array, Floats, Oracle
from boundlab.problems.losses import scalar_slopes
from boundlab.problems.risk import Risk
from boundlab.randomness import Stream, Streams

_LARGE = 2  # rows of a client over those of a mini-batch up to which no rows are gathered


@final
@dataclass(slots=True)
class MiniBatch(Oracle):
    """Stochastic gradients w_i·((1/b)Σ_{j in batch} ∇loss_j + ν·x) of risks on rows sorted by client.

    Parameters
    ----------
    risk
        Loss, rows and targets; client i's rows are ``offsets[i]`` … ``offsets[i] + sizes[i] − 1``.
    offsets, sizes
        Shape (n,).
    factors
        Shape (n,): the weights w_i of the f̂_i.
    nu
        Regulariser, one number or one a coordinate.
    batch
        Mini-batch size b.
    replacement
        Whether indices may repeat; without, b is at most the client's number of samples.
    streams
        BATCH numbers, keyed by client and update.
    """

    risk: Risk
    offsets: NDArray[np.int64]
    sizes: NDArray[np.int64]
    factors: Floats
    nu: Any
    batch: int
    replacement: bool
    streams: Streams
    _factors: list[float] = field(init=False)
    _spans: list[tuple[int, int]] = field(init=False)
    _buffers: dict[int, tuple[Array, ...]] = field(init=False, default_factory=dict)
    _targets: Array = field(init=False)
    _change: Array = field(init=False)

    def __post_init__(self) -> None:
        self._factors = self.factors.tolist()
        self._spans = list(zip(self.offsets.tolist(), self.sizes.tolist(), strict=True))
        kind = self.risk.X.dtype
        # Softmax subtracts e_y; a small table of unit vectors makes that one more gather.
        if self.risk.loss.id == "softmax":
            self._targets = np.zeros((len(self.risk.y), self.risk.classes), dtype=kind)
            self._targets[np.arange(len(self.risk.y)), self.risk.y] = 1.0
        else:
            self._targets = np.asarray(self.risk.y, dtype=kind)
        shape = (self.risk.X.shape[1], self.risk.classes) if self.risk.loss.id == "softmax" else (self.risk.X.shape[1],)
        self._change = np.empty(shape, dtype=kind)

    def draws(self, clients: NDArray[np.int64], updates: NDArray[np.int64], steps: int) -> Any:
        """Return row numbers, shape (B, steps, b); without replacement a list of (steps, min(b, s_i))."""
        clients = np.asarray(clients, dtype=np.int64)
        uniform = self.streams.uniforms(Stream.BATCH, clients, updates, steps * self.batch)
        sizes, offsets = self.sizes[clients], self.offsets[clients]
        if not self.replacement:
            return self._distinct(uniform.reshape(-1, steps, self.batch), sizes, offsets)
        uniform *= sizes[:, None]
        rows = uniform.astype(np.intp)
        # A uniform number next to 1 times the size can round up to the size.
        np.minimum(rows, sizes[:, None] - 1, out=rows)
        rows += offsets[:, None]
        return rows.reshape(-1, steps, self.batch)

    def _distinct(
        self, uniform: Floats, sizes: NDArray[np.int64], offsets: NDArray[np.int64]
    ) -> list[NDArray[np.intp]]:
        """Draw uniform subsets by Floyd's algorithm: b numbers a subset, however many rows there are.

        Source: Bentley and Floyd, "A sample of brilliance", CACM 1987.
        """
        B, steps, b = uniform.shape
        rows = np.empty((B, steps, b), dtype=np.intp)
        large = sizes > b
        for k in range(b):
            last = (sizes - b + k)[:, None]  # the newest candidate; it replaces a repetition
            pick = np.minimum((uniform[:, :, k] * (last + 1)).astype(np.intp), last)
            seen = (rows[:, :, :k] == pick[:, :, None]).any(axis=2)
            rows[:, :, k] = np.where(seen, last, pick)
        out = []
        for j in range(B):
            if large[j]:
                out.append(rows[j] + offsets[j])
            else:
                out.append(np.tile(np.arange(sizes[j], dtype=np.intp) + offsets[j], (steps, 1)))
        return out

    def draw_size(self, steps: int) -> int:
        """Return steps·b."""
        return steps * self.batch

    def _scratch(self, size: int) -> tuple[Array, ...]:
        if size not in self._buffers:
            kind, p, q = self.risk.X.dtype, self.risk.X.shape[1], self.risk.classes
            wide = (size, q) if self.risk.loss.id == "softmax" else (size,)
            column = np.empty((size, 1), dtype=kind)
            self._buffers[size] = (
                np.empty((size, p), dtype=kind),
                np.empty(wide, dtype=kind),
                np.empty((size, *self._targets.shape[1:]), dtype=kind),
                column,
            )
        return self._buffers[size]

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one mini-batch step in place; ``draw`` holds the row numbers, shape (b,)."""
        if self.risk.loss.id == "least-squares" and self._spans[client][1] <= _LARGE * len(draw):
            self._step_on_all_rows(x, client, draw, step_size)
            return
        rows, z, target, column = self._scratch(len(draw))
        self.risk.X.take(draw, 0, rows, "clip")
        self._targets.take(draw, 0, target, "clip")
        change = self._change
        matrix = x.reshape(change.shape) if x.flags.c_contiguous else x.copy().reshape(change.shape)
        np.dot(rows, matrix, z)
        factor = step_size * self._factors[client]
        if self.risk.loss.id == "softmax":
            np.maximum.reduce(z, 1, out=column, keepdims=True)
            z -= column
            np.exp(z, z)
            np.add.reduce(z, 1, out=column, keepdims=True)
            z /= column
            z -= target
        else:
            z = scalar_slopes(self.risk.loss, z, target, FLOATS)
        z *= -factor / len(draw)
        np.dot(rows.T, z, change)
        if np.any(self.nu):
            x *= 1.0 - factor * self.nu
        x += change.ravel()

    def _step_on_all_rows(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        first, size = self._spans[client]
        rows, change = self.risk.X[first : first + size], self._change
        errors = rows @ x
        errors -= self._targets[first : first + size]
        errors *= np.bincount(draw - first, minlength=size)
        factor = step_size * self._factors[client]
        errors *= -factor / len(draw)
        np.dot(rows.T, errors, change)
        if np.any(self.nu):
            x *= 1.0 - factor * self.nu
        x += change
