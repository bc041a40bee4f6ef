"""What a theorem is."""

import graphlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, final

import numpy as np
import sympy
from numpy.typing import ArrayLike

from boundlab.errors import SpecError, SymbolError
from boundlab.formulas.assignments import arrival_statistics
from boundlab.formulas.symbols import SYMBOLS, SymbolInfo, lookup, names_of
from boundlab.metrics import METRICS, Metric
from boundlab.theorems._bound import Bound, Condition, Evaluation, Floats, FormulaBound, RecursionBound, expanded
from boundlab.theorems._evaluate import derive, evaluated, needs
from boundlab.theorems._show import statement_fields, statement_latex

Status = Literal["as printed", "repaired", "derived here", "textbook", "user"]
STATUSES: tuple[Status, ...] = ("as printed", "repaired", "derived here", "textbook", "user")


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
        ``as printed``, ``repaired``, ``derived here``, ``textbook`` (true, with a proof in books) or ``user``.
    assumptions
        Ids of :data:`boundlab.assumptions.ASSUMPTIONS`.
    algorithm, options
        What is run, and the options that the proof uses: ``{"start": "analysis"}``.
    metric
        The left side, a key of :data:`boundlab.metrics.METRICS`.
    horizon
        ``every``: one run obeys the bound at every K (or T). ``fixed``: the step size is chosen for one K, and
        the bound is about that K only.
    step
        What the theorem sets, by parameter of the algorithm: ``{"alpha": …}`` (constant), ``{"c": …, "d": …}``
        (α_k = c/(k+d)), ``{"eta": …}``, ``{"eta_l": …, "eta_g": …}``. Each name is a symbol; one that stands
        for itself is an input, one that is ``settable`` has a default.
    bound
        Named terms, or a numerical recursion.
    definitions
        Symbols that the theorem defines by others, in any order.
    settable
        Those defined symbols that may be given instead.
    conditions
        Inequalities without which nothing is claimed.
    parameters
        Other parameters of the algorithm that a formula reads, and as which symbol: ``{"K": "window"}``.
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
    parameters: Mapping[str, str] = field(default_factory=lambda: {"M": "M"})
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
        if not self.step or ("c" in self.step) != ("d" in self.step) or {"alpha", "c"} <= set(self.step):
            raise SpecError(
                f"{self.id}: step must give alpha, or c and d, or the algorithm's own rates such as eta or eta_l; "
                f"got {', '.join(self.step) or 'nothing'}"
            )
        rules = self.defining()
        for name in (*self.step, *self.parameters.values(), *self.settable):
            lookup(name, self.symbols)
        for expression in (*rules.values(), *self.expressions()):
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

    @property
    def left(self) -> Metric:
        """The left side."""
        return METRICS[self.metric]

    @property
    def counter(self) -> Literal["K", "T"]:
        """The symbol that counts iterations: ``K`` (events) or ``T`` (server updates)."""
        return self.left.counter

    def defining(self) -> dict[str, sympy.Expr]:
        """Return how each defined symbol follows from others; the step size is one of them."""
        step = {name: rule for name, rule in self.step.items() if rule != lookup(name, self.symbols).symbol}
        return {**self.definitions, **step}

    def expressions(self) -> tuple[sympy.Expr, ...]:
        """Return the terms, and both sides of the conditions."""
        terms = tuple(self.bound.terms.values()) if isinstance(self.bound, FormulaBound) else ()
        sides = tuple(side for condition in self.conditions for side in (condition.quantity, condition.limit))
        return terms + sides

    def inputs(self, given: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the symbols that need a value when those of ``given`` are set, in the order of the table.

        ``p`` counts as n, p_s, p_min and qbar.
        """
        base, _ = needs(self, expanded(given))
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
        return evaluated(self, self._known(values), 1)

    def value_at(self, values: Mapping[str, ArrayLike], ks: ArrayLike) -> Floats:
        """Return the bound at many iterations of one run, shape (m,); see :meth:`at_iterations`."""
        return self.at_iterations(values, ks).total

    def at_iterations(self, values: Mapping[str, ArrayLike], ks: ArrayLike) -> Evaluation:
        """Evaluate the bound and its terms at many iterations of one run.

        Parameters
        ----------
        values
            One number a symbol, the counter apart; vectors of shape (n,).
        ks
            K or T, shape (m,): ≥ 0 where the metric is about the last iterate, else ≥ 1.

        Returns
        -------
        Evaluation
            Arrays of shape (m,), in the units of the metric.

        Raises
        ------
        SymbolError
            As :meth:`evaluate`; and with horizon ``fixed``, if an iteration is not the one of ``values``.
        """
        iterations = np.asarray(ks)
        if iterations.ndim != 1 or iterations.size == 0 or not np.issubdtype(iterations.dtype, np.integer):
            raise SymbolError(f"{self.id}: iterations must be a list of integers")
        own = values.get(self.counter)
        if self.horizon == "fixed" and (own is None or (iterations != np.asarray(own)).any()):
            raise SymbolError(
                f"{self.id} is about the one {self.counter} for which its step size is chosen, "
                f"and {self.counter} is {own}"
            )
        found = evaluated(self, self._known({**values, self.counter: iterations}), self.left.first)
        # A bound that does not depend on the counter is the same at all of them.
        terms = {name: np.broadcast_to(term, iterations.shape) for name, term in found.terms.items()}
        total = np.broadcast_to(found.total, iterations.shape)
        return Evaluation(total, MappingProxyType(terms), found.derived, found.kind)

    def step_options(self, values: Mapping[str, ArrayLike]) -> dict[str, float]:
        """Return what the theorem sets, as options of the algorithm: alpha, or c and d, or eta_l and eta_g, ….

        Raises
        ------
        SymbolError
            As :meth:`evaluate`; and if it is not one positive finite number each.
        """
        known = self._known(values)
        recursion = isinstance(self.bound, RecursionBound) and "alpha" in known
        names = ("alpha",) if recursion else tuple(self.step)
        found = derive(self, known, names, 1)
        options = {}
        for name in names:
            value = found[name]
            if value.size != 1 or not np.isfinite(value).all() or not (value > 0).all():
                raise SymbolError(f"{self.id}: the step size needs one positive {name}, got {value.tolist()}")
            options[name] = float(value.reshape(-1)[0])
        return options

    def step_sizes(self, values: Mapping[str, ArrayLike], K: int) -> Floats:
        """Return α_0 … α_K, shape (K+1,), unit (−1, 2).

        Raises
        ------
        SpecError
            If the theorem sets several rates.
        """
        options = self.step_options({**values, self.counter: K} if self.horizon == "fixed" else values)
        if "c" in options:
            return np.asarray(options["c"] / (np.arange(K + 1) + options["d"]), dtype=np.float64)
        if len(options) > 1:
            raise SpecError(f"{self.id} sets {', '.join(options)}; take step_options")
        return np.full(K + 1, next(iter(options.values())))

    def _known(self, values: Mapping[str, ArrayLike]) -> dict[str, Any]:
        for name in values:
            lookup(name, self.symbols)
            if name in self.defining() and name not in self.settable:
                hint = f"{self.id}.fixed-step takes it" if name == "alpha" else "leave it out"
                raise SymbolError(f"{self.id} defines {name} itself ({self.symbols[name].meaning}); {hint}")
        known: dict[str, Any] = dict(values)
        if "p" in known and "qbar" not in known:
            p_s = known.get("p_s")
            known |= arrival_statistics(known["p"], None if p_s is None else float(np.asarray(p_s).reshape(-1)[0]))
        return known

    def rules(self) -> dict[str, sympy.Expr]:
        """Return the defined symbols that the statement uses, each by the ones after it."""
        _, order = needs(self, ())
        rules = self.defining()
        own = () if "c" in self.step else tuple(self.step)
        return {name: rules[name] for name in reversed(order) if name not in own}

    def latex(self) -> str:
        """Return the statement in LaTeX: the bound, then the step size and the definitions it uses."""
        return statement_latex(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the theorem as JSON-ready fields, formulas as text."""
        return statement_fields(self)
