"""A polynomial's sign, written so that one can see it: as products of differences that are ≥ 0.

Where x ≥ a, the difference x - a is ≥ 0, and so is b - x where x ≤ b. A polynomial whose coefficients are all ≥ 0 once
it is written in such differences is ≥ 0, and so is an even power of anything. No more is tried than that: what
:class:`~boundlab.prove._context.Context` shows otherwise may not be found here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from sympy.polys.rings import PolyRing

from boundlab.prove._context import Context
from boundlab.prove._polynomials import Monomial, Rational
from boundlab.prove._scalars import Poly, Scalar, Symbol, mapped, of_symbol

_LONGEST = 400  # terms: what is longer is no help to a reader, nor to another checker


@dataclass(frozen=True, slots=True)
class Visible:
    """A polynomial in variables that stand for differences ≥ 0, all its coefficients ≥ 0.

    Parameters
    ----------
    sum
        The polynomial.
    differences
        What each variable stands for: an upper and a lower end.
    """

    sum: Poly
    differences: dict[Symbol, tuple[Scalar, Scalar]]


@dataclass(frozen=True, slots=True)
class Product:
    """A number ≥ 0 times factors, each either ≥ 0 visibly or with an even power.

    Parameters
    ----------
    number
        The number.
    squares
        Polynomials with half their even powers.
    others
        Polynomials that are visibly ≥ 0, with their powers.
    """

    number: Rational
    squares: tuple[tuple[Poly, int], ...]
    others: tuple[tuple[Visible, int], ...]


def visible(top: Poly, context: Context) -> Visible | None:
    """Return a polynomial in differences, if all its coefficients are ≥ 0 then."""
    if any(power < 0 for powers in top.terms for _, power in powers):
        return None
    for raised in _choices(top, context):
        differences: dict[Symbol, tuple[Scalar, Scalar]] = {}
        current = Scalar(top)
        for place, (symbol, end) in enumerate(raised):
            # The end is symbol + t: so is the variable in it, but for the rest of the end.
            high = _range_high(symbol, context)
            assert high is not None  # noqa: S101  (it was chosen for its end)
            fresh = Symbol(f"t.{place}.{symbol.key}")
            differences[fresh] = high, of_symbol(symbol)
            current = _put(current, end, of_symbol(symbol) - (high - of_symbol(end)) + of_symbol(fresh))
        found = _from_below(current, context, differences)
        if found is not None:
            return found
    return None


def product(top: Poly, context: Context) -> Product | None:
    """Return a polynomial as a product of even powers and of what is visibly ≥ 0, if its factors are so."""
    if any(power < 0 for powers in top.terms for _, power in powers):
        return None
    number, parts = _factors(top)
    squares, others = [], []
    for part, count in parts:
        found = visible(part, context)
        if found is None and count % 2 and (found := visible(part.scaled(-1), context)) is not None:
            number = -number
        if found is not None:
            others.append((found, count))
        elif count % 2 == 0:
            squares.append((part, count // 2))
        else:
            return None
    return None if number < 0 else Product(number, tuple(squares), tuple(others))


def _factors(top: Poly) -> tuple[Fraction, list[tuple[Poly, int]]]:
    """Return a polynomial's number and its irreducible factors over the rationals, with their powers."""
    symbols = sorted(top.symbols(), key=lambda one: one.key)
    if not symbols:
        return Fraction(top.constant or 0), []
    place = {symbol: number for number, symbol in enumerate(symbols)}
    terms = {}
    for powers, value in top.terms.items():
        key = [0] * len(symbols)
        for symbol, power in powers:
            key[place[symbol]] = power
        own = Fraction(value)
        terms[tuple(key)] = sympy.QQ(own.numerator, own.denominator)

    def back(key: tuple[int, ...]) -> Monomial:
        return tuple((symbol, power) for symbol, power in zip(symbols, key, strict=True) if power)

    def rational(value: Any) -> Fraction:
        return Fraction(int(value.numerator), int(value.denominator))

    number, parts = PolyRing([f"v{number}" for number in range(len(symbols))], sympy.QQ).from_dict(terms).factor_list()
    read = [(Poly({back(key): rational(one) for key, one in part.terms()}), count) for part, count in parts]
    return rational(number), read


def _choices(top: Poly, context: Context) -> Iterator[Sequence[tuple[Symbol, Symbol]]]:
    """Yield which variables are replaced by what they are an upper end of: none, all that can be, each alone."""
    yield ()
    places = {name: place for place, name in enumerate(context.order())}
    found: list[tuple[Symbol, Symbol]] = []
    for symbol in sorted(top.symbols(), key=lambda one: (places.get(one.name, -1), one.key)):
        high = _range_high(symbol, context)
        if high is None:
            continue
        found += [(symbol, end) for end in _alone(high) if end in top.symbols()]
    ends: set[Symbol] = set()
    first = []
    for symbol, end in found:
        if end not in ends:
            first.append((symbol, end))
            ends.add(end)
    if first:
        yield first
    if len(found) > 1:
        yield from ([one] for one in found)


def _range_high(symbol: Symbol, context: Context) -> Scalar | None:
    own = None if symbol.exponent is not None else context.range_of(symbol)
    return None if own is None or own.high is None or not _whole(own.high) else own.high


def _alone(high: Scalar) -> list[Symbol]:
    """Return the symbols that an end holds once, as they are: end = symbol + rest."""
    found = []
    for powers, value in high.top.terms.items():
        if value == 1 and len(powers) == 1 and powers[0][1] == 1 and powers[0][0].exponent is None:
            symbol = powers[0][0]
            others: set[Symbol] = set()
            for rest in high.top.terms:
                others |= {one for one, _ in rest} if rest != powers else set()
            if symbol not in others:
                found.append(symbol)
    return found


def _whole(value: Scalar) -> bool:
    return not value.factors and all(power > 0 for powers in value.top.terms for _, power in powers)


def _put(value: Scalar, symbol: Symbol, by: Scalar) -> Scalar:
    return mapped(value, lambda one: by if one == symbol else None)


def _from_below(current: Scalar, context: Context, differences: dict[Symbol, tuple[Scalar, Scalar]]) -> Visible | None:
    """Write each symbol as its lower end and a variable, the last declared first."""
    places = {name: place for place, name in enumerate(context.order())}
    while left := [one for one in current.symbols() if one not in differences]:
        symbol = max(left, key=lambda one: (one.exponent is not None, places.get(one.name, -1), one.key))
        own = context.range_of(symbol)
        if own is None or own.low is None or not _whole(own.low):
            return None
        fresh = Symbol(f"t.{symbol.key}")
        differences[fresh] = of_symbol(symbol), own.low
        current = _put(current, symbol, own.low + of_symbol(fresh))
        if len(current.top.terms) > _LONGEST:
            return None
    if any(value < 0 for value in current.top.terms.values()):
        return None
    return Visible(current.top, differences)


def never_zero(found: Visible, context: Context) -> Monomial | None:
    """Return a term of it that is a product of what is certainly not 0, or None."""

    def positive(powers: Monomial) -> bool:
        ends = (found.differences[symbol] for symbol, _ in powers)
        return all(bool(context.positive(upper - lower)) for upper, lower in ends)

    return next((powers for powers in sorted(found.sum.terms, key=len) if positive(powers)), None)
