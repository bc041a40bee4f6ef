"""Random points of a problem, with what it says there."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundlab.errors import AssumptionError
from boundlab.objective import Optimum, Problem

Floats = NDArray[np.float64]
ULP = 1e-13  # rounding of a value, of the largest in sight
STEP = 1e-4  # of the distance between x0 and x*: between neighbours
_SCALES = (1e-3, 1.0, 10.0, 1e-3, 0.3, 0.3, 1.0)  # distances in units of R: the first three to x0, the others to x*
_OF_START = 3


@final
@dataclass(frozen=True)
class SamplePoints:
    """A problem at a few points around its start and its minimiser, near and far.

    Parameters
    ----------
    problem
        Which one.
    scale
        How far the points lie, in units of their usual distances.
    name
        How messages call the problem.
    """

    problem: Problem
    scale: float
    name: str

    @property
    def who(self) -> str:
        """How messages begin."""
        return self.name + ("" if self.scale == 1.0 else f" at points {self.scale:g} times as far")

    @cached_property
    def known(self) -> dict[str, float]:
        """The values of the constants."""
        return {name: constant.value for name, constant in self.problem.constants().items()}

    @cached_property
    def centres(self) -> Floats:
        """The start and, where there is one, the minimiser, shape (1 or 2, d)."""
        known = (self.problem.x0, *([] if self.optimum is None else [self.optimum.x]))
        return np.array(known, dtype=np.float64)

    @cached_property
    def points(self) -> Floats:
        """The points, shape (S, d)."""
        around = np.where(np.arange(len(_SCALES)) < _OF_START, 0, len(self.centres) - 1)
        normal = np.random.Generator(np.random.Philox(11)).normal(size=(len(_SCALES), self.problem.d))
        far = self.scale * self.reach * np.array(_SCALES)[:, None]
        return np.asarray(self.centres[around] + far * normal / np.sqrt(self.problem.d))

    @cached_property
    def reach(self) -> float:
        """The distance of x0 and x*, or a little where that is 0 or unknown; unit (0, 1)."""
        return max(self.known.get("R", 0.0), 1e-3 * (1.0 + float(norms(self.problem.x0))))

    @cached_property
    def size(self) -> float:
        """The largest norm of a point: the scale of rounding in points."""
        return float(norms(self.points).max())

    @cached_property
    def gradients(self) -> Floats:
        """The gradients ∇f_i at each point, one by one, shape (n, S, d)."""
        return self.gradients_at(self.points)

    @cached_property
    def client_values(self) -> Floats | None:
        """The values f_i(x) at each point, shape (n, S), or None where the problem does not give them."""
        return self.client_values_at(self.points)

    def gradients_at(self, points: Floats) -> Floats:
        """Return the gradients ∇f_i at some points, one by one, shape (n, S, d)."""
        p = self.problem
        return np.array([[p.gradient(i, x) for x in points] for i in range(p.n)], dtype=np.float64)

    def client_values_at(self, points: Floats) -> Floats | None:
        """Return the values f_i(x) at some points, shape (n, S), or None where the problem does not give them."""
        p = self.problem
        try:
            return np.array([[p.client_value(i, x) for x in points] for i in range(p.n)], dtype=np.float64)
        except AssumptionError:
            return None

    @cached_property
    def values(self) -> Floats:
        """The values f(x) at each point, one by one, shape (S,)."""
        return np.array([self.problem.value(x) for x in self.points], dtype=np.float64)

    @cached_property
    def optimum(self) -> Optimum | None:
        """The certified optimum, or None where the problem says why there is none."""
        return None if self.problem.assumptions().get("minimiser", "unsaid") else self.problem.optimum()

    @cached_property
    def steepest(self) -> float:
        """The largest ‖∇f_i‖ of the sample: the scale of rounding in gradients."""
        return float(norms(self.gradients).max())

    @cached_property
    def largest(self) -> float:
        """The scale of rounding in values."""
        each = self.values if self.client_values is None else self.client_values
        return float(np.abs(each).max())


def norms(vectors: ArrayLike) -> Any:
    """Return the norms along the last axis: of one vector a number, else an array."""
    return np.linalg.norm(vectors, axis=-1)
