"""The conditions of a theorem at exact numbers: met, broken, or not decided; there is no tolerance."""

import math
from typing import Any

import sympy

from boundlab.arithmetic import numbers
from boundlab.arithmetic.problem import InexactError
from boundlab.errors import AssumptionError
from boundlab.formulas.decide import same
from boundlab.formulas.defined import broken
from boundlab.formulas.known_numbers import Formulas, scalar
from boundlab.theorems import Condition, Theorem

_BITS = (numbers.START_BITS, 16 * numbers.START_BITS)


def require(theorem: Theorem, formulas: Formulas) -> None:
    """Make sure that the numbers of a comparison meet all conditions.

    Raises
    ------
    AssumptionError
        If they break one, by however little.
    InexactError
        If one is not decided: numbers that are known up to rounding may be on either side of it.
    """
    for what, formula in theorem.formulas():
        if one := broken(theorem.demands(formula), lambda of: _number(of, formulas)):
            raise AssumptionError(f"{theorem.id}: {what} {one.fails}, {one.text}, on this case")
    for condition in theorem.conditions:
        met = _met(condition, formulas)
        if met is None:
            raise InexactError(f"whether {condition.statement} is met is not decided in exact numbers")
        if not met:
            sides = " > ".join(_text(side, formulas) for side in (condition.quantity, condition.limit))
            raise AssumptionError(f"{theorem.id} needs {condition.statement}, got {sides}")


def _number(of: sympy.Expr, formulas: Formulas) -> float:
    """Return a number with the sign of a formula, ∞ where it divides by 0."""
    exact = scalar(formulas.exact(of))
    if exact is not None:
        return float(numbers.sign(exact))
    for bits in _BITS:
        with numbers.digits(bits):
            found = formulas.ball(of)
            if not found.is_finite() and found > 0:
                return math.inf
            if found > 0 or found < 0:
                return 1.0 if found > 0 else -1.0
    raise InexactError(f"whether {of} is 0 is not decided in exact numbers")


def _met(condition: Condition, formulas: Formulas) -> bool | None:
    if same(condition.quantity, condition.limit, tuple(sorted(formulas.rules.items()))):
        return True
    gap = condition.limit - condition.quantity
    exact = scalar(formulas.exact(gap))
    if exact is not None:
        return numbers.sign(exact) >= 0
    for bits in _BITS:
        with numbers.digits(bits):
            room = formulas.ball(gap)
            if room >= 0 or room < 0:
                return bool(room >= 0)
    return None


def _text(side: Any, formulas: Formulas) -> str:
    exact = scalar(formulas.exact(side))
    with numbers.digits(numbers.START_BITS):
        return numbers.text(formulas.ball(side) if exact is None else exact)
