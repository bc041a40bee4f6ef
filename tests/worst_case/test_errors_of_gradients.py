"""Worst cases where gradients have errors: known values, brute force, what is refused.

With ‖e‖ ≤ δ or ‖e‖ ≤ ε‖∇f(x)‖ in each step; what is attained here is attained on a parabola or on a Huber function.
"""

import itertools
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy

from boundlab.assumptions import INEXACT, RELATIVE
from boundlab.errors import AssumptionError, BoundlabError, SymbolError
from boundlab.formulas.symbols import symbol
from boundlab.recheck import recheck_loaded
from boundlab.theorems import FormulaBound, Theorem
from boundlab.worst_case import WorstCase, WorstCaseOutcome, analysis, worst_case

F0, K, L, R, delta, eps, mu, zeta = (symbol(name) for name in ["F0", "K", "L", "R", "delta_g", "eps_g", "mu", "zeta"])
STRONG = ("strongly-convex", "smooth", "minimiser")
CONVEX = ("convex", "smooth", "minimiser")
SUBGRADIENT = ("lipschitz", "minimiser")
HOLDS, EXCEEDS = WorstCaseOutcome.HOLDS, WorstCaseOutcome.EXCEEDS


def claim(metric: str, assumptions: tuple[str, ...], step: Any, bound: Any, **fields: Any) -> Theorem:
    """Return a claim about gradient descent."""
    return Theorem(
        id="test.errors",
        title="",
        paper="",
        place="",
        status="user",
        assumptions=assumptions,
        metric=metric,
        horizon="fixed",
        step={"alpha": sympy.sympify(step)},
        bound=FormulaBound({"bound": bound}),
        **{"algorithm": "gd", "options": {}, **fields},
    )


def close(found: WorstCase, value: Fraction) -> bool:
    """Whether the certified values enclose a number that is the worst case, and are near it."""
    assert found.certified_upper is not None
    low = value if found.certified_lower is None else found.certified_lower
    return low <= value <= found.certified_upper <= value * Fraction(1_000_001, 1_000_000) <= 2 * low


# --------------------------------------------------------------------------------------- values that a hand derives


def test_one_client_has_one_function() -> None:
    """With ‖e‖ ≤ ε‖∇f(x)‖ the gap falls by the factor 1 − (1 − ε²)μ/L; two clients would be two functions."""
    one = claim("gap", (*STRONG, RELATIVE, "one-function"), 1 / L, (1 - (1 - eps**2) * mu / L) ** K * F0)
    told = {"mu": 0.5, "L": 1, "eps_g": 0.5, "F0": 1}
    assert worst_case(one, 1, told).outcome is HOLDS
    with pytest.raises(AssumptionError, match="assumes one-function, of which worst-case knows no"):
        worst_case(one, 1, {**told, "n": 2})


Q = 1 - mu / L
DISTANCE = (Q**K * R + (1 - Q**K) * delta / mu) ** 2
ATTAINED: dict[str, tuple[Theorem, tuple[int, ...], dict[str, float], Callable[[int], Fraction]]] = {
    # r ← (1 − μ/L)·r + δ/L, as on μx²/2 with errors that point away from x*.
    "distance, δ": (
        claim("squared-distance", (*STRONG, INEXACT), 1 / L, DISTANCE),
        (1, 2, 3),
        {"mu": 1, "L": 4, "delta_g": 0.1},
        lambda k: (Fraction(3, 4) ** k + Fraction(1, 10) * (1 - Fraction(3, 4) ** k)) ** 2,
    ),
    # All clients have one minimiser: their mean has the error of one.
    "distance, δ, two clients": (
        claim("squared-distance", (*STRONG, INEXACT), 1 / L, DISTANCE + zeta**2),
        (1, 2),
        {"mu": 1, "L": 4, "delta_g": 0.1, "n": 2, "zeta": 0},
        lambda k: (Fraction(3, 4) ** k + Fraction(1, 10) * (1 - Fraction(3, 4) ** k)) ** 2,
    ),
    # r ← (1 − αμ(1 − ε))·r up to α = (2μ − ε(L + μ))/((1 − ε)μ(L + μ)): see tests/objective/test_inexact.py.
    "distance, ε": (
        claim("squared-distance", (*STRONG, RELATIVE), "1/3", (1 - mu * (1 - eps) / 3) ** (2 * K) * R**2),
        (1, 2, 3),
        {"mu": 1, "L": 4, "eps_g": 0.1},
        lambda k: Fraction(7, 10) ** (2 * k),
    ),
    # From α = (2L + ε(L + μ))/((1 + ε)L(L + μ)) on it is αL(1 + ε) − 1: that concave sum then rises up to cos = 1.
    "distance, ε, long steps": (
        claim("squared-distance", (*STRONG, RELATIVE), "2/5", (2 * L * (1 + eps) / 5 - 1) ** (2 * K) * R**2),
        (1, 2),
        {"mu": 1, "L": 4, "eps_g": 0.1},
        lambda k: Fraction(19, 25) ** (2 * k),
    ),
    # The shorter of both limits counts: on μx²/2 ε‖∇f‖ = 1/10 is above δ = 1/20.
    "distance, δ and ε": (
        claim("squared-distance", (*STRONG, INEXACT, RELATIVE), 1 / L, (Q * R + delta / L) ** 2 * (1 + 0 * eps)),
        (1,),
        {"mu": 1, "L": 4, "delta_g": 0.05, "eps_g": 0.1},
        lambda _: (Fraction(3, 4) + Fraction(1, 80)) ** 2,
    ),
    # A flat function moves by δ/L in each step.
    "distance, δ, convex": (
        claim("squared-distance", (*CONVEX, INEXACT), 1 / L, (R + K * delta / L) ** 2),
        (1, 2),
        {"L": 1, "delta_g": 0.5},
        lambda k: (1 + Fraction(k, 2)) ** 2,
    ),
    # s|x| with a rounded kink: x_1 = R − (s − δ)/L, and s(x_1 − s/(2L)) is largest, 3s²/(2L), at s = (LR + δ)/3.
    "gap, δ, convex": (
        claim("gap", (*CONVEX, INEXACT), 1 / L, (L * R + delta) ** 2 / (6 * L)),
        (1,),
        {"L": 1, "delta_g": 0.1},
        lambda _: Fraction(121, 600),
    ),
    # f(x_1) ≤ f(x_0) − ‖∇f‖²/(2L) + ‖e‖²/(2L); at a stationary point only the error counts.
    "gap, δ, not convex": (
        claim("gap", ("smooth", "bounded-below", INEXACT), 1 / L, F0 + delta**2 / (2 * L)),
        (1,),
        {"L": 2, "delta_g": 0.5},
        lambda _: 1 + Fraction(1, 16),
    ),
    # x_1 = x_0 − s(∇f(x_1) + e): (1 + sμ)·r_1 ≤ r_0 + sδ, and with ε (1 + sμ(1 − ε))·r_1 ≤ r_0 for these numbers.
    "proximal, δ": (
        claim(
            "squared-distance",
            (*STRONG, INEXACT),
            1 / L,
            ((R + delta / L) / (1 + mu / L)) ** 2,
            algorithm="proximal_point",
        ),
        (1,),
        {"mu": 1, "L": 4, "delta_g": 0.3},
        lambda _: Fraction(43, 50) ** 2,
    ),
    "proximal, ε": (
        claim(
            "squared-distance",
            (*STRONG, RELATIVE),
            1 / L,
            (R / (1 + (1 - eps) * mu / L)) ** 2,
            algorithm="proximal_point",
        ),
        (1,),
        {"mu": 1, "L": 4, "eps_g": 0.1},
        lambda _: Fraction(40, 49) ** 2,
    ),
}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", ATTAINED)
def test_what_is_attained_is_certified_and_a_little_less_is_exceeded(name: str) -> None:
    theorem, horizons, values, worst = ATTAINED[name]
    for k in horizons:
        whole = worst_case(theorem, k, values)
        assert (whole.outcome, whole.certified_upper) == (HOLDS, worst(k))
        less = FormulaBound({"bound": theorem.bound.terms["bound"] * sympy.Rational(9999, 10000)})  # type: ignore[union-attr]
        twin = worst_case(claim_like(theorem, less), k, values)
        assert twin.outcome is EXCEEDS
        assert close(twin, worst(k))


def claim_like(theorem: Theorem, bound: FormulaBound) -> Theorem:
    fields = {"algorithm": theorem.algorithm, "options": theorem.options}
    return claim(theorem.left.id, theorem.assumptions, theorem.step["alpha"], bound.terms["bound"], **fields)


def test_between_both_steps_the_worst_error_is_along_neither_parabola() -> None:
    # L = 4, μ = 1, ε = 1/10, α = 9/25: with c = 5/2, r = 3/2 and u = cos, √(A − Bu) + αε√(C + Du) for A = 0.3016,
    # B = 0.108, C = 8.5, D = 7.5; its square is at most (AD + BC)(1/D + α²ε²/B), by Cauchy's inequality, and is that.
    theorem = claim("squared-distance", (*STRONG, RELATIVE), "9/25", (1 - 9 * mu * (1 - eps) / 25) ** (2 * K) * R**2)
    found = worst_case(theorem, 1, {"mu": 1, "L": 4, "eps_g": 0.1})
    A, B, C, D, turned = (Fraction(one) for one in ("0.3016", "0.108", "8.5", "7.5", "0.036"))
    assert found.outcome is EXCEEDS
    assert close(found, (A * D + B * C) * (1 / D + turned**2 / B))
    assert (A * D + B * C) * (1 / D + turned**2 / B) == Fraction(46216, 100_000)


@pytest.mark.parametrize(("assumed", "size"), [(INEXACT, "delta_g"), (RELATIVE, "eps_g")])
def test_errors_of_size_0_are_none(assumed: str, size: str) -> None:
    values = {"mu": 1, "L": 4}
    plain = claim("squared-distance", STRONG, 1 / L, Q ** (2 * K) * R**2)
    with_none = claim("squared-distance", (*STRONG, assumed), 1 / L, Q ** (2 * K) * R**2 + symbol(size))
    one, other = worst_case(plain, 2, values), worst_case(with_none, 2, {**values, size: 0})
    assert (one.points, one.inequalities, one.primal) == (other.points, other.inequalities, other.primal)
    assert (one.kind.words, other.outcome) == (other.kind.words, HOLDS)


# ------------------------------------------------------------------------------------------------- brute force


def longest(rng: np.random.Generator, g: np.ndarray, values: dict[str, float]) -> np.ndarray:
    """Return an error at a gradient, mostly as long as it may be, along it or anywhere."""
    size = min(values.get("delta_g", np.inf), values.get("eps_g", np.inf) * float(np.linalg.norm(g)))
    way = rng.normal(size=2) if rng.random() < 0.5 or not g.any() else g * rng.choice([-1.0, 1.0])
    return np.asarray(way / np.linalg.norm(way) * size * rng.choice([1.0, 1.0, rng.random()]))


def quadratic(rng: np.random.Generator, low: float, high: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return the gradient of a quadratic with curvatures between two numbers and its minimiser at 0."""
    turn, _ = np.linalg.qr(rng.normal(size=(2, 2)))
    ends = rng.choice([low, high, rng.uniform(low, high)], size=2)
    A = turn @ np.diag(ends) @ turn.T
    return lambda x: A @ x


def subgradient(rng: np.random.Generator, steepest: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return a subgradient of a multiple of the norm, or of the largest coordinate's size."""
    slope = steepest * rng.choice([1.0, rng.random()])
    if rng.random() < 0.5:
        return lambda x: slope * x / (np.linalg.norm(x) or 1.0)
    return lambda x: slope * np.eye(2)[np.abs(x).argmax()] * np.sign(x[np.abs(x).argmax()])


@pytest.mark.nightly
@pytest.mark.parametrize("sizes", [{"delta_g": 0.3}, {"eps_g": 0.3}, {"delta_g": 0.3, "eps_g": 0.3}])
def test_no_run_of_two_steps_goes_farther(sizes: dict[str, float]) -> None:
    assumed = [name for name, size in ((INEXACT, "delta_g"), (RELATIVE, "eps_g")) if size in sizes]
    reads = sum((symbol(name) for name in sizes), start=0 * R)
    rng = np.random.default_rng(len(sizes))
    for assumptions, step, values, gradient, share in (
        (STRONG, 0.3, {"mu": 1.0, "L": 4.0}, lambda: quadratic(rng, 1.0, 4.0), 0.8),
        (CONVEX, 0.3, {"L": 1.0}, lambda: quadratic(rng, 0.0, 1.0), 0.8),
        (SUBGRADIENT, 0.5, {"B": 1.0}, lambda: subgradient(rng, 1.0), 0.4),  # the worst ones have more pieces
    ):
        theorem = claim("squared-distance", (*assumptions, *assumed), sympy.Rational(str(step)), R**2 * 9 + reads)
        found = worst_case(theorem, 2, {**values, **sizes})
        assert found.outcome is HOLDS
        assert found.certified_upper is not None
        farthest = 0.0
        for _ in range(3000):
            of, x = gradient(), np.array([1.0, 0.0])
            for _ in range(2):
                g = of(x)
                x = x - step * (g + longest(rng, g, sizes))
            farthest = max(farthest, float(x @ x))
        assert share * float(found.certified_upper) < farthest <= float(found.certified_upper)


@pytest.mark.nightly
def test_no_mean_over_drawn_clients_is_larger() -> None:
    theorem = claim(
        "squared-distance",
        (*STRONG, INEXACT, "uniform-sampling"),
        1 / L,
        (R + zeta + delta) ** 2,
        options={"sampling": "uniform"},
    )
    values = {"mu": 1.0, "L": 4.0, "delta_g": 0.3, "n": 2, "zeta": 0.0}
    found = worst_case(theorem, 2, values)
    assert found.outcome is HOLDS
    assert found.certified_upper is not None
    rng, largest = np.random.default_rng(0), 0.0
    for _ in range(2000):
        of = [quadratic(rng, 1.0, 4.0) for _ in range(2)]
        ends = []
        errors: dict[tuple[int, bytes], np.ndarray] = {}  # of a client at a point
        for clients in itertools.product(range(2), repeat=2):
            x = np.array([1.0, 0.0])
            for i in clients:
                g = of[i](x)
                x = x - (g + errors.setdefault((i, x.tobytes()), longest(rng, g, values))) / 4
            ends.append(float(x @ x))
        largest = max(largest, sum(ends) / 4)
    assert 0.8 * float(found.certified_upper) < largest <= float(found.certified_upper)


# -------------------------------------------------------------------------------------------- certificates, words


def test_a_certificate_is_held_to_the_size_of_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    theorem, (k, *_), values, worst = ATTAINED["distance, ε"]
    monkeypatch.setattr(analysis, "registered", lambda _: {theorem.id: theorem})
    raw = json.loads(json.dumps(worst_case(theorem, k, values).certificates["upper"]))
    finding = recheck_loaded(raw)
    assert finding.right
    assert not analysis.bound(raw, finding).setting
    # Errors twice as long: a true value of another question.
    wide = json.loads(json.dumps(raw).replace('"-1/100"', '"-1/25"'))
    assert wide != raw
    assert not recheck_loaded(wide).right or analysis.bound(wide, recheck_loaded(wide)).setting
    asked = {**raw, "question": {**raw["question"], "settings": {**values, "eps_g": 0.2}}}
    assert analysis.bound(asked, recheck_loaded(asked)).setting
    assert Fraction(raw["value"]) == worst(k)


def test_the_class_says_how_large_errors_are_and_no_function_is_said_to_make_them() -> None:
    theorem, _, values, _ = ATTAINED["distance, δ and ε"]
    found = worst_case(theorem, 1, values, find_function=True)
    words = "; a gradient taken at x has an error e(x), ‖e(x)‖ ≤ 0.05, ‖e(x)‖ ≤ 0.1·‖∇f_i(x)‖"
    assert found.kind.words.endswith(words)
    assert (found.function, found.case, found.replayed) == (None, None, None)
    assert "errors of gradients that change from step to step" in found.missing


def test_what_bounds_no_error_is_asked_for_and_what_bounds_erring_gradients_is_refused() -> None:
    theorem = claim("squared-distance", (*STRONG, INEXACT), 1 / L, Q ** (2 * K) * R**2)
    with pytest.raises(SymbolError, match=r"worst-case needs delta_g .*; set delta_g=…"):
        worst_case(theorem, 1, {"mu": 1, "L": 4})
    assert worst_case(theorem, 1, {"mu": 1, "L": 4, "delta_g": 0.1}).outcome is EXCEEDS
    with pytest.raises(BoundlabError):
        worst_case(theorem, 1, {"mu": 1, "L": 4, "delta_g": -0.1})
    both = claim("ergodic-gap", ("convex", "minimiser", "bounded-second-moment", INEXACT), "1/4", R**2 + delta)
    with pytest.raises(AssumptionError, match="no G of gradients with errors"):
        worst_case(both, 1, {"G": 1, "delta_g": 0.1})
