"""Signs of formulas: what is certainly ≥ 0 on the domains of its symbols, and which way it moves with one of them.

Everything here is bounded by counts, never by a clock: predicted numbers of terms, multiplications of a search. The
same question has the same answer on every machine.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, final

import numpy as np
import sympy
from sympy.polys.rings import PolyElement, PolyRing

from boundlab.errors import UndecidedError
from boundlab.formulas.enclose import enclose
from boundlab.formulas.folds import Choice
from boundlab.formulas.symbols import SymbolInfo, apart, ordered
from boundlab.formulas.written import MAX_TERMS, powers as count_powers, substitute

# Covers of the orthant by cones in which a polynomial has no negative coefficient, and their second check.
#
# Where x_i ≥ x_j, write x_i = x_j + x_i' with x_i' ≥ 0, else x_j = x_i + x_j'. A polynomial whose coefficients are ≥ 0
# in
# all cones of such a tree of cases is ≥ 0; this is successive difference substitution, the method of Yang and Xia
# (2008).

Terms = dict[tuple[int, ...], int]
# Multiplications of a search, and how often an orthant is cut in two on the way to one cone.
_WORK = 150_000
_DEPTH = 14


@final
@dataclass(frozen=True, slots=True)
class Cut:
    """Two cases: x_i ≥ x_j, and x_j ≥ x_i. None stands for a cone in which all coefficients are ≥ 0."""

    i: int
    j: int
    first: "Cut | None"
    second: "Cut | None"


class _TooLongError(Exception):
    """The search has used up its multiplications."""


def find_cover(polynomial: PolyElement) -> Cut | None:
    """Return cases that show a polynomial with a negative coefficient to be ≥ 0 on the orthant; None if not found."""
    search = _Search()
    try:
        return search.cut(_homogeneous(polynomial), _DEPTH)
    except _TooLongError:
        return None


@final
class _Search:
    """A search that counts its multiplications: the same answer on every machine."""

    def __init__(self) -> None:
        self.left = _WORK

    def cut(self, terms: Terms, depth: int) -> Cut:
        """Return the cut for terms of which one is negative."""
        if depth == 0:
            raise _TooLongError
        i, j = _pair(terms)
        first, second = self.moved(terms, i, j), self.moved(terms, j, i)
        return Cut(i, j, *(self.cut(one, depth - 1) if _mixed(one) else None for one in (first, second)))

    def moved(self, terms: Terms, i: int, j: int) -> Terms:
        """Write x_i as x_j + x_i."""
        found: Terms = {}
        for powers, coefficient in terms.items():
            binomial = coefficient
            self.left -= powers[i] + 1
            for kept in range(powers[i], -1, -1):
                key = list(powers)
                key[i], key[j] = kept, powers[j] + powers[i] - kept
                place = tuple(key)
                found[place] = found.get(place, 0) + binomial
                binomial = binomial * kept // (powers[i] - kept + 1)
        if self.left < 0:
            raise _TooLongError
        return {powers: coefficient for powers, coefficient in found.items() if coefficient}


def _mixed(terms: Terms) -> bool:
    return any(coefficient < 0 for coefficient in terms.values())


def _homogeneous(polynomial: PolyElement) -> Terms:
    """Return integer coefficients by powers, with one more variable that stands for 1."""
    _, whole = polynomial.clear_denoms()
    degree = max(sum(powers) for powers in whole)
    return {(*powers, degree - sum(powers)): int(coefficient) for powers, coefficient in whole.items()}


def _pair(terms: Terms) -> tuple[int, int]:
    """Return the two variables whose order tells most about the negative terms."""
    positive = {powers for powers, coefficient in terms.items() if coefficient > 0}
    negative = [powers for powers, coefficient in terms.items() if coefficient < 0]
    size = len(next(iter(terms)))
    return max(
        ((i, j) for i in range(size) for j in range(i)),
        key=lambda pair: sum(_neighbours(powers, pair[0], pair[1], positive) for powers in negative),
        default=(0, 0),
    )


def _neighbours(powers: tuple[int, ...], i: int, j: int, positive: set[tuple[int, ...]]) -> int:
    """Count the positive terms that are this one with some of x_i in place of x_j, or the reverse; near ones double."""
    count = 0
    for amount in (1, 2):
        for up, down in ((i, j), (j, i)):
            if powers[down] >= amount:
                other = list(powers)
                other[up], other[down] = other[up] + amount, other[down] - amount
                count += (3 - amount) * int(tuple(other) in positive)
    return count


def covers(polynomial: PolyElement, cut: Cut) -> bool:
    """Return whether the cases show that the polynomial is ≥ 0: by SymPy's arithmetic, from the polynomial itself."""
    names = [str(symbol) for symbol in polynomial.ring.symbols]
    ring = PolyRing([*names, "one_"], polynomial.ring.domain)
    degree = max(sum(powers) for powers in polynomial)
    whole = ring.from_dict({(*powers, degree - sum(powers)): value for powers, value in polynomial.items()})
    return _holds(whole, cut)


def _holds(polynomial: PolyElement, cut: Cut | None) -> bool:
    if cut is None:
        return all(coefficient >= 0 for coefficient in polynomial.values())
    x, y = polynomial.ring.gens[cut.i], polynomial.ring.gens[cut.j]
    return _holds(polynomial.compose(x, x + y), cut.first) and _holds(polynomial.compose(y, x + y), cut.second)


# The sign of a polynomial in variables ≥ 0: coefficients, means, a cover by cones, squares; the first that shows it.

# Beyond this, a search for a cover has not much of a chance.
_TERMS, _VARIABLES, _DEGREE = 40, 6, 8
_TRIED = 48


def polynomial_sign(polynomial: PolyElement) -> bool:
    """Return whether a polynomial with rational coefficients is shown to be ≥ 0 where all its variables are ≥ 0."""
    if all(coefficient >= 0 for coefficient in polynomial.values()):
        return True
    if polynomial.is_ground:
        return False
    small = _reduced(polynomial)
    if len(small) > _TERMS or small.ring.ngens > _VARIABLES or max(map(sum, small)) > _DEGREE or _negative(small):
        return False
    if _below_means(small) or ((cut := find_cover(small)) is not None and covers(small, cut)):
        return True
    number, parts = small.sqf_list()
    odd = math.prod((part for part, count in parts if count % 2), start=small.ring.ground_new(number))
    return any(count > 1 for _, count in parts) and polynomial_sign(odd)


def _below_means(polynomial: PolyElement) -> bool:
    """Return whether each negative term is at most the geometric mean of two positive ones: c·m ≤ p·s + c²/(4p)·t.

    Here m² = s·t; no part of a positive term is used twice.
    """
    left = {powers: value for powers, value in polynomial.items() if value > 0}
    for powers, value in ((powers, value) for powers, value in polynomial.items() if value < 0):
        pairs = ((one, tuple(2 * a - b for a, b in zip(powers, one, strict=True))) for one in left)
        found = next((pair for pair in pairs if value**2 <= 4 * left[pair[0]] * left.get(pair[1], 0)), None)
        if found is None:
            return False
        left[found[1]] -= value**2 / (4 * left.pop(found[0]))
    return True


def _reduced(polynomial: PolyElement) -> PolyElement:
    """Divide by a monomial where that is possible, and leave out the variables that do not occur."""
    powers = np.array(list(polynomial), dtype=np.int64)
    powers -= powers.min(axis=0)
    used = np.flatnonzero(powers.any(axis=0))
    ring = polynomial.ring.clone(symbols=[polynomial.ring.symbols[index] for index in used])
    return ring.from_dict(
        {tuple(map(int, row)): value for row, value in zip(powers[:, used], polynomial.values(), strict=True)}
    )


def _negative(polynomial: PolyElement) -> bool:
    """Return whether it is seen to be negative at some point: then no certificate is looked for."""
    powers = np.array(list(polynomial), dtype=np.float64)
    largest = max(abs(value) for value in polynomial.values())
    coefficients = np.array([float(value / largest) for value in polynomial.values()])
    points = np.random.default_rng(7).uniform(-3, 3, (_TRIED, powers.shape[1]))
    with np.errstate(all="ignore"):
        parts = np.exp(points @ powers.T * np.log(4.0)) * coefficients
        return bool((parts.sum(axis=1) < -1e-9 * np.abs(parts).sum(axis=1)).any())


# Formulas as quotients of exact polynomials in variables ≥ 0, each of a size that is predicted before it is made.

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
    if count_powers(len(base), exponent) > MAX_TERMS or degree > _MAX_DEGREE:
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


Direction = Literal[-1, 0, 1]
_EXTREMA = (sympy.Min, sympy.Max)
_JUMPS = (*_EXTREMA, sympy.floor, sympy.ceiling, sympy.Abs, Choice)  # no slope everywhere
_NO_POLYNOMIAL = (*_JUMPS, sympy.log)


@final
@dataclass(frozen=True, slots=True)
class Prover:
    """Facts about the symbols, and what follows for signs. It never guesses: False and None mean "no proof".

    Parameters
    ----------
    symbols
        The table with the domains.
    at_least
        Larger lower ends than those of the domains.
    facts
        What symbols are by conditions: α ≤ 1/L makes α = 1/(L·(1 + t)) with t ≥ 0.
    """

    symbols: Mapping[str, SymbolInfo]
    at_least: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[sympy.Symbol, sympy.Expr] = field(default_factory=dict)
    _known: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def shifted(self, expression: sympy.Expr) -> sympy.Expr:
        """Write an expression in variables over all of [0, ∞): a count n becomes 1 + n', p becomes 1/(1 + p').

        Raises
        ------
        UndecidedError
            If a symbol may be negative.
        """
        expression = substitute(expression, self.facts)
        values: dict[sympy.Symbol, sympy.Expr] = {}
        by_name = {symbol.name: symbol for symbol in expression.free_symbols}
        for name, symbol in by_name.items():
            info = self.symbols.get(name)
            low = 0.0 if info is None else self.at_least.get(name, info.domain.low)
            if low < 0 or (info is None and not symbol.is_nonnegative):
                raise UndecidedError(f"{name} may be negative")
            fresh = apart(name, nonnegative=True)
            if info is not None and info.domain.high == 1:
                values[symbol] = 1 / (1 + fresh) if info.domain.open_low else fresh / (1 + fresh)
            elif low > 0:
                values[symbol] = sympy.Integer(int(low)) + fresh
        for small, large in ordered(self.symbols):
            if small in by_name and large in by_name and large not in self.at_least:
                fresh = apart(large, nonnegative=True)
                above = values.get(by_name[small], by_name[small])
                bounded = self.symbols[large].domain.high == 1
                values[by_name[large]] = (above + fresh) / (1 + fresh) if bounded else above + fresh
        return substitute(expression, values)

    def nonnegative(self, expression: sympy.Expr) -> bool:
        """Return whether an expression is shown to be ≥ 0 on the domains."""
        key = "sign", expression
        if key not in self._known:
            self._known[key] = self._nonnegative(expression)
        found: bool = self._known[key]
        return found

    def _nonnegative(self, expression: sympy.Expr) -> bool:
        if expression.is_nonnegative:
            return True
        if isinstance(expression, sympy.Max):
            return any(map(self.nonnegative, (*expression.args, sympy.Add(*expression.args))))
        if isinstance(expression, sympy.Min):
            return all(map(self.nonnegative, expression.args))
        if expression.is_Mul and all(map(self.nonnegative, expression.args)):
            return True
        if expression.is_Pow and (_square(expression) or self.nonnegative(expression.args[0])):
            return True
        if expression.has(*_NO_POLYNOMIAL):
            return False
        try:
            moved = self.shifted(expression)
            return bool(moved.is_nonnegative) or self._of_quotient(moved)
        except (UndecidedError, RecursionError):
            return False

    def _of_quotient(self, expression: sympy.Expr) -> bool:
        whole = quotient(expression)
        numerator = whole.numerator
        for factor, power in whole.factors.items():
            if power % 2 and not polynomial_sign(factor):
                if not polynomial_sign(-factor):
                    return False
                numerator = -numerator
        return polynomial_sign(numerator)

    def certain(self, expression: sympy.Expr, depth: int = 4) -> bool:
        """Return whether an expression with Min and Max is shown to be ≥ 0, case by case where need be."""
        places = sorted(expression.atoms(*_EXTREMA), key=lambda part: (-sympy.count_ops(part), str(part)))
        if not places:
            return self.nonnegative(expression)
        if depth == 0:
            return False
        place = places[0]
        level = sympy.Dummy("level", nonnegative=True)
        trend = self.direction(expression.xreplace({place: level}), level)

        def case(part: sympy.Expr) -> bool:
            return self.certain(substitute(expression.xreplace({place: part}), {}), depth - 1)

        # It grows with a Max, which is at least each argument: one that suffices is enough. Likewise with a Min.
        enough = any if trend == (1 if isinstance(place, sympy.Max) else -1) else all
        return enough(map(case, place.args))

    def direction(self, expression: sympy.Expr, symbol: sympy.Symbol) -> Direction | None:
        """Return whether the expression certainly grows (1), falls (−1) or does not depend on the symbol (0).

        None: that is not shown. By composition: sums, products of what is ≥ 0, powers, roots, Min and Max; where that
        does not decide it, by a certificate for the sign of the derivative.
        """
        if symbol not in expression.free_symbols:
            return 0
        if expression == symbol:
            return 1
        key = "trend", expression, symbol
        if key not in self._known:
            self._known[key] = self._direction(expression, symbol)
        found: Direction | None = self._known[key]
        return found

    def _direction(self, expression: sympy.Expr, symbol: sympy.Symbol) -> Direction | None:
        found = self._composed(expression, symbol)
        if found is not None or expression.has(*_JUMPS):
            return found
        slope = sympy.diff(expression, symbol)
        return 1 if self.nonnegative(slope) else -1 if self.nonnegative(-slope) else None

    def _composed(self, expression: sympy.Expr, symbol: sympy.Symbol) -> Direction | None:
        parts = expression.args
        if expression.is_Add or isinstance(expression, _EXTREMA):
            return common(self.direction(part, symbol) for part in parts)
        if expression.is_Mul:
            numbers = [part for part in parts if part.is_number and part.is_negative]
            if not all(self.nonnegative(part) for part in parts if part not in numbers):
                return None
            return turned(common(self.direction(part, symbol) for part in parts), -1 if len(numbers) % 2 else 1)
        if expression.is_Pow and symbol not in parts[1].free_symbols and self.nonnegative(parts[0]):
            own = self.direction(parts[0], symbol)
            if parts[1].is_number:
                return turned(own, 1 if parts[1].is_positive else -1)
            return own if self.nonnegative(parts[1]) else None
        if isinstance(expression, (sympy.exp, sympy.log, sympy.floor, sympy.ceiling)):
            return self.direction(parts[0], symbol)
        return None


def turned(own: Direction | None, turn: Direction) -> Direction | None:
    """Return which way something moves that is turned ±1 of what moves so."""
    return None if own is None else own if turn == 1 or own == 0 else -1 if own == 1 else 1


def common(found: Iterable[Direction | None]) -> Direction | None:
    """Return which way a sum of parts moves; None where two of them move apart, or one is not known."""
    moving: set[Direction | None] = set()
    for one in found:
        moving |= {one} - {0}
        if None in moving or len(moving) > 1:
            return None
    return moving.pop() if moving else 0


def _square(part: sympy.Expr) -> bool:
    return bool(part.args[1].is_even and part.args[0].is_real)
