"""What rounding may add to the left side: floats must refute no theorem by their last digits."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundlab.metrics import Quantity

if TYPE_CHECKING:
    from boundlab.instance.plan import Plan

Floats = NDArray[np.float64]

_RELATIVE = 1e-12  # both sides are evaluated in floats: bounds that are attained must not fail by their last digits
_ROOM = 64.0  # over the square root of the number of steps by which independent rounding errors grow


def ceiling(plan: "Plan", right: Floats) -> Floats:
    """Return the largest left sides that are not told from the right ones, shape (points,).

    Iterates are floats, so that none comes nearer to x* than rounding lets it, however small the bound: where
    e = 64·√(steps)·eps·(‖x0‖ + ‖x*‖) is room for the error of an iterate, √right + e replaces the root of a
    bound on ‖x − x*‖², and what that means for the gap or the gradient follows from L, or for the gap from B.

    Parameters
    ----------
    right
        Shape (points,): bounds at ``plan.ks``.
    """
    out: Floats = right * (1.0 + _RELATIVE)
    if not plan.metric.over.one_record:
        return out
    problem = plan.problem
    quantity = plan.metric.quantity
    steps = (plan.ks + 1.0) * float(plan.values.get("M", 1.0))
    best = problem.optimum() if quantity is not Quantity.SLOPE else None
    scale = float(np.linalg.norm(problem.x0)) + (0.0 if best is None else float(np.linalg.norm(best.x)))
    error = _ROOM * np.sqrt(steps) * float(np.finfo(problem.dtype).eps) * scale
    root: Floats = np.sqrt(right)
    moved: Floats
    if quantity is Quantity.DISTANCE:
        moved = (root + error) ** 2
        return np.fmax(out, moved)
    L, B = _constant(problem, "L"), _constant(problem, "B")
    if quantity is Quantity.SLOPE:
        moved = (root + L * error) ** 2
        return np.fmax(out, moved)
    # Smoothness: f(x + e) − f* ≤ (√(f(x) − f*) + √(L/2)·e)²; Lipschitz functions change by B·e at most.
    moved = (root + np.sqrt(L / 2.0) * error) ** 2 if L > 0.0 else right + B * error
    value = 0.0 if best is None else _ROOM * float(np.finfo(problem.dtype).eps) * abs(best.value)
    return np.fmax(out, moved + value)


def _constant(problem: Any, name: str) -> float:
    found = problem.constants().get(name)
    return 0.0 if found is None else float(found.value)
