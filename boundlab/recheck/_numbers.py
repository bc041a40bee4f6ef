"""Quotients of polynomials over Q, in lowest terms.

A number is two polynomials of python-flint without common factors, in the symbols that occur in it. This module is
imported where a proof is read, so that certificates of worst cases need the standard library alone.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar, Union, final

from flint import Ordering, fmpq, fmpq_mpoly_ctx

# Counts the work that a file asks for, about a step for each product of two terms: no clock decides anything.
#
# What stands in a file many times is worked out once, and counted once.

T = TypeVar("T")

# Four times what it takes to write the longest proof that is shipped, and eight times what it takes to check it.
MOST = 500_000_000
_SPENT: ContextVar[list[int] | None] = ContextVar("steps", default=None)
_MADE: ContextVar[dict[tuple[str, str], Any] | None] = ContextVar("made", default=None)


class TooMuchError(Exception):
    """More steps are asked for than there are."""


def begin() -> None:
    """Begin to count anew."""
    _SPENT.set([0])
    _MADE.set({})


def once(kind: str, text: str, make: Callable[[], T]) -> T:
    """Return what is made of a text: what was made of it since :func:`begin`, or what is made of it now."""
    made = _MADE.get()
    if made is None:
        return make()
    found: T | None = made.get((kind, text))
    if found is None:
        found = made[kind, text] = make()
    return found


def spend(steps: int) -> None:
    """Count steps before they are taken; raises :class:`TooMuchError` if there are too many."""
    now = _SPENT.get()
    if now is not None:
        now[0] += steps
        if now[0] > MOST:
            raise TooMuchError(f"more than {MOST} steps of work")


# Polynomials of python-flint, in symbols by their places.
#
# Of a symbol no more is asked than its ``key``, a text that no other symbol has.

Monomial: TypeAlias = tuple[tuple[Any, int], ...]  # without powers 0
TERM = 4  # steps for each term that is written down


@lru_cache(maxsize=256)
def _ring(size: int) -> Any:
    return fmpq_mpoly_ctx.get(("v", size), Ordering.lex)


@lru_cache(maxsize=256)
def _unit(size: int) -> Any:
    """Return the polynomial 1 in so many symbols."""
    return _ring(size).constant(1)


def fraction(value: Any) -> Fraction:
    """Return a coefficient."""
    return Fraction(int(value.p), int(value.q))


def moved(symbols: tuple[Any, ...], part: Any, others: tuple[Any, ...]) -> Any:
    """Return a polynomial in other symbols, all that occur in it among them."""
    if len(symbols) == len(others):
        return part
    if part.is_one():
        return _unit(len(others))
    spend(TERM * len(part))
    places = {place: others.index(symbol) for place, symbol in enumerate(symbols) if symbol in others}
    return part.project_to_context(_ring(len(others)), places)


def written(symbols: tuple[Any, ...], part: Any) -> str:
    """Return a polynomial as text."""
    found = []
    for powers, value in part.to_dict().items():
        pairs = [(symbol.key, int(count)) for symbol, count in zip(symbols, powers, strict=True) if count]
        body = [key if count == 1 else f"{key}^{count}" for key, count in pairs]
        found.append("*".join([str(value)] * (value != 1 or not body) + body))
    return " + ".join(found) or "0"


def spend_power(values: Sequence[Any], count: int) -> None:
    """Count the work of a power of a polynomial, by its coefficients: the terms that it may have, and their digits."""
    if count > 1:
        longest = max((int(one.p).bit_length() + int(one.q).bit_length() for one in values), default=0)
        # So many terms a power has, at most: all products of so many factors.
        spend(math.comb(max(len(values) - 1, 0) + count, count) * (1 + count * longest // 64))


Exact: TypeAlias = Union["Number", int, Fraction]
_EACH = 20  # steps for each number that is made
_LARGEST = 1000  # the largest power that is taken at once


class NumberError(ValueError):
    """What is no number, such as a quotient by 0."""


@final
class Symbol:
    """A symbol; a member of a family, with whole numbers as indices; or a power of either with a symbolic exponent.

    Its ``key`` is its text: equal for equal symbols alone.
    """

    __slots__ = ("_hash", "_names", "exponent", "indices", "key", "name")

    def __init__(self, name: str, indices: tuple["Number", ...] = (), exponent: Union["Number", None] = None) -> None:
        self.name, self.indices, self.exponent = name, indices, exponent
        inside = f"[{';'.join([one.key for one in indices])}]" if indices else ""
        self.key = name + inside + (f"^({exponent.key})" if exponent is not None else "")
        self._hash = hash(self.key)
        self._names: frozenset[str] | None = None

    @property
    def base(self) -> "Symbol":
        """What it is a power of."""
        return Symbol(self.name, self.indices)

    def names(self) -> frozenset[str]:
        """Return all names in it."""
        if self._names is None:
            inside = self.indices if self.exponent is None else (*self.indices, self.exponent)
            self._names = frozenset((self.name,)).union(*(one.names() for one in inside))
        return self._names

    def __repr__(self) -> str:
        return self.key.replace(";", ", ")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Symbol) and self.key == other.key

    def __hash__(self) -> int:
        return self._hash


@final
class Number:
    """A number in its one form.

    Parameters
    ----------
    symbols
        All that occur in it, by their texts.
    top, below
        Polynomials in them, without common factors; the first coefficient of that below is 1.
    """

    __slots__ = ("_below", "_key", "_names", "_top", "symbols")

    def __init__(self, symbols: tuple[Symbol, ...], top: Any, below: Any) -> None:
        self.symbols, self._top, self._below = symbols, top, below
        self._names: frozenset[str] | None = None
        self._key: str | None = None

    @property
    def key(self) -> str:
        """Its text: equal for equal numbers alone."""
        if self._key is None:
            top = written(self.symbols, self._top)
            self._key = top if self._below.is_one() else f"({top})/({written(self.symbols, self._below)})"
        return self._key

    def __repr__(self) -> str:
        return self.key.replace(";", ", ")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Number) or self.symbols != other.symbols:
            return False
        return bool(self._top == other._top and self._below == other._below)

    def __hash__(self) -> int:
        return hash(self.key)

    def __bool__(self) -> bool:
        return bool(self._top)

    def __add__(self, other: "Exact") -> "Number":
        symbols, (a, b), (c, d) = _together(self, exact(other))
        if b == d:
            spend(len(a) + len(c))
            return _reduced(symbols, a + c, b)
        spend(len(a) * len(d) + len(c) * len(b) + len(b) * len(d))
        return _reduced(symbols, a * d + c * b, b * d)

    __radd__ = __add__

    def __neg__(self) -> "Number":
        return Number(self.symbols, -self._top, self._below)

    def __sub__(self, other: "Exact") -> "Number":
        return self + -exact(other)

    def __rsub__(self, other: "Exact") -> "Number":
        return exact(other) + -self

    def __mul__(self, other: "Exact") -> "Number":
        if not isinstance(other, (Number, int, float, Fraction)):
            return NotImplemented
        symbols, (a, b), (c, d) = _together(self, exact(other))
        spend(len(a) * len(c) + len(b) * len(d))
        return _reduced(symbols, a * c, b * d)

    __rmul__ = __mul__

    def __truediv__(self, other: "Exact") -> "Number":
        symbols, (a, b), (c, d) = _together(self, exact(other))
        spend(len(a) * len(d) + len(b) * len(c))
        return _reduced(symbols, a * d, b * c)

    def __rtruediv__(self, other: "Exact") -> "Number":
        return exact(other) / self

    def __pow__(self, exponent: "Exact") -> "Number":
        """Return a power: a whole one, or, of a product of symbols, one with a polynomial as its exponent."""
        other = exact(exponent)
        whole = other.constant
        if whole is not None and whole.denominator == 1:
            return self.power(int(whole))
        found = ONE
        for symbol, count in self.powers("a symbolic power of {}, which is no product of symbols"):
            own = other * count
            found = found * raised(symbol.base, own if symbol.exponent is None else own * symbol.exponent)
        return found

    def powers(self, otherwise: str) -> Monomial:
        """Return the powers of symbols, negative ones among them, of which a number is the product.

        Raises
        ------
        NumberError
            If it is none, in these words, with the number in place of {}.
        """
        if len(self._top) != 1 or len(self._below) != 1 or self._top.leading_coefficient() != 1:
            raise NumberError(otherwise.format(self.key))
        degrees = zip(self.symbols, self._top.degrees(), self._below.degrees(), strict=True)
        return tuple((symbol, int(above - below)) for symbol, above, below in degrees)

    def power(self, count: int) -> "Number":
        """Return a whole power."""
        if abs(count) > _LARGEST:
            raise NumberError(f"a power of {count}")
        for part in (self._top, self._below):
            spend_power(part.coeffs(), abs(count))
        if count > 0:
            return Number(self.symbols, self._top**count, self._below**count)
        return _reduced(self.symbols, self._below**-count, self._top**-count)

    @property
    def constant(self) -> Fraction | None:
        """The fraction that it is, or None."""
        return None if self.symbols else fraction(self._top.leading_coefficient()) if self._top else Fraction(0)

    def names(self) -> set[str]:
        """Return all names in it."""
        if self._names is None:
            self._names = frozenset[str]().union(*(one.names() for one in self.symbols))
        return set(self._names)

    def terms(self) -> Iterator[tuple[dict[Symbol, int], Fraction]]:
        """Yield the terms of its numerator."""
        for powers, value in self._top.to_dict().items():
            pairs = zip(self.symbols, powers, strict=True)
            yield {symbol: int(count) for symbol, count in pairs if count}, fraction(value)

    def parted(self, inside: Callable[[Symbol], bool]) -> Iterator[tuple["Number", "Number"]]:
        """Yield the products of powers of some symbols, each with what it is multiplied by, which has none of them.

        Raises
        ------
        NumberError
            If a sum is divided by in which one of these symbols stands.
        """
        common = self._below.term_content()
        rest = self._of(self._below / common)
        if any(inside(symbol) for symbol in rest.symbols):
            raise NumberError(f"a sum over an index divides by {rest.key}")
        least = dict(zip(self.symbols, map(int, common.degrees()), strict=True))
        for powers, value in self.terms():
            kept, before = ONE, rational(value) / rest
            for symbol, count in least.items():
                if power := powers.get(symbol, 0) - count:
                    own = of(symbol).power(power)
                    kept, before = (kept * own, before) if inside(symbol) else (kept, before * own)
            yield kept, before

    def _of(self, part: Any) -> "Number":
        """Return a polynomial in its symbols as a number."""
        return _reduced(self.symbols, part, _unit(len(self.symbols)))

    @property
    def bottom(self) -> "Number":
        """Its denominator."""
        return ONE if self._below.is_one() else self._of(self._below)

    @property
    def upper(self) -> "Number":
        """Its numerator."""
        return self if self._below.is_one() else self._of(self._top)

    def factors(self) -> tuple[Fraction, list[tuple["Number", int]]]:
        """Return a fraction, and irreducible polynomials with their powers, negative ones for the denominator."""
        if not self:
            return Fraction(0), []
        for part in (self._top, self._below):
            spend(len(part) ** 2 * (1 + sum(map(int, part.degrees()))))
        (first, above), (second, under) = self._top.factor(), self._below.factor()
        parts = [*above, *((part, -count) for part, count in under)]
        return fraction(first / second), [(self._of(part), int(count)) for part, count in parts]

    def put(self, values: Mapping[str, "Number"]) -> "Number":
        """Return it with numbers in place of plain symbols, inside indices and exponents too."""
        if values.keys().isdisjoint(self.names()):
            return self

        def new(symbol: Symbol) -> Number | None:
            if values.keys().isdisjoint(symbol.names()):
                return None
            if not symbol.indices and symbol.exponent is None:
                return values[symbol.name]
            indices = tuple(one.put(values) for one in symbol.indices)
            if symbol.exponent is None:
                return of(Symbol(symbol.name, indices))
            base = of(Symbol(symbol.name, indices)) if indices else values.get(symbol.name, of(symbol.base))
            return base ** symbol.exponent.put(values)

        return self.mapped(new)

    def mapped(self, what: Callable[[Symbol], Union["Number", None]]) -> "Number":
        """Return it with numbers in place of symbols; None for those that stay."""
        found = {symbol: new for symbol in self.symbols if (new := what(symbol)) is not None}
        if not found:
            return self
        products = all(
            len(new._top) == 1 == new._top.leading_coefficient() and new._below.is_one() for new in found.values()
        )
        if products and max(*self._top.degrees(), *self._below.degrees()) <= _LARGEST:
            # Products of symbols in place of symbols: nothing is multiplied out.
            images = [found[symbol] if symbol in found else of(symbol) for symbol in self.symbols]
            every = _sorted(symbol for one in images for symbol in one.symbols)
            own = [moved(one.symbols, one._top, every) for one in images]
            return _reduced(every, *(part.compose(*own, ctx=_ring(len(every))) for part in (self._top, self._below)))
        top = self._value(self._top, found)
        return top if self._below.is_one() else top / self._value(self._below, found)

    def _value(self, part: Any, values: Mapping[Symbol, "Number"]) -> "Number":
        """Return a polynomial with numbers in place of symbols; terms with equal powers of these go together."""
        parts: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}
        for powers, value in part.to_dict().items():
            put = tuple([int(count) if one in values else 0 for one, count in zip(self.symbols, powers, strict=True)])
            stay = tuple([0 if one in values else count for one, count in zip(self.symbols, powers, strict=True)])
            parts.setdefault(put, {})[stay] = value
        whole = ZERO
        for put, terms in parts.items():
            factors = (values[one].power(count) for one, count in zip(self.symbols, put, strict=True) if count)
            whole = whole + math.prod(factors, start=self._of(_ring(len(put)).from_dict(terms)))
        return whole


def _reduced(symbols: tuple[Symbol, ...], top: Any, below: Any) -> Number:
    """Return the number top/below."""
    if not below:
        raise NumberError("a division by 0")
    spend(_EACH + len(top) + len(below))
    if not below.is_one():
        spend(len(top) * len(below) * len(symbols))
        common = top.gcd(below) * below.leading_coefficient()
        if not common.is_one():
            top, below = top / common, below / common
    degrees = zip(symbols, top.degrees(), below.degrees(), strict=True) if top else ()
    used = tuple([symbol for symbol, above, under in degrees if above or under])
    return Number(used, moved(symbols, top, used), moved(symbols, below, used))


def _sorted(symbols: Iterable[Symbol]) -> tuple[Symbol, ...]:
    return tuple(sorted({*symbols}, key=lambda symbol: symbol.key))


def _together(one: Number, other: Number) -> tuple[tuple[Symbol, ...], tuple[Any, Any], tuple[Any, Any]]:
    """Return the symbols of two numbers, and both as polynomials in all of them."""
    if one.symbols == other.symbols:
        return one.symbols, (one._top, one._below), (other._top, other._below)
    every = _sorted((*one.symbols, *other.symbols))
    (a, b), (c, d) = ([moved(own.symbols, part, every) for part in (own._top, own._below)] for own in (one, other))
    return every, (a, b), (c, d)


def rational(value: Fraction | int) -> Number:
    """Return a fraction as a number."""
    own = Fraction(value)
    return Number((), _ring(0).constant(fmpq(own.numerator, own.denominator)), _unit(0))


def exact(value: "Exact") -> Number:
    """Return a number as it is kept; raises if it is a float, or none."""
    if isinstance(value, Number):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        raise NumberError(f"an exact number is expected (a fraction, not a float), got {value!r}")
    return rational(value)


ZERO, ONE = rational(0), rational(1)


def of(symbol: Symbol) -> Number:
    """Return a symbol as a number."""
    return Number((symbol,), _ring(1).gen(0), _unit(1))


def raised(base: Symbol, exponent: Number) -> Number:
    """Return base^exponent, with q^(a + b) as q^a·q^b and q^(2a) as (q^a)²: one symbol for each monomial exponent."""
    if exponent.bottom != ONE and exponent.bottom.constant is None:
        raise NumberError(f"the exponent {exponent.key} is no polynomial")
    found = ONE
    for powers, value in exponent.terms():
        if value.denominator != 1:
            raise NumberError(f"the exponent {exponent.key} is no whole number")
        own = base
        if powers:
            product = math.prod((of(symbol).power(count) for symbol, count in powers.items()), start=ONE)
            own = Symbol(base.name, base.indices, product)
        found = found * of(own).power(int(value))
    return found
