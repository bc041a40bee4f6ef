"""Checks of what is claimed of the minimum, by others means than those that found it."""

from collections.abc import Iterator

import numpy as np

from boundlab.testing._agree import at_most
from boundlab.testing._sample import Floats, SamplePoints

_DESCENTS, _HALVINGS = 80, 30
_DIRECTIONS = 60


def certificate(at: SamplePoints) -> None:
    """Check gap and distance against the slope at x̂, where L says how far that lies above the minimum at least."""
    best, known = at.optimum, at.problem.constants()
    if best is None or "L" not in known:
        return
    L, slope = known["L"].value, float(np.linalg.norm(at.problem.full_gradient(best.x)))
    at_most(f"{at.who}: ‖∇f(x̂)‖ ≤ √(2·L·gap) of optimum()", slope, np.sqrt(2.0 * L * best.gap), scale=at.steepest)
    if best.distance is not None:
        at_most(f"{at.who}: ‖∇f(x̂)‖ ≤ L·distance of optimum()", slope, L * best.distance, scale=at.steepest)


def floor(at: SamplePoints) -> None:
    """Check that neither descents nor steps at random, from x̂ and from x0, come below f* − gap."""
    best = at.optimum
    if best is None:
        return
    for name, start in (("x̂", best.x), ("x0", at.problem.x0)):
        for value in _lower(at, np.asarray(start, dtype=np.float64)):
            what = f"{at.who}: f* − gap of optimum() ≤ f at what a descent from {name} finds"
            at_most(what, best.value - best.gap, value, scale=max(at.largest, abs(best.value)))


def _lower(at: SamplePoints, x: Floats) -> Iterator[float]:
    """Yield ever smaller values of f: steps along the gradient that are halved until they help, then random ones."""
    p, value, step = at.problem, at.problem.value(x), at.reach / max(at.steepest, 1e-300)
    for _ in range(_DESCENTS):
        slope, step = p.full_gradient(x), 4.0 * step
        for _ in range(_HALVINGS):
            there = x - step * slope
            if (found := p.value(there)) < value:
                x, value = there, found
                break
            step /= 2.0
        else:
            break
    yield value
    generator = np.random.Generator(np.random.Philox(13))
    for size in np.repeat(at.reach * np.logspace(0, -6, 7), _DIRECTIONS // 7):
        there = x + size * generator.normal(size=p.d) / np.sqrt(p.d)
        if (found := p.value(there)) < value:
            x, value = there, found
    yield value
