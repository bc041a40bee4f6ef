"""Minimise a risk of straight lines and parabolas, with a lower bound from its dual.

Its losses are max over u in [low, high] of u·(⟨r, x⟩ + e) − κ·u²/2, where κ is 0 for those with kinks: hinge with
r = −y·a, e = 1, and 0 ≤ u ≤ 1; absolute value with r = a, e = −y, and −1 ≤ u ≤ 1. So for every u in the box, with
q = Σ ω_j u_j r_j and c = Σ ω_j (u_j e_j − κ·u_j²/2),

    f(x*) ≥ c − ‖q‖²/(2ν)   (ν > 0),      f(x*) ≥ c + ⟨q, x*⟩   (ν = 0).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from boundlab.errors import CertificateError
from boundlab.objective import Floats, Optimum
from boundlab.problems import losses, smooth
from boundlab.problems.common import EPS, clip_up
from boundlab.problems.risk import Risk
from boundlab.problems.solvers import ALLOWED, TIGHT, check_gap, clarabel, cvxpy, repair

CLARABEL_LIMIT = 5_000_000  # S·d entries: seconds, at most a minute, for a linear or quadratic program
_WIDTHS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
_FLAT = 1e-14  # ‖∇f‖ at which smooth losses are minimised
Ends = tuple[float, float]


def solve(risk: Risk, x0: Floats, solver: smooth.Solver, what: str) -> Optimum:
    """Return a minimiser of a risk, and how far f may be above its minimum.

    Parameters
    ----------
    x0
        Shape (d,): the start point; without regulariser the certificate's radius is measured with it.
    solver
        Of losses with kinks. ``auto``: Clarabel where S·d ≤ 5,000,000; beyond, with ν > 0, L-BFGS on smoothed losses,
        to the same dual bound.
        ``clarabel``: always. ``newton`` (there is nothing to polish): L-BFGS.
    what
        Who asks, for messages.

    Raises
    ------
    CertificateError
        If the gap stays above 1e-4·max(1, f), or the data are too large for a problem without regulariser.
    """
    entries = len(risk.X) * risk.d
    if risk.nu == 0.0 and solver == "auto" and entries > CLARABEL_LIMIT and not risk.loss.smooth:
        keep = CLARABEL_LIMIT // risk.d
        raise CertificateError(
            f"{what}: without regulariser x* is found for S·d ≤ {CLARABEL_LIMIT}, got {entries}; "
            f"set nu > 0 or samples={keep}"
        )
    of, X, y = risk.loss.of, risk.X.astype(np.float64), np.asarray(risk.y, dtype=np.float64)
    assert of is not None  # noqa: S101  (softmax and poisson are solved elsewhere)
    if risk.loss.signed:
        rows, offset, low, high = X * -y[:, None], np.full(len(y), of.centre), -of.high, -of.low
    else:
        rows, offset, low, high = X, -y, of.low, of.high
    if risk.loss.smooth:
        x, _ = smooth.minimise(risk, x0, lambda _, norm: norm <= _FLAT)
        slopes = losses.slopes(risk.loss, X @ x, y)
        u, how = np.asarray(slopes * (-y if risk.loss.signed else 1.0), dtype=np.float64), "L-BFGS, Newton"
    elif solver == "clarabel" or (solver == "auto" and entries <= CLARABEL_LIMIT):
        x, u = _program(rows, offset, (low, high), risk, what)
        how = "Clarabel"
    else:
        x, u = _smoothed(rows, offset, (low, high), risk, x0)
        how = "L-BFGS on smoothed losses"
    if risk.nu > 0.0:
        u = np.clip(u, low, high)
        # The dual point implies a primal one; the better of the two is kept.
        implied = rows.T @ (risk.omega * u) / -risk.nu
        x = min((x, implied), key=risk.value)
    else:
        u = repair(u, low, high, rows.T * risk.omega, np.zeros(len(x)))
        if how == "Clarabel":
            x = _nearer(rows, offset, (low, high), risk, x, x0, what)
    value, rest = risk.value(x), rows.T @ (risk.omega * u)
    most = max(1.0, float(np.abs(u).max()))
    slip = (len(y) + len(x)) * EPS * most * float(risk.omega @ np.linalg.norm(rows, axis=1))  # of the sum behind rest
    norm = float(np.linalg.norm(rest)) + slip
    lower = float((risk.omega * u) @ (offset - (0.5 * u / of.curvature if of.curvature else 0.0)))
    if risk.nu > 0.0:
        lower -= norm**2 / (2.0 * risk.nu)
        how += ", duality gap"
    else:
        away = float(np.linalg.norm(x)) + float(np.linalg.norm(x - x0))
        radius = 10.0 * (1.0 + away)
        lower += float(rest @ x) - norm * radius
        how += f", dual bound over radius {radius:.3g}"
    # Margins as sums of absolute values: large entries of opposite signs leave a rounding error behind.
    size = most * float(risk.omega @ (np.abs(rows) @ np.abs(x) + np.abs(offset))) + abs(value)
    gap = max(value - lower, 0.0) + (len(y) + 2 * len(x) + 16) * EPS * size
    check_gap(gap, value, what)
    distance = clip_up(float(np.sqrt(2.0 * gap / risk.nu)), 4) if risk.nu > 0.0 else None
    return Optimum(x, value, gap, distance, how)


def _nearer(rows: Floats, offset: Floats, ends: Ends, risk: Risk, x: Floats, x0: Floats, what: str) -> Floats:
    """Return a point closer to x0 that gives up at most 1e-4 of f(x0) − f(x), and half of what is allowed.

    A bound holds with any comparison point, at the cost of its gap. Minimisers of hinge losses may lie far
    out, where ‖x0 − x‖ would make a bound idle; the proximal point of this weight is not worse than said.
    """
    away = float(np.linalg.norm(x - x0))
    gain = risk.value(x0) - risk.value(x)
    if away == 0.0 or gain <= 0.0:
        return x
    given = min(1e-4 * gain, 0.5 * ALLOWED * max(1.0, abs(risk.value(x))))
    pull = replace(risk, nu=2.0 * given / away**2)
    moved, _ = _program(rows, rows @ x0 + offset, ends, pull, what)
    near = x0 + moved
    return near if float(np.linalg.norm(moved)) < away else x


def _program(rows: Floats, offset: Floats, ends: Ends, risk: Risk, what: str) -> tuple[Floats, Floats]:
    """Solve the linear (ν = 0) or quadratic program with Clarabel; return x and the dual u."""
    cp = cvxpy()
    x, t, z = cp.Variable(rows.shape[1]), cp.Variable(len(rows)), cp.Variable(len(rows))
    # z is a variable of its own, so that the wide rows enter the program once.
    low, high = ends
    above, below = t >= high * z, t >= low * z
    # Divided by the mean of ω the dual variables are of order 1, like the solver's tolerances.
    scale = float(risk.omega.mean())
    objective: Any = (risk.omega / scale) @ t
    if risk.nu > 0.0:
        objective = objective + risk.nu / scale / 2.0 * cp.sum_squares(x)
    program = cp.Problem(cp.Minimize(objective), [above, below, z == rows @ x + offset])
    # The bound is computed from the dual point itself, so looser tolerances cost width, never soundness.
    if clarabel(program, (TIGHT, 1e-7, 1e-5), what) != "optimal":
        raise CertificateError(f"{what}: Clarabel found no minimum; scale the data or set nu > 0")
    share = np.divide(scale, risk.omega, out=np.zeros(len(rows)), where=risk.omega > 0.0)  # any u fits to no weight
    u = (high * np.asarray(above.dual_value) + low * np.asarray(below.dual_value)) * share
    return np.asarray(x.value, dtype=np.float64), u


def _smoothed(rows: Floats, offset: Floats, ends: Ends, risk: Risk, start: Floats) -> tuple[Floats, Floats]:
    """Follow the minimisers of max_u(u·z − width·u²/2) as the width shrinks; return x and u."""
    from scipy.optimize import minimize

    def smooth(x: Floats, width: float) -> tuple[float, Floats]:
        z = rows @ x + offset
        u = np.clip(z / width, *ends)
        value = float(risk.omega @ (u * z - 0.5 * width * u * u)) + 0.5 * risk.nu * float(x @ x)
        return value, rows.T @ (risk.omega * u) + risk.nu * x

    x = np.asarray(start, dtype=np.float64)
    for width in _WIDTHS:
        options = {"maxiter": 2000, "maxfun": 2500, "maxcor": 20, "gtol": 1e-9, "ftol": 1e-14}
        x = minimize(smooth, x, args=(width,), jac=True, method="L-BFGS-B", options=options).x
    return x, np.clip((rows @ x + offset) / _WIDTHS[-1], *ends)
