"""h(x) = weight·‖x‖₁."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.compiled import L1 as L1_NORM
from boundlab.arithmetic.compiled import Clients
from boundlab.arithmetic.numbers import Scalar
from boundlab.errors import SpecError
from boundlab.objective.simple._simple import EPS, Array, Face, Floats, ProxFunction, Vector, clamp, written

if TYPE_CHECKING:
    import torch

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

    def values(self, X: Array) -> Floats:
        """Return weight·‖x‖₁ of each row, shape (S,)."""
        out: Floats = self._weight * np.abs(X, dtype=np.float64).sum(axis=1)
        return out

    def prox(self, x: Array, size: float) -> None:
        """Take off what lies within ±size·weight."""
        threshold = size * self._weight
        x -= np.clip(x, -threshold, threshold)

    def compiled(self, clients: Clients) -> Clients:
        """Return clients with this map."""
        return clients._replace(simple=L1_NORM, high=self._weight)

    def batched_values(self, X: "torch.Tensor") -> "torch.Tensor":
        """Return weight·‖x‖₁ of each row, shape (A,), float64."""
        return self._weight * X.double().abs().sum(dim=1)

    def batched_prox(self, X: "torch.Tensor", sizes: "torch.Tensor") -> None:
        """Soft thresholding in each row."""
        threshold = (sizes * self._weight).unsqueeze(1)
        X.sub_(X.clamp(min=-threshold, max=threshold))

    def exact_value(self, x: Vector) -> Scalar:
        """Return weight·‖x‖₁."""
        return numbers.rational(self.weight) * sum(map(_size, x[1:]), start=_size(x[0]))

    def exact_prox(self, x: Vector, size: Scalar) -> Vector:
        """Take off what lies within ±size·weight."""
        threshold = size * numbers.rational(self.weight)
        return [entry - clamp(entry, -threshold, threshold) for entry in x]

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

    def face(self, x: Floats) -> Face:
        """Keep zeros, and signs."""
        fixed = {j: Fraction(0) for j, entry in enumerate(x.tolist()) if entry == 0.0}
        return Face(fixed, [self.weight * int(np.sign(entry)) for entry in x.tolist()])

    def piece(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Keep zeros, and signs."""
        return np.where(x < 0.0, -np.inf, 0.0), np.where(x > 0.0, np.inf, 0.0), self._weight * np.sign(x)

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

    def holds_at(self, x: Sequence[Fraction], pull: Sequence[Fraction]) -> bool:
        """Return whether pull is ±weight where x is not 0, and within ±weight where it is."""
        return all(
            by == self.weight * (1 if at > 0 else -1) if at != 0 else abs(by) <= self.weight
            for at, by in zip(x, pull, strict=True)
        )

    def options(self) -> dict[str, Any]:
        """Return l1."""
        return {"l1": written(self.weight)}


def _size(x: Scalar) -> Scalar:
    return abs(x) if isinstance(x, numbers.flint().arb) else -x if numbers.sign(x) < 0 else x
