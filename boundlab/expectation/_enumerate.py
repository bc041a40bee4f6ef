"""The expectation over all event sequences of AREA in floating point: equal states are merged after every event.

A state is (x_s; x_1 … x_n; y_1 … y_n): u is mean(y) − x_s (Appendix A). Clients with the same function and the same
probability may change places, and what no later event reads is forgotten.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms.area import AreaParameters
from boundlab.errors import SpecError
from boundlab.events import SERVER
from boundlab.execute.kinks import jumps, require_apart
from boundlab.expectation._law import EventLaw
from boundlab.expectation._twins import twins
from boundlab.metrics import Metric
from boundlab.objective import Problem

Floats = NDArray[np.float64]
LARGEST = 4 * 10**7  # entries of all states of one event: 320 MB


def expectation(
    problem: Problem,
    parameters: AreaParameters,
    law: EventLaw[float],
    metric: Metric,
    ks: NDArray[np.int64],
    largest: int = LARGEST,
) -> Floats:
    """Return E metric after each of ``ks`` iterations, shape (points,): a float, exact up to rounding.

    Raises
    ------
    SpecError
        If there are too many different states.
    UndecidedError
        If rounding could decide on which side of a kink an iterate lies.
    """
    function = _AtPoints(problem)
    found = {}
    wanted = set(ks.tolist())
    for k, weights, points in _walk(problem, parameters, law, metric.over.averages_iterates, int(ks.max()), largest):
        if k in wanted:
            found[k] = float(weights @ metric.at(function, points))
    return np.array([found[k] for k in ks.tolist()])


@final
@dataclass(frozen=True, slots=True)
class _AtPoints:
    """The quantities of a problem at many points, shape (S,) for points of shape (S, d)."""

    problem: Problem

    def squared_distance(self, points: Floats) -> Floats:
        return np.asarray(((points - self.problem.optimum().x) ** 2).sum(axis=1))

    def gap(self, points: Floats) -> Floats:
        return np.maximum(self.problem.values(points) - self.problem.optimum().value, 0.0)

    def squared_slope(self, points: Floats) -> Floats:
        slopes = sum(self.problem.gradients(client, points) for client in range(self.problem.n)) / self.problem.n
        return np.asarray((np.asarray(slopes) ** 2).sum(axis=1))


def _walk(
    problem: Problem, parameters: AreaParameters, law: EventLaw[float], average: bool, last: int, largest: int
) -> Iterator[tuple[int, Floats, Floats]]:
    """Give (k, probabilities, points) for k = 0 (1 for averages) … last."""
    states = _States(problem, parameters, law, average)
    if not average:
        yield 0, states.weights, states.x_s
    for event in range(last):
        if average:
            states.add()
            yield event + 1, states.weights, states.total / (event + 1)
        # How many events follow, this one included, whose outcome the last point depends on.
        ahead = last - event - average
        if ahead > 0:
            states.advance(event, ahead, largest)
        if not average:
            yield event + 1, states.weights, states.x_s


class _States:
    """All states that can be reached, one a row, with their probabilities."""

    def __init__(self, problem: Problem, parameters: AreaParameters, law: EventLaw[float], average: bool) -> None:
        self.problem, self.parameters, self.law = problem, parameters, law
        self.n, self.d = problem.n, problem.d
        self.width = (2 * self.n + 1) * self.d
        self.twins = twins(problem, law.p)
        self.sharp, self.steps = jumps(problem), 0
        x0 = np.asarray(problem.x0, dtype=np.float64)
        row = np.tile(x0, 2 * self.n + 1 + average)[None, :]
        row[:, self.width :] = 0.0
        if parameters.start == "algorithm":
            for client in range(self.n):
                row[:, self._x(client)] = self._descend(row, client, 0)
        # With reply=post, who is answered only after the aggregation; −1 where nobody waits.
        self.rows, self.waiting = row, np.full(1, -1)
        self.weights: Floats = np.ones(1)

    @property
    def x_s(self) -> Floats:
        return self.rows[:, : self.d]

    @property
    def total(self) -> Floats:
        return self.rows[:, self.width :]

    def _x(self, client: int) -> slice:
        return slice((1 + client) * self.d, (2 + client) * self.d)

    def _y(self, client: int) -> slice:
        return slice((1 + self.n + client) * self.d, (2 + self.n + client) * self.d)

    def add(self) -> None:
        """Add x_s to the ergodic sums."""
        self.rows[:, self.width :] += self.x_s

    def _descend(self, rows: Floats, client: int, k: int) -> Floats:
        step_size = float(self.parameters.step.at(np.array(k)))
        x = rows[:, : self.d].copy()
        for step in range(self.parameters.M):
            if self.sharp:
                size = float(np.abs(rows).max(initial=np.abs(x).max()))
                require_apart(self.problem, client, x, self.steps + step + self.n, size)
            x -= step_size * self.problem.gradients(client, x)
        return x

    def advance(self, event: int, ahead: int, largest: int) -> None:
        """Let everybody who can act in this event do so."""
        choices = self.law.at(event)
        self.steps += self.parameters.M + self.n
        size = len(self.rows) * len(choices) * self.rows.shape[1]
        if size > largest:
            raise SpecError(
                f"enumeration reaches {len(self.rows) * len(choices)} states at k = {event + 1}, which is too many; "
                "take fewer iterations or clients"
            )
        parts, waits = [], []
        step = self.parameters.answers_with(event)
        held = self.parameters.reply == "post" and self.law.completes(event)
        for actor, _ in choices:
            rows, waiting = self.rows.copy(), self.waiting
            if actor == SERVER:
                ys = rows[:, self._y(0).start : self.width].reshape(len(rows), self.n, self.d)
                rows[:, : self.d] = ys.mean(axis=1)
                for client in np.unique(waiting[waiting >= 0]).tolist():
                    mine = waiting == client
                    rows[mine, self._x(client)] = self._descend(rows[mine], client, step)
                waiting = np.full(len(rows), -1)
            else:
                rows[:, self._y(actor)] = rows[:, self._x(actor)]
                if held:
                    waiting = np.full(len(rows), actor)
                elif ahead > 2:
                    rows[:, self._x(actor)] = self._descend(rows, actor, step)
            parts.append(rows)
            waits.append(waiting)
        weights = np.concatenate([self.weights * share for _, share in choices])
        self._merge(np.concatenate(parts), weights, np.concatenate(waits), ahead - 1)

    def _merge(self, rows: Floats, weights: Floats, waiting: NDArray[np.int64], ahead: int) -> None:
        # An answer is read by an aggregation at the earliest two events later.
        if ahead <= 1 and self.parameters.reply == "pre":
            rows[:, self._x(0).start : self._y(0).start] = 0.0
        if ahead == 0:
            rows[:, self._y(0).start : self.width] = 0.0
        if (waiting < 0).all():
            self._sort_twins(rows)
        rows += 0.0  # −0 becomes 0
        first, which = _equal(np.concatenate([rows, waiting[:, None].astype(np.float64)], axis=1))
        self.rows, self.waiting = rows[first], waiting[first]
        self.weights = np.asarray(np.bincount(which, weights, minlength=len(first)), dtype=np.float64)

    def _sort_twins(self, rows: Floats) -> None:
        both = rows[:, self.d : self.width].reshape(len(rows), 2, self.n, self.d)
        for group in self.twins:
            pair = both[:, :, group, :]  # (S, 2, m, d)
            keys = pair.transpose(1, 3, 0, 2).reshape(2 * self.d, len(rows), len(group))
            order = np.asarray(np.lexsort(keys, axis=-1))
            both[:, :, group, :] = np.take_along_axis(pair, order[:, None, :, None], axis=2)


def _equal(rows: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return one row of each class of equal rows, and the class of every row."""
    bits: Any = np.ascontiguousarray(rows).view(np.uint64)
    factors = np.random.Generator(np.random.Philox(1)).integers(0, 2**63, rows.shape[1], dtype=np.uint64) * 2 + 1
    mixed = bits ^ (bits >> np.uint64(29))
    with np.errstate(over="ignore"):
        keys = ((mixed * factors) ^ ((mixed * factors) >> np.uint64(32))).sum(axis=1, dtype=np.uint64)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    if (bits[first[which]] != bits).any():  # two different rows with one key
        _, first, which = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    return first, which.reshape(-1)
