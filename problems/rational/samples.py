"""Linear models in exact numbers: their losses, and least squares as a problem."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import EXACT, BallSteps, Numbers, Operations, Scalar, exact_array, flint, fractions
from boundlab.arithmetic.problem import (
    Constants,
    Minimum,
    OfClients,
    RationalLeastSquaresForm,
    RationalProblem,
    RationalQuadraticForm,
    Vector,
    batch_share,
    noise,
    number,
    root,
)
from boundlab.problems.clients import ClientFunctions, Which, inner
from boundlab.problems.losses import Loss, loss, scalar_slopes, scalar_values
from boundlab.problems.rational.arrays import farthest, smoothness


@final
class Samples(ClientFunctions):
    """f_i(x) = w_i·((1/s_i)·Σ_j v_j·loss(⟨a_j, x⟩, y_j) + ν/2·‖x‖²) over client i's rows; clients one at a time."""

    def __init__(
        self,
        loss: Loss,
        rows: Sequence[Any],
        targets: Sequence[Any],
        hefts: Sequence[Any] | None,
        weights: Any,
        nu: Any,
        by: Operations,
    ) -> None:
        self.loss, self.by, self.n, self._rows = loss, by, len(rows), rows
        self.targets, self.weights, [self.nu] = [by.array(one) for one in targets], by.array(weights), by.array([nu])
        self._hefts = [1] * self.n if hefts is None else [by.array(one) for one in hefts]
        self.held = max(map(len, rows)) * len(rows[0][0])

    @cached_property
    def rows(self) -> list[Numbers]:
        """Return the rows of each client, an array each."""
        return [self.by.array(one) for one in self._rows]

    @cached_property
    def _margins(self) -> list[Any]:
        return [self.by.linear(one) for one in self.rows]

    @cached_property
    def _back(self) -> list[Any]:
        return [self.by.linear(one.T) for one in self.rows]

    def gradient(self, which: Which, x: Numbers) -> Numbers:
        """Return w_i·((1/s_i)·Σ_j a_j·loss' + ν·x)."""
        slopes = scalar_slopes(self.loss, self._margins[which](x), self.targets[which], self.by)
        total = self._back[which](self._hefts[which] * slopes)
        return self.weights[which] * (total / len(self.targets[which]) + self.nu * x)

    def client_value(self, which: Which, x: Numbers) -> Numbers:
        """Return the mean loss, and the regulariser."""
        each = self._hefts[which] * scalar_values(self.loss, self._margins[which](x), self.targets[which], self.by)
        return self.weights[which] * (each.sum(-1) / len(self.targets[which]) + inner(self.nu * x, x) / 2)

    def _mean(self, of: Any, x: Numbers, axis: int) -> Numbers:
        return sum(of(client, x) for client in range(self.n)) / self.n


Array = NDArray[Any]


@final
@dataclass(frozen=True)
class RationalLeastSquares(OfClients, RationalProblem):
    """f_i(x) = w_i·((1/m_i)·Σ_j ½(a_jᵀx − y_j)² + ½ν‖x‖²), j over client i's rows; see the form for its parts."""

    form: RationalLeastSquaresForm
    x0: list[Fraction]

    @cached_property
    def clients(self) -> Samples:
        """Return the functions."""
        form = self.form
        return Samples(loss("least-squares"), form.rows, form.targets, None, form.weights, form.nu, EXACT)

    def least_squares(self) -> RationalLeastSquaresForm:
        """Return the rows, the targets, and how mini-batches are drawn."""
        return self.form

    def scaled(self, factors: Sequence[Fraction]) -> "RationalLeastSquares":
        """Return the problem with weights factor_i·w_i."""
        weights = [by * own for by, own in zip(factors, self.form.weights, strict=True)]
        return replace(self, form=replace(self.form, weights=weights))

    def descend(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return x − size·∇f_client(x), where balls enter only once."""
        return self._balls.step(client, x, size) if EXACT.ball(size) else super().descend(client, x, size)

    def prox(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return the proximal point, by the normal equations."""
        A, right = self._normal
        return np.asarray(EXACT.solve(exact_array(np.eye(self.d)) + size * A[client], x + size * right[client]))

    @cached_property
    def _balls(self) -> BallSteps:
        return BallSteps(*self._normal)

    @cached_property
    def _normal(self) -> tuple[Array, Array]:
        """The Hessians H_i, and (w_i/m_i)·A_iᵀy_i: gradients are H_i x minus that."""
        A, right, of = [], [], self.clients
        for rows, targets, weight in zip(of.rows, of.targets, of.weights, strict=True):
            share = weight / len(rows)
            A.append(share * (rows.T @ rows) + weight * of.nu * exact_array(np.eye(self.d)))
            right.append(share * (rows.T @ targets))
        return np.array(A), np.array(right)

    def quadratic(self) -> RationalQuadraticForm | None:
        """Return the Hessians and the minimisers next to 0; None with mini-batches."""
        if self.form.batch:
            return None
        A, right = self._normal
        origin = exact_array([0] * self.d)
        b = [_nearest(*one, origin) for one in zip(A, right, strict=True)]
        return RationalQuadraticForm(fractions(A), b, Fraction(0))

    @cached_property
    def _best(self) -> list[Fraction]:
        A, right = self._normal
        return _nearest(A.sum(0) / self.n, right.sum(0) / self.n, exact_array(self.x0))

    @cached_property
    def own_minimisers(self) -> list[list[Fraction]] | None:
        """The minimisers of the f_i; None where one of them has many."""
        try:
            return [fractions(EXACT.solve(A, right)) for A, right in zip(*self._normal, strict=True)]
        except ZeroDivisionError:  # a singular Hessian
            return None

    def minimum(self) -> Minimum:
        """Solve the normal equations; of many solutions that next to x0."""
        return self.at(self._best)

    def constants(self) -> Constants:
        """Return R, F0, L_max, sigma_star; sigma with full gradients; zeta where every client has one minimiser.

        L and mu where all Hessians are diagonal.
        """
        found = self.start_constants() | self._of_rows()
        if self.form.batch == 0:
            found |= noise(Fraction(0))
        own = self.own_minimisers
        if own is not None:
            found["zeta"] = farthest(self._best, own)
        hessians, _ = self._normal
        diagonal = fractions(np.einsum("ijj->ij", hessians).ravel())
        if (hessians != 0).sum() > sum(entry != 0 for entry in diagonal):
            return found
        found |= smoothness(max(diagonal))
        if min(diagonal) > 0:
            found["mu"] = number(min(diagonal))
        return found

    def _of_rows(self) -> Constants:
        """Return L_max, and sigma_star at x*."""
        of, best, steepest, total = self.clients, exact_array(self._best), list[Fraction](), Fraction(0)
        for rows, targets, weight in zip(of.rows, of.targets, of.weights, strict=True):
            m, norms, errors = len(rows), (rows * rows).sum(1), rows @ best - targets
            steepest += fractions(weight * (norms + of.nu))
            mean = errors @ rows / m
            spread = weight * weight * ((errors * errors * norms).sum() / m - mean @ mean)
            total += batch_share(self.form, m) * numbers.fraction(spread)
        return {"L_max": number(max(steepest)), "sigma_star": root(total / self.n)}


def _nearest(A: Array, right: Vector, x: Vector) -> list[Fraction]:
    """Return the solution of A z = right next to x, where A is symmetric and there is one.

    z = x + A u with A² u = right − A x: what is added lies in the range of A, and any such u gives the same.
    """
    d, square, rest = len(x), A @ A, right - A @ x
    reduced, rank = flint().fmpq_mat(np.concatenate([square, rest[:, None]], axis=1).tolist()).rref()
    u = exact_array([0] * d)
    for row in range(rank):
        pivot = next(column for column in range(d) if reduced[row, column] != 0)
        u[pivot] = reduced[row, d]
    return list(fractions(x + A @ u))
