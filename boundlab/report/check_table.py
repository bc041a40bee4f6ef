"""The page of ``boundlab check``: what failed first, what passed in a line."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from boundlab.checks import Check
    from boundlab.theorems import Theorem

# In the order of the page.
_STYLE = {
    "failed": "bold red", "suspicious": "magenta", "unknown": "yellow", "passed (z3)": "green", "passed": "green",
    "not applicable": "dim",
}  # fmt: skip
_FOLDED = ("passed (z3)", "passed", "not applicable")


def check_table(theorem: "Theorem", checks: "tuple[Check, ...]", verbose: bool = False) -> list[Any]:
    """Return the table id | verdict | statement and witness, what follows from the failures, and the counts.

    Parameters
    ----------
    verbose
        Whether what passed and what does not apply stands in the table, too, and not in one line each.
    """
    order = {word: place for place, word in enumerate(_STYLE)}
    shown = [one for one in checks if verbose or one.verdict not in _FOLDED]
    parts: list[Any] = [f"{theorem.id} ({theorem.status}): {theorem.title}\n"]
    if shown:
        parts.append(_table(sorted(shown, key=lambda one: order[one.verdict])))
    if not verbose:
        parts += _folded(checks)
    counts: Counter[str] = Counter(one.verdict for one in checks)
    summary = ", ".join(f"{counts[word]} {word}" for word in _STYLE if counts[word])
    hint = "" if verbose or len(shown) == len(checks) else "; -v shows all"
    return [*parts, f"\n{summary}{hint}"]


def _table(checks: "list[Check]") -> Table:
    from boundlab.checks import CONSEQUENCES

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("check", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("statement, and what shows or contradicts it")
    for one in checks:
        text = Text(one.statement)
        if one.witness:
            text.append(f"\n{one.witness}", style="" if one.verdict in ("failed", "suspicious") else "dim")
        if one.consequence:
            text.append(f"\n⇒ {CONSEQUENCES[one.consequence]}", style=_STYLE[one.verdict])
        table.add_row(one.id, Text(one.verdict, style=_STYLE[one.verdict]), text)
    return table


def _folded(checks: "tuple[Check, ...]") -> list[Text]:
    """Return a line for each verdict that is no news, with the groups, and the notes on the statement itself."""
    lines = []
    for word in _FOLDED:
        groups: Counter[str] = Counter(one.group for one in checks if one.verdict == word)
        if groups:
            named = ", ".join(f"{group} {count}" if count > 1 else group for group, count in groups.items())
            lines.append(Text.assemble((word, _STYLE[word]), f": {named}"))
    lines += [
        Text(f"note: {one.witness}", style="dim")
        for one in checks
        if one.group == "scope" and one.verdict == "passed" and one.witness
    ]
    return lines
