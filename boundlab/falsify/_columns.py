"""Many one-dimensional problems on one tape: each coordinate of the registers is a problem with its own step size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.execute.floats import run
from boundlab.instance.rounding import one_dimensional
from boundlab.metrics import Metric, Series
from boundlab.objective import Array, Optimum, Oracle
from boundlab.tape import Tape

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


def rounding(metric: Metric, problem: Mapping[str, Any], iterations: int) -> float:
    """Return what rounding may add to a left side on a candidate's problem."""
    reach = float(max(abs(problem["x0"]), *(abs(one) for one in problem["c"]), 1e-30))
    steepest = float(max(problem["w"])) * (1.0 if problem["type"] == "lad" else reach)
    return one_dimensional(metric.quantity, steepest, reach, iterations)


def run_columns(
    tape: Tape, columns: Columns, x0: Floats, metric: Metric, ks: NDArray[np.int64], optima: Sequence[Optimum]
) -> tuple[Floats, Floats]:
    """Run a tape of unit steps with the records of the metric.

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
    left, last = Series(metric, ks, x0.shape), x0.copy()
    function = _Optima(columns, np.array([one.x[0] for one in optima]), np.array([one.value for one in optima]))

    def observe(_row: int, x: Array) -> None:
        last[:] = x
        left.add(metric.at(function, x))

    with np.errstate(over="ignore", invalid="ignore"):
        run(tape, x0.astype(np.float64), columns, observe)
    return left.values, last


@final
@dataclass(frozen=True, slots=True)
class _Optima:
    """The quantities of each column, shape (B,); best and least are x* and f* of each."""

    columns: Columns
    best: Floats
    least: Floats

    def squared_distance(self, x: Array) -> Floats:
        return np.asarray((x - self.best) ** 2)

    def gap(self, x: Array) -> Floats:
        return np.maximum(self.columns.value(x) - self.least, 0.0)

    def squared_slope(self, x: Array) -> Floats:
        return np.asarray(self.columns.slope(x) ** 2)
