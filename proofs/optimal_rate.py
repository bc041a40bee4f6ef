"""The optimal server rate of AREA, Section 4.2: stationarity and convexity shown, not assumed.

With Poisson arrivals, Theorem 8's bound grows with F = 1/p_s + 2q̄. The sums Λ = Σλ_i and H = Σ1/λ_i stand for
any number n of clients.
"""

import sympy

from boundlab.proofs._proof import Finding, Proof, Step, Verdict, identity, positive, unique_root

_s, _sum, _inverse_sum, _n, _rate = sympy.symbols("lambda_s Lambda H n lambda_i", positive=True)
_cost, _time, _h = sympy.symbols("C t h", positive=True)
_total = _s + _sum
_objective = _total / _s + _total * _h
_written_out = _total / _s + 2 * _total * _inverse_sum / _n
_best = sympy.sqrt(_sum / _h)
_per_time = (1 / _s + _h) / _time
_paid = (1 / _s + _h) * (1 + _cost * _s)


def _substitution() -> Finding:
    """Check q̄ = (1/n)Σ1/p_i = (λ_s + Λ)·H/n for every n: its summand is linear in 1/λ_i."""
    return identity(1 / (_rate / _total), _total * (1 / _rate))


def _small_case() -> Finding:
    """Check the substitution with three clients written out."""
    rates = sympy.symbols("lambda_1:4", positive=True)
    total = _s + sum(rates)
    direct = 1 / (_s / total) + sympy.Rational(2, 3) * sum(1 / (rate / total) for rate in rates)
    values = {_sum: sum(rates), _inverse_sum: sum(1 / rate for rate in rates), _n: 3}
    return identity(direct, _written_out.subs(values, simultaneous=True))


def _global() -> Finding:
    """Check F(λ_s) − F(λ_s*) = h·(λ_s − λ_s*)²/λ_s, which is ≥ 0 and 0 only at λ_s*."""
    same = identity(_objective - _objective.subs(_s, _best), _h * (_s - _best) ** 2 / _s)
    factor = positive(_h / _s)
    if same.verdict is Verdict.VERIFIED and factor.verdict is Verdict.VERIFIED:
        return Finding(Verdict.VERIFIED, "F − F* is a positive factor times a square")
    return same if same.verdict is not Verdict.VERIFIED else factor


def _limit() -> Finding:
    """Check t·F/K − h = 1/λ_s, which is below every ε > 0 from λ_s = 1/ε on."""
    return identity(_per_time * _time - _h, 1 / _s)


OPTIMAL_RATE = Proof(
    id="area.optimal-rate",
    summary="λ_s* = √(Σλ_i/((2/n)Σ1/λ_i)) is the unique minimiser at fixed K; at fixed time there is none",
    source="AREA, Section 4.2, Optimal tuning of the server policy",
    steps=(
        Step("substitution", "1/p_i = (λ_s + Λ)/λ_i, so q̄ = (λ_s + Λ)·H/n", _substitution),
        Step("three clients", "1/p_s + 2q̄ = (λ_s + Λ)/λ_s + 2(λ_s + Λ)H/n, written out for n = 3", _small_case),
        Step(
            "short",
            "with h = 2H/n it is F = (λ_s + Λ)(1/λ_s + h)",
            lambda: identity(_objective.subs(_h, 2 * _inverse_sum / _n), _written_out),
        ),
        Step(
            "derivative",
            "F'(λ_s) = h − Λ/λ_s²",
            lambda: identity(sympy.diff(_objective, _s), _h - _sum / _s**2),
        ),
        Step(
            "stationarity",
            "F' = 0 at λ_s* = √(Λ/h) and at no other λ_s > 0",
            lambda: unique_root(sympy.diff(_objective, _s), _s, _best),
        ),
        Step(
            "convexity",
            "F'' = 2Λ/λ_s³ > 0 for every λ_s > 0: F is strictly convex",
            lambda: positive(sympy.diff(_objective, _s, 2)),
        ),
        Step("global minimum", "F(λ_s) − F(λ_s*) = h(λ_s − λ_s*)²/λ_s ≥ 0, with equality at λ_s* only", _global),
        Step(
            "value",
            "F(λ_s*) = (1 + √(Λh))²",
            lambda: identity(_objective.subs(_s, _best), (1 + sympy.sqrt(_sum * _h)) ** 2),
        ),
        Step(
            "fixed time",
            "with K = (λ_s + Λ)t, F/K = (1/λ_s + h)/t",
            lambda: identity(_objective / (_total * _time), _per_time),
        ),
        Step(
            "no optimum",
            "F/K strictly decreases in λ_s, so that no λ_s is optimal at fixed time",
            lambda: positive(-sympy.diff(_per_time, _s)),
        ),
        Step("limit", "t·F/K − h = 1/λ_s → 0 for λ_s → ∞", _limit),
        Step(
            "server cost, stationarity",
            "(1/λ_s + h)(1 + Cλ_s) is stationary at λ_s = 1/√(hC) and nowhere else",
            lambda: unique_root(sympy.diff(_paid, _s), _s, 1 / sympy.sqrt(_h * _cost)),
        ),
        Step(
            "server cost, convexity",
            "its second derivative 2/λ_s³ is positive",
            lambda: positive(sympy.diff(_paid, _s, 2)),
        ),
        Step(
            "server cost, value",
            "its minimum is (√h + √C)²",
            lambda: identity(_paid.subs(_s, 1 / sympy.sqrt(_h * _cost)), (sympy.sqrt(_h) + sympy.sqrt(_cost)) ** 2),
        ),
    ),
)

PROOFS = (OPTIMAL_RATE,)
