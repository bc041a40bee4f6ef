"""Algorithms: each is one compiler from events to a tape.

``option`` declares the fields of a subclass of :class:`Parameters`: ``option.number(…)``, ``option.choice(…)``.
"""

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm
from boundlab.algorithms._averages import Averages
from boundlab.algorithms._buffer import EQUAL_RATES
from boundlab.algorithms._option import Parameters
from boundlab.algorithms._steps import StepSize

__all__ = ["EQUAL_RATES", "Algorithm", "Averages", "Parameters", "StepSize", "option"]
