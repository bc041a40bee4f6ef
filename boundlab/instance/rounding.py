"""What rounding may do to a verdict: every tolerance that decides one, and why it is as large as it is.

Conditions of theorems have none, where sides are compared. The tolerance of equal rates of clients is
:data:`boundlab.algorithms.EQUAL_RATES`.
"""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from boundlab.metrics import Quantity

if TYPE_CHECKING:
    from boundlab.instance.plan import Plan

Floats = NDArray[np.float64]

# Both sides are evaluated in floats: bounds that are attained must not fail by their last digits.
EVALUATED: Final = 1e-12
# A number that was computed in floating point is called a violation only beyond what a long computation loses.
NUMERIC: Final = 1e-9
# A step size that a file writes down is the theorem's own if it is so near: files keep fewer digits.
WRITTEN: Final = 1e-9
# Over the square root of the number of steps by which independent rounding errors grow.
ROOM: Final = 64.0
# Each step of a run in one dimension adds at most a few units in the last place of its largest number.
STEP: Final = 1e-15


def above(left: float, right: float) -> bool:
    """Return whether a float is above another by more than a computation in floating point explains."""
    return left > right * (1.0 + NUMERIC)


def ceiling(plan: "Plan", right: Floats) -> Floats:
    """Return the largest left sides that are not told from the right ones, shape (points,).

    Iterates are floats, so that none comes nearer to x* than rounding lets it, however small the bound: where
    e = 64·√(steps)·eps·(‖x0‖ + ‖x*‖) is room for the error of an iterate, √right + e replaces the root of a
    bound on ‖x − x*‖², and what that means for the gap or the gradient follows from L, or for the gap from B. A left
    side that picks one of several iterates, such as the best, is that of an iterate.

    Parameters
    ----------
    right
        Shape (points,): bounds at ``plan.ks``.
    """
    out: Floats = right * (1.0 + EVALUATED)
    if plan.metric.is_mean and not plan.metric.over.one_record:
        return out
    problem, quantity = plan.problem, plan.metric.quantity
    steps = (plan.ks + 1.0) * plan.local_steps
    best = problem.optimum() if quantity is not Quantity.SLOPE else None
    scale = float(np.linalg.norm(problem.x0)) + (0.0 if best is None else float(np.linalg.norm(best.x)))
    error = ROOM * np.sqrt(steps) * float(np.finfo(problem.dtype).eps) * scale
    root: Floats = np.sqrt(right)
    moved: Floats
    L, B = _constant(problem, "L"), _constant(problem, "B")
    if quantity is Quantity.DISTANCE:
        moved = (root + error) ** 2
    elif quantity is Quantity.SLOPE:
        moved = (root + L * error) ** 2
    else:
        # Smoothness: f(x + e) − f* ≤ (√(f(x) − f*) + √(L/2)·e)²; Lipschitz functions change by B·e at most.
        moved = (root + np.sqrt(L / 2.0) * error) ** 2 if L > 0.0 else right + B * error
        # Where ∇f(x*) is not 0, f(x + e) − f(x) has a term of first order that does not vanish with the gap.
        moved = moved + problem.steepness() * error
        moved = moved + (0.0 if best is None else ROOM * float(np.finfo(problem.dtype).eps) * abs(best.value))
    return np.fmax(out, moved)


def one_dimensional(quantity: Quantity, slope: float, reach: float, iterations: int) -> float:
    """Return more than what rounding adds to a left side in one dimension: near a minimiser nothing else may be there.

    Parameters
    ----------
    slope, reach
        Upper limits of |f'| and |x| along the run.
    """
    tiny = STEP * (ROOM + iterations)
    return {
        Quantity.GAP: slope * reach * tiny,
        Quantity.SLOPE: slope**2 * tiny**2,
        Quantity.DISTANCE: reach**2 * tiny**2,
    }[quantity]


def _constant(problem: Any, name: str) -> float:
    found = problem.constants().get(name)
    return 0.0 if found is None else float(found.value)
