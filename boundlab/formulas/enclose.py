"""Formulas without rounding: one walk over a SymPy tree, in balls or fractions; and formulas at exact numbers."""

import contextlib
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import methodcaller
from typing import Any, Final, TypeAlias, final

import numpy as np
import sympy

from boundlab.arithmetic.numbers import Surd, digits, flint, fraction, near, rational
from boundlab.errors import BoundlabError, SymbolError, UndecidedError
from boundlab.formulas.folds import MOST_TERMS, NO_STEPS, Choice, EntryOf, IndexFold, MaxFold, MinFold, ProdFold, StepAt
from boundlab.formulas.symbols import followed, names_of

NumberSystem: TypeAlias = "_Balls | _Rationals"


def walk(expression: Any, numbers: NumberSystem, value: Callable[[str], Any]) -> Any:
    """Enclose the value of a SymPy tree.

    Parameters
    ----------
    expression
        Over the whitelist of :mod:`boundlab.formulas.parse`.
    numbers
        :data:`BALLS`, :data:`CERTAIN` or :data:`RATIONALS`.
    value
        Gives the enclosure of a symbol by its name; of a vector, a sequence of them.

    Raises
    ------
    SymbolError, UndecidedError
        The one of :data:`BALLS`, the other of the other two: if there is no rule for a part.
    """
    return _compiled(expression, numbers)(value)


def by_rules(
    numbers: NumberSystem, given: Callable[[str], Any], rules: Mapping[str, sympy.Expr]
) -> Callable[[str], Any]:
    """Return what gives :func:`walk` the values of symbols, each worked out once.

    Parameters
    ----------
    given
        Gives the value of a symbol that has one by itself; None for others.
    rules
        How others follow.

    Raises
    ------
    SymbolError, UndecidedError
        As :func:`walk`, by what it returns: if a symbol has neither.
    """

    @functools.cache
    def value(name: str) -> Any:
        found = given(name)
        if found is not None:
            return found
        if name not in rules:
            raise numbers.no_rule(f"{name}, which has no value,")
        return walk(rules[name], numbers, value)

    return value


@functools.lru_cache(maxsize=8192)
def _compiled(expression: Any, numbers: NumberSystem) -> Callable[[Callable[[str], Any]], Any]:
    """Return the walk as a function of the symbols' values: what an expression is made of is asked once."""
    if expression.is_Symbol:
        name = expression.name
        return lambda value: value(name)
    if not expression.args:
        return lambda _value: numbers.constant(expression)
    if isinstance(expression, sympy.Tuple):
        each = [_compiled(part, numbers) for part in expression.args]
        return lambda value: [one(value) for one in each]
    if isinstance(expression, IndexFold):
        return _fold(expression, numbers)
    if isinstance(expression, StepAt):
        raise numbers.no_rule(NO_STEPS)
    if isinstance(expression, EntryOf) and isinstance(expression.args[0], sympy.Tuple):  # of many only one is asked
        vector, index = expression.args
        each, place = [_compiled(part, numbers) for part in vector.args], _compiled(index, numbers)
        return lambda value: _entry(each, numbers.whole(place(value)), numbers)(value)
    parts = [_compiled(part, numbers) for part in expression.args]
    first, *others = parts
    if isinstance(expression, Choice):
        return lambda value: _chosen(parts, numbers, value)
    if isinstance(expression, EntryOf):
        return lambda value: _entry(first(value), numbers.whole(others[0](value)), numbers)
    if expression.is_Add:
        return lambda value: sum((part(value) for part in others), start=first(value))
    if expression.is_Mul:
        return lambda value: math.prod((part(value) for part in others), start=first(value))
    if expression.is_Pow:
        return lambda value: numbers.power(expression, first(value), others[0](value))
    function = type(expression).__name__
    if function not in numbers.functions:
        raise numbers.no_rule(function)
    apply = numbers.functions[function]
    return lambda value: apply(*(part(value) for part in parts))


def _chosen(parts: Sequence[Callable[[Any], Any]], numbers: NumberSystem, value: Callable[[str], Any]) -> Any:
    """Enclose the branch that is taken, or both where that is not decided."""
    low, high, then, otherwise = parts
    taken = numbers.ordered(low(value), high(value))
    if taken is None:
        one, other = then(value), otherwise(value)  # balls: fractions are always ordered
        return one.min(other).union(one.max(other))
    return (then if taken else otherwise)(value)


def _entry(vector: Sequence[Any], place: int | None, numbers: NumberSystem) -> Any:
    if place is None or not 0 <= place < len(vector):
        raise numbers.no_rule("an entry that a vector does not have")
    return vector[place]


def _fold(expression: IndexFold, numbers: NumberSystem) -> Callable[[Callable[[str], Any]], Any]:
    body, first, last = (_compiled(expression.args[place], numbers) for place in (0, 2, 3))
    name, most = expression.args[1].name, int(min(numbers.most_terms, MOST_TERMS) ** (1 / expression.depth) + 0.5)

    def folded(value: Callable[[str], Any]) -> Any:
        begin, end = numbers.whole(first(value)), numbers.whole(last(value))
        if begin is None or end is None or end - begin >= most:
            raise numbers.no_rule(f"{expression.word}, beyond {most} terms or between what are no whole numbers,")
        terms = []
        for k in range(begin, end + 1):
            here = numbers.constant(sympy.Integer(k))
            terms.append(body(lambda other, here=here: here if other == name else value(other)))  # type: ignore[misc]
        if isinstance(expression, (MaxFold, MinFold)):
            if not terms:
                raise numbers.no_rule(f"{expression.word} over an empty range")
            return numbers.functions["Max" if isinstance(expression, MaxFold) else "Min"](*terms)
        if isinstance(expression, ProdFold):
            return math.prod(terms, start=numbers.constant(sympy.S.One))
        return sum(terms, start=numbers.constant(sympy.S.Zero))

    return folded


@functools.lru_cache(maxsize=8192)
def fraction_of(constant: sympy.Expr | None) -> Fraction | None:
    """Return the fraction that a SymPy number is, of a float its binary one; None where it is neither."""
    if constant is None or not (constant.is_Rational or constant.is_Float):
        return None
    exact = sympy.Rational(constant)
    return Fraction(int(exact.p), int(exact.q))


@functools.lru_cache(maxsize=1024)
def _known_exponent(exponent: sympy.Expr) -> tuple[bool, int, int]:
    """Return whether SymPy knows an exponent to be negative, and the fraction that it is; 0/0 where it is none."""
    known = bool(exponent.is_Rational)
    return bool(exponent.is_negative), int(exponent.p) if known else 0, int(exponent.q) if known else 0


class _Balls:
    """Balls of python-flint; 1/0 is +∞, as in a Min of step sizes some of which have no limit.

    A floor is that of the whole number where no digits at hand tell the two from each other (log 1000/log 10).
    """

    most_terms: Final = MOST_TERMS

    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., Any]] = {
            "Min": self.least,
            "Max": self.largest,
            "floor": self.floor,
            "ceiling": self.ceiling,
            "exp": methodcaller("exp"),
            "log": methodcaller("log"),
            "Abs": abs,
        }

    def constant(self, expression: sympy.Expr) -> Any:
        """Enclose what has no parts: a rational number, e, π."""
        exact = _rational(expression)
        if exact is not None:
            return flint().arb(exact)
        if expression not in (sympy.E, sympy.pi):
            raise self.no_rule(type(expression).__name__)
        return flint().arb.const_e() if expression == sympy.E else flint().arb.pi()

    def power(self, expression: sympy.Expr, base: Any, exponent: Any) -> Any:
        """Enclose a power, whose own base and exponent SymPy may know exactly."""
        negative, top, bottom = _known_exponent(expression.exp)
        if negative and base == 0:
            return flint().arb("+inf")
        if not base.is_finite() and base > 0:
            return flint().arb(0) if negative else base
        if bottom == 0:
            return _to_the(base, exponent)
        root = base if bottom == 1 or base == 0 else base.sqrt() if bottom == 2 else base.root(bottom)
        return _to_the(root, flint().arb(top))

    def least(self, *parts: Any) -> Any:
        """Enclose the smallest of some numbers."""
        return functools.reduce(lambda one, other: one.min(other), parts)

    def largest(self, *parts: Any) -> Any:
        """Enclose the largest of some numbers."""
        return functools.reduce(lambda one, other: one.max(other), parts)

    def floor(self, part: Any) -> Any:
        """Enclose the floor."""
        nearest = (part.mid() + flint().arb(0.5)).floor().mid()
        return flint().arb(nearest) if part.contains(nearest) else part.floor()

    def ceiling(self, part: Any) -> Any:
        """Enclose the ceiling."""
        return -self.floor(-part)

    def ordered(self, low: Any, high: Any) -> bool | None:
        """Return whether low ≤ high, or None where that is not decided."""
        if low == math.inf or high == math.inf:
            return bool(high == math.inf)
        return True if low <= high else False if low > high else None

    def whole(self, part: Any) -> int | None:
        """Return the whole number that a number certainly is, or None."""
        found = part.unique_fmpz() if part.is_exact() else None
        return None if found is None else int(found)

    def no_rule(self, function: str) -> BoundlabError:
        """Return the error for a function that has no rule."""
        return SymbolError(f"{function} has no interval evaluation")


def _to_the(base: Any, exponent: Any) -> Any:
    """Return a power; python-flint finds none of a ball around 0, which has whole ones."""
    if not (exponent.is_integer() and exponent > 0 and base.contains(0)):
        return base**exponent
    whole = int(exponent.unique_fmpz())
    ends = [base.abs_upper() ** whole] if whole % 2 == 0 else [base.lower() ** whole, base.upper() ** whole]
    return functools.reduce(lambda one, other: one.union(other), ends, flint().arb(0))


@final
class _Certain(_Balls):
    """Balls in which a floor is certain: of what may lie on both sides of a whole number, both floors."""

    def floor(self, part: Any) -> Any:
        """Enclose the floor."""
        return part.floor()

    def no_rule(self, function: str) -> BoundlabError:
        return UndecidedError(f"no enclosure for {function}")


BALLS: NumberSystem = _Balls()
CERTAIN: NumberSystem = _Certain()


def enclose(expression: sympy.Expr, bits: int = 136) -> tuple[Fraction, Fraction]:
    """Return rational numbers below and above a constant expression, by ball arithmetic.

    Raises
    ------
    UndecidedError
        If it holds a symbol or a function without a rule, is infinite, or leaves the real numbers.
    """
    with digits(bits):
        found = walk(expression, CERTAIN, by_rules(CERTAIN, dict[str, Any]().get, {}))
        if not found.is_finite():
            raise UndecidedError(f"{expression} is no number of which {bits} bits are known")
        return fraction(found.lower().fmpq()), fraction(found.upper().fmpq())


# Fractions: exact where a formula has a rational value, and where its roots meet no sum.

_MOST_BITS = 1 << 20


@final
@functools.total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class _Root:
    """base^(1/degree) with rational base > 0: it has products with what is positive, and a place among all numbers."""

    base: Fraction
    degree: int

    @classmethod
    def of(cls, base: Fraction, degree: int) -> "Fraction | _Root":
        """Return the root, as a fraction where it is one."""
        parts = [_whole_root(part, degree) for part in (base.numerator, base.denominator)]
        return cls(base, degree) if None in parts else Fraction(*parts)  # type: ignore[arg-type]

    def __mul__(self, other: "Fraction | float | _Root") -> "Fraction | float | _Root":
        if other == 0 or isinstance(other, float):
            return other
        if isinstance(other, Fraction) and other < 0:
            return NotImplemented
        root = other if isinstance(other, _Root) else _Root(other, 1)
        degree = math.lcm(self.degree, root.degree)
        return _Root.of(self._power(degree) * root._power(degree), degree)

    __rmul__ = __mul__

    def __lt__(self, other: "Fraction | float | _Root") -> bool:
        if isinstance(other, float):
            return other > 0
        root = other if isinstance(other, _Root) else _Root(other, 1)
        degree = math.lcm(self.degree, root.degree)
        return root.base > 0 and self._power(degree) < root._power(degree)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Root) and not self < other and not other < self

    def __hash__(self) -> int:
        return hash((self.base, self.degree))

    def __float__(self) -> float:
        return math.pow(float(self.base), 1.0 / self.degree)

    def _power(self, degree: int) -> Fraction:
        """Return the rational number that this is to the power of a multiple of its degree."""
        return self.base ** (degree // self.degree)


def _whole_root(whole: int, degree: int) -> int | None:
    """Return the root of a whole number ≥ 0, or None where it is no whole number."""
    root, exact = sympy.integer_nthroot(whole, degree)
    return int(root) if exact else None


def _irrational(of: str, _part: Any) -> Any:
    raise UndecidedError(f"{of} need not be a rational number")


def _least_fraction(*parts: Any) -> Any:
    return min(parts)


def _largest_fraction(*parts: Any) -> Any:
    return max(parts)


@final
class _Rationals:
    """Fractions, where a formula has one; 1/0 is +∞, which a Min may drop, and so may a root be.

    A root adds to nothing: a TypeError then says that the formula has no fraction.
    """

    most_terms: Final = 20_000
    functions: Final[dict[str, Callable[..., Any]]] = {
        "Min": _least_fraction,
        "Max": _largest_fraction,
        "floor": lambda part: Fraction(math.floor(part)),
        "ceiling": lambda part: Fraction(math.ceil(part)),
        "exp": functools.partial(_irrational, "e^x"),
        "log": functools.partial(_irrational, "log x"),
        "Abs": abs,
    }

    def constant(self, expression: sympy.Expr) -> Any:
        """Return the fraction that a number is."""
        found = fraction_of(expression)
        if found is None:
            raise UndecidedError(f"{expression} is no rational number")
        return found

    def power(self, expression: sympy.Expr, base: Any, exponent: Any) -> Any:
        """Return a power of fractions."""
        if not isinstance(exponent, Fraction):
            raise UndecidedError(f"{expression} need not be a rational number")
        if base == math.inf and exponent:
            return math.inf if exponent > 0 else Fraction(0)
        if not isinstance(base, Fraction):
            raise UndecidedError(f"{expression} need not be a rational number")
        if base == 0 and exponent < 0:
            return math.inf
        if abs(exponent) * max(base.numerator.bit_length(), base.denominator.bit_length()) > _MOST_BITS:
            raise UndecidedError(f"{expression} has too many digits")
        if exponent.denominator == 1:
            return base ** int(exponent)
        if base < 0:
            raise UndecidedError(f"{expression} is a root of what is negative")
        return base if base == 0 else _Root.of(base**exponent.numerator, exponent.denominator)

    def ordered(self, low: Any, high: Any) -> bool | None:
        """Return whether low ≤ high."""
        if math.inf in (low, high):
            raise UndecidedError("a side of a comparison divides by 0")
        return bool(low <= high)

    def whole(self, part: Any) -> int | None:
        """Return the whole number that a number is, or None."""
        return int(part) if isinstance(part, Fraction) and part.denominator == 1 else None

    def no_rule(self, function: str) -> BoundlabError:
        """Return the error for what has no rule."""
        return UndecidedError(f"no fraction for {function}")


RATIONALS: NumberSystem = _Rationals()


@final
@dataclass(frozen=True, slots=True)
class KnownNumber:
    """A number that is known exactly, or up to a relative error.

    Parameters
    ----------
    exact
        A SymPy number, or None.
    about, relative
        Where ``exact`` is None: the number is within ``relative``·|about| of ``about``.
    """

    exact: sympy.Expr | None
    about: float = 0.0
    relative: float = 0.0

    @classmethod
    def of(cls, value: Fraction | int) -> "KnownNumber":
        """Return a rational number."""
        exact = Fraction(value)
        return cls(sympy.Rational(exact.numerator, exact.denominator))

    @classmethod
    def between(cls, low: float, high: float) -> "KnownNumber":
        """Return a number of which it is known that it lies between two that are at least 0."""
        middle = (low + high) / 2.0
        if middle == 0.0:
            return cls.of(0)
        return cls(None, middle, (high - low) / (2.0 * middle) + 8.0 * float(np.finfo(np.float64).eps))

    def ball(self) -> Any:
        """Return a ball of the present precision that contains it."""
        if self.exact is None:
            return near(self.about, self.relative)
        return walk(self.exact, BALLS, dict[str, Any]().__getitem__)


@final
@dataclass(frozen=True, slots=True)
class KnownVector:
    """One known number per client."""

    entries: tuple[KnownNumber, ...]

    @property
    def exact(self) -> sympy.Tuple | None:
        """The SymPy numbers, or None where one of them is not known so."""
        found = [one.exact for one in self.entries]
        return None if None in found else sympy.Tuple(*found)

    @property
    def about(self) -> list[float]:
        """The numbers, rounded."""
        return [one.about if one.exact is None else float(one.exact) for one in self.entries]

    def ball(self) -> list[Any]:
        """Return balls that contain the numbers."""
        return [one.ball() for one in self.entries]


def known_value(value: Any, known: Callable[[Any], KnownNumber] = KnownNumber.of) -> KnownNumber | KnownVector:
    """Return what is known of a number, or of each entry of a vector.

    Parameters
    ----------
    value
        A number, or an array or tuple of shape (n,).
    known
        What is known of one number; by default that it is rational.
    """
    entries = value if isinstance(value, tuple) else np.asarray(value).tolist()
    return KnownVector(tuple(map(known, entries))) if isinstance(entries, (list, tuple)) else known(entries)


class Formulas:
    """Symbols with values, and symbols that are defined by others."""

    def __init__(self, values: Mapping[str, KnownNumber | KnownVector], rules: Mapping[str, sympy.Expr]) -> None:
        self.values, self.rules = dict(values), dict(rules)
        self._exact: dict[str, sympy.Expr | None] = {}

    def exact(self, expression: sympy.Expr) -> sympy.Expr | None:
        """Return the value as a rational number or a rational multiple of one square root, or None."""
        names = sorted(symbol.name for symbol in expression.free_symbols)
        known = {name: self._symbol(name) for name in names}
        if any(value is None for value in known.values()):
            return None
        try:
            found = expression.xreplace({symbol: known[symbol.name] for symbol in expression.free_symbols}).doit()
            found = sympy.radsimp(found)
        except (ValueError, TypeError, ZeroDivisionError, RecursionError, OverflowError):  # too long to be factored
            return None
        if found.is_Rational:
            return found
        square = sympy.radsimp(sympy.expand(found**2)) if found.is_number and found.is_real else None
        return found if square is not None and square.is_Rational else None

    def _symbol(self, name: str) -> sympy.Expr | None:
        if name in self.values:
            return self.values[name].exact
        if name not in self._exact:
            self._exact[name] = self.exact(self.rules[name]) if name in self.rules else None
        return self._exact[name]

    def ball(self, expression: sympy.Expr) -> Any:
        """Return a ball of the present precision that contains the value.

        Raises
        ------
        SymbolError
            If a symbol has no value.
        """
        return walk(expression, BALLS, by_rules(BALLS, self._ball, self.rules))

    def _ball(self, name: str) -> Any:
        return self.values[name].ball() if name in self.values else None


def _rational(number: sympy.Expr | None) -> Any:
    exact = fraction_of(number)
    return None if exact is None else rational(exact)


def scalar(found: sympy.Expr | None) -> Any:
    """Return a SymPy number as a flint rational, or as a rational multiple of √(integer); None if it is neither."""
    exact = _rational(found)
    if found is None or exact is not None:
        return exact
    coefficient, rest = found.as_coeff_Mul()
    square = _rational(rest**2)
    return None if square is None else Surd(rational(0), _rational(coefficient), square)


# The inequality ≤ between two formulas at rational numbers: decided without rounding, or not at all.

_BITS = (100, 400, 1600)
Rules = tuple[tuple[str, sympy.Expr], ...]
Number = Fraction | tuple[Fraction, ...]
Values = tuple[tuple[str, Number], ...]


def at_most(
    left: sympy.Expr, right: sympy.Expr, rules: Mapping[str, sympy.Expr], values: Mapping[str, Number]
) -> bool | None:
    """Return whether left ≤ right, or None where that is not decided.

    Parameters
    ----------
    rules
        Symbols that follow from others.
    values
        Numbers of the symbols that are left, each the fraction that it is, of a vector those of all entries.
    """
    own = {name: rule for name, rule in rules.items() if name not in values}
    names = followed(names_of(left) | names_of(right), lambda name: names_of(own[name]) if name in own else ())
    return _at_most(
        left,
        right,
        tuple((name, own[name]) for name in sorted(names) if name in own),
        tuple((name, values[name]) for name in sorted(names) if name in values),
    )


@functools.lru_cache(maxsize=8192)
def _at_most(left: sympy.Expr, right: sympy.Expr, rules: Rules, values: Values) -> bool | None:
    """Try rational numbers, the formulas as they stand, enclosures, and numbers with one root."""
    known, definitions = dict(values), dict(rules)
    if same(left, right, rules):
        return True
    # No Fraction adds to a root; what is infinite has no floor, and ∞ − ∞ is no number.
    with contextlib.suppress(UndecidedError, TypeError, OverflowError, ValueError):
        value = by_rules(RATIONALS, known.get, definitions)
        low, high = (walk(side, RATIONALS, value) for side in (left, right))
        if math.inf in (low, high):
            return None  # a side divides by 0: what has no value is never met
        if low == low and high == high:
            return bool(low <= high)
    with contextlib.suppress(UndecidedError, TypeError, OverflowError, ValueError):
        for bits in _BITS:
            with digits(bits):
                exact = {name: _ball(value) for name, value in values}
                value = by_rules(CERTAIN, exact.get, definitions)
                gap = walk(right, CERTAIN, value) - walk(left, CERTAIN, value)
            if gap.is_finite() and (gap >= 0 or gap < 0):
                return bool(gap >= 0)
    found = Formulas({name: known_value(value) for name, value in values}, definitions).exact(right - left)
    return None if found is None else bool(found >= 0)


def _ball(value: Number) -> Any:
    return [_ball(one) for one in value] if isinstance(value, tuple) else flint().arb(rational(value))


@functools.lru_cache(maxsize=1024)
def same(left: sympy.Expr, right: sympy.Expr, rules: Rules) -> bool:
    """Return whether both sides are one formula once the definitions are put in, whatever the numbers."""
    definitions = dict(rules)
    return bool(_unfolded(left, definitions) == _unfolded(right, definitions))


def _unfolded(side: sympy.Expr, rules: Mapping[str, sympy.Expr]) -> sympy.Expr:
    """Return a formula with the definitions put in."""
    while any(symbol.name in rules for symbol in side.free_symbols):
        side = side.xreplace({one: rules[one.name] for one in side.free_symbols if one.name in rules})
    return side
