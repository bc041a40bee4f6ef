"""The page as Markdown; what comes from a theorem is text there, too."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from boundlab.audit._blocks import Block, Chart, Commands, Fold, FormulaBlock, Line, Points, Rows, Way, Words
from boundlab.audit._media import derived
from boundlab.audit._sections import sections
from boundlab.errors import visible

if TYPE_CHECKING:
    from boundlab.audit._evidence import Evidence

_MARKS = {"strong": "**", "good": "**", "bad": "**", "open": "**", "mark": "**", "dim": "", "": ""}


def markdown(audit: "Evidence") -> str:
    """Return the page, with what is folded in ``<details>``."""
    lines = [f"# Audit of {escaped(visible(audit.theorem.id))}", ""]
    for section in sections(audit):
        lines += [f"## {section.title}", "", *_blocks(section.blocks)]
    return "\n".join(lines).rstrip() + "\n"


def escaped(text: str) -> str:
    """Return text of which Markdown and HTML read no character as markup."""
    flat = " ".join(text.split())
    marked = re.sub(r"([\\`*_{}\[\]()#+!|~$])", r"\\\1", flat.replace("&", "&amp;").replace("<", "&lt;"))
    marked = marked.replace(">", "&gt;")
    # No address may become a link, and no first letter a list, a title or a rule.
    marked = re.sub(r"(?i)\b(https?|ftp|www|mailto)(?=[:.])", r"\1&#8203;", marked).replace("@", "&#64;")
    return re.sub(r"^(\s*)([-=]|\d+(?=\.))", r"\1&#8203;\2", marked)


def _code(text: str) -> str:
    """Return text between as many backquotes as it does not hold."""
    flat = " ".join(text.split())
    fence = "`" * (1 + max((len(one) for one in re.findall("`+", flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _line(words: Line) -> str:
    found = []
    for text, tone in words:
        if not text.strip():
            found.append(text)
        elif tone == "code":
            found.append(_code(text))
        else:
            before, after = " " * (text[0] == " "), " " * (text[-1] == " ")
            found.append(f"{before}{_MARKS[tone]}{escaped(text)}{_MARKS[tone]}{after}")
    return "".join(found)


def _fenced(lines: Iterable[str]) -> list[str]:
    body = ["    " + " ".join(one.splitlines()) for one in lines]
    return [*body, ""] if body else []


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Words():
                yield from (_line(block.words), "")
            case Points():
                yield from (f"- {_line(one)}" for one in block.points)
                yield ""
            case FormulaBlock():
                yield from _fenced(block.texts)
            case Rows():
                yield from _table(block)
            case Commands():
                yield from _fenced(block.commands)
            case Way():
                yield from _blocks(derived(block.derivation))
            case Chart():
                yield from (f"_{escaped(block.description)}_", "")
            case Fold():
                yield from ("<details>", f"<summary>{escaped(block.title)}</summary>", "")
                yield from _blocks(block.blocks)
                yield from ("</details>", "")


def _table(block: Rows) -> Iterator[str]:
    yield f"| {' | '.join(map(escaped, block.columns))} |"
    yield "|" + "|".join("---:" if place in block.numbers else "---" for place in range(len(block.columns))) + "|"
    for row in block.rows:
        yield f"| {' | '.join(map(_cell, row))} |"
    yield ""


def _cell(words: Line) -> str:
    """Return a line in which no bar ends a cell; outside of code they are escaped already."""
    return "".join(_line((one,)).replace("|", r"\|") if one[1] == "code" else _line((one,)) for one in words)
