"""Exact values, without sampling: :func:`evaluate` decides a case file, in rational numbers where it is rational."""

from boundlab.exact._evaluate import evaluate as evaluate
from boundlab.exact._result import ExactResult as ExactResult
