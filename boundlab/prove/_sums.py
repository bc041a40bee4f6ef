"""Rules about finite sums: what each says; when it holds is for the checker."""

from typing import Any

from boundlab.prove._context import Context
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._kernel import F, Kernel
from boundlab.prove._scalars import Number, Symbol, of_symbol, same, scalar
from boundlab.prove._terms import Expr, Lin, equal, expr, finite_sum, summed, vector_sum


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
