"""The kernel: rules that make facts out of facts, and refuse what is not shown.

Searches stand outside and can at worst fail. Rules about finite sums, about events and the axioms of a setting build on
the same few methods here; see :mod:`boundlab.prove._sums` and :mod:`boundlab.prove._chance`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from boundlab.prove._cases import Cases
from boundlab.prove._context import Context
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, Shared, VectorFact
from boundlab.prove._making import same_claim as same_claim
from boundlab.prove._scalars import Number, Scalar, Symbol, of_symbol, scalar
from boundlab.prove._terms import Claim, Expr, Lin, Vec, dot, equal, expr, lin, replaced, squared
from boundlab.signs import SignProof


class Kernel(Cases):
    """Makes facts.

    Parameters
    ----------
    context
        The ranges of all symbols.
    """

    # ------------------------------------------------------------------ algebra

    def square(self, of: Lin | Vec, context: Context | None = None) -> Fact:
        """Return E‖u‖² ≥ 0."""
        here = context or self.context
        self.well_formed_vector(lin(of), here)
        return self.make(squared(of) >= 0, here, "square", vector=lin(of), names=lin(of).names())

    def combine(self, claim: Claim, parts: Sequence[tuple[Number, Fact]], context: Context | None = None) -> Fact:
        """Return a claim that is Σ multiplier·fact + a number ≥ 0, matched coefficient by coefficient.

        Raises
        ------
        ProofError
            If a coefficient is left over, a multiplier may be negative, or the number may be.
        """
        here = self.deepest([fact for _, fact in parts], context)
        rest, worst, names = claim.body, SignProof.BY_CERTIFICATE, set[str]()
        kept = []
        for given, fact in parts:
            own = scalar(given)
            if own.zero or not fact.claim.body.terms:
                continue  # nothing, or nothing times it
            here.defined(own)
            if not fact.claim.equality:
                if claim.equality:
                    raise ProofError("an equation does not follow from an inequality")
                found, _, _ = self.need(own, here, "a multiplier may be negative")
                worst = min(worst, found)
            names |= own.names()
            kept.append((own, fact))
            rest = rest - fact.claim.body * own
        left = rest.number
        if left is None:
            raise ProofError(f"left over: {rest}")
        if claim.equality:
            if not left.zero:
                raise ProofError(f"left over: {left}")
        else:
            found, _, _ = self.need(left, here, "what is left over may be negative")
            worst = min(worst, found)
        return self.make(
            claim,
            here,
            "combine",
            [fact for _, fact in kept],
            names=names,
            shown=worst,
            multipliers=tuple(own for own, _ in kept),
            rest=left,
        )

    def scale(self, number: Fact, other: Fact) -> Fact:
        """Return the product of a number shown ≥ 0 (or = 0) by a fact, with another fact."""
        own = number.claim.body.number
        if own is None:
            raise ProofError("only a fact about a number multiplies another fact")
        here = self.deepest([number, other], None)
        here.defined(own)
        body = other.claim.body * own
        exact = number.claim.equality or other.claim.equality
        return self.make(equal(body, 0) if exact else body >= 0, here, "scale", [number, other])

    def times(self, number: Fact, by: Expr) -> Fact:
        """Return e·X = 0 for an equation e = 0 between numbers and any expression X."""
        own = number.claim.body.number
        if own is None or not number.claim.equality:
            raise ProofError("only an equation between numbers multiplies any expression")
        self.well_formed(by, number.context)
        return self.make(equal(by * own, 0), number.context, "times", [number], names=by.names(), by=by)

    def end(self, name: str, which: str, context: Context | None = None) -> Fact:
        """Return that a symbol lies above its ``low`` or below its ``high`` end."""
        here = context or self.context
        known = here.find(name)
        end = None if known is None or known.arity else known.low if which == "low" else known.high
        if end is None:
            raise ProofError(f"{name} has no {which} end")
        own = expr(of_symbol(Symbol(name)))
        return self.make(own >= expr(end) if which == "low" else own <= expr(end), here, "end", name=name, which=which)

    # ------------------------------------------------------------------ vectors

    def against(self, fact: VectorFact, vector: Lin | Vec, context: Context | None = None) -> Fact:
        """Return E⟨left, v⟩ = E⟨right, v⟩."""
        here = self.deepest([fact], context)
        self.well_formed_vector(lin(vector), here)
        return self.make(
            equal(dot(fact.left, vector), dot(fact.right, vector)),
            here,
            "against",
            [fact],
            names=lin(vector).names(),
            vector=lin(vector),
        )

    def replace(self, value: Expr, facts: Sequence[VectorFact], context: Context | None = None) -> Fact:
        """Return value = value with vectors replaced by what they are equal to, one equation after the other.

        Raises
        ------
        ProofError
            If a left side is no single vector.
        """
        here = self.deepest(facts, context)
        current = value
        for fact in facts:
            old = fact.left.vec
            if old is None:
                raise ProofError(f"{fact.left} is no single vector: nothing can be replaced by {fact.right}")
            found = Expr({})
            for atom, coefficient in current.terms.items():
                found = found + replaced(atom, old, fact.right) * coefficient
            current = found
        return self.make(equal(value, current), here, "replace", facts, names=value.names())

    # ------------------------------------------------------------------ instances

    def at(self, fact: Fact | VectorFact, values: Mapping[str, Number], context: Context | None = None) -> Any:
        """Return an instance: numbers in place of symbols, inside their ranges.

        Raises
        ------
        ProofError
            If a value may lie outside, is not whole where it must be, or a symbol may not be generalised here.
        """
        here = self.deepest([fact], context)
        exact = {name: scalar(value) for name, value in values.items()}
        worst, names, _ = self.admissible(exact, fact, here)
        more: dict[str, Any] = {"names": names, "shown": worst, "without": (), "values": exact}
        kept = fact.names - exact.keys()
        if isinstance(fact, VectorFact):
            more.pop("without")
            made: Shared = self.make_vector(fact.left.put(exact), fact.right.put(exact), here, "at", (), **more)
        else:
            made = self.make(fact.claim.put(exact), here, "at", (), **more)
        # What it depends on: the same symbols, but for those that were replaced.
        return self._with_premise(made, fact, kept)

    def admissible(
        self, values: Mapping[str, Scalar], fact: Shared, here: Context
    ) -> tuple[SignProof, set[str], list[Fact]]:
        """Make sure that values lie in the ranges, and that no other symbol's range is left behind."""
        worst, names = SignProof.BY_CERTIFICATE, set[str]()
        closed = fact.context.closure(fact.names)
        for name, value in values.items():
            known = fact.context.find(name)
            if known is None or known.arity:
                raise ProofError(f"{name} is no symbol that a value can be given")
            if self.fixed(name, fact):
                where = fact.context.why or "vectors depend on it"
                raise ProofError(f"{name} is fixed where {where}: it has no other value there")
            here.defined(value)
            names |= value.names()
            if known.integer and not here.integer(value):
                raise ProofError(f"{name} is whole, which {value} is not shown to be")
            for end, sign, strict in ((known.low, 1, known.above), (known.high, -1, known.below)):
                if end is None:
                    continue
                moved = end.put(values)
                here.defined(moved)
                names |= moved.names()
                gap = (value - moved) * sign
                found = here.positive(gap) if strict else here.nonnegative(gap)
                if not found:
                    raise ProofError(
                        f"{name} = {value} may lie outside its range: {gap} {'>' if strict else '≥'} 0 is not shown"
                    )
                worst = min(worst, found)
        for other in closed - values.keys():
            if touched := fact.context.needs(other) & values.keys():
                raise ProofError(f"{other} depends on {', '.join(sorted(touched))}: give {other} a value, too")
        return worst, names, []
