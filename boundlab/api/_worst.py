"""A worst case, to look at."""

from dataclasses import dataclass

from boundlab.api._shown import Shown
from boundlab.verdict import Verdict
from boundlab.worst_case import WorstCase


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Worst(Shown, WorstCase):
    """A worst case over a class of functions."""

    @property
    def verdict(self) -> Verdict:
        """Verdict on the theorem."""
        return self.outcome.verdict

    def line(self) -> str:
        """Return the outcome."""
        theorem, horizon = self.plan.theorem, self.plan.horizon
        return f"{theorem.id} at {theorem.horizon_symbol} = {horizon}: {self.words}: {self.reason}"
