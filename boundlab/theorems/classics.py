"""Textbook theorems: all of them true, so that no check, search or comparison may object to any.

Those of :data:`TIGHT` are attained: at every iteration count for which they are stated, and with their own step, there
is an instance whose error equals the bound. Proofs and instances: docs/theory/classics.md.
"""

from boundlab.theorems import (
    classics_bounded,
    classics_composite,
    classics_delay,
    classics_gd,
    classics_momentum,
    classics_nonsmooth,
    classics_sgd,
)

THEOREMS = (
    *classics_gd.THEOREMS,
    *classics_momentum.THEOREMS,
    *classics_nonsmooth.THEOREMS,
    *classics_sgd.THEOREMS,
    *classics_composite.THEOREMS,
    *classics_bounded.THEOREMS,
    *classics_delay.THEOREMS,
)
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
