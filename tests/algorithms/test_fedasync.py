"""FedAsync: hand calculations, a simulator that knows no tape, and what theorems read off a run."""

import pytest
from algorithm_makers import HALVES, HUBERS, assert_replays, in_order, make_case
from hypothesis import given, strategies as st

from boundlab.registry import lookup
from boundlab.tape import RecordAt


def test_mixing_models_by_hand() -> None:
    # β_t = ½/(τ+1). Client 0 sends half of what it holds, client 1 sends (x + 8)/2.
    first = 0.5 * 2 + 0.5 * 1  # 0 from 2, fresh: 3/2
    second = 0.5 * first + 0.5 * (first / 2)  # 0 from 3/2, fresh: 9/8
    third = (1 - 1 / 6) * second + 1 / 6 * 5  # 1 from 2, two versions late: β_t = 1/6
    fourth = (1 - 1 / 4) * third + 1 / 4 * (second / 2)  # 0 from 9/8, one version late: β_t = 1/4
    case = make_case("fedasync", HALVES, {"beta": 0.5, "eta_l": 0.5, "s": "inverse"}, in_order([0, 0, 1, 0]))
    assert_replays(case, [1, 2, 3, 4], [first, second, third, fourth])


def test_adding_differences_by_hand() -> None:
    # mode=delta moves x by β·(y − x_start): the same events, where the second update of client 1 tells them apart.
    first = 2 + 0.5 * (1 - 2)
    second = first + 0.5 * (first / 2 - first)
    third = second + 0.5 * (5 - 2)  # from 2, whatever x is now
    fourth = third + 0.5 * (second / 2 - second)
    options = {"beta": 0.5, "eta_l": 0.5, "mode": "delta"}
    assert_replays(
        make_case("fedasync", HALVES, options, in_order([0, 0, 1, 0])), [1, 2, 3, 4], [first, second, third, fourth]
    )


def test_the_paper_counts_the_freshest_update_as_staleness_1_by_hand() -> None:
    # offset=1, s(τ) = (τ+1)^−2: 1/4 fresh, 1/9 one version late. Local steps ½ and 1 on Huber losses with centres
    # 0 and 4: from 2 client 0 goes to 3/2 and 1/2; client 1 to 5/2 and 7/2.
    first = 3 / 4 * 2 + 1 / 4 * (1 / 2)
    second = 8 / 9 * first + 1 / 9 * (7 / 2)
    # Client 0 holds `first` = 13/8, slope 1: 9/8, then slope 1 again: 1/8; one version late.
    assert first == 13 / 8
    third = 8 / 9 * second + 1 / 9 * (1 / 8)
    options = {"beta": 1, "eta_l": [0.5, 1], "s": "polynomial:a=2", "offset": 1}
    assert_replays(make_case("fedasync", HUBERS, options, in_order([0, 1, 0])), [1, 2, 3], [first, second, third])


def test_quantities_are_those_of_a_buffer_of_one_and_shares_only_of_differences() -> None:
    compiler = lookup("algorithms", "fedasync")
    delays = {"tau_max": 3, "tau_mean": 0.75, "concurrency": 2, "concurrency_mean": 2.0, "n": 2, "b": 1, "Q": 1}
    for mode, more in (("model", {}), ("delta", {"alpha2": 1.0, "chi2": 0.25})):  # shares 3/4 and 1/4: 2·(2/16)
        case = make_case("fedasync", HALVES, {"beta": 0.25, "eta_l": 1, "mode": mode}, in_order([0, 0, 0, 1]))
        tape = compiler.schedule(case.parameters, case.events, 2, RecordAt(), 4)
        found = compiler.quantities(case.parameters, tape, 4, {})
        assert {key: found[key] for key in (*delays, *more)} == pytest.approx({**delays, **more}, rel=1e-12)
        assert ("pi_max" in found) == (mode == "delta")


@given(actors=st.lists(st.integers(0, 2), min_size=1, max_size=12), until=st.integers(1, 12))
def test_how_late_runs_are_does_not_depend_on_what_the_server_does_with_them(actors: list[int], until: int) -> None:
    # Client i starts again when its run arrives: its staleness is how many arrivals there were since.
    until, last = min(until, len(actors)), dict.fromkeys(range(3), 0)
    taus = []
    for version, client in enumerate(actors):
        taus.append(version - last[client])
        last[client] = version + 1
    compiler, problem = lookup("algorithms", "fedasync"), {"type": "huber", "c": [0, 1, 2]}
    for mode in ("model", "delta"):
        case = make_case("fedasync", problem, {"beta": 0.5, "eta_l": 1, "mode": mode, "s": "inverse"}, in_order(actors))
        tape = compiler.schedule(case.parameters, case.events, 3, RecordAt(), len(actors))
        found = compiler.quantities(case.parameters, tape, until, {})
        assert found["tau_max"] == max(taus[:until])
        assert found["tau_mean"] == pytest.approx(sum(taus[:until]) / until, rel=1e-12)
        assert found["concurrency"] == 3
