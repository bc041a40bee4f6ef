"""Gradient descent on smooth functions: textbook bounds, several of them attained.

Proofs stand in docs/theory/classics.md. Here f = (1/n) Σ f_i, whose gradient is taken in full.
"""

from typing import Any

from sympy import sqrt

from boundlab.theorems._classic import (
    ALL_CLIENTS,
    CONVEX,
    EXACT,
    F0,
    NESTEROV_BOOK,
    ONE,
    POLYAK,
    SHORT,
    SMOOTH_PROOFS,
    STRONG,
    TWO,
    WIDE,
    K,
    L,
    R,
    T,
    alpha,
    classic,
    mu,
)
from boundlab.theorems._forms import largest

_GD: dict[str, Any] = {"algorithm": "gd", "options": ALL_CLIENTS, "settable": ("alpha",), "proof": SMOOTH_PROOFS}
_CONVEX = {**_GD, "assumptions": CONVEX, "step": {"alpha": ONE / L}, "conditions": (EXACT, SHORT)}
_STRONG = {**_GD, "assumptions": STRONG, "step": {"alpha": TWO / (mu + L)}, "conditions": (EXACT, WIDE)}
_TEBOULLE = "Teboulle and Vaisbourd, An elementary approach to tight worst case complexity analysis (2023)"
_TAYLOR = "Taylor, Hendrickx and Glineur, Exact worst-case convergence rates of the proximal gradient method (2018)"
_RATE = largest(1 - alpha * mu, alpha * L - 1)

GD_CONVEX = classic(
    "gd.convex",
    {"bound": L * R**2 / (4 * K * L * alpha + 2)},
    proofs=("classics.gd.convex",),
    title="gradient descent on smooth convex functions, last iterate",
    paper="Drori and Teboulle, Performance of first-order methods for smooth convex minimization (2014)",
    place="Theorem 3.1",
    metric="gap",
    note="Tight: attained by Huber's function with threshold R/(2KLα+1).",
    **_CONVEX,
)
GD_CONVEX_BOOK = classic(
    "gd.convex.book",
    {"bound": 2 * L * R**2 / (K + 4)},
    title="gradient descent on smooth convex functions, as in the book",
    paper=NESTEROV_BOOK,
    place="Corollary 2.1.2",
    metric="gap",
    algorithm="gd",
    options=ALL_CLIENTS,
    assumptions=CONVEX,
    step={"alpha": ONE / L},
    conditions=(EXACT,),
    proof=SMOOTH_PROOFS,
    note="Tight at K = 0 only; classics.gd.convex is smaller by a factor close to 8 for large K.",
    proofs=("classics.gd.convex.book",),
)
GD_ERGODIC = classic(
    "gd.ergodic",
    {"bound": R**2 / (2 * alpha * K)},
    title="gradient descent on smooth convex functions, average of the iterates",
    paper="Beck, First-Order Methods in Optimization (2017)",
    place="proof of Theorem 10.21",
    metric="ergodic-gap",
    note="The average is over x_0 … x_{K−1}. Tight for α = 1/L: attained by Huber's function with threshold R/K.",
    **_CONVEX,
    proofs=("classics.gd.ergodic",),
)
GD_DECAYING = classic(
    "gd.decaying",
    {"bound": L * R**2 / (8 * L * alpha * (sqrt(K + 1) - 1) + 2)},
    title="gradient descent on smooth convex functions with steps alpha/√(k+1), last iterate",
    paper=_TEBOULLE,
    place="the proof of the constant step, with any α_k ≤ 1/L",
    metric="gap",
    note="L·R²/(4L·Σα_k + 2), with Σ_{k<K} 1/√(k+1) ≥ 2(√(K+1) − 1); the former is tight.",
    **{**_CONVEX, "options": {**ALL_CLIENTS, "decay": "sqrt"}},
)
GD_GRADIENT = classic(
    "gd.gradient",
    {"bound": L**2 * R**2 / (K * L * alpha + 1) ** 2},
    title="gradient descent on smooth convex functions, gradient of the last iterate by the initial distance",
    paper=_TEBOULLE,
    place="gradient descent, gradient norm",
    metric="gradient-norm-last",
    note="Tight: attained by Huber's function with threshold R/(KLα+1).",
    **_CONVEX,
    proofs=("classics.gd.gradient",),
)
GD_GRADIENT_GAP = classic(
    "gd.gradient-gap",
    {"bound": 2 * L * F0 / (2 * K * L * alpha + 1)},
    title="gradient descent on smooth convex functions, gradient of the last iterate by the initial gap",
    paper="Kim and Fessler, Optimizing the efficiency of first-order methods for decreasing the gradient (2021)",
    place="gradient descent, from the initial gap",
    metric="gradient-norm-last",
    note="Tight: attained by Huber's function with x_0 at distance threshold·(KLα+1) of its minimiser.",
    **_CONVEX,
    proofs=("classics.gd.gradient-gap",),
)
GD_STRONG = classic(
    "gd.strongly-convex",
    {"bound": _RATE ** (2 * K) * R**2},
    proofs=("classics.gd.strongly-convex",),
    title="gradient descent on smooth strongly convex functions, distance of the last iterate",
    paper=POLYAK,
    place="Section 1.4, Theorem 3; Nesterov 2018, Theorem 2.1.15",
    metric="squared-distance",
    note="Tight: attained by x² with curvature μ or L.",
    **_STRONG,
)
GD_STRONG_GAP = classic(
    "gd.strongly-convex.gap",
    {"bound": _RATE ** (2 * K) * F0},
    title="gradient descent on smooth strongly convex functions, gap of the last iterate",
    paper=_TAYLOR,
    place="the theorem on function values, without a non-smooth part",
    metric="gap",
    note="Tight: attained by x² with curvature μ or L.",
    **{**_STRONG, "proof": ""},
)
GD_PL = classic(
    "gd.pl",
    {"bound": (1 - alpha * mu * (2 - alpha * L)) ** K * F0},
    title="gradient descent under the Polyak–Łojasiewicz inequality, which strong convexity implies",
    paper="Polyak, Gradient methods for the minimisation of functionals (1963)",
    place="Theorem 4; Karimi, Nutini and Schmidt 2016, Theorem 1",
    metric="gap",
    note="Not tight on strongly convex functions: classics.gd.strongly-convex.gap is smaller.",
    **{**_STRONG, "step": {"alpha": ONE / L}},
    proofs=("classics.gd.pl",),
)
GD_NONCONVEX = classic(
    "gd.nonconvex",
    {"bound": 2 * F0 / (alpha * T * (2 - alpha * L))},
    title="gradient descent on smooth functions, average squared gradient",
    paper=NESTEROV_BOOK,
    place="Section 1.2.3",
    metric="gradient-norm",
    note="Tight for α = 1/L: attained by L·x²/2, which is done after one step.",
    **{**_CONVEX, "assumptions": ("smooth", "bounded-below")},
    proofs=("classics.gd.nonconvex",),
)

THEOREMS = (
    GD_CONVEX,
    GD_CONVEX_BOOK,
    GD_ERGODIC,
    GD_DECAYING,
    GD_GRADIENT,
    GD_GRADIENT_GAP,
    GD_STRONG,
    GD_STRONG_GAP,
    GD_PL,
    GD_NONCONVEX,
)
