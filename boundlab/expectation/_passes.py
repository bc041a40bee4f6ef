"""What local steps of a quadratic do to first and second moments, relative to x*: x ← H x + c + noise."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.numbers import hashable

Array = NDArray[Any]
_KEPT = 1024  # passes that are remembered


@final
@dataclass(frozen=True, slots=True)
class Pass:
    """Local steps x ← H x + c + noise.

    Parameters
    ----------
    H, c
        Shapes (c, e, e) and (c, e).
    covariance
        Of the noise, shape (c, e, e), as far as it depends on nothing.
    depends
        The rest of it, shape (c, e, e, e + 1, e + 1): applied to the second moment of (1, x) at the start; or None.
    """

    H: Array
    c: Array
    covariance: Array
    depends: Array | None


@final
@dataclass(frozen=True, slots=True)
class Batches:
    """How the noise of a client's mini-batches depends on where they are drawn.

    Parameters
    ----------
    rows
        Shape (m, e): the a_j, scaled so that the gradient is their mean over j of a_j(a_jᵀx + residual_j).
    residuals
        Shape (m,): a_jᵀx* − y_j, scaled like them.
    share
        The covariance of a mini-batch's mean over that of one row.
    """

    rows: Array
    residuals: Array
    share: Any

    def tensor(self, one: Any) -> Array:
        """Return N, shape (e, e, e + 1, e + 1): gradients have covariance Σ_kl N[:, :, k, l]·(E (1, x)(1, x)ᵀ)_kl."""
        m = one * len(self.rows)
        both = np.concatenate([self.residuals[:, None], self.rows], axis=1)
        mean = self.rows.T @ both / m
        each = np.einsum("ji,jk,jl,jn->ikln", self.rows, self.rows, both, both) / m
        return np.asarray(self.share * (each - np.einsum("il,kn->ikln", mean, mean)))


@final
class Passes:
    """All passes of a problem.

    Parameters
    ----------
    A, g
        Hessians and the gradients at x*, shapes (c, n, e, e) and (c, n, e); floats, or objects of an exact arithmetic.
    covariance
        Shape (c, e, e): of the noise of each step.
    batches
        One a client where the noise is that of mini-batches; then c is 1.
    one
        1 in these numbers.
    """

    def __init__(self, A: Array, g: Array, covariance: Array, batches: tuple[Batches, ...], one: Any) -> None:
        self._A, self._g, self._covariance, self._one = A, g, covariance, one
        self._tensors = [batch.tensor(one) for batch in batches]
        e = A.shape[-1]
        self._eye = np.full((1, e, e), one - one, dtype=A.dtype)
        self._eye[:, range(e), range(e)] = one
        self._known: dict[Any, Pass] = {}

    @property
    def by_batches(self) -> bool:
        """Whether the noise depends on where it is drawn."""
        return len(self._tensors) > 0

    @property
    def nothing(self) -> Array:
        """Return 0, shape (c, e, e)."""
        return np.asarray(0 * self._covariance)

    def of(self, client: int, sizes: tuple[Any, ...]) -> Pass:
        """Return what the client's steps of these sizes do."""
        key = client, tuple(map(hashable, sizes))
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known = {}
            self._known[key] = self._pass(client, sizes)
        return self._known[key]

    def _pass(self, client: int, sizes: tuple[Any, ...]) -> Pass:
        A, g = self._A[:, client], self._g[:, client]
        H, c, V = self._eye + 0 * A, 0 * g, 0 * self._covariance
        tensor = self._tensors[client] if self._tensors else None
        depends = None if tensor is None else 0 * tensor
        for size in sizes:
            once = self._eye - size * A
            if tensor is not None and depends is not None:
                depends = _spread(once[0], tensor, depends, self._so_far(H[0], c[0]), size)
            V = once @ V @ once.swapaxes(1, 2) + (size * size) * self._covariance
            H, c = once @ H, (once @ c[..., None])[..., 0] - size * g
        return Pass(H, c, V, None if depends is None else depends[None])

    def _so_far(self, H: Array, c: Array) -> Array:
        """Return P with E (1, x now) = P (1, x at the start), shape (e + 1, e + 1)."""
        first = np.full((1, len(c) + 1), self._one - self._one, dtype=H.dtype)
        first[0, 0] = self._one
        return np.concatenate([first, np.concatenate([c[:, None], H], axis=1)])


def _spread(once: Array, tensor: Array, before: Array, P: Array, size: Any) -> Array:
    """Return the covariance after one more step, as a linear function of the second moment at the start of the pass."""
    fresh = np.einsum("ikuv,ul,vn->ikln", tensor, P, P) + np.einsum("ikuv,uvln->ikln", tensor[:, :, 1:, 1:], before)
    kept = np.einsum("iu,uvln,kv->ikln", once, before, once)
    return np.asarray(kept + (size * size) * fresh)
