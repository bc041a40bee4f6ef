"""Numbers that PEPit takes for floats and that remember their exact value.

PEPit multiplies points and expressions by ``float`` only. An :class:`Exact` is one, but its arithmetic is that of
fractions, so that what PEPit builds with it (iterates, interpolation inequalities) holds no rounding.
"""

from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any, final

from boundlab.arithmetic.rational import PROGRAM, known_fraction, rational


@final
class Exact(float):
    """A rational number."""

    __slots__ = ("value",)
    value: Fraction

    def __new__(cls, value: Fraction | int | float) -> "Exact":
        """Keep the fraction beside its nearest float."""
        exactly = Fraction(value)
        self = super().__new__(cls, exactly)
        self.value = exactly
        return self

    def __add__(self, other: Any) -> Any:
        return Exact(self.value + fraction(other)) if isinstance(other, (int, float)) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return Exact(self.value - fraction(other)) if isinstance(other, (int, float)) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return Exact(fraction(other) - self.value) if isinstance(other, (int, float)) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        return Exact(self.value * fraction(other)) if isinstance(other, (int, float)) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return Exact(self.value / fraction(other)) if isinstance(other, (int, float)) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return Exact(fraction(other) / self.value) if isinstance(other, (int, float)) else NotImplemented

    def __neg__(self) -> "Exact":
        return Exact(-self.value)

    def __pow__(self, power: int, modulus: None = None) -> "Exact":  # type: ignore[override]
        return Exact(self.value**power)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (int, float)) and isfinite(other) and self.value == fraction(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)


@final
class Root(float):
    """The square root of a rational number, of which PEPit takes the square: a Lipschitz constant."""

    __slots__ = ("square",)
    square: Fraction

    def __new__(cls, square: Fraction) -> "Root":
        """Keep the square beside the nearest float of the root."""
        self = super().__new__(cls, float(square) ** 0.5)
        self.square = square
        return self

    def __pow__(self, power: int, modulus: None = None) -> Any:  # type: ignore[override]
        return Exact(self.square) if power == 2 else NotImplemented


def fraction(number: float) -> Fraction:
    """Return the exact value of a number."""
    return number.value if isinstance(number, Exact) else Fraction(number)


def exact(number: Any) -> Exact:
    """Return the fraction that a number is known to be, else the simple one that a float stands for, or the float.

    1/3 is meant, not its nearest float; see :func:`boundlab.arithmetic.rational.rational`.
    """
    known = known_fraction(number)
    return _simple(fraction(number)) if known is None else Exact(known)


@lru_cache(maxsize=4096)
def _simple(value: Fraction) -> Exact:
    return Exact(rational(value, PROGRAM) or value)
