"""An intercept without a regulariser, as scikit-learn has it, and its C."""

import warnings
from typing import Any

import numpy as np
import pytest

import boundlab as bl
from boundlab.arithmetic.near import Near
from boundlab.errors import AssumptionError, SpecError
from boundlab.problems.clients import LOSSES
from boundlab.problems.erm import _unregularised
from boundlab.problems.risk import Risk

FREE = "logistic:data=breast_cancer,samples=60,clients=3,nu=0.05,intercept=free"


def sklearn() -> Any:
    return pytest.importorskip("sklearn", reason="scikit-learn is not installed")


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_minimiser_is_that_of_scikit_learn(C: float) -> None:
    sklearn()
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import MinMaxScaler

    X, y = load_breast_cancer(return_X_y=True)
    X = MinMaxScaler().fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = LogisticRegression(C=C, tol=1e-12, max_iter=50_000, solver="newton-cholesky").fit(X, y)
    w = np.append(theirs.coef_.ravel(), theirs.intercept_)
    best = bl.problem(f"logistic:data=breast_cancer,clients=1,C={C},intercept=free").optimum()
    assert best.distance is not None
    assert best.distance <= 1e-6
    assert np.linalg.norm(best.x - w) <= 1e-6 * max(1.0, float(np.linalg.norm(w)))


def test_classes_may_all_shift_together() -> None:
    """Softmax does not change where all intercepts grow alike: x* is one minimiser of a line of them."""
    sklearn()
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    X, y = load_digits(return_X_y=True)
    keep = y < 3
    theirs = LogisticRegression(C=0.1, tol=1e-12, max_iter=50_000, solver="newton-cholesky").fit(X[keep] / 16, y[keep])
    rows = {"features": (X[keep] / 16).tolist(), "targets": y[keep].tolist(), "owners": [0] * int(keep.sum())}
    problem = bl.problem({"type": "softmax", **rows, "bias": "yes", "C": 0.1, "intercept": "free"})
    found = problem.optimum().x.reshape(-1, 3)
    assert np.abs(found[:-1] - theirs.coef_.T).max() <= 1e-6
    assert np.ptp(found[-1] - theirs.intercept_) <= 1e-6


@pytest.mark.parametrize("kind", ["logistic", "softmax"])
@pytest.mark.parametrize("seed", range(4))
def test_the_distance_is_that_along_the_weakest_direction(kind: str, seed: int) -> None:
    """Near x*, off along the eigenvector of the smallest curvature: softmax is flat along one, which moves no value."""
    rng, classes = np.random.default_rng(seed), 3 if kind == "softmax" else 1
    X = np.hstack([20.0 * rng.normal(size=(30, 2)), np.ones((30, 1))])
    y = rng.integers(0, 3, size=30) if kind == "softmax" else rng.choice([-1.0, 1.0], size=30)
    risk = Risk(LOSSES[kind], X, y, Near(np.full(30, 1 / 30)), Near(0.5), classes, free=classes)
    x = np.zeros(risk.d)
    for _ in range(60):
        x = x - np.linalg.lstsq(risk.hessian(x), risk.gradient(x), rcond=1e-12)[0]
    curved, directions = np.linalg.eigh(risk.hessian(x))
    weakest = int(kind == "softmax")
    assert curved[weakest + 1] > (1.0 if weakest else 20.0) * curved[weakest] > 0.0
    found = _unregularised(risk, x + 1e-7 * directions[:, weakest], "here", "logistic")
    assert found.distance is not None
    assert 1e-7 * (1 - 1e-3) <= found.distance <= 1e-5
    assert found.gap >= 0.4 * curved[weakest] * 1e-14


def test_there_is_no_mu_and_theorems_that_need_it_say_so() -> None:
    found = bl.constants(FREE)
    assert "free" in found.missing["mu"]
    assert not {"mu", "zeta", "B", "G"} & found.found.keys()
    assert {"L", "R", "F0", "sigma_g", "L_max", "sigma_star"} <= found.found.keys()
    with pytest.raises(AssumptionError, match="its intercept is free, and so it has no mu; intercept=regularised"):
        bl.compare("classics.gd.strongly-convex", FREE, iterations=5)
    assert bl.compare("classics.gd.convex", FREE, iterations=20).verdict == "holds"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("logistic:C=1,nu=1", "give C or nu, not both"),
        ("logistic:intercept=free,bias=no", "intercept=free goes with bias=yes"),
        ("hinge:intercept=free", "no option 'intercept'"),
        ("least-squares:C=1", "no option 'C'"),
        ("logistic:C=0", "C must be > 0"),
    ],
)
def test_options_that_do_not_go_together_get_one_line(spec: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        bl.problem(spec)
