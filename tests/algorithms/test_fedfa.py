"""FedFa: hand calculations, a simulator that knows no tape, virtual iterates, and how far the model is from them."""

from typing import Any

import numpy as np
import pytest
from algorithm_makers import (
    HALVES,
    HUBERS,
    THREE,
    assert_replays,
    in_order,
    make_case,
    read,
    tape_of,
)
from hypothesis import given, strategies as st

from boundlab.algorithms.fedfa import response_error, share_bias
from boundlab.case import build_delays
from boundlab.delays import ServerPolicy
from boundlab.errors import CaseError, SpecError
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt, usage

FEDFA = lookup("algorithms", "fedfa")


# ---- by hand ----------------------------------------------------------------------------------------------------


def test_models_after_the_window_is_full_by_hand() -> None:
    # K = 2: the third arrival makes the first server update. Client 0 sends x/2, client 1 (x + 8)/2.
    first = (5 + 5) / 2  # arrivals 2 and 3, both of client 1 from 2; client 0's is gone
    second = (5 + 2 / 2) / 2  # arrival 4, of client 0 from 2
    third = (1 + (first + 8) / 2) / 2  # client 1 holds `first`
    case = make_case("fedfa", HALVES, {"eta_l": 0.5, "K": 2}, in_order([0, 1, 1, 0, 1]))
    assert_replays(case, [0, 0, 1, 2, 3], [2, 2, first, second, third])


def test_models_when_the_window_is_full_by_hand() -> None:
    first = (1 + 5) / 2  # arrivals 1 and 2
    second = (5 + (first + 8) / 2) / 2  # client 1 was answered with `first`
    third = ((first + 8) / 2 + 1) / 2  # client 0 was answered with 2 before
    options = {"eta_l": 0.5, "K": 2, "start": "when_full"}
    case = make_case("fedfa", HALVES, options, in_order([0, 1, 1, 0]))
    assert_replays(case, [0, 1, 2, 3], [2, first, second, third])


def test_differences_by_hand() -> None:
    # K = 3, server rate 2, local steps 1/2 and 1 on Huber losses with centres 0 and 4 from 2: client 0 has slopes 1
    # and 1 and moves by −3/2, client 1 by +3/2.
    assert (2 - 0.5) > 1
    first = 2 + 2 / 3 * (-1.5 + 1.5 - 1.5)  # 0, 1, 0: when_full; client 0 holds 1 now
    # Client 1, answered at its first arrival, starts from 2 once more.
    second = first + 2 / 3 * (1.5 - 1.5 + 1.5)  # 2
    # Client 0 from 1: slope 1 to 1/2, then slope 1/2 to 0.
    third = second + 2 / 3 * (-1.5 + 1.5 - 1)
    assert np.allclose([first, second, third], [1, 2, 4 / 3])
    options = {"eta_l": [0.5, 1], "K": 3, "mode": "delta", "start": "when_full", "eta_g": 2}
    case = make_case("fedfa", HUBERS, options, in_order([0, 1, 0, 1, 0]))
    assert_replays(case, [0, 0, 1, 2, 3], [2, 2, first, second, third])


def test_a_window_of_one_forgets_the_first_arrival_only_with_after_full() -> None:
    # From 4, clients 0, 1 and 2 move by −2, 2 and 6. K = 1, when_full: every arrival is used, at once and once.
    # after_full: arrival 1 fills the window, and arrival 2 takes its place before it was ever used.
    options = {"eta_l": 0.5, "K": 1, "mode": "delta"}
    for start, ks, models in (("when_full", [1, 2, 3], [2, 4, 10]), ("after_full", [0, 1, 2], [4, 6, 12])):
        assert_replays(make_case("fedfa", THREE, options | {"start": start}, in_order([0, 1, 2])), ks, models)


# ---- by brute force ---------------------------------------------------------------------------------------------


# ---- what theorems read -----------------------------------------------------------------------------------------


def responses(n: int, K: int, arrivals: int, first: int) -> np.ndarray:
    """Return, for n clients in turn and mode=param, how the models w^0, w^1, … stand on w^0 and the arrivals.

    Rows are models, column a is the coefficient of the move of arrival a; ``first`` is the arrival, from 1, that
    makes the first server update. All models are w^0 plus moves.
    """
    unit = np.eye(arrivals)
    models = [np.zeros(arrivals)]
    hand = [models[0]] * n
    window: list[np.ndarray] = []
    for a in range(arrivals):
        window = [*window, hand[a % n] + unit[a]][-K:]
        if a + 1 >= first:
            models.append(np.mean(window, axis=0))
        hand[a % n] = models[-1]
    return np.array(models)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("start", ["after_full", "when_full"])
@pytest.mark.parametrize(("n", "K"), [(1, 1), (1, 4), (2, 2), (3, 2), (3, 5), (5, 3), (4, 1)])
def test_the_lag_and_its_constant_are_those_of_the_linear_recursion(n: int, K: int, start: str) -> None:
    T = 40
    first = K + (start == "after_full")
    actors = [place % n for place in range(T + first - 1)]
    case = make_case(
        "fedfa",
        THREE | {"A": [[[1]]] * n, "b": [[0]] * (n - 1) + [[1]]},
        {"eta_l": 0.1, "K": K, "start": start},
        in_order(actors),
    )
    tape = tape_of(case)
    r = responses(n, K, len(actors), first)
    # Arrival s = 0 makes the first server update. Those before filled the window: their limits are κ·(K+s)/K.
    s = np.arange(len(actors)) - (first - 1)
    for until in (1, 2, K + 1, T):
        # No update can lag behind by more server updates than there were.
        kappa = 1 / (1 + min(n - 1, until - 1) + (K - 1) / 2)
        limit = kappa * np.clip(K + s, 0, K) / K
        # w^t against w^0 + Σ_{s<t} limit·Δ^(s), for t = 0 … until−1.
        away = [float(np.abs(r[t] - limit)[s < t].sum()) for t in range(until)]
        found = case.algorithm.quantities(case.parameters, tape, until, {})
        assert found["C_lag"] == pytest.approx(max(away), rel=1e-12)
        assert found["C_lag"] == response_error(K, int(found["lag"]), until, found["kappa_lag"])
        assert (found["lag"], found["kappa_lag"]) == (min(n - 1, until - 1), pytest.approx(kappa, rel=1e-15))
    if K > 1 or n == 1:
        long = responses(n, K, 400, first)[-1]
        assert np.allclose(long[: len(limit) // 2], limit[: len(limit) // 2], atol=1e-6)


def test_a_window_of_one_with_a_lag_never_settles() -> None:
    # w^{t+1} = w^{t−d} + Δ: every (d+1)-th model ignores the moves between, so that C grows like t.
    errors = [response_error(1, 1, until, 0.5) for until in (10, 20, 40)]
    assert np.allclose(np.diff(errors), [5, 10])


def test_lags_of_different_lengths_are_no_lag() -> None:
    # Updates lag behind by 0, 0, 0, 3 and 1 server updates; up to the third by 0.
    case = make_case("fedfa", HALVES, {"eta_l": 0.1, "K": 2}, in_order([0, 1, 0, 0, 0, 1, 0]))
    assert case.algorithm.quantities(case.parameters, tape_of(case), 3, {})["lag"] == 0
    assert "lag" not in case.algorithm.quantities(case.parameters, tape_of(case), 5, {})


def test_quantities_of_differences_by_hand() -> None:
    # K = 2, after_full: server updates at arrivals 3 … 7 of 0, 1, 0, 0, 0, 1, 0. Client 1, answered at version 0,
    # arrives at version 3; its next update is the last but one.
    case = make_case("fedfa", HALVES, {"eta_l": 0.1, "K": 2, "mode": "delta"}, in_order([0, 1, 0, 0, 0, 1, 0]))
    tape = tape_of(case)
    found = case.algorithm.quantities(case.parameters, tape, 5, {"N": 2})
    # Arrivals t = 0 … 4 are of 0, 0, 0, 1, 0: pairs (0,0), (0,0), (0,1), (1,0), the first furthest from ½, ½.
    own = {"n": 2, "Q": 1, "window": 2, "tau_a": 3, "tau_max": 4, "share_bias": 1.0}
    assert found == {**usage(tape, 5).symbols(), **own}
    assert case.algorithm.quantities(case.parameters, tape, 3, {"N": 3})["tau_a"] == 0
    assert case.algorithm.figures(case.parameters, tape) == {"tau_a": 3}
    with pytest.raises(SpecError, match="the window N must be between 1 and the number of server updates, 5; got 6"):
        case.algorithm.quantities(case.parameters, tape, 5, {"N": 6})


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(1, 8))
def test_share_bias_is_the_worst_window(clients: list[int], N: int) -> None:
    if len(clients) < N:
        return
    windows = [clients[t : t + N] for t in range(len(clients) - N + 1)]
    worst = max(sum(abs(window.count(i) / N - 0.25) for i in range(4)) for window in windows)
    assert share_bias(np.array(clients), 4, N) == pytest.approx(worst, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("start", ["after_full", "when_full"])
def test_exactly_the_arrivals_that_are_needed_are_sampled(start: str, tmp_path: Any) -> None:
    # K = 3, 5 server updates: 8 arrivals after_full, 7 when_full. A trace of that length is enough.
    needed = 8 if start == "after_full" else 7
    (tmp_path / "trace.csv").write_text("".join(f"{place},{place % 2}\n" for place in range(1, needed + 1)))
    delays = build_delays("trace", {"file": str(tmp_path / "trace.csv")}, 2)
    parameters = read("fedfa", {"eta_l": 1, "K": 3, "start": start})
    tape = compile_trial(FEDFA, parameters, 2, delays, ServerPolicy("own", 0.0), 5, RecordAt(), Streams(0))
    assert (tape.iterations, len(tape.events)) == (5, needed)


# ---- bad input --------------------------------------------------------------------------------------------------


def test_the_server_has_no_events_of_its_own() -> None:
    with pytest.raises(CaseError, match="event 1: fedfa aggregates by itself"):
        make_case("fedfa", HALVES, {"eta_l": 1}, [[0, "s"]])
