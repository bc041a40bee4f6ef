"""CVXPY with Clarabel, and what turns its dual point into a lower bound."""

import math
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from boundlab.arithmetic.near import NEAR, Near
from boundlab.errors import CertificateError, MissingExtraError
from boundlab.objective import Array, Floats

LOOSE = 1e-4  # for a start that Newton's method polishes
TIGHT = 1e-9
ALLOWED = 1e-4  # largest gap, relative to max(1, |f|)


def cvxpy() -> Any:
    """Return the module CVXPY.

    Raises
    ------
    MissingExtraError
        If CVXPY or Clarabel is not installed.
    """
    try:
        import clarabel  # noqa: F401
        import cvxpy as module
    except ImportError:
        raise MissingExtraError(
            'x* and f* of this problem need CVXPY with Clarabel: pip install "boundlab[solve]"'
        ) from None
    return module


def clarabel(problem: Any, tolerances: tuple[float, ...], what: str) -> str:
    """Solve a CVXPY problem with Clarabel and return ``optimal`` or ``unbounded``.

    Parameters
    ----------
    tolerances
        Tried in turn until Clarabel reaches one.

    Raises
    ------
    CertificateError
        If Clarabel ends in any other state; "inaccurate" is not a success.
    """
    cp = cvxpy()
    status = "failed"
    for tolerance in tolerances:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the status, which is read below, says what the warnings say
            try:
                problem.solve(solver=cp.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance)
            except cp.error.SolverError:
                continue
        status = str(problem.status)
        if status in ("unbounded", "unbounded_inaccurate"):
            return "unbounded"
        if status == "optimal":
            return status
    raise CertificateError(f"{what}: Clarabel ended with status {status}; scale the data or set nu > 0")


def repair(
    point: Floats,
    low: Floats | float,
    high: Floats | float,
    matrix: Floats,
    target: Floats,
) -> Floats:
    """Return a point of the box near ``point`` with a smaller residual ‖matrix·u − target‖.

    Least squares in which a coordinate moves in proportion to its distance to the box's sides, so that those
    at a side stay, then clipping; a few rounds.

    Parameters
    ----------
    point
        Shape (S,).
    low, high
        The box.
    matrix
        Shape (m, S).
    target
        Shape (m,).
    """
    best = point = np.clip(point, low, high)
    least = float(np.linalg.norm(target - matrix @ point))
    idle = 0
    for _ in range(30):
        residual = target - matrix @ point
        size = float(np.linalg.norm(residual))
        idle = 0 if size < 0.5 * least else idle + 1
        if size < least:
            best, least = point, size
        if idle > 3:
            break
        room = np.minimum(point - low, high - point)
        if size == 0.0 or not room.any():
            break
        part = matrix * room
        # Rows of equal length first: rare features would otherwise drown in the squares' rounding.
        lengths = np.linalg.norm(part, axis=1)
        part /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
        residual /= np.where(lengths > 0.0, lengths, 1.0)
        inverse = np.linalg.pinv(part @ part.T, rcond=1e-14, hermitian=True)
        move = room * (part.T @ (inverse @ residual))
        point = np.clip(point + move, low, high)
    return best


def check_gap(gap: float, value: float, what: str) -> None:
    """Refuse a certificate that is too wide to compare against.

    Raises
    ------
    CertificateError
        If gap > 1e-4·max(1, |f|).
    """
    if not gap <= ALLOWED * max(1.0, abs(value)):
        raise CertificateError(
            f"{what}: f(x) − f* ≤ {gap:.2g} at f(x) = {value:.4g} is the best certificate found, "
            "more than 1e-4·max(1, f); set nu > 0, scale the data or take fewer samples"
        )


# Minimisers of one-dimensional convex sums, exact or bracketed.

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


def bisect(centres: Floats, weights: Floats, slope: Callable[[Near], Near]) -> tuple[Floats, Floats]:
    """Return the roots of Σ_i w_ij·φ'(x_j − c_ij) from brackets that rounding cannot break.

    A point moves the lower (upper) end only where the sum is surely below (above) 0. So each root lies in its final
    bracket in exact arithmetic.

    Parameters
    ----------
    centres, weights
        Shape (n, d); weights ≥ 0, one in each column positive.
    slope
        φ', odd and increasing, of floats that carry their error.

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


def _bisect(centres: Floats, weights: Floats, slope: Callable[[Near], Near]) -> tuple[Floats, Floats]:
    """Return what :func:`bisect` does, all columns at a time."""

    def sign(x: Array, centres: Array, weights: Array) -> Array:
        return np.asarray(NEAR.sign((weights * slope(Near(x) - centres)).sum(0)).value)

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
    return x, np.maximum((Near(high) - x).upper, (x - Near(low)).upper)


# The best point of a polytope for a linear minus a quadratic term: quickly in floats, and in rational numbers.

_RIDGE = 1e-13
_ENOUGH = 1e-14
_LARGEST_HULL = 12  # pieces on top at once whose weights are found in rational numbers
_CORRECTIONS = 8


def fractions(x: Array) -> list[Fraction]:
    """Return floats as the fractions that they are."""
    return [Fraction(entry) for entry in x.tolist()]


def dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    """Return Σ one_j·other_j."""
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))


def steepest_mean(
    height: Sequence[Fraction], slopes: Sequence[Sequence[Fraction]], width: Fraction, inside: Sequence[int]
) -> list[Fraction] | None:
    """Return Σ λ_j·slope_j for the weights of :func:`maximise`, in rational numbers.

    Parameters
    ----------
    inside
        A guess which weights are positive; it is corrected a few times, and None is returned if that is not enough.
    """
    chosen = list(inside)
    for _ in range(_CORRECTIONS):
        weights = _stationary(height, slopes, width, chosen) if len(chosen) <= _LARGEST_HULL else None
        if weights is None:
            return None
        if min(weights) < 0:
            del chosen[weights.index(min(weights))]
            continue
        columns = zip(*(slopes[j] for j in chosen), strict=True)
        slope = [dot(weights, column) for column in columns]
        gain = [own - dot(row, slope) / width for own, row in zip(height, slopes, strict=True)]
        best = gain.index(max(gain))
        if gain[best] <= gain[chosen[0]]:
            return slope
        chosen.append(best)
    return None


def _stationary(
    height: Sequence[Fraction], slopes: Sequence[Sequence[Fraction]], width: Fraction, chosen: Sequence[int]
) -> list[Fraction] | None:
    """Return the weights of sum 1 at which all chosen pieces gain the same, or None if that does not determine them."""
    from boundlab.arithmetic.numbers import EXACT, exact_array, fractions as rationals

    gains = [[*(dot(slopes[i], slopes[j]) / width for j in chosen), Fraction(1)] for i in chosen]
    sums = [Fraction(1)] * len(chosen) + [Fraction(0)]
    try:
        found = EXACT.solve(exact_array([*gains, sums]), exact_array([*(height[i] for i in chosen), Fraction(1)]))
    except ZeroDivisionError:  # a singular matrix
        return None
    return list(rationals(found[:-1]))


def maximise(height: Floats, slopes: Floats, width: float) -> Floats:
    """Return the weights λ ≥ 0, Σ λ_j = 1, that maximise Σ λ_j·height_j − ‖Σ λ_j·slope_j‖²/(2·width).

    Wolfe's method for the nearest point of a polytope, with a linear term: vertices join one by one, and leave
    where the maximum over their affine hull lies outside the simplex.

    Parameters
    ----------
    height
        Shape (m,), unit (1, 0).
    slopes
        Shape (m, d), unit (1, −1).
    width
        Unit (1, −2).
    """
    squares = np.einsum("jd,jd->j", slopes, slopes) / width
    size = float(np.abs(height).max() + squares.max()) or 1.0
    inside = [int(np.argmax(height - squares / 2.0))]
    weights = np.zeros(len(height))
    weights[inside] = 1.0
    for _ in range(20 * len(height) + 20):
        gain = height - slopes @ (weights @ slopes) / width
        best = int(np.argmax(gain))
        if best in inside or gain[best] - float(weights @ gain) <= _ENOUGH * size:
            break
        inside.append(best)
        while True:
            goal = _hull(height[inside], slopes[inside], width, size)
            if (goal >= 0.0).all():
                weights[:] = 0.0
                weights[inside] = goal
                break
            own = weights[inside]
            down = goal < 0.0
            share = float((own[down] / (own[down] - goal[down])).min())
            moved = own + share * (goal - own)
            keep = moved > _ENOUGH
            weights[:] = 0.0
            inside = [j for j, kept in zip(inside, keep, strict=True) if kept]
            weights[inside] = moved[keep] / moved[keep].sum()
    return weights


def _hull(height: Floats, slopes: Floats, width: float, size: float) -> Floats:
    """Return the weights of sum 1 with the largest objective; a ridge decides where many have it."""
    k = len(height)
    matrix = np.zeros((k + 1, k + 1))
    matrix[:k, :k] = slopes @ slopes.T / (width * size) + _RIDGE * np.eye(k)
    matrix[k, :k] = matrix[:k, k] = 1.0
    return np.asarray(np.linalg.solve(matrix, np.append(height / size, 1.0))[:k])
