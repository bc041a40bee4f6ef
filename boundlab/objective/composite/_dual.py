"""Fenchel's dual of least squares plus h, in balls: an interval around F* that no rounding breaks.

½e² ≥ u·e − ½u² for every number u, so that for weights ω_j, residuals a_jᵀx − y_j and any u

    F(x) ≥ −Σ_j ω_j·(u_j·y_j + ½u_j²) + ⟨Σ_j ω_j·u_j·a_j, x⟩ + ν/2‖x‖² + h(x)

for all x, and the minimum of the right side over x is known: h and its conjugate are simple. At the residuals of x* it
is F*. Those of a point near it are shrunk to where the conjugate is finite (Fercoq, Gramfort and Salmon 2015).
"""

from typing import Any, Final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import EXACT
from boundlab.objective import EPS, Floats, LeastSquaresForm
from boundlab.objective.simple import ProxFunction

_LARGEST: Final = 1_000_000  # entries of the features: a second


def interval(form: LeastSquaresForm, h: ProxFunction, x: Floats) -> tuple[float, float] | None:
    """Return floats below and above F*: the dual value at the residuals of x, and F(x); None for much data.

    Parameters
    ----------
    x
        Shape (d,): in the domain of h but for rounding, which is taken off.
    """
    if sum(rows.size for rows in form.rows) > _LARGEST:
        return None
    with numbers.digits(numbers.START_BITS):
        low, high = _interval(form, h, x)
    return numbers.float_ends(low)[1], numbers.float_ends(high)[2]


def _interval(form: LeastSquaresForm, h: ProxFunction, x: Floats) -> tuple[Any, Any]:
    arb, matrix = numbers.flint().arb, numbers.flint().arb_mat
    n, d = len(form.rows), len(x)
    # A weight other than 1 comes from a share of the samples, and is rounded.
    weights = [arb(1) if one == 1.0 else numbers.near(one, 4.0 * EPS) for one in form.weights.tolist()]
    nu = arb(form.nu) * sum(weights, start=arb(0)) / n
    point = h.prox(np.array([arb(entry) for entry in x.tolist()], dtype=object), arb(0), EXACT)
    column = matrix([[entry] for entry in point])
    linear, square, loss, slope = arb(0), arb(0), arb(0), matrix(1, d)
    for weight, rows, targets in zip(weights, form.rows, form.targets, strict=True):
        features, y = matrix(rows.tolist()), [arb(one) for one in targets.tolist()]
        errors = [found - target for found, target in zip((features * column).entries(), y, strict=True)]
        u = [error.mid() for error in errors]
        factor = weight / (n * len(y))
        linear += factor * sum((one * target for one, target in zip(u, y, strict=True)), start=arb(0))
        square += factor * sum((one * one for one in u), start=arb(0))
        loss += factor * sum((error * error for error in errors), start=arb(0)) / 2
        slope += matrix([u]) * features * factor
    high = loss + nu * sum((entry * entry for entry in point), start=arb(0)) / 2 + h.values(point, EXACT)
    pull = np.array(slope.entries(), dtype=object)
    lows = []
    for share in (arb(1), h.shrink(pull)):
        lowest = h.lowest(share * pull, nu)
        lows.append((lowest - share * linear - share * share * square / 2).lower())
    return max((low for low in lows if low.is_finite()), default=arb("-inf")), high
