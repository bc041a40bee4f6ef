"""Tapes: what the invariants catch, and what is read off."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tape_makers import Some

from boundlab.algorithms import StepSize
from boundlab.algorithms.area import AREA, AreaParameters
from boundlab.delays import DELAYS, read_policy, sample_events
from boundlab.errors import TapeError
from boundlab.events import Events
from boundlab.execute.floats import run
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.tape import Identity, RecordAt, statistics, verify, verify_identities


def area_tape(actors, clients=2, average=False, **options):
    events = Events(np.arange(1.0, len(actors) + 1), np.array(actors, dtype=np.int32))
    return AREA.schedule(AreaParameters(StepSize(0.1), **options), events, clients, RecordAt(average=average), 10**6)


def with_part(tape, part, **changes):
    return dataclasses.replace(tape, **{part: dataclasses.replace(getattr(tape, part), **changes)})


def test_the_broken_tapes_are_refused_by_name():
    tape = area_tape([0, 1, -1, 0])
    verify(tape)
    broken = {
        "must not decrease": with_part(tape, "events", time=tape.events.time[::-1].copy()),
        "outside -1": with_part(tape, "events", actor=np.array([0, 5, -1, 0], np.int32)),
        "coefficient is not finite": with_part(tape, "affine", coef=tape.affine.coef * np.nan),
        "step size is negative": with_part(tape, "descend", step_size=-tape.descend.step_size),
        "no local steps": with_part(tape, "descend", steps=0 * tape.descend.steps),
        "read before it is written": dataclasses.replace(tape, initial=0 * tape.initial),
        "register outside": with_part(tape, "descend", dst=tape.descend.dst + 99),
        "arrives before it is begun": with_part(tape, "descend", arrival=0 * tape.descend.arrival),
        "versions must start at 0": dataclasses.replace(tape, version=tape.version + 1),
        "does not exist yet": with_part(tape, "descend", version=tape.descend.version + 1),
        "local gives 2 relative sizes": dataclasses.replace(tape, local=np.array([1.0, 0.5])),
        "relative size of a local step": dataclasses.replace(tape, local=np.array([np.nan])),
        "go back": with_part(tape, "record", iteration=tape.record.iteration[::-1].copy()),
    }
    for message, bad in broken.items():
        with pytest.raises(TapeError, match=message):
            verify(bad)


def test_a_tape_that_breaks_an_identity_is_refused():
    tape = area_tape([0, -1])
    verify_identities(tape)
    wrong = dataclasses.replace(tape, identities=(Identity("x_s = 0", np.array([0]), np.array([1.0])),))
    with pytest.raises(TapeError, match="breaks x_s = 0"):
        verify_identities(wrong)


@given(st.lists(st.integers(-1, 3), max_size=60), st.sampled_from(["algorithm", "analysis"]))
def test_staleness_agrees_with_a_count_by_hand(actors, start):
    version, read, expected = 0, [None] * 4, []
    for actor in actors:
        if actor < 0:
            version += 1
        else:
            if start == "algorithm" or read[actor] is not None:
                expected.append(version - (read[actor] or 0))
            read[actor] = version
    assert statistics(area_tape(actors, clients=4, start=start)).staleness.tolist() == expected


def test_observers_cannot_write_to_the_registers():
    def meddle(_row, x):
        x += 1.0

    with pytest.raises(ValueError, match="read-only"):
        run(area_tape([0]), np.ones(2), Some(), meddle)


def test_a_long_tape_is_compiled_from_arrays():
    delays = next(model for model in DELAYS if model.id == "exponential").build(Options("delays", {"spread": "10"}), 50)
    events = sample_events(delays, read_policy(None, delays), Streams(1), 50_000)
    records = RecordAt(np.array([10, 50_000]), average=True)
    tape = AREA.schedule(AreaParameters(StepSize(0.1)), events, 50, records, 50_000)
    assert len(tape) > 10**5
    assert tape.record.iteration.tolist() == [10, 50_000]
    assert len(tape.descend.dst) == 50 + np.count_nonzero(events.actor >= 0)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("total", [0, 3, 9])
def test_a_run_shows_the_iterations_that_it_has(average: bool, total: int) -> None:
    wanted = np.array([0, 1, 3, 3, 8, 12])
    every = list(range(1 if average else 0, total + 1))
    assert RecordAt(average=average).at(total).tolist() == every
    assert RecordAt(wanted, average=average).at(total).tolist() == [k for k in every if k in wanted]
    assert RecordAt(wanted, average=average, events=True).at(total).tolist() == list(range(1, total + 1))
