"""Points of a semidefinite program, combinations of names: one tape on them, and all sequences of events."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol, TypeAlias, final

import numpy as np

from boundlab.algorithms import EventLaw, EventProgram
from boundlab.arithmetic.rational import meant
from boundlab.execute import Combine, Numbers, Show, Update, rows, starts
from boundlab.expectation._enumeration import looked_at
from boundlab.expectation._graph import Arithmetic
from boundlab.expectation._walk import ListedValues, Walk
from boundlab.metrics import Metric
from boundlab.randomness import Ints
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


# All event sequences at once on combinations of names: what they share is done once, and equal states are one.


def shown(
    program: EventProgram,
    law: EventLaw[Fraction],
    metric: Metric,
    k: int,
    start: Point,
    oracle: PointOracle,
) -> list[tuple[Point, Fraction]]:
    """Return what all runs of ``k`` iterations show for the left side, with the weight of each point in it.

    Parameters
    ----------
    start
        The point x0.
    oracle
        Gradients, as points.

    Raises
    ------
    SpecError
        If there are too many states.
    """
    graph, values = looked_at(Arithmetic(program, meant), law, (), metric, np.array([k])), _PointValues(start, oracle)
    terms = graph.terms
    shares = dict(zip(terms, metric.over.shares(len(terms)) or (), strict=True))
    out: list[tuple[Point, Fraction]] = []

    def observe(place: int, numbers: Ints, weights: Any, whole: Any) -> None:
        for number, weight in zip(numbers.tolist(), weights.tolist(), strict=True):
            point = values.points[number]
            if terms[place] != 1:
                point = combine([(1 / terms[place], point)])
            out.append((point, shares[place] * Fraction(weight, whole)))

    Walk(graph, values, exact=True).run(observe)
    return out


@final
class _PointValues(ListedValues[Fraction]):
    """Combinations of names under numbers."""

    def __init__(self, start: Point, oracle: PointOracle) -> None:
        super().__init__(key)
        self._oracle = oracle
        self.start, self.zero = self._put(start), self._put({})

    def combine(self, coefficients: Sequence[Fraction], terms: Ints) -> Ints:
        """Return Σ coefficient·point."""
        each = (zip(coefficients, (self.points[one] for one in row), strict=True) for row in terms.tolist())
        return self._numbers(map(combine, each))

    def descend(self, client: int, size: Fraction, at: Ints) -> Ints:
        """Return one step from each point."""
        points = [self.points[number] for number in at.tolist()]
        steps = [(-size, self._oracle.gradient(client, point)) for point in points]
        return self._numbers([combine([(Fraction(1), point), step]) for point, step in zip(points, steps, strict=True)])
