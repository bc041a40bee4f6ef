"""From sets that no step leaves to the range of a left side.

x_s is a convex combination of x0 and of results of local passes from earlier x_s
(:class:`boundlab.algorithms.Averages`), so that by induction a convex set with x0 that no local step leaves holds
every x_s, and a ball around z whose radius grows with the number of passes does, too:

- ‖x − αg − z‖ ≤ ‖x − z‖ + α‖g‖;
- ‖x − αg − z‖² ≤ ‖x − z‖² + 2α(h(z) − inf h) + α²‖g‖² for a (sub)gradient g of a drawn convex function h.

Averages of iterates obey the average of such limits, since ‖·‖ and ‖·‖² are convex.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Algorithm, Averages
from boundlab.assumptions import UNBIASED
from boundlab.errors import CertificateError, SpecError
from boundlab.metrics import MEAN, Metric, Proved, Quantity, range_of, terms_of
from boundlab.objective import Optimum, Problem, Wrapped
from boundlab.objective.confinement import InvariantBall, InvariantSet, InvariantSets, Pull, plain

Floats = NDArray[np.float64]
_UP = 1.0 + 1e-12
_BELOW = 1e-12


@final
@dataclass(frozen=True, slots=True)
class MetricEnclosure:
    """Between which numbers a left side lies for every event sequence and every mini-batch.

    Parameters
    ----------
    low, high
        Shape (points,), in the units of the metric; ``high`` is infinite where nothing is known. They are equal, up
        to the certificate of the optimum, where no pass has reached the model yet.
    how
        Why, at the last point.
    """

    low: Floats
    high: Floats
    how: str


def certain_range(
    metric: Metric, problem: Problem, algorithm: Algorithm[Any], parameters: Any, ks: NDArray[np.int64]
) -> MetricEnclosure | None:
    """Return the range of the left side at each of ``ks``, or None where nothing is known.

    Parameters
    ----------
    ks
        Shape (points,): iterations.
    """
    averages = algorithm.averages(parameters, problem.n)
    if terms_of(metric):  # these are the limits of one quantity, and of no sum
        return None
    if problem.simple is not None:  # the rules above are those of gradient steps, and ∇f(x*) = 0
        return None
    weighed = range_of(metric) is not None
    if averages is None or metric.over.at_mean or not (metric.over.one_record or metric.over is MEAN or weighed):
        return None
    known = [found for found in (problem.confinement(), of_constants(problem)) if found is not None]
    if weighed:  # no model that counts is behind more passes than the last one
        depth = averages.depth(ks).astype(np.float64)
    elif metric.over.averages_iterates:
        depth = averages.mean_depth(ks)
    else:  # the mean over versions 0 … T − 1 is at most the largest of them
        depth = averages.depth(ks - 1 if metric.over is MEAN else ks).astype(np.float64)
    start = _at_start(metric, problem)
    if start is None:
        return None
    high, how = _high(metric, problem, known, averages, depth, start[1])
    low = np.zeros(len(ks))
    low[depth == 0.0], high[depth == 0.0] = start
    return MetricEnclosure(low, high, how) if np.isfinite(high).any() else None


def _at_start(metric: Metric, problem: Problem) -> tuple[float, float] | None:
    """Return between which numbers the quantity at x0 is proved to lie, or None if the problem does not give it.

    R and F0 bound it, too, to the last digit: so do the theorems that are tight at the start.
    """
    try:
        _, low, high = metric.at(Proved(problem), (problem.x0, 0.0))
    except (CertificateError, SpecError):
        return None
    known = problem.constants()
    if metric.quantity is Quantity.GAP and "F0" in known:
        high = min(high, known["F0"].value)
    if metric.quantity is Quantity.DISTANCE and "R" in known:
        square = known["R"].value ** 2
        high = min(high, math.nextafter(square, math.inf) if square < Fraction(known["R"].value) ** 2 else square)
    return low, high


def _high(
    metric: Metric, problem: Problem, known: list[InvariantSets], averages: Averages, depth: Floats, start: float
) -> tuple[Floats, str]:
    """Return the smallest upper limits that the rules give, and which rule gives the last."""
    constants = {name: one.value for name, one in problem.constants().items()}
    x0 = plain(problem.x0)
    found = [
        (_from_start(metric.quantity, constants, start, away), how)
        for away, how in _reaches(known, averages, depth, x0, x0)
    ]
    if metric.quantity is not Quantity.SLOPE:
        best = problem.optimum()
        found += [
            (_from_best(metric.quantity, constants, best, away), how)
            for away, how in _reaches(known, averages, depth, plain(best.x), x0)
        ]
    elif "B" in constants:
        found.append((np.full(len(depth), constants["B"] ** 2), "no gradient is longer than B"))
    high, how = np.full(len(depth), np.inf), ""
    for limit, why in found:
        how = why if limit[-1] < high[-1] else how
        high = np.minimum(high, limit)
    return high * _UP, how


def _from_start(quantity: Quantity, constants: Mapping[str, float], start: float, away: Floats) -> Floats:
    """Return the largest quantity at points at most ``away`` from x0, where it is ``start``; shape (points,)."""
    B, L = constants.get("B", np.inf), constants.get("L", np.inf)
    if quantity is Quantity.GAP:
        return start + _times(B, away)
    moved = away if quantity is Quantity.DISTANCE else _times(L, away)
    out: Floats = (np.sqrt(start) + moved) ** 2
    return out


def _from_best(quantity: Quantity, constants: Mapping[str, float], best: Optimum, away: Floats) -> Floats:
    """Return the largest quantity at points at most ``away`` from the solver's point, shape (points,)."""
    near = away + (np.inf if best.distance is None else best.distance)
    if quantity is Quantity.DISTANCE:
        return near**2
    smooth = _times(constants.get("L", np.inf), near**2) / 2.0
    return np.minimum(smooth, _times(constants.get("B", np.inf), away) + best.gap)


def _times(constant: float, away: Floats) -> Floats:
    """Return their product; infinite where either is, even if the other is 0."""
    known = np.isfinite(away) & np.isfinite(constant)
    return np.where(known, constant * np.where(known, away, 0.0), np.inf) if np.isfinite(constant) else away + np.inf


def _reaches(
    known: list[InvariantSets], averages: Averages, depth: Floats, z: Floats, x0: Floats
) -> Iterator[tuple[Floats, str]]:
    """Yield upper limits of the distance of models to z, shape (points,), and why they hold."""
    size, steps, start = averages.step_size, averages.steps * depth, float(np.linalg.norm(x0 - z)) * _UP
    for one in known:
        for region in one.regions(size):
            yield np.full(len(depth), region.farthest(z)), region.how
        steepest = one.steepest()
        if steepest is None:
            continue
        yield start + steps * size * steepest, "no step is longer than the step size times the largest slope"
        excess = one.excess(z)
        if excess is not None:
            yield (
                np.sqrt(start**2 + steps * (2.0 * size * excess + (size * steepest) ** 2)),
                "one step grows it by no more than the loss explains",
            )


@final
@dataclass(frozen=True, slots=True)
class OfConstants(InvariantSets):
    """Full (sub)gradient steps on functions with the constants of a problem.

    - ‖g‖ ≤ B.
    - If every f_i is mu-strongly convex and L-smooth and α ≤ 2/(mu + L), a step brings any two points nearer by the
      factor 1 − α·mu (Nesterov, Introductory Lectures, Theorem 2.1.12), so
      ‖x − α∇f_i(x) − x*‖ ≤ (1 − α·mu)‖x − x*‖ + α‖∇f_i(x*)‖: balls around x* with a radius of max‖∇f_i(x*)‖/mu or
      more keep their points.
    - The same of late gradients: for ‖y_k − x‖ ≤ D and t = Σ s_k ≤ 2/(mu + L), Σ s_kf_k/t is one more such function,
      and its gradient at x differs from Σ s_k∇f_k(y_k)/t by at most L·D.
    """

    problem: Problem

    def regions(self, step_size: float) -> Sequence[InvariantSet]:
        """Return the ball around x* that contains x0, where the step size allows it."""
        # Moved from x* to the solver's point, which is at most ``off`` away.
        return [
            InvariantBall(one.centre, (max(one.start, one.slope / one.mu) + one.off) * _UP, "every step contracts")
            for one in self.pulls()
            if step_size <= one.longest
        ]

    def pulls(self) -> Sequence[Pull]:
        """Return the pull towards x*."""
        constants = self.problem.constants()
        mu, L = constants.get("mu"), constants.get("L")
        if mu is None or L is None or mu.value <= 0.0 or "R" not in constants:
            return ()
        norms, best = self.problem.gradient_norms_at_optimum(), self.problem.optimum()
        if norms is None or best.distance is None:
            return ()
        slope, longest = float(norms.max()), 2.0 * (1.0 - _BELOW / 8.0) / (mu.value + L.value)
        return (Pull(plain(best.x), constants["R"].value, slope, mu.value, L.value, longest, best.distance),)

    def steepest(self) -> float | None:
        """Return B."""
        found = self.problem.constants().get("B")
        return None if found is None else found.value


def along_run(problem: Problem) -> Problem:
    """Return a problem with the constants along its runs, or itself where no bounded set is known that these keep to.

    The set is that of steps up to 1/L, or all but: where all curvatures are L, rounding finds 1/L too long.
    """
    known = [found for found in (problem.confinement(), of_constants(problem)) if found is not None]
    L = problem.constants().get("L")
    if L is None or L.value <= 0.0 or isinstance(problem, Wrapped):  # what a wrapper makes of constants is its own
        return problem
    from boundlab.objective.composite import AlongRun

    for limit in (1.0 / L.value, (1.0 - _BELOW) / L.value):
        if regions := [region for one in known for region in one.regions(limit)]:
            return AlongRun(problem, min(regions, key=lambda one: one.around()[2]), limit)
    return problem


def of_constants(problem: Problem) -> OfConstants | None:
    """Return what the constants say; None where gradients have noise or an error: of these they say nothing certain."""
    return OfConstants(problem) if problem.noiseless and not problem.why_not(UNBIASED) else None
