"""Common parts of the textbook theorems: their status, and conditions that many of them have."""

from typing import Any

from sympy import Expr, Integer

from boundlab.formulas.symbols import symbol
from boundlab.theorems._bound import Condition, FormulaBound
from boundlab.theorems._theorem import Theorem

ZERO, ONE, TWO, HALF = Integer(0), Integer(1), Integer(2), Integer(1) / 2

mu, L, B, R, F0, sigma, zeta = (symbol(name) for name in ("mu", "L", "B", "R", "F0", "sigma", "zeta"))
alpha, c, d, beta, q = (symbol(name) for name in ("alpha", "c", "d", "beta", "q"))
K, T, M, n = (symbol(name) for name in ("K", "T", "M", "n"))

CONVEX = ("convex", "smooth", "minimiser")
STRONG = ("strongly-convex", "smooth", "minimiser")
LIPSCHITZ = ("lipschitz", "minimiser")

EXACT = Condition(sigma, ZERO, "σ = 0 (full gradients)")
SHORT = Condition(alpha, ONE / L, "α ≤ 1/L")
WIDE = Condition(alpha, TWO / L, "α ≤ 2/L")
CONTRACTING = Condition(alpha, TWO / (mu + L), "α ≤ 2/(μ+L)")

PAGE = "docs/theory/classics.md"
SMOOTH_PROOFS = f"{PAGE}#smooth-functions-full-gradients"
CONVEX_PROOFS = f"{PAGE}#convex-functions-full-subgradients-or-proximal-steps"
STOCHASTIC_PROOFS = f"{PAGE}#stochastic-gradients"
COMPOSITE_PROOFS = f"{PAGE}#constraints-and-penalties"
BOUNDED_PROOFS = f"{PAGE}#bounded-sets"

ALL_CLIENTS = {"sampling": "all", "M": "1", "decay": "none"}
ONE_CLIENT = {"sampling": "uniform", "M": "1", "decay": "none"}

NESTEROV_BOOK = "Nesterov, Lectures on Convex Optimization (2018)"
POLYAK = "Polyak, Introduction to Optimization (1987)"
BUBECK = "Bubeck, Convex Optimization: Algorithms and Complexity (2015)"
BOTTOU = "Bottou, Curtis and Nocedal, Optimization Methods for Large-Scale Machine Learning (2018)"


def classic(name: str, terms: dict[str, Expr], **fields: Any) -> Theorem:
    """Return a theorem ``classics.NAME`` with a sum of terms; by default ``textbook``, from K = 0, on its page."""
    defaults: dict[str, Any] = {"status": "textbook", "options": {}, "parameters": {}, "first": 0, "page": PAGE}
    return Theorem(id=f"classics.{name}", bound=FormulaBound(terms), **{**defaults, **fields})
