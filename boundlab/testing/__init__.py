"""Tests for authors: whether a bound stands, drawn settings, and whether objects keep what their interfaces promise.

Everything is imported when it is asked for: the plug-in is part of every run of pytest where boundlab is installed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boundlab.instance.fitting import CompareOptions as CompareOptions, fitting as fitting
    from boundlab.testing import conform as conform, strategies as strategies
    from boundlab.testing._bound import (
        BoundViolation as BoundViolation,
        Tested as Tested,
        assert_bound_holds as assert_bound_holds,
    )
    from boundlab.testing._finding import BoundFinding as BoundFinding

_WHERE = {
    "BoundViolation": "testing._bound",
    "BoundFinding": "testing._bound",
    "CompareOptions": "instance.fitting",
    "Tested": "testing._bound",
    "assert_bound_holds": "testing._bound",
    "fitting": "instance.fitting",
}

__all__ = [
    "BoundFinding",
    "BoundViolation",
    "CompareOptions",
    "Tested",
    "assert_bound_holds",
    "conform",
    "fitting",
    "strategies",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"boundlab.{_WHERE[name]}"), name)
    if name in __all__:
        return import_module(f"boundlab.testing.{name}")
    raise AttributeError(f"module 'boundlab.testing' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
