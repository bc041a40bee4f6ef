"""The setting of a theorem: its symbols, its functions, and axioms of a few fixed shapes.

What an axiom says is an assumption of the theorem, by its id, or a part of the algorithm; a proof's conclusion compares
the axioms that it rests on with the assumptions that the theorem states. How a run moves stands in the algorithm's
sheet (:mod:`boundlab.prove.sheets`); the algorithm's own runs are asked before a proof begins.
"""

import ast
import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import sympy

from boundlab.assumptions import assumption, choices
from boundlab.errors import BoundlabError, SpecError
from boundlab.formulas.symbols import SYMBOLS, names_of
from boundlab.options import Options
from boundlab.prove._instance import Instance, Modelled
from boundlab.prove._kernel import Kernel, mixture, orthogonal, split_sum, total, uncorrelated
from boundlab.prove._scalars import (
    FIRST,
    REFUSED,
    NoPartError,
    Number,
    ProofError,
    Scalar,
    combination,
    number,
    of_symbol,
    only_for_rules,
    said,
    same,
    scalar,
    variable,
    whole,
)
from boundlab.prove._terms import (
    NOTHING,
    OWN_AXIOMS,
    Claim,
    Context,
    Expr,
    Fact,
    Law,
    Lin,
    Slope,
    dot,
    equal,
    expr,
    finite_sum,
    lin,
    mean_of,
    squared,
    value_at,
    vector_mean,
)
from boundlab.prove.sheets import (
    Axiom,
    Reader,
    Sentences,
    Shorthand,
    cited,
    parameters,
    parsed,
    several,
    sheet,
    single,
)
from boundlab.recheck.kernel import ONE, ZERO, Range, Symbol, Symbol as Name, Vec
from boundlab.registry import lookup
from boundlab.theorems import Option, Theorem, elaborated_options, places as words_of

# Which options of a theorem's algorithm a setting covers, each of them word by word.

NUMBERS: Final = ("any number",)
"""What a setting covers of an option that is no choice between words: all its values."""
# Where an iteration is another one: with a proximal step, or a projection.
_OTHER_ALGORITHM = frozenset({"composite", "constrained"})


def uncovered(
    theorem: Theorem,
    fixed: Mapping[str, Iterable[str]],
    covered: Mapping[str, Iterable[str]],
    symbols: Mapping[str, str] = MappingProxyType({}),
    *,
    composite: bool = False,
) -> tuple[str, ...]:
    """Return what a setting does not know of the runs that a printed theorem is about; raise of any other theorem.

    Parameters
    ----------
    fixed
        Option → the words that the setting knows where one of them is fixed, by the theorem or as the default.
    covered
        Option → all its words, where what the setting says is true with each of them: the theorem may leave it open.
    symbols
        Option → the symbol as which the setting reads it.
    composite
        Whether the setting knows proximal steps.

    Raises
    ------
    SpecError
        If a theorem is about other runs, too: its proof would be one of fewer runs than it speaks of.
    """
    who = f"proofs about {theorem.algorithm} know"
    refuse_other_steps(theorem, composite=composite)
    algorithm = lookup("algorithms", theorem.algorithm)
    missing = []
    for option in elaborated_options(theorem, algorithm):
        name = option.id
        if option.how in ("step", "unused"):
            continue
        if option.symbol or symbols.get(name) in theorem.read:
            if option.symbol != symbols.get(name, ""):
                wanted = f"as the symbol {symbols[name]}" if name in symbols else "as no symbol"
                raise SpecError(f"{theorem.id}: {who} {name} {wanted}, see [parameters]; got {option.symbol or None}")
            continue
        known, all_of = (tuple(one.get(name, ())) for one in (fixed, covered))
        if option.how == "open":
            if not all_of or not _words(algorithm, name) <= {*all_of}:
                missing.append(f"{name}={', '.join(known)}" if known else f"no {name} but the default")
        elif not all_of and not _among(theorem, algorithm, option, known):
            given = option.value if option.how == "fixed" else "the default"
            raise SpecError(f"{theorem.id}: {who} {name}={', '.join(known) or 'the default'}, not {given}")
    if missing and not theorem.of_paper:
        raise SpecError(
            f"{theorem.id} leaves open what {who} in one way only: {'; '.join(missing)}; fix it under [options]"
        )
    return tuple(missing)


def refuse_other_steps(theorem: Theorem, *, composite: bool = False) -> None:
    """Refuse a theorem whose steps are others than those that proofs know, or that assumes what no proof knows.

    Parameters
    ----------
    composite
        Whether they know proximal steps, and projections.

    Raises
    ------
    SpecError
        If it is such a theorem.
    """
    who = f"proofs about {theorem.algorithm} know"
    if not composite and (other := sorted(_OTHER_ALGORITHM & theorem.core.assumed)):
        raise SpecError(f"{theorem.id}: {who} no {', '.join(other)} functions")
    if theorem.assume:
        raise SpecError(
            f"{theorem.id}: {who} no inequalities that hold at every x: {', '.join(theorem.assume)} (assume)"
        )


def chosen(theorem: Theorem) -> dict[str, str | None]:
    """Return the options of which a theorem knows one word, or the default (None)."""
    known = elaborated_options(theorem, lookup("algorithms", theorem.algorithm))
    return {
        one.id: one.value if one.how == "fixed" else None for one in known if one.how in ("fixed", "default", "unused")
    }


def _words(algorithm: Any, name: str) -> set[str]:
    """Return the words between which an option chooses; what makes it another one with numbers is left out."""
    some = algorithm.examples(2).get(name) or ()
    return {one.partition(":")[0] for one in some if one[:1].isalpha()}


def _among(theorem: Theorem, algorithm: Any, option: Option, known: Iterable[str]) -> bool:
    """Return whether an option that is not open has one of these words, or its default where there are none."""
    if option.how == "fixed":
        return option.value in known
    rates: dict[str, Any] = {one: 1 for one in theorem.step if one in algorithm.parameters}
    try:
        default = algorithm.read(Options(algorithm.id, dict(rates)))
        return not known or any(
            algorithm.read(Options(algorithm.id, {**rates, option.id: word})) == default for word in known
        )
    except BoundlabError:
        return False


# Formulas of theorems as numbers of the kernel.


def translate(
    formula: sympy.Expr,
    context: Context,
    known: Mapping[str, Scalar],
    roots: Mapping[str, Scalar],
    powers: Mapping[str, Scalar],
    defined: Mapping[str, sympy.Expr],
    exponents: Mapping[str, Scalar],
) -> Scalar:
    """Return a formula as an exact number.

    Parameters
    ----------
    context
        Decides which argument a Max or a Min is.
    known
        Values of symbols that stand for others.
    roots, powers
        Names of roots, with what they are the root of; names of numbers that are raised to symbolic powers, with the
        number.
    defined
        Symbols that the theorem defines by formulas.
    exponents
        Names of exponentials, with v of e^v in the theorem's own symbols.

    Raises
    ------
    ProofError
        If it holds what is neither.
    """

    def of(part: sympy.Expr) -> Scalar:
        if part.is_Rational:
            return scalar(Fraction(int(part.p), int(part.q)))
        if part.is_Symbol:
            if part.name in known:
                return known[part.name]
            if part.name in defined:
                return of(defined[part.name])
            if context.find(part.name) is None:
                raise ProofError(f"{part.name} is no symbol of the setting")
            return variable(part.name)
        if part.is_Mul and any(_is_root(one) for one in part.args):
            # √a·√b is one root: of ab.
            inside = [one.base**one.exp.p for one in part.args if _is_root(one)]
            rest = [one for one in part.args if not _is_root(one)]
            return _named(of(sympy.Mul(*inside)), roots, "root") * of(sympy.Mul(*rest))
        if part.is_Add or part.is_Mul:
            return functools.reduce(operator.add if part.is_Add else operator.mul, map(of, part.args))
        if isinstance(part, (sympy.Max, sympy.Min)):
            return _extreme([of(one) for one in part.args], isinstance(part, sympy.Max), context, powers)
        if isinstance(part, sympy.exp):
            return _exponential(of(part.args[0]), exponents)
        if part.is_Pow:
            return power(part.base, part.exp)
        raise ProofError(f"{part} is no quotient of polynomials, and no root, power or exponential of one")

    def power(base: sympy.Expr, exponent: sympy.Expr) -> Scalar:
        if exponent.is_Integer:
            return of(base) ** int(exponent)
        if exponent.is_Rational and exponent.q == 2:
            return _named(of(base), roots, "root") ** int(exponent.p)
        own = of(base)
        try:
            return own ** of(exponent)
        except REFUSED:
            return _named(own, powers, "number with a symbolic power") ** of(exponent)

    return of(formula)


def _is_root(part: sympy.Expr) -> bool:
    return bool(part.is_Pow and part.exp.is_Rational and part.exp.q == 2)


def _named(value: Scalar, names: Mapping[str, Scalar], what: str) -> Scalar:
    for name, own in names.items():
        if same(own, value):
            return of_symbol(Name(name))
    raise ProofError(f"the {what} {value} has no name in the proof: give it one")


def _exponential(value: Scalar, names: Mapping[str, Scalar]) -> Scalar:
    """Return e^value as a whole power of an exponential that has a name."""
    for name, own in names.items():
        times = (value / own).constant
        if times is not None and times.denominator == 1:
            return of_symbol(Name(name)) ** times
    raise ProofError(f"e^({value}) is no whole power of an exponential that has a name in the proof: give it one")


def _extreme(values: list[Scalar], largest: bool, context: Context, names: Mapping[str, Scalar]) -> Scalar:
    sign: Callable[[Scalar, Scalar], Scalar] = (lambda a, b: a - b) if largest else (lambda a, b: b - a)
    for one in values:
        if all(_at_least_zero(sign(one, other), context, names) for other in values):
            return one
    which = "largest" if largest else "smallest"
    raise ProofError(f"which of {', '.join(map(str, values))} is the {which} is not shown: split the cases")


def _at_least_zero(value: Scalar, context: Context, names: Mapping[str, Scalar]) -> bool:
    """Return whether a number is shown to be ≥ 0: by itself, or by the range of its name in this case."""
    if context.nonnegative(value):
        return True
    for name, own in names.items():
        for signed in (1, -1):
            if same(own * signed, value) and context.nonnegative(of_symbol(Name(name)) * signed):
                return True
    return False


# Step sizes of theorems as symbols.

POSITIVE_STEP = "the step is a positive number"


def declare_step(setting: Any, name: str) -> Scalar:
    """Declare a step size: positive, below the theorem's conditions on it; with its own formula where that is fixed."""
    theorem = setting.theorem
    rule = theorem.step.get(name)
    if rule is None:
        raise ProofError(f"{theorem.id} sets no {name}: proofs read a step {name}; call the algorithm's step so")
    if rule.is_Symbol or name in theorem.settable:
        limits = [one for one in theorem.conditions if str(one.quantity) == name]
        if len(limits) > 1:
            raise ProofError(f"{theorem.id} has several conditions on {name}")
        high = setting.formula(limits[0].limit) if limits else None
        setting.own_symbol(name, Range(low=ZERO, high=high, above=True))
        return variable(name)
    return _fixed(setting, name, rule)


def _fixed(setting: Any, name: str, rule: sympy.Expr) -> Scalar:
    """Declare a step that is a formula, and that it is a positive number.

    Where the formula has no value, or the value 0, there is no run that the theorem speaks of.
    """
    if not any(part.exp.is_Rational and part.exp.q == 2 for part in rule.atoms(sympy.Pow)):
        setting.own_symbol_with(name, setting.formula(rule))
        return variable(name)
    numerator, denominator = sympy.fraction(sympy.together(rule**2))
    top, bottom, number = setting.formula(numerator), ONE, 0
    for factor in sympy.Mul.make_args(sympy.factor(denominator)):
        base, count = factor.as_base_exp()
        part = setting.formula(base)
        if base.is_Rational or setting.context.positive(part):
            top = top / part ** int(count)
            continue
        # The step divides by it: it is positive wherever there is a step.
        number += 1
        own = setting.own_symbol(f"{name}_{number}", Range(low=ZERO, above=True))
        setting.step_facts.append(setting.condition(equal(expr(own), part), POSITIVE_STEP))
        bottom = bottom * own ** int(count)
    step = setting.own_symbol(name, Range(low=ZERO, above=True))
    setting.step_facts.append(setting.condition(equal(expr(step * step * bottom), top), POSITIVE_STEP))
    return variable(name)


# What a sheet says, declared: symbols, numbers, vectors, who acts when, and sentences that proofs call by name.

_LETTERS = {"star": "a minimiser x*", "h[i]": "a subgradient of f_i at x*; their mean is 0"}


# In this order, so that the end of a range names what stands before it.
_ORDER = ("n", "L", "mu", "B", "sigma", "zeta", "R", "F0", "M", "K", "T")


class Setting(Modelled):
    """What a proof of a theorem may use.

    Parameters
    ----------
    theorem
        The registered theorem.
    written
        The name of the sheet about its runs.
    instances
        Exact instances on which proofs are tested; some may not fit this theorem.

    Raises
    ------
    ProofError
        If its algorithm or its options are not among those whose moves are known here.
    """

    # The symbol of how large noise is, and what readers call the objective.
    noise_size = "sigma"
    objective_name = "f"

    def __init__(self, theorem: Theorem, written: str, instances: tuple[Instance, ...] = ()) -> None:
        self.theorem, self.sheet = theorem, sheet(written)
        # In which one way alone runs of a printed theorem are known that is about others, too.
        self.restrictions = self._options()
        self.context = Context()
        self.kernel = Kernel(self.context)
        self.kernel.called = "setting", None  # until a proof begins
        self.kernel.problem = self.problem
        self.assumed = theorem.core.assumed
        self.kernel.replay.assumed = self.assumed
        self.noisy = not self._deterministic()
        # A form along the run keeps the noise of its proof, and none of its runs has any.
        quiet = not self.noisy or "deterministic" in self.assumed
        self.instances = tuple(replace(one, noise=()) for one in instances) if quiet else instances
        # Conditions under which a theorem's own symbols have values, such as a step that is a positive number.
        self.conditions_met: frozenset[str] = frozenset()
        # Once a proof begins: the names that were declared before. Other ones are the proof's, and no axiom's.
        self.declared: frozenset[str] | None = None
        self.step_facts: list[Fact] = []
        self.conditions: list[Fact] = []
        # Symbols of the theorem with the named numbers that they are, as the setting has made sure.
        self.short_names: dict[str, Scalar] = {}
        self._symbols()
        self.own_symbols = self.kernel.parameters
        self.own_symbols.update(self.context.order())
        self._clients()
        self._functions()
        self.reader = Reader(self)
        self.declare_sheet()

    def _options(self) -> tuple[str, ...]:
        own, composite = self.sheet.get("options"), "composite" in self.sheet.get("assumes", {})
        if own is None:
            refuse_other_steps(self.theorem, composite=composite)
            return ()
        tables = (own.get(name, {}) for name in ("known", "open", "symbols"))
        return uncovered(self.theorem, *tables, composite=composite)

    def _deterministic(self) -> bool:
        # What bounds the variance everywhere: sigma_star is noise at x* alone, and G holds the gradients, too.
        variance = assumption("bounded-variance").defines
        zero_noise = any(str(one.quantity) in variance and one.limit == 0 for one in self.theorem.conditions)
        # Without noise, a theorem about noise holds as well, whatever it says of how large that is.
        return zero_noise or ("deterministic" in self.assumed and "bounded-variance" not in self.assumed)

    def problem(self) -> dict[str, Any]:
        """Return what the checker is told of a problem: its models, how large noise is, the weight of a client."""
        weight = number(self.weight(of_symbol(Symbol("@i"))))
        return {"model": self.model(0).vec.name, "noise": self.noise_size, "weight": weight}

    def close(self) -> None:
        """Note that a proof begins: what it declares from here on is its own, and vectors it declares none."""
        self.kernel.vectors.sealed, self.kernel.called = True, None
        self.declared = frozenset(self.context.order())

    # ------------------------------------------------------------------ symbols

    def _symbols(self) -> None:
        theorem = self.theorem
        used = {"n", *theorem.read} | {theorem.horizon_symbol}
        used |= {name for name, tag in (("L", "smooth"), ("R", "minimiser")) if tag in self.assumed}
        for name in _ORDER:
            if name in used and name in theorem.symbols:
                self.context.declare(name, self._range(name))

    def _range(self, name: str) -> Range:
        if name not in self.theorem.symbols:
            return Range()
        domain = self.theorem.symbols[name].domain
        low: Number | None = None if domain.low == float("-inf") else int(domain.low)
        high: Scalar | None = None if domain.high == float("inf") else scalar(int(domain.high))
        if name == self.theorem.horizon_symbol:
            low = self.theorem.first_iteration
        if name == "mu" and self.context.find("L") is not None:
            # A function that is strongly convex and smooth has μ ≤ L.
            high = variable("L")
        return Range(low=None if low is None else scalar(low), high=high, above=domain.open_low, integer=domain.integer)

    def symbol(self, name: str) -> Scalar:
        """Return a symbol of the theorem; what a proof has declared is none, whatever its name."""
        if name not in self.own_symbols:
            raise ProofError(f"{name} is no symbol of {self.theorem.id}")
        return variable(name)

    def formula(self, formula: sympy.Expr, context: Context | None = None, *, short: bool = False) -> Scalar:
        """Return a formula of the theorem as a number; short with the setting's names for some of its symbols."""
        # A name that a proof gives to a number of its own never stands for a symbol of the theorem.
        defined = {name: own for name, own in self.theorem.defining().items() if name not in self.own_symbols}
        here = context or self.context
        for name in self.theorem.read_by(names_of(formula)) & self.own_symbols:
            known = here.find(name)
            if name not in SYMBOLS or (known is not None and known.arity):  # of another meaning, or the theorem's own
                raise ProofError(f"{name} of {self.theorem.id} is something else in proofs about it; rename the symbol")
        if more := {one.name for one in formula.free_symbols} - self.own_symbols - defined.keys():
            raise ProofError(f"{', '.join(sorted(more))} is no symbol of the setting")
        named = self.short_names if short else {}
        return translate(formula, here, named, *self.kernel.given(here), defined, self.kernel.plain_exponents())

    def _below_its_limit(self, name: str) -> Range:
        """Return the range of a symbol, with the theorem's condition on it as its upper end."""
        own = self._range(name)
        limits = [one for one in self.theorem.conditions if str(one.quantity) == name]
        if any(one.quantity == 1 and str(one.limit) == name for one in self.theorem.conditions):
            own = replace(own, low=ONE)
        return replace(own, high=self.formula(limits[0].limit)) if limits else own

    def own_symbol(self, name: str, own: Range) -> Scalar:
        """Declare another symbol of the theorem."""
        only_for_rules("a symbol of the theorem")
        self.own_symbols.add(name)
        return self.context.declare(name, own)

    def condition(self, claim: Claim, why: str) -> Fact:
        """Return a condition of the theorem itself as a fact."""
        only_for_rules("a condition of the theorem")
        self.meets(why)
        return self.restriction(claim, why)

    def meets(self, condition: str) -> None:
        """Note that a proof rests on a condition, whose words are those of no assumption."""
        only_for_rules("a condition of the theorem")
        if condition in OWN_AXIOMS or condition in choices(condition):
            raise ProofError(f"{self.theorem.id}: a condition is called {condition}, which is an assumption")
        self.conditions_met |= {condition}

    def restriction(self, claim: Claim, why: str) -> Fact:
        """Return what a printed proof takes for granted and its theorem does not say: no theorem rests on it."""
        only_for_rules("a condition")
        fact = self.kernel.make(claim, self.context, "axiom", axioms=[why])
        self.conditions.append(fact)
        return fact

    def own_symbol_with(self, name: str, value: Scalar) -> Scalar:
        """Declare a symbol of the theorem that stands for a positive number."""
        only_for_rules("a symbol of the theorem")
        self.own_symbols.add(name)
        self.step_facts.append(self.kernel.name(name, value, Range(low=ZERO, above=True)))
        return variable(name)

    def name(
        self, name: str, value: Number, low: Number | None = None, high: Number | None = None,
        context: Context | None = None,
    ) -> Fact:  # fmt: skip
        """Return symbol = value for a number that is to be raised to a symbolic power; its range is shown."""
        ends = [None if end is None else scalar(end) for end in (low, high)]
        return self.kernel.name(name, value, Range(low=ends[0], high=ends[1]), context)

    def root(self, name: str, value: Number, context: Context | None = None) -> Fact:
        """Return symbol² = value for a new symbol ≥ 0, by which a root in the theorem's bound goes."""
        return self.kernel.root(name, value, context)

    def index(self, name: str, low: Number = 0, high: Number | None = None) -> Scalar:
        """Declare a whole symbol for an index, with its range."""
        return self.context.declare(
            name, Range(low=scalar(low), high=None if high is None else scalar(high), integer=True)
        )

    # ------------------------------------------------------------------ functions

    def _clients(self) -> None:
        self.n = variable("n")
        self.i = self.index("i", 0, self.n - 1)

    def _functions(self) -> None:
        # Where all clients have the same function, it has no index.
        self.one_function = "one-function" in self.assumed
        self.kernel.vectors.declare_function("f", 0 if self.one_function else 1)
        # F = f + H with a convex H, which has a subgradient hs at the minimiser.
        self.composite = "composite" in self.assumed
        if self.composite:
            self.kernel.vectors.declare_function("H", 0)
        if "minimiser" in self.assumed:
            self.kernel.vectors.declare("star", 0)
            # Subgradients of the f_i at the minimiser, chosen so that their mean is 0.
            self.kernel.vectors.declare("h", 1)
            of = () if self.one_function else (self.i,)
            self.kernel.vectors.declare_slope("h", Slope(("i",), "f", of, Vec("star")))
            if self.composite:
                self.kernel.vectors.declare("hs", 0)

    @property
    def star(self) -> Lin:
        """A minimiser x*."""
        self.assume("minimiser")
        return lin(Vec("star"))

    def vec(self, name: str, *indices: Number) -> Lin:
        """Return a vector of the setting."""
        return lin(Vec(name, tuple(whole(one) for one in indices)))

    def part(self, i: Number, at: Lin) -> Expr:
        """Return E f_i(u)."""
        return value_at("f", [] if self.one_function else [i], at)

    def objective(self, at: Lin) -> Expr:
        """Return E f(u) = Σ weight_i·E f_i(u), with E H(u) where there is an H."""
        beside = value_at("H", [], at) if self.composite else None
        if self.one_function:
            return self.part(0, at) if beside is None else self.part(0, at) + beside
        # The point may be one of client i: it is the same for all f_j.
        j = "i" if "i" not in at.names() else "j"
        while j in at.names():
            j += "j"
        value = finite_sum(j, 0, self.n, self.part(variable(j), at) * self.weight(variable(j)))
        if beside is not None:
            return Expr((value + beside).terms, said("value", "F", (), at.said))
        return Expr(value.terms, said("value", self.objective_name, (), at.said))

    def weight(self, i: Number) -> Scalar:
        """Return the weight of f_i in the objective."""
        return 1 / self.n

    def mean(self, of: Callable[[Scalar], Expr]) -> Expr:
        """Return (1/n)·Σ over the clients of an expression."""
        return mean_of("i", self.n, of(self.i))

    def mean_vector(self, of: Callable[[Scalar], Lin]) -> Lin:
        """Return (1/n)·Σ over the clients of a vector."""
        return vector_mean("i", self.n, of(self.i))

    dot = staticmethod(dot)

    def last_term(self, index: str, lo: Number, last: Number, value: Expr) -> Fact:
        """Return Σ over lo ≤ j < last + 1 = Σ over lo ≤ j < last + the term of ``last``."""
        return split_sum(self.kernel, index, lo, last, scalar(last) + 1, value)

    def event(self, value: Expr, k: Number) -> Fact:
        """Return the mean of q(registers after event k) over who acts."""
        if self.law is None:
            raise ProofError(f"{self.theorem.id}: who acts in an iteration is not drawn")
        return mixture(self.kernel, self.law, value, k)

    @cited
    def unbiased(self, noise: Lin, other: Lin) -> Fact:
        """Return E⟨ξ, v⟩ = 0 for a vector v that is known when ξ is drawn.

        Noise is drawn independently of the events, and these do not depend on it: this holds for each schedule.
        """
        return orthogonal(self.kernel, single(noise), single(other))

    def independent(self, noise: Lin, name: str, lo: Number, hi: Number, weight: Number = 1) -> Fact:
        """Return E‖Σ weight·ξ‖² = Σ weight²·E‖ξ‖², for noises that differ in their index ``name``."""
        return uncorrelated(self.kernel, noise, name, lo, hi, weight)

    @cited
    def limit(self, number: int) -> Fact:
        """Return a condition of the theorem, by its place among them, about a quantity of several symbols."""
        if not 0 <= number < len(self.theorem.conditions):
            raise ProofError(f"{self.theorem.id} has {len(self.theorem.conditions)} conditions, counted from 0")
        one = self.theorem.conditions[number]
        return self.condition(expr(self.formula(one.quantity)) <= expr(self.formula(one.limit)), one.statement)

    def average(self) -> Lin:
        """Return the average of the iterates before the horizon."""
        return self.vec("xbar")

    def over_clients(self, fact: Fact) -> Fact:
        """Return the mean over all clients of a fact about client i."""
        return total(self.kernel, fact, "i", 0, self.n, 1 / self.n)

    # ------------------------------------------------------------------ axioms

    def bounds_at(self, symbol: str, *words: str) -> bool:
        """Return whether a constant is about certain points alone, such as ``local-steps``.

        Raises
        ------
        ProofError
            If these points are none of the theorem's.
        """
        stated = self.theorem.points.get(symbol)
        if stated is not None and not {*stated} & {*words}:
            raise ProofError(f"{symbol} of {self.theorem.id} is about {words_of(stated)} alone, not about {words[0]}")
        return stated is not None

    def assume(self, *needed: str) -> None:
        """Make sure that a theorem assumes what is said.

        Raises
        ------
        ProofError
            If it does not.
        """
        for one in needed:
            if one not in self.assumed:
                raise ProofError(f"{self.theorem.id} does not assume {one}")

    def slope_of(self, gradient: Lin) -> tuple[Vec, Scalar, Lin]:
        """Return a gradient of an f_i as a vector, with the client and the point; raises if it is none."""
        vector = gradient.vec
        if vector is None:
            raise ProofError(f"a gradient is a single vector, got {gradient}")
        function, which, at = self.kernel.vectors.slope(vector)
        if function != "f":
            raise ProofError(f"{gradient} is no gradient of an f_i")
        return vector, which[0] if which else ZERO, lin(at)

    # ------------------------------------------------------------------ what a theorem bounds

    def metric(self) -> Expr:
        """Return the left side of the theorem, at its horizon."""
        horizon = self.symbol(self.theorem.horizon_symbol)
        match self.theorem.metric:
            case "squared-distance":
                return squared(self.model(horizon) - self.star)
            case "gap":
                return self.objective(self.model(horizon)) - self.objective(self.star)
            case "ergodic-gap":
                return self.objective(self.average()) - self.objective(self.star)
            case "gradient-norm":
                return finite_sum("k", 0, horizon, squared(self.gradient(variable("k")))) / horizon
            case "gradient-norm-last":
                return squared(self.gradient(horizon))
        raise ProofError(f"{self.theorem.metric} is not known to proofs")

    # ------------------------------------------------------------------ what its sheet says

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    else:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or "theorem" not in self.__dict__:
                raise AttributeError(name)
            if name in self.__dict__.get("own_symbols", ()):
                return variable(name)
            theorem = self.theorem
            raise NoPartError(
                f"the setting of {theorem.id} has no {name}: a proof of it is written for runs of {theorem.algorithm}"
            )

    def declare_sheet(self) -> None:
        """Declare what the sheet says, and give its names to proofs."""
        read = self.reader
        self.assume(*(tag for tag, only in self.sheet.get("assumes", {}).items() if read.holds(only)))
        read.give("horizon", self.symbol(self.theorem.horizon_symbol))
        asked = self.theorem.read | {str(one.quantity) for one in self.theorem.conditions}
        for name, own in self.sheet.get("symbols", {}).items():
            fixed = self.theorem.step.get(name)
            if fixed is not None and not fixed.is_Symbol and name not in self.theorem.settable:
                # The theorem speaks of this number alone: at others, such as β = 1, it may have no value.
                self.__dict__[name] = read.give(name, self.formula(fixed))
            elif name not in self.own_symbols and (own.get("always") or name in asked):
                known = self._below_its_limit(name) if own.get("limited") else self._range(name)
                made = self._written_range(own, known)
                self.own_symbol(name, replace(made, below=self._leaves_no_step(name, made.high)))
        for name, step in self.sheet.get("formulas", {}).items():
            read.give(name, self.formula(self.theorem.step[step]))
        for name, own in self._those("shorthands"):
            read.give(name, self._shorthand(**own))
        for name, own in self._those("numbers"):
            self._family(name, own)
        for name, text in self.sheet.get("indices", {}).items():
            read.give(name, self._index(name, text))
        self._named()
        for name, own in self.sheet.get("vectors", {}).items():
            self._vector(name, own)
        self._name_parts()
        for name, step in self.sheet.get("steps", {}).items():
            self.__dict__[name] = read.give(name, declare_step(self, step))
        for name, of in self.sheet.get("roots", {}).items():
            self.own_symbols.add(name)
            self.root_fact = self.kernel.root(name, self.kernel.values.get(of, self.symbol(of)))
        self.law = self._law()
        said = {name: Axiom(**own) for name, own in self._those("axioms")}
        self.sentences = Sentences(self, read, said)
        methods: dict[str, Callable[..., Any]] = {
            name: partial(self.sentences.cite, name) for name in said if " " not in name
        }
        for name in {one.partition(" ")[0] for one in said if " " in one}:
            methods[name] = lambda word, *more, _name=name: self.sentences.cite(f"{_name} {word}", *more)
        self.__dict__.update(methods)

    def _leaves_no_step(self, name: str, end: Scalar | None) -> bool:
        """Return whether a condition leaves no positive step at an end: there is no run there that it speaks of."""
        value = None if end is None else end.constant
        if value is None:
            return False
        limits = [one.limit for one in self.theorem.conditions if str(one.quantity) in self.theorem.step]
        symbol, number = self.theorem.symbols[name].symbol, sympy.Rational(value.numerator, value.denominator)
        return any(bool(one.subs(symbol, number).is_nonpositive) for one in limits)

    def _name_parts(self) -> None:
        """Give vectors, numbers, indices and shorthands to proofs; those that a method has the name of stay unnamed."""
        for table in ("vectors", "numbers", "indices", "shorthands"):
            for name in self.sheet.get(table, {}).keys() & self.reader.known.keys():
                if table == "shorthands" or not hasattr(type(self), name):
                    self.__dict__[name] = self.reader.known[name]

    @cached_property
    def letters(self) -> Mapping[str, str]:
        """What vectors and numbers stand for, as claims print them, for readers; nothing is decided by it."""
        told = {**self.sheet.get("numbers", {}), **self.sheet.get("vectors", {})}
        written = {name: f"{name}[{one['of']}]" if "of" in one else name for name, one in told.items()}
        own = {written[name]: str(one["means"]) for name, one in told.items() if "means" in one}
        return {**_LETTERS, **own, **self.sheet.get("letters", {})}

    def _those(self, table: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the entries of a table that are about this theorem."""
        for name, own in self.sheet.get(table, {}).items():
            if self.reader.holds(own.get("only", "")) or "otherwise" in own:
                yield name, own

    def _written_range(self, own: Mapping[str, Any], known: Range, **names: Any) -> Range:
        low, high = (
            self.reader.end(own.get(key), end, **names) for key, end in (("low", known.low), ("high", known.high))
        )
        above = own.get("above", known.above and low is known.low)
        above = self.reader.holds(above) if isinstance(above, str) else above
        return Range(low=low, high=high, above=above, integer=own.get("whole", known.integer))

    def _shorthand(self, of: str = "", only: str = "", otherwise: str = "", **own: str) -> Any:
        """Return what a shorthand stands for; with parameters, by them."""
        found = Shorthand(self.reader, parameters(of), own["is"] if self.reader.holds(only) else otherwise)
        return found if of else found()

    def _family(self, name: str, own: Mapping[str, Any]) -> None:
        of = parameters(own["of"])
        made = self._written_range(own, Range(low=ZERO), **{of[0][0]: FIRST})
        self.context.declare(name, replace(made, arity=len(of)))
        self.own_symbols.add(name)
        self.reader.give(name, partial(variable, name))

    def _index(self, name: str, text: str) -> Scalar:
        inside = parsed(text)
        assert isinstance(inside, ast.Compare)  # noqa: S101  (it says between which ends it lies)
        ends = [self.reader.value(one, {}) for one in (inside.left, *inside.comparators[1:])]
        index: Scalar = self.index(name, *ends)
        return index

    def _vector(self, name: str, own: Mapping[str, Any]) -> None:
        read, of = self.reader, [one for one, _ in parameters(own.get("of", ""))]
        if not read.holds(own.get("only", "")):
            read.give(name, lambda *_: NOTHING)
            return

        def times(text: str) -> Callable[..., tuple[Scalar, ...]]:
            parts = several(parsed(text))
            return lambda *at: tuple(scalar(read.value(one, dict(zip(of, at, strict=True)))) for one in parts)

        when = {key: times(own[key]) for key in ("clock", "drawn") if key in own}
        vectors, here = self.kernel.vectors, {one: variable(one) for one in of}
        vectors.declare(name, len(of), **when)
        read.give(name, partial(self.vec, name) if of else self.vec(name))
        if "slope" in own:
            at = read.value(parsed(own["slope"]), here).vec
            which = () if self.one_function else (read.number(own["client"], **here),)
            vectors.declare_slope(name, Slope(tuple(of), "f", which, at))

    def _law(self) -> Law | None:
        """Return who acts when, where that is drawn."""
        own = self.sheet.get("law")
        if own is None or not self.reader.holds(own.get("only", "")):
            return None
        here = {name: of_symbol(Symbol(f"@{name}")) for name in ("i", "k")}
        registers = {}
        for name, one in own["registers"].items():
            branch = self.reader.value(parsed(one["is"]), {own: here[own] for own, _ in parameters(one["of"])})
            registers[name] = {"owner": one["owner"], "branch": combination(lin(branch).terms)}
        shares = {"p": self.reader.number(own["p"], **here), "p_s": self.reader.number(own["p_s"]), "clients": self.n}
        told = {key: number(share) for key, share in shares.items()}
        return Law({**told, "index": "i", "registers": registers}, frozenset(own["by"]))

    def _named(self) -> None:
        """Declare numbers that are to be shown to lie where they do."""
