"""Every symbol that a bound reads: its value, on which side of the truth it lies, where it comes from.

A value that the user sets is held against what problem, delays and tape say of the same symbol. On the wrong side of
it the theorem says nothing about this run; on the safe side it is used; where nothing can be said, a verdict leans on
it.
"""

import functools
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

import numpy as np
import sympy

from boundlab.algorithms import Algorithm, VirtualIterate
from boundlab.arithmetic.numbers import START_BITS, digits, float_ends
from boundlab.arithmetic.rational import ENGINE, rational
from boundlab.assumptions import FIXED_TIMES, assumption
from boundlab.case import as_json
from boundlab.delays import DelayModel
from boundlab.errors import AssumptionError, BoundlabError
from boundlab.formulas.assignments import arrival_statistics, of_arrivals
from boundlab.formulas.enclose import Formulas, KnownNumber, fraction_of, known_value
from boundlab.formulas.symbols import Side, SymbolInfo
from boundlab.formulas.written import written
from boundlab.metrics import Enclosure, Metric, metric, range_of, terms_of, valued
from boundlab.objective import Constant, Problem
from boundlab.objective.weighted import Weighted
from boundlab.randomness import Floats, Ints
from boundlab.signs import Prover
from boundlab.tape import Tape
from boundlab.theorems import SECONDS, RecursionBound, Theorem, derive, once

if TYPE_CHECKING:
    from boundlab.execute.iterates import Gradients


# Constants of theorems along the run: how large gradients are where one run takes them, horizon by horizon.

_UP: Final = 1.0 + 4.0 * float(np.finfo(np.float64).eps)
_REMEMBERED: Final = 64  # runs that are remembered
_PATHS: Final = {"server": "w[t]", "virtual": "v[t]"}
_ENDS: Final = {"segments": "w", "virtual-segments": "v"}
_SQUARED: Final = frozenset({"G_sq"})
_WHAT: Final = {"G_sq": "‖∇f_i‖²", "sigma_g": "‖∇f_i − ∇f‖", "sigma_g_mean": "root of the mean ‖∇f_i − ∇f‖²"}


@final
@dataclass(frozen=True, slots=True)
class PointReading:
    """A constant as one run up to one horizon has it.

    Parameters
    ----------
    value
        No less than the true one where ``enclosed``, else what floats say.
    how
        Where it was read, in words.
    """

    value: float
    enclosed: bool
    how: str


Limit: TypeAlias = tuple[str, str, int, float]


@final
@dataclass(frozen=True)
class RunPoints:
    """Readers of runs for one theorem.

    Parameters
    ----------
    problem
        With the objective that is minimised.
    parameters
        The run's own, its step size among them.
    limits
        What is looked at run by run: :attr:`boundlab.assumptions.Assumption.along` of the assumptions that ask for it,
        and the value of the symbol of each.
    """

    theorem: Theorem
    problem: Problem
    algorithm: Algorithm[Any]
    parameters: Any
    limits: Mapping[str, Limit] = field(default_factory=dict)
    _known: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def read(self, tape: Tape, until: int, window: int) -> dict[str, PointReading]:
        """Return the constants of a run up to the horizon ``until``, by symbol.

        Parameters
        ----------
        window
            N.

        Raises
        ------
        AssumptionError
            If the run leaves where the theorem assumes it stays, or rounding leaves that open.
        UndecidedError
            If rounding could decide at a kink.
        """
        self._require_limits(tape, until + window - 1)
        if not self.wanted:
            return {}
        run = self._remembered((tape.digest(), window), lambda: self._run(tape, window))
        return {name: run.reading(name, self.theorem.points[name], until) for name in self.wanted}

    def _remembered(self, key: Hashable, make: Callable[[], Any]) -> Any:
        if key not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = make()
        return self._known[key]

    def _require_limits(self, tape: Tape, last: int) -> None:
        """Make sure that no server model up to an update is where an assumption says that none is."""
        for name, (of, symbol, power, value) in self.limits.items():
            shown = self._remembered((tape.digest(), of), functools.partial(self._shown, tape, of))
            limit = Fraction(value) ** power
            k = next((k for k in range(1, last + 1) if not shown.upper[k] <= limit), 0)  # at x0 the symbol is its limit
            if k:
                rule, most = f"{symbol}{f'**{power}' * (power > 1)}", float(limit)
                how = f"is {shown.lower[k]:.6g}," if shown.lower[k] > limit else "may be, as far as rounding tells,"
                raise AssumptionError(
                    f"{self.theorem.id} assumes {name}, and at server model {k} {metric(of).symbol} {how} more than "
                    f"{rule} = {most:.6g}; shorter steps, or a larger {symbol}, would fit"
                )

    def _shown(self, tape: Tape, of: str) -> Enclosure:
        """Return a metric at all server models."""
        from boundlab.execute.iterates import along, at_versions

        ks = np.arange(tape.iterations + 1)
        return along(metric(of), self.problem, at_versions(tape), self.problem.full_gradients(), ks)

    @cached_property
    def wanted(self) -> tuple[str, ...]:
        """The constants that the bound reads, and those that may be set."""
        read = self.theorem.takes
        return tuple(sorted(self.theorem.read_off_runs & read))

    def _run(self, tape: Tape, window: int) -> "_SeenRun":
        from boundlab.execute.iterates import visit

        words = {word for name in self.wanted for word in self.theorem.points[name]}
        virtual = self.algorithm.virtual_iterate(self.parameters, tape)
        segments = window if "virtual-segments" in words or ("segments" in words and window > 1) else 0
        n = self.problem.n
        weights = self.problem.weights if isinstance(self.problem, Weighted) else (Fraction(1, n),) * n
        return _SeenRun(tape, visit(self.problem, tape, weights, virtual, segments), virtual, window)


@final
class _SeenRun:
    """Gradients along one run, for all horizons."""

    def __init__(self, tape: Tape, gradients: "Gradients", virtual: VirtualIterate | None, window: int) -> None:
        self._tape, self._virtual, self._window = tape, virtual, window
        self._gradients = gradients
        self._steps: dict[str, tuple[Floats, Ints]] = {}
        self._apart, self._spread = (np.maximum.accumulate(one, axis=1) for one in (gradients.apart, gradients.spread))

    def reading(self, name: str, words: tuple[str, ...], until: int) -> PointReading:
        """Return one constant."""
        top, said, last = np.zeros(2), [], until + self._window - 1
        for word in words:
            if word in _PATHS:
                found = (self._spread if name == "sigma_g_mean" else self._apart)[:, until - 1]
                said.append(f"{_PATHS[word]}, t < {until}, of all f_i")
            elif word in _ENDS:
                found = self._gradients.segments
                if self._window > 1 or word != "segments":
                    said.append(f"the segments w[0]–{_ENDS[word]}[t], t < {self._window}, of all f_i")
            else:
                if word not in self._steps:
                    self._steps[word] = self._of_steps(word)
                largest, steps = self._steps[word]
                found = largest[:, last - 1]
                said.append(f"the {steps[last - 1]} local steps of updates 1…{last}")
            top = np.maximum(top, found)
        # A number that rounding leaves open says nothing: then that of floats is taken, and no verdict rests on it.
        enclosed = self._gradients.encloses(top)
        value = float(top[int(enclosed)])
        how = f"largest {_WHAT.get(name, '‖∇f_i‖')} at {' and '.join(said)}; each trial its own"
        return PointReading(value**2 * _UP if name in _SQUARED else value, enclosed, how)

    def _of_steps(self, word: str) -> tuple[Floats, Ints]:
        """Return the largest ‖∇f_i‖ at the local steps that count up to each server update, and how many these are."""
        tape = self._tape
        first = np.full(len(tape.descend.dst), tape.iterations)
        if self._virtual is not None:
            entered = np.maximum(np.arange(len(self._virtual.runs)) - self._virtual.before, 0)
            np.minimum.at(first, self._virtual.runs, entered)
        else:
            np.minimum.at(first, tape.uses.update, tape.uses.version)
        if word == "rounds":  # what a client does before a step that counts, counts with it
            for client in range(tape.clients):
                own = np.flatnonzero(tape.descend.client == client)
                first[own] = np.minimum.accumulate(first[own][::-1])[::-1]
        largest, count = np.zeros((2, tape.iterations + 1)), np.zeros(tape.iterations + 1, dtype=np.int64)
        with np.errstate(invalid="ignore"):  # of a run that leaves the floats
            for place in (0, 1):
                np.maximum.at(largest[place], first, self._gradients.steps[place])
        np.add.at(count, first, tape.descend.steps)
        return np.maximum.accumulate(largest[:, :-1], axis=1), np.cumsum(count[:-1])


def at_start(theorem: Theorem, problem: Problem) -> dict[str, float]:
    """Return the constants as they are at x0, where the choice of a window asks for some numbers."""
    each = np.array([problem.gradient(client, problem.x0) for client in range(problem.n)], dtype=np.float64)
    away = np.linalg.norm(each - problem.full_gradient(problem.x0), axis=1)
    top = float(np.linalg.norm(each, axis=1).max())
    known = {"G": top, "G_sq": top**2, "sigma_g": float(away.max()), "sigma_g_mean": float(np.sqrt((away**2).mean()))}
    return {name: value for name, value in known.items() if name in theorem.points}


Origin = Literal["problem", "delays", "tape", "run", "theorem", "yours"]

_ROUNDING = 1e-12  # of two floats that stand for the same number
_LIMIT = {"upper": "an upper limit", "lower": "a lower limit", "exact": "the value itself"}


@final
@dataclass(frozen=True, slots=True)
class SymbolValue:
    """One symbol of a bound, or one inequality that the theorem assumes at every x.

    Parameters
    ----------
    value
        A number, or a list with one number a client; of an inequality its text.
    side
        ``exact``, ``upper`` (never below the truth), ``lower`` (never above it), or ``any``: all values will do.
    origin
        ``problem``, ``delays``, ``tape``, ``run`` (its horizon and options), ``theorem`` (its step size), ``yours``.
    how
        Where the number comes from, in a few words.
    certified
        Whether nothing but problem, delays, tape and theorem stands behind it.
    """

    name: str
    value: Any
    side: Side
    origin: Origin
    how: str
    certified: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "name": self.name,
            "value": self.value,
            "side": self.side,
            "origin": self.origin,
            "how": self.how,
            "certified": self.certified,
        }

    def words(self) -> str:
        """Return what a verdict says that depends on it."""
        if isinstance(self.value, str):
            return f"{self.name} holds at every x ({self.how})"
        whose = "your word" if self.origin == "yours" else self.how
        return f"{self.name} = {self.value:.6g} ({whose})"


@final
@dataclass(frozen=True, slots=True)
class AtEveryX:
    """Inequalities that a theorem assumes at every x, and how it was decided whether they hold.

    Parameters
    ----------
    values
        Symbols of the theorem's own with the best values that are certified.
    readings
        One for each inequality.
    certified
        The symbols that only certified inequalities bound, each with what is said of it.
    outside
        What a point refutes, although the user goes beyond it, with the reasons.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    readings: tuple[SymbolValue, ...] = ()
    certified: Mapping[str, str] = field(default_factory=dict)
    outside: Mapping[str, str] = field(default_factory=dict)


@once()
def _step_in_words(theorem: Theorem, name: str) -> str:
    return written(theorem.step[name], theorem.symbols, theorem.spelling())


def safe(info: SymbolInfo, given: float, true: float) -> bool:
    """Return whether a value may stand in place of the true one, or of the certified limit of it."""
    room = _ROUNDING * abs(true)
    match info.side:
        case "upper":
            return given >= true - room
        case "lower":
            return given <= true + room
        case "exact":
            return abs(given - true) <= room
        case "any":
            return True


def require_safe(theorem: Theorem, name: str, given: float, true: float, whose: str) -> None:
    """Refuse a value on the wrong side.

    Parameters
    ----------
    true
        What the run itself says of the symbol.
    whose
        Who says so: problem huber, the schedule of trial 1.

    Raises
    ------
    AssumptionError
        With both numbers.
    """
    info = theorem.symbols[name]
    if safe(info, given, true):
        return
    more = {"upper": f", or set at least {true:.12g}", "lower": f", or set at most {true:.12g}"}.get(info.side, "")
    raise AssumptionError(
        f"{theorem.id}: {name} = {given:.12g} is set, but {whose} has {name} = {true:.12g} ({info.meaning}), and the "
        f"bound needs {_LIMIT[info.side]}; leave {name} out{more}"
    )


@final
@dataclass(frozen=True)
class Sources:
    """Values that the parts of an instance give to the symbols of a theorem.

    Parameters
    ----------
    constants
        The problem's.
    measured
        All that problem, delays and the run's own options determine, by symbol.
    scheduled
        What is read off the schedule of the first trial.
    averaged
        Whether the theorem is about the mean over schedules, of which only samples are seen.
    yours
        What the user set.
    certified
        The symbols with values that certificates cover, each with what is said of it.
    along
        What a theorem along the run read off the run of the first trial.
    """

    theorem: Theorem
    problem: Problem
    delays: DelayModel
    constants: Mapping[str, Constant]
    measured: Mapping[str, Any]
    scheduled: Mapping[str, float]
    averaged: bool
    yours: Mapping[str, float]
    certified: Mapping[str, str]
    along: Mapping[str, PointReading] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse values on the wrong side of what problem, delays and options determine.

        Raises
        ------
        AssumptionError
            With both numbers.
        """
        known = self._determined()
        for name, given in self.yours.items():
            if name in known and name not in self.theorem.step:
                require_safe(self.theorem, name, given, float(known[name]), self._who(name))

    @property
    def chosen(self) -> dict[str, float]:
        """Values that the user set in place of others; what follows from p was checked and stays as it follows."""
        return {name: value for name, value in self.yours.items() if name not in self._of_arrivals}

    def readings(self, used: Mapping[str, Any], derived: Mapping[str, Any]) -> tuple[SymbolValue, ...]:
        """Return the table of all symbols that the bound reads, and of all that is somebody's word of the problem.

        Parameters
        ----------
        used
            What the bound was evaluated with, by symbol.
        derived
            What follows from that by the theorem's definitions and its step size.

        Raises
        ------
        AssumptionError
            If a value of the user's contradicts a definition.
        """
        theorem = self.theorem
        clock = (SECONDS,) if theorem.left.in_seconds else ()
        names = dict.fromkeys((*theorem.inputs(used), *theorem.step, *self.yours, *clock))
        if "p" in used:
            follow = self._of_arrivals.keys() - {"n"}
            names = dict.fromkeys(("p", *(name for name in names if name not in follow), "p_s"))
        table = tuple(self._reading(name, used, derived) for name in names if name in used or name in derived)
        shown, said = {reading.name for reading in table}, self.problem.claims()
        return (*table, *(self._claimed(name, one.value) for name, one in said.items() if name not in shown))

    def _reading(self, name: str, used: Mapping[str, Any], derived: Mapping[str, Any]) -> SymbolValue:
        theorem = self.theorem
        if name in self.problem.claims():
            return self._claimed(name, as_json(self.yours.get(name, used.get(name, derived.get(name)))))
        if name in self.certified:
            said: Origin = "yours" if name in self.yours else "problem"
            return SymbolValue(name, as_json(used[name]), theorem.symbols[name].side, said, self.certified[name])
        if name in self.yours:
            return self._of_user(name, derived)
        value = as_json(used[name] if name in used else derived[name])
        if name == "R" and name in self.constants and self.problem.optimum().distance is None:
            # The theorem holds with any comparison point at the cost of its gap; judges that refute it ask for x*.
            return SymbolValue(
                name, value, "exact", "problem", "the distance to a near-minimiser, not certified for x*"
            )
        if name in self.constants:
            constant = self.constants[name]
            return SymbolValue(name, value, constant.side, "problem", constant.how)
        if name in theorem.step:
            return SymbolValue(name, value, "exact", "theorem", f"the step size is {_step_in_words(theorem, name)}")
        if name in self._of_run:
            side, whose, how = self._of_run[name]
            return SymbolValue(name, value, side, whose, how)
        info = theorem.symbols[name]
        if info.vector and info.role != "schedule":
            limit = {"upper": "from above", "lower": "from below"}[info.side]
            return SymbolValue(name, value, info.side, "problem", f"of each client, {limit}")
        if info.vector and name in assumption(FIXED_TIMES).defines:
            return SymbolValue(name, value, info.side, "delays", "of each update, rounded up")
        if name in self.scheduled and name not in self.measured:
            return self._of_tape(name, value)
        return SymbolValue(name, value, "exact", "delays", self.delays.how_rates)

    @cached_property
    def _of_run(self) -> dict[str, tuple[Side, Origin, str]]:
        """Side, origin and words of what theorem and run decide by themselves."""
        option: tuple[Side, Origin, str] = ("exact", "run", "an option of the algorithm")
        return {
            "N": ("any", "run", "the power of 2 with the smallest bound"),
            **dict.fromkeys(self.theorem.core.read_as.values(), option),
            self.theorem.horizon_symbol: ("exact", "run", "the horizon"),
            "n": ("exact", "problem", "number of clients"),
            SECONDS: ("exact", "theorem", "its definition: the run goes so long"),
        }

    def _claimed(self, name: str, value: Any) -> SymbolValue:
        said = self.problem.claims()[name]
        return SymbolValue(name, value, said.side, "problem", said.how, certified=False)

    def _of_tape(self, name: str, value: Any) -> SymbolValue:
        sampled = self.averaged and not self.one_schedule
        if (seen := self.along.get(name)) is not None and not sampled:
            how = seen.how if seen.enclosed else f"{seen.how}; in floats, rounding is not enclosed"
            return SymbolValue(name, value, "upper", "tape", how, certified=seen.enclosed)
        info = self.theorem.symbols[name]
        if sampled and (info.side != "exact" or info.role == "schedule"):
            how = "from sampled schedules; others may have more"
            known: Side = {"upper": "lower", "lower": "upper"}.get(info.side, info.side)  # type: ignore[assignment]
            return SymbolValue(name, value, known, "tape", how, certified=False)
        how = "every schedule has it" if self.averaged else "read off the schedule of trial 1; each trial has its own"
        return SymbolValue(name, value, "exact", "tape", how)

    @property
    def one_schedule(self) -> bool:
        """True if every schedule has the same updates in the same order: one client answers itself."""
        return self.problem.n == 1

    def _of_user(self, name: str, derived: Mapping[str, Any]) -> SymbolValue:
        theorem, given = self.theorem, self.yours[name]
        info = theorem.symbols[name]
        if name in theorem.step or name in theorem.bound.replaces or info.side == "any":
            return SymbolValue(name, given, "any", "yours", "a choice: the theorem holds for each")
        known = self._determined()
        if name in known:
            return SymbolValue(
                name, given, info.side, "yours", f"checked: {self._who(name)} has {float(known[name]):.6g}"
            )
        if name in self.scheduled and (self.one_schedule or not self.averaged):
            how = f"checked: the schedule has {self.scheduled[name]:.6g}"
            known_well = name not in self.along or self.along[name].enclosed
            return SymbolValue(name, given, info.side, "yours", how, certified=known_well)
        if name in self.scheduled:
            how = f"sampled schedules have {self.scheduled[name]:.6g}; others may have more"
            return SymbolValue(name, given, info.side, "yours", how, certified=False)
        rule = theorem.definitions.get(name)
        if rule is None:
            return SymbolValue(
                name, given, info.side, "yours", "your word: nothing here determines it", certified=False
            )
        follows = self._defined(name, derived)
        if follows is None:
            return SymbolValue(name, given, info.side, "yours", f"in place of {rule}", certified=False)
        if info.side == "exact":
            require_safe(theorem, name, given, follows, "its definition")
        return SymbolValue(
            name,
            given,
            info.side,
            "yours",
            f"in place of {rule} = {follows:.6g}",
            certified=safe(info, given, follows) and not theorem.read_by([name]) & self.scheduled.keys(),
        )

    def _defined(self, name: str, derived: Mapping[str, Any]) -> float | None:
        """Return what the theorem's definition gives, or None if it gives no number."""
        values = {**self.scheduled, **self._determined(), **self.yours}
        values |= {
            step: derived[step] for step in self.theorem.step if step in derived and step in self.theorem.settable
        }
        del values[name]
        try:
            found = derive(self.theorem, values, [name], 1)[name]
        except BoundlabError:
            return None
        return float(found) if found.size == 1 else None

    def _determined(self) -> dict[str, Any]:
        """Return what is measured, and what follows from p."""
        return {**self.measured, **self._of_arrivals}

    @cached_property
    def _of_arrivals(self) -> dict[str, float]:
        """Return n, p_s, p_min and qbar, which follow from p."""
        if "p" not in self.measured:
            return {}
        return arrival_statistics(self.measured["p"], self.measured.get("p_s"))

    def _who(self, name: str) -> str:
        if name in self.constants:
            constant = self.constants[name]
            return f"problem {self.problem.id} ({constant.side}, {constant.how})"
        return "the run"


# The right side of an instance in balls: constants, steps and settings are the exact numbers that their floats are.

_ENOUGH: Final = 60  # bits that a right side shall have
_MOST: Final = 1 << 13
# What is computed from rates or read off a schedule is a sum or product of this many roundings at most, relatively.
_READ: Final = 256 * float(np.finfo(np.float64).eps)


def right_sides(
    theorem: Theorem,
    values: Sequence[Mapping[str, Any]],
    measured: Collection[str],
    within: Mapping[str, KnownNumber] = MappingProxyType({}),
) -> Enclosure:
    """Enclose the bound at some horizons.

    Parameters
    ----------
    values
        For each of them what the theorem is evaluated with, by symbol, the counter among them.
    measured
        The symbols that were read off a schedule or computed from rates: their floats may be rounded.
    within
        Ranges of symbols of which the float is one end; a bound that is iterated ignores them.
    """
    if theorem.shape:
        return Enclosure.unproved([float(theorem.evaluate(one).total) for one in values])
    if not theorem.bound.closed:
        return _iterated(theorem, values)
    total, known = sympy.Add(*theorem.bound.terms.values()), dict[Any, tuple[float, float, float]]()
    ends = []
    for one in values:
        key = tuple(sorted((name, np.asarray(value).tobytes()) for name, value in one.items()))
        if key not in known:
            formulas = formulas_at(theorem, one, measured)
            known[key] = _ends(Formulas({**formulas.values, **within}, formulas.rules), total)
            if not np.isfinite(known[key]).all():  # what is shown is the number that floats find
                known[key] = (float(theorem.evaluate(one).total), *known[key][1:])
        ends.append(known[key])
    found = np.array(ends) + 0.0  # no −0
    return Enclosure(found[:, 0], found[:, 1], found[:, 2])


def left_side(theorem: Theorem, formulas: Callable[[], Formulas], horizon: int) -> Metric:
    """Return the left side with the numbers of its formulas.

    Parameters
    ----------
    formulas
        Gives the symbols at the numbers that whoever asks takes them for; most left sides read none.
    horizon
        The largest K (or T) that is asked for.

    Raises
    ------
    SpecError
        If a weight has no value, or none that a weight can have.
    """
    if range_of(theorem.left) is None and not terms_of(theorem.left):
        return theorem.left

    known = formulas()

    def value(name: str) -> Fraction | None:
        return fraction_of(known.exact(theorem.symbols[name].symbol))

    return valued(theorem.left, functools.cache(value), horizon, theorem.id)


def formulas_at(theorem: Theorem, values: Mapping[str, Any], measured: Collection[str]) -> Formulas:
    """Return all symbols of a theorem at numbers, and the rules of those that follow from others."""
    known = {
        name: known_value(value, functools.partial(known_number, rounded=name in measured))
        for name, value in values.items()
    }
    if "p" in values:
        known |= _of_arrivals(values["p"], values.get("p_s"))
    return Formulas(known, {name: rule for name, rule in theorem.defining().items() if name not in known})


@functools.lru_cache(maxsize=8192)
def known_number(value: float, *, rounded: bool) -> KnownNumber:
    """Return the exact number that a float is; where it may be rounded, the simple fraction that it stands for."""
    if rounded:
        found = rational(value, ENGINE)
        return KnownNumber(None, value, _READ) if found is None else KnownNumber.of(found)
    return KnownNumber.of(Fraction(value))


def _of_arrivals(p: Any, p_s: float | None) -> dict[str, KnownNumber]:
    """Return what follows from the probabilities of the clients, as fractions where these are simple and sum to 1."""
    each = np.asarray(p, dtype=np.float64).tolist()
    server = 1.0 - sum(each) if p_s is None else float(p_s)
    found = [rational(one, ENGINE) for one in (*each, server)]
    simple = [one for one in found if one is not None]
    if len(simple) == len(found) and sum(simple) == 1:
        return {name: KnownNumber.of(value) for name, value in of_arrivals(simple[:-1], simple[-1]).items()}
    about = {name: float(value) for name, value in of_arrivals(each, server).items()}
    rounded = {name: KnownNumber(None, value, _READ + len(each) * _READ / 64) for name, value in about.items()}
    return {**rounded, "n": KnownNumber.of(len(each))}


def grows_with(theorem: Theorem, names: Collection[str], known: Mapping[str, Any]) -> bool:
    """Return whether the right side certainly falls with none of some symbols, all others held fixed.

    Parameters
    ----------
    known
        The symbols that have numbers; the others follow by their rules.
    """
    total = sympy.Add(*theorem.bound.terms.values())
    rules = {theorem.symbols[name].symbol: rule for name, rule in theorem.defining().items() if name not in known}
    while rules.keys() & total.free_symbols:
        total = total.xreplace(rules)
    prover = Prover(theorem.symbols)
    return all(prover.direction(total, theorem.symbols[name].symbol) in (0, 1) for name in names)


def _ends(formulas: Formulas, total: sympy.Expr) -> tuple[float, float, float]:
    """Return the middle and both ends, with more digits where they cancel."""
    bits = START_BITS
    while True:
        with digits(bits):
            found = formulas.ball(total)
            if not found.is_finite() or found.rel_accuracy_bits() >= _ENOUGH or 4 * bits > _MOST or found == 0:
                return float_ends(found)
        bits *= 4


def _iterated(theorem: Theorem, values: Sequence[Mapping[str, Any]]) -> Enclosure:
    """Enclose a recursion, horizons that differ in nothing else in one run."""
    bound, counter = theorem.bound, theorem.horizon_symbol
    assert isinstance(bound, RecursionBound)  # noqa: S101  (the only one that is no sum of formulas)
    ends = np.empty((2, len(values)))
    groups: dict[Any, list[int]] = {}
    for place, one in enumerate(values):
        rest = tuple(sorted((name, np.asarray(value).tobytes()) for name, value in one.items() if name != counter))
        groups.setdefault(rest, []).append(place)
    for places in groups.values():
        ks, back = np.unique([int(values[place][counter]) for place in places], return_inverse=True)
        found = derive(theorem, {**values[places[0]], counter: int(ks[-1])}, None, theorem.first_iteration)
        given = {name: value if theorem.symbols[name].vector else float(value) for name, value in found.items()}
        for end, row in zip(bound.between(given, ks), ends, strict=True):
            row[places] = end[back.ravel()]
    return Enclosure(ends.mean(axis=0), ends[0], ends[1])
