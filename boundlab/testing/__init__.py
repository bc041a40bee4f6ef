"""Checks that an object of yours keeps what its interface promises, the same ones that the built-in objects pass.

Call them from a test of your package: ``boundlab.testing.problem(Mine(...), family)``,
``boundlab.testing.algorithm(MINE, {"alpha": 0.1})``.
"""

from boundlab.testing._algorithm import algorithm as algorithm
from boundlab.testing._problem import problem as problem

__all__ = ["algorithm", "problem"]
