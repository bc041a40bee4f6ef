"""Printed and repaired bound side by side, with what has changed marked."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import sympy

from boundlab.formulas.written import letters_of, written
from boundlab.pages.blocks import Block, Fold, Line, line, table, words

if TYPE_CHECKING:
    from boundlab.audit._evidence import Evidence
    from boundlab.theorems import Theorem

_NOTHING = "–"


def side_by_side(audit: "Evidence") -> Iterator[Block]:
    """Yield a table for each repair, all but the first folded."""
    for place, one in enumerate(audit.repairs):
        columns = ("part", audit.theorem.status, one.theorem.status, "changed")
        rows = table(f"{audit.theorem.id} and {one.theorem.id}", columns, _rows(audit.theorem, one.theorem))
        head = words((one.theorem.id, "code"), f": {one.theorem.title}")
        if place:
            yield Fold(f"{one.theorem.id}: {one.theorem.title}", (rows,))
        else:
            yield from (head, rows)


def parts(theorem: "Theorem") -> dict[str, str]:
    """Return the parts of a claim, each as it is written: assumptions, conditions, step, terms, definitions."""
    letters = _letters(theorem)

    def text(formula: sympy.Expr) -> str:
        return written(formula, theorem.symbols, letters)

    found = {f"term {name}": text(term) for name, term in theorem.terms.items()}
    if not found:
        found["bound"] = theorem.bound.as_dict()["recursion"]
    found |= {
        f"step {letters.get(name, name)}": "given" if name not in theorem.defining() else text(rule)
        for name, rule in theorem.step.items()
    }
    found |= {
        f"where {letters.get(name, name)} =": text(rule)
        for name, rule in theorem.rules().items()
        if name not in theorem.step
    }
    found |= {f"condition {place + 1}": one.statement for place, one in enumerate(theorem.conditions)}
    found |= {f"at every x, {name}": one.statement for name, one in theorem.assume.items()}
    options = ", ".join(f"{name} = {value}" for name, value in theorem.core.fixed.items())
    return {
        **found,
        "left side": theorem.left.expectation,
        "assumptions": ", ".join(theorem.assumptions),
        "options": options,
    }


def _letters(theorem: "Theorem") -> Mapping[str, str]:
    return {**letters_of(sorted(theorem.symbols), theorem.symbols), **theorem.spelling()}


def _rows(old: "Theorem", new: "Theorem") -> Iterator[tuple[str | Line, ...]]:
    before, after = parts(old), parts(new)
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name) or _NOTHING, after.get(name) or _NOTHING
        if one == other == _NOTHING:
            continue
        same = one == other
        marked = line((other, "" if same or other == _NOTHING else "mark"))
        word = "" if same else "added" if one == _NOTHING else "gone" if other == _NOTHING else "changed"
        yield line((name, "strong")), one, marked, word
