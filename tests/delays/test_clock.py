"""Clocks: when an update arrives that somebody hands out."""

import heapq
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boundlab.case import build_delays
from boundlab.delays import DELAYS, Clock
from boundlab.delays.recorded import Durations, Ticks
from boundlab.errors import SpecError
from boundlab.randomness import Streams

RENEWAL = [model.id for model in DELAYS if model.id not in ("iid", "trace", "staleness")]


def ticks(times: list[float], actors: list[int]) -> Ticks:
    return Ticks(lambda count: (np.array(times)[:count], np.array(actors, np.int32)[:count]), "the list")


def in_turn(clock: Clock, clients: int, count: int) -> tuple[list[float], list[int]]:
    """Everybody begins his next update when the last has arrived."""
    queue = [(clock.arrival(client, 0.0), client) for client in range(clients)]
    heapq.heapify(queue)
    time, actor = [], []
    for _ in range(count):
        now, client = heapq.heappop(queue)
        time.append(now)
        actor.append(client)
        heapq.heappush(queue, (clock.arrival(client, now), client))
    return time, actor


@pytest.mark.parametrize("kind", RENEWAL)
def test_the_closed_loop_of_restless_clients_is_the_open_loop(kind: str) -> None:
    delays = build_delays(kind, {"spread": 3}, 3)
    events = delays.sample(Streams(5, 2), 300, 0.0)
    time, actor = in_turn(delays.clock(Streams(5, 2)), 3, 300)
    assert np.allclose(time, events.time, rtol=1e-12)
    # Ties apart, which the deterministic model has and rounding may break.
    assert actor == events.actor.tolist() or (kind == "deterministic" and np.bincount(actor).sum() == 300)


@pytest.mark.parametrize("kind", RENEWAL)
def test_rounds_that_are_asked_for_together_end_as_one_after_the_other(kind: str) -> None:
    delays, waits = build_delays(kind, {"spread": 3}, 3), [(0, 1, 2), (2,), (1, 0), range(3)] * 100
    clock, now, ends = delays.clock(Streams(5, 2)), 0.0, []
    for clients in waits:
        now = max(clock.arrival(client, now) for client in clients)
        ends.append(now)
    assert delays.clock(Streams(5, 2)).ends(waits) == ends


def test_iid_events_and_traces_arrive_at_their_own_times(tmp_path: Path) -> None:
    iid = build_delays("iid", {"p": [0.3, 0.3], "p_s": 0.4}, 2)
    time, actor = iid.arrivals_of(Streams(3), 200)
    mine = actor >= 0
    assert 60 < mine.sum() < 180
    seen = in_turn(iid.clock(Streams(3)), 2, 60)
    assert seen == (time[mine][:60].tolist(), actor[mine][:60].tolist())
    (tmp_path / "t.csv").write_text("1,0\n2,1\n2.5,1\n4,0\n6,1\n9,0\n")
    trace = build_delays("trace", {"file": str(tmp_path / "t.csv")}, 2)
    assert in_turn(trace.clock(Streams(0)), 2, 4) == ([1, 2, 2.5, 4], [0, 1, 1, 0])


@given(st.lists(st.tuples(st.floats(0, 3), st.integers(0, 2)), min_size=1, max_size=30), st.floats(0, 20))
def test_a_tick_is_the_first_own_event_after_the_start(rows: list[tuple[float, int]], start: float) -> None:
    times = np.cumsum([gap for gap, _ in rows]).tolist()
    actors = [client for _, client in rows]
    clock = ticks(times, actors)
    for client in range(3):
        later = [time for time, who in zip(times, actors, strict=True) if who == client and time > start]
        if later:
            assert clock.arrival(client, start, steps=9) == later[0]  # whatever the work
        else:
            with pytest.raises(SpecError, match=f"the list has no event of client {client} after time"):
                clock.arrival(client, start)


def test_an_event_at_the_start_itself_is_past() -> None:
    assert ticks([1.0, 2.0], [0, 0]).arrival(0, 1.0) == 2.0


def test_ticks_ask_for_more_events_as_time_goes_on() -> None:
    asked: list[int] = []

    def sample(count: int) -> tuple[Any, Any]:
        asked.append(count)
        return np.arange(1.0, count + 1.0), np.arange(count, dtype=np.int32) % 2

    clock = Ticks(sample)
    assert [clock.arrival(0, start) for start in (0.0, 1.0, 255.0, 700.0)] == [1, 3, 257, 701]
    assert asked == [256, 512, 1024]


def test_durations_count_the_updates_of_each_client() -> None:
    # Update u of client i takes 100·i + u; blocks of draws must not show.
    clock = Durations(lambda client, update, count: 100.0 * client + np.arange(update, update + count))
    rng = np.random.default_rng(0)
    seen = [0, 0, 0]
    for client in rng.integers(0, 3, size=500).tolist():
        assert clock.arrival(client, 7.0, steps=2) == 7.0 + 2 * (100.0 * client + seen[client])
        seen[client] += 1


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", [*RENEWAL, "iid"])
def test_each_clock_begins_from_the_start(kind: str) -> None:
    delays = build_delays(kind, {} if kind == "iid" else {"spread": 2}, 2)
    one, other = delays.clock(Streams(1)), delays.clock(Streams(1))
    first = [one.arrival(0, 0.0) for _ in range(3)]
    assert [other.arrival(0, 0.0) for _ in range(3)] == first
    assert delays.clock(Streams(2)).arrival(0, 0.0) != first[0] or kind in ("deterministic", "iid", "two-speed")
