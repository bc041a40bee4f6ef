"""Second moments of noisy runs on quadratics that share nothing with the engines: one run for each unit of noise.

A run on quadratics is affine in the noise of its local steps. So the run without noise is the mean, the difference that
one unit of noise in one coordinate of one step makes is a column, and the covariance is the sum of the squares of all
columns.
"""

from itertools import count
from typing import Any

import numpy as np

from boundlab.execute import floats
from boundlab.objective import Oracle, Problem
from boundlab.tape import Tape

Floats = np.ndarray[Any, np.dtype[np.float64]]


class _Unit(Oracle):
    """Full gradients, with one unit of noise in coordinate ``coordinate`` of local step ``place`` of the run."""

    def __init__(self, problem: Problem, place: int | None, coordinate: int) -> None:
        self.problem, self.place, self.coordinate, self.steps = problem, place, coordinate, count()

    def draws(self, clients: Any, updates: Any, steps: int) -> Any:
        return np.zeros((len(clients), steps))

    def draw_size(self, steps: int) -> int:
        return steps

    def step(self, x: Any, client: int, draw: Any, step_size: float) -> None:
        slope = self.problem.gradient(client, x)
        if next(self.steps) == self.place:
            slope = slope + np.eye(len(x))[self.coordinate]
        x -= step_size * slope


def _shown(tape: Tape, problem: Problem, place: int | None, coordinate: int = 0) -> Floats:
    """Return every record, shape (records, d)."""
    seen: list[Floats] = []
    floats.run(tape, problem.x0, _Unit(problem, place, coordinate), lambda _row, x: seen.append(x.copy()))
    return np.array(seen)


def first_and_second(
    tape: Tape, problem: Problem, sigma: float, direction: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return mean and covariance of every record, shapes (records, d) and (records, d, d).

    ``sigma`` is √E‖noise‖²: each of the d coordinates of a step has the variance sigma²/d, or the noise is ±sigma times
    the unit vector in a direction.
    """
    d = problem.d
    factors = np.eye(d) / np.sqrt(d) if direction is None else (direction / np.sqrt(direction @ direction))[None]
    mean = _shown(tape, problem, None)
    cov = np.zeros((*mean.shape, d))
    for place in range(int(tape.descend.steps.sum())):
        columns = np.array([_shown(tape, problem, place, coordinate) - mean for coordinate in range(d)])
        for factor in factors:  # independent parts of the noise
            column = np.einsum("j,jrd->rd", factor, columns)
            cov += column[:, :, None] * column[:, None, :]
    return mean, cov * sigma**2


def left(side: str, problem: Problem, mean: Floats, cov: Floats) -> float:
    """Return E‖x − x*‖², E f(x) − f* or E‖∇f(x)‖² from mean and covariance of one point."""
    form = problem.quadratic()
    assert form is not None
    H = form.A.mean(axis=0)
    best = np.linalg.solve(H, np.einsum("nij,nj->i", form.A, form.b) / problem.n)
    second = cov + np.outer(mean - best, mean - best)
    weight = {"squared-distance": np.eye(problem.d), "gap": H / 2, "gradient-norm-last": H @ H}[side]
    return float(np.trace(weight @ second))
