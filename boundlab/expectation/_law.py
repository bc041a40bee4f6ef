"""Who comes next, where events are independent of each other."""

from boundlab.algorithms import EventLaw, EventProgram
from boundlab.delays import DelayModel, ServerPolicy, frequencies


def why_no_law(program: EventProgram, delays: DelayModel, policy: ServerPolicy) -> str:
    """Return '' if events are independent given the control state of a program, else why they are not."""
    if program.draws:
        return ""
    if delays.memoryless:
        return delays.memoryless
    if policy.kind == "periodic":
        return f"aggregations under {policy.describe()} depend on the clock"
    return ""


def event_law(delays: DelayModel, policy: ServerPolicy) -> EventLaw[float]:
    """Return the law of events, where :func:`why_no_law` has nothing against it."""
    p, p_s = frequencies(delays, policy)
    return EventLaw(p, float(p_s))
