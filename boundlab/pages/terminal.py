"""Pages on a terminal, as lines and tables of Rich."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from boundlab.errors import visible
from boundlab.pages import blocks as kinds
from boundlab.pages.blocks import Block, FormulaBlock, Line, Rows

if TYPE_CHECKING:
    from rich.console import Console

_PADDING: Final = re.compile(r" +$", re.MULTILINE)  # Rich fills the last column
_STYLES: Final = {
    "": "",
    "strong": "bold",
    "code": "bold",
    "command": "",
    "good": "bold green",
    "bad": "bold red",
    "open": "bold yellow",
    "dim": "dim",
    "mark": "bold magenta",
    "note": "italic",
}


def terminal(blocks: Iterable[Block], *, folded: bool = False) -> list[Any]:
    """Return a page as what Rich prints; ``folded``: with what stands behind a line."""
    return list(_shown(blocks, folded))


def print_page(console: "Console", blocks: Iterable[Block], *, folded: bool = False) -> None:
    """Print a page; commands are not broken, so that they can be copied, and no line ends in spaces."""
    for one in terminal(blocks, folded=folded):
        with console.capture() as printed:
            console.print(one, soft_wrap=isinstance(one, Text) and bool(one.no_wrap))
        console.file.write(_PADDING.sub("", printed.get()))


def _shown(blocks: Iterable[Block], folded: bool, part: bool = False) -> Iterator[Any]:
    """Yield what Rich prints; ``part``: of what stands below a title, and is indented for that alone."""
    for place, block in enumerate(blocks):
        match block:
            case kinds.Words():
                yield text_of(block.words)
            case kinds.Points():
                yield from (_indented(text_of(one, "" if part else "• "), 2) for one in block.points)
            case kinds.FormulaBlock():
                yield _indented(_formulas(block), 2 if part else 4)
            case kinds.Rows():
                yield _table(block)
            case kinds.Commands():
                yield from (_indented(_plain(f"$ {one}"), 2) for one in block.commands)
            case kinds.Chart():
                yield _plain(block.description, "dim")
            case kinds.Part():
                yield _plain(block.title, "bold")
                inside = _shown(block.blocks, folded, part=True)
                yield from (one if isinstance(one, Padding) or one == Text() else _indented(one, 2) for one in inside)
            case kinds.Fold() if folded:
                yield _plain(block.title, "italic")
                yield from _shown(block.blocks, folded)
            case kinds.Section():
                yield from [Text()] * (place > 0)
                yield _plain(block.title, "bold underline")
                yield from _shown(block.blocks, folded)


def text_of(words: Line, before: str = "") -> Text:
    """Return words with their styles."""
    whole = any(piece.tone == "command" for piece in words)
    styled = ((visible(piece.text), _STYLES[piece.tone]) for piece in words)
    return Text.assemble(before, *styled, no_wrap=whole or None, overflow="ignore" if whole else None)


def _plain(text: str, style: str = "") -> Text:
    return Text(visible(text), style=style)


def _indented(one: Any, letters: int) -> Padding:
    """Return what has its further lines below the first."""
    return Padding(one, (0, 0, 0, letters), expand=False)


def _formulas(block: FormulaBlock) -> Table:
    grid = Table.grid(padding=(0, 1))
    *signs, _ = max(block.rows, key=len)
    for _ in signs:
        grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for row in block.rows:
        grid.add_row(*map(_plain, row))
    return grid


def _table(block: Rows) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(block.columns):
        justify, whole = "right" if place in block.numbers else "left", place in block.whole
        table.add_column(text_of(column), justify=justify, no_wrap=whole, overflow="fold")  # type: ignore[arg-type]
    for row in block.rows:
        table.add_row(*map(_cell, row))
    return table


def _cell(words: Line) -> Group:
    """Return an entry; a line of it that begins with space keeps that when it is broken."""
    lines = text_of(words).split("\n")
    return Group(*(_indented(one[2:], 2) if one.plain.startswith("  ") else one for one in lines))
