"""Minimisers of one-dimensional convex sums, exact or bracketed."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from boundlab.objective import Array
from boundlab.problems.common import EPS


def nearest_zero(
    centres: NDArray[np.float64], weights: NDArray[np.float64], delta: float | None, start: float
) -> tuple[float, float]:
    """Return the minimiser of Σ w_i·φ(x − c_i) that is closest to ``start``, and how far it may be off.

    The derivative is piecewise linear (Huber) or piecewise constant (absolute value) and not decreasing;
    one sweep over its break points in rational arithmetic finds the interval on which it is zero.

    Parameters
    ----------
    centres, weights
        Shape (n,); weights ≥ 0.
    delta
        Huber's width, or None for the absolute value.
    start
        The minimiser closest to this number is returned.

    Returns
    -------
    tuple
        The minimiser, rounded to float64, and a bound on the rounding.
    """
    pairs = [(Fraction(c), Fraction(w)) for c, w in zip(centres.tolist(), weights.tolist(), strict=True) if w > 0]
    if not pairs:
        return start, 0.0
    # (position, change of the derivative's slope, jump of the derivative)
    zero = Fraction(0)
    if delta is None:
        breaks = [(c, zero, 2 * w) for c, w in pairs]
        level = -sum((w for _, w in pairs), zero)
    else:
        width = Fraction(delta)
        breaks = [(c - width, w, zero) for c, w in pairs] + [(c + width, -w, zero) for c, w in pairs]
        level = -width * sum((w for _, w in pairs), zero)
    breaks.sort()
    low: Fraction | None = None
    high = position = breaks[0][0]
    slope = zero
    for place, turn, jump in breaks:
        after = level + slope * (place - position)
        if low is None and after >= 0:
            low = place if slope == 0 else position - level / slope
        if after > 0:
            high = place if slope == 0 else position - level / slope
            break
        position, level = place, after + jump
        slope += turn
        if low is None and level >= 0:
            low = place
        if level > 0:
            high = place
            break
        high = place
    if low is None:  # pragma: no cover - the derivative ends positive, so the sweep meets its zero
        low = high
    best = min(max(Fraction(start), low), high)
    x = float(best)
    return x, float(abs(Fraction(x) - best)) * (1.0 + 2.0 * EPS)


def bisect(
    centres: NDArray[np.float64], weights: NDArray[np.float64], slope: Callable[[Array], Array]
) -> tuple[float, float]:
    """Return the root of Σ w_i·φ'(x − c_i) from a bracket that rounding cannot break.

    A point moves the lower (upper) end only where the computed sum is below −e (above e), e bounding its
    rounding error. So the root lies in the final bracket in exact arithmetic.

    Parameters
    ----------
    centres, weights
        Shape (n,); weights > 0.
    slope
        φ', odd, increasing, with |φ'(r)| ≤ |r| and relative rounding error of a few units.

    Returns
    -------
    tuple
        The middle of the bracket, and the largest distance to its ends.
    """

    def sign(x: float) -> int:
        r = x - centres
        terms = weights * slope(r)
        # |φ''| ≤ 1: the rounding of x − c_i moves φ' by at most eps·|x − c_i|.
        error = EPS * float((len(r) + 8) * np.abs(terms).sum() + weights @ np.abs(r))
        total = float(terms.sum())
        return 0 if abs(total) <= error else (1 if total > 0 else -1)

    def shrink(low: float, high: float, side: int) -> float:
        """Return the end on ``side`` (−1 low, 1 high), moved as far in as its sign can be told."""
        while True:
            middle = low + (high - low) / 2.0
            if not low < middle < high:
                return low if side < 0 else high
            if sign(middle) == side:
                low, high = (middle, high) if side < 0 else (low, middle)
            else:
                low, high = (low, middle) if side < 0 else (middle, high)

    least, most = float(centres.min()), float(centres.max())
    low, high = shrink(least, most, -1), shrink(least, most, 1)
    x = low + (high - low) / 2.0
    return x, max(high - x, x - low) * (1.0 + 2.0 * EPS)
