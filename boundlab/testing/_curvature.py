"""Checks of gradients and curvature at single points, by differences."""

from collections.abc import Callable

import numpy as np

from boundlab.testing._agree import at_most
from boundlab.testing._sample import Floats, SamplePoints

_STEP = 1e-4  # of the distance between x0 and x*
_ROUNDS = 12  # of power iteration
_ULP = 1e-13  # rounding of a value, of the largest in sight


def differences(at: SamplePoints) -> None:
    """Check gradients by differences of values: between those of both sides if convex, near their mean if smooth."""
    p, known = at.problem, at.problem.constants()
    convex = not p.assumptions().get("convex", "unsaid")
    if at.client_values is None:
        return
    h = _STEP * at.reach
    generator = np.random.Generator(np.random.Philox(17))
    for client in range(p.n):
        for x, slope, value in zip(at.points, at.gradients[client], at.client_values[client], strict=True):
            v = generator.normal(size=p.d)
            v /= np.linalg.norm(v)
            below, above = (p.client_value(client, x + sign * h * v) for sign in (-1.0, 1.0))
            room = _ULP * (at.largest + abs(below) + abs(above)) / h
            inner = float(slope @ v)
            what = f"{at.who}: ⟨∇f_{client}(x), v⟩ and differences of values along v:"
            if convex:
                at_most(f"{what} (f(x) − f(x − hv))/h ≤ slope", (value - below) / h - room, inner, scale=at.steepest)
                at_most(f"{what} slope ≤ (f(x + hv) − f(x))/h", inner, (above - value) / h + room, scale=at.steepest)
            if "L" in known:
                limit = known["L"].value * h + room
                at_most(
                    f"{what} |mean − slope| ≤ L·h", abs((above - below) / (2.0 * h) - inner), limit, scale=at.steepest
                )


def extremes(at: SamplePoints) -> None:
    """Check L and mu along the steepest and the flattest direction that power iteration finds at x0 and at x*."""
    p, known = at.problem, at.problem.constants()
    if "L" not in known:
        return
    L, h = known["L"].value, _STEP * at.reach
    rounding = _ULP * at.steepest / h
    centres = [np.asarray(x, dtype=np.float64) for x in (p.x0, *([] if at.optimum is None else [at.optimum.x]))]
    for client in range(p.n):
        for x in centres:

            def turn(v: Floats, client: int = client, x: Floats = x) -> Floats:
                return np.asarray((p.gradient(client, x + h * v) - p.gradient(client, x - h * v)) / (2.0 * h))

            v = _iterate(turn, p.d, 0.0)
            what = f"{at.who}: the curvature of f_{client} in the steepest direction ≤ L"
            at_most(what, float(np.linalg.norm(turn(v))), L + rounding, scale=L)
            if "mu" in known:
                v = _iterate(turn, p.d, L)
                what = f"{at.who}: mu ≤ the curvature of f_{client} in the flattest direction"
                at_most(what, known["mu"].value, float(v @ turn(v)) + rounding, scale=L)


def _iterate(turn: Callable[[Floats], Floats], d: int, shift: float) -> Floats:
    """Return a unit vector that the map turns into its largest multiple, or the map minus ``shift`` does."""
    v: Floats = np.random.Generator(np.random.Philox(19)).normal(size=d)
    for _ in range(_ROUNDS):
        v = v / np.linalg.norm(v)
        new = turn(v) - shift * v
        if not np.linalg.norm(new) > 0.0:
            return v
        v = new
    return np.asarray(v / np.linalg.norm(v))
