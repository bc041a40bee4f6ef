"""Methods with momentum on smooth functions: textbook bounds; proofs in docs/theory/classics.md."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sympy import sqrt

from boundlab.algorithms.momentum import theta
from boundlab.theorems._bound import Condition, Floats, Ints, RecursionBound
from boundlab.theorems._classic import (
    CONVEX,
    EXACT,
    F0,
    HALF,
    NESTEROV_BOOK,
    ONE,
    PAGE,
    SHORT,
    SMOOTH_PROOFS,
    STRONG,
    K,
    L,
    R,
    alpha,
    beta,
    classic,
    mu,
)
from boundlab.theorems._theorem import Theorem

NESTEROV = classic(
    "nesterov",
    {"bound": 2 * R**2 / (alpha * (K + 1) ** 2)},
    title="Nesterov's accelerated gradient method on smooth convex functions",
    paper="Beck and Teboulle, A fast iterative shrinkage-thresholding algorithm (2009)",
    place="Theorem 4.4, without a non-smooth part",
    metric="gap",
    algorithm="nesterov",
    assumptions=CONVEX,
    step={"alpha": ONE / L},
    settable=("alpha",),
    conditions=(EXACT, SHORT),
    note="Not attained; R²/(2α·t_{K−1}²) is a little smaller.",
    proof=SMOOTH_PROOFS,
    proofs=("classics.nesterov",),
)
NESTEROV_STRONG = classic(
    "nesterov.strongly-convex",
    {"bound": (1 - sqrt(mu / L)) ** K * (F0 + mu * R**2 / 2)},
    title="Nesterov's accelerated gradient method with constant momentum on smooth strongly convex functions",
    paper=NESTEROV_BOOK,
    place="Theorem 2.2.3 and (2.2.22)",
    metric="gap",
    algorithm="nesterov",
    assumptions=STRONG,
    step={"alpha": ONE / L, "q": mu / L},
    conditions=(EXACT,),
    note="Not attained.",
    proof=SMOOTH_PROOFS,
    proofs=("classics.nesterov.strongly-convex",),
)
HEAVY_BALL = classic(
    "heavy-ball",
    {"distance": (1 - beta) * R**2 / (2 * alpha * K), "momentum": beta * L * R**2 / (2 * (1 - beta) * K)},
    title="the heavy ball on smooth convex functions, average of the iterates",
    paper="Ghadimi, Feyzmahdavian and Johansson, Global convergence of the Heavy-ball method (2015)",
    place="Theorem 1",
    metric="ergodic-gap",
    algorithm="heavy_ball",
    assumptions=CONVEX,
    step={"alpha": (1 - beta) / L, "beta": HALF},
    settable=("alpha", "beta"),
    conditions=(EXACT, Condition(alpha, (1 - beta) / L, "α ≤ (1−β)/L")),
    note="The average is over x_0 … x_{K−1}, with x_{−1} = x_0. Not attained, but for K = 1 and β = 0.",
    proof=SMOOTH_PROOFS,
    proofs=("classics.heavy-ball",),
)


def _optimal(values: Mapping[str, Any], iterations: Ints) -> Floats:
    return np.array([values["L"] * values["R"] ** 2 / (2.0 * theta(int(k), int(k)) ** 2) for k in iterations])


def _optimal_between(values: Mapping[str, Any], iterations: Ints) -> tuple[Floats, Floats]:
    """Enclose it: each θ_k adds a few roundings of positive numbers to those of θ_{k−1}."""
    found = _optimal(values, iterations)
    off = (8.0 * iterations + 64.0) * float(np.finfo(np.float64).eps)
    return found * (1.0 - off), found * (1.0 + off)


OGM = Theorem(
    id="classics.ogm",
    title="the optimized gradient method on smooth convex functions, for its horizon",
    paper="Kim and Fessler, Optimized first-order methods for smooth convex minimization (2016)",
    place="Theorem 2; Kim and Fessler 2017 (tight); Drori 2017 (no method is faster)",
    status="textbook",
    assumptions=CONVEX,
    algorithm="ogm",
    options={},
    metric="gap",
    step={"alpha": ONE / L, "K": K},
    conditions=(EXACT,),
    parameters={},
    bound=RecursionBound(
        function=_optimal,
        between=_optimal_between,
        inputs=("L", "R"),
        description="L·R²/(2θ_K²) with θ_0 = 1, θ_{k+1} = (1 + √(1 + 4θ_k²))/2, and the last with 8 in place of 4",
        latex=r"S_K = \frac{L R^2}{2\theta_K^2},\quad \theta_0 = 1,\quad "
        r"\theta_{k+1} = \tfrac12\bigl(1+\sqrt{1+4\theta_k^2}\bigr)\ (k < K-1),\quad "
        r"\theta_K = \tfrac12\bigl(1+\sqrt{1+8\theta_{K-1}^2}\bigr)",
    ),
    note="Tight: attained by L·x²/2, and by Huber's function with threshold R/θ_K².",
    page=PAGE,
)

THEOREMS = (NESTEROV, NESTEROV_STRONG, HEAVY_BALL, OGM)
