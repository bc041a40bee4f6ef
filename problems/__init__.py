"""Test problems: n client functions with certified constants (registered under ``boundlab.problems``).

Importing this package loads neither SciPy, CVXPY nor scikit-learn: each is imported where it is first used.
"""

from functools import partial
from typing import Any

from boundlab.objective import ProblemType
from boundlab.problems import max_affine, quadratic, samples, separable
from boundlab.problems.data import files_of_options
from boundlab.problems.functions import smooth_problem as smooth_problem

__all__ = ["PROBLEMS", "smooth_problem"]

_SMALL = {"clients": 3, "dimension": 2}
_NOISY = {**_SMALL, "seed": 1, "sigma": 0.5, "x0": [4.0, -1.5]}
_DRAWN = _SMALL, _NOISY, {**_NOISY, "noise": "sign"}
_ROWS = {
    "features": [[1.0, 0.5], [-1.0, 2.0], [0.5, -1.0], [2.0, 1.0], [-1.5, -1.0], [0.25, 1.0]],
    "owners": [0, 0, 1, 1, 2, 2],
}
_LABELS = {**_ROWS, "targets": [0, 1, 0, 1, 1, 0], "nu": 0.25}
_WEIGHTED = {"sample_weight": [1.0, 2.0, 0.5, 0.5, 0.0, 3.0], "batch": 1, "weights": "size"}
_FREE = {"bias": "yes", "intercept": "free", "batch": 2}
_THREE = {**_LABELS, "targets": [0, 1, 2, 1, 0, 2]}
_COUNTS = [0, 1, 3, 1, 0, 2]
_REAL = [0.5, -1.0, 2.0, 0.0, 1.5, -0.5]
_MAXIMA = {
    "a": [[[1.0, 0.0], [-1.0, 0.5], [0.0, -1.0]]] * 2,
    "c": [[0.0, 0.1, 0.2]] * 2,
    "x0": [1.0, 2.0],
    "L": 2.0,
}


def _sampled(data: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """Return full gradients, single samples far from the minimum, and no regulariser."""
    return data, {**data, "batch": 1, "x0": 3.0}, {**data, "nu": 0.0, "weights": "size"}


PROBLEMS: tuple[ProblemType, ...] = (
    ProblemType(
        "hinge",
        "hinge loss (support vector machine) on data split over clients",
        partial(samples.build, "hinge"),
        samples.describe("hinge"),
        _sampled(_LABELS),
        files=files_of_options,
    ),
    ProblemType(
        "modified-huber",
        "squared hinge loss, linear beyond the margin −1, on data split over clients",
        partial(samples.build, "modified-huber"),
        samples.describe("modified-huber"),
        (*_sampled(_LABELS), {**_LABELS, **_WEIGHTED}),
        files=files_of_options,
    ),
    ProblemType(
        "squared-hinge",
        "squared hinge loss (support vector machine) on data split over clients",
        partial(samples.build, "squared-hinge"),
        samples.describe("squared-hinge"),
        (_LABELS, {**_LABELS, **_WEIGHTED}),
        files=files_of_options,
    ),
    ProblemType(
        "huber-regression",
        "Huber losses of a linear model on data split over clients",
        partial(samples.build, "huber-regression"),
        samples.describe("huber-regression"),
        (*_sampled({**_ROWS, "targets": _REAL, "nu": 0.25, "delta": 0.75}), {**_ROWS, "targets": _REAL, **_WEIGHTED}),
        files=files_of_options,
    ),
    ProblemType(
        "quantile-regression",
        "quantile regression: asymmetric absolute deviations of a linear model on data split over clients",
        partial(samples.build, "quantile-regression"),
        samples.describe("quantile-regression"),
        _sampled({**_ROWS, "targets": _REAL, "nu": 0.25, "quantile": 0.75}),
        files=files_of_options,
    ),
    ProblemType(
        "huber",
        "weighted Huber losses around centres, linear beyond delta",
        partial(separable.build, "huber"),
        separable.OPTIONS["huber"],
        _DRAWN,
    ),
    ProblemType(
        "lad",
        "least absolute deviations; by default f = |x|",
        partial(separable.build, "lad"),
        separable.OPTIONS["lad"],
        _DRAWN,
    ),
    ProblemType(
        "lad-regression",
        "least absolute deviations of a linear model on data split over clients",
        partial(samples.build, "lad-regression"),
        samples.describe("lad-regression"),
        _sampled({**_ROWS, "targets": _REAL, "nu": 0.25}),
        files=files_of_options,
    ),
    ProblemType(
        "least-squares",
        "least squares of a linear model on data split over clients, ridge regression with nu > 0",
        partial(samples.build, "least-squares"),
        samples.describe("least-squares"),
        _sampled({**_ROWS, "targets": _REAL, "nu": 0.25}),
        files=files_of_options,
    ),
    ProblemType(
        "logistic",
        "binary logistic regression on data split over clients",
        partial(samples.build, "logistic"),
        samples.describe("logistic"),
        (*_sampled(_LABELS), {**_LABELS, **_FREE}),
        files=files_of_options,
    ),
    ProblemType("max-affine", "maxima of affine functions", max_affine.build, max_affine.OPTIONS, _DRAWN),
    ProblemType(
        "poisson",
        "Poisson regression on data split over clients, on a box or a ball: needs box=[low,high] or ball=r",
        partial(samples.build, "poisson"),
        samples.describe("poisson"),
        tuple({**one, "box": [-0.5, 0.25]} for one in _sampled({**_ROWS, "targets": _COUNTS, "nu": 0.25})),
        constrained=True,
        files=files_of_options,
    ),
    ProblemType(
        "pseudo-huber",
        "weighted pseudo-Huber losses around centres",
        partial(separable.build, "pseudo-huber"),
        separable.OPTIONS["pseudo-huber"],
        _DRAWN,
    ),
    ProblemType(
        "quadratic",
        "heterogeneous quadratics with additive Gaussian noise",
        quadratic.build,
        quadratic.OPTIONS,
        _DRAWN,
    ),
    ProblemType(
        "smoothed-max-affine",
        "maxima of affine functions with rounded kinks",
        max_affine.build_smoothed,
        max_affine.SMOOTHED_OPTIONS,
        tuple({**_MAXIMA, "mu": mu} for mu in (0.0, 0.25)),
    ),
    ProblemType(
        "softmax",
        "multinomial logistic regression on data split over clients",
        partial(samples.build, "softmax"),
        samples.describe("softmax"),
        (*_sampled(_THREE), {**_THREE, **_FREE}),
        files=files_of_options,
    ),
)
