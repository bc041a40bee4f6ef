"""What a proof is a proof of, as plain data: a proof file carries it, with its hash, and the registry is asked."""

from typing import Any

from boundlab.assumptions import with_implied
from boundlab.theorems import Theorem


def statement(theorem: Theorem) -> dict[str, Any]:
    """Return what a theorem claims and what it assumes, without what is said about it.

    Formulas are text that the parser reads back; assumptions are listed with those that they imply.
    """
    fields = theorem.as_dict()
    said = ("id", "algorithm", "options", "parameters", "metric", "left_side", "horizon", "first", "step", "terms",
            "recursion", "definitions", "conditions", "inputs", "settable")  # fmt: skip
    return {name: fields[name] for name in said} | {"assumptions": sorted(with_implied(theorem.assumptions))}
