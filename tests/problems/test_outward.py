"""f* is certified from below in real arithmetic: the rounding of f itself included, however small f is."""

import json
import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

import boundlab as bl
from boundlab.arithmetic.near import norm_up
from boundlab.case import build_problem
from boundlab.objective import Optimum, Problem
from boundlab.objective.facts import of_start

mpmath.mp.dps = 60
SEEDS = range(12)


def smooth_minimum(kind: str, X: np.ndarray, y: np.ndarray, nu: float, start: np.ndarray) -> tuple[Any, Any]:
    """Return the minimum of (1/S)Σ loss + nu/2‖x‖² and where it is, in 60 digits, by Newton's method from beside it."""
    S, p = X.shape
    classes = int(y.max()) + 1 if kind == "softmax" else 1
    d = p * classes
    A = mpmath.matrix(X.tolist())
    x = mpmath.matrix(start.tolist())
    for _ in range(12):
        value, gradient, hessian = mpmath.mpf(0), mpmath.zeros(d, 1), mpmath.eye(d) * mpmath.mpf(nu)
        for j in range(S):
            z = [mpmath.fsum(A[j, i] * x[i * classes + k] for i in range(p)) for k in range(classes)]
            if kind == "softmax":
                total = mpmath.fsum(map(mpmath.exp, z))
                q = [mpmath.exp(one) / total for one in z]
                value += mpmath.log(total) - z[int(y[j])]
                slope = [q[k] - (k == int(y[j])) for k in range(classes)]
                bend = [[q[k] * ((k == m) - q[m]) for m in range(classes)] for k in range(classes)]
            else:
                sign = 1 if y[j] > 0 else -1
                s = 1 / (1 + mpmath.exp(sign * z[0]))
                value += mpmath.log1p(mpmath.exp(-sign * z[0]))
                slope, bend = [-sign * s], [[s * (1 - s)]]
            for a in range(d):
                gradient[a] += A[j, a // classes] * slope[a % classes] / S
                for b in range(d):
                    hessian[a, b] += A[j, a // classes] * A[j, b // classes] * bend[a % classes][b % classes] / S
        value = value / S + mpmath.mpf(nu) / 2 * mpmath.fsum(one**2 for one in x)
        gradient += mpmath.mpf(nu) * x
        x -= mpmath.lu_solve(hessian, gradient)
    assert mpmath.norm(gradient) < mpmath.mpf(10) ** -25
    return value, x


@pytest.mark.sweep(3)
@pytest.mark.parametrize("kind", ["softmax", "logistic"])
@pytest.mark.parametrize("seed", SEEDS)
def test_smooth_risks(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    S, p, nu = 3 + seed % 4, 1 + seed % 3, float(10.0 ** rng.uniform(-4, 0))
    X = rng.normal(size=(S, p)) * 10.0 ** rng.uniform(-1, 2)
    y = np.arange(S) % (3 if kind == "softmax" else 2)
    options = {"features": X.tolist(), "targets": y.tolist(), "clients": 1, "nu": nu}
    problem = build_problem(kind, options)
    best = problem.optimum()
    true, x = smooth_minimum(kind, X, 2 * y - 1 if kind == "logistic" else y, nu, np.asarray(best.x))
    assert mpmath.mpf(best.value) - mpmath.mpf(best.gap) <= true
    assert true <= mpmath.mpf(best.value) + mpmath.mpf(best.gap)
    assert best.gap < 1e-10 * (1.0 + best.value)
    assert mpmath.norm(mpmath.matrix(best.x.tolist()) - x) <= best.distance


@pytest.mark.sweep(10)
@pytest.mark.parametrize("seed", range(40))
def test_a_minimiser_that_hardly_anything_regularises_is_known_as_well(seed: int) -> None:
    """Features differ in size by up to 10⁸."""
    rng = np.random.default_rng(seed)
    d, size = int(rng.integers(1, 4)), 24
    X = rng.normal(size=(size, d)) * 10.0 ** (rng.uniform(-4, 4, size=d) * rng.integers(2))
    y, nu = rng.permutation([-1, 1] * (size // 2)), float(10.0 ** rng.uniform(-14, 0))
    problem = build_problem("logistic", {"features": X.tolist(), "targets": y.tolist(), "clients": 1, "nu": nu})
    best, found = problem.optimum(), problem.constants()
    least, x = smooth_minimum("logistic", X, y, nu, best.x)
    assert mpmath.norm(mpmath.matrix(best.x.tolist()) - x) <= best.distance
    assert mpmath.norm(x) <= found["R"].value <= mpmath.norm(x) * 1.001
    fallen = mpmath.log(2) - least
    assert fallen <= found["F0"].value <= fallen + mpmath.mpf(10) ** -7


def test_clients_that_hardly_anything_regularises_have_near_minimisers() -> None:
    rng, nu = np.random.default_rng(0), 1e-12
    X, y, own = rng.normal(size=(48, 2)) * 1e3, rng.choice([-1, 1], size=48), [slice(0, 24), slice(24, 48), slice(48)]
    given_ = [{"features": X[one].tolist(), "targets": y[one].tolist(), "nu": nu} for one in own]
    starts = [build_problem("logistic", {**one, "clients": 1}).optimum().x for one in given_]
    first, second, centre = (smooth_minimum("logistic", X[i], y[i], nu, x)[1] for i, x in zip(own, starts, strict=True))
    truth = max(mpmath.norm(first - centre), mpmath.norm(second - centre))
    problem = build_problem("logistic", {**given_[2], "owners": [0] * 24 + [1] * 24})
    assert truth <= problem.constants()["zeta"].value <= truth * 1.01


def exact_minimum(pieces: list[tuple[Fraction, Fraction, Fraction]], nu: Fraction) -> Fraction:
    """Return the minimum over the line of Σ ω·|a·x + e| (as (ω·a, ω·e) with kinks) + nu/2·x², in rationals.

    ``pieces`` are (weight, slope, offset) of max(0, slope·x + offset).
    """

    def value(x: Fraction) -> Fraction:
        return sum((w * max(Fraction(0), a * x + e) for w, a, e in pieces), Fraction(0)) + nu / 2 * x * x

    kinks = sorted({-e / a for _, a, e in pieces if a})
    points = list(kinks)
    if nu:
        edges = [kinks[0] - 1, *kinks, kinks[-1] + 1]
        for low, high in pairwise(edges):
            middle = (low + high) / 2
            slope = sum((w * a for w, a, e in pieces if a * middle + e > 0), Fraction(0))
            points.append(-slope / nu)
    return min(map(value, points))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("kind", ["hinge", "lad-regression"])
@pytest.mark.parametrize("seed", SEEDS)
def test_risks_with_kinks(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    S, nu = 3 + seed % 5, [0.0, 0.01, 1.0][seed % 3]
    X = rng.normal(size=S) * 10.0 ** rng.uniform(-1, 2)
    y = np.arange(S) % 2 if kind == "hinge" else rng.normal(size=S)
    options = {"features": [[float(a)] for a in X], "targets": y.tolist(), "clients": 1, "nu": nu}
    best = build_problem(kind, options).optimum()
    a, share = [Fraction(one) for one in X.tolist()], Fraction(1, S)
    if kind == "hinge":
        pieces = [(share, -(2 * int(b) - 1) * one, Fraction(1)) for one, b in zip(a, y, strict=True)]
    else:
        targets = [Fraction(float(b)) for b in y]
        pieces = [(share, s * one, -s * b) for one, b in zip(a, targets, strict=True) for s in (1, -1)]
    true = exact_minimum(pieces, Fraction(nu))
    assert Fraction(best.value) - Fraction(best.gap) <= true <= Fraction(best.value) + Fraction(best.gap)


def rational_families(seed: int) -> list[tuple[str, dict[str, Any]]]:
    rng = np.random.default_rng(seed)
    n = 1 + seed % 4
    c, w = rng.normal(size=(n, 2)) * 10.0 ** rng.uniform(-2, 3), rng.uniform(0.1, 2, size=(n, 2))
    turn, _ = np.linalg.qr(rng.normal(size=(2, 2)))
    A = np.array([turn @ np.diag([1.0, 10.0 ** rng.uniform(0, 6)]) @ turn.T for _ in range(n)])
    A = (A + A.transpose(0, 2, 1)) / 2
    shared = {"c": c.tolist(), "w": w.tolist(), "x0": 0.3}
    slopes = [[[float(one)], [-float(two)]] for one, two in rng.uniform(0.1, 3, size=(n, 2))]
    offsets = rng.normal(size=(n, 2)).tolist()
    return [
        ("huber", {**shared, "delta": float(rng.uniform(0.1, 2))}),
        ("lad", shared),
        ("quadratic", {"A": A.tolist(), "b": (c / 100).tolist(), "x0": 0.3}),
        ("max-affine", {"a": slopes, "b": offsets, "x0": [1.0]}),
    ]


def as_rational(problem: Problem) -> Fraction:
    """Return f* as the exact engine finds it from the very floats of the problem."""
    exact = problem.rational(json.loads(json.dumps(problem.spec())))
    assert exact is not None
    best = exact.minimum()
    assert best is not None
    return Fraction(str(best.value)) if not isinstance(best.value, Fraction) else best.value


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", SEEDS)
def test_families_with_rational_arithmetic(seed: int) -> None:
    for kind, options in rational_families(seed):
        problem = build_problem(kind, options)
        best, true = problem.optimum(), as_rational(problem)
        low, high = Fraction(best.value) - Fraction(best.gap), Fraction(best.value) + Fraction(best.gap)
        assert low <= true <= high, kind


@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_pseudo_huber(seed: int) -> None:
    rng = np.random.default_rng(seed)
    c, delta = (rng.normal(size=3) * 10.0 ** rng.uniform(-3, 2)).tolist(), float(rng.uniform(0.1, 2))
    best = build_problem("pseudo-huber", {"c": c, "w": [1, 2, 0.5], "delta": delta, "x0": 0.1}).optimum()

    def f(x: Any) -> Any:
        size = mpmath.mpf(delta)
        parts = zip(c, (1, 2, 0.5), strict=True)
        return (
            mpmath.fsum(w * size**2 * (mpmath.sqrt(1 + ((x - mpmath.mpf(at)) / size) ** 2) - 1) for at, w in parts) / 3
        )

    # ∇f is increasing: bisection in 60 digits.
    low, high = mpmath.mpf(min(c)), mpmath.mpf(max(c))
    for _ in range(180):
        middle = (low + high) / 2
        low, high = (middle, high) if mpmath.diff(f, middle) < 0 else (low, middle)
    true = f((low + high) / 2)
    assert abs(mpmath.mpf(best.x[0]) - low) <= best.distance < 1e-6 * (1.0 + abs(best.x[0]))
    assert mpmath.mpf(best.value) - mpmath.mpf(best.gap) <= true <= mpmath.mpf(best.value) + mpmath.mpf(best.gap)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=3))
def test_a_norm_is_rounded_up_to_the_next_float_and_no_further(x: list[float]) -> None:
    square, found = sum(Fraction(entry) ** 2 for entry in x), norm_up(x)
    assert math.isinf(found) or Fraction(found) ** 2 >= square
    assert not found or Fraction(math.nextafter(found, 0.0)) ** 2 < square


@pytest.mark.parametrize(("floor", "least"), [(None, 0.5), (0.0, 0.5), (0.75, 0.75), (1.0, 1.0)])
def test_the_initial_gap_is_to_what_is_certified_from_below(floor: float | None, least: float) -> None:
    # f* may be as low as 1 − 1/2, unless f is never so low; where no minimum is certified, there is the floor.
    best = Optimum(np.zeros(1), value=1.0, gap=0.5, distance=None, how="looked for")
    found = of_start(np.zeros(1), 3.0, best, floor)["F0"]
    assert 3.0 - least <= found.value <= (3.0 - least) * (1.0 + 1e-14)
    assert ("looked for" in found.how) is (least == 0.5)
    alone = of_start(np.zeros(1), 3.0, None, floor)
    assert (alone == {}) is (floor is None)
    assert not alone or alone["F0"].value == pytest.approx(3.0 - (floor or 0.0), rel=1e-14)


@given(
    st.sampled_from(["huber", "lad", "quadratic"]),
    st.lists(st.fractions(-2, 2, max_denominator=12), min_size=1, max_size=4),
    st.fractions(-2, 2, max_denominator=12),
)
def test_the_distance_of_the_start_is_no_less_than_that_of_exact_arithmetic(
    kind: str, centres: list[Fraction], start: Fraction
) -> None:
    """From 0 to the minimiser 1/6 of Huber functions at 0, 0 and 1/2 it is 1/6, and not the float below."""
    spots = [float(one) for one in centres]
    given_ = {"A": [[[1]]] * len(spots), "b": [[one] for one in spots]} if kind == "quadratic" else {"c": spots}
    problem = build_problem(kind, {**given_, "x0": float(start)})
    exact = problem.rational({})
    assert exact is not None
    best = exact.minimum()
    assert best is not None
    true = sum(((a - b) ** 2 for a, b in zip(exact.x0, best.x, strict=True)), Fraction(0))
    assert Fraction(problem.constants()["R"].value) ** 2 >= true


def test_a_tie_at_the_start_is_no_violation() -> None:
    """f(0) − f* = 1/72 = L·R²/2, the bound at K = 0."""
    problem = "huber:c=[0,0,0.5],w=[1,1,1],delta=1,x0=0"
    assert bl.compare("classics.gd.decaying", problem, iterations=1).verdict == "holds"
