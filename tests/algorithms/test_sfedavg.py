"""S-FedAvg: hand calculations, a simulator that knows no tape, rounds as long as their slowest client."""

import pytest
from algorithm_makers import HALVES, HUBERS, THREE, assert_replays, make_case, read, trajectory_of

from boundlab.case import build_delays, replay
from boundlab.delays import ServerPolicy
from boundlab.errors import SpecError
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.tape import RecordAt

SFEDAVG = lookup("algorithms", "sfedavg")
OWN = ServerPolicy("own", 0.0)


def test_all_clients_by_hand() -> None:
    # Client 0 sends x/2, client 1 (x + 8)/2.
    first = (2 / 2 + (2 + 8) / 2) / 2
    second = (first / 2 + (first + 8) / 2) / 2
    assert (first, second) == (3, 3.5)
    case = make_case("sfedavg", HALVES, {"alpha": 0.5}, [[1, [0, 1]], [3, [1, 0]]])
    assert_replays(case, [1, 2], [first, second])
    assert [(entry["t"], entry["actor"]) for entry in replay(case)] == [(1, [0, 1]), (3, [1, 0])]


def test_weights_are_normalised_over_a_round_by_hand() -> None:
    # Minimisers 0, 8, 16, two steps of 1/2: x/4, 6 + x/4, 12 + x/4; weights 1, 2, 3.
    first = 1 / 4 * (4 / 4) + 3 / 4 * (12 + 4 / 4)  # clients 0 and 2
    second = 6 + first / 4  # client 1 alone
    third = 2 / 5 * (6 + second / 4) + 3 / 5 * (12 + second / 4)  # clients 2 and 1
    options = {"alpha": 0.5, "M": 2, "weights": [1, 2, 3]}
    case = make_case("sfedavg", THREE, options, [[1, [0, 2]], [1, [1]], [2, [2, 1]]])
    assert_replays(case, [1, 2, 3], [first, second, third])


def test_a_list_of_local_steps_by_hand() -> None:
    # Huber losses with centres 0 and 4, steps 1 and 1/2: from 2 to 1 and 1/2, and to 3 and 7/2.
    first = (1 / 2 + 7 / 2) / 2
    # Client 1 alone: 2 → 3 → 3.5, then 3.5 → 4 → 4 (slopes −1/2 and 0).
    case = make_case("sfedavg", HUBERS, {"alpha": [1, 0.5]}, [[0, [1, 0]], [1, [1]], [2, [1]]])
    assert_replays(case, [1, 2, 3], [first, 3.5, 4])


def test_quantities_are_those_of_fresh_buffers() -> None:
    case = make_case("sfedavg", THREE, {"alpha": 0.5, "sampled": 2}, [[1, [0, 1]], [2, [0, 2]]])
    tape = SFEDAVG.schedule(case.parameters, case.events, 3, RecordAt(), 2)
    found = SFEDAVG.quantities(case.parameters, tape, 2, {})
    # Shares ½, ¼, ¼; within each round 3·(½ − ⅓)²·2 + 3/9 = ½ = (n−b)/b.
    assert found["chi2"] == pytest.approx(3 * ((1 / 6) ** 2 + 2 * (1 / 12) ** 2), rel=1e-12)
    assert found["chi2_path"] == pytest.approx(0.5, rel=1e-12)
    assert (found["tau_max"], found["b"], found["alpha2"], found["pi_max"]) == (0, 2, 0.5, 0.5)


def test_weights_and_samples_must_fit_the_clients() -> None:
    case = make_case("sfedavg", HALVES, {"alpha": 1, "weights": [1, 2, 3]}, [[1, [0]]])
    with pytest.raises(SpecError, match="3 weights for 2 clients; give one a client"):
        trajectory_of(case)
    delays = build_delays("exponential", {}, 2)
    with pytest.raises(SpecError, match="sampled=3, but there are 2 clients"):
        SFEDAVG.sample(read("sfedavg", {"alpha": 1, "sampled": 3}), delays, OWN, Streams(0), 2, 5)
