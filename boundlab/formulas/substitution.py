"""Put values into formulas, without SymPy's comparisons and without numbers of any length."""

from collections.abc import Mapping
from typing import Any

import sympy

from boundlab.errors import UndecidedError

MAX_BITS = 1 << 16
_MAX_ROOT = 1 << 10


def substitute(expression: sympy.Expr, values: Mapping[sympy.Symbol, sympy.Expr]) -> sympy.Expr:
    """Replace symbols, and leave Min and Max unevaluated: SymPy would compare their arguments, which takes long.

    Raises
    ------
    UndecidedError
        If the result is infinite or not a number, or a power of numbers has more than 2^16 bits.
    """
    memo: dict[sympy.Expr, sympy.Expr] = {}

    def visit(part: sympy.Expr) -> sympy.Expr:
        if part in memo:
            return memo[part]
        if part.is_Symbol:
            found = values.get(part, part)
        elif not part.args:
            found = part
        else:
            found = _rebuild(part.func, [visit(argument) for argument in part.args])
        if found is sympy.nan:
            raise UndecidedError(f"{part} has no value there")
        memo[part] = found
        return found

    result = visit(sympy.sympify(expression))
    if result.has(sympy.zoo, sympy.oo, -sympy.oo, sympy.nan):
        raise UndecidedError("the value is infinite there")
    return result


def _rebuild(kind: Any, arguments: list[sympy.Expr]) -> sympy.Expr:
    if kind in (sympy.Min, sympy.Max):
        return extremum(kind, arguments)
    if kind is sympy.Derivative:  # such as that of a sum whose ends move
        raise UndecidedError("no rule gives a derivative there")
    if kind is sympy.Pow:
        _short(*arguments)
    return kind(*arguments)


def _short(base: sympy.Expr, exponent: sympy.Expr) -> None:
    """Refuse a power of rational numbers that SymPy would write in too many digits, or a root that it would factor."""
    if not (base.is_Rational and exponent.is_Rational) or base in (0, 1, -1):
        return
    bits = max(int(base.p).bit_length(), int(base.q).bit_length())
    # A root of a number is written with the powers of its prime factors, numerator of the exponent by numerator.
    if abs(int(exponent.p)) * bits > MAX_BITS or (not exponent.is_Integer and max(bits, int(exponent.q)) > _MAX_ROOT):
        raise UndecidedError(f"a power has more than {MAX_BITS} bits")


def extremum(kind: Any, arguments: list[sympy.Expr]) -> sympy.Expr:
    """Return Min or Max, with its numbers merged and infinities taken out.

    Parameters
    ----------
    kind
        ``sympy.Min`` or ``sympy.Max``.
    """
    # With M = 1 the D of AREA's Theorem 7 holds γ/(L²(M−1)) inside a Min: all symbols are ≥ 0, so that it is +∞.
    infinite = [part for part in arguments if part in (sympy.zoo, sympy.oo)]
    if infinite and kind is sympy.Max:
        return sympy.oo
    arguments = [part for part in arguments if part not in infinite]
    if not arguments:
        return sympy.oo
    numbers = [part for part in arguments if part.is_number and part.is_comparable]
    rest = list(dict.fromkeys(part for part in arguments if part not in numbers))
    if numbers:
        best = numbers[0]
        for number in numbers[1:]:
            larger = bool(sympy.N(number - best, 30) > 0)
            best = number if larger == (kind is sympy.Max) else best
        # All symbols are ≥ 0, and so is what they make up where a 0 stands beside it in a Max.
        if not (kind is sympy.Max and best == 0 and any(part.is_nonnegative for part in rest)):
            rest.append(best)
    return rest[0] if len(rest) == 1 else kind(*rest, evaluate=False)
