"""Every symbol that a bound reads: its value, on which side of the truth it lies, where it comes from.

A value that the user sets is held against what problem, delays and tape say of the same symbol. On the wrong side of
it the theorem says nothing about this run; on the safe side it is used; where nothing can be said, a verdict leans on
it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, final

from boundlab.assumptions import FIXED_TIMES, assumption
from boundlab.case import as_json
from boundlab.delays import DelayModel
from boundlab.errors import AssumptionError, BoundlabError
from boundlab.formulas.assignments import arrival_statistics
from boundlab.formulas.symbols import Side, SymbolInfo
from boundlab.formulas.written import written
from boundlab.instance.along import PointReading
from boundlab.objective import Constant, Problem
from boundlab.theorems import SECONDS, Theorem, derive, once

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
            whose: Origin = "yours" if name in self.yours else "problem"
            return SymbolValue(name, as_json(used[name]), theorem.symbols[name].side, whose, self.certified[name])
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
        if name == SECONDS:
            return SymbolValue(name, value, "exact", "theorem", "its definition: the run goes so long")
        if name == "n":
            return SymbolValue(name, value, "exact", "problem", "number of clients")
        info = theorem.symbols[name]
        if info.vector and info.role != "schedule":
            limit = {"upper": "from above", "lower": "from below"}[info.side]
            return SymbolValue(name, value, info.side, "problem", f"of each client, {limit}")
        if info.vector and name in assumption(FIXED_TIMES).defines:
            return SymbolValue(name, value, info.side, "delays", "of each update, rounded up")
        if name == theorem.horizon_symbol:
            return SymbolValue(name, value, "exact", "run", "the horizon")
        if name in theorem.core.read_as.values():
            return SymbolValue(name, value, "exact", "run", "an option of the algorithm")
        if name == "N":
            return SymbolValue(name, value, "any", "run", "the power of 2 with the smallest bound")
        if name in self.scheduled and name not in self.measured:
            return self._of_tape(name, value)
        return SymbolValue(name, value, "exact", "delays", self.delays.how_rates)

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
        if name in theorem.step or name in theorem.bound.replacements() or info.side == "any":
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
