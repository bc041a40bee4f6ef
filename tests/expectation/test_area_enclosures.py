"""The ends of AREA's left side hold it in fractions: every option, clients that arrive equally often and others."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boundlab.algorithms import EventLaw, StepSize
from boundlab.algorithms.area import AREA, AreaParameters
from boundlab.arithmetic import numbers
from boundlab.case import build_delays, build_problem
from boundlab.expectation import _area_moments, exact_arithmetic, left_side
from boundlab.expectation.moments import in_exact_numbers as second_moments
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
    sigma = problem.require_quadratic("this test").sigma
    return _area_moments.expectation(problem, parameters, law, sigma, metric(side), np.array(ks))


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
def test_a_client_far_larger_than_the_others_of_its_group_hides_no_rounding(size: float, side: str) -> None:
    # What it takes away from the sum of all is lost from the sums over the others.
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


def test_clients_that_arrive_equally_often_are_as_others_that_nearly_do() -> None:
    # One ulp makes groups of one; where a client stands, does not matter.
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 2, 2))
    options = {"A": (root @ root.swapaxes(1, 2) + np.eye(2)).tolist(), "b": rng.normal(size=(6, 2)).tolist()}
    problem = build_problem("quadratic", {**options, "x0": [3, 1], "sigma": 1.0})
    alike = [0.1, 0.05, 0.1, 0.05, 0.1, 0.1]
    nearly = [float(one * (1.0 + i * np.finfo(float).eps)) for i, one in enumerate(alike)]
    for step in (StepSize(0.05), StepSize(0.5, 4.0)):
        for side in SIDES:
            parameters, ks = AreaParameters(step, 3), [1, 7, 300]
            one, other = (found(problem, parameters, p, side, ks) for p in (alike, nearly))
            assert one.value == pytest.approx(other.value, rel=1e-12)
            assert (np.maximum(one.lower, other.lower) <= np.minimum(one.upper, other.upper)).all()


def test_the_growth_of_one_client_is_not_that_of_all_of_its_group() -> None:
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


def both(problem: Problem, parameters: AreaParameters, p: list[float], last: int, *, average: bool = False) -> Any:
    """Return the moments and their errors before the first event."""
    law, where = EventLaw(np.array(p), 1.0 - sum(p)), _area_moments.frame(problem).centred()
    moments = _area_moments._Moments(where, parameters, law, 0.0, last, average)
    return moments, _area_moments._Errors(moments)


def advance(moments: Any, errors: Any, event: int) -> None:
    turn, answer = moments.turn(event), moments.pass_at(moments.parameters.answers_with(event))
    errors.advance(turn, answer)
    moments.advance(turn, answer)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("shares", [[0.125] * 3, [0.125, 0.125, 0.25], [0.0625, 0.125, 0.25]])
@pytest.mark.parametrize("count", [None, 2])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("step", [StepSize(2.0**-7), StepSize(2.0**-7, 1.0), StepSize(1.0)])
def test_what_is_off_at_first_is_later_at_most_by_what_is_said(
    shares: list[float], count: int | None, average: bool, step: StepSize
) -> None:
    # Two runs that begin at 1 and 1.5: second moments differ by 1.25 at first, and means by 0.5.
    parameters = AreaParameters(step, 2, count, "pre", "analysis")
    runs = [
        both(
            build_problem("quadratic", {"A": [[[1]], [[0.5]], [[1]]], "b": [[0]] * 3, "x0": [x0]}),
            parameters,
            shares,
            100,
            average=average,
        )
        for x0 in (1.0, 1.5)
    ]
    errors = runs[0][1]
    errors.s, errors.x, errors.y = (one * 0.0 + 1.25 for one in (errors.s, errors.x, errors.y))
    for event in range(100):
        for one in runs:
            advance(*one, event)
        first, second = (moments.second(event + 1) for moments, _ in runs)
        assert (np.abs(first - second) <= errors.second(event + 1)).all()


def test_what_is_too_small_for_floats_is_not_taken_for_0() -> None:
    # With b_i = x* every answer shrinks: E‖x_s − x*‖² is positive for ever, and soon below all floats.
    problem = build_problem("quadratic", {"A": [[[1]], [[1]]], "b": [[0], [0]], "x0": [1]})
    moments, errors = both(problem, AreaParameters(StepSize(0.9375), 6), [0.25, 0.25], 3000)
    for event in range(3000):
        advance(moments, errors, event)
    assert 0.0 <= moments.second(3000).item() < 1e-300 < errors.second(3000).item() < 1e-200


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
