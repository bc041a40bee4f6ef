"""Traces and the laws fitted to them, to look at."""

from dataclasses import dataclass
from pathlib import Path

from boundlab.api._shown import Shown
from boundlab.traces import DelayFit, TraceSummary


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Traced(Shown, TraceSummary):
    """A trace."""

    def line(self) -> str:
        """Return how much there is in it, and how stale it is."""
        known = f", staleness of at most {self.known.max()}" if len(self.known) else ""
        return f"{self.record.source}: {len(self.record.names)} devices, {self.updates.sum()} updates{known}"

    def save(self, path: str | Path) -> None:
        """Write the normal form, which ``trace:file=…`` reads.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        self.record.save(Path(path))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FittedDelays(Shown, DelayFit):
    """Laws that were fitted to a trace."""

    def line(self) -> str:
        """Return the best, and whether it fits."""
        return self.best.spec if self.p_value is None else f"{self.best.spec}, p = {self.p_value:.3g}"
