"""Theorems of a user's own, as the text of a TOML file: AREA with any constant step, and gradient descent with 1/L."""

import json

_FORMULAS = """algorithm = "area"
metric = "ergodic-gap"
assumptions = ["lipschitz", "bounded-variance", "iid-events"]
[options]
start = "analysis"
[step]
alpha = "alpha"
[definitions]
A = "(1/p_s + 2*qbar)*R**2"
[terms]
initial = "A/(2*alpha*M*K)"
steps = "alpha*(sigma**2 + M*B**2)/FACTOR"
"""


def own_theorem(factor: str = "2", *, letter: str = "", **texts: str) -> str:
    """Return the file, with a divisor of its second term (2 is true), strings of its own and a letter for sigma."""
    head = "".join(
        f"{key} = {json.dumps(text, ensure_ascii=False)}\n" for key, text in ({"id": "mine"} | texts).items()
    )
    tail = f"[letters]\nsigma = {json.dumps(letter, ensure_ascii=False)}\n" if letter else ""
    return head + _FORMULAS.replace("FACTOR", factor) + tail


def of_gradient_descent(divisor: str, name: str = "mine") -> str:
    """Return the file of f(x_K) − f* ≤ L·R²/divisor, which is true up to 4·K + 2."""
    return (
        f'id = "{name}"\nalgorithm = "gd"\nmetric = "gap"\nassumptions = ["convex", "smooth", "minimiser"]\n'
        f'[step]\nalpha = "1/L"\n[terms]\nmain = "L*R**2/{divisor}"\n'
    )
