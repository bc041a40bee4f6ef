"""The statement of a theorem: its fields, and what follows from them alone."""

import graphlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache, wraps
from types import MappingProxyType
from typing import Any, Concatenate, Final, Literal, ParamSpec, TypeVar, final, get_args

import sympy

from boundlab import assumptions as known_assumptions
from boundlab.assumptions import ASSUMPTIONS, BOUNDED_RUN, FIXED_TIMES
from boundlab.errors import SpecError
from boundlab.formulas.defined import Demands, demands, looked_at
from boundlab.formulas.folds import StepAt, sides
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS, SymbolInfo, followed, having, lookup, make_symbol, names_of
from boundlab.metrics import INDEX, Metric, choices, metric, range_of, terms_of
from boundlab.options import nearest
from boundlab.theorems._bound import Bound, Condition

# Where a statement is from: its status, and what a file was written from.

Status = Literal["as printed", "recovered, not compared with the print", "repaired", "derived here", "textbook", "user"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
"""``recovered``: the text at hand has lost the formula; ``textbook``: true, with a proof in books; ``user``: a file."""

OF_PAPERS: Final = STATUSES[:2]
"""What a paper says itself: it need not be true."""

Origin = Literal["", "print", "memory", "own"]
ORIGINS: Final[Mapping[str, str]] = {
    "print": "compared with the print",
    "memory": "from memory, not compared with the print",
    "own": "our own, under the paper's name",
}
"""What a file says under ``source``, in words."""


# Facts that follow from a statement's fields alone, worked out once for each statement.

Rest = ParamSpec("Rest")
Fact = TypeVar("Fact")


@final
class _Same:
    """A statement that is equal to itself alone: statements are frozen, and hold what has no hash."""

    __slots__ = ("statement",)

    def __init__(self, statement: Any) -> None:
        self.statement = statement

    def __hash__(self) -> int:
        return id(self.statement)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.statement is self.statement


def once(
    most: int = 512,
) -> Callable[[Callable[Concatenate[Any, Rest], Fact]], Callable[Concatenate[Any, Rest], Fact]]:
    """Return what makes a function of a statement work out once what it gives: nobody may change that.

    Such a function reads nothing but the statement's fields and its other arguments, which have hashes. What it raises
    is raised again. A copy of a statement is another one, of which nothing is known yet.

    Parameters
    ----------
    most
        Results that are kept.
    """

    def of(function: Callable[Concatenate[Any, Rest], Fact]) -> Callable[Concatenate[Any, Rest], Fact]:
        @lru_cache(maxsize=most)
        def known(same: _Same, *rest: Rest.args, **more: Rest.kwargs) -> Fact:
            return function(same.statement, *rest, **more)

        @wraps(function)
        def found(statement: Any, *rest: Rest.args, **more: Rest.kwargs) -> Fact:
            return known(_Same(statement), *rest, **more)  # type: ignore[arg-type]  # they have hashes

        return found  # type: ignore[return-value]  # the first argument has no name any more

    return of


def expanded(given: Iterable[str]) -> frozenset[str]:
    """Return the names, with those that follow from p, or from rates and lambda_s."""
    names = frozenset(given)
    if "rates" in names and "lambda_s" in names:
        names |= {"p"}
    return names | {"n", "p_s", "p_min", "qbar"} if "p" in names else names


@once(8192)
def read_by(theorem: Any, names: frozenset[str], known: frozenset[str]) -> frozenset[str]:
    """Return names and all that their definitions use."""
    rules = theorem.defining()
    return followed(names, lambda name: theorem.reads(rules[name]) if name in rules and name not in known else ())


# Sets of points: where a run takes the gradients that a theorem along the run bounds.


@final
@dataclass(frozen=True, slots=True)
class PointSet:
    """A set of points.

    Parameters
    ----------
    id
        How theorems and files name it.
    words
        Where gradients are bounded; T is the horizon, N the window, 1 where there is none.
    of
        The constants that may be about it: those that are read there.
    on_tape
        Whether one run shows all of its points; else a set is asked for that no event sequence leaves.
    """

    id: str
    words: str
    of: tuple[str, ...]
    on_tape: bool = True


_SLOPES: Final = ("B", "G", "G_sq")
_SPREADS: Final = ("sigma_g", "sigma_g_mean")
_BUILT_IN = (
    PointSet("local-steps", "at the local steps of all updates that enter server updates 1 … T + N − 1", _SLOPES),
    PointSet(
        "rounds",
        "at each client's local steps up to the last of a round that the server reads in rounds 1 … T",
        _SLOPES,
    ),
    PointSet("segments", "on the segments from w[0] to w[y], y < N, of all f_i, where N > 1", _SLOPES),
    PointSet("virtual-segments", "on the segments from w[0] to v[t], t < N, of all f_i, with v virtual", _SLOPES),
    PointSet("server", "at w[t], t < T, of all f_i", _SPREADS),
    PointSet("virtual", "at v[t], t < T, of all f_i, with v virtual", _SPREADS),
    PointSet(
        "passes",
        "at the points of all passes that a client could begin at any server model",
        (*_SLOPES, "sigma", "sigma_l"),
        False,
    ),
    PointSet("models", "at all server models that there could be, of all f_i", _SPREADS, False),
)
POINT_SETS: Final[Mapping[str, PointSet]] = MappingProxyType({one.id: one for one in _BUILT_IN})


def places(words: Iterable[str]) -> str:
    """Return what a constant is about, in words."""
    return ", and ".join(POINT_SETS[word].words for word in words)


def check_points(owner: str, points: Mapping[str, tuple[str, ...]], assumptions: Iterable[str]) -> None:
    """Make sure that sets of points are known and fit what is read there, and that the theorem is about runs.

    Raises
    ------
    SpecError
        If not.
    """
    for name, words in points.items():
        for word in words:
            if word not in POINT_SETS:
                raise SpecError(f"{owner}: points.{name} names no set of points: {word!r}; {nearest(word, POINT_SETS)}")
            if name not in POINT_SETS[word].of:
                read = ", ".join(POINT_SETS[word].of)
                raise SpecError(f"{owner}: points.{name}: {word} is where {read} are read, and {name} is none of them")
    if points and BOUNDED_RUN not in assumptions:
        raise SpecError(f"{owner}: points are those of a run: assume {BOUNDED_RUN}, too")


# Assumptions that are inequalities between quantities of a point, and hold at every x: the table [assume].

# Their names are those of boundlab.objective.facts; stochastic gradients are those of a client drawn uniformly.
POINTWISE: Final[Mapping[str, SymbolInfo]] = MappingProxyType(
    {
        name: make_symbol(name, meaning, domain, units, latex, unicode)
        for name, meaning, domain, units, latex, unicode in (
            ("gap", "f(x) − f*", "nonnegative", (1, 0), r"\left(f(x)-f^\star\right)", "(f(x) − f*)"),
            ("slope", "‖∇f(x)‖²", "nonnegative", (2, -2), r"\|\nabla f(x)\|^2", "‖∇f(x)‖²"),
            ("distance", "‖x − x*‖²", "nonnegative", (0, 2), r"\|x-x^\star\|^2", "‖x − x*‖²"),
            ("inner", "⟨∇f(x), x − x*⟩", "real", (1, 0), r"\langle\nabla f(x),x-x^\star\rangle", "⟨∇f(x), x − x*⟩"),
            ("second_moment", "E‖g(x)‖²", "nonnegative", (2, -2), r"\mathbb{E}\|g(x)\|^2", "E‖g(x)‖²"),
            (
                "variance",
                "E‖g(x) − ∇f(x)‖²",
                "nonnegative",
                (2, -2),
                r"\mathbb{E}\|g(x)-\nabla f(x)\|^2",
                "E‖g(x) − ∇f(x)‖²",
            ),
            (
                "mean_i(slope_i)",
                "(1/n)Σ‖∇f_i(x)‖²",
                "nonnegative",
                (2, -2),
                r"\frac1n\sum_i\|\nabla f_i(x)\|^2",
                "(1/n)Σ‖∇f_i(x)‖²",
            ),
        )
    }
)
OF_NOISE: Final = frozenset({"second_moment", "variance"})
_MEAN: Final = re.compile(r"\bmean_i\s*\(\s*slope_i\s*\)")
_PLACEHOLDER: Final = "slope_i"
_PER_RUN: Final = ("schedule", "step", "horizon", "option")


@final
@dataclass(frozen=True, slots=True)
class Inequality:
    """``smaller ≤ larger`` at every x, linear in the quantities of a point.

    Parameters
    ----------
    smaller, larger
        SymPy expressions over symbols and :data:`POINTWISE`.
    statement
        The inequality as it was written.

    Raises
    ------
    SpecError
        If it holds no quantity, or is not linear in them.
    """

    smaller: sympy.Expr
    larger: sympy.Expr
    statement: str
    coefficients: Mapping[str, sympy.Expr] = field(init=False)

    def __post_init__(self) -> None:
        found = of_quantities(self.larger - self.smaller, self.statement)
        if not {*found} - {""}:
            raise SpecError(f"{self.statement!r} compares no quantity of a point; one of {', '.join(POINTWISE)}")
        object.__setattr__(self, "coefficients", MappingProxyType(found))

    def __reduce__(self) -> tuple[object, ...]:
        """Return what makes it again."""
        return Inequality, (self.smaller, self.larger, self.statement)

    @property
    def reads(self) -> frozenset[str]:
        """The symbols in the coefficients."""
        return frozenset().union(*map(names_of, self.coefficients.values()))

    def rate(self, symbol: sympy.Symbol) -> dict[str, sympy.Expr] | None:
        """Return how the coefficients change with a symbol, or None where they are not linear in it."""
        found = {quantity: sympy.diff(one, symbol) for quantity, one in self.coefficients.items()}
        return None if any(symbol in one.free_symbols for one in found.values()) else found


def of_quantities(side: sympy.Expr, statement: str) -> dict[str, sympy.Expr]:
    """Return the coefficient of each quantity that has one, and under '' what is left.

    Raises
    ------
    SpecError
        If the expression is not linear in them.
    """
    found = {name: sympy.diff(side, info.symbol) for name, info in POINTWISE.items()}
    found[""] = side.xreplace({info.symbol: sympy.S.Zero for info in POINTWISE.values()})
    for name, one in found.items():
        if mixed := names_of(one) & POINTWISE.keys():
            raise SpecError(
                f"{statement!r} is not linear in {name or min(mixed)}: no certificate knows such inequalities"
            )
    return {name: one for name, one in found.items() if one != 0}


def inequality(text: str, symbols: Mapping[str, SymbolInfo] = SYMBOLS, where: str = "assume") -> Inequality:
    """Read an inequality ``left >= right`` or ``left <= right`` between quantities of a point.

    Raises
    ------
    SpecError
        If it is none, is not linear in the quantities, or a symbol has the name of one.
    FormulaError
        If a side cannot be read.
    """
    what = f"{where}, {text!r}"
    parts = sides(text, ">=|<=")
    if parts is None:
        raise SpecError(f"{what}: must be one inequality, left >= right or left <= right")
    names = {name: info.symbol for name, info in symbols.items()}
    names |= {_PLACEHOLDER if "(" in name else name: info.symbol for name, info in POINTWISE.items()}
    if taken := sorted(names.keys() & symbols.keys() & {*POINTWISE, _PLACEHOLDER}):
        raise SpecError(f"{what}: in [assume] {taken[0]} is a quantity of a point; choose another name for the symbol")
    written = dict[sympy.Expr, Demands]()
    texts = (parts[0], parts[2])
    for side in texts:
        if _PLACEHOLDER in _MEAN.sub("", side):
            raise SpecError(f"{what}: {_PLACEHOLDER} stands in mean_i({_PLACEHOLDER}) alone")
    left, right = (parse(_MEAN.sub(_PLACEHOLDER, side).strip(), names, what, written) for side in texts)
    try:
        found = Inequality(*((right, left) if parts[1] == ">=" else (left, right)), text)
    except SpecError as error:
        raise SpecError(f"{where}: {error}") from None
    lost = {name for needed in written.values() for one in looked_at(needed) for name in names_of(one.of)} - found.reads
    if lost:
        raise SpecError(f"{what}: {min(lost)} cancels; leave it out")
    return found


def check_inequalities(
    where: str,
    assume: Mapping[str, Inequality],
    symbols: Mapping[str, SymbolInfo],
    read_by: Mapping[str, frozenset[str]],
) -> None:
    """Refuse names that are none, and coefficients that are not the same number at every x of every run.

    Parameters
    ----------
    read_by
        For each inequality the symbols that its coefficients read, their definitions included.

    Raises
    ------
    SpecError
        Naming the inequality.
    """
    for name in assume:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,30}", name) or name in ASSUMPTIONS or name in symbols:
            raise SpecError(
                f"{where}: assume.{name}: choose a name of letters and digits, and of no symbol or assumption"
            )
        for other in sorted(read_by[name]):
            if other not in symbols:
                raise SpecError(f"{where}: assume.{name}: unknown symbol {other!r}; {nearest(other, symbols)}")
            if symbols[other].vector or symbols[other].role in _PER_RUN:
                raise SpecError(f"{where}: assume.{name} reads {other}, which is not one number of the problem")


# Left sides that are those of the last update within some seconds.

SECONDS: Final = "seconds"
"""The symbol that says within which time a left side is that of the last update."""


def reads_of(left: Metric) -> frozenset[str]:
    """Return the symbols in the range and the weights of a left side, and the seconds within which it is looked at.

    How many updates there are in that time is read off the run.
    """
    found, clock = range_of(left), frozenset({SECONDS} if left.in_seconds else ())
    if found is None:
        return clock.union(*(names_of(one.times) for one in terms_of(left)))
    read = clock.union(*map(names_of, found.formulas)) - {INDEX[found.counter].name}
    return read - {found.counter} if clock else read


def require_clock(
    name: str, counter: str, assumptions: Collection[str], read: Collection[str], *, fixed: bool, larger: bool
) -> None:
    """Make sure that a statement in seconds has a clock, and reads nowhere how many updates there are.

    Parameters
    ----------
    name, counter
        Its id, and the symbol that counts updates.
    read
        What bound, step, conditions and definitions read.
    fixed, larger
        Whether step or weights depend on the horizon, and whether it counts something larger or is about growth.

    Raises
    ------
    SpecError
        If not.
    """
    for wrong, right in (
        (FIXED_TIMES not in assumptions, f"a statement in seconds assumes {FIXED_TIMES}; name it under assumptions"),
        (larger, f"generous and growth are for bounds of updates, not for {SECONDS}; leave them out"),
        (
            fixed or counter in read,
            f"{counter} is read off the run, the updates within {SECONDS}: no step, bound, condition, "
            f"definition or weight reads it; say {SECONDS} in its place",
        ),
    ):
        if wrong:
            raise SpecError(f"{name}: {right}")


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


@dataclass(frozen=True)
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
        read = (name for rule in (*rules.values(), *self.expressions()) for name in names_of(rule))
        for name in (*named, *self.left_reads, *self.assume_reads, *read):
            lookup(name, self.symbols)
        for name, rule in self.step.items():
            domain = self.symbols[name].domain
            if domain.low == 0 and (rule.is_negative or (rule.is_zero and domain.open_low)):
                raise SpecError(f"{self.id}: step.{name} must be {domain.rule}, got {rule}")
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
            every = {one for rule in (*rules.values(), *self.expressions()) for one in self.reads(rule)}
            fixed, larger = self.horizon == "fixed", bool(self.generous or self.growth)
            require_clock(self.id, self.horizon_symbol, self.assumptions, every, fixed=fixed, larger=larger)
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
        runs = (name for name in self.assumptions if known_assumptions.assumption(name).along)
        if self.growth and (one := "assume" if self.assume else next(runs, "")):
            raise SpecError(f"{self.id}: growth looks along families of problems, and {one} at one; leave one out")
        for name in self.growth:
            lookup(name, self.symbols)
            if name in rules or self.growth.count(name) > 1:
                raise SpecError(f"{self.id}: growth must name symbols that nothing defines, each once; see {name}")

    def _check_links(self) -> None:
        """Make sure that what stands beside the claim fits it."""
        case = "empty, since a shape has unknown constants" if self.shape else "the path of a case file, ….json"
        twice = self.id in self.repaired_by or len(set(self.repaired_by)) < len(self.repaired_by)
        for wrong, right in (
            (
                self.refuted_by and (self.shape or not self.refuted_by.endswith(".json")),
                f"refuted_by must be {case}; got {self.refuted_by!r}",
            ),
            (twice, f"repaired_by must name other theorems, each once; got {list(self.repaired_by)}"),
            ("#" in self.page, f"page must be a page without an anchor, got {self.page!r}; see proof"),
            (
                self.proof and not re.fullmatch(r"[^#]+#[^#]+", self.proof),
                f"proof must be a page with an anchor, page.md#anchor; got {self.proof!r}",
            ),
        ):
            if wrong:
                raise SpecError(f"{self.id}: {right}")
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

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: what follows from them is worked out again."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

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

    @once(4096)
    def needs(self, known: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the base symbols, and the defined ones in the order of computation, where some have values."""
        defining = self.defining()
        absent = self.bound.gone(known)
        base: dict[str, None] = {}
        order: dict[str, None] = {}

        def visit(name: str) -> None:
            if name in base or name in order:
                return
            if name in known or name not in defining:
                base[name] = None
                return
            for other in sorted(self.reads(defining[name])):
                visit(other)
            order[name] = None

        for expression in self.expressions():
            if not names_of(expression) & absent:
                for name in sorted(self.reads(expression)):
                    visit(name)
        for name in self.bound.reads(known):
            visit(name)
        more = self.left_reads | self.rule_reads | self.assume_reads
        for name in (*self.step, *sorted(more)):
            if name not in absent:
                visit(name)
        if not self.bound.closed:
            base[self.horizon_symbol] = None
        return tuple(base), tuple(order)

    def inputs(self, given: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the symbols that need a value when those of ``given`` are set, in the order of the table.

        ``p`` counts as n, p_s, p_min and qbar.
        """
        return self._inputs(expanded(given))

    @once(4096)
    def _inputs(self, given: frozenset[str]) -> tuple[str, ...]:
        base, _ = self.needs(given)
        return tuple(name for name in self.symbols if name in base)

    def rules(self) -> dict[str, sympy.Expr]:
        """Return the defined symbols that the statement uses, each by the ones after it."""
        defining = self.defining()
        own = () if "c" in self.step else tuple(self.step)
        return {name: defining[name] for name in reversed(self.needs(frozenset())[1]) if name not in own}

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

    @cached_property
    def left(self) -> Metric:
        """The left side."""
        return metric(self.metric) if self.left_side is None else self.left_side

    @cached_property
    def left_reads(self) -> frozenset[str]:
        """The symbols in the range and the weights of the left side."""
        return reads_of(self.left)

    @cached_property
    def rule_reads(self) -> frozenset[str]:
        """The symbols of which a run puts the numbers into the step's rule."""
        return frozenset() if self.rule is None else names_of(self.rule) & self.symbols.keys()

    @cached_property
    def assume_reads(self) -> frozenset[str]:
        """The symbols in the coefficients of what holds at every x."""
        return frozenset().union(*(one.reads for one in self.assume.values()))

    @cached_property
    def read_off_runs(self) -> frozenset[str]:
        """The constants that are read off each run."""
        return frozenset(name for name, words in self.points.items() if all(POINT_SETS[word].on_tape for word in words))

    @cached_property
    def reads_steps(self) -> bool:
        """True if a formula reads the steps of a run that the statement leaves open."""
        over = range_of(self.left)
        weights = () if over is None or over.weights is None else (over.weights,)
        return any(one.has(StepAt) for one in (*self.expressions(), *self.definitions.values(), *weights))

    @cached_property
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

    @cached_property
    def horizon_symbol(self) -> Literal["K", "T"]:
        """The symbol that counts iterations: ``K`` (events) or ``T`` (server updates)."""
        return self.left.counter

    @cached_property
    def first_iteration(self) -> int:
        """The smallest value of the counter that the theorem is about and that has a left side."""
        return max(self.first, self.left.first)

    @once()
    def defining(self) -> Mapping[str, sympy.Expr]:
        """Return how each defined symbol follows from others; the step size is one of them."""
        own = ((name, rule, lookup(name, self.symbols).symbol) for name, rule in self.step.items())
        return {**self.definitions, **{name: rule for name, rule, symbol in own if rule != symbol}}

    def formulas(self) -> Iterator[tuple[str, sympy.Expr]]:
        """Yield what each formula is, for messages, and the formula: definitions, steps, conditions, terms."""
        for name, rule in self.defining().items():
            yield f"the step {name}" if name in self.step else f"the definition of {name}", rule
        for one in self.conditions:
            for side in (one.quantity, one.limit):
                yield f"the condition {one.statement}", side
        for name, term in self.bound.terms.items():
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
        return (*self.bound.terms.values(), *sides)
