"""A weighted empirical risk Σ_j ω_j·loss(a_j, y_j; x) + ν/2‖x‖² in float64, and its two derivatives."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from boundlab.objective import Array, Floats
from boundlab.problems import losses
from boundlab.problems.common import EPS, calm
from boundlab.problems.losses import Loss, Targets

_CHUNK = 4096  # rows converted to float64 at a time
_BLOCK = 1 << 22  # entries of a temporary


@dataclass(frozen=True, slots=True)
class Risk:
    """A weighted empirical risk.

    Parameters
    ----------
    loss
        Which loss.
    X
        Shape (S, p).
    y
        Shape (S,).
    omega
        Shape (S,), not negative.
    nu
        Not negative.
    classes
        Number of classes for softmax, else 1; d = p·classes.
    free
        The last so many coordinates, those of an intercept, are not regularised.
    """

    loss: Loss
    X: Array
    y: Targets
    omega: Floats
    nu: float
    classes: int
    free: int = 0

    @property
    def ridge(self) -> Any:
        """Return ν of each coordinate, shape (d,), or of all of them."""
        return self.nu * (np.arange(self.d) < self.d - self.free) if self.free else self.nu

    @property
    def d(self) -> int:
        """Return the dimension of x."""
        return int(self.X.shape[1]) * self.classes

    def matrix(self, x: Array) -> Array:
        """Return x with the shape (p,) or (p, classes)."""
        return x if self.classes == 1 else x.reshape(self.X.shape[1], self.classes)

    def _chunks(self) -> Iterator[tuple[slice, Floats]]:
        if self.X.dtype == np.float64:
            yield slice(0, len(self.X)), self.X.astype(np.float64, copy=False)
            return
        for first in range(0, len(self.X), _CHUNK):
            part = slice(first, min(first + _CHUNK, len(self.X)))
            yield part, self.X[part].astype(np.float64)

    def value(self, x: Array) -> float:
        """Return the risk at x, shape (d,), unit (1, 0)."""
        total = 0.5 * float((self.ridge * x) @ x)
        for part, X in self._chunks():
            total += float(self.omega[part] @ losses.values(self.loss, X @ self.matrix(x), self.y[part]))
        return total

    def value_and_gradient(self, x: Array) -> tuple[float, Floats]:
        """Return the risk and a (sub)gradient, shape (d,)."""
        total = 0.5 * float((self.ridge * x) @ x)
        gradient: Floats = np.multiply(self.ridge, x, dtype=np.float64)
        for part, X in self._chunks():
            z = X @ self.matrix(x)
            total += float(self.omega[part] @ losses.values(self.loss, z, self.y[part]))
            gradient += (X.T @ self._scaled(losses.slopes(self.loss, z, self.y[part]), part)).ravel()
        return total, gradient

    def gradient(self, x: Array) -> Floats:
        """Return a (sub)gradient alone, shape (d,), in float64."""
        gradient: Floats = np.multiply(self.ridge, x, dtype=np.float64)
        for part, X in self._chunks():
            slopes = losses.slopes(self.loss, X @ self.matrix(x), self.y[part])
            gradient += (X.T @ self._scaled(slopes, part)).ravel()
        return gradient

    def _scaled(self, out: Array, part: slice) -> Array:
        out *= self.omega[part] if out.ndim == 1 else self.omega[part, None]
        return out

    def weights(self, x: Array) -> Array:
        """Return the losses' second-derivative weights at x, shape (S,) or (S, classes)."""
        parts = [losses.weights(self.loss, X @ self.matrix(x), self.y[part]) for part, X in self._chunks()]
        return np.concatenate(parts)

    def hessian_product(self, weight: Array, v: Array) -> Floats:
        """Return ∇²f·v, shape (d,), for the weights of a point."""
        out: Floats = np.multiply(self.ridge, v, dtype=np.float64)
        for part, X in self._chunks():
            turned = losses.curve(self.loss, weight[part], X @ self.matrix(v))
            out += (X.T @ self._scaled(turned, part)).ravel()
        return out

    def hessian(self, x: Array) -> Floats:
        """Return ∇²f(x), shape (d, d)."""
        p, q = self.X.shape[1], self.classes
        out = np.zeros((self.d, self.d))
        for part, X in self._chunks():
            weight = losses.weights(self.loss, X @ self.matrix(x), self.y[part])
            omega = self.omega[part]
            if q == 1:
                out += X.T @ (X * (omega * weight)[:, None])
                continue
            # Σ_j ω_j(diag(p_j) − p_j p_jᵀ)⊗a_j a_jᵀ in few large products: many small ones wait for threads.
            rows = max(1, _BLOCK // self.d)
            for first in range(0, len(X), rows):
                some = slice(first, first + rows)
                scaled = np.sqrt(omega[some])[:, None] * X[some]
                outer = (scaled[:, :, None] * weight[some][:, None, :]).reshape(len(scaled), self.d)
                out -= outer.T @ outer
            blocks = out.reshape(p, q, p, q)
            for k in range(q):
                blocks[:, k, :, k] += X.T @ (X * (omega * weight[:, k])[:, None])
        out[np.diag_indices(self.d)] += self.ridge
        return out

    def sizes(self, x: Array) -> tuple[Floats, Floats, Floats]:
        """Return ‖a_j‖, how far rounding moves margins at most, and how steep losses are there at most, each (S,)."""
        norms = np.concatenate([np.linalg.norm(X, axis=1) for _, X in self._chunks()])
        given = 0.0 if self.loss.signed or self.classes > 1 else np.abs(self.y)
        moved = (self.X.shape[1] + 16) * EPS * (norms * float(np.linalg.norm(x)) + given)
        if not self.loss.steep:
            return norms, moved, np.full(len(norms), self.loss.slope)
        slopes = [np.abs(losses.slopes(self.loss, X @ x, self.y[part])) for part, X in self._chunks()]
        return norms, moved, np.concatenate(slopes) + (self.loss.curvature or 0.0) * moved

    def value_rounding(self, x: Array) -> float:
        """Bound the rounding error of the computed value, unit (1, 0).

        The margins' errors act through the largest slope; the losses' own, such as those of logarithms and
        exponentials, are of order 1 however small the loss is.
        """
        norms, moved, steep = self.sizes(x)
        own = 0.0 if self.loss.bending is None else float(self.omega.sum()) * (2.0 * self.classes + 16.0)
        total = (len(norms) + 32.0) * abs(self.value(x)) + own + (self.d + 8.0) * self.nu * float(x @ x)
        return EPS * total + float(self.omega @ (steep * moved))

    def rounding(self, x: Array) -> float:
        """Bound the rounding error of the computed gradient's norm, unit (1, −1)."""
        norms, moved, steep = self.sizes(x)
        # An error of a margin moves the slope by the curvature.
        each = (len(norms) + 16.0) * EPS * steep + (self.loss.curvature or 0.0) * moved
        return float((self.omega * norms) @ each) + 8.0 * EPS * self.nu * float(np.linalg.norm(x))


def largest_eigenvalue(X: Array) -> float:
    """Return λ_max(XᵀX) from above, by the smaller of the two Gram matrices in float64."""
    from scipy.linalg import eigh

    wide = X.astype(np.float64)
    gram = wide @ wide.T if len(wide) < wide.shape[1] else wide.T @ wide
    k = len(gram)
    with calm(k * k):
        top = float(eigh(gram, eigvals_only=True, subset_by_index=[k - 1, k - 1], check_finite=False)[0])
    return top + _rounding(k, max(X.shape), float(np.trace(gram)))


def smallest_eigenvalue(gram: Floats, rows: int) -> float:
    """Return the smallest eigenvalue of a sum of outer products from below, at least 0.

    Parameters
    ----------
    gram
        Shape (k, k): XᵀX as floats give it.
    rows
        How many rows X has.
    """
    from scipy.linalg import eigh

    k = len(gram)
    if rows < k:
        return 0.0
    with calm(k * k):
        low = float(eigh(gram, eigvals_only=True, subset_by_index=[0, 0], check_finite=False)[0])
    return max(low - _rounding(k, rows, float(np.trace(gram))), 0.0)


def _rounding(k: int, rows: int, trace: float) -> float:
    """Bound the rounding of a k×k Gram matrix of so many rows and of its eigenvalues, both relative to the trace."""
    return 4.0 * float(k + rows) * EPS * trace
