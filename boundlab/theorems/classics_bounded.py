"""Projected methods on a bounded set, where strongly convex functions have bounded gradients, too.

Textbook bounds; proofs in docs/theory/classics.md. G and B are those on the set, and so is its diameter.
"""

from typing import Any

from sympy import Integer, log, sqrt

from boundlab.assumptions import BOUNDED_DOMAIN
from boundlab.formulas.symbols import symbol
from boundlab.theorems._classic import (
    ALL_CLIENTS,
    BOUNDED_PROOFS,
    EXACT,
    HALF,
    ONE,
    ONE_CLIENT,
    B,
    K,
    alpha,
    classic,
    mu,
)

G, diameter = symbol("G"), symbol("diameter")
_DRAWN: dict[str, Any] = {
    "algorithm": "gd",
    "options": ONE_CLIENT,
    "assumptions": ("strongly-convex", "minimiser", "bounded-second-moment", "uniform-sampling", BOUNDED_DOMAIN),
    "proof": BOUNDED_PROOFS,
}
_LOGARITHMIC = (1 + log(K)) / (2 * mu * K)
_HAZAN = "Hazan, Agarwal and Kale, Logarithmic regret algorithms for online convex optimization (2007)"

STRONG_AVERAGE = classic(
    "sgd.projected.strongly-convex",
    {"bound": G**2 * _LOGARITHMIC},
    title="projected stochastic subgradients of clients drawn uniformly, steps 1/(μ(k+1)), average of the iterates",
    paper=_HAZAN,
    place="Theorem 1, for functions that are drawn",
    metric="ergodic-gap",
    first=1,
    step={"c": ONE / mu, "d": ONE},
    note="Any clients; the start does not matter. Tight at K = 1.",
    **_DRAWN,
)
STRONG_DISTANCE = classic(
    "sgd.projected.distance",
    {"bound": 4 * G**2 / (mu**2 * (K + 1))},
    title="projected stochastic subgradients of clients drawn uniformly, steps 1/(μ(k+1)), distance",
    paper="Rakhlin, Shamir and Sridharan, Making gradient descent optimal for strongly convex stochastic optimization "
    "(2012)",
    place="Lemma 1, with t = K + 1",
    metric="squared-distance",
    step={"c": ONE / mu, "d": ONE},
    note="Any clients; the start does not matter. Not attained: the proof here has 2 in place of 4.",
    **_DRAWN,
)
LONGER_STEPS_DISTANCE = classic(
    "sgd.projected.distance.longer-steps",
    {"bound": 4 * G**2 / (mu**2 * (K + 1))},
    title="projected stochastic subgradients of clients drawn uniformly, steps 2/(μ(k+2)), distance",
    paper="Lacoste-Julien, Schmidt and Bach, A simpler approach to obtaining an O(1/t) convergence rate for the "
    "projected stochastic subgradient method (2012)",
    place="the sum behind the rate of the weighted average, with t = K + 1",
    metric="squared-distance",
    step={"c": 2 / mu, "d": Integer(2)},
    note="Any clients; the start does not matter. Not attained.",
    **_DRAWN,
)
ANY_HORIZON = classic(
    "sgd.projected.any-horizon",
    {"diameter": diameter**2 / (2 * alpha * sqrt(K)), "subgradients": alpha * G**2 * (sqrt(K) - HALF) / K},
    title="projected stochastic subgradients of clients drawn uniformly, steps α/√(k+1), average of the iterates",
    paper="Zinkevich, Online convex programming and generalized infinitesimal gradient ascent (2003)",
    place="Theorem 1, with a factor α in the steps, for functions that are drawn",
    metric="ergodic-gap",
    first=1,
    step={"alpha": diameter / (G * sqrt(2))},
    settable=("alpha",),
    algorithm="gd",
    options={**ONE_CLIENT, "decay": "sqrt"},
    assumptions=("convex", "minimiser", "bounded-second-moment", "uniform-sampling", BOUNDED_DOMAIN),
    note="Any clients, any α, and one run for all K. Not attained.",
    proof=BOUNDED_PROOFS,
)
STRONG_SUBGRADIENT = classic(
    "subgradient.projected.strongly-convex",
    {"bound": B**2 * _LOGARITHMIC},
    title="the projected subgradient method with steps 1/(μ(k+1)), average of the iterates",
    paper=_HAZAN,
    place="Theorem 1, with one function",
    metric="ergodic-gap",
    first=1,
    step={"c": ONE / mu, "d": ONE},
    algorithm="gd",
    options=ALL_CLIENTS,
    assumptions=("strongly-convex", "lipschitz", "minimiser", BOUNDED_DOMAIN, "one-function"),
    conditions=(EXACT,),
    note="All clients have one function; the start does not matter. Tight at K = 1.",
    proof=BOUNDED_PROOFS,
)

THEOREMS = (STRONG_AVERAGE, STRONG_DISTANCE, LONGER_STEPS_DISTANCE, ANY_HORIZON, STRONG_SUBGRADIENT)
