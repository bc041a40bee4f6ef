"""Exact models: instances of a setting in which every claim is a comparison of two rational numbers.

Where a claim holds an exponential, its sides are balls; it is true, or false, only where that is certain.

A model tests what no kernel can: the axioms and the setting. A step that is proved must hold in every model of it.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias, final

import sympy

from boundlab.prove._functions import square_root
from boundlab.prove._instance import Instance, Members, Name, Runs, UnfitError
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import FIRST, REFUSED, Scalar, scalar, shape
from boundlab.prove._terms import Claim, Context, Expr, Fact
from boundlab.prove.setting import Setting
from boundlab.recheck.kernel import Atom, Base, Monomial, Range, Symbol, Vec

# Numbers for symbols: what a scalar, an expression, a claim amounts to there, as a rational number or a ball.

# Real numbers that are not rational, such as e^(1/6): between two rational ones, rounded outwards.

# How many bits the ends have at first, and where a comparison stays open.
PRECISIONS = (128, 512)


@final
class Ball:
    """A number of which no more is known than that it lies in [low, high]; what is made of it, too.

    Parameters
    ----------
    low, high
        The ends.
    bits
        To so many binary digits the ends of what is made of it are rounded.
    """

    __slots__ = ("bits", "high", "low")

    def __init__(self, low: Fraction, high: Fraction, bits: int) -> None:
        self.low, self.high, self.bits = _down(low, bits), -_down(-high, bits), bits

    def __bool__(self) -> bool:
        """Whether it is certain not to be 0."""
        return self.low > 0 or self.high < 0

    def __add__(self, other: Real) -> Ball:
        return Ball(self.low + lower(other), self.high + upper(other), self.bits)

    __radd__ = __add__

    def __neg__(self) -> Ball:
        return Ball(-self.high, -self.low, self.bits)

    def __sub__(self, other: Real) -> Ball:
        return Ball(self.low - upper(other), self.high - lower(other), self.bits)

    def __rsub__(self, other: Fraction) -> Ball:
        return -self + other

    def __mul__(self, other: Real) -> Ball:
        ends = [one * end for one in (self.low, self.high) for end in (lower(other), upper(other))]
        return Ball(min(ends), max(ends), self.bits)

    __rmul__ = __mul__

    def _inverse(self) -> Ball:
        if not self:
            raise ZeroDivisionError("a number that may be 0")
        return Ball(1 / self.high, 1 / self.low, self.bits)

    def __truediv__(self, other: Real) -> Ball:
        return self * (other._inverse() if isinstance(other, Ball) else 1 / other)

    def __rtruediv__(self, other: Fraction) -> Ball:
        return self._inverse() * other

    def __pow__(self, exponent: int) -> Real:
        if not exponent:
            return Fraction(1)
        base = self if exponent > 0 else self._inverse()
        return math.prod([base] * (abs(exponent) - 1), start=base)

    def __str__(self) -> str:
        return f"about {float((self.low + self.high) / 2):.12g}"


Real: TypeAlias = Fraction | Ball


def lower(value: Real) -> Fraction:
    """Return the number, or a rational one that it is not below."""
    return value.low if isinstance(value, Ball) else value


def upper(value: Real) -> Fraction:
    """Return the number, or a rational one that it is not above."""
    return value.high if isinstance(value, Ball) else value


def _down(value: Fraction, bits: int) -> Fraction:
    """Return a number with so many binary digits that is not larger."""
    if not value or value.denominator.bit_length() + abs(value.numerator).bit_length() <= bits:
        return value
    shift = bits - abs(value.numerator).bit_length() + value.denominator.bit_length()
    unit = Fraction(2) ** shift
    return Fraction(math.floor(value * unit)) / unit


def exponential(value: Real, bits: int) -> Real:
    """Return e^value."""
    if isinstance(value, Fraction) and not value:
        return Fraction(1)
    return Ball(_power(lower(value), bits)[0], _power(upper(value), bits)[1], bits)


def _power(value: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return numbers between which e^value lies: a power of e^v for |v| ≤ 1, by its series."""
    times = max(1, math.ceil(abs(value)))
    own, term, middle, place = value / times, Fraction(1), Fraction(1), 0
    # The rest of the series is at most 3·|its first term|.
    while abs(term) * 2 ** (bits + 8) > 1:
        place += 1
        term = term * own / place
        middle += term
    rest = 3 * abs(term)
    found = Ball(middle - rest, middle + rest, bits) ** times
    return lower(found), upper(found)


Environment: TypeAlias = Mapping[str, Fraction]
_ZERO = Fraction(0)


class OutsideError(UnfitError):
    """A vector beyond the last iteration of the runs is named, or a number that has no value there."""


class SymbolNumbers:
    """A number for each symbol.

    Parameters
    ----------
    values
        Of symbols.
    families
        Of the members of families, by their indices.
    """

    def __init__(self, values: Mapping[str, Fraction], families: Mapping[str, Members]) -> None:
        self.values: dict[str, Real] = dict(values)
        self.families = dict(families)
        self.bits = PRECISIONS[0]
        self._read: dict[Kernel, int] = {}
        self._exponents: set[str] = set()
        # What symbols stand for that have no value yet, or one that is no rational number.
        self._open: list[tuple[str, Scalar | Expr, str]] = []
        self._rounded: list[tuple[str, Scalar | Expr, str]] = []
        self._formulas: dict[str, Scalar] = {}
        self._members: dict[tuple[str, int], Real] = {}

    def read(self, kernel: Kernel) -> None:
        """Give values to symbols that stand for others, in the order in which they were made."""
        start, facts = self._read.get(kernel, 0), kernel.facts
        self._read[kernel] = len(facts)
        for fact in facts[start:]:
            if fact.rule in ("name", "define", "root"):
                self._open.append((fact.data["name"], fact.data["value"], fact.rule))
        self._formulas |= kernel.families
        for name, own in kernel.exponents.items():
            if name not in self._exponents:
                self._exponents.add(name)
                if FIRST.names() & own.names():
                    self._formulas[name] = own
                else:
                    self._open.append((name, own, "exp"))
        self._settle()

    def refine(self, bits: int) -> None:
        """Compute balls anew, with so many bits."""
        if bits == self.bits:
            return
        self.bits = bits
        self._members.clear()
        for name, _, _ in self._rounded:
            del self.values[name]
        self._open, self._rounded = self._rounded + self._open, []
        self._settle()

    def _settle(self) -> None:
        left = []
        for one in self._open:
            name, value, rule = one
            if name in self.values:
                continue
            try:
                found = self.expr(value, {}) if isinstance(value, Expr) else self.number(value, {})
            except OutsideError:
                left.append(one)
                continue
            if rule == "exp":
                found = exponential(found, self.bits)
            elif rule == "root":
                root = None if isinstance(found, Ball) else square_root(found)
                if root is None:
                    continue
                found = root
            self.values[name] = found
            if isinstance(found, Ball):
                self._rounded.append(one)
        self._open = left

    def solve(self, fact: Fact) -> None:
        """Give a value to the one symbol that stands on the left of an equation, if it has none yet."""
        symbols = [s for value in fact.claim.left.terms.values() for s in value.symbols]
        if len(symbols) == 1 and symbols[0].name not in self.values:
            self.values[symbols[0].name] = self.expr(fact.claim.right, {})

    def known_family(self, name: str) -> bool:
        """Return whether members of a family have values."""
        return name in self.families or name in self._formulas

    def member(self, name: str, place: tuple[int, ...]) -> Real:
        """Return a member of a family, by its indices.

        Raises
        ------
        OutsideError
            If it has no value.
        """
        if name in self._formulas and len(place) == 1 and place[0] >= 0:
            key = name, place[0]
            if key not in self._members:
                here = {index: Fraction(place[0]) for index in FIRST.names()}
                own = self.number(self._formulas[name], here)
                self._members[key] = exponential(own, self.bits) if name in self._exponents else own
            return self._members[key]
        found = self.families.get(name, {}).get(place)
        if found is None:
            raise OutsideError(f"{name}[{', '.join(map(str, place))}] has no value")
        return found

    def number(self, value: Scalar, at: Environment) -> Real:
        """Return a scalar.

        Raises
        ------
        OutsideError
            If a symbol has no value, or it is divided by 0.
        """
        top, factors = shape(value)
        found = self._sum(top, at)
        for factor, count in factors:
            below = self._sum(shape(factor).top, at)
            if not below:
                raise OutsideError(f"{value} is divided by 0")
            found = found / below**count
        return found

    def _sum(self, top: tuple[tuple[Monomial, Fraction], ...], at: Environment) -> Real:
        found: Real = _ZERO
        for powers, value in top:
            part: Real = value
            for symbol, power in powers:
                own = self._symbol(symbol, at)
                if power < 0 and not own:
                    raise OutsideError(f"{symbol} is 0")
                part = part * (own if power == 1 else own**power)
            found = found + part
        return found

    def _symbol(self, symbol: Symbol, at: Environment) -> Real:
        value: Real
        if symbol.indices:
            value = self.member(symbol.name, self.whole(symbol.indices, at))
        else:
            known = at.get(symbol.name, self.values.get(symbol.name))
            if known is None:
                raise OutsideError(f"{symbol} has no value")
            value = known
        if symbol.exponent is None:
            return value
        (exponent,) = self.whole((symbol.exponent,), at)
        if not value and exponent < 0:
            raise OutsideError(f"{symbol} has no value")
        return value**exponent

    def between(self, known: Range, at: Environment) -> tuple[Fraction, Fraction | None] | None:
        """Return the ends between which an index lies, None where there is no upper one; None: it has no value."""
        raise NotImplementedError

    def each(
        self, free: Sequence[str], at: Environment, context: Context, last: Callable[[Fraction], Fraction]
    ) -> Iterator[Environment]:
        """Yield the values of whole symbols inside their ranges; ``last`` says how far one without an end goes."""
        if not free:
            yield at
            return
        known = context.find(free[0])
        assert known is not None  # noqa: S101  (it is declared)
        ends = self.between(known, at)
        if ends is None:
            return
        low, high = ends
        for value in range(int(low), int(last(low) if high is None else high) + 1):
            if not ((known.above and value == low) or (known.below and value == high)):
                yield from self.each(free[1:], {**at, free[0]: Fraction(value)}, context, last)

    def whole(self, indices: tuple[Scalar, ...], at: Environment) -> tuple[int, ...]:
        """Return indices, or ends of sums."""
        found = []
        for one in indices:
            value = self.number(one, at)
            if isinstance(value, Ball) or value.denominator != 1:
                raise OutsideError("an index is not whole")
            found.append(int(value))
        return tuple(found)

    def expr(self, value: Expr, at: Environment) -> Real:
        """Return an expression; raises as :meth:`number`."""
        return sum((weight * self._base(atom, where) for weight, atom, where in self.parts(value, at)), _ZERO)

    def parts(self, value: Expr, at: Environment) -> Iterator[tuple[Real, Base, Environment]]:
        """Yield what an expression is the sum of: weights, atoms without sums, and the values of their indices."""
        for atom, own in value.terms.items():
            weight = self.number(own, at)
            for part, base, where in self._terms(atom, 0, at):
                yield weight * part, base, where

    def _terms(self, atom: Atom, place: int, at: Environment) -> Iterator[tuple[Real, Base, Environment]]:
        if place == len(atom.ranges):
            weight = self.number(atom.weight, at)
            if isinstance(weight, Ball) or weight:
                yield weight, atom.base, at
            return
        lo, hi = self.whole(atom.ranges[place], at)
        for k in range(min(lo, hi), max(lo, hi)):
            terms = self._terms(atom, place + 1, {**at, f"_{place}": Fraction(k)})
            # A reversed sum has the opposite sign.
            yield from terms if lo <= hi else ((-weight, base, where) for weight, base, where in terms)

    def _base(self, atom: Base, at: Environment) -> Fraction:
        if atom.kind == "one":
            return Fraction(1)
        raise OutsideError(f"{atom.key} is no number")


# ("1",), ("inner", u, v) or ("value", i, u)
Ground: TypeAlias = tuple[Any, ...]
_KEPT: dict[Any, Runs] = {}
_MANY = 256
FUNCTION = "f"  # that of a client
_UNKNOWN = "has a range that is not known"


@final
@dataclass(frozen=True)
class Row:
    """A claim at one place: the values of its indices, and its two sides."""

    indices: tuple[tuple[str, int], ...]
    left: Real
    right: Real
    relation: str

    @property
    def slack(self) -> Fraction:
        """How far the claim is at least from being false; below 0 where it is."""
        gap = self.right - self.left if self.relation != "≥" else self.left - self.right
        if self.relation == "=":
            return -max(upper(gap), -lower(gap))
        return upper(gap) if upper(gap) < 0 else lower(gap)

    @property
    def certain(self) -> bool:
        """Whether its sides are known well enough to say whether it is true."""
        gap = self.right - self.left
        if not isinstance(gap, Ball):
            return True
        return bool(gap) or (self.relation != "=" and gap.low >= 0 if self.relation == "≤" else gap.high <= 0)

    @property
    def holds(self) -> bool:
        """Whether it is true there."""
        return self.slack >= 0


@final
class Model(SymbolNumbers):
    """All runs on an instance, and a number for every symbol.

    Parameters
    ----------
    setting
        What the instance is an instance of.
    instance
        The numbers and the functions.

    Raises
    ------
    UnfitError
        If an assumption of the theorem, a condition, a range, or the rule of its step is not met exactly.
    """

    def __init__(self, setting: Setting, instance: Instance) -> None:
        if why := setting.why_not(instance):
            raise UnfitError(why)
        self.instance, self.setting = instance, setting
        self.constants = setting.constants(instance)
        super().__init__(
            {name: self.constants[name] for name in sorted(setting.own_symbols & self.constants.keys())},
            setting.families(instance),
        )
        self.read(setting.kernel)
        self._meets_conditions()
        if why := self.leaves(setting.context):
            raise UnfitError(why)

    def _meets_conditions(self) -> None:
        setting, theorem = self.setting, self.setting.theorem
        for fact in setting.step_facts:
            self.solve(fact)
            if self.expr(fact.claim.left, {}) != self.expr(fact.claim.right, {}):
                raise UnfitError(f"alpha = {self.instance.alpha} is not the step of {theorem.id}")
        for name in setting.own_symbols - self.values.keys():
            known = setting.context.find(name)
            if known is not None and not known.arity:
                raise UnfitError(f"{name} has no rational value")
        for made in setting.kernel.facts:
            # What a setting says of numbers alone is a condition, too.
            if made.rule == "axiom" and isinstance(made, Fact) and made.claim.body.number is not None:
                self._meets(made)
        for one in theorem.conditions:
            if setting.decides(one):
                continue
            try:
                met = upper(self._quantity(one.quantity) - self.number(setting.formula(one.limit), {})) <= 0
            except REFUSED:
                met = False  # what cannot be read is not known to be met
            if not met:
                raise UnfitError(f"a condition on {one.quantity} is not met")

    def _quantity(self, of: sympy.Expr) -> Real:
        """Return what a condition is about: a number of the instance, or one that symbols of the setting make up."""
        own = self.constants.get(str(of))
        return self.number(self.setting.formula(of), {}) if own is None else self.values.get(str(of), own)

    def _meets(self, fact: Fact) -> None:
        for at in self.places(fact.claim.names(), fact.context):
            try:
                value = self.expr(fact.claim.body, at)
            except OutsideError:
                if not at:
                    raise
                continue  # beyond the last iteration
            if lower(value) < 0 or (value and fact.claim.equality):
                raise UnfitError(f"{fact.claim} is not met")

    @functools.cached_property
    def runs(self) -> Runs:
        """The runs, made when they are first asked for."""
        setting = self.setting
        # Constants that are larger than they need be change no run whose step is given.
        given = "alpha" in setting.theorem.step
        one = replace(self.instance, bounds=()) if given else self.instance
        key = (
            type(setting),
            () if given else tuple(map(str, setting.theorem.step.items())),
            tuple(sorted(setting.theorem.core.fixed.items())),
            setting.noisy,
            "minimiser" in setting.assumed,
            one,
        )
        if key not in _KEPT:
            if len(_KEPT) >= _MANY:
                _KEPT.clear()
            _KEPT[key] = setting.runs(one)
        return _KEPT[key]

    def leaves(self, context: Context) -> str:
        """Return which range of a context the numbers leave; empty if none."""
        for name in context.order():
            known = context.find(name)
            assert known is not None  # noqa: S101  (for the type checker)
            if known.arity:
                members = self._members_of(name)
            elif name in self.values:
                members = [(0, self.values[name])]
            else:
                continue
            for first, one in members:
                own = known.of(scalar(first)) if known.arity and known.moving else known
                if why := self._leaves(one, own):
                    return f"{name} {why}" if why != _UNKNOWN else f"the range of {name} is not known"
        return ""

    def _members_of(self, name: str) -> list[tuple[int, Real]]:
        """Return the members of a family, each with its first index."""
        if name in self.families:
            return [(place[0], one) for place, one in self.families[name].items()]
        found: list[tuple[int, Real]] = []
        try:
            while self.known_family(name) and len(found) <= max(self.last, self.instance.n):
                found.append((len(found), self.member(name, (len(found),))))
        except OutsideError:
            pass  # beyond the last one
        return found

    def _leaves(self, one: Real, known: Range) -> str:
        for end, sign, open_ in ((known.low, 1, known.above), (known.high, -1, known.below)):
            if end is None:
                continue
            try:
                gap = (one - self.number(end, {})) * Fraction(sign)
            except OutsideError:
                return _UNKNOWN
            # Of a ball it is enough that it may lie inside: its range is one that the kernel has shown.
            if upper(gap) < 0 or (open_ and not isinstance(gap, Ball) and not gap):
                return "is out of its range"
        if known.integer and (isinstance(one, Ball) or one.denominator != 1):
            return "is not whole"
        return ""

    def ground(self, atom: Base, at: Environment) -> Ground:
        """Return which number of this model an atom is: by the names of its vectors, and the number of its function.

        Raises
        ------
        OutsideError
            If there is no such client, an index is not whole, or the function is a norm.
        """
        if atom.kind == "one":
            return ("1",)
        if atom.kind == "inner":
            one, other = sorted(self._vector(own, at) for own in atom.vectors)
            return "inner", one, other
        if atom.function != FUNCTION:
            raise OutsideError(f"{atom.key} is no value of a client's function: it has none in an exact model")
        # Where all clients have one function, it has no index.
        (client,) = self.whole(atom.indices, at) or (0,)
        if not 0 <= client < self.instance.n:
            raise OutsideError(f"there is no client {client}")
        return "value", client, self._vector(atom.vectors[0], at)

    def _base(self, atom: Base, at: Environment) -> Fraction:
        key = self.ground(atom, at)
        try:
            match key:
                case ("inner", one, other):
                    return self.runs.inner(self.there(one), self.there(other))
                case ("value", client, point):
                    return self.runs.value(client, self.there(point))
        except KeyError as error:
            raise OutsideError(f"{error} is beyond the last iteration") from None
        return Fraction(1)

    def there(self, name: Name) -> Name:
        """Return the name of a vector that is there: one of the runs, a gradient at one, or what a sentence defines.

        Raises
        ------
        KeyError
            If it is none.
        """
        columns, vector = self.runs.columns, Vec(name[0], tuple(map(scalar, name[1])))
        if name in columns:
            return name
        if vector.name in self.setting.kernel.vectors.slopes:
            _, which, at = self.setting.kernel.vectors.slope(vector)
            (client,) = self.whole(which, {}) or (0,)
            if not 0 <= client < self.instance.n:
                raise KeyError(name)
            function, points = self.instance.functions[client], self.runs.at(self.there(self._vector(at, {})))
            self.runs.add(name, lambda place: function.slope(points[place]))
            return name
        meaning = self.setting.sentences.meaning(vector)
        if meaning is None:
            raise KeyError(name)
        parts = [
            (lower(self.number(own, {}) * weight), self.there(self._vector(base.vectors[0], where)))
            for atom, own in meaning.terms.items()
            for weight, base, where in self._terms(atom, 0, {})
        ]
        self.runs.combine(name, parts)
        return name

    def _vector(self, vector: Vec, at: Environment) -> Name:
        return vector.name, self.whole(vector.indices, at)

    def places(self, names: set[str], context: Context) -> Iterator[Environment]:
        """Yield the values of free indices inside their ranges, up to the last iteration."""
        closed = context.closure(names)
        free = [name for name in context.order() if name in closed and name not in self.values]
        families = {name for name in free if (known := context.find(name)) is not None and known.arity}
        if all(map(self.known_family, families)):
            alone = [name for name in free if name not in families]
            yield from self.each(alone, {}, context, lambda low: max(low, Fraction(self.last)))

    def between(self, known: Range, at: Environment) -> tuple[Fraction, Fraction | None] | None:
        """Return the ends of a range; None for a number without a value in this model."""
        if not known.integer or known.low is None:
            return None
        try:
            high = None if known.high is None else upper(self.number(known.high, at))
            return lower(self.number(known.low, at)), high
        except OutsideError:
            return None

    @property
    def last(self) -> int:
        """The largest value that an index without an upper end takes."""
        return self.instance.horizon + 1


def evaluate(model: Model, claim: Claim, kernel: Kernel, context: Context | None = None) -> list[Row]:
    """Return both sides of a claim for all values of its free indices; none where the model is not of this case.

    Parameters
    ----------
    kernel
        Where the claim was made: what its named symbols stand for.
    context
        The case in which it is claimed.
    """
    return [*rows(model, claim, kernel, context)]


def rows(model: Model, claim: Claim, kernel: Kernel, context: Context | None = None) -> Iterator[Row]:
    """Yield what :func:`evaluate` returns, one place after the other."""
    here = context or kernel.context
    model.refine(PRECISIONS[0])
    model.read(kernel)
    if model.leaves(here):
        return
    for at in model.places(claim.names(), here):
        try:
            row = _row(model, claim, at)
        except OutsideError:
            continue
        if row.certain:
            yield row


def _row(model: Model, claim: Claim, at: Mapping[str, Fraction]) -> Row:
    """Return both sides, as exactly as it takes to compare them, or as it gets."""
    indices = tuple((name, int(value)) for name, value in at.items())
    if not claim.body.terms:  # one number on both sides, whatever it is
        return Row(indices, _ZERO, _ZERO, claim.relation)
    for bits in PRECISIONS:
        model.refine(bits)
        row = Row(indices, model.expr(claim.left, at), model.expr(claim.right, at), claim.relation)
        if row.certain:
            break
    model.refine(PRECISIONS[0])
    return row


def holds(model: Model, fact: Fact | Claim, kernel: Kernel, context: Context | None = None) -> bool | None:
    """Return whether a claim is true at all places; None where the model says nothing about it."""
    claim, here = (fact.claim, fact.context) if isinstance(fact, Fact) else (fact, context)
    found = evaluate(model, claim, kernel, here)
    return all(row.holds for row in found) if found else None


# ---------------------------------------------------------------------- models of a setting


def models_of(setting: Setting) -> list[Model]:
    """Return the models of a setting: those of its instances that fit its theorem, with the step that it sets."""
    found = []
    for instance in setting.instances:
        one = settled(setting, instance)
        if one is not None:
            with contextlib.suppress(UnfitError):
                found.append(Model(setting, one))
    return found


@functools.lru_cache(maxsize=1024)  # a search for a witness asks the same tiny instances for every claim
def settled(setting: Setting, instance: Instance, *, quiet: bool = False) -> Instance | None:
    """Return the instance with the step that the theorem sets, where it sets one; None if no rational one is found.

    Where it is a root, B and sigma are made larger until it is rational.

    Parameters
    ----------
    quiet
        Whether sigma is left as it is as long as a larger B will do.
    """
    if not setting.step_facts:
        return instance
    least = instance.least()
    more = dict(instance.bounds)
    names = sorted({"B", "sigma"} & setting.own_symbols & least.keys())
    own = setting.constants(instance)
    if own.get("R") == 0 and "R" in setting.own_symbols:
        return None  # a start at the minimiser
    few = range(5) if quiet else range(17)
    tried = {name: few if name == "sigma" else range(17) for name in names}
    grids = [[max(least[name], more.get(name, _ZERO)) + Fraction(j, 4) for j in tried[name]] for name in names]
    noise = names.index("sigma") if quiet and "sigma" in names else None
    order = sorted(itertools.product(*grids), key=lambda one: (0 if noise is None else one[noise], sum(one)))
    for drawn in order:
        bounds = {**more, **dict(zip(names, drawn, strict=True))}
        one = replace(instance, bounds=tuple(sorted(bounds.items())))
        alpha = _step(setting, own | bounds, instance)
        if alpha:
            return replace(one, alpha=alpha)
    return None


def _step(setting: Setting, own: Mapping[str, Fraction], instance: Instance) -> Fraction | None:
    """Return the step that the theorem sets with these constants, where it is rational and positive."""
    numbers = SymbolNumbers(
        {name: own[name] for name in sorted(setting.own_symbols & own.keys() - {"alpha"})},
        setting.families(instance),
    )
    try:
        numbers.read(setting.kernel)
        if "alpha" in numbers.values:
            return _rational(numbers.values["alpha"])
        *before, last = setting.step_facts
        for fact in before:
            numbers.solve(fact)
        # The last one is alpha²·(what it is divided by) = what stands above.
        numbers.values["alpha"] = Fraction(1)
        below = numbers.expr(last.claim.left, {})
        value = _rational(numbers.expr(last.claim.right, {}) / below) if below else None
        return None if value is None else square_root(value)
    except OutsideError:
        return None


def _rational(value: Real) -> Fraction | None:
    return None if isinstance(value, Ball) else value
