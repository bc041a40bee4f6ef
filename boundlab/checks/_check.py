"""Result of a check: a verdict, a witness, and what follows from a failure."""

import gc
import itertools
import math
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, final

import numpy as np
import sympy

from boundlab.errors import BoundlabError, FormulaError, SpecError, UndecidedError
from boundlab.files import schema
from boundlab.formulas.enclose import enclose
from boundlab.formulas.floats import evaluate
from boundlab.formulas.symbols import SymbolInfo, apart, names_of, ordered
from boundlab.formulas.units import degrees
from boundlab.formulas.written import expand, letters_of, size, substitute, written
from boundlab.result import Tabular
from boundlab.signs import Prover
from boundlab.theorems import Condition, Theorem, at_lowest
from boundlab.verdict import ExitCode

# The clock as the last resort: what is asked is bounded by counts, and SymPy may still have a corner that is not.
#
# On a slow machine the environment variable BOUNDLAB_PATIENCE multiplies the limit.

# Seconds of processor time for a group of checks; the slowest built-in theorem takes two.
LAST_RESORT = 20.0
_AGAIN = 0.5


class _OutOfTimeError(BaseException):
    """Passes through every ``except Exception`` on its way out."""


def patience() -> float:
    """Return what all limits are multiplied with: BOUNDLAB_PATIENCE, 1 where it is not set.

    Raises
    ------
    SpecError
        If it is no positive number.
    """
    written = os.environ.get("BOUNDLAB_PATIENCE") or "1"
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise SpecError(f"BOUNDLAB_PATIENCE must be a positive number, such as 5, got {written!r}")
    return value


def limited() -> bool:
    """Return whether time can be limited here: in the main thread, where the system has interval timers."""
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Stop what is done inside after some seconds of processor time, where that can be limited; do not nest.

    Processor time, so that a busy machine decides what an idle one does.

    Raises
    ------
    UndecidedError
        If the time is over.
    """
    if not limited():
        yield
        return
    if seconds <= 0:
        raise UndecidedError("no time is left")

    def stop(*_: Any) -> None:
        # Again after a while, should some code swallow it after all.
        signal.setitimer(signal.ITIMER_PROF, _AGAIN)
        raise _OutOfTimeError

    before = signal.signal(signal.SIGPROF, stop)
    # What is raised inside a collection of garbage goes nowhere: there is none meanwhile.
    collecting = gc.isenabled()
    gc.disable()
    signal.setitimer(signal.ITIMER_PROF, seconds * patience())
    try:
        try:
            yield
        finally:
            _disarm(before)
            if collecting:
                gc.enable()
    except _OutOfTimeError:
        raise UndecidedError(f"not decided in {seconds:.2g} s") from None


def _disarm(before: Any) -> None:
    """Stop the timer whatever happens: one that goes on would end the program later."""
    while True:
        try:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
        except _OutOfTimeError:
            continue
        return


# A theorem as the checks see it: its formula in base symbols, points where it speaks, exact comparisons.

_POINTS = 200
_LARGEST = 20_000


@dataclass(frozen=True)
class View:
    """A theorem, or what it implies: some of its terms under some of its conditions.

    Parameters
    ----------
    theorem
        The theorem.
    dropped
        Terms that the claim implies to be superfluous.
    unconditional
        Statements of conditions that the claim implies to be superfluous.
    """

    theorem: Theorem
    dropped: frozenset[str] = frozenset()
    unconditional: frozenset[str] = frozenset()
    _cache: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def symbols(self) -> Mapping[str, SymbolInfo]:
        """The table of the theorem's names."""
        return self.theorem.symbols

    def symbol(self, name: str) -> sympy.Symbol:
        """Return the SymPy symbol of a name."""
        return self.symbols[name].symbol

    @cached_property
    def formula(self) -> bool:
        """True if the bound is in closed form."""
        return self.theorem.bound.closed

    @cached_property
    def terms(self) -> Mapping[str, sympy.Expr]:
        """The named terms as they stand, one that mixes units in its summands; none for a recursion."""
        found: dict[str, sympy.Expr] = {}
        for name, term in self.theorem.bound.terms.items():
            found |= self._summands(name, term)
        return {name: term for name, term in found.items() if name not in self.dropped}

    def _summands(self, name: str, term: sympy.Expr) -> dict[str, sympy.Expr]:
        try:
            degrees(term, self.symbols)
        except FormulaError:
            try:
                parts = sympy.Add.make_args(expand(self.expand(term)))
                for part in parts:
                    degrees(part, self.symbols)
            except (FormulaError, UndecidedError):
                return {name: term}
            # Letters that belong to one symbol of the whole sum, so that no two parts have one name.
            letters = letters_of(sorted({one.name for part in parts for one in part.free_symbols}), self.symbols)
            return {f"{name} [{written(part, self.symbols, letters)}]": part for part in parts}
        return {name: term}

    def text(self, expression: sympy.Expr) -> str:
        """Return a formula for people, in the letters of the theorem's symbols."""
        return written(expression, self.symbols)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that are left."""
        return tuple(one for one in self.theorem.conditions if one.statement not in self.unconditional)

    @cached_property
    def free_steps(self) -> tuple[str, ...]:
        """The step sizes that the claim is about whatever their value: inputs, and settable ones of a bound."""
        theorem = self.theorem
        rules = theorem.defining()
        return tuple(
            name for name in theorem.step if name not in rules or (name in theorem.settable and not theorem.shape)
        )

    @cached_property
    def _opaque(self) -> frozenset[str]:
        rules = self.theorem.definitions
        return frozenset(
            name for name in self.theorem.settable if name in rules and rules[name].has(sympy.floor, sympy.log)
        )

    def rules(self, given: frozenset[str]) -> dict[str, sympy.Expr]:
        """Return the definitions that are used when the symbols of ``given`` have values."""
        return {name: rule for name, rule in self.theorem.defining().items() if name not in given}

    def expand(self, expression: sympy.Expr, given: frozenset[str] | None = None) -> sympy.Expr:
        """Write an expression in base symbols; those of ``given`` stay.

        If None, the free steps stay, and what may be set and has a floor or a logarithm in its definition.

        Raises
        ------
        UndecidedError
            If that gives no value.
        """
        known = frozenset(self.free_steps) | self._opaque if given is None else given
        key = (expression, known)
        if key not in self._cache:
            rules = self.rules(known)
            found = expression
            sizes = {self.symbol(name): size(rule) for name, rule in rules.items()}
            while names_of(found) & rules.keys():
                if size(found, sizes) > _LARGEST:
                    raise UndecidedError(f"with its definitions put in it has more than {_LARGEST} parts")
                found = substitute(found, {self.symbol(name): rule for name, rule in rules.items()})
            self._cache[key] = found
        result: sympy.Expr = self._cache[key]
        return result

    def at(self, expression: sympy.Expr, values: Mapping[str, sympy.Expr]) -> sympy.Expr:
        """Return the expression at values by name; the rest follows from the definitions.

        Raises
        ------
        UndecidedError
            If a symbol is left over, or there is no value.
        """
        # Values go in before definitions are unfolded: log 1/log 1 of a defined symbol that has a value is not met.
        given = frozenset(values)
        known = {self.symbol(name): _number(value) for name, value in values.items() if name in self.symbols}
        rules = self.rules(given)

        def value(name: str) -> None:
            for other in names_of(rules[name]) & rules.keys():
                if self.symbol(other) not in known:
                    value(other)
            known[self.symbol(name)] = substitute(rules[name], known)

        for name in names_of(expression) & rules.keys():
            if self.symbol(name) not in known:
                value(name)
        found = substitute(expression, known)
        left = {symbol for symbol in found.free_symbols if symbol.name in self.symbols} - set().union(
            *(_number(value).free_symbols for value in values.values())
        )
        if left:
            raise UndecidedError(f"no value for {', '.join(sorted(map(str, left)))}")
        return found

    def total(self, values: Mapping[str, sympy.Expr]) -> sympy.Expr:
        """Return the right side at values by name."""
        if not self.formula:
            raise UndecidedError("the bound is iterated, not a formula")
        return sympy.Add(*(self.at(term, values) for term in self.terms.values()))

    def holds(self, values: Mapping[str, sympy.Expr]) -> bool:
        """Return whether numbers meet all conditions, decided by enclosures.

        Raises
        ------
        UndecidedError
            If an enclosure is too wide.
        """
        for condition in self.conditions:
            gap = self.at(condition.quantity, values) - self.at(condition.limit, values)
            if gap == 0:
                if condition.strict:
                    return False
                continue
            low, high = enclose(gap)
            if low > 0:
                return False
            if high > 0:
                raise UndecidedError(f"{condition.statement} is met with equality or nearly so")
        return True

    def prover(self, at_least: Mapping[str, int] | None = None) -> Prover:
        """Return what proves signs where the theorem's conditions hold."""
        if at_least:
            return Prover(self.symbols, at_least, self._facts)
        return self._prover

    @cached_property
    def _prover(self) -> Prover:
        return Prover(self.symbols, {}, self._facts)

    @cached_property
    def _facts(self) -> dict[sympy.Symbol, sympy.Expr]:
        """Forms of the free steps under conditions c·step ≤ limit: step = limit/(c·(1 + t)), t ≥ 0."""
        found: dict[sympy.Symbol, sympy.Expr] = {}
        slack = apart("slack", nonnegative=True)
        for name in self.free_steps:
            step = self.symbol(name)
            for condition in self.conditions:
                quantity, limit = self.expand(condition.quantity), self.expand(condition.limit)
                factor = quantity / step
                if not found and step not in factor.free_symbols | limit.free_symbols and factor.is_positive:
                    found[step] = limit / factor / (1 + slack)
        return found

    def generic(self, expression: sympy.Expr) -> tuple[sympy.Expr, dict[sympy.Symbol, sympy.Expr]]:
        """Write an expression for the generic case: what may be 0 is not, and counts n are 1 + t with t > 0.

        Returns
        -------
        The expression, and how to write its symbols back.
        """
        forth: dict[sympy.Symbol, sympy.Expr] = {}
        back: dict[sympy.Symbol, sympy.Expr] = {}
        for symbol in expression.free_symbols:
            info = self.symbols.get(symbol.name)
            if info is None or info.domain.low < 0 or (info.domain.low == 0 and symbol.is_positive):
                continue
            fresh = apart(symbol.name, positive=True)
            low = sympy.Integer(int(info.domain.low))
            forth[symbol], back[fresh] = low + fresh, symbol - low
        by_name = {symbol.name: symbol for symbol in expression.free_symbols}
        for steep in self.symbols["mu"].at_most if "mu" in by_name else ():
            if steep in by_name:
                fresh = apart(steep, positive=True)
                forth[by_name[steep]], back[fresh] = by_name["mu"] + fresh, by_name[steep] - by_name["mu"]
        return substitute(expression, forth), back

    @cached_property
    def at_lowest(self) -> frozenset[str]:
        """The symbols that a condition holds at the lower end of their domain: σ ≤ 0, τ_max ≤ 0, K_m ≤ 1."""
        return at_lowest(self.conditions, self.symbols)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The symbols that need a value once the free steps have one."""
        return tuple(dict.fromkeys((*self.theorem.inputs(self.free_steps), *self.free_steps)))

    @cached_property
    def points(self) -> tuple[dict[str, Any], ...]:
        """Points of the domain, reproducible, at which the theorem's conditions hold and the bound is finite."""
        return tuple(itertools.islice(self._points(), 24))

    def allows(self, zeros: Iterable[str] = ()) -> bool:
        """Return whether some point with these symbols at 0 meets all conditions, and does not start at a minimum.

        A claim that is about no run, or about runs that never move only, is true whatever its right side.
        """
        gone = dict.fromkeys(zeros, 0.0)
        return any(
            self._meets({**point, **gone}) and all(point.get(name, 1.0) > 0 for name in ("R", "F0"))
            for point in self.points
        )

    def _meets(self, values: Mapping[str, Any]) -> bool:
        try:
            met = [
                one.meets(self.number(self.expand(one.quantity), values), self.number(self.expand(one.limit), values))
                for one in self.conditions
            ]
        except (BoundlabError, KeyError):
            return False
        return all(met)

    @cached_property
    def draws(self) -> tuple[dict[str, Any], ...]:
        """Points of the domain, reproducible, whether or not the theorem's conditions hold."""
        return tuple(itertools.islice(self._points(raw=True), 24))

    def _points(self, raw: bool = False) -> Iterator[dict[str, Any]]:
        generator = np.random.default_rng(20261)
        names = self.theorem.inputs()
        steps = [name for name in self.free_steps if name in self.theorem.defining()]
        equal = at_lowest(self.theorem.conditions, self.symbols)
        for attempt in range(_POINTS):
            values: dict[str, Any] = {
                name: _draw(generator, self.symbols[name]) for name in names if not self.symbols[name].vector
            }
            vectors = [name for name in names if self.symbols[name].vector]
            if vectors and "n" in values:
                values["n"] = 3.0
            for name in vectors:
                values[name] = _draw_vector(generator, name, values)
            values |= {name: self.symbols[name].domain.low for name in equal if name in values}
            if "p_s" in values and "p" in values:
                values["p_s"] = 0.4
            if "p_min" in values and "p_s" in values:
                values["p_s"] = max(values["p_s"], values["p_min"])
            for small, large in ordered(self.symbols):
                if {small, large} <= values.keys() and values[small] > values[large]:
                    values[small], values[large] = values[large], values[small]
            if "qbar" in values and "p_min" in values:
                values["qbar"] = min(values["qbar"], 1 / values["p_min"])
            if raw:
                yield values
                continue
            try:
                if attempt % 2 and steps:
                    options = self.theorem.step_options(values)
                    values |= {name: options[name] * generator.uniform(0.05, 1) for name in steps if name in options}
                if bool(np.isfinite(self.theorem.evaluate(values).total).all()):
                    yield values
            except BoundlabError:
                continue

    def number(self, expression: sympy.Expr, values: Mapping[str, Any]) -> float:
        """Return an expanded expression in floating point."""
        arrays = {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
        return float(evaluate(expression, arrays, self.theorem.id))


def _number(value: Any) -> Any:
    return sympy.Tuple(*map(sympy.sympify, value.tolist())) if np.ndim(value) else sympy.sympify(value)


def _draw_vector(generator: "np.random.Generator", name: str, values: Mapping[str, Any]) -> np.ndarray:
    """Return one number for each of three clients; of what is bounded by one number for all, none beyond that."""
    if name == "p":
        return np.full(3, 0.2)
    drawn = generator.uniform(0.5, 2, 3)
    over_all = values.get(name.removesuffix("_i")) if name.endswith("_i") else None
    return drawn if over_all is None else over_all * (drawn if name == "mu_i" else 1 / (1 + drawn))


def _draw(generator: "np.random.Generator", info: SymbolInfo) -> float:
    """Return a number of the domain, most of them between 1/10 and 10."""
    domain = info.domain
    if domain.integer:
        large = 400 if info.name in ("K", "T") else 6
        return float(generator.integers(int(domain.low), large + 1))
    if domain.high == 1:
        return float(generator.uniform(0.05, 0.95))
    if domain.low == 1:
        return float(1 + 10 ** generator.uniform(-1, 1))
    number = float(10 ** generator.uniform(-1, 1))
    return number if domain.low >= 0 or generator.random() < 0.5 else -number


Verdict = Literal["failed", "suspicious", "unknown", "passed", "not applicable"]
Consequence = Literal["", "claim false", "claim vacuous", "implies more", "does not follow", "not defined"]

CONSEQUENCES: dict[str, str] = {
    "claim false": "the claim, for all problems that it names, is false",
    "claim vacuous": "the claim is true for trivial reasons where the witness says",
    "implies more": "the claim implies the stronger one of the witness; no refutation by itself",
    "does not follow": "the statement does not follow from the theorem that it is derived from",
    "not defined": "the statement reads or sets what nothing in it defines",
}


@final
@dataclass(frozen=True, slots=True)
class Check:
    """One check of a theorem.

    Parameters
    ----------
    id
        ``units.terms``, ``limits.K``, ``truths.noise-floor``: the group comes before the dot.
    statement
        What was asked.
    verdict
        ``passed``: shown, symbolically or by a certificate that was checked again. ``failed``: the witness shows the
        contrary. ``suspicious``: a true theorem may do that, but seldom does. ``unknown``: none of these within the
        limits. ``not applicable``: the question makes no sense here.
    witness
        Failed or suspicious: the scaling, the instance or the values that show it. Else what was found, or why not.
    consequence
        What follows from what failed or is suspicious, a key of :data:`CONSEQUENCES`; empty otherwise.
    latex
        The central formula, where there is one.
    """

    id: str
    statement: str
    verdict: Verdict
    witness: str = ""
    consequence: Consequence = ""
    latex: str = ""

    @property
    def group(self) -> str:
        """The id of its group."""
        return self.id.split(".", 1)[0]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "id": self.id,
            "statement": self.statement,
            "verdict": self.verdict,
            "witness": self.witness,
            "consequence": self.consequence,
            "latex": self.latex,
        }


class Decision(NamedTuple):
    """Verdict, witness, consequence and formula of a check; see :class:`Check`."""

    verdict: Verdict
    witness: str = ""
    consequence: Consequence = ""
    latex: str = ""


def asked(identity: str, statement: str, answer: Callable[[], Decision]) -> Check:
    """Return the check that a function answers; ``unknown`` where it raises UndecidedError."""
    try:
        found = answer()
    except UndecidedError as error:
        found = Decision("unknown", str(error))
    return Check(identity, statement, *found)


@final
@dataclass(frozen=True, slots=True)
class CheckGroup:
    """A group of checks, registered under ``boundlab.checks``; :func:`group` makes one.

    Parameters
    ----------
    id
        What ``--only`` calls it, and how the ids of its checks begin.
    summary
        What it asks, in a line.
    run
        Asks it of a theorem. It may raise UndecidedError: the answer is then ``unknown``.
    """

    id: str
    summary: str
    run: "Callable[[View], Iterable[Check]]"

    def __call__(self, view: "View") -> Iterable[Check]:
        """Ask a theorem."""
        return self.run(view)


def group(identity: str, summary: str) -> "Callable[[Callable[[View], Iterable[Check]]], CheckGroup]":
    """Make a function that asks a theorem a group of checks, for use as a decorator."""
    return partial(CheckGroup, identity, summary)


def exit_code(checks: Iterable[Check]) -> ExitCode:
    """Return ``STANDS`` if a check was decided and none failed, ``UNDECIDED`` if none was decided.

    If checks failed, ``NOT_APPLICABLE`` where all that follows is that the claim is vacuous, else ``REFUTED``.
    """
    found = tuple(checks)
    if failed := {check.consequence for check in found if check.verdict == "failed"}:
        return ExitCode.NOT_APPLICABLE if failed == {"claim vacuous"} else ExitCode.REFUTED
    decided = any(check.verdict in ("passed", "suspicious") for check in found)
    return ExitCode.STANDS if decided else ExitCode.UNDECIDED


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Checks(Tabular):
    """The checks of one theorem.

    Parameters
    ----------
    checks
        Each with its verdict and its witness.
    """

    theorem: Theorem
    checks: tuple[Check, ...]

    @property
    def failed(self) -> tuple[Check, ...]:
        """Those that failed."""
        return tuple(one for one in self.checks if one.verdict == "failed")

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends."""
        return exit_code(self.checks)

    @property
    def verdict(self) -> str:
        """``failed`` where a check failed, ``unknown`` where nothing could be decided, else ``passed``."""
        return "failed" if self.failed else "unknown" if self.exit_code is ExitCode.UNDECIDED else "passed"

    def line(self) -> str:
        """Return how many failed, and which."""
        named = ", ".join(one.id for one in self.failed)
        failed = f"{len(self.failed)} of {len(self.checks)} checks failed{': ' * bool(named)}{named}"
        suspicious = [one.id for one in self.checks if one.verdict == "suspicious"]
        more = f"; suspicious: {', '.join(suspicious)}" if suspicious else ""
        return f"{self.theorem.id}: {self.verdict}: {failed}{more}"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "schema": schema("checks"),
            "theorem": self.theorem.id,
            **self.theorem.links(),
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "checks": [one.as_dict() for one in self.checks],
        }

    def columns(self) -> dict[str, Any]:
        """Return a row for each check."""
        names = ("id", "verdict", "statement", "witness")
        return {name: [getattr(one, name) for one in self.checks] for name in names}
