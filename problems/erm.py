"""Linear models on data split over clients with losses whose slopes are bounded, and their empirical risk."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from boundlab.objective import Array, Constant, Floats, GradientsOnSet, Optimum
from boundlab.problems import bounds, losses, piecewise, smooth
from boundlab.problems.common import EPS, calm, clip_up
from boundlab.problems.confinement import OfRisk
from boundlab.problems.heterogeneity import Reach, of_risks
from boundlab.problems.linear_model import LinearModel
from boundlab.problems.risk import Risk
from boundlab.problems.smooth import Solver

if TYPE_CHECKING:
    from boundlab.arithmetic.problem import Functions
    from boundlab.objective.simple import BoundedSet


class BoundedSlopes(LinearModel):
    """A linear model whose loss has bounded slopes in all margins that it is asked for."""

    @property
    @abstractmethod
    def _second(self) -> Floats:
        """Bounds of the mean squared gradient of a single sample's loss, shape (n,)."""

    def _second_moment(self, how: str) -> Constant:
        """Return sigma from the mean squared gradients of single samples, where these are bounded."""
        if self.batch == 0:
            return Constant(0.0, "exact", "full gradients")
        value = float((self.factors * np.sqrt(self._second * self._share)).max())
        return Constant(clip_up(value, 16), "upper", how)

    def _of_slopes(self, how: str) -> dict[str, Constant]:
        """Return mu with a regulariser, G_sq and G without one, and sigma_g where the clients' regularisers are one."""
        out: dict[str, Constant] = {}
        if self.curved > 0.0:
            out["mu"] = Constant(self.nu * float(self.factors.min()) * (1.0 - 4 * EPS), "lower", "nu·min w_i")
        elif self.nu == 0.0:
            norms = self._reach.gradient_norms()
            # E‖g‖² = ‖∇f_i‖² + share·(mean_j ‖∇loss_j‖² − ‖∇f_i‖²), with and without replacement.
            second = (1.0 - self._share) * norms**2 + self._share * self.factors**2 * self._second
            out |= bounds.gradients(norms, second * (1.0 + 16 * EPS), how)
        if self._cancels:
            out |= bounds.heterogeneity(self._reach.deviations(), self._reach.mean_deviation(), how)
        return out

    @property
    @abstractmethod
    def _reach(self) -> Reach:
        """Where the clients' gradients, without regulariser, can be."""

    def gradients_on(self, region: "BoundedSet") -> GradientsOnSet | None:
        """Return bounds on a bounded set: slopes have them anywhere, and there the regulariser's gradient has one."""
        ridge = self.factors * self.nu * region.farthest
        norms = (self._reach.gradient_norms() + ridge) * (1.0 + 8.0 * EPS)
        return GradientsOnSet(norms, "range of the slopes, and nu times the largest ‖x‖ there")

    @property
    def _of_regulariser(self) -> dict[str, str]:
        """Reasons against assumptions that a regulariser brings, as :func:`boundlab.problems.bounds.met` takes them."""
        differ = "clients of different weight pull differently by the regulariser; set nu=0 or weights=equal"
        flat = "its intercept is free, and so it has no mu; intercept=regularised would fit" if self.free else ""
        return {
            "strongly_convex": flat if self.nu > 0.0 else "without regulariser it has no mu; set nu > 0",
            "steep": "the regulariser's gradient is unbounded; set nu=0" if self.nu > 0.0 else "",
            "spread": "" if self._cancels else differ,
        }


@final
@dataclass(frozen=True, eq=False)
class EmpiricalRisk(BoundedSlopes):
    """Losses of bounded slope: ``logistic``, ``softmax``, ``hinge`` or ``lad-regression``.

    Parameters
    ----------
    solver
        See :func:`boundlab.problems.smooth.solve`.
    """

    solver: Solver = "auto"

    def near_kink(self, client: int, X: Array, room: float) -> NDArray[np.bool_]:
        """Return where a sample's margin may lie at its kink, shape (S,); nowhere for smooth losses."""
        if self.loss.smooth:
            return np.zeros(len(X), dtype=np.bool_)
        rows = self.rows(client)
        away = losses.from_kink(self.loss, X @ self.X[rows].T, self.y[rows])
        # Margins are rounded, too: by about as much as the points move them.
        return np.asarray((away <= 2.0 * room * np.linalg.norm(self.X[rows], axis=1)).any(axis=1))

    def _rounding(self, risk: Risk, x: Floats) -> tuple[float, float]:
        return risk.value_rounding(x), risk.rounding(x)

    def in_balls(self) -> "Functions | None":
        """Return the exponentials of logistic losses in balls; None in float32, for much data, or for another loss."""
        if self.id != "logistic" or not self.fits_exact_numbers:
            return None
        from boundlab.arithmetic.numbers import EXACT, exact_array, fractions
        from boundlab.arithmetic.problem import InBalls
        from boundlab.problems.rational.samples import Samples

        rows = [self.rows(client) for client in range(self.n)]
        data = [self.X[part] for part in rows], [self.y[part] for part in rows]
        products = max(self.sizes) * (2.0 * self.d + 40.0)  # of the margins, their sums, and about the exponentials
        clients = Samples(self.loss, *data, self.exact_weights(), self.ridge, EXACT)
        return InBalls(clients, fractions(exact_array(self.x0)), products)

    def confinement(self) -> OfRisk | None:
        """Return what no mini-batch changes (:mod:`boundlab.problems.confinement`); None with a free intercept."""
        if self.free:
            return None
        norm, factor = float(self._row_norms.max()), float(self.factors.max())
        return OfRisk(self.total, norm, factor, self.nu, self.x0, solved=lambda: self.optimum().x)

    @property
    def _surely_attained(self) -> bool:
        """True but for smooth losses without regulariser, which need not have a minimiser."""
        return self.curved > 0.0 or not self.loss.smooth

    def _solve(self) -> Optimum:
        with calm(len(self.X) * self.d):
            if self.loss.smooth:
                return smooth.solve(self.total, self.solver, self._what)
            start = np.asarray(self.x0, dtype=np.float64)
            return piecewise.solve(self.total, start, self.solver, self._what)

    @cached_property
    def _reach(self) -> Reach:
        """Where the clients' gradients, without regulariser, can be."""
        return of_risks(self.loss, self.X, self.y, self.sizes, self.factors, self.classes, self._top)

    @cached_property
    def _second(self) -> Floats:
        """Bounds of the mean squared gradient of a single sample's loss, shape (n,)."""
        return self.loss.slope**2 * self._means(self._row_norms**2)

    @cached_property
    def _sigma(self) -> Constant:
        slope = "√2" if self.id == "softmax" else "1"
        kind = "with" if self.replacement else "without"
        return self._second_moment(f"second moment, |loss'| ≤ {slope}, {kind} replacement")

    @cached_property
    def minimisers(self) -> tuple[Floats, Floats]:
        """Return points near the n local minimisers, shape (n, d), and bounds ‖∇f_i‖/μ_i on how near, (n,)."""
        order = np.argsort(-self._gradient_norms).tolist()
        return smooth.local_minimisers(self.part, order, np.asarray(self.optimum().x, dtype=np.float64))

    @cached_property
    def _zeta(self) -> Constant:
        points, errors = self.minimisers
        best = self.optimum()
        away = np.linalg.norm(points - best.x, axis=1) * (1.0 + (self.d + 4) * EPS)
        off = best.distance or 0.0
        if (away <= 2.0 * (errors + off)).all() and self._same_samples:
            return bounds.SHARED
        return bounds.zeta(float((away + errors).max()), off, "n local minimisers, ‖∇f_i‖/mu")

    def _find_constants(self) -> dict[str, Constant]:
        """Return sigma and F0; with ν > 0 mu, with ν = 0 B and G; for smooth losses L, with ν > 0 also zeta.

        R where x* is certified; sigma_g with ν = 0, or where all clients have the same weight.
        """
        best = self._best
        out = bounds.noise(self._sigma)
        if self.loss.smooth:
            how = f"{'¼' if self.id == 'logistic' else '½'}·λ_max(A_iᵀA_i/s_i) + nu"
            out |= bounds.smoothness(Constant(float(self._smoothness.max()), "upper", how))
            out |= self._of_samples(best)
        out |= self._of_slopes("range of the slopes, feature by feature")
        if "mu" in out and self.loss.smooth:
            out["zeta"] = self._zeta
        if self.nu == 0.0:
            steep = float((self.factors * self.loss.slope * self._means(self._row_norms)).max())
            out["B"] = Constant(clip_up(steep, 16), "upper", "mean ‖a‖ times the largest |loss'|")
        x = np.asarray(self.x0, dtype=np.float64)
        return out | bounds.of_start(x, self.total.value(x) + self.total.value_rounding(x), best, 0.0)

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        kink = "" if self.loss.smooth else f"{self.id} has a kink; try logistic or softmax"
        # Where there surely is a minimiser, nothing needs to be solved for the answer.
        missing = "" if self._surely_attained else self._no_minimiser
        found = bounds.met(**self._of_regulariser, smooth=kink, minimiser=missing, below="")
        return found | {"sampled-functions": kink}
