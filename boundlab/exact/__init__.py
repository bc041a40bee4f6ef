"""Exact values: no sampling, no band.

:func:`evaluate` decides a case file, in rational numbers where it is rational; :func:`left_side` is fast and in
floating point, for searches.
"""

from boundlab.exact._evaluate import evaluate as evaluate
from boundlab.exact._result import ExactResult as ExactResult
from boundlab.expectation import applicable as applicable
from boundlab.expectation import left_side as left_side

__all__ = ["ExactResult", "applicable", "evaluate", "left_side"]
