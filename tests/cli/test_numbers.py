"""An integer may be written as people write it: 1e4 and 10_000 are integers, 1.5 is none."""

from typing import Any

import click
import pytest
import typer.main
from hypothesis import given, strategies as st

from boundlab.cli import invoke
from boundlab.cli._app import application
from boundlab.errors import SpecError
from boundlab.options import Options, count, whole

COMMANDS: dict[str, Any] = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
# Options that hold integers, by the letters that stand for their value in the help.
WHOLE = [
    (name, one)
    for name, command in sorted(COMMANDS.items())
    for one in command.params
    if isinstance(one, click.Option) and one.metavar == "N"
]


@given(st.integers(-(10**99), 10**99))
def test_an_integer_is_read_to_its_last_digit_however_it_is_written(number: int) -> None:
    assert whole(number, "x") == whole(str(number), "x") == whole(f"{number:_}", "x") == number
    assert whole(f"{number}e0", "x") == number


@pytest.mark.parametrize(
    ("text", "value"), [("1e4", 10**4), ("10_000", 10**4), ("2.0", 2), ("6/2", 3), ("1e23", 10**23)]
)
def test_a_number_is_an_integer_by_its_value(text: str, value: int) -> None:
    assert whole(text, "x") == value
    assert Options("it", {"x": text}).integer("x", 0, maximum=10**30) == value
    assert count(text, "x", value, value) == value


@pytest.mark.parametrize("text", ["1.5", "", "ten", "nan", "inf", "1e400", "0x10", "1,000", True, None, "9" * 5000])
def test_what_is_no_integer_is_refused_by_its_name(text: object) -> None:
    with pytest.raises(SpecError, match=r"^x must be a"):
        whole(text, "x")


def test_no_option_of_any_command_reads_integers_in_another_way() -> None:
    """An option of type int would refuse 1e4."""
    assert len(WHOLE) > 12
    for name, command in COMMANDS.items():
        wrong = [one.name for one in command.params if isinstance(one.type, click.types.IntParamType)]
        assert wrong == [], f"{name}: declare it with _integer"


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("command", "option"), WHOLE, ids=lambda one: getattr(one, "name", one))
def test_every_integer_option_reads_powers_of_ten_and_refuses_fractions(
    command: str, option: click.Option, capsys: pytest.CaptureFixture[str]
) -> None:
    context = click.Context(COMMANDS[command])
    assert [option.type_cast_value(context, text) for text in ("1e4", "10_000", "7")] == [10_000, 10_000, 7]
    words = ["x"] * sum(isinstance(one, click.Argument) for one in COMMANDS[command].params)
    for name in option.opts:
        assert invoke([command, *words, name, "1.5"]) == 2
        assert capsys.readouterr().err == f"boundlab: {option.opts[0]} must be an integer, got '1.5'\n"


def test_time_limits_have_units() -> None:
    [option] = [one for one in COMMANDS["falsify"].params if one.name == "budget"]
    context = click.Context(COMMANDS["falsify"])
    read = [option.type_cast_value(context, text) for text in ("90", "90s", "1.5m", "0.025h", 90.0)]
    assert read == [90.0] * 5
