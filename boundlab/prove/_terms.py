"""Random vectors and what is claimed of them.

A random vector is a point of L²(P), so that E⟨u, v⟩ is an inner product. A claim is a linear combination of atoms with
numbers of :mod:`boundlab.prove._scalars` as coefficients: 1, E⟨u, v⟩, E f_i(u), and finite sums of these over indices.
All of it is kept in one form: products are bilinear, independent ranges of a sum stand in one order, and what does not
depend on a summation index stands before the sum. A sum over lo ≤ k < hi is signed where lo > hi, so that ranges can
be split and shifted without asking which end is larger.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NoReturn, TypeAlias, final

from boundlab.prove._atoms import UNIT, Bounds, VectorAtom, add_to, inner, put_into, renamed, sum_of, total_of
from boundlab.prove._atoms import Atom as Atom
from boundlab.prove._atoms import Base as Base
from boundlab.prove._atoms import Inner as Inner
from boundlab.prove._atoms import One as One
from boundlab.prove._atoms import Sum as Sum
from boundlab.prove._atoms import Value as Value
from boundlab.prove._atoms import Vec as Vec
from boundlab.prove._errors import ProofError, only_for_rules
from boundlab.prove._scalars import ONE, ZERO, Number, Scalar, bound_variable, scalar, whole
from boundlab.prove._words import Kind, Said, function_label, said, words

# ---------------------------------------------------------------------- vectors


class Combination:
    """Coefficients by what they belong to; what a fact says can be changed by no one.

    Parameters
    ----------
    terms
        Coefficient by vector or atom.
    said
        How it was written, for people; None where that is not known. A proof has no say in it.
    """

    __slots__ = ("said", "terms")
    terms: Mapping  # type: ignore[type-arg]
    said: Said | None

    def __init__(self, terms: Mapping, said: Said | None = None) -> None:  # type: ignore[type-arg]
        if said is not None:
            only_for_rules("the text of an expression")
        own = MappingProxyType({key: value for key, value in terms.items() if not value.zero})
        object.__setattr__(self, "terms", own)
        object.__setattr__(self, "said", said)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __str__(self) -> str:
        return _text(self.terms) if self.said is None else words(self.said)

    def __repr__(self) -> str:
        return _text(self.terms)


def _node(value: Combination) -> Said | None:
    return value.said or said("terms", value.terms)


def _both(kind: Kind, one: Combination, other: Combination) -> Said | None:
    """Return what is said of two; where nothing is said of either, it is nothing written by hand."""
    return None if one.said is None and other.said is None else said(kind, _node(one), _node(other))


@final
class Lin(Combination):
    """A linear combination of random vectors and of finite sums of them.

    Parameters
    ----------
    terms
        Coefficient by vector.
    """

    __slots__ = ()
    terms: Mapping[VectorAtom, Scalar]

    def __add__(self, other: "Lin") -> "Lin":
        found, own = dict(self.terms), lin(other)
        add_to(found, own.terms)
        return Lin(found, _both("plus", self, own))

    def __sub__(self, other: "Lin") -> "Lin":
        own = lin(other)
        return Lin((self + -own).terms, _both("minus", self, own))

    def __neg__(self) -> "Lin":
        return self * -1

    def __mul__(self, by: Number) -> "Lin":
        own = scalar(by)
        return Lin({key: value * own for key, value in self.terms.items()}, said("times", own, self.said))

    __rmul__ = __mul__

    def __truediv__(self, by: Number) -> "Lin":
        return self * (1 / scalar(by))

    def __eq__(self, other: object) -> bool:
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def zero(self) -> bool:
        """Whether it is the vector 0."""
        return not self.terms

    @property
    def vec(self) -> Vec | None:
        """The one vector that it is, or None."""
        if len(self.terms) == 1:
            ((key, value),) = self.terms.items()
            if isinstance(key, Vec) and value.constant == 1:
                return key
        return None

    def put(self, values: Mapping[str, Scalar]) -> "Lin":
        """Return it with numbers in place of symbols."""
        return Lin(put_into(self.terms, values))

    def names(self) -> set[str]:
        """Return the names of free symbols in it."""
        found: set[str] = set()
        for key, value in self.terms.items():
            found |= key.names() | value.names()
        return found


def lin(value: "Lin | Vec") -> Lin:
    """Return a vector as a combination.

    Raises
    ------
    ProofError
        If it is none.
    """
    if isinstance(value, Lin):
        return value
    if isinstance(value, Vec):
        return Lin({value: ONE}, said("vector", value))
    raise ProofError(f"a vector is expected, got {value!r}")


NOTHING = Lin({})


def vector_sum(name: str, lo: Number, hi: Number, value: Lin) -> Lin:
    """Return Σ over lo ≤ name < hi of a vector."""
    low, high = scalar(lo), scalar(hi)
    return Lin(total_of(value.terms, name, low, high), said("sum", name, low, high, value.said))


# ---------------------------------------------------------------------- expressions and claims


@final
class Expr(Combination):
    """A linear combination of atoms; :func:`dot`, :func:`value_at` and numbers make them.

    Parameters
    ----------
    terms
        Coefficient by atom.
    """

    __slots__ = ()
    terms: Mapping[Atom, Scalar]

    def __add__(self, other: "Expr | Number") -> "Expr":
        found, own = dict(self.terms), expr(other)
        add_to(found, own.terms)
        return Expr(found, _both("plus", self, own))

    __radd__ = __add__

    def __sub__(self, other: "Expr | Number") -> "Expr":
        own = expr(other)
        return Expr((self + -own).terms, _both("minus", self, own))

    def __rsub__(self, other: Number) -> "Expr":
        return expr(other) - self

    def __neg__(self) -> "Expr":
        return self * -1

    def __mul__(self, by: Number) -> "Expr":
        own = scalar(by)
        return Expr({key: value * own for key, value in self.terms.items()}, said("times", own, self.said))

    __rmul__ = __mul__

    def __truediv__(self, by: Number) -> "Expr":
        return self * (1 / scalar(by))

    def __le__(self, other: "Expr | Number") -> "Claim":
        return Claim(self, "≤", expr(other))

    def __ge__(self, other: "Expr | Number") -> "Claim":
        return Claim(self, "≥", expr(other))

    def __eq__(self, other: object) -> bool:
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def number(self) -> Scalar | None:
        """The number that it is, or None."""
        if all(isinstance(key, One) for key in self.terms):
            return self.terms.get(UNIT, ZERO)
        return None

    def put(self, values: Mapping[str, Scalar]) -> "Expr":
        """Return it with numbers in place of symbols."""
        return Expr(put_into(self.terms, values))

    def names(self) -> set[str]:
        """Return the names of free symbols in it."""
        found: set[str] = set()
        for key, value in self.terms.items():
            found |= key.names() | value.names()
        return found


def expr(value: Expr | Number) -> Expr:
    """Return an expression or a number as an expression."""
    if isinstance(value, Expr):
        return value
    own = scalar(value)
    return Expr({UNIT: own}, said("number", own))


def dot(one: Lin | Vec, other: Lin | Vec) -> Expr:
    """Return E⟨u, v⟩, multiplied out."""
    u, v = lin(one), lin(other)
    found: dict[Atom, Scalar] = {}
    for a, x in u.terms.items():
        for b, y in v.terms.items():
            add_to(found, _dot(a, b, x * y))
    return Expr(found, _both("dot", u, v))


def _dot(one: VectorAtom, other: VectorAtom, by: Scalar, outer: Bounds = ()) -> dict:  # type: ignore[type-arg]
    """Return by·⟨u, v⟩, summed over ``outer``, whose indices stand as they do in ``by`` and in single vectors."""
    bounds, weight, vectors = outer, by, []
    for part in (one, other):
        if isinstance(part, Vec):
            vectors.append(part)
            continue
        shift = len(bounds)
        bounds = (*bounds, *((renamed(Scalar(a), shift).top, renamed(Scalar(b), shift).top) for a, b in part.bounds))
        weight = weight * renamed(Scalar(part.weight), shift)
        assert isinstance(part.atom, Vec)  # noqa: S101  (for the type checker)
        vectors.append(part.atom.put({f"_{k}": bound_variable(k + shift) for k in range(len(part.bounds))}))
    return sum_of(bounds, weight, inner(*vectors))


def replaced(atom: Atom, old: Vec, new: Lin) -> Expr:
    """Return an atom with a combination in place of a vector whose indices no sum binds.

    A value at a combination without a name stays where it is: the two vectors are equal.
    """
    base = atom.atom if isinstance(atom, Sum) else atom
    outer = atom.bounds if isinstance(atom, Sum) else ()
    weight = Scalar(atom.weight) if isinstance(atom, Sum) else ONE
    if isinstance(base, Inner) and old in (base.first, base.second):
        found: dict[Atom, Scalar] = {}
        one, two = (new if vector == old else lin(vector) for vector in (base.first, base.second))
        for a, x in one.terms.items():
            for b, y in two.terms.items():
                add_to(found, _dot(a, b, weight * x * y, outer))
        return Expr(found)
    if isinstance(base, Value) and base.at == old and new.vec is not None:
        return Expr(sum_of(outer, weight, Value(base.function, base.indices, new.vec)))
    return Expr({atom: ONE})


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
    label = function_label(function, which)
    return Expr({Value(function, which, point): ONE}, said("value", label, said("vector", point)))


def summed(bounds: Bounds, value: Value) -> Expr:
    """Return the sum of a function's value over the ranges of a sum of vectors."""
    return Expr(sum_of(bounds, ONE, value))


def finite_sum(name: str, lo: Number, hi: Number, value: Expr | Number) -> Expr:
    """Return Σ over lo ≤ name < hi of an expression."""
    own, low, high = expr(value), scalar(lo), scalar(hi)
    return Expr(total_of(own.terms, name, low, high), said("sum", name, low, high, own.said))


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
        left, right = (words(node) if (node := _node(side)) else repr(side) for side in (self.left, self.right))
        return f"{left} {self.relation} {right}"

    def __repr__(self) -> str:
        return f"{self.left!r} {self.relation} {self.right!r}"


def equal(left: Expr | Number, right: Expr | Number) -> Claim:
    """Return the claim left = right."""
    return Claim(expr(left), "=", expr(right))


def _text(terms: Mapping) -> str:  # type: ignore[type-arg]
    text = ""
    for key, value in sorted(terms.items(), key=lambda term: term[0].key):
        name, factor = str(key), str(value)
        if isinstance(key, One):
            part = factor
        elif value.constant in (1, -1):
            part = name if value.constant == 1 else f"-{name}"
        else:
            part = f"({factor})·{name}" if " " in factor else f"{factor}·{name}"
        negative = part.startswith("-")
        text += part if not text else f" - {part[1:]}" if negative and " " not in factor else f" + {part}"
    return text or "0"
