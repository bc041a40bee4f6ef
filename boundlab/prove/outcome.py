"""What a proof amounts to, by its steps and by the checker."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from boundlab.prove._context import Fact
from boundlab.prove._kernel import Kernel
from boundlab.prove.document import Script, Status, Step
from boundlab.prove.setting import Setting
from boundlab.recheck import Finding

_PROVED = "proved"


@dataclass(frozen=True)
class Outcome:
    """What came of a proof; ``checker`` gives the second opinion, when it is asked for."""

    script: Script
    steps: tuple[Step, ...]
    conclusion: Step | None
    kernel: Kernel = field(repr=False)
    setting: Setting | None = field(default=None, repr=False)
    checker: Callable[["Outcome"], Finding] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def opinion(self) -> Finding | None:
        """What the checker says of it; None where it was not asked."""
        return None if self.checker is None else self.checker(self)

    @property
    def ends(self) -> list[Fact]:
        """What is shown in the end: its conclusion, or all its steps where it has none."""
        steps = self.steps if self.conclusion is None else (self.conclusion,)
        return [step.fact for step in steps if step.fact is not None]

    @property
    def meant(self) -> tuple[Step, ...]:
        """The steps, misprints apart: what is meant in their place is a step, too."""
        return tuple(step for step in self.steps if not step.means)

    @property
    def proved(self) -> bool:
        """Whether every step is proved, there is one, the last one is the theorem, and the checker agrees."""
        return self.verdict == _PROVED

    @property
    def verdict(self) -> str:
        """What the proof amounts to, in words: proved is only what the checker has accepted."""
        found = self._by_steps()
        if found != _PROVED or (self.opinion is not None and self.opinion.accepted):
            return found
        if self.opinion is None:
            return "every step is proved, but nothing was checked a second time"
        why = "; ".join(self.opinion.open) or self.opinion.reason
        return f"every step is proved, but the checker does not accept it: {why}"

    def _by_steps(self) -> str:
        found = [step.status for step in self.steps]
        if Status.REFUTED in found:
            return "a step is refuted"
        if any(status not in (Status.PROVED, Status.REMARK) for status in found):
            return "not proved"
        if Status.PROVED not in found:
            return "nothing is proved"
        if self.script.proves and (self.conclusion is None or self.conclusion.status is not Status.PROVED):
            return "every step is proved, but not the theorem"
        return _PROVED
