"""At which numbers of iterations a theorem is compared: where it speaks, from the first such number on."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import InfiniteError, SilentError, SpecError
from boundlab.metrics import Metric
from boundlab.simulate.work import spaced_iterations
from boundlab.theorems import Evaluation, Theorem

Ints = NDArray[np.int64]


def spoken(
    theorem: Theorem, left: Metric, iterations: int, evaluate: Callable[[Ints], Evaluation]
) -> tuple[Ints, Evaluation]:
    """Return about a dozen K (or T) at which the conditions on K are met and the bound is finite, and the bounds.

    Parameters
    ----------
    left
        The left side, with the numbers of its weights.
    iterations
        The largest; the only one where the step is chosen for it.
    evaluate
        Gives the bounds at some of them.

    Raises
    ------
    SilentError, InfiniteError
        If the theorem says nothing at any of them.
    SpecError
        If there is no left side yet.
    """
    points = begun(theorem, left, np.array([iterations], dtype=np.int64))
    if theorem.horizon == "fixed":
        return points, evaluate(points)
    # A printed shape is made for large K: nothing is read off it at K = 0.
    grid = spaced_iterations(iterations, max(theorem.first_iteration, left.first, int(theorem.shape)))
    try:
        return grid, evaluate(grid)
    except (SilentError, InfiniteError):
        heard = [k for k in grid.tolist() if _speaks(evaluate, k)]
        if not heard:
            evaluate(grid[-1:])
            raise
    first = _first(evaluate, max((k for k in grid.tolist() if k < heard[0]), default=heard[0] - 1), heard[0])
    later = [k for k in spaced_iterations(iterations, first).tolist() if k > first and _speaks(evaluate, k)]
    points = np.array([first, *later], dtype=np.int64)
    return points, evaluate(points)


def begun(theorem: Theorem, left: Metric, ks: Ints) -> Ints:
    """Return those of ``ks`` at which there is a left side: a model that counts.

    Raises
    ------
    SpecError
        If there is none.
    """
    found = ks[ks >= left.first]
    if not len(found):
        raise SpecError(f"{theorem.id}: the left side begins at {theorem.horizon_symbol} = {left.first}")
    return found


def _speaks(evaluate: Callable[[Ints], Evaluation], k: int) -> bool:
    try:
        evaluate(np.array([k], dtype=np.int64))
    except (SilentError, InfiniteError):
        return False
    return True


def _first(evaluate: Callable[[Ints], Evaluation], silent: int, speaks: int) -> int:
    """Return where the theorem begins to speak between two numbers: by bisection, for there is one such place."""
    while speaks - silent > 1:
        middle = (silent + speaks) // 2
        silent, speaks = (silent, middle) if _speaks(evaluate, middle) else (middle, speaks)
    return speaks
