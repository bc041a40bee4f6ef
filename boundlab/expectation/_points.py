"""All event sequences at once on PEPit points: what they share is done once, and equal states are one."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import EventLaw, EventProgram
from boundlab.arithmetic.pepit import Exact, exact
from boundlab.execute.points import PointOracle, combine, key
from boundlab.expectation._enumeration import looked_at
from boundlab.expectation._graph import Arithmetic
from boundlab.expectation._live import pruned
from boundlab.expectation._values import VectorTable
from boundlab.expectation._walk import Walk
from boundlab.metrics import Metric

Ints = NDArray[np.int64]


def shown(
    program: EventProgram,
    law: EventLaw[Fraction],
    metric: Metric,
    k: int,
    start: Any,
    oracle: PointOracle,
) -> list[tuple[Any, Exact]]:
    """Return what all runs of ``k`` iterations show for the left side, with the weight of each point in it.

    Parameters
    ----------
    start
        The PEPit point x0.
    oracle
        Gradients, as points.

    Raises
    ------
    SpecError
        If there are too many states.
    """
    graph, seen, terms = looked_at(Arithmetic(program, exact), law, (), metric, np.array([k]))
    values, shares = _PointValues(start, oracle), dict(zip(terms, metric.over.shares(len(terms)) or (), strict=True))
    out: list[tuple[Any, Exact]] = []

    def observe(place: int, numbers: Ints, weights: Any, whole: Any) -> None:
        for number, weight in zip(numbers.tolist(), weights.tolist(), strict=True):
            point = values.points[number]
            if terms[place] != 1:
                point = combine(type(point), [(Exact(1 / terms[place]), point)])
            out.append((point, Exact(shares[place] * Fraction(weight, whole))))

    Walk(pruned(graph, seen), values, seen, exact=True).run(observe)
    return out


@final
class _PointValues(VectorTable[Exact]):
    """PEPit points under numbers."""

    noisy = False

    def __init__(self, start: Any, oracle: PointOracle) -> None:
        self._kind, self._oracle = type(start), oracle
        self.points: list[Any] = []
        self._number: dict[Any, int] = {}
        self.start = self._put(start)
        self.zero = self._put(combine(self._kind, []))

    def __len__(self) -> int:
        return len(self.points)

    def _put(self, point: Any) -> int:
        number = self._number.setdefault(key(point), len(self.points))
        if number == len(self.points):
            self.points.append(point)
        return number

    def combine(self, coefficients: Sequence[Exact], terms: Ints) -> Ints:
        """Return Σ coefficient·point."""
        rows = terms.tolist()
        found = [
            combine(self._kind, [(share, self.points[one]) for share, one in zip(coefficients, row, strict=True)])
            for row in rows
        ]
        return np.array([self._put(point) for point in found], dtype=np.int64)

    def descend(self, client: int, size: Exact, at: Ints) -> Ints:
        """Return one step from each point."""
        out = []
        for number in at.tolist():
            point = self.points[number]
            step = (-size, self._oracle.gradient(client, point))
            out.append(self._put(combine(self._kind, [(Exact(1), point), step])))
        return np.array(out, dtype=np.int64)

    def noise(self, size: Exact, at: Ints, sign: int) -> Ints:
        """Return the points: the worst function has full gradients."""
        return at

    def total(self, metric: Metric, at: Ints, weights: Any, whole: Any, terms: Fraction) -> Any:
        """Return nothing: what is shown goes into a program."""
        return None

    def keep(self, used: Ints) -> None:
        """Forget all others."""
        points, self.points, self._number = [self.points[number] for number in used.tolist()], [], {}
        for point in points:
            self._put(point)
