"""Algorithms: each is its parameters and what one event does.

``option`` declares the fields of a subclass of :class:`Parameters`: ``option.number(…)``, ``option.choice(…)``.
"""

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm, Draw, VirtualIterate, own_rates
from boundlab.algorithms._averages import Averages
from boundlab.algorithms._buffer import EQUAL_RATES
from boundlab.algorithms._in_flight import InFlight
from boundlab.algorithms._observed import undeclared_draws
from boundlab.algorithms._option import Parameters
from boundlab.algorithms._program import (
    X_S,
    AffineRow,
    ClientSlots,
    Control,
    DescendRow,
    Event,
    EventLaw,
    EventProgram,
    MoveRow,
    Step,
)
from boundlab.algorithms._staleness import Staleness, staleness_function
from boundlab.algorithms._steps import VARIABLES, StepFactor, StepRule, StepSize, without_open

__all__ = [
    "EQUAL_RATES",
    "VARIABLES",
    "X_S",
    "AffineRow",
    "Algorithm",
    "Averages",
    "ClientSlots",
    "Control",
    "DescendRow",
    "Draw",
    "Event",
    "EventLaw",
    "EventProgram",
    "InFlight",
    "MoveRow",
    "Parameters",
    "Staleness",
    "Step",
    "StepFactor",
    "StepRule",
    "StepSize",
    "VirtualIterate",
    "option",
    "own_rates",
    "staleness_function",
    "undeclared_draws",
    "without_open",
]
