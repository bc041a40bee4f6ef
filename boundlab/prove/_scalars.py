"""Exact numbers with symbols: those of the checker, with the names that a user may give, and how a quotient is read.

A symbol carries no assumption; what is known of it is said by a :class:`boundlab.prove._context.Context`. Nothing is
ever simplified but by multiplying out and by what a numerator and a denominator have in common: a number is 0 if and
only if its numerator has no terms.
"""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from boundlab.prove._errors import ProofError, refused
from boundlab.recheck import kernel as core
from boundlab.recheck.kernel import ONE as ONE, ZERO as ZERO, Monomial as Monomial, Symbol as Symbol

Scalar: TypeAlias = core.Number
Number: TypeAlias = Scalar | int | Fraction
of_symbol = core.of
_NAME = re.compile(r"[A-Za-zα-ωΑ-Ω][A-Za-z0-9α-ωΑ-Ω]*(_[A-Za-z0-9]+)*'*\Z")


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


def scalar(value: Number) -> Scalar:
    """Return a number as a :class:`Scalar`; raises if it is a float, or nothing of the kind."""
    if isinstance(value, Scalar):
        return value
    with refused():
        return core.exact(value)


def same(one: Number, other: Number) -> bool:
    """Return whether two numbers are equal wherever both have a value."""
    return scalar(one) == scalar(other)


def variable(name: str, *indices: Number) -> Scalar:
    """Return a symbol, or a member of a family."""
    return of_symbol(Symbol(check_name(name), tuple(whole(one) for one in indices)))


def bound_variable(depth: int) -> Scalar:
    """Return the variable that a finite sum of that depth binds; no user can name it."""
    return of_symbol(Symbol(f"_{depth}"))


# The first index of a family, in the ends of its range.
FIRST = bound_variable(0)


def whole(value: Number) -> Scalar:
    """Return a polynomial with whole coefficients and powers ≥ 0, such as an index or an exponent; raises otherwise."""
    own = scalar(value)
    if own.bottom != ONE or any(coefficient.denominator != 1 for _, coefficient in own.terms()):
        raise ProofError(f"an index is a whole number, got {own}")
    return own


def total(values: Iterable[Number]) -> Scalar:
    """Return a sum."""
    found = ZERO
    for one in values:
        found = found + one
    return found


# ---------------------------------------------------------------------- how a number is read


class Shape(NamedTuple):
    """A number as a sum of terms over factors.

    Parameters
    ----------
    top
        Products of powers, negative ones among them, each with its coefficient, in one order.
    factors
        Polynomials of several terms with how often they stand below; the first coefficient of each is 1.
    """

    top: tuple[tuple[Monomial, Fraction], ...]
    factors: tuple[tuple[Scalar, int], ...]


@lru_cache(maxsize=1 << 16)
def shape(value: Scalar) -> Shape:
    """Return the terms of a number, and the factors below."""
    number, parts = value.bottom.factors()
    less: dict[Symbol, int] = {}
    factors = []
    for part, count in parts:
        ((powers, lead), *more) = _by_degree((tuple(sorted(own.items(), key=_key)), c) for own, c in part.terms())
        number *= lead**count
        if more:
            factors.append((part / lead, count))
        else:
            less |= {symbol: less.get(symbol, 0) - power * count for symbol, power in powers}
    top = _by_degree((_merged(own, less), coefficient / number) for own, coefficient in value.upper.terms())
    return Shape(tuple(top), tuple(sorted(factors, key=lambda pair: str(pair[0]))))


def text(value: Scalar) -> str:
    """Return a number on one line.

    Examples
    --------
    >>> text((variable("N") - 1) / (2 * variable("K") + 2))
    '(1/2*N - 1/2)/((K + 1))'
    """
    top, factors = shape(value)
    above = _in_line(top)
    bottom = "*".join(f"({_in_line(shape(one).top)})" + f"^{count}" * (count > 1) for one, count in factors)
    return above if not bottom else f"({above})/({bottom})" if len(top) > 1 else f"{above}/({bottom})"


def _in_line(top: Iterable[tuple[Monomial, Fraction]]) -> str:
    found = ""
    for powers, value in top:
        body = [f"{s}" if e == 1 else f"{s}^{e}" if e > 0 else f"{s}^({e})" for s, e in powers]
        part = "*".join([str(abs(value))] * (abs(value) != 1 or not body) + body)
        minus = value < 0
        found += f" {'-' if minus else '+'} {part}" if found else f"{'-' * minus}{part}"
    return found or "0"


def _key(pair: tuple[Symbol, int]) -> str:
    return pair[0].key


def _merged(one: Mapping[Symbol, int], other: Mapping[Symbol, int]) -> Monomial:
    found = {**other, **{symbol: power + other.get(symbol, 0) for symbol, power in one.items()}}
    return tuple(sorted(((symbol, power) for symbol, power in found.items() if power), key=_key))


def _by_degree(terms: Iterable[tuple[Monomial, Fraction]]) -> list[tuple[Monomial, Fraction]]:
    """Return terms in one order: the highest degree first."""

    def order(term: tuple[Monomial, Fraction]) -> tuple[int, list[tuple[str, int]]]:
        return -sum(abs(power) for _, power in term[0]), [(symbol.key, -power) for symbol, power in term[0]]

    return sorted(terms, key=order)
