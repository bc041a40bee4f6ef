"""Formulas in fractions: exact where a formula has a rational value, and where its roots meet no sum."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import sympy

from boundlab.errors import BoundlabError, UndecidedError
from boundlab.formulas.enclose import NumberSystem

_MOST_BITS = 1 << 20


@final
@functools.total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class _Root:
    """base^(1/degree) with rational base > 0: it has products with what is positive, and a place among all numbers."""

    base: Fraction
    degree: int

    @classmethod
    def of(cls, base: Fraction, degree: int) -> "Fraction | _Root":
        """Return the root, as a fraction where it is one."""
        parts = [_whole_root(part, degree) for part in (base.numerator, base.denominator)]
        return cls(base, degree) if None in parts else Fraction(*parts)  # type: ignore[arg-type]

    def __mul__(self, other: "Fraction | float | _Root") -> "Fraction | float | _Root":
        if other == 0 or isinstance(other, float):
            return other
        if isinstance(other, Fraction) and other < 0:
            return NotImplemented
        root = other if isinstance(other, _Root) else _Root(other, 1)
        degree = math.lcm(self.degree, root.degree)
        return _Root.of(self._power(degree) * root._power(degree), degree)

    __rmul__ = __mul__

    def __lt__(self, other: "Fraction | float | _Root") -> bool:
        if isinstance(other, float):
            return other > 0
        root = other if isinstance(other, _Root) else _Root(other, 1)
        degree = math.lcm(self.degree, root.degree)
        return root.base > 0 and self._power(degree) < root._power(degree)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Root) and not self < other and not other < self

    def __hash__(self) -> int:
        return hash((self.base, self.degree))

    def __float__(self) -> float:
        return math.pow(float(self.base), 1.0 / self.degree)

    def _power(self, degree: int) -> Fraction:
        """Return the rational number that this is to the power of a multiple of its degree."""
        return self.base ** (degree // self.degree)


def _whole_root(whole: int, degree: int) -> int | None:
    """Return the root of a whole number ≥ 0, or None where it is no whole number."""
    root, exact = sympy.integer_nthroot(whole, degree)
    return int(root) if exact else None


@final
class _Rationals(NumberSystem):
    """Fractions, where a formula has one; 1/0 is +∞, which a Min may drop, and so may a root be.

    A root adds to nothing: a TypeError then says that the formula has no fraction.
    """

    def constant(self, expression: sympy.Expr) -> Any:
        if expression.is_Rational or expression.is_Float:  # a float is the binary fraction that it is
            exact = sympy.Rational(expression)
            return Fraction(int(exact.p), int(exact.q))
        raise UndecidedError(f"{expression} is no rational number")

    def power(self, expression: sympy.Expr, base: Any, exponent: Any) -> Any:
        if not isinstance(exponent, Fraction):
            raise UndecidedError(f"{expression} need not be a rational number")
        if base == math.inf and exponent:
            return math.inf if exponent > 0 else Fraction(0)
        if not isinstance(base, Fraction):
            raise UndecidedError(f"{expression} need not be a rational number")
        if base == 0 and exponent < 0:
            return math.inf
        if abs(exponent) * max(base.numerator.bit_length(), base.denominator.bit_length()) > _MOST_BITS:
            raise UndecidedError(f"{expression} has too many digits")
        if exponent.denominator == 1:
            return base ** int(exponent)
        if base < 0:
            raise UndecidedError(f"{expression} is a root of what is negative")
        return base if base == 0 else _Root.of(base**exponent.numerator, exponent.denominator)

    def least(self, parts: Sequence[Any]) -> Any:
        return min(parts)

    def largest(self, parts: Sequence[Any]) -> Any:
        return max(parts)

    def floor(self, expression: sympy.Expr, part: Any) -> Any:
        return Fraction(math.floor(part))

    def ceiling(self, expression: sympy.Expr, part: Any) -> Any:
        return Fraction(math.ceil(part))

    def exp(self, part: Any) -> Any:
        raise UndecidedError("e^x need not be a rational number")

    def log(self, part: Any) -> Any:
        raise UndecidedError("log x need not be a rational number")

    def ordered(self, low: Any, high: Any) -> bool | None:
        if math.inf in (low, high):
            raise UndecidedError("a side of a comparison divides by 0")
        return bool(low <= high)

    def whole(self, part: Any) -> int | None:
        return int(part) if isinstance(part, Fraction) and part.denominator == 1 else None

    def no_rule(self, function: str) -> BoundlabError:
        return UndecidedError(f"no fraction for {function}")


RATIONALS: NumberSystem = _Rationals()
