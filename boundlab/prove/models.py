"""Exact models: instances of a setting in which every claim is a comparison of two rational numbers.

Where a claim holds an exponential, its sides are balls; it is true, or false, only where that is certain.

A model tests what no kernel can: the axioms and the setting. A step that is proved must hold in every model of it.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias, final

import sympy

from boundlab.prove._balls import PRECISIONS, Ball, Real, lower, upper
from boundlab.prove._context import Context, Fact
from boundlab.prove._functions import square_root
from boundlab.prove._instance import Instance, Name, Runs, UnfitError
from boundlab.prove._kernel import Kernel
from boundlab.prove._numbers import Environment, OutsideError, SymbolNumbers
from boundlab.prove._scalars import REFUSED, scalar
from boundlab.prove._terms import Claim
from boundlab.prove.setting import Setting
from boundlab.recheck.kernel import Base, Range, Vec

# ("1",), ("inner", u, v) or ("value", i, u)
Ground: TypeAlias = tuple[Any, ...]
_ZERO = Fraction(0)
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

    @cached_property
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

    def places(self, names: set[str], context: Context) -> Iterator[dict[str, Fraction]]:
        """Yield the values of free indices inside their ranges, up to the last iteration."""
        closed = context.closure(names)
        free = [name for name in context.order() if name in closed and name not in self.values]
        yield from self._places(free, {}, context)

    def _places(self, free: list[str], at: dict[str, Fraction], context: Context) -> Iterator[dict[str, Fraction]]:
        if not free:
            yield at
            return
        known = context.find(free[0])
        assert known is not None  # noqa: S101  (it is declared)
        if known.arity:
            if self.known_family(free[0]):
                yield from self._places(free[1:], at, context)
            return
        if not known.integer or known.low is None:
            return  # a number without a value in this model
        try:
            low = lower(self.number(known.low, at))
            high = upper(self.number(known.high, at)) if known.high is not None else max(low, Fraction(self.last))
        except OutsideError:
            return
        for value in range(int(low), int(high) + 1):
            if (known.above and value == low) or (known.below and known.high is not None and value == high):
                continue
            yield from self._places(free[1:], {**at, free[0]: Fraction(value)}, context)

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
    for instance in setting.instances():
        one = instance if setting.noisy else replace(instance, noise=())
        try:
            found.append(Model(setting, settled(setting, one)))
        except UnfitError:
            continue
    return found


def settled(setting: Setting, instance: Instance, *, quiet: bool = False) -> Instance:
    """Return the instance with the step that the theorem sets, where it sets one.

    Where that is a root, B and sigma are made larger until it is rational.

    Parameters
    ----------
    quiet
        Whether sigma is left as it is as long as a larger B will do.

    Raises
    ------
    UnfitError
        If none is found.
    """
    if not setting.step_facts:
        return instance
    least = instance.least()
    more = dict(instance.bounds)
    names = sorted({"B", "sigma"} & setting.own_symbols & least.keys())
    own = setting.constants(instance)
    if own.get("R") == 0 and "R" in setting.own_symbols:
        raise UnfitError("there is no step for a start at the minimiser")
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
    raise UnfitError("the step of the theorem is not rational")


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
