"""Minimisers of empirical risks and their certificates."""

import sys
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from problem_makers import LOSSES, make, tiny

from boundlab.errors import CertificateError, MissingExtraError

SEEDS = st.integers(0, 10_000)


@given(SEEDS)
@settings(max_examples=10)
def test_the_certificates_of_logistic_regression_bracket_forty_digits(seed: int) -> None:
    problem = tiny("logistic", seed)
    best, constants = problem.optimum(), problem.constants()

    def exact(risk: Any) -> Any:
        def slope(*x: Any) -> list[Any]:
            out = [mpmath.mpf(risk.nu) * component for component in x]
            for a, y, weight in zip(risk.X.tolist(), risk.y.tolist(), risk.omega.tolist(), strict=True):
                margin = y * sum(mpmath.mpf(c) * component for c, component in zip(a, x, strict=True))
                pull = -mpmath.mpf(weight) * y / (1 + mpmath.exp(margin))
                out = [total + pull * mpmath.mpf(c) for total, c in zip(out, a, strict=True)]
            return out

        start = best.x.tolist() if risk is problem.total else risk_start(risk)
        return mpmath.matrix(mpmath.findroot(slope, start))

    def risk_start(risk: Any) -> list[float]:
        from boundlab.problems.erm import minimise

        start: list[float] = minimise(risk, np.zeros(risk.d), lambda _, norm: norm < 1e-12)[0].tolist()
        return start

    with mpmath.workdps(40):
        x = exact(problem.total)
        assert mpmath.norm(mpmath.matrix(best.x.tolist()) - x) <= best.distance
        assert mpmath.norm(mpmath.matrix(problem.x0.tolist()) - x) <= constants["R"].value
        away = max(mpmath.norm(x - exact(problem.part(i))) for i in range(problem.n))
        assert away <= constants["zeta"].value
        assert constants["zeta"].value <= away * (1 + mpmath.mpf("0.003")) + 1e-6
        total = problem.total
        value = mpmath.mpf(total.nu) / 2 * mpmath.norm(x) ** 2
        for a, y, weight in zip(total.X.tolist(), total.y.tolist(), total.omega.tolist(), strict=True):
            margin = y * sum(mpmath.mpf(c) * x[k] for k, c in enumerate(a))
            value += mpmath.mpf(weight) * mpmath.log(1 + mpmath.exp(-margin))
        assert abs(best.value - value) <= best.gap + 1e-15


@given(SEEDS)
@settings(max_examples=10)
def test_the_certificate_of_softmax_holds_in_extended_precision(seed: int) -> None:
    problem = tiny("softmax", seed)
    best, total = problem.optimum(), problem.total
    X, omega = total.X.astype(np.longdouble), total.omega.astype(np.longdouble)
    x = best.x.astype(np.longdouble)
    inverse = np.linalg.inv(total.hessian(best.x))
    for _ in range(8):  # a fixed float64 inverse, gradients in 64-bit mantissas: converges past float64
        z = X @ x.reshape(2, -1)
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        p[np.arange(len(p)), total.y] -= 1
        x = x - inverse @ ((X.T @ (p * omega[:, None])).ravel() + np.longdouble(total.nu) * x)
    assert best.distance is not None
    assert np.linalg.norm((best.x - x).astype(float)) <= best.distance
    norms = problem.gradient_norms_at_optimum()
    assert norms is not None
    for i in range(problem.n):
        assert np.linalg.norm(problem.gradient(i, x.astype(float))) <= norms[i]
        assert problem.minimisers[1][i] >= 0


@given(st.sampled_from(("hinge", "lad-regression")), SEEDS, st.booleans())
@settings(max_examples=25)
def test_the_dual_bound_brackets_an_independent_solver(kind: str, seed: int, regularised: bool) -> None:
    problem = tiny(kind, seed, nu=0.1 if regularised else 0.0)
    best = problem.optimum()
    assert 0 <= best.gap <= 1e-4 * max(1.0, best.value)
    rng = np.random.default_rng(seed)
    if regularised:
        assert best.distance == pytest.approx(np.sqrt(2 * best.gap / problem.total.nu))
        for scale in (1e-4, 1e-2, 1.0):
            for _ in range(20):
                x = best.x + scale * rng.normal(size=problem.d)
                assert problem.value(x) >= best.value - best.gap
        return
    from scipy.optimize import linprog

    S, p = problem.X.shape
    rows, offset = (problem.X, -problem.y) if kind == "lad-regression" else (-problem.y[:, None] * problem.X, 1.0)
    sides = (1.0, -1.0) if kind == "lad-regression" else (1.0,)
    matrix = np.vstack([np.hstack([side * rows, -np.eye(S)]) for side in sides])
    right = np.concatenate([np.broadcast_to(-side * offset, S) for side in sides])
    cost = np.concatenate([np.zeros(p), problem.total.omega])
    limits = [(None, None)] * p + [(0, None)] * S
    found = linprog(cost, A_ub=matrix, b_ub=right, bounds=limits, method="highs")
    assert best.value - best.gap - 1e-9 <= found.fun <= best.value + 1e-9


def test_without_regulariser_a_certificate_exists_only_where_classes_overlap() -> None:
    overlap = {"features": [[1.0], [2.0], [-1.0], [1.5]], "targets": [1.0, 0.0, 0.0, 1.0], "owners": [0, 0, 1, 1]}
    problem = make("logistic", nu=0, bias="yes", **overlap)
    best = problem.optimum()
    assert best.gap < 1e-12
    assert best.distance is not None
    assert best.distance < 1e-9
    assert "self-concordance" in best.how
    assert problem.constants()["B"].value > 0
    with pytest.raises(CertificateError, match="set nu > 0"):
        make("logistic", nu=0, solver="newton", **(overlap | {"targets": [1.0, 1.0, 0.0, 1.0]})).optimum()


@pytest.mark.parametrize("kind", ["logistic", "softmax"])
def test_clarabel_and_newton_find_the_same_point(kind: str) -> None:
    first, second = (make(kind, data="digits", samples=60, solver=word) for word in ("clarabel", "newton"))
    one, two = first.optimum(), second.optimum()
    assert one.how.startswith("Clarabel, Newton")
    assert two.how.startswith("Newton")
    assert one.distance is not None
    assert two.distance is not None
    assert np.linalg.norm(one.x - two.x) <= one.distance + two.distance
    assert one.gap < 1e-11


@pytest.mark.nightly
def test_the_default_problems_solve_with_narrow_certificates() -> None:
    for kind in LOSSES:
        problem = make(kind)
        best = problem.optimum()
        assert best.gap <= 1e-4
        assert problem.n == 10
        assert set(problem.constants()) >= {"sigma", "R"}
    softmax = make("softmax", partition="dirichlet", a=0.1, batch=32)
    best = softmax.optimum()
    assert (softmax.n, softmax.d) == (10, 650)
    assert best.gap < 1e-10
    assert best.distance is not None
    assert best.distance < 1e-6


@pytest.mark.nightly
def test_large_dimensions_take_lbfgs_to_the_same_certificate() -> None:
    problem = make("softmax", data="digits", samples=120, nu=0.1)
    from boundlab.problems import erm

    before = problem.optimum().x
    x, norm = erm._lbfgs(problem.total, np.zeros(problem.d), lambda _, norm: norm < 1e-6), 0.0
    assert np.linalg.norm(x - before) <= 2e-5
    gradient = problem.total.value_and_gradient(x)[1]
    norm = float(np.linalg.norm(gradient))
    step = erm._conjugate_gradients(problem.total, x, gradient, norm)
    assert np.linalg.norm(problem.total.value_and_gradient(x + step)[1]) < 0.1 * norm


def test_smoothed_lbfgs_reaches_the_same_value_as_the_program() -> None:
    one, two = (make("hinge", nu=0.1, samples=200, solver=word) for word in ("clarabel", "newton"))
    assert two.optimum().how.startswith("L-BFGS")
    assert abs(one.optimum().value - two.optimum().value) <= one.optimum().gap + two.optimum().gap
    assert two.optimum().gap < 1e-4


def test_data_too_large_for_a_linear_program_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from boundlab.problems import erm

    monkeypatch.setattr(erm, "PIECEWISE_LIMIT", 6500)
    with pytest.raises(CertificateError, match="set nu > 0 or samples=100"):
        make("hinge").optimum()


def test_a_missing_solver_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(MissingExtraError, match=r'pip install "boundlab\[solve\]"'):
        make("hinge", samples=50, clients=2).optimum()


@pytest.mark.nightly  # by day tests/compare looks at MNIST
def test_mnist_has_the_dimension_of_the_paper(data_folder: Path) -> None:
    folder = f"idx:{data_folder / 'mnist'}"
    problem = make(
        "softmax", data=folder, samples=600, clients=5, partition="dirichlet", batch=32, nu=0.1, dtype="float32"
    )
    assert problem.d == 7850
    assert problem.x0.dtype == np.float32
    best = problem.optimum()
    assert best.how.startswith("L-BFGS")
    assert best.gap < 1e-8
    constants = problem.constants()
    assert constants["zeta"].value > 0
    assert constants["L"].value > constants["mu"].value
