"""CVXPY with Clarabel, and what turns its dual point into a lower bound."""

import warnings
from typing import Any

import numpy as np

from boundlab.errors import CertificateError, MissingExtraError
from boundlab.objective import Floats

LOOSE = 1e-4  # for a start that Newton's method polishes
TIGHT = 1e-9
ALLOWED = 1e-4  # largest gap, relative to max(1, |f|)


def cvxpy() -> Any:
    """Return the module CVXPY.

    Raises
    ------
    MissingExtraError
        If CVXPY or Clarabel is not installed.
    """
    try:
        import clarabel  # noqa: F401
        import cvxpy as module
    except ImportError:
        raise MissingExtraError(
            'x* and f* of this problem need CVXPY with Clarabel: pip install "boundlab[solve]"'
        ) from None
    return module


def clarabel(problem: Any, tolerances: tuple[float, ...], what: str) -> str:
    """Solve a CVXPY problem with Clarabel and return ``optimal`` or ``unbounded``.

    Parameters
    ----------
    tolerances
        Tried in turn until Clarabel reaches one.

    Raises
    ------
    CertificateError
        If Clarabel ends in any other state; "inaccurate" is not a success.
    """
    cp = cvxpy()
    status = "failed"
    for tolerance in tolerances:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the status, which is read below, says what the warnings say
            try:
                problem.solve(solver=cp.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance)
            except cp.error.SolverError:
                continue
        status = str(problem.status)
        if status in ("unbounded", "unbounded_inaccurate"):
            return "unbounded"
        if status == "optimal":
            return status
    raise CertificateError(f"{what}: Clarabel ended with status {status}; scale the data or set nu > 0")


def repair(
    point: Floats,
    low: Floats | float,
    high: Floats | float,
    matrix: Floats,
    target: Floats,
) -> Floats:
    """Return a point of the box near ``point`` with a smaller residual ‖matrix·u − target‖.

    Least squares in which a coordinate moves in proportion to its distance to the box's sides, so that those
    at a side stay, then clipping; a few rounds.

    Parameters
    ----------
    point
        Shape (S,).
    low, high
        The box.
    matrix
        Shape (m, S).
    target
        Shape (m,).
    """
    best = point = np.clip(point, low, high)
    least = float(np.linalg.norm(target - matrix @ point))
    idle = 0
    for _ in range(30):
        residual = target - matrix @ point
        size = float(np.linalg.norm(residual))
        idle = 0 if size < 0.5 * least else idle + 1
        if size < least:
            best, least = point, size
        if idle > 3:
            break
        room = np.minimum(point - low, high - point)
        if size == 0.0 or not room.any():
            break
        part = matrix * room
        # Rows of equal length first: rare features would otherwise drown in the squares' rounding.
        lengths = np.linalg.norm(part, axis=1)
        part /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
        residual /= np.where(lengths > 0.0, lengths, 1.0)
        inverse = np.linalg.pinv(part @ part.T, rcond=1e-14, hermitian=True)
        move = room * (part.T @ (inverse @ residual))
        point = np.clip(point + move, low, high)
    return best


def check_gap(gap: float, value: float, what: str) -> None:
    """Refuse a certificate that is too wide to compare against.

    Raises
    ------
    CertificateError
        If gap > 1e-4·max(1, |f|).
    """
    if not gap <= ALLOWED * max(1.0, abs(value)):
        raise CertificateError(
            f"{what}: f(x) − f* ≤ {gap:.2g} at f(x) = {value:.4g} is the best certificate found, "
            "more than 1e-4·max(1, f); set nu > 0, scale the data or take fewer samples"
        )
