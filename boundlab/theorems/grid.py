"""Evaluate a theorem at what the user set: what ``boundlab eval`` shows."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boundlab.errors import SymbolError
from boundlab.files import json_value, schema
from boundlab.formulas.assignments import Values, parse_values
from boundlab.randomness import Floats
from boundlab.theorems import Evaluation, Theorem


@dataclass(frozen=True, slots=True)
class EvaluatedGrid:
    """A bound over a grid.

    Parameters
    ----------
    axes
        The columns of the grid, each of shape (points,), in the order given.
    evaluation
        Totals and terms, each of shape (points,) in C order of the grid.
    """

    theorem: Theorem
    values: Values
    axes: dict[str, Floats]
    evaluation: Evaluation

    def column(self, array: Floats) -> Floats:
        """Return an array of the grid as one column, shape (points,)."""
        return np.broadcast_to(array, self.values.shape).ravel()

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields; one number where there is no grid, else lists. An infinite step size is null."""

        def plain(array: Floats) -> Any:
            column = self.column(array).tolist()
            return column if self.values.shape else column[0]

        def finite(array: Floats) -> Any:
            column = json_value(array.reshape(-1))
            return column if len(column) > 1 else column[0]

        return {
            "schema": schema("values"),
            "theorem": self.theorem.id,
            "status": self.theorem.status,
            "kind": self.evaluation.kind,
            "values": {
                **self.values.scalars,
                **{name: vector.tolist() for name, vector in self.values.vectors.items()},
            },
            "axes": {name: column.tolist() for name, column in self.axes.items()},
            "derived": {name: finite(array) for name, array in self.evaluation.derived.items()},
            "terms": {name: plain(term) for name, term in self.evaluation.terms.items()},
            self.evaluation.kind: plain(self.evaluation.total),
        }

    def csv(self, terms: bool = False) -> str:
        """Return a table with a header: axes, terms if asked for, and the bound."""
        names = list(self.evaluation.terms) if terms else []
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*self.axes, *names, self.evaluation.kind])
        columns = [
            *self.axes.values(),
            *(self.column(self.evaluation.terms[name]) for name in names),
            self.column(self.evaluation.total),
        ]
        writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
        return out.getvalue()


def evaluate(theorem: Theorem, assignments: Sequence[str]) -> EvaluatedGrid:
    """Evaluate a theorem at ``NAME=VALUE`` assignments.

    Raises
    ------
    SymbolError
        If a symbol is unknown, missing, outside its domain, or not read by this theorem.
    FormulaError
        If a value cannot be read.
    """
    values = parse_values(assignments, theorem.symbols)
    unused = theorem.unused(values.given)
    if unused:
        reads = ", ".join(theorem.inputs())
        raise SymbolError(f"{theorem.id} does not depend on {unused[0]}; it reads {reads}")
    return EvaluatedGrid(theorem, values, values.flat(), theorem.evaluate(values.grid()))
