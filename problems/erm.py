"""Linear models on data split over clients with losses whose slopes are bounded, and their empirical risk."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from boundlab.objective import Array, Constant, Floats, GradientsOnSet, Optimum, alike
from boundlab.problems import bounds, losses, piecewise, smooth
from boundlab.problems.common import EPS, calm, clip_up
from boundlab.problems.confinement import OfRisk
from boundlab.problems.heterogeneity import Reach, of_risks
from boundlab.problems.linear_model import LinearModel
from boundlab.problems.minibatch import of_rows, times
from boundlab.problems.smooth import Solver

if TYPE_CHECKING:
    from boundlab.arithmetic.problem import Functions
    from boundlab.objective.simple import BoundedSet


_STEADY = "hinge, modified-huber or logistic"


class BoundedSlopes(LinearModel):
    """A linear model whose loss has bounded slopes in all margins that it is asked for; or else few constants."""

    @property
    @abstractmethod
    def _second(self) -> Floats:
        """Bounds of the mean squared gradient of a single sample's loss, shape (n,)."""

    def _second_moment(self, how: str) -> Constant:
        """Return sigma from the mean squared gradients of single samples, where these are bounded."""
        if self.batch == 0:
            return Constant(0.0, "exact", "full gradients")
        value = float((self.factors * np.sqrt(self._second * self.share)).max())
        return Constant(clip_up(value, 16), "upper", how)

    def _of_slopes(self, how: str) -> dict[str, Constant]:
        """Return mu with a regulariser, G_sq and G without one, and sigma_g where the clients' regularisers are one."""
        out: dict[str, Constant] = {}
        if self.curved > 0.0:
            out["mu"] = Constant(self.nu * float(self.factors.min()) * (1.0 - 4 * EPS), "lower", "nu·min w_i")
        if self.loss.steep:
            return out | (bounds.heterogeneity(np.zeros(self.n), 0.0, "") if alike(self) else {})
        if self.nu == 0.0:
            norms = self._reach.gradient_norms()
            # E‖g‖² = ‖∇f_i‖² + share·(mean_j ‖∇loss_j‖² − ‖∇f_i‖²), with and without replacement.
            second = (1.0 - self.share) * norms**2 + self.share * self.factors**2 * self._second
            out |= bounds.gradients(norms, second * (1.0 + 16 * EPS), how)
        if self._cancels:
            out |= bounds.heterogeneity(self._reach.deviations(), self._reach.mean_deviation(), how)
        return out

    @property
    @abstractmethod
    def _reach(self) -> Reach:
        """Where the clients' gradients, without regulariser, can be."""

    def gradients_on(self, region: "BoundedSet") -> GradientsOnSet | None:
        """Return bounds on a bounded set: most slopes have them anywhere; there the regulariser's gradient has one."""
        if self.loss.steep:
            return super().gradients_on(region)
        ridge = self.factors * self.nu * region.farthest
        norms = (self._reach.gradient_norms() + ridge) * (1.0 + 8.0 * EPS)
        return GradientsOnSet(norms, "range of the slopes, and nu times the largest ‖x‖ there")

    @property
    def _of_regulariser(self) -> dict[str, str]:
        """Reasons against assumptions that a regulariser brings, as :func:`boundlab.problems.bounds.met` takes them."""
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
        See :func:`boundlab.problems.smooth.solve`.
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
        from boundlab.problems.rational.samples import Samples

        rows = [self.rows(client) for client in range(self.n)]
        X, y, hefts = ([one[part] for part in rows] for one in (self.X, self.y, self.hefts))
        products = max(self.sizes) * (2.0 * self.d + 40.0)  # of the margins, their sums, and about the exponentials
        exact = losses.loss(self.id, None if self.width is None else EXACT.number(Fraction(self.width)))
        clients = Samples(exact, X, y, hefts, self.exact_weights(), self.ridge, EXACT)
        return InBalls(clients, fractions(exact_array(self.x0)), products)

    def confinement(self) -> OfRisk | None:
        """Return what no mini-batch changes (:mod:`boundlab.problems.confinement`).

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
                return smooth.solve(self.total, self.solver, self._what)
            start = np.asarray(self.x0, dtype=np.float64)
            return piecewise.solve(self.total, start, self.solver, self._what)

    @cached_property
    def _reach(self) -> Reach:
        """Where the clients' gradients, without regulariser, can be."""
        return of_risks(self)

    @cached_property
    def _second(self) -> Floats:
        """Bounds of the mean squared gradient of a single sample's loss, shape (n,)."""
        return self.loss.slope**2 * self.means(self.pushes**2)

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
        out = {} if self._sigma is None else bounds.noise(self._sigma)
        if self.loss.smooth:
            how = f"{times(self)}λ_max(A_iᵀA_i/s_i) + nu"
            out |= bounds.smoothness(Constant(float(self.smoothness.max()), "upper", how))
            out |= of_rows(self, best)
        out |= self._of_slopes("range of the slopes, feature by feature")
        if "mu" in out and self.loss.smooth:
            out["zeta"] = self._zeta
        if self.nu == 0.0 and not self.loss.steep:
            steep = float((self.factors * self.loss.slope * self.means(self.pushes)).max())
            out["B"] = Constant(clip_up(steep, 16), "upper", "mean ‖a‖ times the largest |loss'|")
        x = np.asarray(self.x0, dtype=np.float64)
        return out | bounds.of_start(x, self.total.value(x) + self.total.value_rounding(x), best, 0.0)

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        kink = "" if self.loss.smooth else f"{self.id} has a kink; try logistic or softmax"
        # Where there surely is a minimiser, nothing needs to be solved for the answer.
        missing = "" if self._surely_attained else self._no_minimiser
        grows = "" if self._sigma is not None else f"{self._grows}; batch=full, or {_STEADY}, would fit"
        found = bounds.met(**self._of_regulariser, smooth=kink, variance=grows, minimiser=missing, below="")
        return found | {"sampled-functions": kink}
