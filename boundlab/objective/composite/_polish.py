"""Least squares plus h: from a point near the minimiser to the minimiser, as exactly as floats allow.

First-order methods stand still where the data are badly scaled. Here h decides what is left to solve: on a box and
with ‖x‖₁ one system of equations for the coordinates that may move, whose set is changed one by one until nothing
pulls (Lee, Battle, Raina and Ng 2006 for ‖x‖₁); on a ball one equation for the multiplier.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from boundlab.objective import EPS, Floats, LeastSquaresForm
from boundlab.objective.simple import BallIndicator, ProxFunction

_WORK: Final = 2e9  # multiplications of all decompositions
_REFINED = 3
_TURNS: Final = 50  # for each coordinate
_FAR: Final = 1e12
_IN_RANGE: Final = 1e-6  # a slope that is no combination of the singular vectors but for this part of it


def polished(form: LeastSquaresForm, h: ProxFunction, start: Floats) -> Floats:
    """Return a point whose F is no larger but for rounding; at best the minimiser next to it, shape (d,).

    Parameters
    ----------
    start
        A result of h's proximal map, shape (d,).
    """
    n, d = len(form.rows), len(start)
    roots = [np.sqrt(w / (n * len(rows))) for w, rows in zip(form.weights, form.rows, strict=True)]
    ridge = np.sqrt(form.nu * float(form.weights.mean()))
    B = np.vstack([*(root * rows for root, rows in zip(roots, form.rows, strict=True)), ridge * np.eye(d)])
    c = np.concatenate([*(root * one for root, one in zip(roots, form.targets, strict=True)), np.zeros(d)])
    if float(len(B)) * d * d > _WORK or not np.isfinite(B).all():
        return start
    if isinstance(h, BallIndicator):
        return _on_ball(B, c, float(h.radius))
    return start if h.piece(start) is None else _on_pieces(B, c, h, start)


def _on_ball(B: Floats, c: Floats, radius: float) -> Floats:
    """Return argmin ‖Bx − c‖ over ‖x‖ ≤ radius: (BᵀB + λI)x = Bᵀc, with λ from the norm of x."""
    from scipy.optimize import brentq

    U, s, Vt = np.linalg.svd(B, full_matrices=False)
    kept = s > s[0] * max(B.shape) * EPS
    s, along, Vt = s[kept], (U.T @ c)[kept], Vt[kept]

    def at(multiplier: float) -> Floats:
        out: Floats = s * along / (s * s + multiplier)
        return out

    found = at(0.0)
    if float(np.linalg.norm(found)) > radius:
        most = float(np.linalg.norm(s * along)) / radius
        found = at(float(brentq(lambda one: float(np.linalg.norm(at(one))) - radius, 0.0, most, xtol=1e-300)))
    x: Floats = found @ Vt
    norm = float(np.linalg.norm(x))
    return x * (radius / norm * (1.0 - 4.0 * EPS)) if norm > radius else x


def _on_pieces(B: Floats, c: Floats, h: ProxFunction, start: Floats) -> Floats:
    """Return the minimiser of ½‖Bx − c‖² + h, for an h that is linear in each coordinate between some ends."""
    x, sizes = start.copy(), np.abs(B)
    R: Floats = np.asarray(np.linalg.qr(B, mode="r"))
    work, full = 0.0, 0
    for _ in range(100 + _TURNS * len(x)):
        found = h.piece(x)
        assert found is not None  # noqa: S101  (asked before)
        low, high, rate = found
        free, residual = np.flatnonzero(low < high), B @ x - c
        slope: Floats = B.T @ residual
        if len(free) and full < _REFINED:
            work += len(R) * float(len(free)) ** 2
            if work > _WORK:
                break
            move = _newton(R[:, free], slope[free] + rate[free])
            full = full + 1 if _go(x, free, move, low[free], high[free]) else 0
            continue
        # The coordinates that may move stand where they should: is one to be set free?
        full = 0
        pulls = h.shortest(x, slope)[0]
        pulls[free] = 0.0
        pulls[np.abs(pulls) <= 16.0 * EPS * (sizes.T @ (np.abs(residual) + sizes @ np.abs(x)))] = 0.0
        if not pulls.any():
            break
        most = int(np.abs(pulls).argmax())
        x[most] = np.nextafter(x[most], -np.inf * pulls[most])
    return x


def _newton(R: Floats, slope: Floats) -> Floats:
    """Return the shortest step to where RᵀRx changes by −slope, or −slope itself where that falls without end."""
    _, s, Vt = np.linalg.svd(R, full_matrices=False)
    kept = s > s[0] * max(R.shape) * EPS
    along = Vt[kept] @ slope
    flat = slope - along @ Vt[kept]
    if float(np.linalg.norm(flat)) > _IN_RANGE * float(np.linalg.norm(slope)) and not kept.all():
        far: Floats = -flat * (_FAR / float(np.linalg.norm(flat)))
        return far
    out: Floats = -(along / s[kept] ** 2) @ Vt[kept]
    return out


def _go(x: Floats, free: NDArray[np.int64], move: Floats, low: Floats, high: Floats) -> bool:
    """Move the free coordinates until one meets an end, and say whether none did."""
    here = x[free]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        room = np.where(move > 0.0, (high - here) / move, np.where(move < 0.0, (low - here) / move, np.inf))
    first = int(room.argmin())
    if room[first] >= 1.0:
        x[free] = np.clip(here + move, low, high)
        return True
    x[free] = np.clip(here + max(float(room[first]), 0.0) * move, low, high)
    x[free[first]] = high[first] if move[first] > 0.0 else low[first]
    return False
