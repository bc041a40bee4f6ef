"""Step sizes of theorems, and small things that settings share."""

from collections.abc import Mapping
from typing import Any, TypeVar

import sympy

from boundlab.options import Options
from boundlab.prove._context import Range
from boundlab.prove._errors import ProofError
from boundlab.prove._scalars import ONE, Scalar, of_symbol, scalar
from boundlab.prove._scalars import Symbol as Name
from boundlab.prove._terms import Lin, Vec, equal, expr
from boundlab.prove.setting import Setting

_ZERO = scalar(0)
Chosen = TypeVar("Chosen")
POSITIVE_STEP = "the step is a positive number"


def parameters_of(algorithm: Any, options: dict[str, Any]) -> Any:
    """Return an algorithm's parameters from options."""
    return algorithm.read(Options(algorithm.id, options))


def single(value: Lin) -> Vec:
    """Return the one vector that a combination is.

    Raises
    ------
    ProofError
        If it is none.
    """
    if value.vec is None:
        raise ProofError(f"a single vector is expected, got {value}")
    return value.vec


def chosen(table: Mapping[str, Chosen], name: str) -> Chosen:
    """Return what belongs to a name; raises if none does."""
    if name not in table:
        raise ProofError(f"{', '.join(table)} is expected, got {name}")
    return table[name]


def declare_step(setting: Setting, name: str) -> Scalar:
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
        return setting.own_symbol(name, Range(low=_ZERO, high=high, above=True))
    return _fixed(setting, name, rule)


def _fixed(setting: Setting, name: str, rule: sympy.Expr) -> Scalar:
    """Declare a step that is a formula, and that it is a positive number.

    Where the formula has no value, or the value 0, there is no run that the theorem speaks of.
    """
    if not any(part.exp.is_Rational and part.exp.q == 2 for part in rule.atoms(sympy.Pow)):
        return setting.own_symbol_with(name, setting.formula(rule))
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
        own = setting.own_symbol(f"{name}_{number}", Range(low=_ZERO, above=True))
        setting.step_facts.append(setting.condition(equal(expr(own), part), POSITIVE_STEP))
        bottom = bottom * own ** int(count)
    step = setting.own_symbol(name, Range(low=_ZERO, above=True))
    setting.step_facts.append(setting.condition(equal(expr(step * step * bottom), top), POSITIVE_STEP))
    return of_symbol(Name(name))
