"""Convergence proofs, decided step by step by a small kernel.

A random vector is a point of L²(P), so an expectation is an inner product; a claim is a linear combination of such
products, of function values, of numbers and of finite sums of these, ≥ 0 or = 0 for all values of its symbols. Facts
are made by :class:`Kernel` alone. docs/prove.md has every rule and what it refuses.
"""

from boundlab.prove._chance import uncorrelated as uncorrelated
from boundlab.prove._context import Context as Context
from boundlab.prove._context import Range as Range
from boundlab.prove._equations import combine_vectors as combine_vectors
from boundlab.prove._equations import nothing as nothing
from boundlab.prove._equations import split_vector as split_vector
from boundlab.prove._errors import ProofError as ProofError
from boundlab.prove._exponentials import chord as chord
from boundlab.prove._exponentials import exponential as exponential
from boundlab.prove._exponentials import monotone as monotone
from boundlab.prove._exponentials import tangent as tangent
from boundlab.prove._facts import Fact as Fact
from boundlab.prove._facts import VectorFact as VectorFact
from boundlab.prove._kernel import Kernel as Kernel
from boundlab.prove._meanings import letters as letters
from boundlab.prove._scalars import Scalar as Scalar
from boundlab.prove._scalars import scalar as scalar
from boundlab.prove._scalars import variable as variable
from boundlab.prove._sums import shift as shift
from boundlab.prove._sums import split_sum as split_sum
from boundlab.prove._sums import telescope as telescope
from boundlab.prove._sums import telescope_vector as telescope_vector
from boundlab.prove._sums import total as total
from boundlab.prove._sums import total_vector as total_vector
from boundlab.prove._sums import windows as windows
from boundlab.prove._terms import Claim as Claim
from boundlab.prove._terms import Expr as Expr
from boundlab.prove._terms import Lin as Lin
from boundlab.prove._terms import dot as dot
from boundlab.prove._terms import equal as equal
from boundlab.prove._terms import expr as expr
from boundlab.prove._terms import finite_sum as finite_sum
from boundlab.prove._terms import squared as squared
from boundlab.prove._terms import vector_sum as vector_sum
from boundlab.prove.document import Proof as Proof
from boundlab.prove.document import Script as Script
from boundlab.prove.document import Status as Status
from boundlab.prove.document import Step as Step
from boundlab.prove.outcome import Outcome as Outcome
from boundlab.prove.run import run as run
