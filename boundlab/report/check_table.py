"""The page of ``boundlab check``."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from boundlab.checks import Check
    from boundlab.theorems import Theorem

_STYLE = {"passed": "green", "failed": "bold red", "unknown": "yellow", "not applicable": "dim"}


def check_table(theorem: "Theorem", checks: "tuple[Check, ...]", every: bool = False) -> list[Any]:
    """Return the table id | verdict | statement and witness, what follows from the failures, and the count.

    Parameters
    ----------
    every
        Whether the checks that do not apply are shown, too.
    """
    from boundlab.checks import CONSEQUENCES

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("check", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("statement, and what shows or contradicts it")
    for one in checks:
        if one.verdict == "not applicable" and not every:
            continue
        text = Text(one.statement)
        if one.witness:
            text.append(f"\n{one.witness}", style="" if one.verdict == "failed" else "dim")
        if one.consequence:
            text.append(f"\n⇒ {CONSEQUENCES[one.consequence]}", style="red")
        table.add_row(one.id, Text(one.verdict, style=_STYLE[one.verdict]), text)
    counts: Counter[str] = Counter(one.verdict for one in checks)
    summary = ", ".join(f"{counts[word]} {word}" for word in _STYLE if counts[word])
    return [f"{theorem.id} ({theorem.status}): {theorem.title}\n", table, f"\n{summary}"]
