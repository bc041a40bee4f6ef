"""The largest local steps that theorems allow on a problem, as far as its constants say them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import final

import sympy

from boundlab.assumptions import BOUNDED_DOMAIN, BOUNDED_RUN, UNCONSTRAINED, assumption
from boundlab.instance.applicability import asked_of
from boundlab.objective import Problem
from boundlab.theorems import Condition, Theorem, read_off_runs

_DIGITS = 6


@final
@dataclass(frozen=True, slots=True)
class LargestStep:
    """A condition on a local step.

    Parameters
    ----------
    step
        Its symbol.
    condition
        As the theorems write it: ``α ≤ 1/L``.
    value
        The largest step, rounded down; None: it depends on options or on the run, too.
    words
        The largest step for people, ``0.25`` or ``0.5/Qmax``.
    theorems
        Who asks for it, by id.
    """

    step: str
    condition: str
    value: float | None
    words: str
    theorems: list[str] = field(default_factory=list)


def largest_steps(problem: Problem, theorems: Iterable[Theorem]) -> list[LargestStep]:
    """Return the conditions of theorems whose assumptions on the functions are met, each condition once."""
    values = {name: sympy.Float(one.value, 17) for name, one in problem.constants().items()}
    found: dict[tuple[str, str], LargestStep] = {}
    for theorem in theorems:
        if _why_not(theorem, problem):
            continue
        known = {one.symbol: values[name] for name, one in theorem.symbols.items() if name in values}
        if any(_broken(one, known) for one in theorem.conditions):
            continue
        for one in theorem.conditions:
            for name in theorem.step:
                step = theorem.symbols[name].symbol
                share = sympy.simplify(one.quantity / step)
                if step in one.quantity.free_symbols and step not in (share.free_symbols | one.limit.free_symbols):
                    row = _row(name, one.statement, sympy.simplify(one.limit / share), known)
                    found.setdefault((name, one.statement), row).theorems.append(theorem.id)
    return sorted(found.values(), key=lambda row: (row.value is None, -(row.value or 0.0)))


def _why_not(theorem: Theorem, problem: Problem) -> str:
    """Return the first reason why the functions are not those of a theorem; '' if they are."""
    about = [name for name in (UNCONSTRAINED, BOUNDED_DOMAIN, BOUNDED_RUN) if name in theorem.core.assumed]
    shown = {BOUNDED_RUN} if read_off_runs(theorem) else set()
    names = [*about, *(name for name in asked_of(theorem) if assumption(name).of == "functions")]
    return next((reason for name in names if name not in shown and (reason := problem.why_not(name))), "")


def _broken(one: Condition, known: Mapping[sympy.Symbol, sympy.Float]) -> bool:
    """Return whether the constants alone break a condition, as noise does where full gradients are asked for."""
    excess = (one.quantity - one.limit).xreplace(known)
    return bool(excess.is_number and not one.meets(excess, 0))


def _row(name: str, statement: str, largest: sympy.Expr, known: Mapping[sympy.Symbol, sympy.Float]) -> LargestStep:
    number = largest.xreplace(known)
    if not number.is_number:
        return LargestStep(name, statement, None, str(sympy.N(number, _DIGITS)))
    value = float(number) * (1.0 - 1e-12)
    return LargestStep(name, statement, value, f"{value:.{_DIGITS}g}")
