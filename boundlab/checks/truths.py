"""Hold a right side against known truths: what is certain to happen on simple instances.

Each truth of :mod:`boundlab.checks._truths` is a lower bound on the left side of a family of instances that meets all
assumptions of the theorems it is matched with. A right side below it refutes the theorem.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import sympy

from boundlab.assumptions import assumption
from boundlab.checks._check import Check, Verdict, group
from boundlab.checks._instances import SMALL
from boundlab.checks._truths import TRUTHS, Truth
from boundlab.checks._view import View
from boundlab.checks.units import implied_claim
from boundlab.errors import UndecidedError
from boundlab.formulas.enclose import enclose
from boundlab.formulas.symbols import having
from boundlab.formulas.written import leading, substitute, written
from boundlab.signs import vanishes

_TRIED = tuple(sympy.Rational(1, 10) ** power for power in (1, 2, 3))
_WIDER = (sympy.Integer(2), sympy.Integer(10))
# What an assumption on the functions or on their noise names, "at most" or "at least": a problem meets it with every
# worse constant, too. What is about the minimiser, and what is read off a schedule, is what it is.
_NAMED = having("function", "noise", "heterogeneity") - {*assumption("minimiser").defines}


@group("truths", "the right side is above what is known to happen")
def checks(view: View) -> Iterator[Check]:
    """Hold the theorem, and what it implies by scaling, against every truth about its algorithm."""
    implied = implied_claim(view)
    for truth in TRUTHS:
        identity = f"truths.{truth.id}"
        reason = truth.applies(view.theorem) or _redefined(view, truth)
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
    """Compare the right side of a claim with one truth, at the instance's own constants and at worse ones.

    A problem that has a constant of at most L has one of at most 2·L, too: the claim for the wider class is about it.
    """
    own = _hold(view, truth, {})
    if own.verdict in ("failed", "not applicable"):
        return own
    for wider in _wider(view):
        found = _hold(view, truth, wider)
        if found.verdict == "failed":
            shown = ", ".join(f"{name} times {by}" for name, by in wider.items())
            return replace(found, witness=f"with the worse constants {shown}: {found.witness}")
    return own


def _redefined(view: View, truth: Truth) -> str:
    """Return which constants of the instance the theorem gives another meaning, or ''."""
    theorem = view.theorem
    own = set(theorem.definitions) - set(theorem.settable)
    names = sorted(own & set(truth.values(theorem, SMALL)))
    return f"the theorem defines {', '.join(names)} itself" if names else ""


def _hold(view: View, truth: Truth, wider: Mapping[str, sympy.Expr]) -> Check:
    identity, statement = f"truths.{truth.id}", truth.statement
    try:
        values = values_of(view, truth, wider)
        barred = _other_rate(view, truth, values) or _outside(view, truth, values)
        if barred:
            return Check(identity, statement, "not applicable", barred)
        return _compare(view, truth, values)
    except UndecidedError as error:
        reason = str(error)
        verdict: Verdict = "unknown"
        if "infinite" in reason or "no value there" in reason or reason.startswith("no value for"):
            verdict = "not applicable"
        return Check(identity, statement, verdict, reason)


def _wider(view: View) -> Iterator[dict[str, sympy.Expr]]:
    """Yield what constants are multiplied with, or are where the instance has 0: one at a time, then all together."""
    names = [name for name in view.inputs if name in _NAMED and name not in view.at_lowest]
    for factor in _WIDER:
        each = {name: 1 / factor if view.symbols[name].side == "lower" else factor for name in names}
        yield from ({name: by} for name, by in each.items())
        if len(each) > 1:
            yield each


def values_of(view: View, truth: Truth, wider: Mapping[str, sympy.Expr] = MappingProxyType({})) -> dict[str, Any]:
    """Return the symbols on the truth's family, the theorem's own step included where it allows no other.

    Parameters
    ----------
    wider
        What constants are multiplied with; where the instance has 0 of one, it is this.
    """
    fixed = [name for name in view.theorem.step if name not in view.free_steps]
    step = truth.step(view.theorem)

    def family(size: sympy.Expr) -> dict[str, Any]:
        values = dict(truth.values(view.theorem, size))
        return values | {name: values[name] * by or by for name, by in wider.items() if name in values}

    values = family(SMALL)
    if step in fixed:
        own_step = view.at(view.symbol(step), _without(values, fixed))
        values = family(own_step)
        if not _same(view.at(view.symbol(step), _without(values, fixed)), own_step):
            raise UndecidedError("the instance depends on the step, and the theorem's step on the instance")
    own = {step: values[step]} if step in values else {}
    return _without(values, fixed) | own


def _without(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _same(one: sympy.Expr, other: sympy.Expr) -> bool:
    return bool(one == other) or vanishes(one - other)


def _other_rate(view: View, truth: Truth, values: Mapping[str, Any]) -> str:
    """Return which rate beside the step, such as the server's, is another in the theorem than in the family, or ''."""
    family = truth.values(view.theorem, SMALL)
    fixed = {*view.theorem.step} - {*view.free_steps, truth.step(view.theorem)} if truth.rates != "all" else set()
    for name in sorted(fixed & {*family}):
        own = view.at(view.symbol(name), values)
        if not (_same(own, family[name]) or (truth.rates == "constant" and not own.has(SMALL))):
            return f"the theorem's own {name} is not {family[name]}"
    return ""


def _demands(view: View, truth: Truth, values: Mapping[str, Any]) -> Iterator[tuple[str, sympy.Expr, sympy.Expr, bool]]:
    """Yield what must be at most what, strictly below it or not, and what follows if it is not.

    By the theorem's conditions and by the truth.
    """
    for condition in view.conditions:
        quantity, limit = view.at(condition.quantity, values), view.at(condition.limit, values)
        yield f"{condition.statement} excludes the instance", quantity, limit, condition.strict
    for words, left, right in truth.needs(values):
        yield f"the instance needs {words}", sympy.sympify(left), sympy.sympify(right), False


def _outside(view: View, truth: Truth, values: Mapping[str, Any]) -> str:
    """Return the demand that the family does not meet for small e, or ''.

    Raises
    ------
    UndecidedError
        If that is not decided.
    """
    unmet = (
        words
        for words, left, right, strict in _demands(view, truth, values)
        if not _at_most(left, right) or (strict and _same(left, right))
    )
    return next(unmet, "")


def _inside(view: View, truth: Truth, values: Mapping[str, Any], number: sympy.Rational) -> bool:
    """Return whether the member at e = number surely meets all demands: it may be too large for them."""

    def fits(left: sympy.Expr, right: sympy.Expr, strict: bool) -> bool:
        if _same(left, right):
            return not strict
        high = enclose(substitute(left - right, {SMALL: number}))[1]
        return bool(high < 0 if strict else high <= 0)

    return all(fits(left, right, strict) for _, left, right, strict in _demands(view, truth, values))


def _at_most(left: sympy.Expr, right: sympy.Expr) -> bool:
    """Return whether left ≤ right for all small e."""
    left, right = sympy.sympify(left), sympy.sympify(right)
    a, p = leading(left, SMALL)
    b, q = leading(right, SMALL)
    if p != q:
        # The one that tends to 0 faster, or to ∞ more slowly, does not matter.
        return _negative(a) if p < q else not _negative(b)
    if p == sympy.oo:
        if left == right:
            return True
        raise UndecidedError("two sides that fall below every power")
    low, high = enclose(a - b)
    if high < 0 or low > 0:
        return high < 0
    gap, _ = leading(left - right, SMALL)
    return gap == 0 or _negative(gap)


def _negative(number: sympy.Expr) -> bool:
    """Return whether a number is < 0, or raise UndecidedError if that is not clear; 0 is not."""
    low, high = enclose(number)
    if low < 0 <= high and number != 0:
        raise UndecidedError("a sign is not decided")
    return high < 0


def _compare(view: View, truth: Truth, values: Mapping[str, Any]) -> Check:
    identity, statement = f"truths.{truth.id}", truth.statement
    right, left = view.total(values), sympy.sympify(truth.left(values))
    a, p = leading(right, SMALL)
    b, q = leading(left, SMALL)
    shown = f"right side ~ {_lead(a, p)}, left side ≥ ~ {_lead(b, q)} as ε → 0"
    why = f"Why: {truth.proof} ({truth.source})"
    if q != sympy.oo and enclose(b)[0] > 0:
        words = ""
        if p > q:
            words = "their quotient tends to 0: no constant helps"
        elif p == q and not view.theorem.shape and enclose(a - b)[1] < 0:
            words = f"their quotient tends to {sympy.N(a / b, 3)}"
        elif p < q and enclose(a)[1] < 0:
            words = "the right side is negative"
        if words:
            latex = f"{_latex(a, p)} < {_latex(b, q)}"
            text = f"{truth.instance}: {shown}; {words}. {why}"
            return Check(identity, statement, "failed", text, "claim false", latex)
    if not truth.limit and not view.theorem.shape:
        for number in _TRIED:
            below = enclose(substitute(right - left, {SMALL: number}))[1] < 0
            if below and _inside(view, truth, values, number):
                witness = f"{truth.instance}, ε = {number}: the right side is below the left. {why}"
                return Check(identity, statement, "failed", witness, "claim false")
    return Check(identity, statement, "passed", shown)


def _lead(coefficient: sympy.Expr, power: sympy.Expr) -> str:
    return "0" if power == sympy.oo else written(coefficient * SMALL**power)


def _latex(coefficient: sympy.Expr, power: sympy.Expr) -> str:
    return "0" if power == sympy.oo else sympy.latex(coefficient * SMALL**power, symbol_names={SMALL: r"\varepsilon"})
