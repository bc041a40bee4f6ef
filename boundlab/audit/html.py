"""The page as one file of HTML: no network, no fonts or scripts from elsewhere, every text escaped."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape
from itertools import count
from typing import TYPE_CHECKING

from boundlab.audit._blocks import Block, Chart, Commands, Fold, FormulaBlock, Line, Points, Rows, Way, Words
from boundlab.audit._chart import svg
from boundlab.audit._media import derived
from boundlab.audit._ruling import rule
from boundlab.audit._sections import sections, tone
from boundlab.audit._style import SCRIPT, STYLE
from boundlab.errors import visible

if TYPE_CHECKING:
    from boundlab.audit._evidence import Evidence

_SORTABLE = 2  # rows
_NARROW = 28  # letters of a column that is as narrow as its words


def html(audit: "Evidence") -> str:
    """Return the page."""
    name = escape(visible(audit.theorem.id))
    parts = sections(audit)
    links = "".join(f'<li><a href="#{one.id}">{escape(one.title)}</a></li>' for one in parts)
    page = _Page()
    body = []
    for part in parts:
        inside = "".join(page.blocks(part.blocks))
        if part.id == "verdict":
            inside = f'<div class="banner {tone(audit)}">{inside}</div>'
        head = f'<h2 id="{part.id}">{escape(part.title)}</h2>'
        body.append(f'<section aria-labelledby="{part.id}">{head}{inside}</section>')
    # No other style or script runs, whatever a theorem says.
    own = f"style-src {_hash(STYLE)}; script-src {_hash(SCRIPT)}"
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Audit of {name}: {escape(rule(audit).word)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>Audit of <code>{name}</code></h1></header>\n"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n<main>\n{chr(10).join(body)}\n</main>\n'
        f"<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _options_whole(command: str) -> str:
    """Keep each option on one line: a browser may break it behind a hyphen, and half an option is another word."""
    return re.sub(r"(?<!\S)--?[a-z][a-z-]*", r'<span class="option">\g<0></span>', command)


def _line(words: Line) -> str:
    return "".join(_piece(text, tone) for text, tone in words)


def _piece(text: str, tone: str) -> str:
    found = escape(text).replace("\n", "<br>")
    match tone:
        case "":
            return found
        case "strong" | "code" | "mark":
            return f"<{tone}>{found}</{tone}>"
    return f'<span class="{tone}">{found}</span>'


class _Page:
    """Blocks of one page, which number their charts."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def blocks(self, blocks: Iterable[Block], above: str = "") -> Iterator[str]:
        """Yield blocks, below a title: a table repeats none that stands right above it."""
        for block in blocks:
            match block:
                case Words():
                    yield f"<p>{_line(block.words)}</p>"
                    above = block.words[0][0] if len(block.words) == 1 else above
                case Points() if block.points:
                    yield f"<ul>{''.join(f'<li>{_line(one)}</li>' for one in block.points)}</ul>"
                case Points():
                    pass
                case FormulaBlock():
                    yield f'<div class="formula">{"<br>".join(map(escape, block.texts))}</div>'
                case Rows():
                    yield _table(block, titled=block.caption != above)
                case Commands():
                    yield "".join(
                        f'<div class="command"><code>{_options_whole(escape(one))}</code>'
                        '<button type="button" class="copy" hidden>copy</button></div>'
                        for one in block.commands
                    )
                case Way():
                    yield from self.blocks(derived(block.derivation))
                case Chart():
                    yield svg(block, f"chart-{next(self._numbers)}")
                case Fold():
                    own = "".join(self.blocks(block.blocks, block.title))
                    yield f"<details><summary>{escape(block.title)}</summary>{own}</details>"


def _table(block: Rows, *, titled: bool) -> str:
    def kind(place: int) -> str:
        longest = max((len("".join(text for text, _ in row[place])) for row in block.rows), default=0)
        name = "number" if place in block.numbers else "wide" if longest > _NARROW else ""
        return f' class="{name}"' if name else ""

    head = "".join(f'<th scope="col"{kind(place)}>{escape(one)}</th>' for place, one in enumerate(block.columns))
    rows = "".join(
        "<tr>" + "".join(f"<td{kind(place)}>{_line(cell)}</td>" for place, cell in enumerate(row)) + "</tr>"
        for row in block.rows
    )
    sortable = ' class="sortable"' if len(block.rows) >= _SORTABLE else ""
    caption = escape(block.caption)
    shown = f"<caption>{caption}</caption>" if titled else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table{sortable}>'
        f"{shown}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
