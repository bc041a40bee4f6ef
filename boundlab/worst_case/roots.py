"""The step size as the unit: then B·R/√K and a step R/(B·√K) leave only rational numbers in the program.

Under f → α·f with α the step size, steps become rational and B becomes α·B, of which the program holds the square. Only
convex Lipschitz functions know no other constant that would become a root.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from boundlab.arithmetic.rational import known_fraction
from boundlab.metrics import Quantity
from boundlab.worst_case.model import FunctionClass, ProgramModel, build
from boundlab.worst_case.specification import Question, exact_parameters


def in_units_of_the_step(
    plan: Question, kind: FunctionClass, constants: Mapping[str, Any]
) -> tuple[ProgramModel, FunctionClass, Fraction] | None:
    """Return the program with the step size as its formula gives it, its class, and the bound, in units of the step.

    None where they are not rational in these units either.
    """
    root = plan.exactly.root
    if root is None or kind.kind != "ConvexLipschitzFunction" or plan.metric.quantity is not Quantity.GAP:
        return None
    own = replace(plan, parameters=exact_parameters(plan.algorithm, plan.options, {root.name: Fraction(1)}))
    if any(known_fraction(size) is None for tape, _ in own.tapes() for size in [*tape.recipes()][1]):
        return None
    errors = {name: root.square * size if name == "delta_g" else size for name, size in kind.errors.items()}
    unit = replace(kind, steepest=root.square * (kind.steepest or 0), errors=errors)
    return build(unit, plan.metric, own.runs(), plan.clients, constants), unit, root.product
