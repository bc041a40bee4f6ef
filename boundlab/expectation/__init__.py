"""Left sides without sampling, over random events: by enumeration or by moments, in floats and in exact numbers.

:mod:`boundlab.expectation.moments` is loaded where a question is about moments.
"""

from boundlab.expectation._enumeration import (
    Schedule as Schedule,
    core_of as core_of,
    folded as folded,
    in_exact_numbers as enumerated,
    looked_at as looked_at,
    outcomes as outcomes,
    told as told,
)
from boundlab.expectation._graph import (
    Arithmetic as Arithmetic,
    Lowering as Lowering,
    event_law as event_law,
    event_sequences as event_sequences,
    exact_event_law as exact_event_law,
    exact_parameters as exact_parameters,
    in_exact_numbers as exact_arithmetic,
    of_algorithm as exact_program,
    pruned as pruned,
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
    "Lowering",
    "RecordedOutcome",
    "Schedule",
    "Steps",
    "applicable",
    "core_of",
    "distinct_outcomes",
    "engine",
    "enumerated",
    "event_law",
    "event_sequences",
    "exact_arithmetic",
    "exact_event_law",
    "exact_parameters",
    "exact_program",
    "folded",
    "left_side",
    "looked_at",
    "operations",
    "outcomes",
    "pruned",
    "told",
    "twins",
    "why_no_law",
]
