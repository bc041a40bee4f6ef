"""Machine-checked proofs; imported as ``boundlab.proofs``.

A proof is a list of statements, each with a computation that verifies or refutes it
(:mod:`boundlab.proofs._proof`).
The entry points of the group ``boundlab.proofs`` register them.
"""
