"""A name that nothing registered has is bad input: in all places where a command takes one, and of all kinds."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from command_examples import LAW, PLAN, quick
from own_theorem import own_theorem

from boundlab.cli import invoke
from boundlab.cli._app import application
from boundlab.registry import KINDS, WORDS

COMMANDS: dict[str, Any] = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
NOWHERE = "zzz"
PLUGIN = """
from dataclasses import replace
from boundlab.theorems import load_theorem
BOUNDLAB = {"theorems": (replace(load_theorem("classics.gd.convex"), id="zzz.theorem", algorithm="zzz"),)}
"""


def words(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


def case(key: str) -> str:
    return words("zzz.json", json.dumps({**LAW, key: NOWHERE if key == "algorithm" else {"type": NOWHERE}}))


def theorem(before: str, after: str) -> str:
    text = own_theorem()
    assert before in text
    return words("zzz.toml", text.replace(before, after))


# What a parameter of a command may name → how a name that is none is written there.
PLACES: dict[str, dict[str, Callable[[], str]]] = {
    "theorem": {
        "theorems": lambda: NOWHERE,
        "algorithms": lambda: theorem('"area"', '"zzz"'),
        "metrics": lambda: theorem('"ergodic-gap"', '"zzz"'),
        "assumptions": lambda: theorem('"lipschitz"', '"zzz"'),
    },
    "algorithm": {"algorithms": lambda: NOWHERE},
    "problem": {"problems": lambda: f"--problem={NOWHERE}"},
    "delays": {"delays": lambda: f"--delays={NOWHERE}"},
    "about": {"problems": lambda: NOWHERE},
    "only": {"checks": lambda: f"--only={NOWHERE}"},
    "what": {"proofs": lambda: NOWHERE},
    "case": {
        "algorithms": lambda: case("algorithm"),
        "problems": lambda: case("problem"),
        "delays": lambda: case("delays"),
    },
    "swept": {"theorems": lambda: words("zzz.toml", PLAN.replace("classics.gd.convex", NOWHERE))},
}
OTHER = {("list", "what")}  # a word of the command's own


def places() -> Iterator[tuple[str, str, str]]:
    for command, found in COMMANDS.items():
        for one in found.params:
            if one.name in PLACES and (command, one.name) not in OTHER:
                yield from ((command, one.name, kind) for kind in PLACES[one.name])


def line(command: str, name: str, written: str) -> list[str]:
    """Return a quick call with one of its words in place of the argument, or added where it is an option."""
    found = quick(command)
    if command == "list":  # what applies to a problem
        return ["list", "theorems", *({"problem": [f"--for={NOWHERE}"], "delays": ["--for=lad", written]}[name])]
    if written.startswith("--"):
        return [*(one for one in found if not one.startswith(f"--{name}=")), written]
    arguments = [one.name for one in COMMANDS[command].params if one.param_type_name == "argument"]
    found[1 + arguments.index(name)] = written
    return found


def test_every_kind_can_be_missing_somewhere() -> None:
    assert {kind for _command, _name, kind in places()} == {*KINDS}


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("command", "name", "kind"), [*places()])
def test_a_name_that_nothing_has_is_one_line(command: str, name: str, kind: str, place: Path, capsys: Any) -> None:
    assert invoke(line(command, name, PLACES[name][kind]())) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("boundlab: ")
    assert err.count("\n") == 1
    if kind == "checks":  # a list of several
        assert f"only '{NOWHERE}': no such {WORDS[kind]}" in err
    else:
        assert f"unknown {WORDS[kind]} '{NOWHERE}'; known: " in err
        assert "one of your own is known with boundlab --plugin FILE.py, or BOUNDLAB_PLUGINS" in err


@pytest.mark.parametrize(
    "command", [name for name, found in COMMANDS.items() if [one.name for one in found.params][:1] == ["theorem"]]
)
def test_a_plugin_whose_theorem_is_about_another_plugin_is_told_so(
    command: str, place: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOUNDLAB_PLUGINS", words("plug.py", PLUGIN))
    assert invoke(line(command, "theorem", "zzz.theorem")) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "unknown algorithm 'zzz'" in err


@pytest.mark.parametrize("problem", ["logistic", "huber"])
def test_a_word_that_finds_no_theorem_but_names_a_problem_says_what_lists_its_theorems(
    problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["list", "theorems", problem]) == 2
    assert f"boundlab list theorems --for {problem}" in capsys.readouterr().err
