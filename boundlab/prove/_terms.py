"""Random vectors and what is claimed of them.

A random vector is a point of L²(P), so that E⟨u, v⟩ is an inner product. A claim is a linear combination of atoms with
numbers as coefficients: 1, E⟨u, v⟩, E f_i(u), and finite sums of these over indices. All of it is in the checker's one
form: products are bilinear, independent ranges of a sum stand in one order, and what does not depend on a summation
index stands before the sum. A sum over lo ≤ k < hi is signed where lo > hi, so that ranges can be split and shifted
without asking which end is larger.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal, NoReturn, Self, TypeAlias, final

from boundlab.prove import _writing as writing
from boundlab.prove._scalars import (
    NUMBER as NUMBER,
    TEXT,
    FormulaWriter,
    Kind,
    Number,
    ProofError,
    Said,
    Scalar,
    check_name,
    combination,
    number,
    of_symbol,
    only_for_rules,
    ordered,
    refused,
    said,
    scalar,
    symbol_dict,
    text,
    vector,
    whole,
)
from boundlab.recheck import kernel as core
from boundlab.recheck.kernel import ONE, UNIT as UNIT, ZERO, Atom as Atom, Base as Base, Range, Symbol, Vec as Vec


class Combination:
    """Coefficients by what they belong to; what a fact says can be changed by no one.

    Parameters
    ----------
    terms
        Coefficient by atom.
    said
        How it was written, for people; None where that is not known. A proof has no say in it.
    """

    __slots__ = ("said", "terms")
    terms: Mapping[Atom, Scalar]
    said: Said | None

    def __init__(self, terms: Mapping[Atom, Scalar], said: Said | None = None) -> None:
        if said is not None:
            only_for_rules("the text of an expression")
        object.__setattr__(self, "terms", MappingProxyType({key: value for key, value in terms.items() if value}))
        object.__setattr__(self, "said", said)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    @staticmethod
    @abstractmethod
    def _as_own(value: Any) -> Any:
        """Return a value as one of these."""

    def __add__(self, other: Any) -> Self:
        own = self._as_own(other)
        return type(self)(core.plus(self.terms, own.terms), _both("plus", self, own))

    def __sub__(self, other: Any) -> Self:
        own = self._as_own(other)
        return type(self)(core.plus(self.terms, core.times(own.terms, -ONE)), _both("minus", self, own))

    def __neg__(self) -> Self:
        return self * -1

    def __mul__(self, by: Number) -> Self:
        own = scalar(by)
        return type(self)(core.times(self.terms, own), said("times", own, self.said))

    __rmul__ = __mul__

    def __truediv__(self, by: Number) -> Self:
        return self * (1 / scalar(by))

    def __eq__(self, other: object) -> bool:
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def put(self, values: Mapping[str, Scalar]) -> Self:
        """Return it with numbers in place of symbols."""
        with refused():
            return type(self)(core.instance(self.terms, values))

    def names(self) -> set[str]:
        """Return the names of free symbols in it."""
        return core.names(self.terms)

    def __str__(self) -> str:
        return repr(self) if self.said is None else TEXT.words(self.said)

    def __repr__(self) -> str:
        found = ""
        for atom, value in ordered(self.terms):
            name, factor = core.text({atom: ONE}).replace(";", ", "), text(value)
            if atom == NUMBER:
                part = factor
            elif value.constant in (1, -1):
                part = name if value.constant == 1 else f"-{name}"
            else:
                part = f"({factor})·{name}" if " " in factor else f"{factor}·{name}"
            negative = part.startswith("-")
            found += part if not found else f" - {part[1:]}" if negative and " " not in factor else f" + {part}"
        return found or "0"


def _node(value: Combination) -> Said:
    return value.said or Said("terms", (value.terms,))


def _both(kind: Kind, one: Combination, other: Combination) -> Said | None:
    """Return what is said of two; where nothing is said of either, it is nothing written by hand."""
    return None if one.said is None and other.said is None else said(kind, _node(one), _node(other))


@final
class Lin(Combination):
    """A linear combination of random vectors and of finite sums of them."""

    __slots__ = ()

    @staticmethod
    def _as_own(value: Any) -> "Lin":
        return lin(value)

    @property
    def zero(self) -> bool:
        """Whether it is the vector 0."""
        return not self.terms

    @property
    def vec(self) -> Vec | None:
        """The one vector that it is, or None."""
        return core.single(self.terms)


def lin(value: Lin | Vec) -> Lin:
    """Return a vector as a combination.

    Raises
    ------
    ProofError
        If it is none.
    """
    if isinstance(value, Lin):
        return value
    if isinstance(value, Vec):
        return Lin(core.vector(value), said("vector", value))
    raise ProofError(f"a vector is expected, got {value!r}")


NOTHING = Lin({})


def summed(name: str, lo: Number, hi: Number, value: Any) -> Any:
    """Return Σ over lo ≤ name < hi of a vector or an expression."""
    low, high = scalar(lo), scalar(hi)
    with refused():
        found = core.total(value.terms, name, low, high)
    return type(value)(found, said("sum", name, low, high, value.said))


def vector_sum(name: str, lo: Number, hi: Number, value: Lin) -> Lin:
    """Return Σ over lo ≤ name < hi of a vector."""
    found: Lin = summed(name, lo, hi, value)
    return found


# ---------------------------------------------------------------------- expressions and claims


@final
class Expr(Combination):
    """A linear combination of atoms; :func:`dot`, :func:`value_at` and numbers make them."""

    __slots__ = ()

    @staticmethod
    def _as_own(value: Any) -> "Expr":
        return expr(value)

    __radd__ = Combination.__add__

    def __rsub__(self, other: Number) -> "Expr":
        return expr(other) - self

    def __le__(self, other: "Expr | Number") -> "Claim":
        return Claim(self, "≤", expr(other))

    def __ge__(self, other: "Expr | Number") -> "Claim":
        return Claim(self, "≥", expr(other))

    @property
    def number(self) -> Scalar | None:
        """The number that it is, or None."""
        return core.number_in(self.terms)


def expr(value: Expr | Number) -> Expr:
    """Return an expression or a number as an expression."""
    if isinstance(value, Expr):
        return value
    own = scalar(value)
    return Expr({NUMBER: own}, said("number", own))


def dot(one: Lin | Vec, other: Lin | Vec) -> Expr:
    """Return E⟨u, v⟩, multiplied out."""
    u, v = lin(one), lin(other)
    with refused():
        return Expr(core.dot(u.terms, v.terms), _both("dot", u, v))


def replaced(value: Expr, old: Vec, new: Lin) -> Expr:
    """Return an expression with a combination in place of a vector."""
    return Expr(core.replaced(value.terms, old, new.terms))


def squared(one: Lin | Vec) -> Expr:
    """Return E‖u‖²."""
    return dot(one, one)


def value_at(function: str, indices: Iterable[Number], at: Lin | Vec) -> Expr:
    """Return E f_i(u).

    Raises
    ------
    ProofError
        If u is not a single vector: a combination needs a name first.
    """
    point = at if isinstance(at, Vec) else lin(at).vec
    if point is None:
        raise ProofError(f"{function} is taken at a vector with a name, got {at}")
    which = tuple(whole(one) for one in indices)
    written = said("value", function, which, said("vector", point))
    return Expr({Atom(Base("value", (point,), function, which)): ONE}, written)


def finite_sum(name: str, lo: Number, hi: Number, value: Expr | Number) -> Expr:
    """Return Σ over lo ≤ name < hi of an expression."""
    found: Expr = summed(name, lo, hi, expr(value))
    return found


def mean_of(name: str, many: Scalar, value: Expr) -> Expr:
    """Return (1/n)·Σ over 0 ≤ name < n of an expression."""
    return Expr(finite_sum(name, 0, many, value / many).terms, (finite_sum(name, 0, many, value) / many).said)


def vector_mean(name: str, many: Scalar, value: Lin) -> Lin:
    """Return (1/n)·Σ over 0 ≤ name < n of a vector."""
    return Lin(vector_sum(name, 0, many, value / many).terms, (vector_sum(name, 0, many, value) / many).said)


Relation: TypeAlias = Literal["≤", "≥", "="]


@final
@dataclass(frozen=True, eq=False)
class Claim:
    """left ≤ right, left ≥ right or left = right, for all values of the symbols in their ranges."""

    left: Expr
    relation: Relation
    right: Expr
    body: Expr = field(init=False)  # ≥ 0, or = 0

    def __post_init__(self) -> None:
        if self.relation not in ("≤", "≥", "="):
            raise ProofError(f"a claim says ≤, ≥ or =, not {self.relation!r}")
        body = self.right - self.left if self.relation == "≤" else self.left - self.right
        object.__setattr__(self, "body", Expr(body.terms))

    @property
    def equality(self) -> bool:
        """Whether it is an equation."""
        return self.relation == "="

    def put(self, values: Mapping[str, Scalar]) -> "Claim":
        """Return it with numbers in place of symbols."""
        return Claim(self.left.put(values), self.relation, self.right.put(values))

    def names(self) -> set[str]:
        """Return the names of free symbols in it."""
        return self.left.names() | self.right.names()

    def __bool__(self) -> bool:
        raise ProofError("a claim is no truth value: two comparisons in a row (a ≤ b ≤ c) are two claims")

    def __str__(self) -> str:
        if self.left.said is None and self.right.said is None:
            return repr(self)
        return self.written(TEXT)

    def written(self, writer: FormulaWriter) -> str:
        """Return it as it was written; what was put together in too many parts, multiplied out."""
        left, right = (writer.words(_node(side)) for side in (self.left, self.right))
        return f"{left} {writer.relation(self.relation)} {right}"

    def __repr__(self) -> str:
        return f"{self.left!r} {self.relation} {self.right!r}"


def equal(left: Expr | Number, right: Expr | Number) -> Claim:
    """Return the claim left = right."""
    return Claim(expr(left), "=", expr(right))


# What is declared of random vectors: how many indices, when they are known, what they are gradients of.

Time: TypeAlias = tuple[Scalar, ...]


@final
@dataclass(frozen=True, eq=False)
class Slope:
    """g[indices] is a gradient, or subgradient, of a function at a vector; written with pattern symbols.

    Parameters
    ----------
    symbols
        The names that stand for the indices.
    function, which
        f and the indices of f_i.
    at
        The vector.
    """

    symbols: tuple[str, ...]
    function: str
    which: tuple[Scalar, ...]
    at: Vec

    def by(self, indices: Sequence[Scalar]) -> tuple[str, tuple[Scalar, ...], Vec]:
        """Return function, its indices and the vector, for these indices."""
        values: Mapping[str, Scalar] = dict(zip(self.symbols, indices, strict=True))
        return self.function, tuple(one.put(values) for one in self.which), self.at.put(values)


@final
@dataclass(frozen=True, eq=False)
class Law:
    """Who acts in an iteration, drawn independently of everything before, and what registers become.

    Parameters
    ----------
    told
        That, as a file has it: by whom each register is changed, and what it becomes, with @i for the client that acts
        and @k for the iteration (:class:`boundlab.recheck.events.Law`).
    axioms
        What that rests on.
    """

    told: Mapping[str, Any]
    axioms: frozenset[str]


class Vectors:
    """Declarations, each made once, as the checker has them.

    Parameters
    ----------
    replay
        The checker.
    """

    def __init__(self, replay: core.Replay) -> None:
        self.known, self.functions, self._told = replay.vectors, replay.functions, replay.raw["slopes"]
        self.slopes: dict[str, Slope] = {}
        self.sealed = False  # whether they are those of a theorem, to which a proof adds none

    def _new(self, name: str) -> None:
        if self.sealed:
            raise ProofError("the vectors of a theorem are those of its setting: a proof declares none")
        check_name(name)
        if name in self.known or name in self.functions:
            raise ProofError(f"{name} is declared twice")

    def declare(
        self, name: str, arity: int, clock: Callable[..., Time] | None = None, drawn: Callable[..., Time] | None = None
    ) -> None:
        """Declare a family of random vectors; raises if the name is taken.

        Parameters
        ----------
        arity
            How many indices it has.
        clock
            From which time on it is known, by its indices: (iteration, local step, …), compared one after the other.
            None where it is no random vector.
        drawn
            Of noise: the time at which it is drawn, independently of all that is known then.
        """
        self._new(name)
        indices = _places(arity)
        times = {"clock": clock, "drawn": drawn}
        told = {which: None if of is None else [number(one) for one in of(*indices)] for which, of in times.items()}
        self.known[name] = {"arity": arity, **told}

    def declare_function(self, name: str, arity: int) -> None:
        """Declare a function, or a family of them."""
        self._new(name)
        self.functions[name] = arity

    def declare_slope(self, name: str, slope: Slope) -> None:
        """Say what a declared vector is a gradient of, once."""
        if self.sealed or name not in self.known or name in self.slopes:
            raise ProofError(f"{name} is no vector of the setting, or is a gradient already")
        if slope.function not in self.functions:
            raise ProofError(f"{slope.function} is not declared")
        self.slopes[name] = slope
        function, which, at = slope.by(_places(len(slope.symbols)))
        self._told[name] = {"function": function, "which": [number(one) for one in which], "at": vector(at)}

    def slope(self, vector: Vec) -> tuple[str, tuple[Scalar, ...], Vec]:
        """Return function, its indices and the vector of which this is a gradient."""
        own = self.slopes.get(vector.name)
        if own is None:
            raise ProofError(f"{vector.name} is not declared as a gradient")
        return own.by(vector.indices)


def _places(many: int) -> list[Scalar]:
    """Return the indices @0, @1 and so on, in which a file has what is declared of vectors."""
    return [of_symbol(Symbol(f"@{place}")) for place in range(many)]


# What is known of symbols: the ranges that the checker has, and the signs that it shows.


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
        self.replay: core.Replay = writing.empty() if parent is None else parent.replay
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
            writing.declare(self.replay, symbol_dict(name, own, by, exponent), self.checked)
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


def spoken(fact: Shared) -> dict[str, Any]:
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


def claim(own: Claim) -> dict[str, Any]:
    """Return a claim with both its sides."""
    left, right = combination(own.left.terms), combination(own.right.terms)
    return {"left": left, "relation": _RELATIONS[own.relation], "right": right}
