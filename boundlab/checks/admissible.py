"""Admissibility: the conditions can be met, the own step meets them, a corollary's step meets its theorem's."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import sympy

from boundlab.checks._check import Check, Decision, View, asked, group
from boundlab.checks.truths import SMALL
from boundlab.errors import BoundlabError, UndecidedError
from boundlab.formulas.defined import Demand
from boundlab.formulas.symbols import names_of
from boundlab.formulas.written import leading, size, substitute
from boundlab.signs import Prover
from boundlab.theorems import Condition, Theorem

_SHORT = 100
_NOTHING = 1e-12


@group("admissible", "the conditions can be met, and the theorem's own step meets them")
def checks(view: View) -> Iterator[Check]:
    """Check that the theorem speaks about something, and its own step among it."""
    yield asked("admissible.set", "all conditions can be met at once, with a positive step", lambda: _met(view))
    yield asked("admissible.defined", "every formula has a value, whatever the counts", lambda: _defined(view))
    yield asked(
        "admissible.step",
        "the theorem's own step meets its conditions, whatever the constants",
        lambda: _own_step(view),
    )
    yield asked(
        "admissible.corollary",
        "for a long horizon the corollary's step meets the conditions of the theorem it comes from",
        lambda: _corollary(view),
    )


def _met(view: View) -> Decision:
    if not view.theorem.conditions:
        return Decision("passed", "there is no condition")
    if view.points:
        numbers = ((name, value) for name, value in view.points[0].items() if isinstance(value, (int, float)))
        return Decision("passed", f"for example {', '.join(f'{name} = {value:.4g}' for name, value in numbers)}")
    for condition in view.conditions:
        with suppress(UndecidedError):
            gap = view.expand(condition.quantity) - view.expand(condition.limit)
            if gap.is_nonnegative if condition.strict else gap.is_positive:
                return Decision("failed", f"{condition.statement} is never met", "claim vacuous")
    return Decision("unknown", "no point was found at which all conditions hold")


def _defined(view: View) -> Decision:
    """Look for a count at the lower end of its range at which a formula, as it is written, divides by 0."""
    theorem = view.theorem
    for what, formula in theorem.formulas():
        for one in theorem.demands(formula):
            if not isinstance(one, Demand) or one.kind != "power":
                continue  # inside of a Min there is another part
            read = theorem.read_by(names_of(one.of)) & {*theorem.inputs()} - {theorem.horizon_symbol}
            counts = {name: view.symbols[name].domain.low for name in sorted(read) if view.symbols[name].domain.integer}
            if found := {name: low for name, low in counts.items() if _vanishes(view, one, name, low)}:
                where = " or ".join(f"{name} = {low:g}" for name, low in found.items())
                more = ", ".join(f"{low + 1:g} <= {name}" for name, low in found.items())
                text = f"{what} {one.fails} at {where}: say {more}, or multiply it out"
                return Decision("suspicious", text, "claim vacuous")
    return Decision("passed")


def _vanishes(view: View, one: Demand, name: str, low: float) -> bool:
    """Return whether a denominator is 0 wherever a symbol has a value that the conditions on it alone admit."""
    for condition in view.theorem.conditions:
        sides = (condition.quantity, condition.limit)
        if names_of(sides[0]) | names_of(sides[1]) == {name}:
            left, right = (view.number(side, {name: low}) for side in sides)
            if left > right:
                return False
    try:
        of = view.expand(one.of, frozenset())
        return bool(view.draws) and all(
            abs(view.number(of, {**point, name: low})) <= _NOTHING and view.number(one.exponent, point) < 0
            for point in view.draws[:4]
        )
    except (BoundlabError, KeyError):
        return False


def _own_step(view: View) -> Decision:
    steps = {name for name in view.theorem.step if name in view.theorem.defining()}
    about = [one for one in view.theorem.conditions if _names(view.theorem, one) & steps]
    if not about:
        return Decision("not applicable", "no condition is about a step that the theorem chooses")
    open_ones = []
    for condition in about:
        gap = view.expand(condition.limit, frozenset()) - view.expand(condition.quantity, frozenset())
        # The condition itself must not help.
        prover = Prover(view.symbols)
        if gap == 0 and condition.strict:
            return Decision("failed", f"{condition.statement}: both are equal", "does not follow")
        if gap.is_positive if condition.strict else gap == 0 or prover.certain(gap):
            continue
        witness = _breaks(view, condition)
        if witness and prover.certain(-gap):
            return Decision("failed", witness, "does not follow")
        if witness and view.theorem.assume:
            return Decision("unknown", f"{witness}, where what it assumes at every x may be impossible")
        if witness:
            # The theorem then says nothing there, and may be true where it does.
            return Decision("suspicious", f"not everywhere: {witness}", "does not follow")
        open_ones.append(condition.statement)
    if open_ones:
        return Decision("unknown", f"met at all points tried, without certificate: {'; '.join(open_ones)}")
    return Decision("passed")


def _names(theorem: Theorem, condition: Condition) -> frozenset[str]:
    return theorem.read_by(names_of(condition.quantity) | names_of(condition.limit), theorem.step)


def _breaks(view: View, condition: Condition) -> str:
    """Return a point of the other conditions at which the own step breaks this one."""
    others = [one for one in view.theorem.conditions if not _names(view.theorem, one) & set(view.theorem.step)]
    for point in view.draws:
        values = {name: value for name, value in point.items() if name not in view.theorem.defining()}
        try:
            values |= view.theorem.step_options(values)
            left, right = _sides(view, condition, values)
            if any(low > high * (1 + 1e-9) for low, high in (_sides(view, one, values) for one in others)):
                continue
        except (BoundlabError, KeyError):
            continue
        if left > right * (1 + 1e-9):
            shown = ", ".join(f"{name} = {value:.4g}" for name, value in values.items() if isinstance(value, float))
            return f"{condition.statement} is {left:.4g} > {right:.4g} at {shown}"
    return ""


def _sides(view: View, condition: Condition, values: dict[str, Any]) -> tuple[float, float]:
    left, right = (view.expand(side, frozenset()) for side in (condition.quantity, condition.limit))
    return view.number(left, values), view.number(right, values)


def parent(theorem: Theorem) -> Theorem | None:
    """Return the theorem that a printed rate is a corollary of: the same paper, algorithm and left side."""
    if not theorem.shape or not theorem.of_paper:
        return None
    from boundlab.registry import beside

    def kind(one: Theorem) -> tuple[Any, ...]:
        return one.paper, one.algorithm, one.metric, one.status

    others: Iterable[Theorem] = beside("theorems", theorem).values()
    same = (one for one in others if kind(one) == kind(theorem) and not one.shape and one.id != theorem.id)
    return next(same, None)


def _corollary(view: View) -> Decision:
    above = parent(view.theorem)
    if above is None:
        return Decision("not applicable", "it is no corollary of a registered theorem")
    counter = view.symbol(view.theorem.horizon_symbol)
    open_ones = []
    for condition in above.conditions:
        if not _names(above, condition) & set(above.step):
            continue
        try:
            upper = View(above)
            own = {view.symbol(name): view.expand(rule, frozenset()) for name, rule in view.theorem.step.items()}
            ratio = substitute(upper.expand(condition.quantity), own) / substitute(upper.expand(condition.limit), own)
            coefficient, power = leading(substitute(ratio, {counter: 1 / SMALL}), SMALL)
        except UndecidedError:
            open_ones.append(condition.statement)
            continue
        if power < 0:
            shown = sympy.simplify(ratio) if size(ratio) <= _SHORT else ratio
            text = (
                f"{condition.statement} of {above.id}: with {_rules(view)} its left side over its right is "
                f"{view.text(shown)}, above 1 from some {counter} on"
            )
            return Decision("failed", text, "does not follow", sympy.latex(shown))
        if power == 0 and not view.prover().nonnegative(1 - coefficient):
            open_ones.append(condition.statement)
    if open_ones:
        return Decision("unknown", f"not decided: {'; '.join(open_ones)}")
    return Decision("passed", f"conditions of {above.id}")


def _rules(view: View) -> str:
    return ", ".join(f"{view.text(view.symbol(name))} = {view.text(rule)}" for name, rule in view.theorem.step.items())
