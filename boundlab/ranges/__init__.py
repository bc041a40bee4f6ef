"""Ranges of errors that hold for every event sequence and every mini-batch, not for the drawn ones only."""

from boundlab.ranges._range import Range as Range
from boundlab.ranges._range import certain_range as certain_range
