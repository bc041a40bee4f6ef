"""Checks that constants and the minimum are on the side on which they say that they are."""

import math
from collections.abc import Callable

import numpy as np

from boundlab.assumptions import ASSUMPTIONS, RUN_ASSUMPTIONS, choices
from boundlab.testing._check import ROUNDING, at_most, equal, expect
from boundlab.testing._sample import STEP, ULP, Floats, SamplePoints, norms

# What an assumption that is met lets theorems read.
_GIVES = {
    "smooth": ("L", "L_sq"),
    "strongly-convex": ("mu",),
    "lipschitz": ("B",),
    "bounded-variance": ("sigma", "sigma_l"),
    "bounded-gradients": ("G_sq",),
    "bounded-second-moment": ("G",),
    "bounded-heterogeneity": ("sigma_g", "sigma_g_mean"),
    "bounded-below": ("F0",),
    "minimiser": ("R",),
}
_ROUNDS = 12  # of power iteration
_DESCENTS, _HALVINGS = 80, 30
_DIRECTIONS = 60


def assumptions(at: SamplePoints) -> None:
    """Check that every assumption is answered, and that a constant exists if and only if its assumption is met."""
    reasons = at.problem.assumptions()
    # What an assumption checks by itself, and those of plug-ins, a problem may answer for or not.
    expected = {name for name, one in ASSUMPTIONS.items() if one.check is None} - RUN_ASSUMPTIONS
    more = {name for name in reasons if name in choices(name) and choices(name)[name].of == "functions"}
    expect(
        set(reasons) - (more - expected) == expected,
        f"assumptions() must answer {', '.join(sorted(expected))}; it answers {', '.join(sorted(reasons))}",
    )
    for assumption, name in ((assumption, name) for assumption, names in _GIVES.items() for name in names):
        reason, there = reasons[assumption], name in at.known
        verb, why = "exists" if there else "is missing", f"not met: {reason}" if reason else "met"
        expect(there != bool(reason), f"constant {name} {verb} though {assumption} is {why}")


def pairs(at: SamplePoints) -> None:
    """Check gradients against values and each other at pairs of points, neighbours of each point among them.

    Parabolas of curvature mu, or tangents of convex functions, lie below and those of curvature L above; gradients
    differ by as much at least and at most.
    """
    convex = not at.problem.assumptions().get("convex", "unsaid")
    aside = np.random.Generator(np.random.Philox(17)).normal(size=at.points.shape)
    aside *= STEP * at.scale * at.reach / norms(aside)[:, None]
    points = np.concatenate((at.points, at.points + aside, at.points - aside))
    gradients, values = at.gradients_at(points), at.client_values_at(points)
    away = points[None] - points[:, None]  # (S, S, d): from row to column
    distance = norms(away)
    squares, scale = distance**2, at.steepest * distance
    L, mu = at.known.get("L"), at.known.get("mu", 0.0 if convex else None)
    below = f"the {'tangent' if not mu else 'parabola of curvature mu'} below"
    for client, slope in enumerate(gradients):
        if values is not None:
            value = values[client]
            above = value[None] - value[:, None] - np.einsum("sd,std->st", slope, away)
            room = scale + ULP / ROUNDING * np.abs(values).max()
            if mu is not None:
                at_most(f"{below} f_{client} ≤ f_{client}", mu / 2.0 * squares - above, 0.0, scale=room)
            if L is not None:
                at_most(f"|f_{client} − tangent| ≤ L/2·‖x − y‖²", np.abs(above), L / 2.0 * squares, scale=room)
        turn, between = slope[None] - slope[:, None], f"∇f_{client}(x) − ∇f_{client}(y)"
        if mu is not None:
            inner = (turn * away).sum(axis=2)
            at_most(f"{'mu' if mu else 0}·‖x − y‖² ≤ ⟨{between}, x − y⟩", mu * squares - inner, 0.0, scale=scale)
        if L is not None:
            at_most(f"‖{between}‖ ≤ L·‖x − y‖", norms(turn), L * distance, scale=at.steepest)


def extremes(at: SamplePoints) -> None:
    """Check L and mu along the steepest and the flattest direction that power iteration finds at x0 and at x*."""
    p, h = at.problem, STEP * at.reach
    if "L" not in at.known:
        return
    L, rounding = at.known["L"], ULP * at.steepest / h
    for client, x in ((client, x) for client in range(p.n) for x in at.centres):

        def turn(v: Floats, client: int = client, x: Floats = x) -> Floats:
            return np.asarray((p.gradient(client, x + h * v) - p.gradient(client, x - h * v)) / (2.0 * h))

        v = _iterate(turn, p.d, 0.0)
        what = f"the curvature of f_{client} in the steepest direction ≤ L"
        at_most(what, norms(turn(v)), L + rounding, scale=L)
        if "mu" in at.known:
            v = _iterate(turn, p.d, L)
            what = f"mu ≤ the curvature of f_{client} in the flattest direction"
            at_most(what, at.known["mu"], float(v @ turn(v)) + rounding, scale=L)


def _iterate(turn: Callable[[Floats], Floats], d: int, shift: float) -> Floats:
    """Return a unit vector that the map turns into its largest multiple, or the map minus ``shift`` does."""
    v: Floats = np.random.Generator(np.random.Philox(19)).normal(size=d)
    for _ in range(_ROUNDS):
        v = v / norms(v)
        new = turn(v) - shift * v
        if not norms(new) > 0.0:
            return v
        v = new
    return np.asarray(v / norms(v))


def sizes(at: SamplePoints) -> None:
    """Check what bounds gradients: B, G_sq, G, sigma_g, sigma_g_mean; and the constants that name one number."""
    known, form = at.known, at.problem.quadratic()
    each = norms(at.gradients)
    apart = norms(at.gradients - at.gradients.mean(axis=0))
    for what, name, found in (
        ("‖∇f_i(x)‖ ≤ B", "B", each),
        ("‖∇f_i(x)‖ ≤ √G_sq", "G_sq", each),
        ("‖∇f_i(x)‖ ≤ G", "G", each),
        ("‖∇f_i(x) − ∇f(x)‖ ≤ sigma_g", "sigma_g", apart),
        ("√mean_i ‖∇f_i(x) − ∇f(x)‖² ≤ sigma_g_mean", "sigma_g_mean", np.sqrt((apart**2).mean(axis=0))),
    ):
        if name in known:
            limit = math.sqrt(known[name]) if name == "G_sq" else known[name]
            at_most(what, found, limit, scale=at.steepest)
    if "L_sq" in known:
        equal("L_sq and L²", known["L_sq"], known["L"] ** 2)
    if "sigma_l" in known:
        equal("sigma_l and sigma", known["sigma_l"], known["sigma"])
    if form is not None:
        at_most("sigma of quadratic() ≤ sigma of constants()", form.sigma, known["sigma"])


def minimum(at: SamplePoints) -> None:
    """Check the optimum: value, gap and distance, R, F0 and zeta by it, and that no descent finds less.

    Gap and distance by the slope at x̂, where L says how far a point with such a slope is from the minimum at least.
    """
    p, best, known = at.problem, at.optimum, at.known
    if best is None:
        return
    value, x0 = p.value(best.x), np.asarray(p.x0, dtype=np.float64)
    scale = max(at.largest, abs(value))
    equal("value(x*) and the value of optimum()", value, best.value, scale=scale)
    at_most("f* − gap ≤ f(x)", best.value - best.gap, at.values, scale=scale)
    at_most("f(x0) − f* ≤ F0", p.value(x0) - best.value, known["F0"], scale=scale)
    error, size = best.distance or 0.0, norms(x0) + norms(best.x)
    at_most("‖x0 − x*‖ ≤ R", math.dist(x0, best.x) - error, known["R"], scale=size)
    slopes = norms(np.array([p.gradient(i, best.x) for i in range(p.n)]))
    if "zeta" in known and "L" in known:
        at_most("‖∇f_i(x*)‖ ≤ L·zeta", slopes, known["L"] * (known["zeta"] + error), scale=at.steepest)
    most = p.gradient_norms_at_optimum()
    if most is not None:
        what = "‖∇f_i(x*)‖ ≤ gradient_norms_at_optimum()"
        at_most(what, slopes, most + known["L"] * error, scale=at.steepest)
    if "L" in known:
        L, slope = known["L"], norms(p.full_gradient(best.x))
        at_most("‖∇f(x̂)‖ ≤ √(2·L·gap) of optimum()", slope, np.sqrt(2.0 * L * best.gap), scale=at.steepest)
        if best.distance is not None:
            at_most("‖∇f(x̂)‖ ≤ L·distance of optimum()", slope, L * best.distance, scale=at.steepest)
    for name, start in (("x̂", best.x), ("x0", x0)):
        what = f"f* − gap of optimum() ≤ f at what a descent from {name} finds"
        lower = _lowest(at, np.asarray(start, dtype=np.float64))
        at_most(what, best.value - best.gap, lower, scale=max(at.largest, abs(best.value)))


def _lowest(at: SamplePoints, x: Floats) -> float:
    """Return the smallest value of f that is found: by gradient steps, halved until they help, then by random ones."""
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
    generator = np.random.Generator(np.random.Philox(13))
    for size in np.repeat(at.reach * np.logspace(0, -6, 7), _DIRECTIONS // 7):
        there = x + size * generator.normal(size=p.d) / np.sqrt(p.d)
        if (found := p.value(there)) < value:
            x, value = there, found
    return value
