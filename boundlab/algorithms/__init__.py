"""Algorithms: each is one compiler from events to a tape."""

from boundlab.algorithms._algorithm import Algorithm, Records, StepSize

__all__ = ["Algorithm", "Records", "StepSize"]
