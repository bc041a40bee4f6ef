"""Quotients of polynomials over Q, in lowest terms.

Most numbers of a proof are sums of products of powers, negative powers among them: of these the terms are kept. Where a
sum is divided by, two polynomials are kept, without common factors by python-flint. This module is imported where a
proof is read, so that certificates of worst cases need the standard library alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias, Union, final

from flint import fmpq

from boundlab.recheck import _polynomials as poly
from boundlab.recheck._polynomials import UNIT, Monomial, Terms
from boundlab.recheck._work import spend

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
            back, place = poly.inverse(poly.low(own)), poly.places(self.symbols)
            top = {poly.times(powers, back): value for powers, value in own.items()}
            self._quotient = self.symbols, poly.polynomial(top, place), poly.polynomial({back: UNIT}, place)
        return self._quotient

    def _ordered(self) -> list[tuple[Monomial, Any]]:
        """Return the terms of the numerator, times the same product of powers, in one order."""
        own = poly.terms_of(*self._polynomials()[:2]) if self._terms is None else self._terms
        if len(own) < 2:
            return list(own.items())
        place = poly.places(self.symbols)
        return sorted(own.items(), key=lambda term: poly.spread(term[0], place), reverse=True)

    def _above(self) -> list[tuple[Monomial, Any]]:
        """Return the terms of the numerator in one order."""
        back = poly.inverse(poly.low(self._terms or ()))
        return [(poly.times(powers, back), value) for powers, value in self._ordered()]

    @property
    def key(self) -> str:
        """Its text: equal for equal numbers alone."""
        if self._key is None:
            top, bottom = poly.written(self._above()), self.bottom
            self._key = top if bottom == ONE else f"({top})/({poly.written(bottom._above())})"
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
            spend(_EACH + len(self._terms) + poly.TERM * len(other._terms))
            return Number(poly.add(dict(self._terms), other._terms.items()))
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
            spend(_EACH + poly.TERM * len(one) * len(two))
            return Number(poly.add({}, ((poly.times(p, q), a * b) for p, a in one.items() for q, b in two.items())))
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
        top, below = list(self.upper.terms()), list(self.bottom.terms())
        if len(top) != 1 or len(below) != 1 or top[0][1] != 1 or below[0][1] != 1:
            raise NumberError(f"a symbolic power of {self.key}, which is no product of symbols")
        found = ONE
        for powers, sign in ((top[0][0], 1), (below[0][0], -1)):
            for symbol, count in powers.items():
                own = other * (sign * count)
                found = found * raised(symbol.base, own if symbol.exponent is None else own * symbol.exponent)
        return found

    def power(self, count: int) -> "Number":
        """Return a whole power."""
        if abs(count) > _LARGEST:
            raise NumberError(f"a power of {count}")
        if self._terms is not None and len(self._terms) == 1:
            ((powers, value),) = self._terms.items()
            poly.spend_power((value,), abs(count))
            return Number({tuple((symbol, own * count) for symbol, own in powers if count): value**count})
        symbols, top, below = self._polynomials()
        for part in (top, below):
            poly.spend_power(part.coeffs(), abs(count))
        if count >= 0:
            return _reduced(symbols, top**count, below**count)
        return _reduced(symbols, below**-count, top**-count)

    @property
    def constant(self) -> Fraction | None:
        """The fraction that it is, or None."""
        if not self._terms:
            return None if self._terms is None else Fraction(0)
        return poly.fraction(self._terms[()]) if len(self._terms) == 1 and () in self._terms else None

    def names(self) -> set[str]:
        """Return all names in it."""
        if self._names is None:
            self._names = frozenset[str]().union(*(one.names() for one in self.symbols))
        return set(self._names)

    def terms(self) -> Iterator[tuple[dict[Symbol, int], Fraction]]:
        """Yield the terms of its numerator."""
        for powers, value in self._above():
            yield dict(powers), poly.fraction(value)

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
            back = poly.inverse(poly.low(self._terms))
            return Number({back: UNIT}) if back else ONE
        symbols, _, below = self._polynomials()
        return _reduced(symbols, below, poly.one(len(symbols)))

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
        one = poly.one(len(symbols))
        return poly.fraction(first / second), [(_reduced(symbols, part, one), int(count)) for part, count in parts]

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
        below = poly.low(self._terms or ())
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
        ((powers, _),) = poly.terms_of(symbols, below).items()
        return Number(
            {poly.times(own, poly.inverse(powers)): value for own, value in poly.terms_of(symbols, top).items()}
        )
    # The degrees of 0 are −1.
    degrees = zip(symbols, top.degrees(), below.degrees(), strict=True)
    place = poly.places(symbol for symbol, *pair in degrees if max(pair) > 0)
    return Number(None, (tuple(place), *(poly.moved(symbols, part, place) for part in (top, below))))


def _together(one: Number, other: Number) -> tuple[tuple[Symbol, ...], tuple[Any, Any], tuple[Any, Any]]:
    (mine, a, b), (its, c, d) = one._polynomials(), other._polynomials()
    if mine == its:
        return mine, (a, b), (c, d)
    place = poly.places({*mine, *its})
    every = tuple(place)
    return (
        every,
        (poly.moved(mine, a, place), poly.moved(mine, b, place)),
        (poly.moved(its, c, place), poly.moved(its, d, place)),
    )


def _value(symbols: tuple[Symbol, ...], part: Any, values: Mapping[Symbol, Number]) -> Number:
    """Return a polynomial with numbers in place of some symbols: numerators and denominators apart, divided once."""
    new = [values.get(symbol, of(symbol)) for symbol in symbols]
    place = poly.places({symbol for one in new for symbol in one.symbols})
    tops, belows = [], []
    for one in new:
        own, top, below = one._polynomials()
        tops.append(poly.moved(own, top, place))
        belows.append(None if below.is_one() else poly.moved(own, below, place))
    degrees = [max(int(degree), 0) for degree in part.degrees()]
    unit = poly.one(len(place))
    found, whole = unit * 0, unit
    for powers, value in part.to_dict().items():
        term = unit * value
        for top, below, power, degree in zip(tops, belows, powers, degrees, strict=True):
            if power:
                term = poly.times_power(term, top, int(power))
            if below is not None and degree > power:
                term = poly.times_power(term, below, int(degree - power))
        found = found + term
    for below, degree in zip(belows, degrees, strict=True):
        if below is not None and degree:
            whole = poly.times_power(whole, below, degree)
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
            own = poly.times(own, more)
        spend(_EACH + poly.TERM * len(own))
        poly.add(found, [(own, fmpq(value.numerator, value.denominator))] if value else ())
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
