"""Traces of your system: logs are read, summarised, tested for independence, and fitted by the laws of delays."""

from boundlab.traces._logs import of_tape as of_tape, read_log as read_log
from boundlab.traces._summary import (
    DelayFit as DelayFit,
    Departure as Departure,
    FittedLaw as FittedLaw,
    Taken as Taken,
    TraceSummary as TraceSummary,
    departure as departure,
    durations as durations,
    fit as fit,
    staleness as staleness,
    summary as summary,
)
