"""Who acts when, with which probability: by hand, also where a count of arrivals makes an aggregation."""

from fractions import Fraction

import numpy as np
import pytest

from boundlab.algorithms import StepSize
from boundlab.algorithms.area import AreaParameters
from boundlab.build import build_delays, build_problem
from boundlab.delays import read_policy
from boundlab.events import SERVER
from boundlab.exact import _symbols
from boundlab.expectation import EventLaw, _cost

SIXTH, THIRD = Fraction(1, 6), Fraction(1, 3)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_last_of_so_many_arrivals_completes_and_the_next_event_aggregates(count: int) -> None:
    law = EventLaw(np.array([SIXTH, THIRD]), Fraction(1, 2), count)
    cycle = ["arrives"] * (count - 1) + ["completes", "aggregates"]
    for event, word in enumerate(3 * cycle):
        assert law.completes(event) == (word == "completes")
        assert law.aggregates(event) == (word == "aggregates")
        shares = [(SERVER, Fraction(1))] if word == "aggregates" else [(0, THIRD), (1, 2 * THIRD)]
        assert law.at(event) == shares


def test_without_a_count_nothing_completes() -> None:
    law = EventLaw(np.array([SIXTH, THIRD]), Fraction(1, 2))
    assert not any(law.completes(event) or law.aggregates(event) for event in range(9))
    assert law.at(0) == [(0, SIXTH), (1, THIRD), (SERVER, Fraction(1, 2))]


def test_long_run_fractions_under_a_count() -> None:
    # Three arrivals, then an aggregation: p_s = 1/4, and the clients share 3/4 as 1 : 2.
    found = _symbols._frequencies(EventLaw(np.array([SIXTH, THIRD]), Fraction(1, 2), 3))
    values = {name: one.exact for name, one in found.items()}
    assert values == {"n": 2, "p_s": Fraction(1, 4), "p_min": Fraction(1, 4), "qbar": 3}


def test_what_would_not_fit_into_memory_is_predicted_to_take_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = build_problem("huber", {"c": [[0, 0], [1, 2]], "x0": 1})
    delays = build_delays("iid", {"p_s": 0.4}, 2)
    policy, parameters = read_policy(None, delays), AreaParameters(StepSize(0.1))
    # Three choices an event, and registers of (2n + 2)·d = 12 numbers: 3⁴ states take 972.
    for largest, finite in ((972, True), (971, False), (81, False)):
        monkeypatch.setattr(_cost, "LARGEST", largest)
        found = _cost.enumeration_operations(problem, parameters, delays, policy, 4)
        assert np.isfinite(found) == finite
