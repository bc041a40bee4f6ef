"""Constants of the f_i on the bounded set whose indicator h is: what grows without end on R^d has a limit there.

A local step ends with the projection, so that a run whose models are means of such results takes all its gradients on
the set (:meth:`boundlab.algorithms.Algorithm.stays_on_set`). There

- ‖∇f_i(x)‖ ≤ B for all subgradients, so that each f_i is B-Lipschitz: the set is convex;
- E‖g_i(x)‖² = ‖∇f_i(x)‖² + E‖g_i(x) − ∇f_i(x)‖² ≤ B² + sigma² = G²;
- ‖∇f_i − ∇f‖ = ‖(1 − 1/n)∇f_i − (1/n)Σ_{k≠i} ∇f_k‖, which the norms limit, if nothing better is known.

Limits on all of R^d are limits on the set, too: the smaller one counts. x0 is taken into the set, where rounding has
put it outside.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from boundlab.arithmetic.near import Near, norm, sqrt
from boundlab.objective import Constant, GradientsOnSet, Problem, SameObjective, against_mean, alike
from boundlab.objective._wrapped import answered_by
from boundlab.objective.confinement import InvariantSet
from boundlab.objective.simple import BoundedSet, ProxFunction


def constants_on_set(f: Problem, h: ProxFunction) -> dict[str, Constant]:
    """Return the constants that a bounded set gives, by symbol: those that f has on R^d alone are not among them."""
    region = h.bounded_set(f.d)
    return {} if region is None else constants_within(f, region.with_point(f.x0), h.words)


def constants_within(f: Problem, region: BoundedSet, words: str) -> dict[str, Constant]:
    """Return the constants that hold on a bounded set with x0, which ``words`` name, and no better ones on R^d."""
    known = f.constants()
    out = {"diameter": Constant(region.diameter, "upper", f"of {words}")}
    found = f.gradients_on(region) or _by_curvature(f, region)
    if found is None:
        return out
    how = f"{found.how}, on {words}"
    B = float(found.norms.max())
    B = min(B, known["B"].value) if "B" in known else B
    limits = {"B": B, "G_sq": float((Near(B) ** 2).upper)}
    if not alike(f):
        apart = against_mean(found.norms)
        apart = apart if found.apart is None else np.minimum(apart, found.apart)
        mean = float(sqrt((Near(apart) ** 2).mean()).upper)
        limits |= {"sigma_g": float(apart.max()), "sigma_g_mean": min(mean, float(apart.max()))}
    else:
        limits |= {"sigma_g": 0.0, "sigma_g_mean": 0.0}
    sigma = known["sigma"].value if "sigma" in known else found.sigma
    if sigma is not None:
        # Without noise G is B, to the last digit.
        limits |= {"G": float(norm([B, sigma]).upper) if sigma else B}
    if "sigma" not in known and found.sigma is not None:
        limits |= {"sigma": found.sigma, "sigma_l": found.sigma}
    better = {name: value for name, value in limits.items() if name not in known or value < known[name].value}
    return out | {name: Constant(value, "upper", how) for name, value in better.items()}


def assumptions_within(f: Problem, there: Mapping[str, Constant], words: str) -> dict[str, str]:
    """Return what a set changes of the answers that f gives on R^d: where a constant has a limit there, it is met."""
    told, known = f.assumptions(), f.constants().keys() | there.keys()
    needs = {
        "bounded-gradients": ("G_sq",),
        "bounded-second-moment": ("G",),
        "bounded-variance": ("sigma",),
        "bounded-heterogeneity": ("sigma_g", "sigma_g_mean"),
    }
    out = {}
    for name, symbols in needs.items():
        met = not told.get(name, "unsaid") or all(one in known for one in symbols)
        out[name] = "" if met else f"nobody has found a limit of it on {words}"
    convex = told.get("convex", "unsaid")
    out["lipschitz"] = convex or ("" if "B" in known else f"nobody has found B on {words}")
    return out


def _by_curvature(f: Problem, region: BoundedSet) -> GradientsOnSet | None:
    """Return ‖∇f_i(x)‖ ≤ ‖∇f_i(z)‖ + L_i·‖x − z‖ with z the centre; None where its rounding is not known."""
    found = [f.step_bounds(client) for client in range(f.n)]
    bounds = [one for one in found if one is not None and not one.kinks and not one.proximal]
    if f.dtype is not np.float64 or f.assumptions().get("smooth", "unsaid") or len(bounds) < f.n:
        return None
    z, size = region.centre, float(norm(region.centre).upper)
    norms = [
        (norm(f.gradient(i, z)) + one.error(z, size) + one.L * Near(region.radius)).upper
        for i, one in enumerate(bounds)
    ]
    return GradientsOnSet(np.array(norms), "the gradient at its centre, and L times its radius")


# A problem on a set that its runs never leave: what grows without end on R^d has a limit along the run.


@final
@answered_by(
    "inner",
    "quadratic",
    "least_squares",
    "confinement",
    "rational",
    "in_balls",
    "tensors",
)
@dataclass(frozen=True, eq=False)
class AlongRun(SameObjective):
    """The same problem, whose B, G, sigma and sigma_g are those on a set that no local step leaves.

    Parameters
    ----------
    inner
        The problem.
    region
        The set; it holds x0.
    limit
        The largest local step that never leaves it, unit (−1, 2).
    words
        What set it is.
    """

    inner: Problem
    region: InvariantSet
    limit: float
    words: str = "the set that no step leaves"

    @property
    def run_limit(self) -> float | None:
        """The largest local step that keeps a run on the set."""
        return self.limit

    @cached_property
    def _there(self) -> dict[str, Constant]:
        region = BoundedSet(*self.region.around())
        return constants_within(self.inner, region.with_point(self.x0), self.words)

    def constants(self) -> Mapping[str, Constant]:
        """Return those of the problem, and those on the set."""
        return {**self.inner.constants(), **self._there}

    def assumptions(self) -> Mapping[str, str]:
        """Return what is met on the set."""
        met = assumptions_within(self.inner, self._there, self.words)
        return {**self.inner.assumptions(), **met}
