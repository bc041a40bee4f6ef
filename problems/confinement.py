"""Sets that the local steps of the problem families never leave, whatever is drawn; each rule with its proof."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from boundlab.objective import Floats
from boundlab.objective.confinement import InvariantBall, InvariantBox, InvariantSet, InvariantSets, Pull, plain
from boundlab.problems import losses
from boundlab.problems.common import EPS, clip_up, distance


@final
@dataclass(frozen=True, slots=True)
class OfSeparable(InvariantSets):
    """Full (sub)gradient steps on Σ_j w_ij·φ(x_j − c_ij).

    Every coordinate moves by itself, towards c_ij, and passes it by at most o_j: for lad αw_ij; for huber and
    pseudo-huber delta·(αw_ij − 1) if that is positive, because |φ'(r)| ≤ min(|r|, delta) and so
    αw|φ'(r)| − |r| ≤ max over |r| ≤ delta of (αw − 1)|r|, while beyond delta it falls. So the interval from
    min(x0_j, min_i c_ij − o_j) to max(x0_j, max_i c_ij + o_j) keeps its points: a step from x_j ≥ c_ij ends below
    x_j and above c_ij − o_j, and the mirror image. A client of weight 0 does not move.

    Parameters
    ----------
    c, w, x0
        Shapes (n, d), (n, d), (d,).
    delta
        Of huber and pseudo-huber; None for lad.
    slope
        ‖g‖ is at most this.
    """

    c: Floats
    w: Floats
    x0: Floats
    delta: float | None
    slope: float

    def regions(self, step_size: float) -> Sequence[InvariantSet]:
        """Return the box."""
        steep = step_size * self.w.max(axis=0)
        past = steep if self.delta is None else self.delta * np.maximum(steep - 1.0, 0.0)
        used = np.where(self.w > 0.0, self.c, self.x0)
        low, high = np.minimum(self.x0, used.min(axis=0) - past), np.maximum(self.x0, used.max(axis=0) + past)
        room = 8 * EPS * (np.abs(low) + np.abs(high))
        how = "each coordinate moves towards a centre, and passes it by one step at most"
        return [InvariantBox(low - room, high + room, how)]

    def steepest(self) -> float | None:
        """Return the largest slope."""
        return self.slope


@final
@dataclass(frozen=True, slots=True)
class OfRisk(InvariantSets):
    """Mini-batch steps, or full ones, on w_i·((1/b)Σ_j loss(a_j; x) + ν/2‖x‖²).

    Write g = w_i(G + νx) with ‖G‖ ≤ s, the largest slope of the loss times the largest ‖a_j‖.

    - If α·w_i·ν ≤ 1, then ‖x − αg‖ ≤ (1 − αw_iν)‖x‖ + αw_i·s ≤ max(‖x‖, s/ν): balls around 0 with a radius of s/ν or
      more keep their points.
    - For a smooth loss the drawn function is w_iν-strongly convex and w_i(ν + ℓ)-smooth, ℓ = curvature·max‖a_j‖². If
      α·w_i·(2ν + ℓ) ≤ 2, a step brings any two points nearer by the factor 1 − αw_iν (Nesterov, Introductory Lectures,
      Theorem 2.1.12), so ‖x − αg(x) − z‖ ≤ (1 − αw_iν)‖x − z‖ + α‖g(z)‖: balls around z with a radius of
      max ‖g(z)‖/(w_iν) or more keep their points. The maximum over mini-batches is at most that over single samples,
      since ‖·‖ is convex. z is the solver's point.
    - Late gradients pull, too: for g_k = w_k(G_k + νy_k) with ‖y_k − x‖ ≤ D and t = Σ s_kw_k with t·ν ≤ 1,
      x − Σ s_kg_k = (1 − tν)x − Σ s_kw_k(G_k + ν(y_k − x)), whose norm is at most (1 − tν)‖x‖ + t(s + νD).
    - A drawn loss is not negative, so that h(z) − inf h ≤ h(z) ≤ the largest over single samples.

    With weights v_j of samples, s is the largest slope times max v_j‖a_j‖, and ℓ = curvature·max v_j‖a_j‖².

    Parameters
    ----------
    of
        The :class:`boundlab.problems.linear_model.LinearModel`.
    """

    of: Any

    def regions(self, step_size: float) -> Sequence[InvariantSet]:
        """Return balls around 0 and around the solver's point, where the step size allows them."""
        if self.of.nu == 0.0:
            return []
        most = step_size * self._factor * (1.0 + 8 * EPS)
        found: list[InvariantSet] = []
        origin = np.zeros(len(self.of.x0))
        if most * self.of.nu <= 1.0:
            radius = max(distance(self.of.x0, origin), clip_up(self._slope / self.of.nu, 16))
            found.append(InvariantBall(origin, radius, "the regulariser pulls back as much as the loss can push"))
        if self.of.loss.smooth and most * (2.0 * self.of.nu + self._curvature) <= 2.0:
            best = plain(self.of.optimum().x)
            radius = max(distance(self.of.x0, best), clip_up(self._largest_gradient(best) / self.of.nu, 16))
            found.append(InvariantBall(best, radius, "every step contracts"))
        return found

    def pulls(self) -> Sequence[Pull]:
        """Return the pull of the regulariser towards 0."""
        if self.of.nu == 0.0:
            return ()
        mu, slope = self._factor * self.of.nu, clip_up(self._factor * self._slope, 16)
        origin = np.zeros(len(self.of.x0))
        return (Pull(origin, distance(self.of.x0, origin), slope, mu, mu, (1.0 - 8 * EPS) / mu),)

    def steepest(self) -> float | None:
        """Return max w_i·s without regulariser."""
        return None if self.of.nu > 0.0 else clip_up(self._factor * self._slope, 16)

    def excess(self, z: Floats) -> float | None:
        """Return the largest w_i·(loss + ν/2‖z‖²) of a single sample at z."""
        X = self.of.X.astype(np.float64)
        each = losses.values(self.of.loss, X @ self.of.total.matrix(z), self.of.y)
        largest = float((self.of.hefts * each).max()) + 0.5 * self.of.nu * float(z @ z)
        size = largest + float(self.of.hefts.max()) + self._slope * float(np.linalg.norm(z))
        return self._factor * float(largest + (X.shape[1] + 32) * EPS * size)

    @property
    def _factor(self) -> float:
        return float(self.of.factors.max())

    @property
    def _slope(self) -> float:
        return float(self.of.loss.slope * self.of.pushes.max())

    @property
    def _curvature(self) -> float:
        return float((self.of.loss.curvature or 0.0) * self.of.bends.max())

    def _largest_gradient(self, z: Floats) -> float:
        """Return max_j ‖∇loss_j(z) + νz‖ over all samples, from above."""
        X = self.of.X.astype(np.float64)
        slopes = losses.slopes(self.of.loss, X @ self.of.total.matrix(z), self.of.y).reshape(len(X), -1)
        slopes *= self.of.hefts[:, None]
        # ‖a⊗p + νz‖² = ‖a‖²‖p‖² + 2ν·aᵀZp + ν²‖z‖²
        Z = self.of.nu * z.reshape(X.shape[1], -1)
        squares = (X**2).sum(axis=1) * (slopes**2).sum(axis=1) + 2.0 * ((X @ Z) * slopes).sum(axis=1) + (Z**2).sum()
        size = self._slope + self.of.nu * float(np.linalg.norm(z))
        rounding = (2 * X.shape[1] + 64) * EPS * size * (size + self._curvature * float(np.linalg.norm(z)))
        return float(np.sqrt(max(float(squares.max()), 0.0) + 4.0 * rounding))
