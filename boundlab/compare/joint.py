"""Joint verdict of several comparisons."""

from collections.abc import Iterable

from boundlab.verdict import Verdict

_WORST_FIRST = (Verdict.VIOLATED, Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE, Verdict.CONSISTENT, Verdict.HOLDS)


def joint_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on a theorem that was compared several times, the worst of all.

    Their confidence levels have to be those of a joint statement.
    """
    found = set(verdicts)
    return next(one for one in _WORST_FIRST if one in found)
