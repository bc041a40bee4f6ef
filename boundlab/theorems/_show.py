"""Theorems for people: LaTeX, and JSON-ready fields."""

from typing import TYPE_CHECKING, Any

import sympy

from boundlab.theorems._bound import FormulaBound

if TYPE_CHECKING:
    from boundlab.theorems._theorem import Theorem


def statement_latex(theorem: "Theorem") -> str:
    """Return the bound, the step size, the definitions and the conditions, one a line."""
    names = {info.symbol: info.latex for info in theorem.symbols.values()}

    def tex(expression: sympy.Expr) -> str:
        return str(sympy.latex(expression, symbol_names=names))

    if isinstance(theorem.bound, FormulaBound):
        total = " + ".join(tex(term) for term in theorem.bound.terms.values())
        right = rf"= \mathcal{{O}}\left({total}\right)" if theorem.shape else rf"\le {total}"
    else:
        right = rf"\le S_K,\quad {theorem.bound.latex}"
    lines = [f"{theorem.left.latex} {right}"]
    if "c" in theorem.step:
        lines.append(r"\alpha_k = \frac{c}{k + d}")
    else:
        lines += [
            f"{theorem.symbols[name].latex + ('_k' if name == 'alpha' else '')} = {tex(rule)}"
            for name, rule in theorem.step.items()
            if rule != theorem.symbols[name].symbol
        ]
    lines += [f"{theorem.symbols[name].latex} = {tex(rule)}" for name, rule in theorem.rules().items()]
    lines += [rf"{tex(item.quantity)} \le {tex(item.limit)}" for item in theorem.conditions]
    return ",\\\\\n".join(lines)


def statement_fields(theorem: "Theorem") -> dict[str, Any]:
    """Return everything that a theorem says, formulas as text that the parser reads back."""
    bound = theorem.bound
    formula = isinstance(bound, FormulaBound)
    return {
        "id": theorem.id,
        "title": theorem.title,
        "paper": theorem.paper,
        "place": theorem.place,
        "status": theorem.status,
        "kind": theorem.kind,
        "assumptions": list(theorem.assumptions),
        "algorithm": theorem.algorithm,
        "options": dict(theorem.options),
        "metric": theorem.metric,
        "left_side": theorem.left.expectation,
        "horizon": theorem.horizon,
        "step": {name: str(rule) for name, rule in theorem.step.items()},
        "terms": {name: str(term) for name, term in bound.terms.items()} if isinstance(bound, FormulaBound) else {},
        "recursion": "" if formula else getattr(bound, "description", ""),
        "definitions": {name: str(rule) for name, rule in theorem.rules().items()},
        "parameters": dict(theorem.parameters),
        "conditions": [condition.statement for condition in theorem.conditions],
        "inputs": {name: theorem.symbols[name].describe() for name in theorem.inputs()},
        "settable": list(theorem.settable),
        "note": theorem.note,
        "latex": theorem.latex(),
    }
