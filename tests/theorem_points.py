"""For every registered theorem a point at which it can be evaluated, and the textbook theorems' numbers by hand."""

from math import sqrt
from typing import Any

import gradient_theorems as gradient
from paper_theorems import CLASSICS

from boundlab.formulas.assignments import parse_values
from boundlab.theorems import Theorem

SMOOTH = {"L": 4.0, "R": 3.0, "F0": 5.0, "mu": 1.0, "sigma": 0.0, "K": 3, "T": 3, "n": 2}
NOISY = {**SMOOTH, "sigma": 2.0}
SHARP = {"B": 2.0, "R": 3.0, "sigma": 0.0, "K": 4, "n": 2, "mu": 1.0}
# id: (values, bound) with the default step unless one is given.
BY_HAND = {
    "gd.convex": (SMOOTH, 36 / 14),
    "gd.convex.book": (SMOOTH, 72 / 7),
    "gd.ergodic": (SMOOTH, 9 / (2 * 3 / 4)),
    "gd.decaying": (SMOOTH, 36 / (8 * (2 - 1) + 2)),
    "gd.gradient": (SMOOTH, 16 * 9 / 4**2),
    "gd.gradient-gap": (SMOOTH, 2 * 4 * 5 / 7),
    "gd.strongly-convex": (SMOOTH, 0.6**6 * 9),  # α = 2/5: 1 − αμ = αL − 1 = 3/5
    "gd.strongly-convex.gap": (SMOOTH, 0.6**6 * 5),
    "gd.pl": (SMOOTH, 0.75**3 * 5),
    "gd.nonconvex": (SMOOTH, 10 * 4 / 3),
    "nesterov": (SMOOTH, 2 * 9 * 4 / 16),
    "nesterov.strongly-convex": (SMOOTH, 0.5**3 * (5 + 4.5)),
    "heavy-ball": (SMOOTH, 6 + 6),  # β = 1/2, α = 1/8
    "ogm": ({**SMOOTH, "K": 1}, 36 / (2 * 2**2)),  # θ_1 = (1 + √9)/2 = 2
    "subgradient": (SHARP, 2 * 3 / 2),
    "subgradient.fixed-step": ({**SHARP, "alpha": 0.5}, 9 / 4 + 1),
    "subgradient.last-iterate": ({**SHARP, "K": 3}, 2 * 3 / 2),
    "incremental": (SHARP, 2 * 3 / 2),
    "proximal-point": ({**SHARP, "K": 3, "alpha": 0.5}, 9 / 6),
    "proximal-point.strongly-convex": ({**SHARP, "K": 3, "alpha": 0.5}, 9 / 1.5**6),
    "sgd.convex": ({**SHARP, "sigma": sqrt(5)}, 3 * 3 / 2),
    "sgd.gap": ({**NOISY, "K": 2}, 0.75**2 * 5 + (1 - 0.75**2) * 1),  # α = 1/4: αLσ²/(2μn) = 1
    "sgd.gap.decreasing": ({**NOISY, "K": 2}, 40 / 10),  # c = 2, d = 8: max(16, 40)
    "sgd.distance": ({**NOISY, "K": 1}, 0.36 * 9 + 0.16 * 4 / 2),
    "sgd.distance.decreasing": ({**NOISY, "K": 4}, 45 / 9),  # c = 2, d = 5: max(8, 45)
    "sgd.nonconvex": ({**NOISY, "T": 4}, 20 + 1),  # α = 1/8
    "sgd.heterogeneous": ({**NOISY, "K": 1, "zeta": 0.5}, 7 / 8 * 9 + 4 / 64 + 2 * 16 / 4 / 64),
    # α = 1/16: 2ασ_star²/(nμ) times 1 − 15/16.
    "sgd.sampled": ({**SMOOTH, "K": 1, "n": 2, "L_max": 8, "sigma_star": 4}, 15 / 16 * 9 + 1 / 16),
    # α = 1/20: 10/(4/20), 4·4/20, 2·16·2·4/400.
    "delayed-sgd": ({**NOISY, "T": 4, "tau_max": 2}, 50 + 0.8 + 0.64),
    "proximal-gradient": (SMOOTH, 9 / (2 * 3 / 4)),
    "proximal-gradient.strongly-convex": (SMOOTH, 0.6**6 * 9),
    "proximal-gradient.local": ({**SMOOTH, "K": 1, "M": 2, "sigma_g": 0.5}, (0.75**2 * 3 + (1 - 0.75**2) / 2) ** 2),
    "fista": (SMOOTH, 2 * 9 * 4 / 16),
    "subgradient.projected": (SHARP, 2 * 3 / 2),
    "sgd.projected": ({**SHARP, "sigma": sqrt(5)}, 3 * 3 / 2),
    # c = 1/μ = 1, and 1 + log 1 = 1.
    "sgd.projected.strongly-convex": ({**SHARP, "G": 3.0, "K": 1}, 9 / 2),
    "subgradient.projected.strongly-convex": ({**SHARP, "K": 1}, 4 / 2),
    "sgd.projected.distance": ({**SHARP, "G": 3.0, "mu": 2.0}, 4 * 9 / (4 * 5)),
    "sgd.projected.distance.longer-steps": ({**SHARP, "G": 3.0, "mu": 2.0}, 4 * 9 / (4 * 5)),
    "sgd.projected.any-horizon": ({**SHARP, "G": 3.0, "diameter": 6.0, "alpha": 1.0}, 36 / 4 + 9 * 1.5 / 4),
    "local-gd": ({**SMOOTH, "K": 1, "M": 2, "zeta": 0.5}, (0.75**2 * 3 + 0.5) ** 2),
}
TEXTBOOK = {name.removeprefix("classics."): theorem for name, theorem in CLASSICS.items()}
# At every iteration count for which they are stated, and with their own step, there is an instance whose error equals
# the bound: docs/theory/classics.md.
TIGHT = frozenset(
    f"classics.{name}"
    for name in (
        "gd.convex",
        "gd.ergodic",
        "gd.gradient",
        "gd.gradient-gap",
        "gd.strongly-convex",
        "gd.strongly-convex.gap",
        "gd.nonconvex",
        "ogm",
        "subgradient",
        "subgradient.last-iterate",
        "incremental",
        "proximal-point",
        "proximal-point.strongly-convex",
        "sgd.distance",
        "proximal-gradient.strongly-convex",
    )
)
AREA = parse_values(["mu=0.1", "L=1", "B=2", "p=0.2,0.3,0.35", "M=5", "sigma=1", "zeta=1", "R=3", "K=1000"]).grid()


def needed(theorem: Theorem, values: dict[str, Any]) -> dict[str, Any]:
    """Return those of the values that a theorem reads, or that may be set."""
    return {name: values[name] for name in (*theorem.inputs(), *theorem.settable) if name in values}


def values_at(theorem: Theorem) -> dict[str, Any]:
    """Return values of all that a theorem reads, at its point."""
    if theorem.id in gradient.BY_ID:
        return gradient.at(theorem, gradient.FIRST)
    if theorem.id.startswith("classics."):
        return needed(theorem, BY_HAND[theorem.id.removeprefix("classics.")][0])
    known = {**AREA, "alpha": 0.01}
    return {name: known[name] for name in theorem.inputs()}
