"""Finding of a part of a test, as plain data; and who is told of it. It imports nothing, for the plug-in of pytest."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal, final

Part = Literal["checks", "comparison", "search"]


@final
@dataclass(frozen=True, slots=True)
class BoundFinding:
    """Finding about a theorem from one part of a test.

    Parameters
    ----------
    theorem
        As it was given, an id or a file.
    part
        ``checks``: the formula alone. ``comparison``: one problem, computed or sampled. ``search``: many instances.
    verdict
        Of checks: failed, unknown or passed. Else a :class:`boundlab.verdict.Verdict`.
    words
        Why.
    instance
        What was looked at; the smallest counterexample of a search.
    trials
        Of a sample; 0 where the left side was computed.
    false_alarm
        With which probability at most a true theorem is called violated here: 0 where nothing was sampled.
    gap
        Left sides above the bound by this share would be seen with a probability of about 90 %; None where nothing was
        sampled, or no number of trials would do.
    case, reproduce
        The case file of a violation, and the command that repeats it.
    """

    theorem: str
    part: Part
    verdict: str
    words: str
    instance: str = ""
    trials: int = 0
    false_alarm: float = 0.0
    gap: float | None = None
    case: str = ""
    reproduce: str = ""

    @property
    def refutes(self) -> bool:
        """True if the theorem is false as stated, or a check of its formula failed."""
        return self.verdict in ("violated", "failed")

    @property
    def design(self) -> str:
        """How large the sample was, and what it can see; empty where nothing was sampled."""
        if not self.trials:
            return ""
        sees = "no excess" if self.gap is None else f"an excess of {100.0 * self.gap:.3g} % (power 90 %)"
        return f"{self.trials} trials, false alarms at most {self.false_alarm:.1g}, they see {sees}"

    def line(self) -> str:
        """Return theorem, part, verdict, reason and design."""
        more = f" [{self.design}]" if self.trials else ""
        return f"{self.theorem}: {self.part}: {self.verdict}: {self.words}{more}"

    def message(self) -> str:
        """Return the line with the instance, the case file and the command that repeats it, each on a line."""
        rows = {"instance": self.instance, "case": self.case, "reproduce": self.reproduce}
        return "\n".join([self.line(), *(f"{name}: {text}" for name, text in rows.items() if text)])

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return asdict(self)


_LISTENERS: list[Callable[[BoundFinding], None]] = []


def notify(finding: BoundFinding) -> None:
    """Tell whoever listens."""
    for one in _LISTENERS:
        one(finding)


@contextmanager
def listening(listener: Callable[[BoundFinding], None]) -> Iterator[None]:
    """Have a listener told what is found meanwhile."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)
