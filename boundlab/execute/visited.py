"""Gradients where a run takes them: along local steps, at server models, on segments; as floats and from above."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import VirtualIterate
from boundlab.execute import enclosed
from boundlab.execute._rows import own_numbers
from boundlab.execute.enclosed import EPS, UNKNOWN, Point, norm
from boundlab.execute.iterates import Iterates, Steps
from boundlab.objective import Array, Problem
from boundlab.tape import Op, Record, Tape

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BLOCK: Final = 256  # points whose gradients are taken together
_PARTS: Final = 16  # of a segment


@final
@dataclass(frozen=True, slots=True)
class Gradients:
    """Norms of gradients along a run; of each the number that floats give, and one that is no less than without rounding.

    Parameters
    ----------
    steps
        Shape (2, runs): the largest ‖∇f_i‖ at the local steps of each row of :class:`boundlab.tape.Descend`.
    apart, spread
        Shape (2, points): the largest ‖∇f_i − ∇F‖, and the root of the mean of their squares, at each point of the path:
        w[0], w[1], …, or those of the virtual iterate.
    segments
        Shape (2,): no less than ‖∇f_i‖, for every i, on the segments from w[0] to the first points of the path.
    """

    steps: Floats
    apart: Floats
    spread: Floats
    segments: Floats


def visit(
    problem: Problem, tape: Tape, weights: Sequence[Fraction], virtual: VirtualIterate | None, window: int
) -> Gradients:
    """Run a tape with full gradients, and look at the gradients that a theorem along the run bounds.

    Parameters
    ----------
    weights
        p of the objective F = Σ p_i f_i.
    virtual
        The path in place of the server models; None: these.
    window
        How many points of the path, from the first on, segments lead to.
    """
    shown = at_versions(tape)
    runs = len(tape.descend.dst)
    steps, path = np.zeros((2, runs)), _Path(problem, np.array([float(one) for one in weights]), window)
    waiting = None if virtual is None else _Virtual(path, virtual)

    def watch(row: int, found: Steps) -> None:
        steps[:, row] = found.largest
        if waiting is not None:
            waiting.take(row, found)

    def observe(row: int, point: Point[Array]) -> None:
        if waiting is None:
            path.add(point.value, point.error)
        elif row == 0:
            waiting.start(point.value)

    with np.errstate(over="ignore", invalid="ignore"):
        enclosed.run(shown, own_numbers(shown), Iterates(shown, problem, problem.full_gradients(), watch), observe)
        return path.gradients(steps)


def at_versions(tape: Tape) -> Tape:
    """Return the tape with a record of each server model, and no others."""
    kept = tape.op != Op.RECORD
    op, row, event = tape.op[kept], tape.row[kept], tape.event[kept]
    versions = np.arange(tape.iterations + 1)
    last = np.searchsorted(tape.version, versions) - 1  # the event that makes each version; −1 makes the first
    places = np.searchsorted(event, last, side="right")
    places[0] = 0
    times = np.where(last < 0, 0.0, tape.events.time[np.maximum(last, 0)]) if len(tape.events) else np.zeros(1)
    return replace(
        tape,
        op=np.insert(op, places, Op.RECORD),
        row=np.insert(row, places, versions),
        event=np.insert(event, places, last),
        record=Record(np.full(len(versions), tape.server), versions, versions, times),
    )


@final
class _Virtual:
    """A path that moves by the results of runs, in an order of its own."""

    def __init__(self, path: "_Path", virtual: VirtualIterate) -> None:
        self._path, self._virtual, self._next = path, virtual, 0
        self._held: dict[int, tuple[Array, float]] = {}
        self._wanted = set(virtual.runs.tolist())
        self._value, self._error = np.zeros(0), 0.0

    def start(self, value: Array) -> None:
        """Begin at w[0], which is exact."""
        self._value = np.array(value, dtype=np.float64)
        self._path.origin = self._value
        if self._virtual.before == 0:
            self._path.add(self._value, 0.0)

    def take(self, row: int, found: Steps) -> None:
        """Take the result of a run, and move as far as the results that are known allow."""
        if row in self._wanted:
            self._held[row] = found.moved
        runs, weights = self._virtual.runs, self._virtual.weights
        while self._next < len(runs) and int(runs[self._next]) in self._held:
            move, off = self._held.pop(int(runs[self._next]))
            weight = float(weights[self._next])
            self._value = self._value + weight * move
            self._error += abs(weight) * (off + 4.0 * EPS * norm(move)) + 2.0 * EPS * norm(self._value)
            self._next += 1
            if self._next >= self._virtual.before:
                self._path.add(self._value, self._error)


@final
class _Path:
    """Points, one after the other, and the gradients of all clients there."""

    def __init__(self, problem: Problem, weights: Floats, window: int) -> None:
        self._problem, self._weights, self._window = problem, weights, window
        self._bounds = [problem.step_bounds(client) for client in range(problem.n)]
        self._points: list[tuple[Array, float]] = []
        self._seen = 0
        self._found: list[tuple[Floats, Floats]] = []
        self._segments = np.zeros(2)
        self.origin: Array | None = None

    def add(self, value: Array, error: float) -> None:
        """Add a point, and how far it is at most from the one without rounding."""
        if self.origin is None:
            self.origin = value
        if self._seen < self._window:
            self._to(value, error)
        self._seen += 1
        self._points.append((value, error))
        if len(self._points) == _BLOCK:
            self._flush()

    def gradients(self, steps: Floats) -> Gradients:
        """Return what was found."""
        self._flush()
        apart, spread = (np.concatenate([one[place] for one in self._found], axis=1) for place in (0, 1))
        return Gradients(steps, apart, spread, self._segments)

    def _flush(self) -> None:
        if not self._points:
            return
        X, errors = np.array([one for one, _ in self._points]), np.array([error for _, error in self._points])
        self._points = []
        each, off = self._at(X, errors)
        mean = np.einsum("i,ind->nd", self._weights, each)
        more = off + np.einsum("i,in->n", self._weights, off)
        more += (self._problem.n + 8.0) * EPS * np.linalg.norm(each, axis=2).max(axis=0)
        away = np.linalg.norm(each - mean, axis=2)
        upper = (away + more) * _up(self._problem)
        self._found.append(
            (
                np.stack([away.max(axis=0), upper.max(axis=0)]),
                np.sqrt(np.stack([(away**2).mean(axis=0), (upper**2).mean(axis=0) * _up(self._problem)])),
            )
        )

    def _at(self, X: Array, errors: Floats) -> tuple[Floats, Floats]:
        """Return the gradients at some points, shape (clients, points, d), and how far each is off at most."""
        each, off = [], []
        sizes = np.linalg.norm(X, axis=1) * _up(self._problem)
        for client, bounds in enumerate(self._bounds):
            found = np.asarray(self._problem.gradients(client, X.astype(self._problem.dtype)), dtype=np.float64)
            each.append(found)
            if bounds is None or bounds.kinks or bounds.doubt is not None:
                off.append(np.full(len(X), UNKNOWN))
            else:
                off.append(bounds.offset + bounds.slope * sizes + bounds.L * errors)
        return np.array(each), np.array(off) * _up(self._problem)

    def _to(self, end: Array, error: float) -> None:
        """Look at the segment from the origin to a point: in a part of length l no gradient is above (a + b + L·l)/2."""
        assert self.origin is not None  # noqa: S101  (for the type checker)
        parts = np.linspace(0.0, 1.0, _PARTS + 1)[:, None]
        X = (1.0 - parts) * self.origin + parts * end
        # The point between is off by no more than the end, and by a few roundings.
        errors = np.full(len(X), error + 4.0 * EPS * (norm(self.origin) + norm(end)))
        each, off = self._at(X, errors)
        norms = np.linalg.norm(each, axis=2)
        part = (norm(end - self.origin) + errors[0]) / _PARTS
        slopes = np.array([0.0 if one is None else one.L for one in self._bounds])[:, None]
        for place, known in enumerate((norms, norms + off)):
            top = (known[:, :-1] + known[:, 1:] + slopes * part) / 2.0
            self._segments[place] = max(self._segments[place], float(top.max()) * _up(self._problem))


def _up(problem: Problem) -> float:
    """Return what rounds a norm of d numbers, and a few sums, up."""
    return 1.0 + (problem.d + 16.0) * EPS
