"""Who acts when, with which probability, and what an engine would have to do: by hand."""

from fractions import Fraction

import numpy as np
import pytest

from boundlab.algorithms import EventLaw, StepSize
from boundlab.algorithms.area import AREA, AreaParameters
from boundlab.case import build_delays, build_problem
from boundlab.delays import read_policy
from boundlab.events import SERVER
from boundlab.expectation import _left, operations
from boundlab.options import Options
from boundlab.registry import lookup

SIXTH, THIRD = Fraction(1, 6), Fraction(1, 3)
LAW = EventLaw(np.array([SIXTH, THIRD]), Fraction(1, 2))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_event_after_so_many_arrivals_aggregates(count: int) -> None:
    program = AREA.program(AreaParameters(StepSize(0.1), count=count), 2)
    control = program.opening()[1]
    for number in range(3 * (count + 1)):
        shares = program.choices(control, LAW)
        aggregates = number % (count + 1) == count
        assert shares == ([((SERVER,), 1)] if aggregates else [((0,), THIRD), ((1,), 2 * THIRD)])
        control = program.event(control, shares[-1][0], number).control


def test_without_a_count_anybody_acts() -> None:
    program = AREA.program(AreaParameters(StepSize(0.1)), 2)
    assert program.choices(program.opening()[1], LAW) == [((0,), SIXTH), ((1,), THIRD), ((SERVER,), Fraction(1, 2))]


def test_who_waits_does_not_arrive() -> None:
    fedbuff = lookup("algorithms", "fedbuff")
    waiting = fedbuff.read(Options("fedbuff", {"eta_l": 0.1, "count": 2, "reply": "wait"}))
    program = fedbuff.program(waiting, 2)
    after = program.event(program.opening()[1], (1,), 0).control
    assert program.choices(after, LAW) == [((0,), 1)]


def test_what_would_not_fit_into_memory_is_predicted_to_take_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = build_problem("huber", {"c": [[0, 0], [1, 2]], "x0": 1})
    delays = build_delays("iid", {"p_s": 0.4}, 2)
    policy, parameters = read_policy(None, delays), AreaParameters(StepSize(0.1))
    # Three choices an event, and registers x_s, u, x_i, y_i of 2 numbers: 3⁴ states take 972.
    for largest, finite in ((972, True), (971, False), (81, False)):
        monkeypatch.setattr(_left, "ENTRIES", largest)
        assert np.isfinite(operations("gap", AREA, problem, parameters, delays, policy, 4)) == finite


def test_control_states_that_nobody_can_count_are_predicted_to_take_for_ever() -> None:
    problem = build_problem("quadratic", {"clients": 12, "dimension": 1, "sigma": 1})
    delays = build_delays("iid", {"p_s": 0.4}, 12)
    adaptive = lookup("algorithms", "async_sgd")
    for schedule, finite in (("constant", True), ("delay_adaptive", False)):
        parameters = adaptive.read(Options("async_sgd", {"alpha": 0.1, "schedule": schedule}))
        found = operations("gap", adaptive, problem, parameters, delays, adaptive.policy(None, delays), 40)
        assert np.isfinite(found) == finite
