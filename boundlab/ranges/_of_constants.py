"""What certified constants alone say of the local steps of a problem without noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from boundlab.confinement import Ball, Confinement, Region, plain
from boundlab.objective import Problem

_UP = 1.0 + 1e-12


@final
@dataclass(frozen=True, slots=True)
class OfConstants(Confinement):
    """Full (sub)gradient steps on functions with the constants of a problem.

    - ‖g‖ ≤ B.
    - If every f_i is mu-strongly convex and L-smooth and α ≤ 2/(mu + L), a step brings any two points nearer by the
      factor 1 − α·mu (Nesterov, Introductory Lectures, Theorem 2.1.12), so
      ‖x − α∇f_i(x) − x*‖ ≤ (1 − α·mu)‖x − x*‖ + α‖∇f_i(x*)‖: balls around x* with a radius of max‖∇f_i(x*)‖/mu or
      more keep their points.
    """

    problem: Problem

    def regions(self, step_size: float) -> Sequence[Region]:
        """Return the ball around x* that contains x0, where the step size allows it."""
        constants = self.problem.constants()
        mu, L = constants.get("mu"), constants.get("L")
        if mu is None or L is None or mu.value <= 0.0 or step_size * (mu.value + L.value) * _UP > 2.0:
            return []
        norms, best = self.problem.gradient_norms_at_optimum(), self.problem.optimum()
        if norms is None or best.distance is None or "R" not in constants:
            return []
        # Moved from x* to the solver's point, which is at most ``distance`` away.
        radius = max(constants["R"].value, float(norms.max()) / mu.value) + best.distance
        return [Ball(plain(best.x), radius * _UP, "every step contracts")]

    def steepest(self) -> float | None:
        """Return B."""
        found = self.problem.constants().get("B")
        return None if found is None else found.value


def of_constants(problem: Problem) -> OfConstants | None:
    """Return what the constants say; None where gradients are noisy, of which they say nothing for certain."""
    return OfConstants(problem) if problem.noiseless else None
