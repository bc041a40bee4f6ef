"""Rules about equations between vectors: combinations, sums in two parts, and what has no square."""

from collections.abc import Sequence

from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import Number, scalar
from boundlab.prove._sums import ends_of
from boundlab.prove._terms import Lin, vector_sum


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
