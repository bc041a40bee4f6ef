"""Result of a check: a verdict, a witness, and what follows from a failure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.checks._view import View

Verdict = Literal["failed", "suspicious", "unknown", "passed", "not applicable"]
Consequence = Literal["", "claim false", "claim vacuous", "implies more", "does not follow", "not defined"]

CONSEQUENCES: dict[str, str] = {
    "claim false": "the claim, for all problems that it names, is false",
    "claim vacuous": "the claim is true for trivial reasons where the witness says",
    "implies more": "the claim implies the stronger one of the witness; no refutation by itself",
    "does not follow": "the statement does not follow from the theorem that it is derived from",
    "not defined": "the statement reads or sets what nothing in it defines",
}


@final
@dataclass(frozen=True, slots=True)
class Check:
    """One check of a theorem.

    Parameters
    ----------
    id
        ``units.terms``, ``limits.K``, ``truths.noise-floor``: the group comes before the dot.
    statement
        What was asked.
    verdict
        ``passed``: shown, symbolically or by a certificate that was checked again. ``failed``: the witness shows the
        contrary. ``suspicious``: a true theorem may do that, but seldom does. ``unknown``: none of these within the
        limits. ``not applicable``: the question makes no sense here.
    witness
        Failed or suspicious: the scaling, the instance or the values that show it. Else what was found, or why not.
    consequence
        What follows from what failed or is suspicious, a key of :data:`CONSEQUENCES`; empty otherwise.
    latex
        The central formula, where there is one.
    """

    id: str
    statement: str
    verdict: Verdict
    witness: str = ""
    consequence: Consequence = ""
    latex: str = ""

    @property
    def group(self) -> str:
        """The id of its group."""
        return self.id.split(".", 1)[0]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "id": self.id,
            "statement": self.statement,
            "verdict": self.verdict,
            "witness": self.witness,
            "consequence": self.consequence,
            "latex": self.latex,
        }


@final
@dataclass(frozen=True, slots=True)
class CheckGroup:
    """A group of checks, registered under ``boundlab.checks``; :func:`group` makes one.

    Parameters
    ----------
    id
        What ``--only`` calls it, and how the ids of its checks begin.
    summary
        What it asks, in a line.
    run
        Asks it of a theorem. It may raise UndecidedError: the answer is then ``unknown``.
    """

    id: str
    summary: str
    run: "Callable[[View], Iterable[Check]]"

    def __call__(self, view: "View") -> Iterable[Check]:
        """Ask a theorem."""
        return self.run(view)


def group(identity: str, summary: str) -> "Callable[[Callable[[View], Iterable[Check]]], CheckGroup]":
    """Make a function that asks a theorem a group of checks, for use as a decorator."""

    def make(run: "Callable[[View], Iterable[Check]]") -> CheckGroup:
        return CheckGroup(identity, summary, run)

    return make


def exit_code(checks: Iterable[Check]) -> ExitCode:
    """Return ``REFUTED`` if a check failed, ``STANDS`` if one was decided, else ``UNDECIDED``."""
    verdicts = {check.verdict for check in checks}
    if "failed" in verdicts:
        return ExitCode.REFUTED
    return ExitCode.STANDS if verdicts & {"passed", "suspicious"} else ExitCode.UNDECIDED
