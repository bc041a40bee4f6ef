"""Test problems: n client functions with certified constants (registered under ``boundlab.problems``).

Importing this package loads neither SciPy, CVXPY nor scikit-learn: each is imported where it is first used.
"""

from boundlab.objective import ProblemType
from boundlab.problems import max_affine, quadratic, samples, separable, smoothed_max_affine
from boundlab.problems.functions import smooth_problem as smooth_problem

__all__ = ["PROBLEMS", "smooth_problem"]

PROBLEMS: tuple[ProblemType, ...] = (
    ProblemType(
        "hinge",
        "hinge loss (support vector machine) on data split over clients",
        samples.builder("hinge"),
        samples.describe("hinge"),
    ),
    ProblemType(
        "huber",
        "weighted Huber losses around centres, linear beyond delta",
        separable.builder("huber"),
        separable.OPTIONS["huber"],
    ),
    ProblemType(
        "lad",
        "least absolute deviations; by default f = |x|",
        separable.builder("lad"),
        separable.OPTIONS["lad"],
    ),
    ProblemType(
        "lad-regression",
        "least absolute deviations of a linear model on data split over clients",
        samples.builder("lad-regression"),
        samples.describe("lad-regression"),
    ),
    ProblemType(
        "least-squares",
        "least squares of a linear model on data split over clients, ridge regression with nu > 0",
        samples.builder("least-squares"),
        samples.describe("least-squares"),
    ),
    ProblemType(
        "logistic",
        "binary logistic regression on data split over clients",
        samples.builder("logistic"),
        samples.describe("logistic"),
    ),
    ProblemType("max-affine", "maxima of affine functions", max_affine.build, max_affine.OPTIONS),
    ProblemType(
        "pseudo-huber",
        "weighted pseudo-Huber losses around centres",
        separable.builder("pseudo-huber"),
        separable.OPTIONS["pseudo-huber"],
    ),
    ProblemType(
        "quadratic",
        "heterogeneous quadratics with additive Gaussian noise",
        quadratic.build,
        quadratic.OPTIONS,
    ),
    ProblemType(
        "smoothed-max-affine",
        "maxima of affine functions with rounded kinks",
        smoothed_max_affine.build,
        smoothed_max_affine.OPTIONS,
    ),
    ProblemType(
        "softmax",
        "multinomial logistic regression on data split over clients",
        samples.builder("softmax"),
        samples.describe("softmax"),
    ),
)
