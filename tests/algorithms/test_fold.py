"""The compiler: what a program says of one event after the other, as a tape."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundlab.algorithms import (
    X_S,
    AffineRow,
    Algorithm,
    Control,
    DescendRow,
    EventProgram,
    Parameters,
    Step,
    _fold,
    option,
)
from boundlab.arithmetic.recurrence import Weights
from boundlab.case import build_delays
from boundlab.errors import SpecError
from boundlab.events import Events
from boundlab.execute import floats
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup, registered
from boundlab.tape import Initial, RecordAt, Tape
from boundlab.testing._algorithm import Subject

ALGORITHMS = sorted(registered("algorithms"))
THIRDS = tuple(Fraction(j, 3) for j in range(40))


def shown(tape: Tape, problem: Any) -> list[np.ndarray]:
    """Return what a tape records, with the noise of one trial."""
    found: list[np.ndarray] = []
    floats.run(tape, problem.x0.astype(float), problem.oracle(Streams(3)), lambda _, x: found.append(x.copy()))
    return found


# -------------------------------------------------------------------------------------------- an algorithm of one event


@dataclass(frozen=True, slots=True)
class _Settings(Parameters):
    alpha: float = option.number("step size", above=0.0)
    beta: float = option.number("momentum (default 1/2)", 0.5, minimum=0.0, maximum=1.0)


class _Copy(EventProgram):
    """Each client begins at register 1, which becomes the server's model behind every server update, or before it."""

    initial = (Initial.START, Initial.START, Initial.UNWRITTEN, Initial.UNWRITTEN)

    def __init__(self, *, behind: bool) -> None:
        self._behind = behind

    def opening(self) -> Any:
        return tuple(DescendRow(2 + i, 1, i, 1, 0.5) for i in range(2)), Control()

    def choices(self, control: Control, law: Any) -> Any:
        return law.clients()

    def event(self, control: Control, event: Any, number: int) -> Step:
        (i,) = event
        rows = [AffineRow(X_S, ((1.0, 2 + i),)), AffineRow(1, ((1.0, X_S),))]
        begin = DescendRow(2 + i, 1, i, 1, 0.5)
        return Step((*(rows if self._behind else rows[::-1]), begin), control, iteration=True)


@pytest.mark.parametrize(("behind", "versions"), [(True, [0, 0, 1, 2, 3]), (False, [0, 0, 0, 1, 2])])
def test_local_steps_that_begin_at_a_copy_begin_at_the_version_that_was_copied(
    behind: bool, versions: list[int]
) -> None:
    class Copying(Algorithm[_Settings]):
        id, summary, parameter_type = "copying", "copies its model", _Settings

        def program(self, parameters: _Settings, clients: int) -> _Copy:
            return _Copy(behind=behind)

    events = Events(np.arange(1.0, 4.0), np.array([0, 1, 1], dtype=np.int32))
    assert Copying().schedule(_Settings(1.0), events, 2, RecordAt(), 3).descend.version.tolist() == versions


def test_an_algorithm_without_an_event_says_so() -> None:
    class Nothing(Algorithm[_Settings]):
        id, summary, parameter_type = "nothing", "nothing", _Settings

    events = Events(np.ones(1), np.zeros(1, dtype=np.int32))
    with pytest.raises(SpecError, match="nothing does not say what an event does; write its `program`"):
        Nothing().schedule(_Settings(1.0), events, 1, RecordAt(), 1)


# ------------------------------------------------------------------------------------------------------------- averages


@pytest.mark.sweep(28)
@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize(
    "weights",
    [
        Weights(),
        Weights(None, closed=True),
        Weights.of(THIRDS, closed=False, what="w"),  # the first one is 0
        Weights.of((Fraction(0), Fraction(0), *THIRDS), closed=True, what="w"),
        Weights.of((Fraction(1), Fraction(0), Fraction(0), *THIRDS), closed=False, what="w"),
    ],
    ids=["equal", "equal, closed", "0, 1/3, …", "0, 0, 0, 1/3, …, closed", "1, 0, 0, 0, 1/3, …"],
)
def test_averages_are_those_of_the_models_that_a_run_shows(name: str, weights: Weights) -> None:
    """x̄_k = Σ w_j·x_j / Σ w_j, of all models before k or up to it, wherever the weights up to there are not all 0."""
    for run in Subject(lookup("algorithms", name)).schedules:
        problem = run.problem
        models = shown(run.tape(12, RecordAt()), problem)
        averaged = run.tape(12, RecordAt(average=True, weights=weights))
        means = {}
        for k in range(len(models)):
            share = [float(weights.at(j)) for j in range(k + weights.closed)]
            if sum(share):
                means[k] = sum(w * x for w, x in zip(share, models, strict=False)) / sum(share)
        assert averaged.record.iteration.tolist() == list(means), run.parameters
        size = max(float(np.abs(x).max()) for x in models)
        for found, mean in zip(shown(averaged, problem), means.values(), strict=True):
            assert np.allclose(found, mean, rtol=0.0, atol=1e-13 * (1.0 + size)), run.parameters


# ------------------------------------------------------------------------------------------------------- what is known


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("fedbuff", {"eta_l": "0.1", "count": "3", "reply": "wait"}),
        ("area", {"alpha": "0.1", "count": "2", "reply": "post"}),
        ("gd", {"alpha": "0.1", "sampling": "cyclic"}),
        ("sfedavg", {"alpha": "0.1", "sampled": "2"}),
    ],
)
def test_a_compiler_that_forgets_control_states_writes_the_same_tape(
    name: str, options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    algorithm, delays = lookup("algorithms", name), build_delays("exponential", {"spread": 4}, 5)
    parameters = algorithm.read(Options(name, options))
    sampler = algorithm if algorithm.server != "any" else lookup("algorithms", "fedasync")  # arrivals alone
    events = sampler.sample(parameters, delays, sampler.policy(None, delays), Streams(1), 5, 60)
    told = []
    for cells in (1 << 22, 1):
        monkeypatch.setattr(_fold, "_CELLS", cells)
        tape = algorithm.schedule(parameters, events, 5, RecordAt(), 20)
        told.append((tape.digest(), tape.descend.arrival.tolist(), tape.uses.update.tolist()))
    assert told[0] == told[1]


@pytest.mark.parametrize(("start", "first"), [("algorithm", 0), ("analysis", 1)])
def test_the_noise_of_a_clients_first_update_has_the_number_of_its_message(start: str, first: int) -> None:
    """With start=analysis the first message is 0, of no model: the second one is the first with noise."""
    area = lookup("algorithms", "area")
    events = Events(np.arange(1.0, 6.0), np.array([0, 1, 0, 0, 1], dtype=np.int32))
    tape = area.schedule(area.read(Options("area", {"alpha": "1", "start": start})), events, 2, RecordAt(), 5)
    for client in range(2):
        mine = tape.descend.update[tape.descend.client == client].tolist()
        assert mine == list(range(first, first + len(mine)))
