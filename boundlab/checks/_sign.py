"""Certificates for signs: positive coefficients after a shift, then z3; and monotonicity by composition."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, final

import sympy
from sympy.polys.polyerrors import BasePolynomialError

from boundlab.checks._expressions import substitute
from boundlab.checks._time import patience
from boundlab.errors import UndecidedError
from boundlab.formulas.symbols import SymbolInfo

Direction = Literal[-1, 0, 1]
_LARGEST = 400
_MILLISECONDS = 300
# A problem's constants come in order: what is smaller, what is larger.
_ORDERED = (("mu", "L"), ("Qmin", "Qmax"), ("W_min", "W_max"), ("p_min", "p_s"))
_EXTREMA = (sympy.Min, sympy.Max)


@final
@dataclass(frozen=True, slots=True)
class Prover:
    """What is known of the symbols, and what follows for signs. It never guesses: ``False`` and None mean "no proof".

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
            fresh = sympy.Symbol(f"{name}_", nonnegative=True)
            if info is not None and info.domain.high == 1:
                values[symbol] = 1 / (1 + fresh) if info.domain.open_low else fresh / (1 + fresh)
            elif low > 0:
                values[symbol] = sympy.Integer(int(low)) + fresh
        for small, large in _ORDERED:
            if small in by_name and large in by_name and large not in self.at_least:
                fresh = sympy.Symbol(f"{large}_", nonnegative=True)
                above = values.get(by_name[small], by_name[small])
                bounded = self.symbols[large].domain.high == 1
                values[by_name[large]] = (above + fresh) / (1 + fresh) if bounded else above + fresh
        return substitute(expression, values)

    def nonnegative(self, expression: sympy.Expr) -> bool:
        """Return whether an expression is certainly ≥ 0 on the domains."""
        if expression.is_nonnegative:
            return True
        if isinstance(expression, sympy.Max):
            return any(self.nonnegative(part) for part in (*expression.args, sympy.Add(*expression.args)))
        if isinstance(expression, sympy.Min):
            return all(self.nonnegative(part) for part in expression.args)
        if expression.is_Mul and all(self.nonnegative(part) for part in expression.args):
            return True
        if expression.is_Pow and (_square(expression) or self.nonnegative(expression.args[0])):
            return True
        if expression.has(*_EXTREMA, sympy.floor, sympy.ceiling, sympy.log):
            return False
        try:
            moved = self.shifted(expression)
            if moved.is_nonnegative:
                return True
            numerator, denominator = sympy.fraction(sympy.together(_relaxed(moved)))
            if not all(_coefficients(part) for part in sympy.Mul.make_args(denominator) if not _square(part)):
                return False
            return _coefficients(numerator) or _z3_nonnegative(numerator)
        except (UndecidedError, BasePolynomialError, RecursionError):
            return False

    def certain(self, expression: sympy.Expr, depth: int = 4) -> bool:
        """Return whether an expression with Min and Max is certainly ≥ 0, case by case where need be."""
        places = sorted(expression.atoms(*_EXTREMA), key=lambda part: (-sympy.count_ops(part), str(part)))
        if not places:
            return self.nonnegative(expression)
        if depth == 0:
            return False
        place = places[0]
        level = sympy.Dummy("level", nonnegative=True)
        sign = self.direction(expression.xreplace({place: level}), level)
        # It grows with a Max, which is at least each argument: one that suffices is enough. Likewise with a Min.
        one = sign == (1 if isinstance(place, sympy.Max) else -1)
        cases = (self.certain(substitute(expression.xreplace({place: part}), {}), depth - 1) for part in place.args)
        return any(cases) if one else all(cases)

    def direction(self, expression: sympy.Expr, symbol: sympy.Symbol) -> Direction | None:
        """Return 1, −1 or 0 if the expression certainly grows, falls or does not depend on the symbol, else None.

        By composition: sums, products of what is ≥ 0, powers, roots, Min and Max; where that does not decide it, by
        a certificate for the sign of the derivative.
        """
        if symbol not in expression.free_symbols:
            return 0
        if expression == symbol:
            return 1
        found = self._composed(expression, symbol)
        if found is not None or expression.has(*_EXTREMA, sympy.floor, sympy.ceiling, sympy.Abs):
            return found
        slope = sympy.diff(expression, symbol)
        if self.nonnegative(slope):
            return 1
        return -1 if self.nonnegative(-slope) else None

    def _composed(self, expression: sympy.Expr, symbol: sympy.Symbol) -> Direction | None:
        parts = expression.args
        if expression.is_Add or isinstance(expression, _EXTREMA):
            return _common(self.direction(part, symbol) for part in parts)
        if expression.is_Mul:
            sign = 1
            for part in parts:
                if part.is_number and part.is_negative:
                    sign = -sign
                elif not self.nonnegative(part):
                    return None
            return _times(_common(self.direction(part, symbol) for part in parts), sign)
        if expression.is_Pow and symbol not in parts[1].free_symbols and self.nonnegative(parts[0]):
            own = self.direction(parts[0], symbol)
            if parts[1].is_number:
                return _times(own, 1 if parts[1].is_positive else -1)
            return own if self.nonnegative(parts[1]) else None
        if isinstance(expression, (sympy.exp, sympy.log, sympy.floor, sympy.ceiling)):
            return self.direction(parts[0], symbol)
        return None


def _times(own: Direction | None, sign: int) -> Direction | None:
    if own is None or own == 0 or sign == 1:
        return own
    return -1 if own == 1 else 1


def _common(found: Iterable[Direction | None]) -> Direction | None:
    moving: set[Direction | None] = set()
    for one in found:
        moving |= {one} - {0}
        if None in moving or len(moving) > 1:
            return None
    return moving.pop() if moving else 0


def _square(part: sympy.Expr) -> bool:
    return bool(part.is_Pow and part.args[1].is_even and part.args[0].is_real)


def _relaxed(expression: sympy.Expr) -> sympy.Expr:
    """Write √(1 + what is ≥ 0) as 1 + a variable ≥ 0: what holds for all values of it holds for this one."""
    bases = {
        part.args[0] for part in expression.atoms(sympy.Pow)
        if abs(part.args[1]) == sympy.S.Half and (part.args[0] - 1).is_nonnegative
    }  # fmt: skip
    new: dict[sympy.Expr, sympy.Expr] = {}
    for number, base in enumerate(sorted(bases, key=str)):
        root = 1 + sympy.Dummy(f"root{number}", nonnegative=True)
        new |= {sympy.sqrt(base): root, 1 / sympy.sqrt(base): 1 / root}
    return expression.xreplace(new)


def _polynomial(expression: sympy.Expr) -> sympy.Poly:
    expanded = sympy.expand(expression)
    if len(sympy.Add.make_args(expanded)) > _LARGEST:
        raise UndecidedError("too many terms")
    found = sympy.Poly(expanded)
    if not all(generator.is_nonnegative for generator in found.gens):
        raise UndecidedError("a generator may be negative")
    return found


def _coefficients(expression: sympy.Expr) -> bool:
    """Return whether all coefficients of a polynomial in nonnegative generators are ≥ 0."""
    if not expression.free_symbols:
        return bool(expression.is_nonnegative)
    if not sympy.expand(expression).free_symbols:
        return bool(sympy.expand(expression).is_nonnegative)
    return all(coefficient.is_nonnegative for coefficient in _polynomial(expression).coeffs())


def _z3_nonnegative(expression: sympy.Expr) -> bool:
    """Ask z3, for at most a third of a second, whether a polynomial can be negative; False if it is not installed."""
    if not expression.free_symbols:
        return False
    polynomial = _polynomial(expression)
    small = len(polynomial.gens) <= 6 and len(polynomial.terms()) <= 40 and polynomial.total_degree() <= 8
    if not small or not all(coefficient.is_Rational for coefficient in polynomial.coeffs()):
        return False
    try:
        import z3  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return False
    variables = [z3.Real(f"v{index}") for index in range(len(polynomial.gens))]
    total: Any = z3.RealVal(0)
    for powers, coefficient in polynomial.terms():
        part: Any = z3.Q(int(coefficient.p), int(coefficient.q))
        for variable, power in zip(variables, powers, strict=True):
            for _ in range(power):
                part = part * variable
        total = total + part
    solver = z3.Solver()
    solver.set("timeout", int(_MILLISECONDS * patience()))
    solver.add(*(variable >= 0 for variable in variables), total < 0)
    return bool(solver.check() == z3.unsat)


def rational(number: float) -> sympy.Rational:
    """Return a short rational near a float."""
    near = Fraction(number).limit_denominator(1000)
    return sympy.Rational(near.numerator, near.denominator)
