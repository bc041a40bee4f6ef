"""Full gradients in floating point that say when rounding could decide on which side of a kink they are taken."""

from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import UndecidedError
from boundlab.objective import Array, Oracle, Problem

# One step, mean or sum of numbers of a size is rounded by at most this part of it.
ROUNDING: Final = 4.0 * float(np.finfo(np.float64).eps)
_CLOSE = "an iterate meets a kink too closely for floating point to tell its side"


def jumps(problem: Problem) -> bool:
    """Return whether gradients may jump."""
    return problem.assumptions().get("smooth", "unsaid") != ""


def require_apart(problem: Problem, client: int, points: Array, steps: int, size: float) -> None:
    """Make sure that points lie further from all kinks of a client than rounding may have moved them.

    Parameters
    ----------
    points
        Shape (S, d).
    steps
        How many steps, means and sums led to them.
    size
        The largest number among these.

    Raises
    ------
    UndecidedError
        If one does not.
    """
    room = ROUNDING * (steps + 8) * size * float(np.sqrt(points.shape[1]))
    if problem.near_kink(client, points, room).any():
        raise UndecidedError(_CLOSE)


@final
class WaryGradients(Oracle):
    """Full gradients that are refused where rounding could have chosen them; proximal steps do not jump."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self._full, self._jumps = problem, problem.full_gradients(), jumps(problem)
        self._steps, self._size = problem.n, float(np.abs(problem.x0).max(initial=0.0))

    def draws(self, clients: NDArray[np.int64], updates: NDArray[np.int64], steps: int) -> Any:
        """Return placeholders."""
        return self._full.draws(clients, updates, steps)

    def draw_size(self, steps: int) -> int:
        """Return 0."""
        return self._full.draw_size(steps)

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one exact (sub)gradient step.

        Raises
        ------
        UndecidedError
            If x lies at a kink, or so near to it that rounding decides.
        """
        self._steps += 1
        self._size = max(self._size, float(np.abs(x).max(initial=0.0)))
        if self._jumps:
            require_apart(self.problem, client, x[None], self._steps, self._size)
        self._full.step(x, client, draw, step_size)

    def implicit_step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one exact proximal step."""
        self._full.implicit_step(x, client, draw, step_size)
