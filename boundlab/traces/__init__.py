"""Traces of your system: logs are read, summarised, tested for independence, and fitted by the laws of delays."""

from collections.abc import Mapping
from pathlib import Path

from boundlab.delays.recorded import Recorded, read_csv
from boundlab.errors import SpecError
from boundlab.options import LOG_FORMS, nearest
from boundlab.traces._appfl import of_tape as of_tape, read_appfl
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


def read_log(path: Path, form: str = "csv", columns: Mapping[str, str] | None = None) -> Recorded:
    """Read the log of some system.

    Parameters
    ----------
    form
        ``csv``, or ``appfl``: the simulator of virtual time of APPFL.
    columns
        Of ``csv``: key of :data:`boundlab.delays.recorded.COLUMNS` → what the file calls it.

    Raises
    ------
    SpecError
        Naming the file and the line.
    """
    if form not in LOG_FORMS:
        raise SpecError(f"a log is read as one of {', '.join(LOG_FORMS)}, got {form!r}; {nearest(form, LOG_FORMS)}")
    if form == "appfl":
        if columns:
            raise SpecError("--map names columns of a table: it goes with --as csv")
        return read_appfl(path)
    return read_csv(path, columns, log=True)[0]
