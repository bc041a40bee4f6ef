"""Formulas with error bounds: one walk over a SymPy tree, in balls of any precision or in intervals.

Balls need python-flint. Intervals are mpmath's, which comes with SymPy, so that checks of formulas need no extra.
"""

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NoReturn, final

import sympy
from mpmath import iv

from boundlab.arithmetic.numbers import flint, rational
from boundlab.errors import BoundlabError, SymbolError, UndecidedError

_NEAR = 1e-10


class NumberSystem(ABC):
    """What a walk asks of a number system, whose numbers add, multiply and have absolute values by themselves."""

    @abstractmethod
    def constant(self, expression: sympy.Expr) -> Any:
        """Enclose what has no parts: a rational number, e, π."""

    @abstractmethod
    def power(self, expression: sympy.Expr, base: Any, exponent: Any) -> Any:
        """Enclose a power, whose own base and exponent SymPy may know exactly."""

    @abstractmethod
    def least(self, parts: Sequence[Any]) -> Any:
        """Enclose the smallest of some numbers."""

    @abstractmethod
    def largest(self, parts: Sequence[Any]) -> Any:
        """Enclose the largest of some numbers."""

    @abstractmethod
    def floor(self, expression: sympy.Expr, part: Any) -> Any:
        """Enclose the floor that the expression is."""

    @abstractmethod
    def ceiling(self, expression: sympy.Expr, part: Any) -> Any:
        """Enclose the ceiling that the expression is."""

    @abstractmethod
    def exp(self, part: Any) -> Any:
        """Enclose e^x."""

    @abstractmethod
    def log(self, part: Any) -> Any:
        """Enclose the natural logarithm."""

    @abstractmethod
    def no_rule(self, function: str) -> BoundlabError:
        """Return the error for a function that has no rule."""


def walk(expression: Any, numbers: NumberSystem, value: Callable[[str], Any]) -> Any:
    """Enclose the value of a SymPy tree.

    Parameters
    ----------
    expression
        Over the whitelist of :mod:`boundlab.formulas.parse`.
    numbers
        :data:`BALLS` or :data:`INTERVALS`, or :data:`boundlab.formulas.rationals.RATIONALS`.
    value
        Gives the enclosure of a symbol by its name.

    Raises
    ------
    SymbolError, UndecidedError
        The one of balls, the other of the other two: if there is no rule for a part.
    """
    if expression.is_Symbol:
        return value(expression.name)
    if not expression.args:
        return numbers.constant(expression)
    parts = [walk(part, numbers, value) for part in expression.args]
    if expression.is_Add:
        return sum(parts[1:], start=parts[0])
    if expression.is_Mul:
        return math.prod(parts[1:], start=parts[0])
    if expression.is_Pow:
        return numbers.power(expression, *parts)
    match type(expression).__name__:
        case "Min":
            return numbers.least(parts)
        case "Max":
            return numbers.largest(parts)
        case "floor":
            return numbers.floor(expression, *parts)
        case "ceiling":
            return numbers.ceiling(expression, *parts)
        case "exp":
            return numbers.exp(*parts)
        case "log":
            return numbers.log(*parts)
        case "Abs":
            return abs(parts[0])
        case function:
            raise numbers.no_rule(function)


@final
class _Balls(NumberSystem):
    """Balls of python-flint; 1/0 is +∞, as in a Min of step sizes some of which have no limit."""

    def constant(self, expression: sympy.Expr) -> Any:
        if expression.is_Rational or expression.is_Float:  # a float is the binary fraction that it is
            exact = sympy.Rational(expression)
            return flint().arb(rational(Fraction(int(exact.p), int(exact.q))))
        if expression in (sympy.E, sympy.pi):
            return flint().arb.const_e() if expression == sympy.E else flint().arb.pi()
        raise self.no_rule(type(expression).__name__)

    def power(self, expression: sympy.Expr, base: Any, exponent: Any) -> Any:
        known = expression.exp
        infinite = not base.is_finite() and base > 0
        if known.is_negative and base == 0:
            return flint().arb("+inf")
        if infinite:
            return flint().arb(0) if known.is_negative else base
        if known.is_Integer:
            return base ** int(known)
        if known.is_Rational:
            root = base.sqrt() if known.q == 2 else base.root(int(known.q)) if base != 0 else base
            return root ** int(known.p)
        return base**exponent

    def least(self, parts: Sequence[Any]) -> Any:
        return functools.reduce(lambda one, other: one.min(other), parts)

    def largest(self, parts: Sequence[Any]) -> Any:
        return functools.reduce(lambda one, other: one.max(other), parts)

    def floor(self, expression: sympy.Expr, part: Any) -> Any:
        # As in floating point: what is an integer up to rounding is that integer (log 1000/log 10).
        nearest = (part.mid() + flint().arb(0.5)).floor().mid()
        if abs(part - nearest) <= _NEAR * max(1.0, abs(float(nearest))):
            return flint().arb(nearest)
        return part.floor()

    def ceiling(self, expression: sympy.Expr, part: Any) -> Any:
        return -self.floor(expression, -part)

    def exp(self, part: Any) -> Any:
        return part.exp()

    def log(self, part: Any) -> Any:
        return part.log()

    def no_rule(self, function: str) -> BoundlabError:
        return SymbolError(f"{function} has no interval evaluation")


@final
class _Intervals(NumberSystem):
    """Intervals of mpmath; a floor is taken only where SymPy knows it."""

    def constant(self, expression: sympy.Expr) -> Any:
        if expression.is_Rational:
            return iv.mpf(int(expression.p)) / iv.mpf(int(expression.q))
        if expression in (sympy.E, sympy.pi):
            return iv.e if expression == sympy.E else iv.pi
        raise UndecidedError(f"{expression} has no value")

    def power(self, expression: sympy.Expr, base: Any, exponent: Any) -> Any:
        known = expression.exp
        if known.is_Integer:
            return base ** int(known)
        if not base.a > 0:
            if expression.base == 0 and known.is_positive:
                return iv.mpf(0)
            raise UndecidedError("a root of what may be negative")
        return iv.sqrt(base) if known == sympy.S.Half else iv.exp(exponent * iv.log(base))

    def least(self, parts: Sequence[Any]) -> Any:
        return iv.mpf([min(part.a for part in parts), min(part.b for part in parts)])

    def largest(self, parts: Sequence[Any]) -> Any:
        return iv.mpf([max(part.a for part in parts), max(part.b for part in parts)])

    def floor(self, expression: sympy.Expr, part: Any) -> Any:
        value = expression.doit()
        if value.is_Integer:
            return iv.mpf(int(value))
        raise self.no_rule(expression.func.__name__)

    def ceiling(self, expression: sympy.Expr, part: Any) -> Any:
        return self.floor(expression, part)

    def exp(self, part: Any) -> Any:
        return iv.exp(part)

    def log(self, part: Any) -> Any:
        return iv.log(part)

    def no_rule(self, function: str) -> BoundlabError:
        return UndecidedError(f"no enclosure for {function}")


BALLS: NumberSystem = _Balls()
INTERVALS: NumberSystem = _Intervals()


def enclose(expression: sympy.Expr, digits: int = 40) -> tuple[Fraction, Fraction]:
    """Return rational numbers below and above a constant expression, by interval arithmetic.

    Raises
    ------
    UndecidedError
        If it holds a symbol or a function without a rule, or leaves the real numbers.
    """
    before = iv.dps
    iv.dps = digits
    try:
        found = walk(expression, INTERVALS, _no_value)
        low, high = (Fraction(*map(int, sympy.Rational(sympy.Float._new(end, iv.prec)).as_numer_denom()))
                     for end in found._mpi_)  # fmt: skip
    except (ZeroDivisionError, ValueError, TypeError, OverflowError) as error:
        raise UndecidedError(str(error)) from None
    finally:
        iv.dps = before
    return low, high


def _no_value(name: str) -> NoReturn:
    raise UndecidedError(f"{name} has no value")
