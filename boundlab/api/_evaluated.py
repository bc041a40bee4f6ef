"""Both sides on a case, to look at."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boundlab.api._shown import Shown
from boundlab.exact import ExactResult
from boundlab.theorems import Theorem

if TYPE_CHECKING:
    from boundlab.pages import Block


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Evaluated(Shown, ExactResult):
    """Both sides on one case.

    Parameters
    ----------
    statement
        The theorem.
    """

    statement: Theorem | None = None

    def line(self) -> str:
        """Return both sides and the verdict."""
        sides = f"left {self.left:.6g}, right {self.right:.6g} ({self.kind})"
        return f"{self.theorem} at k = {self.k}: {self.headline}: {sides}"

    def page(self) -> "list[Block]":
        """Return the derivation where there is one, else the numbers."""
        from boundlab.pages import page

        return page(self, theorem=self.statement)
