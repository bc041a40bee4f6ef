"""Hold a right side against known truths: what is certain to happen on simple instances.

Each truth of :mod:`boundlab.checks._truths` is a lower bound on the left side of a family of instances that meets all
assumptions of the theorems it is matched with. A right side below it refutes the theorem.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import sympy

from boundlab.checks._check import Check, group
from boundlab.checks._expressions import leading
from boundlab.checks._instances import SMALL
from boundlab.checks._truths import TRUTHS, Truth
from boundlab.checks._view import View
from boundlab.checks.units import implied_claim
from boundlab.errors import UndecidedError
from boundlab.formulas.enclose import enclose

_TRIED = tuple(sympy.Rational(1, 10) ** power for power in (1, 2, 3))


@group("truths", "the right side is above what is known to happen")
def checks(view: View) -> Iterator[Check]:
    """Hold the theorem, and what it implies by scaling, against every truth about its algorithm."""
    implied = implied_claim(view)
    for truth in TRUTHS:
        identity = f"truths.{truth.id}"
        reason = truth.applies(view.theorem)
        if not reason and not view.formula:
            reason = "the bound is iterated, not a formula"
        if reason:
            yield Check(identity, truth.statement, "not applicable", reason)
            continue
        own = hold(view, truth)
        if own.verdict == "failed" or implied is None or not implied.view.terms:
            yield own
            continue
        further = hold(implied.view, truth)
        yield (
            replace(further, witness=f"{implied.text}. Then {further.witness}") if further.verdict == "failed" else own
        )


def hold(view: View, truth: Truth) -> Check:
    """Compare the right side of a claim with one truth."""
    identity, statement = f"truths.{truth.id}", truth.statement
    try:
        values = values_of(view, truth)
        barred = _outside(view, values)
        if barred:
            return Check(identity, statement, "not applicable", barred)
        return _compare(view, truth, view.total(values), truth.left(values))
    except UndecidedError as error:
        reason = str(error)
        verdict = (
            "not applicable"
            if "infinite" in reason or "no value there" in reason or reason.startswith("no value for")
            else "unknown"
        )
        return Check(identity, statement, verdict, reason)  # type: ignore[arg-type]


def values_of(view: View, truth: Truth) -> dict[str, Any]:
    """Return the symbols on the truth's family, the theorem's own step included where it allows no other."""
    fixed = [name for name in view.theorem.step if name not in view.free_steps]
    step = truth.step(view.theorem)
    values = dict(truth.values(view.theorem, SMALL))
    if step in fixed:
        known = {name: value for name, value in values.items() if name not in fixed}
        values = dict(truth.values(view.theorem, view.at(view.symbol(step), known)))
    own = {step: values[step]} if step in values else {}
    return {name: value for name, value in values.items() if name not in fixed} | own


def _outside(view: View, values: Mapping[str, Any]) -> str:
    """Return the condition that the family breaks for small e, or ''."""
    for condition in view.conditions:
        a, p = leading(view.at(condition.quantity, values), SMALL)
        b, q = leading(view.at(condition.limit, values), SMALL)
        # Equal leading terms occur with equal sides, such as 1 ≤ τ_max.
        if p < q or (p == q and bool(a > b)):
            return f"{condition.statement} excludes the instance"
    return ""


def _compare(view: View, truth: Truth, right: sympy.Expr, left: sympy.Expr) -> Check:
    identity, statement = f"truths.{truth.id}", truth.statement
    a, p = leading(right, SMALL)
    b, q = leading(left, SMALL)
    if p != sympy.oo:
        gap = enclose(a - b) if p == q and not view.theorem.shape else (0, 0)
    below = p > q or (p == q and gap[1] < 0)
    shown = f"right side ~ {_lead(a, p)}, left side ≥ ~ {_lead(b, q)} as e → 0"
    why = f"Why: {truth.proof} ({truth.source})"
    if below:
        ratio = (
            "their quotient tends to 0: no constant helps" if p > q else f"their quotient tends to {sympy.N(a / b, 3)}"
        )
        latex = rf"{sympy.latex(a * SMALL**p) if p != sympy.oo else '0'} < {sympy.latex(b * SMALL**q)}"
        return Check(identity, statement, "failed", f"{truth.instance}: {shown}; {ratio}. {why}", "claim false", latex)
    if not truth.limit and not view.theorem.shape:
        for number in _TRIED:
            if enclose((right - left).subs(SMALL, number))[1] < 0:
                witness = f"{truth.instance}, e = {number}: the right side is below the left. {why}"
                return Check(identity, statement, "failed", witness, "claim false")
    return Check(identity, statement, "passed", shown)


def _lead(coefficient: sympy.Expr, power: sympy.Expr) -> str:
    return "0" if power == sympy.oo else str(coefficient * SMALL**power)
