"""A quadratic in coordinates that do not mix: where its matrices are diagonal, moments take one number each."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundlab.objective import Problem

Floats = NDArray[np.float64]


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
    roots
        Shape (c, e, r): R with R·Rᵀ the noise, block by block.
    """

    A: Floats
    b: Floats
    x0: Floats
    star: Floats
    noise: Floats
    roots: Floats

    @property
    def mean(self) -> Floats:
        """The Hessian of f, shape (c, e, e)."""
        out: Floats = self.A.mean(axis=1)
        return out

    def centred(self) -> "Frame":
        """Return the same relative to x*."""
        return replace(self, b=self.b - self.star[:, None], x0=self.x0 - self.star, star=np.zeros_like(self.star))


def frame(problem: Problem) -> Frame:
    """Return the quadratic coordinate by coordinate where all its matrices are diagonal.

    No other basis is looked for: turning to one would round.

    Raises
    ------
    AssumptionError
        If the problem gives no :meth:`boundlab.objective.Problem.quadratic`.
    """
    form = problem.require_quadratic("the moments")
    best, x0 = (np.asarray(one, dtype=np.float64) for one in (problem.optimum().x, problem.x0))
    one = replace(form, sigma=1.0)
    noise, roots = one.covariance(), one.roots()
    if (form.A * (1.0 - np.eye(problem.d))).any():
        return Frame(form.A[None], form.b[None], x0[None], best[None], noise[None], roots[None])
    diagonal = np.diagonal(form.A, axis1=1, axis2=2)
    return Frame(
        diagonal.T[:, :, None, None],
        form.b.T[:, :, None],
        x0[:, None],
        best[:, None],
        np.diagonal(noise)[:, None, None],
        np.sqrt(np.diagonal(noise))[:, None, None],
    )
