"""docs/tutorial.md: its files are written and its commands are run, in its order, and print what it shows."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from boundlab.cli import invoke
from boundlab.verdict import ExitCode

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
PART = re.compile(
    r"^```(?:toml file=(\S+)|python)\n(.*?)^```|^    \$ (boundlab [^\n]*)\n((?:    [^$\n][^\n]*\n)*)",
    re.MULTILINE | re.DOTALL,
)


def matches(shown: list[str], printed: list[str]) -> bool:
    """Return whether the lines are those that are shown; … stands for any number of lines, or for the rest of one."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(matches(shown[1:], printed[start:]) for start in range(len(printed) + 1))
    if not printed:
        return False
    first = printed[0].startswith(shown[0][:-1]) if shown[0].endswith("…") else printed[0] == shown[0]
    return first and matches(shown[1:], printed[1:])


def test_the_tutorial_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    parts = PART.findall((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    assert sum(bool(command) for *_, command, _ in parts) > 9
    for file, text, command, shown in parts:
        if file:
            (tmp_path / file).write_text(text, encoding="utf-8")
            continue
        if text:
            exec(compile(text, "tutorial.md", "exec"), {})  # noqa: S102  (the page's own code)
            capsys.readouterr()
            continue
        code = invoke(shlex.split(command)[1:])
        out, err = capsys.readouterr()
        assert code not in (ExitCode.USAGE, ExitCode.UNFORESEEN), err
        printed = [line.rstrip() for line in out.splitlines()]
        wanted = [line[4:].rstrip() for line in shown.splitlines()]
        assert matches(wanted, [line for line in printed if line]), f"{command}\n{out}{err}"
    assert invoke(["exact", "own.toml", "own.counterexample.json"]) == ExitCode.USAGE  # the plug-in is not named
