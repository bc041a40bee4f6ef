"""Minimisers of one-dimensional convex sums, exact or bracketed."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from boundlab.objective import Array, Floats
from boundlab.problems.common import EPS

Real = Fraction | float
_TOGETHER = 1 << 16  # numbers bisected at a time


def nearest_zero(centres: Sequence[Real], weights: Sequence[Real], delta: Real | None, start: Real) -> Fraction:
    """Return the minimiser of Σ w_i·φ(x − c_i) that is closest to ``start``, in rational numbers.

    The derivative is piecewise linear (Huber) or piecewise constant (absolute value) and not decreasing;
    one sweep over its break points finds the interval on which it is zero.

    Parameters
    ----------
    centres, weights
        n numbers each; weights ≥ 0.
    delta
        Huber's width, or None for the absolute value.
    start
        The minimiser closest to this number is returned.
    """
    used = [(c, w) for c, w in zip(centres, weights, strict=True) if w > 0]
    if not used:
        return Fraction(start)
    # Whole numbers of two units, of length and of weight: fractions would be reduced at each step.
    (*places, width), unit = _whole([*(c for c, _ in used), delta or 0.0])
    heavy, _ = _whole([w for _, w in used])
    # (position, change of the derivative's slope, jump of the derivative)
    if delta is None:
        breaks = [(c, 0, 2 * w) for c, w in zip(places, heavy, strict=True)]
        level = -sum(heavy)
    else:
        breaks = [(c - width, w, 0) for c, w in zip(places, heavy, strict=True)]
        breaks += [(c + width, -w, 0) for c, w in zip(places, heavy, strict=True)]
        level = -width * sum(heavy)
    breaks.sort()
    low: Fraction | int | None = None
    high: Fraction | int = breaks[0][0]
    position, slope = breaks[0][0], 0
    for place, turn, jump in breaks:
        after = level + slope * (place - position)
        if low is None and after >= 0:
            low = place if slope == 0 else position - Fraction(level, slope)
        if after > 0:
            high = place if slope == 0 else position - Fraction(level, slope)
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
    return Fraction(min(max(Fraction(start) * unit, low), high)) / unit


def _whole(numbers: Sequence[Real]) -> tuple[list[int], int]:
    """Return numbers as multiples of a unit, and how many units make 1: of floats a power of two."""
    ratios = [number.as_integer_ratio() for number in numbers]
    unit = math.lcm(*(below for _, below in ratios))
    return [above * (unit // below) for above, below in ratios], unit


def bisect(centres: Floats, weights: Floats, slope: Callable[[Array], Array]) -> tuple[Floats, Floats]:
    """Return the roots of Σ_i w_ij·φ'(x_j − c_ij) from brackets that rounding cannot break.

    A point moves the lower (upper) end only where the computed sum is below −e (above e), e bounding its
    rounding error. So each root lies in its final bracket in exact arithmetic.

    Parameters
    ----------
    centres, weights
        Shape (n, d); weights ≥ 0, one in each column positive.
    slope
        φ', odd, increasing, with |φ'(r)| ≤ |r| and relative rounding error of a few units.

    Returns
    -------
    tuple
        The middles of the brackets, and the largest distances to their ends, shape (d,) each.
    """
    n, d = centres.shape
    x, away = np.empty(d), np.empty(d)
    each = max(1, _TOGETHER // n)
    for begin in range(0, d, each):
        part = slice(begin, begin + each)
        x[part], away[part] = _bisect(centres[:, part], weights[:, part], slope)
    same = np.ptp(centres, axis=0) == 0.0  # at a centre that all share every slope is 0
    x[same], away[same] = centres[0, same], 0.0
    return x, away


def _bisect(centres: Floats, weights: Floats, slope: Callable[[Array], Array]) -> tuple[Floats, Floats]:
    """Return what :func:`bisect` does, all columns at a time."""

    def sign(x: Array, centres: Array, weights: Array) -> Array:
        r = x - centres
        terms = weights * slope(r)
        # |φ''| ≤ 1: the rounding of x − c_i moves φ' by at most eps·|x − c_i|.
        error = EPS * ((len(r) + 8) * np.abs(terms).sum(axis=0) + (weights * np.abs(r)).sum(axis=0))
        total = terms.sum(axis=0)
        return np.where(np.abs(total) <= error, 0.0, np.sign(total))

    def shrink(least: Array, most: Array, side: int) -> Array:
        """Return the ends on ``side`` (−1 low, 1 high), moved as far in as their signs can be told."""
        low, high = least.copy(), most.copy()
        going = np.arange(len(low))
        while len(going):
            middle = low[going] + (high[going] - low[going]) / 2.0
            goes_on = (low[going] < middle) & (middle < high[going])
            going, middle = going[goes_on], middle[goes_on]
            told = sign(middle, centres[:, going], weights[:, going]) == side
            up = told if side < 0 else ~told
            low[going[up]], high[going[~up]] = middle[up], middle[~up]
        return low if side < 0 else high

    used = weights > 0.0
    least, most = np.where(used, centres, np.inf).min(axis=0), np.where(used, centres, -np.inf).max(axis=0)
    low, high = shrink(least, most, -1), shrink(least, most, 1)
    x = low + (high - low) / 2.0
    return x, np.maximum(high - x, x - low) * (1.0 + 2.0 * EPS)
