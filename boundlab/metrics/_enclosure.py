"""A computed left side as an interval: the number, and between which ends it is proved to lie."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class Enclosure:
    """Computed left sides, shape (points,) each: the number, and between which ends it is proved to lie.

    Parameters
    ----------
    value
        The number as it was computed, in the units of the metric.
    lower, upper
        lower ≤ value ≤ upper. Where nothing is proved, 0 and infinity: no left side is negative.
    """

    value: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def around(cls, value: ArrayLike, error: ArrayLike) -> "Enclosure":
        """Return what differs from computed numbers by at most ``error``; what overflows is not proved.

        Raises
        ------
        RuntimeError
            If an upper end is negative: no left side is, so the number or its error is wrong.
        """
        numbers, errors = np.asarray(value, dtype=np.float64), np.asarray(error, dtype=np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            lower, upper = np.nextafter(numbers - errors, -np.inf), np.nextafter(numbers + errors, np.inf)
        if (upper < 0.0).any():
            raise RuntimeError(f"a left side is at most {float(np.nanmin(upper)):.3g}, but none is negative")
        known = np.isfinite(lower) & np.isfinite(upper)
        return cls(
            np.maximum(numbers, 0.0), np.where(known, np.maximum(lower, 0.0), 0.0), np.where(known, upper, np.inf)
        )

    @classmethod
    def of_means(cls, shown: ArrayLike, records: int) -> "Enclosure":
        """Return left sides that are means of at most so many records, summed up in floats: their ends go outwards.

        Parameters
        ----------
        shown
            (value, smallest, largest) at each point, shape (points, 3): sums of numbers ≥ 0, divided.
        """
        value, low, high = np.asarray(shown, dtype=np.float64).T
        folding = 1.0 + 2.0 * records * float(np.finfo(np.float64).eps)
        known = np.isfinite(value) & np.isfinite(high)
        return cls(value, np.where(known, low / folding, 0.0), np.where(known, high * folding, np.inf))

    @classmethod
    def weighted(cls, parts: "Sequence[tuple[Fraction, Enclosure]]") -> "Enclosure":
        """Return Σ share·part of shares ≥ 0, the ends outwards; a single part of share 1 as it is.

        Parts have one shape, whichever: (points,), or (trials, points).
        """
        if len(parts) == 1 and parts[0][0] == 1:
            return parts[0][1]
        shares = np.array([float(share) for share, _ in parts])
        value, low, high = (
            np.tensordot(shares, np.array([getattr(part, name) for _, part in parts]), axes=1)
            for name in ("value", "lower", "upper")
        )
        folding = 1.0 + (len(parts) + 4.0) * float(np.finfo(np.float64).eps)
        known = np.isfinite(high)
        return cls(value, np.where(known, low / folding, 0.0), np.where(known, high * folding, np.inf))

    @classmethod
    def unproved(cls, value: ArrayLike) -> "Enclosure":
        """Return computed numbers of whose errors nothing is known."""
        numbers = np.asarray(value, dtype=np.float64)
        return cls(numbers, np.zeros_like(numbers), np.full_like(numbers, np.inf))

    def spread(self, shape: tuple[int, ...]) -> "Enclosure":
        """Return the same numbers in another shape, repeated where it has more."""
        ends = (self.value, self.lower, self.upper)
        size = int(np.prod(shape))
        return Enclosure(*((one.reshape(shape) if one.size == size else np.broadcast_to(one, shape)) for one in ends))
