"""The statement of a theorem: its fields, and what follows from them alone."""

import graphlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import sympy

from boundlab import assumptions as known_assumptions
from boundlab.errors import SpecError
from boundlab.formulas.defined import Demands, demands, looked_at
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS, SymbolInfo, having, lookup, names_of
from boundlab.metrics import Metric, choices, metric, range_of
from boundlab.theorems._assume import OF_NOISE, Inequality, check_inequalities
from boundlab.theorems._bound import Bound, Condition
from boundlab.theorems._clock import reads_of, require_clock
from boundlab.theorems._followed import defining, read_by
from boundlab.theorems._points import check_points
from boundlab.theorems._status import OF_PAPERS, ORIGINS, STATUSES, Origin, Status

ANY: Final = "any"
"""The word for an option that a theorem leaves open."""
OTHERS: Final = "*"
"""The key for all options that a theorem does not name."""
EACH: Final = "each schedule"
MEAN: Final = "the mean"
"""What a statement may say that it is about: see :func:`boundlab.theorems.over`."""

# Theorems define what they put together, and choices; all else is problem's and run's, and repeats its meaning.
_DEFINABLE: Final = frozenset({"step", "user", "short"})
_IS_BY_MEANING: Final = {"L_sq": "L**2", "kappa_lag": "1/(1 + lag + (window - 1)/2)"}


@dataclass(frozen=True, slots=True)
class Statement:
    """Statement of a theorem: under these assumptions, this algorithm with this step has at most this error.

    Parameters
    ----------
    id, title
        ``area.theorem8``, and a line for people.
    paper, place, status, origin
        Where it stands, one of :data:`boundlab.theorems.STATUSES`, and a key of ``ORIGINS`` or empty.
    assumptions
        Ids of :data:`boundlab.assumptions.ASSUMPTIONS`. A theorem that neither assumes anything about noise nor reads
        a symbol of it is about full gradients: ``deterministic`` is added.
    algorithm, options
        What is run, and the options that the proof uses: ``{"start": "analysis"}``. ``any`` leaves an option open,
        under ``*`` all that are not named; so does a parameter that a formula reads. Every other option stands at
        its documented default.
    metric
        The left side, the id of a metric; of ``left_side`` where there is one.
    horizon
        ``every``: one run obeys the bound at every K (or T). ``fixed``: the step size is chosen for one K, and
        the bound is about that K only. None stands for what the step says: ``fixed`` where it depends on K.
    first
        The smallest K (or T) that the theorem is about: 1, or 0 where it says something about the start.
    step
        What the theorem sets, by parameter of the algorithm: ``{"alpha": …}`` (constant), ``{"c": …, "d": …}``
        (α_k = c/(k+d)), ``{"eta": …}``, ``{"eta_l": …, "eta_g": …}``. Each name is a symbol; one that stands
        for itself is an input, one that is ``settable`` has a default.
    bound
        Named terms, or a numerical recursion.
    definitions, settable
        Symbols that the theorem defines by others, in any order; and those of them that may be given instead.
    conditions
        Inequalities without which nothing is claimed.
    parameters
        Other parameters of the algorithm that a formula reads, and as which symbol: ``{"K": "window"}``.
    shape
        Whether the bound is a printed O(·) with unknown constants.
    growth
        Symbols along which these constants stay the same: a shape is refuted where left/right is unbounded along them.
    generous
        Symbols of the bound that the paper may count larger than is done here, and by how much: ``{"tau_max": 1}``. A
        search refutes the theorem under both counts or not at all.
    note
        What a reader should know.
    symbols
        The table in which the names are looked up.
    source
        The text of the file that it was read from; empty for those of packages.
    refuted_by
        The case file of a counterexample, relative to the repository (or to the folder that ships it); empty where
        there is none. A shape has none: its constants are unknown.
    repaired_by
        Ids of theorems that are true in its place.
    page
        The page that says what supports or refutes it: ``docs/theory/area.md``; empty where there is none.
    proof
        Where the whole argument stands, a page with an anchor: ``docs/theory/classics.md#stochastic-gradients``;
        empty where there is none.
    proofs
        Ids of the registered proofs that ``boundlab prove`` decides: its own, or the paper's.
    about
        ``each schedule``: the claim holds for each outcome of who arrives when and of the algorithm's own draws.
        ``the mean``: it is about the mean over them. None: about the mean over the draws, and about each schedule of
        arrivals if it reads what the schedule decides, such as tau_max, else about their mean.
    letters
        Our symbols that its paper calls otherwise, with the paper's letter in LaTeX: ``{"G_sq": "M"}``.
    written
        Formula → what it demands as it is written in a file; see :mod:`boundlab.formulas.defined`.
    left_side
        A left side that no metric is, of :func:`boundlab.metrics.compose` or ``compose_sum``.
    rule
        What multiplies the step ``alpha`` where symbols stand in it: a formula of
        :data:`boundlab.algorithms.VARIABLES` and of symbols.
    assume
        Inequalities between quantities of a point that hold at every x, of :func:`boundlab.theorems.inequality`.
    points
        Where alone constants bound gradients, as :data:`boundlab.theorems.POINT_SETS`: ``{"G_sq": ("local-steps",)}``.

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
    step: Mapping[str, sympy.Expr]
    bound: Bound
    horizon: Literal["every", "fixed"] | None = None
    first: int = 1
    definitions: Mapping[str, sympy.Expr] = field(default_factory=dict)
    settable: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=lambda: {"M": "M"})
    shape: bool = False
    growth: tuple[str, ...] = ()
    generous: Mapping[str, int] = field(default_factory=dict)
    note: str = ""
    symbols: Mapping[str, SymbolInfo] = field(default_factory=lambda: SYMBOLS)
    source: str = ""
    refuted_by: str = ""
    repaired_by: tuple[str, ...] = ()
    page: str = ""
    proof: str = ""
    proofs: tuple[str, ...] = ()
    letters: Mapping[str, str] = field(default_factory=dict)
    about: Literal["each schedule", "the mean"] | None = None
    written: Mapping[sympy.Expr, Demands] = field(default_factory=dict, repr=False)
    left_side: Metric | None = None
    rule: sympy.Expr | None = None
    assume: Mapping[str, Inequality] = field(default_factory=dict)
    points: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    origin: Origin = ""

    def __post_init__(self) -> None:
        if self.left_side is not None:
            object.__setattr__(self, "metric", self.left_side.id)
        for what, value, allowed in (
            ("status", self.status, STATUSES),
            ("source", self.origin, ("", *ORIGINS)),
            ("metric", self.metric, choices(self.metric) if self.left_side is None else (self.metric,)),
            ("horizon", self.horizon, ("every", "fixed", None)),
            ("first", self.first, (0, 1)),
            ("about", self.about, (EACH, MEAN, None)),
            (f"the option {OTHERS}", self.options.get(OTHERS, ANY), (ANY,)),
        ):
            if value not in allowed:
                words = ", ".join(str(one) for one in allowed if one not in {None, ""})
                raise SpecError(f"{self.id}: {what} must be one of {words}, got {value!r}")
        if not self.step or ("c" in self.step) != ("d" in self.step) or {"alpha", "c"} <= set(self.step):
            raise SpecError(
                f"{self.id}: step must give alpha, or c and d, or the algorithm's own rates such as eta or eta_l; "
                f"got {', '.join(self.step) or 'nothing'}"
            )
        for what, value in (("id", self.id), ("title", self.title)):
            if value and value.splitlines() != [value]:
                raise SpecError(f"{what} must be one line, got {value!r}")
        rules = self.defining()
        named = (*self.step, *self.parameters.values(), *self.settable, *self.generous, *self.points)
        for name in (*named, *self.left_reads, *self.assume_reads):
            lookup(name, self.symbols)
        for expression in (*rules.values(), *self.expressions()):
            for name in names_of(expression):
                lookup(name, self.symbols)
        try:
            tuple(graphlib.TopologicalSorter({name: names_of(rule) for name, rule in rules.items()}).static_order())
        except graphlib.CycleError as error:
            raise SpecError(f"{self.id}: the definitions go round in a circle: {' → '.join(error.args[1])}") from None
        self._check_definitions(rules)
        self._check_growth(rules)
        self._check_links()
        check_points(self.id, self.points, self.assumptions)
        read_by = {name: self.read_by(one.reads) for name, one in self.assume.items()}
        check_inequalities(self.id, self.assume, self.symbols, read_by)
        self._infer_horizon()
        if self.left.in_seconds:
            object.__setattr__(self, "first", 0)
            read = {one for rule in (*rules.values(), *self.expressions()) for one in self.reads(rule)}
            fixed, larger = self.horizon == "fixed", bool(self.generous or self.growth)
            require_clock(self.id, self.horizon_symbol, self.assumptions, read, fixed=fixed, larger=larger)
        if self.quiet_by_default and known_assumptions.DETERMINISTIC not in self.assumptions:
            object.__setattr__(self, "assumptions", (*self.assumptions, known_assumptions.DETERMINISTIC))

    def _check_definitions(self, rules: Mapping[str, sympy.Expr]) -> None:
        """Refuse to give a symbol of the table another meaning than all engines have of it."""
        for name, info in self.symbols.items():
            if name in SYMBOLS and info is not SYMBOLS[name]:
                raise SpecError(f"{self.id}: {name} is built in ({SYMBOLS[name].meaning}); choose another name")
        for name, rule in rules.items():
            if name not in SYMBOLS or SYMBOLS[name].role in _DEFINABLE:
                continue
            only, meaning = _IS_BY_MEANING.get(name, ""), SYMBOLS[name].meaning
            if not only:
                raise SpecError(
                    f"{self.id}: a theorem cannot define {name}, whose value is that of problem and run ({meaning}); "
                    f"use a symbol of its own"
                )
            if rule != parse(only, {one: known.symbol for one, known in SYMBOLS.items()}):
                raise SpecError(f"{self.id}: {name} can be defined as {only} alone ({meaning})")

    def _check_growth(self, rules: Mapping[str, sympy.Expr]) -> None:
        """Make sure that constants are unknown, and that what they do not depend on is something that moves."""
        if self.growth and not self.shape:
            raise SpecError(f"{self.id}: growth is of a shape, whose constants are unknown; write shape = true")
        if self.growth and self.assume:
            raise SpecError(f"{self.id}: growth looks along families of problems, and assume at one; leave one out")
        for name in self.growth:
            lookup(name, self.symbols)
            if name in rules or self.growth.count(name) > 1:
                raise SpecError(f"{self.id}: growth must name symbols that nothing defines, each once; see {name}")

    def _check_links(self) -> None:
        """Make sure that what stands beside the claim fits it."""
        if self.refuted_by and (self.shape or not self.refuted_by.endswith(".json")):
            right = "empty, since a shape has unknown constants" if self.shape else "the path of a case file, ….json"
            raise SpecError(f"{self.id}: refuted_by must be {right}; got {self.refuted_by!r}")
        if self.id in self.repaired_by or len(set(self.repaired_by)) < len(self.repaired_by):
            raise SpecError(f"{self.id}: repaired_by must name other theorems, each once; got {list(self.repaired_by)}")
        if "#" in self.page:
            raise SpecError(f"{self.id}: page must be a page without an anchor, got {self.page!r}; see proof")
        if self.proof and not re.fullmatch(r"[^#]+#[^#]+", self.proof):
            raise SpecError(f"{self.id}: proof must be a page with an anchor, page.md#anchor; got {self.proof!r}")
        read = self.read | set(self.parameters.values())
        for name, letter in self.letters.items():
            lookup(name, self.symbols)
            if name not in read or not letter:
                raise SpecError(f"{self.id}: letters must give symbols that the theorem reads a letter; see {name}")

    def _infer_horizon(self) -> None:
        """Set the horizon that the step says, and refuse another one."""
        for option, name in self.parameters.items():
            if name == self.horizon_symbol:
                raise SpecError(
                    f"{self.id}: the option {option} cannot be the counter {name}, which is what a run is compared "
                    f"at; where the method is told its horizon, give it under step: {option} = {name}"
                )
        # A rate that stands for itself is an input, but the counter is none: the method is told its horizon.
        depends = self.horizon_symbol in self.read_by({*self.step, *self.rule_reads})
        over = range_of(self.left)
        if over is not None and not over.running:
            if self.horizon == "every":
                raise SpecError(
                    f"{self.id}: horizon cannot be every: which models count in the left side, or how much, depends on "
                    f"{self.horizon_symbol}; write horizon = fixed, or leave it out"
                )
            depends = True
        if depends and self.horizon == "every":
            names = ", ".join(name for name in self.step if self.horizon_symbol in self.read_by([name]))
            raise SpecError(
                f"{self.id}: horizon cannot be every: {names} depends on {self.horizon_symbol}, so that the runs for "
                f"two horizons have different steps; write horizon = fixed, or leave it out"
            )
        if self.horizon is None:
            object.__setattr__(self, "horizon", "fixed" if depends else "every")

    @property
    def of_paper(self) -> bool:
        """True if a paper says it itself, as printed or as recovered: it need not be true."""
        return self.status in OF_PAPERS

    @property
    def quiet_by_default(self) -> bool:
        """True if it neither assumes anything of noise nor reads a symbol of it: then it is about full gradients."""
        chosen = (known_assumptions.choices(name).get(name) for name in self.assumptions)
        if any(one is not None and one.noise for one in chosen):
            return False
        if any(OF_NOISE & one.coefficients.keys() for one in self.assume.values()):
            return False
        return not having("noise", symbols=self.symbols) & self.read

    @property
    def read(self) -> frozenset[str]:
        """Every symbol that bound, conditions and step hold, and all that their definitions use."""
        own = self.left_reads | self.rule_reads | self.assume_reads
        found = {*own, *(name for one in self.expressions() for name in self.reads(one))}
        return self.read_by({*found, *self.bound.reads(frozenset()), *self.step})

    def read_by(self, names: Iterable[str], known: Iterable[str] = ()) -> frozenset[str]:
        """Return the names and all symbols that their definitions use, those of ``known`` symbols apart."""
        return read_by(self, frozenset(names), frozenset(known))

    def links(self) -> dict[str, Any]:
        """Return, as JSON-ready fields, what leads on: its counterexample, its repairs, its page, its proof."""
        return {
            "refuted_by": self.refuted_by,
            "repaired_by": list(self.repaired_by),
            "page": self.page,
            "proof": self.proof,
        }

    @property
    def kind(self) -> Literal["bound", "shape"]:
        """``shape`` where constants are unknown, else ``bound``."""
        return "shape" if self.shape else "bound"

    @property
    def left(self) -> Metric:
        """The left side."""
        return metric(self.metric) if self.left_side is None else self.left_side

    @property
    def left_reads(self) -> frozenset[str]:
        """The symbols in the range and the weights of the left side."""
        return reads_of(self.left)

    @property
    def rule_reads(self) -> frozenset[str]:
        """The symbols of which a run puts the numbers into the step's rule."""
        return frozenset() if self.rule is None else names_of(self.rule) & self.symbols.keys()

    @property
    def assume_reads(self) -> frozenset[str]:
        """The symbols in the coefficients of what holds at every x."""
        return frozenset().union(*(one.reads for one in self.assume.values()))

    @property
    def bounded_by(self) -> dict[str, str]:
        """The symbols of its own that stand in one inequality of ``assume``, linearly, each with the name of that."""
        read_by = {name: self.read_by(one.reads) for name, one in self.assume.items()}
        free = self.assume_reads - SYMBOLS.keys() - self.defining().keys() - {*self.step, *self.settable}
        found = {}
        for name in (each for each in self.symbols if each in free):
            own = [one for one, names in read_by.items() if name in names]
            if len(own) == 1 and self.assume[own[0]].rate(self.symbols[name].symbol) is not None:
                found[name] = own[0]
        return found

    @property
    def horizon_symbol(self) -> Literal["K", "T"]:
        """The symbol that counts iterations: ``K`` (events) or ``T`` (server updates)."""
        return self.left.counter

    @property
    def first_iteration(self) -> int:
        """The smallest value of the counter that the theorem is about and that has a left side."""
        return max(self.first, self.left.first)

    def defining(self) -> Mapping[str, sympy.Expr]:
        """Return how each defined symbol follows from others; the step size is one of them."""
        return defining(self)

    def formulas(self) -> Iterator[tuple[str, sympy.Expr]]:
        """Yield what each formula is, for messages, and the formula: definitions, steps, conditions, terms."""
        for name, rule in self.defining().items():
            yield f"the step {name}" if name in self.step else f"the definition of {name}", rule
        for one in self.conditions:
            for side in (one.quantity, one.limit):
                yield f"the condition {one.statement}", side
        for name, term in self.bound.expressions().items():
            yield f"the term {name}", term

    def demands(self, formula: sympy.Expr) -> Demands:
        """Return what must not vanish, not be negative, or be positive, for one of its formulas to have a value."""
        return self.written.get(formula) or demands(formula)

    def reads(self, formula: sympy.Expr) -> frozenset[str]:
        """Return the names of the symbols in one of its formulas, those among them that cancel as it is written."""
        return names_of(formula).union(*(names_of(one.of) for one in looked_at(self.written.get(formula, ()))))

    def expressions(self) -> tuple[sympy.Expr, ...]:
        """Return the terms of a closed form, and both sides of the conditions."""
        sides = (side for condition in self.conditions for side in (condition.quantity, condition.limit))
        return (*self.bound.expressions().values(), *sides)
