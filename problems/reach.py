"""Bounds on gradients and on their distance to the mean, from where each client's gradient can be.

sigma_g is sup_w max_i ‖∇f_i(w) − ∇f(w)‖, sigma_g_mean is sup_w √((1/n)Σ_i ‖∇f_i(w) − ∇f(w)‖²).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from boundlab.objective import Array
from boundlab.problems import losses
from boundlab.problems.common import EPS
from boundlab.problems.losses import Loss, Targets

if TYPE_CHECKING:
    from boundlab.objective.simple import BoundedSet

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Reach:
    """Where the gradients of n clients can be: in balls around centres, block by block and as a whole.

    For all w and each client i: ‖∇f_i(w) − c_i‖ ≤ r_i, and each of its m blocks of coordinates is within h_ik of
    that block of c_i. Blocks are single coordinates, or for softmax the classes' weights of one feature.

    Parameters
    ----------
    centre
        c, shape (n, m, block), unit (1, −1).
    half
        h, shape (n, m).
    radius
        r, shape (n,).
    norms
        Shape (n,): ‖∇f_i(w)‖ is at most this by other means.
    """

    centre: Floats
    half: Floats
    radius: Floats
    norms: Floats

    def gradient_norms(self) -> Floats:
        """Return bounds of ‖∇f_i(w)‖, shape (n,), unit (1, −1)."""
        blocks = np.linalg.norm(np.linalg.norm(self.centre, axis=2) + self.half, axis=1)
        whole = np.linalg.norm(self.centre, axis=(1, 2)) + self.radius
        out: Floats = np.minimum(np.minimum(blocks, whole), self.norms) * self._up
        return out

    def deviations(self) -> Floats:
        """Return bounds of ‖∇f_i(w) − ∇f(w)‖, shape (n,).

        ∇f_i − ∇f = (1 − 1/n)∇f_i − (1/n)Σ_{k≠i} ∇f_k, so radii add up with these weights.
        """
        away, slip = self._away()
        blocks = np.linalg.norm(np.linalg.norm(away, axis=2) + against_mean(self.half), axis=1)
        whole = np.linalg.norm(away, axis=(1, 2)) + against_mean(self.radius)
        out: Floats = np.minimum(np.minimum(blocks, whole) + slip, against_mean(self.gradient_norms())) * self._up
        return out

    def mean_deviation(self) -> float:
        """Return a bound of √((1/n)Σ_i ‖∇f_i(w) − ∇f(w)‖²), at most the largest of :meth:`deviations`.

        The left side is a seminorm of (∇f_1, …, ∇f_n) that is at most √((1/n)Σ_i ‖∇f_i‖²).
        """
        away, slip = self._away()
        radius = np.minimum(self.radius, np.linalg.norm(self.half, axis=1))
        split = root_mean_square(np.linalg.norm(away, axis=(1, 2))) + root_mean_square(radius) + slip
        return min(
            split * self._up, root_mean_square(self.deviations()), root_mean_square(self.gradient_norms()) * self._up
        )

    def _away(self) -> tuple[Floats, float]:
        """Return the centres minus their mean, and how far rounding moved each of these."""
        n = len(self.centre)
        if n == 1:
            return np.zeros_like(self.centre), 0.0
        slip = (n + 8) * EPS * float(np.linalg.norm(self.centre, axis=(1, 2)).max())
        return self.centre - self.centre.mean(axis=0), slip

    @property
    def _up(self) -> float:
        return 1.0 + 2.0 * (self.centre.size + 16) * EPS


def root_mean_square(values: Floats) -> float:
    """Return √(mean of squares), rounded up."""
    return float(np.sqrt((values**2).mean())) * (1.0 + (values.size + 8) * EPS)


def against_mean(sizes: Floats) -> Floats:
    """Return (1 − 1/n)·s_i + (1/n)Σ_{k≠i} s_k for sizes s ≥ 0, shape (n, …), rounded up; 0 for one client."""
    n = len(sizes)
    if n == 1:
        return np.zeros_like(sizes)
    mean = sizes.mean(axis=0)
    out: Floats = (1.0 - 2.0 / n) * sizes + mean
    return out * (1.0 + (n + 8) * EPS)


def of_risks(
    loss: Loss, X: Array, y: Targets, sizes: NDArray[np.int64], factors: Floats, classes: int, top: Floats
) -> Reach:
    """Return the reach of w_i·(1/s_i)Σ_j ∇loss_j, the gradients of empirical risks without regulariser.

    The derivative of a loss in its margins stays within rho of a middle m_j whatever the margins are, so with
    c_i = (w_i/s_i)Σ_j a_j⊗m_j the block of feature k stays within rho·(w_i/s_i)Σ_j |a_jk| of that of c_i, and the whole
    within rho·w_i·√(λ_max(A_iᵀA_i)/s_i). The middle halves what ‖a_j‖ times the largest slope would give.

    Parameters
    ----------
    X, y
        Shape (S, p) and (S,), sorted by client.
    sizes, factors
        Shape (n,): s_i and w_i.
    classes
        Length of a block.
    top
        Shape (n,): λ_max(A_iᵀA_i) from above.
    """
    n, p = len(sizes), int(X.shape[1])
    centre, half = np.zeros((n, p, classes)), np.zeros((n, p))
    norms = np.zeros(n)
    first = 0
    for i, size in enumerate(sizes.tolist()):
        rows = slice(first, first + size)
        wide = X[rows].astype(np.float64)
        middle, rho = losses.middles(loss, y[rows], classes)
        centre[i] = (factors[i] / size) * (wide.T @ middle)
        each = (factors[i] / size) * np.abs(wide).sum(axis=0) * (1.0 + (4 * size + 32) * EPS)
        half[i] = rho * each  # the allowance covers the rounding of the centre as well
        norms[i] = loss.slope * float(np.linalg.norm(each))
        first += size
    spectral = factors * np.sqrt(top / sizes) * (1.0 + 16.0 * EPS)
    radius = np.minimum(rho * spectral + float(2 * sizes.max() + 16) * EPS * norms, np.linalg.norm(half, axis=1))
    return Reach(centre, half, radius, np.minimum(norms, loss.slope * spectral))


def on_set(
    A: NDArray[np.float64],
    at: NDArray[np.float64],
    off: NDArray[np.float64],
    steepest: NDArray[np.float64],
    region: "BoundedSet",
) -> NDArray[np.float64]:
    """Return bounds of ‖at_i + A_i(x − z)‖ for the points x of a set with the centre z, shape (n,).

    By the triangle inequality, and entry by entry: |Σ_k A_jk(x_k − z_k)| ≤ Σ_k |A_jk|·half_k.

    Parameters
    ----------
    at, off
        Shape (n, d), and how far rounding has put each of its rows off, shape (n,).
    steepest
        Shape (n,): the spectral norms, from above.
    """
    room = 1.0 + (at.shape[1] + 8) * EPS
    whole = np.linalg.norm(at, axis=1) + steepest * region.radius
    each = np.linalg.norm(np.abs(at) + np.abs(A) @ region.half, axis=1)
    out: NDArray[np.float64] = (np.minimum(whole, each) + off) * room
    return out
