"""FedAvg with partial participation: all continue from the mean of the models of some clients, drawn uniformly."""

from pathlib import Path
from typing import Any

import pytest

import boundlab as bl
from boundlab.errors import BoundlabError
from boundlab.theorems import Theorem, load_theorem

TWO = "quadratic:A=[[[1]],[[1]]],b=[[0],[4]],x0=0"  # x²/2 and (x − 4)²/2, x* = 2
THREE = "quadratic:clients=3,dimension=2,x0=2"


def theorem(tmp_path: Path, algorithm: str, options: str) -> Theorem:
    path = tmp_path / f"{algorithm}.toml"
    counter = "K" if algorithm == "gd" else "T"
    path.write_text(
        f'id = "mine"\nalgorithm = "{algorithm}"\nabout = "the mean"\nassumptions = ["smooth", "minimiser"]\n'
        f'[left]\nquantity = "distance"\nover = "last"\nindex = "{"iteration" if counter == "K" else "update"}"\n'
        f'[options]\n{options}\n[step]\nalpha = "alpha"\n[terms]\nbound = "100*R**2"\n',
        encoding="utf-8",
    )
    return load_theorem(str(path))


def distance(one: Theorem, problem: str, last: int, **more: Any) -> Any:
    return bl.compare(one, problem, iterations=last, trials=2, exact=True, alpha="1/2", **more).band.mean[-1]


def test_one_of_two_clients_by_hand(tmp_path: Path) -> None:
    """From 0 with α = 1/2 and two local steps clients come to 0 and 3; whoever is drawn, (x − 2)² is 4 or 1: 5/2.

    One step before, their mean is (0 + 2)/2 = 1, at the distance 1 from 2.
    """
    one = theorem(tmp_path, "gd", 'iteration = "step"\nM = "2"\nsampled = "1"')
    assert distance(one, TWO, 1) == 1
    assert distance(one, TWO, 2) == pytest.approx(5 / 2, rel=1e-14)
    # From 0 and from 3 one more step leads to the means 1 and 5/2 of all models.
    assert distance(one, TWO, 3) == pytest.approx((1 + 1 / 4) / 2, rel=1e-14)


@pytest.mark.parametrize("sampled", [1, 2, 3])
def test_passes_of_drawn_clients_are_fedavg(tmp_path: Path, sampled: int) -> None:
    passes = theorem(tmp_path, "gd", f'M = "3"\nsampled = "{sampled}"')
    rounds = theorem(tmp_path, "sfedavg", f'M = "3"\nsampled = "{sampled}"')
    for last in (1, 4):
        assert distance(passes, THREE, last) == pytest.approx(distance(rounds, THREE, last), rel=1e-12)


def test_after_a_round_local_steps_and_passes_agree(tmp_path: Path) -> None:
    steps = theorem(tmp_path, "gd", 'iteration = "step"\nM = "2"\nsampled = "2"')
    passes = theorem(tmp_path, "gd", 'M = "2"\nsampled = "2"')
    for rounds in (1, 3):
        found = distance(steps, THREE, 2 * rounds)
        assert found == pytest.approx(distance(passes, THREE, rounds), rel=1e-12)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([[1, "s"], [2, "s"]], "1 are drawn for it"),
        ([[1, "s", 0], [2, "s", 0]], "0 are drawn for it"),
        ([[1, "s"], [2, "s", 5]], "client 5 does not exist"),
        ([[1, "s"], [2, "s", 0, 0]], "1 are drawn for it"),
    ],
)
def test_events_name_the_clients_that_are_drawn(tmp_path: Path, events: list[Any], message: str) -> None:
    case = {
        "algorithm": "gd",
        "problem": {"type": "quadratic", "A": [[[1]], [[1]]], "b": [[0], [4]]},
        "x0": [0],
        "parameters": {"iteration": "step", "M": 2, "sampled": 1, "alpha": "1/2"},
        "events": events,
    }
    with pytest.raises(BoundlabError, match=message):
        bl.replay(case)


@pytest.mark.parametrize(
    ("options", "message"),
    [("sampled=5", "sampled=5, but there are 2 clients"), ("sampled=1,sampling=uniform", "rounds of all clients")],
)
def test_options_that_do_not_go_together_are_refused(options: str, message: str) -> None:
    settings = dict(one.split("=") for one in options.split(","))
    with pytest.raises(BoundlabError, match=message):
        bl.run("gd", TWO, iterations=2, alpha="1/2", **settings)
