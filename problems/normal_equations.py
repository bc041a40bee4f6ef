"""Minimise a weighted sum of squares Σ_j ω_j·½(a_jᵀx − y_j)² + ν/2‖x‖², with a certificate that allows for rounding."""

import numpy as np

from boundlab.errors import CertificateError
from boundlab.objective import EPS, Array, Floats, Optimum
from boundlab.problems.common import clip_up
from boundlab.problems.risk import Risk, smallest_eigenvalue

_DENSE = 4000  # up to this d the normal equations are solved
_REGULARISED = 2 * _DENSE  # with a regulariser, which fills their matrix whatever the rows are: 10 s
_REFINED = 3


def hessian(risk: Risk) -> Floats:
    """Return Σ_j ω_j a_j a_jᵀ + ν·I, shape (d, d), unit (1, −2)."""
    out = risk.hessian(np.zeros(risk.d))
    return (out + out.T) / 2.0


def shortest(risk: Risk) -> Floats:
    """Return the minimiser next to 0, shape (d,), unit (0, 1), as a QR decomposition gives it: no product AᵀA."""
    roots = np.sqrt(risk.omega)
    A, y = roots[:, None] * risk.X.astype(np.float64), roots * risk.y
    if risk.nu > 0.0:
        A = np.vstack([A, np.sqrt(risk.nu) * np.eye(risk.d)])
        y = np.concatenate([y, np.zeros(risk.d)])
    return np.asarray(np.linalg.lstsq(A, y, rcond=None)[0])


def gradient_norm(risk: Risk, x: Floats) -> float:
    """Return ‖∇f(x)‖, unit (1, −1), from above."""
    return float(np.linalg.norm(risk.gradient(x))) * (1.0 + (risk.d + 4) * EPS) + risk.rounding(x)


def curvature(matrix: Floats, risk: Risk) -> float:
    """Return how curved f is at least, unit (1, −2), by its :func:`hessian`; 0 where nothing is sure."""
    by_rows = smallest_eigenvalue(matrix, len(risk.X)) * (1.0 - 16.0 * EPS)
    return max(by_rows, risk.nu * (1.0 - 4.0 * EPS))


def solve(risk: Risk, start: Array, what: str) -> Optimum:
    """Return the minimiser next to a point, with its certificate.

    Where f has a curvature of at least m > 0, ‖x − x*‖ ≤ ‖∇f(x)‖/m and f(x) − f* ≤ ‖∇f(x)‖²/(2m). Features that are 0
    in all rows play no part. Without regulariser and with independent rows there are solutions of a_jᵀx = y_j, the
    nearest of them within ‖(A x − y)‖/√λ_min(AAᵀ) of x.

    Parameters
    ----------
    start
        Shape (d,).
    what
        Who asks, for messages.

    Raises
    ------
    CertificateError
        If neither is sure: the columns and the rows of A are linearly dependent, to rounding; or d is too large.
    """
    x: Floats = np.array(start, dtype=np.float64)
    # With a regulariser a feature that is always 0 has the minimiser 0, without one any number.
    used = np.ones(risk.d, dtype=np.bool_) if risk.nu > 0.0 else risk.X.any(axis=0)
    if not used.any():
        return Optimum(x, risk.value(x), risk.value_rounding(x), 0.0, "all features are 0, so f is constant")
    if min(int(used.sum()), len(risk.X)) > _DENSE:
        raise CertificateError(f"{what}: x* is certified for d ≤ {_DENSE} features or samples, got {risk.d}")
    if risk.nu > 0.0 and risk.d > _REGULARISED:
        raise CertificateError(f"{what}: with nu > 0 x* is certified for d ≤ {_REGULARISED} features, got {risk.d}")
    inner = Risk(risk.loss, risk.X[:, used].astype(np.float64, copy=False), risk.y, risk.omega, risk.nu, 1)
    near = x[used]
    matrix = hessian(inner) if risk.nu > 0.0 or len(inner.X) >= inner.d else None
    curved = 0.0 if matrix is None else curvature(matrix, inner)
    if matrix is not None and curved > 0.0:
        x[used] = near = _newton(inner, matrix, near)
        norm = gradient_norm(inner, near)
        gap = clip_up(norm**2 / (2.0 * curved), 8) + risk.value_rounding(x)
        return Optimum(x, risk.value(x), gap, clip_up(norm / curved, 4), "normal equations, ‖∇f‖/mu")
    weighted: Floats = np.sqrt(risk.omega)[:, None] * np.asarray(inner.X, dtype=np.float64)
    spread = smallest_eigenvalue(weighted @ weighted.T, inner.d)
    if not spread > 0.0:
        raise CertificateError(
            f"{what}: the features are linearly dependent, to rounding, so that no minimiser is certified; set nu > 0"
        )
    x[used] = near = _interpolate(inner, weighted, near)
    _, _, errors = inner.sizes(near)
    left = float(np.linalg.norm(np.sqrt(risk.omega) * errors)) * (1.0 + (len(risk.X) + 8) * EPS)
    gap = risk.value(x) + risk.value_rounding(x)  # f* = 0
    return Optimum(x, risk.value(x), gap, clip_up(left / np.sqrt(spread), 4), "interpolation, ‖Ax − y‖/√λ_min(AAᵀ)")


def _newton(risk: Risk, matrix: Floats, x: Floats) -> Floats:
    """Do Newton steps; the first lands, the others take off what rounding left."""
    from scipy.linalg import cho_factor, cho_solve

    try:
        factor = cho_factor(matrix, check_finite=False)
    except np.linalg.LinAlgError:  # features of very different sizes drown nu in rounding
        return shortest(risk)
    best, least = x, np.inf
    for _ in range(1 + _REFINED):
        x = x - cho_solve(factor, risk.gradient(x), check_finite=False)
        norm = float(np.linalg.norm(risk.gradient(x)))
        if norm >= least:
            break
        best, least = x, norm
    return best


def _interpolate(risk: Risk, weighted: Floats, x: Floats) -> Floats:
    """Return the point next to x with a_jᵀx = y_j for all rows."""
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(weighted @ weighted.T, check_finite=False)
    for _ in range(1 + _REFINED):
        errors = np.sqrt(risk.omega) * (risk.X @ x - risk.y)
        x = x - weighted.T @ cho_solve(factor, errors, check_finite=False)
    return x
