"""Weights and the long-run shares π_i they give, by formula and exactly for i.i.d. arrivals.

A client's update in a buffer has the weight w_i/Σ_k w_k, and π_i is its expected part of a buffer: if N_j of the
b updates come from client j, multinomial with the probabilities p_j,

    π_i = E[N_i·w_i / Σ_j N_j·w_j] = b·p_i·w_i ∫_0^∞ e^{−t·w_i} (Σ_j p_j·e^{−t·w_j})^{b−1} dt,

since 1/W = ∫ e^{−tW} dt. In the mean field the denominator is replaced by its expectation.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.mechanism.staleness import Kind, Values, as_rates, check_buffer, expected_staleness, frequencies
from boundlab.options import nearest, number

Floats = NDArray[np.float64]
Method = Literal["mean-field", "first-order", "enumeration", "quadrature"]
METHODS: tuple[Method, ...] = ("mean-field", "first-order", "enumeration", "quadrature")
WEIGHTS = ("equal", "E+1", "bE+1")
_MOST_BUFFERS = 200_000
_TOLERANCE = 1e-12


def read_scale(weights: str | float | Fraction, b: int) -> Any:
    """Return the scale of the weights 1 + scale·E[τ_i]: 0 for ``equal``, 1 for ``E+1``, b for ``bE+1``, or the number.

    Raises
    ------
    SpecError
        If the word is unknown or the number negative.
    """
    if isinstance(weights, str):
        if weights not in WEIGHTS:
            raise SpecError(f"weights must be a number or one of {', '.join(WEIGHTS)}; {nearest(weights, WEIGHTS)}")
        return {"equal": 0, "E+1": 1, "bE+1": check_buffer(b)}[weights]
    scale = weights if isinstance(weights, int | Fraction) else number(weights, "weights")
    if scale < 0:
        raise SpecError(f"weights: the scale of the staleness must be ≥ 0, got {scale}")
    return scale


def fair_weights(rates: Sequence[Any] | Values) -> Values:
    """Return 1/(n·p_i), shape (n,): the weights that make p_i·w_i equal for all clients, with Σ p_i·w_i = 1.

    They are (b·E[τ_i] + 1)/n with the paper's E[τ_i], for every b.

    Source
    ------
    FedStaleWeight, Sections 4.1 and 4.2, equations (7) and (8).

    Examples
    --------
    >>> fair_weights([2, 1, 1]).round(12).tolist()
    [0.666666666667, 1.333333333333, 1.333333333333]
    """
    p = frequencies(rates)
    return np.asarray(1 / (len(p) * p))


def staleness_weights(
    rates: Sequence[Any] | Values, b: int, weights: str | float | Fraction = "bE+1", kind: Kind = "paper"
) -> Values:
    """Return 1 + scale·E[τ_i], shape (n,), not normalised.

    Parameters
    ----------
    weights
        ``equal``, ``E+1`` (Algorithm 1 as printed), ``bE+1`` (the derivation), or the scale.
    kind
        Which expected staleness; see :func:`boundlab.mechanism.expected_staleness`.
    """
    return np.asarray(1 + read_scale(weights, b) * expected_staleness(rates, b, kind))


def normalised_weights(weights: Sequence[Any] | Values, buffer: Sequence[int]) -> Values:
    """Return the weight of each update of a buffer, shape (b,); they sum to 1.

    Parameters
    ----------
    weights
        Shape (n,), positive.
    buffer
        The clients whose updates are in the buffer; a client may stand there more than once.
    """
    chosen = as_rates(weights, "weights")[list(buffer)]
    return np.asarray(chosen / chosen.sum())


def long_run_shares(
    rates: Sequence[Any] | Values,
    b: int,
    weights: str | float | Fraction | Sequence[Any] | Values = "bE+1",
    method: Method = "mean-field",
) -> Values:
    """Return π_i, each client's long-run part of the aggregated weight, shape (n,); they sum to 1.

    Parameters
    ----------
    rates
        Shape (n,): floats; Fractions and SymPy symbols give exact answers where the method can.
    weights
        As in :func:`staleness_weights` with the paper's E[τ_i], or one positive weight a client, shape (n,).
    method
        ``mean-field``: p_i·w_i/Σ_j p_j·w_j, the limit b → ∞ at fixed weights.
        ``first-order``: with the term in 1/b, π_i + π_i·(Σ_j p_j·w_j² − m·w_i)/(b·m²), m = Σ_j p_j·w_j.
        ``enumeration``: the exact expectation over i.i.d. arrivals, all compositions of a buffer; small n and b.
        ``quadrature``: the same by a one-dimensional integral, any n and b, to about 1e-11; floats only.

    Raises
    ------
    SpecError
        If something is out of range, or there are too many buffers to enumerate.

    Examples
    --------
    One client twice as fast, buffers of 2: the fair weights leave 16/27 instead of 1/2.

    >>> long_run_shares([Fraction(2), Fraction(1)], 2, "bE+1", "enumeration").tolist()
    [Fraction(16, 27), Fraction(11, 27)]
    """
    p, size = frequencies(rates), check_buffer(b)
    if isinstance(weights, str | float | int | Fraction):
        w = staleness_weights(rates, size, weights)
    else:
        w = as_rates(weights, "weights")
    if len(w) != len(p):
        raise SpecError(f"{len(w)} weights for {len(p)} clients; give one a client")
    if method == "enumeration":
        return _enumerate(p, w, size)
    if method == "quadrature":
        return _integrate(p.astype(np.float64), w.astype(np.float64), size)
    mean = (p * w).sum()
    share = p * w / mean
    if method == "mean-field":
        return np.asarray(share)
    if method != "first-order":
        raise SpecError(f"method must be one of {', '.join(METHODS)}, got {method!r}; {nearest(method, METHODS)}")
    return np.asarray(share + share * ((p * w**2).sum() - mean * w) / (size * mean**2))


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Return all ways to write ``total`` as an ordered sum of ``parts`` integers ≥ 0."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def _enumerate(p: Values, w: Values, b: int) -> Values:
    n = len(p)
    buffers = math.comb(b + n - 1, n - 1)
    if buffers > _MOST_BUFFERS:
        raise SpecError(f"{buffers} different buffers of {b} from {n} clients are too many; use method='quadrature'")
    found = np.zeros(n, dtype=p.dtype) + 0 * w
    for counts in _compositions(b, n):
        chance: Any = math.factorial(b)
        for count, q in zip(counts, p, strict=True):
            chance = chance * q**count / math.factorial(count)
        part = np.array(counts, dtype=p.dtype) * w
        found = found + chance * part / part.sum()
    return np.asarray(found)


def _integrate(p: Floats, w: Floats, b: int) -> Floats:
    from scipy.integrate import quad_vec

    w = w / (b * float(p @ w))  # the integrand falls on the scale 1

    def integrand(t: float) -> Floats:
        decay = np.exp(-t * w)
        return np.asarray(b * p * w * decay * float(p @ decay) ** (b - 1))

    found, _ = quad_vec(integrand, 0.0, np.inf, epsabs=_TOLERANCE, epsrel=_TOLERANCE, norm="max")
    return np.asarray(found)


def share_slope(
    rates: Sequence[float] | Values, b: int, weights: str | float | Fraction = "bE+1", client: int = 0
) -> float:
    """Return ∂π_i/∂log r_i of the exact share under i.i.d. arrivals: positive where reporting more speed pays.

    All weights move with the report, since E[τ_j] = (Σr/r_j − 1)/b. For 0 ≤ scale ≤ b the slope is positive for
    all rates and every b (docs/theory/fedstaleweight.md).

    Parameters
    ----------
    rates
        Shape (n,).
    weights
        ``equal``, ``E+1``, ``bE+1`` or the scale.
    client
        i.
    """
    from scipy.integrate import quad_vec

    p, size = frequencies(rates).astype(np.float64), check_buffer(b)
    gamma = float(read_scale(weights, size)) / size
    i = client
    if size == 1:  # every buffer holds one update, of weight 1: π = p
        return float(p[i] * (1.0 - p[i]))
    w = 1.0 - gamma + gamma / p
    # Derivatives with respect to log r_i.
    dp = -p * p[i]
    dp[i] += p[i]
    dw = -gamma * dp / p**2
    unit = size * float(p @ w)

    def integrand(t: float) -> float:
        decay = np.exp(-t * w)
        total = float(p @ decay)
        change = float((dp - t * p * dw) @ decay)
        own = (dp[i] * w[i] + p[i] * dw[i] - t * p[i] * w[i] * dw[i]) * total
        return float(size * decay[i] * total ** (size - 2) * (own + (size - 1) * p[i] * w[i] * change))

    found, _ = quad_vec(lambda s: integrand(s / unit) / unit, 0.0, np.inf, epsabs=_TOLERANCE, epsrel=1e-10)
    return float(found)
