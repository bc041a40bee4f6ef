"""The ends of AREA's left side hold it in fractions: every option, clients alike and others."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boundlab.algorithms import EventLaw, StepSize
from boundlab.algorithms.area import AREA, AreaParameters
from boundlab.arithmetic import numbers
from boundlab.case import build_delays, build_problem
from boundlab.expectation import exact_arithmetic, left_side
from boundlab.expectation._graph import in_floats as float_arithmetic
from boundlab.expectation.moments import in_exact_numbers as second_moments, in_floats
from boundlab.metrics import Enclosure, metric
from boundlab.objective import Problem

SIDES = ["squared-distance", "gap", "ergodic-gap", "gradient-norm-last"]
SIZES = st.integers(-12, 12).map(lambda power: 2.0**power)
# Parts of 256: all alike, pairs, none alike, one that nearly always arrives, and one by itself that does
SHARES = st.sampled_from([[40], [250], [20, 20], [20, 20, 20], [20, 20, 31], [7, 20, 31], [1, 1, 250], [9, 9, 31, 31]])


@st.composite
def settings_of(draw: st.DrawFn) -> tuple[Problem, AreaParameters, list[float]]:
    """Draw a quadratic whose clients differ by powers of 2, a step between tiny and one that diverges, and a law."""
    shares = draw(SHARES)
    n, d = len(shares), draw(st.integers(1, 2))
    whole = st.integers(-4, 4)
    blocks = [[[draw(SIZES) * (row == column) for column in range(d)] for row in range(d)] for _ in range(n)]
    if d > 1 and draw(st.booleans()):  # then no common basis
        roots = [np.array([[draw(whole) for _ in range(d)] for _ in range(d)]) for _ in range(n)]
        blocks = [(root @ root.T + np.eye(d)).tolist() for root in roots]
    options: dict[str, Any] = {
        "A": blocks,
        "b": [[draw(whole) * size for _ in range(d)] for size in [draw(SIZES) for _ in range(n)]],
        "x0": [draw(whole) * draw(SIZES) for _ in range(d)],
    }
    if draw(st.booleans()):
        options["sigma"] = draw(SIZES)
    steepest = max(float(np.linalg.norm(np.array(block), 2)) for block in blocks)
    c = draw(st.sampled_from([2.0**-10, 0.25, 0.75, 1.0, 2.5])) / 2.0 ** np.ceil(np.log2(steepest))
    step = draw(st.sampled_from([StepSize(float(c)), StepSize(float(4.0 * c), 4.0)]))
    count = draw(st.sampled_from([None, None, 1, 2]))
    first, clock = (draw(st.sampled_from(["algorithm", "analysis"])) for _ in range(2))
    parameters = AreaParameters(step, draw(st.integers(1, 6)), count, "pre", first, clock)  # type: ignore[arg-type]
    return build_problem("quadratic", options), parameters, [share / 256 for share in shares]


def found(problem: Problem, parameters: AreaParameters, p: list[float], side: str, ks: list[int]) -> Enclosure:
    """Return the left side in floats."""
    law = EventLaw(np.array(p), 1.0 - sum(p))
    return in_floats(problem, float_arithmetic(AREA.program(parameters, problem.n)), law, metric(side), np.array(ks))


def in_fractions(problem: Problem, parameters: AreaParameters, p: list[float], side: str, ks: list[int]) -> list[Any]:
    """Return it in exact numbers, from the moments of every register."""
    arithmetic = exact_arithmetic(AREA.program(parameters.known(Fraction), problem.n))
    shares = [Fraction(one) for one in p]
    law = EventLaw(np.array(shares, dtype=object), 1 - sum(shares))
    return second_moments(problem.rational({}), arithmetic, law, metric(side), np.array(ks))


@given(setting=settings_of(), side=st.sampled_from(SIDES))
def test_the_ends_hold_the_fraction_whatever_the_options(setting: Any, side: str) -> None:
    problem, parameters, p = setting
    ks = [1, 2, 5, 9]
    ends = found(problem, parameters, p, side, ks)
    for low, high, exact in zip(ends.lower, ends.upper, in_fractions(problem, parameters, p, side, ks), strict=True):
        value, least, largest = numbers.float_ends(numbers.ball(exact))
        assert low <= value <= high, (least, largest)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("size", [2.0**40, 1.0, 2.0**-40])
@pytest.mark.parametrize("side", SIDES)
def test_a_client_far_larger_than_the_others_hides_no_rounding(size: float, side: str) -> None:
    problem = build_problem(
        "quadratic",
        {"A": [[[1]], [[1]], [[0.5]], [[1]]], "b": [[size], [1], [3], [-2]], "x0": [5], "sigma": 0.5},
    )
    for start in ("algorithm", "analysis"):
        parameters = AreaParameters(StepSize(0.375), 2, None, "pre", start)
        p, ks = [0.125] * 4, [3, 12]
        ends = found(problem, parameters, p, side, ks)
        exact = in_fractions(problem, parameters, p, side, ks)
        for low, high, value in zip(ends.lower, ends.upper, exact, strict=True):
            assert Fraction(low) <= numbers.fraction(value) <= Fraction(high)
            assert high - low <= 1e-9 * high


def test_the_growth_of_one_client_is_not_that_of_all() -> None:
    problem = build_problem("quadratic", {"A": [[[1]], [[1]], [[20]]], "b": [[1], [2], [-1]], "x0": [3]})
    ends = found(problem, AreaParameters(StepSize(0.25), 3), [0.125] * 3, "squared-distance", [400])
    assert ends.value[0] > 1e150
    assert ends.upper[0] - ends.lower[0] <= 1e-7 * ends.value[0]


def test_errors_shrink_as_their_mean_over_clients_does() -> None:
    # Of the clients some hardly move and others are at x* at once: the root mean square of ‖H_i‖ is far above the mean.
    blocks = [[[2.0**-power]] for power in (0, 1, 3, 6, 10)]
    problem = build_problem("quadratic", {"A": blocks, "b": [[1]] * 5, "x0": [3]})
    ends = found(problem, AreaParameters(StepSize(1.0), 8), [0.125] * 5, "squared-distance", [2500])
    assert 0.0 < ends.value[0] < 1e-70
    assert ends.upper[0] - ends.lower[0] <= 0.5 * ends.value[0]


@pytest.mark.sweep(12)
@pytest.mark.parametrize("clients", [1, 3])
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("M", "K"), [(20, 4), *((20, K) for K in range(22, 34)), (1, 400)])
def test_what_leaves_floats_has_ends_that_hold_it(clients: int, side: str, M: int, K: int) -> None:
    # Each local step takes ten times as much away as it should: moments or their errors become infinite.
    problem = build_problem("quadratic", {"A": [[[211]]] * clients, "b": [[2.5]] * clients, "x0": [5707]})
    delays = build_delays("iid", {"p_s": 0.5}, clients)
    parameters = AreaParameters(StepSize(0.043), M)
    found = left_side(side, AREA, problem, parameters, delays, AREA.policy(None, delays), K)
    low, high = float(found.lower[-1]), float(found.upper[-1])
    assert 0.0 <= low <= high
    assert high > 1e10
    assert low < np.inf  # what floats cannot say may still be below a bound that they can
