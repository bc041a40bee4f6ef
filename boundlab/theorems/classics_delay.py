"""Stale gradients: asynchronous SGD where all clients have the same function; proofs in docs/theory/classics.md."""

from boundlab.formulas.symbols import symbol
from boundlab.theorems._bound import Condition
from boundlab.theorems._classic import F0, ONE, PAGE, TWO, L, T, alpha, classic, sigma

tau_max = symbol("tau_max")

DELAYED_SGD = classic(
    "delayed-sgd",
    {
        "initial": TWO * F0 / (alpha * T),
        "noise": alpha * L * sigma**2,
        "delays": TWO * alpha**2 * L**2 * tau_max * sigma**2,
    },
    proofs=("classics.delayed-sgd",),
    title="asynchronous SGD of clients with one function, any delays up to tau_max, average squared gradient",
    paper="Stich and Karimireddy, The error-feedback framework: SGD with delayed gradients (2020)",
    place="their setting of bounded delays, non-convex functions; explicit constants derived here",
    status="derived here",
    metric="gradient-norm",
    first=1,
    algorithm="async_sgd",
    options={"schedule": "constant", "sampling": "arrival"},
    assumptions=("smooth", "bounded-below", "bounded-variance", "one-function", "fixed-schedule"),
    step={"alpha": ONE / (L * (1 + TWO * tau_max))},
    settable=("alpha",),
    conditions=(Condition(alpha, ONE / (L * (1 + TWO * tau_max)), "α ≤ 1/(L(1+2τ_max))"),),
    note="Without delays it is classics.sgd.nonconvex for n = 1.",
    proof=f"{PAGE}#stale-gradients",
)

THEOREMS = (DELAYED_SGD,)
