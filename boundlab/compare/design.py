"""How many trials refute a bound that is too low, from some trials beforehand.

A lower limit by betting (:func:`boundlab.compare.confidence.lower_limits`) errs at most as often as it says, for any
law and any number of trials; how low a bound must be to be refuted depends on the law, and is estimated here. The
estimate decides how many trials are taken, and no verdict rests on it.
"""

import numpy as np
from numpy.typing import NDArray

from boundlab.compare.confidence import BETS

Floats = NDArray[np.float64]
_NORMAL = {0.5: 0.0, 0.8: 0.8416, 0.9: 1.2816, 0.95: 1.6449}
_WIDEST = 1e3


def trials_to_refute(values: Floats, gap: float, error: float, power: float = 0.9) -> float:
    """Return about how many trials refute bounds that expectations exceed by a share ``gap``; infinite if none do.

    With the mean (1 + g)m of X, the wealth of a bet λ against m grows by log(1 + λ(X/m − 1)) a trial; its mean and
    spread over ``values``, brought to that mean, say after how many trials it exceeds 1/error.

    Parameters
    ----------
    values
        Shape (trials, points), ≥ 0: trials taken beforehand; their scale does not matter.
    gap
        g > 0: 0.1 for bounds that are 1/1.1 of what they should be.
    error
        Error probability of each lower limit.
    power
        Probability with which it is refuted: 0.5, 0.8, 0.9 or 0.95.

    Examples
    --------
    >>> bool(trials_to_refute(np.ones((9, 1)), 1.0, 1e-6) < trials_to_refute(np.ones((9, 1)), 0.1, 1e-6) < 250)
    True
    """
    mean = values.mean(axis=0)
    moving = np.isfinite(mean) & (mean > 0.0)
    if not moving.any():
        return float("inf")
    ratio = (1.0 + gap) * values[:, moving] / mean[moving]
    growth = np.log1p(BETS[:, None, None] * (ratio[None] - 1.0))
    each, spread = growth.mean(axis=1), growth.std(axis=1)
    room = np.log(len(BETS) / error)  # the stake is spread over all bets
    with np.errstate(divide="ignore", invalid="ignore"):
        z = _NORMAL[power] * spread
        root = (z + np.sqrt(z**2 + 4.0 * np.maximum(each, 0.0) * room)) / (2.0 * each)
        needed = np.where(each > 0.0, root**2, np.inf).min(axis=0)
    return float(np.ceil(needed.max()))


def detectable_gap(values: Floats, trials: int, error: float, power: float = 0.9) -> float:
    """Return the smallest gap that so many trials see, about; infinite where that is more than a factor of a thousand.

    Parameters are those of :func:`trials_to_refute`.
    """
    if trials_to_refute(values, _WIDEST, error, power) > trials:
        return float("inf")
    low, high = 1e-9, _WIDEST
    for _ in range(60):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if trials_to_refute(values, middle, error, power) <= trials else (middle, high)
    return high
