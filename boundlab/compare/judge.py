"""From limits and a bound to a verdict and its reason."""

import numpy as np
from numpy.typing import NDArray

from boundlab.compare.confidence import Band
from boundlab.instance.leaning import qualified
from boundlab.instance.plan import Plan
from boundlab.instance.rounding import ceiling
from boundlab.verdict import Verdict

Floats = NDArray[np.float64]


def ratio_of(bound: Floats, left: Band) -> Floats:
    """Return how close the bound came: mean/bound, shape (points,); 0 where both are 0."""
    safe = np.where(bound > 0.0, bound, 1.0)
    return np.where(bound > 0.0, left.mean / safe, np.where(left.mean > 0.0, np.inf, 0.0))


def _level(left: Band) -> str:
    return f"joint level {left.level:g}" if left.level < 1.0 else "computed, not sampled"


def _everywhere(plan: Plan) -> str:
    return f"at all {len(plan.ks)} points" if len(plan.ks) > 1 else f"at k = {plan.ks[0]}"


@qualified
def judge(plan: Plan, left: Band, right: Floats) -> tuple[Verdict, str]:
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
    above = np.flatnonzero(left.lower > top)
    if len(above):
        worst = int(above[np.argmax(left.lower[above] / right[above])])
        limit, bound = left.lower[worst], right[worst]
        where = f"at k = {plan.ks[worst]} the lower limit {limit:.4g} is above the bound {bound:.4g}"
        if plan.outside:
            return (
                Verdict.NOT_APPLICABLE,
                f"{where}, but outside the theorem: {'; '.join(plan.outside.values())}",
            )
        if _needs_minimiser(plan):
            # R was taken to a point whose gap is certified; a minimiser may lie further away, with a larger bound.
            return Verdict.INCONCLUSIVE, f"{where}, but R is the distance to a near-minimiser, not certified for x*"
        return Verdict.VIOLATED, f"{where} ({_level(left)})"
    if (left.upper <= top).all():
        tail = f"; outside the theorem: {'; '.join(plan.outside.values())}" if plan.outside else ""
        return Verdict.HOLDS, (
            f"the upper limit is below the bound {_everywhere(plan)} ({_level(left)}); "
            f"largest mean/bound {float(np.max(ratio_of(right, left))):.3g}{tail}"
        )
    open_points = int(np.count_nonzero(left.upper > top))
    return (
        Verdict.INCONCLUSIVE,
        f"the bound lies inside the band at {open_points} of {len(plan.ks)} points; more trials would tell",
    )


@qualified
def judge_each(plan: Plan, left: Band, low: Floats, right: Floats, row: int, trial: int) -> tuple[Verdict, str]:
    """Judge trials without noise: one above its own bound refutes the theorem.

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
        tail = f"; outside the theorem: {'; '.join(plan.outside.values())}" if plan.outside else ""
        return Verdict.HOLDS, (
            f"without noise each of {left.trials} schedules is a case of its own, and all obey the bound "
            f"{_everywhere(plan)}; {most}{tail}"
        )
    if (low <= top).all():
        return Verdict.INCONCLUSIVE, "the bound is smaller than what the certificate of the optimum leaves open"
    where = f"at {plan.theorem.counter} = {plan.ks[row]} the schedule of trial {trial + 1} exceeds its bound; {most}"
    if plan.outside:
        return Verdict.NOT_APPLICABLE, f"{where}, but outside the theorem: {'; '.join(plan.outside.values())}"
    if _needs_minimiser(plan):
        return Verdict.INCONCLUSIVE, f"{where}, but R is the distance to a near-minimiser, not certified for x*"
    return Verdict.VIOLATED, f"{where} (no noise: a number, not a sample)"


def _needs_minimiser(plan: Plan) -> bool:
    """Return whether the bound rests on ‖x0 − x*‖ while no minimiser is certified."""
    return "R" in plan.theorem.inputs(plan.fixed) and plan.problem.optimum().distance is None
