"""Left sides without sampling, in floating point: by enumeration of events or by recursions over moments."""

from boundlab.expectation._law import EventLaw as EventLaw
from boundlab.expectation._left import applicable as applicable
from boundlab.expectation._left import engine as engine
from boundlab.expectation._left import left_side as left_side
from boundlab.expectation._twins import twins as twins

__all__ = ["EventLaw", "applicable", "engine", "left_side", "twins"]
