"""Pages as Markdown; what comes from a theorem is text there, too."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from boundlab.errors import visible
from boundlab.pages import blocks as kinds
from boundlab.pages.blocks import Block, Line, Piece, Rows, plain

_STRONG: Final = ("strong", "good", "bad", "open", "mark")


def markdown(title: Line, blocks: Iterable[Block]) -> str:
    """Return a page with its title, and with what is folded in ``<details>``."""
    return "\n".join((f"# {escaped(plain(title))}", "", *_blocks(blocks))).rstrip() + "\n"


def escaped(text: str) -> str:
    """Return text of which Markdown and HTML read no character as markup."""
    flat = " ".join(visible(text).split())
    marked = re.sub(r"([\\`*_{}\[\]()#+!|~$])", r"\\\1", flat.replace("&", "&amp;").replace("<", "&lt;"))
    marked = marked.replace(">", "&gt;")
    # No address may become a link, and no first letter a list, a title or a rule.
    marked = re.sub(r"(?i)\b(https?|ftp|www|mailto)(?=[:.])", r"\1&#8203;", marked).replace("@", "&#64;")
    return re.sub(r"^(\s*)([-=]|\d+(?=\.))", r"\1&#8203;\2", marked)


def _code(text: str) -> str:
    """Return text between as many backquotes as it does not hold."""
    flat = " ".join(visible(text).split())
    fence = "`" * (1 + max((len(one) for one in re.findall("`+", flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _piece(one: Piece) -> str:
    text = one.text
    if not text.strip():
        return text
    if one.tone in ("code", "command"):
        return _code(text)
    before, after, mark = " " * (text[0] == " "), " " * (text[-1] == " "), "**" * (one.tone in _STRONG)
    return f"{before}{mark}{escaped(text)}{mark}{after}"


def _line(words: Line) -> str:
    return "".join(map(_piece, words))


def _fenced(lines: Iterable[str]) -> list[str]:
    body = ["    " + " ".join(visible(one).splitlines()) for one in lines]
    return [*body, ""] if body else []


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case kinds.Words():
                yield from (_line(block.words), "") if block.words else ()
            case kinds.Points():
                yield from (f"- {_line(one)}" for one in block.points)
                yield ""
            case kinds.FormulaBlock():
                yield from _fenced(block.texts)
            case kinds.Rows():
                yield from _table(block)
            case kinds.Commands():
                yield from _fenced(block.commands)
            case kinds.Chart():
                yield from (f"_{escaped(block.description)}_", "")
            case kinds.Part():
                yield from (f"**{escaped(block.title)}**", "", *_blocks(block.blocks))
            case kinds.Fold():
                yield from ("<details>", f"<summary>{escaped(block.title)}</summary>", "", *_blocks(block.blocks))
                yield from ("</details>", "")
            case kinds.Section():
                yield from (f"## {escaped(block.title)}", "", *_blocks(block.blocks))


def _table(block: Rows) -> Iterator[str]:
    yield f"| {' | '.join(map(_cell, block.columns))} |"
    yield "|" + "|".join("---:" if place in block.numbers else "---" for place in range(len(block.columns))) + "|"
    for row in block.rows:
        yield f"| {' | '.join(map(_cell, row))} |"
    yield ""


def _cell(words: Line) -> str:
    """Return a line in which no bar ends a cell; outside of code they are escaped already."""
    return "".join(_piece(one).replace("|", r"\|") if one.tone == "code" else _piece(one) for one in words)
