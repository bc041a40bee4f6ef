"""Exact numbers with symbols: quotients of polynomials over Q, in the kernel's own arithmetic.

A symbol carries no assumption; what is known of it is said by a :class:`boundlab.prove._context.Context`. Monomials may
have negative powers, so that 1/p_i needs no denominator; denominators of several terms are kept as factors. Nothing is
ever simplified but by multiplying out: a number is 0 if and only if its numerator has no terms.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import NoReturn, TypeAlias, Union, final

from boundlab.prove._errors import ProofError
from boundlab.prove._polynomials import NO_POWERS, UNIT, divided, times
from boundlab.prove._polynomials import Monomial as Monomial
from boundlab.prove._polynomials import Poly as Poly
from boundlab.prove._polynomials import Rational as Rational
from boundlab.prove._polynomials import Symbol as Symbol
from boundlab.prove._polynomials import check_name as check_name
from boundlab.prove._polynomials import is_bound as is_bound

Factors: TypeAlias = tuple[tuple[Poly, int], ...]
Number: TypeAlias = Union["Scalar", int, Fraction]


@final
class Scalar:
    """numerator/Π factor^power; each factor has several terms, and what it is not 0 by is for others to show."""

    __slots__ = ("factors", "top")
    top: Poly
    factors: "Factors"

    def __init__(self, top: Poly, factors: Factors = ()) -> None:
        kept = []
        for factor, count in factors if top else ():
            left = count
            while left and len(top.terms) >= len(factor.terms) and (less := divided(top, factor)) is not None:
                top, left = less, left - 1
            if left:
                kept.append((factor, left))
        object.__setattr__(self, "top", top)
        object.__setattr__(self, "factors", tuple(kept))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a number cannot be changed")

    def __add__(self, other: Number) -> "Scalar":
        two = scalar(other)
        if self.factors == two.factors:
            return Scalar(self.top + two.top, self.factors)
        one_counts, two_counts = dict(self.factors), dict(two.factors)
        common = {f: max(one_counts.get(f, 0), two_counts.get(f, 0)) for f in {**one_counts, **two_counts}}
        tops = []
        for own, counts in ((self, one_counts), (two, two_counts)):
            top = own.top
            for factor, count in common.items():
                top = top * factor ** (count - counts.get(factor, 0))
            tops.append(top)
        return Scalar(tops[0] + tops[1], _sorted(common))

    __radd__ = __add__

    def __neg__(self) -> "Scalar":
        return Scalar(self.top.scaled(-1), self.factors)

    def __sub__(self, other: Number) -> "Scalar":
        return self + -scalar(other)

    def __rsub__(self, other: Number) -> "Scalar":
        return scalar(other) - self

    def __mul__(self, other: Number) -> "Scalar":
        if not isinstance(other, (Scalar, int, float, Fraction)):
            return NotImplemented
        two = scalar(other)
        if not self.factors and not two.factors:
            return Scalar(self.top * two.top)
        counts = dict(self.factors)
        for factor, count in two.factors:
            counts[factor] = counts.get(factor, 0) + count
        return Scalar(self.top * two.top, _sorted(counts))

    __rmul__ = __mul__

    def inverse(self) -> "Scalar":
        """Return 1 over it.

        Raises
        ------
        ProofError
            If it is 0.
        """
        if not self.top:
            raise ProofError("division by 0")
        top = UNIT
        for factor, count in self.factors:
            top = top * factor**count
        content, rest = _primitive(self.top)
        powers, value = content
        back: Monomial = tuple((s, -e) for s, e in powers)
        return Scalar(top.scaled(1 / Fraction(value), back), () if rest == UNIT else ((rest, 1),))

    def __truediv__(self, other: Number) -> "Scalar":
        return self * scalar(other).inverse()

    def __rtruediv__(self, other: Number) -> "Scalar":
        return scalar(other) * self.inverse()

    def __pow__(self, power: Number) -> "Scalar":
        if isinstance(power, int):
            base = self if power >= 0 else self.inverse()
            found = base if power else Scalar(UNIT)
            for _ in range(abs(power) - 1):
                found = found * base
            return found
        return _symbolic_power(self, whole(power))

    def __eq__(self, other: object) -> bool:
        # No equality of values: what is compared by accident is refused. See `same`.
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def zero(self) -> bool:
        """Whether it is 0 wherever it has a value."""
        return not self.top

    @property
    def constant(self) -> Rational | None:
        """The number that it is, or None."""
        return self.top.constant if not self.factors else None

    def symbols(self) -> set[Symbol]:
        """Return the symbols of numerator and denominator."""
        found = self.top.symbols()
        for factor, _ in self.factors:
            found |= factor.symbols()
        return found

    def names(self) -> set[str]:
        """Return all names in it."""
        return set(self.top.names()).union(*(factor.names() for factor, _ in self.factors))

    def put(self, values: Mapping[str, "Scalar"]) -> "Scalar":
        """Return it with numbers in place of symbols, inside indices and exponents too; families keep their name."""
        if not self.factors and values.keys().isdisjoint(self.top.names()):
            return self
        return mapped(self, lambda symbol: None if values.keys().isdisjoint(symbol.names()) else put(symbol, values))

    def __str__(self) -> str:
        bottom = "*".join(f"({f})" if count == 1 else f"({f})^{count}" for f, count in self.factors)
        top = str(self.top)
        return top if not bottom else f"({top})/({bottom})" if len(self.top.terms) > 1 else f"{top}/({bottom})"

    __repr__ = __str__


def _sorted(counts: Mapping[Poly, int]) -> Factors:
    return tuple(sorted(((f, c) for f, c in counts.items() if c), key=lambda pair: str(pair[0])))


def _primitive(top: Poly) -> tuple[tuple[Monomial, Rational], Poly]:
    """Return a monomial with a coefficient, and the rest: its first coefficient is 1, no symbol divides it."""
    low: dict[Symbol, int] = {s: min(dict(p).get(s, 0) for p in top.terms) for s in top.symbols()}
    common: Monomial = tuple(sorted(((s, e) for s, e in low.items() if e), key=lambda pair: pair[0].key))
    back: Monomial = tuple((s, -e) for s, e in common)
    value = top.ordered()[0][1]
    return (common, value), top.scaled(1 / Fraction(value), back)


def _symbolic_power(base: Scalar, exponent: Poly) -> Scalar:
    if base.factors or len(base.top.terms) != 1:
        raise ProofError(f"a power with a symbolic exponent is of one symbol: give ({base}) a name first")
    ((powers, value),) = base.top.terms.items()
    if value != 1:
        raise ProofError(f"a power with a symbolic exponent is of one symbol: give ({base}) a name first")
    found = Scalar(UNIT)
    for symbol, own in powers:
        for part, count in exponent.terms.items():
            if isinstance(count, Fraction):
                raise ProofError(f"an exponent is a whole number, got {exponent}")
            if not part:
                found = found * Scalar(Poly({((symbol, own * count),): 1}))
                continue
            inner = times(part, NO_POWERS)
            if symbol.exponent is not None:
                ((before, _),) = symbol.exponent.terms.items()
                inner = times(inner, before)
            found = found * Scalar(Poly({((Symbol(symbol.name, symbol.indices, Poly({inner: 1})), own * count),): 1}))
    return found


def scalar(value: Number) -> Scalar:
    """Return a number as a :class:`Scalar`.

    Raises
    ------
    ProofError
        If it is a float, or nothing of the kind.
    """
    if isinstance(value, Scalar):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        raise ProofError(f"an exact number is expected (a fraction, not a float), got {value!r}")
    return Scalar(Poly({NO_POWERS: value}))


ZERO, ONE = scalar(0), scalar(1)


def same(one: Number, other: Number) -> bool:
    """Return whether two numbers are equal wherever both have a value."""
    return (scalar(one) - scalar(other)).zero


def variable(name: str, *indices: Number) -> Scalar:
    """Return a symbol, or a member of a family."""
    return Scalar(Poly({((Symbol(check_name(name), tuple(whole(one) for one in indices)), 1),): 1}))


def bound_variable(depth: int) -> Scalar:
    """Return the variable that a finite sum of that depth binds; no user can name it."""
    return Scalar(Poly({((Symbol(f"_{depth}"), 1),): 1}))


def of_symbol(symbol: Symbol) -> Scalar:
    """Return a symbol as a number."""
    return Scalar(Poly({((symbol, 1),): 1}))


def whole(value: Number) -> Poly:
    """Return a polynomial with whole coefficients and powers ≥ 0, such as an index or an exponent.

    Raises
    ------
    ProofError
        If it is none.
    """
    own = scalar(value)
    if own.factors or any(isinstance(c, Fraction) for c in own.top.terms.values()):
        raise ProofError(f"an index is a whole number, got {own}")
    if any(e < 0 for powers in own.top.terms for _, e in powers):
        raise ProofError(f"an index is a whole number, got {own}")
    return own.top


def put(symbol: Symbol, values: Mapping[str, Scalar]) -> Scalar:
    """Return what a symbol becomes in which a name of these stands."""
    if not symbol.indices and symbol.exponent is None:
        return values[symbol.name]
    indices = tuple(whole(Scalar(one).put(values)) for one in symbol.indices)
    own = values.get(symbol.name) if not indices else None
    base = own if own is not None else of_symbol(Symbol(symbol.name, indices))
    if symbol.exponent is None:
        return base
    return base ** Scalar(symbol.exponent).put(values)


def mapped(value: Scalar, what: Callable[[Symbol], Scalar | None]) -> Scalar:
    """Return a number with others in place of its symbols; None for those that stay."""
    known: dict[Symbol, Scalar | None] = {}

    def of(top: Poly) -> Scalar:
        # Terms are gathered by the symbols that change, so that nothing is multiplied out twice.
        moved: dict[Symbol, Scalar] = {}
        for symbol in top.symbols():
            if symbol not in known:
                known[symbol] = what(symbol)
            new = known[symbol]
            if new is not None and not _unchanged(new, symbol):
                moved[symbol] = new
        if not moved:
            return Scalar(top)
        kept: dict[Monomial, dict[Monomial, Rational]] = {}
        for powers, coefficient in top.terms.items():
            changing = tuple([pair for pair in powers if pair[0] in moved])
            rest = tuple([pair for pair in powers if pair[0] not in moved]) if changing else powers
            kept.setdefault(changing, {})[rest] = coefficient
        found = ZERO
        for changing, rest_terms in kept.items():
            part = Scalar(Poly(rest_terms))
            for symbol, power in changing:
                part = part * moved[symbol] ** power
            found = found + part
        return found

    found = of(value.top)
    for factor, count in value.factors:
        found = found / of(factor) ** count
    return found


def _unchanged(value: Scalar, symbol: Symbol) -> bool:
    return not value.factors and value.top.terms == {((symbol, 1),): 1}


def total(values: Iterable[Number]) -> Scalar:
    """Return a sum."""
    found = ZERO
    for one in values:
        found = found + one
    return found
