"""Conditional verdicts: those that depend on values which nothing certifies."""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec

from boundlab.instance.plan import Plan
from boundlab.instance.readings import SymbolValue
from boundlab.verdict import Verdict

Judged = tuple[Verdict, str]
P = ParamSpec("P")
_WEAKER = {Verdict.VIOLATED: Verdict.INCONCLUSIVE, Verdict.HOLDS: Verdict.CONSISTENT}


def uncertified(readings: Iterable[SymbolValue]) -> tuple[str, ...]:
    """Return the values that nothing certifies, in words."""
    return tuple(reading.words() for reading in readings if not reading.certified)


def conditional(values: Sequence[str], verdict: Verdict, reason: str) -> Judged:
    """Return what may be said where a verdict depends on uncertified ``values``, in words.

    ``violated`` becomes ``inconclusive``, for the true value may give a larger bound; ``holds`` becomes
    ``consistent``. Both name the values.
    """
    if not values or verdict not in (*_WEAKER, Verdict.CONSISTENT):
        return verdict, reason
    return _WEAKER.get(verdict, verdict), f"{verdict}, if {' and '.join(values)}: {reason}"


def qualified(judge: Callable[Concatenate[Plan, P], Judged]) -> Callable[Concatenate[Plan, P], Judged]:
    """Make what a judge of plans says conditional on the readings of the plan."""

    @wraps(judge)
    def careful(plan: Plan, /, *args: P.args, **kwargs: P.kwargs) -> Judged:
        return conditional(uncertified(plan.symbols), *judge(plan, *args, **kwargs))

    return careful
