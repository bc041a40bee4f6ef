"""Textbook theorems: all of them true, so that no check, search or comparison may object to any.

Their proofs stand in docs/theory/classics.md.
"""

from pathlib import Path

from boundlab.theorems.record import of_package

THEOREMS = of_package(
    Path(__file__).parent,
    (
        "classics.gd.convex",
        "classics.gd.convex.book",
        "classics.gd.ergodic",
        "classics.gd.decaying",
        "classics.gd.gradient",
        "classics.gd.gradient-gap",
        "classics.gd.strongly-convex",
        "classics.gd.strongly-convex.gap",
        "classics.gd.pl",
        "classics.gd.nonconvex",
        "classics.nesterov",
        "classics.nesterov.strongly-convex",
        "classics.heavy-ball",
        "classics.ogm",
        "classics.subgradient",
        "classics.subgradient.fixed-step",
        "classics.subgradient.last-iterate",
        "classics.incremental",
        "classics.proximal-point",
        "classics.proximal-point.strongly-convex",
        "classics.sgd.convex",
        "classics.sgd.gap",
        "classics.sgd.gap.decreasing",
        "classics.sgd.distance",
        "classics.sgd.distance.decreasing",
        "classics.sgd.nonconvex",
        "classics.sgd.heterogeneous",
        "classics.sgd.sampled",
        "classics.local-gd",
        "classics.proximal-gradient",
        "classics.proximal-gradient.strongly-convex",
        "classics.proximal-gradient.local",
        "classics.fista",
        "classics.subgradient.projected",
        "classics.sgd.projected",
        "classics.sgd.projected.strongly-convex",
        "classics.sgd.projected.distance",
        "classics.sgd.projected.distance.longer-steps",
        "classics.sgd.projected.any-horizon",
        "classics.subgradient.projected.strongly-convex",
        "classics.delayed-sgd",
    ),
)
