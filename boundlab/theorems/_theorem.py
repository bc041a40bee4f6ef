"""Theorems as objects: each says what it needs, evaluates its bound, gives its step sizes, and shows itself."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Final, Literal, final

import numpy as np
import sympy
from numpy.typing import ArrayLike

from boundlab.algorithms import Algorithm
from boundlab.assumptions import (
    BOUNDED_DOMAIN,
    COMPOSITE,
    DETERMINISTIC,
    ERRORS,
    UNCONSTRAINED,
    Assumption,
    assumption,
    definers,
    with_implied,
)
from boundlab.errors import FormulaError, SpecError, SymbolError
from boundlab.files import schema
from boundlab.formulas.assignments import arrival_statistics
from boundlab.formulas.defined import Demand, Demands, demands, factors
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS, SymbolInfo, lookup as lookup_symbol, names_of
from boundlab.metrics import INDEX, MODEL, choices, metric, range_of, terms_of
from boundlab.options import merged, nearest
from boundlab.randomness import Floats
from boundlab.references import reference
from boundlab.registry import by_id, lookup
from boundlab.theorems._bound import Evaluation
from boundlab.theorems._evaluate import (
    Option,
    RandomSource,
    admissible,
    derive,
    elaborated_options,
    evaluated,
    over,
    rule_of,
    step_at,
)
from boundlab.theorems._statement import POINTWISE, SECONDS, Statement, expanded, once, places

# The core statement: what a theorem says with nothing left implicit, as plain data with one hash.
#
# Elaboration is the only place with defaults. A :class:`Theorem` is a core statement and what people read beside it.

_ROUNDS: Final = 5  # of printing and reading, after which formulas have long settled
_APART: Final = " != 0"


Assumed = Literal["named", "implied", "default"]
"""How an assumption is there: named, implied by those that are, or there by default."""


@final
@dataclass(frozen=True, eq=False)
class CoreStatement:
    """Claim of a theorem, and what it is about; see :func:`core`.

    Parameters
    ----------
    options
        What is run: every option of the algorithm is listed.
    over
        Every source of randomness that the algorithm and its problems may have, and how the claim reads it.
    symbols
        Those that the statement reads, each with where its value comes from, in words.
    assumptions
        By id, each with how it is there.
    """

    theorem: Statement
    options: tuple[Option, ...]
    over: tuple[RandomSource, ...]
    symbols: Mapping[str, str]
    assumptions: Mapping[str, Assumed]

    @cached_property
    def fields(self) -> dict[str, Any]:
        """Everything that the claim says, as plain data; the hash is computed from it.

        A formula is its ``text``, which the parser reads back, and ``where`` it has a value as it is written. It is
        worked out when somebody asks: most engines ask for options and assumptions alone.

        objective
            Which mean of the clients' functions is minimised and measured, and what may stand beside it.
        counter, first, horizon
            The horizon's symbol, its first value, and whether one run obeys the bound at ``every`` one or at the
            ``fixed`` one that its step is chosen for.
        metric, quantity, aggregation, units
            The left side: one quantity of what a run shows, and how the iterates enter.
        terms
            Of a left side that is a sum: (times, quantity, point) each; ``quantity`` is then that of the first.
        in_seconds
            Whether the horizon is the last update that ends within ``seconds``.
        weights, over_models
            Of the models in the left side, a formula of k (or t); the first and the last one; None: equal ones, and
            the usual models of the aggregation.
        shape, growth
            Whether the right side is a printed O(·) with unknown constants; symbols along which they stay the same.
        right, recursion
            The terms, in their order; or what is iterated in their place, in words.
        step, definitions, conditions, strict
            Formulas by what they say; conditions are pairs (quantity, limit) of quantity ≤ limit; places of those that
            equality does not meet.
        assume
            Inequalities that hold at every x: for each the sum ≥ 0 as (quantity, what it is multiplied with), 1 as ''.
        points
            Constants that bound gradients at certain points alone, each with the ids of these sets of points.
        settable, generous
            Defined symbols that may be given instead; symbols that the paper may count larger, and by how much.
        """
        theorem, left, models = self.theorem, self.theorem.left, range_of(self.theorem.left)
        said = partial(_said, theorem)
        found = {
            "algorithm": theorem.algorithm,
            "options": [_plain(one) for one in self.options],
            "over": [_plain(one) for one in self.over],
            "objective": _objective(theorem, self.options),
            "counter": theorem.horizon_symbol,
            "first": theorem.first_iteration,
            "horizon": str(theorem.horizon),
            "metric": left.id,
            "quantity": left.quantity.name.lower(),
            "aggregation": left.over.id,
            "units": list(left.units),
            "weights": None if models is None or models.weights is None else said(models.weights),
            "over_models": None if models is None else [said(models.begin), said(models.end)],
            "terms": [[said(one.times), one.quantity.name.lower(), one.point] for one in terms_of(left)],
            "in_seconds": left.in_seconds,
            "shape": theorem.shape,
            "growth": sorted(theorem.growth),
            "right": [[name, said(term)] for name, term in theorem.bound.terms.items()],
            "recursion": theorem.bound.as_dict()["recursion"],
            "step": [[name, said(rule)] for name, rule in theorem.step.items()],
            "definitions": [[name, said(rule)] for name, rule in _definitions(theorem)],
            "conditions": [[said(one.quantity), said(one.limit)] for one in theorem.conditions],
            "strict": [place for place, one in enumerate(theorem.conditions) if one.strict],
            "settable": sorted(theorem.settable),
            "generous": [[name, more] for name, more in sorted(theorem.generous.items())],
            "symbols": [{**_facts(theorem.symbols[name]), "of": of} for name, of in self.symbols.items()],
            "assumptions": [{"id": name, "how": how} for name, how in self.assumptions.items()],
            "assume": [
                # The same coefficients, however the inequality is put.
                [name, [[each, said(sympy.expand(rule))] for each, rule in sorted(one.coefficients.items())]]
                for name, one in sorted(theorem.assume.items())
            ],
            "points": [[name, list(words)] for name, words in sorted(theorem.points.items())],
        }
        # Most statements have none of these, and keep the hash that they had.
        rare = {"terms", "growth", "assume", "in_seconds", "points", "strict"}
        return {name: value for name, value in found.items() if value or name not in rare}

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields, with the hash."""
        return {"schema": schema("core"), **self.fields, "sha256": self.sha256}

    @cached_property
    def assumed(self) -> frozenset[str]:
        """The ids of all assumptions."""
        return frozenset(self.assumptions)

    @cached_property
    def asked(self) -> tuple[Assumption, ...]:
        """Those that problem and run are asked about: what they imply follows."""
        return tuple(assumption(name) for name, how in self.assumptions.items() if how != "implied")

    @cached_property
    def noiseless(self) -> bool:
        """True if the statement is about full gradients alone."""
        return DETERMINISTIC in self.assumed

    @cached_property
    def errors(self) -> tuple[str, ...]:
        """The assumptions that say how large errors of gradients may be."""
        return tuple(name for name in ERRORS if name in self.assumed)

    @cached_property
    def unbiased(self) -> bool:
        """True if there are none: then noise of mean 0 is all that gradients have."""
        return not self.errors

    @cached_property
    def fixed(self) -> dict[str, str]:
        """The options whose values are the proof's."""
        return {one.id: one.value for one in self.options if one.how == "fixed"}

    @cached_property
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


def _plain(one: Option | RandomSource) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__dataclass_fields__}


def _facts(info: SymbolInfo) -> dict[str, Any]:
    same = {name: getattr(info, name) for name in ("name", "role", "side", "vector")}
    return {**same, "domain": info.domain.id, "units": list(info.units)}


@once()
def core(theorem: Statement) -> CoreStatement:
    """Elaborate a statement: make everything explicit that it leaves to defaults, and leave out what people read.

    Raises
    ------
    SpecError
        As :func:`boundlab.theorems.over`.
    """
    algorithm: Algorithm[Any] = lookup("algorithms", theorem.algorithm)
    options = elaborated_options(theorem, algorithm)
    for one in terms_of(theorem.left):
        if one.point not in (MODEL, *algorithm.points):
            hint = nearest(one.point, (MODEL, *algorithm.points))
            raise SpecError(f"{theorem.id}: {algorithm.id} has no point {one.point!r} for the left side; {hint}")
    symbols = dict(_symbols(theorem, options))
    return CoreStatement(theorem, options, over(theorem).sources, symbols, _assumptions(theorem))


def _objective(theorem: Statement, options: tuple[Option, ...]) -> str:
    """Return what is minimised and measured."""
    assumed, weighing = with_implied(theorem.assumptions), lookup("algorithms", theorem.algorithm).weighs
    weighs = next((one for one in options if one.id == weighing), None)
    mean = "the mean of all f_i"
    if weighs is not None and weighs.how in ("fixed", "open", "symbol"):
        mean = f"Σ p_i f_i with p ∝ {weighs.id}" if weighs.how == "fixed" else f"Σ p_i f_i with any p ∝ {weighs.id}"
    if BOUNDED_DOMAIN in assumed:
        return f"{mean}, on a box or a ball"
    if "constrained" in assumed:
        return f"{mean}, on all of R^d, a box or a ball"
    return f"{mean}, or it + h with a simple convex h" if COMPOSITE in assumed else mean


def _definitions(theorem: Statement) -> Iterator[tuple[str, sympy.Expr]]:
    """Yield the definitions that the claim uses, and those of what may be set beside it."""
    used = [name for name in theorem.rules() if name in theorem.definitions]
    more = sorted((theorem.read_by(theorem.settable) & theorem.definitions.keys()) - {*used})
    yield from ((name, theorem.definitions[name]) for name in (*used, *more))


def _said(theorem: Statement, formula: sympy.Expr) -> dict[str, Any]:
    """Return a formula as text that the parser reads back, and what must be so for it to have a value, in one order.

    What cancels in it stands beside it, as x/x, since the text must demand the same.
    """
    settled, where = _settled(theorem, formula), sorted(set(demanded(theorem.demands(formula))))
    text, said = str(settled), set(demanded(demands(settled)))
    gone = [one.removesuffix(_APART) for one in where if one not in said and one.endswith(_APART)]
    text = "*".join([f"({text})", *(f"(({one})/({one}))" for one in gone)]) if gone else text
    return {"text": text, "where": where}


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


def _symbols(theorem: Statement, options: tuple[Option, ...]) -> Iterator[tuple[str, str]]:
    """Yield the symbols that are read, each with where its value comes from."""
    used = theorem.read | theorem.read_by({*theorem.settable, theorem.horizon_symbol, *theorem.generous})
    used |= {
        name for formula in (*theorem.expressions(), *theorem.defining().values()) for name in theorem.reads(formula)
    }
    base = {*theorem.inputs(), theorem.horizon_symbol, *theorem.settable, *theorem.generous}
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
        yield name, of


def _assumptions(theorem: Statement) -> dict[str, Assumed]:
    """Return those that are named, those that follow from these, and those that stand where nothing else is said."""
    implied = with_implied(theorem.assumptions)
    stand = {DETERMINISTIC: theorem.quiet_by_default, UNCONSTRAINED: COMPOSITE not in implied}
    default = {one for one, stands in stand.items() if stands}
    named = set(theorem.assumptions) - default
    hows: dict[Assumed, set[str]] = {"named": named, "implied": {*implied} - named - default, "default": default}
    return {name: how for how, names in hows.items() for name in sorted(names)}


# A core statement in words.


def words_of_core(core: CoreStatement) -> list[str]:
    """Return the statement in lines, everything that it says in every one of its fields."""
    said = core.fields
    name = said["metric"]
    left = metric(name).expectation if name in choices(name) else f"E {name}"
    right = " + ".join(_formula(term) for _, term in said["right"])
    signs = ("<" if place in said.get("strict", ()) else "≤" for place in range(len(said["conditions"])))
    return [
        f"For {said['algorithm']}{_listed(' with ', map(_option, core.options))};",
        f"minimised and measured is {said['objective']};",
        *_by_how(
            ((how, name) for name, how in core.assumptions.items()),
            {"named": "for every problem and run with", "implied": "so with", "default": "by default"},
        ),
        *(f"assuming {name} at every x: {_sum(one)};" for name, one in said.get("assume", ())),
        *(f"where {name} bounds gradients {places(words)} alone;" for name, words in said.get("points", ())),
        *_by_how(
            ((one.how, one.words) for one in core.over),
            {"averaged": "the mean is over", "given": "for each outcome of", "absent": "without"},
        ),
        *_readings(said),
        f"for {_runs(said)},{_listed(' with ', (f'{name} = {_formula(rule)}' for name, rule in said['step']))}:",
        f"    {left}  {'= O of' if said['shape'] else '≤'}  {right or said['recursion']}",
        *(f"where {name} = {_formula(rule)}" for name, rule in said["definitions"]),
        *(
            f"if {_formula(left)} {sign} {_formula(right)}"
            for (left, right), sign in zip(said["conditions"], signs, strict=True)
        ),
        *(f"{one['name']}: {one['domain']}, {one['role']}, {one['side']}, from {one['of']}" for one in said["symbols"]),
        f"core {core.sha256}",
    ]


def _listed(head: str, parts: Any) -> str:
    found = ", ".join(parts)
    return f"{head}{found}" if found else ""


def _option(one: Option) -> str:
    said = f" = {one.value}" if one.how == "fixed" else ""
    if one.how == "default":
        said = f" = {one.value} (default)" if one.value else " at its default"
    more = {"open": "any ", "symbol": "any "}.get(one.how, "")
    about = {"step": " as the statement sets it", "unused": " unused"}.get(one.how, "")
    return f"{more}{one.id}{said}{about}" + (f", read as {one.symbol}" if one.symbol else "")


def _by_how(parts: Iterable[tuple[str, str]], heads: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each way in which words stand in a statement, with its head."""
    said = [*parts]
    for how, head in heads.items():
        if found := ", ".join(words for own, words in said if own == how):
            yield f"{head} {found};"


def _readings(said: Mapping[str, Any]) -> Iterator[str]:
    if said["settable"]:
        yield f"{', '.join(said['settable'])} may be set instead;"
    if growth := said.get("growth"):
        yield f"the unknown constants are the same for all {', '.join(growth)};"
    for name, more in said["generous"]:
        yield f"{name} may be counted larger, by {more};"


def _runs(said: Mapping[str, Any]) -> str:
    counter, first = said["counter"], f"{said['counter']} ≥ {said['first']}"
    if "in_seconds" in said:
        return f"{counter} the last update that ends within seconds, {first}"
    return f"every {first}" if said["horizon"] == "every" else f"the one {first} that the step is chosen for"


def _sum(coefficients: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Return an inequality that holds at every x, as [assume] has it."""
    terms = (f"({rule['text']})*{name}" if name else f"({rule['text']})" for name, rule in coefficients)
    return f"{' + '.join(terms)} >= 0"


def _formula(one: Mapping[str, Any]) -> str:
    return f"{one['text']} (defined where {', '.join(one['where'])})" if one["where"] else str(one["text"])


@final
@dataclass(frozen=True)
class Theorem(Statement):
    """A statement that can be evaluated and shown; its fields are those of the statement."""

    @cached_property
    def core(self) -> CoreStatement:
        """Statement with nothing left implicit: what engines ask for its options and assumptions.

        Raises
        ------
        SpecError
            As :func:`boundlab.theorems.core`.
        """
        return core(self)

    @cached_property
    def takes(self) -> frozenset[str]:
        """The symbols that may be given a value: inputs, and what has a default."""
        return frozenset((*self.inputs(), *self.settable))

    @cached_property
    def open_rates(self) -> tuple[str, ...]:
        """Rates that a run may choose: those left open, and symbols of the theorem's own behind the others.

        A symbol of the theorem's own is a choice where the step size follows from it, as in α = θ/L for any θ ≤ 1;
        where only the bound reads it, nothing says what it is. What an inequality bounds at every x is no choice.
        """
        free = self.takes - {self.horizon_symbol, *self.bounded_by}
        behind = sorted(self.read_by(self.step) & free - {*self.step})
        return (*(name for name in self.step if name in free), *(name for name in behind if name not in SYMBOLS))

    def free(self, given: Iterable[str] = ()) -> frozenset[str]:
        """Return what may still be set when those of ``given`` are: inputs, and what has a default."""
        known = expanded(given)
        return frozenset((*self.inputs(known), *self.settable, *self.bound.replaces)) - known

    def unused(self, given: Iterable[str]) -> tuple[str, ...]:
        """Return the symbols of ``given`` that the theorem does not read."""
        names = tuple(given)
        read = set(self.inputs(names))
        wide = {"p": {"p_s", "p_min", "qbar"}, "rates": {"p", "p_s", "p_min", "qbar"}}
        wide["lambda_s"] = wide["rates"]
        return tuple(name for name in names if name not in read and not wide.get(name, set()) & read)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return the id of a registered theorem, and all fields of another one."""
        return by_id("theorems", self, protocol)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        """Say what it is about, in one line."""
        return f"<Theorem {self.id} ({self.status}): {self.left.expectation} for {self.algorithm}>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle\n{self.latex()}\n$"

    @property
    def terms(self) -> Mapping[str, sympy.Expr]:
        """The named terms of the bound."""
        return self.bound.terms

    def evaluate(
        self, values: Mapping[str, ArrayLike] = MappingProxyType({}), *, exactly: bool = False, **symbols: ArrayLike
    ) -> Evaluation:
        """Evaluate the bound.

        Parameters
        ----------
        values
            Numbers or arrays by symbol name, broadcastable with each other; vectors have shape (n,).
            Symbols that the theorem does not read are ignored.
        exactly
            Whether conditions are checked at the very numbers, as a comparison needs it; else up to rounding.
        symbols
            More values, as keywords.

        Raises
        ------
        SymbolError
            If a symbol is unknown, missing or outside its domain, if the theorem defines it itself, or if a
            term is infinite or not a number.
        AssumptionError
            If a condition of the theorem is not met.
        """
        known = self._known(merged(values, symbols))
        lists = [name for name, one in known.items() if hasattr(one, "__len__") and not self.symbols[name].vector]
        try:
            np.broadcast_shapes(*(np.shape(known[name]) for name in lists))
        except ValueError:
            raise SymbolError(f"{self.id}: give equally many numbers of each of {', '.join(lists)}, or one") from None
        return evaluated(self, known, self.first_iteration, exactly=exactly)

    def at_iterations(self, values: Mapping[str, ArrayLike], ks: ArrayLike, *, exactly: bool = True) -> Evaluation:
        """Evaluate the bound and its terms at many iterations of one run.

        Parameters
        ----------
        values
            One number a symbol, the counter apart; vectors of shape (n,).
        ks
            K or T, shape (m,): none below the first that the theorem is about.
        exactly
            As :meth:`evaluate` takes it.

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
        own = values.get(self.horizon_symbol)
        if self.horizon == "fixed" and (own is None or (iterations != np.asarray(own)).any()):
            raise SymbolError(
                f"{self.id} is about the one {self.horizon_symbol} for which its step size is chosen, "
                f"and {self.horizon_symbol} is {own}"
            )
        found = evaluated(
            self, self._known({**values, self.horizon_symbol: iterations}), self.first_iteration, exactly=exactly
        )
        # A bound that does not depend on the counter is the same at all of them.
        terms = {name: np.broadcast_to(term, iterations.shape) for name, term in found.terms.items()}
        total = np.broadcast_to(found.total, iterations.shape)
        return Evaluation(total, MappingProxyType(terms), found.derived, found.kind)

    def step_options(self, values: Mapping[str, ArrayLike]) -> dict[str, float]:
        """Return what the theorem sets, as options of the algorithm: alpha, or c and d, or eta_l and eta_g, ….

        Each is one number, rounded so that it meets the conditions without any tolerance.

        Raises
        ------
        SymbolError
            As :meth:`evaluate`; and if it is not one finite number of its symbol's domain each.
        """
        known = self._known(values)
        names = self.bound.instead(self.step, frozenset(known))
        found = derive(self, known, names, self.first_iteration)
        options = {}
        for name in names:
            value = found[name]
            domain = self.symbols[name].domain
            if value.size != 1 or not np.isfinite(value).all() or not domain.contains(value).all():
                start = [one for one in self.read_by({name}) if self.symbols[one].role == "start" and one in known]
                why = "".join(f": {one} = 0, x0 is a minimiser" for one in start if not np.any(known[one]))
                raise SymbolError(
                    f"{self.id}: the step size needs one finite {name}, {domain.rule}, got {value.tolist()}{why}"
                )
            options[name] = float(value.reshape(-1)[0])
        return admissible(self, known, options)

    def step_sizes(self, values: Mapping[str, ArrayLike], K: int) -> Floats:
        """Return α_0 … α_K, shape (K+1,), unit (−1, 2).

        Raises
        ------
        SpecError
            If the theorem sets several rates.
        """
        options = self.step_options({**values, self.horizon_symbol: K} if self.horizon == "fixed" else values)
        if "c" in options:
            return np.asarray(options["c"] / (np.arange(K + 1) + options["d"]), dtype=np.float64)
        if len(options) > 1:
            raise SpecError(f"{self.id} sets {', '.join(options)}; take step_options")
        return np.full(K + 1, next(iter(options.values())))

    def _known(self, values: Mapping[str, ArrayLike]) -> dict[str, Any]:
        defining = self.defining()
        for name in values:
            if name not in self.symbols:
                lookup_symbol(name, self.symbols)  # which says what was meant
            if name in defining and name not in self.settable:
                hint = f"{self.id}.fixed-step takes it" if name == "alpha" else "leave it out"
                raise SymbolError(f"{self.id} defines {name} itself ({self.symbols[name].meaning}); {hint}")
        known: dict[str, Any] = dict(values)
        if "p" in known and "qbar" not in known:
            p_s = known.get("p_s")
            known |= arrival_statistics(known["p"], None if p_s is None else float(np.asarray(p_s).reshape(-1)[0]))
        return known

    @property
    def step_of_each(self) -> sympy.Expr | str | None:
        """The step of each iteration, or the algorithm's word for its factor; None where there is one step for all."""
        return step_at(self)

    def spelling(self) -> dict[str, str]:
        """Return name → how people write it, for all symbols of the statement; no two look alike."""
        from boundlab.formulas.written import letters_of

        rules = self.rules()
        formulas = (
            *self.expressions(),
            *self.step.values(),
            *rules.values(),
            *([] if self.rule is None else [self.rule]),
        )
        names = {name for one in formulas for name in names_of(one)} | {*self.step, *rules, *self.inputs()}
        return letters_of(sorted(names), self.symbols)

    def latex(self) -> str:
        """Return bound, step size, definitions, conditions and the paper's own letters in LaTeX, one a line."""
        names = {info.symbol: info.latex for info in self.symbols.values()}

        def tex(expression: sympy.Expr) -> str:
            return str(sympy.latex(expression, symbol_names=names))

        each = step_at(self)
        lines = [f"{self.left.latex} {self.bound.right_side(tex, self.shape)}"]
        if "c" in self.step:
            lines.append(r"\alpha_k = \frac{c}{k + d}")
        else:
            lines += [
                f"{self.symbols[name].latex + ('_k' if name == 'alpha' and each is None else '')} = {tex(rule)}"
                for name, rule in self.step.items()
                if rule != self.symbols[name].symbol
            ]
        if each is not None:
            word = str(each).replace("_", r"\_")
            lines.append(
                rf"\alpha_k = \alpha\,(\mathrm{{{word}}})" if isinstance(each, str) else rf"\alpha_k = {tex(each)}"
            )
        lines += [f"{self.symbols[name].latex} = {tex(rule)}" for name, rule in self.rules().items()]
        signs = {True: "<", False: r"\le"}
        lines += [f"{tex(item.quantity)} {signs[item.strict]} {tex(item.limit)}" for item in self.conditions]
        quantities = {info.symbol: info.latex for info in POINTWISE.values()}
        for one in self.assume.values():
            left, right = (
                sympy.latex(side, symbol_names={**names, **quantities}) for side in (one.smaller, one.larger)
            )
            lines.append(rf"{left} \le {right} \text{{ at every }} x")
        if self.left.in_seconds:
            within = self.symbols[SECONDS].latex
            lines.append(
                rf"{self.horizon_symbol} \text{{ the last update that ends within }} {within} \text{{ seconds}}"
            )
        if self.letters:
            own = r",\ ".join(
                rf"{letter} \text{{ for }} {self.symbols[name].latex}" for name, letter in self.letters.items()
            )
            lines.append(rf"\text{{the paper writes }} {own}")
        return ",\\\\\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return everything that it says as JSON-ready fields, formulas as text that the parser reads back."""
        return {
            "schema": schema("statement"),
            "id": self.id,
            "title": self.title,
            "paper": self.paper,
            "place": self.place,
            "reference": reference(self.paper).as_dict(),
            "status": self.status,
            "source": self.origin,
            "kind": self.kind,
            "assumptions": list(self.assumptions),
            "algorithm": self.algorithm,
            "options": {**self.options, **rule_of(self)},
            "metric": self.metric,
            "left_side": self.left.expectation,
            "horizon": self.horizon,
            "first": self.first_iteration,
            "about": self.about,
            "step": {name: str(rule) for name, rule in self.step.items()},
            **self.bound.as_dict(),
            "definitions": {name: str(rule) for name, rule in self.rules().items()},
            "parameters": dict(self.parameters),
            "conditions": [condition.statement for condition in self.conditions],
            "assume": {name: one.statement for name, one in self.assume.items()},
            "points": {name: list(words) for name, words in self.points.items()},
            "inputs": {name: self.symbols[name].describe() for name in self.inputs()},
            "settable": list(self.settable),
            "growth": list(self.growth),
            "generous": dict(self.generous),
            "note": self.note,
            **self.links(),
            "proofs": list(self.proofs),
            "letters": dict(self.letters),
            "latex": self.latex(),
        }
