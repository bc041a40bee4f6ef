"""Confidence limits for means of non-negative, independent trials, jointly over the recorded points.

Lower limits come from testing by betting and hold for any non-negative law and any number of trials;
they alone can refute a theorem. A distribution-free upper limit does not exist for an unbounded variable:
upper limits take Student's t with Bonferroni's correction, or a studentised bootstrap of the maximum
over the points, and say so.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.randomness import Stream, Streams

Floats = NDArray[np.float64]
BandKind = Literal["student", "bootstrap"]
_BETS = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 0.97])
_RESAMPLES = 4000


@dataclass(frozen=True, slots=True)
class Band:
    """Means and joint confidence limits.

    Parameters
    ----------
    mean, lower, upper
        Shape (points,): the band covers all expectations at once with probability ``level``.
    level
        Joint level, half of the error on each side.
    method
        In words, for tables and legends.
    trials
        Number of independent trials.
    """

    mean: Floats
    lower: Floats
    upper: Floats
    level: float
    method: str
    trials: int


def band(low: Floats, high: Floats, level: float, kind: BandKind, seed: int) -> Band:
    """Return the joint band of E[value] from trials of which only an interval is known.

    Parameters
    ----------
    low, high
        Shape (trials, points): each trial's value lies in [low, high], 0 ≤ low ≤ high. Lower limits use
        ``low``, upper limits use ``high``: the certificate's slack stands on the unsafe side of both.
    level
        Between 0.5 and 1.

    Raises
    ------
    SpecError
        If there are fewer than two trials or the level is outside (0.5, 1).
    """
    trials, points = low.shape
    if trials < 2:
        raise SpecError(f"a confidence band needs at least 2 trials, got {trials}; raise --trials")
    if not 0.5 < level < 1.0:
        raise SpecError(f"the confidence level must be between 0.5 and 1, got {level:g}")
    error = (1.0 - level) / 2.0
    lower = lower_limits(low, error / points)
    if kind == "student":
        upper = _student(high, error / points)
        words = f"Student-t with Bonferroni over {points} points"
    elif kind == "bootstrap":
        upper = _bootstrap(high, error, seed)
        words = f"studentised bootstrap of the maximum over {points} points, {_RESAMPLES} resamples"
    else:
        raise SpecError(f"the band must be student or bootstrap, got {kind!r}")
    return Band((low + high).mean(axis=0) / 2.0, lower, upper, level, f"upper: {words}; lower: betting, exact", trials)


def lower_limits(values: Floats, error: float) -> Floats:
    """Return lower confidence limits of means of non-negative variables, valid for every law.

    For a candidate mean m, Π_r (1 + λ(X_r/m − 1)) with 0 < λ < 1 is a non-negative supermartingale if
    E X ≤ m, and so is its average over λ. It exceeds 1/error with probability at most ``error``
    (Ville's inequality); m is rejected if it ever does. Rejected m form an interval from 0 on.

    Parameters
    ----------
    values
        Shape (trials, points).
    error
        Error probability of each limit.

    Returns
    -------
    ndarray, shape (points,)

    References
    ----------
    Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 2024.
    """
    mean = values.mean(axis=0)
    usable = np.isfinite(mean) & (mean > 1e-280)  # below, the search would leave the normal numbers
    limits = np.zeros(values.shape[1])
    if not usable.any():
        return limits
    kept = values[:, usable]
    left, right = mean[usable] * 1e-9, mean[usable].copy()
    for _ in range(60):
        middle = np.sqrt(left * right)
        rejected = _log_wealth(kept / middle) >= -np.log(error)
        left, right = np.where(rejected, middle, left), np.where(rejected, right, middle)
    limits[usable] = np.where(left > mean[usable] * 2e-9, left, 0.0)
    return limits


def _log_wealth(ratio: Floats) -> Floats:
    """Return the largest log of the averaged wealth along the trials, shape (points,)."""
    bets = _BETS[:, None, None]
    paths = np.cumsum(np.log1p(bets * (ratio[None] - 1.0)), axis=1)
    top = paths.max(axis=0)
    wealth = np.log(np.exp(paths - top).mean(axis=0)) + top
    out: Floats = wealth.max(axis=0)
    return out


def _student(values: Floats, error: float) -> Floats:
    from scipy.special import stdtrit

    trials = len(values)
    spread = values.std(axis=0, ddof=1) / np.sqrt(trials)
    out: Floats = values.mean(axis=0) + float(stdtrit(trials - 1, 1.0 - error)) * spread
    return out


def _bootstrap(values: Floats, error: float, seed: int) -> Floats:
    trials = len(values)
    mean = values.mean(axis=0)
    spread = values.std(axis=0, ddof=1) / np.sqrt(trials)
    worst = np.empty(_RESAMPLES)
    u = Streams(seed).uniforms(Stream.BOOTSTRAP, 0, np.arange(_RESAMPLES), trials)
    # A resample that misses all rare values has no spread of its own; it says nothing about the limit's scale.
    floor = np.maximum(0.2 * spread, 1e-300)
    for index, row in enumerate(np.floor(u * trials).astype(np.intp)):
        sample = values[row]
        again = np.maximum(sample.std(axis=0, ddof=1) / np.sqrt(trials), floor)
        worst[index] = ((mean - sample.mean(axis=0)) / again).max()
    quantile = max(0.0, float(np.quantile(worst, 1.0 - error, method="higher")))
    out: Floats = mean + quantile * spread
    return out
