"""What a theorem's file says is text: in no command does a character of it steer a terminal, or turn what follows."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from own_theorem import own_theorem

import boundlab as bl
from boundlab.cli import invoke

HOSTILE = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202e \u2066 \u200b \x08\r"
SETTINGS = [f"--set={one}" for one in ("B=1", "sigma=0", "R=1", "p_s=0.5", "qbar=2", "M=2", "K=10", "alpha=0.1")]
RUN = ["--problem=lad", "--delays=iid:p_s=0.5", "--iterations=5", "--trials=5", "--set=alpha=0.1"]
COMMANDS = {
    "show": [], "eval": SETTINGS, "check": [], "compare": RUN, "falsify": ["--candidates=5", "--jobs=1"],
    "worst-case": ["--iterations=1", "--set=M=1", "--set=alpha=0.1", "--delays=iid:p=[0.5]", "--set=B=1", "--set=R=1"],
}  # fmt: skip


def steering(text: str) -> list[str]:
    """Return the characters that steer, but for the ends of lines."""
    return [one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") and one != "\n"]


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    texts = dict.fromkeys(("title", "paper", "place", "note"), HOSTILE)
    path.write_text(own_theorem(letter=HOSTILE, **texts), encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_what_steers(command: str, form: str, mine: Path, capsys: Any) -> None:
    code = invoke([command, str(mine), *COMMANDS[command], *(["--json"] if form == "json" else [])])
    shown = capsys.readouterr()
    assert code in (0, 1, 3), shown.err
    assert shown.out
    assert steering(shown.out + shown.err) == []
    if form == "json":
        json.loads(shown.out)


def test_no_latex_line_or_page_of_a_notebook_has_what_steers(mine: Path, capsys: Any) -> None:
    assert invoke(["show", str(mine), "--latex"]) == 0
    assert steering(capsys.readouterr().out) == []
    assert steering(bl.check(mine)._repr_html_()) == []


def test_an_error_that_quotes_a_file_has_nothing_that_steers(mine: Path, capsys: Any) -> None:
    assert invoke(["show", f"{mine}{HOSTILE}"]) == 2
    mine.write_text(mine.read_text(encoding="utf-8").replace('"ergodic-gap"', json.dumps(HOSTILE)), encoding="utf-8")
    assert invoke(["show", str(mine)]) == 2
    assert steering(capsys.readouterr().err) == []
