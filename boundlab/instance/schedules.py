"""Quantities that a theorem reads off the schedules of a comparison's trials."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from boundlab.algorithms import Algorithm
from boundlab.assumptions import assumption
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import AssumptionError, SpecError, SymbolError
from boundlab.events import Ints
from boundlab.instance.readings import PointReading, RunPoints, require_safe
from boundlab.instance.settings import parameters
from boundlab.objective import Problem
from boundlab.options import Options, number
from boundlab.randomness import Streams
from boundlab.simulate.work import compile_trial
from boundlab.tape import NOTHING, RecordAt, Tape, constant_lag
from boundlab.theorems import Evaluation, Theorem, certain, over, read_off_runs


@final
@dataclass(frozen=True)
class Schedules:
    """Tapes of the trials, and what the theorem reads off them.

    Parameters
    ----------
    chosen
        Options of the algorithm, the step size apart: no schedule depends on it. Nobody may change them.
    given
        Symbols that the user set, in place of what a tape would say.
    pinned
        What the step size of all runs was computed from, where the theorem sets it: it is the bound's, too.
    points
        Reads what the theorem says of where a run goes, once its step size is known; None: nothing is said, or known.
    common
        What the bound of a mean over schedules is evaluated with, for each horizon of the plan; empty where each
        schedule has a bound of its own, or there is one alone.
    """

    theorem: Theorem
    algorithm: Algorithm[Any]
    clients: int
    delays: DelayModel
    policy: ServerPolicy
    iterations: int
    seed: int
    chosen: Mapping[str, Any]
    given: Mapping[str, float] = field(default_factory=dict)
    pinned: Mapping[str, float] = field(default_factory=dict)
    points: RunPoints | None = None
    common: Sequence[Mapping[str, float]] = ()

    @cached_property
    def parameters(self) -> Any:
        """The parameters, with 1 in place of the step size."""
        return parameters(self.theorem, self.algorithm, self.chosen)

    def horizon(self, values: Mapping[str, Any]) -> int:
        """Return the largest T whose windows lie within the run."""
        return self.iterations - int(values.get("N", 1)) + 1

    def tape(self, trial: int, records: RecordAt = NOTHING) -> Tape:
        """Compile a trial, by default without records."""
        streams = Streams(self.seed, trial)
        return compile_trial(
            self.algorithm, self.parameters, self.clients, self.delays, self.policy, self.iterations, records, streams
        )

    @cached_property
    def certain(self) -> bool:
        """True if all trials have the same schedule."""
        return certain(self.algorithm, self.parameters, self.clients, self.delays, self.policy)

    def one_tape(self) -> Tape:
        """Compile the schedule that all trials have.

        Raises
        ------
        SpecError
            If they have several.
        """
        if not self.certain:
            raise SpecError(
                f"{self.theorem.id} reads steps of {self.algorithm.id} that depend on who arrives when; delays that "
                "are certain, or explicit events, would fit"
            )
        return self.tape(0)

    def measured(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return what is read off the one schedule that all trials have."""
        return self.read(self.one_tape(), self.horizon(values), values)

    def read(self, tape: Tape, until: int, values: Mapping[str, Any]) -> dict[str, float]:
        """Return what the theorem reads, or may be given, off the tape for the horizon ``until``.

        Parameters
        ----------
        until
            T: windows begin at 0 … T−1, so that the first T + N − 1 server updates are looked at.
        values
            By symbol; the window N among them says how to read.

        Raises
        ------
        AssumptionError
            If the theorem assumes a constant lag and the schedule has none.
        SpecError
            If the run is too short for the windows.
        """
        look = {"N": values["N"]} if "N" in values else {}
        last = until + int(look.get("N", 1)) - 1
        if last > tape.iterations:
            raise SpecError(
                f"{self.theorem.id} looks at windows of N = {look['N']}: at {self.theorem.horizon_symbol} = {until} it "
                f"needs {last} server updates, and this run has {tape.iterations}"
            )
        found = self.algorithm.quantities(self.parameters, tape, last, look)
        if "constant-lag" in self.theorem.core.assumed and "lag" not in found:
            if (lag := constant_lag(tape, last)) is None:
                one = assumption("constant-lag")
                said = f"{self.theorem.id} assumes constant-lag ({one.words})"
                raise AssumptionError(f"{said}, which this schedule does not meet; {one.fits}")
            found = {**found, "lag": lag}
        wanted = {*self.theorem.inputs(), *self.theorem.settable} - set(self.theorem.step)
        found = {name: value for name, value in found.items() if name in wanted}
        along = self.along(tape, until, values)
        return {**found, **{name: one.value for name, one in along.items()}}

    def along(self, tape: Tape, until: int, values: Mapping[str, Any]) -> dict[str, PointReading]:
        """Return what a theorem along the run reads off the run for the horizon ``until``; nothing for another one."""
        return {} if self.points is None else self.points.read(tape, until, int(values.get("N", 1)))

    def unenclosed(self, tape: Tape, ks: Ints, values: Mapping[str, Any]) -> frozenset[str]:
        """Return what is read off the run at one of ``ks`` at least as floats have it, with rounding not enclosed."""
        seen = [self.along(tape, k, values) for k in ks.tolist()]
        return frozenset(name for one in seen for name, reading in one.items() if not reading.enclosed)

    def running(self, problem: Problem, options: Mapping[str, Any], radius: float | None) -> "Schedules":
        """Return the same with the step sizes of the run, which a theorem that says where it goes looks at.

        Parameters
        ----------
        options
            Of the algorithm, all of them.
        radius
            Of the ball that the theorem assumes the run stays in, unit (0, 1), if any.

        Raises
        ------
        AssumptionError
            If gradients have noise: then no run shows how large they may be.
        """
        if not read_off_runs(self.theorem) and radius is None:
            return self
        found = replace(self, chosen={**options})
        points = RunPoints(self.theorem, problem, self.algorithm, found.parameters, radius)
        if points.wanted and not problem.noiseless:
            raise AssumptionError(
                f"{self.theorem.id} reads {' and '.join(points.wanted)} off the run, and with noise no run shows how "
                "large gradients may be; sigma=0, or full batches, would fit"
            )
        return replace(found, points=points) if points.wanted or radius is not None else self

    def worst(self, values: Mapping[str, Any], scheduled: Mapping[str, float], trials: int) -> dict[str, Any]:
        """Return the values, with the largest that any trial's schedule gives of what the step size depends on.

        Parameters
        ----------
        scheduled
            What is read off the schedule of the first trial.
        """
        found = dict(scheduled)
        if (self.theorem.read_by(self.theorem.step) & set(scheduled)) - set(values):
            for trial in range(1, 1 if self.certain else trials):
                for name, value in self.read(self.tape(trial), self.horizon(values), values).items():
                    found[name] = max(value, found[name])
        return {**found, **values}

    def with_step_of(self, worst: Mapping[str, Any], values: Mapping[str, Any]) -> "Schedules":
        """Return the same, for bounds of runs whose step was computed from ``worst``.

        A bound that takes the step as a number reads that number. One that does not has to compute it from the same.

        Parameters
        ----------
        values
            What does not depend on the schedule.
        """
        theorem = self.theorem
        own = set() if set(theorem.step) <= {*theorem.settable, *theorem.inputs()} else {*theorem.step}
        read = theorem.read_by(own | theorem.rule_reads) - set(values)
        return replace(self, pinned={name: worst[name] for name in read if name in worst})

    @cached_property
    def averaged(self) -> bool:
        """True if the theorem is about the mean over schedules, of which there are several, not about each of them."""
        return over(self.theorem).averaged(self.algorithm, self.parameters, self.clients, self.delays)

    def read_at(self, tape: Tape, ks: Ints, values: Mapping[str, Any]) -> list[dict[str, float]]:
        """Return what is read off a tape for each horizon of ``ks``."""
        return [self.read(tape, k, values) for k in ks.tolist()]

    def sharing(self, first: Tape, ks: Ints, values: Mapping[str, Any], trials: int) -> "Schedules":
        """Return the same, which knows what all trials keep at each of ``ks`` where the theorem bounds their mean."""
        if not self.averaged or self.certain or trials == 1:
            return self
        tapes = (self.tape(trial) if trial else first for trial in range(trials))
        return replace(self, common=kept_by_all(self.theorem, [self.read_at(tape, ks, values) for tape in tapes]))

    def evaluate(self, seen: Sequence[Mapping[str, float]], ks: Ints, values: Mapping[str, Any]) -> Evaluation:
        """Return the bound at each of ``ks``.

        Parameters
        ----------
        seen
            What was read off a schedule for each of ``ks``.
        values
            By symbol: what does not depend on the schedule.

        Raises
        ------
        AssumptionError
            If the schedule breaks a condition of the theorem, or a value that the user set.
        """
        for own in reversed(seen):
            for name in sorted(self.given.keys() & own.keys()):
                require_safe(self.theorem, name, self.given[name], own[name], "the schedule")
        known = zip(ks.tolist(), self.known(seen, ks, values), strict=True)
        each = [self.theorem.at_iterations(one, np.array([k])) for k, one in known]
        terms = {name: np.concatenate([one.terms[name] for one in each]) for name in each[0].terms}
        total = np.concatenate([one.total for one in each])
        return Evaluation(total, terms, each[-1].derived, each[-1].kind)

    def known(self, seen: Sequence[Mapping[str, float]], ks: Ints, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return what the theorem is evaluated with at each of ``ks``; parameters as for :meth:`evaluate`."""
        counter, every = self.theorem.horizon_symbol, self.theorem.horizon == "every"
        return [
            {**own, **self.pins(own), **values, **({counter: k} if every else {})}
            for k, own in zip(ks.tolist(), seen, strict=True)
        ]

    def pins(self, own: Mapping[str, float]) -> dict[str, float]:
        """Return what the step of the run was computed from, in place of what this schedule says up to some horizon.

        All trials take one step, that of the largest staleness. The theorem is about such a run with that staleness,
        and not with its own, of which its step would be larger.

        Raises
        ------
        AssumptionError
            If a number that is not merely an upper limit differs: then the run's step is none that the theorem sets.
        """
        theorem = self.theorem
        for name, used in self.pinned.items():
            seen = own.get(name, used)
            if seen != used and not (theorem.symbols[name].side == "upper" and seen < used):
                raise AssumptionError(
                    f"the step size of {theorem.id} depends on {name}, which is {used:.6g} where the step is set and "
                    f"{seen:.6g} on this schedule up to this {theorem.horizon_symbol}: the theorem sets no one "
                    "step for them"
                )
        return {name: used for name, used in self.pinned.items() if name in own}


def kept_by_all(theorem: Theorem, trials: list[list[dict[str, float]]]) -> list[dict[str, float]]:
    """Return what every trial keeps of each quantity, for each horizon: the largest of upper limits, and so on.

    Raises
    ------
    AssumptionError
        If trials differ in a quantity that is no limit: the bound then has no one value.
    """
    found = []
    for some in zip(*trials, strict=True):
        row = {}
        for name in some[0].keys() & set.intersection(*(set(one) for one in some)):
            low, high = min(one[name] for one in some), max(one[name] for one in some)
            side = theorem.symbols[name].side
            if low != high and side not in ("upper", "lower"):
                raise AssumptionError(
                    f"{theorem.id} bounds a mean over schedules, and {name} is {low:.6g} in one of them and {high:.6g} "
                    "in another: the bound has no one value"
                )
            row[name] = low if side == "lower" else high
        found.append({name: row[name] for name in some[0] if name in row})
    return found


def explain(trial: int, error: AssumptionError) -> AssumptionError:
    """Return the error with the trial whose schedule it is about."""
    return AssumptionError(f"{error} (on the schedule of trial {trial + 1})")


# The window N of theorems that read shares over windows of updates, and the steps that a bound takes as numbers.


def taken(theorem: Theorem, step: Mapping[str, float]) -> dict[str, float]:
    """Return the step sizes that the bound takes as numbers; it computes the others itself."""
    return {name: value for name, value in step.items() if name in (*theorem.settable, *theorem.inputs())}


def chosen_window(schedules: Schedules, tape: Tape, rest: dict[str, str], values: Mapping[str, Any]) -> int:
    """Return the window N: the user's, or the power of 2 with the smallest bound, which any N gives."""
    theorem = schedules.theorem
    if "N" in rest:
        return Options(theorem.id, {"N": rest.pop("N")}).integer("N", 1, minimum=1, maximum=tape.iterations)
    best, least = 1, np.inf
    given = {name: number(text, f"{theorem.id}: {name}") for name, text in rest.items() if name in theorem.step}
    for power in range(int(np.log2(tape.iterations))):
        tried = {**values, **given, "N": 2**power}
        try:
            horizon = schedules.horizon(tried)
            worst = schedules.worst(tried, schedules.read(tape, horizon, tried), 1)
            step, ks = taken(theorem, theorem.step_options(worst)), np.array([horizon])
            seen = schedules.read_at(tape, ks, tried)
            total = schedules.with_step_of(worst, tried).evaluate(seen, ks, {**tried, **step}).total[0]
        except (SymbolError, AssumptionError):
            continue  # a window without any update, or one that is too long for the step size
        if total < least:
            best, least = 2**power, total
    return best
