"""Comparisons up to rounding that say in a sentence what disagrees."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

ROUNDING = 1e-9  # of the largest number in sight: sums of a few thousand terms, and a solver's last digits


def expect(condition: bool, sentence: str) -> None:
    """Raise AssertionError with this sentence unless the condition holds."""
    if not condition:
        raise AssertionError(sentence)


def equal(what: str, found: ArrayLike, expected: ArrayLike, *, scale: float = 0.0, rounding: float = ROUNDING) -> None:
    """Raise AssertionError unless two arrays have the same shape and are equal up to rounding.

    Parameters
    ----------
    what
        What is compared, in words: "problem mine: values(X) and value(x) row by row".
    scale
        Rounding is relative to the largest entry of both, or to this where it is larger.
    rounding
        How much of that is allowed.
    """
    a, b = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    expect(a.shape == b.shape, f"{what} differ in shape: {a.shape} and {b.shape}")
    if a.size == 0:
        return
    off = np.abs(a - b)
    allowed = rounding * max(scale, float(np.abs(a).max()), float(np.abs(b).max()))
    at = np.unravel_index(int(np.argmax(off)), off.shape)
    # Not ">": a NaN is a disagreement.
    expect(bool((off <= allowed).all()), f"{what} differ: {a[at]:.10g} and {b[at]:.10g}{_place(at)}")


def at_most(what: str, found: ArrayLike, limit: ArrayLike, *, scale: float = 0.0) -> None:
    """Raise AssertionError unless found ≤ limit entry by entry, up to rounding.

    Parameters
    ----------
    what
        What is bounded by what, in words: "problem mine: ‖∇f_i‖ ≤ B".
    scale
        Rounding is relative to each limit, or to this where it is larger.
    """
    a, b = np.broadcast_arrays(np.asarray(found, dtype=np.float64), np.asarray(limit, dtype=np.float64))
    if a.size == 0:
        return
    above = a - b - ROUNDING * np.maximum(np.abs(b), scale)
    at = np.unravel_index(int(np.argmax(above)), above.shape)
    expect(bool((above <= 0.0).all()), f"{what} fails: {a[at]:.10g} is above {b[at]:.10g}{_place(at)}")


def _place(at: tuple[Any, ...]) -> str:
    return f", at entry {tuple(int(one) for one in at)}" if at else ""
