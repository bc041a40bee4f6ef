"""The best point of a polytope for a linear minus a quadratic term: quickly in floats, and in rational numbers."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from boundlab.objective import Array, Floats

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
