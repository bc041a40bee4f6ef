"""Ringmaster ASGD and Rennala SGD: hand calculations, who is ignored or stopped when, and how likely that is."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithm_makers import HALVES, assert_replays, in_order, make_case, read, tape_of

from boundlab.algorithms import EventLaw, EventProgram
from boundlab.errors import SpecError
from boundlab.registry import lookup
from boundlab.tape import RecordAt, statistics

# ---- by hand ----------------------------------------------------------------------------------------------------


def test_a_gradient_as_old_as_the_threshold_moves_nothing() -> None:
    # Gradients x and x − 8, steps of 1/4 from 2; client 1 comes two updates late, and goes on from the newest model.
    first = 2 - 2 / 4
    second = first - first / 4
    third = second - second / 4
    fourth = third - (second - 8) / 4  # one update late
    case = make_case("ringmaster", HALVES, {"alpha": 0.25, "threshold": 2}, in_order([0, 0, 1, 0, 1]))
    assert_replays(case, [1, 2, 2, 3, 4], [first, second, second, third, fourth])
    tape = tape_of(case)
    assert case.algorithm.figures(case.parameters, tape) == {"ignored": 1}
    assert (tape.iterations, statistics(tape).iterations) == (4, 5)  # server updates, and events
    # With threshold 3 it counts.
    case = make_case("ringmaster", HALVES, {"alpha": 0.25, "threshold": 3}, in_order([0, 0, 1]))
    assert_replays(case, [1, 2, 3], [first, second, second - (2 - 8) / 4])


def test_what_reaches_the_threshold_is_stopped_and_begun_anew() -> None:
    first = 2 - 2 / 4
    second = first - first / 4  # here the work of client 1 is two updates old
    third = second - (second - 8) / 4
    case = make_case("ringmaster", HALVES, {"alpha": 0.25, "threshold": 2, "stops": "yes"}, in_order([0, 0, 1]))
    assert_replays(case, [1, 2, 3], [first, second, third])
    tape = tape_of(case)
    assert case.algorithm.figures(case.parameters, tape) == {"ignored": 1}
    assert case.algorithm.quantities(case.parameters, tape, 3, {})["concurrency"] == 2  # what is stopped is out of work


def test_a_batch_is_of_gradients_at_the_model_of_the_server() -> None:
    # Gradients x and x − 8, steps of 1/2 from 2.
    first = 2 - (2 + (2 - 8)) / 2 / 2  # client 0 is back at 2; client 1 gets the new model
    second = first - (first + first) / 2 / 2  # client 0 came in vain once, and brings both
    assert (first, second) == (3, 1.5)
    options = {"alpha": 0.5, "count": 2}
    case = make_case("rennala", HALVES, options, in_order([0, 1, 0, 0, 0, 1]))
    assert_replays(case, [0, 1, 1, 1, 2, 2], [2, first, first, first, second, second])
    assert case.algorithm.figures(case.parameters, tape_of(case)) == {"ignored": 2}
    # Where client 1 is answered before the update, it comes in vain, too; both bring one of the next batch.
    case = make_case("rennala", HALVES, options | {"reply": "pre"}, in_order([0, 1, 1, 0, 0, 1]))
    third = first - (first + (first - 8)) / 2 / 2
    assert_replays(case, [0, 1, 1, 1, 1, 2], [2, first, first, first, first, third])
    # Where all begin anew, nobody does.
    case = make_case("rennala", HALVES, options | {"stops": "yes"}, in_order([0, 1, 0, 1]))
    assert_replays(case, [0, 1, 1, 2], [2, first, first, third])


# ---- when -------------------------------------------------------------------------------------------------------


# ---- how likely -------------------------------------------------------------------------------------------------


def program_of(options: dict[str, Any], clients: int) -> EventProgram:
    program = lookup("algorithms", "ringmaster").program(read("ringmaster", {"alpha": 1, **options}), clients)
    assert isinstance(program, EventProgram)
    return program


def test_before_the_next_gradient_that_counts_any_old_ones_come() -> None:
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    law = EventLaw(np.array([half, quarter, quarter], dtype=object), Fraction(0))
    program = program_of({"threshold": 1}, 3)
    control = program.opening()[1]
    assert program.choices(control, law) == [((0,), half), ((1,), quarter), ((2,), quarter)]
    control = program.event(control, (0,), 0).control  # now the work of 1 and 2 is old
    assert dict(program.choices(control, law)) == {
        (0,): half,
        (1, 0): quarter * half,
        (1, 1): quarter * quarter,
        (2, 0): quarter * half,
        (2, 2): quarter * quarter,
        (1, 2, 0): 2 * quarter * quarter * half,  # in two orders
        (1, 2, 1): 2 * quarter**3,
        (1, 2, 2): 2 * quarter**3,
    }


def test_where_too_many_may_be_ignored_the_program_refuses() -> None:
    law, program = EventLaw(np.full(18, 1 / 18), 0.0), program_of({"threshold": 1}, 18)
    control = program.event(program.opening()[1], (0,), 0).control
    with pytest.raises(SpecError, match="any of 17 updates may be ignored before the next that counts; at most 12 are"):
        program.choices(control, law)
    stops = program_of({"threshold": 1, "stops": "yes"}, 18)
    assert len(stops.choices(stops.event(stops.opening()[1], (0,), 0).control, law)) == 18


def test_ages_are_told_apart_up_to_the_threshold_alone() -> None:
    program = program_of({"threshold": 2}, 2)
    control, seen = program.opening()[1], set()
    for number in range(9):
        control = program.event(control, (0,), number).control
        seen.add(control)
    assert len(seen) == 2  # client 1 is one update old, or too old


@pytest.mark.parametrize(("name", "options"), [("rennala", {"count": "1"}), ("ringmaster", {"threshold": "2"})])
def test_events_that_say_how_stale_updates_are_are_refused(name: str, options: dict[str, str]) -> None:
    # Read as who was ignored before, client 0 would act in place of client 1.
    algorithm, parameters = lookup("algorithms", name), read(name, {"alpha": "0.1", **options})
    events = algorithm.read_events([[1, 1, 0], [2, 0, 1]], 2, "this case")
    with pytest.raises(SpecError, match=f"{name} counts by itself how stale updates are; write its events as"):
        algorithm.schedule(parameters, events, 2, RecordAt(), 2)
