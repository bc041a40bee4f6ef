"""Left sides without sampling, over random events: by enumeration or by moments, in floats and in exact numbers.

:mod:`boundlab.expectation.moments` is loaded where a question is about moments.
"""

from boundlab.expectation._enumeration import (
    core_of_schedule as core_of_schedule,
    core_over_events as core_over_events,
    folded as folded,
    given_schedule as enumerated_schedule,
    in_exact_numbers as enumerated,
    outcomes as outcomes,
    outcomes_of_schedule as outcomes_of_schedule,
)
from boundlab.expectation._graph import (
    Arithmetic as Arithmetic,
    event_law as event_law,
    event_sequences as event_sequences,
    exact_event_law as exact_event_law,
    exact_parameters as exact_parameters,
    in_exact_numbers as exact_arithmetic,
    of_algorithm as exact_program,
    twins as twins,
    why_no_law as why_no_law,
)
from boundlab.expectation._left import (
    AFFORDABLE as AFFORDABLE,
    applicable as applicable,
    distinct_outcomes as distinct_outcomes,
    engine as engine,
    left_side as left_side,
    operations as operations,
)
from boundlab.expectation._walk import LISTED as LISTED, RecordedOutcome as RecordedOutcome, Steps as Steps

__all__ = [
    "AFFORDABLE",
    "LISTED",
    "Arithmetic",
    "RecordedOutcome",
    "Steps",
    "applicable",
    "core_of_schedule",
    "core_over_events",
    "distinct_outcomes",
    "engine",
    "enumerated",
    "enumerated_schedule",
    "event_law",
    "event_sequences",
    "exact_arithmetic",
    "exact_event_law",
    "exact_parameters",
    "exact_program",
    "folded",
    "left_side",
    "operations",
    "outcomes",
    "outcomes_of_schedule",
    "twins",
    "why_no_law",
]
