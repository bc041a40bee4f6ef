"""One question of a sweep."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, final, get_args

from boundlab.errors import SpecError
from boundlab.options import Default, parse_spec

Row = dict[str, Any]  # of a cell: its coordinates and its answer, as JSON has them
Ask = Literal["compare", "exact", "worst-case", "falsify", "check", "prove"]
ASKS: tuple[Ask, ...] = get_args(Ask)
DEFAULT_RATE = 0.01  # of false alarms of a whole sweep
UNANSWERED = ("over time", "over memory", "killed", "crashed", "refused")  # of a row, how its cell failed
# Of a cell, and the list of a plan that holds their values.
COORDINATES = {"theorem": "theorems", "problem": "problems", "delays": "delays", "server": "servers"}


@final
@dataclass(frozen=True, slots=True)
class CellQuestion:
    """The question that every cell asks, and the limits of a cell.

    Parameters
    ----------
    iterations
        Horizons; a cell is one run for each, judged jointly.
    rate
        Of false alarms among all sampled cells together.
    seconds, memory
        Limits of a cell; memory in bytes; None: none.
    """

    ask: Ask = "compare"
    iterations: tuple[int, ...] = (Default.ITERATIONS,)
    trials: int = Default.TRIALS
    seeds: tuple[int, ...] = (Default.SEED,)
    candidates: int = 100
    rate: float = DEFAULT_RATE
    seconds: float = 600.0
    memory: int | None = None


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

    run: CellQuestion
    theorem: str
    problem: str
    delays: str
    server: str
    settings: tuple[tuple[str, str], ...]
    seed: int
    level: float
    filled: tuple[tuple[str, str], ...] = ()

    def where(self) -> dict[str, Any]:
        """Return the coordinates, as a row has them."""
        own = {name: getattr(self, name) for name in (*COORDINATES, "seed")}
        return {"ask": self.run.ask, **own, "settings": dict(self.filled + self.settings)}


def shown(value: Any) -> str:
    """Return a value of a row: a float with four significant digits, nothing where there is none."""
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)


@lru_cache(maxsize=4096)
def normal(spec: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return a spec in any order of its options; what is none, as it is."""
    try:
        kind, options = parse_spec(spec, "spec")
    except SpecError:
        return spec, ()
    return kind, tuple(sorted(options.items()))
