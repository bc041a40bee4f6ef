"""The executor whose registers are combinations of names: the points of a semidefinite program."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from boundlab.arithmetic.rational import meant
from boundlab.execute._rows import Combine, Numbers, Show, Update, rows, starts
from boundlab.tape import Tape

Point: TypeAlias = Mapping[int, Fraction]
"""Σ weight·u_i over vectors u_0, u_1, … of which nothing is known; weights 0 are left out."""


class PointOracle(Protocol):
    """Oracle of the gradients: points in, points out."""

    def gradient(self, client: int, point: Point) -> Point:
        """Return a (sub)gradient of f_client at a point; the same one at the same point."""

    def proximal(self, client: int, point: Point, step_size: Fraction) -> Point:
        """Return prox_{step_size·f_client}(point); the same one for the same point and step size."""


def run(tape: Tape, start: Point, oracle: PointOracle, observe: Callable[[int, Point], None]) -> None:
    """Execute a tape on points.

    Parameters
    ----------
    tape
        The program; its numbers are read as the fractions that they stand for.
    start
        What START registers hold.
    oracle
        Gradients, as points.
    observe
        Called as observe(m, point) for record m.
    """
    registers: list[Any] = starts(tape, start, {})
    for row in rows(tape, Numbers(*(list(map(meant, part)) for part in tape.recipes()))):
        match row:
            case Combine(dst, terms):
                registers[dst] = combine((coefficient, registers[source]) for coefficient, source in terms)
            case Update():
                point = registers[row.src]
                for size in row.sizes:
                    if row.implicit:
                        point = oracle.proximal(row.client, point, size)
                    else:
                        point = combine([(Fraction(1), point), (-size, oracle.gradient(row.client, point))])
                registers[row.dst] = point
            case Show():
                observe(row.row, registers[row.src])


def combine(terms: Iterable[tuple[Fraction, Point]]) -> Point:
    """Return Σ coefficient·point, without the names that cancel."""
    total: dict[int, Fraction] = {}
    for scale, point in terms:
        for name, weight in point.items():
            share = weight if scale == 1 else scale * weight
            total[name] = total[name] + share if name in total else share
    return {name: weight for name, weight in total.items() if weight}


def key(point: Point) -> frozenset[tuple[int, Fraction]]:
    """Return what two points have in common exactly if they are the same combination."""
    return frozenset(point.items())
