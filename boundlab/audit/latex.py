"""The page as LaTeX, to be read into a document that loads amsmath and amssymb."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from boundlab.arithmetic.writing import tex
from boundlab.audit._blocks import Block, Chart, Commands, Fold, Formulas, Line, Points, Rows, Way, Words, visible
from boundlab.audit._sections import sections
from boundlab.report.derivation_latex import derivation_latex

if TYPE_CHECKING:
    from boundlab.audit._evidence import Evidence

_MARKS = {
    "strong": r"\textbf", "good": r"\textbf", "bad": r"\textbf", "open": r"\textbf", "mark": r"\emph",
    "code": r"\texttt",
}  # fmt: skip


def latex(audit: "Evidence") -> str:
    """Return the sections; what a page of HTML folds away stands in the order of the page."""
    lines = [rf"\section*{{Audit of \texttt{{{_text(visible(audit.theorem.id))}}}}}"]
    for section in sections(audit):
        lines += [rf"\subsection*{{{_text(section.title)}}}", *_blocks(section.blocks)]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    return tex(" ".join(text.split(" "))).replace("\n", " ")


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
            case Formulas() if block.latex:
                yield from (r"\begin{gather*}", block.latex, r"\end{gather*}")
            case Formulas():
                yield from (r"\begin{quote}", r"\\".join(map(_text, block.texts)), r"\end{quote}")
            case Rows():
                yield from _table(block)
            case Commands():
                yield r"\begin{quote}\footnotesize\raggedright"
                yield from (rf"\texttt{{{_text(one)}}}\par" for one in block.commands)
                yield r"\end{quote}"
            case Way():
                yield derivation_latex(block.derivation)
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
    width = f"{0.92 / len(block.columns):.3f}"
    columns = "".join(
        "r" if place in block.numbers else rf"p{{{width}\linewidth}}" for place in range(len(block.columns))
    )
    yield rf"\begin{{center}}\footnotesize\begin{{tabular}}{{{columns}}}"
    yield " & ".join(map(_text, block.columns)) + r" \\ \hline"
    yield from (" & ".join(map(_line, row)) + r" \\" for row in block.rows)
    yield r"\end{tabular}\end{center}"
