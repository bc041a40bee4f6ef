"""Formulas at exact numbers: as SymPy numbers where they stay simple, and as balls of any precision."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import sympy

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import flint
from boundlab.errors import SymbolError

_NEAR = 1e-10


@final
@dataclass(frozen=True, slots=True)
class Quantity:
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
    def of(cls, value: Fraction | int) -> "Quantity":
        """Return a rational number."""
        exact = Fraction(value)
        return cls(sympy.Rational(exact.numerator, exact.denominator))

    def ball(self) -> Any:
        """Return a ball of the present precision that contains it."""
        if self.exact is None:
            return numbers.near(self.about, self.relative)
        return evaluate(self.exact, {})


class Formulas:
    """Symbols with values, and symbols that are defined by others."""

    def __init__(self, values: Mapping[str, Quantity], rules: Mapping[str, sympy.Expr]) -> None:
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
        except (ValueError, TypeError, ZeroDivisionError, RecursionError):
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
        known: dict[str, Any] = {}

        def value(name: str) -> Any:
            if name not in known:
                if name in self.values:
                    known[name] = self.values[name].ball()
                elif name in self.rules:
                    known[name] = walk(self.rules[name], value)
                else:
                    raise SymbolError(f"no exact value for {name}")
            return known[name]

        return walk(expression, value)


def evaluate(expression: sympy.Expr, values: Mapping[str, Any]) -> Any:
    """Return an expression as a ball."""
    return walk(expression, lambda name: values[name])


def walk(expression: Any, value: Callable[[str], Any]) -> Any:
    """Evaluate a SymPy tree in balls; 1/0 is +∞, as in a Min of step sizes some of which have no limit."""
    arb = flint().arb
    if expression.is_Rational:
        return arb(numbers.rational(Fraction(int(expression.p), int(expression.q))))
    if expression.is_Symbol:
        return value(expression.name)
    parts = [walk(part, value) for part in expression.args]
    if expression.is_Add:
        return sum(parts[1:], start=parts[0])
    if expression.is_Mul:
        out = parts[0]
        for part in parts[1:]:
            out = out * part
        return out
    if expression.is_Pow:
        return _power(parts[0], expression.exp, parts[1])
    name = type(expression).__name__
    if name in ("Min", "Max"):
        out = parts[0]
        for part in parts[1:]:
            out = out.min(part) if name == "Min" else out.max(part)
        return out
    if name in ("floor", "ceiling"):
        return _floor(parts[0]) if name == "floor" else -_floor(-parts[0])
    if name in ("exp", "log", "Abs"):
        return abs(parts[0]) if name == "Abs" else getattr(parts[0], name)()
    if expression.is_Float or expression.is_NumberSymbol:
        return arb(str(expression.evalf(60)))
    raise SymbolError(f"{name} has no interval evaluation")


def _power(base: Any, exponent: Any, ball: Any) -> Any:
    arb = flint().arb
    infinite = not base.is_finite() and base > 0
    if exponent.is_negative and base == 0:
        return arb("+inf")
    if infinite:
        return arb(0) if exponent.is_negative else base
    if exponent.is_Integer:
        return base ** int(exponent)
    if exponent.is_Rational:
        root = base.sqrt() if exponent.q == 2 else base.root(int(exponent.q)) if base != 0 else base
        return root ** int(exponent.p)
    return base**ball


def _floor(x: Any) -> Any:
    # As in floating point: what is an integer up to rounding is that integer (log 1000/log 10).
    nearest = (x.mid() + flint().arb(0.5)).floor().mid()
    if abs(x - nearest) <= _NEAR * max(1.0, abs(float(nearest))):
        return flint().arb(nearest)
    return x.floor()


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
