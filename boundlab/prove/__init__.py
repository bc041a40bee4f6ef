"""Convergence proofs, decided step by step by a small kernel.

A random vector is a point of L²(P), so an expectation is an inner product; a claim is a linear combination of such
products, of function values, of numbers and of finite sums of these, ≥ 0 or = 0 for all values of its symbols. Facts
are made by :class:`Kernel` alone. docs/prove.md has every rule and what it refuses.
"""

from boundlab.prove._kernel import (
    Kernel as Kernel,
    chord as chord,
    combine_vectors as combine_vectors,
    exponential as exponential,
    monotone as monotone,
    nothing as nothing,
    shift as shift,
    split_sum as split_sum,
    split_vector as split_vector,
    sums as sums,
    tangent as tangent,
    telescope as telescope,
    telescope_vector as telescope_vector,
    total as total,
    uncorrelated as uncorrelated,
    windows as windows,
)
from boundlab.prove._scalars import ProofError as ProofError, Scalar as Scalar, scalar as scalar, variable as variable
from boundlab.prove._terms import (
    Claim as Claim,
    Context as Context,
    Expr as Expr,
    Fact as Fact,
    Lin as Lin,
    VectorFact as VectorFact,
    dot as dot,
    equal as equal,
    expr as expr,
    finite_sum as finite_sum,
    squared as squared,
    vector_sum as vector_sum,
)
from boundlab.prove.document import (
    Outcome as Outcome,
    Proof as Proof,
    Script as Script,
    Status as Status,
    Step as Step,
    letters as letters,
)
from boundlab.prove.run import run as run
from boundlab.recheck.kernel import Range as Range
