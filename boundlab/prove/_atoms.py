"""What claims are made of: random vectors, E⟨u, v⟩, E f_i(u), and finite sums of these in one form."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, final

from boundlab.prove._errors import ProofError
from boundlab.prove._scalars import (
    ONE,
    ZERO,
    Poly,
    Scalar,
    bound_variable,
    is_bound,
    whole,
)

# So many terms of a sum with a constant number of them are written out.
_WRITTEN_OUT = 8
_MAX_BINDERS = 4
Bounds: TypeAlias = tuple[tuple[Poly, Poly], ...]


def _indexed(name: str, indices: tuple[Poly, ...]) -> str:
    return f"{name}[{', '.join(map(str, indices))}]" if indices else name


@final
@dataclass(frozen=True)
class Vec:
    """A random vector: x[k]."""

    name: str
    indices: tuple[Poly, ...] = ()

    @cached_property
    def key(self) -> str:
        """Its text, for the order of factors."""
        return _indexed(self.name, self.indices)

    def __hash__(self) -> int:
        return hash(self.key)

    def put(self, values: Mapping[str, Scalar]) -> "Vec":
        """Return it with numbers in place of symbols in its indices."""
        if all(values.keys().isdisjoint(one.names()) for one in self.indices):
            return self
        return Vec(self.name, tuple(whole(Scalar(one).put(values)) for one in self.indices))

    def names(self) -> set[str]:
        """Return the names of symbols in its indices."""
        return {name for one in self.indices for name in one.names()}

    def __str__(self) -> str:
        return self.key


@final
@dataclass(frozen=True)
class One:
    """The atom 1."""

    key = ""

    def put(self, values: Mapping[str, Scalar]) -> "One":
        """Return itself."""
        return self

    def names(self) -> set[str]:
        """Return nothing."""
        return set()

    def __str__(self) -> str:
        return "1"


@final
@dataclass(frozen=True)
class Inner:
    """E⟨u, v⟩; the two stand in one order."""

    first: Vec
    second: Vec

    @cached_property
    def key(self) -> str:
        """Its text."""
        return f"E<{self.first}, {self.second}>"

    def __hash__(self) -> int:
        return hash(self.key)

    def put(self, values: Mapping[str, Scalar]) -> "Inner":
        """Return it with numbers in place of symbols."""
        first, second = self.first.put(values), self.second.put(values)
        return self if first is self.first and second is self.second else inner(first, second)

    def names(self) -> set[str]:
        """Return the names of symbols in it."""
        return self.first.names() | self.second.names()

    def __str__(self) -> str:
        return f"E‖{self.first}‖²" if self.first == self.second else f"E⟨{self.first}, {self.second}⟩"


@final
@dataclass(frozen=True)
class Value:
    """E f_i(u)."""

    function: str
    indices: tuple[Poly, ...]
    at: Vec

    @cached_property
    def key(self) -> str:
        """Its text."""
        return f"E {_indexed(self.function, self.indices)}({self.at})"

    def __hash__(self) -> int:
        return hash(self.key)

    def put(self, values: Mapping[str, Scalar]) -> "Value":
        """Return it with numbers in place of symbols."""
        return Value(self.function, tuple(whole(Scalar(one).put(values)) for one in self.indices), self.at.put(values))

    def names(self) -> set[str]:
        """Return the names of symbols in it."""
        return {name for one in self.indices for name in one.names()} | self.at.names()

    def __str__(self) -> str:
        return self.key


Base: TypeAlias = One | Inner | Value


@final
@dataclass(frozen=True)
class Sum:
    """A finite sum, over one index or several, the outermost first: Σ weight·atom.

    Parameters
    ----------
    bounds
        (lo, hi) of each index, lo ≤ _j < hi; those further in may name those further out.
    weight
        A monomial with coefficient 1.
    atom
        What is summed.
    """

    bounds: Bounds
    weight: Poly
    atom: "Base | Vec"

    @cached_property
    def key(self) -> str:
        """Its text."""
        ranges = ", ".join(f"{lo} <= _{place} < {hi}" for place, (lo, hi) in enumerate(self.bounds))
        return f"S({ranges}; {self.weight}; {self.atom.key})"

    def __hash__(self) -> int:
        return hash(self.key)

    def names(self) -> set[str]:
        """Return the names of free symbols in it."""
        found = self.atom.names() | set(self.weight.names())
        for lo, hi in self.bounds:
            found |= set(lo.names()) | set(hi.names())
        return {name for name in found if not is_bound(name)}

    def __str__(self) -> str:
        letters = [f"_{place}" for place in range(len(self.bounds))]
        ranges = "".join(f"Σ_{{{lo} ≤ {name} < {hi}}} " for name, (lo, hi) in zip(letters, self.bounds, strict=True))
        weight = "" if self.weight.constant == 1 else f"{self.weight}·"
        return f"{ranges}{weight}{self.atom}"


Atom: TypeAlias = Base | Sum
VectorAtom: TypeAlias = Vec | Sum
UNIT = One()


def inner(one: Vec, other: Vec) -> Inner:
    """Return E⟨u, v⟩ with its factors in order."""
    return Inner(one, other) if one.key <= other.key else Inner(other, one)


# ---------------------------------------------------------------------- sums in one form


def renamed(value: Scalar, shift: int) -> Scalar:
    names = {name: bound_variable(int(name[1:]) + shift) for name in value.names() if is_bound(name)}
    return value.put(names)


def sum_of(bounds: Bounds, weight: Scalar, atom: Base | Vec) -> dict[Base | Vec | Sum, Scalar]:
    """Return Σ weight·atom in the one form; bound variables are named by their place in ``bounds``."""
    found: dict[Base | Vec | Sum, Scalar] = {}
    if weight.zero:
        return found
    if not bounds:
        return {atom: weight}
    for factor, _ in weight.factors:
        if any(is_bound(name) for name in factor.names()):
            raise ProofError(f"a sum over an index divides by {factor}: give 1/({factor}) a name of its own")
    for place, (lo, hi) in enumerate(bounds):
        many = Scalar(hi) - Scalar(lo)
        count = many.constant
        if isinstance(count, int) and abs(count) <= _WRITTEN_OUT:
            first, sign = (Scalar(lo), 1) if count >= 0 else (Scalar(hi), -1)
            for step in range(abs(count)):
                add_to(found, _without(bounds, place, weight * sign, atom, first + step))
            return found
    below = Scalar(Poly({(): 1}), weight.factors)
    for powers, value in weight.top.terms.items():
        kept = tuple(pair for pair in powers if any(is_bound(name) for name in pair[0].names()))
        free = tuple(pair for pair in powers if pair not in kept)
        before = Scalar(Poly({free: value})) * below
        add_to(found, {key: part * before for key, part in _monomial(bounds, Poly({kept: 1}), atom).items()})
    return found


def _monomial(bounds: Bounds, weight: Poly, atom: Base | Vec) -> dict[Base | Vec | Sum, Scalar]:
    used = set(weight.names()) | atom.names() | {name for pair in bounds for end in pair for name in end.names()}
    for place, (lo, hi) in enumerate(bounds):
        if f"_{place}" not in used:
            # Nothing depends on this index: the number of its values, signed as the sum is.
            return _without(bounds, place, Scalar(weight) * (Scalar(hi) - Scalar(lo)), atom, ZERO)
    if len(bounds) > _MAX_BINDERS:
        raise ProofError(f"a sum has more than {_MAX_BINDERS} indices")
    best: Sum | None = None
    for order in itertools.permutations(range(len(bounds))):
        new = {f"_{old}": bound_variable(place) for place, old in enumerate(order)}
        if not all(
            name not in new or order.index(int(name[1:])) < place
            for place, old in enumerate(order)
            for end in bounds[old]
            for name in end.names()
        ):
            continue
        moved = tuple(
            (whole(Scalar(lo).put(new)), whole(Scalar(hi).put(new))) for lo, hi in (bounds[old] for old in order)
        )
        one = Sum(moved, Scalar(weight).put(new).top, atom.put(new))
        if best is None or one.key < best.key:
            best = one
    assert best is not None  # noqa: S101  the order that was given is one
    return {best: ONE}


def _without(
    bounds: Bounds, place: int, weight: Scalar, atom: Base | Vec, at: Scalar
) -> dict[Base | Vec | Sum, Scalar]:
    """Return the sum with a number in place of one of its indices."""
    # The number may name indices further out, whose names stay; those further in move up by one.
    new = {f"_{place}": at} | {f"_{old}": bound_variable(old - 1) for old in range(place + 1, len(bounds))}
    moved = tuple(
        (whole(Scalar(lo).put(new)), whole(Scalar(hi).put(new))) for old, (lo, hi) in enumerate(bounds) if old != place
    )
    return sum_of(moved, weight.put(new), atom.put(new))


def add_to(found: dict, more: Mapping) -> None:  # type: ignore[type-arg]
    for key, value in more.items():
        now = found[key] + value if key in found else value
        if now.zero:
            found.pop(key, None)
        else:
            found[key] = now


def put_into(terms: Mapping, values: Mapping[str, Scalar]) -> dict:  # type: ignore[type-arg]
    found: dict = {}  # type: ignore[type-arg]
    for key, value in terms.items():
        own = value.put(values)
        if isinstance(key, Sum):
            bounds = tuple((whole(Scalar(lo).put(values)), whole(Scalar(hi).put(values))) for lo, hi in key.bounds)
            add_to(found, sum_of(bounds, Scalar(key.weight).put(values) * own, key.atom.put(values)))
        else:
            add_to(found, {key.put(values): own})
    return found


def total_of(terms: Mapping, name: str, lo: Scalar, hi: Scalar) -> dict:  # type: ignore[type-arg]
    found: dict = {}  # type: ignore[type-arg]
    for end in (lo, hi):
        if name in end.names():
            raise ProofError(f"the range of a sum over {name} names {name}")
    ends = (whole(lo), whole(hi))
    for key, value in terms.items():
        bounds: Bounds = ()
        atom, weight = key, value
        if isinstance(key, Sum):
            # Indices further in get out of the way before the new, outermost one gets its name.
            bounds = tuple((renamed(Scalar(a), 1).top, renamed(Scalar(b), 1).top) for a, b in key.bounds)
            weight = value * renamed(Scalar(key.weight), 1)
            atom = key.atom.put({f"_{place}": bound_variable(place + 1) for place in range(len(key.bounds))})
        new = {name: bound_variable(0)}
        bounds = tuple((whole(Scalar(a).put(new)), whole(Scalar(b).put(new))) for a, b in bounds)
        add_to(found, sum_of((ends, *bounds), weight.put(new), atom.put(new)))
    return found
