"""Independent trials of a plan."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from boundlab.compare.plan import Plan
from boundlab.delays import Events, sample_events
from boundlab.objective import Array
from boundlab.randomness import Streams
from boundlab.statistics import Statistics
from boundlab.trial import run_once

Floats = NDArray[np.float64]


def trial_events(plan: Plan, seed: int, trial: int) -> Events:
    """Return the events that trial ``trial`` hands to the compiler."""
    return sample_events(plan.delays, plan.policy, Streams(seed, trial), plan.iterations)


def run_trial(plan: Plan, seed: int, trial: int) -> tuple[Floats, Floats, Statistics]:
    """Run one trial.

    Returns
    -------
    low, high
        Shape (points,): the metric at each recorded iteration lies between them.
    statistics
        Read off the tape.
    """
    optimum = plan.problem.optimum()
    low, high = np.empty(len(plan.ks)), np.empty(len(plan.ks))

    def observe(row: int, x: Array) -> None:
        low[row], high[row] = plan.metric.interval(plan.problem, optimum, x)

    figures = run_once(
        plan.algorithm,
        plan.parameters,
        plan.problem,
        plan.delays,
        plan.policy,
        plan.iterations,
        plan.records,
        Streams(seed, trial),
        observe,
    )
    return low, high, figures


def run_trials(
    plan: Plan, trials: int, seed: int, progress: Callable[[int], None] | None = None
) -> tuple[Floats, Floats, list[Statistics]]:
    """Run all trials; the metric intervals have shape (trials, points).

    Parameters
    ----------
    progress
        Called after each trial with the number done.
    """
    low, high = np.empty((trials, len(plan.ks))), np.empty((trials, len(plan.ks)))
    seen: list[Statistics] = []
    for trial in range(trials):
        low[trial], high[trial], figures = run_trial(plan, seed, trial)
        seen.append(figures)
        if progress is not None:
            progress(trial + 1)
    return low, high, seen
