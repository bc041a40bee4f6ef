"""The page as LaTeX, to be read into a document that loads amsmath, amssymb, graphicx and longtable."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from boundlab.arithmetic.writing import breakable
from boundlab.audit._blocks import Block, Chart, Commands, Fold, FormulaBlock, Line, Points, Rows, Way, Words
from boundlab.audit._sections import sections
from boundlab.errors import visible
from boundlab.report.derivation_latex import derivation_latex
from boundlab.report.latex_parts import FIT, fitted, table

if TYPE_CHECKING:
    from boundlab.audit._evidence import Evidence

_MARKS = {
    "strong": r"\textbf", "good": r"\textbf", "bad": r"\textbf", "open": r"\textbf", "mark": r"\emph",
    "code": r"\texttt",
}  # fmt: skip


def latex(audit: "Evidence") -> str:
    """Return the sections; what a page of HTML folds away stands in the order of the page."""
    lines = [r"{\raggedright\sloppy", FIT, rf"\section*{{Audit of \texttt{{{_text(visible(audit.theorem.id))}}}}}"]
    for section in sections(audit):
        lines += [rf"\subsection*{{{_text(section.title)}}}", *_blocks(section.blocks)]
    return "\n".join([*lines, r"\par}"]) + "\n"


def _text(text: str) -> str:
    return breakable(text).replace("\n", " ")


def _line(words: Line) -> str:
    return "".join(f"{_MARKS[tone]}{{{_text(text)}}}" if tone in _MARKS else _text(text) for text, tone in words)


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Words():
                yield from (_line(block.words), "")
            case Points() if block.points:
                yield r"\begin{itemize}"
                yield from (rf"\item {_line(one)}" for one in block.points)
                yield r"\end{itemize}"
            case FormulaBlock() if block.latex:
                yield from fitted(block.latex, "gathered")
            case FormulaBlock():
                yield r"\begin{quote}\raggedright"
                yield from (rf"{_text(one)}\par" for one in block.texts)
                yield r"\end{quote}"
            case Rows():
                yield from _table(block)
            case Commands():
                yield r"\begin{quote}\footnotesize\raggedright"
                yield from (rf"\texttt{{{_text(one)}}}\par" for one in block.commands)
                yield r"\end{quote}"
            case Way():
                yield derivation_latex(block.derivation, fit=True)
            case Chart():
                yield from (rf"\emph{{{_text(block.description)}}}", "")
            case Fold():
                yield rf"\paragraph{{{_text(block.title)}}}"
                yield from _blocks(block.blocks)
            case _:
                pass


def _table(block: Rows) -> Iterator[str]:
    if not block.columns:
        return
    texts = [block.columns, *(["".join(text for text, _ in cell) for cell in row] for row in block.rows)]
    letters = [max(len(row[place]) for row in texts) for place in range(len(block.columns))]
    yield from table([*map(_text, block.columns)], [[*map(_line, row)] for row in block.rows], letters, block.numbers)
