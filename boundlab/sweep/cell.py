"""One question of a sweep."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, final, get_args

from boundlab.errors import SpecError
from boundlab.options import parse_spec

Row = dict[str, Any]  # of a cell: its coordinates and its answer, as JSON has them
Ask = Literal["compare", "exact", "worst-case", "falsify", "check", "prove"]
ASKS: tuple[Ask, ...] = get_args(Ask)
UNANSWERED = ("over time", "over memory", "killed", "crashed", "refused")  # of a row, how its cell failed
# Of a cell, and the list of a plan that holds their values.
COORDINATES = {"theorem": "theorems", "problem": "problems", "delays": "delays", "server": "servers"}


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """One question of a sweep.

    Parameters
    ----------
    problem, delays, server
        Specs with every name filled in; empty where the question is not about them.
    settings
        Symbols and options, as text.
    level
        At which a sample is judged.
    filled
        The names that its specs had in braces, with their values.
    """

    ask: Ask
    theorem: str
    problem: str
    delays: str
    server: str
    settings: tuple[tuple[str, str], ...]
    iterations: tuple[int, ...]
    trials: int
    seed: int
    candidates: int
    level: float
    filled: tuple[tuple[str, str], ...] = ()

    def where(self) -> dict[str, Any]:
        """Return the coordinates, as a row has them."""
        own = {name: getattr(self, name) for name in ("ask", *COORDINATES, "seed")}
        return {**own, "settings": dict(self.filled + self.settings)}


@lru_cache(maxsize=4096)
def normal(spec: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return a spec in any order of its options; what is none, as it is."""
    try:
        kind, options = parse_spec(spec, "spec")
    except SpecError:
        return spec, ()
    return kind, tuple(sorted(options.items()))
