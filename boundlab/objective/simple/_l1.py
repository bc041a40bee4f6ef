"""h(x) = weight·‖x‖₁."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.compiled import L1 as L1_NORM, Clients
from boundlab.arithmetic.numbers import FLOATS, Numbers, Operations, Scalar
from boundlab.errors import SpecError
from boundlab.objective._constants import EPS, Floats
from boundlab.objective.simple._simple import ProxFunction, Vector, written

_NEAR = 64


@final
@dataclass(frozen=True)
class L1(ProxFunction):
    """h(x) = weight·‖x‖₁; its proximal map is soft thresholding by size·weight.

    Parameters
    ----------
    weight
        Positive, unit (1, −1).

    Raises
    ------
    SpecError
        If the weight is not positive.
    """

    weight: Fraction
    bounded = False

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise SpecError(f"l1 must be > 0, got {float(self.weight):g}; leave it out for f alone")

    @property
    def words(self) -> str:  # type: ignore[override]
        """Description of h, for messages."""
        return f"the penalty {float(self.weight):g}·‖x‖₁"

    @cached_property
    def _weight(self) -> float:
        return float(self.weight)

    def values(self, X: Numbers, ops: Operations = FLOATS) -> Numbers:
        """Return weight·‖x‖₁."""
        return ops.number(self.weight) * ops.absolute(X).sum(-1, dtype=ops.wide)

    def prox(self, x: Numbers, size: Numbers, ops: Operations = FLOATS) -> Numbers:
        """Take off what lies within ±size·weight."""
        return ops.shrink(x, size * ops.number(self.weight))

    def compiled(self, clients: Clients) -> Clients:
        """Return clients with this map."""
        return clients._replace(simple=L1_NORM, high=self._weight)

    def shortest(self, x: Floats, slope: Floats) -> tuple[Floats, float]:
        """At 0 a subgradient takes off what lies within ±weight; elsewhere it is ±weight."""
        at_zero = slope - np.clip(slope, -self._weight, self._weight)
        return np.where(x != 0.0, slope + self._weight * np.sign(x), at_zero), 0.0

    def duality_gap(self, x: Floats, slope: Floats, error: float, reach: float) -> float:
        """Return h(x) + ⟨slope, x⟩ + (‖slope‖∞ − weight)₊·reach/weight: h(y) ≤ reach bounds ‖y‖₁."""
        size, farthest = float(np.abs(x).sum()), reach / self._weight
        beyond = max(float(np.abs(slope).max()) + error - self._weight, 0.0)
        rounding = (len(x) + 8) * EPS * (self._weight * size + float(np.abs(slope) @ np.abs(x)) + beyond * farthest)
        return self._weight * size + float(slope @ x) + error * size + beyond * farthest + rounding

    def rate(self, d: int) -> float:
        """Return weight·√d."""
        return self._weight * float(np.sqrt(d)) * (1.0 + 4.0 * EPS)

    def sharpness(self, x: Floats, slope: Floats) -> float:
        """Return what the weight exceeds the slopes by, at 0."""
        return 0.0 if x.any() else max(self._weight - float(np.abs(slope).max()), 0.0)

    def piece(self, x: Floats, ops: Operations = FLOATS) -> tuple[Numbers, Numbers, Numbers]:
        """Keep zeros, and signs."""
        zero = ops.array(np.zeros(len(x)))
        low, high = np.where(x < 0.0, -np.inf, zero), np.where(x > 0.0, np.inf, zero)
        return low, high, ops.number(self.weight) * ops.array(np.sign(x))

    def lowest(self, slope: Vector, curvature: Scalar) -> Scalar:
        """Return −Σ_j (|slope_j| − weight)₊²/(2·curvature)."""
        weight = numbers.ball(numbers.rational(self.weight))
        if curvature == 0:
            inside = all(abs(entry) <= weight for entry in slope)
            return numbers.ball(0) if inside else numbers.flint().arb("-inf")
        beyond = [(abs(entry) - weight).max(numbers.ball(0)) for entry in slope]
        return -sum((entry * entry for entry in beyond), start=numbers.ball(0)) / (2 * curvature)

    def shrink(self, slope: Vector) -> Scalar:
        """Return weight/‖slope‖∞ or 1, from below."""
        arb, weight = numbers.flint().arb, numbers.ball(numbers.rational(self.weight))
        largest = max(abs(entry).upper() for entry in slope)
        # The last factor is far from 1 for balls, and 1 for floats.
        return arb(1) if largest <= weight else (weight / largest).lower() * (1 - arb(2) ** -_NEAR)

    def options(self) -> dict[str, Any]:
        """Return l1."""
        return {"l1": written(self.weight)}
