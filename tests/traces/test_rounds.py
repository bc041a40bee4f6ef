"""A log of rounds: all updates of one time are one round of a synchronous server, and the run has the same ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundlab as bl
from boundlab.case import build_delays, delays_from
from boundlab.cli import invoke
from boundlab.errors import AssumptionError, SpecError
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup, registered
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt
from boundlab.traces import read_log, summary

ROUNDS = "time,client\n10,0\n10,1\n10,2\n20,2\n20,0\n30,1\n30,2\n"
PROBLEM = "quadratic:A=[[[1]],[[1]],[[1]]],b=[[0],[3],[6]],x0=12"


def log(folder: Path, text: str = ROUNDS) -> Path:
    path = folder / "rounds.csv"
    path.write_text(text)
    return path


def run(path: Path, iterations: int = 3, algorithm: str = "sfedavg", **settings: object) -> Any:
    chosen = {"alpha": "0.5", **{name: str(value) for name, value in settings.items()}}
    return bl.run(algorithm, PROBLEM, f"trace:{path},rounds=yes", iterations=iterations, trials=2, settings=chosen)


def test_each_round_has_the_devices_of_the_log_whatever_their_order(tmp_path: Path) -> None:
    delays = delays_from(f"trace:{log(tmp_path)},rounds=yes", 3)
    assert delays.rounds == ((10.0, (0, 1, 2)), (20.0, (0, 2)), (30.0, (1, 2)))
    again = delays_from(delays.spec(), 3)
    assert again.rounds == delays.rounds
    assert delays_from(f"trace:{log(tmp_path)}", 3).rounds is None


def test_the_run_is_the_one_by_hand(tmp_path: Path) -> None:
    # x ← (x + mean of b_i of the round)/2: 12 → 7.5 → 5.25 → 4.875; x* = 3.
    found = run(log(tmp_path))
    assert found.metrics["squared-distance"].mean(axis=0)[-3:].tolist() == pytest.approx([20.25, 5.0625, 3.515625])
    shares = found.statistics[0].shares
    assert shares is not None
    assert shares.tolist() == pytest.approx([(1 / 3 + 1 / 2) / 3, (1 / 3 + 1 / 2) / 3, (1 / 3 + 1) / 3])


def test_a_log_in_which_nobody_drops_out_is_the_run_without_a_log(tmp_path: Path) -> None:
    text = "".join(f"{time},{client}\n" for time in (1, 2, 5) for client in range(3))
    algorithm = lookup("algorithms", "sfedavg")
    parameters = algorithm.read(Options("sfedavg", {"alpha": 0.5}))
    tapes = []
    for delays in (delays_from(f"trace:{log(tmp_path, text)},rounds=yes", 3), build_delays("deterministic", {}, 3)):
        policy = algorithm.policy(None, delays)
        tapes.append(compile_trial(algorithm, parameters, 3, delays, policy, 3, RecordAt(), Streams(0, 0)))
    assert tapes[0].digest() == tapes[1].digest()


def test_the_case_of_the_run_has_the_events_of_the_log(tmp_path: Path) -> None:
    algorithm, delays = lookup("algorithms", "sfedavg"), delays_from(f"trace:{log(tmp_path)},rounds=yes", 3)
    parameters = algorithm.read(Options("sfedavg", {"alpha": 0.5}))
    policy = algorithm.policy(None, delays)
    events = algorithm.sample(parameters, delays, policy, Streams(0, 0), 3, 3)
    raw = algorithm.events_as_json(events)
    assert raw == [[10.0, [0, 1, 2]], [20.0, [0, 2]], [30.0, [1, 2]]]
    assert np.array_equal(algorithm.read_events(raw, 3, "case").time, events.time)


def test_what_says_something_else_of_the_rounds_is_refused_in_one_line(tmp_path: Path) -> None:
    path = log(tmp_path)
    with pytest.raises(SpecError, match="say 3 rounds; 4 are asked for"):
        run(path, 4)
    for other in ({"sampled": 2}, {"weights": "[1,2,3]"}):
        with pytest.raises(SpecError, match="leave sampled and weights out"):
            run(path, **other)
    with pytest.raises(SpecError, match="no two updates have one time, so there are no rounds"):
        run(log(tmp_path, "time,client\n1,0\n2,1\n3,2\n"))
    with pytest.raises(SpecError, match="line 4: its client is in the round of this time twice"):
        run(log(tmp_path, "time,client\n1,0\n1,1\n1,0\n2,2\n"))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", sorted(set(registered("algorithms")) - {"sfedavg"}))
def test_no_other_algorithm_takes_rounds(name: str, tmp_path: Path) -> None:
    algorithm, delays = lookup("algorithms", name), delays_from(f"trace:{log(tmp_path)},rounds=yes", 3)
    with pytest.raises(SpecError, match=f"say who is in each round: sfedavg takes that, {name} does not"):
        compile_trial(algorithm, None, 3, delays, algorithm.policy(None, delays), 2, RecordAt(), Streams(0, 0))


def test_no_theorem_is_asked_about_the_rounds_of_a_log(tmp_path: Path) -> None:
    theorem = tmp_path / "mine.toml"
    theorem.write_text(
        'id = "mine.rounds"\nmetric = "squared-distance"\nalgorithm = "sfedavg"\n'
        'assumptions = ["strongly-convex", "smooth"]\n'
        '[step]\nalpha = "1/(2*L)"\n[terms]\nwhole = "R**2 + zeta**2"\n'
    )
    problem = "quadratic:A=[[[1]],[[1]],[[1]]],b=[[0],[3],[6]],x0=12"
    assert bl.compare(theorem, problem, "deterministic", iterations=3, trials=2).verdict.value == "holds"
    with pytest.raises(AssumptionError, match="these delays say who is in each round, and no theorem does"):
        bl.compare(theorem, problem, f"trace:{log(tmp_path)},rounds=yes", iterations=3, trials=2)


@pytest.mark.parametrize(
    ("text", "rounds"),
    [
        (ROUNDS, 3),
        ("time,client\n1,0\n2,1\n3,2\n", 0),  # one by one
        ("time,client\n1,0\n1,1\n2,0\n3,1\n4,1\n", 0),  # a tie among others
        ("time,client\n1,0\n1,0\n2,1\n2,0\n", 0),  # two updates of one device at once
        ("time,client\n1,0\n1,1\n", 0),  # one time is all that there is
        ("time,client\n1,0\n1,1\n2,0\n3,0\n3,1\n", 3),  # a round of a single survivor
    ],
)
def test_the_page_says_where_a_log_looks_like_rounds(
    text: str, rounds: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = log(tmp_path, text)
    assert summary(read_log(path)).rounds == rounds
    assert invoke(["trace", str(path)]) == 0
    said = capsys.readouterr().out.replace("\n", " ")
    assert (f"looks like {rounds} rounds" in said) == (rounds > 0)
    assert (f"trace:{path},rounds=yes" in "".join(said.split(" "))) == (rounds > 0)
