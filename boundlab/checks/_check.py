"""What a check says: three verdicts, a witness, and what follows from a failure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, final

from boundlab.errors import SpecError
from boundlab.options import nearest
from boundlab.verdict import ExitCode

Verdict = Literal["passed", "failed", "unknown", "not applicable"]
Consequence = Literal["", "claim false", "claim vacuous", "implies more", "does not follow"]

GROUPS: dict[str, str] = {
    "units": "both sides behave alike under f → c·f and x → s·x",
    "limits": "what remains at the edges of the constants",
    "truths": "the right side is above what is known to happen",
    "replication": "identical clients, each duplicated: the right side does not fall",
    "refinement": "half the step and twice the delay: the delay does not drop out of the bound",
    "gauge": "with one local step only eta_l·eta_g matters",
    "monotone": "worse constants do not lower the bound",
    "vacuity": "the bound is below what is trivially true",
    "admissible": "the conditions can be met, and the theorem's own step meets them",
}
CONSEQUENCES: dict[str, str] = {
    "claim false": "the claim, for all problems that it names, is false",
    "claim vacuous": "the claim is true for trivial reasons where the witness says",
    "implies more": "the claim implies the stronger one of the witness; suspicious, no refutation by itself",
    "does not follow": "the statement does not follow from the theorem that it is derived from",
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
        ``passed``: shown, symbolically or by a certificate. ``failed``: the witness shows the contrary.
        ``unknown``: neither within the time limit. ``not applicable``: the question makes no sense here.
    witness
        Failed: the scaling, the instance or the values that show it. Else what was found, or why not.
    consequence
        What follows from a failure, a key of :data:`CONSEQUENCES`; empty otherwise.
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
        """The group, a key of :data:`GROUPS`."""
        return self.id.split(".", 1)[0]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "id": self.id, "statement": self.statement, "verdict": self.verdict, "witness": self.witness,
            "consequence": self.consequence, "latex": self.latex,
        }  # fmt: skip


def exit_code(checks: Iterable[Check]) -> ExitCode:
    """Return ``REFUTED`` if a check failed, ``UNDECIDED`` if none could be decided, else ``STANDS``."""
    verdicts = {check.verdict for check in checks}
    if "failed" in verdicts:
        return ExitCode.REFUTED
    return ExitCode.UNDECIDED if "unknown" in verdicts and "passed" not in verdicts else ExitCode.STANDS


def read_groups(text: str | None) -> tuple[str, ...]:
    """Read ``units,limits``; None stands for all groups.

    Raises
    ------
    SpecError
        If there is no such group; the message names the nearest one.
    """
    if text is None:
        return tuple(GROUPS)
    wanted = [name.strip() for name in text.split(",")]
    for name in wanted:
        if name not in GROUPS:
            raise SpecError(f"--only {name!r}: no such group of checks; {nearest(name, GROUPS)}")
    return tuple(name for name in GROUPS if name in wanted)
