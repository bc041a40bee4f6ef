"""Inequality ≤ between two formulas at rational numbers: decided without rounding, or not at all."""

import contextlib
import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy

from boundlab.arithmetic.numbers import digits, flint, rational
from boundlab.errors import UndecidedError
from boundlab.formulas.enclose import CERTAIN, by_rules, walk
from boundlab.formulas.known_numbers import Formulas, known_value
from boundlab.formulas.rationals import RATIONALS
from boundlab.formulas.symbols import followed, names_of

_BITS = (100, 400, 1600)
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
    own = {name: rule for name, rule in rules.items() if name not in values}
    names = followed(names_of(left) | names_of(right), lambda name: names_of(own[name]) if name in own else ())
    return _at_most(
        left,
        right,
        tuple((name, own[name]) for name in sorted(names) if name in own),
        tuple((name, values[name]) for name in sorted(names) if name in values),
    )


@lru_cache(maxsize=8192)
def _at_most(left: sympy.Expr, right: sympy.Expr, rules: Rules, values: Values) -> bool | None:
    """Try rational numbers, the formulas as they stand, enclosures, and numbers with one root."""
    numbers, definitions = dict(values), dict(rules)
    if same(left, right, rules):
        return True
    # No Fraction adds to a root; what is infinite has no floor, and ∞ − ∞ is no number.
    with contextlib.suppress(UndecidedError, TypeError, OverflowError, ValueError):
        value = by_rules(RATIONALS, numbers.get, definitions)
        low, high = (walk(side, RATIONALS, value) for side in (left, right))
        if math.inf in (low, high):
            return None  # a side divides by 0: what has no value is never met
        if low == low and high == high:
            return bool(low <= high)
    with contextlib.suppress(UndecidedError, TypeError, OverflowError, ValueError):
        for bits in _BITS:
            with digits(bits):
                exact = {name: _ball(value) for name, value in values}
                value = by_rules(CERTAIN, exact.get, definitions)
                gap = walk(right, CERTAIN, value) - walk(left, CERTAIN, value)
            if gap.is_finite() and (gap >= 0 or gap < 0):
                return bool(gap >= 0)
    found = Formulas({name: known_value(value) for name, value in values}, definitions).exact(right - left)
    return None if found is None else bool(found >= 0)


def _ball(value: Number) -> Any:
    return [_ball(one) for one in value] if isinstance(value, tuple) else flint().arb(rational(value))


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
