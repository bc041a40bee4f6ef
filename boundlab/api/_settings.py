"""Values of Python as the text that settings are read from."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from inspect import signature
from typing import Any

import numpy as np

from boundlab.errors import SpecError
from boundlab.options import closest


def read_keywords(
    question: Callable[..., Any],
    symbols: dict[str, Any],
    known: Iterable[str],
    horizons: Iterable[str],
    iterations: Any,
) -> Any:
    """Take the horizon out of the symbols, and refuse those that are a misspelt keyword of the question.

    Parameters
    ----------
    known
        What may be set.
    horizons
        The letters of the horizon: ``K=10`` says what ``iterations=10`` says.
    iterations
        What the keyword ``iterations`` says; None where it is not given.

    Returns
    -------
    number, list of numbers or None
        The horizon.

    Raises
    ------
    SpecError
        If a keyword is none, or the horizon is given twice.
    """
    own = [name for name in signature(question).parameters if name not in ("settings", "symbols", "parameters")]
    for name in [one for one in horizons if one in symbols]:
        if iterations is not None:
            raise SpecError(f"{name} counts the iterations, and iterations says how many; give one of them")
        iterations = symbols.pop(name)
    for name in symbols:
        if name not in known and name in own:
            raise SpecError(f"{name} is no symbol but a keyword of {question.__name__}; give it outside of the symbols")
        if name not in known and closest(name, {*own, *known}) in own:
            raise SpecError(f"{question.__name__} has no keyword {name!r}; did you mean {closest(name, own)}?")
    return iterations


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
