"""The mini-batch oracle: gather rows, two matrix products, nothing allocated on the way.

Least squares with large mini-batches gather nothing: their errors on all rows of a client, each times how often the
mini-batch holds it, give the same step by two products with rows as they lie, which cost less than a copy.
"""

import math
import sys
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.numbers import FLOATS
from boundlab.objective import Array, Constant, Floats, GradientsOnSet, Optimum, Oracle
from boundlab.objective.simple import BoundedSet
from boundlab.problems import losses
from boundlab.problems.common import EPS, clip_up
from boundlab.problems.normal_equations import gradient_norm
from boundlab.randomness import Stream, Streams

_CHUNK = 1024  # rows whose gradients are held at a time
_LARGE = 2  # rows of a client over those of a mini-batch up to which no rows are gathered


@final
@dataclass(slots=True)
class MiniBatch(Oracle):
    """Stochastic gradients w_i·((1/b)Σ_{j in batch} v_j·∇loss_j + ν·x) of risks on rows sorted by client.

    Parameters
    ----------
    of
        The :class:`boundlab.problems.linear_model.LinearModel`.
    streams
        BATCH numbers, keyed by client and update.
    """

    of: Any
    streams: Streams
    _factors: list[float] = field(init=False)
    _wide: tuple[int, ...] = field(init=False)
    _spans: list[tuple[int, int]] = field(init=False)
    _buffers: dict[int, tuple[Array, ...]] = field(init=False, default_factory=dict)
    _targets: Array = field(init=False)
    _change: Array = field(init=False)

    def __post_init__(self) -> None:
        of = self.of
        self._factors, self._wide = of.factors.tolist(), (of.classes,) if of.id == "softmax" else ()
        self._spans = list(zip(of.offsets.tolist(), of.sizes.tolist(), strict=True))
        # Softmax subtracts e_y; a small table of unit vectors makes that one more gather.
        targets = np.eye(of.classes)[of.y] if self._wide else of.y
        self._targets = np.asarray(targets, dtype=of.X.dtype)
        self._change = np.empty((of.X.shape[1], *self._wide), dtype=of.X.dtype)

    def draws(self, clients: NDArray[np.int64], updates: NDArray[np.int64], steps: int) -> Any:
        """Return row numbers, shape (B, steps, b); without replacement a list of (steps, min(b, s_i))."""
        clients = np.asarray(clients, dtype=np.int64)
        uniform = self.streams.uniforms(Stream.BATCH, clients, updates, steps * self.of.batch)
        sizes, offsets = self.of.sizes[clients], self.of.offsets[clients]
        if not self.of.replacement:
            return self._distinct(uniform.reshape(-1, steps, self.of.batch), sizes, offsets)
        uniform *= sizes[:, None]
        rows = uniform.astype(np.intp)
        # A uniform number next to 1 times the size can round up to the size.
        np.minimum(rows, sizes[:, None] - 1, out=rows)
        rows += offsets[:, None]
        return rows.reshape(-1, steps, self.of.batch)

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
        every = (np.tile(np.arange(size, dtype=np.intp), (steps, 1)) for size in sizes.tolist())
        some = (rows[j] if large[j] else all_of_them for j, all_of_them in enumerate(every))
        return [one + offset for one, offset in zip(some, offsets.tolist(), strict=True)]

    def draw_size(self, steps: int) -> int:
        """Return steps·b."""
        return steps * int(self.of.batch)

    def _scratch(self, size: int) -> tuple[Array, ...]:
        if size not in self._buffers:
            shapes = self.of.X.shape[1:], self._wide, self._targets.shape[1:], (1,)
            self._buffers[size] = tuple(np.empty((size, *one), dtype=self.of.X.dtype) for one in shapes)
        return self._buffers[size]

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one mini-batch step in place; ``draw`` holds the row numbers, shape (b,)."""
        if self.of.id == "least-squares" and self._spans[client][1] <= _LARGE * len(draw):
            self._step_on_all_rows(x, client, draw, step_size)
            return
        rows, z, target, column = self._scratch(len(draw))
        self.of.X.take(draw, 0, rows, "clip")
        self._targets.take(draw, 0, target, "clip")
        change = self._change
        matrix = x.reshape(change.shape) if x.flags.c_contiguous else x.copy().reshape(change.shape)
        np.dot(rows, matrix, z)
        factor = step_size * self._factors[client]
        if self._wide:
            np.maximum.reduce(z, 1, out=column, keepdims=True)
            z -= column
            np.exp(z, z)
            np.add.reduce(z, 1, out=column, keepdims=True)
            z /= column
            z -= target
        else:
            z = losses.scalar_slopes(self.of.loss, z, target, FLOATS)
        z *= -factor / len(draw)
        if self.of.relative is not None:
            z *= self.of.relative[draw].reshape(-1, *np.ones(len(self._wide), dtype=int))
        np.dot(rows.T, z, change)
        if np.any(self.of.ridge):
            x *= 1.0 - factor * self.of.ridge
        x += change.ravel()

    def _step_on_all_rows(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        first, size = self._spans[client]
        rows, change = self.of.X[first : first + size], self._change
        errors = rows @ x
        errors -= self._targets[first : first + size]
        errors *= np.bincount(draw - first, minlength=size)
        factor = step_size * self._factors[client]
        errors *= -factor / len(draw)
        np.dot(rows.T, errors, change)
        if np.any(self.of.ridge):
            x *= 1.0 - factor * self.of.ridge
        x += change


def times(of: Any) -> str:
    """Return what curvatures of rows are multiplied by, in words."""
    each = {0.25: "¼·", 0.5: "½·", 2.0: "2·"}.get(of.loss.curvature or 0.0, "")
    return each if of.relative is None else f"{each}v_j·"


def of_rows(of: Any, best: Optimum | None) -> dict[str, Constant]:
    """Return L_max of a linear model with a smooth loss, and sigma_star where x* is certified."""
    each = ((of.loss.curvature or 0.0) * of.bends + of.nu) * np.repeat(of.factors, of.sizes)
    found = {"L_max": Constant(clip_up(float(each.max()), 8), "upper", f"largest {times(of)}‖a_j‖² + nu")}
    noise = math.inf if best is None or best.distance is None else _noise_at(of, best)
    return found | (
        {"sigma_star": Constant(noise, "upper", "the variance over rows at x*")} if noise < math.inf else {}
    )


def on_set(of: Any, region: BoundedSet) -> GradientsOnSet:
    """Return bounds of a linear model on a bounded set: of gradients from that at its centre, of mini-batches by rows.

    A margin moves by at most min(‖a_j‖·radius, Σ_k |a_jk|·half_k), its slope by the curvature times that.
    """
    z, bend = region.centre, of.loss.curvature or 0.0
    there = [gradient_norm(of.part(client), z) for client in range(of.n)]
    norms = (np.array(there) + of.smoothness * region.radius) * (1.0 + 8.0 * EPS)
    far = np.minimum(of.row_norms * region.radius, np.abs(of.X) @ region.half)
    second = of.means((of.pushes * (of.total.sizes(z)[2] + bend * far)) ** 2) * of.share * of.factors**2
    sigma = clip_up(math.sqrt(float(second.max())), 4.0 * of.d + 64.0 + float(of.sizes.max()))
    return GradientsOnSet(norms, "the gradient at its centre, and L times its radius", sigma=sigma)


def _noise_at(of: Any, best: Optimum) -> float:
    """Return √(mean over clients of the variance of a mini-batch's gradient at x*), unit (1, −1), from above."""
    x, curvature, parts = np.asarray(best.x, dtype=np.float64), of.loss.curvature or 0.0, []
    for client in np.flatnonzero(of.share).tolist():
        rows, part = of.rows(client), of.part(client)
        X, (_, moved, steep) = part.X.astype(np.float64, copy=False), part.sizes(x)
        slopes = losses.slopes(of.loss, X @ part.matrix(x), part.y).reshape(len(X), -1) * of.hefts[rows, None]
        # Its size is taken off, or squares might leave floats.
        top = float((np.abs(X).max(axis=1) * np.abs(slopes).max(axis=1)).max(initial=0.0)) or 1.0
        mean, square = X.T @ (slopes / (top * len(X))), 0.0
        for first in range(0, len(X), _CHUNK):
            some = slice(first, first + _CHUNK)
            away = X[some, :, None] * (slopes[some, None, :] / top) - mean
            square += float(np.einsum("jpc,jpc->", away, away))
        deviation = top * math.sqrt(square / len(X))
        # A row's gradient is Lipschitz in x; and products round, or leave floats below.
        rounding = float((of.pushes[rows] * (curvature * moved + of.d * EPS * steep)).max())
        deviation += curvature * float(of.bends[rows].max()) * (best.distance or 0.0)
        deviation += 8.0 * (rounding + of.d * sys.float_info.min)
        parts.append(math.sqrt(float(of.share[client]) / of.n) * float(of.factors[client]) * deviation)
    return clip_up(math.hypot(*parts), 8 + of.n)
