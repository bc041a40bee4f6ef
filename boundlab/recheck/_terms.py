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

from boundlab.recheck._numbers import ONE, ZERO, Number, NumberError, Symbol, of, raised, rational
from boundlab.recheck._work import once, spend

Values: TypeAlias = Mapping[str, Number]
_WRITTEN_OUT, _MOST = 8, 5
_FORM = 100  # steps for each order in which the ranges of a sum may stand
_fresh = itertools.count()


def put(value: Number, values: Values) -> Number:
    """Return a number with others in place of plain symbols, inside indices and exponents too."""
    if values.keys().isdisjoint(value.names()):
        return value

    def new(symbol: Symbol) -> Number | None:
        if values.keys().isdisjoint(symbol.names()):
            return None
        if not symbol.indices and symbol.exponent is None:
            return values[symbol.name]
        indices = tuple(put(one, values) for one in symbol.indices)
        if symbol.exponent is None:
            return of(Symbol(symbol.name, indices))
        exponent = put(symbol.exponent, values)
        base = of(Symbol(symbol.name, indices)) if indices else values.get(symbol.name, of(symbol.base))
        return power(base, exponent)

    return value.put(new)


def power(base: Number, exponent: Number) -> Number:
    """Return base^exponent for a base that is a product of symbols, or for a whole exponent."""
    whole = exponent.constant
    if whole is not None and whole.denominator == 1:
        return base.power(int(whole))
    top, below = list(base.upper.terms()), list(base.bottom.terms())
    if len(top) != 1 or len(below) != 1 or top[0][1] != 1 or below[0][1] != 1:
        raise NumberError(f"a symbolic power of {base.key}, which is no product of symbols")
    found = ONE
    for powers, sign in ((top[0][0], 1), (below[0][0], -1)):
        for symbol, count in powers.items():
            own = exponent * rational(sign * count)
            found = found * raised(symbol.base, own if symbol.exponent is None else own * symbol.exponent)
    return found


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

    def put(self, values: Values) -> "Vec":
        """Return it with numbers in place of symbols."""
        return Vec(self.name, tuple(put(one, values) for one in self.indices))

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
        return replace(self, vectors=vectors, indices=tuple(put(one, values) for one in self.indices))

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
            found.append((name, put(lo, values), put(hi, values)))
            values[f"_{place}"] = of(Symbol(name))
        return Open(tuple(found), put(self.weight, values), self.base.put(values))

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
        ranges = tuple((name, put(lo, values), put(hi, values)) for name, lo, hi in self.ranges)
        return Open(ranges, put(self.weight, values), self.base.put(values))

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
        ranges = tuple((own, put(lo, values), put(hi, values)) for own, lo, hi in self.ranges if own != name)
        return Open(ranges, put(self.weight, values) * sign, self.base.put(values))

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
            found.append((put(lo, values), put(hi, values)))
            values[name] = of(Symbol(f"_{place}"))
            later.discard(name)
        return Atom(self.base.put(values), tuple(found), put(self.weight, values))


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
