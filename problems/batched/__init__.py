"""Problems on tensors, many tapes at once; each family's own module says what it is in NumPy."""

from boundlab.problems.batched.max_affine import BatchedMaxAffine as BatchedMaxAffine
from boundlab.problems.batched.quadratic import BatchedQuadratic as BatchedQuadratic
from boundlab.problems.batched.risk import BatchedRisk as BatchedRisk
from boundlab.problems.batched.separable import BatchedSeparable as BatchedSeparable
