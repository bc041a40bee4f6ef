"""Logistic losses in balls of any precision."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import Functions, Vector, dot
from boundlab.problems.rational.scalar import EXACT
from boundlab.problems.scalar import LogisticLoss

_LOSS = LogisticLoss()


@final
@dataclass(frozen=True)
class LogisticInBalls(Functions):
    """f_i(x) = w_i·(mean_j log(1 + exp(−y_j·a_jᵀx)) + nu/2·‖x‖²).

    Parameters
    ----------
    rows
        Shape (n, S_i, d): y_j·a_j of each client, floats.
    """

    rows: Sequence[Sequence[Sequence[float]]]
    weights: list[Fraction]
    nu: Fraction
    x0: list[Fraction]

    @property
    def n(self) -> int:  # type: ignore[override]
        """Return the number of clients."""
        return len(self.rows)

    @property
    def products(self) -> float:
        """Return those of the margins, of what they add up to, and about those of the exponentials."""
        return max(map(len, self.rows)) * (2.0 * self.d + 40.0)

    @cached_property
    def _matrices(self) -> list[Any]:
        return [numbers.flint().arb_mat([list(row) for row in rows]) for rows in self.rows]

    def _margins(self, client: int, x: Vector) -> Vector:
        column = numbers.flint().arb_mat([[numbers.ball(entry)] for entry in x])
        found: Vector = (self._matrices[client] * column).entries()
        return found

    def gradient(self, client: int, x: Vector) -> Vector:
        """Return w_i·(−mean_j y_j·a_j/(1 + exp(y_j·a_jᵀx)) + nu·x)."""
        slopes = numbers.flint().arb_mat([[_LOSS.slope(margin, EXACT) for margin in self._margins(client, x)]])
        share, nu = numbers.rational(self.weights[client]), numbers.rational(self.nu)
        mean = (slopes * self._matrices[client]).entries()
        return [share * (nu * entry + part / len(self.rows[client])) for entry, part in zip(x, mean, strict=True)]

    def value(self, x: Vector) -> Scalar:
        """Return f(x)."""
        total, bend = numbers.rational(0), numbers.rational(self.nu / 2) * dot(x, x)
        for client, weight in enumerate(self.weights):
            losses = [_LOSS.value(margin, EXACT) for margin in self._margins(client, x)]
            mean = sum(losses[1:], start=losses[0]) / len(losses)
            total = total + numbers.rational(weight / self.n) * (mean + bend)
        return total
