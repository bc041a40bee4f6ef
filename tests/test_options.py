"""The small language of options."""

from pathlib import Path

import pytest

import boundlab
from boundlab.errors import SpecError
from boundlab.options import BACKENDS, Options, device_order, nearest, numbers, parse_spec


def test_the_file_of_a_trace_may_stand_alone():
    assert parse_spec("trace:my log.csv", "delays") == parse_spec("trace:file=my log.csv", "delays")


def test_a_spec_is_a_name_and_options_with_lists_in_brackets():
    assert parse_spec("exponential:rates=[10,10,2.5],negative=clip", "delays") == (
        "exponential",
        {"rates": "[10,10,2.5]", "negative": "clip"},
    )
    assert parse_spec("count:4", "server") == parse_spec("count:every=4", "server") == ("count", {"every": "4"})
    assert parse_spec("softmax:data=idx:/a/b,clients=3", "problem")[1] == {"data": "idx:/a/b", "clients": "3"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no name"),
        (":a=1", "has no name"),
        ("x:a", "is not key=value"),
        ("x:a=", "is not key=value"),
        ("x:a=1,a=2", "given twice"),
        ("x:a=[1,2", "bracket"),
        ("x:a=1]", "brackets"),
        ("x:a=1.00000000000000000001", "1.00000000000000000001 has more digits than a float keeps"),
        ("x:a=[0,3/100000000000000000001]", "x: a: 100000000000000000001 has more digits"),
        ("x:a=1,b=1e-400", "x: b: 1e-400 has more digits"),
    ],
)
def test_a_malformed_spec_says_how(text, message):
    with pytest.raises(SpecError, match=message):
        parse_spec(text, "problem")


def test_numbers_come_from_text_lists_and_files(tmp_path):
    file = tmp_path / "rates.txt"
    file.write_text("10, 10  # fast\n2.5\n")
    assert numbers("10,10,2.5", "rates") == numbers([10, 10, 2.5], "rates") == numbers(f"@{file}", "rates")
    assert numbers("1/4", "p") == [0.25]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty list"),
        ("1,x", "entry 2 must be a number"),
        ("1,,2", "entry 2 must be a number, got ''"),
        ("[,1]", "entry 1 must be a number"),
        ("1,inf", "must be a finite number"),
        ("1/0", "must be a number"),
        ("@/nowhere/rates", "cannot read"),
        ([True], "must be a number"),
    ],
)
def test_bad_numbers_are_named(text, message):
    with pytest.raises(SpecError, match=message):
        numbers(text, "rates")


def test_an_option_that_nobody_reads_is_refused_with_the_nearest_name():
    options = Options("problem huber", {"detla": "1"})
    options.number("delta", 1.0)
    with pytest.raises(SpecError, match="problem huber has no option 'detla'; did you mean delta"):
        options.finish()


def test_the_nearest_name_is_offered_or_the_known_ones_are_listed():
    assert nearest("quadratc", ["quadratic", "huber"]) == "did you mean quadratic?"
    assert nearest("zzz", ["quadratic", "huber"]) == "known: huber, quadratic"


def test_devices_are_numbered_by_value_or_by_the_alphabet():
    assert device_order(["10", "9", "10", "-1"]) == ["-1", "9", "10"]
    assert device_order(["phone10", "phone9", "9"]) == ["9", "phone10", "phone9"]
    assert device_order(["²", "1"]) == ["1", "²"]


def test_a_word_in_other_letters_is_the_nearest():
    assert nearest("f0", ["A", "F0", "fO"]) == "did you mean F0?"


def test_backends_are_listed_once_for_the_command_line_and_for_python():
    folder = Path(boundlab.__file__).parent
    asked = "".join((folder / one).read_text(encoding="utf-8") for one in ("cli/_options.py", "api/_ask.py"))
    assert not [name for name in BACKENDS if f"{name} (" in asked or f"``{name}``" in asked]
