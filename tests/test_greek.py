"""Greek letters have one table: what LaTeX calls a letter is read back as it, and a terminal without it spells it."""

import unicodedata

from boundlab.arithmetic.writing import tex
from boundlab.cli.terminal import spelled
from boundlab.formulas.written import letter_of_latex
from boundlab.greek import COMMANDS, LETTERS, NAMES


def test_a_name_is_that_of_its_letter() -> None:
    assert len(LETTERS) == len(NAMES) == 48
    for letter, name in NAMES.items():
        said = unicodedata.name(letter).split()
        assert said[0] == "GREEK"
        assert said[-1].replace("LAMDA", "LAMBDA") == name.upper()
        assert name[0].isupper() == ("CAPITAL" in said)


def test_a_command_of_latex_is_written_and_read_back_as_its_letter() -> None:
    for name in COMMANDS:
        assert tex(LETTERS[name]) == rf"$\{name}$"
        assert letter_of_latex(rf"\{name}") == LETTERS[name]


def test_a_letter_that_latex_lacks_is_spelled() -> None:
    assert tex("Α") == r"\texttt{Alpha}"
    assert tex("ο") == r"\texttt{omicron}"
    assert [spelled(one) for one in "αΩΣ"] == ["alpha", "Omega", "sum "]
