"""What a check of a file comes to."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """What came out.

    Parameters
    ----------
    accepted
        Whether every line was checked and found right.
    reason
        What is certified, or which line is wrong and why.
    given
        What the file takes for granted, as it words it: nobody can check that here.
    checked
        How many lines were.
    claim
        What the objective is, or which theorem it is; nobody can check that here.
    left
        Signs that are not shown here, and not false at a few points: another method is needed for them.
    proof
        Whether the file is a proof.
    trusted
        Rules that are not replayed here, in words, with how many lines name each: those lines are taken on trust.
    """

    accepted: bool
    reason: str
    given: tuple[str, ...] = ()
    checked: int = 0
    claim: str = ""
    left: tuple[str, ...] = ()
    proof: bool = False
    trusted: tuple[str, ...] = ()
