"""What a proof is made of, as a file has it: each fact a line, each symbol and each vector a declaration.

The kernel hands these to the checker as a proof is written; :mod:`boundlab.prove.trace` keeps those that count.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from boundlab.prove._facts import Fact, Shared
from boundlab.prove._ranges import Range, Ranges
from boundlab.prove._scalars import Poly, Scalar, Symbol, of_symbol, scalar
from boundlab.prove._terms import Claim, Expr, Inner, Lin, Sum, Value, Vec
from boundlab.prove._vectors import Known, Law, Slope

_RELATIONS = {"≤": "<=", "≥": ">=", "=": "="}


@final
@dataclass(frozen=True)
class Places:
    """Where facts, cases and laws stand in a file."""

    fact: Callable[[int], int]
    case: Callable[[Any], int]
    law: Callable[[Law], int]


def line_of(
    rule: str,
    context: Any,
    premises: Iterable[Shared],
    data: Mapping[str, Any],
    told: Mapping[str, Any],
    at: Places,
) -> dict[str, Any]:
    """Return a fact as a line; ``told`` is what it says, and the names of what it rests on."""
    return {
        "rule": rule,
        "context": at.case(context),
        "premises": [at.fact(one.number) for one in premises],
        "data": data_of(data, at),
        **told,
    }


def says(own: Claim | tuple[Lin, Lin], axioms: frozenset[str]) -> dict[str, Any]:
    """Return what a fact says, and the names of what it rests on."""
    if isinstance(own, Claim):
        return {"axioms": sorted(axioms), "claim": claim(own)}
    return {"axioms": sorted(axioms), "left": combination(own[0]), "right": combination(own[1])}


def said(fact: Shared) -> dict[str, Any]:
    """Return what a fact that was made says."""
    own = fact.claim if isinstance(fact, Fact) else (fact.left, fact.right)  # type: ignore[attr-defined]
    return says(own, fact.axioms)


def data_of(data: Mapping[str, Any], at: Places) -> dict[str, Any]:
    """Return what a fact was made with."""

    def value(one: Any) -> Any:
        match one:
            case Shared():
                return at.fact(one.number)
            case Scalar():
                return number(one)
            case Expr() | Lin():
                return combination(one)
            case Law():
                return at.law(one)
            case tuple():
                return [value(part) for part in one]
            case Mapping():
                return {key: value(part) for key, part in one.items()}
            case str() | int() | None:
                return one
        raise TypeError(f"{one!r} has no place in a file")

    return {key: [_argument(part, at) for part in one] if key == "args" else value(one) for key, one in data.items()}


def _argument(one: Any, at: Places) -> list[Any]:
    """Return what a method of a setting was given, with what it is."""
    match one:
        case bool():
            return ["flag", one]
        case int():
            return ["whole", one]
        case Fraction():
            return ["number", number(scalar(one))]
        case Scalar():
            return ["number", number(one)]
        case Lin():
            return ["vector", combination(one)]
        case Expr():
            return ["expression", combination(one)]
        case str():
            return ["word", one]
        case Ranges():
            return ["case", at.case(one)]
        case None:
            return ["none", None]
    raise TypeError(f"{one!r} has no place in a file")


# ---------------------------------------------------------------------- declarations


def symbol_dict(name: str, own: Range, by: int | None, exponent: Scalar | None) -> dict[str, Any]:
    """Return a declaration; the v of a symbol that stands for e^v, and ends of a family, have _0 for its index."""
    ends = {which: None if end is None else number(end) for which, end in (("low", own.low), ("high", own.high))}
    flags = {"above": own.above, "below": own.below, "integer": own.integer, "guarded": own.guarded}
    found = {"name": name, **ends, **flags, "arity": own.arity, "by": by}
    return found if exponent is None else found | {"exponent": number(exponent)}


def known_dict(own: Known) -> dict[str, Any]:
    """Return a declaration of vectors: times as numbers in the indices @0, @1 and so on."""
    indices = [of_symbol(Symbol(f"@{place}")) for place in range(own.arity)]
    times = {"clock": own.clock, "drawn": own.drawn}
    return {
        "arity": own.arity,
        **{name: None if of is None else [number(one) for one in of(*indices)] for name, of in times.items()},
    }


def slope_dict(own: Slope) -> dict[str, Any]:
    """Return what vectors are gradients of."""
    values = {name: of_symbol(Symbol(f"@{place}")) for place, name in enumerate(own.symbols)}
    which = [number(one.put(values)) for one in own.which]
    return {"function": own.function, "which": which, "at": vector(own.at.put(values))}


def law_dict(law: Law, known: Mapping[str, Known]) -> dict[str, Any]:
    """Return who acts when, with @i for the client, @k for the iteration, and @1, @2 for indices between them."""
    i, k = of_symbol(Symbol("@i")), of_symbol(Symbol("@k"))
    registers = {}
    for name, own in sorted(law.registers.items()):
        first = [] if own.owner == "server" else [i]
        if own.owner != "any":
            more = known[name].arity - 1 - len(first) if name in known else 0
            first += [of_symbol(Symbol(f"@{place + 1}")) for place in range(more)]
        registers[name] = {"owner": own.owner, "branch": combination(own.branch(*first, k))}
    return {
        "p": number(law.p(i)),
        "p_s": number(law.p_s),
        "clients": number(law.clients),
        "index": law.index,
        "registers": registers,
    }


# ---------------------------------------------------------------------- structure


def _polynomial(top: Poly) -> list[Any]:
    """Return [[coefficient, [[symbol, power], …]], …]."""
    return [[str(value), [[symbol(one), power] for one, power in powers]] for powers, value in top.ordered()]


def symbol(one: Symbol) -> Any:
    """Return a symbol: its name, or [name, indices, exponent or null]."""
    if not one.indices and one.exponent is None:
        return one.name
    exponent = None if one.exponent is None else _polynomial(one.exponent)
    return [one.name, [_polynomial(index) for index in one.indices], exponent]


def number(value: Scalar) -> dict[str, Any]:
    """Return a number: a numerator, and the factors of its denominator with how often each stands there."""
    found: dict[str, Any] = {"top": _polynomial(value.top)}
    if value.factors:
        found["below"] = [[_polynomial(factor), count] for factor, count in value.factors]
    return found


def vector(one: Vec) -> list[Any]:
    """Return a vector: its name and its indices."""
    return [one.name, [_polynomial(index) for index in one.indices]]


def _atom(atom: Any) -> list[Any]:
    match atom:
        case Sum():
            ends = [[_polynomial(lo), _polynomial(hi)] for lo, hi in atom.bounds]
            return ["sum", ends, _polynomial(atom.weight), _atom(atom.atom)]
        case Inner():
            return ["inner", vector(atom.first), vector(atom.second)]
        case Value():
            return ["value", atom.function, [_polynomial(index) for index in atom.indices], vector(atom.at)]
        case Vec():
            return ["vector", *vector(atom)]
    return ["one"]


def combination(value: Expr | Lin) -> list[Any]:
    """Return [[coefficient, atom], …]."""
    return [[number(own), _atom(key)] for key, own in sorted(value.terms.items(), key=lambda term: term[0].key)]


def claim(own: Claim) -> dict[str, Any]:
    """Return a claim with both its sides."""
    return {"left": combination(own.left), "relation": _RELATIONS[own.relation], "right": combination(own.right)}
