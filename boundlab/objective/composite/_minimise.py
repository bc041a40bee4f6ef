"""Minimise f + h, with a certificate that rounding cannot break.

A subgradient v of F at a point p says F(p) − F* ≤ ‖v‖²/(2μ) and ‖p − x*‖ ≤ ‖v‖/μ where f is μ-strongly convex. Without
μ, f(y) ≥ f(p) + ⟨∇f(p), y − p⟩ gives F* from below, for all that is left is a maximum over the y where h is not too
large: Fenchel's dual value (:meth:`boundlab.objective.simple.ProxFunction.duality_gap`). Where line and h together
grow in all directions at a rate that rounding cannot explain, p is x* itself
(:meth:`boundlab.objective.simple.ProxFunction.sharpness`).

Least squares have more: their minimiser is found to the last digits (:mod:`boundlab.objective.composite._polish`), and
Fenchel's dual is evaluated in balls (:mod:`boundlab.objective.composite._dual`).
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from boundlab.errors import CertificateError
from boundlab.objective import EPS, Floats, LeastSquaresForm, Optimum, Problem
from boundlab.objective.composite._dual import interval
from boundlab.objective.composite._polish import polished
from boundlab.objective.simple import ProxFunction

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
        residual = float(np.linalg.norm(h.shortest(x, slope)[0]))
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
    off, error = found
    slope = f.full_gradient(p)
    steep, d = float(np.linalg.norm(slope)), f.d
    error += (d + 16) * EPS * steep
    value = f.value(p) + h.value(p)
    off += (d + 8) * EPS * (abs(value) + h.value(p))
    start, bounds = np.asarray(f.x0, dtype=np.float64), f.constants()
    mu = bounds["mu"].value if "mu" in bounds else 0.0
    gap, distance, how = np.inf, None, "accelerated proximal gradient, Fenchel's dual"
    if h.bounded:  # h(y) ≤ 0 wherever it is finite, whether or not f is bounded below
        gap = h.duality_gap(p, slope, error, 0.0) + off
    elif "F0" in bounds:
        at_start = f.rounding(start)
        assert at_start is not None  # noqa: S101
        lowest = f.value(start) - at_start[0] - bounds["F0"].value
        gap = h.duality_gap(p, slope, error, max(value + off - lowest, 0.0)) + off
    if mu > 0.0:
        v, away = h.shortest(p, slope)
        residual = (float(np.linalg.norm(v)) + error + L * away) * (1.0 + (d + 8) * EPS)
        # h allows the point at a distance of ``away``; what f changes by until there is counted.
        strong = residual**2 / (2.0 * mu) + (steep + error + L * away) * away + off
        distance = residual / mu * (1.0 + 4.0 * EPS) + away
        if strong <= gap:
            gap, how = strong, "accelerated proximal gradient, ‖∂F‖/mu"
    if form is not None and (ends := interval(form, h, p)) is not None:
        between = float(np.nextafter(max(ends[1], value) - min(ends[0], value), np.inf))
        if between <= gap:
            gap, how = between, "active set, Fenchel's dual in balls"
            if mu > 0.0:  # a smaller distance than the gradient's is kept
                by_gap = (float(np.sqrt(2.0 * gap / mu)) + 4.0 * EPS * float(np.linalg.norm(p))) * (
                    1.0 + d * EPS
                ) + away
                distance = by_gap if distance is None else min(distance, by_gap)
    if h.sharpness(p, slope) > error:
        gap, distance, how = off, 0.0, "a corner: F grows at a certified rate"
    if not np.isfinite(gap):
        raise CertificateError(f"problem {f.id}: f has no lower bound, so that nothing certifies a minimum of f + h")
    # ‖∇f(p) − ∇f(x*)‖² ≤ 2L·(F(p) − F*): f is smooth, and x* minimises f + h.
    at_best = (steep + error + np.sqrt(2.0 * L * gap)) * (1.0 + 8.0 * EPS)
    return Minimised(Optimum(p, value, gap, distance, how), float(at_best))
