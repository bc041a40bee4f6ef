"""Regularised risks are those of scikit-learn and SciPy: minimisers to 1e-6, with weights of samples and without."""

from typing import Any

import numpy as np
import pytest
from problem_makers import make
from scipy.optimize import minimize

linear_model = pytest.importorskip("sklearn.linear_model")
svm = pytest.importorskip("sklearn.svm")

RNG = np.random.default_rng(7)
X = RNG.normal(size=(90, 4))
OWNERS = np.sort(RNG.integers(0, 3, size=90))
LABELS = (X @ [1.0, -2.0, 0.5, 0.0] + RNG.normal(size=90) > 0).astype(float)
VALUES = X @ [0.3, -0.2, 0.1, 0.4] + RNG.standard_t(2, size=90)
WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 4.0], size=90)
C = 0.7


def ours(kind: str, targets: np.ndarray, weights: np.ndarray | None, **more: Any) -> Any:
    given = {} if weights is None else {"sample_weight": weights.tolist()}
    data = {"features": X.tolist(), "targets": targets.tolist(), "owners": OWNERS.tolist()}
    return make(kind, **data, weights="size", **given, **more)


def total(weights: np.ndarray | None) -> float:
    return float(len(X) if weights is None else weights.sum())


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("kind", ["logistic", "squared-hinge", "softmax"])
def test_a_classifier_of_scikit_learn_has_this_minimiser(kind: str, weights: np.ndarray | None) -> None:
    targets = np.digitize(X @ [1.0, 1.0, 0.0, 0.0], [-0.5, 0.5]).astype(float) if kind == "softmax" else LABELS
    if kind == "squared-hinge":
        theirs = svm.LinearSVC(C=C, fit_intercept=False, dual=False, tol=1e-13, max_iter=10_000)
    else:
        theirs = linear_model.LogisticRegression(C=C, fit_intercept=False, tol=1e-13, max_iter=10_000)
    theirs.fit(X, targets, sample_weight=weights)
    best = ours(kind, targets, weights, C=C).optimum()
    assert best.distance < 1e-8
    found = best.x.reshape(4, -1)
    expected = theirs.coef_.T
    if kind == "softmax":  # a shift of all classes changes only the regulariser
        found = found - found.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_ridge_regression_has_this_minimiser(weights: np.ndarray | None) -> None:
    nu = 0.2
    theirs = linear_model.Ridge(alpha=nu * total(weights), fit_intercept=False).fit(X, VALUES, sample_weight=weights)
    np.testing.assert_allclose(ours("least-squares", VALUES, weights, nu=nu).optimum().x, theirs.coef_, atol=1e-9)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("quantile", [0.25, 0.8])
def test_quantile_regression_has_this_minimum(weights: np.ndarray | None, quantile: float) -> None:
    theirs = linear_model.QuantileRegressor(quantile=quantile, alpha=0.0, fit_intercept=False)
    theirs.fit(X, VALUES, sample_weight=weights)
    problem = ours("quantile-regression", VALUES, weights, quantile=quantile)
    best = problem.optimum()
    assert problem.value(theirs.coef_) == pytest.approx(best.value, abs=1e-8)
    # With an intercept this fraction of the weight lies below the prediction, but for rows on it.
    above = ours("quantile-regression", VALUES, weights, quantile=quantile, bias="yes")
    errors, share = (
        VALUES - np.column_stack([X, np.ones(90)]) @ above.optimum().x,
        np.ones(90) if weights is None else weights,
    )
    assert share[errors < -1e-6].sum() <= quantile * share.sum() + 1e-9 <= share[errors < 1e-6].sum() + 2e-9


def objective(kind: str, weights: np.ndarray, nu: float, delta: float) -> Any:
    """Return Σ w_j·loss_j/Σ w_j + ν/2·‖x‖², written down once more."""

    def of(x: np.ndarray) -> float:
        if kind == "modified-huber":
            r = (2 * LABELS - 1) * (X @ x)
            losses = np.where(r >= -1, np.maximum(0, 1 - r) ** 2, -4 * r)
        else:
            r = np.abs(X @ x - VALUES)
            losses = np.where(r <= delta, r**2 / 2, delta * (r - delta / 2))
        return float(weights @ losses / weights.sum() + nu / 2 * x @ x)

    return of


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("kind", ["modified-huber", "huber-regression"])
def test_a_general_solver_finds_no_other_minimiser(kind: str, weights: np.ndarray | None) -> None:
    nu, delta = 0.05, 0.6
    more = {"delta": delta} if kind == "huber-regression" else {}
    problem = ours(kind, LABELS if kind == "modified-huber" else VALUES, weights, nu=nu, **more)
    f = objective(kind, np.ones(len(X)) if weights is None else weights, nu, delta)
    best = problem.optimum()
    assert problem.value(best.x) == pytest.approx(f(best.x), rel=1e-12)
    found = minimize(f, np.zeros(4), method="BFGS", options={"gtol": 1e-9}).x
    np.testing.assert_allclose(best.x, found, rtol=0, atol=1e-6)
    assert f(found) >= best.value - best.gap - 1e-15


@pytest.mark.parametrize("nu", [0.0, 1e-9])
def test_huber_regression_without_a_regulariser_is_its_limit(nu: float) -> None:
    f = objective("huber-regression", np.ones(len(X)), nu, 0.6)
    best = ours("huber-regression", VALUES, None, nu=nu, delta=0.6).optimum()
    assert best.gap < 1e-9
    assert minimize(f, np.zeros(4), method="BFGS", options={"gtol": 1e-9}).fun >= best.value - best.gap
