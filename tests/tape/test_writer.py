"""The writer of tapes, the events that it is given, and as many of them as a trial takes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boundlab.case import build_delays
from boundlab.errors import CaseError, SpecError, TapeError
from boundlab.events import SERVER, Events, events_as_json, read_client, read_events, read_rows
from boundlab.simulate.work import compile_trial, spaced_iterations
from boundlab.tape import SERVER_MODEL, Initial, Op, RecordAt, Tape, Writer


def at(count: int, start: float = 1.0) -> Events:
    return Events(np.arange(start, start + count), np.zeros(count, dtype=np.int32))


def write(records: RecordAt, iterations: int = 10**6, events: int = 6, every: int = 2) -> Tape:
    """One client whose differences are added at every second event."""
    writer = Writer(at(events), 1, records, iterations)
    mine = writer.register()
    run = writer.descend(mine, SERVER_MODEL, client=0, steps=1, step_size=0.5)
    for event in range(events):
        if writer.done:
            break
        writer.begin(event)
        if event % every == every - 1:
            writer.affine(mine, (1.0, mine), (-1.0, SERVER_MODEL))
            writer.arrive(run)
            writer.use(run, 1.0)
            writer.server_update((1.0, mine))
            run = writer.descend(mine, SERVER_MODEL, client=0, steps=1, step_size=0.5)
        writer.note("event_parity", event % 2)
        writer.end()
    return writer.tape()


def test_versions_are_counted_by_server_updates() -> None:
    tape = write(RecordAt())
    assert tape.version.tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert tape.iterations == 3
    assert tape.server == SERVER_MODEL
    # Runs start from versions 0 … 3; the last does not arrive. They arrive with events 1, 3, 5.
    assert tape.descend.version.tolist() == [0, 1, 2, 3]
    assert tape.descend.arrival.tolist() == [1, 3, 5, -1]
    assert tape.descend.update.tolist() == [0, 1, 2, 3]
    assert (tape.uses.update.tolist(), tape.uses.version.tolist()) == ([0, 1, 2], [0, 1, 2])
    assert tape.notes["event_parity"].tolist() == [0, 1] * 3


def test_events_after_the_last_server_update_are_cut_off() -> None:
    tape = write(RecordAt(), iterations=2)
    assert tape.events.time.tolist() == [1, 2, 3, 4]
    assert tape.version.tolist() == [0, 0, 1, 1, 2]
    assert len(write(RecordAt(), iterations=0).events) == 0


@pytest.mark.parametrize(
    ("records", "iterations", "times"),
    [
        (RecordAt(), [0, 1, 2, 3], [0, 2, 4, 6]),
        (RecordAt(np.array([0, 2, 9])), [0, 2], [0, 4]),
        (RecordAt(np.array([], dtype=np.int64)), [], []),
        (RecordAt(average=True), [1, 2, 3], [2, 4, 6]),
        (RecordAt(np.array([0, 3]), average=True), [3], [6]),
        (RecordAt(events=True), [0, 1, 1, 2, 2, 3], [1, 2, 3, 4, 5, 6]),
    ],
)
def test_records_are_those_asked_for(records: RecordAt, iterations: list[int], times: list[float]) -> None:
    tape = write(records)
    assert tape.record.iteration.tolist() == iterations
    assert tape.record.version.tolist() == iterations
    assert tape.record.time.tolist() == times


def test_registers_say_what_they_hold_at_first() -> None:
    writer = Writer(at(1), 2, RecordAt(), 1)
    assert writer.register(Initial.ZERO) == 1
    assert writer.register(Initial.START, 3) == 2
    assert writer.register() == 5
    tape = writer.tape()
    assert tape.initial.tolist() == [Initial.START, Initial.ZERO, *[Initial.START] * 3, Initial.UNWRITTEN]
    assert tape.registers == 6


def test_updates_are_counted_for_each_client_unless_they_are_named() -> None:
    writer = Writer(at(1), 2, RecordAt(), 1)
    to = writer.register(count=2)
    for client, update, version in ((0, None, None), (1, None, None), (0, 7, None), (0, None, 0), (1, None, None)):
        writer.descend(to + client, SERVER_MODEL, client, 1, 0.1, update, version)
    assert writer.tape().descend.update.tolist() == [0, 0, 7, 1, 1]


def test_no_terms_mean_zero() -> None:
    writer = Writer(at(1), 1, RecordAt(), 1)
    writer.affine(writer.register())
    tape = writer.tape()
    assert tape.affine.start.tolist() == [0, 0]
    assert tape.op.tolist() == [Op.RECORD, Op.AFFINE]


def test_instructions_belong_to_the_event_in_which_they_are_written() -> None:
    tape = write(RecordAt(), events=2)
    # Broadcast and record of version 0 before the first event; all the rest in the second.
    assert tape.event.tolist() == [-1, -1, 1, 1, 1, 1]
    assert tape.op.tolist() == [Op.RECORD, Op.DESCEND, Op.AFFINE, Op.AFFINE, Op.RECORD, Op.DESCEND]


# ---- explicit events --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arrives", "weight", "updates", "ends", "message"),
    [
        (False, 1.0, True, True, "has not arrived"),
        (True, 1.0, False, True, "in the order of the server versions"),
        (True, np.inf, True, True, "weight of an update is not finite"),
        (True, 1.0, True, False, r"Writer\.end\(\) ends"),
    ],
)
def test_a_defect_in_a_compiler_is_found(arrives: bool, weight: float, updates: bool, ends: bool, message: str) -> None:
    """What :func:`verify` sees in a tape, test_tape.py has."""
    writer = Writer(at(3), 1, RecordAt(), 3)
    mine = writer.register()
    run = writer.descend(mine, SERVER_MODEL, 0, 1, 0.1)
    writer.begin(0)
    if arrives:
        writer.arrive(run)
    writer.use(run, weight)
    if updates:
        writer.server_update((1.0, mine))
    if ends:
        writer.end()
    with pytest.raises(TapeError, match=message):
        writer.tape()


@given(st.lists(st.tuples(st.floats(0, 10), st.integers(-1, 2)), min_size=1, max_size=20))
def test_events_are_written_as_they_are_read(rows: list[tuple[float, int]]) -> None:
    times = np.cumsum([round(time, 3) for time, _ in rows]).tolist()
    raw = [[time, "s" if who < 0 else who] for time, (_, who) in zip(times, rows, strict=True)]
    events = read_events(raw, 3, "here")
    assert events.time.tolist() == times
    assert events.actor.tolist() == [who for _, who in rows]
    assert events_as_json(events) == raw


def test_details_follow_the_actor() -> None:
    events = Events(np.array([0.0, 1.0]), np.array([1, SERVER], np.int32), (("send", 2), ("aggregate", 2)))
    assert events_as_json(events) == [[0, 1, "send", 2], [1, "s", "aggregate", 2]]
    assert events.head(1).detail == (("send", 2),)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (None, "events must be a non-empty list of FORM"),
        ({}, "events must be a non-empty list of FORM"),
        ([], "events must be a non-empty list of FORM"),
        ([[1, 0], 3], "event 2 must be FORM, got 3"),
        ([[1]], "event 1 must be FORM"),
        ([[1, 2, 3, 4]], "event 1 must be FORM"),
        ([["now", 0]], "event 1: time must be a number, got 'now'"),
        ([[None, 0]], "event 1: time must be a number"),
        ([[True, 0]], "event 1: time must be a number"),
        ([[float("nan"), 0]], "event 1: time must be a finite number"),
        ([[-0.5, 0]], "times start at 0"),
        ([[1, 0], [0.5, 0]], "event 2: time 0.5 is before the event ahead of it"),
    ],
)
def test_bad_rows_get_one_line(raw: Any, message: str) -> None:
    with pytest.raises((CaseError, SpecError)) as caught:
        read_rows(raw, "here", "FORM", (2, 3))
    assert str(caught.value).startswith("here: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("who", "server", "message"),
    [
        ("s", False, "actor must be a client index, got 's'"),
        ("t", True, "actor must be a client index or \"s\", got 't'"),
        (1.0, True, "actor must be"),
        (False, True, "actor must be"),
        (None, False, "actor must be"),
        ([0], False, "actor must be"),
        (-1, True, "client -1 does not exist; the problem has 3 clients, from 0 on"),
        (3, False, "client 3 does not exist"),
    ],
)
def test_bad_actors_get_one_line(who: object, server: bool, message: str) -> None:
    with pytest.raises(CaseError) as caught:
        read_client(who, 3, "event 4", server=server)
    assert message in str(caught.value)


# ---- trials -----------------------------------------------------------------------------------------------------


class Reluctant:
    """Makes a server update at every ``every``-th event, and guesses that one event is enough."""

    def __init__(self, every: int) -> None:
        self.every, self.asked = every, []

    def in_one_pass(self, *_words: Any) -> None:
        return None

    def events_for(self, _parameters: Any, _clients: int, _iterations: int) -> int:
        return 0

    def sample(self, _parameters: Any, _delays: Any, _policy: Any, _streams: Any, _clients: int, count: int) -> Events:
        self.asked.append(count)
        return at(count)

    def schedule(self, _parameters: Any, events: Events, _clients: int, records: RecordAt, iterations: int) -> Tape:
        return write(records, iterations, len(events), self.every)


@pytest.mark.parametrize("every", [1, 2, 7])
@pytest.mark.parametrize("iterations", [1, 5, 60])
def test_a_trial_asks_for_events_until_there_are_enough(every: int, iterations: int) -> None:
    algorithm: Any = Reluctant(every)
    unused, delays = None, build_delays("deterministic", {}, 1)
    tape = compile_trial(algorithm, None, 1, delays, unused, iterations, RecordAt(), unused)
    assert (tape.iterations, len(tape.events)) == (iterations, every * iterations)
    assert algorithm.asked == sorted(set(algorithm.asked))
    assert algorithm.asked[0] == 1
    assert algorithm.asked[-1] <= 2.5 * every * iterations + 9  # and not for many more


@given(st.integers(1, 10**6), st.integers(0, 1))
def test_spaced_iterations_end_where_they_should(total: int, first: int) -> None:
    ks = spaced_iterations(total, first)
    assert (ks[0], ks[-1]) == (first, total)
    assert (np.diff(ks) > 0).all()
    assert len(ks) <= 13
