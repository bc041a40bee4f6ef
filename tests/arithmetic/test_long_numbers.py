"""A number that Python would not print, or that would fill the memory, is refused in one short line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundlab.arithmetic.numbers import LONGEST_NUMBER, read_number
from boundlab.arithmetic.problem import Reader
from boundlab.cli import invoke
from boundlab.errors import SpecError
from boundlab.options import number

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


def test_messages_cut_what_was_given() -> None:
    with pytest.raises(SpecError) as caught:
        number(DIGITS, "L")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("text", LONG, ids=lambda text: text[:12])
@pytest.mark.parametrize("route", ROUTES)
def test_a_case_file_with_one_ends_in_exit_2(
    route: Callable[[str], Any], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = {
        "algorithm": "gd", "problem": {"type": "quadratic", "A": [[[1]]], "b": [[1]]}, "parameters": {"alpha": "0.1"},
        "events": [[1, "s"], [2, "s"]], **route(text),
    }  # fmt: skip
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case))
    assert invoke(["exact", "classics.gd.convex", str(path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("boundlab: ")
    assert len(error) < 300


def test_nested_lists_of_the_command_line_say_so_too() -> None:
    with pytest.raises(SpecError, match="at most"):
        Reader({"b": f"[[{DIGITS}]]"}).rows("b", np.array([[1.0]]))
