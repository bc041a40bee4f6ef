"""Left sides that are those of the last update within some seconds."""

from collections.abc import Collection
from typing import Final

from boundlab.assumptions import FIXED_TIMES
from boundlab.errors import SpecError
from boundlab.formulas.symbols import names_of
from boundlab.metrics import INDEX, Metric, range_of, terms_of

SECONDS: Final = "seconds"
"""The symbol that says within which time a left side is that of the last update."""


def reads_of(left: Metric) -> frozenset[str]:
    """Return the symbols in the range and the weights of a left side, and the seconds within which it is looked at.

    How many updates there are in that time is read off the run.
    """
    found, clock = range_of(left), frozenset({SECONDS} if left.in_seconds else ())
    if found is None:
        return clock.union(*(names_of(one.times) for one in terms_of(left)))
    read = clock.union(*map(names_of, found.formulas)) - {INDEX[found.counter].name}
    return read - {found.counter} if clock else read


def require_clock(
    name: str, counter: str, assumptions: Collection[str], read: Collection[str], *, fixed: bool, larger: bool
) -> None:
    """Make sure that a statement in seconds has a clock, and reads nowhere how many updates there are.

    Parameters
    ----------
    name, counter
        Its id, and the symbol that counts updates.
    read
        What bound, step, conditions and definitions read.
    fixed, larger
        Whether step or weights depend on the horizon, and whether it counts something larger or is about growth.

    Raises
    ------
    SpecError
        If not.
    """
    if FIXED_TIMES not in assumptions:
        raise SpecError(f"{name}: a statement in seconds assumes {FIXED_TIMES}; name it under assumptions")
    if larger:
        raise SpecError(f"{name}: generous and growth are for bounds of updates, not for {SECONDS}; leave them out")
    if fixed or counter in read:
        raise SpecError(
            f"{name}: {counter} is read off the run, the updates within {SECONDS}: no step, bound, condition, "
            f"definition or weight reads it; say {SECONDS} in its place"
        )
