"""Formulas at exact numbers: as SymPy numbers where they stay simple, and as balls of any precision."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
import sympy

from boundlab.arithmetic import numbers
from boundlab.formulas.enclose import BALLS, by_rules, walk


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
