"""All runs of an algorithm's own program on an exact instance, with their probabilities.

The outcomes are the events and the noise of every pass, whether it is used or not: pass (i, r) is what client i
computes from the server's model in iteration r. Rows of the program say which of these passes enter which register.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, TypeAlias, final

import numpy as np

from boundlab.algorithms import X_S, AffineRow, Control, DescendRow, EventLaw, EventProgram
from boundlab.arithmetic.rational import ENGINE, rational
from boundlab.prove._errors import ProofError
from boundlab.prove._functions import Function, Point, plus, summed
from boundlab.prove._instance import Instance, UnfitError
from boundlab.tape import Initial

Name: TypeAlias = tuple[str, tuple[int, ...]]
Row: TypeAlias = Mapping[Name, Point]
_ZERO = Fraction(0)
MAX_OUTCOMES = 5_000


@final
class Column:
    """A random vector: its values by outcome, over one denominator.

    Parameters
    ----------
    values
        By outcome.
    """

    def __init__(self, values: Sequence[Point]) -> None:
        self.values = values

    @cached_property
    def scaled(self) -> tuple[Any, int]:
        """Integers, shape (dimension, outcomes), and the denominator."""
        below = lcm(*{part.denominator for one in self.values for part in one})
        rows = [[part.numerator * (below // part.denominator) for part in one] for one in self.values]
        return np.array(rows, dtype=object).T, below


@final
class Runs:
    """Every outcome with its probability, and each vector of a setting as a random vector.

    Parameters
    ----------
    chances
        By outcome.
    columns
        By name and indices.
    functions
        f_0 … f_{n−1}.
    """

    def __init__(
        self, chances: Sequence[Fraction], columns: dict[Name, Column], functions: tuple[Function, ...]
    ) -> None:
        self.columns, self.functions = columns, functions
        self._below = lcm(*{one.denominator for one in chances})
        self._weights = np.array([one.numerator * (self._below // one.denominator) for one in chances], dtype=object)
        self.chances = chances
        self._inner: dict[tuple[Name, Name], Fraction] = {}
        self._values: dict[tuple[int, Name], Fraction] = {}

    def inner(self, one: Name, other: Name) -> Fraction:
        """Return E⟨u, v⟩; raises KeyError where a vector is beyond the end of the runs."""
        key = (one, other)
        if key not in self._inner:
            (u, below), (v, also) = self.columns[one].scaled, self.columns[other].scaled
            found = sum(int(((a * b) * self._weights).sum()) for a, b in zip(u, v, strict=True))
            self._inner[key] = Fraction(found, below * also * self._below)
        return self._inner[key]

    def value(self, client: int, at: Name) -> Fraction:
        """Return E f_i(u); raises KeyError as :meth:`inner`."""
        key = (client, at)
        if key not in self._values:
            function = self.functions[client]
            pairs = zip(self.chances, self.columns[at].values, strict=True)
            self._values[key] = sum((chance * function.value(point) for chance, point in pairs), _ZERO)
        return self._values[key]

    def add(self, name: Name, of: Callable[[int], Point]) -> None:
        """Add a random vector that is made of others, given by outcome."""
        self.columns[name] = Column([of(place) for place in range(len(self.chances))])

    def combine(self, name: Name, parts: Iterable[tuple[Fraction, Name]]) -> None:
        """Add Σ weight·vector."""
        size, columns = self.functions[0].dimension, [(weight, self.at(of)) for weight, of in parts]
        self.add(name, lambda place: summed(size, [(weight, one[place]) for weight, one in columns]))

    def constant(self, name: Name, point: Point) -> None:
        """Add a vector that is not random."""
        self.columns[name] = Column([point] * len(self.chances))

    def at(self, name: Name) -> Sequence[Point]:
        """Return the values of a vector by outcome."""
        return self.columns[name].values


def replay(
    program: EventProgram, instance: Instance, first: int, size: Callable[[int], Fraction] | None = None
) -> Runs:
    """Run all outcomes.

    Registers after k events are ``register[number, k]``; a pass is made of points ``z[i, r, m]``, slopes ``g`` and
    noise ``e``.

    Parameters
    ----------
    first
        The number of the passes that the program begins with.
    size
        The step size of a pass, by its number; that of the instance if left out.

    Raises
    ------
    UnfitError
        If there are too many outcomes.
    """
    return _Tree(program, instance, first, size or (lambda _: instance.alpha)).runs()


class _Tree:
    def __init__(self, program: EventProgram, instance: Instance, first: int, size: Callable[[int], Fraction]) -> None:
        self._program, self._instance, self._first, self._size = program, instance, first, size
        # Where the program draws by itself who acts, it reads nothing of a law but that it is one in fractions.
        p = instance.p or tuple(Fraction(1, instance.n) for _ in instance.functions)
        self._law = EventLaw(np.array(p, dtype=object), instance.p_s)
        self._seen: dict[Name, Point] = {}
        self._chances: list[Fraction] = []
        self._leaves: dict[Name, list[Point]] = {}

    def runs(self) -> Runs:
        zero: Point = tuple(_ZERO for _ in self._instance.start)
        held = {Initial.START: self._instance.start, Initial.ZERO: zero}
        registers = {place: held[one] for place, one in enumerate(self._program.initial) if one in held}
        rows, control = self._program.opening()
        opens = any(isinstance(row, DescendRow) for row in rows)
        for chance, passes in self._passes(self._first, registers[X_S]) if opens else [(Fraction(1), {})]:
            self._iterate(0, self._applied(registers, rows, passes, self._first), control, chance)
        columns = {name: Column(values) for name, values in self._leaves.items()}
        return Runs(self._chances, columns, self._instance.functions)

    def _iterate(self, k: int, registers: dict[int, Point], control: Control, chance: Fraction) -> None:
        for number, point in registers.items():
            # A register that holds nothing at first is one that rows write before they read it.
            if self._program.initial[number] is not Initial.UNWRITTEN:
                self._seen["register", (number, k)] = point
        if k == self._instance.horizon:
            self._leaf(chance)
            return
        for share, passes in self._passes(k, registers[X_S]):
            for event, probability in self._program.choices(control, self._law):
                if not probability:
                    continue
                step = self._program.event(control, event, k)
                if not step.iteration:
                    raise ProofError("an event that ends no iteration is not known to exact models")
                after = self._applied(registers, step.rows, passes, k)
                self._iterate(k + 1, after, step.control, chance * share * Fraction(probability))

    def _leaf(self, chance: Fraction) -> None:
        if len(self._chances) >= MAX_OUTCOMES:
            raise UnfitError(f"there are more than {MAX_OUTCOMES} outcomes")
        self._chances.append(chance)
        for name, point in self._seen.items():
            self._leaves.setdefault(name, []).append(point)

    def _passes(self, number: int, begin: Point) -> Iterator[tuple[Fraction, dict[int, Point]]]:
        """Yield what all clients may compute from a model, with probabilities."""
        one, size = self._instance, self._size(number)
        quiet = ((Fraction(1), tuple(_ZERO for _ in begin)),)
        laws = [one.noise[i].points() if one.noise else quiet for i in range(one.n) for _ in range(one.steps)]
        for drawn in itertools.product(*laws):
            chance, found = Fraction(1), {}
            for i, function in enumerate(one.functions):
                z = begin
                for m in range(one.steps):
                    share, noise = drawn[i * one.steps + m]
                    slope = function.slope(z)
                    self._seen["z", (i, number, m)] = z
                    self._seen["g", (i, number, m)] = slope
                    self._seen["e", (i, number, m)] = noise
                    chance *= share
                    z = plus(z, plus(slope, noise), -size)
                self._seen["z", (i, number, one.steps)] = z
                found[i] = z
            yield chance, found

    def _applied(
        self, registers: dict[int, Point], rows: Sequence[Any], passes: Mapping[int, Point], number: int
    ) -> dict[int, Point]:
        now, moved = dict(registers), False
        for row in rows:
            if isinstance(row, AffineRow):
                value: Point = tuple(_ZERO for _ in self._instance.start)
                for weight, source in row.terms:
                    value = plus(value, now[source], exact_weight(weight))
                now[row.dst] = value
                moved |= row.dst == X_S
            elif isinstance(row, DescendRow):
                same_step = abs(row.step_size - float(self._size(number))) <= 1e-9 * row.step_size
                if row.src != X_S or moved or row.steps != self._instance.steps or not same_step:
                    raise ProofError("a pass that does not begin at the model before the event is not known here")
                now[row.dst] = passes[row.client]
            else:
                now[row.dst] = now[row.src]
        return now


def exact_weight(weight: float) -> Fraction:
    """Return the rational number that a weight of a program stands for."""
    found = rational(weight, ENGINE)
    if found is None:
        raise ProofError(f"the weight {weight} of a program is no rational number")
    return found
