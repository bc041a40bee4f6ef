"""Indicators of bounded sets: of a box, and of a ball."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.compiled import BALL, BOX, Clients
from boundlab.arithmetic.numbers import FLOATS, Numbers, Operations, Scalar
from boundlab.errors import SpecError
from boundlab.objective._constants import EPS, Array, Floats
from boundlab.objective.simple._simple import BoundedSet, ProxFunction, Vector, float_up, written

_AT_THE_EDGE = 1e-9  # of the radius


class SetIndicator(ProxFunction):
    """The indicator of a bounded set: 0 there, infinite elsewhere; its proximal map is the projection."""

    bounded = True

    @property
    @abstractmethod
    def size(self) -> float:
        """The largest coordinate of a point of the set."""

    def values(self, X: Numbers, ops: Operations = FLOATS) -> Numbers:
        """Return 0 inside, and as far outside as rounding alone puts means; infinity beyond."""
        away = X - self.prox(X * 1, 0, ops)
        return ops.zero_at((away * away).sum(-1), self.size)


@final
@dataclass(frozen=True)
class BoxIndicator(SetIndicator):
    """The indicator of low ≤ x_j ≤ high for every coordinate; its proximal map is the projection.

    Parameters
    ----------
    low, high
        Unit (0, 1).

    Raises
    ------
    SpecError
        If low is not below high.
    """

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise SpecError(f"box=[low,high] needs low < high, got [{float(self.low):g},{float(self.high):g}]")

    @property
    def words(self) -> str:  # type: ignore[override]
        """Description of h, for messages."""
        return f"the box {float(self.low):g} ≤ x_j ≤ {float(self.high):g}"

    @cached_property
    def _ends(self) -> tuple[float, float]:
        return float(self.low), float(self.high)

    @cached_property
    def size(self) -> float:
        """The larger end."""
        return max(map(abs, self._ends))

    def prox(self, x: Numbers, size: Numbers, ops: Operations = FLOATS) -> Numbers:
        """Project."""
        return ops.clip(x, ops.number(self.low), ops.number(self.high))

    def compiled(self, clients: Clients) -> Clients:
        """Return clients with this map."""
        return clients._replace(simple=BOX, low=self._ends[0], high=self._ends[1])

    def shortest(self, x: Floats, slope: Floats) -> tuple[Floats, float]:
        """At an end the normal cone takes off what points outside."""
        low, high = self._ends
        out = np.where(x >= high, np.maximum(slope, 0.0), slope)
        return np.where(x <= low, np.minimum(slope, 0.0), out), 0.0

    def duality_gap(self, x: Floats, slope: Floats, error: float, reach: float) -> float:
        """Return Σ_j max over y_j of slope_j·(x_j − y_j): it is attained at an end."""
        low, high = self._ends
        each = np.maximum(slope * (x - low), slope * (x - high))
        rounding = (len(x) + 8) * EPS * float((np.abs(slope) * (np.abs(x) + self.size)).sum())
        return float(each.sum()) + error * float(np.sqrt(len(x))) * (high - low) * (1.0 + 8.0 * EPS) + rounding

    def support(self, A: Array) -> Floats:
        """Return Σ_j max(low·a_j, high·a_j): it is attained at a corner."""
        low, high = self._ends
        wide = np.asarray(A, dtype=np.float64)
        most = np.maximum(low * wide, high * wide).sum(axis=1)
        out: Floats = most + (A.shape[1] + 8) * EPS * self.size * np.abs(wide).sum(axis=1)
        return out

    def bounded_set(self, d: int) -> BoundedSet:
        """Return the box around its middle."""
        low, high = -float_up(-self.low), float_up(self.high)
        middle = float((self.low + self.high) / 2)
        half = float_up(max(Fraction(high) - Fraction(middle), Fraction(middle) - Fraction(low)))
        radius = half if d == 1 else half * float(np.sqrt(d)) * (1.0 + 4.0 * EPS)
        return BoundedSet(np.full(d, middle), np.full(d, half), radius)

    def holds_ball(self, x: Floats, radius: float) -> bool:
        """Return whether every coordinate is that far from both ends."""
        low, high = self._ends
        room = radius + 8.0 * EPS * (np.abs(x) + self.size)
        return bool(((x - room >= low) & (x + room <= high)).all())

    def sharpness(self, x: Floats, slope: Floats) -> float:
        """Return the smallest push outside at a corner."""
        low, high = self._ends
        push = np.where(x <= low, slope, np.where(x >= high, -slope, 0.0))
        return max(float(push.min()), 0.0)

    def piece(self, x: Floats, ops: Operations = FLOATS) -> tuple[Numbers, Numbers, Numbers]:
        """Keep ends ends."""
        (low, high), (least, most) = map(ops.number, (self.low, self.high)), self._ends
        return np.where(x >= most, high, low), np.where(x <= least, low, high), ops.array(np.zeros(len(x)))

    def lowest(self, slope: Vector, curvature: Scalar) -> Scalar:
        """Return the sum over coordinates, each with its minimiser at an end or where slope_j + curvature·y_j = 0."""
        low, high = (numbers.ball(numbers.rational(end)) for end in (self.low, self.high))
        total = numbers.ball(0)
        for entry in slope:
            if curvature == 0:
                total += (entry * low).min(entry * high)
            else:
                y = (-entry / curvature).max(low).min(high)
                total += entry * y + curvature * y * y / 2
        return total

    def options(self) -> dict[str, Any]:
        """Return box."""
        return {"box": [written(self.low), written(self.high)]}


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
