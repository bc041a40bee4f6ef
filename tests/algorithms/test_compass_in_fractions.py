"""Compass in whole numbers of ticks is Algorithm 2 of FedCompass in fractions, whatever the unit of time is."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from boundlab.algorithms.fedcompass import FEDCOMPASS, Compass, FedCompassParameters, closed_loop
from boundlab.arithmetic.rational import shortest_decimal
from boundlab.case import build_delays
from boundlab.delays import ServerPolicy
from boundlab.events import SERVER
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt

OWN = ServerPolicy("own", 0.0)
# Of a time unit: decades between the smallest and the largest floats, and units that are no power of ten.
UNITS = st.sampled_from([1.0, 0.1, 3.0, 1e-3, 1e-7, 1e-30, 2.0**-40, 1e9, 1e22])
STEP_TIMES = st.one_of(st.integers(1, 5).map(float), st.sampled_from([0.1, 0.25, 1 / 3, 0.7]), st.floats(0.01, 10.0))


class Fractions:
    """The scheduler, as slow and plain as it is printed; a group is a dictionary."""

    def __init__(self, rules: FedCompassParameters, speeds: list[float], known: bool) -> None:
        self.rules, self.groups = rules, []
        self.speed = [shortest_decimal(speed) for speed in speeds]
        self.run: dict[int, tuple[Fraction, int, dict[str, Any] | None]] = {}  # start, steps, group
        everyone = range(len(speeds))
        if known:
            self.sent = [self.send(i, Fraction(0)) for i in sorted(everyone, key=lambda i: self.speed[i])]
        else:
            self.run = {i: (Fraction(0), rules.Qmin, None) for i in everyone}
            self.sent = [(i, -1, rules.Qmin) for i in everyone]

    def send(self, i: int, now: Fraction) -> tuple[int, int, int]:
        """Join the group that leaves the most steps, or create one (JoinGroup, CreateGroup)."""
        low, high, speed = self.rules.Qmin, self.rules.Qmax, self.speed[i]
        live = [group for group in self.groups if group["open"]]
        fits = [((group["expected"] - now) // speed, group["id"], group) for group in live]
        fits = [one for one in fits if low <= one[0] <= high]
        if fits:
            steps, _, group = max(fits, key=lambda one: one[:2])
        else:
            later = [group for group in live if now < group["expected"]]
            longest = [(g["expected"] + high * min(self.speed[m] for m in g["members"]) - now) // speed for g in later]
            longest = [q for q in longest if low <= q <= high] if self.rules.prose_max else longest
            steps = max(low, min(high, max(longest, default=high)))
            latest = shortest_decimal(float(now + steps * speed * self.rules.latest_time_factor))
            group = {"id": len(self.groups) + 1, "expected": now + steps * speed, "latest": latest, "open": True}
            group |= {"members": [], "held": []}
            self.groups.append(group)
        group["members"].append(i)
        self.run[i] = now, steps, group
        return i, group["id"], steps

    def close(self, group: dict[str, Any], now: Fraction, kind: str) -> tuple[Any, ...]:
        """Aggregate what a group holds, and send its clients off, the fastest first."""
        group["open"], held = False, group["held"]
        group["members"] = [i for i in group["members"] if i not in held]
        group["held"] = []
        again = [self.send(i, now) for i in sorted(held, key=lambda i: self.speed[i])]
        return kind, group["id"], tuple(held), tuple(again)

    def moments(self, arrival: Callable[[int, float, int], float]) -> Iterator[tuple[Any, ...]]:
        """Yield (time, actor, kind, group, aggregated, sent) for clients that arrive so."""
        coming = {i: shortest_decimal(arrival(i, 0.0, steps)) for i, _, steps in self.sent}
        while True:
            due = min(
                ((g["latest"], g["id"], g) for g in self.groups if g["open"]), default=None, key=lambda one: one[:2]
            )
            time, i = min((time, i) for i, time in coming.items())
            if due is not None and due[0] < time:
                now, actor = due[0], SERVER
                answer = self.close(due[2], now, "timer")
            else:
                now, actor = time, i
                del coming[i]
                start, steps, group = self.run[i]
                self.speed[i] = (now - start) / steps
                if group is None:
                    answer = "first", -1, (i,), (self.send(i, now),)
                elif now > group["latest"]:
                    answer = "late", group["id"], (), (self.send(i, now),)
                else:
                    group["held"].append(i)
                    full = len(group["held"]) == len(group["members"])
                    answer = self.close(group, now, "complete") if full else ("held", group["id"], (), ())
            for client, _, steps in answer[3]:
                coming[client] = shortest_decimal(arrival(client, float(now), steps))
            yield float(now), actor, *answer


def clock(rounds: list[list[float]]) -> Callable[[int, float, int], float]:
    """Return when updates come of clients whose steps take the times of their rounds, over and over."""
    counts = [0] * len(rounds)

    def arrival(client: int, start: float, steps: int) -> float:
        speed = rounds[client][counts[client] % len(rounds[client])]
        counts[client] += 1
        return float(shortest_decimal(start) + steps * shortest_decimal(speed))

    return arrival


# The fastest client of a group comes before T_a, though its steps took longer than those of another.
SLOWER = [[1.68, 1.5, 1.5], [1.5], [5.0, 4.0, 5.0], [2.1, 1.125, 1.875]]


@example(SLOWER, 1.0, 1, 1, 3.0, False, False)
@given(
    st.lists(st.lists(STEP_TIMES, min_size=1, max_size=3), min_size=1, max_size=6),
    UNITS,
    st.integers(1, 6),
    st.integers(0, 12),
    st.sampled_from([1.0, 1.05, 1.2, 3.0]),
    st.booleans(),
    st.booleans(),
)
def test_groups_and_steps_are_those_of_fractions(
    times: list[list[float]], unit: float, low: int, more: int, factor: float, prose: bool, known: bool
) -> None:
    rounds = [[time * unit for time in own] for own in times]
    speeds = [own[0] for own in rounds]
    rules = FedCompassParameters(1.0, low, low + more, shortest_decimal(factor), prose_max=prose)
    plain, compass = Fractions(rules, speeds, known), Compass(rules, len(speeds), speeds if known else None)
    assert [tuple(one) for one in compass.started] == plain.sent
    for own, expected in zip(
        closed_loop(compass, clock(rounds)), islice(plain.moments(clock(rounds)), 60), strict=False
    ):
        assert (own.time, own.actor, *own.answer) == expected
    for group, other in zip(compass.history, plain.groups, strict=False):
        assert (group.id, compass.expected(group), group.latest) == (
            other["id"],
            other["expected"],
            float(other["latest"]),
        )


@pytest.mark.sweep(2)
@pytest.mark.parametrize("law", ["exponential:spread=5", "deterministic", "iid", "exponential"])
@pytest.mark.parametrize("options", [{}, {"Qmin": 1, "Qmax": 3, "latest_time_factor": 1}, {"normalise": "yes"}])
def test_one_pass_makes_the_tape_of_its_events(law: str, options: dict[str, Any]) -> None:
    kind, _, words = law.partition(":")
    given_ = dict([words.split("=")]) if words else {}
    delays = build_delays(kind, {key: float(value) for key, value in given_.items()}, 4)
    parameters = FEDCOMPASS.read(Options("fedcompass", {"eta": 0.1, **options}))
    for iterations in (0, 1, 7, 150):
        records = RecordAt(np.array([iterations]))
        made = compile_trial(FEDCOMPASS, parameters, 4, delays, OWN, iterations, records, Streams(5, 0))
        events = FEDCOMPASS.sample(parameters, delays, OWN, Streams(5, 0), 4, max(2 * len(made.events), 1))
        assert np.array_equal(made.events.time, events.time[: len(made.events)])
        again = FEDCOMPASS.schedule(parameters, events, 4, records, iterations)
        for name in ("op", "version", "event"):
            assert np.array_equal(getattr(made, name), getattr(again, name))
        for table in ("affine", "descend", "record", "uses"):
            for column in getattr(made, table).__dataclass_fields__:
                assert np.array_equal(getattr(getattr(made, table), column), getattr(getattr(again, table), column))
