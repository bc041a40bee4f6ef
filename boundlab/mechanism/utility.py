"""The utility of a client, normalised weight × frequency, and where it grows with the reported rate.

What a client's update is normalised with depends on the rest of its buffer. The printed equation (9) takes that as
given and without updates of the client's own; the models below say what they assume instead. D is the sum of the
other clients' rates, γ = scale/b, and weights are 1 + scale·E[τ_j] = 1 − γ + γ/p_j. The exact share under i.i.d.
arrivals is :func:`boundlab.mechanism.long_run_shares`, its slope :func:`boundlab.mechanism.share_slope`.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
import sympy

from boundlab.errors import SpecError
from boundlab.mechanism.shares import Values, as_rates, check_buffer, read_scale
from boundlab.options import one_of

Model = Literal["printed", "others", "all", "mean-field"]
MODELS: dict[Model, str] = {
    "printed": "equation (9): the b − 1 other updates are given, with C = Σ 1/r_j over them; weights bE+1",
    "others": "the b − 1 other updates come from the other clients, by their frequencies; expected weights",
    "all": "the b − 1 other updates come from all clients, this one too, by their frequencies; expected weights",
    "mean-field": "the whole buffer has its expected weight",
}
r, D, C, n, b, gamma = sympy.symbols("r_i D C n b gamma", positive=True)


def utility(model: Model = "printed") -> sympy.Expr:
    """Return u_i(r_i): the normalised weight times the frequency p_i = r_i/(r_i + D), and times b but for ``printed``.

    Source
    ------
    FedStaleWeight, Section 4.2.1, equation (9), derived from its words: the formula is the product of
    1/(1 + C·r_i) and r_i/(r_i + D).

    Examples
    --------
    >>> print(utility("printed"))
    r_i/((D + r_i)*(C*r_i + 1))
    """
    p = r / (r + D)
    if one_of(model, MODELS, "model") == "printed":
        return r / ((1 + C * r) * (r + D))
    weight = 1 - gamma + gamma / p
    # E[1/p_j] over draws by frequency is n among all clients, and (n − 1)(r + D)/D among the others.
    everyone = 1 - gamma + gamma * n
    others = 1 - gamma + gamma * (n - 1) * (r + D) / D
    total = {
        "others": weight + (b - 1) * others,
        "all": weight + (b - 1) * everyone,
        "mean-field": b * everyone,
    }[model]
    return sympy.factor(b * p * weight / total)


@cache
def utility_derivative(model: Model = "printed") -> sympy.Expr:
    """Return du_i/dr_i, factored: the denominator is a product of squares, the numerator has the sign.

    Examples
    --------
    >>> print(utility_derivative("printed"))
    -(C*r_i**2 - D)/((D + r_i)**2*(C*r_i + 1)**2)
    """
    return sympy.factor(sympy.diff(utility(model), r))


@cache
def _sign(model: Model) -> Any:
    """Return the coefficients, highest first, of the numerator in x = r/D, as a function of n, b, γ."""
    x = sympy.Symbol("x", positive=True)
    numerator, _ = sympy.fraction(sympy.cancel(utility_derivative(model).subs(r, x * D) * D))
    return sympy.lambdify((n, b, gamma), sympy.Poly(numerator, x).all_coeffs(), "math")


def truthful_limit(
    others: Sequence[float] | Values,
    b: int,
    weights: str | float = "bE+1",
    model: Model = "others",
    buffer: Sequence[float] | Values | None = None,
) -> float:
    """Return the rate up to which u_i increases in r_i: clients below it report the truth; infinite if all do.

    Parameters
    ----------
    others
        Shape (n−1,): the rates of the other clients.
    weights
        ``equal``, ``E+1``, ``bE+1`` or the scale; ``printed`` knows bE+1 only.
    model
        See :data:`MODELS`.
    buffer
        Shape (b−1,), for ``printed``: the rates of the clients of the b − 1 other updates.

    Returns
    -------
    float
        The smallest r_i > 0 at which u_i stops increasing; √(D/C) for ``printed``, D/√((b−1)(n−1)) for ``others``
        with bE+1. 0 if u_i decreases from the start; infinite also where u_i is constant.

    Raises
    ------
    SpecError
        If something is out of range, or ``buffer`` is missing or does not fit.
    """
    rates, size = as_rates(others, "others").astype(np.float64), check_buffer(b)
    total = float(rates.sum())
    if one_of(model, MODELS, "model") == "printed":
        if buffer is None or len(buffer) != size - 1:
            raise SpecError(f"model printed needs the rates of the b − 1 = {size - 1} other updates in the buffer")
        if read_scale(weights, size) != size:
            raise SpecError("equation (9) is about the weights bE+1; choose another model for other weights")
        return math.sqrt(total / float((1.0 / as_rates(buffer, "buffer")).sum())) if size > 1 else math.inf
    if buffer is not None:
        raise SpecError("only model printed takes the rest of the buffer as given; leave buffer out")
    ratio = float(read_scale(weights, size)) / size
    if size == 1:  # every buffer has one update, of weight 1
        return math.inf
    coefficients = np.atleast_1d(np.array(_sign(model)(len(rates) + 1, size, ratio), dtype=np.float64))
    if not coefficients.any():
        return math.inf
    # The sign at 0 is that of the lowest coefficient that is not zero.
    if coefficients[np.flatnonzero(coefficients)[-1]] < 0.0:
        return 0.0
    roots = np.roots(coefficients)
    real = roots[(np.abs(roots.imag) < 1e-9 * np.maximum(1.0, np.abs(roots))) & (roots.real > 0.0)].real
    return float(real.min()) * total if len(real) else math.inf
