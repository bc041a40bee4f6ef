"""Sets that the local steps of the problem families never leave, whatever is drawn; each rule with its proof."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from boundlab.objective import Array, Floats
from boundlab.objective.confinement import InvariantBall, InvariantBox, InvariantSet, InvariantSets, Pull, plain
from boundlab.problems import losses
from boundlab.problems.common import EPS, clip_up, distance
from boundlab.problems.risk import Risk


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

    Parameters
    ----------
    risk
        Of all samples; neither its weights nor its ν are read.
    norm
        max ‖a_j‖, from above.
    factor
        max w_i.
    solved
        Gives the solver's point, shape (d,); called for ν > 0 only.
    """

    risk: Risk
    norm: float
    factor: float
    nu: float
    x0: Array
    solved: Callable[[], Array]

    def regions(self, step_size: float) -> Sequence[InvariantSet]:
        """Return balls around 0 and around the solver's point, where the step size allows them."""
        if self.nu == 0.0:
            return []
        most = step_size * self.factor * (1.0 + 8 * EPS)
        found: list[InvariantSet] = []
        origin = np.zeros(len(self.x0))
        if most * self.nu <= 1.0:
            radius = max(distance(self.x0, origin), clip_up(self._slope / self.nu, 16))
            found.append(InvariantBall(origin, radius, "the regulariser pulls back as much as the loss can push"))
        if self.risk.loss.smooth and most * (2.0 * self.nu + self._curvature) <= 2.0:
            best = plain(self.solved())
            radius = max(distance(self.x0, best), clip_up(self._largest_gradient(best) / self.nu, 16))
            found.append(InvariantBall(best, radius, "every step contracts"))
        return found

    def pulls(self) -> Sequence[Pull]:
        """Return the pull of the regulariser towards 0."""
        if self.nu == 0.0:
            return ()
        mu, slope = self.factor * self.nu, clip_up(self.factor * self._slope, 16)
        origin = np.zeros(len(self.x0))
        return (Pull(origin, distance(self.x0, origin), slope, mu, mu, (1.0 - 8 * EPS) / mu),)

    def steepest(self) -> float | None:
        """Return max w_i·s without regulariser."""
        return None if self.nu > 0.0 else clip_up(self.factor * self._slope, 16)

    def excess(self, z: Floats) -> float | None:
        """Return the largest w_i·(loss + ν/2‖z‖²) of a single sample at z."""
        X = self.risk.X.astype(np.float64)
        each = losses.values(self.risk.loss, X @ self.risk.matrix(z), self.risk.y)
        largest = float(each.max()) + 0.5 * self.nu * float(z @ z)
        margins = self._slope * float(np.linalg.norm(z))
        out: float = self.factor * (largest + (X.shape[1] + 32) * EPS * (largest + 1.0 + margins))
        return out

    @property
    def _slope(self) -> float:
        return self.risk.loss.slope * self.norm

    @property
    def _curvature(self) -> float:
        return (self.risk.loss.curvature or 0.0) * self.norm**2

    def _largest_gradient(self, z: Floats) -> float:
        """Return max_j ‖∇loss_j(z) + νz‖ over all samples, from above."""
        X = self.risk.X.astype(np.float64)
        slopes = losses.slopes(self.risk.loss, X @ self.risk.matrix(z), self.risk.y).reshape(len(X), -1)
        # ‖a⊗p + νz‖² = ‖a‖²‖p‖² + 2ν·aᵀZp + ν²‖z‖²
        Z = self.nu * z.reshape(X.shape[1], -1)
        squares = (X**2).sum(axis=1) * (slopes**2).sum(axis=1) + 2.0 * ((X @ Z) * slopes).sum(axis=1) + (Z**2).sum()
        size = self._slope + self.nu * float(np.linalg.norm(z))
        rounding = (2 * X.shape[1] + 64) * EPS * size * (size + self._curvature * float(np.linalg.norm(z)))
        return float(np.sqrt(max(float(squares.max()), 0.0) + 4.0 * rounding))
