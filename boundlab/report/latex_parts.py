"""Tables and displays of LaTeX that are no wider than the line, with graphicx and longtable."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

# A display that is wider than the line becomes as wide as the line.
FIT: Final = r"""\providecommand{\boundlabfit}[1]{\begin{center}\sbox0{$\displaystyle #1$}%
\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi\end{center}}"""
_TABLE = 0.92  # of the line, for all columns
_LETTER = 0.018  # of the line, for a letter at most
_LEAST, _WIDEST = 8, 50  # letters of a column
_SIDES = {True: r"\raggedleft ", False: r"\raggedright "}


def fitted(formulas: str, environment: str) -> list[str]:
    """Return a display of ``gathered`` or ``aligned`` formulas, in a document that has read :data:`FIT`."""
    return [rf"\boundlabfit{{\begin{{{environment}}}", formulas, rf"\end{{{environment}}}}}"]


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], letters: Sequence[int], numbers: Iterable[int] = ()
) -> Iterator[str]:
    """Yield a table that goes on over pages.

    Parameters
    ----------
    head, rows
        In LaTeX.
    letters
        How long the longest cell of each column is, and its head; this shares the line among them.
    numbers
        Which columns hold numbers.
    """
    counts = [min(max(count + 2, _LEAST), _WIDEST) for count in letters]
    # As the roots, so that short words fit beside long texts.
    roots = [count**0.5 for count in counts]
    shares = [min(_TABLE * root / sum(roots), _LETTER * count) for root, count in zip(roots, counts, strict=True)]
    columns = "".join(rf"p{{{share:.3f}\linewidth}}" for share in shares)
    right = frozenset(numbers)

    def row(cells: Iterable[str]) -> str:
        return " & ".join(_SIDES[place in right] + one for place, one in enumerate(cells)) + r" \tabularnewline"

    yield r"{\footnotesize\setlength{\tabcolsep}{3pt}\renewcommand{\arraystretch}{1.2}"
    yield rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}"
    yield row(head) + r" \hline \endhead"
    yield from map(row, rows)
    yield r"\end{longtable}}"
