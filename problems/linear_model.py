"""Linear models on data split over clients: what their empirical risks share, whatever the loss."""

import math
import sys
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.compiled import BATCHES, EXACT, SAMPLES, Clients
from boundlab.objective import (
    Array,
    Constant,
    Floats,
    FullGradients,
    Optimum,
    Oracle,
    StepBounds,
)
from boundlab.objective.sought import SoughtMinimiser
from boundlab.problems import bounds, data as datasets, losses
from boundlab.problems.common import EPS, calm, clip_up, key_of
from boundlab.problems.losses import LOSSES, Loss, LossId, Targets
from boundlab.problems.minibatch import MiniBatch
from boundlab.problems.risk import Risk, largest_eigenvalue
from boundlab.randomness import Streams

if TYPE_CHECKING:
    import torch

    from boundlab.arithmetic.tensors import Batched

Weights = Literal["equal", "size", "paper"]
_EXACT = 100_000  # S·p entries in exact numbers
_CHUNK = 1024  # rows whose gradients are held at a time


@dataclass(frozen=True, eq=False)
class LinearModel(SoughtMinimiser):
    """f_i = w_i·f̂_i with f̂_i(x) = (1/s_i)·Σ_j loss(a_j, y_j; x) + ν/2‖x‖² over client i's samples.

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
        ``equal``: w_i = 1; ``size``: n·s_i/S; ``paper``: s_i/S.
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
    """

    id: LossId
    X: Array
    y: Targets
    sizes: NDArray[np.int64]
    nu: float
    weights: Weights
    batch: int
    replacement: bool
    x0: Array
    source: Mapping[str, Any] = field(default_factory=dict)
    multipliers: tuple[float, ...] = ()
    free: bool = False

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

    @property
    def loss(self) -> Loss:
        """Return the loss."""
        return LOSSES[self.id]

    @cached_property
    def classes(self) -> int:
        """Return the number of classes for softmax, else 1."""
        return int(self.y.max()) + 1 if self.id == "softmax" else 1

    @abstractmethod
    def _rounding(self, risk: Risk, x: Floats) -> tuple[float, float]:
        """Bound what rounding does to the value and to the gradient of f or of a client, in float64."""

    def scaled(self, factors: Sequence[Fraction]) -> Self:
        """Return the problem with factor_i·w_i in place of w_i."""
        return replace(self, multipliers=tuple(float(factor) for factor in factors))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Return each client's first row, shape (n,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    @cached_property
    def factors(self) -> Floats:
        """Return the weights w_i of the f̂_i, shape (n,)."""
        return np.array([float(weight) for weight in self.exact_weights()])

    def exact_weights(self) -> list[Fraction]:
        """Return the w_i without rounding."""
        total = int(self.sizes.sum())
        shares = [Fraction(size, total) for size in self.sizes.tolist()]
        own = {"equal": [Fraction(1)] * self.n, "size": [self.n * share for share in shares], "paper": shares}
        more = self.multipliers or (1.0,) * self.n
        return [weight * Fraction(factor) for weight, factor in zip(own[self.weights], more, strict=True)]

    @property
    def fits_exact_numbers(self) -> bool:
        """True if margins are float64, and the samples so few that more digits of them cost seconds."""
        return self.dtype is np.float64 and self.X.size <= _EXACT

    @cached_property
    def total(self) -> Risk:
        """Return f as one weighted risk."""
        omega = np.repeat(self.factors / (self.n * self.sizes), self.sizes)
        return Risk(self.loss, self.X, self.y, omega, self.nu * float(self.factors.mean()), *self._shape)

    def part(self, client: int) -> Risk:
        """Return f_client as a weighted risk."""
        rows, size, factor = self.rows(client), int(self.sizes[client]), float(self.factors[client])
        omega = np.full(size, factor / size)
        return Risk(self.loss, self.X[rows], self.y[rows], omega, self.nu * factor, *self._shape)

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
        each = losses.values(self.loss, self.X @ self.total.matrix(x), self.y)
        wide = np.asarray(x, dtype=np.float64)
        return float(self.total.omega @ each) + 0.5 * float((self.total.ridge * wide) @ wide)

    def client_value(self, client: int, x: Array) -> float:
        """Return f_client(x), unit (1, 0)."""
        return self.part(client).value(np.asarray(x, dtype=np.float64))

    def gradient(self, client: int, x: Array) -> Array:
        """Return a (sub)gradient of f_client, shape (d,), unit (1, −1); 0 is taken at a kink."""
        rows, factor = self.rows(client), float(self.factors[client])
        X = self.X[rows]
        slope = losses.slopes(self.loss, X @ self.total.matrix(x), self.y[rows])
        slope *= factor / len(X)
        out: Array = (X.T @ slope).reshape(-1)
        if self.nu:
            out += (factor * self.ridge) * x
        return out

    def client_key(self, client: int) -> bytes:
        """Return the samples, in their order, and the weight."""
        rows = self.rows(client)
        return key_of(self.X[rows], self.y[rows], self.factors[client : client + 1])

    def step_bounds(self, client: int) -> StepBounds:
        """Return the curvature of what may be drawn, and what margins, slopes and sums of rows round."""
        rows, factor, size = self.rows(client), float(self.factors[client]), int(self.sizes[client])
        longest, (bend, steep) = float(self._row_norms[rows].max()), self._of_margins(rows)
        L = factor * (bend * longest**2 + self.nu) if self.batch else float(self._smoothness[client])
        eps, count = float(np.finfo(self.X.dtype).eps), max(size, self.batch) + 2.0 * self.classes + 32.0
        margins = (count + self.X.shape[1]) * bend * longest**2
        return StepBounds(
            factor * self.curved,
            L * (1.0 + 8.0 * EPS),
            eps * factor * count * longest * steep,
            eps * factor * (margins + 4.0 * self.nu),
            kinks=not self.loss.smooth,
        )

    def _of_margins(self, rows: slice) -> tuple[float, float]:
        """Return the largest curvature of some rows' losses in their margins, 0 of pieces, and their largest slope.

        Of least squares, whose slopes are unbounded, that at the margin 0: curvature says how they grow.
        """
        steep = float(np.abs(self.y[rows]).max()) if self.id == "least-squares" else self.loss.slope
        return self.loss.curvature or 0.0, steep

    def full_gradient(self, x: Array) -> Floats:
        """Return a (sub)gradient of f, shape (d,), unit (1, −1), in float64 by one pass over the data."""
        return self.total.gradient(np.asarray(x, dtype=np.float64))

    def oracle(self, streams: Streams) -> Oracle:
        """Return the mini-batch oracle, or exact (sub)gradients where b is 0."""
        if self.batch == 0:
            return FullGradients(self)
        return MiniBatch(
            self.total, self.offsets, self.sizes, self.factors, self.ridge, self.batch, self.replacement, streams
        )

    def compiled(self) -> Clients:
        """Return the samples, with targets as columns."""
        y = np.asarray(self.y, dtype=self.X.dtype).reshape(len(self.X), -1)
        return Clients(
            SAMPLES,
            self.loss.number,
            0.0,
            self.X,
            y,
            self.offsets,
            np.asarray(self.sizes, dtype=np.int64),
            self.factors,
            np.broadcast_to(np.asarray(self.ridge, dtype=np.float64), self.d).copy(),
            self.classes,
            BATCHES if self.batch else EXACT,
        )

    def tensors(self, device: "torch.device", dtype: "torch.dtype") -> "Batched":
        """Return the problem on tensors."""
        from boundlab.problems.batched import BatchedRisk

        return BatchedRisk(
            self.total, self.sizes, self.factors, self.ridge, self.batch, self.replacement, device, dtype
        )

    @property
    def _what(self) -> str:
        return f"problem {self.id}"

    @cached_property
    def _smoothness(self) -> Floats:
        """L_i = w_i·(c·λ_max(A_iᵀA_i/s_i) + ν), shape (n,)."""
        curvature = (self.loss.curvature or 0.0) * self._top / self.sizes
        return self.factors * (curvature + self.nu) * (1.0 + 8.0 * EPS)

    @cached_property
    def _top(self) -> Floats:
        """λ_max(A_iᵀA_i), shape (n,)."""
        return np.array([largest_eigenvalue(self.X[self.rows(i)]) for i in range(self.n)])

    @cached_property
    def _row_norms(self) -> Floats:
        squares = np.einsum("sp,sp->s", self.X, self.X, dtype=np.float64)
        out: Floats = np.sqrt(squares) * (1.0 + (self.X.shape[1] + 4) * EPS)
        return out

    @cached_property
    def _share(self) -> Floats:
        """Variance of a mini-batch's mean, as a share of that of a single sample, shape (n,)."""
        if self.batch == 0:
            return np.zeros(self.n)
        if self.replacement:
            return np.full(self.n, 1.0 / self.batch)
        b = np.minimum(self.batch, self.sizes)
        out: Floats = (self.sizes - b) / (b * np.maximum(self.sizes - 1.0, 1.0))
        return out

    def rounding(self, x: Floats) -> tuple[float, float] | None:
        """Return how far rounding may put the value and the gradient off; None where margins are float32."""
        return self._rounding(self.total, x) if self.X.dtype == np.float64 else None

    def gradient_norms_at_optimum(self) -> Floats | None:
        """Return ‖∇f_i(x*)‖ from above, shape (n,), unit (1, −1); None where not smooth, or x* is not certified."""
        return self._gradient_norms if self.loss.smooth and self._best is not None else None

    @cached_property
    def _gradient_norms(self) -> Floats:
        best, up = self.optimum(), 1.0 + (self.d + 4) * EPS
        x = np.asarray(best.x, dtype=np.float64)
        parts = [self.part(client) for client in range(self.n)]
        norms = [float(np.linalg.norm(part.gradient(x))) * up + self._rounding(part, x)[1] for part in parts]
        return np.array(norms) + self._smoothness * (best.distance or 0.0)

    def _of_samples(self, best: Optimum | None) -> dict[str, Constant]:
        """Return L_max of smooth losses, and sigma_star where x* is certified."""
        curvature = self.loss.curvature or 0.0
        each = (curvature * self._row_norms**2 + self.nu) * np.repeat(self.factors, self.sizes)
        words = {0.25: "¼·", 0.5: "½·"}.get(curvature, "")
        out = {"L_max": Constant(clip_up(float(each.max()), 8), "upper", f"largest {words}‖a_j‖² + nu")}
        noise = math.inf if best is None or best.distance is None else self._noise_at(best)
        if math.isfinite(noise):
            out["sigma_star"] = Constant(noise, "upper", "the variance over rows at x*")
        return out

    def _noise_at(self, best: Optimum) -> float:
        """Return √(mean over clients of the variance of a mini-batch's gradient at x*), from above."""
        x, curvature, parts = np.asarray(best.x, dtype=np.float64), self.loss.curvature or 0.0, []
        for client in np.flatnonzero(self._share).tolist():
            rows, part = self.rows(client), self.part(client)
            X, norms = part.X.astype(np.float64, copy=False), self._row_norms[rows]
            slopes = losses.slopes(self.loss, X @ part.matrix(x), part.y).reshape(len(X), -1)
            # Its size is taken off, or squares might leave floats.
            top = float((np.abs(X).max(axis=1) * np.abs(slopes).max(axis=1)).max(initial=0.0)) or 1.0
            mean, square = X.T @ (slopes / (top * len(X))), 0.0
            for first in range(0, len(X), _CHUNK):
                some = slice(first, first + _CHUNK)
                away = X[some, :, None] * (slopes[some, None, :] / top) - mean
                square += float(np.einsum("jpc,jpc->", away, away))
            deviation = top * math.sqrt(square / len(X))
            # A row's gradient is Lipschitz in x; and products round, or leave floats below.
            steep, size = float(norms.max()), float(np.linalg.norm(x))
            terms = np.abs(part.y) if self.id == "least-squares" else 8.0 * self.loss.slope
            rounding = EPS * float((norms * (curvature * norms * size + terms)).max(initial=0.0))
            deviation += curvature * steep**2 * (best.distance or 0.0) + 8.0 * self.d * (rounding + sys.float_info.min)
            parts.append(math.sqrt(float(self._share[client]) / self.n) * float(self.factors[client]) * deviation)
        return clip_up(math.hypot(*parts), 8 + self.n)

    def _means(self, values: Floats) -> Floats:
        """Return the means of the clients' rows, shape (n,), of a number for each of all rows."""
        return np.add.reduceat(values, self.offsets) / self.sizes

    @cached_property
    def _same_samples(self) -> bool:
        """True if all clients have the same samples, equally often and in any order: then they have one f̂."""

        def counted(client: int) -> tuple[Floats, NDArray[np.int64]]:
            rows = self.rows(client)
            return np.unique(np.column_stack([self.X[rows], self.y[rows]]), axis=0, return_counts=True)

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
        for one in (self.X, self.y, self.sizes):
            digest.update(f"{one.dtype.str}{one.shape}".encode())
            digest.update(np.ascontiguousarray(one).data)
        return digest.hexdigest()

    @cached_property
    def _constants(self) -> dict[str, Constant]:
        _ = self._attempt  # which takes as many threads as it likes; then clients are looked at one by one
        with calm(int(self.sizes.max()) * self.X.shape[1]):
            return bounds.of_alike(self, self._find_constants())

    def spec(self) -> dict[str, Any]:
        """Return the options that rebuild this problem."""
        return {"type": self.id, **self.source}
