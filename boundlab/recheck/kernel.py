"""The checker for one who writes a proof: it takes each line as it is made, and what it refuses is no fact.

Numbers, vectors and finite sums of a proof that is written are those that the checker reads from a file.
"""

from typing import Any

from boundlab.recheck._chance_rules import known_by as known_by
from boundlab.recheck._declarations import range_of as range_of
from boundlab.recheck._errors import WrongError
from boundlab.recheck._numbers import ONE as ONE
from boundlab.recheck._numbers import ZERO as ZERO
from boundlab.recheck._numbers import Exact as Exact
from boundlab.recheck._numbers import Number as Number
from boundlab.recheck._numbers import NumberError as NumberError
from boundlab.recheck._numbers import Symbol as Symbol
from boundlab.recheck._numbers import exact as exact
from boundlab.recheck._numbers import of as of
from boundlab.recheck._polynomials import Monomial as Monomial
from boundlab.recheck._proof import RULES
from boundlab.recheck._ranges import Context as Context
from boundlab.recheck._ranges import Range as Range
from boundlab.recheck._replay import Replay as Replay
from boundlab.recheck._structure import claim as claim
from boundlab.recheck._structure import combination as combination
from boundlab.recheck._structure import names as names
from boundlab.recheck._structure import number as number
from boundlab.recheck._structure import text as text
from boundlab.recheck._terms import UNIT as UNIT
from boundlab.recheck._terms import Atom as Atom
from boundlab.recheck._terms import Base as Base
from boundlab.recheck._terms import Combination as Combination
from boundlab.recheck._terms import Vec as Vec
from boundlab.recheck._terms import dot as dot
from boundlab.recheck._terms import instance as instance
from boundlab.recheck._terms import is_own as is_own
from boundlab.recheck._terms import number_in as number_in
from boundlab.recheck._terms import plus as plus
from boundlab.recheck._terms import replaced as replaced
from boundlab.recheck._terms import single as single
from boundlab.recheck._terms import times as times
from boundlab.recheck._terms import total as total
from boundlab.recheck._terms import vector as vector
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
