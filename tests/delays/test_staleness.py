"""Staleness as an input: x_(k+1) = x_k − α·g(x_(k−τ_k)), with x_(−j) = x0, by constants, laws, lists and logs."""

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundlab as bl
from boundlab.algorithms import Algorithm
from boundlab.case import build_delays, delays_from, problem_from
from boundlab.cli import invoke
from boundlab.errors import AssumptionError, SpecError
from boundlab.expectation import applicable, left_side
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup, registered
from boundlab.simulate.work import run_once
from boundlab.tape import RecordAt

PARABOLA = "quadratic:A=[[[1]]],b=[[0]],x0=1"
REST = (  # devices that rest before they read
    "time,client,dispatch,version,status\n1,0,0,0,done\n2,1,0,0,done\n3,0,2,2,done\n4,1,3,3,done\n5,0,4,4,done\n"
    "6,1,5,5,done\n"
)


def runs(algorithm: str, delays: str, problem: str = PARABOLA, k: int = 30, trials: int = 1, **settings: Any) -> Any:
    return bl.run(algorithm, problem, delays, iterations=k, trials=trials, settings=settings)


def staleness(run: Any, trial: int = 0) -> list[int]:
    tape = run.tape(trial)
    return (tape.uses.version - tape.descend.version[tape.uses.update]).tolist()


@pytest.mark.parametrize("tau", [0, 1, 3, 7])
def test_a_constant_delay_is_the_recursion_of_the_textbooks(tau: int) -> None:
    alpha, x = 0.2, [1.0]
    for k in range(30):
        x.append(x[k] - alpha * x[max(k - tau, 0)])
    found = runs("async_sgd", f"staleness:constant={tau}", alpha=str(alpha))
    assert found.metrics["squared-distance"][0].tolist() == pytest.approx([x[k] ** 2 for k in found.ks], rel=1e-12)
    assert staleness(found) == [min(k, tau) for k in range(30)]


def test_the_largest_stable_step_is_2_sin_of_pi_over_4_tau_plus_2() -> None:
    """For f = x²/2 the characteristic polynomial z^(τ+1) − z^τ + α leaves the unit circle there; τ = 3: 0.445."""
    edge = 2.0 * math.sin(math.pi / 14)
    for share, grows in ((0.98, False), (1.02, True)):
        found = runs("async_sgd", "staleness:constant=3", k=2000, alpha=repr(share * edge))
        assert bool(found.metrics["squared-distance"][0][-1] > 1.0) == grows


def test_a_drawn_staleness_is_uniform_and_every_trial_has_its_own(tmp_path: Path) -> None:
    found = runs("async_sgd", "staleness:uniform=2..5", k=4000, trials=2, alpha="0.01")
    first, second = (np.array(staleness(found, trial)[5:]) for trial in (0, 1))
    assert first.tolist() != second.tolist()
    for one in (first, second):
        counts = np.bincount(one, minlength=6)[2:] / len(one)
        assert set(one.tolist()) == {2, 3, 4, 5}
        assert np.abs(counts - 0.25).max() < 5 * math.sqrt(0.25 * 0.75 / len(one))


def test_how_old_a_model_is_says_nothing_of_who_makes_the_update() -> None:
    events = build_delays("staleness", {"uniform": "0..1"}, 2).followed(Streams(6, 0), 4000, 1)
    assert events is not None
    pairs = np.bincount(2 * events.actor + np.array([tau for (tau,) in events.detail]), minlength=4) / 4000
    assert np.abs(pairs - 0.25).max() < 5 * math.sqrt(0.25 * 0.75 / 4000)


def test_a_list_is_followed_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "delays.txt"
    path.write_text("0.000e+00\n1\n2.0\n\n1\n3\n")
    assert staleness(runs("async_sgd", f"staleness:file={path}", k=5, alpha="0.1")) == [0, 1, 2, 1, 3]
    with pytest.raises(SpecError, match="has 5 numbers; 6 updates are asked for"):
        runs("async_sgd", f"staleness:file={path}", k=6, alpha="0.1")
    path.write_text("0\n1.5\n")
    with pytest.raises(SpecError, match=r"line 2: '1\.5' is no staleness"):
        build_delays("staleness", {"file": str(path)}, 1)


def test_buffers_take_differences_to_the_models_that_are_named() -> None:
    """FedBuff with two updates a version, each a local step from the model one version old."""
    x, eta = [1.0], 0.3
    for k in range(12):
        x.append(x[k] - eta * x[max(k - 1, 0)])  # the mean of two equal differences
    found = runs("fedbuff", "staleness:constant=1", k=12, eta_l=str(eta), count="2")
    assert found.metrics["squared-distance"][0].tolist() == pytest.approx([x[k] ** 2 for k in found.ks], rel=1e-12)


TAKEN: dict[str, dict[str, Any]] = {
    "async_sgd": {"alpha": 0.1},
    "fedasync": {"eta_l": 0.1, "beta": 0.5},
    "fedbuff": {"eta_l": 0.1, "count": 2},
    "fedstaleweight": {"eta_l": 0.1, "count": 2},
    "asfedavg": {"alpha": 0.1, "count": 2},
}


def test_these_are_all_that_take_a_staleness() -> None:
    own = Algorithm.updates_a_version
    assert {
        name for name in registered("algorithms") if type(lookup("algorithms", name)).updates_a_version is not own
    } == {
        *TAKEN,
        "rennala",  # these two ignore what is too stale, and so what is too stale has to follow from who works when
        "ringmaster",
    }


@pytest.mark.parametrize("algorithm", TAKEN)
def test_an_update_arrives_when_it_is_made(algorithm: str) -> None:
    options = TAKEN[algorithm]
    run = runs(algorithm, "staleness:uniform=0..3", "quadratic:clients=3,dimension=2", k=12, **options)
    tape, many = run.tape(0), 12 * options.get("count", 1)
    assert tape.descend.arrival.tolist() == list(range(many))
    assert run.statistics[0].updates.tolist() == np.bincount(tape.descend.client, minlength=3).tolist()


def test_weights_by_staleness_read_the_given_one() -> None:
    x = [1.0]
    for k in range(10):
        late = min(k, 2)
        x.append(x[k] - 0.5 * 0.3 / (late + 1) * x[max(k - 2, 0)])
    found = runs("fedasync", "staleness:constant=2", k=10, beta="0.5", eta_l="0.3", s="inverse", mode="delta")
    assert found.metrics["squared-distance"][0].tolist() == pytest.approx([x[k] ** 2 for k in found.ks], rel=1e-12)


def test_a_log_in_which_devices_rest_is_followed_row_by_row(tmp_path: Path) -> None:
    for name, text in (("versions", REST), ("dispatches", "\n".join(drop(row) for row in REST.split("\n")))):
        path = tmp_path / f"{name}.csv"
        path.write_text(text)
        two = "quadratic:A=[[[1]],[[1]]],b=[[0],[0]],x0=1"
        assert staleness(runs("async_sgd", f"trace:{path}", two, k=6, alpha="0.1")) == [0, 1, 0, 0, 0, 0]
    with pytest.raises(SpecError, match="update 3 is of version 2, and there are 1 with a version every 2 updates"):
        runs("fedbuff", f"trace:{tmp_path / 'versions.csv'}", two, k=3, eta_l="0.1", count="2")


def drop(row: str) -> str:
    """Return a row without its version."""
    cells = row.split(",")
    return ",".join(cells[:3] + cells[4:])


def test_no_set_of_work_on_its_way_is_taken_for_one_of_given_staleness() -> None:
    """FedBuff's sets stand on one update in work; one client with models 16 versions old has had more."""
    problem = "logistic:clients=1,samples=40,nu=0.1,batch=full"
    how = {"iterations": 40, "trials": 2, "eta_l": "0.01"}
    assert bl.compare("fedbuff.rf2.along-run", problem, "exponential", **how).verdict != "violated"
    with pytest.raises(AssumptionError, match="bounded-run"):
        bl.compare("fedbuff.rf2.along-run", problem, "staleness:uniform=0..16", **how)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "need one of constant=4, uniform=0..16, file=PATH"),
        ({"constant": 1, "uniform": "0..2"}, "need one of"),
        ({"constant": -1}, "constant"),
        ({"constant": 10**5}, "constant"),
        ({"uniform": "3..1"}, "LOW..HIGH"),
        ({"uniform": "1-3"}, "LOW..HIGH"),
        ({"file": "/nowhere"}, "cannot read"),
    ],
)
def test_bad_options_get_one_line(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        build_delays("staleness", options, 2)


def test_algorithms_that_go_by_arrivals_say_what_would_fit(capsys: Any) -> None:
    assert invoke(["run", "area", "-p", "lad:x0=1", "-d", "staleness:constant=1", "--set", "alpha=0.1"]) == 2
    said = capsys.readouterr().err
    assert "area goes by who arrives when; async_sgd, fedasync, fedbuff or fedstaleweight would fit" in said


OPTIONS = {
    "asfedavg": {"alpha": "0.3", "count": "2"},
    "async_sgd": {"alpha": "0.3", "schedule": "1/(tau + 1)"},
    "fedasync": {"eta_l": "0.3", "beta": "0.6", "s": "inverse"},
    "fedbuff": {"eta_l": "0.3", "count": "2", "staleness": "polynomial:a=0.5", "eta_g": "0.7"},
    "fedstaleweight": {"eta_l": "0.3", "count": "2", "scale": "1"},
}


@pytest.mark.sweep(7)
@pytest.mark.parametrize("spec", ["quadratic:A=[[[1]],[[2]]],b=[[0],[1]],x0=2", "huber:c=[0,1],w=[1,2],x0=2"])
@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_expectations_over_a_drawn_staleness_are_means_over_all_sequences(name: str, spec: str) -> None:
    algorithm, problem = lookup("algorithms", name), problem_from(spec)
    parameters, delays = algorithm.read(Options(name, OPTIONS[name])), delays_from("staleness:uniform=1..2", 2)
    own = algorithm, problem, parameters, delays, algorithm.policy(None, delays)
    per = algorithm.updates_a_version(parameters) or 0
    K = 3 if per == 1 else 2  # the third update can be of the first model, and of none that is older
    updates, values = K * per, list[float]()
    for said in product(product(range(2), (1, 2)), repeat=updates):
        raw = [[place, *one] for place, one in enumerate(said, 1)]
        events = algorithm.read_events(raw, 2, "this sequence")
        tape = algorithm.schedule(parameters, events, 2, RecordAt(np.array([K])), K)
        run_once(tape, problem, Streams(0), lambda _, x: values.append(problem.value(x) - problem.optimum().value))
    assert len(values) == 4**updates
    found = left_side("gap", *own, K)
    assert found.value[0] == pytest.approx(np.mean(values), rel=1e-12)
    assert found.lower[0] <= np.mean(values) * (1 + 1e-12)


def test_more_versions_than_an_engine_keeps_are_refused_in_one_line() -> None:
    algorithm = lookup("algorithms", "async_sgd")
    parameters = algorithm.read(Options("async_sgd", {"alpha": "0.1"}))

    def why(problem: str, delays: str) -> str:
        law = delays_from(delays, 2)
        return applicable("gap", algorithm, problem_from(problem), parameters, law, algorithm.policy(None, law))

    assert why("huber:clients=2", "staleness:uniform=0..4") == ""
    assert "a staleness of at most 4, and delays say up to 5" in why("huber:clients=2", "staleness:uniform=0..5")
    assert why("quadratic:clients=2,dimension=4", "staleness:uniform=0..9") == ""
    assert "up to 40, got 44" in why("quadratic:clients=2,dimension=4", "staleness:uniform=0..10")
    assert "who is at work does not follow from who arrives" in why("huber:clients=3", "exponential:active=1")


LATE = """
id = "late"
algorithm = "async_sgd"
metric = "squared-distance"
about = "the mean"
assumptions = ["strongly-convex", "smooth", "minimiser"]
settable = ["alpha"]
[options]
schedule = "constant"
[step]
alpha = "1/(2*L)"
[terms]
bound = "R**2"
"""


def test_a_mean_over_a_drawn_staleness_is_exact(tmp_path: Path) -> None:
    # f = x²/2, α = 1/2: x_1 = 1/2, and x_2 = 1/4 for τ = 0, else 0, since x_(−1) = x_0 = 1. A third of 1/16.
    (tmp_path / "late.toml").write_text(LATE, encoding="utf-8")
    found = bl.compare(tmp_path / "late.toml", PARABOLA, "staleness:uniform=0..2", iterations=2)
    assert found.band.mean[-1] == pytest.approx(1 / 48, rel=1e-12)
    assert "moments" in found.band.method
    case = {
        "algorithm": "async_sgd",
        "iterations": 2,
        "x0": 1,
        "parameters": {"alpha": "1/2"},
        "problem": {"type": "quadratic", "A": [[[1]]], "b": [[0]]},
        "delays": "staleness:uniform=0..2",
    }
    (tmp_path / "late.json").write_text(json.dumps(case), encoding="utf-8")
    assert bl.exact(tmp_path / "late.toml", tmp_path / "late.json").left == pytest.approx(1 / 48, rel=1e-15)
