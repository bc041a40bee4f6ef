"""The bound of the optimized gradient method, whose θ_K is iterated."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from boundlab.algorithms.momentum import theta
from boundlab.randomness import Floats, Ints
from boundlab.theorems._bound import RecursionBound


def _optimal(values: Mapping[str, Any], iterations: Ints) -> Floats:
    return np.array([values["L"] * values["R"] ** 2 / (2.0 * theta(int(k), int(k)) ** 2) for k in iterations])


def _between(values: Mapping[str, Any], iterations: Ints) -> tuple[Floats, Floats]:
    """Enclose it: each θ_k adds a few roundings of positive numbers to those of θ_{k−1}."""
    found = _optimal(values, iterations)
    off = (8.0 * iterations + 64.0) * float(np.finfo(np.float64).eps)
    return found * (1.0 - off), found * (1.0 + off)


def bound(_options: Mapping[str, str]) -> RecursionBound:
    """Return L·R²/(2θ_K²) as the right side of a theorem, whatever its options are."""
    return RecursionBound(
        function=_optimal,
        between=_between,
        inputs=("L", "R"),
        description="L·R²/(2θ_K²) with θ_0 = 1, θ_{k+1} = (1 + √(1 + 4θ_k²))/2, and the last with 8 in place of 4",
        latex=r"S_K = \frac{L R^2}{2\theta_K^2},\quad \theta_0 = 1,\quad "
        r"\theta_{k+1} = \tfrac12\bigl(1+\sqrt{1+4\theta_k^2}\bigr)\ (k < K-1),\quad "
        r"\theta_K = \tfrac12\bigl(1+\sqrt{1+8\theta_{K-1}^2}\bigr)",
    )
