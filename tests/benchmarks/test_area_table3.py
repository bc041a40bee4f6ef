"""The benchmark of AREA's Table 3, on 2000 samples until time 0.3; its numbers stand in benchmarks/README.md."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from benchmark_scripts import FOLDER, load

from boundlab.problems.common import calm

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    sys.path.insert(0, str(FOLDER))  # as for a script that is run
    module = load("area_table3")
    module.POINTS = 15  # ten times fewer evaluations than the recorded runs
    yield module
    del sys.modules["area_table3"]


@pytest.fixture(scope="module")
def mnist(data_folder: Path) -> Path:
    return data_folder / "mnist"


@pytest.fixture(scope="module")
def found(script: ModuleType, mnist: Path) -> list[dict[str, Any]]:
    """The rows of group fair, each AREA row followed by the one with weights=paper and 128 times its step."""
    rows = []
    for row in script.rows():
        if row.group == "fair":
            rows.append(row)
            if row.method == "area":
                rows.append(replace(row, alpha=script.CLIENTS * row.alpha, weights="paper"))
    with calm(1):
        measured: list[dict[str, Any]] = script.measure(mnist, 1, 0.3, 2000, "float32", rows, bias=False)["rows"]
    return measured


def test_every_row_of_the_paper_is_run_with_both_weights_and_both_laws_of_rates(script: ModuleType) -> None:
    cells = [(row.method, row.alpha, row.weights, row.rates) for row in script.rows() if row.group == "table"]
    assert len(cells) == len(set(cells)) == 4 * len(script.PAPER)
    assert all(row.paper() is not None for row in script.rows() if row.group == "table")


@pytest.mark.nightly
def test_weights_size_is_weights_paper_with_a_step_128_times_as_large(found: list[dict[str, Any]]) -> None:
    # n·(s_i/S)·alpha = (s_i/S)·(n·alpha); with n a power of two only the last bits differ.
    pairs = [(first, second) for first, second in pairwise(found) if second["alpha"] == 128 * first["alpha"]]
    assert len(pairs) == 4
    for size, paper in pairs:
        assert (size["weights"], paper["weights"]) == ("size", "paper")
        assert size["loss"] == pytest.approx(paper["loss"], rel=1e-4)
        assert size["accuracy"] == pytest.approx(paper["accuracy"], abs=0.05)


@pytest.mark.nightly
def test_results_depend_on_the_seed_alone_and_are_shown_in_a_table_and_a_plot(
    script: ModuleType, mnist: Path, found: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, plot = tmp_path / "out.json", tmp_path / "plot.png"
    arguments = ["--trials", "1", "--samples", "2000", "--horizon", "0.3", "--group", "fair"]
    assert script.main(["--data", str(mnist), *arguments, "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "AREA 5, weights=size" in shown
    document = json.loads(out.read_text())
    assert document["rows"] == [row for row in found if row["method"] == "fedbuff" or row["weights"] == "size"]
    curves = np.array([row["mean_accuracy_over_time"] for row in document["rows"]])
    assert curves.shape == (len(document["rows"]), document["grid_points"] + 1)
    assert (curves[:, 0] == curves[0, 0]).all()  # one start point for all rows of a trial
    assert script.main(["--read", str(out), "--plot", str(plot)]) == 0
    assert capsys.readouterr().out == shown
    assert plot.read_bytes()[:4] == b"\x89PNG"


def test_rho_is_the_first_grid_point_that_meets_the_target(script: ModuleType) -> None:
    # 80 % is met at the second of four intervals: rho = 2/4.
    assert script.reaches(np.array([0.1, 0.5, 0.8, 0.7, 0.9])) == 0.5
    assert script.reaches(np.array([0.1, 0.5, 0.79])) is None


def test_missing_data_is_one_line(script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main(["--data", str(tmp_path), "--trials", "1"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert "t10k-images-idx3-ubyte" in error
    assert error.count("\n") == 1
