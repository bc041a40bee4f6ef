"""AS-FedAvg: hand calculations, a simulator that knows no tape, and bad input."""

from algorithm_makers import HALVES, HUBERS, THREE, assert_replays, in_order, make_case

from boundlab.tape import RecordAt

# Client 0 sends x/2, client 1 (x + 8)/2, for x the model that it was answered with.


def test_reply_pre_by_hand() -> None:
    first = (2 / 2 + (2 + 8) / 2) / 2  # 3; both are answered with 2
    second = (1 + 5) / 2  # 3: again from 2. Client 1 completed the first buffer and comes first; then client 0
    third = (3 / 2 + (3 + 8) / 2) / 2  # 1 was answered with 3 after the first, 0 with 3 before the second: 7/2
    case = make_case("asfedavg", HALVES, {"alpha": 0.5, "count": 2}, in_order([0, 1, 1, 0, 0, 1]))
    assert_replays(case, [0, 1, 1, 2, 2, 3], [2, first, first, second, second, third])


def test_reply_post_by_hand() -> None:
    first = (2 / 2 + (2 + 8) / 2) / 2  # 3; client 1 is answered with it
    second = ((first + 8) / 2 + 2 / 2) / 2  # client 0 still had 2: 13/4
    third = (second / 2 + (first + 8) / 2) / 2  # client 1 was answered before the buffer was full
    assert (first, second, third) == (3, 13 / 4, 57 / 16)
    options = {"alpha": 0.5, "count": 2, "reply": "post"}
    case = make_case("asfedavg", HALVES, options, in_order([0, 1, 1, 0, 0, 1]))
    assert_replays(case, [0, 1, 1, 2, 2, 3], [2, first, first, second, second, third])


def test_reply_wait_with_local_steps_by_hand() -> None:
    # Three clients with minimisers 0, 8, 16; M = 2 steps of 1/2: x/4, 6 + x/4, 12 + x/4.
    first = ((6 + 4 / 4) + (12 + 4 / 4)) / 2  # clients 1 and 2: 10
    second = (4 / 4 + (6 + first / 4)) / 2  # client 0 from 4, client 1 from 10: 19/4
    third = ((12 + first / 4) + second / 4) / 2
    options = {"alpha": 0.5, "M": 2, "count": 2, "reply": "wait"}
    case = make_case("asfedavg", THREE, options, in_order([2, 1, 0, 1, 2, 0]))
    assert_replays(case, [0, 1, 1, 2, 2, 3], [4, first, first, second, second, third])


def test_one_model_a_buffer_replaces_the_server_model_by_hand() -> None:
    # Huber, steps 1 and 1/2 from 2: client 0 to 1 and 1/2, client 1 to 3 and 7/2. Answered with the old model.
    case = make_case("asfedavg", HUBERS, {"alpha": [1, 0.5]}, in_order([0, 1, 0, 0]))
    # 0's second update starts from 2 again; its third from 7/2, the model at its second arrival: 5/2, 2.
    assert_replays(case, [1, 2, 3, 4], [1 / 2, 7 / 2, 1 / 2, 2])


def test_models_are_no_differences_so_the_table_of_uses_is_empty() -> None:
    case = make_case("asfedavg", HALVES, {"alpha": 0.5, "count": 2}, in_order([0, 1, 1, 0]))
    tape = case.algorithm.schedule(case.parameters, case.events, 2, RecordAt(), 2)
    assert len(tape.uses.update) == 0
