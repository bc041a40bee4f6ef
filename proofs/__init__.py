"""Machine-checked proofs; imported as ``boundlab.proofs``.

A proof is a :class:`boundlab.prove.Script`: a function that writes steps down, each of which the kernel of
:mod:`boundlab.prove` decides. The entry points of the group ``boundlab.proofs`` register them.
"""
