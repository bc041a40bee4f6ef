"""The ways of looking at a theorem, by name."""

from boundlab.errors import AssumptionError, SpecError
from boundlab.instance.fitting import fitting
from boundlab.testing._bound import MOST_SETTINGS, BoundRequest, checked, compared, searched
from boundlab.testing._finding import BoundFinding
from boundlab.theorems import Theorem
from boundlab.verdict import Verdict


def look(part: str, name: str, theorem: Theorem, demand: BoundRequest) -> list[BoundFinding]:
    """Return what one way of looking finds.

    Parameters
    ----------
    part
        ``checks``, ``comparison`` or ``search``.
    name
        The theorem as it was given.

    Returns
    -------
    list of Finding
        Not applicable where no built-in setting is one that the theorem is about.

    Raises
    ------
    SpecError
        If there is no such part.
    """
    match part:
        case "checks":
            return [checked(name, theorem)]
        case "comparison":
            try:
                return compared(name, fitting(theorem, MOST_SETTINGS), demand)
            except AssumptionError as error:
                return [BoundFinding(name, "comparison", Verdict.NOT_APPLICABLE.value, str(error))]
        case "search":
            return [searched(name, theorem, demand)]
    raise SpecError(f"there is no part {part!r}")
