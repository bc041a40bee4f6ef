"""Benchmarks measure what they say: the loops by hand do what the executors do."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundlab.execute import floats
from boundlab.randomness import Streams

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.speed import trials
from benchmarks.speed.__main__ import main
from benchmarks.speed.cpu import Row, Times, names, paired, report, save, table, worse
from benchmarks.speed.problems import tapes_of

SMALL = 0.02


def test_the_loop_by_hand_ends_where_the_executor_does() -> None:
    for setting in trials.SETTINGS:
        problem, _ = setting.make(SMALL)
        [tape] = tapes_of("fedbuff", {"eta_l": 0.01, "count": 1, "M": setting.steps}, problem.n, 5, 1)
        steps = trials._quadratic_steps(problem) if setting.id == "T4" else trials._batch_steps(problem, tape)
        own = floats.run(tape, problem.x0, problem.oracle(Streams(0)), lambda *_: None)[tape.server]
        by_hand = trials._by_hand(problem, tape, steps)()
        assert np.abs(own - problem.x0).max() > 0.0
        np.testing.assert_allclose(by_hand, own, rtol=1e-4, atol=1e-5 if own.dtype == np.float32 else 1e-12)


def test_the_loop_by_hand_in_torch_ends_where_the_executor_does() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install boundlab[torch]")
    from benchmarks.speed import lock_step as many
    from boundlab.simulate.tensors import tensors_of

    for setting in trials.SETTINGS:
        problem, _ = setting.make(SMALL)
        tapes = tapes_of("fedbuff", {"eta_l": 0.01, "count": 1, "M": setting.steps}, problem.n, 5, 3)
        dtype = torch.float32 if problem.x0.dtype == np.float32 else torch.float64
        batched = tensors_of(problem, torch.device("cpu"), dtype)
        steps = many._quadratic_steps(batched) if setting.id == "T4" else many._batch_steps(batched, tapes, problem)
        by_hand = many._by_hand(problem, tapes, dtype, steps)()
        for trial, tape in enumerate(tapes):
            own = floats.run(tape, problem.x0, problem.oracle(Streams(0, trial)), lambda *_: None)[tape.server]
            np.testing.assert_allclose(
                by_hand[trial].numpy(), own, rtol=1e-4, atol=1e-5 if dtype == torch.float32 else 1e-12
            )


def test_bytes_of_an_event_are_those_of_its_registers_and_of_what_its_steps_read() -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install boundlab[torch]")
    from benchmarks.speed.gpu import moved
    from boundlab.execute.packing import pack

    tapes = tapes_of("fedbuff", {"eta_l": 0.01, "count": 1, "M": 3}, 4, 6, 2)
    events = sum(len(tape.descend.dst) for tape in tapes)
    rows = sum(len(tape.affine.src) + len(tape.affine.dst) for tape in tapes)
    # Each event reads one vector and writes another, and reads 11 numbers in each of its three steps.
    assert moved(pack(tapes), 4, 100, 11) <= 4 * ((rows / events + 2) * 100 + 3 * 11)
    assert moved(pack(tapes), 8, 100, 11) == 2 * moved(pack(tapes), 4, 100, 11)
    assert moved(pack(tapes), 4, 100, 11) - moved(pack(tapes), 4, 100, 0) == pytest.approx(4 * 3 * 11)


@pytest.mark.nightly
def test_the_measurement_of_a_device_is_rehearsed_on_a_cpu(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install boundlab[torch]")
    from benchmarks.speed import gpu, problems

    small = problems.logistic(clients=3, rows=5, features=6, batch=2)
    for name in ("digits", "logistic"):
        monkeypatch.setattr(gpu, name, lambda: small)
    monkeypatch.setattr(gpu, "_MANY", 9)
    monkeypatch.setattr(gpu, "_numpy", lambda *_: 1.0)
    monkeypatch.setattr(gpu, "kinked", lambda *_: "not at all")
    monkeypatch.setattr(gpu, "copy_bandwidth", lambda *_: 1e9)
    found = gpu.measure("cpu", (5, 7), (1, 3), 1e-6, lambda _: None)
    assert [(line["d"], line["replicas"]) for line in found["lines"]] == [
        *((5, 1), (5, 3), (7, 1), (7, 3), (7, 1), (7, 3)),
        *((6, 1), (6, 3)) * 2,
    ]
    assert all(line["bandwidth"] > 0.0 and line["difference"] < 1e-12 for line in found["lines"])
    files = gpu.names(found, tmp_path)
    gpu.save(found, files)
    assert files[1].read_text(encoding="utf-8").count("\n| ") == 1 + len(found["lines"])


def test_works_take_turns() -> None:
    said: list[str] = []
    found = paired(2, (lambda: said.append("a"), 10), (lambda: said.append("b"), 1))
    assert said == ["a", "b"] * 3  # the first turn is not counted
    assert [(len(one.wall), len(one.cpu)) for one in found] == [(2, 2), (2, 2)]


def test_a_row_tells_medians_and_the_spread_of_the_ratios(tmp_path: Any) -> None:
    row = Row("x", "a floor", Times([2.0, 4.0, 3.0], [2.0] * 3), Times([1.0, 1.0, 2.0], [1.0] * 3))
    assert row.ratios == [1.5, 2.0, 4.0]
    shown = row.as_dict()
    assert (shown["ratio"], shown["spread"], shown["rate"], shown["floor_rate"]) == (2.0, [1.5, 4.0], 1 / 3.0, 1.0)
    found = report([row], "no data")
    files = names(found, tmp_path)
    save(found, files)
    assert json.loads(files[0].read_text(encoding="utf-8"))["rows"][0]["ratio"] == 2.0
    assert files[1].read_text(encoding="utf-8") == table(found)
    assert "| x | a floor | 3e+06 | 1e+06 | 2.00 | 1.50–4.00 | 2.00 |" in table(found)


def test_what_became_slower_than_its_recorded_spread_is_told() -> None:
    times = lambda ratio: Row("x", "a floor", Times([ratio] * 2, [ratio] * 2), Times([1.0] * 2, [1.0] * 2))  # noqa: E731
    recorded = report([times(2.0)], "no data")
    assert worse([times(2.4)], recorded) == []
    [line] = worse([times(2.6)], recorded)
    assert line.startswith("x: 2.60 of a floor, at most 2.00 on ")


@pytest.mark.parametrize("share", ["0", "-1", "nan", "101"])
def test_a_share_must_make_sense(share: str, capsys: Any) -> None:
    assert main(["cpu", "--share", share]) == 2
    assert "--share must be above 0" in capsys.readouterr().err


def test_a_device_that_is_not_there_is_one_line(capsys: Any) -> None:
    assert main(["gpu", "--device", "nowhere"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
