"""Independent trials of a plan."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundlab.compare.unsampled import given_schedule
from boundlab.errors import AssumptionError
from boundlab.events import Events
from boundlab.instance.plan import Plan
from boundlab.instance.schedules import explain, largest
from boundlab.metrics import Watch
from boundlab.randomness import Streams
from boundlab.simulate.trial import compile_trial, run_once
from boundlab.tape import Statistics, Tape, statistics
from boundlab.theorems import Evaluation

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


def run_trials(
    plan: Plan, trials: int, seed: int, progress: Callable[[int], None] | None = None, *, average_noise: bool = False
) -> Trials:
    """Run all trials.

    Parameters
    ----------
    average_noise
        Take the exact expectation over the noise given each trial's schedule in place of one sample of it.
    progress
        Called after each trial with the number done.

    Raises
    ------
    AssumptionError
        If the schedule of a trial breaks a condition of the theorem.
    """
    low, high = np.empty((trials, len(plan.ks))), np.empty((trials, len(plan.ks)))
    statistics_: list[Statistics] = []
    seen: list[list[dict[str, float]]] = []
    for trial in range(trials):
        if average_noise:
            tape = trial_tape(plan, seed, trial)
            low[trial] = high[trial] = given_schedule(plan, tape)
        else:
            low[trial], high[trial], tape = run_trial(plan, seed, trial)
        if plan.schedules is not None:
            seen.append(plan.schedules.read_at(tape, plan.ks, plan.fixed))
        statistics_.append(statistics(tape))
        if progress is not None:
            progress(trial + 1)
    bounds = _bounds(plan, seen)
    if not bounds:
        return Trials(low, high, np.tile(plan.bound, (trials, 1)), dict(plan.terms), statistics_)
    terms = {name: np.mean([one.terms[name] for one in bounds], axis=0) for name in plan.terms}
    return Trials(low, high, np.stack([one.total for one in bounds]), terms, statistics_)


def _bounds(plan: Plan, seen: list[list[dict[str, float]]]) -> list[Evaluation]:
    """Return the bound for each trial's schedule, or for all of them the one that suits every schedule."""
    schedules = plan.schedules
    if schedules is None:
        return []
    if schedules.averaged:
        # A statement about the mean over schedules takes limits that all of them keep.
        return [schedules.evaluate(largest(seen), plan.ks, plan.fixed)] * len(seen)
    found = []
    for trial, own in enumerate(seen):
        try:
            found.append(schedules.evaluate(own, plan.ks, plan.fixed))
        except AssumptionError as error:
            raise explain(trial, error) from None
    return found
