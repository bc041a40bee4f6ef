"""Rules about names for numbers, roots of them, and bounds that follow from bounds on squares."""

from collections.abc import Mapping
from types import MappingProxyType

from boundlab.prove._context import FIRST, Context, Range
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact
from boundlab.prove._making import Making, same_claim
from boundlab.prove._scalars import Number, Scalar, Symbol, mapped, of_symbol, same, scalar, variable
from boundlab.prove._terms import Claim, Expr, Lin, One, Sum, Vec, dot, equal, expr, lin, squared
from boundlab.signs import SignProof


class Names(Making):
    """The part of the kernel that knows what symbols stand for."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._families: dict[str, Scalar] = {}
        self._exponents: dict[str, Scalar] = {}
        self._values: dict[str, tuple[Scalar, bool]] = {}

    @property
    def values(self) -> Mapping[str, tuple[Scalar, bool]]:
        """What named symbols stand for, and whether they are roots of it."""
        return MappingProxyType(self._values)

    @property
    def families(self) -> Mapping[str, Scalar]:
        """What members of named families stand for, with FIRST for their index."""
        return MappingProxyType(self._families)

    @property
    def exponents(self) -> Mapping[str, Scalar]:
        """The v of symbols that stand for e^v, with FIRST for the index of a family."""
        return MappingProxyType(self._exponents)

    def given(self, context: Context) -> tuple[dict[str, Scalar], dict[str, Scalar]]:
        """Return what roots and what other names stand for in a case."""
        every = {name: own for name, own in self.values.items() if context.find(name) is not None}
        roots = {name: value for name, (value, is_root) in every.items() if is_root}
        return roots, {name: value for name, (value, _) in every.items() if name not in roots}

    def plain_exponents(self) -> dict[str, Scalar]:
        """Return v of the exponentials e^v without index, in symbols that stand for no other number."""
        values = {name: value for name, (value, is_root) in self.values.items() if not is_root}
        found = {}
        for name, own in self.exponents.items():
            value = own
            while value.names() & values.keys():
                value = value.put(values)
            if not value.zero and not value.names() & FIRST.names():
                found[name] = value
        return found

    def name(self, name: str, value: Number, own: Range | None = None, context: Context | None = None) -> Fact:
        """Return symbol = value, for a new symbol whose range is shown from the value.

        Raises
        ------
        ProofError
            If the name is known, or the value is not shown to lie in the range.
        """
        number, here = scalar(value), context or self.context
        here.defined(number)
        whole_number = here.integer(number)
        known = own or Range()
        for end, sign, strict in ((known.low, 1, known.above), (known.high, -1, known.below)):
            if end is not None:
                gap = (number - end) * sign
                if not (here.positive(gap) if strict else here.nonnegative(gap)):
                    raise ProofError(f"{name} is given a range in which {number} is not shown to lie")
        if known.integer and not whole_number:
            raise ProofError(f"{name} is whole, which {number} is not shown to be")
        if known.arity:
            raise ProofError(f"{name} is one number")
        here.declare(name, known)
        here.narrowed.add(name)
        here.meaning[name] = number.names()
        self._values[name] = number, False
        symbol = of_symbol(Symbol(name))
        return self.make(equal(expr(symbol), number), here, "name", name=name, value=number)

    def name_family(self, name: str, index: str, value: Number, own: Range) -> Fact:
        """Return name[index] = value for all index ≥ 0, for a new family whose range is shown from the value."""
        number, here = scalar(value), self.context
        its = here.find(index)
        if its is None or its.low is None or not its.low.zero or its.high is not None or not its.integer:
            raise ProofError(f"{index} is to run through all whole numbers ≥ 0")
        here.defined(number)
        self.unmoved(index, number.names(), here)
        for end, sign, strict in ((own.low, 1, own.above), (own.high, -1, own.below)):
            if end is not None:
                gap = (number - end) * sign
                if index in here.closure(end.names()) or not (here.positive(gap) if strict else here.nonnegative(gap)):
                    raise ProofError(f"{name} is given a range in which {number} is not shown to lie")
        if own.integer:
            raise ProofError(f"{name} is not shown to be whole")
        here.declare(name, Range(own.low, own.high, own.above, own.below, arity=1, guarded=True))
        here.meaning[name] = number.names() - {index}
        self._families[name] = number.put({index: FIRST})
        claim = equal(expr(variable(name, variable(index))), number)
        return self.make(claim, here, "name family", name=name, index=index, value=number)

    def unname(self, fact: Fact, *names: str) -> Fact:
        """Return a fact with what named numbers stand for in their place, one name after the other.

        Raises
        ------
        ProofError
            If a name stands for no number, or occurs in the terms of a sum.
        """
        claim, here = fact.claim, fact.context
        for name in names:
            one, family = self.values.get(name), self.families.get(name)
            if family is None and (one is None or one[1]):
                raise ProofError(f"{name} is no name of a number")
            sides = []
            for side in (claim.left, claim.right):
                if any(name in atom.names() for atom in side.terms):
                    raise ProofError(f"{name} occurs in the terms of a sum or in an index")
                sides.append(Expr({atom: self._unnamed(own, name) for atom, own in side.terms.items()}))
            claim = Claim(sides[0], claim.relation, sides[1])
        return self.make(claim, here, "unname", [fact], unnamed=names)

    def _unnamed(self, value: Scalar, name: str) -> Scalar:
        family = self.families.get(name)

        def of(symbol: Symbol) -> Scalar | None:
            if name not in symbol.names():
                return None
            if symbol.name != name or any(name in one.names() for one in symbol.indices) or symbol.exponent is not None:
                raise ProofError(f"{name} occurs in {symbol}")
            if family is None:
                return self.values[name][0]
            self.need(Scalar(symbol.indices[0]), self.context, f"{name} is named for indices ≥ 0")
            return family.put({one: Scalar(symbol.indices[0]) for one in FIRST.names()})

        return mapped(value, of)

    def define(self, name: str, value: Expr, low: Number, least: Fact) -> Fact:
        """Return symbol = value for a sum of numbers such as q̄ = Σ 1/(n·p_i), which a fact shows to be ≥ low."""
        if any(not isinstance(key.atom if isinstance(key, Sum) else key, One) for key in value.terms):
            raise ProofError(f"{name} stands for a number, which {value} is not")
        here = self.context
        same_claim(least.claim, value >= expr(low), f"the range of {name}")
        if least.context is not here:
            raise ProofError(f"the range of {name} is shown in one case only")
        if least.axioms:
            raise ProofError(f"the range of {name} rests on {', '.join(sorted(least.axioms))}")
        if more := least.names - here.closure({*value.names(), *scalar(low).names()}):
            raise ProofError(f"the range of {name} is shown only where {', '.join(sorted(more))} has a value")
        here.declare(name, Range(low=scalar(low)))
        here.narrowed.add(name)
        here.meaning[name] = value.names()
        return self.make(equal(expr(of_symbol(Symbol(name))), value), here, "define", [least], name=name, value=value)

    def root(self, name: str, of: Number, context: Context | None = None) -> Fact:
        """Return symbol² = value for a new symbol ≥ 0, where the value is shown to be ≥ 0."""
        number, here = scalar(of), context or self.context
        here.defined(number)
        found, _, _ = self.need(number, here, f"{name} is the root of what may be negative")
        here.declare(name, Range(low=scalar(0), above=bool(here.positive(number))))
        here.narrowed.add(name)
        here.meaning[name] = number.names()
        self._values[name] = number, True
        symbol = of_symbol(Symbol(name))
        return self.make(equal(expr(symbol * symbol), number), here, "root", shown=found, name=name, value=number)

    def by_squares(self, squares: Fact, one: Number, other: Number) -> Fact:
        """Return x ≤ y from x² ≤ y² (or x = y from x² = y²), for y ≥ 0 (and x ≥ 0)."""
        x, y, here = scalar(one), scalar(other), squares.context
        number = squares.claim.body.number
        if number is None or (
            not same(number, y * y - x * x) and not (squares.claim.equality and same(number, x * x - y * y))
        ):
            raise ProofError("the fact does not compare the two squares")
        found, _, _ = self.need(y, here, "the larger side may be negative")
        if squares.claim.equality:
            found = min(found, self.need(x, here, "a side may be negative")[0])
            return self.make(equal(expr(x), y), here, "by squares", [squares], shown=found, one=x, other=y)
        return self.make(expr(x) <= expr(y), here, "by squares", [squares], shown=found, one=x, other=y)

    def norms(self, one: Fact, other: Fact, u: Lin | Vec, v: Lin | Vec, e: Number, h: Number, sign: int = 1) -> Fact:
        """Return ±E⟨u, v⟩ ≤ e·h from E‖u‖² ≤ e² and E‖v‖² ≤ h² with e, h ≥ 0."""
        here = self.deepest([one, other], None)
        a, b = scalar(e), scalar(h)
        if sign not in (1, -1):
            raise ProofError("the sign is 1 or -1")
        worst = SignProof.BY_CERTIFICATE
        for fact, vector, size in ((one, u, a), (other, v, b)):
            same_claim(fact.claim, squared(vector) <= expr(size * size), "a bound on a norm")
            worst = min(worst, self.need(size, here, "a norm is bounded by what may be negative")[0])
        return self.make(
            dot(u, v) * sign <= expr(a * b),
            here,
            "norms",
            [one, other],
            shown=worst,
            u=lin(u),
            v=lin(v),
            e=a,
            h=b,
            sign=scalar(sign),
        )
