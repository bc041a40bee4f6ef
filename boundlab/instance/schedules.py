"""Options and rates of a theorem's run, and what is read off the schedules of its trials."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NoReturn, final

import numpy as np

from boundlab.algorithms import Algorithm, StepRule, own_rates, without_open
from boundlab.assumptions import CONSTANT_LAG, assumption
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import AssumptionError, SpecError, SymbolError
from boundlab.formulas.symbols import SYMBOLS, having
from boundlab.instance.readings import Limit, PointReading, RunPoints, formulas_at, require_safe
from boundlab.metrics import INDEX
from boundlab.objective import Problem
from boundlab.options import Options, number
from boundlab.randomness import Ints, Streams
from boundlab.simulate.work import compile_trial
from boundlab.tape import NOTHING, RecordAt, Tape, constant_lag
from boundlab.theorems import Evaluation, Theorem, at_steps, certain, once, over

_PLAIN = (str, int)  # options that have a hash, and no two of which are equal and written otherwise


def rates(theorem: Theorem, algorithm: Algorithm[Any]) -> frozenset[str]:
    """Return the names of step sizes and server rates: the theorem says what they are, or leaves them free."""
    return own_rates(algorithm) | set(theorem.step)


def options_of(theorem: Theorem, algorithm: Algorithm[Any]) -> frozenset[str]:
    """Return the algorithm's parameters that are set like any option: all but the rates."""
    return frozenset(algorithm.parameters) - rates(theorem, algorithm)


def parameters(theorem: Theorem, algorithm: Algorithm[Any], options: Mapping[str, Any]) -> Any:
    """Return the algorithm's parameters with these options, and 1 in place of its rates that nobody has computed yet.

    Raises
    ------
    SpecError
        If the algorithm does not take the options.
    """
    if all(type(value) in _PLAIN for value in options.values()):
        return _parameters(theorem, algorithm, tuple((name, value, type(value)) for name, value in options.items()))
    return _read(theorem, algorithm, options)


def _read(theorem: Theorem, algorithm: Algorithm[Any], options: Mapping[str, Any]) -> Any:
    return algorithm.read(Options(algorithm.id, without_open({**dict.fromkeys(theorem.step, 1), **options})))


@once(4096)
def _parameters(theorem: Theorem, algorithm: Algorithm[Any], options: tuple[tuple[str, Any, type], ...]) -> Any:
    return _read(theorem, algorithm, {name: value for name, value, _ in options})


def split(
    theorem: Theorem, algorithm: Algorithm[Any], settings: Mapping[str, Any], *, override: bool = True
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell the algorithm's options from symbols of the theorem.

    Parameters
    ----------
    settings
        By name, in the words in which they were given.
    override
        Whether they may differ from the options that the proof takes; a comparison then says so by itself.

    Returns
    -------
    options
        Those of the proof, and those that were set.
    symbols
        Everything else, known to the theorem or not.

    Raises
    ------
    AssumptionError
        If an option differs from the proof's and may not.
    """
    options: dict[str, Any] = dict(theorem.core.fixed)
    own = options_of(theorem, algorithm)
    for name, value in () if override else settings.items():
        if name in own and name in options and str(options[name]) != str(value):
            raise AssumptionError(f"{theorem.id}: the proof takes {name}={options[name]}, not {name}={value}")
    options |= {name: value for name, value in settings.items() if name in own}
    if not override:
        for reason in differences(theorem, algorithm, options).values():
            raise AssumptionError(f"{theorem.id}: {reason}")
    return options, {name: value for name, value in settings.items() if name not in own}


def filled(
    theorem: Theorem,
    algorithm: Algorithm[Any],
    options: dict[str, Any],
    values: Mapping[str, Any],
    measured: Callable[[], Mapping[str, Any]] = dict,
) -> None:
    """Put numbers into the option that is the step's rule, where symbols stand in that.

    Parameters
    ----------
    options
        Of the algorithm; changed in place.
    values
        By symbol.
    measured
        Gives what is read off the schedule.

    Raises
    ------
    SpecError
        If a symbol has no number that is a fraction.
    """
    rule = options.get(algorithm.rule)
    if not isinstance(rule, StepRule):
        return
    if theorem.read_by(theorem.rule_reads, values) & having("schedule") - values.keys():
        values = {**measured(), **values}
    formulas, put = formulas_at(theorem, values, fractional_options(theorem)), {}
    for one in rule.formula.free_symbols:
        if one.name in theorem.symbols and one.name != theorem.horizon_symbol:
            put[one] = found = formulas.exact(one)
            if found is None or not found.is_Rational:
                raise SpecError(f"{theorem.id}: the step reads {one.name}, which has no number here that is a fraction")
    options[algorithm.rule] = StepRule(rule.formula.xreplace(put))


def _no_tape() -> NoReturn:
    raise SpecError("there is no schedule here before there is a step; alpha_at(k) takes steps that are formulas of k")


def at_options(
    theorem: Theorem, algorithm: Algorithm[Any], options: Mapping[str, Any], tape: Callable[[], Tape] = _no_tape
) -> Theorem:
    """Return the theorem as it reads for a run with these options: what it says of any steps, of those of the run.

    Parameters
    ----------
    tape
        Gives that of the run, where all runs have the same.

    Raises
    ------
    SpecError
        If the algorithm has no such steps.
    """
    if not theorem.reads_steps:
        return theorem
    factor = algorithm.step_factor(parameters(theorem, algorithm, options), tape)
    if factor is None:
        raise SpecError(f"{theorem.id} reads alpha_at(k), and the steps of {algorithm.id} are no formula of k")
    k = dict.fromkeys(factor.free_symbols, INDEX["K"])
    return at_steps(theorem, SYMBOLS["alpha"].symbol * factor.xreplace(k))


def differences(theorem: Theorem, algorithm: Algorithm[Any], options: Mapping[str, Any]) -> dict[str, str]:
    """Return the options in which a run differs from what the theorem is about, each with one line on how.

    An option that the theorem neither names nor leaves open stands at its documented default.

    Parameters
    ----------
    options
        Those of the run, the rates apart.

    Raises
    ------
    SpecError
        If the algorithm does not take the options.
    """

    def read(given: Mapping[str, Any]) -> Any:
        """Return the parameters, or None where the options do not do."""
        try:
            return parameters(theorem, algorithm, given)
        except SpecError:
            return None

    def without(names: Collection[str]) -> Any:
        return read({name: value for name, value in options.items() if name not in names})

    chosen = parameters(theorem, algorithm, options)
    closed = [name for name in sorted(options_of(theorem, algorithm) & set(options)) if not theorem.core.varies(name)]
    unsaid = [name for name in closed if name not in theorem.core.fixed]
    found = {}
    for name in closed:
        want = theorem.core.fixed.get(name)
        if want is None:
            # Some options go with others. One without a default is chosen by whoever runs the algorithm.
            usual = without([name]) or without(unsaid)
            if usual is not None and usual != chosen:
                found[f"{name} at its default"] = f"it leaves {name} at its default, the run has {name}={options[name]}"
        elif read({**options, name: want}) != chosen:
            found[f"{name}={want}"] = f"the proof takes {name}={want}, the run {name}={options[name]}"
    return found


def fractional_options(theorem: Theorem) -> frozenset[str]:
    """Return the symbols that options are read as and that are no integers, such as the probability of a coin."""
    return frozenset(name for name in theorem.core.read_as.values() if not theorem.symbols[name].domain.integer)


def own_parameters(
    theorem: Theorem, algorithm: Algorithm[Any], options: Mapping[str, Any], measured: Mapping[str, Any]
) -> dict[str, tuple[str, float]]:
    """Return the parameters that a formula reads, as parameter → (symbol, value), 1 where nothing is set.

    Parameters
    ----------
    measured
        What is read off the schedule: it needs no parameter.

    Raises
    ------
    SpecError
        If one is no integer from 1 on, or no number where its symbol is none; if one is required and not set.
    """
    given = Options(algorithm.id, options)

    def value(parameter: str, symbol: str) -> float:
        if theorem.symbols[symbol].domain.integer:
            return given.integer(parameter, 1, minimum=1)
        given.require(parameter)
        return given.number(parameter, 1.0)

    return {
        parameter: (symbol, value(parameter, symbol))
        for parameter, symbol in theorem.core.read_as.items()
        if symbol not in measured and (theorem.core.varies(parameter) or parameter in options)
    }


# How many schedules of a mean are looked at where each has to meet an assumption: a rare one may be missed.
_LOOKED_AT: Final = 40


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
    def _wanted(self) -> frozenset[str]:
        """Symbols of which a schedule may say something: not constants of the problem, nor rates, nor the horizon."""
        theorem = self.theorem
        of_problem = having("function", "noise", "heterogeneity", "start", symbols=theorem.symbols)
        return theorem.takes - of_problem - {*theorem.step, theorem.horizon_symbol}

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
                f"needs {last} server updates, and this run has {tape.iterations}: {self.theorem.horizon_symbol} = "
                f"{self.horizon(values)} is the last that fits"
            )
        wanted = self._wanted
        found = self.algorithm.quantities(self.parameters, tape, last, look) if wanted else {}
        if CONSTANT_LAG in self.theorem.core.assumed and "lag" not in found:
            found = {**found, "lag": self._lag(tape, last)}
        found = {name: value for name, value in found.items() if name in wanted}
        along = self.along(tape, until, values)
        return {**found, **{name: one.value for name, one in along.items()}}

    def _lag(self, tape: Tape, until: int) -> int:
        """Return the lag that all updates up to ``until`` share, or refuse the schedule."""
        if (lag := constant_lag(tape, until)) is None:
            one = assumption(CONSTANT_LAG)
            said = f"{self.theorem.id} assumes {CONSTANT_LAG} ({one.words})"
            raise AssumptionError(f"{said}, which this schedule does not meet; {one.fits}")
        return lag

    def require_lag(self, trials: int) -> None:
        """Refuse a mean over schedules, or events of a server of its own, where the theorem assumes one lag.

        Who bounds each schedule reads the lag off each. Of a mean nobody does, and a run of it may have none.

        Raises
        ------
        AssumptionError
            If one of the schedules looked at does not meet ``constant-lag``.
        """
        if CONSTANT_LAG not in self.theorem.core.assumed or not (self.averaged or self.algorithm.server == "any"):
            return
        for trial in range(1 if self.certain else max(trials, _LOOKED_AT)):
            self._lag(self.tape(trial), self.iterations)

    def along(self, tape: Tape, until: int, values: Mapping[str, Any]) -> dict[str, PointReading]:
        """Return what a theorem along the run reads off the run for the horizon ``until``; nothing for another one."""
        return {} if self.points is None else self.points.read(tape, until, int(values.get("N", 1)))

    def unenclosed(self, tape: Tape, ks: Ints, values: Mapping[str, Any]) -> frozenset[str]:
        """Return what is read off the run at one of ``ks`` at least as floats have it, with rounding not enclosed."""
        seen = [self.along(tape, k, values) for k in ks.tolist()]
        return frozenset(name for one in seen for name, reading in one.items() if not reading.enclosed)

    def running(self, problem: Problem, options: Mapping[str, Any], limits: Mapping[str, Limit]) -> "Schedules":
        """Return the same with the step sizes of the run, which a theorem that says where it goes looks at.

        Parameters
        ----------
        options
            Of the algorithm, all of them.
        limits
            As :class:`RunPoints` takes them.

        Raises
        ------
        AssumptionError
            If gradients have noise: then no run shows how large they may be.
        """
        if not self.theorem.read_off_runs and not limits:
            return self
        found = replace(self, chosen={**options})
        points = RunPoints(self.theorem, problem, self.algorithm, found.parameters, limits)
        if points.wanted and not problem.noiseless:
            raise AssumptionError(
                f"{self.theorem.id} reads {' and '.join(points.wanted)} off the run, and with noise no run shows how "
                "large gradients may be; sigma=0, or full batches, would fit"
            )
        return replace(found, points=points) if points.wanted or limits else self

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
        own = set() if theorem.takes.issuperset(theorem.step) else {*theorem.step}
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

    def evaluate(
        self, seen: Sequence[Mapping[str, float]], ks: Ints, values: Mapping[str, Any], *, exactly: bool = True
    ) -> Evaluation:
        """Return the bound at each of ``ks``.

        Parameters
        ----------
        seen
            What was read off a schedule for each of ``ks``.
        values
            By symbol: what does not depend on the schedule.
        exactly
            Whether conditions are checked at the very numbers, else up to rounding.

        Raises
        ------
        AssumptionError
            If the schedule breaks a condition of the theorem, or a value that the user set.
        """
        for own in reversed(seen):
            for name in sorted(self.given.keys() & own.keys()):
                require_safe(self.theorem, name, self.given[name], own[name], "the schedule")
        known = zip(ks.tolist(), self.known(seen, ks, values), strict=True)
        each = [self.theorem.at_iterations(one, np.array([k]), exactly=exactly) for k, one in known]
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
    return {name: value for name, value in step.items() if name in theorem.takes}


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
