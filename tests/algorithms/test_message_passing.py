"""Compilers against the same algorithms told as messages."""

from typing import Any

import pytest
from algorithm_makers import assert_close, scenarios, trajectory_of
from hypothesis import given, strategies as st
from message_passing import TWINS


@pytest.mark.sweep(4)
@pytest.mark.parametrize("algorithm", TWINS)
@given(data=st.data())
def test_the_tape_does_what_the_server_and_the_clients_do(algorithm: str, data: Any) -> None:
    scenario = data.draw(scenarios(algorithm))
    case = scenario.case()
    ks, models = trajectory_of(case)
    expected_ks, expected = TWINS[algorithm](scenario, case.problem)
    assert ks == expected_ks
    assert_close(models, expected)
    assert case.algorithm.events_as_json(case.events) == scenario.events
