"""Formulas as text: their value at numbers, and the names that they read."""

import ast
import math
from collections.abc import Callable, Mapping
from functools import lru_cache

FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "floor": math.floor,
    "ceiling": math.ceil,
    "ceil": math.ceil,
    "Min": min,
    "min": min,
    "Max": max,
    "max": max,
    "Abs": abs,
    "abs": abs,
}
_BINARY: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: float(a) ** b,
}


class UndefinedError(ArithmeticError):
    """A formula has no real value at these numbers."""


def value(text: str, known: Mapping[str, float]) -> float:
    """Return the value of a formula.

    Raises
    ------
    UndefinedError
        If it divides by zero, overflows, or leaves the real numbers.
    KeyError
        If a name has no value.
    """
    try:
        found = _value(_parse(text), known)
    except (ZeroDivisionError, OverflowError, ValueError) as reason:
        raise UndefinedError(f"{text}: {reason}") from None
    if isinstance(found, complex) or not math.isfinite(found):
        raise UndefinedError(f"{text} is {found}")
    return float(found)


@lru_cache(maxsize=4096)
def _parse(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def _value(node: ast.expr, known: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            return known[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, known)
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_value(left, known), _value(right, known))
        case ast.Call(func=ast.Name(id=name), args=parts):
            return FUNCTIONS[name](*(_value(part, known) for part in parts))
    raise ValueError(f"no formula: {ast.dump(node)}")


@lru_cache(maxsize=4096)
def names(text: str) -> frozenset[str]:
    """Return the symbols that a formula reads."""
    found = {node.id for node in ast.walk(_parse(text)) if isinstance(node, ast.Name)}
    return frozenset(found - set(FUNCTIONS))
