"""What a theorem is, and how it is evaluated."""

import graphlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, final

import numpy as np
import sympy
from numpy.typing import ArrayLike

from boundlab.errors import AssumptionError, SpecError, SymbolError
from boundlab.specs import nearest
from boundlab.symbols import SYMBOLS, SymbolInfo, check, lookup
from boundlab.theorems._bound import (
    Bound,
    Condition,
    Evaluation,
    Floats,
    FormulaBound,
    RecursionBound,
    expanded,
    iterate,
    names_of,
)
from boundlab.theorems._compiled import evaluate as evaluate_expression
from boundlab.theorems._show import METRICS, statement_fields, statement_latex
from boundlab.values import arrival_statistics

Status = Literal["as printed", "repaired", "derived here", "user"]
STATUSES: tuple[Status, ...] = ("as printed", "repaired", "derived here", "user")
_ROUNDING = 1e-12


@final
@dataclass(frozen=True, slots=True)
class Theorem:
    """A theorem: under these assumptions, this algorithm with this step has at most this error.

    Parameters
    ----------
    id, title
        ``area.theorem8``, and a line for people.
    paper, place
        Where it stands.
    status
        ``as printed``, ``repaired``, ``derived here`` or ``user``.
    assumptions
        Ids of :data:`boundlab.objective.ASSUMPTIONS`.
    algorithm, options
        What is run, and the options that the proof uses: ``{"start": "analysis"}``.
    metric
        The left side: ``squared-distance`` (of the last iterate), ``ergodic-gap`` or ``gap``.
    horizon
        ``every``: one run obeys the bound at every K. ``fixed``: the step size is chosen for one K, and the
        bound is about that K only.
    step
        ``{"alpha": …}`` (constant) or ``{"c": …, "d": …}`` (α_k = c/(k+d)); a symbol that stands for itself
        is an input.
    bound
        Named terms, or a numerical recursion.
    definitions
        Symbols that the theorem defines by others, in any order.
    settable
        Those defined symbols that may be given instead.
    conditions
        Inequalities without which nothing is claimed.
    shape
        Whether the bound is a printed O(·) with unknown constants.
    note
        What a reader should know.
    symbols
        The table in which the names are looked up.

    Raises
    ------
    SpecError
        If the definitions go round in a circle, or a field has no such value.
    SymbolError
        If a formula holds a symbol that is not in the table.
    """

    id: str
    title: str
    paper: str
    place: str
    status: Status
    assumptions: tuple[str, ...]
    algorithm: str
    options: Mapping[str, str]
    metric: str
    horizon: Literal["every", "fixed"]
    step: Mapping[str, sympy.Expr]
    bound: Bound
    definitions: Mapping[str, sympy.Expr] = field(default_factory=dict)
    settable: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    shape: bool = False
    note: str = ""
    symbols: Mapping[str, SymbolInfo] = field(default_factory=lambda: SYMBOLS)

    def __post_init__(self) -> None:
        for what, value, allowed in (
            ("status", self.status, STATUSES),
            ("metric", self.metric, METRICS),
            ("horizon", self.horizon, ("every", "fixed")),
        ):
            if value not in allowed:
                raise SpecError(f"{self.id}: {what} must be one of {', '.join(allowed)}, got {value!r}")
        if set(self.step) not in ({"alpha"}, {"c", "d"}):
            raise SpecError(f"{self.id}: step must give alpha, or c and d; got {', '.join(self.step) or 'nothing'}")
        rules = self._rules()
        for expression in (*rules.values(), *self._roots()):
            for name in names_of(expression):
                lookup(name, self.symbols)
        try:
            tuple(graphlib.TopologicalSorter({name: names_of(rule) for name, rule in rules.items()}).static_order())
        except graphlib.CycleError as error:
            raise SpecError(f"{self.id}: the definitions go round in a circle: {' → '.join(error.args[1])}") from None

    @property
    def kind(self) -> Literal["bound", "shape"]:
        """``shape`` where constants are unknown, else ``bound``."""
        return "shape" if self.shape else "bound"

    def _rules(self) -> dict[str, sympy.Expr]:
        """Return how each defined symbol follows from others; the step size is one of them."""
        step = {name: rule for name, rule in self.step.items() if rule != self.symbols[name].symbol}
        return {**self.definitions, **step}

    def _roots(self) -> tuple[sympy.Expr, ...]:
        terms = tuple(self.bound.terms.values()) if isinstance(self.bound, FormulaBound) else ()
        sides = tuple(side for condition in self.conditions for side in (condition.quantity, condition.limit))
        return terms + sides

    def _needs(self, given: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the base symbols, and the defined ones in the order of computation."""
        known = frozenset(given)
        rules = self._rules()
        gone = self.bound.gone(known) if isinstance(self.bound, RecursionBound) else frozenset()
        base: dict[str, None] = {}
        order: dict[str, None] = {}

        def visit(name: str) -> None:
            if name in base or name in order:
                return
            if name in known or name not in rules:
                base[name] = None
                return
            for other in sorted(names_of(rules[name])):
                visit(other)
            order[name] = None

        for expression in self._roots():
            if not names_of(expression) & gone:
                for name in sorted(names_of(expression)):
                    visit(name)
        for name in self.bound.reads(known) if isinstance(self.bound, RecursionBound) else ():
            visit(name)
        for name in self.step:
            if name not in gone:
                visit(name)
        if isinstance(self.bound, RecursionBound):
            base["K"] = None
        return tuple(base), tuple(order)

    def inputs(self, given: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the symbols that need a value when those of ``given`` are set, in the order of the table.

        ``p`` counts as n, p_s, p_min and qbar.
        """
        known = expanded(given)
        base, _ = self._needs(known)
        place = {name: position for position, name in enumerate(self.symbols)}
        return tuple(sorted(base, key=place.__getitem__))

    def free(self, given: Iterable[str] = ()) -> frozenset[str]:
        """Return what may still be set when those of ``given`` are: inputs, and what has a default."""
        known = expanded(given)
        replaced = tuple(self.bound.replaces) if isinstance(self.bound, RecursionBound) else ()
        return frozenset((*self.inputs(known), *self.settable, *replaced)) - known

    def unused(self, given: Iterable[str]) -> tuple[str, ...]:
        """Return the symbols of ``given`` that the theorem does not read."""
        names = tuple(given)
        read = set(self.inputs(names))
        wide = {"p": {"p_s", "p_min", "qbar"}, "rates": {"p", "p_s", "p_min", "qbar"}}
        wide["lambda_s"] = wide["rates"]
        return tuple(name for name in names if name not in read and not wide.get(name, set()) & read)

    def evaluate(self, values: Mapping[str, ArrayLike]) -> Evaluation:
        """Evaluate the bound.

        Parameters
        ----------
        values
            Numbers or arrays by symbol name, broadcastable with each other; vectors have shape (n,).
            Symbols that the theorem does not read are ignored.

        Raises
        ------
        SymbolError
            If a symbol is unknown, missing or outside its domain, if the theorem defines it itself, or if a
            term is infinite or not a number.
        AssumptionError
            If a condition of the theorem is not met.
        """
        return self._evaluate(values, first=1)

    def value_at(self, values: Mapping[str, ArrayLike], ks: ArrayLike) -> Floats:
        """Return the bound at many iterations of one run, shape (m,); see :meth:`at_iterations`."""
        return self.at_iterations(values, ks).total

    def at_iterations(self, values: Mapping[str, ArrayLike], ks: ArrayLike) -> Evaluation:
        """Evaluate the bound and its terms at many iterations of one run.

        Parameters
        ----------
        values
            One number a symbol, K apart; vectors of shape (n,).
        ks
            Iterations, shape (m,): ≥ 0 where the metric is about the last iterate, else ≥ 1.

        Returns
        -------
        Evaluation
            Arrays of shape (m,), in the units of the metric.

        Raises
        ------
        SymbolError
            As :meth:`evaluate`; and with horizon ``fixed``, if an iteration is not the K of ``values``.
        """
        iterations = np.asarray(ks)
        if iterations.ndim != 1 or iterations.size == 0 or not np.issubdtype(iterations.dtype, np.integer):
            raise SymbolError(f"{self.id}: iterations must be a list of integers")
        own = values.get("K")
        if self.horizon == "fixed" and (own is None or (iterations != np.asarray(own)).any()):
            raise SymbolError(f"{self.id} is about the one K for which its step size is chosen, and K is {own}")
        first = 1 if self.metric == "ergodic-gap" else 0
        found = self._evaluate({**values, "K": iterations}, first=first)
        # A bound that does not depend on K is the same at all of them.
        terms = {name: np.broadcast_to(term, iterations.shape) for name, term in found.terms.items()}
        total = np.broadcast_to(found.total, iterations.shape)
        return Evaluation(total, MappingProxyType(terms), found.derived, found.kind)

    def step_options(self, values: Mapping[str, ArrayLike]) -> dict[str, float]:
        """Return the step size as options of the algorithm: alpha, or c and d.

        Raises
        ------
        SymbolError
            As :meth:`evaluate`; and if it is not one positive finite number.
        """
        known = self._known(values)
        names = ("alpha",) if self._constant(known) else tuple(self.step)
        found = self._derive(known, dict.fromkeys(names), first=1)
        options = {}
        for name in names:
            value = found[name]
            if value.size != 1 or not np.isfinite(value).all() or not (value > 0).all():
                raise SymbolError(f"{self.id}: the step size needs one positive {name}, got {value.tolist()}")
            options[name] = float(value.reshape(-1)[0])
        return options

    def step_sizes(self, values: Mapping[str, ArrayLike], K: int) -> Floats:
        """Return α_0 … α_K, shape (K+1,), unit (−1, 2)."""
        options = self.step_options({**values, "K": K} if self.horizon == "fixed" else values)
        if "alpha" in options:
            return np.full(K + 1, options["alpha"])
        return np.asarray(options["c"] / (np.arange(K + 1) + options["d"]), dtype=np.float64)

    def _constant(self, known: Mapping[str, Any]) -> bool:
        return "alpha" in self.step or (isinstance(self.bound, RecursionBound) and "alpha" in known)

    def _known(self, values: Mapping[str, ArrayLike]) -> dict[str, Any]:
        for name in values:
            lookup(name, self.symbols)
            if name in self._rules() and name not in self.settable:
                hint = f"{self.id}.fixed-step takes it" if name == "alpha" else "leave it out"
                raise SymbolError(f"{self.id} defines {name} itself ({self.symbols[name].meaning}); {hint}")
        known: dict[str, Any] = dict(values)
        if "p" in known and "qbar" not in known:
            p_s = known.get("p_s")
            known |= arrival_statistics(known["p"], None if p_s is None else float(np.asarray(p_s).reshape(-1)[0]))
        return known

    def _missing(self, name: str, known: Mapping[str, Any]) -> SymbolError:
        info = self.symbols[name]
        wrong = [other for other in known if other not in self.inputs(known)]
        close = nearest(name, wrong) if wrong else ""
        hint = f"; {close}" if close.startswith("did") and "p" not in known else ""
        return SymbolError(f"{self.id} needs {name}: {info.describe()}; set {name}=…{hint}")

    def _derive(self, known: Mapping[str, Any], goals: Iterable[str] | None, first: int) -> dict[str, Floats]:
        """Check the base symbols and compute the defined ones (those that ``goals`` need, or all)."""
        base, order = self._needs(known)
        rules = self._rules()
        if goals is not None:
            wanted: set[str] = set()
            stack = list(goals)
            while stack:
                name = stack.pop()
                if name not in wanted:
                    wanted.add(name)
                    stack += [] if name in known else sorted(names_of(rules[name])) if name in rules else []
            base, order = (tuple(name for name in part if name in wanted) for part in (base, order))
        found: dict[str, Floats] = {}
        for name in base:
            if name not in known:
                raise self._missing(name, known)
            if name == "K" and first == 0:
                found[name] = np.asarray(known[name], dtype=np.float64)
                if (found[name] < 0).any():
                    raise SymbolError(f"iterations must be ≥ 0, got {found[name].min():g}")
            else:
                found[name] = check(name, known[name], self.symbols)
        for name in order:
            found[name] = evaluate_expression(rules[name], found, f"{self.id}, {name}")
        return found

    def _evaluate(self, values: Mapping[str, ArrayLike], first: int) -> Evaluation:
        known = self._known(values)
        found = self._derive(known, None, first)
        gone = self.bound.gone(frozenset(known)) if isinstance(self.bound, RecursionBound) else frozenset()
        for condition in self.conditions:
            if not (names_of(condition.quantity) | names_of(condition.limit)) & gone:
                self._require(condition, found)
        if isinstance(self.bound, FormulaBound):
            terms = {
                name: self._sound(f"term {name}", evaluate_expression(term, found, f"{self.id}, term {name}"), found)
                for name, term in self.bound.terms.items()
            }
        else:
            terms = {"recursion": self._sound("the recursion", iterate(self.bound, found, self.symbols), found)}
        base, order = self._needs(known)
        shapes = [found[name].shape for name in base if not self.symbols[name].vector]
        shape = np.broadcast_shapes(*shapes, *(term.shape for term in terms.values()))
        full = {name: np.broadcast_to(term, shape) for name, term in terms.items()}
        total = np.asarray(sum(full.values(), start=np.zeros(shape)))
        self._sound("the sum of the terms", total, found)
        derived = {name: found[name] for name in order}
        return Evaluation(total, MappingProxyType(full), MappingProxyType(derived), self.kind)

    def _require(self, condition: Condition, found: Mapping[str, Floats]) -> None:
        quantity = evaluate_expression(condition.quantity, found, f"{self.id}, {condition.statement}")
        limit = evaluate_expression(condition.limit, found, f"{self.id}, {condition.statement}")
        left, right = np.broadcast_arrays(quantity, limit)
        broken = ~(left <= right * (1 + _ROUNDING))
        if broken.any():
            a, b = left[broken].flat[0], right[broken].flat[0]
            raise AssumptionError(f"{self.id} needs {condition.statement}, got {a:.6g} > {b:.6g}")

    def _sound(self, what: str, value: Floats, found: Mapping[str, Floats]) -> Floats:
        wrong = ~np.isfinite(value)
        if not wrong.any():
            return value
        place = np.unravel_index(int(np.argmax(wrong)), value.shape)
        kind = "not a number" if np.isnan(value[place]) else "infinite"
        parts = []
        for name, array in found.items():
            if name not in self._rules() and not self.symbols[name].vector:
                at = array if array.ndim == 0 else np.broadcast_to(array, np.broadcast_shapes(array.shape, value.shape))
                parts.append(f"{name}={float(at.reshape(-1)[0] if array.ndim == 0 else at[place]):g}")
        raise SymbolError(f"{self.id}: {what} is {kind} at {', '.join(parts)}")

    def rules(self) -> dict[str, sympy.Expr]:
        """Return the defined symbols that the statement uses, each by the ones after it."""
        _, order = self._needs(())
        rules = self._rules()
        return {name: rules[name] for name in reversed(order) if name != "alpha"}

    def latex(self) -> str:
        """Return the statement in LaTeX: the bound, then the step size and the definitions it uses."""
        return statement_latex(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the theorem as JSON-ready fields, formulas as text."""
        return statement_fields(self)
