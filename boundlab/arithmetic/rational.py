"""Which rational number a float stands for, by one rule; and floats that know what they stand for.

A text that computes with the latter computes in every arithmetic at once.
"""

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.errors import SpecError

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


Formula: TypeAlias = Fraction | tuple[Any, ...]
"""A fraction, or (what is done, with which formulas); ("rate", i) is the i-th rate, ("about", x) what rounds to x."""

_ROUNDING: Final = 1e-14  # what is known as a float alone is a product of a few of them


class TooLongError(SpecError):
    """A number is no rational one, or grows too long as one."""


def _root(x: Any) -> Any:
    return numbers.ball(x).sqrt()


def _power(x: Any, y: Any) -> Any:
    return numbers.ball(x) ** numbers.ball(y)


_DONE: Final[dict[str, Callable[..., Any]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "pow": _power,
    "root": _root,
}
_KEEP_ZERO: Final = ("mul", "truediv")  # nothing is divided by 0, of which floats have no quotient
_NOT_RATIONAL: Final = ("pow", "root", "about")


@final
class Recipe(float):
    """A number of an algorithm: as a float, and how it follows from rates and fractions.

    Operations act on both, so that the float is what it would be without the formula, to the last bit. Floats beside it
    are the fractions that they stand for, or known up to rounding where they stand for none.
    """

    __slots__ = ("formula",)
    formula: Formula

    def __new__(cls, value: float | Fraction, formula: Formula | None = None) -> "Recipe":
        """Return a number; without a formula it is the fraction that it stands for."""
        found = super().__new__(cls, value)
        found.formula = _told(value) if formula is None else formula
        return found

    def sqrt(self) -> "Recipe":
        """Return the root."""
        exact = _rational_root(self.formula)
        return Recipe(math.sqrt(self), ("root", self.formula) if exact is None else exact)

    def __neg__(self) -> float:
        return self * -1

    def __rpow__(self, base: Any) -> "Recipe":  # type: ignore[override]
        return Recipe(float(base) ** float(self), _raised(_told(base), self.formula))

    def __eq__(self, other: object) -> bool:
        """Return whether floats are equal, and formulas where both have one: they may differ and round to one float."""
        return float.__eq__(self, other) is True and (not isinstance(other, Recipe) or self.formula == other.formula)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = float.__hash__


def _operation(name: str, *, turned: bool) -> Callable[[Recipe, Any], Any]:
    exactly, plain = _DONE[name], getattr(float, f"__{'r' * turned}{name}__")

    def of(self: Recipe, other: Any) -> Any:
        value = plain(self, float(other) if isinstance(other, Fraction) else other)
        if value is NotImplemented:
            return value
        parts = (_told(other), self.formula) if turned else (self.formula, _told(other))
        if name in _KEEP_ZERO and 0 in parts:
            return Recipe(value, Fraction(0))  # whatever root it multiplies, as in the first step of a momentum
        constant = all(isinstance(one, Fraction) for one in parts)
        return Recipe(value, exactly(*parts) if constant else (name, *parts))

    return of


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Recipe, f"__{_name}__", _operation(_name, turned=False))
    setattr(Recipe, f"__r{_name}__", _operation(_name, turned=True))


def _rational_root(formula: Formula) -> Fraction | None:
    """Return the root of the square of a fraction; None of all else."""
    if not isinstance(formula, Fraction):
        return None
    found = Fraction(math.isqrt(formula.numerator), math.isqrt(formula.denominator))
    return found if found * found == formula else None


def _raised(base: Formula, power: Formula) -> Formula:
    """Return base^power: a fraction where the power is a half of a whole number and the base allows it."""
    if isinstance(power, Fraction) and power.denominator <= 2:
        found = base if power.denominator == 1 else _rational_root(base)
        if isinstance(found, Fraction):
            return Fraction(found**power.numerator)
    return "pow", base, power


def _told(value: Any) -> Formula:
    """Return the formula of any number."""
    if isinstance(value, Recipe):
        return value.formula
    found = rational(value, ENGINE) if isinstance(value, float) else Fraction(value)
    return ("about", float(value)) if found is None else found


def column(values: Sequence[float]) -> NDArray[Any]:
    """Return numbers as an array of floats, or of objects where one of them knows what it stands for."""
    return np.array(values, dtype=object if any(isinstance(one, Recipe) for one in values) else np.float64)


def known_fraction(value: float) -> Fraction | None:
    """Return the fraction that a number is known to be; None: that is not known, or it is none."""
    formula = value.formula if isinstance(value, Recipe) else None
    return formula if isinstance(formula, Fraction) else None


def as_fraction(value: float) -> Fraction:
    """Return a number as a fraction: the one that it is known to be, or what its float stands for."""
    found = known_fraction(value)
    return stands_for(value) if found is None else found


def evaluated(values: Sequence[float], rates: Sequence[Scalar], *, balls: bool | None) -> list[Scalar]:
    """Return numbers in the arithmetic of the rates.

    Parameters
    ----------
    balls
        Whether all are balls of the present precision, or none; None: those that are no rational numbers are.

    Raises
    ------
    TooLongError
        If none are, and one is no rational number.
    """
    known: dict[int, tuple[Formula, Scalar]] = {}  # what has an id must live on
    found = []
    for formula in map(_told, values):
        if id(formula) not in known:
            _evaluate(formula, rates, known, balls=balls)
        found.append(known[id(formula)][1])
    return found


def _evaluate(
    formula: Formula, rates: Sequence[Scalar], known: dict[int, tuple[Formula, Scalar]], *, balls: bool | None
) -> None:
    """Evaluate a formula, and what it is made of before it: sums of many terms are deep."""
    ahead = [formula]
    while ahead:
        one = ahead[-1]
        parts = one[1:] if isinstance(one, tuple) and one[0] in _DONE else ()
        missing = [part for part in parts if id(part) not in known]
        if missing:
            ahead += missing
            continue
        ahead.pop()
        if isinstance(one, Fraction):
            found = numbers.rational(one)
        elif one[0] == "rate":
            found = rates[one[1]]
        elif balls is False and one[0] in _NOT_RATIONAL:
            raise TooLongError("a weight of the schedule is no rational number")
        elif one[0] == "about":
            found = numbers.near(one[1], _ROUNDING)
        else:
            found = _DONE[one[0]](*(known[id(part)][1] for part in parts))
        known[id(one)] = one, numbers.ball(found) if balls else found


def meant(number: Any) -> Fraction:
    """Return the fraction that a number is known to be, else the simple one that a float stands for, or the float.

    1/3 is meant, not its nearest float; see :func:`boundlab.arithmetic.rational.rational`.
    """
    known = known_fraction(number)
    return known if known is not None else rational(number, PROGRAM) or Fraction(number)
