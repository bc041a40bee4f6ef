"""Quotients of polynomials over Q, kept in lowest terms by python-flint.

This module is imported where a proof is read, so that certificates of worst cases need the standard library alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias, Union, final

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from boundlab.recheck._work import spend, terms_of_power

Powers: TypeAlias = dict["Symbol", int]
_EACH = 20  # steps for each number that is made


class NumberError(ValueError):
    """What is no number, such as a quotient by 0."""


@final
@dataclass(frozen=True, eq=False)
class Symbol:
    """A symbol; a member of a family, with whole numbers as indices; or a power of either with a symbolic exponent."""

    name: str
    indices: tuple["Number", ...] = ()
    exponent: Union["Number", None] = None

    @cached_property
    def key(self) -> str:
        """Its text: equal for equal symbols alone."""
        inside = f"[{';'.join(one.key for one in self.indices)}]" if self.indices else ""
        return self.name + inside + (f"^({self.exponent.key})" if self.exponent is not None else "")

    @property
    def base(self) -> "Symbol":
        """What it is a power of."""
        return Symbol(self.name, self.indices)

    def names(self) -> Iterator[str]:
        """Yield all names in it."""
        yield self.name
        for one in self.indices:
            yield from one.names()
        if self.exponent is not None:
            yield from self.exponent.names()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Symbol) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=256)
def _ring(size: int) -> Any:
    return fmpq_mpoly_ctx.get(("v", size), Ordering.lex)


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))


@final
class Number:
    """top/below, without common factors; the first coefficient of ``below`` is 1, every symbol occurs."""

    __slots__ = ("_key", "below", "symbols", "top")

    def __init__(self, symbols: tuple[Symbol, ...], top: Any, below: Any) -> None:
        if not below:
            raise NumberError("a division by 0")
        spend(_EACH + len(top) + len(below))
        if not below.is_constant():
            spend(len(top) * len(below) * len(symbols))
            common = top.gcd(below)
            if not common.is_constant():
                top, below = top / common, below / common
        lead = below.leading_coefficient()
        if lead != 1:
            top, below = top / lead, below / lead
        # The degrees of 0 are −1.
        used = [place for place, pair in enumerate(zip(top.degrees(), below.degrees(), strict=True)) if max(pair) > 0]
        if len(used) < len(symbols):
            kept = tuple(symbols[place] for place in used)
            top, below = (_moved(part, used, len(kept)) for part in (top, below))
            symbols = kept
        self.symbols, self.top, self.below = symbols, top, below
        self._key: str | None = None

    @property
    def key(self) -> str:
        """Its text: equal for equal numbers alone."""
        if self._key is None:
            parts = [self._text(self.top)]
            if not self.below.is_constant():
                parts.append(self._text(self.below))
            self._key = "/".join(f"({one})" for one in parts) if len(parts) > 1 else parts[0]
        return self._key

    def _text(self, part: Any) -> str:
        terms = []
        for powers, value in sorted(part.to_dict().items(), reverse=True):
            body = [s.key if e == 1 else f"{s.key}^{e}" for s, e in zip(self.symbols, powers, strict=True) if e]
            terms.append("*".join([str(value)] * (value != 1 or not body) + body))
        return " + ".join(terms) or "0"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __bool__(self) -> bool:
        return bool(self.top)

    def __add__(self, other: "Number") -> "Number":
        symbols, (a, b), (c, d) = _together(self, other)
        spend(len(a) + len(c) if b == d else len(a) * len(d) + len(c) * len(b) + len(b) * len(d))
        return Number(symbols, a + c, b) if b == d else Number(symbols, a * d + c * b, b * d)

    def __neg__(self) -> "Number":
        return Number(self.symbols, -self.top, self.below)

    def __sub__(self, other: "Number") -> "Number":
        return self + -other

    def __mul__(self, other: "Number") -> "Number":
        symbols, (a, b), (c, d) = _together(self, other)
        spend(len(a) * len(c) + len(b) * len(d))
        return Number(symbols, a * c, b * d)

    def __truediv__(self, other: "Number") -> "Number":
        symbols, (a, b), (c, d) = _together(self, other)
        spend(len(a) * len(d) + len(b) * len(c))
        return Number(symbols, a * d, b * c)

    def power(self, count: int) -> "Number":
        """Return a whole power."""
        if abs(count) > 1000:
            raise NumberError(f"a power of {count}")
        for part in (self.top, self.below):
            _spend_power(part, abs(count))
        if count >= 0:
            return Number(self.symbols, self.top**count, self.below**count)
        return Number(self.symbols, self.below**-count, self.top**-count)

    @property
    def constant(self) -> Fraction | None:
        """The fraction that it is, or None."""
        if self.symbols:
            return None
        return _fraction(self.top.leading_coefficient()) if self.top else Fraction(0)

    def names(self) -> set[str]:
        """Return all names in it."""
        return {name for one in self.symbols for name in one.names()}

    def terms(self) -> Iterator[tuple[Powers, Fraction]]:
        """Yield the terms of its numerator."""
        for powers, value in sorted(self.top.to_dict().items(), reverse=True):
            yield {s: int(e) for s, e in zip(self.symbols, powers, strict=True) if e}, _fraction(value)

    @property
    def bottom(self) -> "Number":
        """Its denominator."""
        return Number(self.symbols, self.below, _one(len(self.symbols)))

    @property
    def upper(self) -> "Number":
        """Its numerator."""
        return Number(self.symbols, self.top, _one(len(self.symbols)))

    def factors(self) -> tuple[Fraction, list[tuple["Number", int]]]:
        """Return a fraction, and irreducible polynomials with their powers, negative ones for the denominator."""
        if not self:
            return Fraction(0), []
        for part in (self.top, self.below):
            spend(len(part) ** 2 * (1 + sum(map(int, part.degrees()))))
        (first, above), (second, below) = self.top.factor(), self.below.factor()
        parts = [*above, *((part, -count) for part, count in below)]
        one = _one(len(self.symbols))
        return _fraction(first / second), [(Number(self.symbols, part, one), int(count)) for part, count in parts]

    def put(self, what: Callable[[Symbol], Union["Number", None]]) -> "Number":
        """Return it with numbers in place of symbols; None for those that stay."""
        found: dict[Symbol, Number] = {}
        for one in self.symbols:
            new = what(one)
            if new is not None:
                found[one] = new
        if not found:
            return self
        return _value(self.symbols, self.top, found) / _value(self.symbols, self.below, found)


def _spend_power(part: Any, count: int) -> None:
    """Count the work of a power: of the terms that it may have, and of the digits of its coefficients."""
    if part and count > 1:
        lead = part.leading_coefficient()
        digits = 1 + count * (int(lead.p).bit_length() + int(lead.q).bit_length()) // 64
        spend(terms_of_power(len(part), count) * digits)


def _one(size: int) -> Any:
    return _ring(size).from_dict({(0,) * size: 1})


def _moved(part: Any, used: list[int], size: int) -> Any:
    """Return a polynomial in fewer symbols."""
    return _ring(size).from_dict(
        {tuple(powers[place] for place in used): value for powers, value in part.to_dict().items()}
    )


def _together(one: Number, other: Number) -> tuple[tuple[Symbol, ...], tuple[Any, Any], tuple[Any, Any]]:
    if one.symbols == other.symbols:
        return one.symbols, (one.top, one.below), (other.top, other.below)
    every = tuple(sorted({*one.symbols, *other.symbols}, key=lambda s: s.key))
    place = {symbol: number for number, symbol in enumerate(every)}
    found = []
    for each in (one, other):
        to = [place[symbol] for symbol in each.symbols]
        found.append((_spread(each.top, to, len(every)), _spread(each.below, to, len(every))))
    return every, found[0], found[1]


def _spread(part: Any, to: list[int], size: int) -> Any:
    terms = {}
    for powers, value in part.to_dict().items():
        key = [0] * size
        for place, power in zip(to, powers, strict=True):
            key[place] = power
        terms[tuple(key)] = value
    return _ring(size).from_dict(terms)


def _times(one: Any, other: Any) -> Any:
    spend(len(one) * len(other))
    return one * other


def _value(symbols: tuple[Symbol, ...], part: Any, values: Mapping[Symbol, Number]) -> Number:
    """Return a polynomial with numbers in place of some symbols: numerators and denominators apart, divided once."""
    new = [values.get(symbol, of(symbol)) for symbol in symbols]
    every = tuple(sorted({symbol for one in new for symbol in one.symbols}, key=lambda s: s.key))
    place_of = {symbol: number for number, symbol in enumerate(every)}
    tops, belows = [], []
    for one in new:
        to = [place_of[symbol] for symbol in one.symbols]
        tops.append(_spread(one.top, to, len(every)))
        belows.append(None if one.below.is_one() else _spread(one.below, to, len(every)))
    degrees = [max(int(degree), 0) for degree in part.degrees()]
    found, unit = _ring(len(every)).from_dict({}), _one(len(every))
    for powers, value in part.to_dict().items():
        term = unit * value
        for top, below, power, degree in zip(tops, belows, powers, degrees, strict=True):
            if power:
                _spend_power(top, int(power))
                term = _times(term, top ** int(power))
            if below is not None and degree > power:
                _spend_power(below, int(degree - power))
                term = _times(term, below ** int(degree - power))
        found = found + term
    whole = unit
    for below, degree in zip(belows, degrees, strict=True):
        if below is not None and degree:
            _spend_power(below, degree)
            whole = _times(whole, below**degree)
    return Number(every, found, whole)


def rational(value: Fraction | int) -> Number:
    """Return a fraction as a number."""
    own = Fraction(value)
    return Number((), _ring(0).from_dict({(): fmpq(own.numerator, own.denominator)}), _one(0))


ZERO, ONE = rational(0), rational(1)


def of(symbol: Symbol) -> Number:
    """Return a symbol as a number."""
    return Number((symbol,), _ring(1).from_dict({(1,): 1}), _one(1))


def monomial(powers: Iterable[tuple[Symbol, int]]) -> Number:
    """Return a product of powers, negative ones too."""
    found = ONE
    for symbol, count in powers:
        found = found * of(symbol).power(count)
    return found


def raised(base: Symbol, exponent: Number) -> Number:
    """Return base^exponent, with q^(a + b) as q^a·q^b and q^(2a) as (q^a)²: one symbol for each monomial exponent."""
    if not exponent.below.is_constant():
        raise NumberError(f"the exponent {exponent.key} is no polynomial")
    found = ONE
    for powers, value in exponent.terms():
        if value.denominator != 1:
            raise NumberError(f"the exponent {exponent.key} is no whole number")
        own = base if not powers else Symbol(base.name, base.indices, monomial(powers.items()))
        found = found * of(own).power(int(value))
    return found
