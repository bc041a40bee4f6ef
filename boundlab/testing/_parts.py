"""The ways of looking at a theorem, by name."""

from boundlab.errors import SpecError
from boundlab.testing._bound import MOST_SETTINGS, Demand, checked, compared, searched
from boundlab.testing._finding import Finding
from boundlab.testing._setting import fitting
from boundlab.theorems import Theorem


def look(part: str, name: str, theorem: Theorem, demand: Demand) -> list[Finding]:
    """Return what one way of looking finds.

    Parameters
    ----------
    part
        ``checks``, ``comparison`` or ``search``.
    name
        The theorem as it was given.

    Raises
    ------
    AssumptionError
        If no built-in setting is one that the theorem is about.
    SpecError
        If there is no such part.
    """
    match part:
        case "checks":
            return [checked(name, theorem)]
        case "comparison":
            return compared(name, fitting(theorem, MOST_SETTINGS), demand)
        case "search":
            return [searched(name, theorem, demand)]
    raise SpecError(f"there is no part {part!r}")
