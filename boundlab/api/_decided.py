"""A proof, to look at."""

from dataclasses import dataclass
from typing import Any

from boundlab.api._shown import Shown
from boundlab.prove import Outcome


@dataclass(frozen=True, slots=True, repr=False)
class Decided(Shown, Outcome):
    """A proof whose steps were decided."""

    def line(self) -> str:
        """Return the verdict."""
        return f"{self.script.id}, {len(self.steps)} steps: {self.verdict}"

    def page(self) -> list[Any]:
        """Return the steps with their verdicts."""
        from boundlab.report.proofs import steps_page

        return list(steps_page(self))
