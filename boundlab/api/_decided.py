"""A proof, to look at."""

from dataclasses import dataclass
from typing import Any

from boundlab.api._shown import Shown, reported
from boundlab.prove import Outcome


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Decided(Shown, Outcome):
    """A proof whose steps were decided."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is shown: only the kernel makes facts, and they stay with it."""
        return reported(self)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        from boundlab.pages.proofs import as_dict

        return as_dict(self)

    def line(self) -> str:
        """Return the verdict."""
        return f"{self.script.id}, {len(self.steps)} steps: {self.verdict}"
