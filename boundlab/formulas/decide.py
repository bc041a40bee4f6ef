"""Inequality ≤ between two formulas at rational numbers: decided without rounding, or not at all."""

import contextlib
import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy
from mpmath import iv

from boundlab.errors import UndecidedError
from boundlab.formulas.enclose import INTERVALS, NumberSystem, walk
from boundlab.formulas.known_numbers import Formulas, known_value
from boundlab.formulas.rationals import RATIONALS

_DIGITS = (30, 120, 480)
Rules = tuple[tuple[str, sympy.Expr], ...]
Number = Fraction | tuple[Fraction, ...]
Values = tuple[tuple[str, Number], ...]


def at_most(
    left: sympy.Expr, right: sympy.Expr, rules: Mapping[str, sympy.Expr], values: Mapping[str, Number]
) -> bool | None:
    """Return whether left ≤ right, or None where that is not decided.

    Parameters
    ----------
    rules
        Symbols that follow from others.
    values
        Numbers of the symbols that are left, each the fraction that it is, of a vector those of all entries.
    """
    names = _names((left, right), rules, frozenset(values))
    return _at_most(
        left,
        right,
        tuple((name, rules[name]) for name in sorted(names) if name in rules and name not in values),
        tuple((name, values[name]) for name in sorted(names) if name in values),
    )


def _names(sides: tuple[sympy.Expr, ...], rules: Mapping[str, sympy.Expr], known: frozenset[str]) -> set[str]:
    found: set[str] = set()
    stack = [symbol.name for side in sides for symbol in side.free_symbols]
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            if name in rules and name not in known:
                stack += [symbol.name for symbol in rules[name].free_symbols]
    return found


@lru_cache(maxsize=8192)
def _at_most(left: sympy.Expr, right: sympy.Expr, rules: Rules, values: Values) -> bool | None:
    """Try rational numbers, the formulas as they stand, enclosures, and numbers with one root."""
    numbers, definitions = dict(values), dict(rules)
    if same(left, right, rules):
        return True
    # No Fraction adds to a root; what is infinite has no floor, and ∞ − ∞ is no number.
    with contextlib.suppress(UndecidedError, TypeError, OverflowError, ValueError):
        low, high = (_evaluated(side, RATIONALS, definitions, numbers) for side in (left, right))
        if math.inf in (low, high):
            return None  # a side divides by 0: what has no value is never met
        if low == low and high == high:
            return bool(low <= high)
    before = iv.dps
    try:
        for digits in _DIGITS:
            iv.dps = digits
            exact = {name: _interval(value) for name, value in values}
            gap = _evaluated(right, INTERVALS, definitions, exact) - _evaluated(left, INTERVALS, definitions, exact)
            if gap.a >= 0:
                return True
            if gap.b < 0:
                return False
    except (UndecidedError, ZeroDivisionError, ValueError, TypeError, OverflowError):
        pass
    finally:
        iv.dps = before
    found = Formulas({name: known_value(value) for name, value in values}, definitions).exact(right - left)
    return None if found is None else bool(found >= 0)


def _interval(value: Number) -> Any:
    if isinstance(value, tuple):
        return [_interval(one) for one in value]
    return iv.mpf(value.numerator) / iv.mpf(value.denominator)


@lru_cache(maxsize=1024)
def same(left: sympy.Expr, right: sympy.Expr, rules: Rules) -> bool:
    """Return whether both sides are one formula once the definitions are put in, whatever the numbers."""
    definitions = dict(rules)
    return bool(_unfolded(left, definitions) == _unfolded(right, definitions))


def _unfolded(side: sympy.Expr, rules: Mapping[str, sympy.Expr]) -> sympy.Expr:
    """Return a formula with the definitions put in."""
    while any(symbol.name in rules for symbol in side.free_symbols):
        side = side.xreplace({one: rules[one.name] for one in side.free_symbols if one.name in rules})
    return side


def _evaluated(
    side: sympy.Expr, system: NumberSystem, rules: Mapping[str, sympy.Expr], numbers: Mapping[str, Any]
) -> Any:
    known: dict[str, Any] = {}

    def value(name: str) -> Any:
        if name not in known:
            if name not in rules and name not in numbers:
                raise UndecidedError(f"{name} has no value")
            known[name] = numbers[name] if name in numbers else walk(rules[name], system, value)
        return known[name]

    return walk(side, system, value)
