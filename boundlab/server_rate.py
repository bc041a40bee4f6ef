"""The server's rate: which λ_s makes AREA's Theorem 8 bound smallest.

Poisson arrivals with rates λ_i and aggregations with rate λ_s give p_i = λ_i/λ̄ and p_s = λ_s/λ̄, with
λ̄ = λ_s + Σλ_i. Theorem 8's bound grows with 1/p_s + 2q̄ = (λ_s + Λ)(1/λ_s + h) at a fixed number of
iterations, where Λ = Σλ_i and h = (2/n)Σ1/λ_i. In a fixed time t there are K = λ̄·t iterations, and what
counts is (1/λ_s + h)/t.
The closed forms are derived step by step in ``boundlab.proofs.optimal_rate``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from decimal import Decimal, localcontext
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from boundlab.delays import optimal_rate as policy_rate
from boundlab.errors import CertificateError, SpecError
from boundlab.files import json_value, schema
from boundlab.formulas.symbols import check
from boundlab.options import Objective as Objective, number, one_of
from boundlab.randomness import Floats
from boundlab.result import Result, drawn

OBJECTIVES: tuple[Objective, ...] = get_args(Objective)

_AGREEMENT = 1e-6
_DIGITS = 80  # the values near a minimum agree to twice as many digits as the points
_WIDTH = Decimal("1e-13")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class OptimalRate(Result):
    """The best rate of aggregations.

    Parameters
    ----------
    rates
        Shape (n,): λ_i, per unit of time.
    objective
        ``per-iteration`` (fixed K, the paper's) or ``per-time`` (fixed wall-clock time).
    server_cost
        C: time that one aggregation takes, in the same unit of time; 0 for none.
    lambda_s
        The minimiser, or None where the objective only decreases.
    value
        The objective there; its limit where there is no minimiser.
    limit
        The limit of the objective for λ_s → ∞ (infinite unless per-time without cost).
    epsilon, lambda_epsilon
        Without a minimiser: the bound, which goes like the square root of the objective, is within a factor
        1 + epsilon of its limit exactly for λ_s ≥ lambda_epsilon. Else None.
    numeric
        What the numerical minimiser found, None without a minimiser.
    p_s, p
        The probabilities at ``lambda_s`` (at ``lambda_epsilon`` without a minimiser), scalar and shape (n,).
    note
        What a reader should know.
    """

    rates: Floats
    objective: Objective
    server_cost: float
    lambda_s: float | None
    value: float
    limit: float
    epsilon: float | None
    lambda_epsilon: float | None
    numeric: float | None
    p_s: float
    p: Floats
    note: str

    def line(self) -> str:
        """Return the rate, or from where on the bound is near its limit."""
        what = (
            f"λ_s* = {self.lambda_s:.6g}"
            if self.lambda_s is not None
            else f"no minimum; within {self.epsilon:.3g} of the limit from λ_s = {self.lambda_epsilon:.6g}"
        )
        return f"{what} for {len(self.rates)} clients, {self.objective}"

    def plot(self, ax: Any = None) -> Any:
        """Draw both objectives over the server rate; return the axes of matplotlib."""
        return drawn("draw_rates", self, ax)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields; an infinite limit is null."""
        return {
            "schema": schema("optimal-rate"),
            "objective": self.objective,
            "n": len(self.rates),
            **{one.name: json_value(getattr(self, one.name)) for one in fields(self)},
        }


def closed_form(rates: ArrayLike) -> float:
    """Return λ_s* = √(Σλ_i / ((2/n)Σ1/λ_i)), which minimises 1/p_s + 2q̄.

    Parameters
    ----------
    rates
        Shape (n,): positive λ_i.

    Source
    ------
    AREA, Section 4.2, "Optimal tuning of the server policy".

    Examples
    --------
    >>> round(closed_form([10, 10, 2.5]), 12)
    7.5
    """
    given = check("rates", rates)
    return policy_rate(given)


def optimal_rate(
    rates: ArrayLike, objective: Objective = "per-iteration", server_cost: float = 0.0, epsilon: float = 0.01
) -> OptimalRate:
    """Return the best λ_s in closed form, after checking it against a numerical minimiser.

    Parameters
    ----------
    rates
        Shape (n,): λ_i > 0 per unit of time; thousands are fine.
    objective
        ``per-iteration`` minimises 1/p_s + 2q̄. ``per-time`` minimises (1/λ_s + h)(1 + C·λ_s): a budget T of
        time leaves t = T/(1 + C·λ_s) for the clients. Without C it only decreases, towards h.
    server_cost
        C ≥ 0, time per aggregation; only with ``per-time``.
    epsilon
        For per-time without cost: how far above its limit the bound may be, relatively.

    Raises
    ------
    SpecError
        If an option is unknown or out of range.
    SymbolError
        If a rate is not positive and finite.
    CertificateError
        If closed form and numerical minimiser differ by more than 1e-6 relatively.
    """
    given = check("rates", rates)
    one_of(objective, OBJECTIVES, "objective")
    server_cost, epsilon = number(server_cost, "server cost"), number(epsilon, "epsilon")
    if server_cost < 0:
        raise SpecError(f"server cost must be a time ≥ 0 per aggregation, got {server_cost:g}")
    if epsilon <= 0:
        raise SpecError(f"epsilon must be > 0, got {epsilon:g}")
    if server_cost and objective == "per-iteration":
        raise SpecError("a server cost is a time, so it needs objective per-time")
    inverse = _inverse(given)
    if objective == "per-time" and server_cost == 0:
        enough = 1.0 / (inverse * (2.0 * epsilon + epsilon**2))
        return _result(
            given,
            objective,
            0.0,
            enough,
            None,
            inverse,
            epsilon,
            "at fixed wall-clock time the bound only decreases with λ_s: no interior optimum",
        )
    best = closed_form(given) if objective == "per-iteration" else 1.0 / math.sqrt(inverse * server_cost)
    numeric = _minimise(_objective(given, objective, server_cost), float(given.max()))
    if not abs(numeric - best) <= _AGREEMENT * best:
        raise CertificateError(f"closed form {best:.9g} and numerical minimiser {numeric:.9g} of λ_s do not agree")
    note = "minimises 1/p_s + 2q̄ at fixed K" if objective == "per-iteration" else "minimises (1/λ_s + h)(1 + C·λ_s)"
    return _result(given, objective, server_cost, best, numeric, np.inf, None, note)


def curve(
    rates: ArrayLike, lambdas: ArrayLike, objective: Objective = "per-iteration", server_cost: float = 0.0
) -> Floats:
    """Return the objective at given server rates.

    Parameters
    ----------
    rates
        Shape (n,).
    lambdas
        Positive λ_s, shape (m,).
    objective, server_cost
        As in :func:`optimal_rate`.

    Returns
    -------
    ndarray
        Shape (m,): 1/p_s + 2q̄, or (1/λ_s + h)(1 + C·λ_s).

    Raises
    ------
    SymbolError
        If a rate is not positive and finite.
    """
    given, servers = check("rates", rates), check("lambda_s", lambdas)
    shared = 1.0 / servers + _inverse(given)
    if objective == "per-iteration":
        return np.asarray(shared * (servers + given.sum()))
    return np.asarray(shared * (1.0 + server_cost * servers))


def _inverse(rates: Floats) -> float:
    """Return h = (2/n) Σ 1/λ_i."""
    return float(2.0 * np.mean(1.0 / rates))


def _objective(rates: Floats, objective: Objective, server_cost: float) -> Callable[[Decimal], Decimal]:
    """Return the objective itself, from its definition, in decimal numbers.

    In floating point its constant part drowns the minimum in rounding where rates differ much.
    """
    each = [Decimal(rate) for rate in rates.tolist()]
    total, inverse, cost = sum(each, Decimal(0)), sum((1 / rate for rate in each), Decimal(0)), Decimal(server_cost)

    def per_iteration(server: Decimal) -> Decimal:
        events = server + total  # λ̄, so that p_s = λ_s/λ̄ and q̄ = (1/n)Σ1/p_i = (λ̄/n)Σ1/λ_i
        return events / server + 2 * (events / len(each) * inverse)

    def per_time(server: Decimal) -> Decimal:
        return (1 / server + 2 * inverse / len(each)) * (1 + cost * server)

    return per_iteration if objective == "per-iteration" else per_time


def _minimise(objective: Callable[[Decimal], Decimal], start: float) -> float:
    """Minimise a function over λ > 0 that is convex in the logarithm of λ: bracket, then golden sections."""
    with localcontext(prec=_DIGITS):
        low, high = Decimal(start), Decimal(start)
        while objective(low / 4) < objective(low):
            low /= 4
        while objective(high * 4) < objective(high):
            high *= 4
        left, right = (low / 4).ln(), (high * 4).ln()
        golden = (Decimal(5).sqrt() - 1) / 2
        inner = [right - golden * (right - left), left + golden * (right - left)]
        values = [objective(one.exp()) for one in inner]
        while right - left > _WIDTH:
            if values[0] < values[1]:
                right, inner[1], values[1] = inner[1], inner[0], values[0]
                inner[0] = right - golden * (right - left)
                values[0] = objective(inner[0].exp())
            else:
                left, inner[0], values[0] = inner[0], inner[1], values[1]
                inner[1] = left + golden * (right - left)
                values[1] = objective(inner[1].exp())
        return float(((left + right) / 2).exp())


def _result(
    rates: Floats,
    objective: Objective,
    cost: float,
    at: float,
    numeric: float | None,
    limit: float,
    epsilon: float | None,
    note: str,
) -> OptimalRate:
    interior = epsilon is None
    total = at + float(rates.sum())
    value = float(curve(rates, [at], objective, cost)[0]) if interior else limit
    return OptimalRate(
        rates,
        objective,
        cost,
        at if interior else None,
        value,
        limit,
        epsilon,
        None if interior else at,
        numeric,
        at / total,
        rates / total,
        note,
    )
