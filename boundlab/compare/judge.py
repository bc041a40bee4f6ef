"""From limits and a bound to a verdict and its reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from itertools import pairwise
from typing import Any, Final, final

import numpy as np

from boundlab.__about__ import __version__
from boundlab.case import as_json, provenance
from boundlab.compare.trials import Sides, certain, random_events, ratio, trial_events
from boundlab.errors import BoundlabError, SpecError
from boundlab.files import Document, json_value, schema
from boundlab.instance.applicability import MetricEnclosure
from boundlab.instance.from_case import Membership, headline, never_moving, of_runs, qualified
from boundlab.instance.plan import Plan
from boundlab.metrics import Enclosure
from boundlab.options import Axis, BandKind as BandKind
from boundlab.randomness import Floats, Ints, Stream, Streams
from boundlab.result import Tabular, drawn
from boundlab.simulate import NUMPY, Backend
from boundlab.tape import Statistics
from boundlab.theorems import Theorem, core
from boundlab.verdict import Verdict

# Confidence limits for means of non-negative, independent trials, jointly over the recorded points.
#
# Lower limits come from testing by betting and hold for any non-negative law and any number of trials; they alone can
# refute a theorem. Upper limits that hold for any law exist only where a largest value is known (:func:`upper_limits`);
# they alone let a theorem hold. All other upper limits are approximate: Student's t with Bonferroni's correction,
# raised
# to a studentised bootstrap of the maximum over the points where that is larger.

BETS = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 0.97])
# Where values are small beside the largest one, to bet everything is best, and decides with the fewest trials.
_ALL = 0.9  # share of the stake that does so
_RESAMPLES = 4000
_BLOCK = 1 << 18  # values that are resampled at a time


@dataclass(frozen=True, slots=True, eq=False)
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
        raise SpecError(f"a confidence band needs at least 2 trials, got {trials}; take more trials")
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


# How many trials refute a bound that is too low, from some trials beforehand.
#
# A lower limit by betting (:func:`boundlab.compare.judge.lower_limits`) errs at most as often as it says, for any
# law and any number of trials; how low a bound must be to be refuted depends on the law, and is estimated here. The
# estimate decides how many trials are taken, and no verdict rests on it.

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


Judgement = tuple[Verdict, str]
MORE: Final = "more trials would decide"
_THREE_DIGITS_UP: Final = Context(prec=3, rounding=ROUND_CEILING)


def side(left: Band, right: Enclosure) -> Verdict:
    """Return what the limits of a sample say of a bound, the theorem's own affairs apart."""
    if (left.lower > right.upper).any():
        return Verdict.VIOLATED
    if left.guaranteed and (left.upper <= right.lower).all():
        return Verdict.HOLDS
    # An approximate band guarantees nothing: where a tie leaves no room, as at the start, it speaks for the theorem.
    return Verdict.CONSISTENT if not left.guaranteed and (left.upper <= right.upper).all() else Verdict.INCONCLUSIVE


def guarantee(left: Band, values: Floats, range_: MetricEnclosure, top: Floats) -> Band:
    """Return the band with upper limits that hold for every law of values in the range.

    Where the range ends at or below ``top``, nothing is left to sampling; the other points share the error.

    Parameters
    ----------
    values
        Shape (trials, points): the trials from above.
    top
        Shape (points,): what the upper limits are for.
    """
    open_ = range_.high > top
    upper = range_.high.copy()
    words = "upper: no event sequence and no batch exceeds it"
    if open_.any():
        share = _error(left) / int(np.count_nonzero(open_))
        upper[open_] = upper_limits(values[:, open_], range_.high[open_], share)
        words = f"upper: betting from the range, exact ({range_.how})"
    lower = np.maximum(left.lower, range_.low)
    return Band(left.mean, lower, upper, left.level, f"{words}; lower: betting, exact", left.trials, guaranteed=True)


def judge_sample(
    plan: Plan, left: Band, values: Floats, right: Enclosure, range_: MetricEnclosure | None, decides: str
) -> tuple[Verdict, str, Band]:
    """Judge trials: ``holds`` by limits that are valid for every law in the range, else ``consistent`` at best.

    Parameters
    ----------
    left
        Its lower side is valid, its upper side approximate.
    values
        Shape (trials, points): the trials from above.
    right
        Shape (points,): the bound.
    range_
        Of the left side, for every event sequence and batch; None where nothing is known.
    decides
        What does where a sample does not, in words.

    Returns
    -------
    verdict, reason
        And the band that the verdict stands on.
    """
    if range_ is None:
        verdict, reason = judge(plan, left, right, decides)
        more = "no range of this error is known that holds for every event sequence and batch"
        return verdict, f"{reason}; {more}" if verdict is Verdict.CONSISTENT else reason, left
    sure = guarantee(left, values, range_, right.lower)
    if side(sure, right) is not Verdict.INCONCLUSIVE:
        return *judge(plan, sure, right), sure
    left = Band(left.mean, sure.lower, np.minimum(left.upper, range_.high), left.level, left.method, left.trials)
    verdict, reason = judge(plan, left, right, decides)
    if verdict is Verdict.CONSISTENT:
        reason += f"; {_undecided(left, range_, right.lower)}"
    return verdict, reason, left


def _undecided(left: Band, range_: MetricEnclosure, top: Floats) -> str:
    """Return how many trials would let the theorem hold."""
    open_ = np.isfinite(range_.high) & (range_.high > top)
    if not np.isfinite(range_.high).all():
        return "no upper limit of this error is known at some points"
    share = _error(left) / int(np.count_nonzero(open_))
    needed = trials_to_decide(left.mean[open_], range_.high[open_], top[open_], share)
    most = float(_THREE_DIGITS_UP.create_decimal(float(range_.high[open_].max())))
    width = f"the error is at most {most:.3g}, rounded up, on every schedule ({range_.how})"
    return f"{width}: about {_count(needed)} such trials would decide" if np.isfinite(needed) else width


@qualified
def judge(plan: Plan, left: Band, right: Enclosure, decides: str = MORE) -> Judgement:
    """Judge the limits of a sample against the bound; ``decides`` names what would decide where they do not."""
    if plan.theorem.shape:
        return _shape(left.upper, right.value, grows=bool(plan.theorem.growth))
    if not np.isfinite(left.mean).all():
        return Verdict.INCONCLUSIVE, "the iterates overflow; no finite limit can be given"
    if not np.isfinite(left.upper).all():
        few = f"{_count(left.trials)} trials give no finite upper limit at the confidence level {left.level!r}"
        return Verdict.INCONCLUSIVE, f"{few}; lower the level or take more trials"
    found = side(left, right)
    if found is Verdict.VIOLATED:
        above = np.flatnonzero(left.lower > right.upper)
        with np.errstate(divide="ignore"):
            worst = int(above[np.argmax(left.lower[above] / right.value[above])])
        limit, bound = left.lower[worst], right.value[worst]
        what = f"lower limit {limit:.4g} is above the bound {bound:.4g}"
        return _refuted(plan, f"at {plan.theorem.horizon_symbol} = {plan.ks[worst]} the {what}", _level(left))
    most = f"largest mean/bound {float(np.max(ratio(left.mean, right.value))):.3g}{_outside(plan)}"
    if found is Verdict.HOLDS:
        return found, f"the upper limit is at most the bound {_everywhere(plan)} ({_level(left)}); {most}"
    if found is Verdict.CONSISTENT:
        return found, (
            f"the approximate upper band is at most the bound {_everywhere(plan)} ({_level(left)}): no violation seen, "
            f"nothing guaranteed; {most}{_no_spread(left)}"
        )
    inside = left.upper > right.upper
    where = _everywhere(plan) if inside.all() else f"at {int(np.count_nonzero(inside))} of {len(plan.ks)} points"
    return found, f"the bound lies inside the band {where}; {decides}"


@qualified
def judge_computed(plan: Plan, sides: Sides) -> Judgement:
    """Judge numbers: an expectation over the events, or left sides each for its own schedule.

    What holds, holds for the schedules that were drawn: a theorem about every schedule says more than they can show.
    """
    left, right, trials = sides.left, sides.right, len(sides.above)
    if plan.theorem.shape:
        return _shape(left.value, right.value, grows=bool(plan.theorem.growth))
    if not np.isfinite(left.value).all() and not sides.above.any():
        return Verdict.INCONCLUSIVE, "the iterates overflow; no finite limit can be given"
    drawn, largest = plan.own_case and not certain(plan), float(sides.ratio.max())
    most = f"largest ratio {largest:.4g}" if drawn else ""
    if sides.above.any():
        trial, point = sides.worst(sides.above)
        where = f"at {plan.theorem.horizon_symbol} = {plan.ks[point]}"
        if drawn:
            where = f"{where} the schedule of trial {trial + 1} exceeds its bound; {most}"
            return _refuted(plan, where, "a number for this schedule, not a sample")
        value, bound = left.value[trial, point], right.value[trial, point]
        return _refuted(plan, f"{where} the value {value:.4g} is above the bound {bound:.4g}", "computed, not sampled")
    most = most if drawn else f"largest mean/bound {largest:.3g}"
    if sides.below.all():
        if not drawn:
            return Verdict.HOLDS, (
                f"the value is at most the bound {_everywhere(plan)} (computed, not sampled); {most}{_outside(plan)}"
            )
        each = "the one schedule" if trials == 1 else f"each of the {trials} schedules"
        same = ", all with the same values" if trials > 1 and np.allclose(left.value, left.value[0], 1e-9, 0.0) else ""
        return Verdict.HOLDS, (
            f"on {each} drawn{same}, where the left side is a number, it is at most the bound {_everywhere(plan)}; "
            f"{most}; other schedules were not looked at{_outside(plan)}"
        )
    if (sides.below | sides.tied | sides.agreed).all():
        return Verdict.CONSISTENT, f"{_consistent(plan, sides)}; {most}{_outside(plan)}"
    return Verdict.INCONCLUSIVE, _undecided_digits(plan, sides)


def _consistent(plan: Plan, sides: Sides) -> str:
    """Return why numbers that are not proved to be below their bounds speak for the theorem all the same."""
    tied, points = sides.tied & sides.open, sides.above.size
    if tied.any():
        first = f"{plan.theorem.horizon_symbol} = {plan.ks[np.flatnonzero(tied.any(axis=0))[0]]}"
        many = int(np.count_nonzero(tied))
        where = first if many == 1 else f"{many} of {points} points, {first} the first,"
        return f"at {where} the left side and the bound agree to every digit computed; elsewhere it is not above"
    agreed = int(np.count_nonzero(sides.agreed & sides.open))
    return (
        f"at {agreed} of {points} points rounding is not enclosed; recomputed at another precision, the value "
        "is also not above the bound"
    )


def _undecided_digits(plan: Plan, sides: Sides) -> str:
    """Return by how much the numbers differ, what rounding leaves open, and who decides."""
    trial, point = sides.worst(sides.open & ~(sides.tied | sides.agreed))
    value, bound = float(sides.left.value[trial, point]), float(sides.right.value[trial, point])
    low, high = float(sides.left.lower[trial, point]), float(sides.left.upper[trial, point])
    word = "above" if value > bound else "below"
    margin = f"{abs(value - bound) / bound:.2g} of it" if bound > 0.0 else f"{value:.2g}"
    if not np.isfinite(high):
        lost = "and no error of rounding is known"
    else:
        width = (high - low) / max(value, 1e-300)
        digits = min(max(0.0, 16.0 + np.log10(max(width, 1e-16))), 16.0)
        lost = f"but rounding leaves {low:.4g} to {high:.4g}: about {digits:.0f} of 16 digits are lost"
    if sides.cost == 0.0:
        decides = "more digits do not decide it either"
    elif np.isfinite(sides.cost):
        decides = f"the option enclose decides (about {max(1.0, sides.cost / 1e9):.0f} s)"
    else:
        decides = f"no exact engine applies to problem {plan.problem.id} or this bound"
    where = f"at {plan.theorem.horizon_symbol} = {plan.ks[point]}"
    if value == bound and np.isfinite(high):
        equal = f"the value and the bound are both {value:.4g} as floats, and rounding leaves {low:.4g} to {high:.4g}"
        return f"{where} {equal}; {decides}"
    return f"{where} the value {value:.4g} is {word} the bound {bound:.4g} by {margin}, {lost}; {decides}"


def _shape(left: Floats, right: Floats, *, grows: bool) -> Judgement:
    with np.errstate(divide="ignore", invalid="ignore"):
        constant = float(np.max(np.where(left == 0.0, 0.0, left / right)))
    enough = f"a constant of {constant:.3g} would do" if np.isfinite(constant) else "no finite constant is seen to do"
    words = "the printed O(·) has unknown constants, so nothing can refute or confirm it"
    if grows:
        words = "the printed O(·) has unknown constants; boundlab falsify looks for families along which none will do"
    return Verdict.INCONCLUSIVE, f"{words}; here {enough}"


def _refuted(plan: Plan, where: str, how: str) -> Judgement:
    """Return ``violated``, or what keeps a value above the bound from being one."""
    if plan.outside:
        return Verdict.NOT_APPLICABLE, f"{where}, but{_outside(plan).removeprefix(';')}"
    if plan.near_minimiser:
        # R was taken to a point whose gap is certified; a minimiser may lie further away, with a larger bound.
        return Verdict.INCONCLUSIVE, f"{where}, but R is the distance to a near-minimiser, not certified for x*"
    return Verdict.VIOLATED, f"{where} ({how})"


def kept(
    plan: Plan, judgement: Judgement, excess: Floats, known: Sequence[Sequence[Mapping[str, Any]]] | None = None
) -> Judgement:
    """Return a judgement, but no violation of a bound that may be larger at the true R or F0 by as much.

    Parameters
    ----------
    excess
        Any shape: left sides, or their lower limits, over the bound.
    known
        What the bound was evaluated with, as :meth:`boundlab.instance.Plan.right_sides` takes it.
    """
    if judgement[0] is not Verdict.VIOLATED or not plan.lifted(float(np.nanmax(excess)), known):
        return judgement
    only = "of R and F0 limits from above are known, and where these are smaller the bound may be as large"
    return Verdict.INCONCLUSIVE, f"{judgement[1]}, but {only}"


def _outside(plan: Plan) -> str:
    return f"; outside the theorem: {'; '.join(plan.outside.values())}" if plan.outside else ""


def _error(left: Band) -> float:
    """Return the error probability of the upper side."""
    return (1.0 - left.level) / 2.0


def _level(left: Band) -> str:
    return f"joint level {left.level:g}"


def _no_spread(left: Band) -> str:
    """Say that a band without width is no certainty."""
    return "; all trials gave the same value, so the band has no width" if (left.upper <= left.mean).all() else ""


def _everywhere(plan: Plan) -> str:
    return f"at all {len(plan.ks)} points" if len(plan.ks) > 1 else f"at {plan.theorem.horizon_symbol} = {plan.ks[0]}"


def _count(trials: float) -> str:
    """Return a number of trials with two significant digits."""
    return f"{float(f'{trials:.2g}'):.0f}" if trials < 1e6 else f"{trials:.1g}"


# From which horizon on a vacuous bound says something.

FARTHEST = 10**12  # the largest horizon that is looked at
_ITERATED = 10**5  # the same for bounds that are iterated, not evaluated: two or three seconds
_POINTS = 2000
_EACH = 64  # up to there none is left out


@final
@dataclass(frozen=True, slots=True)
class TrivialBound:
    """How a bound compares with a run that stays at x0.

    Parameters
    ----------
    level
        The left side of such a run, in the units of the metric: it is the same at every horizon.
    smallest
        The smallest bound compared. At the level or above it the theorem is vacuous here.
    vacuous
        Whether that is so, as a half sentence for people; empty where it is not.
    crosses
        About the first horizon at which the same bound is below the level; None if it is not up to ``searched``.
    searched
        The largest horizon looked at; None where none was, or the bound cannot be evaluated there.
    """

    level: float
    smallest: float
    vacuous: str
    crosses: int | None = None
    searched: int | None = None

    def words(self, counter: str) -> str:
        """Return the half sentence for people, empty where the bound is not vacuous."""
        if self.crosses is not None:
            how = "is below that at" if self.crosses <= _EACH else "falls below that at about"
            return f"{self.vacuous}; it {how} {counter} = {_short(self.crosses)}"
        until = "" if self.searched is None else f", at any {counter} up to {_short(self.searched)}"
        return f"{self.vacuous}{until}"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "level": json_value(self.level),
            "says_nothing": bool(self.vacuous),
            "crosses_at": self.crosses,
            "searched_to": self.searched,
        }


def trivial_bound(plan: Plan, bound: Floats) -> TrivialBound:
    """Compare a bound with the error of never moving, and look for the horizon from which on it is below.

    Parameters
    ----------
    bound
        Shape (points,), at ``plan.ks``.
    """
    smallest = float(bound.min())
    level, vacuous = never_moving(plan, smallest)
    most = FARTHEST if plan.theorem.bound.closed else _ITERATED
    first = int(plan.ks[-1])
    if not vacuous or first >= most:
        return TrivialBound(level, smallest, vacuous)
    horizons = np.unique(np.rint(np.geomspace(max(first, 1), most, _POINTS)).astype(np.int64))
    ends = [len(horizons)] if plan.theorem.bound.closed else _stages(horizons)
    for begin, end in pairwise([0, *ends]):
        try:
            with np.errstate(all="ignore"):
                later = plan.theorem.evaluate({**plan.values, plan.theorem.horizon_symbol: horizons[:end]}).total
        except BoundlabError:  # a condition that fails there, or a number that is not finite
            return TrivialBound(level, smallest, vacuous)
        below = np.flatnonzero(np.broadcast_to(later, end)[begin:] < level)
        if len(below):
            return TrivialBound(level, smallest, vacuous, int(horizons[begin + below[0]]), most)
    return TrivialBound(level, smallest, vacuous, None, most)


def _stages(horizons: Ints) -> list[int]:
    """Return how many of the horizons to look at first, and then: each time ten times as far."""
    tens = 10.0 ** np.arange(np.ceil(np.log10(horizons[0] + 1)), np.ceil(np.log10(horizons[-1])))
    return sorted({*np.searchsorted(horizons, tens, side="right").tolist(), len(horizons)})


def _short(number: int) -> str:
    """Return an integer with two significant digits, as 1e8 where it is long."""
    if number < 10**5:
        return str(int(float(f"{number:.2g}")))
    mantissa, exponent = f"{number:.1e}".split("e+")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}"


# The outcome of a comparison, with everything that it rests on.


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Comparison(Tabular):
    """The outcome of a comparison.

    Parameters
    ----------
    band
        Of the left side at plan.ks; what it says is ``sampled``. Where the bound depends on the schedule, each
        trial counts relative to the bound of its own schedule, scaled by their harmonic mean ``bound``: the
        theorem then says that the mean is at most ``bound``, and a left side that is the same in all trials
        stays what it is.
    bound, terms
        Shape (points,) each: the harmonic mean of the right sides of the trials' schedules, and its named
        terms in the proportions of their averages.
    reason
        One sentence on why the verdict is what it is.
    worst_trial
        The trial with the largest ratio, whose events go into a case file.
    exact
        ``expectation``: the left side is E over all events and noise, computed; ``given schedules``: each trial is
        E over the noise given its schedule; empty: samples.
    trivial_bound
        How the bound compares with a run that stays at x0.
    range_
        Of the left side of a sample, for every event sequence and batch; None where nothing is known, or nothing
        was sampled.
    backend
        Where the trials ran.
    """

    plan: Plan
    band: Band
    bound: Floats
    terms: Mapping[str, Floats]
    verdict: Verdict
    reason: str
    seed: int
    statistics: Statistics
    worst_trial: int
    trivial_bound: TrivialBound
    exact: str = ""
    range_: MetricEnclosure | None = None
    backend: Backend = NUMPY

    @property
    def membership(self) -> Membership | None:
        """Membership of the runs in the class of the theorem's proof, decided when asked; None where it has none."""
        return of_runs(self.plan, self.band.trials, self.seed)

    @property
    def theorem(self) -> Theorem:
        """Compared theorem."""
        return self.plan.theorem

    @property
    def vacuous(self) -> str:
        """Why a theorem that was not refuted is vacuous here; empty where it is not."""
        upheld = self.verdict in (Verdict.HOLDS, Verdict.CONSISTENT)
        return self.trivial_bound.words(self.plan.theorem.horizon_symbol) if upheld else ""

    @property
    def headline(self) -> str:
        """The verdict, and whether the bound is vacuous."""
        return headline(self.verdict, self.vacuous)

    @property
    def explanation(self) -> str:
        """Explanation that follows the headline."""
        return f"{self.vacuous}; {self.reason}" if self.vacuous else self.reason

    @property
    def ratio(self) -> Floats:
        """How close the bound came: mean/bound, shape (points,); 0 where both are 0."""
        return ratio(self.band.mean, self.bound)

    def line(self) -> str:
        """Return theorem, problem and verdict."""
        return f"{self.plan.theorem.id} on {self.plan.problem.id}: {self.headline}: {self.explanation}"

    def columns(self) -> dict[str, Any]:
        """Return a row for each iteration: the left side with its limits, the bound, its terms."""
        return {
            self.plan.theorem.horizon_symbol: self.plan.ks,
            "mean": self.band.mean,
            "lower": self.band.lower,
            "upper": self.band.upper,
            "bound": self.bound,
            "ratio": self.ratio,
            **{f"term {name}": term for name, term in self.terms.items()},
        }

    def plot(
        self, ax: Any = None, *, terms: bool = False, others: Sequence["Comparison"] = (), axis: Axis = "iterations"
    ) -> Any:
        """Draw left side and bound over the iterations, mean/bound below, and return the upper axes of matplotlib.

        Parameters
        ----------
        ax
            Axes to draw on, or two of them: the second shows mean/bound. By default both are made.
        terms
            Also the terms of the bound.
        others
            Comparisons of other theorems: their bounds, and their left sides where their runs differ.
        axis
            ``time``: each iteration stands where it ends in the mean over the trials, in the delays' unit of time.
        """
        return drawn("draw_comparison", self, ax, terms, others, axis)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields with the full provenance."""
        plan, left, membership = self.plan, self.band, self.membership
        return {
            "schema": schema("comparison"),
            "boundlab": __version__,
            "provenance": provenance(plan.theorem, plan.problem, plan.delays, plan.policy, plan.parameters),
            "theorem": plan.theorem.id,
            **({"asked": plan.asked} if plan.asked else {}),
            "core": core(plan.theorem).sha256,
            "status": plan.theorem.status,
            **plan.theorem.links(),
            "metric": plan.metric.id,
            "problem": plan.problem.spec(),
            "objective": plan.objective,
            "delays": plan.delays.id,
            "rates": {"values": plan.delays.rates().tolist(), "how": plan.delays.how_rates},
            "server": plan.policy.describe(),
            "algorithm": plan.algorithm.id,
            "parameters": {key: json_value(value) for key, value in plan.parameter_values.items()},
            "iterations": plan.iterations,
            "trials": left.trials,
            "seed": self.seed,
            "backend": self.backend.as_dict(),
            "level": left.level,
            "method": left.method,
            "kind": "numeric" if self.exact == "expectation" or left.level == 1.0 else "sampled",
            "exact": self.exact,
            "upper_guaranteed": left.guaranteed or left.level == 1.0,
            "range": None if self.range_ is None else {"high": json_value(self.range_.high), "how": self.range_.how},
            **({"membership": membership.words} if membership else {}),
            "no_step": self.trivial_bound.as_dict(),
            "values": {key: json_value(value) for key, value in plan.values.items()},
            "constants": {name: constant.as_dict() for name, constant in plan.constants.items()},
            "symbols": [reading.as_dict() for reading in plan.symbols],
            "optimum": _optimum(plan) if plan.metric.over.one_record else None,
            "outside": dict(plan.outside),
            "statistics": self.statistics.as_dict(),
            "rows": [
                {
                    "k": int(k),
                    "mean": json_value(left.mean[row]),
                    "lower": json_value(left.lower[row]),
                    "upper": json_value(left.upper[row]),
                    "bound": json_value(self.bound[row]),
                    "ratio": json_value(self.ratio[row]) if self.bound[row] else None,
                    "terms": {name: json_value(term[row]) for name, term in self.terms.items()},
                }
                for row, k in enumerate(plan.ks)
            ],
            "verdict": self.verdict.value,
            "reason": self.reason,
        }

    @property
    def case(self) -> Document:
        """A case file of the worst trial: its events, the problem, the constants and the claim.

        ``boundlab run`` runs it with full gradients; the sampled run itself is repeated by the recorded seed, delays
        and server policy. Where the theorem is about the mean over schedules, ``boundlab exact`` takes their law.
        """
        plan = self.plan
        problem = dict(plan.problem.spec())
        start = {"x0": problem.pop("x0")} if "x0" in problem else {}
        row = int(np.argmax(self.ratio))
        if self.exact == "expectation":
            schedule = random_events(plan)
        elif plan.metric.in_seconds:  # events do not say how long an update takes
            schedule = {"delays": as_json(plan.delays.spec())}
        else:
            events = trial_events(plan, self.seed, self.worst_trial)
            schedule = {"events": plan.algorithm.events_as_json(events)}
            if plan.schedules is None or plan.schedules.averaged:  # the theorem is about the mean over schedules
                schedule["law"] = {"delays": as_json(plan.delays.spec()), "server": plan.policy.spec()}
        parameters = {key: json_value(value) for key, value in plan.parameter_values.items()}
        return Document(
            {
                "schema": schema("case"),
                "algorithm": plan.algorithm.id,
                "problem": problem,
                **start,
                "parameters": parameters,
                **schedule,
                "theorem": plan.theorem.id,
                "iterations": plan.iterations,
                "settings": {one.name: one.value for one in plan.symbols if one.origin == "yours"},
                "constants": {name: constant.as_dict() for name, constant in plan.constants.items()},
                "symbols": [reading.as_dict() for reading in plan.symbols],
                "seed": self.seed,
                "trial": self.worst_trial,
                "provenance": provenance(plan.theorem, plan.problem, plan.delays, plan.policy, plan.parameters),
                "claim": {
                    "k": int(plan.ks[row]),
                    "bound": json_value(self.bound[row]),
                    "mean": json_value(self.band.mean[row]),
                    "lower": json_value(self.band.lower[row]),
                    "level": self.band.level,
                    "trials": self.band.trials,
                },
            }
        )


def _optimum(plan: Plan) -> dict[str, Any]:
    best = plan.problem.optimum()
    return {"value": best.value, "gap": best.gap, "distance": best.distance, "how": best.how}
