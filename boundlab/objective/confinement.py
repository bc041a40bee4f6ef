"""Confinement of local steps, whatever is drawn: sets that no step leaves, and how far a step can go.

A problem that has such facts gives them as :class:`InvariantSets`; ranges of errors are made of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from boundlab.arithmetic.near import NEAR, Near, norm
from boundlab.randomness import Floats


class InvariantSet(ABC):
    """A convex set of points, shape (d,) each, unit (0, 1)."""

    how: str

    @abstractmethod
    def farthest(self, z: Floats) -> float:
        """Return the largest distance of a point of the set to z, from above."""

    @abstractmethod
    def around(self) -> tuple[Floats, Floats, float]:
        """Return a centre, how far the set goes from there along each axis, and how far it goes at all, from above."""


@final
@dataclass(frozen=True, slots=True)
class InvariantBall(InvariantSet):
    """The points at most ``radius`` from ``centre``; ``how`` says why no step leaves it."""

    centre: Floats
    radius: float
    how: str

    def farthest(self, z: Floats) -> float:
        """Return ‖centre − z‖ + radius."""
        return float((norm(self.centre - Near(z)) + self.radius).upper)

    def around(self) -> tuple[Floats, Floats, float]:
        """Return the centre and the radius."""
        return self.centre, np.full(len(self.centre), self.radius), self.radius


@final
@dataclass(frozen=True, slots=True)
class InvariantBox(InvariantSet):
    """The points between ``low`` and ``high`` in every coordinate; ``how`` says why no step leaves it."""

    low: Floats
    high: Floats
    how: str

    def farthest(self, z: Floats) -> float:
        """Return the distance to the farthest corner."""
        ends = (NEAR.absolute(end - Near(z)).upper for end in (self.low, self.high))
        return float(norm(np.maximum(*ends)).upper)

    def around(self) -> tuple[Floats, Floats, float]:
        """Return the middle, half the edges, and half the diagonal."""
        middle = (self.low + self.high) / 2.0
        half = np.maximum((self.high - Near(middle)).upper, (middle - Near(self.low)).upper)
        return middle, half, self.farthest(middle)


@final
@dataclass(frozen=True, slots=True)
class Pull:
    """Effect of gradients on the distance from a centre c, even of such as were taken elsewhere.

    For gradients g_k of any clients at points y_k, each at most D from x, and sizes s_k ≥ 0 that sum to ``longest`` at
    most, ‖x − Σ s_k·g_k − c‖ ≤ max(‖x − c‖, (slope + L·D)/mu), and ‖g_k‖ ≤ slope + L·‖y_k − c‖.

    Parameters
    ----------
    centre
        A point at most ``off`` from c, unit (0, 1).
    start
        ‖x0 − c‖, from above.
    slope, mu, L
        Units (1, −1), (1, −2), (1, −2).
    longest
        Unit (−1, 2).
    """

    centre: Floats
    start: float
    slope: float
    mu: float
    L: float
    longest: float
    off: float = 0.0


class InvariantSets(ABC):
    """Sets that no local step x ← x − α·g of any client leaves, whatever mini-batch is drawn for g, and what bounds g.

    An optional fact that does not exist is None, or absent from the list. Every set holds x0.
    """

    @abstractmethod
    def regions(self, step_size: float) -> Sequence[InvariantSet]:
        """Return sets with x0 that no step of a size in (0, step_size] leaves from within."""

    @abstractmethod
    def steepest(self) -> float | None:
        """Return what ‖g‖ never exceeds, anywhere, unit (1, −1)."""

    def pulls(self) -> Sequence[Pull]:
        """Return what draws every step towards a centre, and steps with late gradients, too."""
        return ()

    def excess(self, z: Floats) -> float | None:
        """Return what h(z) − inf h never exceeds, h the drawn convex function, g its (sub)gradient; unit (1, 0)."""
        return None


def plain(x: Any) -> Floats:
    """Return a point as float64."""
    return np.asarray(x, dtype=np.float64)
