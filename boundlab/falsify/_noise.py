"""Gaussian noise on a tape, exactly: each register is a mean and the coefficients of all noise that entered it.

On the quadratic part of a Huber function a run is linear in its noise. A run that leaves this part with a probability
of at most P has E x² of at least (1 − √(3P)) times what the linear run has: for a Gaussian x with E x⁴ ≤ 3(E x²)²,
E x²·1{left} ≤ √(3P)·E x² (Cauchy and Schwarz), and what the run does after it has left only adds.
"""

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from boundlab.errors import SpecError
from boundlab.execute.floats import run
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._schedules import Bench, Sides, _constants, right_sides, step_size
from boundlab.metrics import Series
from boundlab.objective import Array, Oracle

Floats = NDArray[np.float64]
LARGEST = 4000  # noises of one run


@final
@dataclass(slots=True)
class LinearRun(Oracle):
    """Gradients w_i·(x − c_i) + noise on vectors (mean, coefficients of the noises of unit variance).

    Parameters
    ----------
    away
        For each gradient taken, |mean of x − c_i| and the standard deviation of x.
    """

    w: Floats
    c: Floats
    sigma: float
    size: float
    taken: int = 0
    away: list[tuple[float, float]] = field(default_factory=list)

    def draws(self, clients: NDArray[np.int64], updates: NDArray[np.int64], steps: int) -> Any:
        """Return the number of each noise."""
        first = self.taken + 1
        self.taken += len(clients) * steps
        return np.arange(first, self.taken + 1).reshape(-1, steps)

    def draw_size(self, steps: int) -> int:
        """Return one number a step."""
        return steps

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one step, and remember how far from the centre its gradient was taken."""
        self.away.append((abs(float(x[0] - self.c[client])), float(np.sqrt((x[1:] ** 2).sum()))))
        a = step_size * self.size
        x *= 1.0 - a * self.w[client]
        x[0] += a * self.w[client] * self.c[client]
        x[int(draw)] -= a * self.sigma


def evaluate(bench: Bench, candidate: Candidate) -> tuple[Sides, float]:
    """Return both sides for one candidate with noise, the left side from below, and √(3P).

    Raises
    ------
    SpecError
        If the run is too long, or its left side is not quadratic, or no mean of what the run shows.
    """
    if not bench.theorem.left.is_mean:
        raise SpecError(f"{bench.theorem.metric} is no mean of what a run shows: moments do not tell its expectation")
    own = _constants(bench.theorem, [candidate])[0][0]
    tape, metric, problem = bench.tape, bench.theorem.left, candidate.problem
    noises = int((tape.descend.steps).sum())
    if noises > LARGEST or problem["type"] == "lad" or len(tape.implicit):
        raise SpecError(f"{noises} noises of {problem['type']} are too many to keep apart")
    size = step_size(bench, candidate, own)
    if not np.isfinite(size):
        raise SpecError("the theorem has no step size here")
    w, c = np.array(problem["w"], dtype=np.float64), np.array(problem["c"], dtype=np.float64)
    linear = LinearRun(w, c, float(problem["sigma"]), size)
    slope, centre = float(w.mean()), float(w @ c / w.sum())
    series = Series(metric, bench.ks, (1,))
    hessian = np.array([[[slope]]])
    shown: list[tuple[float, float]] = []

    def observe(_row: int, x: Array) -> None:
        spread = float((x[1:] ** 2).sum())
        shown.extend((abs(float(x[0] - one)), float(np.sqrt(spread))) for one in c)
        second = np.array([[[float(x[0] - centre) ** 2 + spread]]])
        series.add(np.array([metric.of_second_moment(hessian, second)]))

    x0 = np.zeros(noises + 1)
    x0[0] = problem["x0"]
    run(tape, x0, linear, observe)
    lost = 0.0
    if problem["type"] == "huber":
        mean, spread = np.array([*linear.away, *shown]).T
        with np.errstate(divide="ignore", invalid="ignore"):
            room = (problem["delta"] - mean) / spread
        room[np.isnan(room)] = -np.inf
        lost = float(np.sqrt(3.0 * min(1.0, float((2.0 * ndtr(-room)).sum()))))
    left = series.values * max(0.0, 1.0 - lost)
    return Sides(bench.ks, left, right_sides(bench, [own], np.array([size])), np.zeros(1)), lost


def widest(bench: Bench, candidate: Candidate) -> float:
    """Return the largest standard deviation of a point at which a gradient is taken or a model shown."""
    w, c = np.array(candidate.problem["w"], dtype=np.float64), np.array(candidate.problem["c"], dtype=np.float64)
    own = _constants(bench.theorem, [candidate])[0][0]
    linear = LinearRun(w, c, float(candidate.problem["sigma"]), step_size(bench, candidate, own))
    x0 = np.zeros(int(bench.tape.descend.steps.sum()) + 1)
    x0[0] = candidate.problem["x0"]
    spread: list[float] = [0.0]
    if linear.size != linear.size or len(x0) > LARGEST + 1:
        raise SpecError("the run has no step size, or too many noises")
    run(bench.tape, x0, linear, lambda _row, x: spread.append(float(np.sqrt((x[1:] ** 2).sum()))))
    return max(max(spread), max((one for _, one in linear.away), default=0.0))
