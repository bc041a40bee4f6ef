"""Multiply formulas out, where the result is predicted to be short."""

import math
from collections.abc import Mapping
from types import MappingProxyType

import sympy

from boundlab.errors import UndecidedError

MAX_TERMS = 2000


def expand(expression: sympy.Expr, most: int = MAX_TERMS) -> sympy.Expr:
    """Return ``sympy.expand`` of an expression.

    Raises
    ------
    UndecidedError
        If more than ``most`` terms are predicted, before any of them is made.

    Examples
    --------
    >>> x, y = sympy.symbols("x y")
    >>> expand((x + y) ** 2)
    x**2 + 2*x*y + y**2
    """
    count = predicted(expression)
    if count > most:
        raise UndecidedError(f"multiplied out it has more than {most} terms")
    return sympy.expand(expression)


def predicted(expression: sympy.Expr) -> float:
    """Return an upper bound on the number of terms that ``sympy.expand`` writes down anywhere, ∞ if beyond counting."""
    if not expression.args:
        return 1
    counts = [predicted(part) for part in expression.args]
    if expression.is_Add:
        return sum(counts)
    if expression.is_Mul:
        return math.prod(counts)
    if expression.is_Pow and expression.exp.is_Rational:
        return powers(counts[0], math.ceil(abs(expression.exp)))
    return max(counts)


def powers(terms: float, exponent: int) -> float:
    """Return the number of monomials of that degree in so many terms, C(terms + exponent − 1, exponent)."""
    if terms == 1 or exponent == 0:
        return 1
    if not math.isfinite(terms) or exponent > MAX_TERMS or terms > MAX_TERMS:
        return math.inf
    return math.comb(int(terms) + exponent - 1, exponent)


def size(expression: sympy.Expr, sizes: Mapping[sympy.Symbol, int] = MappingProxyType({})) -> int:
    """Return the number of nodes of the tree, counted without walking through equal parts twice.

    Parameters
    ----------
    sizes
        How many nodes will stand in place of a symbol.
    """
    memo: dict[sympy.Basic, int] = dict(sizes)

    def count(part: sympy.Basic) -> int:
        if part not in memo:
            memo[part] = 1 + sum(count(one) for one in part.args)
        return memo[part]

    return count(expression)
