"""A proof, to look at."""

from dataclasses import dataclass

from boundlab.api._shown import Shown
from boundlab.prove import Outcome


@dataclass(frozen=True, slots=True, repr=False)
class Decided(Shown, Outcome):
    """A proof whose steps were decided."""

    def line(self) -> str:
        """Return the verdict."""
        return f"{self.script.id}, {len(self.steps)} steps: {self.verdict}"
