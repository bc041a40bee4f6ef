"""Minimisers of one-dimensional convex sums, exact or bracketed."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from boundlab.objective import Array
from boundlab.problems.common import EPS

_TOGETHER = 1 << 16  # numbers bisected at a time


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
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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


def _bisect(
    centres: NDArray[np.float64], weights: NDArray[np.float64], slope: Callable[[Array], Array]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what :func:`bisect` does, all columns at a time."""

    def sign(x: Array, centres: Array, weights: Array) -> Array:
        r = x - centres
        terms = weights * slope(r)
        # |φ''| ≤ 1: the rounding of x − c_i moves φ' by at most eps·|x − c_i|.
        error = EPS * ((len(r) + 8) * np.abs(terms).sum(axis=0) + (weights * np.abs(r)).sum(axis=0))
        total = terms.sum(axis=0)
        out: Array = np.where(np.abs(total) <= error, 0.0, np.sign(total))
        return out

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
