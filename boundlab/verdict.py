"""Outcomes of a question: verdicts on a theorem, and the exit codes of the command line."""

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import Self


class ExitCode(IntEnum):
    """How a command ends; the same seven for all commands.

    ``cli/terminal.py`` says what each means for each command.
    """

    meaning: str

    def __new__(cls, value: int, meaning: str) -> Self:
        """Make a member that carries its words."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    STANDS = 0, "stands: the command did what it was asked, and nothing speaks against the claim"
    REFUTED = 1, "refuted: something contradicts the claim"
    USAGE = 2, "bad usage or input"
    UNDECIDED = 3, "not decided"
    NOT_APPLICABLE = 4, "not applicable: an assumption is not met, or no problem can meet all of them"
    UNFORESEEN = 70, "unexpected: a defect of boundlab or of a plug-in, never a verdict"
    INTERRUPTED = 130, "interrupted"

    @classmethod
    def worst(cls, codes: Iterable[int]) -> Self:
        """Return how a command about several things ends.

        70 if one crashed, else 1 if one is refuted, else 3 if one is open.

        Examples
        --------
        >>> ExitCode.worst([ExitCode.STANDS, ExitCode.UNDECIDED, ExitCode.NOT_APPLICABLE])
        <ExitCode.UNDECIDED: 3>
        """
        found = set(codes)
        return next((one for one in (cls.UNFORESEEN, cls.REFUTED, cls.UNDECIDED) if one in found), cls.STANDS)


class Verdict(StrEnum):
    """Verdict of comparisons, exact values, worst cases and searches on a theorem.

    ``holds`` is said by a method that is valid for what is known. ``consistent`` says that an approximate upper band
    is not above the bound: no violation was seen, and nothing is guaranteed.
    """

    HOLDS = "holds"
    CONSISTENT = "consistent"
    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not applicable"

    def __bool__(self) -> bool:
        """Refuse: ``not applicable`` would count as true."""
        raise TypeError('a verdict is neither true nor false; compare it: verdict == "holds", or verdict in (…)')

    @property
    def exit_code(self) -> ExitCode:
        """How the command line ends."""
        return {
            Verdict.HOLDS: ExitCode.STANDS,
            Verdict.CONSISTENT: ExitCode.STANDS,
            Verdict.VIOLATED: ExitCode.REFUTED,
            Verdict.INCONCLUSIVE: ExitCode.UNDECIDED,
            Verdict.NOT_APPLICABLE: ExitCode.NOT_APPLICABLE,
        }[self]


_WORST_FIRST = (Verdict.VIOLATED, Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE, Verdict.CONSISTENT, Verdict.HOLDS)


def counted(verdicts: Iterable[Verdict]) -> str:
    """Return how often each verdict stands there, each by itself, the worst first.

    Examples
    --------
    >>> counted([Verdict.HOLDS, Verdict.CONSISTENT, Verdict.HOLDS])
    '1 consistent, 2 holds'
    """
    found = list(verdicts)
    return ", ".join(f"{found.count(one)} {one}" for one in _WORST_FIRST if one in found)


def joint_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on a theorem that was compared several times, the worst of all.

    Their confidence levels have to be those of a joint statement.
    """
    found = set(verdicts)
    return next(one for one in _WORST_FIRST if one in found)
