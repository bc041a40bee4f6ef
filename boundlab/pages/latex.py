"""Pages as LaTeX, to be read into a document that loads amsmath, amssymb, graphicx and longtable."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from boundlab.arithmetic.writing import breakable
from boundlab.errors import visible
from boundlab.pages import blocks as kinds
from boundlab.pages.blocks import Block, FormulaBlock, Line, Piece, Rows, plain

# A display that is wider than the line becomes as wide as the line.
_FIT: Final = r"""\providecommand{\boundlabfit}[1]{\begin{center}\sbox0{$\displaystyle #1$}%
\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi\end{center}}"""
_MARKS: Final = {
    "strong": r"\textbf",
    "good": r"\textbf",
    "bad": r"\textbf",
    "open": r"\textbf",
    "mark": r"\emph",
    "code": r"\texttt",
    "command": r"\texttt",
    "note": r"\emph",
}
_TABLE = 0.92  # of the line, for all columns
_LETTER = 0.018  # of the line, for a letter at most
_LEAST, _WIDEST = 8, 50  # letters of a column
_SIDES: Final = {True: r"\raggedleft ", False: r"\raggedright "}
_BROKEN = r"p{0.3\linewidth}"


def latex(title: Line, blocks: Iterable[Block]) -> str:
    """Return a page with its title; what HTML folds away is there, too, and nothing is wider than the line."""
    head = (r"{\raggedright\sloppy", _FIT, rf"\section*{{{_line(title)}}}")
    return "\n".join((*head, *_Page(fit=True).blocks(blocks), r"\par}")) + "\n"


def plain_latex(blocks: Iterable[Block]) -> str:
    """Return a page for which amsmath is enough: its tables and equations are as wide as they are."""
    return "\n".join(_Page(fit=False).blocks(blocks))


def _text(text: str) -> str:
    return breakable(visible(text)).replace("\n", " ")


def _piece(one: Piece) -> str:
    found = one.latex or _text(one.text)
    return f"{_MARKS[one.tone]}{{{found}}}" if one.tone in _MARKS else found


def _line(words: Line) -> str:
    return "".join(map(_piece, words))


class _Page:
    """Blocks of one page; ``fit``: made as narrow as the line."""

    def __init__(self, *, fit: bool) -> None:
        self._fit = fit

    def blocks(self, blocks: Iterable[Block]) -> Iterator[str]:
        """Yield the lines."""
        for block in blocks:
            match block:
                case kinds.Words():
                    yield from (_line(block.words), "") if block.words else ()
                case kinds.Points():
                    yield from _list(block.points)
                case kinds.FormulaBlock():
                    yield from self._formulas(block)
                case kinds.Rows():
                    yield from (_fitted(block) if self._fit else _plain(block)) if block.columns else ()
                case kinds.Commands():
                    yield from _quoted((rf"\texttt{{{_text(one)}}}" for one in block.commands), r"\footnotesize")
                case kinds.Chart():
                    yield from (rf"\emph{{{_text(block.description)}}}", "")
                case kinds.Part() | kinds.Fold():
                    yield from (rf"\paragraph{{{_text(block.title)}}}", *self.blocks(block.blocks))
                case kinds.Section():
                    yield from (rf"\subsection*{{{_text(block.title)}}}", *self.blocks(block.blocks))

    def _formulas(self, block: FormulaBlock) -> Iterator[str]:
        shape = "gathered" if len(block.rows[0]) == 1 else "aligned"
        if not block.latex:
            yield from _quoted(map(_text, block.texts))
        elif self._fit:
            yield from (rf"\boundlabfit{{\begin{{{shape}}}", visible(block.latex), rf"\end{{{shape}}}}}")
        else:
            yield from (r"\begin{align*}", block.latex, r"\end{align*}")


def _list(points: Sequence[Line]) -> Iterator[str]:
    if points:
        yield from (r"\begin{itemize}", *(rf"\item {_line(one)}" for one in points), r"\end{itemize}")


def _quoted(lines: Iterable[str], size: str = "") -> Iterator[str]:
    yield from (rf"\begin{{quote}}{size}\raggedright", *(rf"{one}\par" for one in lines), r"\end{quote}")


def _fitted(block: Rows) -> Iterator[str]:
    """Yield a table that goes on over pages; the longest entries share the line."""
    longest = [max(block.letters(place), len(plain(head))) for place, head in enumerate(block.columns)]
    counts = [min(max(count + 2, _LEAST), _WIDEST) for count in longest]
    # As the roots, so that short words fit beside long texts.
    roots = [count**0.5 for count in counts]
    shares = [min(_TABLE * root / sum(roots), _LETTER * count) for root, count in zip(roots, counts, strict=True)]
    columns = "".join(rf"p{{{share:.3f}\linewidth}}" for share in shares)

    def row(cells: Iterable[Line]) -> str:
        found = (_SIDES[place in block.numbers] + _line(one) for place, one in enumerate(cells))
        return " & ".join(found) + r" \tabularnewline"

    yield r"{\footnotesize\setlength{\tabcolsep}{3pt}\renewcommand{\arraystretch}{1.2}"
    yield rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}"
    yield row(block.columns) + r" \hline \endhead"
    yield from map(row, block.rows)
    yield r"\end{longtable}}"


def _plain(block: Rows) -> Iterator[str]:
    places = range(len(block.columns))
    columns = "".join("l" if block.narrow(place) else _BROKEN for place in places)
    yield from (r"\begin{center}", rf"\begin{{tabular}}{{{columns}}}")
    yield " & ".join(map(_line, block.columns)) + r" \\ \hline"
    yield from (" & ".join(map(_line, row)) + r" \\" for row in block.rows)
    yield from (r"\end{tabular}", r"\end{center}")
