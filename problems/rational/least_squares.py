"""Least squares in rational numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import final

from boundlab.arithmetic import numbers
from boundlab.arithmetic.linear import LinearSteps
from boundlab.arithmetic.numbers import Scalar, flint
from boundlab.arithmetic.problem import (
    Constants,
    Minimum,
    RationalLeastSquaresForm,
    RationalProblem,
    RationalQuadraticForm,
    Vector,
    batch_share,
    dot,
    noise,
    norm_square,
    number,
    root,
)
from boundlab.problems.rational.arrays import farthest, smoothness


@final
@dataclass(frozen=True)
class RationalLeastSquares(RationalProblem):
    """f_i(x) = w_i·((1/m_i)·Σ_j ½(a_jᵀx − y_j)² + ½ν‖x‖²), j over client i's rows; see the form for its parts."""

    form: RationalLeastSquaresForm
    x0: list[Fraction]

    @property
    def n(self) -> int:  # type: ignore[override]
        """Return the number of clients."""
        return len(self.form.rows)

    @cached_property
    def _rows(self) -> list[list[Vector]]:
        return numbers.rationals(self.form.rows)

    @cached_property
    def _targets(self) -> list[Vector]:
        return numbers.rationals(self.form.targets)

    @cached_property
    def _factors(self) -> list[tuple[Scalar, Scalar]]:
        """For each client w_i/m_i and w_i·ν."""
        pairs = zip(self.form.weights, self.form.rows, strict=True)
        nu = self.form.nu
        return [(numbers.rational(own / len(rows)), numbers.rational(own * nu)) for own, rows in pairs]

    def least_squares(self) -> RationalLeastSquaresForm:
        """Return the rows, the targets, and how mini-batches are drawn."""
        return self.form

    def scaled(self, factors: Sequence[Fraction]) -> "RationalLeastSquares":
        """Return the problem with weights factor_i·w_i."""
        weights = [by * own for by, own in zip(factors, self.form.weights, strict=True)]
        return replace(self, form=replace(self.form, weights=weights))

    def _errors(self, client: int, x: Vector) -> Vector:
        pairs = zip(self._rows[client], self._targets[client], strict=True)
        return [dot(row, x) - target for row, target in pairs]

    def gradient(self, client: int, x: Vector) -> Vector:
        """Return w_i·((1/m_i)·Σ_j a_j(a_jᵀx − y_j) + νx)."""
        each, nu = self._factors[client]
        errors = self._errors(client, x)
        columns = zip(*self._rows[client], strict=True)
        return [each * dot(column, errors) + nu * entry for column, entry in zip(columns, x, strict=True)]

    def descend(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Do one step as (I − size·H_i)x + size·(w_i/m_i)·A_iᵀy_i."""
        return self._steps.step(client, x, size)

    def prox(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return the proximal point, by the normal equations."""
        return self._steps.implicit_step(client, x, size)

    @cached_property
    def _steps(self) -> LinearSteps:
        return LinearSteps(self._normal)

    @cached_property
    def _normal(self) -> list[tuple[list[Vector], Vector]]:
        """For each client its Hessian H_i and (w_i/m_i)·A_iᵀy_i: its gradient is H_i x minus that."""
        out = []
        for client, (rows, targets) in enumerate(zip(self._rows, self._targets, strict=True)):
            each, nu = self._factors[client]
            columns = [list(column) for column in zip(*rows, strict=True)]
            A = [[each * dot(a, b) for b in columns] for a in columns]
            for j in range(self.d):
                A[j][j] = A[j][j] + nu
            out.append((A, [each * dot(column, targets) for column in columns]))
        return out

    def value(self, x: Vector) -> Scalar:
        """Return f(x)."""
        total, half = numbers.rational(0), numbers.rational(Fraction(1, 2 * self.n))
        square = dot(x, x)
        for client, (each, nu) in enumerate(self._factors):
            errors = self._errors(client, x)
            total = total + half * (each * dot(errors, errors) + nu * square)
        return total

    def quadratic(self) -> RationalQuadraticForm | None:
        """Return the Hessians and the minimisers next to 0; None with mini-batches."""
        if self.form.batch:
            return None
        A = [[[numbers.fraction(entry) for entry in row] for row in one] for one, _ in self._normal]
        origin = [numbers.rational(0)] * self.d
        return RationalQuadraticForm(A, [_nearest(one, right, origin) for one, right in self._normal], Fraction(0))

    @cached_property
    def _best(self) -> list[Fraction]:
        share = numbers.rational(Fraction(1, self.n))
        mean = [[share * sum(entries) for entries in zip(*rows, strict=True)] for rows in self._by_row]
        right = [share * sum(entries) for entries in zip(*(one for _, one in self._normal), strict=True)]
        return _nearest(mean, right, numbers.rationals(self.x0))

    @cached_property
    def own_minimisers(self) -> list[list[Fraction]] | None:
        """The minimisers of the f_i; None where one of them has many."""
        found = []
        for A, right in self._normal:
            try:
                x = flint().fmpq_mat(A).solve(flint().fmpq_mat([[entry] for entry in right]))
            except ZeroDivisionError:  # a singular Hessian
                return None
            found.append([numbers.fraction(x[j, 0]) for j in range(self.d)])
        return found

    @property
    def _by_row(self) -> list[list[Vector]]:
        return [[A[j] for A, _ in self._normal] for j in range(self.d)]

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
        hessians = [A for A, _ in self._normal]
        if any(A[j][k] != 0 for A in hessians for j in range(self.d) for k in range(self.d) if j != k):
            return found
        diagonal = [numbers.fraction(A[j][j]) for A in hessians for j in range(self.d)]
        found |= smoothness(max(diagonal))
        if min(diagonal) > 0:
            found["mu"] = number(min(diagonal))
        return found

    def _of_rows(self) -> Constants:
        """Return L_max, and sigma_star at x*."""
        form, total = self.form, Fraction(0)
        steepest = [
            own * (norm_square(a) + form.nu) for own, rows in zip(form.weights, form.rows, strict=True) for a in rows
        ]
        for own, rows, targets in zip(form.weights, form.rows, form.targets, strict=True):
            m = len(rows)
            errors = [dot(a, self._best) - y for a, y in zip(rows, targets, strict=True)]
            square = sum((error**2 * norm_square(a) for error, a in zip(errors, rows, strict=True)), Fraction(0)) / m
            mean = [
                sum(column, Fraction(0)) / m
                for column in zip(
                    *([error * one for one in a] for error, a in zip(errors, rows, strict=True)), strict=True
                )
            ]
            total += batch_share(form, m) * own**2 * (square - norm_square(mean))
        return {"L_max": number(max(steepest)), "sigma_star": root(total / self.n)}


def _nearest(A: list[Vector], right: Vector, x: Vector) -> list[Fraction]:
    """Return the solution of A z = right next to x, where A is symmetric and there is one.

    z = x + A u with A² u = right − A x: what is added lies in the range of A, and any such u gives the same.
    """
    d = len(x)
    rest = [b - dot(row, x) for row, b in zip(A, right, strict=True)]
    square = [[dot(a, b) for b in A] for a in A]
    table = flint().fmpq_mat([[*row, entry] for row, entry in zip(square, rest, strict=True)])
    reduced, rank = table.rref()
    u = [numbers.rational(0)] * d
    for row in range(rank):
        pivot = next(column for column in range(d) if reduced[row, column] != 0)
        u[pivot] = reduced[row, d]
    return [numbers.fraction(entry + dot(row, u)) for entry, row in zip(x, A, strict=True)]
