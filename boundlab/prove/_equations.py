"""Rules about equations between vectors: combinations, sums in two parts, and what has no square."""

from collections.abc import Sequence

from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._kernel import Kernel, same_claim
from boundlab.prove._scalars import Number, scalar
from boundlab.prove._sums import inside
from boundlab.prove._terms import Lin, squared, vector_sum


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


def nothing(kernel: Kernel, fact: Fact, of: Lin) -> VectorFact:
    """Return v = 0 from E‖v‖² ≤ 0."""
    same_claim(fact.claim, squared(of) <= 0, "a mean square that is 0")
    return kernel.make_vector(of, Lin({}), fact.context, "nothing", [fact], of=of)
