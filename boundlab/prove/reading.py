"""Reads what :mod:`boundlab.prove.trace` writes: numbers, vectors and expressions of a proof file."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from boundlab.prove._atoms import UNIT, Inner, Value, Vec, add_to, inner, sum_of
from boundlab.prove._context import Range
from boundlab.prove._errors import ProofError
from boundlab.prove._scalars import Poly, Scalar, Symbol, of_symbol, scalar, whole
from boundlab.prove._terms import Expr, Lin


def number(raw: Any) -> Scalar:
    """Return a number."""
    found = _polynomial(raw["top"])
    for factor, count in raw.get("below", ()):
        found = found / _polynomial(factor) ** count
    return found


def combination(raw: Any) -> dict[Any, Scalar]:
    """Return coefficients by atom."""
    found: dict[Any, Scalar] = {}
    for value, atom in raw:
        if atom[0] == "sum":
            _, ends, weight, inside = atom
            bounds = tuple((_whole(lo), _whole(hi)) for lo, hi in ends)
            add_to(found, {key: one * number(value) for key, one in _summed(bounds, weight, inside).items()})
        else:
            add_to(found, {_base(atom): number(value)})
    return found


def argument(raw: Sequence[Any], cases: Any) -> Any:
    """Return what a method of a setting was given; ``cases`` finds a context by its number.

    Raises
    ------
    ProofError
        If it is of no known kind.
    """
    kind, own = raw
    match kind:
        case "number":
            return number(own)
        case "vector":
            return Lin(combination(own))
        case "expression":
            return Expr(combination(own))
        case "case":
            return cases(own)
        case "flag" | "whole" | "word" | "none":
            return own
    raise ProofError("an argument is of no known kind")


def span(raw: Any) -> Range:
    """Return the range of a symbol."""
    low, high = (None if raw[end] is None else number(raw[end]) for end in ("low", "high"))
    return Range(low, high, raw["above"], raw["below"], raw["integer"], raw["arity"], raw["guarded"])


def _polynomial(raw: Any) -> Scalar:
    found = scalar(0)
    for value, powers in raw:
        term = scalar(Fraction(value))
        for one, count in powers:
            term = term * _symbol(one) ** count
        found = found + term
    return found


def _whole(raw: Any) -> Poly:
    return whole(_polynomial(raw))


def _symbol(raw: Any) -> Scalar:
    if isinstance(raw, str):
        return of_symbol(Symbol(raw))
    name, indices, exponent = raw
    return of_symbol(Symbol(name, tuple(map(_whole, indices)), None if exponent is None else _whole(exponent)))


def _vector(name: Any, indices: Any) -> Vec:
    return Vec(name, tuple(map(_whole, indices)))


def _base(raw: Any) -> Any:
    match raw:
        case ["inner", first, second]:
            one: Inner = inner(_vector(*first), _vector(*second))
            return one
        case ["value", function, indices, at]:
            return Value(function, tuple(map(_whole, indices)), _vector(*at))
        case ["vector", name, indices]:
            return _vector(name, indices)
    return UNIT


def _summed(bounds: Any, weight: Any, inside: Any) -> dict[Any, Scalar]:
    return sum_of(bounds, _polynomial(weight), _base(inside))
