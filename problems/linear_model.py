"""Linear models on data split over clients: what their empirical risks share, whatever the loss."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.compiled import BATCHES, EXACT, SAMPLES, Clients
from boundlab.arithmetic.near import NEAR, Near, curvatures, given, norm, sqrt, stacked
from boundlab.arithmetic.numbers import FLOATS
from boundlab.objective import EPS, Array, Constant, Floats, FullGradients, GradientsOnSet, Optimum, Oracle, StepBounds
from boundlab.objective.facts import SoughtMinimiser, above
from boundlab.objective.simple import BoundedSet
from boundlab.problems import clients, common, data as datasets
from boundlab.problems.clients import Loss, LossId, Targets
from boundlab.problems.common import calm, key_of
from boundlab.problems.risk import Risk
from boundlab.randomness import Ints, Stream, Streams

if TYPE_CHECKING:
    import torch

    from boundlab.arithmetic.tensors import Batched


# The mini-batch oracle: gather rows, two matrix products, nothing allocated on the way.
#
# Least squares with large mini-batches gather nothing: their errors on all rows of a client, each times how often the
# mini-batch holds it, give the same step by two products with rows as they lie, which cost less than a copy.

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
    _bent: bool = field(init=False)

    def __post_init__(self) -> None:
        of = self.of
        self._factors, self._wide = of.factors.tolist(), (of.classes,) if of.id == "softmax" else ()
        self._spans = list(zip(of.offsets.tolist(), of.sizes.tolist(), strict=True))
        # Softmax subtracts e_y; a small table of unit vectors makes that one more gather.
        targets = np.eye(of.classes)[of.y] if self._wide else of.y
        self._targets = np.asarray(targets, dtype=of.X.dtype)
        self._change = np.empty((of.X.shape[1], *self._wide), dtype=of.X.dtype)
        self._bent = bool(np.any(of.ridge))

    def draws(self, clients: Ints, updates: Ints, steps: int) -> Any:
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

    def _distinct(self, uniform: Floats, sizes: Ints, offsets: Ints) -> list[NDArray[np.intp]]:
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
            z = clients.scalar_slopes(self.of.loss, z, target, FLOATS)
        z *= -factor / len(draw)
        if self.of.relative is not None:
            z *= self.of.relative[draw].reshape(-1, *np.ones(len(self._wide), dtype=int))
        np.dot(rows.T, z, change)
        if self._bent:
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
        if self._bent:
            x *= 1.0 - factor * self.of.ridge
        x += change


def times(of: Any) -> str:
    """Return what curvatures of rows are multiplied by, in words."""
    each = {0.25: "¼·", 0.5: "½·", 2.0: "2·"}.get(of.loss.curvature or 0.0, "")
    return each if of.relative is None else f"{each}v_j·"


def of_rows(of: Any, best: Optimum | None) -> dict[str, Constant]:
    """Return L_max of a linear model with a smooth loss, and sigma_star where x* is certified."""
    each = ((of.loss.curvature or 0.0) * Near(of.bends) + of.nu) * of.shares_of_rows
    found = {"L_max": above(each, f"largest {times(of)}‖a_j‖² + nu")}
    noise = math.inf if best is None or best.distance is None else _noise_at(of, best)
    return found | (
        {"sigma_star": Constant(noise, "upper", "the variance over rows at x*")} if noise < math.inf else {}
    )


def on_set(of: Any, region: BoundedSet) -> GradientsOnSet:
    """Return bounds of a linear model on a bounded set: of gradients from that at its centre, of mini-batches by rows.

    A margin moves by at most min(‖a_j‖·radius, Σ_k |a_jk|·half_k), its slope by the curvature times that.
    """
    z, bend = region.centre, of.loss.curvature or 0.0
    there = [of.part(client).steepness(z) for client in range(of.n)]
    norms = Near(there) + Near(of.smoothness) * region.radius
    margins = Near(of.X) @ of.total.matrix(z)
    far = np.minimum((Near(of.row_norms) * region.radius).upper, (Near(np.abs(of.X)) @ region.half).upper)
    slopes = norm(clients.slopes(of.loss, margins, of.y, NEAR).reshape(len(of.X), -1))
    second = of.means((of.pushes * (slopes + bend * Near(far))).upper, squared=True) * of.share * of.w * of.w
    return GradientsOnSet(
        norms.upper, "the gradient at its centre, and L times its radius", sigma=float(sqrt(second).upper.max())
    )


def _noise_at(of: Any, best: Optimum) -> float:
    """Return √(mean over clients of the variance of a mini-batch's gradient at x*), unit (1, −1), from above."""
    x, curvature, parts = np.asarray(best.x, dtype=np.float64), of.loss.curvature or 0.0, [Near(0.0)]
    for client in np.flatnonzero(of.share).tolist():
        rows, part = of.rows(client), of.part(client)
        X = Near(part.X)
        slopes = clients.slopes(of.loss, X @ part.matrix(Near(x)), part.y, NEAR).reshape(len(X.value), -1)
        slopes = of.hefts[rows, None] * slopes
        # Its size is taken off, or squares might leave floats.
        sizes = np.abs(X.value).max(axis=1) * NEAR.absolute(slopes).upper.max(axis=1)
        slopes = slopes / (float(sizes.max(initial=0.0)) or 1.0)
        mean, square = X.T @ slopes / len(X.value), Near(0.0)
        for first in range(0, len(X.value), _CHUNK):
            some = slice(first, first + _CHUNK)
            square += norm(X[some][:, :, None] * slopes[some][:, None, :] - mean, (0, 1, 2)) ** 2
        # A row's gradient is Lipschitz in x.
        deviation = sqrt(square / len(X.value)) * (float(sizes.max(initial=0.0)) or 1.0)
        deviation += curvature * float(of.bends[rows].max()) * Near(best.distance)
        parts.append(sqrt(Near(of.share[client]) / of.n) * of.w[client] * deviation)
    return float(norm(stacked(parts)).upper)


Weights = Literal["equal", "size", "paper"]
_EXACT = 100_000  # S·p entries in exact numbers


@dataclass(frozen=True, eq=False)
class LinearModel(SoughtMinimiser):
    """f_i = w_i·f̂_i with f̂_i(x) = (1/s_i)·Σ_j v_j·loss(a_j, y_j; x) + ν/2‖x‖² over client i's samples.

    The v_j are 1, or the samples' weights over their mean at the client: a mini-batch is drawn uniformly all the same.

    A final class says what its loss makes of the constants, the minimiser and the assumptions.

    Parameters
    ----------
    id
        The loss.
    X
        Shape (S, p), float32 or float64, rows sorted by client.
    y
        Shape (S,): ±1, class numbers or values; for poisson pairs, shape (S, 2).
    sizes
        Shape (n,): s_i ≥ 1.
    nu
        ν ≥ 0, unit (1, −2).
    weights
        ``equal``: w_i = 1; ``size``: n·s_i/S; ``paper``: s_i/S; or a client's part of the samples' weights for s_i/S.
    batch, replacement
        Mini-batch size b, 0 for full gradients; whether a mini-batch may hold a sample twice.
    x0
        Shape (d,), of X's dtype.
    source
        The options that rebuild the problem.
    multipliers
        One more factor a client of its w_i, or none.
    free
        Whether the last feature, an intercept, is not regularised.
    width
        Of the losses that have one.
    shares
        Each client's part of the samples' weights; none: s_i/S.
    relative
        The v_j, shape (S,), of X's dtype; None: all are 1.
    """

    id: LossId
    X: Array
    y: Targets
    sizes: Ints
    nu: float
    weights: Weights
    batch: int
    replacement: bool
    x0: Array
    source: Mapping[str, Any] = field(default_factory=dict)
    multipliers: tuple[float, ...] = ()
    free: bool = False
    width: float | None = None
    shares: tuple[Fraction, ...] = ()
    relative: Array | None = None

    @property
    def n(self) -> int:  # type: ignore[override]
        """Return the number of clients."""
        return len(self.sizes)

    @property
    def d(self) -> int:  # type: ignore[override]
        """Return the dimension: features, times classes for softmax."""
        return int(self.X.shape[1]) * self.classes

    @property
    def dtype(self) -> type[np.floating[Any]]:  # type: ignore[override]
        """Return the iterates' type: that of the features."""
        return self.X.dtype.type

    @cached_property
    def loss(self) -> Loss:
        """Return the loss."""
        return clients.loss(self.id, self.width)

    @cached_property
    def classes(self) -> int:
        """Return the number of classes for softmax, else 1."""
        return int(self.y.max()) + 1 if self.id == "softmax" else 1

    def scaled(self, factors: Sequence[Fraction]) -> Self:
        """Return the problem with factor_i·w_i in place of w_i."""
        return replace(self, multipliers=tuple(float(factor) for factor in factors))

    @cached_property
    def offsets(self) -> Ints:
        """Return each client's first row, shape (n,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    @cached_property
    def w(self) -> Near:
        """Return the weights w_i of the f̂_i, shape (n,), as floats with their error."""
        return given(self.exact_weights())

    @property
    def factors(self) -> Floats:
        """Return the w_i as floats, shape (n,)."""
        return self.w.value

    @cached_property
    def shares_of_rows(self) -> Near:
        """Return the w_i of each row's client, shape (S,)."""
        return self.w[np.repeat(np.arange(self.n), self.sizes)]

    def exact_weights(self) -> list[Fraction]:
        """Return the w_i without rounding."""
        total = int(self.sizes.sum())
        shares = self.shares or [Fraction(size, total) for size in self.sizes.tolist()]
        own = {"equal": [Fraction(1)] * self.n, "size": [self.n * share for share in shares], "paper": [*shares]}
        more = self.multipliers or (1.0,) * self.n
        return [weight * Fraction(factor) for weight, factor in zip(own[self.weights], more, strict=True)]

    @property
    def fits_exact_numbers(self) -> bool:
        """True if margins are float64, and the samples so few that more digits of them cost seconds."""
        return self.dtype is np.float64 and self.X.size <= _EXACT

    @cached_property
    def total(self) -> Risk:
        """Return f as one weighted risk."""
        mass = self.shares_of_rows / (self.n * np.repeat(self.sizes, self.sizes)) * self.hefts
        return Risk(self.loss, self.X, self.y, mass, self.nu * self.w.mean(), *self._shape)

    def part(self, client: int) -> Risk:
        """Return f_client as a weighted risk."""
        rows, own = self.rows(client), self.w[client]
        mass = own / int(self.sizes[client]) * self.hefts[rows]
        return Risk(self.loss, self.X[rows], self.y[rows], mass, self.nu * own, *self._shape)

    @cached_property
    def hefts(self) -> Floats:
        """The v_j in float64, shape (S,)."""
        return np.ones(len(self.X)) if self.relative is None else self.relative.astype(np.float64)

    @property
    def _shape(self) -> tuple[int, int]:
        return self.classes, self.classes * self.free

    @cached_property
    def ridge(self) -> Any:
        """Return ν of each coordinate, shape (d,), where the intercept has none; else that of all."""
        return self.nu * (np.arange(self.d) < self.d - self.classes) if self.free else self.nu

    @property
    def curved(self) -> float:
        """Return ν as far as the regulariser makes the f̂_i strongly convex."""
        return 0.0 if self.free else self.nu

    def rows(self, client: int) -> slice:
        """Return where a client's samples stand."""
        first = int(self.offsets[client])
        return slice(first, first + int(self.sizes[client]))

    def value(self, x: Array) -> float:
        """Return f(x), unit (1, 0); margins in the type of X, sums in float64."""
        each = clients.values(self.loss, self.X @ self.total.matrix(x), self.y)
        wide = np.asarray(x, dtype=np.float64)
        return float(self.total.omega @ each) + 0.5 * float((self.total.ridge * wide) @ wide)

    def client_value(self, client: int, x: Array) -> float:
        """Return f_client(x), unit (1, 0)."""
        return self.part(client).value(np.asarray(x, dtype=np.float64))

    def gradient(self, client: int, x: Array) -> Array:
        """Return a (sub)gradient of f_client, shape (d,), unit (1, −1); 0 is taken at a kink."""
        rows, factor = self.rows(client), float(self.factors[client])
        X = self.X[rows]
        slope = clients.slopes(self.loss, X @ self.total.matrix(x), self.y[rows])
        slope *= factor / len(X)
        if self.relative is not None:
            slope *= self.relative[rows].reshape(-1, *np.ones(slope.ndim - 1, dtype=int))
        out: Array = (X.T @ slope).reshape(-1)
        if self.nu:
            out += (factor * self.ridge) * x
        return out

    def client_key(self, client: int) -> bytes:
        """Return the samples, in their order, and the weights."""
        rows = self.rows(client)
        return key_of(self.X[rows], self.y[rows], self.hefts[rows], self.factors[client : client + 1])

    def step_bounds(self, client: int) -> StepBounds:
        """Return the curvature of what may be drawn, and what margins, slopes and sums of rows round."""
        rows, factor, size = self.rows(client), float(self.factors[client]), int(self.sizes[client])
        longest, widest = float(self.pushes[rows].max()), float(self.bends[rows].max())
        bend, steep = self._of_margins(rows)
        L = factor * (bend * widest + self.nu) if self.batch else float(self.smoothness[client])
        eps, count = float(np.finfo(self.X.dtype).eps), max(size, self.batch) + 2.0 * self.classes + 32.0
        margins = (count + self.X.shape[1]) * bend * widest
        return StepBounds(
            factor * self.curved,
            L * (1.0 + 8.0 * EPS),
            eps * factor * count * longest * steep,
            eps * factor * (margins + 4.0 * self.nu),
            kinks=not self.loss.smooth,
        )

    def _of_margins(self, rows: slice) -> tuple[float, float]:
        """Return the largest curvature of some rows' losses in their margins, 0 of pieces, and their largest slope.

        Of slopes that are unbounded that at the margin 0: curvature says how they grow.
        """
        y, loss = self.y[rows], self.loss
        steep = clients.slopes(loss, np.zeros(len(y)), y) if loss.steep else loss.slope
        return loss.curvature or 0.0, float(np.abs(steep).max())

    def full_gradient(self, x: Array) -> Floats:
        """Return a (sub)gradient of f, shape (d,), unit (1, −1), in float64 by one pass over the data."""
        return self.total.gradient(np.asarray(x, dtype=np.float64))

    def oracle(self, streams: Streams) -> Oracle:
        """Return the mini-batch oracle, or exact (sub)gradients where b is 0."""
        if self.batch == 0:
            return FullGradients(self)
        return MiniBatch(self, streams)

    def compiled(self) -> Clients:
        """Return the samples, with targets as columns."""
        y = np.asarray(self.y, dtype=self.X.dtype).reshape(len(self.X), -1)
        return Clients(
            SAMPLES,
            self.loss.number,
            0.0 if self.loss.of is None else float(self.loss.of.width or 0.0),
            self.X,
            y,
            self.offsets,
            np.asarray(self.sizes, dtype=np.int64),
            self.factors,
            np.broadcast_to(np.asarray(self.ridge, dtype=np.float64), self.d).copy(),
            self.classes,
            np.ones(1, self.X.dtype) if self.relative is None else self.relative,
            BATCHES if self.batch else EXACT,
        )

    def tensors(self, device: "torch.device", dtype: "torch.dtype") -> "Batched":
        """Return the problem on tensors."""
        from boundlab.problems.batched import BatchedRisk

        return BatchedRisk(self, device, dtype)

    @property
    def _what(self) -> str:
        return f"problem {self.id}"

    @cached_property
    def smoothness(self) -> Floats:
        """L_i = w_i·(c·λ_max(A_iᵀV_iA_i/s_i) + ν), shape (n,)."""
        return np.asarray((self.w * ((self.loss.curvature or 0.0) * Near(self.top) / self.sizes + self.nu)).upper)

    @cached_property
    def top(self) -> Floats:
        """λ_max(A_iᵀV_iA_i), shape (n,)."""
        return self._largest(self.hefts)

    def _largest(self, by: Floats) -> Floats:
        """Return λ_max(Σ_j by_j·a_jᵀa_j) of each client, shape (n,)."""
        parts = [self.rows(client) for client in range(self.n)]
        return np.array([curvatures(self.X[rows], Near(by[rows])).upper[-1] for rows in parts])

    @cached_property
    def row_norms(self) -> Floats:
        """‖a_j‖ from above, shape (S,)."""
        parts = range(0, len(self.X), _CHUNK)
        return np.concatenate([norm(self.X[first : first + _CHUNK]).upper for first in parts])

    @cached_property
    def pushes(self) -> Floats:
        """v_j·‖a_j‖, shape (S,): the gradient of a row where its slope is 1, from above."""
        return np.asarray((Near(self.row_norms) * self.hefts).upper)

    @cached_property
    def bends(self) -> Floats:
        """v_j·‖a_j‖², shape (S,): the curvature of a row where its loss has 1, from above."""
        return np.asarray((Near(self.row_norms) ** 2 * self.hefts).upper)

    @cached_property
    def share(self) -> Floats:
        """Variance of a mini-batch's mean, as a share of that of a single sample, shape (n,)."""
        if self.batch == 0:
            return np.zeros(self.n)
        if self.replacement:
            return np.full(self.n, 1.0 / self.batch)
        b = np.minimum(self.batch, self.sizes)
        return np.asarray((self.sizes - b) / (b * np.maximum(self.sizes - 1.0, 1.0)))

    def rounding(self, x: Floats) -> tuple[float, float] | None:
        """Return how far rounding may put the value and the gradient off; None where margins are float32."""
        return self.total.rounding(x) if self.X.dtype == np.float64 else None

    def gradient_norms_at_optimum(self) -> Floats | None:
        """Return ‖∇f_i(x*)‖ from above, shape (n,), unit (1, −1); None where not smooth, or x* is not certified."""
        best = self._best
        return None if not self.loss.smooth or best is None or best.distance is None else self._gradient_norms

    @cached_property
    def _gradient_norms(self) -> Floats:
        best = self.optimum()
        norms = [self.part(client).steepness(np.asarray(best.x, np.float64)) for client in range(self.n)]
        return np.asarray((norms + Near(self.smoothness) * (best.distance or 0.0)).upper)

    def gradients_on(self, region: "BoundedSet") -> GradientsOnSet | None:
        """Return bounds on a bounded set: of gradients from that at its centre, of mini-batches row by row."""
        return None if self.X.dtype != np.float64 else on_set(self, region)

    def means(self, values: Floats, squared: bool = False) -> Near:
        """Return the means of the clients' rows, shape (n,), of a number for each of all rows, or of its square."""
        each = Near(values) ** 2 if squared else Near(values)
        return stacked([each[self.rows(client)].mean() for client in range(self.n)])

    @cached_property
    def _same_samples(self) -> bool:
        """True if all clients have the same samples, equally often and in any order: then they have one f̂."""

        def counted(client: int) -> tuple[Floats, Ints]:
            rows = self.rows(client)
            every = np.column_stack([self.X[rows], self.y[rows], self.hefts[rows]])
            return np.unique(every, axis=0, return_counts=True)

        (first, often), size = counted(0), self.sizes[0]
        others = ((*counted(client), self.sizes[client]) for client in range(1, self.n))
        return all(np.array_equal(own, first) and (size * counts == many * often).all() for own, counts, many in others)

    @property
    def _cancels(self) -> bool:
        """True if the regulariser has the same gradient for all clients, so that ∇f_i − ∇f is free of it."""
        return self.nu == 0.0 or not np.ptp(self.factors)

    def files(self) -> tuple[Path, ...]:
        """Return the files of the data."""
        return datasets.files_of(str(self.source.get("data", "")))

    def data_sha256(self) -> str:
        """Return the SHA-256 of features, targets and sizes, each after its type and shape."""
        digest = sha256()
        for one in (self.X, self.y, self.sizes, *(() if self.relative is None else (self.relative,))):
            digest.update(f"{one.dtype.str}{one.shape}".encode())
            digest.update(np.ascontiguousarray(one).data)
        return digest.hexdigest()

    @cached_property
    def _sigma(self) -> Constant | None:
        """Where mini-batches are no smaller than all samples, 0; else with slopes of any size there is no bound."""
        return None if self.share.any() else Constant(0.0, "exact", "full gradients")

    @property
    def _grows(self) -> str:
        return f"the variance of mini-batches of {self.id} grows with the distance from x*"

    @cached_property
    def _constants(self) -> dict[str, Constant]:
        _ = self._attempt  # which takes as many threads as it likes; then clients are looked at one by one
        with calm(int(self.sizes.max()) * self.X.shape[1]):
            return common.of_alike(self, self._find_constants())

    def spec(self) -> dict[str, Any]:
        """Return the options that rebuild this problem."""
        return {"type": self.id, **self.source}
