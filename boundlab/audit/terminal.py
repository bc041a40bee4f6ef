"""The page on a terminal, as lines and tables of Rich."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from boundlab.audit._blocks import (
    Block,
    Chart,
    Commands,
    Fold,
    FormulaBlock,
    Line,
    Points,
    Rows,
    Way,
    Words,
)
from boundlab.audit._sections import sections
from boundlab.report.derivation_page import derivation_page

if TYPE_CHECKING:
    from boundlab.audit._evidence import Evidence

_STYLES = {
    "": "", "strong": "bold", "code": "bold", "good": "bold green", "bad": "bold red", "open": "bold yellow",
    "dim": "dim", "mark": "bold magenta",
}  # fmt: skip


def terminal(audit: "Evidence", *, folded: bool = False) -> list[Any]:
    """Return the sections with their titles; ``folded``: with what stands behind a line."""
    lines: list[Any] = []
    for section in sections(audit):
        if lines:
            lines.append("")
        lines.append(Text(section.title, style="bold underline"))
        lines += _blocks(section.blocks, folded)
    return lines


def _blocks(blocks: Iterable[Block], folded: bool) -> Iterator[Any]:
    for block in blocks:
        match block:
            case Words():
                yield _text(block.words)
            case Points():
                yield from (Padding(_text(one, "• "), (0, 0, 0, 2), expand=False) for one in block.points)
            case FormulaBlock():
                yield from (Padding(Text(one), (0, 0, 0, 4), expand=False) for one in block.texts)
            case Rows():
                yield _table(block)
            case Commands():
                yield from (Padding(Text(f"$ {one}"), (0, 0, 0, 2), expand=False) for one in block.commands)
            case Way():
                yield from derivation_page(block.derivation)
            case Chart():
                yield Text(block.description, style="dim")
            case Fold() if folded:
                yield Text(block.title, style="italic")
                yield from _blocks(block.blocks, folded)
            case Fold():
                pass


def _text(words: Line, before: str = "") -> Text:
    return Text.assemble(before, *((text, _STYLES[tone]) for text, tone in words))


def _table(block: Rows) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(block.columns):
        table.add_column(column, justify="right" if place in block.numbers else "left", overflow="fold")
    for row in block.rows:
        table.add_row(*(_text(cell) for cell in row))
    return table
