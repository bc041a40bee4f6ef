"""Checks that an object of yours keeps what its interface promises, the same ones that the built-in objects pass.

Call them from a test of your package: ``boundlab.testing.problem(Mine(...), family)``.
"""

from boundlab.testing._problem import problem as problem

__all__ = ["problem"]
