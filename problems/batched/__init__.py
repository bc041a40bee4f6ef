"""Problems on tensors, many tapes at once."""

from boundlab.problems.batched.clients import BatchedClients as BatchedClients
from boundlab.problems.batched.risk import BatchedRisk as BatchedRisk
