"""The comparison that repeats what a search found; it is tried before anybody is told of it."""

from functools import cached_property
from typing import final

from boundlab.compare import compare
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._judge import FAILURES
from boundlab.theorems import Theorem
from boundlab.verdict import Verdict

# Two where it computes; a sample grows only so far, since a search must not wait minutes for its own last line.
_TRIALS = (2, 100, 1000)


@final
class Telling:
    """The number of trials that tell of a candidate what the search says; found when it is first asked for.

    Parameters
    ----------
    theorem, candidate
        What was searched, and what was found.
    violated
        What the search says of it.
    """

    def __init__(self, theorem: Theorem, candidate: Candidate, *, violated: bool) -> None:
        self._asked = theorem, candidate, violated

    @cached_property
    def trials(self) -> int | None:
        """As :func:`trials_that_tell` returns it."""
        theorem, candidate, violated = self._asked
        return trials_that_tell(theorem, candidate, violated=violated)


def trials_that_tell(theorem: Theorem, candidate: Candidate, *, violated: bool) -> int | None:
    """Return the number of trials with which ``boundlab compare`` says of a candidate what the search says.

    Parameters
    ----------
    violated
        Whether it is to say ``violated``, or anything else: about an instance that breaks nothing a sample is
        undecided, or a computation sure.

    Returns
    -------
    int or None
        None where no number that was tried does: samples of that size do not tell a ratio near 1.
    """
    tried = _TRIALS if violated else _TRIALS[:2]
    for trials in tried:
        try:
            computed, verdict = _said(theorem, candidate, trials)
        except FAILURES:
            return None
        agrees = (verdict is Verdict.VIOLATED) is violated
        if agrees and (violated or computed or trials == tried[-1]):
            return trials
        if computed:
            return None
    return None


def _said(theorem: Theorem, candidate: Candidate, trials: int) -> tuple[bool, Verdict]:
    """Return whether the comparison computes, and its verdict; everything is read from the words of the command."""
    found = compare(candidate.compared(theorem).plan(trials=trials, seed=0), trials, 0)
    return found.band.level == 1.0, found.verdict
