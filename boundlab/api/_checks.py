"""The checks of a theorem, to look at."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boundlab.api._shown import Shown, frame
from boundlab.checks import Check, exit_code
from boundlab.files import schema
from boundlab.theorems import Theorem
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Checks(Shown):
    """The checks of one theorem.

    Parameters
    ----------
    checks
        Each with its verdict and its witness.
    """

    theorem: Theorem
    checks: tuple[Check, ...]

    @property
    def failed(self) -> tuple[Check, ...]:
        """Those that failed."""
        return tuple(one for one in self.checks if one.verdict == "failed")

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends."""
        return exit_code(self.checks)

    @property
    def verdict(self) -> str:
        """``failed`` where a check failed, ``unknown`` where nothing could be decided, else ``passed``."""
        return "failed" if self.failed else "unknown" if self.exit_code is ExitCode.UNDECIDED else "passed"

    def line(self) -> str:
        """Return how many failed, and which."""
        named = ", ".join(one.id for one in self.failed)
        failed = f"{len(self.failed)} of {len(self.checks)} checks failed{': ' * bool(named)}{named}"
        suspicious = [one.id for one in self.checks if one.verdict == "suspicious"]
        more = f"; suspicious: {', '.join(suspicious)}" if suspicious else ""
        return f"{self.theorem.id}: {self.verdict}: {failed}{more}"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        rows = [one.as_dict() for one in self.checks]
        links = self.theorem.links()
        return {
            "schema": schema("checks"),
            "theorem": self.theorem.id,
            **links,
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "checks": rows,
        }

    def to_frame(self) -> "pandas.DataFrame":
        """Return a row for each check."""
        rows = [one.as_dict() for one in self.checks]
        return frame({name: [row[name] for row in rows] for name in ("id", "verdict", "statement", "witness")})
