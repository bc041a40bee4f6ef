"""Who acts at each iteration of AREA, where events are independent of each other."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar, final

from numpy.typing import NDArray

from boundlab.algorithms.area import AreaParameters
from boundlab.delays import DelayModel, ServerPolicy, frequencies
from boundlab.errors import SpecError
from boundlab.events import SERVER

Share = TypeVar("Share", float, Fraction)


@final
@dataclass(frozen=True, slots=True)
class EventLaw(Generic[Share]):
    """Independent events, with probabilities that are floats or fractions.

    Parameters
    ----------
    p
        Shape (n,): probabilities of the clients; fractions in an array of objects.
    p_s
        Probability of an aggregation where events are i.i.d.
    count
        Δ: each (Δ+1)-st event is an aggregation and the others are arrivals with probabilities p/Σp; or None.
    """

    p: NDArray[Any]
    p_s: Share
    count: int | None = None

    def at(self, event: int) -> list[tuple[int, Share]]:
        """Return who can act in event 0, 1, …, with probabilities that sum to 1; clients in their order."""
        if self.count is None:
            return [*enumerate(self.p.tolist()), (SERVER, self.p_s)]
        if self.aggregates(event):
            return [(SERVER, type(self.p_s)(1))]
        return list(enumerate((self.p / self.p.sum()).tolist()))

    def completes(self, event: int) -> bool:
        """Return whether the arrival of event 0, 1, … completes a count."""
        return self.count is not None and (event + 1) % (self.count + 1) == self.count % (self.count + 1)

    def aggregates(self, event: int) -> bool:
        """Return whether a count makes event 0, 1, … an aggregation."""
        return self.count is not None and (event + 1) % (self.count + 1) == 0


def why_no_law(delays: DelayModel, policy: ServerPolicy) -> str:
    """Return '' if AREA's events are independent of each other, else why they are not."""
    if delays.memoryless:
        return delays.memoryless
    if policy.kind not in ("poisson", "given", "count"):
        return f"aggregations under {policy.describe()} depend on the clock"
    return ""


def event_law(parameters: AreaParameters, delays: DelayModel, policy: ServerPolicy) -> EventLaw[float]:
    """Return the law of AREA's events.

    Raises
    ------
    SpecError
        If they are not independent.
    """
    reason = why_no_law(delays, policy)
    if reason:
        raise SpecError(f"no exact engine applies: {reason}")
    p, p_s = frequencies(delays, policy)
    return EventLaw(p, p_s, parameters.count)
