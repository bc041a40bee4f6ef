"""How the values of a bound are shown: plain text, since ``boundlab eval`` must start fast."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boundlab.theorems.grid import EvaluatedGrid

_ROWS = 200


def values_page(result: "EvaluatedGrid", terms: bool) -> Iterator[str]:
    """Yield the lines of ``boundlab eval``."""
    evaluation = result.evaluation
    names = list(evaluation.terms) if terms else []
    yield f"{result.theorem.id} ({result.theorem.status})"
    derived = [
        f"{name} = {float(array.reshape(-1)[0]):.4g}" for name, array in evaluation.derived.items() if array.size == 1
    ]
    if derived:
        yield "with " + ", ".join(derived)
    total = result.column(evaluation.total)
    if result.values.shape:
        header = [*result.axes, *names, evaluation.kind]
        columns = [*result.axes.values(), *(result.column(evaluation.terms[name]) for name in names), total]
        rows = zip(*(column[:_ROWS].tolist() for column in columns), strict=True)
        yield from _aligned([header, *([f"{value:.6g}" for value in row] for row in rows)])
        if len(total) > _ROWS:
            yield f"… {len(total) - _ROWS} more rows; --csv or --json gives all"
    else:
        shown = [[name, f"{result.column(evaluation.terms[name])[0]:.6g}"] for name in names]
        yield from _aligned([*shown, [evaluation.kind, f"{total[0]:.6g}"]])
    if evaluation.kind == "shape":
        yield "a shape: each term has an unknown constant in the paper, taken as 1 here"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        first = row[0].ljust(widths[0])
        yield "  ".join([first, *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])
