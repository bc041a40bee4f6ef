"""L-SVRG and Scaffnew: small runs by hand, what they are in special cases, and one expectation three ways."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithm_makers import HALVES, THREE, assert_replays, make_case, read
from hypothesis import given, strategies as st

from boundlab.algorithms import EventLaw
from boundlab.case import build_delays, build_problem
from boundlab.errors import CaseError
from boundlab.expectation import left_side
from boundlab.metrics import Watch, metric
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial, run_once
from boundlab.tape import RecordAt, verify_identities

LSVRG, SCAFFNEW = lookup("algorithms", "lsvrg"), lookup("algorithms", "scaffnew")
# x²/2 and 3(x − 4)²/2: with α = 1/4 a step of client 0 leads to 3x/4, one of client 1 to x/4 + 3. The minimiser is 3.
BOWLS = {"type": "quadratic", "A": [[[1]], [[3]]], "b": [[0], [4]], "x0": 4}
FLIP = {"alpha": 0.25, "p_c": 0.5}


def problem_of(options: dict[str, Any]) -> Any:
    return build_problem(options["type"], {name: value for name, value in options.items() if name != "type"})


def test_lsvrg_by_hand() -> None:
    # ∇f(4) = 2, and ∇f(3.5) = 1 once the second coin has shown heads at the model 3.5.
    case = make_case("lsvrg", BOWLS, FLIP, [[1, 0, 0], [2, 1, 1], [3, 0, 0], [4, 1, 0]])
    assert_replays(case, [1, 2, 3, 4], [3.5, 3.375, 3.15625, 3.1640625])


def test_scaffnew_by_hand() -> None:
    # The clients are at (3, 4), then both at 25/8 with h = (7/4, −7/4), then at (89/32, 107/32).
    case = make_case("scaffnew", BOWLS, FLIP, [[1, "s", 0], [2, "s", 1], [3, "s", 0], [4, "s", 1]])
    assert_replays(case, [1, 2, 3, 4], [3.5, 3.125, 3.0625, 2.9609375])


@given(data=st.data())
def test_the_control_variates_of_scaffnew_sum_to_zero(data: Any) -> None:
    clients = data.draw(st.integers(1, 4))
    coins = data.draw(st.lists(st.integers(0, 1), min_size=1, max_size=12))
    p = data.draw(st.sampled_from([1.0, 0.5, 0.1, 1 / 3]))
    events = SCAFFNEW.read_events([[k, "s", coin] for k, coin in enumerate(coins)], clients, "here")
    tape = SCAFFNEW.schedule(read("scaffnew", {"alpha": 0.5, "p_c": p}), events, clients, RecordAt(), len(coins))
    verify_identities(tape)
    arrived = tape.events.time[tape.descend.arrival[tape.descend.arrival >= 0]]
    assert arrived.tolist() == [k for k, coin in enumerate(coins) if coin for _ in range(clients)]
    assert SCAFFNEW.figures(None, tape) == {"communications": sum(coins)}


@pytest.mark.nightly
@given(seed=st.integers(0, 50), p=st.sampled_from([0.1, 0.5, 1.0]))
def test_both_reach_the_minimiser_of_clients_that_disagree(seed: int, p: float) -> None:
    problem, delays = problem_of(BOWLS), build_delays("exponential", {}, 2)
    for algorithm, rate in ((LSVRG, 0.125), (SCAFFNEW, 0.25)):
        parameters = read(algorithm.id, {"alpha": rate, "p_c": p})
        watch = Watch(metric("squared-distance"), problem, np.array([0, 1500]))
        words = algorithm, parameters, 2, delays, algorithm.policy(None, delays), 1500
        streams = Streams(seed)
        run_once(compile_trial(*words, watch.records, streams), problem, streams, watch)
        assert watch.high[1] < 1e-9 < watch.low[0]


@pytest.mark.nightly
@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 10), Fraction(1)])
def test_the_mean_squared_distance_of_lsvrg_three_ways(p: Fraction) -> None:
    # After three iterations the model is (−1, 5, 5, 7)/32 off where the second coin shows heads, else (−5, 9, 1, 11).
    formula = float((25 * p + 57 * (1 - p)) / 1024)
    problem, delays = problem_of(BOWLS), build_delays("exponential", {}, 2)
    parameters, policy = read("lsvrg", FLIP | {"p_c": str(p)}), LSVRG.policy(None, delays)
    found = left_side("squared-distance", LSVRG, problem, parameters, delays, policy, 3)
    assert found.lower[0] <= formula <= found.upper[0]
    assert found.value[0] == pytest.approx(formula, rel=1e-12)
    trials, seen = 1000, []
    for trial in range(trials):
        watch, streams = Watch(metric("squared-distance"), problem, np.array([3])), Streams(5, trial)
        tape = compile_trial(LSVRG, parameters, 2, delays, policy, 3, watch.records, streams)
        run_once(tape, problem, streams, watch)
        seen.append(watch.low[0])
    # The distances are at most 121/1024, so that their deviation is at most half of that: seven standard errors.
    assert abs(float(np.mean(seen)) - formula) <= 7 * (121 / 2048) / trials**0.5


def test_the_law_of_a_coin_is_exact() -> None:
    law = EventLaw(np.array([Fraction(1, 2)] * 2, dtype=object), Fraction(0))
    assert law.coin(1 / 3) == [((1,), Fraction(1, 3)), ((0,), Fraction(2, 3))]
    assert law.coin(1.0) == [((1,), Fraction(1))]
    assert EventLaw(np.full(2, 0.5), 0.0).coin(0.1) == [((1,), 0.1), ((0,), 0.9)]
    assert law.coin(0.12345678901234)[0] == ((1,), Fraction(0.12345678901234))


@pytest.mark.parametrize(
    ("name", "problem", "events", "message"),
    [
        ("lsvrg", HALVES, [[1, 0]], r"event 1 must be \[time, client, 1 for heads or 0\], e.g. \[\[1, 0, 1\]\]"),
        ("lsvrg", HALVES, [[1, "s", 1]], "event 1: actor must be a client index, got 's'"),
        ("lsvrg", THREE, [[1, 0, 1], [2, 3, 1]], "event 2: client 3 does not exist; the problem has 3 clients"),
        ("lsvrg", THREE, [[1, 0, 2]], r"event 1: the coin must be 1 \(heads\) or 0 \(tails\), got 2"),
        ("scaffnew", HALVES, [[1, "s", True]], r"event 1: the coin must be 1 \(heads\) or 0 \(tails\), got True"),
        ("scaffnew", HALVES, [[1, 0, 1]], 'event 1: scaffnew asks all clients in every iteration; write "s", not 0'),
    ],
)
def test_events_that_say_no_coin_get_one_line(name: str, problem: Any, events: Any, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        make_case(name, problem, FLIP, events)
