"""A search for a counterexample, to look at."""

from dataclasses import dataclass

from boundlab.api._shown import Shown
from boundlab.falsify import Falsification


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Searched(Shown, Falsification):
    """The outcome of a search for a counterexample."""

    def line(self) -> str:
        """Return the verdict with its instance."""
        if self.nothing:
            return f"{self.theorem.id}: {self.nothing}"
        if self.best is None:
            what = (
                "along no family is left/right proved to be unbounded" if self.theorem.growth else "none is confirmed"
            )
            return f"{self.theorem.id}: inconclusive: {self.looked_at}; {what}"
        if self.growth is not None:
            return f"{self.theorem.id}: {self.verdict}: {self.growth.family}: {self.growth.why}: {self.best.words()}"
        words = f"{self.called}, left/right {self.best.ratio:.4g}: {self.best.words()}"
        return f"{self.theorem.id}: {self.verdict}: {self.looked_at}; {words}"
