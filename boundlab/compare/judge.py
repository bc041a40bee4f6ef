"""From limits and a bound to a verdict and its reason."""

from decimal import ROUND_CEILING, Context
from typing import Final

import numpy as np
from numpy.typing import NDArray

from boundlab.compare.confidence import Band, trials_to_decide, upper_limits
from boundlab.compare.sides import Sides
from boundlab.compare.unsampled import certain
from boundlab.instance.conditional import qualified
from boundlab.instance.plan import Plan
from boundlab.instance.ranges import MetricEnclosure
from boundlab.metrics import Enclosure
from boundlab.verdict import Verdict

Floats = NDArray[np.float64]
Judgement = tuple[Verdict, str]
MORE: Final = "more trials would decide"
_THREE_DIGITS_UP: Final = Context(prec=3, rounding=ROUND_CEILING)


def ratio_of(bound: Floats, left: Band) -> Floats:
    """Return how close the bound came: mean/bound, shape (points,); 0 where both are 0."""
    safe = np.where(bound > 0.0, bound, 1.0)
    return np.where(bound > 0.0, left.mean / safe, np.where(left.mean > 0.0, np.inf, 0.0))


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
        return Verdict.INCONCLUSIVE, f"{few}; lower --level or raise --trials"
    found = side(left, right)
    if found is Verdict.VIOLATED:
        above = np.flatnonzero(left.lower > right.upper)
        with np.errstate(divide="ignore"):
            worst = int(above[np.argmax(left.lower[above] / right.value[above])])
        limit, bound = left.lower[worst], right.value[worst]
        what = f"lower limit {limit:.4g} is above the bound {bound:.4g}"
        return _refuted(plan, f"at {plan.theorem.horizon_symbol} = {plan.ks[worst]} the {what}", _level(left))
    most = f"largest mean/bound {float(np.max(ratio_of(right.value, left))):.3g}{_outside(plan)}"
    if found is Verdict.HOLDS:
        return found, f"the upper limit is below the bound {_everywhere(plan)} ({_level(left)}); {most}"
    if found is Verdict.CONSISTENT:
        return found, (
            f"the approximate upper band lies below the bound {_everywhere(plan)} ({_level(left)}): no violation seen, "
            f"nothing guaranteed; {most}{_no_spread(left)}"
        )
    open_points = int(np.count_nonzero(left.upper > right.upper))
    return found, f"the bound lies inside the band at {open_points} of {len(plan.ks)} points; {decides}"


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
            words = f"the value is below the bound {_everywhere(plan)} (computed, not sampled); {most}{_outside(plan)}"
            return Verdict.HOLDS, words
        each = "the one schedule" if trials == 1 else f"each of the {trials} schedules"
        return Verdict.HOLDS, (
            f"on {each} drawn, where the left side is a number, it is below the bound {_everywhere(plan)}; {most}; "
            f"other schedules were not looked at{_outside(plan)}"
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
        return f"at {where} the left side and the bound agree to every digit computed; elsewhere it is below"
    agreed = int(np.count_nonzero(sides.agreed & sides.open))
    return (
        f"at {agreed} of {points} points rounding is not enclosed; recomputed at another precision the value is "
        "below the bound, too"
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
        decides = f"--enclose decides (about {max(1.0, sides.cost / 1e9):.0f} s)"
    else:
        decides = f"no exact engine applies to problem {plan.problem.id} or this bound"
    return (
        f"at {plan.theorem.horizon_symbol} = {plan.ks[point]} the value {value:.4g} is {word} the bound {bound:.4g} by "
        f"{margin}, {lost}; {decides}"
    )


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


def _outside(plan: Plan) -> str:
    return f"; outside the theorem: {'; '.join(plan.outside.values())}" if plan.outside else ""


def _error(left: Band) -> float:
    """Return the error probability of the upper side."""
    return (1.0 - left.level) / 2.0


def _level(left: Band) -> str:
    return f"joint level {left.level:g}"


def _no_spread(left: Band) -> str:
    """Say that a band without width is no certainty."""
    return "; all trials gave the same value, so that the band has no width" if (left.upper <= left.mean).all() else ""


def _everywhere(plan: Plan) -> str:
    return f"at all {len(plan.ks)} points" if len(plan.ks) > 1 else f"at {plan.theorem.horizon_symbol} = {plan.ks[0]}"


def _count(trials: float) -> str:
    """Return a number of trials with two significant digits."""
    return f"{float(f'{trials:.2g}'):.0f}" if trials < 1e6 else f"{trials:.1g}"
