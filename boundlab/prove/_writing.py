"""Numbers, vectors and claims as a proof file has them."""

from collections.abc import Mapping
from typing import Any

from boundlab.prove._scalars import Scalar, Symbol, shape
from boundlab.recheck.kernel import Atom, Base, Range, Vec


def symbol_dict(name: str, own: Range, by: int | None, exponent: Scalar | None) -> dict[str, Any]:
    """Return a declaration; the v of a symbol that stands for e^v, and ends of a family, have _0 for its index."""
    ends = {which: None if end is None else number(end) for which, end in (("low", own.low), ("high", own.high))}
    flags = {"above": own.above, "below": own.below, "integer": own.integer, "guarded": own.guarded}
    found = {"name": name, **ends, **flags, "arity": own.arity, "by": by}
    return found if exponent is None else found | {"exponent": number(exponent)}


def _products(terms: Any) -> list[Any]:
    """Return [[coefficient, [[symbol, power], …]], …]."""
    return [[str(value), [[symbol(one), power] for one, power in powers]] for powers, value in terms]


def as_terms(value: Scalar) -> list[Any]:
    """Return an index, an exponent, an end or a weight."""
    return _products(shape(value).top)


def symbol(one: Symbol) -> Any:
    """Return a symbol: its name, or [name, indices, exponent or null]."""
    if not one.indices and one.exponent is None:
        return one.name
    exponent = None if one.exponent is None else as_terms(one.exponent)
    return [one.name, [as_terms(index) for index in one.indices], exponent]


def number(value: Scalar) -> dict[str, Any]:
    """Return a number: a numerator, and the factors of its denominator with how often each stands there."""
    top, factors = shape(value)
    found: dict[str, Any] = {"top": _products(top)}
    return found | {"below": [[as_terms(one), count] for one, count in factors]} if factors else found


def vector(one: Vec) -> list[Any]:
    """Return a vector: its name and its indices."""
    return [one.name, [as_terms(index) for index in one.indices]]


def _base(base: Base) -> list[Any]:
    match base.kind:
        case "inner":
            return ["inner", *map(vector, base.vectors)]
        case "value":
            return ["value", base.function, [as_terms(index) for index in base.indices], vector(base.vectors[0])]
        case "vector":
            return ["vector", *vector(base.vectors[0])]
    return ["one"]


def _atom(atom: Atom) -> list[Any]:
    if not atom.ranges:
        return _base(atom.base)
    ends = [[as_terms(lo), as_terms(hi)] for lo, hi in atom.ranges]
    return ["sum", ends, as_terms(atom.weight), _base(atom.base)]


def combination(terms: Mapping[Atom, Scalar]) -> list[Any]:
    """Return [[coefficient, atom], …]."""
    return [[number(own), _atom(key)] for key, own in sorted(terms.items(), key=lambda term: term[0].key)]
