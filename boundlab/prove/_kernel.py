"""The kernel: it writes lines, and the checker decides each of them.

A rule says here what follows, and from what; whether it does follow is for :mod:`boundlab.recheck` alone to say, and
what that refuses is no fact. Searches stand outside and can at worst fail.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce
from typing import Any, TypeVar

from boundlab.prove import _terms as lines, _writing as writing
from boundlab.prove._scalars import (
    FIRST,
    Number,
    ProofError,
    Scalar,
    number,
    of_symbol,
    only_for_rules,
    refused,
    same,
    scalar,
    text,
    variable,
)
from boundlab.prove._terms import (
    _KEY,
    Claim,
    Context,
    Expr,
    Fact,
    Law,
    Lin,
    Shared,
    VectorFact,
    Vectors,
    dot,
    equal,
    expr,
    finite_sum,
    lin,
    replaced,
    squared,
    summed,
    vector_sum,
)
from boundlab.recheck import events, exponentials, kernel as core
from boundlab.recheck.kernel import Range, Symbol, Vec

F = TypeVar("F", Fact, VectorFact)


class Kernel:
    """Makes facts.

    Parameters
    ----------
    context
        The ranges of all symbols.
    """

    def __init__(self, context: Context) -> None:
        self.context, self.replay = context, context.replay
        self.vectors = Vectors(self.replay)
        self._before = len(self.replay.facts)
        self.facts: list[Shared] = []
        self.concluded: tuple[Fact, ...] = ()  # what makes up the theorem, one fact for each case
        # Numbers that vectors depend on without saying so, such as a step size: what is said of vectors holds for the
        # one value that they have, and for no other.
        self.parameters = self.replay.parameters
        # The method of a setting that makes axioms, with its arguments; None for those that it makes for itself.
        self.called: tuple[str, tuple[Any, ...] | None] | None = None
        # Of a theorem's setting: its models, the size of its noise, the weight of a client.
        self.problem: Callable[[], dict[str, Any]] = dict
        # What symbols stand for; members of families and the v of e^v, with FIRST; what others are the root of.
        self.values, self.families, self.exponents = self.replay.values, self.replay.families, self.replay.exponents
        self.roots: dict[str, Scalar] = {}
        self._laws: list[Law] = []

    # ------------------------------------------------------------------ lines

    def make(
        self,
        claim: Claim,
        context: Context,
        rule: str,
        premises: Iterable[Shared] = (),
        *,
        axioms: Iterable[str] = (),
        **data: Any,
    ) -> Fact:
        """Return a claim as a fact, where the checker accepts the line; for rules and settings."""
        only_for_rules("making a fact")
        return self._make(Fact, claim, context, rule, tuple(premises), axioms, data, claim=claim)

    def make_vector(
        self,
        left: Lin,
        right: Lin,
        context: Context,
        rule: str,
        premises: Iterable[Shared] = (),
        *,
        axioms: Iterable[str] = (),
        **data: Any,
    ) -> VectorFact:
        """Return an equation of vectors as a fact, where the checker accepts the line."""
        only_for_rules("making a fact")
        return self._make(
            VectorFact, (left, right), context, rule, tuple(premises), axioms, data, left=left, right=right
        )

    def _make(
        self,
        kind: type[F],
        says: Claim | tuple[Lin, Lin],
        context: Context,
        rule: str,
        premises: tuple[Shared, ...],
        axioms: Iterable[str],
        data: Mapping[str, Any],
        **own: Any,
    ) -> F:
        if rule == "axiom" and self.called is not None:
            schema, args = self.called
            many = sum(one.rule == "axiom" for one in self.facts)
            data = {"schema": schema, "args": (many,) if args is None else args}
            self.replay.raw["problem"] = self.replay.raw["problem"] or self.problem()
        behind = [*premises, *further(data)]
        for one in behind:
            place = one.number - self._before
            if not (0 <= place < len(self.facts) and self.facts[place] is one):
                raise ProofError(f"{one} is no fact of this proof")
        every = frozenset(axioms).union(*(one.axioms for one in behind))
        at = lines.Places(lambda number: number, lambda case: case.number, self._law)
        with refused():
            line = writing.add(self.replay, lines.line_of(rule, context, premises, data, lines.says(says, every), at))
        fact = kind(context, frozenset(line.names), every, rule, premises, data, line.number, key=_KEY, **own)
        self.facts.append(fact)
        return fact

    @contextmanager
    def calling(self, schema: str, given: tuple[Any, ...]) -> Iterator[None]:
        """Let axioms that are made meanwhile carry what a proof calls, and its arguments."""
        before = self.called
        if before is None:
            self.called = schema, given
        try:
            yield
        finally:
            self.called = before

    def trial(self, *, keep: bool = False) -> AbstractContextManager[None]:
        """Write what is forgotten afterwards, or, with ``keep``, where something of it is refused."""
        only_for_rules("a trial")
        return self._trial(keep=keep)

    @contextmanager
    def _trial(self, *, keep: bool) -> Iterator[None]:
        """Write what is forgotten afterwards, or, with ``keep``, where something of it is refused."""
        with refused(), writing.trial(self.replay, keep=keep, also=[self.facts, self.roots]):
            yield

    def _law(self, law: Law) -> int:
        if law not in self._laws:
            self._laws.append(law)
            self.replay.raw["laws"].append(law.told)
        return self._laws.index(law)

    def need(self, value: Number, context: Context, what: str) -> None:
        """Make sure that a number is shown to be ≥ 0; for the settings, whose axioms are about certain indices."""
        if not context.nonnegative(value):
            raise ProofError(f"{what}: {scalar(value)} ≥ 0 is not shown")

    def known_by(self, vector: Vec, time: Sequence[Scalar], context: Context) -> bool:
        """Return whether a vector is certainly known at a time."""
        with refused():
            return core.known_by(self.replay, vector, list(time), context.checked)

    def deepest(self, facts: Iterable[Shared], context: Context | None) -> Context:
        """Return the narrowest case that facts hold in."""
        here = context or self.context
        for fact in facts:
            if fact.context.within(here):
                here = fact.context
            elif not here.within(fact.context):
                raise ProofError(f"facts of different cases are combined: {fact} holds where {fact.context.why}")
        return here

    # ------------------------------------------------------------------ algebra

    def square(self, of: Lin | Vec, context: Context | None = None) -> Fact:
        """Return E‖u‖² ≥ 0."""
        return self.make(squared(of) >= 0, context or self.context, "square", vector=lin(of))

    def combine(self, claim: Claim, parts: Sequence[tuple[Number, Fact]], context: Context | None = None) -> Fact:
        """Return a claim that is Σ multiplier·fact + a number ≥ 0, matched coefficient by coefficient.

        Raises
        ------
        ProofError
            If a coefficient is left over, a multiplier may be negative, or the number may be.
        """
        here, rest, kept = self.deepest([fact for _, fact in parts], context), claim.body, []
        for given, fact in parts:
            own = scalar(given)
            if not own or not fact.claim.body.terms:
                continue  # nothing, or nothing times it
            kept.append((own, fact))
            rest = rest - fact.claim.body * own
        left = rest.number
        if left is None:
            raise ProofError(f"left over: {rest}")
        multipliers = tuple(own for own, _ in kept)
        return self.make(claim, here, "combine", [fact for _, fact in kept], multipliers=multipliers, rest=left)

    def scale(self, number: Fact, other: Fact) -> Fact:
        """Return the product of a number shown ≥ 0 (or = 0) by a fact, with another fact."""
        body = other.claim.body * _number(number)
        exact = number.claim.equality or other.claim.equality
        here = self.deepest([number, other], None)
        return self.make(equal(body, 0) if exact else body >= 0, here, "scale", [number, other])

    def times(self, number: Fact, by: Expr) -> Fact:
        """Return e·X = 0 for an equation e = 0 between numbers and any expression X."""
        return self.make(equal(by * _number(number), 0), number.context, "times", [number], by=by)

    def end(self, name: str, which: str, context: Context | None = None) -> Fact:
        """Return that a symbol lies above its ``low`` or below its ``high`` end."""
        here = context or self.context
        known = here.find(name)
        end = None if known is None or known.arity else known.low if which == "low" else known.high
        if end is None:
            raise ProofError(f"{name} has no {which} end")
        own = expr(of_symbol(Symbol(name)))
        return self.make(own >= expr(end) if which == "low" else own <= expr(end), here, "end", name=name, which=which)

    def against(self, fact: VectorFact, vector: Lin | Vec, context: Context | None = None) -> Fact:
        """Return E⟨left, v⟩ = E⟨right, v⟩."""
        claim = equal(dot(fact.left, vector), dot(fact.right, vector))
        return self.make(claim, self.deepest([fact], context), "against", [fact], vector=lin(vector))

    def replace(self, value: Expr, facts: Sequence[VectorFact], context: Context | None = None) -> Fact:
        """Return value = value with vectors replaced by what they are equal to, one equation after the other.

        Raises
        ------
        ProofError
            If a left side is no single vector.
        """
        current = value
        for fact in facts:
            old = fact.left.vec
            if old is None:
                raise ProofError(f"{fact.left} is no single vector: nothing can be replaced by {fact.right}")
            current = replaced(current, old, fact.right)
        return self.make(equal(value, current), self.deepest(facts, context), "replace", facts)

    def on_both_sides(self, fact: F, changed: Callable[[Any], Any], context: Context, rule: str, **data: Any) -> F:
        """Return what says of changed sides what a fact says of its own."""
        left, right = map(changed, fact.sides)
        if isinstance(fact, VectorFact):
            return self.make_vector(left, right, context, rule, [fact], **data)
        return self.make(Claim(left, fact.claim.relation, right), context, rule, [fact], **data)

    def at(self, fact: F, values: Mapping[str, Number], context: Context | None = None) -> F:
        """Return an instance: numbers in place of symbols, inside their ranges.

        Raises
        ------
        ProofError
            If a value may lie outside, is not whole where it must be, or a symbol may not be generalised here.
        """
        here, exact = self.deepest([fact], context), {name: scalar(value) for name, value in values.items()}
        return self.on_both_sides(fact, lambda side: side.put(exact), here, "at", values=exact)

    # ------------------------------------------------------------------ hypotheses and cases

    def suppose(self, claim: Claim, on: str, context: Context | None = None) -> Fact:
        """Return a claim as the hypothesis of an induction on a symbol, in a context of its own."""
        here = context or self.context
        with self._trial(keep=True):
            raw = {"kind": "suppose", "parent": here.number, "fact": len(self.replay.facts)}
            child = Context(here, f"the claim is supposed for {on}", writing.open_case(self.replay, raw))
            fact = self.make(claim, child, "suppose", on=on)
            child.supposed = fact
        return fact

    @property
    def has_cases(self) -> bool:
        """Whether a range was split."""
        return any(one["kind"] == "split" for one in self.replay.raw["contexts"])

    def induction(self, base: Fact, step: Fact) -> Fact:
        """Return P(k) for all k from P(low) and from P(k + 1) under the hypothesis P(k).

        Raises
        ------
        ProofError
            If base or step are not those of the hypothesis.
        """
        supposed, outer = step.context.supposed, step.context.parent
        if supposed is None or outer is None:
            raise ProofError("the step of an induction is shown from its hypothesis, and only from that")
        more = {"hypothesis": supposed, "step": step, "on": supposed.data["on"]}
        return self.make(supposed.claim, outer, "induction", [base], **more)

    def split(self, name: str, at: Number, context: Context | None = None) -> tuple[Context, Context]:
        """Return two cases that make up a range: up to a value, and from it on (from the next number if whole)."""
        here, value = context or self.context, scalar(at)
        known = here.find(name)
        if known is None:
            raise ProofError(f"{name} is no symbol with a range")
        step = 1 if known.integer else 0
        found = []
        with self._trial(keep=True):
            for which, relation in enumerate(("≤", "≥")):
                raw = {"kind": "split", "parent": here.number, "name": name, "at": number(value), "which": which}
                place = writing.open_case(self.replay, raw)
                child = Context(here, f"{name} {relation} {text(value + step * which)}", place)
                writing.case(self.replay, place)
                found.append(child)
        first, second = found
        first.sibling, second.sibling = second, first
        return first, second

    def join(self, first: Fact, second: Fact) -> Fact:
        """Return a claim that was shown in both cases of a split."""
        outer = first.context.parent
        if outer is None or first.context.sibling is None:
            raise ProofError("the two facts do not belong to the two cases of one split")
        return self.make(first.claim, outer, "join", cases=(first, second))

    def lowest(self, first: Fact, rest: Fact) -> Fact:
        """Return P(n) for all whole n from P(low) and from P(n) for n ≥ low + 1, the second case of a split at low."""
        outer = rest.context.parent
        if outer is None or rest.context.sibling is None:
            raise ProofError("the fact does not belong to the second case of a split at the lowest whole number")
        return self.make(rest.claim, outer, "lowest", [first], case=rest)

    # ------------------------------------------------------------------ names for numbers

    def given(self, context: Context) -> tuple[dict[str, Scalar], dict[str, Scalar]]:
        """Return what roots and what other names stand for in a case."""
        roots, values = (
            {name: own for name, own in book.items() if context.find(name) is not None}
            for book in (self.roots, self.values)
        )
        return roots, values

    def plain_exponents(self) -> dict[str, Scalar]:
        """Return v of the exponentials e^v without index, in symbols that stand for no other number."""
        found = {}
        for name, own in self.exponents.items():
            value = own
            while value.names() & self.values.keys():
                value = value.put(self.values)
            if value and not value.names() & FIRST.names():
                found[name] = value
        return found

    def _declare(
        self, here: Context, name: str, own: Range, claim: Claim, rule: str, *because: Fact, **data: Any
    ) -> Fact:
        """Declare a symbol that the next line says the value of; neither stays where one of them is refused."""
        with self._trial(keep=True):
            here.declare(name, own, by=len(self.replay.facts))
            return self.make(claim, here, rule, because, name=name, **data)

    def name(self, name: str, value: Number, own: Range | None = None, context: Context | None = None) -> Fact:
        """Return symbol = value, for a new symbol whose range is shown from the value.

        Raises
        ------
        ProofError
            If the name is known, or the value is not shown to lie in the range.
        """
        number, claim = scalar(value), equal(expr(of_symbol(Symbol(name))), value)
        return self._declare(context or self.context, name, own or Range(), claim, "name", value=number)

    def name_family(self, name: str, index: str, value: Number, own: Range) -> Fact:
        """Return name[index] = value for all index ≥ 0, for a new family whose range is shown from the value."""
        number, claim = scalar(value), equal(expr(variable(name, variable(index))), value)
        known = Range(own.low, own.high, own.above, own.below, own.integer, arity=1, guarded=True)
        return self._declare(self.context, name, known, claim, "name family", index=index, value=number)

    def unname(self, fact: Fact, *names: str) -> Fact:
        """Return a fact with what named numbers stand for in their place, one name after the other.

        Raises
        ------
        ProofError
            If a name stands for no number, or occurs in the terms of a sum.
        """
        put = partial(exponentials.with_value, self.replay, fact.context.checked)
        with refused():
            return self.on_both_sides(
                fact, lambda side: Expr(reduce(put, names, side.terms)), fact.context, "unname", unnamed=names
            )

    def define(self, name: str, value: Expr, low: Number, least: Fact) -> Fact:
        """Return symbol = value for a sum of numbers such as q̄ = Σ 1/(n·p_i), which a fact shows to be ≥ low."""
        claim = equal(expr(of_symbol(Symbol(name))), value)
        return self._declare(self.context, name, Range(low=scalar(low)), claim, "define", least, value=value)

    def root(self, name: str, of: Number, context: Context | None = None) -> Fact:
        """Return symbol² = value for a new symbol ≥ 0, where the value is shown to be ≥ 0."""
        number, here, symbol = scalar(of), context or self.context, of_symbol(Symbol(name))
        own = Range(low=scalar(0), above=here.positive(number))
        fact = self._declare(here, name, own, equal(expr(symbol * symbol), number), "root", value=number)
        self.roots[name] = number
        return fact

    def by_squares(self, squares: Fact, one: Number, other: Number) -> Fact:
        """Return x ≤ y from x² ≤ y² (or x = y from x² = y²), for y ≥ 0 (and x ≥ 0)."""
        x, y = scalar(one), scalar(other)
        claim = equal(expr(x), y) if squares.claim.equality else expr(x) <= expr(y)
        return self.make(claim, squares.context, "by squares", [squares], one=x, other=y)

    def norms(self, one: Fact, other: Fact, u: Lin | Vec, v: Lin | Vec, e: Number, h: Number, sign: int = 1) -> Fact:
        """Return ±E⟨u, v⟩ ≤ e·h from E‖u‖² ≤ e² and E‖v‖² ≤ h² with e, h ≥ 0."""
        here, a, b = self.deepest([one, other], None), scalar(e), scalar(h)
        own: dict[str, Any] = {"u": lin(u), "v": lin(v), "e": a, "h": b, "sign": scalar(sign)}
        return self.make(dot(u, v) * sign <= expr(a * b), here, "norms", [one, other], **own)


def further(data: Mapping[str, Any]) -> list[Shared]:
    """Return the facts that a rule names beside its premises: the step of an induction, the cases of a split."""
    parts = [one for value in data.values() for one in (value if isinstance(value, tuple) else (value,))]
    return [one for one in parts if isinstance(one, Shared)]


def _number(fact: Fact) -> Scalar:
    own = fact.claim.body.number
    if own is None:
        raise ProofError("only a fact about a number multiplies another fact, or any expression")
    return own


# Rules about finite sums: what each says; when it holds is for the checker.


def ends_of(**ends: Number) -> dict[str, Any]:
    """Return the ends of a sum, and its weight, by their names in a line."""
    return {key: scalar(value) for key, value in ends.items()}


def total(
    kernel: Kernel, fact: F, name: str, lo: Number, hi: Number, weight: Number = 1, context: Context | None = None
) -> F:
    """Return Σ weight·fact over lo ≤ name < hi, of a claim or of an equation of vectors.

    Raises
    ------
    ProofError
        If the range may be reversed, the weight may be negative, or the fact is not one about all these indices.
    """
    own, here = ends_of(lo=lo, hi=hi, weight=weight), kernel.deepest([fact], context)
    return kernel.on_both_sides(
        fact, lambda side: summed(name, lo, hi, side * own["weight"]), here, "total", index=name, **own
    )


def sums(kernel: Kernel, fact: Fact, *indices: tuple[Any, ...]) -> Fact:
    """Return weighted sums of a fact, the innermost first: (name, from, to), or (name, from, to, weight)."""
    for one in indices:
        fact = total(kernel, fact, *one)
    return fact


def telescope(
    kernel: Kernel, name: str, lo: Number, hi: Number, of: Expr | Number, context: Context | None = None
) -> Fact:
    """Return Σ over lo ≤ k < hi of E(k + 1) − E(k) = E(hi) − E(lo); with numbers E it confirms a closed form."""
    own, ends = expr(of), ends_of(lo=lo, hi=hi)
    steps = own.put({name: of_symbol(Symbol(name)) + 1}) - own
    claim = equal(finite_sum(name, lo, hi, steps), own.put({name: ends["hi"]}) - own.put({name: ends["lo"]}))
    return kernel.make(claim, context or kernel.context, "telescope", index=name, of=own, **ends)


def telescope_vector(
    kernel: Kernel, name: str, lo: Number, hi: Number, of: Lin, context: Context | None = None
) -> VectorFact:
    """Return Σ over lo ≤ k < hi of v(k + 1) − v(k) = v(hi) − v(lo)."""
    ends = ends_of(lo=lo, hi=hi)
    left = vector_sum(name, lo, hi, of.put({name: of_symbol(Symbol(name)) + 1}) - of)
    right = of.put({name: ends["hi"]}) - of.put({name: ends["lo"]})
    return kernel.make_vector(left, right, context or kernel.context, "telescope", index=name, of=of, **ends)


def split_sum(
    kernel: Kernel, name: str, lo: Number, middle: Number, hi: Number, of: Expr | Number, context: Context | None = None
) -> Fact:
    """Return Σ over lo ≤ k < hi = Σ over lo ≤ k < middle + Σ over middle ≤ k < hi."""
    own, ends = expr(of), ends_of(lo=lo, middle=middle, hi=hi)
    claim = equal(finite_sum(name, lo, hi, own), finite_sum(name, lo, middle, own) + finite_sum(name, middle, hi, own))
    return kernel.make(claim, context or kernel.context, "split", index=name, of=own, **ends)


def shift(
    kernel: Kernel, name: str, lo: Number, hi: Number, by: Number, of: Expr | Number, context: Context | None = None
) -> Fact:
    """Return Σ over lo ≤ k < hi of E(k) = Σ over lo + c ≤ k < hi + c of E(k − c).

    Raises
    ------
    ProofError
        If c is not shown to be whole, or depends on k.
    """
    own, ends = expr(of), ends_of(lo=lo, hi=hi, by=by)
    moved = own.put({name: of_symbol(Symbol(name)) - ends["by"]})
    there = finite_sum(name, ends["lo"] + by, ends["hi"] + by, moved)
    claim = equal(finite_sum(name, lo, hi, own), there)
    return kernel.make(claim, context or kernel.context, "shift", index=name, of=own, **ends)


def windows(
    kernel: Kernel,
    fact: Fact,
    inner: str,
    outer: str,
    first: Number,
    longest: Number,
    hi: Number,
    because: tuple[Fact, ...] = (),
) -> Fact:
    """Return Σ over k < hi of Σ over first(k) ≤ j < k of E(j) ≤ longest·Σ over j < hi of E(j).

    Every j lies in the windows of at most ``longest`` k: those with j < k ≤ j + longest. So it is enough that
    E(j) ≥ 0 for all j, that 0 ≤ first(k) ≤ k, and that k − first(k) ≤ longest.

    Parameters
    ----------
    fact
        E(j) ≥ 0 for every j ≥ 0.
    inner, outer
        The names of j and k, both whole and at least 0.
    first
        Where the window of k begins, with k in it.
    longest
        A whole number.
    because
        Facts about the window that its ranges alone do not tell.

    Raises
    ------
    ProofError
        If one of these is not shown.
    """
    own, k = ends_of(first=first, longest=longest, hi=hi), of_symbol(Symbol(outer))
    used: list[Fact] = []
    for value in (own["first"], k - first, own["longest"] - k + first):
        used += [one for one in because if _says(one, value)][:1]
    body = fact.claim.body
    claim = finite_sum(outer, 0, hi, finite_sum(inner, first, k, body)) <= finite_sum(inner, 0, hi, body) * longest
    here = kernel.deepest([fact, *because], None)
    return kernel.make(claim, here, "windows", [fact, *used], inner=inner, outer=outer, **own)


def _says(fact: Fact, value: Number) -> bool:
    """Return whether a fact says that a number is ≥ 0; an equation says it with either sign."""
    own = fact.claim.body.number
    return own is not None and (same(own, value) or (fact.claim.equality and same(own, -value)))


# Rules about chance: noise that is drawn after what it meets, and one random event an iteration.

_NOISE = {"bounded-variance"}


def orthogonal(kernel: Kernel, noise: Vec, other: Vec, context: Context | None = None) -> Fact:
    """Return E⟨ξ, v⟩ = 0, where v is known when ξ is drawn.

    Raises
    ------
    ProofError
        If ξ is no noise, or v may be known only later: then it may depend on ξ.
    """
    here, claim = context or kernel.context, equal(dot(noise, other), 0)
    return kernel.make(claim, here, "orthogonal", axioms=_NOISE, noise=lin(noise), other=lin(other))


def uncorrelated(
    kernel: Kernel,
    noise: Lin | Vec,
    name: str,
    lo: Number,
    hi: Number,
    weight: Number = 1,
    context: Context | None = None,
) -> Fact:
    """Return E‖Σ w_i·ξ[…, i, …]‖² = Σ w_i²·E‖ξ[…, i, …]‖².

    Each noise is of a sample of its own: of two that are drawn one after the other the later one is unbiased whatever
    the earlier one was, and two that are drawn at one time are independent.

    Parameters
    ----------
    noise
        ξ with the symbol ``name`` itself as one of its indices; the others do not depend on it.

    Raises
    ------
    ProofError
        If two terms could be one and the same noise.
    """
    vector, own = lin(noise), scalar(weight)
    claim = equal(
        squared(vector_sum(name, lo, hi, vector * own)), finite_sum(name, lo, hi, squared(vector) * (own * own))
    )
    here, ends = context or kernel.context, ends_of(lo=lo, hi=hi, weight=weight)
    return kernel.make(claim, here, "uncorrelated", axioms=_NOISE, noise=vector, index=name, **ends)


def mixture(kernel: Kernel, law: Law, value: Expr, k: Number, context: Context | None = None) -> Fact:
    """Return E q(after event k) as the mean over who acts: p·q(branch) + (1 − p)·q(before).

    Raises
    ------
    ProofError
        If q mixes registers that different events change, or holds a vector that may depend on the event.
    """
    now, here = scalar(k), context or kernel.context
    with refused():
        found = events.becomes(kernel.replay, events.Law.read(law.told), value.terms, now, here.checked)
    return kernel.make(equal(value, Expr(found)), here, "mixture", axioms=law.axioms, law=law, now=now)


# Rules about equations between vectors: combinations, sums in two parts, and what has no square.


def combine_vectors(
    kernel: Kernel,
    left: Lin,
    right: Lin,
    parts: Sequence[tuple[Number, VectorFact]],
    zeros: Sequence[tuple[Fact, Lin]] = (),
) -> VectorFact:
    """Return left = right, where left − right = Σ multiplier·(left − right of a fact) + Σ zero·vector.

    Parameters
    ----------
    zeros
        Equations between numbers, each with the vector that its difference is multiplied with.

    Raises
    ------
    ProofError
        If something is left over.
    """
    parts = [(number, fact) for number, fact in parts if not (fact.left - fact.right).zero]
    premises: list[Fact | VectorFact] = [*(fact for _, fact in parts), *(fact for fact, _ in zeros)]
    multipliers, vectors = tuple(scalar(number) for number, _ in parts), tuple(vector for _, vector in zeros)
    here = kernel.deepest(premises, None)
    return kernel.make_vector(left, right, here, "combine vectors", premises, multipliers=multipliers, vectors=vectors)


def split_vector(kernel: Kernel, name: str, lo: Number, middle: Number, hi: Number, of: Lin) -> VectorFact:
    """Return Σ over lo ≤ k < hi of v(k) = Σ over lo ≤ k < middle + Σ over middle ≤ k < hi."""
    left, right = vector_sum(name, lo, hi, of), vector_sum(name, lo, middle, of) + vector_sum(name, middle, hi, of)
    ends = ends_of(lo=lo, middle=middle, hi=hi)
    return kernel.make_vector(left, right, kernel.context, "split vector", index=name, of=of, **ends)


def nothing(kernel: Kernel, fact: Fact, of: Lin) -> VectorFact:
    """Return v = 0 from E‖v‖² ≤ 0."""
    return kernel.make_vector(of, Lin({}), fact.context, "nothing", [fact], of=of)


# Symbols that stand for e^v: what is known of them is that exp is convex, increasing, and 1 at 0.


def exponential(kernel: Kernel, name: str, value: Number, index: str | None = None) -> Scalar:
    """Declare a symbol that stands for e^value, and return it; with an index a family, for all index ≥ 0.

    Parameters
    ----------
    value
        The exponent. A number with |value| ≤ 1 gives the symbol an enclosure of width below 10⁻¹⁵ as its range.
    index
        A symbol that the exponent depends on, whose range begins at 0.

    Raises
    ------
    ProofError
        If the exponent is not shown to have a value.
    """
    own, here = scalar(value), kernel.context
    constant = own.constant
    if constant is not None:
        low, high = enclosure(Fraction(constant))
        known = Range(low=scalar(low), high=scalar(high))
    else:
        positive = here.nonnegative(own)
        known = Range(low=scalar(1 if positive else 0), above=not positive or here.positive(own))
    if index is None:
        here.declare(name, known, exponent=own)
        return variable(name)
    here.declare(name, replace(known, arity=1, guarded=True), exponent=own.put({index: FIRST}))
    return variable(name, variable(index))


def exponent(kernel: Kernel, of: Number) -> Scalar:
    """Return v of a product of powers of such symbols, which is e^v.

    Raises
    ------
    ProofError
        If it is none.
    """
    own = scalar(of)
    with kernel.trial():
        return exponentials.exponent_of(kernel.replay, own, kernel.context.checked)


def tangent(kernel: Kernel, of: Number, context: Context | None = None) -> Fact:
    """Return e^v ≥ 1 + v."""
    own = scalar(of)
    return kernel.make(expr(own) >= expr(1 + exponent(kernel, own)), context or kernel.context, "exp tangent", of=own)


def monotone(kernel: Kernel, small: Number, large: Number, context: Context | None = None) -> Fact:
    """Return e^v ≤ e^w, where v ≤ w is shown."""
    one, other = scalar(small), scalar(large)
    return kernel.make(expr(one) <= expr(other), context or kernel.context, "exp monotone", small=one, large=other)


def chord(kernel: Kernel, of: Number, share: Number, end: Number, context: Context | None = None) -> Fact:
    """Return e^(q·s) ≤ 1 − q + q·e^s, where 0 ≤ q ≤ 1 is shown: exp lies below its chord from 0 to s."""
    own, q, other = scalar(of), scalar(share), scalar(end)
    claim = expr(own) <= expr(1 - q + q * other)
    return kernel.make(claim, context or kernel.context, "exp chord", of=own, share=q, end=other)


def enclosure(value: Fraction) -> tuple[Fraction, Fraction]:
    """Return numbers between which e^value lies, for |value| ≤ 1."""
    with refused():
        low, high = exponentials.enclosure(value)
    # A few digits suffice, and keep later products short.
    unit = 10**15
    return Fraction(math.floor(low * unit), unit), Fraction(math.ceil(high * unit), unit)
