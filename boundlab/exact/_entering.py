"""Contributions to a server update, told only where the server's model follows from them by addition."""

from collections.abc import Sequence
from fractions import Fraction
from typing import final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.rational import ENGINE, rational
from boundlab.arithmetic.writing import Sentence, Written, about, math, say, vector
from boundlab.exact._instance import ExactSetting
from boundlab.exact._rows import model_name
from boundlab.exact._trace import Models, Point

Entry = tuple[int, Fraction]


@final
class Entering:
    """The runs behind each server model.

    Where w_t = w_{t−1} + Σ weight·(y − y_0) for all t, or w_t = Σ weight·y, checked in the numbers of the run, with y_0
    and y where the local steps of a run begin and end, the rows say so. Otherwise they say who arrives, and no more.
    """

    def __init__(self, at: ExactSetting, trace: Models) -> None:
        self._at, self._trace = at, trace
        each = [self._entries(t) for t in range(1, len(trace.each))]
        equal = [[(run, Fraction(1, len(some))) for run, _ in some] for some in each]
        choices = [(one, moves) for moves in (True, False) for one in (each, equal)]
        fit = (choice for choice in choices if self._made_of(choice[0], moves=choice[1]))
        chosen = next(fit, None)
        self._entering: Sequence[Sequence[Entry]] | None = None if chosen is None else chosen[0]
        self._moves = chosen is not None and chosen[1]
        self._arriving = each

    @property
    def adds(self) -> bool:
        """True if each model follows from the one before and from what the rows say."""
        return self._entering is not None

    @property
    def title(self) -> str:
        """Title of the column: what it shows."""
        return "what enters" if self.adds else "who arrives"

    def rule(self) -> Sentence:
        """Return how a row follows from the one before."""
        now, y, start = model_name(self._at, "t"), math("y", "y"), math("y_0", "y_0")
        if not self.adds:
            return say("how {} follows from what arrives is the algorithm's, and not written out here", now)
        weighted = r"\textstyle\sum \text{weight} \cdot"
        total = math("Σ weight·y", rf"{weighted} y")
        if self._moves:
            then = f"{now.text[0]}_{{t"
            total = math(f"{then}−1}} + Σ weight·(y − y_0)", rf"{then}-1}} + {weighted} (y - y_0)")
        return say("{} = {}, where the local steps of a run lead from {} to {}", now, total, start, y)

    def words(self, t: int) -> Sentence:
        """Return the cell of a row."""
        if t == 0:
            return say("the start")
        descend = self._trace.tape.descend
        if self._entering is None:
            clients = sorted({int(descend.client[run]) for run, _ in self._arriving[t - 1]})
            return say(_clients(clients) if clients else "–")
        together: dict[tuple[str, Fraction, int], tuple[Written, list[int]]] = {}
        for run, weight in self._entering[t - 1]:
            start = self._start(run)
            key = start.exact, weight, int(descend.steps[run])
            together.setdefault(key, (start, []))[1].append(int(descend.client[run]))
        parts = []
        for (_, weight, steps), (start, clients) in together.items():
            share = "" if weight == 1 else f"{weight} of "
            many = f" ({steps} steps)" if steps > 1 else ""
            parts.append(say(f"{share}{_clients(sorted(clients))} from {{}}{many}", start))
        return say("; ".join(["{}"] * len(parts)) or "–", *parts)

    def _start(self, run: int) -> Written:
        """Return where the local steps of a run begin: at a server model, or at a point of the client's own."""
        version, start = int(self._trace.tape.descend.version[run]), self._trace.moves[run][0]
        if version < len(self._trace.each) and _same(self._trace.each[version], start):
            return model_name(self._at, str(version))
        return about(vector(start))

    def _entries(self, t: int) -> list[Entry]:
        """Return the runs of update t − 1 → t, with the weights that the tape gives them."""
        tape = self._trace.tape
        uses = tape.uses
        mine = np.flatnonzero(uses.version == t - 1)
        if len(mine):
            weights = [rational(float(uses.weight[j]), ENGINE) for j in mine.tolist()]
            return [
                (int(uses.update[j]), weight or Fraction(0)) for j, weight in zip(mine.tolist(), weights, strict=True)
            ]
        events = np.flatnonzero(np.diff(tape.version) > 0)
        arrived = np.flatnonzero(np.isin(tape.descend.arrival, events[t - 1 : t]))
        return [(int(run), Fraction(1)) for run in arrived.tolist()]

    def _made_of(self, each: Sequence[Sequence[Entry]], *, moves: bool) -> bool:
        points, zero = self._trace.each, numbers.rational(0)
        for t, entries in enumerate(each, 1):
            expected = list(points[t - 1]) if moves else [zero] * len(points[t - 1])
            for run, weight in entries:
                start, end = self._trace.moves[run]
                share = numbers.rational(weight)
                expected = [x + share * y for x, y in zip(expected, end, strict=True)]
                if moves:
                    expected = [x - share * y for x, y in zip(expected, start, strict=True)]
            if not _same(tuple(expected), points[t]):
                return False
        return True


def _same(one: Point, other: Point) -> bool:
    """Return whether two points are equal, or are balls that nothing tells apart."""
    return all(_zero(a - b) for a, b in zip(one, other, strict=True))


def _zero(x: Scalar) -> bool:
    return bool(x.contains(0)) if isinstance(x, numbers.flint().arb) else numbers.sign(x) == 0


def _clients(clients: Sequence[int]) -> str:
    return f"client{'s' * (len(clients) > 1)} {', '.join(map(str, clients))}"
