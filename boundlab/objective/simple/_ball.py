"""The indicator of a ball."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.compiled import BALL, Clients
from boundlab.arithmetic.numbers import Scalar
from boundlab.errors import SpecError
from boundlab.objective.simple._simple import (
    EPS,
    Array,
    BoundedSet,
    Floats,
    ProxFunction,
    Vector,
    clamp,
    float_up,
    room,
    written,
)

if TYPE_CHECKING:
    import torch

_AT_THE_EDGE = 1e-9  # of the radius


@final
@dataclass(frozen=True)
class BallIndicator(ProxFunction):
    """The indicator of ‖x‖ ≤ radius; its proximal map is the projection.

    Parameters
    ----------
    radius
        Positive, unit (0, 1).

    Raises
    ------
    SpecError
        If the radius is not positive.
    """

    radius: Fraction
    bounded = True

    def __post_init__(self) -> None:
        if not self.radius > 0:
            raise SpecError(f"ball=radius needs a radius > 0, got {float(self.radius):g}")

    @property
    def words(self) -> str:  # type: ignore[override]
        """Description of h, for messages."""
        return f"the ball ‖x‖ ≤ {float(self.radius):g}"

    @cached_property
    def _radius(self) -> float:
        return float(self.radius)

    def values(self, X: Array) -> Floats:
        """Return 0 inside and infinity outside, shape (S,)."""
        outside = np.linalg.norm(X, axis=1) - self._radius
        return np.where(outside <= room(X.dtype, self._radius), 0.0, np.inf)

    def prox(self, x: Array, size: float) -> None:
        """Project."""
        norm = float(np.linalg.norm(x))
        if norm > self._radius:
            x *= self._radius / norm

    def compiled(self, clients: Clients) -> Clients:
        """Return clients with this map."""
        return clients._replace(simple=BALL, high=self._radius)

    def batched_values(self, X: "torch.Tensor") -> "torch.Tensor":
        """Return 0 inside and infinity outside, shape (A,), float64."""
        outside = _norms(X).double() - self._radius
        inside = outside <= room(np.dtype(str(X.dtype).removeprefix("torch.")), self._radius)
        return outside.new_full(outside.shape, np.inf).masked_fill(inside, 0.0)

    def batched_prox(self, X: "torch.Tensor", sizes: "torch.Tensor") -> None:
        """Project each row."""
        X.mul_((self._radius / _norms(X)).clamp(max=1.0).unsqueeze(1))

    def exact_value(self, x: Vector) -> Scalar:
        """Return 0.

        Raises
        ------
        SpecError
            If x lies outside for certain.
        """
        square, limit = _square(x), numbers.rational(self.radius**2)
        if numbers.ball(square) > numbers.ball(limit):
            raise SpecError(f"an iterate lies outside {self.words}, where F is infinite")
        return x[0] - x[0]

    def exact_prox(self, x: Vector, size: Scalar) -> Vector:
        """Project: balls with their own roots; rational numbers where x is inside, or one number.

        Raises
        ------
        SpecError
            If the norm has no rational value.
        """
        square, limit, radius = _square(x), numbers.rational(self.radius**2), numbers.rational(self.radius)
        if len(x) == 1:
            return [clamp(x[0], -radius, radius)]
        if isinstance(square, numbers.flint().arb):
            factor = numbers.ball(radius) / square.max(numbers.ball(limit)).sqrt()
            return [factor * entry for entry in x]
        if numbers.sign(square - limit) <= 0:
            return x
        from boundlab.arithmetic.problem import InexactError

        raise InexactError(f"the projection onto {self.words} takes roots")

    def shortest(self, x: Floats, slope: Floats) -> tuple[Floats, float]:
        """On the sphere the normal cone takes off what points outside."""
        norm = float(np.linalg.norm(x))
        if norm < self._radius * (1.0 - _AT_THE_EDGE):
            return slope, 0.0
        outward = x / norm
        away = abs(norm - self._radius) + (len(x) + 8) * EPS * self._radius
        return slope - min(float(slope @ outward), 0.0) * outward, away

    def duality_gap(self, x: Floats, slope: Floats, error: float, reach: float) -> float:
        """Return ⟨slope, x⟩ + radius·‖slope‖."""
        steep = float(np.linalg.norm(slope))
        rounding = (len(x) + 8) * EPS * steep * (self._radius + float(np.linalg.norm(x)))
        return float(slope @ x) + self._radius * steep + 2.0 * error * self._radius * (1.0 + 1e-6) + rounding

    def support(self, A: Array) -> Floats:
        """Return radius·‖a‖."""
        norms = np.linalg.norm(np.asarray(A, dtype=np.float64), axis=1)
        out: Floats = self._radius * norms * (1.0 + (A.shape[1] + 8) * EPS)
        return out

    def bounded_set(self, d: int) -> BoundedSet:
        """Return the ball around 0."""
        radius = float_up(self.radius)
        return BoundedSet(np.zeros(d), np.full(d, radius), radius)

    def holds_ball(self, x: Floats, radius: float) -> bool:
        """Return whether ‖x‖ + radius is at most that of the ball."""
        return (float(np.linalg.norm(x)) + radius) * (1.0 + (len(x) + 8) * EPS) <= self._radius

    def lowest(self, slope: Vector, curvature: Scalar) -> Scalar:
        """Return −‖slope‖·z + curvature·z²/2 with z = min(radius, ‖slope‖/curvature)."""
        norm = _square(slope).upper().sqrt()  # the minimum falls as the norm grows
        z = numbers.ball(numbers.rational(self.radius))
        if curvature != 0:
            z = z.min(norm / curvature)
        return -norm * z + curvature * z * z / 2

    def holds_at(self, x: Sequence[Fraction], pull: Sequence[Fraction]) -> bool:
        """Return whether x is inside and nothing pulls; whatever pulls on the sphere has roots."""
        return sum(entry**2 for entry in x) <= self.radius**2 and not any(pull)

    def options(self) -> dict[str, Any]:
        """Return ball."""
        return {"ball": written(self.radius)}


def _norms(X: "torch.Tensor") -> "torch.Tensor":
    return (X * X).sum(dim=1).sqrt()


def _square(x: Vector) -> Scalar:
    return sum((entry * entry for entry in x[1:]), start=x[0] * x[0])
