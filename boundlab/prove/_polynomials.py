"""Symbols, and polynomials in them with rational coefficients, whose monomials may have negative powers."""

import heapq
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from operator import add, lt, sub
from types import MappingProxyType
from typing import NoReturn, TypeAlias, Union, final

from boundlab.prove._errors import ProofError

Rational: TypeAlias = int | Fraction
_NAME = re.compile(r"[A-Za-zα-ωΑ-Ω][A-Za-z0-9α-ωΑ-Ω]*(_[A-Za-z0-9]+)*'*\Z")
_BOUND = re.compile(r"_[0-9]+\Z")
MAX_TERMS = 20_000


def check_name(name: str) -> str:
    """Return a name that a user may give.

    Raises
    ------
    ProofError
        If it is none, such as one that is kept for bound variables.
    """
    if not _NAME.match(name):
        raise ProofError(
            f"{name!r} is no name: letters and digits, with _ between them; names that begin with _ are kept"
        )
    return name


@final
@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol, a member of a family of them (p[i]), or a power with a symbolic exponent (q^k).

    Parameters
    ----------
    name
        Its name.
    indices
        Of a family, whole numbers with symbols.
    exponent
        A monomial in whole symbols with coefficient 1; None for the symbol itself.
    """

    name: str
    indices: tuple["Poly", ...] = ()
    exponent: Union["Poly", None] = None
    key: str = field(init=False, compare=False)
    hashed: int = field(init=False, compare=False, repr=False)
    own_names: frozenset[str] = field(init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        return self.hashed

    def __post_init__(self) -> None:
        object.__setattr__(self, "hashed", hash((self.name, self.indices, self.exponent)))
        inside = f"[{', '.join(map(str, self.indices))}]" if self.indices else ""
        power = "" if self.exponent is None else f"^({self.exponent})"
        object.__setattr__(self, "key", f"{self.name}{inside}{power}")
        found = {self.name}.union(*(one.names() for one in self.indices))
        found |= frozenset() if self.exponent is None else self.exponent.names()
        object.__setattr__(self, "own_names", frozenset(found))

    @property
    def base(self) -> "Symbol":
        """The symbol that a power is of."""
        return Symbol(self.name, self.indices) if self.exponent is not None else self

    def names(self) -> frozenset[str]:
        """Return its name and all names inside."""
        return self.own_names

    def __str__(self) -> str:
        return self.key


Monomial: TypeAlias = tuple[tuple[Symbol, int], ...]
NO_POWERS: Monomial = ()


@lru_cache(maxsize=100_000)
def times(one: Monomial, other: Monomial) -> Monomial:
    if not one:
        return other
    if not other:
        return one
    found = dict(one)
    for symbol, power in other:
        found[symbol] = found.get(symbol, 0) + power
    return tuple(sorted(((s, e) for s, e in found.items() if e), key=lambda pair: pair[0].key))


def _tidy(value: Rational) -> Rational:
    return value if type(value) is int or value.denominator != 1 else value.numerator


@final
class Poly:
    """A polynomial with rational coefficients, whose monomials may have negative powers; immutable."""

    __slots__ = ("_hash", "_names", "terms")
    terms: Mapping[Monomial, Rational]
    _hash: int | None
    _names: frozenset[str] | None

    def __init__(self, terms: Mapping[Monomial, Rational]) -> None:
        own = dict(terms)  # a copy hashes no monomial anew
        for value in terms.values():
            if type(value) is not int or not value:
                own = {powers: _tidy(value) for powers, value in own.items() if value}
                break
        object.__setattr__(self, "terms", MappingProxyType(own))
        if len(own) > MAX_TERMS:
            raise ProofError(f"a polynomial has more than {MAX_TERMS} terms")
        object.__setattr__(self, "_hash", None)
        object.__setattr__(self, "_names", None)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a polynomial cannot be changed")

    def __hash__(self) -> int:
        own = self._hash
        if own is None:
            own = hash(frozenset(self.terms.items()))
            object.__setattr__(self, "_hash", own)
        return own

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __add__(self, other: "Poly") -> "Poly":
        found = dict(self.terms)
        for powers, value in other.terms.items():
            found[powers] = found.get(powers, 0) + value
        return Poly(found)

    def __sub__(self, other: "Poly") -> "Poly":
        return self + other.scaled(-1)

    def __mul__(self, other: "Poly") -> "Poly":
        for longer, single in ((self, other), (other, self)):
            if len(single.terms) == 1:
                ((powers, coefficient),) = single.terms.items()
                return longer.scaled(coefficient, powers)
        found: dict[Monomial, Rational] = {}
        if len(self.terms) * len(other.terms) > 40 * MAX_TERMS:
            raise ProofError("a product of polynomials is too long")
        for one, a in self.terms.items():
            for two, b in other.terms.items():
                powers = times(one, two)
                found[powers] = found.get(powers, 0) + a * b
        return Poly(found)

    def __pow__(self, power: int) -> "Poly":
        found = Poly({NO_POWERS: 1})
        for _ in range(power):
            found = found * self
        return found

    def scaled(self, by: Rational, powers: Monomial = NO_POWERS) -> "Poly":
        """Return it times a number and a monomial."""
        if by == 1 and not powers:
            return self
        return Poly({times(own, powers): value * by for own, value in self.terms.items()})

    def symbols(self) -> set[Symbol]:
        """Return the symbols of its monomials."""
        return {symbol for powers in self.terms for symbol, _ in powers}

    def names(self) -> frozenset[str]:
        """Return all names in it, those inside indices and exponents too."""
        own = self._names
        if own is None:
            own = frozenset[str]().union(*(symbol.names() for powers in self.terms for symbol, _ in powers))
            object.__setattr__(self, "_names", own)
        return own

    @property
    def constant(self) -> Rational | None:
        """The number that it is, or None."""
        if not self.terms:
            return 0
        return self.terms.get(NO_POWERS) if len(self.terms) == 1 else None

    def ordered(self) -> list[tuple[Monomial, Rational]]:
        """Return the terms in one order."""
        return sorted(self.terms.items(), key=lambda term: _order(term[0]))

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        text = ""
        for powers, value in self.ordered():
            body = "*".join(f"{s}" if e == 1 else f"{s}^{e}" if e > 0 else f"{s}^({e})" for s, e in powers)
            size = abs(value)
            part = body if size == 1 and body else f"{size}*{body}" if body else f"{size}"
            sign = "-" if value < 0 else "+"
            text += part if not text and sign == "+" else f"-{part}" if not text else f" {sign} {part}"
        return text


def _order(powers: Monomial) -> tuple[int, tuple[tuple[str, int], ...]]:
    return (-sum(abs(e) for _, e in powers), tuple((s.key, -e) for s, e in powers))


UNIT = Poly({NO_POWERS: 1})


def divided(top: Poly, by: Poly) -> Poly | None:
    """Return top/by where that is a polynomial (negative powers allowed), else None."""
    order = sorted(top.symbols() | by.symbols(), key=lambda s: s.key)
    place = {symbol: number for number, symbol in enumerate(order)}

    def vectors(own: Poly) -> dict[tuple[int, ...], Rational]:
        found = {}
        for powers, value in own.terms.items():
            vector = [0] * len(order)
            for symbol, power in powers:
                vector[place[symbol]] = power
            found[tuple(vector)] = value
        return found

    rest, parts = vectors(top), list(vectors(by).items())
    lead, value = max(parts)
    # A quotient's lowest power of each symbol is the difference of the lowest ones.
    columns = zip(zip(*rest, strict=True), zip(*(vector for vector, _ in parts), strict=True), strict=True)
    least = [min(one) - min(other) for one, other in columns]
    queue = [tuple(-power for power in vector) for vector in rest]
    heapq.heapify(queue)
    found: dict[Monomial, Rational] = {}
    while queue:
        first = tuple(-power for power in heapq.heappop(queue))
        own = rest.get(first, 0)
        if not own:
            continue
        quotient = tuple(map(sub, first, lead))
        if len(found) > 4 * MAX_TERMS or any(map(lt, quotient, least)):
            return None
        part = Fraction(own) / value
        found[tuple((symbol, power) for symbol, power in zip(order, quotient, strict=True) if power)] = part
        for vector, coefficient in parts:
            there = tuple(map(add, quotient, vector))
            if there not in rest:
                heapq.heappush(queue, tuple(-power for power in there))
            rest[there] = rest.get(there, 0) - part * coefficient
    return Poly(found)


def is_bound(name: str) -> bool:
    """Return whether a name belongs to a finite sum."""
    return bool(_BOUND.match(name))
