"""Confidence limits for means of non-negative, independent trials, jointly over the recorded points.

Lower limits come from testing by betting and hold for any non-negative law and any number of trials; they alone can
refute a theorem. Upper limits that hold for any law exist only where a largest value is known (:func:`upper_limits`);
they alone let a theorem hold. All other upper limits are approximate: Student's t with Bonferroni's correction, raised
to a studentised bootstrap of the maximum over the points where that is larger.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.options import BandKind as BandKind
from boundlab.randomness import Stream, Streams

Floats = NDArray[np.float64]
BETS = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 0.97])
# Where values are small beside the largest one, to bet everything is best, and decides with the fewest trials.
_ALL = 0.9  # share of the stake that does so
_RESAMPLES = 4000
_BLOCK = 1 << 18  # values that are resampled at a time


@dataclass(frozen=True, slots=True)
class Band:
    """Means and joint confidence limits.

    Parameters
    ----------
    mean, lower, upper
        Shape (points,): the band covers all expectations at once with probability ``level``, on its lower side
        whatever the law is, on its upper side approximately, unless ``guaranteed``.
    level
        Joint level, half of the error on each side.
    method
        In words, for tables and legends.
    trials
        Number of independent trials.
    guaranteed
        Whether the upper side, too, covers whatever the law is.
    """

    mean: Floats
    lower: Floats
    upper: Floats
    level: float
    method: str
    trials: int
    guaranteed: bool = False


def require_band(level: float, kind: str) -> None:
    """Refuse what no band is made of, whether one will be needed or not.

    Raises
    ------
    SpecError
        If the level is outside (0.5, 1), or the kind is unknown.
    """
    if not 0.5 < level < 1.0:
        raise SpecError(f"the confidence level must be between 0.5 and 1, got {level:g}")
    if kind not in ("student", "bootstrap"):
        raise SpecError(f"the band must be student or bootstrap, got {kind!r}")


def band(low: Floats, high: Floats, level: float, kind: BandKind, seed: int) -> Band:
    """Return the joint band of E[value] from trials of which only an interval is known.

    Parameters
    ----------
    low, high
        Shape (trials, points): each trial's value lies in [low, high], 0 ≤ low ≤ high. Lower limits use
        ``low``, upper limits add the widest half of an interval: its slack stands on the unsafe side of both.
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
    require_band(level, kind)
    error = (1.0 - level) / 2.0
    lower = lower_limits(low, error / points)
    middle = (low + high) / 2.0
    upper = _student(middle, error / points)
    words = f"approximate, Student-t with Bonferroni over {points} points"
    if kind == "bootstrap":
        upper = np.maximum(upper, _bootstrap(middle, error, seed))
        words += f" or studentised bootstrap of their maximum, {_RESAMPLES} resamples, whichever is larger"
    upper = upper + (high - middle).max(axis=0)  # whose own spread says nothing
    return Band(middle.mean(axis=0), lower, upper, level, f"upper: {words}; lower: betting, exact", trials)


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
        middle = np.sqrt(left) * np.sqrt(right)  # not of the product, which may leave the normal numbers
        rejected = _log_wealth(kept / middle) >= -np.log(error)
        left, right = np.where(rejected, middle, left), np.where(rejected, right, middle)
    limits[usable] = np.where(left > mean[usable] * 2e-9, left, 0.0)
    return limits


def upper_limits(values: Floats, largest: Floats, error: float) -> Floats:
    """Return upper confidence limits of means of variables between 0 and ``largest``, valid for every law.

    For a candidate mean m < B, Y = B − X is not negative and has the mean B − m at most if E X ≥ m. So
    W_λ = Π_r (1 + λ(Y_r/(B − m) − 1)) with 0 < λ ≤ 1 has the mean 1 at most, and so has 0.9·W_1 plus 0.1 times the
    average of W_λ over other λ. By Markov's inequality it exceeds 1/error with probability at most ``error``; m is
    rejected if it does. W_1 alone rejects all m ≥ B − exp(ln(error)/T + mean ln(B − X)).

    Parameters
    ----------
    values
        Shape (trials, points), ≥ 0.
    largest
        Shape (points,): B, which no value exceeds, for certain and not only in these trials.
    error
        Error probability of each limit.

    Returns
    -------
    ndarray, shape (points,)
        At most ``largest``.
    """
    limits = largest.copy()
    for point in np.flatnonzero((largest > 0.0) & np.isfinite(largest)).tolist():
        # In units of B; a value above B is rounding.
        rest = 1.0 - np.minimum(values[:, point] / largest[point], 1.0)
        top = float(rest.mean())
        if top <= 0.0 or not np.isfinite(top):
            continue
        low, high = 0.0, top  # in 1 − m: rejected up to low, not rejected at the mean itself
        for _ in range(60):
            middle = (low + high) / 2.0
            low, high = (middle, high) if _log_evidence(rest / middle) >= -np.log(error) else (low, middle)
        limits[point] = largest[point] * (1.0 - low)
    return limits


def trials_to_decide(mean: Floats, largest: Floats, bound: Floats, error: float) -> float:
    """Return how many trials with these means would put all upper limits below the bound; infinite if none would.

    Parameters
    ----------
    mean, largest, bound
        Shape (points,) each: mean < bound < largest at every point.
    error
        Error probability of each limit.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.log1p(-mean / largest) - np.log1p(-bound / largest)
    slowest = float(each.min(initial=np.inf))
    return float(-np.log(_ALL * error) / slowest) if slowest > 0.0 else float("inf")


def _log_evidence(ratio: Floats) -> float:
    """Return log(0.9·W_1 + 0.1·mean of W_λ), from Y/(B − m), shape (trials,)."""
    with np.errstate(divide="ignore"):
        everything = float(np.log(ratio).sum()) + np.log(_ALL)
    paths = np.log1p(BETS[:, None] * (ratio - 1.0)).sum(axis=1) + np.log((1.0 - _ALL) / len(BETS))
    return float(np.logaddexp.reduce([everything, *paths]))


def _log_wealth(ratio: Floats) -> Floats:
    """Return the largest log of the averaged wealth along the trials, shape (points,)."""
    bets = BETS[:, None, None]
    paths = np.cumsum(np.log1p(bets * (ratio[None] - 1.0)), axis=1)
    top = paths.max(axis=0)
    wealth = np.log(np.exp(paths - top).mean(axis=0)) + top
    out: Floats = wealth.max(axis=0)
    return out


def _student(values: Floats, error: float) -> Floats:
    from scipy.special import stdtrit

    trials = len(values)
    spread = values.std(axis=0, ddof=1) / np.sqrt(trials)
    # 1 − error would round to 1, where the quantile is infinite; Student's t is symmetric.
    out: Floats = values.mean(axis=0) - float(stdtrit(trials - 1, error)) * spread
    return out


def _bootstrap(values: Floats, error: float, seed: int) -> Floats:
    trials = len(values)
    mean = values.mean(axis=0)
    spread = values.std(axis=0, ddof=1) / np.sqrt(trials)
    u = Streams(seed).uniforms(Stream.BOOTSTRAP, 0, np.arange(_RESAMPLES), trials)
    # A resample that misses all rare values has no spread of its own; it says nothing about the limit's scale.
    floor = np.maximum(0.2 * spread, 1e-300)
    worst = np.empty(_RESAMPLES)
    block = max(1, _BLOCK // values.size)
    for first in range(0, _RESAMPLES, block):
        rows = slice(first, first + block)
        sample = values[np.floor(u[rows] * trials).astype(np.intp)]  # (block, trials, points)
        again = np.maximum(sample.std(axis=1, ddof=1) / np.sqrt(trials), floor)
        worst[rows] = ((mean - sample.mean(axis=1)) / again).max(axis=1)
    quantile = max(0.0, float(np.quantile(worst, 1.0 - error, method="higher")))
    out: Floats = mean + quantile * spread
    return out
