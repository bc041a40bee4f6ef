"""FedBuff: hand calculations, a simulator that knows no tape, and what theorems read off a run."""

from typing import Any

import numpy as np
import pytest
from algorithm_makers import HALVES, HUBERS, THREE, assert_replays, in_order, make_case, read
from hypothesis import given, strategies as st

from boundlab.registry import lookup
from boundlab.tape import RecordAt, statistics, usage
from boundlab.testing.strategies import arrivals

# ---- by hand ----------------------------------------------------------------------------------------------------


def test_reply_post_by_hand() -> None:
    # Differences y − x of client 0: −x/2, of client 1: 4 − x/2.
    first = 2 + (-1 + 3) / 2  # 0 and 1, both from 2; client 1 completes the buffer and gets the new model 3,
    second = first + ((4 - 3 / 2) - 1) / 2  # client 0 still works from 2: 5/2 and −1
    third = second + (-second / 2 + (4 - 3 / 2)) / 2  # client 0 completed: it has 15/4; client 1 was answered with 3
    assert (first, second, third) == (3, 15 / 4, 65 / 16)
    case = make_case("fedbuff", HALVES, {"eta_l": 0.5, "count": 2}, in_order([0, 1, 1, 0, 0, 1]))
    assert_replays(case, [0, 1, 1, 2, 2, 3], [2, first, first, second, second, third])


def test_reply_pre_with_a_list_of_local_steps_by_hand() -> None:
    # Huber losses, local steps 1/2 and 1/4, server rate 1/2, one update a buffer: everybody is answered with the
    # model before his own update.
    def y0(x: float) -> float:
        x = x - 0.5 * min(max(x, -1), 1)
        return x - 0.25 * min(max(x, -1), 1)

    assert y0(2.0) == 2 - 1 / 2 - 1 / 4  # slope 1 at 2 and at 3/2
    first = 2 + 0.5 * (y0(2.0) - 2)  # 13/8, and client 0 is answered with 2 again
    second = first + 0.5 * (y0(2.0) - 2)  # 5/4; answered with 13/8
    assert y0(13 / 8) == 13 / 8 - 1 / 2 - 1 / 4  # slope 1 at 13/8 and at 9/8
    third = second + 0.5 * (y0(13 / 8) - 13 / 8)  # 7/8; answered with 5/4: 5/4 → 3/4 → 3/4 − 3/16
    fourth = third + 0.5 * (3 / 4 - 3 / 16 - 5 / 4)
    assert (first, second, third, fourth) == (13 / 8, 5 / 4, 7 / 8, 7 / 8 - 11 / 32)
    one = {"type": "huber", "c": [[0]], "w": [[1]], "delta": 1, "x0": 2}
    options = {"eta_l": [0.5, 0.25], "eta_g": 0.5, "reply": "pre"}
    assert_replays(make_case("fedbuff", one, options, in_order([0] * 4)), [1, 2, 3, 4], [first, second, third, fourth])


def test_reply_wait_with_staleness_by_hand() -> None:
    # Three clients with minimisers 0, 8, 16 from 4: differences −x/2, 4 − x/2, 8 − x/2. Two updates a buffer,
    # (τ+1)^(−1/2), server rate 2.
    first = 4 + ((4 - 2) + (8 - 2))  # 1 and 2, fresh; both wait until here, and get 12
    # 0 arrives from 4 one version late, 1 from 12: 2^(−1/2)·(−2) and −2.
    second = first + (2**-0.5 * (0 - 2) + (4 - 6))
    # 2 from 12 one version late, 0 from the second model x, fresh.
    third = second + (2**-0.5 * (8 - 6) + (0 - second / 2))
    options = {"eta_l": 0.5, "eta_g": 2, "count": 2, "reply": "wait", "staleness": "polynomial:a=0.5"}
    case = make_case("fedbuff", THREE, options, in_order([1, 2, 0, 1, 2, 0]))
    assert_replays(case, [0, 1, 1, 2, 2, 3], [4, first, first, second, second, third])


def test_hinge_damps_beyond_its_knee_only_by_hand() -> None:
    # count = 1, Huber slopes ±1 at 2 ≤ x ≤ 3, s(τ) = 1 up to 1, then 1/(3(τ−1)+1), M = 1, α = 1/2.
    # Client 1 moves x by +1/2 (4 − x ≥ 1 up to x = 3): 5/2, 3; client 0, from 2, is then two versions late.
    # Its difference −1/2 counts s(2) = 1/4.
    options = {"eta_l": 0.5, "staleness": "hinge:a=3,b=1"}
    case = make_case("fedbuff", HUBERS, options, in_order([1, 1, 0]))
    assert_replays(case, [1, 2, 3], [5 / 2, 3, 3 - 1 / 8])


# ---- what theorems read -----------------------------------------------------------------------------------------


def compiled(algorithm: str, clients: int, options: dict[str, Any], actors: list[int]) -> Any:
    compiler = lookup("algorithms", algorithm)
    events = compiler.read_events(in_order(actors), clients, "here")
    return compiler.schedule(read(algorithm, options), events, clients, RecordAt(), 10**6)


def test_quantities_by_hand() -> None:
    # Three clients, two updates a buffer; buffers (0, 0), (0, 1), (2, 0), so a = (1, 0, 0), (½, ½, 0), (½, 0, ½).
    tape = compiled("fedbuff", 3, {"eta_l": 1, "eta_g": 3, "count": 2}, [0, 0, 0, 1, 2, 0])
    compiler = lookup("algorithms", "fedbuff")
    parameters = read("fedbuff", {"eta_l": 1, "eta_g": 3, "count": 2})
    found = compiler.quantities(parameters, tape, 3, {})
    pi = np.array([2 / 3, 1 / 6, 1 / 6])
    third = 1 / 3
    path = [
        (1 - third) ** 2 + 2 * third**2,
        2 * (0.5 - third) ** 2 + third**2,
        2 * (0.5 - third) ** 2 + third**2,
    ]
    assert found["chi2"] == pytest.approx(3 * ((pi - third) ** 2).sum(), rel=1e-12)
    assert found["chi2_path"] == pytest.approx(3 * np.mean(path), rel=1e-12)
    assert found["alpha2"] == pytest.approx(0.5, rel=1e-12)  # two weights of 1/2 a buffer
    assert found["pi_max"] == pytest.approx(2 / 3, rel=1e-12)
    # Client 2 works from the start until after two server updates.
    assert (found["tau_max"], found["n"], found["b"], found["Q"]) == (2, 3, 2, 1)
    # Over the first two server updates client 2 has no part, and nobody is later than client 1, by 1.
    early = compiler.quantities(parameters, tape, 2, {})
    assert (early["tau_max"], early["pi_max"]) == (1, 0.75)
    assert early["chi2_path"] == pytest.approx(3 * np.mean(path[:2]), rel=1e-12)
    assert found == {**usage(tape, 3, 3.0).symbols(), "Q": 1, "b": 2}
    assert compiler.figures(parameters, tape) == {key: found[key] for key in ("chi2", "chi2_path", "alpha2")}


@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_staleness_telescopes(clients: int, count: int, data: Any) -> None:
    # A client's next update starts at the version at which it was answered. So the versions between consecutive
    # arrivals of a client are the staleness of the later one, and what happens between arrival and answer:
    # nothing with reply=pre; with reply=post the aggregation that its own arrival completes; with reply=wait always
    # one. Summed over the first m arrivals of a client: Σ τ + (own aggregations among the first m−1) = the version
    # at the m-th. Divided by m this gives, with p_i the client's share of arrivals and b = count,
    #     E τ_i = 1/(b p_i) − {pre: 0, post: P(own arrival completes the buffer), wait: 1}.
    reply = data.draw(st.sampled_from(["pre", "post", "wait"] if count <= clients else ["pre", "post"]))
    actors = data.draw(arrivals(clients, count if reply == "wait" else 0, 40))
    tape = compiled("fedbuff", clients, {"eta_l": 1, "count": count, "reply": reply}, actors)
    tau = statistics(tape).staleness
    for client in set(actors):
        mine = np.flatnonzero(np.array(actors) == client)
        completes = mine % count == count - 1
        between = {"pre": 0, "post": np.cumsum(completes) - completes, "wait": np.arange(len(mine))}[reply]
        assert (np.cumsum(tau[mine]) + between == mine // count).all()
