"""Leading terms by the rules of dominated terms: exact where they apply, and quick."""

from typing import Any

import sympy

from boundlab.errors import UndecidedError
from boundlab.formulas.expansion import expand
from boundlab.formulas.substitution import extremum

Lead = tuple[sympy.Expr, sympy.Expr]


def leading(expression: sympy.Expr, small: sympy.Symbol) -> Lead:
    """Return (coefficient, power) of the leading term as ``small`` tends to 0 from above; (0, ∞) for 0.

    The rules are those of dominated terms: sums keep the smallest power, Max the largest part, and so on. They
    are exact; where leading terms cancel or a function is not among them, there is no answer.

    Raises
    ------
    UndecidedError
        If the rules do not decide it.
    """
    if expression == 0:
        return sympy.S.Zero, sympy.oo
    if small not in expression.free_symbols:
        return expression, sympy.S.Zero
    if expression == small:
        return sympy.S.One, sympy.S.One
    parts = expression.args
    if expression.is_Add:
        return _sum([leading(part, small) for part in parts])
    if expression.is_Mul:
        leads = [leading(part, small) for part in parts]
        return sympy.Mul(*(lead[0] for lead in leads)), sympy.Add(*(lead[1] for lead in leads))
    if expression.is_Pow and parts[1].is_number:
        coefficient, power = leading(parts[0], small)
        if not (coefficient.is_positive or (parts[1].is_integer and (coefficient != 0 or parts[1].is_positive))):
            raise UndecidedError(f"a power of {parts[0]}")
        return coefficient ** parts[1], power * parts[1]
    if expression.is_Pow:
        return _exponential(expression, small)
    if isinstance(expression, (sympy.Max, sympy.Min)):
        return _extreme_lead(expression.func, [leading(part, small) for part in parts])
    if isinstance(expression, sympy.exp):
        coefficient, power = leading(parts[0], small)
        if power >= 0:
            return (sympy.S.One if power > 0 else sympy.exp(coefficient)), sympy.S.Zero
    raise UndecidedError(f"no rule for {expression.func.__name__}")


def _extreme_lead(kind: Any, leads: list[Lead]) -> Lead:
    """Return the leading term of a Max or Min: negative parts lose a Max to any that is not negative."""
    positive = [lead for lead in leads if lead[0].is_nonnegative]
    if any(lead[0].is_nonnegative is None for lead in leads) or len(positive) < (
        1 if kind is sympy.Max else len(leads)
    ):
        raise UndecidedError("Min or Max of what may be negative")
    powers = [power for _, power in positive]
    chosen = min(powers) if kind is sympy.Max else max(powers)
    return extremum(kind, [coefficient for coefficient, power in positive if power == chosen]), chosen


def _sum(leads: list[Lead]) -> Lead:
    power = min(lead[1] for lead in leads)
    largest = [lead[0] for lead in leads if lead[1] == power]
    coefficient = sympy.Add(*largest)
    # One alone has nothing to cancel with.
    if power != sympy.oo and len(largest) > 1 and coefficient.is_zero is not False:
        # n − n cancels to 0; what has a known sign does not.
        coefficient = expand(coefficient)
        if coefficient == 0 or not (coefficient.is_nonnegative or coefficient.is_zero is False):
            raise UndecidedError("leading terms may cancel")
    return coefficient, power


def _exponential(expression: sympy.Expr, small: sympy.Symbol) -> Lead:
    """Return the leading term of base**exponent where the base tends to 1: (1 − a·small)**(b/small) → exp(−a·b)."""
    base, exponent = expression.args
    if isinstance(base, sympy.Max):
        positive = [part for part in base.args if leading(part, small)[0].is_nonnegative]
        base = positive[0] if len(positive) == 1 else base
    b, q = leading(exponent, small)
    if q < 0 and small not in base.free_symbols:
        # A rate between 0 and 1, to the power of the horizon, falls below every power.
        parts = base.args if isinstance(base, sympy.Max) else (base,)
        if b.is_positive and all(_positive(1 - part) for part in parts):
            return sympy.S.Zero, sympy.oo
        if b.is_negative and all(_positive(part - 1) for part in parts):
            return sympy.S.Zero, sympy.oo
    if leading(base, small) != (1, 0):
        raise UndecidedError(f"the power {expression}")
    a, p = leading(expand(base - 1), small)
    if p + q > 0:
        return sympy.S.One, sympy.S.Zero
    if p + q == 0:
        return sympy.exp(a * b), sympy.S.Zero
    if (a * b).is_negative:
        return sympy.S.Zero, sympy.oo  # below every power
    raise UndecidedError(f"the power {expression}")


def _positive(expression: sympy.Expr) -> bool:
    expand(expression)  # refuses what SymPy would multiply out for long
    return bool(sympy.together(expression).is_positive)
