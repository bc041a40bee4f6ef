"""What ``--json`` prints says what it is, and is JSON also where something goes wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer.main
from command_examples import QUICK, RUN, quick
from jsonschema import Draft202012Validator

from benchmarks.json_keys import described
from boundlab.case import load_case, read_case
from boundlab.cli import JSON_FILES, invoke
from boundlab.cli._app import application
from boundlab.errors import CaseError
from boundlab.files import read_json
from boundlab.records import published
from boundlab.registry import lookup, registered
from boundlab.theorems import STATUSES
from boundlab.verdict import ExitCode

ROOT = Path(__file__).parents[2]
COMMANDS: dict[str, Any] = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
PRINTING = sorted(
    name for name, one in COMMANDS.items() if any("--json" in option.opts and option.is_flag for option in one.params)
)
# Command → what its document calls itself.
KINDS = {
    "list": "list",
    "show": "statement",
    "eval": "values",
    "optimal-rate": "optimal-rate",
    "constants": "constants",
    "run": "run",
    "trace": "trace",
    "trace --fit": "delay-fit",
    "run CASE": "trajectory",
    "check": "checks",
    "compare": "comparison",
    "exact": "exact",
    "worst-case": "worst-case",
    "prove": "decided-proof",
    "prove --recheck": "recheck",
    "worst-case --recheck": "recheck",
    "falsify": "search",
    "sweep": "sweep",
    "sweep DIR": "sweep",
    "doctor": "doctor",
}
JUDGING = (
    "check",
    "compare",
    "exact",
    "worst-case",
    "prove",
    "prove --recheck",
    "worst-case --recheck",
    "falsify",
)
# Words that mean the same as another key; status is that of a theorem: as printed, repaired, …
ELSEWHERE = ("ruling", "outcome", "accepted", "result", "status_of_theorem")
DESCRIBED = described(published("result"))
RESULT = Draft202012Validator(published("result"))


def document(arguments: list[str], capsys: Any) -> tuple[int, Any]:
    capsys.readouterr()
    code = invoke(arguments)
    return code, json.loads(capsys.readouterr().out)


def undescribed(found: Any) -> set[str]:
    """Return the keys, of this document and of those inside it, that the schema of results does not describe."""
    inside = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    lacking = set().union(*map(undescribed, inside))
    if isinstance(found, dict) and (known := DESCRIBED.get(found.get("schema"))) is not None:
        # What an audit says of a document in it beside the document: the audit's own rows describe it.
        lacking |= set(found) - set(known) - set(DESCRIBED[""])
    return lacking


@pytest.mark.sweep(14)
@pytest.mark.parametrize("command", [name for name, words in QUICK.items() if words[0] in PRINTING])
def test_every_document_says_what_it_is(command: str, place: Path, capsys: Any) -> None:
    _, found = document([*quick(command), "--json"], capsys)
    assert found["schema"] == f"boundlab/{KINDS[command]}/1"
    RESULT.validate(found)
    assert undescribed(found) == set()
    for path in (*place.glob("*.counterexample.json"), *place.glob("*.case.json")):
        Draft202012Validator(published("counterexample")).validate(read_json(path))
    assert next(iter(found)) == "schema"
    assert ("verdict" in found) == (command in JUDGING)
    assert not set(ELSEWHERE) & set(found)
    assert found.get("status", STATUSES[0]) in STATUSES


@pytest.mark.sweep(7)
@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["list", "symbols"], "list"),
        (["exact", "area.theorem8", "--derivation"], "exact"),
        (["check", "area.theorem8", "--all"], "checks"),
        (["prove"], "decided-proofs"),
        (["prove", "area.optimal-rate", "--step=substitution"], "decided-step"),
        (["compare", "area.theorem8", *RUN[:2], "-k3,6", "--set=M=50"], "horizons"),
        (["worst-case", "classics.gd.convex", "--set=L=1", "--fit=1,2,3"], "fit"),
    ],
)
def test_so_do_the_other_documents_of_a_command(
    arguments: list[str], kind: str, place: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if arguments == ["prove"]:  # a proved and a refuted one have all keys
        chosen = ("area.theorem8.repaired.fixed-step", "afl_dga.r0", "area.theorem8")
        some = {name: lookup("proofs", name) for name in chosen}
        monkeypatch.setattr("boundlab.registry.registered", lambda kind: some if kind == "proofs" else registered(kind))
    _, found = document([*arguments, "--json"], capsys)
    assert found["schema"] == f"boundlab/{kind}/1"
    assert undescribed(found) == set()


@pytest.mark.sweep(2)
@pytest.mark.parametrize("command", PRINTING)
def test_an_error_is_a_document_and_a_line(command: str, place: Path, capsys: Any) -> None:
    arguments = [sum(not one.opts[0].startswith("-") for one in COMMANDS[command].params) * ["x"], ["--no-such-option"]]
    assert invoke([command, *arguments[0], *arguments[1], "--json"]) == ExitCode.USAGE
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["schema"] == "boundlab/error/1"
    RESULT.validate(found)
    assert err == f"boundlab: {found['error']['message']}\n"
    assert found["error"]["exit_code"] == ExitCode.USAGE
    assert invoke([command, *arguments[0], *arguments[1]]) == ExitCode.USAGE
    assert capsys.readouterr() == ("", err)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["no-such-command", "--json"], ExitCode.USAGE),
        (["show", "area.theorem9", "--json"], ExitCode.USAGE),
        (["compare", "area.theorem8", "--problem=quadratic", "--json"], ExitCode.NOT_APPLICABLE),
        (["--plugin", "defect.py", "list", "delays", "--json"], ExitCode.USAGE),
        (["show", "area.theorem8", "--json"], ExitCode.UNFORESEEN),
        (["show", "--json", "area.theorem8"], ExitCode.INTERRUPTED),
    ],
)
def test_whatever_goes_wrong_the_output_is_json(
    arguments: list[str], code: ExitCode, place: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "defect.py").write_text("1/0")
    raised = {ExitCode.UNFORESEEN: ZeroDivisionError, ExitCode.INTERRUPTED: KeyboardInterrupt}.get(code)

    def fail(_name: str) -> None:
        raise raised  # type: ignore[misc]

    if raised is not None:
        monkeypatch.setattr("boundlab.theorems.load_theorem", fail)
    found, answer = document(arguments, capsys)
    assert found == answer["error"]["exit_code"] == code


def test_a_file_that_is_named_json_is_no_wish_for_json(place: Path, capsys: Any) -> None:
    named = {name for name, one in COMMANDS.items() if any("--json" in option.opts for option in one.params)}
    assert {*JSON_FILES} == named - {*PRINTING}
    assert invoke(["audit", "area.theorem9", "--json", "audit.json"]) == ExitCode.USAGE
    assert capsys.readouterr().out == ""
    assert invoke(["show", "area.theorem9", "--", "--json"]) == ExitCode.USAGE
    assert capsys.readouterr().out == ""


def test_after_an_answer_no_error_follows_it(place: Path, capsys: Any) -> None:
    """A file that cannot be written is one line on standard error: the output is one document."""
    words = [*quick("worst-case"), "--json", "--certificate=certificate.json", "--set=noise=1"]
    invoke(words)
    json.loads(capsys.readouterr().out)


def test_case_files_without_a_schema_are_read_and_those_of_other_kinds_are_not() -> None:
    files = sorted((ROOT / "proofs" / "counterexamples").glob("*.json"))
    assert files
    for path in files:
        raw = read_json(path)
        load_case(path)
        read_case({**raw, "schema": "boundlab/case/1"})
        with pytest.raises(CaseError, match="no case file: its schema must be 'boundlab/case/1'"):
            read_case({**raw, "schema": "boundlab/case/2"})
