"""Rules about norms themselves: E‖v‖ is the value of one more function, called norm, at a vector with a name.

What a rule needs at every outcome, not only in the mean, it takes from a fact that rests on nothing about chance: such
a fact is a combination of what holds at each outcome.
"""

from collections.abc import Sequence

from boundlab.prove._context import Context, Range
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._kernel import Kernel, same_claim
from boundlab.prove._scalars import Number, Scalar, Symbol, of_symbol, scalar, variable
from boundlab.prove._sums import inside
from boundlab.prove._terms import (
    Expr,
    Lin,
    Sum,
    Value,
    Vec,
    dot,
    equal,
    expr,
    lin,
    squared,
    summed,
    value_at,
    vector_sum,
)
from boundlab.signs import SignProof

NORM = "norm"
# What an outcome has by itself; neither means over noise nor over events are among it.
_AT_EVERY_OUTCOME = frozenset({"convex", "strongly-convex", "smooth", "lipschitz", "minimiser", "algorithm"})


def norm(of: Lin | Vec) -> Expr:
    """Return E‖v‖ of a vector with a name."""
    return value_at(NORM, [], of)


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
    here = kernel.deepest([*(fact for _, fact in parts), *(fact for fact, _ in zeros)], None)
    rest, names, kept, values = left - right, set[str](), [], []
    parts = [(number, fact) for number, fact in parts if not (fact.left - fact.right).zero]
    for number, vector_fact in parts:
        own = scalar(number)
        here.defined(own)
        names |= own.names()
        rest = rest - (vector_fact.left - vector_fact.right) * own
        kept.append(own)
    for fact, vector in zeros:
        body = fact.claim.body.number
        if body is None or not fact.claim.equality:
            raise ProofError("only an equation between numbers multiplies a vector")
        rest = rest - vector * body
        names |= vector.names()
        values.append(vector)
    if not rest.zero:
        raise ProofError(f"left over: {rest}")
    return kernel.make_vector(
        left,
        right,
        here,
        "combine vectors",
        [*(fact for _, fact in parts), *(fact for fact, _ in zeros)],
        names=names,
        multipliers=tuple(kept),
        vectors=tuple(values),
    )


def split_vector(kernel: Kernel, name: str, lo: Number, middle: Number, hi: Number, of: Lin) -> VectorFact:
    """Return Σ over lo ≤ k < hi of v(k) = Σ over lo ≤ k < middle + Σ over middle ≤ k < hi."""
    here, low, mid, high = kernel.context, scalar(lo), scalar(middle), scalar(hi)
    kernel.well_formed_vector(of, here)
    names = inside(kernel, name, low, mid, here, None) | inside(kernel, name, mid, high, here, None)
    left = vector_sum(name, low, high, of)
    right = vector_sum(name, low, mid, of) + vector_sum(name, mid, high, of)
    return kernel.make_vector(
        left,
        right,
        here,
        "split vector",
        names=names | (of.names() - {name}),
        index=name,
        lo=low,
        middle=mid,
        hi=high,
        of=of,
    )


def empty_vector(kernel: Kernel, name: str, lo: Number, hi: Number, of: Lin, context: Context) -> VectorFact:
    """Return Σ over lo ≤ k < hi of v(k) = 0, where lo = hi."""
    low, high = scalar(lo), scalar(hi)
    names = inside(kernel, name, low, high, context, None)
    kernel.need(low - high, context, "a sum without terms may have some")
    return kernel.make_vector(
        vector_sum(name, low, high, of),
        Lin({}),
        context,
        "empty vector",
        names=names | (of.names() - {name}),
        index=name,
        lo=low,
        hi=high,
        of=of,
    )


def nothing(kernel: Kernel, fact: Fact, of: Lin) -> VectorFact:
    """Return v = 0 from E‖v‖² ≤ 0."""
    same_claim(fact.claim, squared(of) <= 0, "a mean square that is 0")
    return kernel.make_vector(of, Lin({}), fact.context, "nothing", [fact], of=of)


def triangle(kernel: Kernel, fact: VectorFact, because: Sequence[Fact] = ()) -> Fact:
    """Return E‖v‖ ≤ Σ |c|·E‖u‖ from v = Σ c·u, a finite sum of vectors among the terms or not.

    Parameters
    ----------
    because
        Facts about signs of coefficients that the ranges alone do not tell.

    Raises
    ------
    ProofError
        If the sign of a coefficient, or the order of the ends of a sum, is not shown.
    """
    here, right, worst = kernel.deepest([fact, *because], None), expr(0), SignProof.BY_CERTIFICATE
    used: list[Fact] = []
    for atom, coefficient in fact.right.terms.items():
        found, size, facts = _absolute(kernel, coefficient, here, because)
        worst, used = min(worst, found), [*used, *facts]
        if isinstance(atom, Sum):
            if not isinstance(atom.atom, Vec) or len(atom.bounds) != 1 or Scalar(atom.weight).constant != 1:
                raise ProofError(f"{atom} is no plain sum of vectors")
            ((lo, hi),) = atom.bounds
            worst = min(worst, kernel.need(Scalar(hi) - Scalar(lo), here, "the range of a sum may be reversed")[0])
            right = right + summed(atom.bounds, Value(NORM, (), atom.atom)) * size
        else:
            right = right + norm(atom) * size
    return kernel.make(norm(_single(fact.left)) <= right, here, "triangle", [fact, *used], shown=worst)


def _absolute(
    kernel: Kernel, value: Scalar, here: Context, because: Sequence[Fact] = ()
) -> tuple[SignProof, Scalar, list[Fact]]:
    """Return |value|, where its sign is shown."""
    try:
        found, _, facts = kernel.need(value, here, "a sign", because)
    except ProofError:
        found, _, facts = kernel.need(-value, here, f"the sign of {value} is not shown", because)
        return found, -value, facts
    return found, value, facts


def same_norm(kernel: Kernel, fact: VectorFact) -> Fact:
    """Return E‖v‖ = |c|·E‖u‖ from v = c·u."""
    if len(fact.right.terms) != 1:
        raise ProofError(f"{fact.right} is no multiple of one vector")
    ((atom, size),) = fact.right.terms.items()
    found, size, _ = _absolute(kernel, size, fact.context)
    if not isinstance(atom, Vec):
        raise ProofError(f"{fact.right} is no multiple of one vector")
    return kernel.make(
        equal(norm(_single(fact.left)), norm(atom) * size), fact.context, "same norm", [fact], shown=found
    )


def mean_norm(kernel: Kernel, fact: Fact, of: Lin, size: Number) -> Fact:
    """Return E‖v‖ ≤ e from E‖v‖² ≤ e² with e ≥ 0 (Jensen)."""
    own = scalar(size)
    same_claim(fact.claim, squared(of) <= expr(own * own), "a bound on a mean square")
    shown, _, _ = kernel.need(own, fact.context, "a norm is bounded by what may be negative")
    return kernel.make(norm(of) <= expr(own), fact.context, "mean norm", [fact], shown=shown, of=of, size=own)


def shorter(kernel: Kernel, fact: Fact, one: Lin, other: Lin, factor: Number) -> Fact:
    """Return E‖u‖ ≤ c·E‖v‖ from ‖u‖² ≤ c²·‖v‖² at every outcome, c ≥ 0."""
    own = scalar(factor)
    _at_every_outcome(kernel, fact)
    same_claim(fact.claim, squared(one) <= squared(other) * (own * own), "a comparison of two squares")
    shown, _, _ = kernel.need(own, fact.context, "a norm is bounded by what may be negative")
    return kernel.make(
        norm(one) <= norm(other) * own, fact.context, "shorter", [fact], shown=shown, u=one, v=other, factor=own
    )


def cauchy(kernel: Kernel, fact: Fact, one: Lin, other: Lin, size: Number, sign: int = 1) -> Fact:
    """Return ±E⟨u, v⟩ ≤ c·E‖u‖ from ‖v‖² ≤ c² at every outcome, c ≥ 0."""
    own = scalar(size)
    _at_every_outcome(kernel, fact)
    same_claim(fact.claim, squared(other) <= expr(own * own), "a bound on a norm")
    shown, _, _ = kernel.need(own, fact.context, "a norm is bounded by what may be negative")
    if sign not in (1, -1):
        raise ProofError("the sign is 1 or -1")
    return kernel.make(
        dot(one, other) * sign <= norm(one) * own,
        fact.context,
        "cauchy",
        [fact],
        shown=shown,
        u=one,
        v=other,
        size=own,
        sign=scalar(sign),
    )


def below_square(kernel: Kernel, of: Lin, weight: Number) -> Fact:
    """Return E‖v‖ ≤ t/2 + E‖v‖²/(2t) for t > 0."""
    own, here = scalar(weight), kernel.context
    if not here.positive(own):
        raise ProofError(f"{own} is not shown to be positive")
    return kernel.make(
        norm(of) <= squared(of) / (2 * own) + own / 2, here, "below square", names=own.names(), of=of, weight=own
    )


def no_norm_is_negative(kernel: Kernel, of: Lin) -> Fact:
    """Return E‖v‖ ≥ 0."""
    return kernel.make(norm(of) >= 0, kernel.context, "norm", of=of)


def lengths(kernel: Kernel, name: str, vector: str, index: str) -> Fact:
    """Return ‖v[i]‖² = length[i]² for new numbers length[i] ≥ 0, where the vectors are not random.

    Raises
    ------
    ProofError
        If they are.
    """
    own = lin(Vec(vector, (of_symbol(Symbol(index)).top,)))
    known = kernel.vectors.check(_single(own), kernel.context)
    if known.clock is not None or known.drawn is not None:
        raise ProofError(f"{vector} is random: its norm is no number")
    kernel.context.declare(name, Range(low=scalar(0), arity=1))
    return kernel.make(
        equal(squared(own), variable(name, variable(index)) ** 2), kernel.context, "lengths", name=name, of=own
    )


def length(kernel: Kernel, fact: Fact) -> Fact:
    """Return E‖v‖ = length from what :func:`lengths` returned."""
    if fact.rule != "lengths":
        raise ProofError("the fact does not say what the length of a vector is")
    of = fact.data["of"]
    index = Scalar(_single(of).indices[0])
    return kernel.make(equal(norm(of), variable(fact.data["name"], index)), fact.context, "length", [fact])


def _at_every_outcome(kernel: Kernel, fact: Fact) -> None:
    # What a hypothesis supposes is a mean, whatever it will turn out to rest on.
    if any(kernel.is_hypothesis(one) for one in fact.context.chain()):
        raise ProofError("what is supposed in an induction is supposed in the mean, not at every outcome")
    if more := sorted(fact.axioms - _AT_EVERY_OUTCOME):
        raise ProofError(f"the fact holds in the mean, by {', '.join(more)}, not at every outcome")


def _single(of: Lin) -> Vec:
    if of.vec is None:
        raise ProofError(f"the norm is taken of a vector with a name, got {of}")
    return of.vec
