"""Left sides without sampling, over random events: by enumeration or by moments, in floats and in exact numbers."""

from boundlab.expectation._cost import AFFORDABLE as AFFORDABLE
from boundlab.expectation._enumeration import core_of_schedule as core_of_schedule
from boundlab.expectation._enumeration import core_over_events as core_over_events
from boundlab.expectation._enumeration import given_schedule as enumerated_schedule
from boundlab.expectation._enumeration import in_exact_numbers as enumerated
from boundlab.expectation._exactly import in_exact_numbers as exact_arithmetic
from boundlab.expectation._graph import Arithmetic as Arithmetic
from boundlab.expectation._left import applicable as applicable
from boundlab.expectation._left import engine as engine
from boundlab.expectation._left import left_side as left_side
from boundlab.expectation._left import operations as operations
from boundlab.expectation._left import outcomes as outcomes
from boundlab.expectation._points import shown as shown_points
from boundlab.expectation._second_moments import given_schedule as moments_of_schedule
from boundlab.expectation._second_moments import in_exact_numbers as second_moments
from boundlab.expectation._twins import twins as twins

__all__ = [
    "AFFORDABLE", "Arithmetic", "applicable", "core_of_schedule", "core_over_events", "engine", "enumerated",
    "enumerated_schedule", "exact_arithmetic", "left_side", "moments_of_schedule", "operations", "outcomes",
    "second_moments", "shown_points", "twins",
]  # fmt: skip
