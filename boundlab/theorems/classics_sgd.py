"""Stochastic gradients: textbook bounds in expectation; proofs in docs/theory/classics.md.

Where all clients are asked (``sampling=all``), their noises are independent, so that the mean gradient has variance
at most σ²/n; where one is drawn, it has σ², and the clients' differences come on top.
"""

from typing import Any

from sympy import sqrt

from boundlab.formulas.symbols import symbol
from boundlab.theorems._bound import Condition
from boundlab.theorems._classic import (
    ALL_CLIENTS,
    BOTTOU,
    BUBECK,
    CONTRACTING,
    EXACT,
    F0,
    LIPSCHITZ,
    ONE,
    ONE_CLIENT,
    SHORT,
    STOCHASTIC_PROOFS,
    STRONG,
    TWO,
    B,
    K,
    L,
    M,
    R,
    T,
    alpha,
    c,
    classic,
    d,
    mu,
    n,
    sigma,
    zeta,
)
from boundlab.theorems._forms import largest

L_max, sigma_star = symbol("L_max"), symbol("sigma_star")
_SGD: dict[str, Any] = {"algorithm": "gd", "options": ALL_CLIENTS, "proof": STOCHASTIC_PROOFS}
_STRONG = {**_SGD, "assumptions": (*STRONG, "bounded-variance"), "settable": ("alpha",)}
_DRAWN = ("bounded-variance", "uniform-sampling")
_PER_ITERATION = 1 - alpha * mu

SGD_CONVEX = classic(
    "sgd.convex",
    {"bound": R * sqrt((B**2 + sigma**2) / K)},
    proofs=("classics.sgd.convex",),
    title="stochastic subgradients of clients drawn uniformly, average of the iterates",
    paper="Nemirovski, Juditsky, Lan and Shapiro, Robust stochastic approximation (2009)",
    place=f"(2.20) and (2.21); {BUBECK}, Theorem 6.1",
    metric="ergodic-gap",
    algorithm="gd",
    options=ONE_CLIENT,
    assumptions=(*LIPSCHITZ, *_DRAWN),
    step={"alpha": R / sqrt((B**2 + sigma**2) * K)},
    note="Tight for n = 1 and σ = 0.",
)
SGD_GAP = classic(
    "sgd.gap",
    {"initial": _PER_ITERATION**K * F0, "noise": (1 - _PER_ITERATION**K) * alpha * L * sigma**2 / (2 * mu * n)},
    title="stochastic gradients of all clients with a constant step, gap of the last iterate",
    paper=BOTTOU,
    place="Theorem 4.6",
    metric="gap",
    step={"alpha": ONE / L},
    conditions=(SHORT,),
    note="With M_V = 0, M = σ²/n and the geometric sum kept. Tight where μ = L, for x² with noise and α = 1/L.",
    **_STRONG,
    proofs=("classics.sgd.gap",),
)
SGD_GAP_DECREASING = classic(
    "sgd.gap.decreasing",
    {"bound": largest(c**2 * L * sigma**2 / (2 * n * (c * mu - 1)), d * F0) / (K + d)},
    title="stochastic gradients of all clients with steps 2/(μk + 2L), gap of the last iterate",
    paper=BOTTOU,
    place="Theorem 4.7, with β = 2/μ and γ = 2L/μ",
    metric="gap",
    step={"c": 2 / mu, "d": 2 * L / mu},
    algorithm="gd",
    options=ALL_CLIENTS,
    assumptions=(*STRONG, "bounded-variance"),
    note="Tight at K = 0 only.",
    proof=STOCHASTIC_PROOFS,
    proofs=("classics.sgd.gap.decreasing",),
)
SGD_DISTANCE = classic(
    "sgd.distance",
    {
        "initial": _PER_ITERATION ** (2 * K) * R**2,
        "noise": (1 - _PER_ITERATION ** (2 * K)) * alpha * sigma**2 / (n * mu * (2 - alpha * mu)),
    },
    title="stochastic gradients of all clients (synchronous mini-batches) with a constant step, distance",
    paper="Dekel, Gilad-Bachrach, Shamir and Xiao, Optimal distributed online prediction using mini-batches (2012)",
    place="the recursion behind mini-batches; Polyak 1987, Section 2.2",
    metric="squared-distance",
    step={"alpha": TWO / (mu + L)},
    conditions=(CONTRACTING,),
    note="Tight: an equality for μ·x²/2 with noise of variance σ² at each of n equal clients.",
    **_STRONG,
    proofs=("classics.sgd.distance",),
)
SGD_DISTANCE_DECREASING = classic(
    "sgd.distance.decreasing",
    {"bound": largest(c**2 * sigma**2 / (n * (c * mu - 1)), d * R**2) / (K + d)},
    title="stochastic gradients of all clients with steps 2/(μk + μ + L), distance of the last iterate",
    paper="Nemirovski, Juditsky, Lan and Shapiro, Robust stochastic approximation (2009)",
    place="(2.9) and (2.10), for c = 2/μ and an offset",
    metric="squared-distance",
    step={"c": 2 / mu, "d": (mu + L) / mu},
    algorithm="gd",
    options=ALL_CLIENTS,
    assumptions=(*STRONG, "bounded-variance"),
    note="Tight at K = 0 only.",
    proof=STOCHASTIC_PROOFS,
    proofs=("classics.sgd.distance.decreasing",),
)
SGD_NONCONVEX = classic(
    "sgd.nonconvex",
    {"initial": 2 * F0 / (alpha * T), "noise": alpha * L * sigma**2 / n},
    title="stochastic gradients of all clients on smooth functions, average squared gradient",
    paper="Ghadimi and Lan, Stochastic first- and zeroth-order methods for nonconvex programming (2013)",
    place="Theorem 2.1",
    metric="gradient-norm",
    step={"alpha": 1 / (L * sqrt(T))},
    settable=("alpha",),
    conditions=(SHORT,),
    assumptions=("smooth", "bounded-below", "bounded-variance"),
    note="Any α ≤ 1/L; tight at T = 1 with α = 1/L and σ = 0 (a quadratic).",
    **_SGD,
    proofs=("classics.sgd.nonconvex",),
)
SGD_HETEROGENEOUS = classic(
    "sgd.heterogeneous",
    {
        "initial": _PER_ITERATION**K * R**2,
        "noise": (1 - _PER_ITERATION**K) * alpha * sigma**2 / mu,
        "heterogeneity": (1 - _PER_ITERATION**K) * 2 * alpha * L**2 * zeta**2 / mu,
    },
    title="stochastic gradients of clients drawn uniformly with a constant step, distance of the last iterate",
    paper="Gower, Loizou, Qian, Sailanbayev, Shulgin and Richtárik, SGD: General analysis (2019)",
    place="Theorem 3.1 with single clients, and ‖∇f_i(x*)‖ ≤ Lζ",
    metric="squared-distance",
    step={"alpha": 1 / (2 * L)},
    settable=("alpha",),
    conditions=(Condition(alpha, 1 / (2 * L), "α ≤ 1/(2L)"),),
    algorithm="gd",
    options=ONE_CLIENT,
    assumptions=(*STRONG, *_DRAWN),
    note="Tight at K = 0 only.",
    proof=STOCHASTIC_PROOFS,
    proofs=("classics.sgd.heterogeneous",),
)
_PASS = (1 - alpha * mu) ** M
SGD_SAMPLED = classic(
    "sgd.sampled",
    {
        "initial": _PER_ITERATION**K * R**2,
        "noise": (1 - _PER_ITERATION**K) * 2 * alpha * sigma_star**2 / (n * mu),
    },
    title="mini-batches of all clients with a constant step, no bound on the noise but at the minimiser, distance",
    paper="Gower, Loizou, Qian, Sailanbayev, Shulgin and Richtárik, SGD: General analysis (2019)",
    place="Theorem 3.1, with 𝓛 ≤ L_max",
    metric="squared-distance",
    step={"alpha": 1 / (2 * L_max)},
    settable=("alpha",),
    conditions=(Condition(alpha, 1 / (2 * L_max), "α ≤ 1/(2·L_max)"),),
    algorithm="gd",
    options=ALL_CLIENTS,
    assumptions=(*STRONG, "sampled-functions"),
    note="Tight at K = 0 only.",
    proof=STOCHASTIC_PROOFS,
)
LOCAL = classic(
    "local-gd",
    {"bound": (_PASS**K * R + (1 - _PASS**K) / (1 - _PASS) * alpha**2 * L**2 * zeta * M * (M - 1) / 2) ** 2},
    title="local gradient descent (synchronous FedAvg with all clients), distance of the last iterate",
    paper="Khaled, Mishchenko and Richtárik, Tighter theory for local SGD on identical and heterogeneous data (2020)",
    place="the fixed-point view of local steps, with explicit constants",
    status="derived here",
    metric="squared-distance",
    algorithm="gd",
    options={"sampling": "all", "decay": "none"},
    assumptions=STRONG,
    step={"alpha": ONE / L},
    settable=("alpha",),
    conditions=(EXACT, CONTRACTING),
    parameters={"M": "M"},
    note="Tight for ζ = 0, and for M = 1: then it is classics.gd.strongly-convex. It does not go to 0: with M > 1 "
    "unequal clients pull the fixed point away from x*.",
    proof=STOCHASTIC_PROOFS,
)

THEOREMS = (
    SGD_CONVEX,
    SGD_GAP,
    SGD_GAP_DECREASING,
    SGD_DISTANCE,
    SGD_DISTANCE_DECREASING,
    SGD_NONCONVEX,
    SGD_HETEROGENEOUS,
    SGD_SAMPLED,
    LOCAL,
)
