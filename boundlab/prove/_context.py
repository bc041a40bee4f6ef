"""What is known of symbols: the ranges that the checker has, and the signs that it shows."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import InitVar, dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, final

from boundlab.prove._scalars import (
    FIRST as FIRST,
    Number,
    ProofError,
    Scalar,
    check_name,
    combination as combination,
    number as number,
    of_symbol,
    refused,
    scalar,
    symbol_dict,
    vector as vector,
)
from boundlab.prove._terms import Claim, Expr, Known, Law, Lin, Slope
from boundlab.recheck import kernel as core
from boundlab.recheck.kernel import ZERO, Range as Range, Symbol


@final
class Context:
    """Ranges of symbols; a child narrows some of them, or assumes something.

    Parameters
    ----------
    parent
        What holds there holds here.
    why
        What distinguishes it from its parent, in words.
    number
        Its place among the cases of the checker.
    """

    def __init__(self, parent: "Context | None" = None, why: str = "", number: int = 0) -> None:
        self.parent, self.why, self.number = parent, why, number
        self.replay: core.Replay = core.empty() if parent is None else parent.replay
        # How it came about: the hypothesis that holds there, or the other case of a split.
        self.supposed: Any = None
        self.sibling: Context | None = None

    @property
    def checked(self) -> core.Context:
        """The same case, as the checker has it."""
        return self.replay.context(self.number)

    def declare(self, name: str, own: Range, by: int | None = None, exponent: Scalar | None = None) -> Scalar:
        """Declare a symbol or a family, once.

        Parameters
        ----------
        by
            The line that says what it stands for.
        exponent
            The v of a symbol that stands for e^v.

        Raises
        ------
        ProofError
            If the name is known, or an end names something unknown, or itself.
        """
        check_name(name)
        with refused():
            self.replay.declare(symbol_dict(name, own, by, exponent), self.checked)
        return ZERO if own.arity else of_symbol(Symbol(name))

    def find(self, name: str) -> Range | None:
        """Return the range of a name, or None."""
        return self.checked.find(name) if self.checked.has(name) else None

    def declared(self, name: str) -> Range | None:
        """Return the range that a name was declared with, in whatever case, or None."""
        return next((found for one in reversed(self.chain()) if (found := one.find(name)) is not None), None)

    def order(self) -> list[str]:
        """Return all names, in the order of their declaration."""
        return [name for name in self.checked.order if self.checked.has(name) and not name.startswith("@")]

    def chain(self) -> list["Context"]:
        """Return it and all above it."""
        return [self, *(self.parent.chain() if self.parent is not None else ())]

    def within(self, other: "Context") -> bool:
        """Return whether it is the other one or below it."""
        return other in self.chain()

    def restricted(self) -> set[str]:
        """Return the names that may not be generalised here."""
        return self.checked.fixed

    def closure(self, names: Iterable[str]) -> set[str]:
        """Return the names, with those that their ranges depend on; bound variables are left out."""
        with refused():
            return self.checked.closure(names)

    # ------------------------------------------------------------------ signs

    def nonnegative(self, value: Number) -> bool:
        """Return whether a number is shown to be ≥ 0 for all values in the ranges."""
        with refused():
            return self.checked.shown(scalar(value), strict=False)

    def positive(self, value: Number) -> bool:
        """Return whether a number is shown to be > 0."""
        with refused():
            return self.checked.shown(scalar(value), strict=True)

    def range_of(self, symbol: Symbol) -> Range:
        """Return between which ends a symbol, a member of a family or a power is shown to lie."""
        with refused():
            return self.checked.range_of(symbol)


# Facts: lines that the checker has accepted. Nothing else makes one.

_KEY = object()
# Axioms that are no assumption about functions or runs: the algorithm itself, and where it starts.
OWN_AXIOMS = frozenset({"algorithm", "start"})


@dataclass(frozen=True, eq=False)
class Shared:
    """What facts about numbers and facts about vectors have in common.

    Parameters
    ----------
    context
        Where it holds: with the ranges and hypotheses there.
    names
        All symbols that it depends on, whether they stand in the claim or not: it holds where each has a value.
    axioms
        What it rests on: assumptions and parts of the setting, by their names.
    rule, premises, data
        How it was made, for whoever checks it again.
    number
        Its place among the lines of the checker.
    """

    context: Context
    names: frozenset[str]
    axioms: frozenset[str]
    rule: str
    premises: tuple["Shared", ...]
    data: Mapping[str, Any]
    number: int
    # Not kept: whoever holds a fact cannot make another one with it.
    key: InitVar[object]

    def __post_init__(self, key: object) -> None:
        if key is not _KEY:
            raise ProofError("only the kernel makes facts")
        object.__setattr__(self, "data", MappingProxyType(dict(self.data)))


@final
@dataclass(frozen=True, eq=False)
class Fact(Shared):
    """A claim that holds."""

    claim: Claim

    @property
    def sides(self) -> tuple[Expr, Expr]:
        """What is compared."""
        return self.claim.left, self.claim.right

    def __str__(self) -> str:
        return str(self.claim)


@final
@dataclass(frozen=True, eq=False)
class VectorFact(Shared):
    """Two vectors that are equal (almost surely)."""

    left: Lin
    right: Lin

    @property
    def sides(self) -> tuple[Lin, Lin]:
        """What is equal."""
        return self.left, self.right

    def __str__(self) -> str:
        return f"{self.left} = {self.right}"


# What a proof is made of, as a file has it: each fact a line, each symbol and each vector a declaration.
#
# The kernel hands these to the checker as a proof is written; :mod:`boundlab.prove.trace` keeps those that count.

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
