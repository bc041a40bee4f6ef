"""docs/tutorial.md does what it says, in an empty folder; tests/test_release.py asks the same of the wheel."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from tutorial_page import follow

from boundlab.cli import invoke
from boundlab.verdict import ExitCode


@pytest.mark.nightly
def test_the_tutorial_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def python(text: str) -> None:
        exec(compile(text, "tutorial.md", "exec"), {})  # noqa: S102  (the page's own code)

    def boundlab(command: str) -> str:
        capsys.readouterr()
        code = invoke(shlex.split(command)[1:])
        out, err = capsys.readouterr()
        assert code not in (ExitCode.USAGE, ExitCode.UNFORESEEN), err
        return str(out)

    assert all(follow(tmp_path, python, boundlab))
    assert invoke(["exact", "own.toml", "own.counterexample.json"]) == ExitCode.USAGE  # the plug-in is not named
