"""Functions that formulas may call, and the words for what they may not hold."""

import ast
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import sympy

from boundlab.errors import FormulaError


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

_ALLOWED: Final = re.compile(r"[A-Za-z0-9_.,()\[\]+\-*/<>= ]")
_ADVICE: Final[Mapping[str, str]] = {
    "^": "write ** for powers",
    "×": "write * for products",
    "·": "write * for products",
    "÷": "write / for quotients",
    "−": "write - for minus",
    "√": "write sqrt(…)",
    "%": "there is no remainder",
}
REFUSED: Final[dict[type[ast.AST], str]] = {
    ast.Attribute: "an attribute (a dot after a name)",
    ast.Tuple: "a list of several values",
    ast.Starred: "a starred argument",
    ast.BoolOp: "and/or",
    ast.IfExp: "if/else",
    ast.Lambda: "lambda",
    ast.Compare: "a comparison",
    ast.Await: "await",
}


def require_letters(text: str, what: str) -> None:
    """Make sure that a formula holds no letter that means nothing there.

    Raises
    ------
    FormulaError
        Naming the first one, with what to write in its place.
    """
    for column, letter in enumerate(text, 1):
        if not _ALLOWED.fullmatch(letter):
            advice = _ADVICE.get(letter) or (
                "write Greek letters out, as in mu or sigma"
                if letter.isalpha()
                else "use numbers, names, + - * / ** ( )"
            )
            raise FormulaError(f"{what}: {letter!r} at column {column} is not allowed; {advice}")
