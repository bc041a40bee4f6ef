"""Traces of one's own: logs are read, summarised, tested for independence, and fitted by the laws of delays."""

from collections.abc import Mapping
from pathlib import Path

from boundlab.delays.recorded import Recorded, read_csv
from boundlab.errors import SpecError
from boundlab.options import LOG_FORMS, nearest
from boundlab.traces._appfl import read_appfl
from boundlab.traces._fit import DelayFit as DelayFit
from boundlab.traces._fit import FittedLaw as FittedLaw
from boundlab.traces._fit import fit as fit
from boundlab.traces._independence import Departure as Departure
from boundlab.traces._independence import departure as departure
from boundlab.traces._summary import Taken as Taken
from boundlab.traces._summary import TraceSummary as TraceSummary
from boundlab.traces._summary import durations as durations
from boundlab.traces._summary import staleness as staleness
from boundlab.traces._summary import summary as summary
from boundlab.traces._tape import of_tape as of_tape


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
