"""Checks that constants are on the side on which they say that they are."""

import math

import numpy as np

from boundlab.assumptions import ASSUMPTIONS, RUN_ASSUMPTIONS, choices
from boundlab.testing._agree import at_most, equal, expect
from boundlab.testing._sample import Floats, SamplePoints

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


def assumptions(at: SamplePoints) -> None:
    """Check that every assumption is answered, and that a constant exists if and only if its assumption is met."""
    reasons, known = at.problem.assumptions(), at.problem.constants()
    # What an assumption checks by itself, and those of plug-ins, a problem may answer for or not.
    expected = {name for name, one in ASSUMPTIONS.items() if one.check is None} - RUN_ASSUMPTIONS
    more = {name for name in reasons if name in choices(name) and choices(name)[name].of == "functions"}
    expect(
        set(reasons) - (more - expected) == expected,
        f"{at.who}: assumptions() must answer {', '.join(sorted(expected))}; it answers {', '.join(sorted(reasons))}",
    )
    for assumption, names in _GIVES.items():
        for name in names:
            if reasons[assumption]:
                words = f"constant {name} exists though {assumption} is not met: {reasons[assumption]}"
                expect(name not in known, f"{at.who}: {words}")
            else:
                expect(name in known, f"{at.who}: constant {name} is missing though {assumption} is met")


def pairs(at: SamplePoints) -> None:
    """Check what bounds differences of gradients: L, mu and convexity."""
    p, known = at.problem, {name: constant.value for name, constant in at.problem.constants().items()}
    convex = not p.assumptions().get("convex", "unsaid")
    away = at.points[None] - at.points[:, None]
    distance = _norms(away)
    for client in range(p.n):
        turn = at.gradients[client][None] - at.gradients[client][:, None]
        inner = (turn * away).sum(axis=2)
        scale = at.steepest * float(distance.max())
        if convex:
            what = f"{at.who}: 0 ≤ ⟨∇f_{client}(x) − ∇f_{client}(y), x − y⟩ of a convex function"
            at_most(what, -inner, 0.0, scale=scale)
        if "mu" in known:
            what = f"{at.who}: mu·‖x − y‖² ≤ ⟨∇f_{client}(x) − ∇f_{client}(y), x − y⟩"
            at_most(what, known["mu"] * distance**2 - inner, 0.0, scale=scale)
        if "L" in known:
            what = f"{at.who}: ‖∇f_{client}(x) − ∇f_{client}(y)‖ ≤ L·‖x − y‖"
            at_most(what, _norms(turn), known["L"] * distance, scale=at.steepest)


def sizes(at: SamplePoints) -> None:
    """Check what bounds gradients: B, G_sq, G, sigma_g, sigma_g_mean; and the constants that name one number."""
    known = {name: constant.value for name, constant in at.problem.constants().items()}
    norms = _norms(at.gradients)
    apart = _norms(at.gradients - at.gradients.mean(axis=0))
    spread = np.sqrt((apart**2).mean(axis=0))
    for what, found, name, limit in (
        ("‖∇f_i(x)‖ ≤ B", norms, "B", known.get("B", 0.0)),
        ("‖∇f_i(x)‖ ≤ √G_sq", norms, "G_sq", math.sqrt(known.get("G_sq", 0.0))),
        ("‖∇f_i(x)‖ ≤ G", norms, "G", known.get("G", 0.0)),
        ("‖∇f_i(x) − ∇f(x)‖ ≤ sigma_g", apart, "sigma_g", known.get("sigma_g", 0.0)),
        ("√mean_i ‖∇f_i(x) − ∇f(x)‖² ≤ sigma_g_mean", spread, "sigma_g_mean", known.get("sigma_g_mean", 0.0)),
    ):
        if name in known:
            at_most(f"{at.who}: {what}", found, limit, scale=at.steepest)
    if "L_sq" in known:
        equal(f"{at.who}: L_sq and L²", known["L_sq"], known["L"] ** 2)
    if "sigma_l" in known:
        equal(f"{at.who}: sigma_l and sigma", known["sigma_l"], known["sigma"])
    form = at.problem.quadratic()
    if form is not None:
        at_most(f"{at.who}: sigma of quadratic() ≤ sigma of constants()", form.sigma, known["sigma"])


def start(at: SamplePoints) -> None:
    """Check the optimum with its certificate, and R, F0 and zeta by it."""
    p, best = at.problem, at.optimum
    if best is None:
        return
    known = {name: constant.value for name, constant in p.constants().items()}
    value, x0 = p.value(best.x), np.asarray(p.x0, dtype=np.float64)
    scale = max(at.largest, abs(value))
    equal(f"{at.who}: value(x*) and the value of optimum()", value, best.value, scale=scale)
    at_most(f"{at.who}: f* − gap ≤ f(x)", best.value - best.gap, at.values, scale=scale)
    at_most(f"{at.who}: f(x0) − f* ≤ F0", p.value(x0) - best.value, known["F0"], scale=scale)
    error, size = best.distance or 0.0, float(np.linalg.norm(x0) + np.linalg.norm(best.x))
    at_most(f"{at.who}: ‖x0 − x*‖ ≤ R", math.dist(x0, best.x) - error, known["R"], scale=size)
    slopes = _norms(np.array([p.gradient(i, best.x) for i in range(p.n)]))
    if "zeta" in known and "L" in known:
        what = f"{at.who}: ‖∇f_i(x*)‖ ≤ L·zeta"
        at_most(what, slopes, known["L"] * (known["zeta"] + error), scale=at.steepest)
    norms = p.gradient_norms_at_optimum()
    if norms is not None:
        what = f"{at.who}: ‖∇f_i(x*)‖ ≤ gradient_norms_at_optimum()"
        at_most(what, slopes, norms + known["L"] * error, scale=at.steepest)


def _norms(vectors: Floats) -> Floats:
    """Return the norms along the last axis."""
    out: Floats = np.linalg.norm(vectors, axis=-1)
    return out
