"""Rules about hypotheses and cases: induction, and splits of a range in two."""

from collections.abc import Iterable
from typing import Any

from boundlab.prove._context import Context, Range
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact
from boundlab.prove._making import same_claim
from boundlab.prove._names import Names
from boundlab.prove._scalars import Number, Scalar, Symbol, of_symbol, same, scalar
from boundlab.prove._terms import Claim


class Cases(Names):
    """The part of the kernel that knows of cases."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._supposed: dict[Context, Fact] = {}
        self._parts: dict[Context, tuple[Context, str, Scalar, int]] = {}

    def suppose(self, claim: Claim, on: str, context: Context | None = None) -> Fact:
        """Return a claim as the hypothesis of an induction on a symbol, in a context of its own."""
        here = context or self.context
        known = here.find(on)
        if known is None or not known.integer or known.arity or known.low is None or known.above:
            raise ProofError(f"induction is on a whole symbol with a lower end, which {on} is not")
        if not here.integer(known.low):
            raise ProofError(f"{on} begins at {known.low}, which is not shown to be whole")
        if any(on in one.meaning or (one in self._supposed and on in one.narrowed) for one in here.chain()):
            raise ProofError(f"{on} has one value here: there is no induction on it")
        self.well_formed(claim.body, here)
        self.unmoved(on, claim.names(), here)
        child = Context(here, f"the claim is supposed for {on}")
        child.narrowed |= here.closure({*claim.names(), on})
        if known.high is not None:
            child.narrow(on, Range(low=known.low, high=known.high - 1, integer=True))
        fact = self.make(claim, child, "suppose", names=[on], on=on)
        self._supposed[child] = fact
        return fact

    def is_hypothesis(self, context: Context) -> bool:
        """Return whether a context is the one of an induction's hypothesis."""
        return context in self._supposed

    @property
    def has_cases(self) -> bool:
        """Whether a range was split."""
        return bool(self._parts)

    def induction(self, base: Fact, step: Fact) -> Fact:
        """Return P(k) for all k from P(low) and from P(k + 1) under the hypothesis P(k).

        Raises
        ------
        ProofError
            If base or step are not those of the hypothesis.
        """
        supposed = self._supposed.get(step.context)
        if supposed is None:
            raise ProofError("the step of an induction is shown from its hypothesis, and only from that")
        on, outer = supposed.data["on"], step.context.parent
        assert outer is not None  # noqa: S101  (made with a parent)
        known = outer.find(on)
        assert known is not None and known.low is not None  # noqa: S101, PT018  (checked when it was supposed)
        if not outer.within(base.context):
            raise ProofError("the base of an induction holds in another case")
        self._owned(base, step)
        if on in self.parameters and (base.axioms or step.axioms):
            raise ProofError(f"vectors depend on {on}: there is no induction on it")
        # Where another symbol has no value for some of these numbers, the step is shown for the others only.
        for where in (step.context, outer):
            self.unmoved(on, step.names, where)
        low, following = supposed.claim.put({on: known.low}), supposed.claim.put({on: of_symbol(Symbol(on)) + 1})
        same_claim(base.claim, low, "the base of the induction")
        same_claim(step.claim, following, "the step of the induction")
        return self.make(
            supposed.claim,
            outer,
            "induction",
            [base],
            names=step.names,
            axioms=step.axioms,
            shown=step.shown,
            hypothesis=supposed,
            step=step,
            on=on,
        )

    def split(self, name: str, at: Number, context: Context | None = None) -> tuple[Context, Context]:
        """Return two cases that make up a range: up to a value, and from it on (from the next number if whole)."""
        here, value = context or self.context, scalar(at)
        known = here.find(name)
        if known is None or known.arity:
            raise ProofError(f"{name} is no symbol with a range")
        here.defined(value)
        before = here.order()[: here.order().index(name)]
        if not value.names() <= set(before):
            raise ProofError(f"{name} is split at {value}, whose symbols are not declared before it")
        if known.integer and not here.integer(value):
            raise ProofError(f"{name} is whole, which {value} is not shown to be")
        for end, sign in ((known.low, 1), (known.high, -1)):
            if end is not None:
                self.need((value - end) * sign, here, f"{name} is split outside of its range")
        step = 1 if known.integer else 0
        parts = (
            Range(known.low, value, above=known.above, integer=known.integer),
            Range(value + step, known.high, below=known.below, integer=known.integer),
        )
        found = []
        for which, (part, relation) in enumerate(zip(parts, ("≤", "≥"), strict=True)):
            child = Context(here, f"{name} {relation} {value + step * which}")
            child.narrow(name, part)
            self._parts[child] = (here, name, value, which)
            found.append(child)
        return found[0], found[1]

    def part_of(self, context: Context) -> tuple[Context, Context] | None:
        """Return, for one case of a split, the context that was split and the other case; None if it is none."""
        part = self._parts.get(context)
        if part is None:
            return None
        for other, its in self._parts.items():
            if other is not context and its[:2] == part[:2] and its[2] is part[2] and its[3] != part[3]:
                return part[0], other
        return None

    def origin(self, context: Context) -> tuple[str, tuple[Any, ...]]:
        """Return how a context came about, for whoever checks it again: as root, hypothesis or case."""
        if context in self._supposed:
            return "suppose", (self._supposed[context],)
        if context in self._parts:
            return "split", self._parts[context]
        return "root", ()

    def join(self, first: Fact, second: Fact) -> Fact:
        """Return a claim that was shown in both cases of a split."""
        one, two = self._parts.get(first.context), self._parts.get(second.context)
        if one is None or two is None or one[0] is not two[0] or one[1] != two[1] or one[2] is not two[2]:
            raise ProofError("the two facts do not belong to the two cases of one split")
        if one[3] == two[3]:
            raise ProofError("one case of a split is used twice, the other is missing")
        self._owned(first, second)
        same_claim(second.claim, first.claim, "the second case")
        return self.make(
            first.claim,
            one[0],
            "join",
            names=self._outside(one[0], first.names | second.names) | one[2].names(),
            axioms=first.axioms | second.axioms,
            shown=min(first.shown, second.shown),
            cases=(first, second),
        )

    def _outside(self, outer: Context, names: Iterable[str]) -> set[str]:
        """Return names without those that are given to numbers in one case only: there each of them has its value."""
        return {name for name in names if outer.find(name) is not None or name not in self.values}

    def lowest(self, first: Fact, rest: Fact) -> Fact:
        """Return P(n) for all whole n from P(low) and from P(n) for n ≥ low + 1, the second case of a split at low."""
        part = self._parts.get(rest.context)
        known = None if part is None else part[0].find(part[1])
        if part is None or known is None or part[3] != 1 or not known.integer or known.low is None:
            raise ProofError("the fact does not belong to the second case of a split at the lowest whole number")
        if not same(part[2], known.low) or not part[0].within(first.context):
            raise ProofError("the split is not at the lowest number, or the first fact is of another case")
        self._owned(rest)
        same_claim(first.claim, rest.claim.put({part[1]: known.low}), "the lowest case")
        return self.make(
            rest.claim,
            part[0],
            "lowest",
            [first],
            names=rest.names,
            axioms=rest.axioms,
            shown=rest.shown,
            case=rest,
        )
