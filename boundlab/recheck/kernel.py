"""The checker for one who writes a proof: it takes each line as it is made, and what it refuses is no fact.

Numbers, vectors and finite sums of a proof that is written are those that the checker reads from a file.
"""

from typing import Any

from boundlab.recheck._errors import WrongError
from boundlab.recheck._name_rules import exponent_of
from boundlab.recheck._numbers import ONE, ZERO, Monomial, Number, NumberError, Symbol, TooMuchError, begin, exact, of
from boundlab.recheck._problem_rules import SCHEMAS
from boundlab.recheck._proof import RULES
from boundlab.recheck._replay import Replay, enclosure, range_of
from boundlab.recheck._rules import known_by
from boundlab.recheck._structure import claim, combination, names, number, text
from boundlab.recheck._terms import (
    UNIT,
    Atom,
    Base,
    Context,
    Range,
    Vec,
    dot,
    instance,
    number_in,
    plus,
    replaced,
    single,
    times,
    total,
    vector,
)

__all__ = [
    "ONE",
    "SCHEMAS",
    "UNIT",
    "ZERO",
    "Atom",
    "Base",
    "Context",
    "Monomial",
    "Number",
    "Range",
    "Replay",
    "Symbol",
    "Vec",
    "claim",
    "combination",
    "dot",
    "enclosure",
    "exact",
    "exponent_of",
    "instance",
    "known_by",
    "names",
    "number",
    "number_in",
    "of",
    "plus",
    "range_of",
    "replaced",
    "single",
    "text",
    "times",
    "total",
    "vector",
]

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
