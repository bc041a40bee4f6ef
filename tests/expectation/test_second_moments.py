"""AREA's expectation over events and noise, in floats and in rational numbers, against all sequences one by one."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from exact_makers import sequences
from moment_makers import Floats, first_and_second, left

from boundlab.algorithms import EventLaw, StepSize
from boundlab.algorithms.area import AREA, AreaParameters
from boundlab.arithmetic import numbers
from boundlab.case.build import build_delays, build_problem
from boundlab.delays import ServerPolicy
from boundlab.expectation import exact_arithmetic, left_side, second_moments
from boundlab.metrics import metric
from boundlab.objective import Problem
from boundlab.tape import RecordAt

P = [Fraction(3, 10), Fraction(1, 5)]
SIGMA = 1.5
PROBLEMS = {
    "one dimension": {"A": [[[2]], [[1]]], "b": [[1], [-3]], "x0": [4]},
    "diagonal": {"A": [[[2, 0], [0, 0.5]], [[1, 0], [0, 3]]], "b": [[1, -2], [3, 0.5]], "x0": [4, -1]},
    "no common basis": {"A": [[[2, 1], [1, 3]], [[1, 0], [0, 4]]], "b": [[1, -2], [3, 0.5]], "x0": [4, -1]},
}
STEPS = {"constant": StepSize(0.125), "diminishing": StepSize(0.5, 3.0)}
SIDES = {"squared-distance": False, "gap": False, "ergodic-gap": True, "gradient-norm-last": False}


def one_by_one(
    problem: Problem, parameters: AreaParameters, side: str, K: int, direction: Floats | None = None
) -> float:
    """Return the expectation as the sum over all (n+1)^K sequences, or over arrivals alone under a count."""
    average, total = SIDES[side], 0.0
    for weight, events in sequences(P, 1 - sum(P), K, parameters.count):
        tape = AREA.schedule(parameters, events, problem.n, RecordAt(np.array([K]), average=average), K)
        mean, cov = first_and_second(tape, problem, SIGMA, direction)
        total += weight * left("gap" if average else side, problem, mean[-1], cov[-1])
    return total


@pytest.mark.sweep(3)
@pytest.mark.parametrize("options", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize(
    ("step", "start", "clock", "count"),
    [
        ("constant", "analysis", "analysis", None),
        ("constant", "algorithm", "algorithm", 1),
        ("diminishing", "algorithm", "analysis", None),
        ("diminishing", "analysis", "algorithm", None),
    ],
)
def test_noise_in_the_plane_over_all_sequences(
    options: dict[str, Any], step: str, start: Any, clock: Any, count: int | None
) -> None:
    problem = build_problem("quadratic", options)
    parameters = AreaParameters(STEPS[step], 2, count, "pre", start, clock)
    K = 5 if count else 3
    rates = [float(one) for one in P]
    delays = build_delays("exponential", {"rates": rates}, 2) if count else build_delays("iid", {"p": rates}, 2)
    policy = ServerPolicy("count", 1.0) if count else AREA.policy(None, delays)
    noisy = build_problem("quadratic", {**options, "sigma": SIGMA})
    model = noisy.rational({})
    law = EventLaw(np.array(P, dtype=object), 1 - sum(P))
    sizes = STEPS[step]

    def exactly(k: int) -> Any:
        return numbers.rational(Fraction(sizes.c) / (k + Fraction(sizes.d)) if sizes.d else Fraction(sizes.c))

    program = AREA.program(parameters, problem.n)
    arithmetic = exact_arithmetic(lambda _, program=program: program, {}, (), exactly if sizes.d else None)
    for side in SIDES:
        expected = one_by_one(problem, parameters, side, K)
        found = left_side(side, "area", noisy, parameters, delays, policy, K).value[0]
        assert found == pytest.approx(expected, rel=1e-11), side
        exact = second_moments(model, arithmetic, law, metric(side), np.array([K]))[0]
        assert float(numbers.fraction(exact)) == pytest.approx(expected, rel=1e-11), side


@pytest.mark.parametrize("name", ["diagonal", "no common basis"])
def test_noise_of_either_sign_over_all_sequences(name: str) -> None:
    direction, sizes = np.array([1.0, -2.0]), STEPS["diminishing"]
    quiet = build_problem("quadratic", PROBLEMS[name])
    options = {**PROBLEMS[name], "sigma": SIGMA, "noise": "sign", "direction": [1, -2]}
    noisy = build_problem("quadratic", options)
    parameters = AreaParameters(sizes, 3, None, "pre", "algorithm", "algorithm")
    delays = build_delays("iid", {"p": [float(one) for one in P]}, 2)
    law = EventLaw(np.array(P, dtype=object), 1 - sum(P))
    for side in ("squared-distance", "ergodic-gap"):
        expected = one_by_one(quiet, parameters, side, 3, direction)
        found = left_side(side, "area", noisy, parameters, delays, AREA.policy(None, delays), 3).value[0]
        assert found == pytest.approx(expected, rel=1e-11), side
        # The unit vector along (1, −2) is not rational; its covariance is.
        assert noisy.rational(options).sign_noise() is None
        program = AREA.program(parameters, 2)
        arithmetic = exact_arithmetic(
            lambda _, program=program: program, {}, (), lambda k: numbers.rational(Fraction(1, 2) / (k + 3))
        )
        exact = second_moments(noisy.rational(options), arithmetic, law, metric(side), np.array([3]))[0]
        assert float(numbers.fraction(exact)) == pytest.approx(expected, rel=1e-11), side


@pytest.mark.sweep(3)
@pytest.mark.parametrize("options", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize(
    "size", [StepSize(0.125), StepSize(0.5, 3.0), StepSize(1.5)], ids=["0.125", "1/(2(k+3))", "1.5"]
)
@pytest.mark.parametrize("start", ["analysis", "algorithm"])
def test_the_ends_of_a_long_run_hold_its_fraction(options: dict[str, Any], size: StepSize, start: Any) -> None:
    noisy = build_problem("quadratic", {**options, "sigma": SIGMA})
    parameters = AreaParameters(size, 2, None, "pre", start, "algorithm")
    delays = build_delays("iid", {"p": [float(one) for one in P]}, 2)
    # Shares as the floats that they are
    law = EventLaw(
        np.array([Fraction(float(one)) for one in P], dtype=object), 1 - sum(Fraction(float(one)) for one in P)
    )

    def exactly(k: int) -> Any:
        return numbers.rational(Fraction(float(size.at(np.array(k)))))

    program, K = AREA.program(parameters, 2), 40
    arithmetic = exact_arithmetic(lambda _: program, {}, (), exactly)
    for side in SIDES:
        found = left_side(side, "area", noisy, parameters, delays, AREA.policy(None, delays), K)
        exact = numbers.fraction(second_moments(noisy.rational({}), arithmetic, law, metric(side), np.array([K]))[0])
        assert Fraction(found.lower[0]) <= exact <= Fraction(found.upper[0]), side
        width = 1e-4 if size.c == 1.5 else 1e-8  # 1.5 diverges
        assert found.upper[0] - found.lower[0] <= width * found.value[0], side
