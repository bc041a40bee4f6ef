"""Least squares: by hand, against independent solvers, and what mini-batches of them are."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from problem_makers import make, sample_gradients, tiny

from boundlab.algorithms.sfedavg import SFEDAVG
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import exact_array
from boundlab.case import build_problem
from boundlab.cli import invoke
from boundlab.errors import AssumptionError, CertificateError, SpecError
from boundlab.objective.weighted import minimised
from boundlab.options import Options
from boundlab.testing import conform

# f_1 = ½(½(x − 1)² + ½(2x − 4)²), f_2 = ½(3x − 1)² on a line: f = ½·((5x² − 18x + 17)/4 + (9x² − 6x + 1)/2).
LINE: dict[str, Any] = {"features": [[1], [3], [2]], "targets": [1, 1, 4], "owners": [0, 1, 0], "x0": 3}


def squares(**more: Any) -> Any:
    return make("least-squares", **(LINE | more))


def test_by_hand_on_a_line() -> None:
    problem = squares()
    assert problem.value(np.array([1.0])) == pytest.approx((4 / 4 + 4 / 2) / 2)
    # Of client 1: half of 1·(1 − 1) + 2·(2 − 4); of client 2: 3·(3 − 1).
    assert problem.gradient(0, np.array([1.0])) == pytest.approx([-2.0])
    assert problem.gradient(1, np.array([1.0])) == pytest.approx([6.0])
    found = {name: constant.value for name, constant in problem.constants().items()}
    # f' = (5x − 9)/4 + (9x − 3)/2 = 0 at x* = 15/23; the clients' own minimisers are 9/5 and 1/3.
    assert found["L"] == pytest.approx(9.0)
    assert found["mu"] == pytest.approx(2.5)
    assert found["zeta"] == pytest.approx(9 / 5 - 15 / 23)
    assert found["R"] == pytest.approx(3 - 15 / 23)
    assert found["F0"] == pytest.approx((23 / 8) * (3 - 15 / 23) ** 2)
    assert found["sigma"] == 0.0
    x = problem.x0.copy()
    problem.descend(1, x, 0.5)
    assert x.tolist() == [3 - 0.5 * 24]


def test_with_fewer_samples_than_features_the_minimiser_is_the_solution_next_to_x0() -> None:
    options = {"features": [[1, 0, 1], [0, 2, 0]], "targets": [2, 4], "clients": 2, "x0": [3, 0, 1]}
    problem = make("least-squares", **options)
    best = problem.optimum()
    # From (3, 0, 1) straight onto x1 + x3 = 2, and onto x2 = 2.
    assert best.x == pytest.approx([2.0, 2.0, 0.0], abs=1e-14)
    assert best.distance < 1e-13
    assert best.gap < 1e-25
    assert "mu" not in problem.constants()
    assert problem.constants()["R"].value == pytest.approx(6**0.5)
    with pytest.raises(AssumptionError, match="set nu > 0"):
        problem.require("strongly-convex", "sgd.theorem")


def test_features_that_are_always_zero_play_no_part() -> None:
    problem = make("least-squares", features=[[1, 0], [2, 0]], targets=[1, 4], clients=1, x0=[0, 7])
    assert problem.optimum().x == pytest.approx([9 / 5, 7.0])
    assert problem.optimum().distance < 1e-13
    nothing = make("least-squares", features=[[0], [0]], targets=[1, 3], clients=1, x0=5)
    assert (nothing.optimum().x.tolist(), nothing.optimum().value) == ([5.0], 2.5)


def test_dependent_features_have_no_certified_minimiser_and_say_what_helps() -> None:
    options = {"features": [[1, 2], [2, 4], [3, 6]], "targets": [1, 0, 1], "clients": 1}
    problem = make("least-squares", **options)
    with pytest.raises(CertificateError, match=r"linearly dependent.* set nu > 0"):
        problem.optimum()
    assert "linearly dependent" in problem.assumptions()["minimiser"]
    assert set(problem.constants()) >= {"L", "F0", "sigma"}
    assert "R" not in problem.constants()
    assert make("least-squares", **options, nu=0.1).optimum().distance < 1e-12


def test_the_variance_of_mini_batches_grows_without_bound() -> None:
    problem = tiny("least-squares", 1, batch=1)
    far = [sample_gradients(problem, 0, np.full(2, scale)) for scale in (1.0, 10.0, 100.0)]
    spread = [float(np.var(one, axis=0).sum()) for one in far]
    assert spread[0] < spread[1] / 20 < spread[2] / 400
    assert not {"sigma", "sigma_l", "B", "G", "G_sq", "sigma_g"} & set(problem.constants())
    with pytest.raises(AssumptionError, match=r"bounded-variance .* grows with the distance .* batch=full would fit"):
        problem.require("bounded-variance", "sgd.theorem")
    with pytest.raises(AssumptionError, match="gradient of least squares is unbounded"):
        problem.require("lipschitz", "sgd.theorem")


@pytest.mark.parametrize("weights", ["equal", "size", "paper"])
def test_numbers_are_taken_at_their_word(weights: str) -> None:
    pytest.importorskip("flint")
    options = LINE | {"features": [["1/3"], [3], ["0.1"]], "nu": "1/7", "weights": weights, "bias": "yes", "x0": 0}
    problem = make("least-squares", **options)
    twin = problem.rational(options)
    form = twin.least_squares()
    assert form.rows == [[[Fraction(1, 3), 1], [Fraction(1, 10), 1]], [[3, 1]]]
    assert form.targets == [[1, 4], [1]]
    assert form.nu == Fraction(1, 7)
    third = Fraction(1, 3)
    assert form.weights == {"equal": [1, 1], "size": [4 * third, 2 * third], "paper": [2 * third, third]}[weights]
    origin = exact_array([0, 0])
    assert numbers.fraction(twin.gradient(1, origin)[0]) == -3 * form.weights[1]
    conform.problem(problem)


def test_the_twin_finds_the_minimiser_next_to_x0_where_there_are_many() -> None:
    pytest.importorskip("flint")
    options = {"features": [[1, 2], [2, 4], [3, 6]], "targets": [1, 0, 1], "clients": 1, "x0": [1, 0]}
    best = make("least-squares", **options).rational(options).minimum()
    # a = (1, 2), (1 + 3)/14 = a·x is what fits best: x0 + a·(4/14 − 1)/5.
    assert best.x == [Fraction(6, 7), Fraction(-2, 7)]


def test_too_much_data_and_float32_have_no_twin() -> None:
    assert squares(dtype="float32").rational({}) is None
    assert make("least-squares", data="digits", samples=1700).rational({}) is None


def test_a_solver_is_not_chosen() -> None:
    with pytest.raises(SpecError, match="solver"):
        squares(solver="newton")


# ---- the noise at the minimiser ---------------------------------------------------------------------------------


def test_the_noise_at_one_minimiser_is_not_that_at_another() -> None:
    options = {**LINE, "batch": 1, "nu": 1}
    alone, penalised = (build_problem("least-squares", {**options, **more}) for more in ({}, {"l1": 1}))
    weighted = minimised(alone, SFEDAVG, SFEDAVG.read(Options("sfedavg", {"alpha": 0.1, "weights": [1, 3]})))
    assert "sigma_star" in alone.constants()
    assert alone.why_not("sampled-functions") == ""
    for other in (penalised, weighted):
        assert "sigma_star" not in other.constants()
        assert other.why_not("sampled-functions") != ""


@pytest.mark.parametrize("size", [1e-90, 1e-82, 1e41, 1e49])
def test_the_noise_at_the_minimiser_is_in_scale(size: float) -> None:
    # On rows and targets s·a, s·y without a regulariser x* is that of a, y, and gradients are s² times as large.
    options = {"features": [[1.0], [2.0]], "targets": [1.0, 0.0], "owners": [0, 0], "batch": 1}
    wide = {"features": [[size], [2 * size]], "targets": [size, 0.0]}
    small, large = (make("least-squares", **{**options, **more}).constants()["sigma_star"].value for more in ({}, wide))
    assert Fraction(large) >= Fraction(4, 5) * Fraction(size) ** 2  # gradients at x* = 1/5 are ∓4/5 times s²
    assert large == pytest.approx(small * size * size, rel=1e-9, abs=1e-300)


def test_data_that_leave_floats_when_squared_twice_are_not_averaged(capsys: Any) -> None:
    spec = "least-squares:features=[[1e-82],[2e-82]],targets=[1e-82,0],owners=[0,0],bias=no,batch=1,nu=1e-98,x0=5e-67"
    command = ["compare", "classics.sgd.sampled", "-d", "deterministic", "-k", "5", "-p", spec]
    assert invoke([*command, "--exact"]) == 2
    assert "leave floats when squared twice; rescale them" in capsys.readouterr().err
    assert invoke(command) != 1
