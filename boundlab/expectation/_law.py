"""Law of the next event, where events are independent of each other; and clients that may change places."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Control, Event, EventLaw, EventProgram
from boundlab.arithmetic.rational import ENGINE, rational
from boundlab.delays import DelayModel, IndependentEvents, ServerPolicy, frequencies
from boundlab.objective import Problem


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
    return EventLaw(p, float(p_s), tuple(map(float, delays.ages)))


_Past = tuple[Any, Event] | None  # the events before, the last one first


def event_sequences(program: EventProgram, law: EventLaw[Any], iterations: int) -> Iterator[tuple[list[Event], Any]]:
    """Yield all that can happen up to an iteration, one by one, with probabilities in the numbers of the law."""
    stack: list[tuple[Control, _Past, int, Any, int]] = [(program.opening()[1], None, 0, 1, 0)]
    while stack:
        control, past, count, weight, done = stack.pop()
        if done == iterations:
            events = []
            while past is not None:
                past, event = past
                events.append(event)
            yield events[::-1], weight
            continue
        for event, share in reversed(program.choices(control, law)):
            step = program.event(control, event, count)
            stack.append((step.control, (past, event), count + 1, weight * share, done + step.iteration))


def exact_event_law(delays: DelayModel, policy: ServerPolicy, *, counted: bool) -> EventLaw[Fraction] | None:
    """Return the law in the fractions that its floats stand for, or None where they are none that sum to 1.

    Parameters
    ----------
    counted
        Whether a count of arrivals says when the server aggregates: then it has no rate of its own.
    """
    if isinstance(delays, IndependentEvents):
        shares = [rational(one, ENGINE) for one in (*delays.p.tolist(), delays.p_s)]
        known = [one for one in shares if one is not None]
        return _law(known[:-1], known[-1]) if len(known) == len(shares) and sum(known) == 1 else None
    rates = [rational(rate, ENGINE) for rate in delays.rates().tolist()]
    server = Fraction(0) if counted else rational(policy.rate(delays), ENGINE)
    if server is None or any(rate is None for rate in rates):
        return None
    total = sum((rate for rate in rates if rate is not None), server)
    return _law([rate / total for rate in rates if rate is not None], server / total, delays.ages)


def _law(p: Sequence[Fraction], p_s: Fraction, ages: tuple[Fraction, ...] = ()) -> EventLaw[Fraction]:
    return EventLaw(np.array(p, dtype=object), p_s, ages)


def twins(problem: Problem, p: NDArray[np.float64]) -> list[list[int]]:
    """Return groups of at least two clients with the same function and the same probability.

    Parameters
    ----------
    p
        Shape (n,): probabilities of the clients.
    """
    groups: dict[tuple[bytes, float], list[int]] = {}
    for client, share in enumerate(p.tolist()):
        key = problem.client_key(client)
        if key is not None:
            groups.setdefault((key, share), []).append(client)
    return [group for group in groups.values() if len(group) > 1]
