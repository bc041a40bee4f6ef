"""Classes of runs: every run of an algorithm with the options that its proofs know is in the class, and no other is."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boundlab.classes import CLASSES, MOVE, X, known, of_tape
from boundlab.events import Events
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.tape import RecordAt
from boundlab.testing._algorithm import Subject


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_runs_with_the_options_that_proofs_know_are_in_the_class(name: str) -> None:
    subject, inside = Subject(lookup("algorithms", name)), 0
    for run in subject.schedules:
        found = of_tape(run.long)
        why = list(CLASSES[name](run.parameters, run.long.clients).why_not(found))
        assert not (known(name, run.parameters) and why), (run.parameters, why)
        inside += not why
    assert inside >= 5


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(1, 3), st.sampled_from(["pre", "post"]))
def test_a_buffer_adds_up_the_moves_of_what_arrives(arrivals: list[int], count: int, reply: str) -> None:
    # By hand: the model of a client is the server's when it was answered last.
    algorithm = lookup("algorithms", "fedbuff")
    parameters = algorithm.read(Options("fedbuff", {"eta_l": 0.5, "count": count, "reply": reply}))
    events = Events(np.arange(1.0, len(arrivals) + 1), np.array(arrivals, dtype=np.int32))
    run = of_tape(algorithm.schedule(parameters, events, 4, RecordAt(), len(arrivals)))
    assert list(CLASSES["fedbuff"](parameters, 4).why_not(run)) == []
    at, version, held = dict.fromkeys(range(4), 0), 0, list[tuple[int, int]]()
    for client in arrivals:
        held.append((client, at[client]))
        full = len(held) == count
        at[client] = version + (full and reply == "post")
        if full:
            model = run.models[version]
            assert model[X, version] == 1
            moves = {number: weight for (kind, number), weight in model.items() if kind == MOVE}
            assert set(moves.values()) == {Fraction(1, count)}
            assert sorted((run.passes[one].client, *run.passes[one].start) for one in moves) == sorted(
                (who, (X, since)) for who, since in held
            )
            version, held = version + 1, []
