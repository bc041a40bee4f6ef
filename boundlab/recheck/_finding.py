"""What a check of a file comes to."""

from dataclasses import dataclass
from typing import Literal, final


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """What came out.

    Parameters
    ----------
    right
        Whether no line is wrong.
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
        What is taken on trust, by its name: rules that are not known here, steps that are only claimed.
    setting
        What only the setting of a theorem can answer for: when vectors are known, how a run moves.
    depends
        The names of all that the conclusions depend on.
    declared
        What a proof declares of its parameters and vectors, in words.
    """

    right: bool
    reason: str
    given: tuple[str, ...] = ()
    checked: int = 0
    claim: str = ""
    left: tuple[str, ...] = ()
    proof: bool = False
    trusted: tuple[str, ...] = ()
    setting: tuple[str, ...] = ()
    depends: frozenset[str] = frozenset()
    declared: tuple[str, ...] = ()

    @property
    def open(self) -> tuple[str, ...]:
        """What was not checked, in words: where there is any, nothing is accepted."""
        signs = (f"a sign that is not shown here: {one}" for one in self.left)
        return (*(f"taken on trust: {one}" for one in (*self.trusted, *self.setting)), *signs)

    @property
    def accepted(self) -> bool:
        """Whether every line was checked and found right, and nothing is taken on trust."""
        return self.right and not self.open

    @property
    def verdict(self) -> Literal["accepted", "rejected", "not decided"]:
        """What it comes to."""
        return "accepted" if self.accepted else "not decided" if self.right else "rejected"
