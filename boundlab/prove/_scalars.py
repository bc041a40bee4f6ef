"""Exact numbers with symbols: those of the checker, with the names that a user may give, and how a quotient is read.

A symbol carries no assumption; what is known of it is said by a :class:`boundlab.prove._terms.Context`. Nothing is
ever simplified but by multiplying out and by what a numerator and a denominator have in common: a number is 0 if and
only if its numerator has no terms.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias, final

from boundlab.errors import SpecError
from boundlab.recheck import kernel as core
from boundlab.recheck.kernel import (
    ONE as ONE,
    REFUSALS,
    UNIT,
    ZERO as ZERO,
    Atom,
    Base,
    Monomial as Monomial,
    Range,
    Symbol as Symbol,
    Vec,
)

# What the kernel refuses.


class ProofError(SpecError):
    """A rule refuses what it is given; the message says which condition is not shown."""


# What a rule, or arithmetic, says of numbers that it is not meant for, or of too many of them.
REFUSED = (ProofError, *REFUSALS)


class NoPartError(ProofError, AttributeError):
    """A script asks a setting for what it does not have, as that of another algorithm's theorem does."""


def only_for_rules(what: str) -> None:
    """Refuse the caller of the caller, unless it is a rule or a setting of this package.

    Raises
    ------
    ProofError
        If it is a proof, which would state its own axioms with it.
    """
    caller = sys._getframe(2).f_globals.get("__name__", "")
    if caller != "boundlab.prove" and not caller.startswith("boundlab.prove."):
        raise ProofError(f"{what} is for the rules of the kernel and for settings: a proof cannot use it")


@contextmanager
def refused() -> Iterator[None]:
    """Let what the checker refuses end as what the kernel refuses."""
    try:
        yield
    except REFUSALS as error:
        raise ProofError(str(error)) from None


Scalar: TypeAlias = core.Number
Number: TypeAlias = Scalar | int | Fraction
of_symbol = core.of
_NAME = re.compile(r"[A-Za-zα-ωΑ-Ω][A-Za-z0-9α-ωΑ-Ω]*(_[A-Za-z0-9]+)*'*\Z")


def check_name(name: str) -> str:
    """Return a name that a user may give.

    Raises
    ------
    ProofError
        If it is none, such as one that is kept for bound variables.
    """
    if not _NAME.match(name):
        raise ProofError(
            f"{name!r} is no name: letters and digits, with _ between them; names that begin with _ are kept"
        )
    return name


def scalar(value: Number) -> Scalar:
    """Return a number as a :class:`Scalar`; raises if it is a float, or nothing of the kind."""
    if isinstance(value, Scalar):
        return value
    with refused():
        return core.exact(value)


def same(one: Number, other: Number) -> bool:
    """Return whether two numbers are equal wherever both have a value."""
    return scalar(one) == scalar(other)


def variable(name: str, *indices: Number) -> Scalar:
    """Return a symbol, or a member of a family."""
    return of_symbol(Symbol(check_name(name), tuple(whole(one) for one in indices)))


def bound_variable(depth: int) -> Scalar:
    """Return the variable that a finite sum of that depth binds; no user can name it."""
    return of_symbol(Symbol(f"_{depth}"))


# The first index of a family, in the ends of its range.
FIRST = bound_variable(0)


def whole(value: Number) -> Scalar:
    """Return a polynomial with whole coefficients and powers ≥ 0, such as an index or an exponent; raises otherwise."""
    own = scalar(value)
    if own.bottom != ONE or any(coefficient.denominator != 1 for _, coefficient in own.terms()):
        raise ProofError(f"an index is a whole number, got {own}")
    return own


# ---------------------------------------------------------------------- how a number is read


class Shape(NamedTuple):
    """A number as a sum of terms over factors.

    Parameters
    ----------
    top
        Products of powers, negative ones among them, each with its coefficient, in one order.
    factors
        Polynomials of several terms with how often they stand below; the first coefficient of each is 1.
    """

    top: tuple[tuple[Monomial, Fraction], ...]
    factors: tuple[tuple[Scalar, int], ...]


@lru_cache(maxsize=1 << 16)
def shape(value: Scalar) -> Shape:
    """Return the terms of a number, and the factors below."""
    number, parts = value.bottom.factors()
    less: dict[Symbol, int] = {}
    factors = []
    for part, count in parts:
        ((powers, lead), *more) = _by_degree((tuple(sorted(own.items(), key=_key)), c) for own, c in part.terms())
        number *= lead**count
        if more:
            factors.append((part / lead, count))
        else:
            less |= {symbol: less.get(symbol, 0) - power * count for symbol, power in powers}
    top = _by_degree((_merged(own, less), coefficient / number) for own, coefficient in value.upper.terms())
    return Shape(tuple(top), tuple(sorted(factors, key=lambda pair: str(pair[0]))))


def text(value: Scalar) -> str:
    """Return a number on one line.

    Examples
    --------
    >>> text((variable("N") - 1) / (2 * variable("K") + 2))
    '(1/2*N - 1/2)/((K + 1))'
    """
    top, factors = shape(value)
    above = _in_line(top)
    bottom = "*".join(f"({_in_line(shape(one).top)})" + f"^{count}" * (count > 1) for one, count in factors)
    return above if not bottom else f"({above})/({bottom})" if len(top) > 1 else f"{above}/({bottom})"


def _in_line(top: Iterable[tuple[Monomial, Fraction]]) -> str:
    found = ""
    for powers, value in top:
        body = [f"{s}" if e == 1 else f"{s}^{e}" if e > 0 else f"{s}^({e})" for s, e in powers]
        part = "*".join([str(abs(value))] * (abs(value) != 1 or not body) + body)
        minus = value < 0
        found += f" {'-' if minus else '+'} {part}" if found else f"{'-' * minus}{part}"
    return found or "0"


def _key(pair: tuple[Symbol, int]) -> str:
    return pair[0].key


def _merged(one: Mapping[Symbol, int], other: Mapping[Symbol, int]) -> Monomial:
    found = {**other, **{symbol: power + other.get(symbol, 0) for symbol, power in one.items()}}
    return tuple(sorted(((symbol, power) for symbol, power in found.items() if power), key=_key))


def _by_degree(terms: Iterable[tuple[Monomial, Fraction]]) -> list[tuple[Monomial, Fraction]]:
    """Return terms in one order: the highest degree first."""

    def order(term: tuple[Monomial, Fraction]) -> tuple[int, list[tuple[str, int]]]:
        return -sum(abs(power) for _, power in term[0]), [(symbol.key, -power) for symbol, power in term[0]]

    return sorted(terms, key=order)


# Numbers, vectors and claims as a proof file has them.


def symbol_dict(name: str, own: Range, by: int | None, exponent: Scalar | None) -> dict[str, Any]:
    """Return a declaration; the v of a symbol that stands for e^v, and ends of a family, have _0 for its index."""
    ends = {which: None if end is None else number(end) for which, end in (("low", own.low), ("high", own.high))}
    flags = {"above": own.above, "below": own.below, "integer": own.integer, "guarded": own.guarded}
    found = {"name": name, **ends, **flags, "arity": own.arity, "by": by}
    return found if exponent is None else found | {"exponent": number(exponent)}


def _products(terms: Any) -> list[Any]:
    """Return [[coefficient, [[symbol, power], …]], …]."""
    return [[str(value), [[symbol(one), power] for one, power in powers]] for powers, value in terms]


def as_terms(value: Scalar) -> list[Any]:
    """Return an index, an exponent, an end or a weight."""
    return _products(shape(value).top)


def symbol(one: Symbol) -> Any:
    """Return a symbol: its name, or [name, indices, exponent or null]."""
    if not one.indices and one.exponent is None:
        return one.name
    exponent = None if one.exponent is None else as_terms(one.exponent)
    return [one.name, [as_terms(index) for index in one.indices], exponent]


def number(value: Scalar) -> dict[str, Any]:
    """Return a number: a numerator, and the factors of its denominator with how often each stands there."""
    top, factors = shape(value)
    found: dict[str, Any] = {"top": _products(top)}
    return found | {"below": [[as_terms(one), count] for one, count in factors]} if factors else found


def vector(one: Vec) -> list[Any]:
    """Return a vector: its name and its indices."""
    return [one.name, [as_terms(index) for index in one.indices]]


def _base(base: Base) -> list[Any]:
    match base.kind:
        case "inner":
            return ["inner", *map(vector, base.vectors)]
        case "value":
            return ["value", base.function, [as_terms(index) for index in base.indices], vector(base.vectors[0])]
        case "vector":
            return ["vector", *vector(base.vectors[0])]
    return ["one"]


def _atom(atom: Atom) -> list[Any]:
    if not atom.ranges:
        return _base(atom.base)
    ends = [[as_terms(lo), as_terms(hi)] for lo, hi in atom.ranges]
    return ["sum", ends, as_terms(atom.weight), _base(atom.base)]


def combination(terms: Mapping[Atom, Scalar]) -> list[Any]:
    """Return [[coefficient, atom], …]."""
    return [[number(own), _atom(key)] for key, own in sorted(terms.items(), key=lambda term: term[0].key)]


# Expressions as they were written.
#
# What a fact says is kept multiplied out, which few can read. So an expression carries, beside its terms, how it was
# put together; it is read by people only, and nothing that the kernel decides looks at it.

Kind: TypeAlias = Literal["vector", "terms", "number", "plus", "minus", "times", "dot", "value", "sum"]
# An expression of more parts than this was made in a loop, and is shown multiplied out.
_MAX_PARTS = 300
# The atom of a plain number.
NUMBER = Atom(UNIT)
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# A part of a sum: whether it is subtracted, and its text.
_Part: TypeAlias = tuple[bool, str]


@final
@dataclass(frozen=True, eq=False, slots=True)
class Said:
    """A node of an expression as it was written.

    Parameters
    ----------
    kind
        What it is made by.
    parts
        What it is made of: nodes, numbers and names.
    size
        How many nodes it has.
    """

    kind: Kind
    parts: tuple[Any, ...]
    size: int = 1


def said(kind: Kind, *parts: Any) -> Said | None:
    """Return a node; None if it is too large, or a part of it is None."""
    if any(part is None for part in parts):
        return None
    size = 1 + sum(part.size for part in parts if isinstance(part, Said))
    return Said(kind, parts, size) if size <= _MAX_PARTS else None


class FormulaWriter:
    """Writes expressions and numbers; how names, quotients and the like look is that of text on one line.

    :mod:`boundlab.prove.latex` has another one.
    """

    minus, dot = "−", "·"

    # ------------------------------------------------------------------ how things look

    def named(self, name: str, indices: Sequence[str] = ()) -> str:
        """Return a name with what stands below it."""
        if name == "star" and not indices:
            return "x*"
        return f"{name}[{', '.join(indices)}]" if indices else name

    def relation(self, sign: str) -> str:
        """Return ≤, ≥ or =."""
        return sign

    def function(self, name: str, indices: Sequence[str]) -> str:
        """Return f_i, or f[i + 1]."""
        inside = ", ".join(indices)
        return f"{name}_{inside}" if inside.isalnum() else self.named(name, indices)

    def power(self, base: str, exponent: str) -> str:
        """Return a power."""
        if exponent.isdigit():
            return base if exponent == "1" else f"{base}{exponent.translate(_SUPERSCRIPTS)}"
        return f"{base}^{exponent}" if exponent.isalnum() else f"{base}^({exponent})"

    def quotient(self, above: str, below: Sequence[str]) -> str:
        """Return a quotient by some factors."""
        under = below[0] if len(below) == 1 else f"({self.dot.join(below)})"
        return f"{above or '1'}/{under}"

    def scaled(self, above: str, below: Sequence[str], text: str) -> str:
        """Return so many times something."""
        if below and not above and "Σ" not in text:
            # A sum over k, divided by a k outside of it, would read as if it was the same k.
            return self.quotient(text, below)
        factor = self.quotient(above, below) if below else above
        return f"{factor}·{text}" if factor else text

    def product(self, one: str, other: str) -> str:
        """Return E⟨u, v⟩, or E‖u‖²."""
        return f"E‖{one}‖²" if one == other else f"E⟨{one}, {other}⟩"

    def value(self, function: str, at: str) -> str:
        """Return E f(u)."""
        return f"E {function}({at})"

    def total(self, name: str, lo: str, hi: str, of: str) -> str:
        """Return a sum over lo ≤ name < hi."""
        return f"Σ_{{{lo} ≤ {name} < {hi}}} {of}"

    # ------------------------------------------------------------------ expressions

    def words(self, node: Said) -> str:
        """Return the text of a node.

        Examples
        --------
        >>> x, star = said("vector", Vec("x")), said("vector", Vec("star"))
        >>> far = said("minus", x, star)
        >>> print(FormulaWriter().words(said("plus", said("dot", far, far), said("number", scalar(2)))))
        E‖x − x*‖² + 2
        """
        return self._joined(self._parts(node))

    def _joined(self, parts: Iterable[_Part]) -> str:
        text = ""
        for negative, part in parts:
            text += ((self.minus if negative else "") if not text else f" {self.minus} " if negative else " + ") + part
        return text or "0"

    def _parts(self, node: Said) -> list[_Part]:
        match node.kind, node.parts:
            case "vector", (vector,):
                return [(False, self._vector(vector))]
            case "terms", (terms,):
                return self._terms(terms)
            case "number", (number,):
                return self._number(number)
            case "plus", (one, other):
                return [*self._parts(one), *self._parts(other)]
            case "minus", (one, other):
                return [*self._parts(one), *self._times(scalar(-1), self._parts(other))]
            case "times", (number, of):
                return self._times(number, self._parts(of))
            case "dot", (one, other):
                return [(False, self.product(self.words(one), self.words(other)))]
            case "value", (function, which, at):
                return [(False, self.value(self.function(function, self._all(which)), self.words(at)))]
            case "sum", (name, lo, hi, of):
                inside = self._parts(of)
                if not inside:
                    return []
                body = inside[0][1] if len(inside) == 1 else f"({self._joined(inside)})"
                first, last = (self._joined(self._number(end)) for end in (lo, hi))
                whole = self.total(self.named(name), first, last, body)
                return [(len(inside) == 1 and inside[0][0], whole)]
        raise AssertionError(node.kind)

    def _times(self, number: Scalar, parts: list[_Part]) -> list[_Part]:
        if not number or not parts:
            return []
        negative, text = parts[0] if len(parts) == 1 else (False, f"({self._joined(parts)})")
        top, factors = shape(number)
        if len(top) > 1 or factors:
            ((sign, factor), *more) = self._number(number)
            if more:
                return [(negative, self.scaled(f"({self._joined([(sign, factor), *more])})", [], text))]
            return [(negative != sign, self.scaled(factor, [], text))]
        ((powers, value),) = top
        above, below = self._monomial(powers, value)
        # The sign of several parts stays before their bracket.
        factor = self.scaled(above, below, text)
        if factor == text and len(parts) > 1 and value > 0:
            return parts
        return [(negative != (value < 0), factor)]

    # ------------------------------------------------------------------ numbers

    def _number(self, value: Scalar) -> list[_Part]:
        top, parts = shape(value)
        if not parts:
            return self._summands(top)
        factors = [self.power(f"({self.polynomial(one)})", str(count)) for one, count in parts]
        above, below, negative = f"({self._joined(self._summands(top))})", list[str](), False
        if len(top) == 1:
            ((powers, number),) = top
            above, below = self._monomial(powers, number)
            negative = number < 0
        return [(negative, self.quotient(above, [*below, *factors]))]

    def _summands(self, top: Iterable[tuple[Monomial, Fraction]]) -> list[_Part]:
        found = []
        for powers, value in top:
            above, below = self._monomial(powers, value)
            found.append((value < 0, self.quotient(above, below) if below else above or "1"))
        return found

    def polynomial(self, value: Scalar) -> str:
        """Return an index, an exponent or an end."""
        return self._joined(self._summands(shape(value).top))

    def _monomial(self, powers: Monomial, value: Fraction) -> tuple[str, list[str]]:
        """Return what stands above and the factors below the line, without a sign; "" for 1."""
        size = abs(Fraction(value))
        above = [self._symbol(symbol, power) for symbol, power in powers if power > 0]
        below = [self._symbol(symbol, -power) for symbol, power in powers if power < 0]
        if size.numerator != 1:
            above.insert(0, str(size.numerator))
        if size.denominator != 1:
            below.insert(0, str(size.denominator))
        return self.dot.join(above), below

    def _symbol(self, symbol: Symbol, power: int) -> str:
        base = self.named(symbol.name, self._all(symbol.indices))
        exponent = str(power) if symbol.exponent is None else self.polynomial(symbol.exponent * power)
        return self.power(base, exponent)

    # ------------------------------------------------------------------ vectors and atoms

    def _all(self, indices: Iterable[Scalar]) -> list[str]:
        return [self.polynomial(one) for one in indices]

    def _vector(self, vector: Vec) -> str:
        return self.named(vector.name, self._all(vector.indices))

    def _terms(self, terms: Mapping[Atom, Scalar]) -> list[_Part]:
        found: list[_Part] = []
        for atom, number in ordered(terms):
            found += self._number(number) if atom == NUMBER else self._times(number, [(False, self._atom(atom))])
        return found

    def _atom(self, atom: Atom) -> str:
        base, vectors = atom.base, [self._vector(one) for one in atom.base.vectors]
        match base.kind:
            case "one":
                text = self._joined(self._number(atom.weight))
            case "inner":
                text = self.product(*vectors)
            case "value":
                text = self.value(self.function(base.function, self._all(base.indices)), vectors[0])
            case "vector":
                text = vectors[0]
        if base.kind != "one" and atom.weight != ONE:
            text = self._joined(self._times(atom.weight, [(False, text)]))
        for place, (lo, hi) in reversed([*enumerate(atom.ranges)]):
            text = self.total(self.named(f"_{place}"), self.polynomial(lo), self.polynomial(hi), text)
        return text


TEXT = FormulaWriter()


def ordered(terms: Mapping[Atom, Scalar]) -> list[tuple[Atom, Scalar]]:
    """Return terms as they are read: the number first, sums last."""
    kinds = ("one", "value", "inner", "vector")
    return sorted(terms.items(), key=lambda term: (bool(term[0].ranges), kinds.index(term[0].base.kind), term[0].key))
