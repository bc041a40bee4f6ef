"""The shell completes commands, options, ids, symbols and files."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import typer.main
from click.shell_completion import BashComplete

from boundlab.cli import invoke
from boundlab.cli._app import application
from boundlab.cli.new import NEXT
from boundlab.registry import KINDS, registered

COMMAND: Any = typer.main.get_command(application())
THEOREMS = ("show", "eval", "check", "compare", "exact", "worst-case", "falsify", "audit")


def offered(*words: str) -> list[str]:
    """Return what follows the last of the words, as bash asks."""
    *before, incomplete = words
    return [one.value for one in BashComplete(COMMAND, {}, "boundlab", "").get_completions(before, incomplete)]


def test_commands_and_options_are_offered() -> None:
    assert {"show", "compare", "audit", "docs"} <= set(offered(""))
    assert offered("comp") == ["compare"]
    assert {"--problem", "--json", "--quiet"} <= set(offered("compare", "area.theorem8", "--"))


@pytest.mark.parametrize("command", THEOREMS)
def test_theorems_are_offered_wherever_one_is_meant(command: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "areas").mkdir()
    for name in ("area.toml", "area.txt"):
        (tmp_path / name).touch()
    found = offered(command, "area.theorem8")
    assert found == [one for one in registered("theorems") if one.startswith("area.theorem8")]
    assert {"area.toml", "areas/"} <= set(offered(command, "area"))
    assert "area.txt" not in offered(command, "area")


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("run", "area", "--problem", ""), "problems"),
        (("compare", "area.theorem8", "-d", ""), "delays"),
        (("compare", "area.theorem8", "--beyond", ""), "assumptions"),
        (("check", "area.theorem8", "--only", ""), "checks"),
    ],
)
def test_registered_objects_are_offered(words: tuple[str, ...], kind: Any) -> None:
    assert offered(*words) == list(registered(kind))


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("run", "area", "-p", "lad:x"), ["lad:x0="]),
        (("check", "area.theorem8", "--only", "units,lim"), ["units,limits"]),
        (("run", "area", "--server", "co"), ["count:"]),
        (("compare", "area.theorem8", "--set", "sig"), ["sigma="]),
        (("run", "fedbuff", "--set", "eta_l"), ["eta_l="]),
        (("run", "nothing", "--set", ""), []),
        (("show", "no/such/folder/"), []),
        (("list", "al"), ["algorithms"]),
        (("new", "th"), ["theorem"]),
        (("docs", "--schema", "ca"), ["case"]),
        (("run", "are"), ["area"]),
        (("compare", "area.theorem8", "--backend", "t"), ["torch"]),
        (("prove", "area.opt"), ["area.optimal-rate"]),
    ],
)
def test_specs_settings_and_words_are_offered(words: tuple[str, ...], found: list[str]) -> None:
    assert offered(*words) == found


def test_kinds_are_those_that_there_are() -> None:
    assert offered("list", "") == [*KINDS, "symbols"]
    assert offered("new", "") == [*NEXT]


# Values that are free: numbers, lists of them, names of one's own.
FREE = {
    "--iterations",
    "--trials",
    "--seed",
    "--jobs",
    "--level",
    "--device",
    "--budget",
    "--candidates",
    "--rates",
    "--server-cost",
    "--epsilon",
    "--p",
    "--fit",
    "--step",
    "--shard",
    "--dask",
    "--heat",
    "--where",
    "--map",
    "word",
    "new name",
}


def test_every_value_is_offered_or_free(tmp_path: Path, monkeypatch: Any) -> None:
    """A new option needs a completion, or a word here."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    context = click.Context(COMMAND.commands["show"], info_name="show")
    context.params = {"theorem": "area.theorem8"}
    for name, command in {"": COMMAND, **COMMAND.commands}.items():
        for one in command.params:
            if not getattr(one, "is_flag", False) and "completion" not in str(one.opts):
                free = one.opts[0] in FREE or f"{name} {one.opts[0]}" in FREE
                assert (one.shell_complete(context, "") == []) == free, (name, one.opts)


def test_files_are_offered_by_their_endings(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("case.json", "case.py", ".hidden.json"):
        (tmp_path / name).touch()
    assert offered("run", "c") == ["case.json"]
    assert offered("doctor", "") == ["case.py"]
    assert offered("run", ".h") == [".hidden.json"]


@pytest.mark.nightly
def test_the_shell_is_answered_without_what_is_heavy(tmp_path: Path) -> None:
    code = """
import sys, boundlab.cli
try:
    boundlab.cli.main([])
finally:
    print([one for one in ("torch", "cvxpy", "matplotlib", "sklearn", "pandas") if one in sys.modules], file=sys.stderr)
"""
    asked = {"_BOUNDLAB_COMPLETE": "complete_bash", "COMP_WORDS": "boundlab show area.theorem8.rep", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **asked},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [one for one in registered("theorems") if one.startswith("area.theorem8.rep")]
    assert done.stderr == "[]\n"


def test_the_script_is_shown_and_installed(tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    monkeypatch.setattr("typer.completion._get_shell_name", lambda: "bash")
    monkeypatch.setattr("typer._completion_shared._get_shell_name", lambda: "bash")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert invoke(["--show-completion"]) == 0
    assert "_BOUNDLAB_COMPLETE=complete_bash" in capfd.readouterr().out
    assert invoke(["--install-completion"]) == 0
    assert "bash completion installed" in capfd.readouterr().out
    assert any("boundlab" in path.name for path in tmp_path.rglob("*"))
