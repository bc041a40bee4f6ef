"""Gradients of functions of one variable, exactly: how far from that of their mean, how large on a way."""

from collections.abc import Sequence
from fractions import Fraction

from boundlab.prove._functions import Function

_ZERO = Fraction(0)


def spread(functions: Sequence[Function], weights: Sequence[Fraction]) -> tuple[Fraction, Fraction] | None:
    """Return sup over x of max_i |f_i' − f'|² and of (1/n)·Σ |f_i' − f'|², where f = Σ weight_i·f_i.

    None where they are unbounded, or the functions have several variables or kinks. Between two breaks every slope is
    linear, so that both are convex there and largest at an end.
    """
    if any(one.dimension != 1 or one.smoothness() is None for one in functions):
        return None
    breaks = sorted({_ZERO, *(at for one in functions for at in one.breaks())})
    first, last = breaks[0], breaks[-1]
    for inner, outer in ((first, first - 1), (last, last + 1)):
        if _gaps(functions, weights, inner) != _gaps(functions, weights, outer):
            return None  # they go on to move apart
    found = [[gap * gap for gap in _gaps(functions, weights, at)] for at in breaks]
    return max(map(max, found)), max(sum(gaps, _ZERO) for gaps in found) / len(functions)


def _gaps(functions: Sequence[Function], weights: Sequence[Fraction], x: Fraction) -> list[Fraction]:
    slopes = [one.slope((x,))[0] for one in functions]
    mean = sum((weight * slope for weight, slope in zip(weights, slopes, strict=True)), _ZERO)
    return [slope - mean for slope in slopes]


def mean_slope(function: Function, first: Fraction, last: Fraction) -> Fraction:
    """Return the mean of f' between two points; 0 where they are one."""
    if first == last:
        return _ZERO
    return (function.value((last,)) - function.value((first,))) / (last - first)


def steepest(function: Function, first: Fraction, last: Fraction) -> Fraction:
    """Return the largest |f'|² between two points; 0 where they are one."""
    low, high = sorted((first, last))
    marks = [low, high, *(at for at in function.breaks() if low < at < high)]
    return _ZERO if low == high else max(function.slope((at,))[0] ** 2 for at in marks)
