"""What the use table says: staleness, shares and concurrency, against a count by hand and a count in loops."""

from typing import Any

import numpy as np
import pytest
from algorithm_makers import in_order, read

from boundlab.case import build_delays
from boundlab.options import parse_spec
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt, Tape, usage

NOTHING = RecordAt(np.empty(0, dtype=np.int64))


def trial(name: str, options: dict[str, Any], clients: int, delays: str, iterations: int, seed: int) -> Tape:
    algorithm = lookup("algorithms", name)
    model = build_delays(*parse_spec(delays, "delays"), clients)
    policy = algorithm.policy(None, model)
    return compile_trial(algorithm, read(name, options), clients, model, policy, iterations, NOTHING, Streams(seed, 0))


@pytest.mark.parametrize("name", ["area", "heavy_ball", "nesterov", "ogm", "asfedavg"])
def test_an_empty_use_table_says_nothing(name: str) -> None:
    options = {"alpha": 0.5, **{"heavy_ball": {"beta": 0.5}, "ogm": {"K": 9}}.get(name, {})}
    tape = trial(name, options, 2, "exponential", 6, 1)
    assert usage(tape, 1) is None
    assert lookup("algorithms", name).quantities(read(name, options), tape, 1, {}) == {}


def test_concurrency_by_hand() -> None:
    # Client 1 sends the first two updates and waits for nobody; client 0 is at work from the start to event 3.
    compiler = lookup("algorithms", "async_sgd")
    parameters = read("async_sgd", {"alpha": 0.5})
    tape = compiler.schedule(parameters, compiler.read_events(in_order([1, 1, 0]), 2, "here"), 2, NOTHING, 3)
    found = compiler.quantities(parameters, tape, 3, {})
    assert (found["concurrency"], found["concurrency_mean"]) == (2, 2.0)
    assert (found["tau_max"], found["tau_mean"]) == (2, 2 / 3)  # staleness 0, 0, 2
    assert (found["pi_max"], found["alpha2"], found["chi2_path"]) == (pytest.approx(2 / 3), 1.0, 1.0)
    # With reply=wait a client that has sent is idle until its buffer is full: 2 at work, then 1, then 2, then 1.
    compiler = lookup("algorithms", "fedbuff")
    parameters = read("fedbuff", {"eta_l": 0.5, "count": 2, "reply": "wait"})
    tape = compiler.schedule(parameters, compiler.read_events(in_order([0, 1, 1, 0]), 2, "here"), 2, NOTHING, 2)
    found = compiler.quantities(parameters, tape, 2, {})
    assert (found["concurrency"], found["concurrency_mean"], found["tau_max"]) == (2, 1.5, 0)


def test_blocks_of_server_updates_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    tape = trial("fedbuff", {"eta_l": 0.5, "count": 2}, 3, "exponential", 20, 1)
    whole = usage(tape, 19)
    monkeypatch.setattr("boundlab.tape._usage._BLOCK", 12)
    parts = usage(tape, 19)
    assert whole is not None
    assert parts is not None
    assert parts.symbols() == pytest.approx(whole.symbols(), rel=1e-12)
