"""A parameter of a question is declared where it is answered; its command takes it, with its help and its default."""

import inspect
from typing import Annotated, get_origin

import pytest
import typer.main

import boundlab as bl
from boundlab.cli._app import application

COMMANDS = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
QUESTIONS = ("audit", "check", "compare", "constants", "exact", "falsify", "optimal_rate", "run", "trace", "worst_case")
# What no line of words says: who calls listens to progress; keywords are --set NAME=VALUE, and lists of the settings.
IN_PYTHON_ALONE = {"progress", "symbols", "parameters"}
# A search of Python keeps what its command asks for: 1000 or 3 iterations, and no derivation unless it is printed.
OTHER_DEFAULTS = {
    ("compare", "iterations"),
    ("run", "iterations"),
    ("worst_case", "iterations"),
    ("exact", "derivation"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_parameter_of_a_question_is_taken_by_its_command(question: str) -> None:
    taken = {one.name: one for one in COMMANDS[question.replace("_", "-")].params}
    for name, one in inspect.signature(getattr(bl, question)).parameters.items():
        if name in IN_PYTHON_ALONE:
            assert name not in taken
            continue
        assert get_origin(one.annotation) is Annotated, f"{question}: {name} is not declared"
        assert taken[name].help, name
        if one.default is not inspect.Parameter.empty and (question, name) not in OTHER_DEFAULTS:
            assert taken[name].default in (one.default, None), name


def test_a_list_of_commands_and_an_error_load_no_question() -> None:
    assert [one.name for one in typer.main.get_command(application(whole=False)).commands["compare"].params] == []  # type: ignore[attr-defined]
    names = [one.name for one in typer.main.get_command(application("check", whole=False)).commands["check"].params]  # type: ignore[attr-defined]
    assert names == ["theorem", "only", "quiet", "verbose", "as_json"]
