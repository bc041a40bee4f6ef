"""Theorems for people: LaTeX, and JSON-ready fields."""

from typing import Any

import sympy

from boundlab.files import schema
from boundlab.references import reference
from boundlab.theorems._assume import POINTWISE
from boundlab.theorems._clock import SECONDS
from boundlab.theorems._evaluate import inputs, rules
from boundlab.theorems._options import rule_of, step_at
from boundlab.theorems._statement import Statement


def statement_latex(theorem: Statement) -> str:
    """Return the bound, the step size, the definitions, the conditions and the paper's own letters, one a line."""
    names = {info.symbol: info.latex for info in theorem.symbols.values()}

    def tex(expression: sympy.Expr) -> str:
        return str(sympy.latex(expression, symbol_names=names))

    each = step_at(theorem)
    lines = [f"{theorem.left.latex} {theorem.bound.right_side(tex, theorem.shape)}"]
    if "c" in theorem.step:
        lines.append(r"\alpha_k = \frac{c}{k + d}")
    else:
        lines += [
            f"{theorem.symbols[name].latex + ('_k' if name == 'alpha' and each is None else '')} = {tex(rule)}"
            for name, rule in theorem.step.items()
            if rule != theorem.symbols[name].symbol
        ]
    if each is not None:
        word = str(each).replace("_", r"\_")
        lines.append(
            rf"\alpha_k = \alpha\,(\mathrm{{{word}}})" if isinstance(each, str) else rf"\alpha_k = {tex(each)}"
        )
    lines += [f"{theorem.symbols[name].latex} = {tex(rule)}" for name, rule in rules(theorem).items()]
    signs = {True: "<", False: r"\le"}
    lines += [f"{tex(item.quantity)} {signs[item.strict]} {tex(item.limit)}" for item in theorem.conditions]
    quantities = {info.symbol: info.latex for info in POINTWISE.values()}
    for one in theorem.assume.values():
        left, right = (sympy.latex(side, symbol_names={**names, **quantities}) for side in (one.smaller, one.larger))
        lines.append(rf"{left} \le {right} \text{{ at every }} x")
    if theorem.left.in_seconds:
        within = theorem.symbols[SECONDS].latex
        lines.append(
            rf"{theorem.horizon_symbol} \text{{ the last update that ends within }} {within} \text{{ seconds}}"
        )
    if theorem.letters:
        own = r",\ ".join(
            rf"{letter} \text{{ for }} {theorem.symbols[name].latex}" for name, letter in theorem.letters.items()
        )
        lines.append(rf"\text{{the paper writes }} {own}")
    return ",\\\\\n".join(lines)


def statement_fields(theorem: Statement) -> dict[str, Any]:
    """Return everything that a theorem says, formulas as text that the parser reads back."""
    return {
        "schema": schema("statement"),
        "id": theorem.id,
        "title": theorem.title,
        "paper": theorem.paper,
        "place": theorem.place,
        "reference": reference(theorem.paper).as_dict(),
        "status": theorem.status,
        "source": theorem.origin,
        "kind": theorem.kind,
        "assumptions": list(theorem.assumptions),
        "algorithm": theorem.algorithm,
        "options": {**theorem.options, **rule_of(theorem)},
        "metric": theorem.metric,
        "left_side": theorem.left.expectation,
        "horizon": theorem.horizon,
        "first": theorem.first_iteration,
        "about": theorem.about,
        "step": {name: str(rule) for name, rule in theorem.step.items()},
        **theorem.bound.as_dict(),
        "definitions": {name: str(rule) for name, rule in rules(theorem).items()},
        "parameters": dict(theorem.parameters),
        "conditions": [condition.statement for condition in theorem.conditions],
        "assume": {name: one.statement for name, one in theorem.assume.items()},
        "points": {name: list(words) for name, words in theorem.points.items()},
        "inputs": {name: theorem.symbols[name].describe() for name in inputs(theorem, ())},
        "settable": list(theorem.settable),
        "growth": list(theorem.growth),
        "generous": dict(theorem.generous),
        "note": theorem.note,
        **theorem.links(),
        "proofs": list(theorem.proofs),
        "letters": dict(theorem.letters),
        "latex": statement_latex(theorem),
    }
