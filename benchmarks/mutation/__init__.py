"""Mutation testing: small errors are planted in boundlab, one at a time, and the suite must notice each.

``python -m benchmarks.mutation --help`` says what it takes; benchmarks/README.md, how a run is read.
"""
