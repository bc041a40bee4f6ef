"""Left sides without sampling, over random events: by enumeration or by moments, in floats and in exact numbers."""

from boundlab.expectation._cost import AFFORDABLE as AFFORDABLE
from boundlab.expectation._enumerate_exact import Walk as Walk
from boundlab.expectation._law import EventLaw as EventLaw
from boundlab.expectation._left import applicable as applicable
from boundlab.expectation._left import engine as engine
from boundlab.expectation._left import left_side as left_side
from boundlab.expectation._left import operations as operations
from boundlab.expectation._moments import expectation as by_moments
from boundlab.expectation._moments_exact import expectation as by_exact_moments
from boundlab.expectation._twins import twins as twins

__all__ = [
    "AFFORDABLE", "EventLaw", "Walk", "applicable", "by_exact_moments", "by_moments", "engine", "left_side",
    "operations", "twins",
]  # fmt: skip
