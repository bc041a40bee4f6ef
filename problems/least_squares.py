"""Least squares and ridge regression on data split over clients: f̂_i(x) = (1/s_i)·Σ_j ½(a_jᵀx − y_j)² + ν/2‖x‖²."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from boundlab.arithmetic.near import Near, curvatures, distance, norm, norm_up, sqrt
from boundlab.errors import CertificateError
from boundlab.objective import Array, Constant, Floats, LeastSquaresForm, Optimum, QuadraticForm, alike
from boundlab.objective.facts import of_start
from boundlab.problems import common
from boundlab.problems.common import calm
from boundlab.problems.linear_model import LinearModel, of_rows
from boundlab.problems.risk import Risk

if TYPE_CHECKING:
    from boundlab.arithmetic.problem import Reader, Rows
    from boundlab.problems.rational import RationalLeastSquares


# Minimise a weighted sum of squares Σ_j ω_j·½(a_jᵀx − y_j)² + ν/2‖x‖², with a certificate that allows for rounding.

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


def curvature(risk: Risk) -> float:
    """Return how curved f is at least, unit (1, −2); 0 where nothing is sure."""
    by_rows = 0.0 if len(risk.X) < risk.d else float(curvatures(risk.X, risk.mass).lower[0])
    return float((max(by_rows, 0.0) + risk.pull).lower)


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
        return Optimum(x, risk.value(x), risk.rounding(x)[0], 0.0, "all features are 0, so f is constant")
    if min(int(used.sum()), len(risk.X)) > _DENSE:
        raise CertificateError(f"{what}: x* is certified for d ≤ {_DENSE} features or samples, got {risk.d}")
    if risk.nu > 0.0 and risk.d > _REGULARISED:
        raise CertificateError(f"{what}: with nu > 0 x* is certified for d ≤ {_REGULARISED} features, got {risk.d}")
    inner = Risk(risk.loss, risk.X[:, used].astype(np.float64, copy=False), risk.y, risk.mass, risk.pull, 1)
    near = x[used]
    matrix = hessian(inner) if risk.nu > 0.0 or len(inner.X) >= inner.d else None
    curved = 0.0 if matrix is None else curvature(inner)
    if matrix is not None and curved > 0.0:
        x[used] = near = _newton(inner, matrix, near)
        steep = Near(inner.steepness(near))
        gap, away = steep**2 / (2.0 * curved) + risk.rounding(x)[0], steep / curved
        return Optimum(x, risk.value(x), float(gap.upper), float(away.upper), "normal equations, ‖∇f‖/mu")
    weighted: Floats = np.sqrt(risk.omega)[:, None] * np.asarray(inner.X, dtype=np.float64)
    spread = 0.0 if len(inner.X) > inner.d else float(curvatures(inner.X, risk.mass).lower[0])
    if not spread > 0.0:
        raise CertificateError(
            f"{what}: the features are linearly dependent, to rounding, so that no minimiser is certified; set nu > 0"
        )
    x[used] = near = _interpolate(inner, weighted, near)
    left = norm(sqrt(risk.mass) * (Near(inner.X) @ near - risk.y)) / sqrt(Near(spread))
    value, off = risk.value(x), risk.rounding(x)[0]
    return Optimum(x, value, value + off, float(left.upper), "interpolation, ‖Ax − y‖/√λ_min(AAᵀ)")


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
        steep = float(np.linalg.norm(risk.gradient(x)))
        if steep >= least:
            break
        best, least = x, steep
    return best


def _interpolate(risk: Risk, weighted: Floats, x: Floats) -> Floats:
    """Return the point next to x with a_jᵀx = y_j for all rows."""
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(weighted @ weighted.T, check_finite=False)
    for _ in range(1 + _REFINED):
        errors = np.sqrt(risk.omega) * (risk.X @ x - risk.y)
        x = x - weighted.T @ cho_solve(factor, errors, check_finite=False)
    return x


_FORM = 20_000_000  # n·d² entries of the matrices of all clients: 160 MB
_PROVED = 1_000_000  # S·d² up to which normal equations are solved in rational numbers: seconds
_LOOSE = 1e-6  # of a constant: where rounding may add more to it, rational numbers decide
_EXACT = "normal equations in rational numbers"
_UNBOUNDED = "the gradient of least squares is unbounded; try lad-regression, or logistic with nu=0"
_DIFFERENT = "the clients' AᵀA differ, so ∇f_i − ∇f is unbounded; try lad-regression, or logistic with nu=0"


@final
@dataclass(frozen=True, eq=False)
class LeastSquares(LinearModel):
    """Squared errors of linear predictions; targets are numbers, of classes their labels."""

    def gradients(self, client: int, X: Array) -> Array:
        """Return ∇f_client at each row of X, shape (S, d), unit (1, −1)."""
        rows, factor = self.rows(client), float(self.factors[client])
        data = self.X[rows]
        errors = X @ data.T - self.y[rows]
        return (factor / len(data)) * (errors @ data) + (factor * self.nu) * X

    def values(self, X: Array) -> Floats:
        """Return f at each row of X, shape (S,), unit (1, 0)."""
        errors, wide = X @ self.X.T - self.y, np.asarray(X, dtype=np.float64)
        return np.asarray(0.5 * (errors**2 @ self.total.omega + self.total.nu * (wide**2).sum(axis=1)))

    def prox(self, client: int, x: Array, step_size: float) -> Array:
        """Return the solution z of (z − x)/step_size + ∇f_client(z) = 0, shape (d,), unit (0, 1)."""
        bend = hessian(self.part(client))
        move = np.linalg.solve(np.eye(self.d) + step_size * bend, step_size * self.gradient(client, x))
        return x - move.astype(x.dtype)

    def least_squares(self) -> LeastSquaresForm:
        """Return the rows and targets of each client, its weight, and how mini-batches are drawn."""
        parts = [self.rows(client) for client in range(self.n)]
        rows = tuple(self.X[part].astype(np.float64, copy=False) for part in parts)
        targets = tuple(np.asarray(self.y[part], dtype=np.float64) for part in parts)
        return LeastSquaresForm(rows, targets, self.factors, self.nu, self.batch, self.replacement)

    def quadratic(self) -> QuadraticForm | None:
        """Return the Hessians and the minimisers next to 0; None with mini-batches, or where n·d² is very large."""
        return None if self.batch or self.n * self.d**2 > _FORM else self._quadratic

    @cached_property
    def _quadratic(self) -> QuadraticForm:
        parts = [self.part(client) for client in range(self.n)]
        with calm(int(self.sizes.max()) * self.d):
            A = np.array([hessian(part) for part in parts])
            b = np.array([shortest(part) for part in parts])
        return QuadraticForm(A, b, 0.0)

    def rational(self, options: Mapping[str, Any]) -> "RationalLeastSquares | None":
        """Return the same problem in rational numbers; None in float32, or for much data.

        Features and targets are taken at their word where the problem uses them as they are given.
        """
        if not self.fits_exact_numbers:
            return None
        from boundlab.arithmetic.problem import RationalLeastSquaresForm, Reader
        from boundlab.problems.rational import RationalLeastSquares

        read = Reader(options)
        rows, targets = self._as_given(read)
        parts = [self.rows(client) for client in range(self.n)]
        form = RationalLeastSquaresForm(
            [rows[part] for part in parts],
            [targets[part] for part in parts],
            self.exact_weights(),
            read.one("nu", self.nu),
            self.batch,
            self.replacement,
        )
        start = Reader({}) if options.get("x0") == "uniform" else read
        return RationalLeastSquares(form, start.vector("x0", self.x0))

    def _as_given(self, read: "Reader") -> tuple["Rows", list[Fraction]]:
        """Return all rows and targets in rational numbers, in the problem's order."""
        prepared = self.source.get("scale") == "range" or self.source.get("normalise") or self.shares
        if "features" not in read.raw or prepared:
            return [[Fraction(one) for one in row] for row in self.X.tolist()], [Fraction(y) for y in self.y.tolist()]
        order = np.argsort(self.source["owners"], kind="stable")
        back, bias = np.argsort(order), [Fraction(1)] * int(self.source["bias"])
        given = read.rows("features", self.X[back][:, : self.d - len(bias)])
        values = read.vector("targets", self.y[back])
        return [given[at] + bias for at in order], [values[at] for at in order]

    def _solve(self) -> Optimum:
        """Solve the normal equations; of many solutions that next to x0 is taken."""
        with calm(self.d**2):
            found = solve(self.total, self.x0, self._what)
        fallen = self.total.value(np.asarray(self.x0, dtype=np.float64)) - found.value
        sharp = (found.distance or 0.0) <= _LOOSE * distance(self.x0, found.x) and found.gap <= _LOOSE * fallen
        if not sharp and self._twin is not None:
            with suppress(OverflowError):  # its entries are no floats
                return self._exactly(self._twin)
        return found

    @cached_property
    def _twin(self) -> "RationalLeastSquares | None":
        """The same problem in rational numbers, where its normal equations are solved in seconds."""
        return self.rational({}) if self.X.size * self.d <= _PROVED else None

    def _exactly(self, twin: "RationalLeastSquares") -> Optimum:
        """Return the minimiser as its nearest floats, and how far these are from it."""
        best = twin.minimum()
        x = np.array([float(entry) for entry in best.x])
        away = norm_up([Fraction(near) - entry for near, entry in zip(x.tolist(), best.x, strict=True)])
        value = norm_up([best.value])  # no square is below 0
        there = _value(twin, [Fraction(near) for near in x.tolist()])
        gap = norm_up([max(there, Fraction(value)) - best.value])
        return Optimum(x, value, gap, away, _EXACT)

    @cached_property
    def _mu(self) -> float:
        """The smallest curvature of a client, from below; 0 where one is not certainly curved."""
        if self.nu == 0.0 and self.sizes.min() < self.d:
            return 0.0
        parts = (self.part(client) for client in range(self.n))
        return min(map(curvature, parts))

    @cached_property
    def _zeta(self) -> Constant:
        best = self.optimum()
        off, away, sure, apart = best.distance or 0.0, 0.0, 0.0, False
        for client in range(self.n):
            own = solve(self.part(client), best.x, self._what)
            near, error = distance(own.x, best.x), own.distance or 0.0
            away, apart = max(away, near + error), apart or near > 2.0 * (error + off)
            sure = max(sure, near - error - off)
        if not apart and (self._same_samples or self._one_minimiser):
            return common.SHARED
        sharp = away + off <= (1.0 + _LOOSE) * sure
        exact = None if sharp or self._twin is None else self._twin.own_minimisers
        if self._twin is not None and exact is not None:
            centre = self._twin.minimum().x
            far = max(norm_up([a - b for a, b in zip(one, centre, strict=True)]) for one in exact)
            return Constant(far, "upper", f"n {_EXACT}")
        return common.zeta(away, off, "n normal equations, ‖∇f_i‖/mu")

    @property
    def _one_minimiser(self) -> bool:
        """True if rational numbers show one solution of all clients' normal equations."""
        own = None if self._twin is None else self._twin.own_minimisers
        return own is not None and all(x == own[0] for x in own)

    def _find_constants(self) -> dict[str, Constant]:
        """Return L and F0; R where x* is certified; mu and zeta where every client is strongly convex.

        sigma with full gradients alone: the variance of mini-batches has no bound. L_max, and sigma_star at x*.
        """
        out = common.smoothness(Constant(float(self.smoothness.max()), "upper", "λ_max(A_iᵀA_i/s_i) + nu"))
        if self._sigma is not None:
            out |= common.noise(self._sigma)
        best = self._best
        if self._mu > 0.0:
            how = (
                "λ_min(A_iᵀA_i/s_i) + nu, rounding allowed for"
                if self._mu > self.nu * self.factors.min()
                else "nu·min w_i"
            )
            out["mu"] = Constant(self._mu, "lower", how)
            if best is not None:  # of clients alone it may be sure where of all together rounding hides it
                out["zeta"] = self._zeta
        if alike(self):
            out |= common.heterogeneity(np.zeros(self.n), 0.0, "all clients have the same function")
        x0 = np.asarray(self.x0, dtype=np.float64)
        out |= of_start(self.x0, self.total.near(x0)[0], best, 0.0, L=out["L"].value)
        # The least value is found without rounding where the minimiser is no certain one, too.
        if (best is None or best.how == _EXACT) and self._twin is not None:
            fallen = _value(self._twin, self._twin.x0) - self._twin.minimum().value
            out["F0"] = Constant(norm_up([fallen]), "upper", f"f(x0) − f*, {_EXACT}")
        return out | of_rows(self, best)

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        found = common.met(
            strongly_convex="" if self._mu > 0.0 else "the AᵀA of some client is singular, or nearly; set nu > 0",
            steep=_UNBOUNDED,
            variance="" if self._sigma is not None else f"{self._grows}; batch=full would fit",
            spread="" if alike(self) else _DIFFERENT,
            minimiser=self._no_minimiser,
            below="",
        )
        return found | {"sampled-functions": ""}


def _value(twin: "RationalLeastSquares", x: list[Fraction]) -> Fraction:
    """Return f(x)."""
    from boundlab.arithmetic import numbers
    from boundlab.arithmetic.numbers import exact_array

    return numbers.fraction(twin.value(exact_array(x)))
