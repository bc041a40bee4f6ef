"""Formulas at exact numbers: as SymPy numbers where they stay simple, as balls, and which is larger."""

import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, final

import numpy as np
import sympy

from boundlab.arithmetic import numbers
from boundlab.errors import UndecidedError
from boundlab.formulas.enclose import BALLS, CERTAIN, RATIONALS, by_rules, walk
from boundlab.formulas.symbols import followed, names_of


@final
@dataclass(frozen=True, slots=True)
class KnownNumber:
    """A number that is known exactly, or up to a relative error.

    Parameters
    ----------
    exact
        A SymPy number, or None.
    about, relative
        Where ``exact`` is None: the number is within ``relative``·|about| of ``about``.
    """

    exact: sympy.Expr | None
    about: float = 0.0
    relative: float = 0.0

    @classmethod
    def of(cls, value: Fraction | int) -> "KnownNumber":
        """Return a rational number."""
        exact = Fraction(value)
        return cls(sympy.Rational(exact.numerator, exact.denominator))

    def ball(self) -> Any:
        """Return a ball of the present precision that contains it."""
        if self.exact is None:
            return numbers.near(self.about, self.relative)
        return walk(self.exact, BALLS, dict[str, Any]().__getitem__)


@final
@dataclass(frozen=True, slots=True)
class KnownVector:
    """One known number per client."""

    entries: tuple[KnownNumber, ...]

    @property
    def exact(self) -> sympy.Tuple | None:
        """The SymPy numbers, or None where one of them is not known so."""
        found = [one.exact for one in self.entries]
        return None if None in found else sympy.Tuple(*found)

    @property
    def about(self) -> list[float]:
        """The numbers, rounded."""
        return [one.about if one.exact is None else float(one.exact) for one in self.entries]

    def ball(self) -> list[Any]:
        """Return balls that contain the numbers."""
        return [one.ball() for one in self.entries]


def known_value(value: Any, known: Callable[[Any], KnownNumber] = KnownNumber.of) -> KnownNumber | KnownVector:
    """Return what is known of a number, or of each entry of a vector.

    Parameters
    ----------
    value
        A number, or an array or tuple of shape (n,).
    known
        What is known of one number; by default that it is rational.
    """
    entries = value if isinstance(value, tuple) else np.asarray(value).tolist()
    return KnownVector(tuple(map(known, entries))) if isinstance(entries, (list, tuple)) else known(entries)


class Formulas:
    """Symbols with values, and symbols that are defined by others."""

    def __init__(self, values: Mapping[str, KnownNumber | KnownVector], rules: Mapping[str, sympy.Expr]) -> None:
        self.values, self.rules = dict(values), dict(rules)
        self._exact: dict[str, sympy.Expr | None] = {}

    def exact(self, expression: sympy.Expr) -> sympy.Expr | None:
        """Return the value as a rational number or a rational multiple of one square root, or None."""
        names = sorted(symbol.name for symbol in expression.free_symbols)
        known = {name: self._symbol(name) for name in names}
        if any(value is None for value in known.values()):
            return None
        try:
            found = expression.xreplace({symbol: known[symbol.name] for symbol in expression.free_symbols}).doit()
            found = sympy.radsimp(found)
        except (ValueError, TypeError, ZeroDivisionError, RecursionError, OverflowError):  # too long to be factored
            return None
        if found.is_Rational:
            return found
        square = sympy.radsimp(sympy.expand(found**2)) if found.is_number and found.is_real else None
        return found if square is not None and square.is_Rational else None

    def _symbol(self, name: str) -> sympy.Expr | None:
        if name in self.values:
            return self.values[name].exact
        if name not in self._exact:
            self._exact[name] = self.exact(self.rules[name]) if name in self.rules else None
        return self._exact[name]

    def ball(self, expression: sympy.Expr) -> Any:
        """Return a ball of the present precision that contains the value.

        Raises
        ------
        SymbolError
            If a symbol has no value.
        """
        return walk(expression, BALLS, by_rules(BALLS, self._ball, self.rules))

    def _ball(self, name: str) -> Any:
        return self.values[name].ball() if name in self.values else None


def scalar(found: sympy.Expr | None) -> Any:
    """Return a SymPy number as a flint rational, or as a rational multiple of √(integer); None if it is neither."""
    if found is None:
        return None
    if found.is_Rational:
        return _rational(found)
    coefficient, rest = found.as_coeff_Mul()
    square = rest**2
    if not square.is_Rational:
        return None
    return numbers.Surd(numbers.rational(0), _rational(coefficient), _rational(square))


def _rational(value: sympy.Rational) -> Any:
    return numbers.rational(Fraction(int(value.p), int(value.q)))


# The inequality ≤ between two formulas at rational numbers: decided without rounding, or not at all.

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
    known, definitions = dict(values), dict(rules)
    if same(left, right, rules):
        return True
    # No Fraction adds to a root; what is infinite has no floor, and ∞ − ∞ is no number.
    with contextlib.suppress(UndecidedError, TypeError, OverflowError, ValueError):
        value = by_rules(RATIONALS, known.get, definitions)
        low, high = (walk(side, RATIONALS, value) for side in (left, right))
        if math.inf in (low, high):
            return None  # a side divides by 0: what has no value is never met
        if low == low and high == high:
            return bool(low <= high)
    with contextlib.suppress(UndecidedError, TypeError, OverflowError, ValueError):
        for bits in _BITS:
            with numbers.digits(bits):
                exact = {name: _ball(value) for name, value in values}
                value = by_rules(CERTAIN, exact.get, definitions)
                gap = walk(right, CERTAIN, value) - walk(left, CERTAIN, value)
            if gap.is_finite() and (gap >= 0 or gap < 0):
                return bool(gap >= 0)
    found = Formulas({name: known_value(value) for name, value in values}, definitions).exact(right - left)
    return None if found is None else bool(found >= 0)


def _ball(value: Number) -> Any:
    return [_ball(one) for one in value] if isinstance(value, tuple) else numbers.flint().arb(numbers.rational(value))


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
