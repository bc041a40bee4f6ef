"""Which rational number a float stands for: one rule, and the limits that each of its readers sets."""

from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

_ULPS = Fraction(4, 2**52)


class Limits(NamedTuple):
    """How simple a number must be to be meant.

    Parameters
    ----------
    denominator
        Largest denominator of a fraction.
    digits
        Most digits of a decimal number; 0 where none is tried.
    """

    denominator: int
    digits: int


# What the engines of exact numbers take on trust: rates, probabilities, weights of a schedule.
ENGINE: Final = Limits(10**4, 10)
# What a semidefinite program is written with; another float stays the binary fraction that it is.
PROGRAM: Final = Limits(10**4, 0)


@lru_cache(maxsize=1 << 14)  # a tape has few different coefficients, and asks for each of its rows
def rational(value: float | Fraction, limits: Limits) -> Fraction | None:
    """Return the rational number that a float stands for, or None if it is not as simple as that.

    In this order: the fraction within four units in the last place (so that the float 1/3, or 2/21 after a product of
    floats, comes back as itself), and the decimal number that Python prints for it. Another number meets one of
    these by chance with a probability of about 10⁻⁷ under the limits ``ENGINE``.

    Examples
    --------
    >>> rational(1 / 3, ENGINE), rational(0.12345, ENGINE), rational(2**0.5, ENGINE)
    (Fraction(1, 3), Fraction(2469, 20000), None)
    """
    binary = Fraction(value)
    simple = binary.limit_denominator(limits.denominator)
    if abs(simple - binary) <= _ULPS * abs(binary):
        return simple
    text = repr(float(value)) if limits.digits else ""
    return Fraction(text) if text and sum(letter.isdigit() for letter in text.split("e")[0]) <= limits.digits else None


def stands_for(value: float) -> Fraction:
    """Return the rational number that a float stands for in the engines of exact numbers, or the one that it is."""
    return rational(value, ENGINE) or Fraction(value)


def shortest_decimal(value: float) -> Fraction:
    """Return the decimal number that Python prints for a float, as a fraction.

    Examples
    --------
    >>> (shortest_decimal(12.0) - shortest_decimal(0.9)) // shortest_decimal(0.1)
    111
    """
    return Fraction(repr(float(value)))
