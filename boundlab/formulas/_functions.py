"""Functions that formulas may call."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import sympy


@dataclass(frozen=True, slots=True)
class KnownFunction:
    """How a whitelisted function acts on numbers and on expressions."""

    numeric: Callable[..., float]
    symbolic: Callable[..., Any]
    variadic: bool = False


def _lazy(kind: Any) -> Callable[..., Any]:
    # An evaluated Min or Max compares its arguments, which can take seconds on nested input.
    return lambda *parts: kind(*parts, evaluate=False) if len(parts) > 1 else parts[0]


MIN = KnownFunction(min, _lazy(sympy.Min), variadic=True)
_MAX = KnownFunction(max, _lazy(sympy.Max), variadic=True)
_ABS = KnownFunction(abs, sympy.Abs)
_CEIL = KnownFunction(math.ceil, sympy.ceiling)
FUNCTIONS: Final[Mapping[str, KnownFunction]] = MappingProxyType(
    {
        "sqrt": KnownFunction(math.sqrt, sympy.sqrt),
        "exp": KnownFunction(math.exp, sympy.exp),
        "log": KnownFunction(math.log, sympy.log),
        "floor": KnownFunction(math.floor, sympy.floor),
        "ceiling": _CEIL,
        "ceil": _CEIL,
        "Min": MIN,
        "min": MIN,
        "Max": _MAX,
        "max": _MAX,
        "Abs": _ABS,
        "abs": _ABS,
    }
)
