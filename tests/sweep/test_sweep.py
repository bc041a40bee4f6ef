"""A sweep answers each cell as its question does, once; what ends badly is a row with its cause, and more follow."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sweep_lines import lines_of

import boundlab as bl
from boundlab.cli import invoke
from boundlab.errors import OutputError, SpecError
from boundlab.registry import registered
from boundlab.sweep import plan
from boundlab.sweep.drive import Folder, Lines, answered, exit_code, read_shard
from boundlab.sweep.plan import SweepPlan, answer, command, key
from boundlab.sweep.results import Swept, results, sweep
from boundlab.theorems import ALONG_RUN, POINT_SETS, core

PLAN: dict[str, Any] = {
    "theorems": ["area.theorem8", "area.theorem8.repaired"],
    "problems": ["lad:x0=3"],
    "delays": ["iid:p_s=0.5"],
    "set": {"M": [1, 50]},
    "run": {"iterations": [3, 6], "trials": 20},
}
SLOW = """
import time


def build(options):
    time.sleep(float(options.raw("wait", "0")))
    end = options.raw("end", "")
    if end == "memory":
        bytearray(1 << 40)
    if end == "raise":
        raise ValueError("out of the plug-in")
    if end == "exit":
        raise SystemExit(0)
    if end == "signal":
        import os
        os.kill(os.getpid(), int(options.raw("number", "9")))
    return lookup("problems", "lad").build(Options("problem lad", {"x0": 3}))


from boundlab.objective import ProblemType
from boundlab.options import Options
from boundlab.registry import lookup

ENDS = ProblemType("ends", "a problem that ends in some way", build, {"wait": "", "end": "", "number": ""})
BOUNDLAB = {"problems": ENDS}
"""


@pytest.fixture
def ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Load a plug-in with a problem that ends in whichever way it is told."""
    file = tmp_path / "ends.py"
    file.write_text(SLOW)
    monkeypatch.setenv("BOUNDLAB_PLUGINS", "")
    bl.load_plugin(file)


@pytest.fixture(scope="module")
def answered_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answer the plan, once for all tests."""
    folder = tmp_path_factory.mktemp("once") / "out"
    sweep(PLAN, folder, jobs=1)
    return folder


@pytest.fixture
def done(answered_once: Path, tmp_path: Path) -> Path:
    """Return a folder of one's own in which the plan is answered."""
    shutil.copytree(answered_once, tmp_path / "out")
    return tmp_path / "out"


def rows_of(found: Swept) -> dict[str, dict[str, Any]]:
    return {row["key"]: row for row in found.lines.rows()}


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    """Append rows to the lines of a shard that there is none of, and return the file."""
    with Folder(folder).writing("other") as append:
        for row in rows:
            append(row)
    return folder / "lines" / "other.jsonl"


def test_each_row_is_what_the_question_answers(done: Path) -> None:
    found = results(done)
    cells = list(found.plan.cells())
    rows = rows_of(found)
    assert len(rows) == len(cells) == 4
    for cell in cells:
        alone = bl.compare(
            cell.theorem, cell.problem, cell.delays, iterations=[3, 6], trials=20, level=cell.level, jobs=1,
            settings=dict(cell.settings),
        )  # fmt: skip
        row = rows[key(cell)]
        assert (row["verdict"], row["reason"]) == (alone.verdict, alone.reason)
        assert row["points"][-1][4] == alone.comparisons[-1].bound[-1]
        assert json.loads(found.folder.case(key(cell)).read_text())["theorem"] == cell.theorem
    assert found.exit_code == 1
    assert "1 violated" in found.line()


def test_what_is_done_is_not_done_again(done: Path) -> None:
    told: list[Any] = []
    before = sorted(path.read_text() for path in (done / "lines").iterdir())
    sweep(PLAN, done, jobs=1, tell=lambda progress, row: told.append((progress.cached, row)))
    assert told == [(4, None)]
    assert sorted(path.read_text() for path in (done / "lines").iterdir()) == before


@pytest.mark.nightly
def test_shards_have_each_cell_once_and_together_all(done: Path, tmp_path: Path) -> None:
    whole = results(done)
    for part in (1, 2, 3):
        last = sweep(PLAN, tmp_path / "parts", jobs=1, shard=(part, 3))
    assert {name: answered(row) for name, row in rows_of(last).items()} == {
        name: answered(row) for name, row in rows_of(whole).items()
    }
    assert len(lines_of(tmp_path / "parts")) == 4


@pytest.mark.nightly
def test_the_same_shard_twice_at_once_is_refused_and_another_is_not(tmp_path: Path) -> None:
    folder = Folder.make(tmp_path / "out", PLAN)
    with folder.writing("1-of-2"):
        with pytest.raises(OutputError, match="shard 1-of-2 is being worked on by another process"):
            sweep(PLAN, tmp_path / "out", jobs=1, shard=(1, 2))
        sweep(PLAN, tmp_path / "out", jobs=1, shard=(2, 2))
    sweep(PLAN, tmp_path / "out", jobs=1, shard=(1, 2))


@pytest.mark.nightly
@pytest.mark.usefixtures("ends")
def test_whatever_ends_a_cell_is_a_row_with_its_cause_and_the_rest_goes_on(tmp_path: Path) -> None:
    how = ["wait=30", "end=memory", "end=raise", "end=exit", "end=signal", "end=signal,number=11"]
    problems = [*(f"ends:{one}" for one in how), "lad:nonsense=1", "ends"]
    more = {"problems": problems, "theorems": ["area.theorem8"], "set": {"M": [50]}}
    plan = {**PLAN, **more, "run": {"iterations": 6, "trials": 20, "seconds": 6, "memory": "3 GiB"}}
    cells = list(SweepPlan.of(plan).cells())
    from boundlab.sweep.worker import Warm

    warm = Warm(memory=3 << 30)
    try:
        rows = [warm.ask(cell, key(cell), 8.0) for cell in cells]
    finally:
        warm.stop()
    assert [row["status"] for row in rows] == [
        "over time", "over memory", "crashed", "crashed", "killed", "crashed", "refused", "done",
    ]  # fmt: skip
    assert "SIGSEGV" in rows[5]["reason"]
    assert rows[-1]["verdict"] == "violated"


def test_a_torn_last_line_is_the_cell_in_flight(done: Path) -> None:
    found = results(done)
    before = {name: answered(row) for name, row in rows_of(found).items()}
    file = next((done / "lines").iterdir())
    file.write_bytes(file.read_bytes()[:-20])
    torn = results(done)
    assert len(rows_of(torn)) == 3
    assert torn.missing == 1
    again = sweep(PLAN, done, jobs=1)
    assert {name: answered(row) for name, row in rows_of(again).items()} == before


def test_two_answers_to_one_cell_that_differ_are_shown_as_a_defect(done: Path) -> None:
    row = next(one for one in rows_of(results(done)).values() if one["verdict"] == "violated")
    write(done, {**row, "cpu": 7.0})
    assert results(done).lines.disagreements == []
    write(done, {**row, "verdict": "holds"})
    opened = results(done)
    assert [name for name, _, _ in opened.lines.disagreements] == [row["key"]]
    assert rows_of(opened)[row["key"]]["verdict"] == "violated"


@pytest.mark.parametrize("name", ["!", "~"])  # before all other files in the alphabet, and behind them
def test_an_answer_of_other_versions_takes_the_place_of_a_stale_one(done: Path, name: str) -> None:
    row = next(one for one in rows_of(results(done)).values() if one["verdict"] == "violated")
    written = write(done, {**row, "verdict": "holds", "common": {"boundlab": "0.0"}})
    written.rename(written.with_name(f"{name}.jsonl"))
    opened = results(done)
    assert opened.lines.disagreements == []
    assert rows_of(opened)[row["key"]]["verdict"] == "holds"
    assert bytes.fromhex(row["key"]) not in opened.lines.known("stale")
    assert bytes.fromhex(row["key"]) in opened.lines.known() & opened.lines.known("failed")


@pytest.mark.nightly
def test_rows_of_an_edited_theorem_are_kept_and_not_counted(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = 'id = "mine"\nstatus = "user"\nalgorithm = "gd"\nmetric = "gap"\nassumptions = ["smooth"]\n[step]\n'
    text += 'alpha = "1/L"\n[terms]\nall = "{}*L*R**2/K"\n'
    plan = {"theorems": [str(file)], "problems": ["quadratic:x0=3"], "run": {"iterations": 3, "trials": 4}}
    ends = {}
    for factor in ("0.0001", "1", "0.0001"):
        file.write_text(text.format(factor))
        found = sweep(plan, tmp_path / "out", jobs=1)
        ends[factor] = [row["verdict"] for row in found.rows()]
    assert ends == {"0.0001": ["violated"], "1": ["holds"]}
    assert len(found.lines.known()) == 2


def test_a_bound_that_says_nothing_is_counted_apart(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = 'id = "mine"\nstatus = "user"\nalgorithm = "gd"\nmetric = "gap"\nassumptions = ["smooth"]\n[step]\n'
    file.write_text(text + 'alpha = "1/L"\n[terms]\nall = "9*L*R**2"\n')
    plan = {"theorems": [str(file)], "problems": ["quadratic:x0=3"], "run": {"iterations": 3, "trials": 4}}
    found = sweep(plan, tmp_path / "out", jobs=1)
    assert found.verdict == "1 holds (vacuous)"
    assert [row["vacuous"] for row in results(tmp_path / "out", "vacuous AND verdict = 'holds'").rows()] == [True]
    assert [(one["verdict"], one["vacuous"]) for one in found.as_dict()["ends"]] == [("holds", True)]


def test_a_list_or_data_in_a_file_are_part_of_the_key(tmp_path: Path) -> None:
    file = tmp_path / "c.txt"
    for more, text in (
        ({"problems": [f"huber:c=@{file}"]}, "1\n2\n"),
        ({"delays": [f"exponential:rates=@{file}"]}, "1\n2\n"),
        ({"set": {"p": f"@{file}"}}, "1\n2\n"),
        ({"problems": [f"logistic:data=csv:{file},target=label"]}, "a,label\n1,0\n2,1\n"),
    ):
        file.write_text(text)
        (cell,) = SweepPlan.of({**PLAN, "theorems": ["area.theorem8"], "set": {}, **more}).cells()
        before = key(cell)
        file.write_text(text.replace("2", "200"))
        assert key(cell) != before, more


def test_a_file_that_changes_while_it_is_asked_makes_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from boundlab.sweep import worker

    (cell,) = SweepPlan.of({**PLAN, "theorems": ["area.theorem8"], "set": {"M": [50]}}).cells()
    monkeypatch.setattr(worker, "answer", lambda _cell: {"key": "of other files"})
    assert worker._row(cell, key(cell))["status"] == "refused"


def test_lines_that_are_none_are_passed_over_counted_and_told(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(results(done))
    wrong = ['{"foo": 1}', '{"key": "zz", "status": "done"}', "[1]", "nonsense"]
    (done / "lines" / "other.jsonl").write_text("\n".join(wrong) + "\n")
    assert rows_of(sweep(PLAN, done, jobs=1)) == rows
    assert results(done).lines.strange == 4
    invoke(["results", str(done)])
    assert "4 lines are no rows" in capsys.readouterr().out


def test_a_folder_of_an_earlier_version_is_read_and_continued(done: Path) -> None:
    # Until 0.5 each process had a file of lines by a random name, the folder a mark, and shards had locks beside.
    rows = rows_of(results(done))
    (file,) = (done / "lines").iterdir()
    file.rename(file.with_name("host-17-263d6c1e.jsonl"))
    about = done / "sweep.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "sweep": "01912233e1a19fa5"}))
    (done / "locks").mkdir()
    (done / "locks" / "1-of-1.lock").write_text("process 17 on host")
    assert rows_of(results(done)) == rows
    asked: list[Any] = []
    assert rows_of(sweep(PLAN, done, jobs=1, tell=lambda _, row: asked.append(row))) == rows
    assert asked == [None]


def test_a_setting_may_be_called_like_a_column(done: Path) -> None:
    row = next(one for one in rows_of(results(done)).values() if one["verdict"] == "violated")
    settings = {"m": 1, "M": 2, "id": 3, "Status": 4, 'a"b': 5, 'A"B': 6}
    write(done, {**row, "key": "ab" * 32, "settings": settings})
    folder = Folder(done)
    folder.note_cells(b"\xab" * 32)
    lines = Lines(folder, list(settings))
    (found,) = map(lines.values, lines.rows("set_m = 1 AND M = 2 AND id = 3"))
    assert (found["set_Status"], found['a"b'], found['A"B'], found["status"]) == (4, 5, 6, "done")


def test_where_reads_rows_and_can_change_nothing(done: Path) -> None:
    found = results(done)
    assert [row["M"] for row in results(done, "M > 5 AND theorem = 'area.theorem8'").rows()] == [50]
    for words in (
        "1); DELETE FROM cells; --",
        "M = (DELETE FROM cells)",
        "nonsense > 3",
        "load_extension('x')",
        "(",
    ):
        with pytest.raises(SpecError, match="the columns are"):
            list(results(done, words).rows())
    for words, why in ((" ", "empty"), ("theorem = '\udcff'", "UTF-8")):
        with pytest.raises(SpecError, match=f"{why}.*the columns are"):
            list(results(done, words).rows())
    assert len(rows_of(found)) == 4


@pytest.mark.nightly
def test_names_of_files_are_bytes_and_may_be_no_text(tmp_path: Path) -> None:
    folder = tmp_path / "sweep\udcff"
    sweep(PLAN | {"set": {"M": [50], "trials": [3]}}, folder, jobs=1)
    assert {row["reason"] for row in rows_of(results(folder)).values()} == {
        "trials is no symbol but a keyword of compare; give it outside of the symbols"
    }
    theorem = tmp_path / "mine\udcff.toml"
    shutil.copy(Path(__file__).parents[1] / "theorems" / "textbook" / "gd_last.toml", theorem)
    found = sweep(PLAN | {"theorems": [str(theorem)], "set": {}}, folder.with_name("other"), jobs=1)
    assert [row["theorem"] for row in rows_of(found).values()] == [str(theorem)]


def gone(folder: Path) -> None:
    for path in (folder / "lines").iterdir():
        path.unlink()


def torn(folder: Path) -> None:
    for path in (folder / "lines").iterdir():
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def without_cells(folder: Path) -> None:
    (folder / "cells.bin").unlink()


def of_other_cells(folder: Path) -> None:
    Folder(folder).note_cells(bytes(range(128)))


def cells_cut(folder: Path) -> None:
    (folder / "cells.bin").write_bytes((folder / "cells.bin").read_bytes()[:70])


@pytest.mark.parametrize("damage", [gone, torn, without_cells, of_other_cells, cells_cut])
def test_what_a_folder_has_lost_has_no_answer(done: Path, damage: Callable[[Path], None]) -> None:
    assert results(done).missing == 0
    damage(done)
    found = results(done)
    rows = len(rows_of(found))
    assert rows < 4
    assert found.missing > 0
    assert found.ending() == found.ending("holds") or "violated" in found.verdict
    assert found.ending("holds") in (1, 3)
    assert f"{found.missing} without an answer" in found.line()
    assert found.as_dict()["missing"] == found.missing


@pytest.mark.nightly
def test_a_shard_owes_its_own_cells_alone(tmp_path: Path) -> None:
    first = sweep(PLAN, tmp_path / "out", jobs=1, shard=(1, 2))
    assert first.missing == 0
    assert results(tmp_path / "out").missing == 4 - len(rows_of(first)) > 0


@pytest.mark.sweep(8)
@pytest.mark.parametrize(
    "name", ["theorem", "status", "verdict", "code", "left", "seed", "settings", "points", "reason"]
)
@pytest.mark.parametrize("value", [[1], {"a": [2]}, 10**30, True, "text", 1.5, {"\0": 1}, [[1, 2]], None])
def test_a_line_with_other_types_is_no_row_or_is_shown(done: Path, name: str, value: Any) -> None:
    row = next(iter(rows_of(results(done)).values()))
    file = next((done / "lines").iterdir())
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    changed = [line | {name: value} if line.get("key") == row["key"] else line for line in lines]
    file.write_text("".join(json.dumps(line) + "\n" for line in changed))
    found = results(done)
    assert len(rows_of(found)) + found.missing == 4
    found.page(verbose=True)
    found.save_csv(done.parent / "all.csv")
    found.as_dict()


@pytest.mark.nightly
def test_a_numpy_of_the_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit('run')")
    monkeypatch.chdir(tmp_path)
    found = sweep(PLAN | {"theorems": ["area.theorem8"], "set": {"M": [50]}}, tmp_path / "out", jobs=1)
    assert [row["status"] for row in rows_of(found).values()] == ["done"]


@pytest.mark.nightly
def test_parquet_of_numbers_beside_texts(tmp_path: Path) -> None:
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    plan = PLAN | {"theorems": ["area.theorem8"], "set": {"M": [1, "sqrt(4)"]}}
    sweep(plan, tmp_path / "out", jobs=1).save_parquet(tmp_path / "all.parquet")
    assert sorted(pandas.read_parquet(tmp_path / "all.parquet")["M"]) == ["1", "sqrt(4)"]


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("all of it")
    with pytest.raises(OutputError, match="is not empty, and not the folder of a sweep"):
        sweep(PLAN, tmp_path / "mine", jobs=1)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    with pytest.raises(OutputError, match="not the folder of a sweep"):
        results(tmp_path / "mine")


def test_the_key_is_all_that_decides_the_answer() -> None:
    cells = list(SweepPlan.of(PLAN).cells())
    assert len({key(cell) for cell in cells}) == len(cells)
    other = SweepPlan.of({**PLAN, "run": {**PLAN["run"], "rate": 0.02}})
    assert not {key(cell) for cell in cells} & {key(cell) for cell in other.cells()}
    (one,) = SweepPlan.of(
        {**PLAN, "theorems": ["area.theorem8"], "problems": ["lad:x0=3,sigma=0"], "set": {"M": [1]}}
    ).cells()
    (two,) = SweepPlan.of(
        {**PLAN, "theorems": ["area.theorem8"], "problems": ["lad:sigma=0,x0=3"], "set": {"M": [1]}}
    ).cells()
    assert key(one) == key(two)


def test_the_key_changes_with_the_form_of_a_theorem_that_may_be_asked_in_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whether the form along the run is taken follows from the problem, which no key builds.
    (cell, *_), theorems = SweepPlan.of(PLAN).cells(), registered("theorems")
    forms = [one for name, one in theorems.items() if name.endswith(ALONG_RUN)]
    assert len(forms) > 10
    for form in forms:
        asked = replace(cell, theorem=form.id.removesuffix(ALONG_RUN))
        plan._theorem.cache_clear()
        before = key(asked)
        wider = {
            name: (*words, "segments") if name in POINT_SETS["segments"].of else words
            for name, words in form.points.items()
        }
        other = replace(form, id=form.id, points=wider)
        with monkeypatch.context() as patched:
            patched.setattr("boundlab.theorems._steps_at.find", lambda _kind, _id, other=other: other)
            plan._theorem.cache_clear()
            assert core(other).sha256 != core(form).sha256
            assert key(asked) != before, form.id
    plan._theorem.cache_clear()


def test_a_command_repeats_its_cell() -> None:
    cell = list(SweepPlan.of(PLAN).cells())[-1]
    words = command(cell).split()
    assert words[:3] == ["boundlab", "compare", cell.theorem]
    assert f"M={dict(cell.settings)['M']}" in words
    assert repr(cell.level) in words


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("ask", "theorem", "verdict"),
    [
        ("check", "area.theorem7", "failed"),
        ("prove", "area.theorem8", "refuted"),
        ("prove", "classics.gd.convex", "proved"),
        ("falsify", "classics.gd.convex", "inconclusive"),
    ],
)
def test_a_question_about_a_theorem_alone(ask: str, theorem: str, verdict: str) -> None:
    few = {"candidates": 2} if ask == "falsify" else {}
    (cell,) = SweepPlan.of({"theorems": [theorem], "run": {"ask": ask, **few}}).cells()
    row = answer(cell)
    assert (row["status"], row["verdict"]) == ("done", verdict)


def test_a_row_says_of_which_form_it_speaks_where_that_stands_in_the_place_of_the_theorem() -> None:
    spec = "quadratic:A=[[[1]],[[2]]],b=[[0],[1]],x0=3"
    plan = {"theorems": ["fedbuff.rf1"], "problems": [spec], "delays": ["deterministic:rates=[2,1]"]}
    (cell,) = SweepPlan.of({**plan, "run": {"iterations": 6, "trials": 2}}).cells()
    assert answer(cell)["reason"].startswith("of fedbuff.rf1.along-run, in its place: ")


def test_exact_values_and_worst_cases_are_asked_like_comparisons() -> None:
    (cell,) = SweepPlan.of(
        {**PLAN, "theorems": ["area.theorem8"], "set": {"M": [50]}, "run": {"ask": "exact", "iterations": 6}}
    ).cells()
    row = answer(cell)
    assert row["verdict"] == "violated"
    assert row["left"] == pytest.approx(2.5272, rel=1e-4)
    worst = {"theorems": ["classics.gd.convex"], "run": {"ask": "worst-case", "iterations": 2}}
    (cell,) = SweepPlan.of(worst).cells()
    assert answer(cell)["verdict"] == "holds"


def test_a_sweep_ends_with_the_worst_that_it_found() -> None:
    rows = {"done": ("done", 0), "bad": ("done", 1), "open": ("done", 3), "aside": ("done", 4)}
    assert exit_code([rows["done"], rows["aside"]]) == 0
    assert exit_code([rows["done"], rows["open"]]) == exit_code([("over time", 3)]) == exit_code([("refused", 2)]) == 3
    assert exit_code([rows["open"], rows["bad"]]) == 1
    assert exit_code([rows["bad"], ("crashed", 70)]) == 70


def test_a_shard_is_written_i_of_n() -> None:
    assert read_shard("2/8") == (2, 8)
    for text in ("0/8", "9/8", "2", "2/", "a/b", "-1/2"):
        with pytest.raises(SpecError, match="1 ≤ i ≤ n"):
            read_shard(text)
