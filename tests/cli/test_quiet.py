"""``-q`` prints the answer alone and ``-v`` more than the page, and neither changes how a command ends."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer.main
from command_examples import LAW, QUICK, quick

from boundlab.cli import invoke
from boundlab.cli._app import application
from boundlab.cli.terminal import ENDINGS
from boundlab.verdict import ExitCode

COMMANDS: dict[str, Any] = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
# Command → what its line says, and how it ends. That of doctor is about a plug-in, not about a theorem.
LINES = {
    "check": ("area.theorem7: failed: 1 of 3 checks failed: units.terms", ExitCode.REFUTED),
    "compare": ("area.theorem8 on lad: violated: at K = 6 the value", ExitCode.REFUTED),
    "exact": ("area.theorem8 at k = 6: violated: left", ExitCode.REFUTED),
    "worst-case": ("classics.gd.convex at K = 1: holds: certified", ExitCode.STANDS),
    "prove": ("area.optimal-rate, 28 steps: proved", ExitCode.STANDS),
    "prove --recheck": ("not decided: the objective is at most 1", ExitCode.UNDECIDED),
    "falsify": ("classics.gd.convex: inconclusive: ", ExitCode.UNDECIDED),
    "audit": ("classics.gd.convex: proved: by classics.gd.convex", ExitCode.STANDS),
    "sweep": ("swept: 1 holds", ExitCode.STANDS),
    "sweep DIR": ("swept: 1 without an answer", ExitCode.UNDECIDED),
}
# Of those that judge nothing, the ones whose result has a line of its own.
ANSWERS = {
    "optimal-rate": ("λ_s* = 1.41421 for 2 clients, per-iteration", ExitCode.STANDS),
    "constants": ("huber: L = 1, B = 1; 12 constants", ExitCode.STANDS),
    "run": ("fedbuff on huber", ExitCode.STANDS),
    "trace": ("trace.csv: 2 devices, 5 updates", ExitCode.STANDS),
    "trace --fit": ("uniform:rates=[", ExitCode.STANDS),
}
LINES |= ANSWERS
# The others, and what they print in place of an answer.
NO_LINE = {
    "list": "a table",
    "show": "a statement",
    "eval": "a table, one line where it is one number",
    "demo": "several answers",
    "new": "the names of files",
    "doctor": "what is installed",
    "docs": "a page",
    "mcp": "what an assistant asks for",
}
# What -v shows and the page does not.
MORE = {
    "check": "passed",
    "compare": "mean/bound  bound",
    "exact": "The inequality",
    "worst-case": "multiplier",
    "prove": "rests on",
    "prove --recheck": "taken on trust",
    "falsify": "closest instance",
    "audit": "All 9 steps",
    "sweep": "repeat the first",
    "sweep DIR": "ratio",
}


def line(command: str) -> list[str]:
    if command == "falsify":  # a search that takes a moment, and finds nothing
        return ["falsify", "classics.gd.convex", "--candidates=2"]
    return quick(command)


def test_the_commands_that_end_in_a_verdict_have_both_options_and_others_one_where_their_answer_is_a_line() -> None:
    judging = {name for name, codes in ENDINGS.items() if ExitCode.REFUTED in codes} - {"doctor"}
    answering = {line(name)[0] for name in LINES}
    assert judging == {line(name)[0] for name in MORE}
    assert answering == judging | {line(name)[0] for name in ANSWERS}
    assert answering | {*NO_LINE} == {*COMMANDS}
    for option, those in (("-q", answering), ("-v", judging)):
        assert {name for name, one in COMMANDS.items() if any(option in each.opts for each in one.params)} == those


@pytest.mark.sweep(15)
@pytest.mark.parametrize("command", LINES)
def test_quiet_is_the_verdict_in_one_line(command: str, place: Path, capsys: Any) -> None:
    words, code = LINES[command]
    assert invoke([*line(command), "-q"]) == code
    out, err = capsys.readouterr()
    assert out.startswith(words)
    assert (out.count("\n"), err) == (1, "")


def test_quiet_leaves_the_file_of_a_violation_all_the_same(place: Path) -> None:
    invoke([*line("compare"), "-q"])
    assert (place / "area.theorem8.case.json").exists()


@pytest.mark.sweep(10)
@pytest.mark.parametrize("command", MORE)
def test_verbose_says_more_and_ends_alike(command: str, place: Path, capsys: Any) -> None:
    assert invoke([*line(command), "-v"]) == LINES[command][1]
    out = capsys.readouterr().out
    assert MORE[command] in out
    assert len(out.splitlines()) > 1


@pytest.mark.nightly
def test_verbose_derives_the_counterexample_that_was_found(place: Path, capsys: Any) -> None:
    assert invoke([*QUICK["falsify"], "-v"]) == ExitCode.REFUTED
    assert "The inequality\n  left > right since" in capsys.readouterr().out


@pytest.mark.sweep(2)
@pytest.mark.parametrize("command", LINES)
def test_quiet_goes_with_nothing_that_prints_something_else(command: str, place: Path, capsys: Any) -> None:
    names = [*(["--json"] if command != "audit" else []), *(["-v"] if command in MORE else [])]
    for other in names:
        assert invoke([*line(command), "-q", other]) == ExitCode.USAGE
        assert capsys.readouterr().err.startswith("boundlab: -q prints the answer alone: leave it out, or --")


def test_where_numbers_are_no_fractions_verbose_is_the_page(place: Path, capsys: Any) -> None:
    """A derivation that was asked for by name is refused there; with -v it is only more."""
    case = {**LAW, "problem": {"type": "logistic", "data": "breast-cancer", "clients": 1}, "x0": [0.0] * 30}
    (place / "floats.json").write_text(json.dumps({k: v for k, v in case.items() if k != "x0"}))
    shown = [invoke(["exact", "area.theorem8", "floats.json", *more]) for more in ([], ["-v"])]
    assert shown[0] == shown[1]
