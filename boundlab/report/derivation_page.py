"""A derivation on a terminal."""

from typing import Any

from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from boundlab.arithmetic.writing import Sentence
from boundlab.exact import Chain, Derivation, Table

_NARROW = 28  # letters of a column that is not broken


def derivation_page(derivation: Derivation) -> list[Any]:
    """Return the page of ``boundlab exact --derivation``."""
    lines: list[Any] = []
    for section in derivation.sections:
        lines += [Text(section.title, style="bold")]
        for item in section.items:
            match item:
                case Table():
                    lines += ["", _table(item), ""]
                case Chain():
                    lines.append(_chain(item))
                case Sentence():
                    lines.append(_indented(item.text))
        lines += [""] * (lines[-1] != "")
    return lines[:-1]


def _indented(words: str) -> Padding:
    """Return words whose further lines stand below the first."""
    return Padding(Text(words), (0, 0, 0, 2), expand=False)


def _chain(chain: Chain) -> Padding:
    """Return one link a line, its signs below each other."""
    grid = RichTable.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for place, (sign, _, piece) in enumerate(chain.links):
        grid.add_row(Text("" if place else chain.first.text), Text(sign), Text(piece.text))
    return Padding(grid, (0, 0, 0, 2), expand=False)


def _table(table: Table) -> Padding:
    found = RichTable(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for place, column in enumerate(table.columns):
        narrow = max(len(row[place].text) for row in table.rows) <= _NARROW
        found.add_column(Text(column.text), no_wrap=narrow)
    for row in table.rows:
        found.add_row(*(Text(entry.text) for entry in row))
    return Padding(found, (0, 0, 0, 2), expand=False)
