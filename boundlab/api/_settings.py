"""Values of Python as the text that settings are read from."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from boundlab.errors import SpecError


def texts(symbols: Mapping[str, Any]) -> dict[str, str]:
    """Return NAME → text, as ``--set NAME=VALUE`` has it.

    Raises
    ------
    SpecError
        If a value is neither a number, nor text, nor a list of numbers.
    """
    return {name: _text(name, value) for name, value in symbols.items()}


def _text(name: str, value: Any) -> str:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case Fraction():
            return str(value)
        case list() | tuple():
            return f"[{','.join(_text(name, one) for one in value)}]"
    raise SpecError(f"{name} must be a number, text or a list of numbers, got {type(value).__name__}")
