"""Real numbers that are not rational, such as e^(1/6): between two rational ones, rounded outwards."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias, final

# How many bits the ends have at first, and where a comparison stays open.
PRECISIONS = (128, 512)


@final
class Ball:
    """A number of which no more is known than that it lies in [low, high]; what is made of it, too.

    Parameters
    ----------
    low, high
        The ends.
    bits
        To so many binary digits the ends of what is made of it are rounded.
    """

    __slots__ = ("bits", "high", "low")

    def __init__(self, low: Fraction, high: Fraction, bits: int) -> None:
        self.low, self.high, self.bits = _down(low, bits), -_down(-high, bits), bits

    def __bool__(self) -> bool:
        """Whether it is certain not to be 0."""
        return self.low > 0 or self.high < 0

    def __add__(self, other: Real) -> Ball:
        return Ball(self.low + lower(other), self.high + upper(other), self.bits)

    __radd__ = __add__

    def __neg__(self) -> Ball:
        return Ball(-self.high, -self.low, self.bits)

    def __sub__(self, other: Real) -> Ball:
        return Ball(self.low - upper(other), self.high - lower(other), self.bits)

    def __rsub__(self, other: Fraction) -> Ball:
        return -self + other

    def __mul__(self, other: Real) -> Ball:
        ends = [one * end for one in (self.low, self.high) for end in (lower(other), upper(other))]
        return Ball(min(ends), max(ends), self.bits)

    __rmul__ = __mul__

    def _inverse(self) -> Ball:
        if not self:
            raise ZeroDivisionError("a number that may be 0")
        return Ball(1 / self.high, 1 / self.low, self.bits)

    def __truediv__(self, other: Real) -> Ball:
        return self * (other._inverse() if isinstance(other, Ball) else 1 / other)

    def __rtruediv__(self, other: Fraction) -> Ball:
        return self._inverse() * other

    def __pow__(self, exponent: int) -> Real:
        if not exponent:
            return Fraction(1)
        base = self if exponent > 0 else self._inverse()
        found = base
        for _ in range(abs(exponent) - 1):
            found = found * base
        return found

    def __str__(self) -> str:
        return f"about {float((self.low + self.high) / 2):.12g}"


Real: TypeAlias = Fraction | Ball


def lower(value: Real) -> Fraction:
    """Return the number, or a rational one that it is not below."""
    return value.low if isinstance(value, Ball) else value


def upper(value: Real) -> Fraction:
    """Return the number, or a rational one that it is not above."""
    return value.high if isinstance(value, Ball) else value


def _down(value: Fraction, bits: int) -> Fraction:
    """Return a number with so many binary digits that is not larger."""
    if not value or value.denominator.bit_length() + abs(value.numerator).bit_length() <= bits:
        return value
    shift = bits - abs(value.numerator).bit_length() + value.denominator.bit_length()
    unit = Fraction(2) ** shift
    return Fraction(math.floor(value * unit)) / unit


def exponential(value: Real, bits: int) -> Real:
    """Return e^value."""
    if isinstance(value, Fraction) and not value:
        return Fraction(1)
    return Ball(_power(lower(value), bits)[0], _power(upper(value), bits)[1], bits)


def _power(value: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return numbers between which e^value lies: a power of e^v for |v| ≤ 1, by its series."""
    times = max(1, math.ceil(abs(value)))
    own, term, middle, place = value / times, Fraction(1), Fraction(1), 0
    # The rest of the series is at most 3·|its first term|.
    while abs(term) * 2 ** (bits + 8) > 1:
        place += 1
        term = term * own / place
        middle += term
    rest = 3 * abs(term)
    found = Ball(middle - rest, middle + rest, bits) ** times
    return lower(found), upper(found)
