"""A bet against i.i.d. events: it seldom wins under i.i.d., and wins against chains, round robin and drift."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import boundlab as bl
from boundlab.errors import AssumptionError
from boundlab.traces import _before, _ranks, departure


def of(client: np.ndarray, clients: int, level: float = 0.99) -> bool:
    return departure(client.astype(np.int32), clients, np.arange(float(len(client))), level).crossed is not None


@pytest.mark.nightly
@pytest.mark.parametrize("p", [0.5, 0.3, 0.02])
def test_the_rate_of_false_alarms_is_exact(p: float) -> None:
    """Over all sequences of 9 events of two clients: P(wealth reaches 2) ≤ 1/2, P(it reaches 5/4) ≤ 4/5."""
    for level in (0.5, 0.2):
        chance = 0.0
        for word in product((0, 1), repeat=9):
            if of(np.array(word), 2, level):
                chance += p ** sum(word) * (1 - p) ** (9 - sum(word))
        assert chance <= 1 - level


def test_a_client_that_comes_in_a_row_is_found() -> None:
    rng = np.random.default_rng(4)
    stay = rng.random(600) < 0.6
    client = np.zeros(600, dtype=np.int64)
    for k in range(1, 600):
        client[k] = client[k - 1] if stay[k] else rng.integers(5)
    assert of(client, 5)


def test_round_robin_among_many_is_found_early() -> None:
    client = np.tile(np.arange(50), 4).astype(np.int32)
    found = departure(client, 50, np.arange(200.0))
    assert found.crossed is not None
    assert found.crossed is not None
    assert found.crossed < 100


def test_drift_is_found() -> None:
    rng = np.random.default_rng(5)
    client = np.concatenate([rng.choice(2, 400, p=[0.8, 0.2]), rng.choice(2, 400, p=[0.2, 0.8])])
    assert of(client, 2)


def test_the_order_of_events_at_one_time_says_nothing() -> None:
    """Six draws at each time, which whoever wrote the file has listed by client, are i.i.d. draws."""
    rng = np.random.default_rng(6)
    listed = np.sort(rng.integers(0, 6, (200, 6)), axis=1).reshape(-1).astype(np.int32)
    assert departure(listed, 6, np.arange(1200.0)).crossed is not None
    assert departure(listed, 6, np.repeat(np.arange(200.0), 6)).crossed is None


def test_one_client_never_departs() -> None:
    assert departure(np.zeros(100, dtype=np.int32), 1, np.arange(100.0)).wealth == pytest.approx(0.0, abs=1e-9)


def test_counts_and_ranks() -> None:
    assert _before(np.array([3, 1, 3, 3, 1])).tolist() == [0, 0, 1, 2, 1]
    assert _ranks(np.array([2, 2, 0, 1, 2]), 3).tolist() == [2, 0, 1, 2, 2]


@pytest.mark.nightly
def test_a_theorem_on_iid_events_says_what_was_found_and_never_applies(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    for name, client, words in (
        ("robin", np.tile([0, 1, 2], 100), "are not i.i.d.: a bet on"),
        ("drawn", rng.integers(0, 3, 300), "a trace cannot prove that events are i.i.d.; the 300 events of"),
    ):
        file = tmp_path / f"{name}.csv"
        file.write_text("".join(f"{time},{one}\n" for time, one in enumerate(client.tolist(), 1)))
        with pytest.raises(AssumptionError, match=words) as error:
            bl.compare("area.theorem8", "lad:clients=3,x0=3", f"trace:file={file}", iterations=6, M=50)
        assert "--beyond iid-events" in str(error.value)
        beyond = bl.compare(
            "area.theorem8", "lad:clients=3,x0=3", f"trace:file={file}", iterations=6, M=50, beyond=["iid-events"],
            trials=2,
        )  # fmt: skip
        assert words in beyond.plan.outside["iid-events"]
        assert beyond.verdict != "violated"


def test_the_staleness_that_a_theorem_assumes_is_held_against_the_trace(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("1,0\n2,0\n3,0\n4,1\n5,0\n")
    setting = ("fedbuff.rf1", "huber:clients=2,x0=1", f"trace:file={file}")
    assert bl.compare(*setting, T=5, eta_l=0.01, tau_max=3, trials=2).verdict == "holds"
    with pytest.raises(AssumptionError, match="tau_max = 2 is set, but the schedule has tau_max = 3"):
        bl.compare(*setting, T=5, eta_l=0.01, tau_max=2, trials=2)
