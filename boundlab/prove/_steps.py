"""Step sizes of theorems as symbols."""

from typing import Any

import sympy

from boundlab.prove._context import Range
from boundlab.prove._errors import ProofError
from boundlab.prove._scalars import ONE, ZERO, Scalar, variable
from boundlab.prove._terms import equal, expr

POSITIVE_STEP = "the step is a positive number"


def declare_step(setting: Any, name: str) -> Scalar:
    """Declare a step size: positive, below the theorem's conditions on it; with its own formula where that is fixed."""
    theorem = setting.theorem
    rule = theorem.step.get(name)
    if rule is None:
        raise ProofError(f"{theorem.id} sets no {name}")
    if rule.is_Symbol or name in theorem.settable:
        limits = [one for one in theorem.conditions if str(one.quantity) == name]
        if len(limits) > 1:
            raise ProofError(f"{theorem.id} has several conditions on {name}")
        high = setting.formula(limits[0].limit) if limits else None
        setting.own_symbol(name, Range(low=ZERO, high=high, above=True))
        return variable(name)
    return _fixed(setting, name, rule)


def _fixed(setting: Any, name: str, rule: sympy.Expr) -> Scalar:
    """Declare a step that is a formula, and that it is a positive number.

    Where the formula has no value, or the value 0, there is no run that the theorem speaks of.
    """
    if not any(part.exp.is_Rational and part.exp.q == 2 for part in rule.atoms(sympy.Pow)):
        setting.own_symbol_with(name, setting.formula(rule))
        return variable(name)
    numerator, denominator = sympy.fraction(sympy.together(rule**2))
    top, bottom, number = setting.formula(numerator), ONE, 0
    for factor in sympy.Mul.make_args(sympy.factor(denominator)):
        base, count = factor.as_base_exp()
        part = setting.formula(base)
        if base.is_Rational or setting.context.positive(part):
            top = top / part ** int(count)
            continue
        # The step divides by it: it is positive wherever there is a step.
        number += 1
        own = setting.own_symbol(f"{name}_{number}", Range(low=ZERO, above=True))
        setting.step_facts.append(setting.condition(equal(expr(own), part), POSITIVE_STEP))
        bottom = bottom * own ** int(count)
    step = setting.own_symbol(name, Range(low=ZERO, above=True))
    setting.step_facts.append(setting.condition(equal(expr(step * step * bottom), top), POSITIVE_STEP))
    return variable(name)
