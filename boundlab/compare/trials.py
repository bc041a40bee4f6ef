"""Independent trials of a plan."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundlab.compare.plan import Plan
from boundlab.compare.schedules import explain
from boundlab.delays import Events
from boundlab.errors import AssumptionError
from boundlab.metrics import Watch
from boundlab.randomness import Streams
from boundlab.statistics import Statistics, statistics
from boundlab.tape import Tape
from boundlab.trial import compile_trial, run_once

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trials:
    """What all trials gave.

    Parameters
    ----------
    low, high
        Shape (trials, points): the metric of each at each recorded iteration lies between them.
    bound
        Shape (trials, points): the right side for the schedule of each.
    terms
        Named terms of the bound, shape (points,), averaged over the trials.
    statistics
        Read off each tape.
    """

    low: Floats
    high: Floats
    bound: Floats
    terms: dict[str, Floats]
    statistics: list[Statistics]

    @property
    def common_bound(self) -> Floats:
        """Shape (points,): the harmonic mean of the bounds; their common value where they are equal."""
        if (self.bound == self.bound[0]).all():
            common: Floats = self.bound[0]
            return common
        out: Floats = 1.0 / (1.0 / np.maximum(self.bound, 1e-300)).mean(axis=0)
        return out

    @property
    def common_terms(self) -> dict[str, Floats]:
        """The terms in the proportions of their averages, so that they add up to the common bound."""
        if (self.bound == self.bound[0]).all():
            return self.terms
        scale = self.common_bound / np.maximum(self.bound.mean(axis=0), 1e-300)
        return {name: term * scale for name, term in self.terms.items()}


def trial_tape(plan: Plan, seed: int, trial: int) -> Tape:
    """Compile the run of one trial, with the records that its metric needs."""
    records = Watch(plan.metric, plan.problem, plan.ks).records
    return compile_trial(
        plan.algorithm,
        plan.parameters,
        plan.problem.n,
        plan.delays,
        plan.policy,
        plan.iterations,
        records,
        Streams(seed, trial),
    )


def trial_events(plan: Plan, seed: int, trial: int) -> Events:
    """Return the events that trial ``trial`` hands to the compiler, as far as its run goes."""
    last = trial_tape(plan, seed, trial).events
    streams = Streams(seed, trial)
    events = plan.algorithm.sample(
        plan.parameters, plan.delays, plan.policy, streams, plan.problem.n, max(len(last), 1)
    )
    # Compilers add events of their own, such as aggregations after a count; they lie between those handed in.
    return events.head(int(np.count_nonzero(events.time <= last.time[-1]))) if len(last) else events


def run_trial(plan: Plan, seed: int, trial: int) -> tuple[Floats, Floats, Tape]:
    """Run one trial.

    Returns
    -------
    low, high
        Shape (points,): the metric at each recorded iteration lies between them.
    tape
        What was run.
    """
    watch = Watch(plan.metric, plan.problem, plan.ks)
    tape = trial_tape(plan, seed, trial)
    run_once(tape, plan.problem, Streams(seed, trial), watch)
    return watch.low, watch.high, tape


def run_trials(plan: Plan, trials: int, seed: int, progress: Callable[[int], None] | None = None) -> Trials:
    """Run all trials.

    Parameters
    ----------
    progress
        Called after each trial with the number done.

    Raises
    ------
    AssumptionError
        If the schedule of a trial breaks a condition of the theorem.
    """
    shape = (trials, len(plan.ks))
    low, high, bound = np.empty(shape), np.empty(shape), np.empty(shape)
    terms = {name: np.zeros(len(plan.ks)) for name in plan.terms}
    seen: list[Statistics] = []
    for trial in range(trials):
        low[trial], high[trial], tape = run_trial(plan, seed, trial)
        try:
            right = plan.evaluate(tape) if plan.schedules is not None else None
        except AssumptionError as error:
            raise explain(trial, error) from None
        bound[trial] = plan.bound if right is None else right.total
        for name in terms:
            terms[name] += (plan.terms if right is None else right.terms)[name] / trials
        seen.append(statistics(tape))
        if progress is not None:
            progress(trial + 1)
    return Trials(low, high, bound, terms if plan.schedules is not None else dict(plan.terms), seen)
