"""Asynchronous SGD: hand calculations, a simulator that knows no tape, and who works on what when."""

import pytest
from algorithm_makers import HALVES, HUBERS, THREE, assert_replays, in_order, make_case, trajectory_of

from boundlab.errors import SpecError
from boundlab.registry import lookup
from boundlab.tape import RecordAt

ASYNC_SGD = lookup("algorithms", "async_sgd")


def test_constant_steps_by_hand() -> None:
    # Gradients x and x − 8, at the model that each client was answered with.
    first = 2 - 0.25 * 2
    second = first - 0.25 * (2 - 8)
    third = second - 0.25 * first
    fourth = third - 0.25 * third
    case = make_case("async_sgd", HALVES, {"alpha": 0.25}, in_order([0, 1, 0, 0]))
    assert_replays(case, [1, 2, 3, 4], [first, second, third, fourth])


def test_delay_adaptive_steps_by_hand() -> None:
    # n = 2, α = 1/4: α_k = α·min(1, 2/τ_k). Client 0 has gradient 1 at x ≥ 1, client 1 −1 at x ≤ 3.
    models = [2 - 1 / 4, 2 - 2 / 4, 2 - 3 / 4]
    models.append(models[-1] + 1 / 4 * 2 / 3)  # client 1 is three versions late
    models.append(models[-1] + 1 / 4)  # fresh
    models.append(models[-1] - 1 / 4)  # client 0, from 5/4, two versions late: not shortened
    options = {"alpha": 0.25, "schedule": "delay_adaptive"}
    case = make_case("async_sgd", HUBERS, options, in_order([0, 0, 0, 1, 1, 0]))
    assert_replays(case, [1, 2, 3, 4, 5, 6], models)
    tape = ASYNC_SGD.schedule(case.parameters, case.events, 2, RecordAt(), 6)
    assert ASYNC_SGD.figures(case.parameters, tape) == {"steps_shortened": 1}


def test_uniform_targets_by_hand() -> None:
    # Three clients with gradients x, x − 8, x − 16 start from 4; [t, i, j]: i arrives, j gets the new model. α = 1/2.
    first = 4 - 0.5 * (4 - 8)  # 1 arrives; 0 gets 6, after the 4 that it still has
    second = first - 0.5 * 4  # 0 from 4; 1 gets the new model
    third = second - 0.5 * first  # 0 from `first`; 2 gets the new model, after its 4
    fourth = third - 0.5 * (4 - 16)  # 2 from 4; 2 gets the new one: it has two
    fifth = fourth - 0.5 * (third - 16)  # 2 from `third`; 0 gets the new one
    sixth = fifth - 0.5 * (second - 8)  # 1 from `second`
    events = [[1, 1, 0], [2, 0, 1], [3, 0, 2], [4, 2, 2], [5, 2, 0], [6, 1, 1]]
    case = make_case("async_sgd", THREE, {"alpha": 0.5, "sampling": "uniform"}, events)
    assert_replays(case, [1, 2, 3, 4, 5, 6], [first, second, third, fourth, fifth, sixth])
    assert ASYNC_SGD.events_as_json(case.events) == events


def test_targets_stand_in_the_events_exactly_with_uniform_sampling() -> None:
    case = make_case("async_sgd", HALVES, {"alpha": 1, "sampling": "uniform"}, [[1, 0]])
    with pytest.raises(SpecError, match="exactly with sampling=uniform"):
        trajectory_of(case)


def test_a_client_without_a_model_cannot_arrive() -> None:
    case = make_case("async_sgd", HALVES, {"alpha": 1, "sampling": "uniform"}, [[1, 0, 1], [2, 0, 0]])
    with pytest.raises(SpecError, match="event 2: client 0 has no model to work on"):
        trajectory_of(case)
