"""Rules about finite sums."""

from boundlab.prove._context import Context
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import Number, Scalar, Symbol, of_symbol, scalar
from boundlab.prove._terms import Claim, Expr, Lin, equal, expr, finite_sum, vector_sum


def inside(
    kernel: Kernel, name: str, lo: Scalar, hi: Scalar, here: Context, fact: Fact | VectorFact | None
) -> set[str]:
    """Make sure that name may run through lo ≤ name < hi; return what that depends on."""
    known = here.find(name)
    if known is None or not known.integer or known.arity:
        raise ProofError(f"a sum is over a whole symbol, which {name} is not")
    for end in (lo, hi):
        here.defined(end)
        if not here.integer(end):
            raise ProofError(f"{end}, an end of a sum over {name}, is not shown to be whole")
        if name in here.closure(end.names()):
            raise ProofError(f"the range of a sum over {name} depends on {name}")
    if name in here.restricted() or (fact is not None and kernel.fixed(name, fact)):
        where = here.why or "vectors depend on it"
        raise ProofError(f"{name} is fixed where {where}: nothing is summed over it there")
    if fact is not None:
        about_every(fact, name)
    kernel.need(hi - lo, here, f"the range of the sum over {name} may be reversed")
    names = lo.names() | hi.names()
    # A range of one number may have one object for both ends: which end it is, the place says.
    for limit, first, sign, open_ in ((known.low, lo, 1, known.above), (known.high, hi - 1, -1, known.below)):
        if limit is None:
            continue
        fewer, gap = f"the fact is about fewer {name} than are summed", (first - limit) * sign
        kernel.need(gap, here, fewer)
        if open_ and not here.positive(gap):
            raise ProofError(f"{fewer}: {gap} > 0 is not shown")
        names |= limit.names()
    return names


def about_every(fact: Fact | VectorFact, name: str) -> None:
    """Make sure that a fact holds for every value of a symbol: no other one has a value for some of them only."""
    for other in fact.context.closure(fact.names) - {name}:
        if name in fact.context.needs(other):
            raise ProofError(f"{other} depends on {name}: the fact is not one about every {name}")


def total(
    kernel: Kernel, fact: Fact, name: str, lo: Number, hi: Number, weight: Number = 1, context: Context | None = None
) -> Fact:
    """Return Σ weight·fact over lo ≤ name < hi.

    Raises
    ------
    ProofError
        If the range may be reversed, the weight may be negative, or the fact is not one about all these indices.
    """
    here = kernel.deepest([fact], context)
    low, high, own = scalar(lo), scalar(hi), scalar(weight)
    # In a smaller case a weight may be ≥ 0 for some of these indices only.
    names = inside(kernel, name, low, high, here, fact)
    here.defined(own)
    _independent(here, expr(own), name)
    shown = fact.shown
    if not fact.claim.equality:
        shown = min(shown, kernel.need(own, here, f"the weight of {name} may be negative")[0])
    left, right = (finite_sum(name, low, high, side * own) for side in (fact.claim.left, fact.claim.right))
    return kernel.make(
        Claim(left, fact.claim.relation, right),
        here,
        "total",
        [fact],
        names=names | own.names() - {name},
        without=[name],
        shown=shown,
        index=name,
        lo=low,
        hi=high,
        weight=own,
    )


def total_vector(kernel: Kernel, fact: VectorFact, name: str, lo: Number, hi: Number, weight: Number = 1) -> VectorFact:
    """Return Σ weight·left = Σ weight·right over lo ≤ name < hi."""
    low, high, own, here = scalar(lo), scalar(hi), scalar(weight), fact.context
    names = inside(kernel, name, low, high, here, fact)
    here.defined(own)
    _independent(here, expr(own), name)
    sides = [vector_sum(name, low, high, side * own) for side in (fact.left, fact.right)]
    made = kernel.make_vector(
        sides[0],
        sides[1],
        here,
        "total",
        (),
        names=names | own.names() - {name},
        index=name,
        lo=low,
        hi=high,
        weight=own,
    )
    return kernel._with_premise(made, fact, fact.names - {name})  # type: ignore[no-any-return]


def telescope(
    kernel: Kernel, name: str, lo: Number, hi: Number, of: Expr | Number, context: Context | None = None
) -> Fact:
    """Return Σ over lo ≤ k < hi of E(k + 1) − E(k) = E(hi) − E(lo); with numbers E it confirms a closed form."""
    here, low, high, own = context or kernel.context, scalar(lo), scalar(hi), expr(of)
    kernel.well_formed(own, here)
    names = inside(kernel, name, low, high, here, None) | (own.names() - {name})
    _independent(here, own, name)
    following = own.put({name: of_symbol(Symbol(name)) + 1})
    kernel.well_formed(following, here)
    claim = equal(finite_sum(name, low, high, following - own), own.put({name: high}) - own.put({name: low}))
    return kernel.make(claim, here, "telescope", names=names, index=name, lo=low, hi=high, of=own)


def telescope_vector(
    kernel: Kernel, name: str, lo: Number, hi: Number, of: Lin, context: Context | None = None
) -> VectorFact:
    """Return Σ over lo ≤ k < hi of v(k + 1) − v(k) = v(hi) − v(lo)."""
    here, low, high = context or kernel.context, scalar(lo), scalar(hi)
    kernel.well_formed_vector(of, here)
    names = inside(kernel, name, low, high, here, None) | (of.names() - {name})
    _independent(here, of, name)
    following = of.put({name: of_symbol(Symbol(name)) + 1})
    left, right = vector_sum(name, low, high, following - of), of.put({name: high}) - of.put({name: low})
    return kernel.make_vector(left, right, here, "telescope", names=names, index=name, lo=low, hi=high, of=of)


def split_sum(
    kernel: Kernel, name: str, lo: Number, middle: Number, hi: Number, of: Expr | Number, context: Context | None = None
) -> Fact:
    """Return Σ over lo ≤ k < hi = Σ over lo ≤ k < middle + Σ over middle ≤ k < hi."""
    here, low, mid, high, own = context or kernel.context, scalar(lo), scalar(middle), scalar(hi), expr(of)
    kernel.well_formed(own, here)
    names = inside(kernel, name, low, mid, here, None) | inside(kernel, name, mid, high, here, None)
    _independent(here, own, name)
    claim = equal(finite_sum(name, low, high, own), finite_sum(name, low, mid, own) + finite_sum(name, mid, high, own))
    return kernel.make(
        claim, here, "split", names=names | (own.names() - {name}), index=name, lo=low, middle=mid, hi=high, of=own
    )


def shift(
    kernel: Kernel, name: str, lo: Number, hi: Number, by: Number, of: Expr | Number, context: Context | None = None
) -> Fact:
    """Return Σ over lo ≤ k < hi of E(k) = Σ over lo + c ≤ k < hi + c of E(k − c).

    Raises
    ------
    ProofError
        If c is not shown to be whole, or depends on k.
    """
    here, low, high, step, own = context or kernel.context, scalar(lo), scalar(hi), scalar(by), expr(of)
    kernel.well_formed(own, here)
    names = inside(kernel, name, low, high, here, None)
    _independent(here, own, name)
    if not here.integer(step) or name in here.closure(step.names()):
        raise ProofError(f"a sum is shifted by a whole number that does not depend on {name}, got {step}")
    moved = own.put({name: of_symbol(Symbol(name)) - step})
    claim = equal(finite_sum(name, low, high, own), finite_sum(name, low + step, high + step, moved))
    return kernel.make(
        claim,
        here,
        "shift",
        names=names | (own.names() - {name}) | step.names(),
        index=name,
        lo=low,
        hi=high,
        by=step,
        of=own,
    )


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
    here = kernel.deepest([fact, *because], None)
    start, most, high = scalar(first), scalar(longest), scalar(hi)
    k = of_symbol(Symbol(outer))
    if inner == outer or inner in here.closure(start.names() | most.names()) or outer in here.closure(most.names()):
        raise ProofError("the window of k may depend on k, and on nothing else that is summed over")
    if fact.claim.equality or outer in fact.names:
        raise ProofError("the terms are to be shown ≥ 0, for every j and without regard to k")
    names = inside(kernel, inner, scalar(0), high, fact.context, fact) | inside(
        kernel, outer, scalar(0), high, here, None
    )
    for end in (start, most):
        here.defined(end)
        if not here.integer(end):
            raise ProofError(f"{end}, an end of a window, is not shown to be whole")
    # What is shown of k and the window is to hold for every k, with no other symbol that moves with k.
    _independent(here, expr(start), outer)
    for one in because:
        about_every(one, outer)
        if outer in here.restricted() or kernel.fixed(outer, one) or inner in one.names:
            raise ProofError(f"{one} is not shown for every {outer}, without regard to {inner}")
    used: list[Fact] = []
    shown = fact.shown
    for value, what in (
        (start, "a window may begin below 0"),
        (k - start, "a window may be reversed"),
        (most - k + start, "a window may be longer"),
    ):
        found, _, facts = kernel.need(value, here, what, because)
        shown, used = min(shown, found), [*used, *facts]
    body = fact.claim.body
    double = finite_sum(outer, 0, high, finite_sum(inner, start, k, body))
    return kernel.make(
        double <= finite_sum(inner, 0, high, body) * most,
        here,
        "windows",
        [fact, *used],
        names=names | (start.names() | most.names()) - {inner, outer},
        without=[inner, outer],
        shown=shown,
        inner=inner,
        outer=outer,
        first=start,
        longest=most,
        hi=high,
    )


def _independent(here: Context, own: Expr | Lin, name: str) -> None:
    for other in here.closure(own.names()) - {name}:
        if name in here.needs(other):
            raise ProofError(f"{other} depends on {name}, which is summed over")
