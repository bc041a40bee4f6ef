"""Left sides without sampling, over random events: by enumeration or by moments, in floats and in exact numbers."""

from boundlab.expectation._cost import AFFORDABLE as AFFORDABLE
from boundlab.expectation._enumeration import core_of_schedule as core_of_schedule
from boundlab.expectation._enumeration import core_over_events as core_over_events
from boundlab.expectation._enumeration import folded as folded
from boundlab.expectation._enumeration import given_schedule as enumerated_schedule
from boundlab.expectation._enumeration import in_exact_numbers as enumerated
from boundlab.expectation._enumeration import marginals as marginals
from boundlab.expectation._enumeration import marginals_of_schedule as marginals_of_schedule
from boundlab.expectation._enumeration import outcomes as outcomes
from boundlab.expectation._enumeration import outcomes_of_schedule as outcomes_of_schedule
from boundlab.expectation._exactly import exact_parameters as exact_parameters
from boundlab.expectation._exactly import in_exact_numbers as exact_arithmetic
from boundlab.expectation._exactly import of_algorithm as exact_program
from boundlab.expectation._graph import Arithmetic as Arithmetic
from boundlab.expectation._history import LISTED as LISTED
from boundlab.expectation._history import RecordedOutcome as RecordedOutcome
from boundlab.expectation._history import Steps as Steps
from boundlab.expectation._law import event_law as event_law
from boundlab.expectation._law import event_sequences as event_sequences
from boundlab.expectation._law import exact_event_law as exact_event_law
from boundlab.expectation._law import twins as twins
from boundlab.expectation._law import why_no_law as why_no_law
from boundlab.expectation._left import applicable as applicable
from boundlab.expectation._left import distinct_outcomes as distinct_outcomes
from boundlab.expectation._left import engine as engine
from boundlab.expectation._left import left_side as left_side
from boundlab.expectation._left import operations as operations
from boundlab.expectation._points import shown as shown_points
from boundlab.expectation._second_moments import Moments as Moments
from boundlab.expectation._second_moments import along as batches_along
from boundlab.expectation._second_moments import given_schedule as moments_of_schedule
from boundlab.expectation._second_moments import in_exact_numbers as second_moments
from boundlab.expectation._second_moments import state_space as state_space

__all__ = [
    "AFFORDABLE",
    "LISTED",
    "Arithmetic",
    "Moments",
    "RecordedOutcome",
    "Steps",
    "applicable",
    "batches_along",
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
    "marginals",
    "marginals_of_schedule",
    "moments_of_schedule",
    "operations",
    "outcomes",
    "outcomes_of_schedule",
    "second_moments",
    "shown_points",
    "state_space",
    "twins",
    "why_no_law",
]
