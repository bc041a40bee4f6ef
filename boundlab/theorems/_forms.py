"""Common parts of the theorems of the papers."""

import re

from sympy import Expr, Integer, Max, sqrt

from boundlab.formulas.symbols import symbol
from boundlab.theorems._statement import ANY, OTHERS

G_sq, sigma_l, sigma_g, share_bias = (symbol(name) for name in ("G_sq", "sigma_l", "sigma_g", "share_bias"))

# The theorems of the papers are about every word of the options that they do not name.
OPEN = {OTHERS: ANY}
ONE = Integer(1)
ZERO = Integer(0)
# Every stochastic gradient has E‖g‖² ≤ s2.
SECOND_MOMENT = {"s2": G_sq + sigma_l**2}
# Shares of the clients in a window of N updates that differ from those in f make a bias.
SHARES = {"N": ONE, "bias": sigma_g * share_bias}
NONCONVEX = ("smooth", "bounded-variance", "bounded-gradients", "bounded-heterogeneity", "bounded-below")


def proof_of(page: str, *names: str) -> str:
    """Return where the argument for these theorems stands: the heading of a page that names them all."""
    *first, last = (f"`{name}`" for name in names)
    heading = f"Proof of {', '.join(first)} and {last}" if first else f"Proof of {last}"
    return f"{page}#{re.sub(r'[^a-z0-9_ -]', '', heading.lower()).replace(' ', '-')}"


def quadratic_root(linear: Expr, constant: Expr) -> Expr:
    """Return the largest X with X² − linear·X ≤ constant."""
    return (linear + sqrt(linear**2 + 4 * constant)) / 2


def largest(*parts: Expr) -> Expr:
    """Return an unevaluated Max: SymPy would compare its arguments, which takes long."""
    return Max(*parts, evaluate=False)
