"""Many one-dimensional problems on one tape: each coordinate of the registers is a problem with its own step size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.execute.floats import run
from boundlab.left_side import LeftSide
from boundlab.objective import Array, Optimum, Oracle
from boundlab.tape import RecordAt, Tape

Floats = NDArray[np.float64]


@final
@dataclass(slots=True)
class Columns(Oracle):
    """Full gradients of B one-dimensional problems, the step sizes multiplied in.

    Parameters
    ----------
    w, c
        Shape (n, B): weights and centres.
    delta
        Shape (B,): where the loss turns linear; inf for quadratics, 0 for absolute values.
    step_sizes
        Shape (B,).
    """

    w: Floats
    c: Floats
    delta: Floats
    step_sizes: Floats

    @classmethod
    def of(cls, problems: Sequence[Mapping[str, Any]], step_sizes: Floats) -> "Columns":
        """Return the columns of the problems of candidates."""
        w, c = (np.array([one[name] for one in problems], dtype=np.float64).T for name in ("w", "c"))
        kind = {"quadratic": np.inf, "lad": 0.0}
        delta = [kind[one["type"]] if one["type"] in kind else one["delta"] for one in problems]
        return cls(w, c, np.array(delta, dtype=np.float64), step_sizes)

    def draws(self, clients: NDArray[np.int64], updates: NDArray[np.int64], steps: int) -> Any:
        """Return placeholders."""
        return np.empty((len(clients), steps, 0))

    def draw_size(self, steps: int) -> int:
        """Return 0."""
        return 0

    def _slope(self, away: Floats) -> Floats:
        sharp = self.delta == 0.0
        out = np.clip(away, -self.delta, self.delta)
        return np.where(sharp, np.sign(away), out) if sharp.any() else out

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one gradient step in every column."""
        x -= self._slope(x - self.c[client]) * self.w[client] * (step_size * self.step_sizes)

    def implicit_step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one proximal step in every column."""
        away, a = x - self.c[client], step_size * self.step_sizes * self.w[client]
        steepest = np.where(self.delta == 0.0, 1.0, self.delta)
        with np.errstate(invalid="ignore"):
            far = np.sign(away) * np.maximum(np.abs(away) - a * steepest, 0.0)
            near = np.abs(away) <= self.delta * (1.0 + a)
        x[:] = self.c[client] + np.where(near, away / (1.0 + a), far)

    def slope(self, x: Array) -> Floats:
        """Return f'(x) of each column, shape (B,)."""
        out: Floats = (self.w * self._slope(x - self.c)).mean(axis=0)
        return out

    def value(self, x: Array) -> Floats:
        """Return f(x) of each column, shape (B,)."""
        size = np.abs(x - self.c)
        small = np.minimum(size, self.delta)
        out: Floats = (self.w * np.where(self.delta == 0.0, size, small * (size - small / 2.0))).mean(axis=0)
        return out


def records(side: LeftSide, ks: NDArray[np.int64]) -> RecordAt:
    """Return what a run must show for a left side at these horizons."""
    return RecordAt(np.arange(int(ks[-1]))) if side.every else RecordAt(ks, side.average)


def rounding(side: LeftSide, problem: Mapping[str, Any], iterations: int) -> float:
    """Return more than what rounding can add to a left side: near a minimiser nothing else may be there."""
    reach = float(max(abs(problem["x0"]), *(abs(one) for one in problem["c"]), 1e-30))
    steepest = float(max(problem["w"])) * (1.0 if problem["type"] == "lad" else reach)
    size: float = {(1, 0): steepest * reach, (2, -2): steepest**2, (0, 2): reach**2}[side.units]
    tiny = 1e-15 * (64.0 + iterations)
    return size * (tiny if side.units == (1, 0) else tiny**2)


def run_columns(
    tape: Tape, columns: Columns, x0: Floats, side: LeftSide, ks: NDArray[np.int64], optima: Sequence[Optimum]
) -> tuple[Floats, Floats]:
    """Run a tape of unit steps with the records of :func:`records`.

    Parameters
    ----------
    x0
        Shape (B,).
    ks
        Sorted horizons, shape (points,).
    optima
        One a column.

    Returns
    -------
    left
        Shape (points, B): the left side at each horizon, never above the truth by more than rounding.
    last
        Shape (B,): what was recorded last.
    """
    left = np.full((len(ks), len(x0)), np.nan)
    total, last = np.zeros(len(x0)), x0.copy()
    best, least = np.array([one.x[0] for one in optima]), np.array([one.value for one in optima])
    places = {int(k): row for row, k in enumerate(ks)}

    def observe(row: int, x: Array) -> None:
        last[:] = x
        if side.every:
            total[:] += columns.slope(x) ** 2
            place = places.get(row + 1)
            if place is not None:
                left[place] = total / (row + 1)
        elif side.id == "squared-distance":
            left[row] = (x - best) ** 2
        elif side.units == (1, 0):
            left[row] = np.maximum(columns.value(x) - least, 0.0)
        else:
            left[row] = columns.slope(x) ** 2

    with np.errstate(over="ignore", invalid="ignore"):
        run(tape, x0.astype(np.float64), columns, observe)
    return left, last
