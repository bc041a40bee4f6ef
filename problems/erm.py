"""Linear models on data split over clients with losses whose slopes are bounded, and their empirical risk."""

import contextlib
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.near import NEAR, Near, eigenvalues, exp, norm, sqrt, stacked, strayed
from boundlab.errors import CertificateError, DataError, SpecError
from boundlab.objective import Array, Constant, Floats, GradientsOnSet, Optimum, alike
from boundlab.objective.facts import above, of_start
from boundlab.objective.simple import ProxFunction, read_simple
from boundlab.options import Options
from boundlab.problems import clients, common
from boundlab.problems.common import calm
from boundlab.problems.linear_model import LinearModel, of_rows, times
from boundlab.problems.risk import Reach, Risk, of_risks
from boundlab.problems.separable import OfRisk
from boundlab.problems.solvers import ALLOWED, LOOSE, TIGHT, check_gap, clarabel, cvxpy, repair

if TYPE_CHECKING:
    from boundlab.arithmetic.problem import Functions
    from boundlab.objective.simple import BoundedSet


# Minimise a smooth risk, with the certificate ‖∇f‖²/(2μ) ≥ f(x) − f*, ‖∇f‖/μ ≥ ‖x − x*‖.

Solver = Literal["auto", "clarabel", "newton"]
SOLVERS: tuple[Solver, ...] = ("auto", "clarabel", "newton")
SMOOTH_LIMIT = 200_000  # S·d entries: below a second or so for the exponential cones of logistic and softmax
UNREGULARISED_LIMIT = 3_000_000_000  # S·d² without regulariser: up to 60 Hessians, half a minute
_DENSE = 1500  # up to this d Newton's method factorises the Hessian
_SAME = 64 * float(np.finfo(np.float64).eps)  # values that differ by less are alike to a line search
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
            close = new_norm < 0.5 * norm and new_value <= value + _SAME * (1.0 + abs(value))
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


def solve_smooth(risk: Risk, solver: Solver, what: str) -> Optimum:
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
        solver == "clarabel" or (solver == "auto" and len(risk.X) * risk.d <= SMOOTH_LIMIT)
    )
    start = _clarabel_start(risk, what) if use else np.zeros(risk.d)
    first = "Clarabel, " if use else "L-BFGS, " if risk.d > _DENSE or risk.loss.bending is None else ""
    if risk.nu > 0.0 and not risk.free:
        # Factorised Newton steps converge quadratically, so the last digits are free; L-BFGS pays for each.
        goal = float(np.sqrt(2.0 * risk.nu * (1e-12 if risk.d > _DENSE else 1e-16 if risk.loss.bending else 1e-24)))
        x, _ = minimise(risk, start, lambda _, norm: norm <= goal)
        steep = risk.steepness(x)
        gap, away = _near(risk, x, steep)
        how = "‖∇f‖/mu" if away >= steep / risk.nu else "self-concordance"
        return Optimum(x, risk.value(x), gap + risk.rounding(x)[0], away, f"{first}Newton, {how}")
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
    rank = int(np.linalg.matrix_rank(X))
    rank *= max(1, risk.classes - 1)  # a shift shared by all classes changes nothing
    if risk.free:  # all else is curved
        rank = risk.d - (risk.classes > 1)
    longest, steep = float(norm(X).upper.max()), risk.steepness(x)
    if longest == 0.0:
        return Optimum(x, risk.value(x), risk.rounding(x)[0], 0.0, "all features are 0, so f is constant")
    reach = 1.0 / ((risk.loss.bending or 1.0) * longest)
    m = float((eigenvalues(Near(risk.hessian(x)))[-rank] / exp(Near(1.0))).lower)
    if not (m > 0.0 and steep < m * reach / 2.0):
        raise CertificateError(message)
    gap, away = Near(steep) ** 2 / (2.0 * m) + risk.rounding(x)[0], Near(steep) / m
    return Optimum(x, risk.value(x), float(gap.upper), float(away.upper), how)


def _near(risk: Risk, x: Floats, steep: float) -> tuple[float, float]:
    """Return how far a regularised risk is at most above its minimum, and x from the minimiser.

    By its curvature nu; where that is not sharp, of the logistic loss also as in :func:`_unregularised`. Each
    coordinate has a unit of its own, a power of two, in which f is about as curved as in the others: there g = ‖∇f(x)‖,
    rows are no longer than ρ, ∇²f(x) ≥ λ, and within r of x the Hessian stays above e^{−ρr}·λ. If ρg < λ/e, x* is
    within r = eg/λ.

    Parameters
    ----------
    steep
        ‖∇f(x)‖, from above.
    """
    gap, away = Near(steep) ** 2 / (2.0 * risk.pull), Near(steep) / risk.pull
    if risk.loss.id == "logistic" and risk.d <= _DENSE and away.value > _LOOSE * float(np.linalg.norm(x)):
        X = risk.X.astype(np.float64)
        units = np.exp2(np.round(np.log2(np.diag(risk.hessian(x))) / 2.0))
        by, rows = risk.mass * clients.weights(risk.loss, Near(X) @ x, risk.y, NEAR), X / units
        hessian = Near(rows).T @ (by[:, None] * rows) + np.eye(risk.d) * (risk.pull / units**2)
        least, longest = float(eigenvalues(hessian).lower[0]), norm(rows).max()
        pushed = norm(risk.near(x)[1] / units)
        if (longest * pushed * exp(Near(1.0))).upper < least:
            curved = least * exp(-(longest * pushed * exp(Near(1.0)) / least))
            near = pushed**2 / (2.0 * curved), pushed / (curved * float(units.min()))
            gap, away = (min(pair, key=lambda one: float(one.upper)) for pair in zip((gap, away), near, strict=True))
    return float(gap.upper), float(away.upper)


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

        points[client], _ = minimise(own, np.asarray(best, dtype=np.float64), enough)
        steep = own.steepness(points[client])
        near = enough(points[client], steep)  # nothing more is asked of it, which would cost a Hessian
        errors[client] = (Near(steep) / own.pull).upper if near else _near(own, points[client], steep)[1]
        reached = max(reached, float(np.linalg.norm(points[client] - best)) - float(errors[client]))
    return points, errors


# Minimise a risk of straight lines and parabolas, with a lower bound from its dual.
#
# Its losses are max over u in [low, high] of u·(⟨r, x⟩ + e) − κ·u²/2, where κ is 0 for those with kinks: hinge with
# r = −y·a, e = 1, and 0 ≤ u ≤ 1; absolute value with r = a, e = −y, and −1 ≤ u ≤ 1. So for every u in the box, with
# q = Σ ω_j u_j r_j and c = Σ ω_j (u_j e_j − κ·u_j²/2),
#
#     f(x*) ≥ c − ‖q‖²/(2ν)   (ν > 0),      f(x*) ≥ c + ⟨q, x*⟩   (ν = 0).

PIECEWISE_LIMIT = 5_000_000  # S·d entries: seconds, at most a minute, for a linear or quadratic program
_WIDTHS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
_FLAT = 1e-14  # ‖∇f‖ at which smooth losses are minimised
Ends = tuple[float, float]


def solve_piecewise(risk: Risk, x0: Floats, solver: Solver, what: str) -> Optimum:
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
    if risk.nu == 0.0 and solver == "auto" and entries > PIECEWISE_LIMIT and not risk.loss.smooth:
        keep = PIECEWISE_LIMIT // risk.d
        raise CertificateError(
            f"{what}: without regulariser x* is found for S·d ≤ {PIECEWISE_LIMIT}, got {entries}; "
            f"set nu > 0 or samples={keep}"
        )
    of, X, y = risk.loss.of, risk.X.astype(np.float64), np.asarray(risk.y, dtype=np.float64)
    assert of is not None  # noqa: S101  (softmax and poisson are solved elsewhere)
    if risk.loss.signed:
        rows, offset, low, high = X * -y[:, None], np.full(len(y), of.centre), -of.high, -of.low
    else:
        rows, offset, low, high = X, -y, of.low, of.high
    if risk.loss.smooth:
        x, _ = minimise(risk, x0, lambda _, norm: norm <= _FLAT)
        slopes = clients.slopes(risk.loss, X @ x, y)
        u, how = np.asarray(slopes * (-y if risk.loss.signed else 1.0), dtype=np.float64), "L-BFGS, Newton"
    elif solver == "clarabel" or (solver == "auto" and entries <= PIECEWISE_LIMIT):
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
    weighted = risk.mass * u
    lower, rest = weighted @ (offset - (0.5 * Near(u) / of.curvature if of.curvature else 0.0)), rows.T @ weighted
    if risk.nu > 0.0:
        lower -= norm(rest) ** 2 / (2.0 * risk.pull)
        how += ", duality gap"
    else:
        radius = 10.0 * (1.0 + float(np.linalg.norm(x)) + float(np.linalg.norm(x - x0)))
        lower += rest @ x - norm(rest) * radius
        how += f", dual bound over radius {radius:.3g}"
    value, meant = risk.value(x), risk.near(x)[0]
    gap = Near(NEAR.positive(meant - lower).upper) + strayed(value, meant)
    check_gap(float(gap.upper), value, what)
    distance = float(sqrt(2.0 * gap / risk.pull).upper) if risk.nu > 0.0 else None
    return Optimum(x, value, float(gap.upper), distance, how)


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
    pulled = replace(risk, pull=Near(2.0 * given / away**2))
    moved, _ = _program(rows, rows @ x0 + offset, ends, pulled, what)
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


_STEADY = "hinge, modified-huber or logistic"


class BoundedSlopes(LinearModel):
    """A linear model whose loss has bounded slopes in all margins that it is asked for; or else few constants."""

    @property
    @abstractmethod
    def _second(self) -> Near:
        """Bounds of the mean squared gradient of a single sample's loss, shape (n,)."""

    def _second_moment(self, how: str) -> Constant:
        """Return sigma from the mean squared gradients of single samples, where these are bounded."""
        if self.batch == 0:
            return Constant(0.0, "exact", "full gradients")
        return above(self.w * sqrt(self._second * self.share), how)

    def _of_slopes(self, how: str) -> dict[str, Constant]:
        """Return mu with a regulariser, G_sq and G without one, and sigma_g where the clients' regularisers are one."""
        out: dict[str, Constant] = {}
        if self.curved > 0.0:
            out["mu"] = Constant(float((self.nu * self.w).lower.min()), "lower", "nu·min w_i")
        if self.loss.steep:
            return out | (common.heterogeneity(np.zeros(self.n), 0.0, "") if alike(self) else {})
        if self.nu == 0.0:
            norms = self._reach.gradient_norms()
            # E‖g‖² = ‖∇f_i‖² + share·(mean_j ‖∇loss_j‖² − ‖∇f_i‖²), with and without replacement.
            second = (1.0 - Near(self.share)) * Near(norms) ** 2 + self.share * self.w**2 * self._second
            out |= common.gradients(norms, sqrt(second), how)
        if self._cancels:
            out |= common.heterogeneity(self._reach.deviations(), self._reach.mean_deviation(), how)
        return out

    @property
    @abstractmethod
    def _reach(self) -> Reach:
        """Where the clients' gradients, without regulariser, can be."""

    def gradients_on(self, region: "BoundedSet") -> GradientsOnSet | None:
        """Return bounds on a bounded set: most slopes have them anywhere; there the regulariser's gradient has one."""
        if self.loss.steep:
            return super().gradients_on(region)
        norms = self._reach.gradient_norms() + self.w * self.nu * region.farthest
        return GradientsOnSet(norms.upper, "range of the slopes, and nu times the largest ‖x‖ there")

    @property
    def _of_regulariser(self) -> dict[str, str]:
        """Reasons against assumptions that a regulariser brings, as :func:`boundlab.problems.common.met` takes them."""
        flat = "its intercept is free, and so it has no mu; intercept=regularised would fit" if self.free else ""
        found = {"strongly_convex": flat if self.nu > 0.0 else "without regulariser it has no mu; set nu > 0"}
        if self.loss.steep:
            apart = "" if alike(self) else f"the clients' gradients differ by more and more; try {_STEADY}"
            return found | {"steep": f"the gradient of {self.id} is unbounded; try {_STEADY}", "spread": apart}
        differ = "clients of different weight pull differently by the regulariser; set nu=0 or weights=equal"
        steep = "the regulariser's gradient is unbounded; set nu=0" if self.nu > 0.0 else ""
        return found | {"steep": steep, "spread": "" if self._cancels else differ}


@final
@dataclass(frozen=True, eq=False)
class EmpiricalRisk(BoundedSlopes):
    """All losses but ``least-squares`` and ``poisson``.

    Parameters
    ----------
    solver
        See :func:`boundlab.problems.erm.solve_smooth`.
    """

    solver: Solver = "auto"

    def near_kink(self, client: int, X: Array, room: float) -> NDArray[np.bool_]:
        """Return where a sample's margin may lie at its kink, shape (S,); nowhere for smooth losses."""
        rows, of = self.rows(client), self.loss.of
        if of is None or self.loss.smooth:
            return np.zeros(len(X), dtype=np.bool_)
        away = of.from_kink(self.loss.inner(X @ self.X[rows].T, self.y[rows]))
        # Margins are rounded, too: by about as much as the points move them.
        near = away <= 2.0 * room * np.linalg.norm(self.X[rows], axis=1)
        return np.asarray((near & (self.hefts[rows] > 0.0)).any(axis=1))

    def in_balls(self) -> "Functions | None":
        """Return smooth losses of one number in balls; None in float32, for much data, or for another loss."""
        if self.loss.of is None or not self.loss.smooth or not self.fits_exact_numbers:
            return None
        from boundlab.arithmetic.numbers import EXACT, exact_array, fractions
        from boundlab.arithmetic.problem import InBalls
        from boundlab.problems.rational import Samples

        rows = [self.rows(client) for client in range(self.n)]
        X, y, hefts = ([one[part] for part in rows] for one in (self.X, self.y, self.hefts))
        products = max(self.sizes) * (2.0 * self.d + 40.0)  # of the margins, their sums, and about the exponentials
        exact = clients.loss(self.id, None if self.width is None else EXACT.number(Fraction(self.width)))
        samples = Samples(exact, X, y, hefts, self.exact_weights(), self.ridge, EXACT)
        return InBalls(samples, fractions(exact_array(self.x0)), products)

    def confinement(self) -> OfRisk | None:
        """Return what no mini-batch changes (:mod:`boundlab.problems.separable`).

        None with a free intercept, or with slopes that have no bound.
        """
        if self.free or self.loss.steep:
            return None
        return OfRisk(self)

    @property
    def _surely_attained(self) -> bool:
        """True but for exponentials without regulariser, which need not have a minimiser."""
        return self.curved > 0.0 or self.loss.bending is None

    def _solve(self) -> Optimum:
        with calm(len(self.X) * self.d):
            if self.loss.smooth and (self.nu > 0.0 or self.loss.bending):
                return solve_smooth(self.total, self.solver, self._what)
            start = np.asarray(self.x0, dtype=np.float64)
            return solve_piecewise(self.total, start, self.solver, self._what)

    @cached_property
    def _reach(self) -> Reach:
        """Where the clients' gradients, without regulariser, can be."""
        return of_risks(self)

    @cached_property
    def _second(self) -> Near:
        """Bounds of the mean squared gradient of a single sample's loss, shape (n,)."""
        return Near(self.loss.slope) ** 2 * self.means(self.pushes, squared=True)

    @cached_property
    def _sigma(self) -> Constant | None:
        if self.loss.steep:
            return super()._sigma
        slope = "√2" if self.id == "softmax" else f"{self.loss.slope:g}"
        kind = "with" if self.replacement else "without"
        return self._second_moment(f"second moment, |loss'| ≤ {slope}, {kind} replacement")

    @cached_property
    def minimisers(self) -> tuple[Floats, Floats]:
        """Return points near the n local minimisers, shape (n, d), and bounds ‖∇f_i‖/μ_i on how near, (n,)."""
        order = np.argsort(-self._gradient_norms).tolist()
        return local_minimisers(self.part, order, np.asarray(self.optimum().x, dtype=np.float64))

    @cached_property
    def _zeta(self) -> Constant:
        points, errors = self.minimisers
        best = self.optimum()
        away, off = norm(Near(points) - best.x), best.distance or 0.0
        if (away.upper <= 2.0 * (errors + off)).all() and self._same_samples:
            return common.SHARED
        return common.zeta(away + errors, off, "n local minimisers, ‖∇f_i‖/mu")

    def _find_constants(self) -> dict[str, Constant]:
        """Return sigma and F0; with ν > 0 mu, with ν = 0 B and G; for smooth losses L, with ν > 0 also zeta.

        R where x* is certified; sigma_g with ν = 0, or where all clients have the same weight.
        """
        best = self._best
        out = {} if self._sigma is None else common.noise(self._sigma)
        if self.loss.smooth:
            how = f"{times(self)}λ_max(A_iᵀA_i/s_i) + nu"
            out |= common.smoothness(Constant(float(self.smoothness.max()), "upper", how))
            out |= of_rows(self, best)
        out |= self._of_slopes("range of the slopes, feature by feature")
        if "mu" in out and self.loss.smooth:
            out["zeta"] = self._zeta
        if self.nu == 0.0 and not self.loss.steep:
            steepest = self.w * self.loss.slope * self.means(self.pushes)
            out["B"] = above(steepest, "mean ‖a‖ times the largest |loss'|")
        x = np.asarray(self.x0, dtype=np.float64)
        return out | of_start(x, self.total.near(x)[0], best, 0.0, L=out["L"].value if self.loss.smooth else None)

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        kink = "" if self.loss.smooth else f"{self.id} has a kink; try logistic or softmax"
        # Where there surely is a minimiser, nothing needs to be solved for the answer.
        missing = "" if self._surely_attained else self._no_minimiser
        grows = "" if self._sigma is not None else f"{self._grows}; batch=full, or {_STEADY}, would fit"
        found = common.met(**self._of_regulariser, smooth=kink, variance=grows, minimiser=missing, below="")
        return found | {"sampled-functions": kink}


# Poisson regression on a bounded set: f̂_i(x) = (1/s_i)·Σ_j [exp(a_jᵀx) − y_j·a_jᵀx] + ν/2‖x‖², y_j ≥ 0.
#
# The derivative of exp is neither bounded nor Lipschitz on R, but on the set the margin a_jᵀx is at most t_j, the
# support
# function of the set at a_j. Beyond t_j the loss goes on as its tangent. That changes nothing on the set, so that
# F = f + h is Poisson regression on it, while slopes lie in [−y_j, e^{t_j} − y_j] and curvatures in [0, e^{t_j}] on all
# of R^d. So constants are true wherever an algorithm takes its gradients, also where it leaves the set, as
# extrapolations and sums of differences do.

_STEEPEST: Final = 60.0  # e^60 = 1e26; beyond, 1/L is no step size
_OUTSIDE = "its minimum is sought on its box or ball; f alone need not have one"


def on_set(options: Options) -> ProxFunction:
    """Return the indicator of the set that the options name.

    Raises
    ------
    SpecError
        If there is none.
    """
    h = read_simple(options)
    if h is None or not h.bounded:
        raise SpecError(
            f"{options.owner} needs box=[low,high] or ball=r: its gradients are Lipschitz on bounded sets alone"
        )
    return h


def pairs(owner: str, X: Array, y: Floats, h: ProxFunction) -> Floats:
    """Return the targets beside the largest margins on the set, shape (S, 2), the latter as numbers of the type of X.

    Raises
    ------
    DataError
        If a target is negative.
    SpecError
        If margins are so large that their exponentials give no step size.
    """
    if y.min() < 0.0:
        raise DataError(f"{owner}: targets must be ≥ 0, got {float(y.min()):g}")
    top = np.nextafter(h.support(X).astype(X.dtype), X.dtype.type(np.inf)).astype(np.float64)
    if top.max() > _STEEPEST:
        raise SpecError(
            f"{owner}: margins reach {float(top.max()):g} in {h.words}, at most {_STEEPEST:g} are taken; "
            "a smaller set, or scale=range, would fit"
        )
    return np.stack([y, top], axis=1)


@final
@dataclass(frozen=True, eq=False)
class PoissonRegression(BoundedSlopes):
    """Exponentials of linear predictions, tangents beyond the margins of a set; ``y`` is what :func:`pairs` gives."""

    @cached_property
    def _rates(self) -> Floats:
        """e^{t_j}, from above: the largest rate that the model predicts for row j on the set, shape (S,)."""
        return np.asarray(exp(self.y[:, 1]).upper)

    @cached_property
    def _steepest(self) -> Floats:
        """‖∇loss_j‖ from above, shape (S,)."""
        slopes = np.maximum(self.y[:, 0], (Near(self._rates) - self.y[:, 0]).upper)
        return np.asarray((Near(slopes) * self.pushes).upper)

    @cached_property
    def smoothness(self) -> Floats:
        """L_i = w_i·(λ_max(A_iᵀ·diag(v·e^t)·A_i/s_i) + ν), shape (n,)."""
        top = self._largest((Near(self._rates) * self.hefts).upper)
        return np.asarray((self.w * (Near(top) / self.sizes + self.nu)).upper)

    def _of_margins(self, rows: slice) -> tuple[float, float]:
        """Return the largest rate, and the largest slope."""
        return float(self._rates[rows].max()), float((self._rates + self.y[:, 0])[rows].max())

    @cached_property
    def _second(self) -> Near:
        """Bounds of the mean squared gradient of a single sample's loss, shape (n,)."""
        return self.means(self._steepest, squared=True)

    @cached_property
    def _sigma(self) -> Constant:
        return self._second_moment("second moment, largest margins on the set")

    @cached_property
    def _reach(self) -> Reach:
        """Where the clients' gradients, without regulariser, can be: slopes are within e^{t_j}/2 of e^{t_j}/2 − y_j."""
        centre, half, norms, radius = [], [], [], 0.5 * self._rates
        for client, size in enumerate(self.sizes.tolist()):
            rows, own = self.rows(client), self.w[client] / size
            wide, y = Near(self.X[rows]) * self.hefts[rows, None], self.y[rows, 0]
            centre.append((own * (wide.T @ (Near(radius[rows]) - y))).reshape(-1, 1))
            half.append((own * (NEAR.absolute(wide).T @ radius[rows])).upper)
            norms.append((own * Near(self._steepest[rows]).sum()).upper)
        return Reach(stacked(centre), np.array(half), norm(half).upper, np.array(norms))

    def _solve(self) -> NoReturn:
        """Refuse: the minimiser is that of F = f + h."""
        raise CertificateError(f"{self._what}: {_OUTSIDE}")

    def _find_constants(self) -> dict[str, Constant]:
        """Return L and sigma; with ν > 0 mu, with ν = 0 B and G; sigma_g with ν = 0, or with equal weights."""
        how = "λ_max(A_iᵀ·diag(e^t)·A_i/s_i) + nu with the largest margins t on the set"
        out = common.noise(self._sigma)
        out |= common.smoothness(Constant(float(self.smoothness.max()), "upper", how))
        how = "range of the slopes on the set, feature by feature"
        if self.nu == 0.0:
            out["B"] = above(self._reach.gradient_norms(), how)
        return out | self._of_slopes(how)

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        return common.met(**self._of_regulariser, minimiser=_OUTSIDE) | {"sampled-functions": _OUTSIDE}
