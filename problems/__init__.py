"""Test problems: n client functions with certified constants (registered under ``boundlab.problems``).

Importing this package loads no family, and no family loads SciPy, CVXPY or scikit-learn: each is imported where it is
first used.
"""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from boundlab.objective import ProblemType

__all__ = ["PROBLEMS", "smooth_problem"]

# Each family and the module whose FAMILIES have it.
_MODULES = {
    "hinge": "samples",
    "modified-huber": "samples",
    "squared-hinge": "samples",
    "huber-regression": "samples",
    "quantile-regression": "samples",
    "huber": "separable",
    "lad": "separable",
    "lad-regression": "samples",
    "least-squares": "samples",
    "logistic": "samples",
    "max-affine": "max_affine",
    "poisson": "samples",
    "pseudo-huber": "separable",
    "quadratic": "quadratic",
    "smoothed-max-affine": "max_affine",
    "softmax": "samples",
}


def _family(name: str) -> ProblemType:
    """Return a family; its module alone is loaded."""
    module = import_module(f"boundlab.problems.{_MODULES[name]}")
    found: ProblemType = next(one for one in module.FAMILIES if one.id == name)
    return found


PROBLEMS: Mapping[str, Callable[[], ProblemType]] = {name: partial(_family, name) for name in _MODULES}


def __getattr__(name: str) -> Any:
    if name != "smooth_problem":
        raise AttributeError(f"module 'boundlab.problems' has no attribute {name!r}")
    return import_module("boundlab.problems.functions").smooth_problem
