"""FedStaleWeight: hand calculations, a simulator that knows no tape, and when its weights are fair."""

from algorithm_makers import HALVES, THREE, assert_replays, in_order, make_case

from boundlab.tape import RecordAt

# Differences of client 0 are −x/2, of client 1 4 − x/2, of client 2 8 − x/2 with a step size 1/2.


def test_current_observations_enter_the_weights_by_hand() -> None:
    # Two updates a buffer, reply=post. (0, 0) both fresh: equal weights. Client 0 comes back from the new model,
    # client 1 one version late: weights 1 and 1 + 1.
    first = 2 + (-1 - 1) / 2  # 1
    second = first + (1 / 3 * (-first / 2) + 2 / 3 * (4 - 2 / 2))  # 17/6
    # Client 1 completed and comes back fresh: its mean is now 1/2; client 0 worked from 1, one late: mean 1/4 of
    # the four observations 0, 0, 0, 1. Weights 3/2 and 5/4.
    third = second + (6 / 11 * (4 - second / 2) + 5 / 11 * (-first / 2))
    case = make_case("fedstaleweight", HALVES, {"eta_l": 0.5, "count": 2}, in_order([0, 0, 0, 1, 1, 0]))
    assert_replays(case, [0, 1, 1, 2, 2, 3], [2, first, first, second, second, third])


def test_previous_observations_only_by_hand() -> None:
    # scale = 3, server rate 1/2, one observation in each average, buffers of two, reply=pre.
    # (0, 0): nothing seen before, equal weights, both from 2.
    first = 2 + 0.5 * (-1 - 1) / 2  # 3/2
    # (0, 1): client 0's second update was answered before the aggregation, so that it starts from 2 and is one late;
    # before, 0 had been seen fresh and 1 not at all: equal weights again.
    second = first + 0.5 * (-1 + 3) / 2  # 2
    # (1, 0): client 1 was answered with 3/2 before the second aggregation, client 0 with 3/2; both one late now.
    # Last seen: 0 with 1, 1 with 1. Equal weights again.
    third = second + 0.5 * ((4 - first / 2) - first / 2) / 2
    # (1, 1): 1 was answered with 2 at the start of the third buffer (one late), then with `third` (fresh): both are
    # client 1's and so equal. Then (1, 0): client 1 last seen fresh: 1; client 0 last seen one late: 1 + 3.
    fourth = third + 0.5 * ((4 - second / 2) + (4 - third / 2)) / 2
    fifth = fourth + 0.5 * (1 / 5 * (4 - third / 2) + 4 / 5 * (-second / 2))
    options = {
        "eta_l": 0.5,
        "eta_g": 0.5,
        "count": 2,
        "scale": 3,
        "window": 1,
        "include": "previous",
        "reply": "pre",
    }
    case = make_case("fedstaleweight", HALVES, options, in_order([0, 0, 0, 1, 1, 0, 1, 1, 1, 0]))
    models = [2, first, first, second, second, third, third, fourth, fourth, fifth]
    assert_replays(case, [0, 1, 1, 2, 2, 3, 3, 4, 4, 5], models)


def test_scale_b_and_waiting_clients_by_hand() -> None:
    # scale = b = 2, reply=wait, local steps 1/2 and 1: y is the client's minimiser, so differences are −x, 8 − x,
    # 16 − x.
    first = 4 + ((8 - 4) + (16 - 4)) / 2  # 1 and 2: 12
    # 0 from 4, one late: 1 + 2·1; 1 from 12, fresh: mean of 0, 0.
    second = first + (3 / 4 * (0 - 4) + 1 / 4 * (8 - first))  # 8
    # 2 from 12, one late: mean of 0, 1 is 1/2: 1 + 2·1/2 = 2. 1 fresh: 1.
    third = second + (2 / 3 * (16 - first) + 1 / 3 * (8 - second))
    assert (first, second, third) == (12, 8, 8 + 8 / 3)
    options = {"eta_l": [0.5, 1], "count": 2, "scale": 2, "reply": "wait"}
    case = make_case("fedstaleweight", THREE, options, in_order([1, 2, 0, 1, 2, 1]))
    assert_replays(case, [0, 1, 1, 2, 2, 3], [4, first, first, second, second, third])


def test_a_client_without_an_arrival_has_no_mean_staleness_to_show() -> None:
    case = make_case("fedstaleweight", HALVES, {"eta_l": 1}, in_order([0, 0, 0]))
    compiler = case.algorithm
    tape = compiler.schedule(case.parameters, case.events, 2, RecordAt(), 3)
    assert compiler.figures(case.parameters, tape)["mean_staleness"] == [0.0, 0.0]
    empty = compiler.schedule(case.parameters, case.events, 2, RecordAt(), 0)
    assert compiler.figures(case.parameters, empty) == {}
