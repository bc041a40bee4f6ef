"""Checks of a theorem by its formula and its metadata alone: seconds, and no simulation.

docs/checks.md says what each check means, with the mathematics.
"""

from collections.abc import Iterable, Iterator

from boundlab.checks._check import CONSEQUENCES as CONSEQUENCES
from boundlab.checks._check import GROUPS as GROUPS
from boundlab.checks._check import Check as Check
from boundlab.checks._check import Verdict as Verdict
from boundlab.checks._check import exit_code as exit_code
from boundlab.checks._check import read_groups as read_groups
from boundlab.theorems import Theorem


def check(theorem: Theorem, only: Iterable[str] | None = None) -> tuple[Check, ...]:
    """Check a theorem.

    Parameters
    ----------
    theorem
        A registered one, or a user's own.
    only
        Groups, keys of :data:`GROUPS`; all if None.

    Returns
    -------
    tuple of Check
        In the order of the groups. ``unknown`` is never ``failed``: each failure carries its witness.

    Raises
    ------
    SpecError
        If there is no such group.
    """
    groups = tuple(GROUPS) if only is None else read_groups(",".join(only))
    return tuple(_run(theorem, groups))


def _run(theorem: Theorem, groups: tuple[str, ...]) -> Iterator[Check]:
    from boundlab.checks import admissible, limits, monotone, relations, truths, units, vacuity
    from boundlab.checks._view import View
    from boundlab.errors import UndecidedError

    view = View(theorem)
    runners = {
        "units": units.checks,
        "limits": limits.checks,
        "truths": truths.checks,
        "replication": relations.replication,
        "refinement": relations.refinement,
        "gauge": relations.gauge,
        "monotone": monotone.checks,
        "vacuity": vacuity.checks,
        "admissible": admissible.checks,
    }
    for group in groups:
        try:
            yield from runners[group](view)
        except UndecidedError as error:
            yield Check(group, GROUPS[group], "unknown", str(error))
