"""Machine-checked proofs; imported as ``boundlab.proofs``.

A proof is a list of statements, each with a computation that verifies or refutes it
(:mod:`boundlab.proofs._proof`).
The entry points of the group ``boundlab.proofs`` register them.
"""

from boundlab.proofs._proof import Finding as Finding
from boundlab.proofs._proof import Proof as Proof
from boundlab.proofs._proof import Step as Step
from boundlab.proofs._proof import Verdict as Verdict
