"""Pictures and tables of a sweep show what its rows say."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundlab.cli import invoke
from boundlab.errors import SpecError
from boundlab.sweep.results import draw_curves, draw_map
from boundlab.verdict import ExitCode

NAMES = ("theorem", "problem", "M", "spread")


def cell(theorem: str, M: Any, spread: Any, slack: float | None, verdict: str) -> dict[str, Any]:
    points = [[10, 1.0, 0.9, 1.1, 2.0], [5, 3.0, 2.0, 4.0, 5.0]]
    where = {"theorem": theorem, "problem": "lad", "M": M, "spread": spread}
    return {"key": f"{where}", **where, "log_slack": slack, "verdict": verdict, "points": points}


ROWS = [
    cell("a", 1, 10, 0.5, "holds"),
    cell("a", 50, 10, -0.25, "violated"),
    cell("a", 50, 2, None, "not applicable"),
    cell("b", 9, 2, 0.125, "consistent"),
    cell("b", 9, 2, 0.0625, "inconclusive"),
]


def rows() -> Iterator[dict[str, Any]]:
    yield from ROWS


def test_a_square_has_the_least_slack_and_the_gravest_mark_of_its_cells() -> None:
    figure = draw_map(rows(), NAMES, "M", "spread")
    first, second = figure.axes[:2]
    assert [axis.get_title() for axis in (first, second)] == ["a", "b"]
    assert [label.get_text() for label in first.get_xticklabels()] == ["1", "9", "50"]
    np.testing.assert_array_equal(first.images[0].get_array().filled(np.nan), [[np.nan] * 3, [0.5, np.nan, -0.25]])
    np.testing.assert_array_equal(second.images[0].get_array().filled(np.nan)[0], [np.nan, 0.0625, np.nan])
    assert {text.get_text() for text in first.texts} == {"", "–", "×"}
    assert [text.get_text() for text in second.texts] == ["?"]


def test_a_vacuous_bound_is_no_success_in_a_picture() -> None:
    some = [cell("a", M, 1, 1.0, "holds") | {"vacuous": M > 1} for M in (1, 9)]
    figure = draw_map(iter(some), NAMES, "M", "spread")
    assert [text.get_text() for text in figure.axes[0].texts] == ["", "∅"]
    assert figure.get_supxlabel() == "∅ vacuous: the bound is not below the error of never moving"
    assert figure.get_suptitle() == "a\nlad"
    titles = [axis.get_title().split("\n") for axis in draw_curves(iter(some), NAMES).axes]
    assert titles == [["M = 1", "holds"], ["M = 9", "holds (vacuous)"]]


def test_a_panel_of_curves_is_one_cell_with_its_points_in_order() -> None:
    figure = draw_curves(rows(), NAMES)
    bound, mean = figure.axes[0].lines
    np.testing.assert_array_equal(mean.get_xydata(), [[5.0, 3.0], [10.0, 1.0]])
    np.testing.assert_array_equal(bound.get_ydata(), [5.0, 2.0])
    assert figure.axes[0].get_title() == "a\nM = 1\nspread = 10\nholds"


def test_titles_say_in_what_the_cells_differ() -> None:
    specs = ["hinge:data=a9a,clients=8,a={a}", "hinge:data=mnist,clients=8,a={a}"]
    some = [cell("a", 1, 1, 0.0, "holds") | {"problem": spec, "set_a": 0.1} for spec in specs]
    figure = draw_map(iter(some), (*NAMES, "set_a"), "M", "set_a")
    assert [axis.get_title() for axis in figure.axes[:2]] == ["hinge:data=a9a", "hinge:data=mnist"]
    assert figure.axes[0].get_ylabel() == "a"


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(SpecError, match="alpha is not a coordinate of this sweep; these are theorem, problem, M"):
        draw_map(rows(), NAMES, "M", "alpha")
    many = [cell("a", M, 1, 0.0, "holds") for M in range(61)]
    with pytest.raises(SpecError, match="more than 24 panels"):
        draw_map(iter(many), NAMES, "theorem", "spread")
    with pytest.raises(SpecError, match="M has 61 values"):
        draw_map(iter(many), NAMES, "M", "spread")
    with pytest.raises(SpecError, match="more than 24 panels"):
        draw_curves(iter(many), NAMES)
    for draw in (lambda none: draw_map(none, NAMES, "M", "spread"), lambda none: draw_curves(none, NAMES)):
        with pytest.raises(SpecError, match="there are no cells to draw"):
            draw(iter([]))


@pytest.mark.nightly
def test_files_of_results_are_written_from_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'theorems = ["area.theorem8"]\nproblems = ["lad:x0=3"]\ndelays = ["iid:p_s={p}"]\n'
        "[set]\nM = [1, 50]\np = [0.5]\n[run]\niterations = 3\ntrials = 20\n"
    )
    out = tmp_path / "out"
    assert invoke(["sweep", str(plan), "--out", str(out), "--jobs", "1", "-q"]) in (0, 1)
    table, frame = tmp_path / "table.csv", tmp_path / "table.parquet"
    words = ["results", str(out), "--heat", "x=M,y=p", "--csv", str(table)]
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    assert arrow
    assert invoke([*words, "--parquet", str(frame)]) in (0, 1)
    assert (out / "heat.png").read_bytes()[:4] == b"\x89PNG"
    with table.open(newline="") as file:
        found = list(csv.DictReader(file))
    assert {(row["M"], row["set_p"]) for row in found} == {("1", "0.5"), ("50", "0.5")}
    assert list(pandas.read_parquet(frame).ratio) == [float(row["ratio"]) for row in found]
    assert invoke(["results", str(out), "--curve", "--plot", str(tmp_path / "curve.svg")]) in (0, 1)
    capsys.readouterr()
    for wrong, why in (
        (["--heat", "x=M,y=p", "--curve"], "one picture at a time"),
        (["--heat", "x=M"], "write x=NAME,y=NAME"),
        (["--plot", "a.png"], "names the file of a picture"),
        (["--curve", "--plot", "a.txt"], "must end in"),
    ):
        assert invoke(["results", str(out), *wrong]) == ExitCode.USAGE
        assert why in capsys.readouterr().err
