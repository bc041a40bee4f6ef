"""Vacuous bounds: those that are not below the left side of a run that never moves."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import BoundlabError
from boundlab.files import json_value
from boundlab.instance.plan import Plan
from boundlab.metrics import Certified, terms_of

Floats = NDArray[np.float64]
FARTHEST = 10**12  # the largest horizon that is looked at
_ITERATED = 10**5  # the same for bounds that are iterated, not evaluated: two or three seconds
_POINTS = 2000
_EQUAL = 1e-9


@final
@dataclass(frozen=True, slots=True)
class TrivialBound:
    """How a bound compares with a run that stays at x0.

    Parameters
    ----------
    level
        The left side of such a run, in the units of the metric: it is the same at every horizon.
    smallest
        The smallest bound compared. At the level or above it the theorem is vacuous here.
    vacuous
        Whether that is so.
    crosses
        About the first horizon at which the same bound is below the level; None if it is not up to ``searched``.
    searched
        The largest horizon looked at; None where none was, or the bound cannot be evaluated there.
    """

    level: float
    smallest: float
    vacuous: bool
    crosses: int | None = None
    searched: int | None = None

    def words(self, counter: str) -> str:
        """Return the half sentence for people, empty where the bound is not vacuous."""
        if not self.vacuous:
            return ""
        text = f"the bound is not below {self.level:.3g}, the error of never moving"
        if self.crosses is not None:
            return f"{text}; it falls below that at about {counter} = {_short(self.crosses)}"
        return text if self.searched is None else f"{text}, at any {counter} up to {_short(self.searched)}"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "level": json_value(self.level),
            "says_nothing": self.vacuous,
            "crosses_at": self.crosses,
            "searched_to": self.searched,
        }


def trivial_bound(plan: Plan, bound: Floats) -> TrivialBound:
    """Compare a bound with the error of never moving.

    A start at a minimiser is no such case: what a bound says there is how far noise may drive the iterates.

    Parameters
    ----------
    bound
        Shape (points,), at ``plan.ks``.
    """
    if terms_of(plan.metric):  # of a run that never moves only the model is known
        return TrivialBound(np.nan, float(bound.min()), vacuous=False)
    low, _ = plan.metric.at(Certified(plan.problem), plan.problem.x0)
    level, smallest = float(low), float(bound.min())
    if plan.theorem.shape or level <= 0.0 or not smallest >= level * (1.0 - _EQUAL):
        return TrivialBound(level, smallest, vacuous=False)
    most = FARTHEST if plan.theorem.bound.closed else _ITERATED
    first = int(plan.ks[-1])
    if first >= most:
        return TrivialBound(level, smallest, vacuous=True)
    horizons = np.unique(np.rint(np.geomspace(max(first, 1), most, _POINTS)).astype(np.int64))
    ends = [len(horizons)] if plan.theorem.bound.closed else _stages(horizons)
    for begin, end in pairwise([0, *ends]):
        try:
            with np.errstate(all="ignore"):
                later = plan.theorem.evaluate({**plan.values, plan.theorem.horizon_symbol: horizons[:end]}).total
        except BoundlabError:  # a condition that fails there, or a number that is not finite
            return TrivialBound(level, smallest, vacuous=True)
        below = np.flatnonzero(np.broadcast_to(later, end)[begin:] < level)
        if len(below):
            return TrivialBound(level, smallest, True, int(horizons[begin + below[0]]), most)
    return TrivialBound(level, smallest, True, None, most)


def _stages(horizons: NDArray[np.int64]) -> list[int]:
    """Return how many of the horizons to look at first, and then: each time ten times as far."""
    tens = 10.0 ** np.arange(np.ceil(np.log10(horizons[0] + 1)), np.ceil(np.log10(horizons[-1])))
    return sorted({*np.searchsorted(horizons, tens, side="right").tolist(), len(horizons)})


def _short(number: int) -> str:
    """Return an integer with two significant digits, as 1e8 where it is long."""
    if number < 10**5:
        return str(int(float(f"{number:.2g}")))
    mantissa, exponent = f"{number:.1e}".split("e+")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}"
