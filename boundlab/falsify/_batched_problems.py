"""Many problems on one tape: each coordinate of the registers is a coordinate of a problem with its own step size."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.execute.floats import run
from boundlab.falsify._candidate import Candidate
from boundlab.metrics import Metric, Quantity, Series
from boundlab.objective import Array, Optimum, Oracle
from boundlab.tape import Tape

Floats = NDArray[np.float64]
# Each step of a run in one dimension adds at most a few units in the last place of its largest number.
_STEP = 1e-15
_KINDS = {"quadratic": np.inf, "lad": 0.0}


@final
@dataclass(frozen=True, slots=True)
class Layout:
    """The numbers of B problems whose coordinates do not mix, coordinate after coordinate in C columns.

    Parameters
    ----------
    w, c
        Shape (n, C): weights and centres.
    delta
        Shape (C,): where the loss turns linear; inf for quadratics, 0 for absolute values.
    x0
        Shape (C,).
    penalty
        Shape (C,): what h(x) = penalty·|x| weighs beside f; 0 where there is none.
    reach
        Shape (B,): the radius of the ball around 0 onto which each problem projects; inf where it does not.
    first
        Shape (B,): the first column of each problem.
    owner
        Shape (C,): the problem of each column.
    """

    w: Floats
    c: Floats
    delta: Floats
    x0: Floats
    penalty: Floats
    reach: Floats
    first: NDArray[np.int64]
    owner: NDArray[np.int64]

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> "Layout":
        """Return the layout of candidates with the same number of clients."""
        w, c = (np.concatenate([one.rows(name) for one in candidates], axis=1) for name in ("w", "c"))
        starts = [one.start() for one in candidates]
        sizes = np.array([len(one) for one in starts])
        widths = [_KINDS.get(one.problem["type"], one.problem.get("delta", 0.0)) for one in candidates]
        penalties, balls = (
            np.array([float(one.problem.get(name, without)) for one in candidates])
            for name, without in (("l1", 0.0), ("ball", np.inf))
        )
        owner = np.repeat(np.arange(len(candidates)), sizes)
        first = np.cumsum(sizes) - sizes
        delta, x0 = np.array(widths, dtype=np.float64)[owner], np.concatenate(starts)
        return cls(w, c, delta, x0, penalties[owner], balls, first, owner)

    def each(self, per_column: Floats) -> Floats:
        """Add up what the columns of each problem say, shape (B,)."""
        return np.asarray(np.add.reduceat(per_column, self.first))


@final
@dataclass(slots=True)
class Columns(Oracle):
    """Full gradients of the columns, the step sizes multiplied in; the proximal map of h follows each step.

    Parameters
    ----------
    step_sizes
        Shape (C,).
    """

    layout: Layout
    step_sizes: Floats
    kinked: bool = field(init=False)
    turning: bool = field(init=False)
    reaching: bool = field(init=False)
    penalised: bool = field(init=False)

    def __post_init__(self) -> None:
        """Look once at what each step asks: absolute values, functions that turn linear, balls, penalties."""
        at = self.layout
        self.kinked, self.penalised = bool((at.delta == 0.0).any()), bool(at.penalty.any())
        self.turning, self.reaching = (bool(np.isfinite(ends).any()) for ends in (at.delta, at.reach))

    def draws(self, clients: NDArray[np.int64], updates: NDArray[np.int64], steps: int) -> Any:
        """Return placeholders."""
        return np.empty((len(clients), steps, 0))

    def draw_size(self, steps: int) -> int:
        """Return 0."""
        return 0

    def _slope(self, away: Floats) -> Floats:
        if not self.turning:
            return away
        delta = self.layout.delta
        out = np.minimum(np.maximum(away, -delta), delta)
        return np.where(delta == 0.0, np.sign(away), out) if self.kinked else out

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one gradient step in every column."""
        at = self.layout
        x -= self._slope(x - at.c[client]) * at.w[client] * (step_size * self.step_sizes)
        if self.reaching:
            norms = np.sqrt(at.each(x * x))
            x *= np.where(norms > at.reach, at.reach / np.maximum(norms, at.reach), 1.0)[at.owner]
        if self.penalised:
            threshold = at.penalty * (step_size * self.step_sizes)
            x -= np.minimum(np.maximum(x, -threshold), threshold)

    def implicit_step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one proximal step in every column.

        Raises
        ------
        SpecError
            If there is an h: the proximal map of f_client + h has no closed form.
        """
        if self.reaching or self.penalised:
            raise SpecError("there is no proximal step of f_i + h")
        at = self.layout
        away, a = x - at.c[client], step_size * self.step_sizes * at.w[client]
        steepest = np.where(at.delta == 0.0, 1.0, at.delta)
        with np.errstate(invalid="ignore"):
            far = np.sign(away) * np.maximum(np.abs(away) - a * steepest, 0.0)
            near = np.abs(away) <= at.delta * (1.0 + a)
        x[:] = at.c[client] + np.where(near, away / (1.0 + a), far)

    def slope(self, x: Array) -> Floats:
        """Return f' of each column, shape (C,)."""
        out: Floats = (self.layout.w * self._slope(x - self.layout.c)).mean(axis=0)
        return out

    def value(self, x: Array) -> Floats:
        """Return f of each column, shape (C,)."""
        at = self.layout
        size = np.abs(x - at.c)
        small = np.minimum(size, at.delta)
        out: Floats = (at.w * np.where(at.delta == 0.0, size, small * (size - small / 2.0))).mean(axis=0)
        return out + at.penalty * np.abs(x) if self.penalised else out


def rounding(metric: Metric, candidate: Candidate, iterations: int) -> float:
    """Return about what rounding may add to a left side: near a minimiser there may be nothing else.

    It keeps the search from what is no violation; no verdict rests on it.
    """
    start, rows = candidate.start(), candidate.rows("c")
    reach = float(max(np.abs(start).max(), np.abs(rows).max(), 1e-30))
    slope = float(candidate.rows("w").max()) * (1.0 if candidate.problem["type"] == "lad" else reach)
    slope += float(candidate.problem.get("l1", 0.0))
    tiny = _STEP * (64.0 + iterations)
    most = {
        Quantity.GAP: slope * reach * tiny,
        Quantity.SLOPE: slope**2 * tiny**2,
        Quantity.DISTANCE: reach**2 * tiny**2,
    }
    return most[metric.quantity] * len(start)


def run_columns(
    tape: Tape, columns: Columns, metric: Metric, ks: NDArray[np.int64], optima: Sequence[Optimum]
) -> tuple[Floats, Floats]:
    """Run a tape of unit steps with the records of the metric.

    Parameters
    ----------
    ks
        Sorted horizons, shape (points,).
    optima
        One a problem.

    Returns
    -------
    left
        Shape (points, B): the left side at each horizon, never above the truth by more than rounding.
    last
        Shape (C,): what was recorded last.
    """
    layout = columns.layout
    left, last = Series(metric, ks, layout.first.shape), layout.x0.copy()
    function = _Optima(columns, np.concatenate([one.x for one in optima]), np.array([one.value for one in optima]))

    def observe(_row: int, x: Array) -> None:
        last[:] = x
        left.add(metric.at(function, x))

    with np.errstate(over="ignore", invalid="ignore"):
        run(tape, layout.x0.copy(), columns, observe)
    return left.values, last


@final
@dataclass(frozen=True, slots=True)
class _Optima:
    """The quantities of each problem, shape (B,); best are the columns of x*, least is f* of each."""

    columns: Columns
    best: Floats
    least: Floats

    def squared_distance(self, x: Array) -> Floats:
        return self.columns.layout.each((x - self.best) ** 2)

    def gap(self, x: Array) -> Floats:
        return np.maximum(self.columns.layout.each(self.columns.value(x)) - self.least, 0.0)

    def squared_slope(self, x: Array) -> Floats:
        return self.columns.layout.each(self.columns.slope(x) ** 2)
