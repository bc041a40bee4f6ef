"""Expectations over the noise of a tape, against one run for each unit of noise."""

from typing import Any

import numpy as np
import pytest
from moment_makers import first_and_second, left
from run_makers import tape_of

from boundlab.case import build_problem
from boundlab.errors import AssumptionError
from boundlab.expectation import moments
from boundlab.metrics import Watch, metric
from boundlab.tape import RecordAt, Tape

SIGMA = 1.5
# Matrices that share a basis, and others that do not; no client's minimiser is another's, and x0 is none of them.
PROBLEMS = {
    "diagonal": {"A": [[[2, 0], [0, 0.5]], [[1, 0], [0, 3]]], "b": [[1, -2], [3, 0.5]], "x0": [4, -1]},
    "no common basis": {"A": [[[2, 1], [1, 3]], [[1, 0], [0, 4]]], "b": [[1, -2], [3, 0.5]], "x0": [4, -1]},
}
ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "unequal local rates": ("fedbuff", {"eta_l": [0.2, 0.05, 0.125], "M": 3, "count": 2, "eta_g": 0.75}),
    "unequal local rates, averaged models": ("fedfa", {"eta_l": [0.3, 0.1], "Q": 2, "K": 2}),
    "equal local rates": ("fedstaleweight", {"eta_l": 0.1, "M": 2, "count": 2}),
    "diminishing steps": ("area", {"c": 1, "d": 5, "M": 2, "start": "algorithm"}),
    "random numbers of steps": ("afl_dga", {"eta": 0.0625, "local_steps": "1..3"}),
}


def drawn(name: str, options: dict[str, Any], records: RecordAt, iterations: int = 6) -> Tape:
    server = "poisson" if name == "area" else None
    return tape_of(name, options, 2, iterations, "exponential:spread=2", server=server, records=records, seed=4)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("options", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
@pytest.mark.parametrize("side", ["squared-distance", "gap", "gradient-norm-last"])
def test_moments_are_those_of_all_units_of_noise_together(
    side: str, algorithm: tuple[str, dict[str, Any]], options: dict[str, Any]
) -> None:
    problem, ks = build_problem("quadratic", {**options, "sigma": SIGMA}), np.array([1, 3, 6])
    tape = drawn(*algorithm, Watch(metric(side), problem, ks).records)
    expected = [
        left(side, problem, mean, cov) for mean, cov in zip(*first_and_second(tape, problem, SIGMA), strict=True)
    ]
    found = moments.left_side(metric(side), problem, tape, ks)
    assert found.value == pytest.approx(expected, rel=1e-11)
    assert (found.lower <= np.array(expected) * (1 + 1e-12)).all()
    assert (found.upper >= np.array(expected) * (1 - 1e-12)).all()
    assert (found.upper - found.lower <= 1e-9 * found.value).all()
    quiet = moments.left_side(metric(side), build_problem("quadratic", options), tape, ks)
    assert quiet.upper[-1] < 0.999 * expected[-1]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("options", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
def test_noise_of_either_sign_has_a_covariance_along_its_direction(
    algorithm: tuple[str, dict[str, Any]], options: dict[str, Any]
) -> None:
    direction, ks = np.array([2.0, -1.0]), np.array([1, 3, 6])
    problem = build_problem("quadratic", {**options, "sigma": SIGMA, "noise": "sign", "direction": [2, -1]})
    for side in ("squared-distance", "gap", "gradient-norm-last"):
        tape = drawn(*algorithm, Watch(metric(side), problem, ks).records)
        second = first_and_second(tape, problem, SIGMA, direction)
        expected = [left(side, problem, mean, cov) for mean, cov in zip(*second, strict=True)]
        assert moments.left_side(metric(side), problem, tape, ks).value == pytest.approx(expected, rel=1e-11)


def test_two_unequal_local_steps_by_hand() -> None:
    # f = x²/2 from 1, steps 1/2 and 1/4, σ = 1: mean 1·(1/2)·(3/4); noise (1/2)²·(3/4)² + (1/4)².
    problem = build_problem("quadratic", {"A": [[[1]]], "b": [[0]], "x0": 1, "sigma": 1})
    tape = tape_of("fedbuff", {"eta_l": [0.5, 0.25], "M": 2, "count": 1}, 1, 1, "deterministic")
    found = moments.left_side(metric("squared-distance"), problem, tape, np.array([1]))
    exact = (3 / 8) ** 2 + 9 / 64 + 1 / 16
    assert found.value == pytest.approx([exact], rel=1e-14)
    assert found.lower[0] <= exact <= found.upper[0]


def test_noise_of_many_steps_by_hand() -> None:
    """F = x²/2 with steps of 1/8 has variance (1/64)·Σ (7/8)^{2j}."""
    problem = build_problem("quadratic", {"A": [[[1]]], "b": [[0]], "x0": 1, "sigma": 1})
    ks = np.array([100, 6000])
    tape = tape_of("gd", {"alpha": 0.125}, 1, 6000, "deterministic", records=RecordAt(ks))
    found = moments.left_side(metric("squared-distance"), problem, tape, ks)
    expected = (7 / 8) ** (2.0 * ks) + (1 - (7 / 8) ** (2.0 * ks)) / 15
    assert found.value == pytest.approx(expected, rel=1e-9)
    assert (found.lower <= expected * (1 + 1e-12)).all()
    assert (found.upper >= expected * (1 - 1e-12)).all()


def test_proximal_steps_have_no_noise() -> None:
    problem = build_problem("quadratic", {**PROBLEMS["diagonal"], "sigma": 1})
    tape = tape_of("proximal_point", {"alpha": 0.5}, 1, 3, "deterministic")
    with pytest.raises(AssumptionError, match="proximal"):
        moments.left_side(metric("gap"), problem, tape, np.array([3]))
