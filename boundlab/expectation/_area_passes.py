"""M local steps of every client of AREA on quadratics, and how far floats are off, for its second moments."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundlab.execute.coordinates import Frame
from boundlab.expectation._passes import EPS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
UNDERFLOW: Final = 1e-290  # more than an event's products that are 0 in floats add up to


class AreaPass(NamedTuple):
    """M local steps: x ← H x + c + noise of covariance V.

    ``both`` is (H_i | c_i), shape (c, 1, n, e, e + 1), ``matrix`` the same, shape (c, n·e, e + 1), ``noise`` is V,
    shape (c, n, e, e), ``groups`` (Σ H_i | Σ c_i)ᵀ over each group, shape (c, e + 1, G·e). ``rounding`` is 8ρ.
    ``error``, four times shape (c, G), or four numbers where that is one, says what β² is in an answer:
    (error₀·β_s + error₁·β_1)² + error₂·E‖x_s‖² + error₃, as a weighted mean over each group.
    """

    both: Floats
    matrix: Floats
    noise: Floats
    groups: Floats
    rounding: float
    error: Any


class AreaPasses:
    """M local steps of every client for any step sizes, from the eigenvalues of the A_i.

    Parameters
    ----------
    variance
        E‖noise‖².
    p
        Sorted probabilities of the clients: those of one probability are a group.
    largest, constant
        The largest step size, and whether all are. Where passes of this size expand, each client is a group.

    Attributes
    ----------
    first
        The first client of each group.
    weights
        Shape (c, n): 1/ω, what β² of a client is multiplied by in the means over groups.
    """

    def __init__(self, where: Frame, M: int, variance: float, p: Floats, largest: float, *, constant: bool) -> None:
        self.where, self.M = where, M
        self.values, self.basis = np.linalg.eigh(where.A)
        self.noise = variance * self._times(self._times(self.basis.swapaxes(2, 3), where.noise[:, None]), self.basis)
        self._sizes = [_norms(one) for one in (where.A, where.b, variance * where.noise[:, None])]
        left = np.abs(1.0 - largest * self.values).max(axis=2)
        expands = left.max() > 1.0 + 1e-9
        self.first: Ints = np.flatnonzero(np.append(True, np.diff(p) > 0.0) | expands)
        self._clients = np.diff(self.first, append=len(p))
        norm = left**M if constant else np.ones_like(left)
        shape = norm + self._spread(norm) / 3.0 + 1e-12
        self.weights = self._spread(shape) / shape

    def mean(self, of_clients: Floats) -> Floats:
        """Return weighted means over groups, along the last axis."""
        return np.asarray(np.add.reduceat(of_clients * self.weights, self.first, axis=-1) / self._clients)

    def _spread(self, of_clients: Floats) -> Floats:
        """Return for each client the mean over its group."""
        return np.repeat(np.add.reduceat(of_clients, self.first, axis=1) / self._clients, self._clients, axis=1)

    def _times(self, a: Floats, b: Floats) -> Floats:
        """Return the products of blocks, which NumPy multiplies one by one."""
        return a * b if self.values.shape[-1] == 1 else a @ b

    def at(self, sizes: Floats) -> list[AreaPass]:
        """Return what M steps of each of these sizes do."""
        size = sizes[:, None, None, None]
        one = 1.0 - size * self.values
        # Powers and Σ_{l<M} (one_j·one_k)^l by the binary digits of M; for j = k from sums of like signs only.
        power, total = np.ones_like(one), np.zeros((*one.shape, one.shape[-1]))
        for digit in f"{self.M:b}":
            total, power = total + _square(power) * total, power**2
            if digit == "1":
                total, power = total + _square(power), power * one
        turned = self.basis.swapaxes(2, 3)
        H = self._times(self.basis * power[..., None, :], turned)
        c = self.where.b - self._times(H, self.where.b[..., None])[..., 0]
        V = size[..., None] ** 2 * self._times(self._times(self.basis, self.noise * total), turned)
        off = self._off(sizes[:, None])
        norm = np.abs(power).max(axis=3) + off[0][:, None]
        shift = np.sqrt(np.square(c).sum(axis=3)) * (1.0 + 1e-12) + off[1][:, None]
        both = np.concatenate([H, c[..., None]], axis=4)
        m, blocks, n, e, _ = H.shape
        matrix = both.reshape(m, blocks, n * e, e + 1)
        groups = np.add.reduceat(both, self.first, axis=2).transpose(0, 1, 4, 2, 3).reshape(m, blocks, e + 1, -1)
        rounding = (n + 2 * e + 24) * EPS + (off[0][:, None] / np.maximum(norm, 1.0)).max(axis=(1, 2))
        error: Any = self._error(rounding[:, None, None], off[:, :, None], norm, shift)
        error = error.reshape(m, 4).tolist() if blocks * len(self.first) == 1 else error
        parts = both[:, :, None], matrix, V, groups, (8.0 * rounding).tolist(), error
        return [AreaPass(*one) for one in zip(*parts, strict=True)]

    def _off(self, size: Floats) -> Floats:
        """Return how far H, c and V are off for sizes (m, 1), in Frobenius norms of a block, shape (3, m, n)."""
        # An eigensolver finds those of a matrix that is off by about d·EPS of its norm (LAPACK Users' Guide, 4.7), here
        # four times as much; a function of symmetric matrices is as Lipschitz as on the eigenvalues.
        (A, b, N), e, M = self._sizes, self.values.shape[-1], self.M
        growth = np.abs(1.0 - size[..., None, None] * self.values).max(axis=(1, 3))
        power = np.maximum(growth, 1.0) ** M * (1.0 + 1e-9)
        steep = M * EPS * (8.0 * e * abs(size) * A + 4.0 * (1.0 + abs(size) * A))
        H = power * (steep + 16.0 * EPS * e**1.5)
        c = b * (H + (e + 4) * EPS * (1.0 + power * e**0.5))
        V = size**2 * N * M * power**2 * (64.0 * EPS * e**1.5 + 4.0 * steep + 8.0 * M * EPS)
        return np.array([H, c, V])

    def _error(self, rounding: Floats, off: Floats, norm: Floats, shift: Floats) -> Floats:
        """Return ``AreaPass.error``, shape (m, 4, c, parts)."""
        e = self.values.shape[-1]
        of_x = 16.0 * rounding * np.square(e**0.5 * norm + off[0] / rounding)
        of_one = 24.0 * rounding * np.square(shift + off[1] / rounding) + off[2] + UNDERFLOW
        # m² is at most what floats find and (e + 1)β² more.
        each = np.stack([np.square(norm) + (e + 1) * of_x, np.square(shift), of_x, of_one], axis=1)
        mean = self.mean(each)
        mean[:, :2] = np.sqrt(mean[:, :2])
        return np.asarray(mean * (1.0 + 16.0 * rounding[:, None]))


def _norms(blocks: Floats) -> Floats:
    """Return for each client the largest Frobenius norm of a block, from above, shape (n,)."""
    each = np.square(blocks).sum(axis=tuple(range(2, blocks.ndim)))
    return np.asarray(np.sqrt(each).max(axis=0) * (1.0 + 1e-12))


def _square(a: Floats) -> Floats:
    """Return the products of the entries along the last axis, shape (…, e, e)."""
    out: Floats = a[..., :, None] * a[..., None, :]
    return out
