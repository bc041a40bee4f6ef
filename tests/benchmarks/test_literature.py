"""The table of published theorems: entries load, mutants differ from them, no true one is refuted, mutants are."""

import json
import sys
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import boundlab as bl
from boundlab.cli import invoke
from boundlab.errors import FormulaError, SpecError
from boundlab.theorems import ORIGINS

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.literature import entries as table
from benchmarks.literature.__main__ import main, stands, summary
from benchmarks.literature.entries import Change, Entry, entries, expected
from benchmarks.literature.judge import Answer, Row, judge

ROOT = Path(__file__).parents[2]
ALL = entries()
RECORDED = ROOT / "benchmarks" / "results" / "literature.json"
CHEAP = {"guler-1991": "worst-case", "schmidt-2011.3": "check", "garrigos-2023.5.3": "compare"}


def _entry(name: str) -> Entry:
    return next(one for one in ALL if one.id == name)


def test_the_table_holds_every_textbook_theorem_and_every_file_once() -> None:
    names = [one.id for one in ALL]
    assert len(names) == len(set(names))
    assert set(names) == expected()
    assert sum(one.file is not None for one in ALL) >= 12


@pytest.mark.sweep(16)
@pytest.mark.parametrize("entry", ALL, ids=lambda one: one.id)
def test_an_entry_has_a_source_and_right_units_and_its_mutant_is_another_statement(entry: Entry) -> None:
    theorem, mutant = entry.theorem(), entry.mutant()
    assert theorem.id == entry.id
    assert theorem.paper
    assert theorem.place
    assert theorem.status != "derived here"
    assert (theorem.origin in ORIGINS) == (entry.file is not None), "a file says what it was written from"
    for one in (theorem, mutant):
        assert not bl.check(one, "units").failed, one.id
    assert mutant.core.sha256 != theorem.core.sha256
    assert mutant.id == f"mutant.{theorem.id}"


@pytest.mark.nightly
@pytest.mark.parametrize("name", CHEAP)
def test_no_tool_refutes_the_theorem_and_one_refutes_the_mutant(name: str) -> None:
    row = judge(_entry(name))
    assert not row.alarms
    assert row.killer == CHEAP[name]
    assert row.by
    recorded = next(one for one in json.loads(RECORDED.read_text(encoding="utf-8")) if one["id"] == name)
    assert recorded["killer"] == row.killer
    assert recorded["changed"] == row.changed
    assert list(recorded["answers"]) == list(row.answers)


def test_the_recorded_table_has_every_entry_no_alarm_and_at_most_five_in_a_hundred_survivors() -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert [one["id"] for one in recorded] == [one.id for one in ALL]
    assert not [one["id"] for one in recorded if one["alarms"]]
    survivors = {one["id"] for one in recorded if not one["killer"]}
    assert len(survivors) <= 0.05 * len(recorded)
    text = (ROOT / "benchmarks" / "literature" / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in survivors)
    shown = RECORDED.with_suffix(".md").read_text(encoding="utf-8")
    assert all(f"`{one.id}`" in shown for one in ALL)


def test_what_the_files_were_written_from_is_what_the_pages_say() -> None:
    counts = Counter(one.theorem().origin or "memory" for one in ALL)
    heading = f"{len(ALL)} theorems, as we remember them; {counts['print']} compared with the print"
    for page in (ROOT / "benchmarks" / "literature" / "README.md", RECORDED.with_suffix(".md")):
        assert heading in page.read_text(encoding="utf-8")
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert Counter(one["source"] for one in recorded) == counts
    assert f"{counts['own']} are such" in (ROOT / "benchmarks" / "literature" / "README.md").read_text(encoding="utf-8")


def test_show_says_what_a_file_was_written_from(capsys: pytest.CaptureFixture[str]) -> None:
    for name, words in (("stich-2020.delayed", "our own, under the paper's name"), ("guler-1991", "from memory, not")):
        assert invoke(["show", str(table.FILES / f"{name}.toml")]) == 0
        assert words in " ".join(capsys.readouterr().out.split())


def test_main_shows_a_part_and_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "guler", "--jobs", "1", "--out", str(tmp_path / "some.md")]) == 0
    shown = capsys.readouterr().out
    assert "| `guler-1991` | Güler, " in shown
    assert "1 entries, 0 alarms about true theorems; 1 of 1 mutants refuted.\n" in shown
    assert shown in (tmp_path / "some.md").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "some.json").read_text(encoding="utf-8"))[0]["id"] == "guler-1991"
    assert main(["--only", "nobody"]) == 2


def test_alarms_and_survivors_end_with_1() -> None:
    good = Row("x", "paper", "place", "memory", {"check": Answer("passed")}, "changed", "", "check", "by", 0.0)
    alarm = replace(good, answers={"compare": Answer("violated, 2", refuted=True)})
    alive = replace(good, killer="")
    assert stands([good] * 20)
    assert stands([good] * 19 + [alive])
    assert not stands([good] * 18 + [alive] * 2)
    assert not stands([good] * 19 + [alarm])
    assert "1 alarms about true theorems: x (compare); 1 of 2 mutants refuted, not those of x" in summary(
        [alarm, alive]
    )


def test_a_crash_is_an_alarm_and_refutes_no_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    for tool in ("check", "worst_case", "compare", "falsify"):
        monkeypatch.setattr(bl, tool, crash)
    row = judge(_entry("guler-1991"))
    assert row.alarms == ["check", "worst-case", "compare", "falsify"]
    assert row.killer == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Change("", terms={"bound": "R**2/(2*alpha*K)"}), "nothing is changed"),
        (Change("", drop=("noise",)), "no term noise"),
        (Change("", step={"eta": "1"}), "no step eta"),
        (Change("", terms={"bound": "nobody"}), "nobody"),
    ],
)
def test_a_change_that_changes_nothing_or_names_nothing_is_refused(change: Change, words: str) -> None:
    with pytest.raises((SpecError, FormulaError), match=words):
        change.of(_entry("guler-1991").theorem())


def test_conditions_and_steps_can_be_changed() -> None:
    theorem = _entry("nesterov-2018.2.1.15").theorem()
    longer = Change("", conditions=("alpha <= 4/(mu+L)",), step={"alpha": "3/(mu+L)"}).of(theorem)
    assert longer.core.sha256 != theorem.core.sha256
    assert [one.statement for one in longer.conditions] == ["alpha ≤ 4/(mu+L)"]
    assert bl.falsify(longer, candidates=30, jobs=1).violated


def test_a_wrong_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = table.TABLE.read_text(encoding="utf-8")
    first = "[[entry]]" + good.split("[[entry]]")[1]
    file = tmp_path / "entries.toml"
    monkeypatch.setattr(table, "TABLE", file)
    for text, words in (
        (good + first, "twice: classics.gd.convex"),
        (good + first.replace('on = "smooth"', 'on = "nothing"'), "no instances are called 'nothing'"),
        (good + first.replace('on = "smooth"', 'of = "smooth"'), "must have theorem, on and mutant"),
    ):
        tomllib.loads(text)
        file.write_text(text, encoding="utf-8")
        with pytest.raises(SpecError, match=words):
            entries()
