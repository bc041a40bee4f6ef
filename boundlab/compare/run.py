"""From a plan to a comparison: which values are computed, which are sampled, and what they say."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from boundlab.compare.comparison import Comparison
from boundlab.compare.confidence import Band, BandKind, band, require_band
from boundlab.compare.judge import judge, judge_each, judge_sample
from boundlab.compare.standstill import standstill
from boundlab.compare.trials import Trials, run_trials, trial_tape
from boundlab.compare.unsampled import expectation, given_schedule_operations, require_given_schedule
from boundlab.expectation import AFFORDABLE
from boundlab.instance.plan import Plan
from boundlab.ranges import Range, certain_range
from boundlab.simulate import NUMPY, Backend
from boundlab.tape import statistics

Floats = NDArray[np.float64]


def compare(
    plan: Plan,
    trials: int,
    seed: int,
    level: float = 0.99,
    kind: BandKind = "bootstrap",
    progress: Callable[[int], None] | None = None,
    *,
    exact: bool | None = None,
    backend: Backend = NUMPY,
) -> Comparison:
    """Compute or sample the left side of a plan and compare it with the bound.

    Parameters
    ----------
    trials, level, kind
        Of a sample; see :func:`boundlab.compare.band`.
    exact
        True: compute expectations in place of sampling, over the events and the noise where an engine does both, else
        over the noise given each trial's schedule. None: do so where the predicted number of operations is at most
        :data:`boundlab.expectation.AFFORDABLE`. False: sample.
    backend
        Where trials run.

    Raises
    ------
    SpecError
        If there are too few trials or the level is out of range; with ``exact``, if no engine applies.
    """
    require_band(level, kind)
    if exact is not False and (computed := expectation(plan, unasked=exact is None)) is not None:
        values, method = computed
        left = Band(values, values, values, 1.0, method, 0)
        verdict, reason = judge(plan, left, plan.bound)
        shown, still = statistics(trial_tape(plan, seed, 0)), standstill(plan, plan.bound)
        return Comparison(
            plan, left, plan.bound, plan.terms, verdict, reason, seed, shown, 0, still, "expectation"
        )  # fmt: skip
    noisy = not plan.problem.noiseless
    if exact:
        require_given_schedule(plan)
    elif exact is None:
        # A number for each schedule is worth more than a sample only where the bound is about each schedule.
        quadratic = plan.own_case and noisy and plan.problem.quadratic() is not None
        exact = quadratic and trials * given_schedule_operations(plan, trial_tape(plan, seed, 0)) <= AFFORDABLE
    found = run_trials(plan, trials, seed, progress, average_noise=exact and noisy, backend=backend)
    return _of_trials(plan, found, seed, level, kind, exact=exact, noisy=noisy, backend=backend)


def _of_trials(
    plan: Plan, found: Trials, seed: int, level: float, kind: BandKind, *, exact: bool, noisy: bool, backend: Backend
) -> Comparison:
    """Judge trials: numbers, each for its own schedule, or a sample."""
    bound, range_ = found.common_bound, None
    with np.errstate(over="ignore", invalid="ignore"):
        each = found.low / np.maximum(found.bound, 1e-300)
        worst = int(np.argmax(each.max(axis=1)))
        # Equal bounds leave the values as they are, to the last digit.
        scale = np.where(found.bound == bound, 1.0, bound / np.maximum(found.bound, 1e-300))
        low, high = found.low * scale, found.high * scale
        if plan.own_case and (exact or not noisy):
            words = "expectations over the noise" if noisy else "no noise"
            left = _extremes(low, high, words)
            verdict, reason = judge_each(plan, left, low.max(axis=0), bound, int(np.argmax(each[worst])), worst)
        else:
            left = band(low, high, level, kind, seed)
            range_ = _range(plan)
            verdict, reason, left = judge_sample(plan, left, high, bound, range_)
    shown, how = found.statistics[worst], "given schedules" if exact and noisy else ""
    still = standstill(plan, bound)
    return Comparison(
        plan, left, bound, found.common_terms, verdict, reason, seed, shown, worst, still, how, range_, backend
    )


def _range(plan: Plan) -> Range | None:
    """Return the range of the left side; None also where the bound is another one for each schedule.

    Then trials count relative to their bounds, and how small a bound can become is not known.
    """
    if set(plan.values) - set(plan.fixed):
        return None
    return certain_range(plan.metric, plan.problem, plan.algorithm, plan.parameters, plan.ks)


def _extremes(low: Floats, high: Floats, words: str) -> Band:
    method = f"{words}: smallest and largest of the trials, each a number for its own schedule"
    return Band((low + high).mean(axis=0) / 2.0, low.min(axis=0), high.max(axis=0), 1.0, method, len(low))
