"""Numbers for symbols: what a scalar, an expression, a claim amounts to there, as a rational number or a ball."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

from boundlab.prove._balls import PRECISIONS, Ball, Real, exponential
from boundlab.prove._context import Fact
from boundlab.prove._functions import square_root
from boundlab.prove._instance import Members, UnfitError
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import FIRST, Scalar, shape
from boundlab.prove._terms import Expr
from boundlab.recheck.kernel import Atom, Base, Monomial, Symbol

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
        found: Real = _ZERO
        for weight, atom, where in self.parts(value, at):
            found = found + weight * self._base(atom, where)
        return found

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
