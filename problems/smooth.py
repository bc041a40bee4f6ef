"""Minimise a smooth risk, with the certificate ‖∇f‖²/(2μ) ≥ f(x) − f*, ‖∇f‖/μ ≥ ‖x − x*‖."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from boundlab.errors import CertificateError
from boundlab.objective import Floats, Optimum
from boundlab.problems.common import EPS, clip_up
from boundlab.problems.risk import Risk
from boundlab.problems.solvers import LOOSE, clarabel, cvxpy

Solver = Literal["auto", "clarabel", "newton"]
SOLVERS: tuple[Solver, ...] = ("auto", "clarabel", "newton")
CLARABEL_LIMIT = 200_000  # S·d entries: below a second or so for the exponential cones of logistic and softmax
UNREGULARISED_LIMIT = 3_000_000_000  # S·d² without regulariser: up to 60 Hessians, half a minute
_DENSE = 1500  # up to this d Newton's method factorises the Hessian
_NEAR = 1e-4  # of the first ‖∇f‖, where Newton's steps begin
_ROUNDS = 60
_CG_ROUNDS = 250
_LOOSE = 1e-6  # of ‖x‖: where x* may be further away, the curvature at x is looked at
Enough = Callable[[Floats, float], bool]


def minimise(risk: Risk, start: Floats, enough: Enough) -> tuple[Floats, float]:
    """Return a point that is good enough, or as good as rounding allows, and its ‖∇f‖.

    Newton's method with the Cholesky factor up to d = 1500, beyond with conjugate gradients; where there are many
    dimensions or curvatures jump after L-BFGS.

    Parameters
    ----------
    start
        Shape (d,).
    enough
        Called as enough(x, ‖∇f(x)‖); says when to stop.
    """
    x = start
    if risk.d > _DENSE:
        x = _lbfgs(risk, x, enough)
    elif risk.loss.bending is None:  # far away curvatures that jump lead Newton's steps to and fro
        far = float(np.linalg.norm(risk.gradient(x)))
        x = _lbfgs(risk, x, lambda at, norm: norm <= _NEAR * far or enough(at, norm))
    value, gradient = risk.value_and_gradient(x)
    norm = float(np.linalg.norm(gradient))
    for _ in range(_ROUNDS):
        if enough(x, norm):
            break
        step = _newton_step(risk, x, gradient, norm)
        slope = float(gradient @ step)
        size = 1.0
        for _ in range(40):
            trial = x + size * step
            new_value, new_gradient = risk.value_and_gradient(trial)
            new_norm = float(np.linalg.norm(new_gradient))
            # Near the optimum values differ by rounding only; there the gradient's norm decides.
            close = new_norm < 0.5 * norm and new_value <= value + 64 * EPS * (1.0 + abs(value))
            if close or new_value <= value + 1e-4 * size * slope:
                break
            size *= 0.5
        else:
            break
        if new_norm >= norm and new_value >= value:
            break
        x, value, gradient, norm = trial, new_value, new_gradient, new_norm
    return x, norm


def _newton_step(risk: Risk, x: Floats, gradient: Floats, norm: float) -> Floats:
    if risk.d > _DENSE:
        return _conjugate_gradients(risk, x, gradient, norm)
    from scipy.linalg import cho_factor, cho_solve, eigh

    hessian = risk.hessian(x)
    if risk.nu > 0.0:
        with contextlib.suppress(np.linalg.LinAlgError):  # features of very different sizes drown nu in rounding
            step: Floats = -cho_solve(cho_factor(hessian, check_finite=False), gradient)
            return step
    # Some directions may be flat, without regulariser or to rounding; the gradient has no part in them.
    curved, basis = eigh(hessian, check_finite=False)
    flat = curved <= 1e-13 * len(curved) * curved[-1]
    inverse = np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, curved))
    return np.asarray(-(basis * inverse) @ (basis.T @ gradient))


def _conjugate_gradients(risk: Risk, x: Floats, gradient: Floats, norm: float) -> Floats:
    """Solve ∇²f·step = −∇f to a relative residual that shrinks with ‖∇f‖."""
    from scipy.sparse.linalg import LinearOperator, cg

    weight = risk.weights(x)
    hessian = LinearOperator((risk.d, risk.d), matvec=lambda v: risk.hessian_product(weight, v), dtype=np.float64)
    return np.asarray(cg(hessian, -gradient, rtol=min(1e-2, norm), maxiter=_CG_ROUNDS)[0])


def _lbfgs(risk: Risk, start: Floats, enough: Enough) -> Floats:
    from scipy.optimize import minimize

    last: tuple[Floats, float] = (start, np.inf)

    def both(x: Floats) -> tuple[float, Floats]:
        nonlocal last
        value, gradient = risk.value_and_gradient(x)
        last = (x.copy(), float(np.linalg.norm(gradient)))
        return value, gradient

    def stop(x: Floats) -> None:
        # L-BFGS accepts the point that its line search evaluated last.
        if np.array_equal(x, last[0]) and enough(x, last[1]):
            raise StopIteration

    options = {"maxiter": 3000, "maxfun": 4000, "maxcor": 20, "gtol": 0.0, "ftol": 0.0, "maxls": 40}
    found = minimize(both, start, jac=True, method="L-BFGS-B", callback=stop, options=options)
    return np.asarray(found.x, dtype=np.float64)


def _clarabel_start(risk: Risk, what: str) -> Floats:
    cp = cvxpy()
    X, y, omega = risk.X.astype(np.float64), risk.y, risk.omega
    x: Any
    if risk.classes == 1:
        x = cp.Variable(X.shape[1])
        total = omega @ cp.logistic(-cp.multiply(np.asarray(y, dtype=np.float64), X @ x))
    else:
        x = cp.Variable((X.shape[1], risk.classes))
        linear = X.T @ (np.eye(risk.classes)[y] * omega[:, None])
        total = omega @ cp.log_sum_exp(X @ x, axis=1) - cp.sum(cp.multiply(linear, x))
    bent = x[: X.shape[1] - 1] if risk.free else x
    clarabel(cp.Problem(cp.Minimize(total + risk.nu / 2.0 * cp.sum_squares(bent))), (LOOSE,), what)
    return np.asarray(x.value, dtype=np.float64).ravel()


def solve(risk: Risk, solver: Solver, what: str) -> Optimum:
    """Return the minimiser of a smooth risk with its certificate.

    Parameters
    ----------
    solver
        ``auto``: Clarabel where S·d ≤ 200,000, polished by Newton's method; beyond Newton's method or
        L-BFGS alone, to the same certificate. ``clarabel``, ``newton``: always, never.
    what
        Who asks, for messages.

    Raises
    ------
    CertificateError
        If no certificate is reached, e.g. because the minimum is not attained, or the problem is too large for one.
    """
    if risk.nu == 0.0 or risk.free:
        _affordable(risk, solver, what)
    # Without exponentials L-BFGS begins.
    use = risk.loss.bending is not None and (
        solver == "clarabel" or (solver == "auto" and len(risk.X) * risk.d <= CLARABEL_LIMIT)
    )
    start = _clarabel_start(risk, what) if use else np.zeros(risk.d)
    first = "Clarabel, " if use else "L-BFGS, " if risk.d > _DENSE or risk.loss.bending is None else ""
    if risk.nu > 0.0 and not risk.free:
        # Factorised Newton steps converge quadratically, so the last digits are free; L-BFGS pays for each.
        goal = float(np.sqrt(2.0 * risk.nu * (1e-12 if risk.d > _DENSE else 1e-16 if risk.loss.bending else 1e-24)))
        x, _ = minimise(risk, start, lambda _, norm: norm <= goal)
        value, gradient = risk.value_and_gradient(x)
        norm = float(np.linalg.norm(gradient)) + risk.rounding(x)
        gap, away = _near(risk, x, norm)
        how = "‖∇f‖/mu" if away >= norm / risk.nu else "self-concordance"
        return Optimum(x, value, gap + risk.value_rounding(x), away, f"{first}Newton, {how}")
    x, _ = minimise(risk, start, lambda _, norm: norm <= 1e-13)
    return _unregularised(risk, x, f"{first}Newton, self-concordance", what)


def _affordable(risk: Risk, solver: Solver, what: str) -> None:
    """Refuse, before any work, risks without regulariser that cannot be certified or would take minutes."""
    S, d = len(risk.X), risk.d
    if d > _DENSE:
        raise CertificateError(f"{what}: without regulariser x* is certified for d ≤ {_DENSE}, got {d}; set nu > 0")
    if solver == "auto" and S * d * d > UNREGULARISED_LIMIT:
        raise CertificateError(
            f"{what}: without regulariser x* is found for S·d² ≤ {UNREGULARISED_LIMIT:.0e}, got {S * d * d:.0e}; "
            f"set nu > 0, samples={UNREGULARISED_LIMIT // (d * d)}, or solver=newton, which may take minutes"
        )


def _unregularised(risk: Risk, x: Floats, how: str, what: str) -> Optimum:
    """Certify a point of a risk with nu = 0, or with a free intercept, by its local strong convexity.

    Within r of x no margin moves by more than ρr, ρ = max‖a_j‖, so the Hessian stays above
    e^{−cρr}·∇²f(x) with c = 1 (logistic: σ'' ≤ σ' in logarithms), c = 2 (softmax: every probability keeps at
    least e^{−2ρr} of itself). With r = 1/(cρ), m = λ/e and ‖∇f(x)‖ < m·r/2 the minimiser is within ‖∇f‖/m.
    λ is the smallest curvature on the span of the data, orthogonal to which f is constant.
    Source: Bach, "Self-concordant analysis for logistic regression", EJS 2010, Prop. 1.
    """
    message = f"{what}: the minimum without regulariser is not certified (separable data have none); set nu > 0"
    if risk.free:
        message = f"{what}: the minimum with a free intercept is not certified; intercept=regularised would fit"
    X = risk.X.astype(np.float64)
    singular = np.linalg.svd(X, compute_uv=False)
    rank = int((singular > max(X.shape) * EPS * singular[0]).sum())
    rank *= max(1, risk.classes - 1)  # a shift shared by all classes changes nothing
    if risk.free:  # all else is curved
        rank = risk.d - (risk.classes > 1)
    values = np.linalg.eigvalsh(risk.hessian(x))
    bottom = float(values[-rank]) - 8.0 * risk.d * EPS * float(values[-1])
    value, gradient = risk.value_and_gradient(x)
    norm = float(np.linalg.norm(gradient)) + risk.rounding(x)
    longest = float(np.linalg.norm(X, axis=1).max())
    if longest == 0.0:
        return Optimum(x, value, (len(X) + 16) * EPS * abs(value), 0.0, "all features are 0, so f is constant")
    reach = 1.0 / ((risk.loss.bending or 1.0) * longest)
    m = bottom / float(np.e)
    if not (m > 0.0 and norm < m * reach / 2.0):
        raise CertificateError(message)
    gap = clip_up(norm**2 / (2.0 * m), 4) + risk.value_rounding(x)
    return Optimum(x, value, gap, norm / m, how)


def _near(risk: Risk, x: Floats, norm: float) -> tuple[float, float]:
    """Return how far a regularised risk is at most above its minimum, and x from the minimiser.

    By its curvature nu; where that is not sharp, of the logistic loss also as in :func:`_unregularised`. Each
    coordinate has a unit of its own, a power of two, in which f is about as curved as in the others: there g = ‖∇f(x)‖,
    rows are no longer than ρ, ∇²f(x) ≥ λ, and within r of x the Hessian stays above e^{−ρr}·λ. If ρg < λ/e, x* is
    within r = eg/λ.

    Parameters
    ----------
    norm
        ‖∇f(x)‖, from above.
    """
    gap, away, size = norm**2 / (2.0 * risk.nu), norm / risk.nu, float(np.linalg.norm(x))
    if risk.loss.id != "logistic" or risk.d > _DENSE or away <= _LOOSE * size:
        return clip_up(gap, 4), clip_up(away, 2)
    X, hessian = risk.X.astype(np.float64), risk.hessian(x)
    units = np.exp2(np.round(np.log2(np.diag(hessian)) / 2.0))
    rows, curved = X / units, hessian / np.outer(units, units)
    norms, far = np.linalg.norm(rows, axis=1), np.linalg.norm(X, axis=1)
    # Of each coordinate, as Risk.rounding has it of all together.
    moved = (len(X) + 16.0) * risk.omega + risk.d * 0.25 * size * risk.omega * far
    rounding = EPS * (moved @ np.abs(rows) + 4.0 * risk.nu * np.abs(x) / units)
    steep = clip_up(float(np.linalg.norm(np.abs(risk.gradient(x) / units) + rounding)), risk.d + 4)
    # A weight σ(1 − σ) is off by some eps, and by what rounding moves the margins.
    lost = 4.0 * (risk.d + len(X)) * float(np.trace(curved)) + 8.0 * float(risk.omega @ norms**2)
    least = (float(np.linalg.eigvalsh(curved)[0]) - EPS * lost) * (
        1.0 - 4.0 * (risk.d + 8.0) * EPS * float(far.max()) * size
    )
    longest = clip_up(float(norms.max()), risk.d + 4)
    if longest * steep < least / np.e:
        least *= float(np.exp(-longest * steep * np.e / least)) * (1.0 - 16.0 * EPS)
        gap, away = min(gap, steep**2 / (2.0 * least)), min(away, steep / (least * float(units.min())))
    return clip_up(gap, 8), clip_up(away, 4)


def local_minimisers(part: Callable[[int], Risk], order: Sequence[int], best: Floats) -> tuple[Floats, Floats]:
    """Return points near the minimisers of n regularised risks, shape (n, d), and bounds ‖∇f_i‖/μ_i on how near, (n,).

    The largest distance from ``best`` is what matters: a risk is solved until its distance is known to 0.2 %, or until
    its upper bound is below the lower bound of one solved before.

    Parameters
    ----------
    part
        Gives the risk of each client.
    order
        The clients, those that are probably far away first.
    best
        Shape (d,).
    """
    points, errors = np.zeros((len(order), len(best))), np.zeros(len(order))
    reached = 0.0
    for client in order:
        own = part(client)
        own = replace(own, X=own.X.astype(np.float64))

        def enough(u: Floats, norm: float, nu: float = own.nu, reached: float = reached) -> bool:
            away, error = float(np.linalg.norm(u - best)), norm / nu
            return error <= max(1e-3 * away, 1e-9) or away + error <= reached

        points[client], norm = minimise(own, np.asarray(best, dtype=np.float64), enough)
        norm += own.rounding(points[client])
        near = enough(points[client], norm)  # nothing more is asked of it, which would cost a Hessian
        errors[client] = clip_up(norm / own.nu, 2) if near else _near(own, points[client], norm)[1]
        reached = max(reached, float(np.linalg.norm(points[client] - best)) - float(errors[client]))
    return points, errors
