"""Comparisons at several horizons, judged together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boundlab.compare.judge import Comparison
from boundlab.files import Document, schema
from boundlab.options import Axis
from boundlab.result import Tabular, drawn
from boundlab.theorems import Theorem
from boundlab.verdict import Verdict, counted, joint_verdict


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Horizons(Tabular):
    """Comparisons at several horizons, each a run of its own, judged together.

    Parameters
    ----------
    comparisons
        By increasing horizon.
    """

    comparisons: tuple[Comparison, ...]

    @property
    def theorem(self) -> Theorem:
        """Compared theorem."""
        return self.comparisons[0].plan.theorem

    @property
    def iterations(self) -> list[int]:
        """The horizons."""
        return [one.plan.iterations for one in self.comparisons]

    @property
    def verdict(self) -> Verdict:
        """Joint verdict of all comparisons: ``violated`` at one horizon refutes the theorem."""
        return joint_verdict([one.verdict for one in self.comparisons])

    @property
    def deciding(self) -> Comparison:
        """The horizon that decides: of those with the verdict of all, the one at which the bound is nearest."""
        own = [one for one in self.comparisons if one.verdict is self.verdict]
        return max(own, key=lambda one: float(one.ratio.max()))

    @property
    def vacuous(self) -> str:
        """Why the theorem is vacuous, which it is where it is so at every horizon; empty where it is not."""
        return self.deciding.vacuous if all(one.vacuous for one in self.comparisons) else ""

    @property
    def headline(self) -> str:
        """The verdict, and whether the bound is vacuous."""
        return self.deciding.headline if self.vacuous else self.verdict.value

    @property
    def reason(self) -> str:
        """Why, by the horizon that decides; before it the counts of the verdicts, where not all are the same."""
        found, empty = [one.verdict for one in self.comparisons], sum(bool(one.vacuous) for one in self.comparisons)
        apart = f"of {len(found)} horizons {counted(found)}; " if len(set(found)) > 1 else ""
        if not (apart or empty) and self.verdict is Verdict.HOLDS:
            apart = f"at all {len(found)} horizons; the closest: "
        if self.vacuous or not empty or self.verdict is Verdict.VIOLATED:
            return f"{apart}{self.deciding.explanation}"
        return f"{apart}vacuous at {empty} of {len(found)} horizons; {self.deciding.reason}"

    @property
    def case(self) -> Document:
        """The case file of the horizon that decides."""
        return self.deciding.case

    def line(self) -> str:
        """Return theorem, horizons and verdict."""
        first, *more = self.iterations
        several = f"{len(more) + 1} horizons {first} … {more[-1]}" if more else f"the horizon {first}"
        return f"{self.theorem.id} at {several}: {self.headline}: {self.reason}"

    def columns(self) -> dict[str, Any]:
        """Return a row for each horizon, with its verdict."""
        every = [one.columns() for one in self.comparisons]
        numbers = {name: np.array([one[name][-1] for one in every]) for name in every[0]}
        return {**numbers, "verdict": np.array([one.verdict.value for one in self.comparisons])}

    def plot(
        self, ax: Any = None, *, terms: bool = False, others: "Sequence[Horizons]" = (), axis: Axis = "iterations"
    ) -> Any:
        """Draw left sides and bounds over the horizons; parameters are those of :meth:`Comparison.plot`."""
        return drawn("draw_comparison", self, ax, terms, others, axis)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "schema": schema("horizons"),
            "theorem": self.theorem.id,
            "iterations": self.iterations,
            "verdict": self.verdict.value,
            "reason": self.reason,
            "comparisons": [one.as_dict() for one in self.comparisons],
        }
