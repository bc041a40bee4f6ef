"""A verdict is shown before its files are written, and whatever becomes of the files, it is not lost."""

import json
import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer.main
from command_examples import QUICK, RUN, quick

from boundlab.cli import invoke
from boundlab.cli._app import application
from boundlab.errors import OutputError
from boundlab.files import replacing
from boundlab.verdict import ExitCode

FALSE = ("compare", "area.theorem8", *RUN, "--trials=200")
TRUE = ("compare", "area.theorem8.repaired", *RUN, "--trials=200")
# (what is run, the option that names the file, words of what is shown, the code if the file cannot be written)
WRITING = [
    ((*FALSE, "--out=out"), "violated:", ExitCode.USAGE),
    ((*FALSE, "--out=out", "--json"), '"verdict": "violated"', ExitCode.USAGE),
    ((*FALSE, "--plot=plot.svg"), "violated:", ExitCode.USAGE),
    (FALSE, "violated:", ExitCode.REFUTED),
    ((*FALSE, "--json"), '"verdict": "violated"', ExitCode.REFUTED),
    ((*QUICK["falsify"], "--out=out"), "violated:", ExitCode.USAGE),
    (QUICK["falsify"], "violated:", ExitCode.REFUTED),
    ((*QUICK["worst-case"], "--out=case.out.json"), "upper value", ExitCode.USAGE),
    ((*QUICK["run"], "--out=run.json"), "staleness", ExitCode.USAGE),
    ((*QUICK["run"], "--csv=run.csv"), "staleness", ExitCode.USAGE),
    ((*FALSE, "--csv=band.csv"), "violated:", ExitCode.USAGE),
    ((*QUICK["trace"], "--out=normal.csv"), "devices", ExitCode.USAGE),
    (("run", "case.json", "--out=replay.json"), "actor", ExitCode.USAGE),
    ((*QUICK["optimal-rate"], "--plot=plot.svg"), "closed form", ExitCode.USAGE),
]


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("arguments", "words", "code"), WRITING)
def test_the_verdict_stands_on_the_screen_before_anything_is_written(
    arguments: tuple[str, ...], words: str, code: ExitCode, place: Path, capsys: Any, monkeypatch: Any
) -> None:
    seen = []

    @contextmanager
    def full(path: Path) -> Any:
        if path.is_absolute():  # a temporary file of the search
            with replacing(path) as temporary:
                yield temporary
            return
        seen.append(capsys.readouterr().out)
        raise OutputError(f"cannot write {path}: the disk is full")

    monkeypatch.setattr("boundlab.pages.plots.replacing", full)
    monkeypatch.setattr("boundlab.files.replacing", full)
    monkeypatch.setattr("boundlab.files.check_writable", lambda _path: None)
    monkeypatch.setattr("boundlab.cli.terminal.check_writable", lambda _path: None)
    assert invoke(list(arguments)) == code
    assert words in seen[0]
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("boundlab: cannot write ")
    assert err.count("\n") == 1


@pytest.mark.sweep(12)
@pytest.mark.parametrize("arguments", [one for one, _, _ in WRITING if "--json" not in one])
def test_a_file_that_was_there_is_replaced_and_said_to_be(arguments: tuple[str, ...], place: Path, capsys: Any) -> None:
    said = []
    for _ in range(2):
        invoke(list(arguments))
        lines = capsys.readouterr().out.splitlines()
        said.append([one.split(": ") for one in lines if one.startswith(("written: ", "replaced: "))])
    assert said[0]
    assert {word for word, _ in said[0]} == {"written"}
    assert said[1] == [["replaced", file] for _, file in said[0]]


def test_every_command_that_writes_files_is_among_them() -> None:
    commands: dict[str, Any] = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
    named = {name: {word for each in one.params for word in each.opts} for name, one in commands.items()}
    writing = {name for name, options in named.items() if options & {"--out", "--plot"}}
    # demo: see test_demo; new has no verdict: see test_new; a sweep writes before its verdict: see tests/sweep
    assert writing == {arguments[0] for arguments, _, _ in WRITING} | {"demo", "new", "sweep"}


def test_a_case_file_that_nobody_asked_for_never_costs_the_verdict(place: Path, capsys: Any, monkeypatch: Any) -> None:
    def refuse(path: Path) -> None:
        raise OutputError(f"cannot write {path}: Read-only file system")

    monkeypatch.setattr("boundlab.cli.terminal.check_writable", refuse)
    assert invoke([*FALSE, "--json"]) == ExitCode.REFUTED
    out, err = capsys.readouterr()
    assert json.loads(out)["written"] == []
    assert err.count("\n") == 1
    assert not list(place.glob("area*"))


def names(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def test_a_folder_holds_one_verdict_and_nothing_of_an_earlier_one(place: Path, capsys: Any) -> None:
    plot = ("--plot=out/plot.svg", "--out=out")
    assert invoke([*FALSE, *plot]) == ExitCode.REFUTED
    assert names("out") == ["area.theorem8.case.json", "plot.svg", "result.json"]
    (place / "out" / "notes.txt").write_text("mine")
    assert invoke([*TRUE, "--out=out"]) in (ExitCode.STANDS, ExitCode.UNDECIDED)
    assert names("out") == ["notes.txt", "result.json"]
    assert json.loads((place / "out" / "result.json").read_text())["theorem"] == "area.theorem8.repaired"


def test_a_folder_of_somebody_else_is_left_alone(place: Path, capsys: Any) -> None:
    for content in ("", "{", '{"verdict": "holds"}', "[1]"):
        (place / "theirs").mkdir(exist_ok=True)
        (place / "theirs" / "result.json").write_text(content)
        assert invoke([*TRUE, "--out=theirs"]) == ExitCode.USAGE
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert "no result.json of boundlab's" in err
        assert (place / "theirs" / "result.json").read_text() == content
    assert invoke(["demo", "--out=theirs"]) == ExitCode.USAGE
    assert invoke(["falsify", "area.theorem8", "--candidates=5", "--out=theirs"]) == ExitCode.USAGE


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "target", ["/dev/null", "/dev/full", "fifo", "folder", "x" * 300, "nowhere/file", "link-to-null"]
)
@pytest.mark.parametrize("command", ["run", "run CASE", "worst-case", "optimal-rate"])
def test_devices_pipes_and_impossible_names_are_refused_before_the_work(
    command: str, target: str, place: Path, capsys: Any
) -> None:
    os.mkfifo("fifo")
    Path("folder").mkdir()
    Path("link-to-null").symlink_to("/dev/null")
    before = Path("/dev/null").stat()
    words = quick(command)
    option = "--plot" if command == "optimal-rate" else "--out"
    assert invoke([*words, f"{option}={target}"]) == ExitCode.USAGE
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    after = Path("/dev/null").stat()
    assert (before.st_mode, before.st_ino) == (after.st_mode, after.st_ino)


def test_modes_and_the_umask_are_kept(place: Path, capsys: Any) -> None:
    old = os.umask(0o027)
    try:
        (place / "kept.json").write_text("{}")
        (place / "kept.json").chmod(0o604)
        for name in ("kept.json", "new.json"):
            assert invoke(["run", "case.json", f"--out={name}"]) == ExitCode.STANDS
    finally:
        os.umask(old)
    assert stat.S_IMODE(Path("kept.json").stat().st_mode) == 0o604
    assert stat.S_IMODE(Path("new.json").stat().st_mode) == 0o640


def test_a_link_is_followed(place: Path, capsys: Any) -> None:
    Path("link.json").symlink_to("target.json")
    assert invoke(["run", "case.json", "--out=link.json"]) == ExitCode.STANDS
    assert (place / "link.json").is_symlink()
    assert json.loads((place / "target.json").read_text())["trajectory"]
