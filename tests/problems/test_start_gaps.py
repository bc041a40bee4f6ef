"""F0 is no smaller than f(x0) − f*, however many coordinates the regulariser adds up."""

from fractions import Fraction

import pytest

from boundlab.case import build_problem, problem_from

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


NEAR_THE_MINIMISER = [
    "quadratic:A=[[[1]],[[3]]],b=[[0.1],[0.7]],x0=0.55",
    "quadratic:A=[[[0.1,0.03],[0.03,0.2]]],b=[[0.1,0.7]],x0=[0.1,0.7]",
    "huber:c=[0.3,0.7],x0=0.5",
    "pseudo-huber:c=[0.3,0.7],x0=0.5",
    "least-squares:features=[[1],[2]],targets=[0.1,0.2],owners=[0,0],bias=no,scale=none,nu=0,x0=0.1",
    "logistic:features=[[1],[1]],targets=[0,1],owners=[0,1],bias=no,scale=none,nu=0.1,x0=1e-9",
    "squared-hinge:features=[[1],[1]],targets=[0,1],owners=[0,1],bias=no,scale=none,nu=0.1,x0=1e-9",
]


@pytest.mark.parametrize("spec", NEAR_THE_MINIMISER)
def test_rounding_is_no_gap_of_a_start_at_the_minimiser(spec: str) -> None:
    # A bound of F0 held of runs that left the minimiser by 1e-17, as f(x0) and f* are known up to 1e-16 of f.
    found = problem_from(spec).constants()
    assert found["F0"].value <= 2.0 * found["L"].value * found["R"].value ** 2


@pytest.mark.parametrize("away", [0, 1e-12, 1e-9, 1e-6, 1.0])
@pytest.mark.parametrize("A", [[[1], [3]], [[0.1], [0.1]]])
def test_the_gap_at_a_start_near_the_minimiser_is_no_smaller_than_in_fractions(
    A: list[list[float]], away: float
) -> None:
    b, x0 = [0.1, 0.7], 0.4 + away
    data = {"type": "quadratic", "A": [[[a]] for (a,) in A], "b": [[one] for one in b], "x0": x0}
    a, c = [Fraction(one) for (one,) in A], [Fraction(one) for one in b]
    best = (a[0] * c[0] + a[1] * c[1]) / sum(a)
    gap = sum(one * ((Fraction(x0) - own) ** 2 - (best - own) ** 2) / 4 for one, own in zip(a, c, strict=True))
    assert Fraction(problem_from(data).constants()["F0"].value) >= gap
