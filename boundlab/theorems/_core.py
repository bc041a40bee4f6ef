"""The core statement: what a theorem says with nothing left implicit, as plain data with one hash.

Elaboration is the only place with defaults. A :class:`Theorem` is a core statement and what people read beside it.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, final

import sympy

from boundlab.algorithms import Algorithm
from boundlab.assumptions import (
    BOUNDED_DOMAIN,
    COMPOSITE,
    DETERMINISTIC,
    ERRORS,
    UNCONSTRAINED,
    definers,
    with_implied,
)
from boundlab.errors import FormulaError, SpecError
from boundlab.files import schema
from boundlab.formulas.defined import Demand, Demands, demands, factors
from boundlab.formulas.parse import parse
from boundlab.metrics import INDEX, MODEL, range_of, terms_of
from boundlab.options import nearest
from boundlab.registry import lookup
from boundlab.theorems._assume import Inequality
from boundlab.theorems._evaluate import inputs, rules
from boundlab.theorems._followed import once
from boundlab.theorems._options import Option, elaborated_options
from boundlab.theorems._over import RandomSource, over
from boundlab.theorems._statement import Statement

_ROUNDS: Final = 5  # of printing and reading, after which formulas have long settled
_APART: Final = " != 0"


@final
class Formula:
    """A formula, as text that the parser reads back, and what must be so for it to have a value, as it is written.

    Both are worked out when one is asked for: most engines ask a core statement for its options and assumptions alone.
    """

    def __init__(self, theorem: Statement, formula: sympy.Expr) -> None:
        self._of = theorem, formula

    @cached_property
    def _said(self) -> tuple[str, tuple[str, ...]]:
        return _said(*self._of)

    @property
    def text(self) -> str:
        """The formula as text."""
        return self._said[0]

    @property
    def where(self) -> tuple[str, ...]:
        """The demands, in one order."""
        return self._said[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and other._said == self._said

    def __hash__(self) -> int:
        return hash(self._said)


@final
@dataclass(frozen=True, slots=True)
class CoreSymbol:
    """A symbol that the statement reads; ``of`` says where its value comes from."""

    name: str
    domain: str
    units: tuple[int, ...]
    role: str
    side: str
    vector: bool
    of: str


@final
@dataclass(frozen=True, slots=True)
class Assumed:
    """An assumption: ``named``, ``implied`` by those, or there by ``default``."""

    id: str
    how: Literal["named", "implied", "default"]


@final
@dataclass(frozen=True, slots=True)
class CoreStatement:
    """Claim of a theorem, and what it is about, in plain data; see :func:`core`.

    Parameters
    ----------
    algorithm, options
        What is run: every option of the algorithm is listed.
    over
        Every source of randomness that the algorithm and its problems may have, and how the claim reads it.
    objective
        Which mean of the clients' functions is minimised and measured, and what may stand beside it.
    counter, first, horizon
        The horizon's symbol, its first value, and whether one run obeys the bound at ``every`` one or at the ``fixed``
        one that its step is chosen for.
    metric, quantity, aggregation, units
        The left side: one quantity of what a run shows, and how the iterates enter.
    terms
        Of a left side that is a sum: (times, quantity, point) each; ``quantity`` is then that of the first.
    in_seconds
        Whether the horizon is the last update that ends within ``seconds``.
    weights, over_models
        Of the models in the left side, a formula of k (or t); the first and the last one; None: equal ones, and the
        usual models of the aggregation.
    shape
        Whether the right side is a printed O(·) with unknown constants.
    growth
        Symbols along which these constants stay the same.
    right, recursion
        The terms, in their order; or what is iterated in their place, in words.
    step, definitions, conditions
        Formulas by what they say; conditions are pairs (quantity, limit) of quantity ≤ limit.
    strict
        Places of the conditions that equality does not meet.
    assume
        Inequalities that hold at every x: for each the sum ≥ 0 as (quantity, what it is multiplied with), 1 as ''.
    points
        Constants that bound gradients at certain points alone, each with the ids of these sets of points.
    settable, generous
        Defined symbols that may be given instead; symbols that the paper may count larger, and by how much.
    """

    algorithm: str
    options: tuple[Option, ...]
    over: tuple[RandomSource, ...]
    objective: str
    counter: str
    first: int
    horizon: str
    metric: str
    quantity: str
    aggregation: str
    units: tuple[int, int]
    weights: Formula | None
    over_models: tuple[Formula, Formula] | None
    terms: tuple[tuple[Formula, str, str], ...]
    in_seconds: bool
    shape: bool
    growth: tuple[str, ...]
    right: tuple[tuple[str, Formula], ...]
    recursion: str
    step: tuple[tuple[str, Formula], ...]
    definitions: tuple[tuple[str, Formula], ...]
    conditions: tuple[tuple[Formula, Formula], ...]
    strict: tuple[int, ...]
    settable: tuple[str, ...]
    generous: tuple[tuple[str, int], ...]
    symbols: tuple[CoreSymbol, ...]
    assumptions: tuple[Assumed, ...]
    assume: tuple[tuple[str, tuple[tuple[str, Formula], ...]], ...] = ()
    points: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def inequalities(self) -> tuple[tuple[Formula, str, Formula], ...]:
        """The conditions with their signs, ``<=`` or ``<``."""
        signs = ("<" if place in self.strict else "<=" for place in range(len(self.conditions)))
        return tuple((left, sign, right) for (left, right), sign in zip(self.conditions, signs, strict=True))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields, with the hash."""
        return {"schema": schema("core"), **self.fields, "sha256": self.sha256}

    @property
    def fields(self) -> dict[str, Any]:
        """Fields that the hash is computed from, as plain data."""
        found: dict[str, Any] = _plain(self)
        # Most statements have none of these, and keep the hash that they had.
        for name in ("terms", "growth", "assume", "in_seconds", "points", "strict"):
            if not found[name]:
                del found[name]
        return found

    @property
    def assumed(self) -> frozenset[str]:
        """The ids of all assumptions."""
        return frozenset(one.id for one in self.assumptions)

    @property
    def asked(self) -> tuple[str, ...]:
        """The ids of those that problem and run are asked about: what they imply follows."""
        return tuple(one.id for one in self.assumptions if one.how != "implied")

    @property
    def noiseless(self) -> bool:
        """True if the statement is about full gradients alone."""
        return DETERMINISTIC in self.assumed

    @property
    def errors(self) -> tuple[str, ...]:
        """The assumptions that say how large errors of gradients may be."""
        return tuple(name for name in ERRORS if name in self.assumed)

    @property
    def unbiased(self) -> bool:
        """True if there are none: then noise of mean 0 is all that gradients have."""
        return not self.errors

    @property
    def fixed(self) -> dict[str, str]:
        """The options whose values are the proof's."""
        return {one.id: one.value for one in self.options if one.how == "fixed"}

    @property
    def read_as(self) -> dict[str, str]:
        """The options that formulas read, each with its symbol."""
        return {one.id: one.symbol for one in self.options if one.symbol}

    def varies(self, option: str) -> bool:
        """Return whether the algorithm has the option, and the statement is about any value of it."""
        return any(one.varies for one in self.options if one.id == option)

    def value(self, option: str) -> str:
        """Return what an option is where it does not vary; empty where it has no default, or the algorithm no such."""
        return next((one.value for one in self.options if one.id == option), "")

    @property
    def json(self) -> str:
        """The canonical form: one line, keys in alphabetical order."""
        return json.dumps(self.fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @property
    def sha256(self) -> str:
        """The hash of the canonical form."""
        return hashlib.sha256(self.json.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return data classes and formulas as objects, and tuples as lists."""
    if isinstance(value, Formula):
        return {"text": value.text, "where": list(value.where)}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    names = getattr(value, "__dataclass_fields__", None)
    return value if names is None else {name: _plain(getattr(value, name)) for name in names}


@once()
def core(theorem: Statement) -> CoreStatement:
    """Elaborate a statement: make everything explicit that it leaves to defaults, and leave out what people read.

    Raises
    ------
    SpecError
        As :func:`boundlab.theorems.over`.
    """
    algorithm: Algorithm[Any] = lookup("algorithms", theorem.algorithm)
    left, over_ = theorem.left, range_of(theorem.left)
    options = elaborated_options(theorem, algorithm)
    for one in terms_of(left):
        if one.point not in (MODEL, *algorithm.points):
            hint = nearest(one.point, (MODEL, *algorithm.points))
            raise SpecError(f"{theorem.id}: {algorithm.id} has no point {one.point!r} for the left side; {hint}")
    return CoreStatement(
        algorithm=theorem.algorithm,
        options=options,
        over=over(theorem).sources,
        objective=_objective(theorem, algorithm, options),
        counter=theorem.horizon_symbol,
        first=theorem.first_iteration,
        horizon=str(theorem.horizon),
        metric=left.id,
        quantity=left.quantity.name.lower(),
        aggregation=left.over.id,
        units=left.units,
        weights=None if over_ is None or over_.weights is None else Formula(theorem, over_.weights),
        over_models=None if over_ is None else (Formula(theorem, over_.begin), Formula(theorem, over_.end)),
        terms=tuple((Formula(theorem, one.times), one.quantity.name.lower(), one.point) for one in terms_of(left)),
        in_seconds=left.in_seconds,
        shape=theorem.shape,
        growth=tuple(sorted(theorem.growth)),
        right=tuple((name, Formula(theorem, term)) for name, term in theorem.bound.expressions().items()),
        recursion=theorem.bound.as_dict()["recursion"],
        step=tuple((name, Formula(theorem, rule)) for name, rule in theorem.step.items()),
        definitions=tuple(_definitions(theorem)),
        conditions=tuple((Formula(theorem, one.quantity), Formula(theorem, one.limit)) for one in theorem.conditions),
        strict=tuple(place for place, one in enumerate(theorem.conditions) if one.strict),
        settable=tuple(sorted(theorem.settable)),
        generous=tuple(sorted(theorem.generous.items())),
        symbols=tuple(_symbols(theorem, options)),
        assumptions=tuple(_assumptions(theorem)),
        assume=tuple((name, tuple(_inequality(theorem, one))) for name, one in sorted(theorem.assume.items())),
        points=tuple((name, tuple(words)) for name, words in sorted(theorem.points.items())),
    )


def _inequality(theorem: Statement, one: Inequality) -> Iterator[tuple[str, Formula]]:
    """Yield the quantities, each with its coefficient, which is the same however the inequality is put."""
    for name, rule in sorted(one.coefficients.items()):
        yield name, Formula(theorem, sympy.expand(rule))


def _objective(theorem: Statement, algorithm: Algorithm[Any], options: tuple[Option, ...]) -> str:
    """Return what is minimised and measured."""
    assumed = with_implied(theorem.assumptions)
    weighs = next((one for one in options if one.id == algorithm.weighs), None)
    mean = "the mean of all f_i"
    if weighs is not None and weighs.how in ("fixed", "open", "symbol"):
        mean = f"Σ p_i f_i with p ∝ {weighs.id}" if weighs.how == "fixed" else f"Σ p_i f_i with any p ∝ {weighs.id}"
    if BOUNDED_DOMAIN in assumed:
        return f"{mean}, on a box or a ball"
    if "constrained" in assumed:
        return f"{mean}, on all of R^d, a box or a ball"
    return f"{mean}, or it + h with a simple convex h" if COMPOSITE in assumed else mean


def _definitions(theorem: Statement) -> Iterator[tuple[str, Formula]]:
    """Yield the definitions that the claim uses, and those of what may be set beside it."""
    used = [name for name in rules(theorem) if name in theorem.definitions]
    more = sorted((theorem.read_by(theorem.settable) & theorem.definitions.keys()) - {*used})
    yield from ((name, Formula(theorem, theorem.definitions[name])) for name in (*used, *more))


def _said(theorem: Statement, formula: sympy.Expr) -> tuple[str, tuple[str, ...]]:
    """Return a formula as text, and what it demands.

    What cancels in it stands beside it, as x/x, since the text must demand the same.
    """
    settled, where = _settled(theorem, formula), sorted(set(demanded(theorem.demands(formula))))
    text, said = str(settled), set(demanded(demands(settled)))
    gone = [one.removesuffix(_APART) for one in where if one not in said and one.endswith(_APART)]
    return "*".join([f"({text})", *(f"(({one})/({one}))" for one in gone)]) if gone else text, tuple(where)


def _settled(theorem: Statement, formula: sympy.Expr) -> sympy.Expr:
    """Return the form that a formula keeps when it is printed and read again: SymPy multiplies some products out."""
    names = {info.name: info.symbol for info in theorem.symbols.values()}
    names = {INDEX[theorem.horizon_symbol].name: INDEX[theorem.horizon_symbol], **names}
    for _ in range(_ROUNDS):
        try:
            again = parse(str(formula), names, theorem.id)
        except FormulaError:  # made in Python, with numbers that no file holds
            break
        if again == formula:
            break
        formula = again
    return formula


def demanded(needed: Demands) -> Iterator[str]:
    """Yield what a formula demands, factor by factor, in words that do not depend on how a product is put."""
    for one in needed:
        if not isinstance(one, Demand):
            parts = (f"{part} where {' and '.join(sorted(set(demanded(own)))) or 'always'}" for part, own in one.parts)
            yield f"a value among {', '.join(sorted(parts))}"
        elif one.kind == "power":
            negative = "" if one.exponent.is_negative else f" or {one.exponent} >= 0"
            yield from (f"{factor}{_APART}{negative}" for factor in _factors(one.of))
        else:
            yield f"{one.of} {'>= 0' if one.kind == 'root' else '> 0'}"


def _factors(of: sympy.Expr) -> Iterator[str]:
    """Yield the factors that may be 0, each up to a number."""
    for one in factors(of):
        factor = one.primitive()[1]
        yield str(-factor if factor.could_extract_minus_sign() else factor)


def _symbols(theorem: Statement, options: tuple[Option, ...]) -> Iterator[CoreSymbol]:
    used = theorem.read | theorem.read_by({*theorem.settable, theorem.horizon_symbol, *theorem.generous})
    used |= {
        name for formula in (*theorem.expressions(), *theorem.defining().values()) for name in theorem.reads(formula)
    }
    base = {*inputs(theorem, ()), theorem.horizon_symbol, *theorem.settable, *theorem.generous}
    read = {one.symbol: one.id for one in options if one.symbol}
    defined = {*theorem.definitions, *theorem.step}
    assumed, inequalities = with_implied(theorem.assumptions), theorem.bounded_by
    for name in (one for one in theorem.symbols if one in used and (one in base or one in defined)):
        info = theorem.symbols[name]
        givers = [one for one in definers(name) if one in assumed]
        of = (
            "the step"
            if name in theorem.step
            else "its definition"
            if name in theorem.definitions
            else f"the option {read[name]}"
            if name in read
            else "the horizon"
            if name == theorem.horizon_symbol
            else f"assumption {givers[0]}"
            if givers
            else f"the inequality {inequalities[name]}"
            if name in inequalities
            else {
                "schedule": "the run",
                "clients": "the problem",
                "function": "the problem",
                "noise": "the problem",
                "heterogeneity": "the problem",
                "start": "the problem",
            }.get(info.role, "the user")
        )
        yield CoreSymbol(name, info.domain.id, info.units, info.role, info.side, info.vector, of)


def _assumptions(theorem: Statement) -> Iterator[Assumed]:
    """Yield those that are named, those that follow from these, and those that stand where nothing else is said."""
    implied = with_implied(theorem.assumptions)
    default = set()
    if theorem.quiet_by_default:
        default.add(DETERMINISTIC)
    if COMPOSITE not in implied:
        default.add(UNCONSTRAINED)
    named = set(theorem.assumptions) - default
    yield from (Assumed(one, "named") for one in sorted(named))
    yield from (Assumed(one, "implied") for one in sorted(implied - named - default))
    yield from (Assumed(one, "default") for one in sorted(default))
