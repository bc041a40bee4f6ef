"""The statement of a theorem: its fields, and what follows from them alone."""

import graphlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import sympy

from boundlab.errors import SpecError
from boundlab.formulas.symbols import SYMBOLS, SymbolInfo, lookup, names_of
from boundlab.metrics import Metric, choices, metric
from boundlab.theorems._bound import Bound, Condition

Status = Literal["as printed", "repaired", "derived here", "textbook", "user"]
STATUSES: tuple[Status, ...] = ("as printed", "repaired", "derived here", "textbook", "user")


@dataclass(frozen=True, slots=True)
class Statement:
    """What a theorem says: under these assumptions, this algorithm with this step has at most this error.

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
        The left side, the id of a metric.
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
    source
        The text of the file that it was read from; empty for those of packages.

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
    source: str = ""

    def __post_init__(self) -> None:
        for what, value, allowed in (
            ("status", self.status, STATUSES),
            ("metric", self.metric, choices(self.metric)),
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
        return metric(self.metric)

    @property
    def counter(self) -> Literal["K", "T"]:
        """The symbol that counts iterations: ``K`` (events) or ``T`` (server updates)."""
        return self.left.counter

    def defining(self) -> dict[str, sympy.Expr]:
        """Return how each defined symbol follows from others; the step size is one of them."""
        step = {name: rule for name, rule in self.step.items() if rule != lookup(name, self.symbols).symbol}
        return {**self.definitions, **step}

    def expressions(self) -> tuple[sympy.Expr, ...]:
        """Return the terms of a closed form, and both sides of the conditions."""
        sides = (side for condition in self.conditions for side in (condition.quantity, condition.limit))
        return (*self.bound.expressions().values(), *sides)
