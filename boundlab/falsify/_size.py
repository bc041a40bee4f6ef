"""Which of two instances is smaller: what a referee has to follow by hand comes first."""

import math
from typing import Any, final

from boundlab.errors import BoundlabError
from boundlab.expectation import distinct_outcomes
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._expectation import horizon, plan_of
from boundlab.options import parse_spec, typed
from boundlab.theorems import Theorem

_CERTAIN = ("deterministic", "iid")  # delays of which there is nothing to draw, or whose sequences are counted


@final
class Sizes:
    """The order of instances of one theorem.

    Smaller is, in this order: decided in exact numbers; fewer clients; an earlier horizon; fewer sequences of events
    that matter; fewer dimensions and smaller integers; simpler numbers, which are short to write, near 1 in the end.
    """

    def __init__(self, theorem: Theorem) -> None:
        self.theorem = theorem
        self._known: dict[tuple[Any, ...], int] = {}

    def smaller(self, one: Candidate, other: Candidate) -> bool:
        """Return whether the first is smaller than the second."""
        first, second = coarse(one), coarse(other)
        if first != second:
            return first < second
        return (self.sequences(one), *fine(one)) < (self.sequences(other), *fine(other))

    def sequences(self, one: Candidate) -> int:
        """Return how many sequences of events matter: between so many points they choose at the horizon."""
        name, _ = parse_spec(one.delays, "delays")
        if name != "iid":
            return 1 if name in _CERTAIN else 2
        key = one.key()
        if key not in self._known:
            self._known[key] = self._counted(one)
        return self._known[key]

    def _counted(self, one: Candidate) -> int:
        try:
            plan = plan_of(self.theorem, one, [horizon(one)])
            return distinct_outcomes(*plan.random_run, plan.iterations)
        except BoundlabError:
            return int((one.clients + 1) ** one.iterations)  # all there are


def coarse(one: Candidate) -> tuple[bool, int, int]:
    """Return what counts most: whether normal noise keeps exact numbers away, clients, horizon."""
    return one.tailed, one.clients, one.iterations


def fine(one: Candidate) -> tuple[int, int, int]:
    """Return dimensions, integer settings and rows of data added up, and how much there is to write down."""
    whole = sum(int(value) for value in one.settings.values() if str(value).isdigit())
    whole += sum(map(len, one.problem["y"])) + one.problem["batch"] if one.sampled else 0
    numbers = [value for value in one.problem.values() if not isinstance(value, str)]
    written = sum(digits(value) for value in (*numbers, *one.step.values()))
    options = sum(len(str(value)) for value in one.settings.values() if not str(value).isdigit())
    return one.dimension, whole, written + len(one.delays) + options


def digits(value: Any) -> int:
    """Return how much there is to read in a number or a list of them: letters, and the powers of ten beside them."""
    if isinstance(value, (list, tuple)):
        return sum(digits(entry) for entry in value)
    if not value:
        return 0
    significant = f"{abs(value):.15e}".split("e")[0].rstrip("0").replace(".", "")
    return int(value < 0.0) + min(len(typed(abs(value))), len(significant) + abs(round(math.log10(abs(value)))))
