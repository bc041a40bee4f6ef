"""Subgradient, incremental and proximal methods on convex functions; proofs in docs/theory/classics.md."""

from typing import Any

from sympy import sqrt

from boundlab.theorems._classic import (
    ALL_CLIENTS,
    BUBECK,
    CONVEX_PROOFS,
    EXACT,
    LIPSCHITZ,
    NESTEROV_BOOK,
    B,
    K,
    R,
    alpha,
    classic,
    mu,
    n,
)
from boundlab.theorems._statement import ANY, EACH

_SUBGRADIENT: dict[str, Any] = {
    "assumptions": LIPSCHITZ,
    "algorithm": "gd",
    "options": ALL_CLIENTS,
    "proof": CONVEX_PROOFS,
}

SUBGRADIENT = classic(
    "subgradient",
    {"bound": B * R / sqrt(K)},
    title="the subgradient method with the step for its horizon, average of the iterates",
    paper=BUBECK,
    place="Theorem 3.2; Nesterov 2018, Theorem 3.2.2",
    metric="ergodic-gap",
    step={"alpha": R / (B * sqrt(K))},
    conditions=(EXACT,),
    note="Tight: attained by B·max(x_1, …, x_K, −R/√K) from x_0 = 0; no method is faster (Drori and Teboulle 2016).",
    **_SUBGRADIENT,
    proofs=("classics.subgradient",),
)
SUBGRADIENT_FIXED = classic(
    "subgradient.fixed-step",
    {"distance": R**2 / (2 * alpha * K), "subgradients": alpha * B**2 / 2},
    proofs=("classics.subgradient.fixed-step",),
    title="the subgradient method with any constant step, average of the iterates",
    paper=NESTEROV_BOOK,
    place="Theorem 3.2.2, proof",
    metric="ergodic-gap",
    step={"alpha": alpha},
    conditions=(EXACT,),
    note="Tight where α = R/(B√K).",
    **_SUBGRADIENT,
)
SUBGRADIENT_LAST = classic(
    "subgradient.last-iterate",
    {"bound": B * R / sqrt(K + 1)},
    title="the subgradient method with linearly decreasing steps, last iterate",
    paper="Zamani and Glineur, Exact convergence rate of the last iterate in subgradient methods (2023)",
    place="the optimal last-iterate method",
    metric="gap",
    step={"alpha": R / (B * sqrt(K + 1)), "K": K},
    conditions=(EXACT,),
    note="α_k = R·(K−k)/(B·√(K+1)³). Tight: no method is faster (Drori and Teboulle 2016).",
    **{**_SUBGRADIENT, "options": {**ALL_CLIENTS, "decay": "linear"}, "proof": ""},
)
INCREMENTAL = classic(
    "incremental",
    {"bound": B * R / sqrt(K)},
    title="the incremental subgradient method with the step for its horizon, average over the starts of K passes",
    paper="Nedić and Bertsekas, Incremental subgradient methods for nondifferentiable optimization (2001)",
    place="Proposition 2.1, with C = nB",
    metric="ergodic-gap",
    algorithm="incremental",
    options={"order": ANY},
    about=EACH,
    assumptions=LIPSCHITZ,
    step={"alpha": R / (n * B * sqrt(K))},
    conditions=(EXACT,),
    note="Any order of the clients in a pass. Tight for n = 1.",
    proof=CONVEX_PROOFS,
    proofs=("classics.incremental",),
)
PROXIMAL = classic(
    "proximal-point",
    {"bound": R**2 / (4 * alpha * K)},
    title="the proximal point algorithm on convex functions, last iterate",
    paper="Taylor, Hendrickx and Glineur, Exact worst-case performance of first-order methods (2017)",
    place="Theorem 4.1; Güler 1991 with 2 in place of 4",
    metric="gap",
    first=1,
    algorithm="proximal_point",
    options={},
    assumptions=("convex", "minimiser"),
    step={"alpha": alpha},
    conditions=(EXACT,),
    note="Any α, any K ≥ 1. Tight: attained by (R/(2Kα))·|x| from x_0 = R.",
    proof=CONVEX_PROOFS,
    proofs=("classics.proximal-point",),
)
PROXIMAL_STRONG = classic(
    "proximal-point.strongly-convex",
    {"bound": R**2 / (1 + alpha * mu) ** (2 * K)},
    title="the proximal point algorithm on strongly convex functions, distance of the last iterate",
    paper="Rockafellar, Monotone operators and the proximal point algorithm (1976)",
    place="linear convergence under strong monotonicity",
    metric="squared-distance",
    algorithm="proximal_point",
    options={},
    assumptions=("strongly-convex", "minimiser"),
    step={"alpha": alpha},
    conditions=(EXACT,),
    note="Any α. Tight: attained by μ·x²/2.",
    proof=CONVEX_PROOFS,
    proofs=("classics.proximal-point.strongly-convex",),
)

THEOREMS = (SUBGRADIENT, SUBGRADIENT_FIXED, SUBGRADIENT_LAST, INCREMENTAL, PROXIMAL, PROXIMAL_STRONG)
