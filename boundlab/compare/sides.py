"""Computed left sides beside their bounds: what is proved of them, and what their digits leave open."""

from dataclasses import dataclass, field
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.metrics import Enclosure

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_NARROW: Final = 1e-6
TELLING: Final = 1e-3  # of the bound: an end of an enclosure further above the largest value is told apart from it


@dataclass(slots=True)
class Budget:
    """About how many operations may be spent in all, infinite: as many as it takes; and how many more were needed."""

    left: float
    needed: float = 0.0

    def spend(self, cost: float) -> bool:
        """Return whether there is so much, and take it."""
        if cost > self.left:
            self.needed += cost
            return False
        self.left -= cost
        return True


@final
@dataclass(slots=True)
class Sides:
    """Left and right sides, shape (trials, points) each; where nothing is sampled, one trial stands for all.

    Parameters
    ----------
    left, right
        With the ends that floats prove; those of the left sides move in where exact numbers are asked.
    above, below
        Where the left side is proved to be larger than the right one, and where it is proved not to be.
    tied, agreed
        Where neither is: whether no digits tell them apart, and whether half the digits find the same side below.
    cost
        About how many operations would decide what is open; infinite where no engine can.
    """

    left: Enclosure
    right: Enclosure
    above: Flags = field(init=False)
    below: Flags = field(init=False)
    tied: Flags = field(init=False)
    agreed: Flags = field(init=False)
    cost: float = float("inf")

    def __post_init__(self) -> None:
        self.left = Enclosure(self.left.value.copy(), self.left.lower.copy(), self.left.upper.copy())
        self.compare()
        self.tied, self.agreed = np.zeros_like(self.above), np.zeros_like(self.above)

    def compare(self) -> None:
        """Write down what the ends of both sides tell."""
        self.above = self.left.lower > self.right.upper
        self.below = self.left.upper <= self.right.lower

    def narrow(self, trials: list[int], point: int, value: float, lower: float, upper: float) -> None:
        """Write down between which ends another engine proves a left side to lie, in trials that are alike.

        Raises
        ------
        RuntimeError
            If they exclude what is proved already: one of the two is wrong.
        """
        left = self.left
        for trial in trials:
            low, high = max(left.lower[trial, point], lower), min(left.upper[trial, point], upper)
            if low > high:
                known = f"{left.lower[trial, point]!r} to {left.upper[trial, point]!r}"
                raise RuntimeError(f"a left side is proved to lie in {known} and in {lower!r} to {upper!r}")
            left.lower[trial, point], left.upper[trial, point] = low, high
            if not low <= left.value[trial, point] <= high:
                left.value[trial, point] = min(max(value, low), high)

    def tie(self) -> None:
        """Call equal what nothing decided, where both sides are known to many digits that do not tell them apart."""
        left, right = self.left, self.right
        with np.errstate(over="ignore"):
            narrow = [one.upper <= (1.0 + _NARROW) * one.lower for one in (left, right)]
        self.tied |= self.open & (left.value <= right.upper) & (left.lower <= right.upper) & narrow[0] & narrow[1]

    @property
    def open(self) -> Flags:
        """Where nothing is proved."""
        return ~(self.above | self.below)

    @property
    def ratio(self) -> Floats:
        """Left over right; 0 where both are 0."""
        left, right = self.left.value, self.right.value
        safe = np.where(right > 0.0, right, 1.0)
        return np.where(right > 0.0, left / safe, np.where(left > 0.0, np.inf, 0.0))

    def worst(self, among: Flags) -> tuple[int, int]:
        """Return trial and point of the largest ratio among some."""
        place = np.unravel_index(int(np.argmax(np.where(among, self.ratio, -np.inf))), among.shape)
        return int(place[0]), int(place[1])


def stacked(parts: list[Enclosure]) -> Enclosure:
    """Return enclosures of shape (points,) as one of shape (trials, points)."""
    return Enclosure(*(np.stack([getattr(one, end) for one in parts]) for end in ("value", "lower", "upper")))
