"""Poisson regression on a box or a ball: nothing but exp there, and constants that hold wherever gradients are."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize

from boundlab.case import build_problem
from boundlab.errors import CertificateError, DataError, SpecError
from boundlab.objective.composite import Composite

SEEDS = st.integers(0, 10**6)
TWO_ROWS = {"features": [[1.0], [2.0]], "targets": [0, 3], "owners": [0, 0], "box": [-1, 1]}


def poisson(**options: Any) -> Composite:
    problem = build_problem("poisson", options)
    assert isinstance(problem, Composite)
    return problem


def drawn(seed: int, **more: Any) -> Composite:
    """Give random counts of 2–3 clients in 2 features."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    owners = np.concatenate([np.arange(n), rng.integers(0, n, size=8)])
    features = rng.normal(size=(len(owners), 2))
    targets = rng.poisson(rng.choice([0.5, 2.0, 20.0]), size=len(owners))
    region = {"box": [-1, 0.5]} if seed % 2 else {"ball": 0.8}
    options = {"features": features.tolist(), "targets": targets.tolist(), "owners": owners.tolist()}
    return poisson(**options, **{"nu": float(rng.choice([0.0, 0.3])), **region, **more})


def risk(problem: Composite, x: np.ndarray) -> float:
    """Return f by its formula, client by client."""
    f: Any = problem.inner
    clients = [slice(first, first + size) for first, size in zip(f.offsets, f.sizes, strict=True)]
    means = [np.mean(np.exp(f.X[rows] @ x) - f.y[rows, 0] * (f.X[rows] @ x)) for rows in clients]
    return float(np.mean(means) + f.nu / 2 * x @ x)


def hessian(problem: Composite, client: int, x: np.ndarray) -> np.ndarray:
    f: Any = problem.inner
    A = f.X[f.rows(client)]
    out: np.ndarray = (A.T * np.exp(A @ x)) @ A / len(A) + f.nu * np.eye(f.d)
    return out


def test_two_rows_by_hand() -> None:
    problem = poisson(**TWO_ROWS)
    x, e = np.array([0.5]), np.e
    assert problem.value(x) == pytest.approx((np.exp(0.5) + e - 3) / 2)
    assert problem.inner.gradient(0, x)[0] == pytest.approx((np.exp(0.5) + 2 * e - 6) / 2)
    known = problem.constants()
    assert known["L"].value == pytest.approx((e + 4 * e**2) / 2)  # at the end 1 of the box
    # Slopes lie in [0, e] and [−3, e² − 3].
    assert [known[name].value for name in ("B", "G")] == pytest.approx([(e + 2 * e**2 - 6) / 2] * 2)
    assert known["sigma"].value == 0.0
    # f' = 0: with u = eˣ, u + 2u² = 6, so that u = 3/2.
    best = problem.optimum()
    assert best.x[0] == pytest.approx(np.log(1.5), abs=1e-6)
    assert best.value == pytest.approx((1.5 + 1.5**2 - 6 * np.log(1.5)) / 2, abs=1e-12)


@settings(max_examples=30)
@given(SEEDS)
def test_on_the_set_it_is_the_formula_and_its_gradient_the_difference_of_values(seed: int) -> None:
    problem = drawn(seed)
    x = np.random.default_rng(seed).normal(size=2)
    x = problem.h.prox(x, 1.0)
    assert problem.value(x) == pytest.approx(risk(problem, x), rel=1e-12, abs=1e-12)
    step = 1e-5 * np.eye(2)
    differences = [(risk(problem, x + one) - risk(problem, x - one)) / 2e-5 for one in step]
    assert problem.inner.full_gradient(x) == pytest.approx(np.array(differences), rel=1e-6, abs=1e-6)


@settings(max_examples=30)
@given(SEEDS)
def test_curvatures_on_the_set_and_slopes_everywhere_lie_between_the_constants(seed: int) -> None:
    problem, rng = drawn(seed), np.random.default_rng(seed)
    known, inner = problem.constants(), problem.inner
    points = [2.0 * rng.normal(size=2) for _ in range(20)] + [np.array(one) for one in product((-9.0, 9.0), repeat=2)]
    for far in points:
        x = problem.h.prox(far.copy(), 1.0)  # often at a corner
        curved = np.array([np.linalg.eigvalsh(hessian(problem, client, x)) for client in range(problem.n)])
        assert curved.max() <= known["L"].value
        assert curved.min() >= (known["mu"].value if "mu" in known else 0.0) - 1e-12 * curved.max()
        for client in range(problem.n):
            one, other = inner.gradient(client, far), inner.gradient(client, x)
            assert np.linalg.norm(one - other) <= known["L"].value * np.linalg.norm(far - x) * (1 + 1e-9)
            if "B" in known:
                assert max(np.linalg.norm(one), np.linalg.norm(other)) <= known["B"].value


@settings(max_examples=25)
@given(SEEDS)
def test_the_certified_minimum_is_that_of_an_independent_solver(seed: int) -> None:
    problem = drawn(2 * seed + 1)  # on the box
    best = problem.optimum()
    assert best.gap <= 1e-6 * (1.0 + abs(best.value))
    assert problem.value(best.x) < np.inf
    options = {"ftol": 1e-15, "gtol": 1e-12}
    other = minimize(lambda x: risk(problem, x), [0.0, 0.0], method="L-BFGS-B", bounds=[(-1, 0.5)] * 2, options=options)
    assert best.value - best.gap <= other.fun
    assert other.fun == pytest.approx(best.value, rel=1e-6, abs=1e-8)
    assert problem.constants()["F0"].value >= problem.value(problem.x0) - other.fun


def test_a_minimum_is_certified_though_f_itself_falls_for_ever() -> None:
    # eˣ − 10·x falls up to ln 10, beyond the box; and eˣ alone, to the left.
    for count, end in ((10, 1.0), (0, -1.0)):
        problem = poisson(features=[[1.0]], targets=[count], owners=[0], box=[-1, 1])
        best = problem.optimum()
        assert best.x[0] == end
        assert best.distance == 0.0
        assert problem.why_not("minimiser") == problem.why_not("bounded-below") == ""
        assert problem.inner.why_not("minimiser")
        with pytest.raises(CertificateError, match="f alone need not have one"):
            problem.inner.optimum()


@pytest.mark.parametrize("simple", [{}, {"l1": 0.1}])
def test_without_a_bounded_set_it_says_what_it_needs(simple: dict[str, float]) -> None:
    with pytest.raises(SpecError, match=r"^problem poisson needs box=\[low,high\] or ball=r: [^\n]+$"):
        build_problem("poisson", simple)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"x0": 2}, SpecError, "x0 lies outside the box -1 ≤ x_j ≤ 1"),
        ({"targets": [0, -1]}, DataError, "targets must be ≥ 0, got -1"),
        ({"box": [-1, 40]}, SpecError, "margins reach 80 in the box .* at most 60 are taken"),
    ],
)
def test_what_has_no_meaning_is_refused(wrong: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        poisson(**{**TWO_ROWS, **wrong})
