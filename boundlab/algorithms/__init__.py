"""Algorithms: each is one compiler from events to a tape."""

from boundlab.algorithms._algorithm import Algorithm as Algorithm
from boundlab.algorithms._buffer import EQUAL_RATES as EQUAL_RATES
from boundlab.algorithms._option import Parameters as Parameters
from boundlab.algorithms._steps import StepSize as StepSize
