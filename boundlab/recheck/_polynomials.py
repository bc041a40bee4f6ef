"""Products of powers of symbols, and sums of these: term by term, or as polynomials of python-flint.

Of a symbol no more is asked than its ``key``, a text that no other symbol has.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from boundlab.recheck._work import spend, terms_of_power

Monomial: TypeAlias = tuple[tuple[Any, int], ...]  # by the texts of the symbols, without powers 0
Terms: TypeAlias = dict[Monomial, Any]  # without coefficients 0
TERM = 4  # steps for each term that is written down
UNIT = fmpq(1)


def _by_text(pair: tuple[Any, int]) -> str:
    text: str = pair[0].key
    return text


def times(one: Monomial, other: Monomial) -> Monomial:
    """Return a product."""
    if not one or not other:
        return one or other
    found = dict(one)
    for symbol, count in other:
        found[symbol] = found.get(symbol, 0) + count
    return tuple(sorted([pair for pair in found.items() if pair[1]], key=_by_text))


def inverse(powers: Monomial) -> Monomial:
    """Return 1 over it."""
    return tuple((symbol, -count) for symbol, count in powers)


def low(terms: Iterable[Monomial]) -> Monomial:
    """Return the negative powers that a sum of terms is divided by."""
    found: dict[Any, int] = {}
    for powers in terms:
        for symbol, count in powers:
            if count < found.get(symbol, 0):
                found[symbol] = count
    return tuple(sorted(found.items(), key=_by_text))


def add(terms: Terms, more: Iterable[tuple[Monomial, Any]]) -> Terms:
    """Add terms to others, which are changed."""
    for powers, value in more:
        now = terms.pop(powers, 0) + value
        if now:
            terms[powers] = now
    return terms


@lru_cache(maxsize=256)
def _ring(size: int) -> Any:
    return fmpq_mpoly_ctx.get(("v", size), Ordering.lex)


def fraction(value: Any) -> Fraction:
    """Return a coefficient."""
    return Fraction(int(value.p), int(value.q))


def written(terms: Iterable[tuple[Monomial, Any]]) -> str:
    """Return a sum of terms, in this order, as text."""
    found = []
    for powers, value in terms:
        body = [symbol.key if count == 1 else f"{symbol.key}^{count}" for symbol, count in powers]
        found.append("*".join([str(value)] * (value != 1 or not body) + body))
    return " + ".join(found) or "0"


def spend_power(values: Sequence[Any], count: int) -> None:
    """Count the work of a power of a polynomial, by its coefficients: the terms that it may have, and their digits."""
    if count > 1:
        longest = max((int(one.p).bit_length() + int(one.q).bit_length() for one in values), default=0)
        spend(terms_of_power(len(values), count) * (1 + count * longest // 64))


def one(size: int) -> Any:
    """Return the polynomial 1 in so many symbols."""
    return _ring(size).constant(1)


def polynomial(terms: Terms, place: Mapping[Any, int]) -> Any:
    """Return a sum of terms as a polynomial in symbols, by their places."""
    return _ring(len(place)).from_dict({spread(powers, place): value for powers, value in terms.items()})


def terms_of(symbols: tuple[Any, ...], part: Any) -> Terms:
    """Return the terms of a polynomial."""
    spend(TERM * len(part))
    return {
        tuple((symbol, int(count)) for symbol, count in zip(symbols, powers, strict=True) if count): value
        for powers, value in part.to_dict().items()
    }


def spread(powers: Monomial, place: Mapping[Any, int]) -> tuple[int, ...]:
    """Return the powers of all symbols that have a place."""
    found = [0] * len(place)
    for symbol, count in powers:
        found[place[symbol]] = count
    return tuple(found)


def moved(symbols: tuple[Any, ...], part: Any, place: Mapping[Any, int]) -> Any:
    """Return a polynomial in other symbols, all that it holds among them."""
    if len(symbols) == len(place):
        return part
    return polynomial(terms_of(symbols, part), place)


def places(symbols: Iterable[Any]) -> dict[Any, int]:
    """Return the places of symbols, by their texts."""
    return {symbol: place for place, symbol in enumerate(sorted(symbols, key=lambda s: s.key))}


def times_power(term: Any, part: Any, count: int) -> Any:
    """Return a polynomial times a power of another."""
    spend_power(part.coeffs(), count)
    raised = part**count
    spend(len(term) * len(raised))
    return term * raised
