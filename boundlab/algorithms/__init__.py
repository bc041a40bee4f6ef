"""Algorithms: each is one compiler from events to a tape."""

from boundlab.algorithms._algorithm import Algorithm, StepSize
from boundlab.records import Records

__all__ = ["Algorithm", "Records", "StepSize"]
