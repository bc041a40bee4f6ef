"""Proximal and projected methods on F = f + h: textbook bounds; proofs in docs/theory/classics.md.

A local step is a proximal gradient step, so that the mean over clients is one only if they have the same function.
"""

from typing import Any

from sympy import sqrt

from boundlab.assumptions import COMPOSITE
from boundlab.formulas.symbols import symbol
from boundlab.theorems._classic import (
    ALL_CLIENTS,
    BUBECK,
    COMPOSITE_PROOFS,
    CONTRACTING,
    CONVEX,
    EXACT,
    LIPSCHITZ,
    ONE,
    ONE_CLIENT,
    SHORT,
    STRONG,
    TWO,
    WIDE,
    B,
    K,
    L,
    M,
    R,
    alpha,
    classic,
    mu,
    sigma,
)
from boundlab.theorems._forms import largest

_ALIKE = (COMPOSITE, "one-function")
_PROXIMAL: dict[str, Any] = {"algorithm": "gd", "options": ALL_CLIENTS, "settable": ("alpha",)}

PROXIMAL_GRADIENT = classic(
    "proximal-gradient",
    {"bound": R**2 / (2 * alpha * K)},
    title="the proximal gradient method on F = f + h, last iterate",
    paper="Beck, First-Order Methods in Optimization (2017)",
    place="Theorem 10.21",
    metric="gap",
    first=1,
    assumptions=(*CONVEX, *_ALIKE),
    step={"alpha": ONE / L},
    conditions=(EXACT, SHORT),
    **_PROXIMAL,
    note="All clients have one function. Not attained where h = 0.",
    proof=COMPOSITE_PROOFS,
    proofs=("classics.proximal-gradient",),
)
PROXIMAL_GRADIENT_STRONG = classic(
    "proximal-gradient.strongly-convex",
    {"bound": largest(1 - alpha * mu, alpha * L - 1) ** (2 * K) * R**2},
    title="the proximal gradient method on F = f + h with strongly convex f, distance of the last iterate",
    paper="Taylor, Hendrickx and Glineur, Exact worst-case convergence rates of the proximal gradient method (2018)",
    place="the theorem on distances; Beck 2017, Theorem 10.29 for α = 1/L",
    metric="squared-distance",
    assumptions=(*STRONG, *_ALIKE),
    step={"alpha": TWO / (mu + L)},
    conditions=(EXACT, WIDE),
    **_PROXIMAL,
    note="All clients have one function. Tight: attained by x² with curvature μ or L, and h = 0.",
    proof=COMPOSITE_PROOFS,
    proofs=("classics.proximal-gradient.strongly-convex",),
)
_PASS = (1 - alpha * mu) ** M
PROXIMAL_LOCAL = classic(
    "proximal-gradient.local",
    {"bound": (_PASS**K * R + (1 - _PASS**K) * symbol("sigma_g") / mu) ** 2},
    title="local proximal gradient steps of all clients and the mean of their models, distance of the last iterate",
    paper="Yuan, Zaheer and Reddi, Federated composite optimization (2021)",
    place="federated mirror descent with full gradients, with explicit constants",
    status="derived here",
    metric="squared-distance",
    algorithm="gd",
    options={"sampling": "all", "decay": "none"},
    assumptions=(*STRONG, "bounded-heterogeneity", COMPOSITE),
    step={"alpha": ONE / L},
    settable=("alpha",),
    conditions=(EXACT, CONTRACTING),
    parameters={"M": "M"},
    note="Any clients. It does not go to 0: a mean of proximal points is none, so that unequal clients pull the fixed "
    "point away from x* even for M = 1. Tight for σ_g = 0.",
    proof=COMPOSITE_PROOFS,
)
FISTA = classic(
    "fista",
    {"bound": 2 * R**2 / (alpha * (K + 1) ** 2)},
    title="the fast iterative shrinkage-thresholding algorithm: accelerated proximal gradients on F = f + h",
    paper="Beck and Teboulle, A fast iterative shrinkage-thresholding algorithm (2009)",
    place="Theorem 4.4",
    metric="gap",
    first=1,
    algorithm="nesterov",
    assumptions=(*CONVEX, *_ALIKE),
    step={"alpha": ONE / L},
    settable=("alpha",),
    conditions=(EXACT, SHORT),
    note="All clients have one function. Not attained.",
    proof=COMPOSITE_PROOFS,
    proofs=("classics.fista",),
)
PROJECTED_SUBGRADIENT = classic(
    "subgradient.projected",
    {"bound": B * R / sqrt(K)},
    title="the projected subgradient method with the step for its horizon, average of the iterates",
    paper=BUBECK,
    place="Theorem 3.2",
    metric="ergodic-gap",
    algorithm="gd",
    options=ALL_CLIENTS,
    assumptions=(*LIPSCHITZ, "constrained", "one-function"),
    step={"alpha": R / (B * sqrt(K))},
    conditions=(EXACT,),
    note="All clients have one function. Tight: attained without a constraint, as classics.subgradient.",
    proof=COMPOSITE_PROOFS,
    proofs=("classics.subgradient.projected",),
)
PROJECTED_SGD = classic(
    "sgd.projected",
    {"bound": R * sqrt((B**2 + sigma**2) / K)},
    title="projected stochastic subgradients of clients drawn uniformly, average of the iterates",
    paper="Nemirovski, Juditsky, Lan and Shapiro, Robust stochastic approximation (2009)",
    place=f"(2.20) and (2.21); {BUBECK}, Theorem 6.1",
    metric="ergodic-gap",
    algorithm="gd",
    options=ONE_CLIENT,
    assumptions=(*LIPSCHITZ, "bounded-variance", "uniform-sampling", "constrained"),
    step={"alpha": R / sqrt((B**2 + sigma**2) * K)},
    note="Any clients: each step is along one of them, and right in the mean. Tight for n = 1 and σ = 0.",
    proof=COMPOSITE_PROOFS,
    proofs=("classics.sgd.projected",),
)

THEOREMS = (
    PROXIMAL_GRADIENT,
    PROXIMAL_GRADIENT_STRONG,
    PROXIMAL_LOCAL,
    FISTA,
    PROJECTED_SUBGRADIENT,
    PROJECTED_SGD,
)
