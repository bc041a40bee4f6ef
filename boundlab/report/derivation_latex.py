"""A derivation as a fragment of LaTeX, for which amsmath is enough."""

from boundlab.arithmetic.writing import Sentence, tex
from boundlab.exact import Chain, Derivation, Item, Table
from boundlab.report.latex_parts import fitted, table

_NARROW = 28  # letters of a column that is not broken
_WIDE = 0.3  # of the line, for a column that is


def derivation_latex(derivation: Derivation, *, fit: bool = False) -> str:
    """Return sections with lists, tables and aligned equations.

    Parameters
    ----------
    fit
        Whether tables and equations are made as narrow as the line, for which amsmath is not enough; see
        :mod:`boundlab.report.latex_parts`.
    """
    lines: list[str] = []
    for section in derivation.sections:
        lines.append(rf"\paragraph{{{tex(section.title)}}}")
        open_list = False
        for item in section.items:
            listed = isinstance(item, Sentence)
            if listed != open_list:
                lines.append(rf"\{'begin' if listed else 'end'}{{itemize}}")
                open_list = listed
            lines += _lines(item, fit)
        if open_list:
            lines.append(r"\end{itemize}")
    return "\n".join(lines)


def _lines(item: Item, fit: bool) -> list[str]:
    match item:
        case Sentence():
            return [rf"\item {item.latex}"]
        case Table():
            return _fitted(item) if fit else _table(item)
        case Chain():
            return fitted(_links(item), "aligned") if fit else [r"\begin{align*}", _links(item), r"\end{align*}"]


def _table(table: Table) -> list[str]:
    wide = [max(len(row[place].text) for row in table.rows) > _NARROW for place in range(len(table.columns))]
    columns = "".join(rf"p{{{_WIDE}\linewidth}}" if one else "l" for one in wide)
    rows = [" & ".join(entry.latex for entry in row) + r" \\" for row in table.rows]
    head = " & ".join(column.latex for column in table.columns)
    return [
        r"\begin{center}", rf"\begin{{tabular}}{{{columns}}}", rf"{head} \\ \hline", *rows,
        r"\end{tabular}", r"\end{center}",
    ]  # fmt: skip


def _fitted(one: Table) -> list[str]:
    texts = [[column.text for column in one.columns], *([entry.text for entry in row] for row in one.rows)]
    letters = [max(len(row[place]) for row in texts) for place in range(len(one.columns))]
    head, rows = [column.latex for column in one.columns], [[entry.latex for entry in row] for row in one.rows]
    return list(table(head, rows, letters))


def _links(chain: Chain) -> str:
    rows = [
        f"{'' if place else chain.first.latex} &{sign} {piece.latex}"
        for place, (_, sign, piece) in enumerate(chain.links)
    ]
    return (r" \\" + "\n").join(rows)
