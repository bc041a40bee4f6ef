"""Bounds that are iterated: AREA's tight numerical one, and that of the optimized gradient method.

AREA's is for smooth, strongly convex functions. It iterates, for each client and the server, a bound on the mean
square X, Y, S and on the mean norm x, y, s of the distance to the moving targets x*_i,k = x* − α_k·M·∇f_i(x*), with
the coupling lemma of docs/theory/area.md#the-proofs.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import Any, Literal, final, get_args

import numpy as np
from numpy.typing import ArrayLike

from boundlab.algorithms.momentum import theta
from boundlab.errors import AssumptionError, SpecError, SymbolError
from boundlab.randomness import Floats, Ints
from boundlab.theorems._bound import RecursionBound
from boundlab.theorems._evaluate import ROUNDED

Choice = Literal["analysis", "algorithm"]
_LATEX = (
    r"X_i' = (1-p_i)(X_i + 2\Delta_i x_i + \Delta_i^2) + p_i(V + 2 v_i e + v_i^2),\quad "
    r"Y_i' = (1-p_i)(Y_i + 2\Delta_i y_i) + p_i(X_i + 2\Delta_i x_i) + \Delta_i^2,\quad "
    r"S' = (1-p_s)S + \frac{p_s}{n}\sum_i Y_i"
)

MAX_ITERATIONS = 10**7
_CHUNK = 1 << 15


@final
@dataclass(frozen=True, slots=True)
class LocalPass:
    """Effect of M local steps, for each of an array of step sizes.

    Parameters
    ----------
    contraction
        t = (1 − α·mu)^M, shape of the step sizes.
    noise
        α²·σ²·Σ_{j<M} (1 − α·mu)^{2j}, unit (0, 2).
    drift
        b_i/G_i = α²·L·Σ_{m=1}^{M−1} Σ_{l<m} (1 − α·mu)^l, unit (−1, 2).
    """

    contraction: Floats
    noise: Floats
    drift: Floats


def local_pass(alpha: Floats, mu: float, L: float, M: int, sigma: float, slack: float = 0.0) -> LocalPass:
    """Return the coefficients of M local steps.

    The sums are built by doubling over the binary digits of M, from positive numbers only: closed forms of
    geometric sums cancel for small α·mu.

    Parameters
    ----------
    alpha
        Step sizes, any shape, unit (−1, 2), at most 2/(mu + L).
    mu, L, sigma
        Strong convexity, smoothness, noise level.
    M
        Local steps, ≥ 1.
    slack
        As for :func:`recursion`.
    """
    ratio = np.maximum(1.0 - alpha * mu + slack, 0.0) if slack else 1.0 - alpha * mu
    more = (1.0 + slack) ** (8 + M.bit_length())
    # S = Σ_{l<m} r^l, T = Σ_{j<m} S(j) and Q = Σ_{j<m} r^{2j} for the digits of M read so far.
    m, power = 0, np.ones_like(ratio)
    S, T, Q = np.zeros_like(ratio), np.zeros_like(ratio), np.zeros_like(ratio)
    for digit in f"{M:b}":
        S, T, Q, power, m = S + power * S, T + m * S + power * T, Q + power**2 * Q, power**2, 2 * m
        if digit == "1":
            S, T, Q, power, m = S + power, T + S, Q + power**2, power * ratio, m + 1
    return LocalPass(more * power, more * alpha**2 * sigma**2 * Q, more * alpha**2 * L * T)


def recursion(
    *,
    p: ArrayLike,
    p_s: float,
    mu: float,
    L: float,
    M: int,
    sigma: float,
    R: float,
    G: ArrayLike,
    c: float,
    d: float | None,
    ks: ArrayLike,
    start: Choice = "analysis",
    clock: Choice = "analysis",
    slack: float = 0.0,
) -> Floats:
    """Bound E‖x_s,k − x*‖² at many iterations in one pass.

    Parameters
    ----------
    p
        Shape (n,): arrival probabilities.
    p_s
        Probability of an aggregation.
    mu, L, M, sigma, R
        Strong convexity, smoothness, local steps, noise level, ‖x_s,0 − x*‖.
    G
        Shape (n,) or scalar: ‖∇f_i(x*)‖, or L·zeta; unit (1, −1).
    c, d
        α_k = c/(k+d), or the constant c where d is None.
    ks
        Iterations, shape (m,), ≥ 0.
    start
        ``analysis``: x_i,0 = y_i,0 = x_s,0. ``algorithm``: the first message is one pass from x_s,0 with α_0.
    clock
        ``analysis``: iteration k answers with α_{k−1}. ``algorithm``: with α_k, after a broadcast of α_0.
    slack
        By how much the factors of each iteration are larger, relatively; smaller where it is negative. What is iterated
        grows with each of them, so that more than an iteration rounds encloses the recursion without rounding.

    Returns
    -------
    ndarray
        Shape (m,), unit (0, 2). A float from an iteration: numeric, not certified.

    Raises
    ------
    AssumptionError
        If the first step size exceeds 2/(mu + L).
    SymbolError
        If an iteration is negative or above 10⁷, or the numbers of p and G differ.

    Source
    ------
    Derived here; docs/theory/area.md#the-recursion.
    """
    wanted = np.asarray(ks, dtype=np.int64)
    if wanted.size == 0:
        return np.empty(0)
    if wanted.min() < 0 or wanted.max() > MAX_ITERATIONS:
        raise SymbolError(f"the recursion runs through all iterations; K must be between 0 and {MAX_ITERATIONS:.0e}")
    probability, gradient = np.broadcast_arrays(*map(np.atleast_1d, (np.asarray(p, float), np.asarray(G, float))))
    if probability.shape != np.shape(np.atleast_1d(p)):
        raise SymbolError(f"p has {np.size(p)} entries, the client gradients {np.size(G)}")
    first = c if d is None else c / d
    # c and d may follow from formulas, whose roundings the theorem's own condition takes care of.
    rounded = 0 if d is None else Fraction(ROUNDED)
    if not Fraction(first) * (Fraction(mu) + Fraction(L)) <= 2 * (1 + rounded):
        raise AssumptionError(f"the recursion needs α_0 ≤ 2/(μ+L), got {first:.6g} > {2.0 / (mu + L):.6g}")
    # Clients with the same p_i and G_i have the same bounds.
    pairs, count = np.unique(np.stack([probability, gradient], axis=1), axis=0, return_counts=True)
    shift = 1 if clock == "algorithm" else 0
    G_star, weight = pairs[:, 1] * (1.0 + slack), count / count.sum() * (1.0 + slack)
    opening = _start(
        G_star, mu, L, M, sigma, R * (1.0 + slack), first, c if d is None else c / (d + shift), start, slack
    )
    last = int(wanted.max())

    def step_sizes() -> Iterator[Floats]:
        for low in range(0, last, _CHUNK):
            k = np.arange(low, min(low + _CHUNK, last) + 1)
            yield np.full(len(k), c) if d is None else np.asarray(c / (k + d + shift), dtype=np.float64)

    found = np.empty(last + 1)
    found[0] = opening[2]
    each = _advance(opening, pairs[:, 0], G_star, weight, p_s, mu, L, M, sigma, step_sizes(), slack)
    found[1:] = np.fromiter(each, np.float64, last)
    return found[wanted]


_State = tuple[Floats, Floats, float, Floats, Floats, float]
"""Bounds on mean squares X, Y (m,), S and on mean norms x, y (m,), s; m distinct clients."""


def _start(
    G: Floats,
    mu: float,
    L: float,
    M: int,
    sigma: float,
    R: float,
    broadcast: float,
    first: float,
    start: Choice,
    slack: float,
) -> _State:
    y = R + first * M * G
    x = y
    if start == "algorithm":
        once = local_pass(np.array([broadcast]), mu, L, M, sigma, slack)
        near = sqrt((float(once.contraction[0]) * R) ** 2 + float(once.noise[0]))
        x = near + float(once.drift[0]) * G + abs(broadcast - first) * M * G
    return x**2, y**2, R * R, x.copy(), y.copy(), R


def _advance(
    state: _State,
    p: Floats,
    G: Floats,
    weight: Floats,
    p_s: float,
    mu: float,
    L: float,
    M: int,
    sigma: float,
    step_sizes: Iterable[Floats],
    slack: float,
) -> Iterator[float]:
    """Do one iteration for each step size of a part but its last, with which the next part begins, and give S."""
    X, Y, S, x, y, s = state
    more = (1.0 + slack) ** 2
    q, q_s, p, p_s = (1.0 - p) * more, (1.0 - p_s) * more, p * more, p_s * more
    for alpha in step_sizes:
        once = local_pass(alpha[:-1], mu, L, M, sigma, slack)
        noise_roots = np.sqrt(once.noise) * (1.0 + slack)
        # A difference of two step sizes is off by what each of them rounds.
        moves = np.maximum(alpha[:-1] - alpha[1:] + slack * alpha[:-1], 0.0) * M * (1.0 + slack)
        columns = (once.contraction, once.noise, noise_roots, once.drift, moves)
        for t, noise, noise_root, drift, move in zip(*(one.tolist() for one in columns), strict=True):
            delta = move * G
            b = drift * G
            v = b + delta
            V = t * t * S + noise
            e = min(sqrt(V), t * s + noise_root)
            grown = X + 2.0 * delta * x
            square = delta * delta
            X_next = q * (grown + square) + p * (V + v * (2.0 * e + v))
            Y_next = q * (Y + 2.0 * delta * y) + p * grown + square
            S = q_s * S + p_s * float(weight @ Y)
            x_next = np.minimum(q * x + p * (e + b) + delta, np.sqrt(X_next))
            s = min(q_s * s + p_s * float(weight @ y), sqrt(S))
            y = np.minimum(q * y + p * x + delta, np.sqrt(Y_next))
            X, Y, x = X_next, Y_next, x_next
            yield S


def between(values: Mapping[str, Any], ks: Ints, start: Choice, clock: Choice) -> tuple[Floats, Floats]:
    """Enclose the recursion on the values of a theorem."""
    slack = (64 + 4 * np.size(values["p"])) * float(np.finfo(np.float64).eps)
    return from_values(values, ks, start, clock, -slack), from_values(values, ks, start, clock, slack)


def from_values(values: Mapping[str, Any], ks: Ints, start: Choice, clock: Choice, slack: float = 0.0) -> Floats:
    """Run the recursion on the values of a theorem: alpha, or c and d; G_star, or zeta."""
    constant = "alpha" in values
    return recursion(
        p=values["p"],
        p_s=values["p_s"],
        mu=values["mu"],
        L=values["L"],
        M=int(values["M"]),
        sigma=values["sigma"],
        R=values["R"],
        G=values["G_star"] if "G_star" in values else values["L"] * values["zeta"],
        c=values["alpha"] if constant else values["c"],
        d=None if constant else values["d"],
        ks=ks,
        start=start,
        clock=clock,
        slack=slack,
    )


def area(options: Mapping[str, str]) -> RecursionBound:
    """Return the recursion as the right side of a theorem with these options.

    Raises
    ------
    SpecError
        If they do not fix how the clients start and whose clock the step sizes follow.
    """
    fixed = {name: options.get(name) for name in ("start", "clock")}
    if not {*fixed.values()} <= {*get_args(Choice)}:
        raise SpecError(f"the recursion area needs the options start and clock, each {' or '.join(get_args(Choice))}")
    return RecursionBound(
        function=partial(from_values, **fixed),  # type: ignore[arg-type]
        between=partial(between, **fixed),  # type: ignore[arg-type]
        inputs=("mu", "L", "M", "sigma", "zeta", "R", "p", "p_s", "c", "d"),
        description="bounds on mean squares and mean norms of all x_i, y_i and x_s, iterated K times",
        latex=_LATEX,
        replaces={"alpha": ("c", "d"), "G_star": ("zeta",)},
    )


def _optimal(values: Mapping[str, Any], iterations: Ints) -> Floats:
    return np.array([values["L"] * values["R"] ** 2 / (2.0 * theta(int(k), int(k)) ** 2) for k in iterations])


def _optimal_between(values: Mapping[str, Any], iterations: Ints) -> tuple[Floats, Floats]:
    """Enclose it: each θ_k adds a few roundings of positive numbers to those of θ_{k−1}."""
    found = _optimal(values, iterations)
    off = (8.0 * iterations + 64.0) * float(np.finfo(np.float64).eps)
    return found * (1.0 - off), found * (1.0 + off)


def ogm(_options: Mapping[str, str]) -> RecursionBound:
    """Return L·R²/(2θ_K²) as the right side of a theorem, whatever its options are."""
    return RecursionBound(
        function=_optimal,
        between=_optimal_between,
        inputs=("L", "R"),
        description="L·R²/(2θ_K²) with θ_0 = 1, θ_{k+1} = (1 + √(1 + 4θ_k²))/2, and the last with 8 in place of 4",
        latex=r"S_K = \frac{L R^2}{2\theta_K^2},\quad \theta_0 = 1,\quad "
        r"\theta_{k+1} = \tfrac12\bigl(1+\sqrt{1+4\theta_k^2}\bigr)\ (k < K-1),\quad "
        r"\theta_K = \tfrac12\bigl(1+\sqrt{1+8\theta_{K-1}^2}\bigr)",
    )
