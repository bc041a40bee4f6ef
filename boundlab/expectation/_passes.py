"""Action of local steps of a quadratic on first and second moments, relative to x*: x ← H x + c + noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.numbers import hashable

Array = NDArray[Any]
EPS: Final = float(np.finfo(np.float64).eps)
_KEPT = 1024  # passes that are remembered


def norm(x: Array) -> float:
    """Return the largest Frobenius norm of a block of floats, from above."""
    return float(np.sqrt(np.square(x).reshape(len(x), -1).sum(axis=1).max(initial=0.0))) * (1.0 + 1e-12)


@final
@dataclass(frozen=True, slots=True)
class Off:
    """How far what floats give is at most from what it stands for, in Frobenius norms of a block.

    Parameters
    ----------
    H, c, covariance, depends
        As those of a pass: of the Hessian, the gradient at x*, the covariance and the tensor of one step, or of all.
    """

    H: float = 0.0
    c: float = 0.0
    covariance: float = 0.0
    depends: float = 0.0


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
    off
        How far floats are off.
    """

    H: Array
    c: Array
    covariance: Array
    depends: Array | None
    off: Off


@final
@dataclass(frozen=True, slots=True)
class MinibatchNoise:
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
    off
        Of floats: how far those of each client are off.
    """

    def __init__(
        self,
        A: Array,
        g: Array,
        covariance: Array,
        batches: tuple[MinibatchNoise, ...],
        one: Any,
        off: Sequence[Off] = (),
    ) -> None:
        self._A, self._g, self._covariance, self._one, self._off = A, g, covariance, one, off
        self._tensors = [batch.tensor(one) for batch in batches]
        e = A.shape[-1]
        self._eye = np.full((1, e, e), one - one, dtype=A.dtype)
        self._eye[:, range(e), range(e)] = one
        self._known: dict[Any, Pass] = {}

    @property
    def by_batches(self) -> bool:
        """True if the noise depends on where it is drawn."""
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
        depends, off, growth = None if tensor is None else 0 * tensor, Off(), 0.0
        for place, size in enumerate(sizes):
            once = self._eye - size * A
            if self._off:
                if place == 0 or size != sizes[place - 1]:
                    growth = float(np.linalg.norm(once, 2, axis=(1, 2)).max()) * (1.0 + 1e-9)
                off = self._after(off, client, size, growth, (once, H, c, V, depends))
            if tensor is not None and depends is not None:
                depends = _spread(once[0], tensor, depends, self._so_far(H[0], c[0]), size)
            V = once @ V @ once.swapaxes(1, 2) + (size * size) * self._covariance
            H, c = once @ H, (once @ c[..., None])[..., 0] - size * g
        return Pass(H, c, V, None if depends is None else depends[None], off)

    def _after(self, off: Off, client: int, size: float, growth: float, before: tuple[Any, ...]) -> Off:
        """Return how far floats are off after one more step, from what the step is and what was before it.

        Parameters
        ----------
        growth
            The spectral norm of the step.
        """
        wrong, e, a = self._off[client], self._A.shape[-1], norm(self._A[:, client])
        once, H, c, V = map(norm, before[:4])
        D, N = (norm(before[4][None]), norm(self._tensors[client][None])) if self._tensors else (0.0, 0.0)
        noise = size * size * norm(self._covariance)
        step = EPS * (np.sqrt(e) + 3.0 * abs(size) * a) + abs(size) * wrong.H
        g, P, ends = growth + step, H + c + 1.0, off.H + off.c
        new = Off(
            g * off.H + step * H + (e + 1) * EPS * once * H,
            g * off.c
            + step * c
            + (e + 3) * EPS * once * c
            + abs(size) * (wrong.c + 2.0 * EPS * norm(self._g[:, client])),
            g * g * off.covariance
            + 2.0 * step * g * V
            + (2 * e + 4) * EPS * once * once * V
            + size * size * wrong.covariance
            + 4.0 * EPS * noise,
            g * g * off.depends
            + 2.0 * step * g * D
            + (2 * e * e + 9) * EPS * once * once * D
            + size
            * size
            * (
                N * (2.0 * P * ends + ends * ends + off.depends)
                + wrong.depends * (P * P + D)
                + (2 * e * e + 12) * EPS * N * (P * P + D)
            ),
        )
        return Off(*(part * (1.0 + 1e-9) for part in (new.H, new.c, new.covariance, new.depends)))

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
