"""Algorithms: each is its parameters and what one event does.

``option`` declares the fields of a subclass of :class:`Parameters`: ``option.number(…)``, ``option.choice(…)``.
"""

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm, Draw, VirtualIterate, own_rates, undeclared_draws
from boundlab.algorithms._buffer import EQUAL_RATES
from boundlab.algorithms._option import (
    VARIABLES,
    Parameters,
    Staleness,
    StepFactor,
    StepRule,
    StepSize,
    staleness_function,
    without_open,
)
from boundlab.algorithms._program import (
    X_S,
    AffineRow,
    Averages,
    ClientSlots,
    Control,
    DescendRow,
    Event,
    EventLaw,
    EventProgram,
    InFlight,
    MoveRow,
    Step,
)

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
