"""Exact expectations: no sampling, no band.

:func:`left_side` is fast and in floating point, for searches; :func:`evaluate` decides a case file, in rational
numbers where it is rational.
"""

from typing import TYPE_CHECKING, Any

from boundlab.exact._left import applicable as applicable
from boundlab.exact._left import left_side as left_side
from boundlab.exact._result import ExactResult as ExactResult

if TYPE_CHECKING:
    from boundlab.exact._evaluate import evaluate as evaluate

__all__ = ["ExactResult", "applicable", "evaluate", "left_side"]


def __getattr__(name: str) -> Any:
    # Comparisons use left_side, evaluations use comparisons: imported when asked for.
    if name == "evaluate":
        from boundlab.exact._evaluate import evaluate

        return evaluate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
