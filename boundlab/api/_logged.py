"""Questions about logs: each takes what the command of its name takes."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from boundlab.arguments import checked

if TYPE_CHECKING:
    from boundlab.api._traced import FittedDelays, Traced


@checked
def trace(log: str | Path, form: str = "csv", columns: Mapping[str, str] | None = None) -> "Traced":
    """Read the log of a system: devices, rates, durations, staleness, and whether its events may be i.i.d.

    Parameters
    ----------
    form
        ``csv``, or ``appfl``.
    columns
        Of ``csv``: what the file calls the columns, such as ``{"time": "ts"}``.

    Raises
    ------
    SpecError
        Naming the file and the line.
    """
    from boundlab.api._traced import Traced
    from boundlab.traces import read_log, summary

    return Traced.of(summary(read_log(Path(log), form, columns)))


@checked
def fit(log: str | Path, form: str = "csv", columns: Mapping[str, str] | None = None) -> "FittedDelays":
    """Fit the laws of delays to the durations of a trace; parameters are those of :func:`trace`.

    Raises
    ------
    SpecError
        Naming the file and the line; or if there are too few durations, or one is 0.
    """
    from boundlab.api._traced import FittedDelays
    from boundlab.traces import fit as fit_laws
    from boundlab.traces import read_log

    return FittedDelays.of(fit_laws(read_log(Path(log), form, columns)))
