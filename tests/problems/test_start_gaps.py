"""F0 is no smaller than f(x0) − f*, however many coordinates the regulariser adds up."""

from fractions import Fraction

import pytest

from boundlab.case import build_problem

LOSSES = {"logistic": [0, 1], "softmax": [0, 1], "hinge": [0, 1], "least-squares": [0.0, 0.0]}
# The products of BLAS are off in one direction where all factors are equal.
STARTS = [0.15217198495586204, 813.1351933816325]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_gap_at_the_start_counts_the_rounding_of_the_regulariser(loss: str, start: float) -> None:
    d = 1000 if loss == "least-squares" else 6000  # the normal equations take d³ operations
    rows = [[1e-90] + [0.0] * (d - 1), [-1e-90] + [0.0] * (d - 1)]
    given = {"features": rows, "targets": LOSSES[loss], "owners": [0, 0], "nu": 1.0, "x0": start, "bias": "no"}
    problem = build_problem(loss, given)
    # f(x0) − f* ≥ f(x0) − f(0), of which the losses are 10⁻⁸⁰ at most.
    least = Fraction(1, 2) * problem.d * Fraction(start) ** 2 - Fraction(1, 10**80)
    assert Fraction(problem.constants()["F0"].value) >= least
