"""Greek letters by name, and which of them LaTeX has."""

import unicodedata
from typing import Final

_SMALL, _CAPITAL = "αβγδεζηθικλμνξοπρστυφχψω", "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ"
_LIKE_LATIN = "οΑΒΕΖΗΙΚΜΝΟΡΤΧ"


def _name(letter: str) -> str:
    return unicodedata.name(letter).rpartition(" ")[2].replace("LAMDA", "LAMBDA")


NAMES: Final = {one: _name(one).lower() for one in _SMALL} | {one: _name(one).capitalize() for one in _CAPITAL}
"""Letter → name."""

LETTERS: Final = {name: letter for letter, name in NAMES.items()}
"""Name → letter."""

COMMANDS: Final = tuple(name for letter, name in NAMES.items() if letter not in _LIKE_LATIN)
"""The names that are commands of LaTeX, which has no letter that looks like a Latin one."""
