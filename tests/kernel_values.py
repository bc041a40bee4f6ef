"""Values of numbers and of claims at a point, by their definition: what the kernel's forms are held to; refusals."""

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import prod
from typing import Any

import pytest

from boundlab.prove import Context, Expr, ProofError, Scalar
from boundlab.recheck._numbers import Symbol
from boundlab.recheck._terms import Atom, Base, Vec

Point = Mapping[str, Fraction]
Family = Callable[[str, tuple[int, ...]], Fraction]


def refused(words: str) -> Any:
    """Return a context in which something is to be refused, with these words."""
    return pytest.raises(ProofError, match=words)


def _no_family(name: str, indices: tuple[int, ...]) -> Fraction:
    raise AssertionError(f"{name}{indices} has no value here")


def at(value: Scalar, point: Point, family: Family = _no_family) -> Fraction:
    """Return a number at a point; 0^0 = 1."""
    return _polynomial(value.upper, point, family) / _polynomial(value.bottom, point, family)


def _polynomial(top: Scalar, point: Point, family: Family) -> Fraction:
    found = Fraction(0)
    for powers, part in top.terms():
        for symbol, power in powers.items():
            part *= _symbol(symbol, point, family) ** power
        found += part
    return found


def _symbol(symbol: Symbol, point: Point, family: Family) -> Fraction:
    if symbol.indices:
        own = family(symbol.name, tuple(int(_polynomial(one, point, family)) for one in symbol.indices))
    else:
        own = point[symbol.name]
    return own if symbol.exponent is None else own ** int(_polynomial(symbol.exponent, point, family))


def value(claim: Expr, point: Point, vectors: Family, family: Family = _no_family) -> Fraction:
    """Return an expression at a point, with numbers as vectors: E⟨u, v⟩ is a product."""
    return sum(
        (_nested(atom, 0, dict(point), vectors, family) * at(own, point, family) for atom, own in claim.terms.items()),
        Fraction(0),
    )


def _base(base: Base, point: Point, vectors: Family, family: Family) -> Fraction:
    assert base.kind in ("one", "inner")
    return prod((_vector(one, point, vectors, family) for one in base.vectors), start=Fraction(1))


def _nested(atom: Atom, depth: int, point: dict[str, Fraction], vectors: Family, family: Family) -> Fraction:
    if depth == len(atom.ranges):
        return at(atom.weight, point, family) * _base(atom.base, point, vectors, family)
    lo, hi = (int(_polynomial(end, point, family)) for end in atom.ranges[depth])
    return signed(lo, hi, lambda k: _nested(atom, depth + 1, {**point, f"_{depth}": Fraction(k)}, vectors, family))


def _vector(vector: Vec, point: Point, vectors: Family, family: Family) -> Fraction:
    return vectors(vector.name, tuple(int(_polynomial(one, point, family)) for one in vector.indices))


def signed(lo: int, hi: int, term: Callable[[int], Fraction]) -> Fraction:
    """Return Σ over lo ≤ k < hi, with the opposite sign where the range is reversed."""
    found = sum((term(k) for k in range(min(lo, hi), max(lo, hi))), Fraction(0))
    return found if lo <= hi else -found


def draw(context: Context, source: random.Random) -> dict[str, Fraction] | None:
    """Return a point of all ranges, often at their ends; None where a range is empty."""
    point: dict[str, Fraction] = {}
    for name in context.order():
        own = context.find(name)
        assert own is not None
        assert not own.arity
        low, high = (None if end is None else at(end, point) for end in (own.low, own.high))
        found = _drawn(low, high, own.above, own.below, source)
        if found is None:
            return None
        if own.integer:
            found = Fraction(int(found) if low is None or int(found) >= low else int(found) + 1)
            if high is not None and (found > high or (own.below and found == high)):
                return None
            if low is not None and (found < low or (own.above and found == low)):
                return None
        point[name] = found
    return point


def _drawn(
    low: Fraction | None, high: Fraction | None, above: bool, below: bool, source: random.Random
) -> Fraction | None:
    part = Fraction(source.choice((0, 0, 1, 1, 2, 3, 5, 8, 9)), 9)
    if low is None and high is None:
        return Fraction(source.randint(-30, 30), 7)
    far = Fraction(source.choice((0, 0, 1, 5, 40, 900)), 7)
    if high is None:
        assert low is not None
        return low + far if far or not above else low + Fraction(1, 50)
    if low is None:
        return high - far if far or not below else high - Fraction(1, 50)
    if low > high or (low == high and (above or below)):
        return None
    if (part == 0 and above) or (part == 1 and below):
        part = Fraction(1, 2) if source.random() < 0.5 else Fraction(1, 60) if part == 0 else Fraction(59, 60)
    return low + part * (high - low)
