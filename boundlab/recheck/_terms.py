"""Vectors, atoms and expressions as they stand in a proof file, brought to one form.

A finite sum is opened before anything is done to it: its indices get names of their own. It is closed again in one
form: constant numbers of terms are written out, indices that nothing depends on become factors, and of all orders in
which the ranges may stand the first by its text is taken.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias, final

from boundlab.recheck._numbers import ONE, ZERO, Number, NumberError, Symbol, of, rational
from boundlab.recheck._work import once, spend

Values: TypeAlias = Mapping[str, Number]
_WRITTEN_OUT, _MOST = 8, 5
_FORM = 100  # steps for each order in which the ranges of a sum may stand
_fresh = itertools.count()


@final
@dataclass(frozen=True)
class Vec:
    """A vector with its indices."""

    name: str
    indices: tuple[Number, ...] = ()

    @cached_property
    def key(self) -> str:
        """Its text."""
        return f"{self.name}[{';'.join(one.key for one in self.indices)}]" if self.indices else self.name

    def __str__(self) -> str:
        return self.key.replace(";", ", ")

    def put(self, values: Values) -> "Vec":
        """Return it with numbers in place of symbols."""
        return Vec(self.name, tuple(one.put(values) for one in self.indices))

    def names(self) -> set[str]:
        """Return the names of symbols in it."""
        return set().union(*(one.names() for one in self.indices))


@final
@dataclass(frozen=True)
class Base:
    """What a sum is of: 1, a product of two vectors, a value of a function at a vector, or a vector itself."""

    kind: Literal["one", "inner", "value", "vector"]
    vectors: tuple[Vec, ...] = ()
    function: str = ""
    indices: tuple[Number, ...] = ()

    @cached_property
    def key(self) -> str:
        """Its text."""
        which = ";".join(one.key for one in self.indices)
        return f"{self.kind}:{self.function}[{which}]({', '.join(one.key for one in self.vectors)})"

    def put(self, values: Values) -> "Base":
        """Return it with numbers in place of symbols."""
        if not values:
            return self
        vectors = tuple(one.put(values) for one in self.vectors)
        if self.kind == "inner":
            vectors = tuple(sorted(vectors, key=lambda one: one.key))
        return replace(self, vectors=vectors, indices=tuple(one.put(values) for one in self.indices))

    def names(self) -> set[str]:
        """Return the names of symbols in it."""
        return set().union(*(one.names() for one in self.vectors), *(one.names() for one in self.indices))


def product(one: Vec, other: Vec) -> Base:
    """Return E⟨u, v⟩."""
    return Base("inner", (one, other) if one.key <= other.key else (other, one))


UNIT = Base("one")


@final
@dataclass(frozen=True, eq=False)
class Atom:
    """A base, or the finite sum of weight·base over indices _0, _1, …, each from lo to below hi."""

    base: Base
    ranges: tuple[tuple[Number, Number], ...] = ()
    weight: Number = ONE

    @cached_property
    def key(self) -> str:
        """Its text: equal for equal atoms alone."""
        if not self.ranges:
            return self.base.key
        ends = ", ".join(f"{lo.key} <= _{place} < {hi.key}" for place, (lo, hi) in enumerate(self.ranges))
        return f"sum({ends}: {self.weight.key} | {self.base.key})"

    def names(self) -> set[str]:
        """Return the names of symbols in it, without its own indices."""
        found = self.base.names() | self.weight.names()
        found = found.union(*(end.names() for pair in self.ranges for end in pair))
        return {name for name in found if not is_own(name)}

    def opened(self) -> "Open":
        """Return it with new names for its indices."""
        values: dict[str, Number] = {}
        found = []
        for place, (lo, hi) in enumerate(self.ranges):
            name = f"_#{next(_fresh)}"
            found.append((name, lo.put(values), hi.put(values)))
            values[f"_{place}"] = of(Symbol(name))
        return Open(tuple(found), self.weight.put(values), self.base.put(values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def is_own(name: str) -> bool:
    """Return whether a name is that of an index of a sum."""
    return name.startswith("_")


Combination: TypeAlias = dict[Atom, Number]


@final
@dataclass(frozen=True)
class Open:
    """A sum whose indices have names: (name, lo, hi), the outermost first."""

    ranges: tuple[tuple[str, Number, Number], ...]
    weight: Number
    base: Base

    def put(self, values: Values) -> "Open":
        """Return it with numbers in place of symbols."""
        ranges = tuple((name, lo.put(values), hi.put(values)) for name, lo, hi in self.ranges)
        return Open(ranges, self.weight.put(values), self.base.put(values))

    def around(self, inside: "Open") -> "Open":
        """Return another sum with the ranges and the weight of this one around it."""
        return Open((*self.ranges, *inside.ranges), self.weight * inside.weight, inside.base)

    def closed(self) -> Combination:
        """Return it in the one form, as a combination of atoms."""
        if not self.weight:
            return {}
        if not self.ranges:
            return {Atom(self.base): self.weight}
        for name, lo, hi in self.ranges:
            many = (hi - lo).constant
            if many is not None and many.denominator == 1 and abs(many) <= _WRITTEN_OUT:
                first, sign = (lo, ONE) if many > 0 else (hi, -ONE)
                parts = (self.without(name, first + rational(step), sign).closed() for step in range(abs(int(many))))
                return plus(*parts)
        return plus(*(part._closed_term(free) for part, free in self._terms()))

    def without(self, name: str, value: Number, sign: Number) -> "Open":
        """Return the sum with a number in place of an index."""
        values = {name: value}
        ranges = tuple((own, lo.put(values), hi.put(values)) for own, lo, hi in self.ranges if own != name)
        return Open(ranges, self.weight.put(values) * sign, self.base.put(values))

    def _terms(self) -> Iterable[tuple["Open", Number]]:
        """Yield sums whose weight is a product of powers of what depends on an index, and the factor before each."""
        own = {name for name, _, _ in self.ranges}
        for inside, outside in self.weight.parted(lambda symbol: not own.isdisjoint(symbol.names())):
            yield replace(self, weight=inside), outside

    def _closed_term(self, free: Number) -> Combination:
        used = self.weight.names() | self.base.names()
        used = used.union(*(end.names() for _, lo, hi in self.ranges for end in (lo, hi)))
        for name, lo, hi in self.ranges:
            if name not in used:
                left = tuple(one for one in self.ranges if one[0] != name)
                return times(replace(self, ranges=left, weight=self.weight * (hi - lo)).closed(), free)
        if len(self.ranges) > _MOST:
            raise NumberError(f"a sum over more than {_MOST} indices")

        def first() -> Atom:
            spend(_FORM * math.factorial(len(self.ranges)))
            forms = [form for order in itertools.permutations(self.ranges) if (form := self._in(order)) is not None]
            return min(forms, key=lambda form: form.key)

        given = self._in(self.ranges)
        return {first() if given is None else once("sum in one form", given.key, first): free}

    def _in(self, order: tuple[tuple[str, Number, Number], ...]) -> Atom | None:
        """Return the atom with the ranges in this order, or None if an end names an index that comes later."""
        values: dict[str, Number] = {}
        later = {name for name, _, _ in order}
        found = []
        for place, (name, lo, hi) in enumerate(order):
            if later & (lo.names() | hi.names()):
                return None
            found.append((lo.put(values), hi.put(values)))
            values[name] = of(Symbol(f"_{place}"))
            later.discard(name)
        return Atom(self.base.put(values), tuple(found), self.weight.put(values))


def plus(*parts: Mapping[Atom, Number]) -> Combination:
    """Return a sum of combinations, without coefficients 0."""
    found: Combination = {}
    for part in parts:
        for atom, value in part.items():
            found[atom] = found[atom] + value if atom in found else value
    return {atom: value for atom, value in found.items() if value}


def times(one: Mapping[Atom, Number], by: Number) -> Combination:
    """Return a combination times a number."""
    return {atom: value * by for atom, value in one.items()} if by else {}


def minus(one: Mapping[Atom, Number], other: Mapping[Atom, Number]) -> Combination:
    """Return a difference."""
    return plus(one, times(other, -ONE))


def each(one: Mapping[Atom, Number], what: Callable[[Open], Open]) -> Combination:
    """Return a combination with every term, its coefficient in its weight, changed by a function."""
    parts = []
    for atom, value in one.items():
        own = atom.opened()
        parts.append(what(replace(own, weight=own.weight * value)).closed())
    return plus(*parts)


def instance(one: Mapping[Atom, Number], values: Values) -> Combination:
    """Return a combination with numbers in place of symbols."""
    return each(one, lambda own: own.put(values))


def total(one: Mapping[Atom, Number], name: str, lo: Number, hi: Number) -> Combination:
    """Return Σ over lo ≤ name < hi."""
    if name in lo.names() | hi.names():
        raise NumberError(f"the range of a sum over {name} names it")

    def over(own: Open) -> Open:
        new = f"_#{next(_fresh)}"
        inner = own.put({name: of(Symbol(new))})
        return replace(inner, ranges=((new, lo, hi), *inner.ranges))

    return each(one, over)


def dot(one: Mapping[Atom, Number], other: Mapping[Atom, Number]) -> Combination:
    """Return E⟨u, v⟩ for combinations of vectors."""
    parts = []
    for left, a in one.items():
        for right, b in other.items():
            u, v = left.opened(), right.opened()
            own = product(u.base.vectors[0], v.base.vectors[0])
            parts.append(Open((*u.ranges, *v.ranges), u.weight * v.weight * a * b, own).closed())
    return plus(*parts)


def replaced(value: Mapping[Atom, Number], old: Vec, new: Mapping[Atom, Number]) -> Combination:
    """Return an expression with a combination in place of a vector whose indices no sum binds.

    A value at a combination without a name stays where it is: the two vectors are equal.
    """
    parts, name = [], single(new)
    for atom, coefficient in value.items():
        own: Combination = {atom: ONE}
        whole = atom.opened()
        vectors = whole.base.vectors
        if old in vectors:
            if whole.base.kind == "inner":
                own = dot(*(new if side == old else vector(side) for side in vectors))
            else:
                own = {Atom(whole.base if name is None else replace(whole.base, vectors=(name,))): ONE}
            own = each(own, whole.around)
        parts.append(times(own, coefficient))
    return plus(*parts)


def single(one: Mapping[Atom, Number]) -> Vec | None:
    """Return the one vector that a combination is, or None."""
    if len(one) == 1:
        ((atom, value),) = one.items()
        if not atom.ranges and atom.base.kind == "vector" and value == ONE:
            return atom.base.vectors[0]
    return None


def vector(one: Vec) -> Combination:
    """Return a vector as a combination."""
    return {Atom(Base("vector", (one,))): ONE}


def scalar(value: Number) -> Combination:
    """Return a number as a combination."""
    return {Atom(UNIT): value} if value else {}


def number_in(one: Mapping[Atom, Number]) -> Number | None:
    """Return the number that a combination is, or None."""
    if any(atom.ranges or atom.base.kind != "one" for atom in one):
        return None
    return one.get(Atom(UNIT), ZERO)
