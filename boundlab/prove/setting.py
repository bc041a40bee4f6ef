"""The setting of a theorem: its symbols, its functions, and axioms of a few fixed shapes.

What an axiom says is an assumption of the theorem, by its id, or a part of the algorithm; a proof's conclusion compares
the axioms that it rests on with the assumptions that the theorem states. How a run moves stands in the algorithm's
sheet (:mod:`boundlab.prove.sheets`); the algorithm's own runs are asked before a proof begins.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import sympy

from boundlab.assumptions import assumption, choices
from boundlab.formulas.symbols import SYMBOLS, names_of
from boundlab.prove._chance import mixture, orthogonal, uncorrelated
from boundlab.prove._context import Context, Range
from boundlab.prove._errors import ProofError, only_for_rules
from boundlab.prove._facts import OWN_AXIOMS, Fact
from boundlab.prove._formula import translate
from boundlab.prove._from_sheet import FromSheet
from boundlab.prove._hygiene import remember
from boundlab.prove._kernel import Kernel
from boundlab.prove._lines import number
from boundlab.prove._options import refuse_other_steps, uncovered
from boundlab.prove._scalars import ONE, ZERO, Number, Scalar, Symbol, of_symbol, scalar, variable, whole
from boundlab.prove._sums import split_sum, total
from boundlab.prove._terms import (
    Claim,
    Expr,
    Lin,
    Vec,
    dot,
    expr,
    finite_sum,
    lin,
    mean_of,
    squared,
    value_at,
    vector_mean,
)
from boundlab.prove._vectors import Known, Slope
from boundlab.prove._words import said
from boundlab.prove.sheets import Reader, sheet, single
from boundlab.theorems import Theorem, places as words_of

# In this order, so that the end of a range names what stands before it.
_ORDER = ("n", "L", "mu", "B", "sigma", "zeta", "R", "F0", "M", "K", "T")


class Setting(FromSheet):
    """What a proof of a theorem may use.

    Parameters
    ----------
    theorem
        The registered theorem.
    written
        The name of the sheet about its runs.

    Raises
    ------
    ProofError
        If its algorithm or its options are not among those whose moves are known here.
    """

    # The symbol of how large noise is, and what readers call the objective.
    noise_size = "sigma"
    objective_name = "f"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        remember(cls)

    def __init__(self, theorem: Theorem, written: str) -> None:
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
        self._refuse_names(names_of(formula), context or self.context)
        if more := {one.name for one in formula.free_symbols} - self.own_symbols - defined.keys():
            raise ProofError(f"{', '.join(sorted(more))} is no symbol of the setting")
        here = context or self.context
        known = self.short_names if short else {}
        return translate(formula, here, known, *self.kernel.given(here), defined, self.kernel.plain_exponents())

    def _refuse_names(self, names: Iterable[str], context: Context) -> None:
        """Refuse a symbol of a theorem's own, or one with another meaning, that has a name of this setting's."""
        for name in self.theorem.read_by(names) & self.own_symbols:
            known = context.find(name)
            if name not in SYMBOLS or (known is not None and known.arity):
                raise ProofError(f"{name} of {self.theorem.id} is something else in proofs about it; rename the symbol")

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
            self.point("star", 0)
            # Subgradients of the f_i at the minimiser, chosen so that their mean is 0.
            self.point("h", 1)
            self.kernel.vectors.declare_slope("h", Slope(("i",), "f", self.client_index, Vec("star")))
            if self.composite:
                self.point("hs", 0)

    @property
    def client_index(self) -> tuple[Scalar, ...]:
        """What a client's function is indexed by."""
        return () if self.one_function else (self.i,)

    def point(self, name: str, arity: int) -> None:
        """Declare vectors that are not random."""
        self.kernel.vectors.declare(name, Known(arity))

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
            return Expr((value + beside).terms, said("value", "F", at.said))
        return Expr(value.terms, said("value", self.objective_name, at.said))

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

    def unbiased(self, noise: Lin, other: Lin) -> Fact:
        """Return E⟨ξ, v⟩ = 0 for a vector v that is known when ξ is drawn.

        Noise is drawn independently of the events, and these do not depend on it: this holds for each schedule.
        """
        return orthogonal(self.kernel, single(noise), single(other))

    def independent(self, noise: Lin, name: str, lo: Number, hi: Number, weight: Number = 1) -> Fact:
        """Return E‖Σ weight·ξ‖² = Σ weight²·E‖ξ‖², for noises that differ in their index ``name``."""
        return uncorrelated(self.kernel, noise, name, lo, hi, weight)

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

    def axiom(self, claim: Claim, *tags: str, context: Context | None = None) -> Fact:
        """Return an assumption as a fact; for the methods here."""
        only_for_rules("an axiom")
        self.assume(*(tag for tag in tags if tag not in OWN_AXIOMS))
        return self.kernel.make(claim, context or self.context, "axiom", axioms=tags)

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


remember(Setting)
