"""What a proof is made of, as a file has it: each fact a line, each symbol and each vector a declaration.

The kernel hands these to the checker as a proof is written; :mod:`boundlab.prove.trace` keeps those that count.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from boundlab.prove._context import Context
from boundlab.prove._facts import Fact, Shared
from boundlab.prove._scalars import Scalar, Symbol, of_symbol, scalar
from boundlab.prove._terms import Claim, Expr, Lin
from boundlab.prove._vectors import Known, Law, Slope
from boundlab.prove._writing import (
    combination as combination,
    number as number,
    symbol_dict as symbol_dict,
    vector as vector,
)

_RELATIONS = {"≤": "<=", "≥": ">=", "=": "="}


@final
@dataclass(frozen=True)
class Places:
    """Where facts, cases and laws stand in a file."""

    fact: Callable[[int], int]
    case: Callable[[Context], int]
    law: Callable[[Law], int]


def line_of(
    rule: str,
    context: Context,
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
    return {"axioms": sorted(axioms), "left": combination(own[0].terms), "right": combination(own[1].terms)}


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
                return combination(one.terms)
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
            return ["vector", combination(one.terms)]
        case Expr():
            return ["expression", combination(one.terms)]
        case str():
            return ["word", one]
        case Context():
            return ["case", at.case(one)]
        case None:
            return ["none", None]
    raise TypeError(f"{one!r} has no place in a file")


# ---------------------------------------------------------------------- declarations


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
        registers[name] = {"owner": own.owner, "branch": combination(own.branch(*first, k).terms)}
    return {
        "p": number(law.p(i)),
        "p_s": number(law.p_s),
        "clients": number(law.clients),
        "index": law.index,
        "registers": registers,
    }


def claim(own: Claim) -> dict[str, Any]:
    """Return a claim with both its sides."""
    left, right = combination(own.left.terms), combination(own.right.terms)
    return {"left": left, "relation": _RELATIONS[own.relation], "right": right}
