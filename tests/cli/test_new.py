"""What ``boundlab new`` begins works as it stands: each kind passes its test, and what is said to be next runs."""

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from boundlab.cli import invoke
from boundlab.cli.new import NEXT
from boundlab.registry import KINDS
from boundlab.verdict import ExitCode


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_whatever_can_be_registered_can_be_begun() -> None:
    assert {kind.rstrip("s") for kind in KINDS} - {"assumption"} == {kind.rstrip("s") for kind in NEXT}


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["my-own", "Mine"])
def test_every_kind_passes_its_own_test_as_it_stands(name: str, here: Path, capsys: Any) -> None:
    for kind in NEXT:
        assert invoke(["new", kind, f"{name}-{kind}"]) == ExitCode.STANDS
    said = capsys.readouterr().out
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        capture_output=True,
        text=True,
        check=False,
        cwd=here,
    )
    assert done.returncode == 0, done.stdout
    for line in said.splitlines():
        if line.startswith("next: boundlab "):
            code = invoke(shlex.split(line.removeprefix("next: boundlab ")))
            assert code == (ExitCode.UNDECIDED if " prove " in line else ExitCode.STANDS), line
    for path in here.glob("*.*"):
        assert max(map(len, path.read_text(encoding="utf-8").split("\n"))) <= 120, path


def test_nothing_is_overwritten_and_nothing_is_half_written(here: Path, capsys: Any) -> None:
    assert invoke(["new", "theorem", "mine"]) == ExitCode.STANDS
    (here / "mine.toml").write_text("my work")
    assert invoke(["new", "theorem", "mine"]) == ExitCode.USAGE
    assert (here / "mine.toml").read_text() == "my work"
    (here / "test_other.py").write_text("my test")
    assert invoke(["new", "algorithm", "other"]) == ExitCode.USAGE
    assert not (here / "other.py").exists()
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "1", "a b", "../up", "class", "boundlab", "a/b", "ä", "-x", "x" * 80])
def test_a_name_that_cannot_be_one_is_refused(name: str, here: Path, capsys: Any) -> None:
    assert invoke(["new", "algorithm", "--", name]) == ExitCode.USAGE
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(here.iterdir())


def test_the_doctor_sees_a_broken_promise_and_a_broken_file(here: Path, capsys: Any) -> None:
    invoke(["new", "algorithm", "mine"])
    assert invoke(["doctor", "mine.py"]) == ExitCode.STANDS
    assert "checks of 1 object pass" in capsys.readouterr().out
    own = here / "mine.py"
    own.write_text(own.read_text().replace("uses=((move, 1.0),)", "uses=((move, 0.5),)"))
    assert invoke(["doctor", "mine.py"]) == ExitCode.REFUTED
    assert "algorithms mine" in capsys.readouterr().out
    own.write_text(own.read_text().replace('"algorithms": Mine()', '"algorithms": Mine'))
    assert invoke(["doctor", "mine.py"]) == ExitCode.USAGE
    assert "the class Mine, not an Algorithm" in capsys.readouterr().err
    own.write_text("1/0")
    assert invoke(["doctor", "mine.py"]) == ExitCode.USAGE
    assert "ZeroDivisionError" in capsys.readouterr().err
    own.write_text("BOUNDLAB = {}")
    assert invoke(["doctor", "mine.py", "--json"]) == ExitCode.USAGE


def test_lists_are_narrowed_by_a_word(capsys: Any) -> None:
    assert invoke(["list", "symbols", "STALE"]) == ExitCode.STANDS
    assert "tau_max" in capsys.readouterr().out
    assert invoke(["list", "theorems", "fedcompass.window"]) == ExitCode.STANDS
    assert "area" not in capsys.readouterr().out
    assert invoke(["list", "delays", "no such word"]) == ExitCode.USAGE
    assert "boundlab list delays shows all" in capsys.readouterr().err


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", ["random", "Numbers", "typing", "numpy", "pytest", "boundlab", "lambda"])
@pytest.mark.parametrize("kind", sorted(set(NEXT) - {"theorem"}))
def test_no_file_hides_a_module_that_it_needs(kind: str, name: str, here: Path, capsys: Any) -> None:
    assert invoke(["new", kind, name]) == ExitCode.USAGE
    assert "cannot be the name of a Python file; add a word" in capsys.readouterr().err
    assert not list(here.iterdir())


def test_a_new_proof_is_read_as_a_plugin_and_as_a_file(here: Path, capsys: Any) -> None:
    assert invoke(["new", "proof", "mine"]) == ExitCode.STANDS
    capsys.readouterr()
    said = []
    for words in (["--plugin", "mine.py", "prove", "mine", "-q"], ["prove", "mine.py", "-q"]):
        assert invoke(words) == ExitCode.UNDECIDED
        said.append(capsys.readouterr())
    assert said[0] == said[1]
    assert said[0].err == ""
