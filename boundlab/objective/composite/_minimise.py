"""Minimise f + h, with a certificate that rounding cannot break.

A subgradient v of F at a point p says F(p) − F* ≤ ‖v‖²/(2μ) and ‖p − x*‖ ≤ ‖v‖/μ where f is μ-strongly convex. Without
μ, f(y) ≥ f(p) + ⟨∇f(p), y − p⟩ gives F* from below, for all that is left is a maximum over the y where h is not too
large: Fenchel's dual value (:meth:`boundlab.objective.simple.ProxFunction.duality_gap`). Where line and h together
grow in all directions at a rate that rounding cannot explain, p is x* itself
(:meth:`boundlab.objective.simple.ProxFunction.sharpness`).

Least squares have more: their minimiser is found to the last digits (:func:`polished`), and Fenchel's dual is evaluated
in balls (:func:`interval`).
"""

from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.near import NEAR, Near, norm, sqrt, strayed
from boundlab.arithmetic.numbers import EXACT
from boundlab.errors import CertificateError
from boundlab.objective import EPS, Floats, LeastSquaresForm, Optimum, Problem
from boundlab.objective.simple import BallIndicator, ProxFunction
from boundlab.randomness import Ints

# Least squares plus h: from a point near the minimiser to the minimiser, as exactly as floats allow.
#
# First-order methods stand still where the data are badly scaled. Here h decides what is left to solve: on a box and
# with ‖x‖₁ one system of equations for the coordinates that may move, whose set is changed one by one until nothing
# pulls (Lee, Battle, Raina and Ng 2006 for ‖x‖₁); on a ball one equation for the multiplier.

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
        pulls = h.shortest(x, slope)[0].value
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


def _go(x: Floats, free: Ints, move: Floats, low: Floats, high: Floats) -> bool:
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


# Fenchel's dual of least squares plus h, in balls: an interval around F* that no rounding breaks.
#
# ½e² ≥ u·e − ½u² for every number u, so that for weights ω_j, residuals a_jᵀx − y_j and any u
#
#     F(x) ≥ −Σ_j ω_j·(u_j·y_j + ½u_j²) + ⟨Σ_j ω_j·u_j·a_j, x⟩ + ν/2‖x‖² + h(x)
#
# for all x, and the minimum of the right side over x is known: h and its conjugate are simple. At the residuals of x*
# it is F*. Those of a point near it are shrunk to where the conjugate is finite (Fercoq, Gramfort and Salmon 2015).

_LARGEST: Final = 1_000_000  # entries of the features: a second


def interval(form: LeastSquaresForm, h: ProxFunction, x: Floats) -> tuple[float, float] | None:
    """Return floats below and above F*: the dual value at the residuals of x, and F(x); None for much data.

    Parameters
    ----------
    x
        Shape (d,): in the domain of h but for rounding, which is taken off.
    """
    if sum(rows.size for rows in form.rows) > _LARGEST:
        return None
    with numbers.digits(numbers.START_BITS):
        low, high = _interval(form, h, x)
    return numbers.float_ends(low)[1], numbers.float_ends(high)[2]


def _interval(form: LeastSquaresForm, h: ProxFunction, x: Floats) -> tuple[Any, Any]:
    arb, matrix = numbers.flint().arb, numbers.flint().arb_mat
    n, d = len(form.rows), len(x)
    # A weight other than 1 comes from a share of the samples, and is rounded.
    weights = [arb(1) if one == 1.0 else numbers.near(one, 4.0 * EPS) for one in form.weights.tolist()]
    nu = arb(form.nu) * sum(weights, start=arb(0)) / n
    point = h.prox(np.array([arb(entry) for entry in x.tolist()], dtype=object), arb(0), EXACT)
    column = matrix([[entry] for entry in point])
    linear, square, loss, slope = arb(0), arb(0), arb(0), matrix(1, d)
    for weight, rows, targets in zip(weights, form.rows, form.targets, strict=True):
        features, y = matrix(rows.tolist()), [arb(one) for one in targets.tolist()]
        errors = [found - target for found, target in zip((features * column).entries(), y, strict=True)]
        u = [error.mid() for error in errors]
        factor = weight / (n * len(y))
        linear += factor * sum((one * target for one, target in zip(u, y, strict=True)), start=arb(0))
        square += factor * sum((one * one for one in u), start=arb(0))
        loss += factor * sum((error * error for error in errors), start=arb(0)) / 2
        slope += matrix([u]) * features * factor
    high = loss + nu * sum((entry * entry for entry in point), start=arb(0)) / 2 + h.values(point, EXACT)
    pull = np.array(slope.entries(), dtype=object)
    lows = []
    for share in (arb(1), h.shrink(pull)):
        lowest = h.lowest(share * pull, nu)
        lows.append((lowest - share * linear - share * share * square / 2).lower())
    return max((low for low in lows if low.is_finite()), default=arb("-inf")), high


_ROUNDS = 40_000
_LOOK = 10  # rounds between looks at the residual
_PATIENCE = 100  # looks without a smaller residual
_SMALLER = 0.98


@final
@dataclass(frozen=True, slots=True)
class Minimised:
    """A minimiser of f + h, and ‖∇f(x*)‖ from above, unit (1, −1)."""

    optimum: Optimum
    slope: float


def minimise(f: Problem, h: ProxFunction) -> Minimised:
    """Return the minimiser of f + h by accelerated proximal gradients.

    Raises
    ------
    CertificateError
        If f is not smooth, or its family does not say what rounding does to its values and gradients.
    """
    if (own := _own(f, h)) is not None:
        return own
    constants, x = f.constants(), np.asarray(f.x0, dtype=np.float64).copy()
    met = f.assumptions()
    missing = next((why for name in ("smooth", "convex") if (why := met.get(name, f"{name} is not claimed"))), "")
    if missing or "L" not in constants:
        why = missing or "there is no L"
        raise CertificateError(f"problem {f.id}: f + h is minimised for smooth convex f, and here {why}")
    if f.rounding(x) is None:
        raise CertificateError(f"problem {f.id}: {_unknown_rounding(f)}, so that f + h has no certificate")
    L = max(constants["L"].value, float(np.finfo(np.float64).tiny))
    points, form = [_descend(f, h, x, 1.0 / L)], f.least_squares()
    if form is not None:
        points.append(polished(form, h, points[0]))
    return min((_certify(f, h, p, L, form) for p in points), key=lambda found: found.optimum.gap)


def _own(f: Problem, h: ProxFunction) -> Minimised | None:
    """Return the minimiser of f where it surely lies within the set whose indicator h is: there it is that of F, too.

    Its gradient vanishes where f is smooth, and no step of a solver is needed.
    """
    try:
        best = f.optimum() if h.bounded and f.assumptions().get("minimiser", "unsaid") == "" else None
    except CertificateError:
        return None
    if best is None or best.distance is None or f.assumptions().get("smooth", "unsaid"):
        return None
    x = np.asarray(best.x, dtype=np.float64)
    return Minimised(best, 0.0) if h.holds_ball(x, best.distance) else None


def _unknown_rounding(f: Problem) -> str:
    if f.dtype is not np.float64:
        return "dtype=float32 rounds values and gradients by nobody knows how much (set dtype=float64)"
    return "it does not say how far rounding puts its values and gradients off (Problem.rounding)"


def _descend(f: Problem, h: ProxFunction, x: Floats, size: float) -> Floats:
    """Return the result of a proximal map with the smallest residual.

    Source: Beck and Teboulle 2009 (FISTA), restarted where the momentum points up (O'Donoghue and Candès 2015).
    """
    y, t, best, least, waited = x.copy(), 1.0, x, np.inf, 0
    for turn in range(_ROUNDS):
        new = h.prox(y - size * f.full_gradient(y), size)
        if float((y - new) @ (new - x)) > 0.0:
            y, t = new.copy(), 1.0
        else:
            after = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
            y, t = new + (t - 1.0) / after * (new - x), after
        x = new
        if turn % _LOOK:
            continue
        slope = f.full_gradient(x)
        residual = float(np.linalg.norm(h.shortest(x, slope)[0].value))
        waited = 0 if residual < _SMALLER * least else waited + 1
        if residual < least:
            best, least = x, residual
        found = f.rounding(x)
        if waited > _PATIENCE or (found is not None and residual <= found[1]):
            break
    return best


def _certify(f: Problem, h: ProxFunction, p: Floats, L: float, form: LeastSquaresForm | None) -> Minimised:
    """Return the point with the better of the two certificates."""
    found = f.rounding(p)
    assert found is not None  # noqa: S101  (asked before)
    slope, error = f.full_gradient(p), found[1]
    steep, value = norm(slope), f.value(p) + h.value(p)
    off = float(strayed(value, Near(f.value(p), found[0]) + h.near(p)))
    start, bounds = np.asarray(f.x0, dtype=np.float64), f.constants()
    mu = bounds["mu"].value if "mu" in bounds else 0.0
    gap, distance, how = np.inf, None, "accelerated proximal gradient, Fenchel's dual"
    if h.bounded:  # h(y) ≤ 0 wherever it is finite, whether or not f is bounded below
        gap = float((h.duality_gap(p, slope, error, 0.0) + Near(off)).upper)
    elif "F0" in bounds:
        at_start = f.rounding(start)
        assert at_start is not None  # noqa: S101
        lowest = Near(f.value(start), at_start[0]) - bounds["F0"].value
        reach = float(NEAR.positive(value + Near(off) - lowest).upper)
        gap = float((h.duality_gap(p, slope, error, reach) + Near(off)).upper)
    if mu > 0.0:
        v, away = h.shortest(p, slope)
        residual = norm(v) + error + L * Near(away)
        # h allows the point at a distance of ``away``; what f changes by until there is counted.
        strong = float((residual**2 / (2.0 * mu) + (steep + error + L * Near(away)) * away + off).upper)
        distance = float((residual / mu + away).upper)
        if strong <= gap:
            gap, how = strong, "accelerated proximal gradient, ‖∂F‖/mu"
    if form is not None and (ends := interval(form, h, p)) is not None:
        between = float(np.nextafter(max(ends[1], value) - min(ends[0], value), np.inf))
        if between <= gap:
            gap, how = between, "active set, Fenchel's dual in balls"
            if mu > 0.0:  # a smaller distance than the gradient's is kept
                by_gap = float((sqrt(2.0 * Near(gap) / mu) + away).upper)
                distance = by_gap if distance is None else min(distance, by_gap)
    if h.sharpness(p, slope) > error:
        gap, distance, how = off, 0.0, "a corner: F grows at a certified rate"
    if not np.isfinite(gap):
        raise CertificateError(f"problem {f.id}: f has no lower bound, so that nothing certifies a minimum of f + h")
    # ‖∇f(p) − ∇f(x*)‖² ≤ 2L·(F(p) − F*): f is smooth, and x* minimises f + h.
    at_best = steep + error + sqrt(2.0 * L * Near(gap))
    return Minimised(Optimum(p, value, gap, distance, how), float(at_best.upper))
