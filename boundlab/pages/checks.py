"""The page of the checks of a theorem: what failed first, what passed in a line."""

from collections import Counter
from typing import TYPE_CHECKING, Protocol

from boundlab.pages.blocks import GAP, Block, Line, Rows, Tone, Words, line, table, tone_of, words

if TYPE_CHECKING:
    from boundlab.checks import Check
    from boundlab.theorems import Theorem

# In the order of the page.
_ORDER = ("failed", "suspicious", "unknown", "passed (z3)", "passed", "not applicable")
_FOLDED = ("passed (z3)", "passed", "not applicable")
_WITNESS: dict[str, Tone] = {"failed": "", "suspicious": ""}


class Checked(Protocol):
    """A theorem with its checks."""

    @property
    def theorem(self) -> "Theorem":
        """Checked theorem."""

    @property
    def checks(self) -> "tuple[Check, ...]":
        """Its checks, with verdicts and witnesses."""


def checks_page(found: Checked, verbose: bool = False) -> list[Block]:
    """Return the table id | verdict | statement and witness, what follows from the failures, and the counts.

    Parameters
    ----------
    verbose
        Whether what passed and what does not apply stands in the table, too, and not in one line each.
    """
    theorem, checks = found.theorem, found.checks
    shown = [one for one in checks if verbose or one.verdict not in _FOLDED]
    page: list[Block] = [words(f"{theorem.id} ({theorem.status}): {theorem.title}"), GAP]
    if shown:
        page.append(_table(sorted(shown, key=lambda one: _ORDER.index(one.verdict))))
    if not verbose:
        page += _folded(checks)
    counts: Counter[str] = Counter(one.verdict for one in checks)
    summary = ", ".join(f"{counts[word]} {word}" for word in _ORDER if counts[word])
    hint = "" if verbose or len(shown) == len(checks) else "; -v shows all"
    return [*page, GAP, words(f"{summary}{hint}")]


def _table(checks: "list[Check]") -> Rows:
    rows = [(one.id, line((one.verdict, tone_of(one.verdict))), _said(one)) for one in checks]
    return table("", ("check", "verdict", "statement, and what shows or contradicts it"), rows, whole=(0, 1))


def _said(one: "Check") -> Line:
    from boundlab.checks import CONSEQUENCES

    found = line(one.statement)
    if one.witness:
        found += line((f"\n{one.witness}", _WITNESS.get(one.verdict, "dim")))
    if one.consequence:
        found += line((f"\n⇒ {CONSEQUENCES[one.consequence]}", tone_of(one.verdict)))
    return found


def _folded(checks: "tuple[Check, ...]") -> list[Words]:
    """Return a line for each verdict that is no news, with the groups, and the notes on the statement itself."""
    found = []
    for word in _FOLDED:
        groups: Counter[str] = Counter(one.group for one in checks if one.verdict == word)
        if groups:
            named = ", ".join(f"{group} {count}" if count > 1 else group for group, count in groups.items())
            found.append(words((word, tone_of(word)), f": {named}"))
    found += [
        words((f"note: {one.witness}", "dim"))
        for one in checks
        if one.group == "scope" and one.verdict == "passed" and one.witness
    ]
    return found
