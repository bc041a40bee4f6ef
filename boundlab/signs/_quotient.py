"""Formulas as quotients of exact polynomials in variables ≥ 0, each of a size that is predicted before it is made."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

import sympy
from sympy.polys.rings import PolyElement, PolyRing

from boundlab.errors import UndecidedError
from boundlab.formulas.enclose import enclose
from boundlab.formulas.expansion import MAX_TERMS, powers

_MAX_PRODUCTS = 20 * MAX_TERMS
_MAX_DEGREE = 400


@final
@dataclass(frozen=True, slots=True)
class Quotient:
    """numerator/Π factor^power, polynomials over Q in variables that take all values ≥ 0."""

    numerator: PolyElement
    factors: dict[PolyElement, int]


def quotient(expression: sympy.Expr) -> Quotient:
    """Write an expression as a quotient of polynomials.

    A root of a symbol is a variable whose powers the symbol is. √(1 + what is ≥ 0) is 1 + a variable, any other part
    that is no polynomial and ≥ 0 a variable, and an irrational number a rational one below it + a variable: what holds
    for all values of these variables holds for the parts.

    Raises
    ------
    UndecidedError
        If a variable may be negative, or a polynomial is predicted to have more than 2000 terms.
    """
    return _Builder(expression).build(expression)


def vanishes(expression: sympy.Expr) -> bool:
    """Return whether an expression is certainly 0 wherever it has a value.

    Raises
    ------
    UndecidedError
        As :func:`quotient`.
    """
    return not quotient(expression).numerator


@final
@dataclass(slots=True)
class _Builder:
    """Generators first, then the quotient bottom up."""

    expression: sympy.Expr
    roots: dict[sympy.Symbol, int] = field(default_factory=dict)
    opaque: dict[sympy.Expr, sympy.Rational] = field(default_factory=dict)
    ring: PolyRing = field(init=False)
    generators: dict[sympy.Expr, PolyElement] = field(init=False)
    memo: dict[sympy.Expr, Quotient] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part in _parts(self.expression):
            self.enter(part)
        keys = [*sorted(self.roots, key=str), *sorted(self.opaque, key=str)]
        self.ring = PolyRing([f"v{number}" for number in range(len(keys))], sympy.QQ)
        self.generators = dict(zip(keys, self.ring.gens, strict=True))

    def enter(self, part: sympy.Expr) -> None:
        """Note what variables a part needs."""
        if part.is_Symbol:
            if not part.is_nonnegative:
                raise UndecidedError(f"{part} may be negative")
            self.roots.setdefault(part, 1)
        elif part.is_Pow and part.base.is_Symbol and part.exp.is_Rational:
            self.roots[part.base] = math.lcm(self.roots.get(part.base, 1), int(part.exp.q))
        elif not part.is_Rational:
            self.opaque[part] = _least(part)

    def build(self, part: sympy.Expr) -> Quotient:
        """Return the quotient of a part."""
        if part not in self.memo:
            self.memo[part] = self._build(part)
        return self.memo[part]

    def _build(self, part: sympy.Expr) -> Quotient:
        if part.is_Rational:
            return Quotient(self.ring.ground_new(sympy.QQ(int(part.p), int(part.q))), {})
        if part.is_Symbol:
            return Quotient(self.generators[part] ** self.roots[part], {})
        if part.is_Pow and part.base.is_Symbol and part.exp.is_Rational:
            return self.power(Quotient(self.generators[part.base], {}), int(part.exp * self.roots[part.base]))
        if part.is_Add:
            return self.sum([self.build(one) for one in part.args])
        if part.is_Mul:
            return self.product([self.build(one) for one in part.args])
        if _is_power(part):
            return self.power(self.build(part.base), int(part.exp))
        if _is_root(part):
            return self.power(self.build(_root(part)), 1 if part.exp.is_positive else -1)
        least = self.opaque[part]
        return Quotient(self.generators[part] + sympy.QQ(int(least.p), int(least.q)), {})

    def sum(self, parts: list[Quotient]) -> Quotient:
        common: dict[PolyElement, int] = {}
        for one in parts:
            for factor, count in one.factors.items():
                common[factor] = max(count, common.get(factor, 0))
        total = self.ring.zero
        for one in parts:
            own = one.numerator
            for factor, count in common.items():
                own = times(own, power(factor, count - one.factors.get(factor, 0)))
            total += own
        return Quotient(total, common)

    def product(self, parts: list[Quotient]) -> Quotient:
        numerator = self.ring.one
        factors: dict[PolyElement, int] = {}
        for one in parts:
            numerator = times(numerator, one.numerator)
            for factor, count in one.factors.items():
                factors[factor] = factors.get(factor, 0) + count
        return Quotient(numerator, factors)

    def power(self, base: Quotient, exponent: int) -> Quotient:
        if exponent >= 0:
            return Quotient(
                power(base.numerator, exponent), {factor: count * exponent for factor, count in base.factors.items()}
            )
        if not base.numerator:
            raise UndecidedError("a part is divided by 0")
        numerator = self.ring.one
        for factor, count in base.factors.items():
            numerator = times(numerator, power(factor, -count * exponent))
        content, rest = base.numerator.primitive()
        return Quotient(numerator * (1 / content) ** -exponent, {rest: -exponent} if rest != 1 else {})


def times(one: PolyElement, other: PolyElement) -> PolyElement:
    """Return the product.

    Raises
    ------
    UndecidedError
        If it is predicted to be too long.
    """
    if min(len(one), len(other)) > 1 and len(one) * len(other) > _MAX_PRODUCTS:
        raise UndecidedError(f"multiplied out it has more than {MAX_TERMS} terms")
    found = one * other
    if len(found) > MAX_TERMS:
        raise UndecidedError(f"multiplied out it has more than {MAX_TERMS} terms")
    return found


def power(base: PolyElement, exponent: int) -> PolyElement:
    """Return the power; Raises as :func:`times`."""
    degree = max((sum(powers_) for powers_ in base), default=0) * exponent
    if powers(len(base), exponent) > MAX_TERMS or degree > _MAX_DEGREE:
        raise UndecidedError(f"multiplied out it has more than {MAX_TERMS} terms, or a degree above {_MAX_DEGREE}")
    return base**exponent


def _parts(expression: sympy.Expr) -> Iterator[sympy.Expr]:
    """Yield the symbols, their roots and the parts that are no polynomial."""
    if expression.is_Rational:
        return
    if expression.is_Add or expression.is_Mul:
        for part in expression.args:
            yield from _parts(part)
    elif _is_power(expression):
        yield from _parts(expression.base)
    elif _is_root(expression):
        yield from _parts(_root(expression))
    else:
        yield expression


def _is_power(part: sympy.Expr) -> bool:
    return bool(part.is_Pow and part.exp.is_Integer and not part.base.is_Symbol)


def _is_root(part: sympy.Expr) -> bool:
    """Return whether it is √(1 + what is ≥ 0), or one over that."""
    return bool(
        part.is_Pow
        and not part.base.is_Symbol
        and not part.base.is_number
        and abs(part.exp) == sympy.S.Half
        and (part.base - 1).is_nonnegative
    )


def _root(part: sympy.Expr) -> sympy.Expr:
    # Named after its base: the same root is the same variable wherever it stands.
    return 1 + sympy.Symbol(f"root({part.base})", nonnegative=True)


def _least(part: sympy.Expr) -> sympy.Rational:
    """Return a rational number that a part is never below."""
    if part.is_number:
        low: Any = enclose(part)[0].limit_denominator(10**12) - Fraction(1, 10**12)
        return sympy.Rational(low.numerator, low.denominator)
    if part.is_nonnegative:
        return sympy.S.Zero
    raise UndecidedError(f"{part} may be negative")
