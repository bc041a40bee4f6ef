"""A polynomial's sign, written so that one can see it: as products of differences that are ≥ 0.

Where x ≥ a, the difference x - a is ≥ 0, and so is b - x where x ≤ b. A polynomial whose coefficients are all ≥ 0 once
it is written in such differences is ≥ 0, and so is an even power of anything. No more is tried than that: what
:class:`~boundlab.prove._context.Context` shows otherwise may not be found here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from boundlab.prove._context import Context
from boundlab.prove._scalars import ONE, Monomial, Scalar, Symbol, of_symbol, shape

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

    sum: Scalar
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

    number: Fraction
    squares: tuple[tuple[Scalar, int], ...]
    others: tuple[tuple[Visible, int], ...]


def visible(top: Scalar, context: Context) -> Visible | None:
    """Return a polynomial in differences, if all its coefficients are ≥ 0 then."""
    if top.bottom.constant is None:
        return None
    for raised in _choices(top, context):
        differences: dict[Symbol, tuple[Scalar, Scalar]] = {}
        current = top
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


def product(top: Scalar, context: Context) -> Product | None:
    """Return a polynomial as a product of even powers and of what is visibly ≥ 0, if its factors are so."""
    if top.bottom.constant is None:
        return None
    number, parts = top.factors()
    squares, others = [], []
    for part, count in parts:
        found = visible(part, context)
        if found is None and count % 2 and (found := visible(-part, context)) is not None:
            number = -number
        if found is not None:
            others.append((found, count))
        elif count % 2 == 0:
            squares.append((part, count // 2))
        else:
            return None
    return None if number < 0 else Product(number, tuple(squares), tuple(others))


def _choices(top: Scalar, context: Context) -> Iterator[Sequence[tuple[Symbol, Symbol]]]:
    """Yield which variables are replaced by what they are an upper end of: none, all that can be, each alone."""
    yield ()
    places = {name: place for place, name in enumerate(context.order())}
    found: list[tuple[Symbol, Symbol]] = []
    for symbol in sorted(top.symbols, key=lambda one: (places.get(one.name, -1), one.key)):
        high = _range_high(symbol, context)
        if high is not None:
            found += [(symbol, end) for end in _alone(high) if end in top.symbols]
    first = {end: symbol for symbol, end in reversed(found)}
    if first:
        yield [(symbol, end) for symbol, end in found if first[end] == symbol]
    if len(found) > 1:
        yield from ([one] for one in found)


def _range_high(symbol: Symbol, context: Context) -> Scalar | None:
    if symbol.exponent is not None or context.find(symbol.name) is None:
        return None
    high = context.range_of(symbol).high
    return None if high is None or high.bottom != ONE else high


def _alone(high: Scalar) -> list[Symbol]:
    """Return the symbols that an end holds once, as they are: end = symbol + rest."""
    found = (one for one in high.symbols if one.exponent is None)
    return [one for one in found if one not in (high - of_symbol(one)).symbols]


def _put(value: Scalar, symbol: Symbol, by: Scalar) -> Scalar:
    return value.mapped(lambda one: by if one == symbol else None)


def _from_below(current: Scalar, context: Context, differences: dict[Symbol, tuple[Scalar, Scalar]]) -> Visible | None:
    """Write each symbol as its lower end and a variable, the last declared first."""
    places = {name: place for place, name in enumerate(context.order())}
    while left := [one for one in current.symbols if one not in differences]:
        symbol = max(left, key=lambda one: (one.exponent is not None, places.get(one.name, -1), one.key))
        low = context.range_of(symbol).low if context.find(symbol.name) is not None else None
        if low is None or low.bottom != ONE:
            return None
        fresh = Symbol(f"t.{symbol.key}")
        differences[fresh] = of_symbol(symbol), low
        current = _put(current, symbol, low + of_symbol(fresh))
        if sum(1 for _ in current.terms()) > _LONGEST:
            return None
    return None if any(value < 0 for _, value in current.terms()) else Visible(current, differences)


def never_zero(found: Visible, context: Context) -> Monomial | None:
    """Return a term of it that is a product of what is certainly not 0, or None."""

    def positive(powers: Monomial) -> bool:
        ends = (found.differences[symbol] for symbol, _ in powers)
        return all(bool(context.positive(upper - lower)) for upper, lower in ends)

    return next(
        (powers for powers in sorted((own for own, _ in shape(found.sum).top), key=len) if positive(powers)), None
    )
