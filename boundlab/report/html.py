"""Pages as HTML: the lines and tables that the command line prints, for a notebook."""

from collections.abc import Iterable
from html import escape
from typing import Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from boundlab.errors import visible

# A verdict's colour says what its word says, too; these read on white (4.5 : 1), and on a dark ground (3.9 : 1).
_COLOURS = {"green": "#00865a", "red": "#d4380d", "yellow": "#a16a00", "blue": "#2d77c9", "magenta": "#b0479a"}


def html(lines: Iterable[Any]) -> str:
    """Return what a page of the command line says as HTML.

    Parameters
    ----------
    lines
        Strings, and Rich's texts and tables; no character of them is read as markup.
    """
    return f'<div class="boundlab">{"".join(_block(line) for line in lines)}</div>'


def _block(line: Any) -> str:
    if isinstance(line, Padding):
        return _block(line.renderable)
    if isinstance(line, Group):
        return "".join(_block(part) for part in line.renderables)
    if isinstance(line, Table):
        return _table(line)
    found = _inline(line)
    return f'<p style="margin:.4em 0;text-align:left">{found}</p>' if found.strip() else ""


def _table(table: Table) -> str:
    sides = [{"right": "right"}.get(str(column.justify), "left") for column in table.columns]
    rows = zip(*(column.cells for column in table.columns), strict=True)
    head = "".join(
        f'<th style="text-align:{side}">{_inline(column.header)}</th>'
        for side, column in zip(sides, table.columns, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{side};vertical-align:top">{_inline(cell)}</td>'
            for side, cell in zip(sides, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{_inline(table.title)}</caption>" if table.title else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _inline(one: Any) -> str:
    if isinstance(one, Group):
        return "<br>".join(_inline(part) for part in one.renderables)
    if isinstance(one, Padding):
        return _inline(one.renderable)
    if not isinstance(one, Text):
        return escape(visible(str(one))).replace("\n", "<br>")
    found, last = [], 0
    own = [span for span in one.spans if span.style] or []
    for start, end, style in sorted(own):
        if start >= last:
            found += [_plain(one.plain[last:start]), _styled(one.plain[start:end], str(style))]
            last = end
    found.append(_plain(one.plain[last:]))
    return _wrapped("".join(found), str(one.style or ""))


def _plain(text: str) -> str:
    return escape(visible(text)).replace("\n", "<br>")


def _styled(text: str, style: str) -> str:
    return _wrapped(_plain(text), style)


def _wrapped(text: str, style: str) -> str:
    words = style.split()
    rules = [f"color:{_COLOURS[word]}" for word in words if word in _COLOURS]
    rules += ["font-weight:bold"] if "bold" in words else []
    rules += ["font-style:italic"] if "italic" in words else []
    rules += ["opacity:.75"] if "dim" in words else []
    return f'<span style="{";".join(rules)}">{text}</span>' if rules and text else text
