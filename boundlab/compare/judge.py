"""From limits and a bound to a verdict and its reason."""

import numpy as np
from numpy.typing import NDArray

from boundlab.compare.confidence import Band, trials_to_decide, upper_limits
from boundlab.instance.leaning import qualified
from boundlab.instance.plan import Plan
from boundlab.instance.rounding import ceiling
from boundlab.ranges import Range
from boundlab.verdict import Verdict

Floats = NDArray[np.float64]
Judgement = tuple[Verdict, str]


def ratio_of(bound: Floats, left: Band) -> Floats:
    """Return how close the bound came: mean/bound, shape (points,); 0 where both are 0."""
    safe = np.where(bound > 0.0, bound, 1.0)
    return np.where(bound > 0.0, left.mean / safe, np.where(left.mean > 0.0, np.inf, 0.0))


def side(left: Band, top: Floats) -> Verdict:
    """Return what limits say of a bound, the theorem's own affairs apart.

    Parameters
    ----------
    top
        Shape (points,): the largest left sides that obey the bound.
    """
    if (left.lower > top).any():
        return Verdict.VIOLATED
    if (left.upper <= top).all():
        return Verdict.HOLDS if left.guaranteed or _computed(left) else Verdict.CONSISTENT
    return Verdict.INCONCLUSIVE


def guarantee(left: Band, values: Floats, range_: Range, top: Floats) -> Band:
    """Return the band with upper limits that hold for every law of values in the range.

    Where the range ends below ``top``, nothing is left to sampling; the other points share the error.

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
    plan: Plan, left: Band, values: Floats, right: Floats, range_: Range | None
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

    Returns
    -------
    verdict, reason
        And the band that the verdict stands on.
    """
    if range_ is None:
        verdict, reason = judge(plan, left, right)
        more = "no range of this error is known that holds for every event sequence and batch"
        return verdict, f"{reason}; {more}" if verdict is Verdict.CONSISTENT else reason, left
    top = ceiling(plan, right)
    sure = guarantee(left, values, range_, top)
    if side(sure, top) is not Verdict.INCONCLUSIVE:
        return *judge(plan, sure, right), sure
    left = Band(
        left.mean, sure.lower, np.minimum(left.upper, range_.high), left.level, left.method, left.trials
    )  # fmt: skip
    verdict, reason = judge(plan, left, right)
    if verdict is Verdict.CONSISTENT:
        reason += f"; {_undecided(left, range_, top)}"
    return verdict, reason, left


def _undecided(left: Band, range_: Range, top: Floats) -> str:
    """Return how many trials would let the theorem hold."""
    open_ = np.isfinite(range_.high) & (range_.high > top)
    if not np.isfinite(range_.high).all():
        return "no range of this error is known at some points"
    share = _error(left) / int(np.count_nonzero(open_))
    needed = trials_to_decide(left.mean[open_], range_.high[open_], top[open_], share)
    width = f"the error can be {float(range_.high[open_].max()):.3g} ({range_.how})"
    return f"{width}: about {_count(needed)} such trials would decide" if np.isfinite(needed) else width


@qualified
def judge(plan: Plan, left: Band, right: Floats) -> Judgement:
    """Judge a band, or numbers that were computed, against the bound."""
    if plan.theorem.shape:
        constant = float(np.max(left.upper / right)) if (right > 0.0).all() else float("inf")
        return Verdict.INCONCLUSIVE, (
            f"the printed O(·) has unknown constants, so nothing can refute or confirm it; "
            f"here a constant of {constant:.3g} would do"
        )
    if not np.isfinite(left.upper).all():
        return Verdict.INCONCLUSIVE, "the iterates overflow; no finite limit can be given"
    top = ceiling(plan, right)
    found, sure = side(left, top), "value" if _computed(left) else "upper limit"
    if found is Verdict.VIOLATED:
        above = np.flatnonzero(left.lower > top)
        worst = int(above[np.argmax(left.lower[above] / right[above])])
        limit, bound = left.lower[worst], right[worst]
        what = f"{sure.replace('upper', 'lower')} {limit:.4g} is above the bound {bound:.4g}"
        return _refuted(plan, f"at {plan.theorem.counter} = {plan.ks[worst]} the {what}", _level(left))
    most = f"largest mean/bound {float(np.max(ratio_of(right, left))):.3g}{_outside(plan)}"
    if found is Verdict.HOLDS and (blurred := _blurred(left, right)):
        return Verdict.CONSISTENT, f"the {sure} is not told from the bound {blurred}; {most}"
    if found is Verdict.HOLDS:
        return found, f"the {sure} is below the bound {_everywhere(plan)} ({_level(left)}); {most}"
    if found is Verdict.CONSISTENT:
        return found, (
            f"the approximate upper band lies below the bound {_everywhere(plan)} ({_level(left)}): no violation seen, "
            f"nothing guaranteed; {most}{_no_spread(left)}"
        )
    open_points = int(np.count_nonzero(left.upper > top))
    return found, f"the bound lies inside the band at {open_points} of {len(plan.ks)} points; more trials would tell"


@qualified
def judge_each(plan: Plan, left: Band, low: Floats, right: Floats, row: int, trial: int) -> Judgement:
    """Judge trials that are numbers, each for its own schedule: one above its own bound refutes the theorem.

    What holds, holds for the schedules that were drawn: a theorem about every schedule says more than they can show.

    Parameters
    ----------
    low
        Shape (points,): the largest value that some trial certainly has; what the certificate of x* leaves open
        is above it.
    """
    if plan.theorem.shape or not np.isfinite(left.upper).all():
        return judge(plan, left, right)
    ratio = left.upper / np.maximum(right, 1e-300)
    most = f"largest ratio {float(ratio.max()):.4g}"
    top = ceiling(plan, right)
    if (left.upper <= top).all():
        if blurred := _blurred(left, right):
            return Verdict.CONSISTENT, (
                f"on each of the {left.trials} schedules drawn the left side is below the bound or not told from it "
                f"{blurred}; {most}{_outside(plan)}"
            )
        return Verdict.HOLDS, (
            f"on each of the {left.trials} schedules drawn, where the left side is a number, it is below the bound "
            f"{_everywhere(plan)}; {most}; other schedules were not looked at{_outside(plan)}"
        )
    if (low <= top).all():
        return Verdict.INCONCLUSIVE, "the bound is smaller than what the certificate of the optimum leaves open"
    where = f"at {plan.theorem.counter} = {plan.ks[row]} the schedule of trial {trial + 1} exceeds its bound; {most}"
    return _refuted(plan, where, "a number for this schedule, not a sample")


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


def _blurred(left: Band, right: Floats) -> str:
    """Return at how many points only the room for rounding puts a value below the bound; '' where it is none."""
    points = int(np.count_nonzero(left.upper > right))
    return f"by the rounding of floats at {points} of {len(right)} points (boundlab exact decides)" if points else ""


def _computed(left: Band) -> bool:
    return left.level == 1.0


def _error(left: Band) -> float:
    """Return the error probability of the upper side."""
    return (1.0 - left.level) / 2.0


def _level(left: Band) -> str:
    return "computed, not sampled" if _computed(left) else f"joint level {left.level:g}"


def _no_spread(left: Band) -> str:
    """Say that a band without width is no certainty."""
    return "; all trials gave the same, which gives the band no width" if (left.upper <= left.mean).all() else ""


def _everywhere(plan: Plan) -> str:
    return f"at all {len(plan.ks)} points" if len(plan.ks) > 1 else f"at {plan.theorem.counter} = {plan.ks[0]}"


def _count(trials: float) -> str:
    """Return a number of trials with two significant digits."""
    return f"{float(f'{trials:.2g}'):.0f}" if trials < 1e6 else f"{trials:.1g}"
