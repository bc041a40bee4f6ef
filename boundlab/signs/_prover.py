"""Facts about symbols, and what follows for signs and for monotonicity."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, final

import sympy

from boundlab.errors import UndecidedError
from boundlab.formulas.choice import Choice
from boundlab.formulas.substitution import substitute
from boundlab.formulas.symbols import SymbolInfo, apart, ordered
from boundlab.signs._polynomial import polynomial_sign
from boundlab.signs._quotient import quotient
from boundlab.signs._shown import SignProof
from boundlab.signs._solver import NoAnswerError, Solver

Direction = Literal[-1, 0, 1]
_EXTREMA = (sympy.Min, sympy.Max)
_JUMPS = (*_EXTREMA, sympy.floor, sympy.ceiling, sympy.Abs, Choice)  # no slope everywhere
_NO_POLYNOMIAL = (*_JUMPS, sympy.log)


class Trend(NamedTuple):
    """How an expression moves with a symbol: 1, −1, 0, or None where that is not shown; and how it is shown."""

    direction: Direction | None
    shown: SignProof


_UNKNOWN = Trend(None, SignProof.NOT)
_STILL = Trend(0, SignProof.BY_CERTIFICATE)


@final
@dataclass(frozen=True, slots=True)
class Prover:
    """Facts about the symbols, and what follows for signs. It never guesses: ``SignProof.NOT`` means "no proof".

    Parameters
    ----------
    symbols
        The table with the domains.
    at_least
        Larger lower ends than those of the domains.
    facts
        What symbols are by conditions: α ≤ 1/L makes α = 1/(L·(1 + t)) with t ≥ 0.
    solver
        z3, for what has no certificate; without it only certificates count.
    """

    symbols: Mapping[str, SymbolInfo]
    at_least: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[sympy.Symbol, sympy.Expr] = field(default_factory=dict)
    solver: Solver | None = None
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

    def nonnegative(self, expression: sympy.Expr) -> SignProof:
        """Return how an expression is shown to be ≥ 0 on the domains.

        Raises
        ------
        NoAnswerError
            If z3 had to be stopped by the clock.
        """
        key = "sign", expression
        if key not in self._known:
            self._known[key] = self._nonnegative(expression)
        found: SignProof = self._known[key]
        return found

    def _nonnegative(self, expression: sympy.Expr) -> SignProof:
        if expression.is_nonnegative:
            return SignProof.BY_CERTIFICATE
        if isinstance(expression, sympy.Max):
            return _any(self.nonnegative, (*expression.args, sympy.Add(*expression.args)))
        if isinstance(expression, sympy.Min):
            return _all(self.nonnegative, expression.args)
        if expression.is_Mul and (found := _all(self.nonnegative, expression.args)):
            return found
        if expression.is_Pow:
            found = SignProof.BY_CERTIFICATE if _square(expression) else self.nonnegative(expression.args[0])
            if found:
                return found
        if expression.has(*_NO_POLYNOMIAL):
            return SignProof.NOT
        try:
            moved = self.shifted(expression)
            return SignProof.BY_CERTIFICATE if moved.is_nonnegative else self._of_quotient(moved)
        except NoAnswerError:
            raise
        except (UndecidedError, RecursionError):
            return SignProof.NOT

    def _of_quotient(self, expression: sympy.Expr) -> SignProof:
        whole = quotient(expression)
        worst, numerator = SignProof.BY_CERTIFICATE, whole.numerator
        for factor, power in whole.factors.items():
            if power % 2 == 0:
                continue
            own = polynomial_sign(factor, self.solver)
            if not own:
                own, numerator = polynomial_sign(-factor, self.solver), -numerator
            worst = min(worst, own)
            if not worst:
                return SignProof.NOT
        return min(worst, polynomial_sign(numerator, self.solver))

    def certain(self, expression: sympy.Expr, depth: int = 4) -> SignProof:
        """Return how an expression with Min and Max is shown to be ≥ 0, case by case where need be."""
        places = sorted(expression.atoms(*_EXTREMA), key=lambda part: (-sympy.count_ops(part), str(part)))
        if not places:
            return self.nonnegative(expression)
        if depth == 0:
            return SignProof.NOT
        place = places[0]
        level = sympy.Dummy("level", nonnegative=True)
        trend = self.direction(expression.xreplace({place: level}), level)

        def case(part: sympy.Expr) -> SignProof:
            return self.certain(substitute(expression.xreplace({place: part}), {}), depth - 1)

        # It grows with a Max, which is at least each argument: one that suffices is enough. Likewise with a Min.
        if trend.direction == (1 if isinstance(place, sympy.Max) else -1):
            return min(trend.shown, _any(case, place.args))
        return _all(case, place.args)

    def direction(self, expression: sympy.Expr, symbol: sympy.Symbol) -> Trend:
        """Return whether the expression certainly grows, falls or does not depend on the symbol.

        By composition: sums, products of what is ≥ 0, powers, roots, Min and Max; where that does not decide it, by
        a certificate for the sign of the derivative.
        """
        if symbol not in expression.free_symbols:
            return _STILL
        if expression == symbol:
            return Trend(1, SignProof.BY_CERTIFICATE)
        key = "trend", expression, symbol
        if key not in self._known:
            self._known[key] = self._direction(expression, symbol)
        found: Trend = self._known[key]
        return found

    def _direction(self, expression: sympy.Expr, symbol: sympy.Symbol) -> Trend:
        found = self._composed(expression, symbol)
        if found.direction is not None or expression.has(*_JUMPS):
            return found
        slope = sympy.diff(expression, symbol)
        if shown := self.nonnegative(slope):
            return Trend(1, shown)
        if shown := self.nonnegative(-slope):
            return Trend(-1, shown)
        return _UNKNOWN

    def _composed(self, expression: sympy.Expr, symbol: sympy.Symbol) -> Trend:
        parts = expression.args
        if expression.is_Add or isinstance(expression, _EXTREMA):
            return _common(self.direction(part, symbol) for part in parts)
        if expression.is_Mul:
            turn, shown = 1, SignProof.BY_CERTIFICATE
            for part in parts:
                if part.is_number and part.is_negative:
                    turn = -turn
                    continue
                shown = min(shown, self.nonnegative(part))
                if not shown:
                    return _UNKNOWN
            return _turned(_common(self.direction(part, symbol) for part in parts), turn, shown)
        if expression.is_Pow and symbol not in parts[1].free_symbols and (shown := self.nonnegative(parts[0])):
            own = self.direction(parts[0], symbol)
            if parts[1].is_number:
                return _turned(own, 1 if parts[1].is_positive else -1, shown)
            return _turned(own, 1, min(shown, self.nonnegative(parts[1])))
        if isinstance(expression, (sympy.exp, sympy.log, sympy.floor, sympy.ceiling)):
            return self.direction(parts[0], symbol)
        return _UNKNOWN


def _all(shown: Callable[[sympy.Expr], SignProof], parts: Iterable[sympy.Expr]) -> SignProof:
    worst = SignProof.BY_CERTIFICATE
    for part in parts:
        worst = min(worst, shown(part))
        if not worst:
            break
    return worst


def _any(shown: Callable[[sympy.Expr], SignProof], parts: Iterable[sympy.Expr]) -> SignProof:
    best = SignProof.NOT
    for part in parts:
        best = max(best, shown(part))
        if best is SignProof.BY_CERTIFICATE:
            break
    return best


def _turned(own: Trend, turn: int, shown: SignProof) -> Trend:
    """Return the trend times ±1, known no better than what it rests on."""
    known = min(own.shown, shown)
    if own.direction is None or not known:
        return _UNKNOWN
    if own.direction == 0 or turn == 1:
        return Trend(own.direction, known)
    return Trend(-1 if own.direction == 1 else 1, known)


def _common(found: Iterable[Trend]) -> Trend:
    moving: set[Direction | None] = set()
    shown = SignProof.BY_CERTIFICATE
    for one in found:
        moving |= {one.direction} - {0}
        shown = min(shown, one.shown)
        if None in moving or len(moving) > 1:
            return _UNKNOWN
    return Trend(moving.pop() if moving else 0, shown)


def _square(part: sympy.Expr) -> bool:
    return bool(part.args[1].is_even and part.args[0].is_real)
