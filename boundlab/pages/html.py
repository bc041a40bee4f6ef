"""Pages as HTML: no network, no fonts or scripts from elsewhere, every text escaped.

A page of its own has a style and a script; a fragment, for a notebook, has only what stands in its tags.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import count
from typing import Final

from boundlab.pages import blocks as kinds
from boundlab.pages._chart import escaped, svg
from boundlab.pages._style import SCRIPT, STYLE
from boundlab.pages.blocks import Block, FormulaBlock, Line, Piece, Rows, Section
from boundlab.pages.mathml import mathml

_SORTABLE = 2  # rows
_TAGS: Final = {"strong": "strong", "code": "code", "command": "code", "mark": "mark", "note": "em"}
# A verdict's colour says what its word says, too; these read on white (4.5 : 1), and on a dark ground (3.9 : 1).
_INLINE: Final = {
    "good": "color:#00865a;font-weight:bold",
    "bad": "color:#d4380d;font-weight:bold",
    "open": "color:#a16a00;font-weight:bold",
    "dim": "opacity:.75",
    "p": "margin:.4em 0;text-align:left",
    "cell": "text-align:left;vertical-align:top",
    "number": "text-align:right;vertical-align:top",
    "formula": "font-family:monospace;white-space:pre-wrap",
    "command": "font-family:monospace",
}


def document(title: Line, heading: str, sections: Sequence[Section]) -> str:
    """Return one self-contained page.

    Parameters
    ----------
    title
        What stands above it.
    heading
        The same for a list of pages, with what this one comes down to.
    """
    links = "".join(f'<li><a href="#{one.id}">{escaped(one.title)}</a></li>' for one in sections)
    body = "\n".join(_Page().blocks(sections))
    # No other style or script runs, whatever a theorem says.
    own = f"style-src {_hash(STYLE)}; script-src {_hash(SCRIPT)}"
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(heading)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>{_Page().line(title)}</h1></header>\n"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n<main>\n{body}\n</main>\n'
        f"<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def fragment(blocks: Iterable[Block]) -> str:
    """Return a page for a notebook: as on a terminal, without charts and what is folded away."""
    return f'<div class="boundlab">{"".join(_Page(_INLINE).blocks(blocks))}</div>'


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _options_whole(command: str) -> str:
    """Keep each option on one line: a browser may break it behind a hyphen, and half an option is another word."""
    return re.sub(r"(?<!\S)--?[a-z][a-z-]*", r'<span class="option">\g<0></span>', command)


class _Page:
    """Blocks of one page, which number their charts.

    Parameters
    ----------
    inline
        Name → style, in place of classes.
    """

    def __init__(self, inline: Mapping[str, str] | None = None) -> None:
        self._inline = inline
        self._numbers = count(1)

    def _as(self, name: str) -> str:
        """Return the attribute that makes a tag look like its name."""
        if self._inline is None:
            return f' class="{name}"' if name not in ("p", "cell") else ""
        return f' style="{self._inline[name]}"' if name in self._inline else ""

    def line(self, words: Line) -> str:
        """Return words with their tones."""
        return "".join(map(self._piece, words))

    def _piece(self, one: Piece) -> str:
        found = escaped(one.text).replace("\n", "<br>")
        if not one.tone:
            return found
        if tag := _TAGS.get(one.tone):
            return f"<{tag}>{found}</{tag}>"
        return f"<span{self._as(one.tone)}>{found}</span>"

    def blocks(self, blocks: Iterable[Block], above: str = "") -> Iterator[str]:
        """Yield blocks, below a title: a table repeats none that stands right above it."""
        for block in blocks:
            match block:
                case kinds.Words() if block.words:
                    yield f"<p{self._as('p')}>{self.line(block.words)}</p>"
                    above = block.words[0].text if len(block.words) == 1 else above
                case kinds.Points() if block.points:
                    yield f"<ul>{''.join(f'<li>{self.line(one)}</li>' for one in block.points)}</ul>"
                case kinds.FormulaBlock():
                    yield self._formulas(block)
                case kinds.Rows():
                    yield self._table(block, titled=block.caption not in ("", above))
                case kinds.Commands():
                    yield "".join(map(self._command, block.commands))
                case kinds.Chart() if self._inline is None:
                    yield svg(block, f"chart-{next(self._numbers)}")
                case kinds.Chart():
                    yield f"<p{self._as('dim')}>{escaped(block.description)}</p>"
                case kinds.Fold() if self._inline is None:
                    own = "".join(self.blocks(block.blocks, block.title))
                    yield f"<details><summary>{escaped(block.title)}</summary>{own}</details>"
                case kinds.Section() if self._inline is None:
                    yield self._section(block)
                case kinds.Part() | kinds.Section():
                    yield f"<p{self._as('p')}><strong>{escaped(block.title)}</strong></p>"
                    yield from self.blocks(block.blocks, block.title)
                case _:
                    pass

    def _formulas(self, block: FormulaBlock) -> str:
        """Return formulas as a browser sets them; a notebook's page, which may be read without one, has their text."""
        if self._inline is None and (set_ones := mathml(block)):
            return f'<div class="formulas">{"".join(f"<div>{one}</div>" for one in set_ones)}</div>'
        return f"<div{self._as('formula')}>{'<br>'.join(map(escaped, block.texts))}</div>"

    def _section(self, block: Section) -> str:
        inside = "".join(self.blocks(block.blocks))
        if block.tone:
            inside = f'<div class="banner {block.tone}">{inside}</div>'
        head = f'<h2 id="{block.id}">{escaped(block.title)}</h2>'
        return f'<section aria-labelledby="{block.id}">{head}{inside}</section>'

    def _command(self, command: str) -> str:
        button = '<button type="button" class="copy" hidden>copy</button>' if self._inline is None else ""
        return f"<div{self._as('command')}><code>{_options_whole(escaped(command))}</code>{button}</div>"

    def _table(self, block: Rows, *, titled: bool) -> str:
        def kind(place: int) -> str:
            return "number" if place in block.numbers else "cell" if block.narrow(place) else "wide"

        looks = [self._as(kind(place)) or self._as("cell") for place in range(len(block.columns))]

        def row(cells: Sequence[Line], tag: str, scope: str = "") -> str:
            found = (f"<{tag}{scope}{look}>{self.line(one)}</{tag}>" for look, one in zip(looks, cells, strict=True))
            return f"<tr>{''.join(found)}</tr>"

        head, rows = row(block.columns, "th", ' scope="col"'), "".join(row(one, "td") for one in block.rows)
        sortable = self._as("sortable") if len(block.rows) >= _SORTABLE else ""
        caption = escaped(block.caption)
        shown = f"<caption>{caption}</caption>" if titled else ""
        named = f' tabindex="0" role="region" aria-label="{caption}"' if caption else ""
        return (
            f"<div{self._as('scroll')}{named}><table{sortable}>"
            f"{shown}<thead>{head}</thead><tbody>{rows}</tbody></table></div>"
        )
