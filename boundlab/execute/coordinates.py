"""A quadratic in coordinates that do not mix: where its matrices commute, moments take one number each."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundlab.objective import Problem

Floats = NDArray[np.float64]
_COMMUTES = 1e-12


@final
@dataclass(frozen=True, slots=True)
class Frame:
    """A quadratic in coordinates that do not mix, or in one block of all.

    Parameters
    ----------
    A
        Shape (c, n, e, e): c independent blocks of dimension e; c·e = d.
    b, x0, star
        The clients' minimisers, x0 and x*; shapes (c, n, e), (c, e), (c, e).
    noise
        Shape (c, e, e): the blocks of the covariance of the noise where its trace, E‖noise‖², is 1. Blocks may be
        correlated; what one block does, and what metrics see of it, depends on its own alone.
    """

    A: Floats
    b: Floats
    x0: Floats
    star: Floats
    noise: Floats

    @property
    def mean(self) -> Floats:
        """The Hessian of f, shape (c, e, e)."""
        out: Floats = self.A.mean(axis=1)
        return out

    def centred(self) -> "Frame":
        """Return the same relative to x*."""
        return replace(self, b=self.b - self.star[:, None], x0=self.x0 - self.star, star=np.zeros_like(self.star))


def frame(problem: Problem) -> Frame:
    """Return the quadratic by coordinates where its matrices commute.

    Raises
    ------
    AssumptionError
        If the problem gives no :meth:`boundlab.objective.Problem.quadratic`.
    """
    form = problem.require_quadratic("the moments")
    best, basis = np.asarray(problem.optimum().x, dtype=np.float64), _common_basis(form.A)
    x0, noise = np.asarray(problem.x0, dtype=np.float64), replace(form, sigma=1.0).covariance()
    if basis is None:
        return Frame(form.A[None], form.b[None], x0[None], best[None], noise[None])
    values = np.einsum("ji,njk,ki->ni", basis, form.A, basis)
    turned = [(points @ basis) for points in (form.b, x0, best)]
    each = (basis * (noise @ basis)).sum(axis=0)
    return Frame(
        values.T[:, :, None, None], turned[0].T[:, :, None], turned[1][:, None], turned[2][:, None],
        each[:, None, None],
    )  # fmt: skip


def _common_basis(A: Floats) -> Floats | None:
    """Return an orthogonal matrix that makes every A_i diagonal, or None if there is none."""
    d = A.shape[1]
    if not (A * (1.0 - np.eye(d))).any():
        return np.eye(d)
    # A generic combination has eigenspaces that split only where all A_i agree.
    weights = np.random.Generator(np.random.Philox(5)).random(len(A))
    _, basis = np.linalg.eigh(np.einsum("n,nde->de", weights, A))
    turned = basis.T @ A @ basis
    off = np.abs(turned * (1.0 - np.eye(d))).max()
    return np.asarray(basis) if off <= _COMMUTES * d * np.abs(A).max() else None
