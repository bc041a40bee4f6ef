"""The page of ``boundlab exact``."""

from typing import TYPE_CHECKING, Any

from rich.text import Text

from boundlab.report.derivation_page import derivation_page
from boundlab.report.tables import figure, of_objective, plain_table, verdict_line

if TYPE_CHECKING:
    from boundlab.exact import ExactResult
    from boundlab.theorems import Theorem


def exact_page(theorem: "Theorem", result: "ExactResult") -> list[Any]:
    """Return both sides with what they were made from, or the way to them where that was asked for."""
    head = Text(f"{result.theorem} at k = {result.k}: {theorem.left.expectation}{of_objective(result.objective)}")
    if result.derivation is not None:
        return [head, "", *derivation_page(result.derivation)]
    constants = plain_table("constant", "value", "side", "how")
    constants.columns[2].justify = constants.columns[3].justify = "left"
    for name, one in result.constants.items():
        constants.add_row(name, _word(one["value"]), one["side"], one["how"])
    values = ", ".join(f"{name} = {_word(value)}" for name, value in result.values.items())
    return [
        head, constants, Text(values, style="dim"), "",
        Text(f"left  = {result.left_text}"), Text(f"right = {result.right_text}"),
        Text(f"left/right = {figure(result.ratio)} ({result.kind}: {result.method})"),
        *([Text(result.note, style="dim")] if result.note else []), "",
        verdict_line(result.verdict, result.reason),
    ]  # fmt: skip


def _word(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
