"""Vectors, atoms and expressions as they stand in a proof file, brought to one form.

A finite sum is opened before anything is done to it: its indices get names of their own. It is closed again in one
form: constant numbers of terms are written out, indices that nothing depends on become factors, and of all orders in
which the ranges may stand the first by its text is taken.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, final

from boundlab.recheck._forms import WrongError
from boundlab.recheck._numbers import ONE, ZERO, Number, NumberError, Symbol, of, once, rational, spend

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


# Ranges of symbols, and signs that follow from coefficients alone.
#
# Each symbol, the last declared first, is written in a variable t ≥ 0: x ≥ a is a + t, 0 < x ≤ b is b/(1 + t), and
# a ≤ x ≤ b is (a + b·t)/(1 + t). A polynomial without negative coefficients is then ≥ 0. All else is not shown.

_DEPTH, _DEGREE = 40, 24
_QUESTION = 200  # steps for each polynomial that is looked at
FIRST = "_0"  # the index of a family, in the ends of its range


@final
@dataclass(frozen=True)
class Range:
    """Between which ends a symbol, or each member of a family, lies; ``above``, ``below``: never equal to an end.

    The ends of a family may hold its first index; then, or where it is ``guarded``, the range is that of the members
    whose first index is ≥ 0.
    """

    low: Number | None = None
    high: Number | None = None
    above: bool = False
    below: bool = False
    integer: bool = False
    arity: int = 0
    guarded: bool = False

    def _all_names(self) -> set[str]:
        return set[str]().union(*(end.names() for end in (self.low, self.high) if end is not None))

    def names(self) -> set[str]:
        """Return the names in its ends, but for its own index."""
        return self._all_names() - ({FIRST} if self.arity else set())

    @property
    def moving(self) -> bool:
        """Whether it is the range of members whose index is ≥ 0."""
        return self.guarded or FIRST in self._all_names()

    def put(self, values: Mapping[str, Number]) -> "Range":
        """Return it with numbers in place of symbols in its ends, as that of one number."""
        low, high = (None if end is None else end.put(values) for end in (self.low, self.high))
        return Range(low, high, self.above, self.below, self.integer)

    def of(self, index: Number) -> "Range":
        """Return the range of one member of a family."""
        return self.put({FIRST: index})

    def gaps(self, value: Number) -> Iterator[tuple[Number, bool]]:
        """Yield how far a number is from each end: ≥ 0 where it lies inside, and > 0 where that stands beside it."""
        if self.low is not None:
            yield value - self.low, self.above
        if self.high is not None:
            yield self.high - value, self.below

    def text(self, name: str) -> str:
        """Return it in words."""
        low = "" if self.low is None else f"{self.low.key} {'<' if self.above else '≤'} "
        high = "" if self.high is None else f" {'<' if self.below else '≤'} {self.high.key}"
        return f"{low}{name}{'[…]' if self.arity else ''}{high}{', whole' if self.integer else ''}"


@final
class Context:
    """What is known of symbols where a fact holds.

    Parameters
    ----------
    parent
        What holds there holds here.
    own
        Ranges that are other ones here; at the root, all of them in the order of their declaration.
    fixed
        Symbols that no other value may be given to here.
    origin
        How it came about: a hypothesis' fact, or which part of which split.
    """

    def __init__(
        self,
        parent: "Context | None",
        own: dict[str, Range],
        fixed: Iterable[str] = (),
        origin: tuple[Any, ...] = (),
    ) -> None:
        self.parent, self.own, self.origin = parent, own, origin
        self.order: dict[str, int] = parent.order if parent else {name: place for place, name in enumerate(own)}
        self.meaning: dict[str, set[str]] = parent.meaning if parent else {}
        self.left: dict[str, Unshown] = parent.left if parent else {}  # by their texts
        self.fixed_here = dict.fromkeys(fixed)
        self.split: set[str] = set(own)  # what has a smaller range here
        self.known: dict[tuple[str, bool], bool] = {}

    def chain(self) -> "Iterator[Context]":
        """Yield it and all that it is a case of."""
        here: Context | None = self
        while here is not None:
            yield here
            here = here.parent

    @property
    def fixed(self) -> set[str]:
        """Symbols that no other value may be given to here: all that were fixed here, or above."""
        return set().union(*(one.fixed_here for one in self.chain()))

    def has_one_value(self, name: str) -> bool:
        """Return whether a symbol stands for a number, or is in a hypothesis: not, as in a case, for a part of them."""
        return any(name in one.fixed_here and one.origin[:1] != ("split",) for one in self.chain())

    def fix(self, name: str) -> None:
        """Note that a symbol has one value here."""
        self.fixed_here[name] = None

    def within(self, other: "Context") -> bool:
        """Return whether it is the other one or below it."""
        return other in self.chain()

    def completes(self, other: "Context") -> bool:
        """Return whether the two are the parts of one split."""
        same = self.origin[:1] == ("split",) and self.origin[:4] == other.origin[:4]
        return same and {self.origin[4], other.origin[4]} == {0, 1}

    def has(self, name: str) -> bool:
        """Return whether a symbol is declared here."""
        return any(name in one.own for one in self.chain())

    def find(self, name: str) -> Range:
        """Return the range of a symbol; raises if there is none."""
        for one in self.chain():
            if name in one.own:
                return one.own[name]
        raise WrongError(f"{name} is not declared")

    def after(self, name: str, names: Iterable[str], what: str) -> None:
        """Make sure that a symbol is declared after all that it is made of."""
        unknown = len(self.order)
        late = [one for one in names if self.order.get(one, unknown) >= self.order.get(name, unknown)]
        if late:
            raise WrongError(f"{what} {', '.join(sorted(late))}, which is not declared before it")

    def about_every(self, name: str, names: Iterable[str], what: str) -> None:
        """Make sure that nothing which these are made of has a value for some values of a symbol only."""
        for other in self.closure(names) - {name}:
            if name in self.needs(other):
                raise WrongError(f"{other} depends on {name}, {what}")

    def lies_in(self, known: Range, value: Number, name: str) -> None:
        """Make sure that a number may be the value of a symbol with a range."""
        if known.integer and not self.integer(value):
            raise WrongError(f"{name} is whole, which {value.key} is not")
        for gap, strict in known.gaps(value):
            self.need(gap, f"{name} = {value.key} may lie outside its range", strict=strict)

    def needs(self, name: str) -> set[str]:
        """Return the names that a symbol's range, or its value, is made of."""
        return self.find(name).names() | self.meaning.get(name, set())

    def closure(self, names: Iterable[str]) -> set[str]:
        """Return names with all that they need."""
        found: set[str] = set()
        stack = [name for name in names if not is_own(name)]
        while stack:
            name = stack.pop()
            if name not in found:
                found.add(name)
                stack += self.needs(name)
        return found

    def integer(self, value: Number) -> bool:
        """Return whether a number is certainly whole; indices of sums are."""
        if value.bottom != ONE or any(coefficient.denominator != 1 for _, coefficient in value.terms()):
            return False
        for symbol in value.symbols:
            if symbol.exponent is not None or not (is_own(symbol.name) or self.find(symbol.name).integer):
                return False
            if not all(self.integer(one) for one in symbol.indices):
                return False
        return True

    # ------------------------------------------------------------------ signs

    def need(self, value: Number, what: str, *, strict: bool = False) -> None:
        """Make sure that a number is ≥ 0 (> 0), or note that it is left to others."""
        if not self.shown(value, strict=strict):
            self._leave(Unshown(self, value, ">" if strict else "≥", what))

    def need_nonzero(self, value: Number) -> None:
        """Make sure that a number is never 0, factor by factor, or note that it is left to others."""
        for part, _ in value.factors()[1]:
            if not (self.shown(part, strict=True) or self.shown(-part, strict=True)):
                self._leave(Unshown(self, part, "≠", "something is divided by it"))

    def _leave(self, sign: "Unshown") -> None:
        self.left.setdefault(sign.text, sign)

    def shown(self, value: Number, *, strict: bool) -> bool:
        """Return whether a number is shown to be ≥ 0 (> 0) by coefficients."""
        constant = value.constant
        if constant is not None:
            return constant > 0 or (not strict and constant == 0)
        key = value.key, strict
        # What was shown above holds in each case of it.
        if any(one.known.get(key) for one in self.chain()):
            return True
        if key not in self.known:
            self.known[key] = False  # a question that leads to itself is not answered
            self.known[key] = self._by_factors(value, strict=strict)
        return self.known[key]

    def _by_factors(self, value: Number, *, strict: bool) -> bool:
        first, parts = value.factors()
        left = ONE if first > 0 else -ONE
        for part, count in parts:
            sure = strict or count < 0
            if count % 2 == 0 and not sure:
                continue
            if self._cone(part, frozenset(), strict=sure):
                continue
            if self._cone(-part, frozenset(), strict=sure):
                left = left if count % 2 == 0 else -left
            elif count % 2 == 0 or count < 0:
                return False
            else:
                left = left * part
        constant = left.constant
        if constant > 0 if constant is not None else self._cone(left, frozenset(), strict=strict):
            return True
        if strict:
            return False
        # A factor that is 0 has both signs.
        below = value.bottom
        over = below == ONE or self._cone(below, frozenset(), strict=True)
        return over and self._cone(value.upper, frozenset(), strict=False)

    def _cone(self, top: Number, sure: frozenset[str], *, strict: bool, depth: int = 0) -> bool:
        """Return whether a polynomial is ≥ 0 (> 0): symbols are replaced until only variables t ≥ 0 are left."""
        spend(_QUESTION)
        old = [symbol for symbol in top.symbols if not symbol.name.startswith("+")]
        if not old:
            terms = list(top.terms())
            if any(value < 0 for _, value in terms):
                return False
            return not strict or any(all(symbol.name in sure for symbol in powers) for powers, _ in terms)
        symbol = max(old, key=lambda s: (s.exponent is not None, self._nested(s), self.order.get(s.name, -1), s.key))
        if depth > _DEPTH or any(powers.get(symbol, 0) > _DEGREE for powers, _ in top.terms()):
            return False
        return any(
            self._each(top, symbol, values, sure, strict=strict, depth=depth)
            for values in self._ways(symbol, strict=strict)
        )

    def _nested(self, symbol: Symbol) -> int:
        """Return how deep indices are nested where ranges depend on them: those go first."""
        return len(symbol.key) if not is_own(symbol.name) and self.find(symbol.name).moving else 0

    def _ways(self, symbol: Symbol, *, strict: bool) -> Iterator[Iterable[tuple[Number, frozenset[str]]]]:
        yield self._replaced(symbol, strict=strict)
        own = None if symbol.exponent is not None else self.range_of(symbol)
        if own is not None and own.integer and own.low is not None and own.high is not None:
            # All that is not below the lower end, or not above the upper, is more than the range, and may be simpler.
            t = of(Symbol(f"+{symbol.key}"))
            yield [(own.low + t, frozenset())]
            yield [(own.high - t, frozenset())]

    def _each(
        self,
        top: Number,
        symbol: Symbol,
        values: Iterable[tuple[Number, frozenset[str]]],
        sure: frozenset[str],
        *,
        strict: bool,
        depth: int,
    ) -> bool:
        for value, new in values:
            moved = top.mapped(lambda one, value=value: value if one == symbol else None)  # type: ignore[misc]
            more = sure | new
            if moved.bottom != ONE and not self._cone(moved.bottom, more, strict=True, depth=depth + 1):
                return False
            if not self._cone(moved.upper, more, strict=strict, depth=depth + 1):
                return False
        return True

    def _replaced(self, symbol: Symbol, *, strict: bool) -> Iterator[tuple[Number, frozenset[str]]]:
        """Yield what together is every value of a symbol, each with the new variables that are never 0."""
        own = self.range_of(symbol)
        name = f"+{symbol.key}"
        t, sure, nothing = of(Symbol(name)), frozenset({name}), frozenset[str]()
        if own.low is None:
            if own.high is None:
                yield t, nothing
                yield -t, nothing
            else:
                yield own.high - t, sure if own.below else nothing
        elif own.high is None:
            yield own.low + t, sure if own.above else nothing
        else:
            if own.low == ZERO and own.above and not own.below:
                yield own.high / (ONE + t), nothing
                return
            yield (own.low + own.high * t) / (ONE + t), sure if own.above else nothing
            if strict and not own.below:
                yield own.high, nothing

    def range_of(self, symbol: Symbol) -> Range:
        """Return between which ends a symbol, a member of a family or a power is shown to lie."""
        if symbol.exponent is None:
            own = self.find(symbol.name)
            if not own.moving:
                return own
            index = symbol.indices[0]
            if any(is_own(name) for name in index.names()) or not self.shown(index, strict=False):
                return Range()
            return own.of(index)
        base = of(symbol.base)
        if not self.shown(base, strict=False):
            return Range()
        if self.shown(base - ONE, strict=False):
            bare = any(map(is_own, symbol.exponent.names()))  # an index of a sum has no range here
            return Range(
                ONE, above=not bare and all(self.shown(one, strict=True) for one in (base - ONE, symbol.exponent))
            )
        high = ONE if self.shown(ONE - base, strict=False) else None
        return Range(ZERO, high, above=self.shown(base, strict=True))


@final
@dataclass(frozen=True, eq=False)
class Unshown:
    """That a number is ≥ 0, > 0 or ≠ 0 in a case, which is not shown here, and what it is needed for."""

    context: Context
    value: Number
    relation: Literal["≥", ">", "≠"]
    what: str

    @property
    def text(self) -> str:
        """It, as a formula."""
        return f"{self.value.key} {self.relation} 0"
