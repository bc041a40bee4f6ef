"""Runs, to look at."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boundlab.api._shown import Tabular
from boundlab.errors import SpecError
from boundlab.simulate import Simulation
from boundlab.traces import of_tape


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Ran(Tabular, Simulation):
    """A simulation."""

    def line(self) -> str:
        """Return what ran, and the last means."""
        last = ", ".join(f"{name} {values[:, -1].mean():.4g}" for name, values in self.metrics.items())
        return f"{self.algorithm.id} on {self.problem.id}, {len(self.statistics)} trials, k = {self.ks[-1]}: {last}"

    def columns(self) -> dict[str, Any]:
        """Return a row for each trial and iteration."""
        trials, points = len(self.statistics), len(self.ks)
        where = {"trial": np.repeat(np.arange(trials), points), "k": np.tile(self.ks, trials)}
        return {**where, **{name: values.reshape(-1) for name, values in self.metrics.items()}}

    def save_trace(self, path: Path) -> None:
        """Write the arrivals of the first trial as a trace, with what was read, and when.

        Raises
        ------
        SpecError
            If no client's update arrives in it.
        OutputError
            If the file cannot be written.
        """
        of_tape(self.tape(0), f"the run of {self.algorithm.id}").save(path)

    def plot(self, ax: Any = None, *, metric: str | None = None) -> Any:
        """Draw one metric, the mean over the trials and their range; return the axes of matplotlib.

        Raises
        ------
        SpecError
            If the run has no such metric.
        """
        from boundlab.options import nearest
        from boundlab.pages.plots import draw_run

        chosen = metric or next(iter(self.metrics))
        if chosen not in self.metrics:
            raise SpecError(f"the run has no metric {chosen!r}; {nearest(chosen, self.metrics)}")
        return draw_run(self, chosen, ax)
