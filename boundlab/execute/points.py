"""The executor whose registers are PEPit points."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol

from boundlab.arithmetic.rational import Exact, exact, fraction
from boundlab.execute._rows import Combine, Numbers, Show, Update, rows, starts
from boundlab.tape import Tape


class PointOracle(Protocol):
    """Oracle of the gradients: points in, points out."""

    def gradient(self, client: int, point: Any) -> Any:
        """Return a (sub)gradient of f_client at a point; the same one at the same point."""

    def proximal(self, client: int, point: Any, step_size: Exact) -> Any:
        """Return prox_{step_size·f_client}(point); the same one for the same point and step size."""


def run(
    tape: Tape,
    start: Any,
    oracle: PointOracle,
    observe: Callable[[int, Any], None],
) -> None:
    """Execute a tape on points.

    Parameters
    ----------
    tape
        The program; its numbers are read as the fractions that they stand for.
    start
        The PEPit point that START registers hold.
    oracle
        Gradients, as points.
    observe
        Called as observe(m, point) for record m.
    """
    kind = type(start)
    registers: list[Any] = starts(tape, start, kind(is_leaf=False, decomposition_dict={}))
    for row in rows(tape, Numbers(*(list(map(exact, part)) for part in tape.recipes()))):
        match row:
            case Combine(dst, terms):
                registers[dst] = combine(kind, [(coefficient, registers[source]) for coefficient, source in terms])
            case Update():
                point = registers[row.src]
                for size in row.sizes:
                    if row.implicit:
                        point = oracle.proximal(row.client, point, size)
                    else:
                        step = (-size, oracle.gradient(row.client, point))
                        point = combine(kind, [(Exact(1), point), step])
                registers[row.dst] = point
            case Show():
                observe(row.row, registers[row.src])


def combine(kind: Any, terms: list[tuple[Exact, Any]]) -> Any:
    """Return Σ coefficient·point, without the terms that cancel."""
    total: dict[Any, Fraction] = {}
    for coefficient, point in terms:
        scale = coefficient.value
        for leaf, weight in point.decomposition_dict.items():
            share = fraction(weight) if scale == 1 else scale * fraction(weight)
            total[leaf] = total[leaf] + share if leaf in total else share
    return kind(is_leaf=False, decomposition_dict={leaf: Exact(weight) for leaf, weight in total.items() if weight})


def key(point: Any) -> frozenset[tuple[int, Exact]]:
    """Return what two points have in common exactly if they are the same combination of leaves."""
    weights: Mapping[Any, Any] = point.decomposition_dict
    return frozenset((leaf.counter, weight) for leaf, weight in weights.items())
