"""Files of wrong lines: of each rule a right proof, which is accepted, and what may be wrong with it, refused in words.

Each file of ``wrong/`` holds one right file with all that is said of it, and lists of edits: of what is right as well,
and of what is wrong, with words of the refusal. An edit is a place, with the new value; "(gone)" takes it away.
"""

import ast
import json
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from proof_files import edited

import boundlab.recheck
from boundlab.prove.trace import with_points
from boundlab.recheck import recheck_loaded
from boundlab.recheck._forms import WrongError
from boundlab.recheck._numbers import NumberError
from boundlab.recheck._terms import Context, Unshown
from boundlab.recheck.kernel import RULES

HERE = Path(__file__).parent
FILES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((HERE / "wrong").glob("*.json"))}
CHECKER = Path(boundlab.recheck.__file__).parent
# Calls that raise where something is wrong.
GUARDS = (
    *("need", "need_nonzero", "same", "same_claim", "above", "equation", "alike"),
    *("runs", "about_every", "after", "lies_in", "declared", "has_value", "only", "well_formed"),
)
ERRORS = ("WrongError", "NumberError")
each_file = pytest.mark.parametrize("name", FILES)


def said(name: str, edits: dict[str, Any]) -> str:
    """Return why a file is refused, or what it leaves open."""
    raw = edited(FILES[name]["right"], edits)
    found = with_points(raw, recheck_loaded(raw))
    return "; ".join(("open:", *found.open)) if found.right else found.reason


@cache
def refusals(name: str) -> tuple[list[str], set[tuple[str, int]]]:
    """Return what is said of each wrong file, and the lines of the checker that ran when it was refused."""
    lines = set()

    def noted(*_: Any) -> None:
        frame: Any = sys._getframe()
        while frame := frame.f_back:
            lines.add((frame.f_code.co_filename, frame.f_lineno))

    def left(here: Context, sign: Unshown) -> None:
        noted()
        leave(here, sign)

    leave = Context._leave
    with (
        patch.object(WrongError, "__init__", noted),
        patch.object(NumberError, "__init__", noted),
        patch.object(Context, "_leave", left),
    ):
        return [said(name, edits) for _, edits in FILES[name]["wrong"]], lines


def test_every_rule_has_its_file() -> None:
    lines = [json.dumps(one["right"].get("facts")) for one in FILES.values()]
    assert [rule for rule in RULES if not any(f'"rule": "{rule}"' in line for line in lines)] == []


@pytest.mark.nightly  # about the files, all together; each is asked by day
@pytest.mark.parametrize("rule", RULES)
def test_each_rule_is_shown_a_line_with_other_premises_and_one_that_rests_on_something_else(rule: str) -> None:
    told = {one for name in FILES for one in refusals(name)[0] if f"({rule})" in one}
    assert RULES[rule].premises is None or any(f"premises, not {RULES[rule].premises}" in one for one in told)
    assert RULES[rule].own is None or any("the file says otherwise" in one for one in told)


@each_file
def test_the_right_file_is_accepted_and_what_it_rests_on_is_told(name: str) -> None:
    found = asdict(recheck_loaded(FILES[name]["right"]))
    found["depends"] = sorted(found["depends"])
    assert json.loads(json.dumps(found)) == FILES[name]["finding"]
    assert [edits for edits in FILES[name]["also right"] if said(name, edits) != said(name, {})] == []


@each_file
def test_each_wrong_line_is_refused_in_these_words(name: str) -> None:
    accepted = said(name, {})
    told = [(words, one) for (words, _), one in zip(FILES[name]["wrong"], refusals(name)[0], strict=True)]
    assert [(words, one) for words, one in told if words not in one] == []
    assert [words for words, _ in told if words in accepted] == []


def guards() -> dict[str, tuple[str, range]]:
    """Return every place where the checker may refuse a line: its module and its lines, by its function and text."""
    found = {}
    for path in sorted(CHECKER.glob("*.py")):
        for own in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for node in ast.walk(own) if isinstance(own, ast.FunctionDef) else ():
                call, names = (node.exc, ERRORS) if isinstance(node, ast.Raise) else (node, GUARDS)
                if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in names:
                    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                    found[f"{path.stem}.{own.name}: {ast.unparse(node)}"] = str(path), lines
    return found


def test_every_guard_is_shown_a_wrong_line() -> None:
    seen = set().union(*(refusals(name)[1] for name in FILES))
    missed = {guard for guard, (path, lines) in guards().items() if not any((path, one) in seen for one in lines)}
    assert missed == set(json.loads((HERE / "guards_without_a_file.json").read_text(encoding="utf-8")))
