"""Independent trials of a plan."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundlab.compare.unsampled import given_schedule
from boundlab.errors import AssumptionError
from boundlab.events import Events
from boundlab.instance.plan import Plan
from boundlab.instance.schedules import explain, largest
from boundlab.metrics import Watch
from boundlab.randomness import Streams
from boundlab.simulate import NUMPY, Backend, Work, run_work
from boundlab.simulate.parallel import in_order
from boundlab.simulate.trial import compile_trial
from boundlab.simulate.work import collect
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


@final
@dataclass(frozen=True, slots=True)
class _Own:
    """What one trial gave: both ends of its left sides, shape (points,), what its schedule says, and statistics."""

    low: Floats
    high: Floats
    seen: list[dict[str, float]]
    statistics: Statistics


def run_trials(
    plan: Plan, trials: int, seed: int, progress: Callable[[int], None] | None = None, *,
    average_noise: bool = False, backend: Backend = NUMPY,
) -> Trials:  # fmt: skip
    """Run all trials.

    Parameters
    ----------
    average_noise
        Take the exact expectation over the noise given each trial's schedule in place of one sample of it.
    progress
        Called after each trial with the number done; torch finishes many at a time.
    backend
        Where trials run; expectations over the noise run in NumPy.

    Raises
    ------
    AssumptionError
        If the schedule of a trial breaks a condition of the theorem.
    """
    work = Work(
        [plan.metric],
        lambda trial: trial_tape(plan, seed, trial),
        lambda: Watch(plan.metric, plan.problem, plan.ks),
        lambda watch, _, values: watch.take(values[0]),
        lambda tape, watch: _own(plan, tape, watch.low, watch.high),
    )
    if average_noise:
        found = collect(in_order(lambda trial: _averaged(plan, seed, trial), trials, backend.jobs), progress)
    else:
        found = run_work(backend, work, plan.problem, seed, trials, progress)
    low, high = np.stack([one.low for one in found]), np.stack([one.high for one in found])
    statistics_ = [one.statistics for one in found]
    bounds = _bounds(plan, [one.seen for one in found])
    if not bounds:
        return Trials(low, high, np.tile(plan.bound, (trials, 1)), dict(plan.terms), statistics_)
    terms = {name: np.mean([one.terms[name] for one in bounds], axis=0) for name in plan.terms}
    return Trials(low, high, np.stack([one.total for one in bounds]), terms, statistics_)


def _own(plan: Plan, tape: Tape, low: Floats, high: Floats) -> _Own:
    seen = [] if plan.schedules is None else plan.schedules.read_at(tape, plan.ks, plan.fixed)
    return _Own(low, high, seen, statistics(tape))


def _averaged(plan: Plan, seed: int, trial: int) -> _Own:
    tape = trial_tape(plan, seed, trial)
    value = given_schedule(plan, tape)
    return _own(plan, tape, value, value)


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
