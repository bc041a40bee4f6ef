"""Losses of linear models in exact numbers."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

from boundlab.arithmetic.numbers import Numbers, Operations
from boundlab.problems.clients import ClientFunctions, Which, inner
from boundlab.problems.losses import Loss, scalar_slopes, scalar_values


@final
class Samples(ClientFunctions):
    """f_i(x) = w_i·((1/s_i)·Σ_j loss(⟨a_j, x⟩, y_j) + ν/2·‖x‖²) over client i's rows; clients one at a time."""

    def __init__(
        self, loss: Loss, rows: Sequence[Any], targets: Sequence[Any], weights: Any, nu: Any, by: Operations
    ) -> None:
        self.loss, self.by, self.n, self._rows = loss, by, len(rows), rows
        self.targets, self.weights, [self.nu] = [by.array(one) for one in targets], by.array(weights), by.array([nu])
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
        return self.weights[which] * (self._back[which](slopes) / len(self.targets[which]) + self.nu * x)

    def client_value(self, which: Which, x: Numbers) -> Numbers:
        """Return the mean loss, and the regulariser."""
        each = scalar_values(self.loss, self._margins[which](x), self.targets[which], self.by)
        return self.weights[which] * (each.sum(-1) / len(self.targets[which]) + inner(self.nu * x, x) / 2)

    def _mean(self, of: Any, x: Numbers, axis: int) -> Numbers:
        return sum(of(client, x) for client in range(self.n)) / self.n
