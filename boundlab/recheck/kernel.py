"""The checker for one who writes a proof: it takes each line as it is made, and what it refuses is no fact."""

from typing import Any

from boundlab.recheck._chance_rules import known_by as known_by
from boundlab.recheck._errors import WrongError
from boundlab.recheck._numbers import NumberError
from boundlab.recheck._proof import RULES
from boundlab.recheck._ranges import Context as Context
from boundlab.recheck._replay import Replay as Replay
from boundlab.recheck._structure import number as number
from boundlab.recheck._structure import vec as vec
from boundlab.recheck._work import TooMuchError, begin

REFUSALS = (WrongError, NumberError, TooMuchError)


def empty() -> Replay:
    """Return the checker of a proof in which nothing is declared yet."""
    begin()
    nothing: dict[str, Any] = {
        "problem": None,
        "symbols": [],
        "parameters": [],
        "vectors": {},
        "functions": {},
        "slopes": {},
    }
    return Replay({**nothing, "laws": [], "contexts": [{"kind": "root"}], "facts": []}, RULES)
