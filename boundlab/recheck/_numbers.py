"""Quotients of polynomials over Q, in lowest terms.

Most numbers of a proof are sums of products of powers, negative powers among them: of these the terms are kept. Where a
sum is divided by, two polynomials are kept, without common factors by python-flint. This module is imported where a
proof is read, so that certificates of worst cases need the standard library alone.
"""

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

# More than ten times what the longest proof that is shipped needs.
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


def spent() -> int:
    """Return how many steps were taken since :func:`begin`."""
    now = _SPENT.get()
    return 0 if now is None else now[0]


def spend(steps: int) -> None:
    """Count steps before they are taken; raises :class:`TooMuchError` if there are too many."""
    now = _SPENT.get()
    if now is not None:
        now[0] += steps
        if now[0] > MOST:
            raise TooMuchError(f"more than {MOST} steps of work")


def terms_of_power(terms: int, count: int) -> int:
    """Return how many terms a power of a polynomial may have, at most, or a number above MOST."""
    found = 1
    for place in range(1, min(terms, count + 1)):
        # A binomial coefficient of terms − 1 + count.
        found = found * (max(terms - 1, count) + place) // place
        if found > MOST:
            return found
    return found


# Products of powers of symbols, and sums of these: term by term, or as polynomials of python-flint.
#
# Of a symbol no more is asked than its ``key``, a text that no other symbol has.

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


def unit_polynomial(size: int) -> Any:
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


Exact: TypeAlias = Union["Number", int, Fraction]
Quotient: TypeAlias = tuple[tuple["Symbol", ...], Any, Any]
_EACH = 20  # steps for each number that is made
_FEW = 4  # with so many terms on one side, products are quicker term by term
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
    terms
        Where nothing but products of powers is divided by, the coefficient of each product.
    quotient
        Else its symbols, each of which occurs, and the polynomials above and below, without common factors; the first
        coefficient of that below is 1.
    """

    __slots__ = ("_key", "_names", "_quotient", "_symbols", "_terms")

    def __init__(self, terms: Terms | None, quotient: Quotient | None = None) -> None:
        self._terms, self._quotient = terms, quotient
        self._symbols: tuple[Symbol, ...] | None = None if quotient is None else quotient[0]
        self._names: frozenset[str] | None = None
        self._key: str | None = None

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """Its symbols, by their texts."""
        if self._symbols is None:
            found = {symbol for powers in self._terms or () for symbol, _ in powers}
            self._symbols = tuple(sorted(found, key=lambda s: s.key))
        return self._symbols

    def _polynomials(self) -> Quotient:
        """Return its symbols, and the polynomials above and below in them."""
        if self._quotient is None:
            own = self._terms or {}
            back, place = inverse(low(own)), places(self.symbols)
            top = {times(powers, back): value for powers, value in own.items()}
            self._quotient = self.symbols, polynomial(top, place), polynomial({back: UNIT}, place)
        return self._quotient

    def _ordered(self) -> list[tuple[Monomial, Any]]:
        """Return the terms of the numerator, times the same product of powers, in one order."""
        own = terms_of(*self._polynomials()[:2]) if self._terms is None else self._terms
        if len(own) < 2:
            return list(own.items())
        place = places(self.symbols)
        return sorted(own.items(), key=lambda term: spread(term[0], place), reverse=True)

    def _above(self) -> list[tuple[Monomial, Any]]:
        """Return the terms of the numerator in one order."""
        back = inverse(low(self._terms or ()))
        return [(times(powers, back), value) for powers, value in self._ordered()]

    @property
    def key(self) -> str:
        """Its text: equal for equal numbers alone."""
        if self._key is None:
            top, bottom = written(self._above()), self.bottom
            self._key = top if bottom == ONE else f"({top})/({written(bottom._above())})"
        return self._key

    def __repr__(self) -> str:
        return self.key.replace(";", ", ")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Number):
            return False
        if self._terms is None or other._terms is None:
            return self._terms is other._terms and self.key == other.key
        return self._terms == other._terms

    def __hash__(self) -> int:
        return hash(self.key)

    def __bool__(self) -> bool:
        return self._terms != {}

    def __add__(self, other: "Exact") -> "Number":
        other = exact(other)
        if self._terms is not None and other._terms is not None:
            spend(_EACH + len(self._terms) + TERM * len(other._terms))
            return Number(add(dict(self._terms), other._terms.items()))
        symbols, (a, b), (c, d) = _together(self, other)
        spend(len(a) + len(c) if b == d else len(a) * len(d) + len(c) * len(b) + len(b) * len(d))
        return _reduced(symbols, a + c, b) if b == d else _reduced(symbols, a * d + c * b, b * d)

    __radd__ = __add__

    def __neg__(self) -> "Number":
        return self * _MINUS

    def __sub__(self, other: "Exact") -> "Number":
        return self + -exact(other)

    def __rsub__(self, other: "Exact") -> "Number":
        return exact(other) + -self

    def __mul__(self, other: "Exact") -> "Number":
        if not isinstance(other, (Number, int, float, Fraction)):
            return NotImplemented
        other = exact(other)
        one, two = self._terms, other._terms
        if one is not None and two is not None and min(len(one), len(two)) <= _FEW:
            spend(_EACH + TERM * len(one) * len(two))
            return Number(add({}, ((times(p, q), a * b) for p, a in one.items() for q, b in two.items())))
        symbols, (a, b), (c, d) = _together(self, other)
        spend(len(a) * len(c) + len(b) * len(d))
        return _reduced(symbols, a * c, b * d)

    __rmul__ = __mul__

    def __truediv__(self, other: "Exact") -> "Number":
        other = exact(other)
        if other._terms is not None and len(other._terms) == 1:
            return self * other.power(-1)
        symbols, (a, b), (c, d) = _together(self, other)
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
        terms = list((self._terms or {}).items())
        if len(terms) != 1 or terms[0][1] != 1:
            raise NumberError(otherwise.format(self.key))
        return terms[0][0]

    def power(self, count: int) -> "Number":
        """Return a whole power."""
        if abs(count) > _LARGEST:
            raise NumberError(f"a power of {count}")
        if self._terms is not None and len(self._terms) == 1:
            ((powers, value),) = self._terms.items()
            spend_power((value,), abs(count))
            return Number({tuple((symbol, own * count) for symbol, own in powers if count): value**count})
        symbols, top, below = self._polynomials()
        for part in (top, below):
            spend_power(part.coeffs(), abs(count))
        if count >= 0:
            return _reduced(symbols, top**count, below**count)
        return _reduced(symbols, below**-count, top**-count)

    @property
    def constant(self) -> Fraction | None:
        """The fraction that it is, or None."""
        if not self._terms:
            return None if self._terms is None else Fraction(0)
        return fraction(self._terms[()]) if len(self._terms) == 1 and () in self._terms else None

    def names(self) -> set[str]:
        """Return all names in it."""
        if self._names is None:
            self._names = frozenset[str]().union(*(one.names() for one in self.symbols))
        return set(self._names)

    def terms(self) -> Iterator[tuple[dict[Symbol, int], Fraction]]:
        """Yield the terms of its numerator."""
        for powers, value in self._above():
            yield dict(powers), fraction(value)

    def parted(self, inside: Callable[[Symbol], bool]) -> Iterator[tuple["Number", "Number"]]:
        """Yield the products of powers of some symbols, each with what it is multiplied by, which has none of them.

        Raises
        ------
        NumberError
            If a sum is divided by in which one of these symbols stands.
        """
        own, rest = self, ONE
        if self._terms is None:
            rest = self.bottom / Number({self.bottom._common(): UNIT})
            if any(inside(symbol) for symbol in rest.symbols):
                raise NumberError(f"a sum over an index divides by {rest.key}")
            own = self * rest
        for powers, value in own._ordered():
            kept = tuple(pair for pair in powers if inside(pair[0]))
            before = Number({tuple(pair for pair in powers if not inside(pair[0])): value})
            yield Number({kept: UNIT}), before if rest == ONE else before / rest

    def _common(self) -> Monomial:
        """Return the product of powers that divides a polynomial."""
        terms = [dict(powers) for powers, _ in self._above()]
        least = ((symbol, min(powers.get(symbol, 0) for powers in terms)) for symbol in self.symbols)
        return tuple(pair for pair in least if pair[1])

    @property
    def bottom(self) -> "Number":
        """Its denominator."""
        if self._terms is not None:
            back = inverse(low(self._terms))
            return Number({back: UNIT}) if back else ONE
        symbols, _, below = self._polynomials()
        return _reduced(symbols, below, unit_polynomial(len(symbols)))

    @property
    def upper(self) -> "Number":
        """Its numerator."""
        return Number(dict(self._above()))

    def factors(self) -> tuple[Fraction, list[tuple["Number", int]]]:
        """Return a fraction, and irreducible polynomials with their powers, negative ones for the denominator."""
        if not self:
            return Fraction(0), []
        symbols, top, below = self._polynomials()
        for part in (top, below):
            spend(len(part) ** 2 * (1 + sum(map(int, part.degrees()))))
        (first, above), (second, under) = top.factor(), below.factor()
        parts = [*above, *((part, -count) for part, count in under)]
        one = unit_polynomial(len(symbols))
        return fraction(first / second), [(_reduced(symbols, part, one), int(count)) for part, count in parts]

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
        found: dict[Symbol, Number] = {}
        for one in self.symbols:
            new = what(one)
            if new is not None:
                found[one] = new
        if not found:
            return self
        below = low(self._terms or ())
        if (
            self._terms is None
            or any(one._terms is None for one in found.values())
            or any(len(found[symbol]._terms or ()) != 1 for symbol, _ in below if symbol in found)
        ):
            symbols, top, bottom = self._polynomials()
            return _value(symbols, top, found) / _value(symbols, bottom, found)
        # Terms are gathered by the powers that change, so that nothing is multiplied out twice.
        moved: dict[Monomial, Terms] = {}
        for powers, value in self._terms.items():
            changing = tuple(pair for pair in powers if pair[0] in found)
            moved.setdefault(changing, {})[tuple(pair for pair in powers if pair[0] not in found)] = value
        whole = ZERO
        for changing, terms in moved.items():
            part = Number(terms)
            for symbol, count in changing:
                part = part * found[symbol].power(count)
            whole = whole + part
        return whole


def _reduced(symbols: tuple[Symbol, ...], top: Any, below: Any) -> Number:
    """Return the number top/below."""
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
    if len(below) == 1:
        ((powers, _),) = terms_of(symbols, below).items()
        return Number({times(own, inverse(powers)): value for own, value in terms_of(symbols, top).items()})
    # The degrees of 0 are −1.
    degrees = zip(symbols, top.degrees(), below.degrees(), strict=True)
    place = places(symbol for symbol, *pair in degrees if max(pair) > 0)
    return Number(None, (tuple(place), *(moved(symbols, part, place) for part in (top, below))))


def _together(one: Number, other: Number) -> tuple[tuple[Symbol, ...], tuple[Any, Any], tuple[Any, Any]]:
    (mine, a, b), (its, c, d) = one._polynomials(), other._polynomials()
    if mine == its:
        return mine, (a, b), (c, d)
    place = places({*mine, *its})
    every = tuple(place)
    return (
        every,
        (moved(mine, a, place), moved(mine, b, place)),
        (moved(its, c, place), moved(its, d, place)),
    )


def _value(symbols: tuple[Symbol, ...], part: Any, values: Mapping[Symbol, Number]) -> Number:
    """Return a polynomial with numbers in place of some symbols: numerators and denominators apart, divided once."""
    new = [values.get(symbol, of(symbol)) for symbol in symbols]
    place = places({symbol for one in new for symbol in one.symbols})
    tops, belows = [], []
    for one in new:
        own, top, below = one._polynomials()
        tops.append(moved(own, top, place))
        belows.append(None if below.is_one() else moved(own, below, place))
    degrees = [max(int(degree), 0) for degree in part.degrees()]
    unit = unit_polynomial(len(place))
    found, whole = unit * 0, unit
    for powers, value in part.to_dict().items():
        term = unit * value
        for top, below, power, degree in zip(tops, belows, powers, degrees, strict=True):
            if power:
                term = times_power(term, top, int(power))
            if below is not None and degree > power:
                term = times_power(term, below, int(degree - power))
        found = found + term
    for below, degree in zip(belows, degrees, strict=True):
        if below is not None and degree:
            whole = times_power(whole, below, degree)
    return _reduced(tuple(place), found, whole)


def rational(value: Fraction | int) -> Number:
    """Return a fraction as a number."""
    own = Fraction(value)
    return Number({(): fmpq(own.numerator, own.denominator)} if own else {})


def sum_of_products(parts: Iterable[tuple[Fraction, Iterable[Number]]]) -> Number:
    """Return the sum of fractions times products, of powers of symbols alone."""
    found: Terms = {}
    for value, powers in parts:
        own: Monomial = ()
        for one in powers:
            ((more, _),) = (one._terms or {}).items()
            own = times(own, more)
        spend(_EACH + TERM * len(own))
        add(found, [(own, fmpq(value.numerator, value.denominator))] if value else ())
    return Number(found)


def exact(value: "Exact") -> Number:
    """Return a number as it is kept; raises if it is a float, or none."""
    if isinstance(value, Number):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        raise NumberError(f"an exact number is expected (a fraction, not a float), got {value!r}")
    return rational(value)


ZERO, ONE, _MINUS = rational(0), rational(1), rational(-1)


def of(symbol: Symbol) -> Number:
    """Return a symbol as a number."""
    return Number({((symbol, 1),): UNIT})


def raised(base: Symbol, exponent: Number) -> Number:
    """Return base^exponent, with q^(a + b) as q^a·q^b and q^(2a) as (q^a)²: one symbol for each monomial exponent."""
    if exponent.bottom != ONE and exponent.bottom.constant is None:
        raise NumberError(f"the exponent {exponent.key} is no polynomial")
    found = ONE
    for powers, value in exponent.terms():
        if value.denominator != 1:
            raise NumberError(f"the exponent {exponent.key} is no whole number")
        own = base if not powers else Symbol(base.name, base.indices, Number({tuple(powers.items()): UNIT}))
        found = found * of(own).power(int(value))
    return found
