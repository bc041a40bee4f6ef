"""The indicator of a ball."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.compiled import BALL, Clients
from boundlab.arithmetic.numbers import FLOATS, Numbers, Operations, Scalar
from boundlab.errors import SpecError
from boundlab.objective.simple._simple import (
    EPS,
    Array,
    BoundedSet,
    Floats,
    SetIndicator,
    Vector,
    float_up,
    written,
)

_AT_THE_EDGE = 1e-9  # of the radius


@final
@dataclass(frozen=True)
class BallIndicator(SetIndicator):
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

    def __post_init__(self) -> None:
        if not self.radius > 0:
            raise SpecError(f"ball=radius needs a radius > 0, got {float(self.radius):g}")

    @property
    def words(self) -> str:  # type: ignore[override]
        """Description of h, for messages."""
        return f"the ball ‖x‖ ≤ {float(self.radius):g}"

    @cached_property
    def size(self) -> float:
        """The radius."""
        return float(self.radius)

    def prox(self, x: Numbers, size: Numbers, ops: Operations = FLOATS) -> Numbers:
        """Project."""
        return ops.project(x, ops.number(self.radius))

    def compiled(self, clients: Clients) -> Clients:
        """Return clients with this map."""
        return clients._replace(simple=BALL, high=self.size)

    def shortest(self, x: Floats, slope: Floats) -> tuple[Floats, float]:
        """On the sphere the normal cone takes off what points outside."""
        norm = float(np.linalg.norm(x))
        if norm < self.size * (1.0 - _AT_THE_EDGE):
            return slope, 0.0
        outward = x / norm
        away = abs(norm - self.size) + (len(x) + 8) * EPS * self.size
        return slope - min(float(slope @ outward), 0.0) * outward, away

    def duality_gap(self, x: Floats, slope: Floats, error: float, reach: float) -> float:
        """Return ⟨slope, x⟩ + radius·‖slope‖."""
        steep = float(np.linalg.norm(slope))
        rounding = (len(x) + 8) * EPS * steep * (self.size + float(np.linalg.norm(x)))
        return float(slope @ x) + self.size * steep + 2.0 * error * self.size * (1.0 + 1e-6) + rounding

    def support(self, A: Array) -> Floats:
        """Return radius·‖a‖."""
        norms = np.linalg.norm(np.asarray(A, dtype=np.float64), axis=1)
        out: Floats = self.size * norms * (1.0 + (A.shape[1] + 8) * EPS)
        return out

    def bounded_set(self, d: int) -> BoundedSet:
        """Return the ball around 0."""
        radius = float_up(self.radius)
        return BoundedSet(np.zeros(d), np.full(d, radius), radius)

    def holds_ball(self, x: Floats, radius: float) -> bool:
        """Return whether ‖x‖ + radius is at most that of the ball."""
        return (float(np.linalg.norm(x)) + radius) * (1.0 + (len(x) + 8) * EPS) <= self.size

    def lowest(self, slope: Vector, curvature: Scalar) -> Scalar:
        """Return −‖slope‖·z + curvature·z²/2 with z = min(radius, ‖slope‖/curvature)."""
        norm = (slope * slope).sum().upper().sqrt()  # the minimum falls as the norm grows
        z = numbers.ball(numbers.rational(self.radius))
        if curvature != 0:
            z = z.min(norm / curvature)
        return -norm * z + curvature * z * z / 2

    def options(self) -> dict[str, Any]:
        """Return ball."""
        return {"ball": written(self.radius)}
