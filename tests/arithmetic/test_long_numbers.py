"""A number that Python would not print, or that would fill the memory, is refused in one short line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from boundlab.arithmetic.numbers import read_number
from boundlab.cli import invoke
from boundlab.errors import SpecError
from boundlab.files import read_json
from boundlab.options import LONGEST_NUMBER

DIGITS = "1" * 5000
LONG = (f"0.{DIGITS}", f"1/{DIGITS}", f"{DIGITS}/{DIGITS}", DIGITS, "1e-999999999", "1/1e999999999")
ROUTES: tuple[Callable[[str], Any], ...] = (
    lambda text: {"x0": [text]},
    lambda text: {"problem": {"type": "quadratic", "A": [[[1]]], "b": [[text]]}},
    lambda text: {"problem": {"type": "quadratic", "A": [[[text]]], "b": [[1]]}},
)


@pytest.mark.parametrize("text", LONG, ids=lambda text: text[:12])
def test_such_a_number_is_refused(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_number(text, "x0")
    assert len(str(caught.value)) < 200


def test_a_long_number_is_read_to_the_last_digit() -> None:
    digits = "3" * (LONGEST_NUMBER - 2)
    assert read_number(f"0.{digits}", "x0") * 10 ** len(digits) == int(digits)
    assert read_number("0e999999999", "x0") == read_number("0/1e99", "x0") == 0


@pytest.mark.parametrize("text", LONG, ids=lambda text: text[:12])
@pytest.mark.parametrize("route", ROUTES)
def test_a_case_file_with_one_ends_in_exit_2(
    route: Callable[[str], Any], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = {
        "algorithm": "gd",
        "problem": {"type": "quadratic", "A": [[[1]]], "b": [[1]]},
        "parameters": {"alpha": "0.1"},
        "events": [[1, "s"], [2, "s"]],
        **route(text),
    }
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case))
    assert invoke(["exact", "classics.gd.convex", str(path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("boundlab: ")
    assert len(error) < 300


NINES = "0." + "9" * 30
WRITTEN = (NINES, "1e-400", f"0.{DIGITS}", "0.1000000000000000055511151231257827")


@pytest.mark.parametrize("word", WRITTEN, ids=lambda text: text[:12])
@pytest.mark.parametrize("route", ["x0", "alpha", "time"])
def test_a_number_of_a_file_that_floats_would_round_is_refused(
    word: str, route: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {"x0": "1", "alpha": "0.1", "time": "1", route: word}
    path = tmp_path / "case.json"
    path.write_text(
        '{{"algorithm": "gd", "problem": {{"type": "quadratic", "A": [[[1]]], "b": [[1]]}}, "x0": [{x0}], '
        '"parameters": {{"alpha": {alpha}}}, "events": [[{time}, "s"], [2, "s"]]}}'.format(**values)
    )
    assert invoke(["exact", "classics.gd.convex", str(path)]) == 2
    error = capsys.readouterr().err
    assert "has more digits than a float keeps" in error
    assert len(error) < 300


@pytest.mark.parametrize("word", WRITTEN, ids=lambda text: text[:12])
@pytest.mark.parametrize("table", ["step", "terms"])
def test_so_is_one_of_a_theorem(word: str, table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entries = {"step": "0.1", "terms": "1.5", table: word}
    path = tmp_path / "mine.toml"
    path.write_text(
        'id = "mine"\nalgorithm = "gd"\nmetric = "gap"\n[step]\nalpha = {step}\n[terms]\nall = {terms}\n'.format(
            **entries
        )
    )
    assert invoke(["show", str(path)]) == 2
    assert "has more digits than a float keeps" in capsys.readouterr().err


@pytest.mark.parametrize("text", [*LONG, "1e-400"], ids=lambda text: text[:12])
@pytest.mark.parametrize(
    "line",
    [
        "run gd -p quadratic:x0=@ --set alpha=0.1 -k 3",
        "run gd -p quadratic:mu=@ --set alpha=0.1 -k 3",
        "run gd -p quadratic:clients=@ --set alpha=0.1 -k 3",
        "run gd -p quadratic -k 3 --set alpha=@",
        "run area -p quadratic --set alpha=0.1 -d exponential:spread=@ -k 3",
        "run gd -p quadratic --set alpha=0.1 -k @",
        "eval area.theorem8 --set L=@",
    ],
)
def test_so_is_one_of_a_command(line: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(line.replace("@", text).split()) == 2
    error = capsys.readouterr().err
    assert error.startswith("boundlab: ")
    assert error.count("\n") == 1
    assert len(error) < 400


def test_17_digits_are_those_of_a_float(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    path.write_text("[0.10000000000000001, 1e5, 0.30000000000000004, 1.50000000000000000000000, -0.0]")
    assert read_json(path) == [0.1, 1e5, 0.1 + 0.2, 1.5, 0.0]
