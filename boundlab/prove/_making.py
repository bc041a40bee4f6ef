"""How facts are made: what they say is well-formed, what they are made from is of the same proof and the same case."""

from collections.abc import Iterable, Mapping
from typing import Any

from boundlab.prove._context import Context
from boundlab.prove._errors import ProofError, only_for_rules
from boundlab.prove._facts import _KEY, Fact, Shared, VectorFact
from boundlab.prove._scalars import Number, Poly, Scalar, is_bound, of_symbol, same, scalar
from boundlab.prove._terms import Claim, Expr, Inner, Lin, One, Sum, Value, Vec
from boundlab.prove._vectors import Vectors
from boundlab.signs import SignProof


class Making:
    """What all rules share.

    Parameters
    ----------
    context
        The ranges of all symbols.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.vectors = Vectors(context)
        self.facts: list[Shared] = []
        self.concluded: tuple[Fact, ...] = ()  # what makes up the theorem, one fact for each case
        # Numbers that vectors depend on without saying so, such as a step size: what is said of vectors holds for the
        # one value that they have, and for no other.
        self.parameters: set[str] = set()
        # The method of a setting that makes axioms, with its arguments; None for those that it makes for itself.
        self.called: tuple[str, tuple[Any, ...] | None] | None = None

    def make(
        self,
        claim: Claim,
        context: Context,
        rule: str,
        premises: Iterable[Shared] = (),
        *,
        names: Iterable[str] = (),
        axioms: Iterable[str] = (),
        without: Iterable[str] = (),
        shown: SignProof = SignProof.BY_CERTIFICATE,
        **data: Any,
    ) -> Fact:
        only_for_rules("making a fact")
        premises = tuple(premises)
        self.well_formed(claim.left, context)
        self.well_formed(claim.right, context)
        shared = self._shared(context, rule, premises, {*names, *claim.names()}, axioms, without, shown, data)
        fact = Fact(**shared, claim=claim)
        self.facts.append(fact)
        return fact

    def make_vector(
        self,
        left: Lin,
        right: Lin,
        context: Context,
        rule: str,
        premises: Iterable[Shared] = (),
        *,
        names: Iterable[str] = (),
        axioms: Iterable[str] = (),
        shown: SignProof = SignProof.BY_CERTIFICATE,
        **data: Any,
    ) -> VectorFact:
        only_for_rules("making a fact")
        for part in (left, right):
            self.well_formed_vector(part, context)
        own = {*names, *left.names(), *right.names()}
        shared = self._shared(context, rule, tuple(premises), own, axioms, (), shown, data)
        fact = VectorFact(**shared, left=left, right=right)
        self.facts.append(fact)
        return fact

    def _shared(
        self,
        context: Context,
        rule: str,
        premises: tuple[Shared, ...],
        names: set[str],
        axioms: Iterable[str],
        without: Iterable[str],
        shown: SignProof,
        data: Mapping[str, Any],
    ) -> dict[str, Any]:
        self._owned(*premises)
        for one in premises:
            if not context.within(one.context):
                raise ProofError(f"a fact of another case is used: {one} holds where {one.context.why or 'assumed'}")
        if rule == "axiom" and self.called is not None:
            schema, args = self.called
            data = {"schema": schema, "args": (self._axioms(),) if args is None else args}
        if context.root.by_solver:
            # Also what is asked on the way, such as whether a denominator is 0, or whether a range is reversed.
            shown, context.root.by_solver = min(shown, SignProof.BY_SOLVER), False
        gone = set(without)
        for one in premises:
            names |= one.names - gone
        return {
            "context": context,
            "names": frozenset(context.closure(names)),
            "axioms": frozenset(axioms).union(*(one.axioms for one in premises)),
            "rule": rule,
            "premises": premises,
            "data": data,
            "shown": min((shown, *(one.shown for one in premises))),
            "number": len(self.facts),
            "key": _KEY,
        }

    def _axioms(self) -> int:
        return sum(one.rule == "axiom" for one in self.facts)

    def _owned(self, *facts: Shared) -> None:
        """Make sure that facts are of this kernel: another one may know other vectors."""
        for one in facts:
            if not (0 <= one.number < len(self.facts) and self.facts[one.number] is one):
                raise ProofError(f"{one} is no fact of this proof")

    def fixed(self, name: str, fact: Shared) -> bool:
        """Whether a fact holds for one value of a symbol only: it is fixed in a case, or a parameter of the vectors."""
        return name in fact.context.restricted() or (bool(fact.axioms) and name in self.parameters)

    def well_formed(self, value: Expr, context: Context) -> None:
        """Make sure that an expression means something: known names, whole indices, nothing divided by what may be 0.

        Raises
        ------
        ProofError
            If that is not shown.
        """
        for atom, coefficient in value.terms.items():
            context.defined(coefficient)
            self._well_formed_atom(atom, context)

    def well_formed_vector(self, value: Lin, context: Context) -> None:
        """Make sure that a combination of vectors means something; raises as :meth:`well_formed`."""
        for atom, coefficient in value.terms.items():
            context.defined(coefficient)
            self._well_formed_atom(atom, context)

    def _well_formed_atom(self, atom: One | Inner | Value | Vec | Sum, context: Context) -> None:
        bound: frozenset[str] = frozenset()
        base: One | Inner | Value | Vec
        if isinstance(atom, Sum):
            for place, (lo, hi) in enumerate(atom.bounds):
                for end in (lo, hi):
                    if not context.integer(Scalar(end), bound):
                        raise ProofError(f"{end}, an end of a sum, is not shown to be whole")
                bound |= {f"_{place}"}
            self._well_formed_weight(atom, context, bound)
            assert not isinstance(atom.atom, Sum)  # noqa: S101  (for the type checker)
            base = atom.atom
        else:
            base = atom
        vectors = {Inner: lambda a: (a.first, a.second), Value: lambda a: (a.at,), Vec: lambda a: (a,)}
        for vector in vectors.get(type(base), lambda _: ())(base):  # type: ignore[no-untyped-call]
            self.vectors.check(vector, context, bound)
        if isinstance(base, Value):
            self.vectors.check_function(base, context, bound)

    def _well_formed_weight(self, atom: Sum, context: Context, bound: frozenset[str]) -> None:
        for powers in atom.weight.terms:
            for symbol, power in powers:
                if any(name not in bound if is_bound(name) else context.find(name) is None for name in symbol.names()):
                    raise ProofError(f"{symbol} is not declared")
                if not all(context.integer(Scalar(one), bound) for one in symbol.indices):
                    raise ProofError(f"an index of {symbol} is not shown to be whole")
                if symbol.exponent is not None:
                    self._whole_exponent(symbol.exponent, atom, context, bound)
                known = context.find(symbol.name)
                if known is not None and known.arity != len(symbol.indices):
                    raise ProofError(f"{symbol.name} has {known.arity} indices, got {len(symbol.indices)}")
                if power < 0 and not context.nonzero(of_symbol(symbol)):
                    raise ProofError(f"{symbol}, which a sum divides by, is not shown to differ from 0")

    @staticmethod
    def _whole_exponent(exponent: Poly, atom: Sum, context: Context, bound: frozenset[str]) -> None:
        if not context.integer(Scalar(exponent), bound):
            raise ProofError(f"the exponent {exponent} in a sum is not shown to be whole")
        for symbol in exponent.symbols():
            low = Scalar(atom.bounds[int(symbol.name[1:])][0]) if is_bound(symbol.name) else of_symbol(symbol)
            if any(is_bound(name) for name in low.names()) or not context.nonnegative(low):
                raise ProofError(f"the exponent {exponent} in a sum is not shown to be ≥ 0")

    def need(
        self, value: Number, context: Context, what: str, facts: Iterable[Fact] = ()
    ) -> tuple[SignProof, set[str], list[Fact]]:
        """Return how a number is shown to be ≥ 0, by the ranges or by a fact that says so; raises if it is not."""
        own = scalar(value)
        for fact in facts:
            number = fact.claim.body.number
            if number is not None and (same(number, own) or (fact.claim.equality and same(number, -own))):
                return fact.shown, own.names(), [fact]
        if found := context.nonnegative(own):
            return found, own.names(), []
        raise ProofError(f"{what}: {own} ≥ 0 is not shown")

    def deepest(self, facts: Iterable[Shared], context: Context | None) -> Context:
        here = context or self.context
        for fact in facts:
            if fact.context.within(here):
                here = fact.context
            elif not here.within(fact.context):
                raise ProofError(f"facts of different cases are combined: {fact} holds where {fact.context.why}")
        return here

    def _with_premise(self, made: Any, fact: Shared, kept: Iterable[str]) -> Any:
        """Return the fact just made, with a premise that it has only some names in common with."""
        self._owned(fact)
        self.facts.pop()
        shared = {name: getattr(made, name) for name in ("context", "rule", "data")}
        shared |= {
            "key": _KEY,
            "names": frozenset(made.context.closure({*made.names, *kept})),
            "axioms": made.axioms | fact.axioms,
            "premises": (fact,),
            "shown": min(made.shown, fact.shown),
            "number": len(self.facts),
        }
        if isinstance(made, VectorFact):
            new: Fact | VectorFact = VectorFact(**shared, left=made.left, right=made.right)
        else:
            new = Fact(**shared, claim=made.claim)
        self.facts.append(new)
        return new

    @staticmethod
    def unmoved(on: str, names: Iterable[str], here: Context) -> None:
        """Make sure that no other symbol has a value, or a range, that depends on this one."""
        for other in here.closure(names) - {on}:
            if on in here.needs(other):
                raise ProofError(f"{other} depends on {on}, which runs through all its values here")


def same_claim(given: Claim, wanted: Claim, what: str) -> None:
    difference = given.body - wanted.body
    opposite = given.equality and wanted.equality and not (given.body + wanted.body).terms
    if given.equality != wanted.equality and not (given.equality and not wanted.equality):
        raise ProofError(f"{what} is {given}, where {wanted} is needed")
    if difference.terms and not opposite:
        raise ProofError(f"{what} is {given}, where {wanted} is needed; they differ by {difference}")
