"""The expectation of a left side over random events by enumeration, in floats, rationals or balls."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Generic, TypeVar, cast, final

import numpy as np

from boundlab.algorithms import Control, EventLaw
from boundlab.arithmetic.numbers import EXACT, Scalar, exact_array
from boundlab.arithmetic.problem import Core, Minimum, RationalProblem, Vector
from boundlab.errors import AssumptionError, UndecidedError
from boundlab.execute import Combine, Numbers, Show, Update, rows
from boundlab.execute.enclosed import EPS
from boundlab.expectation._graph import Arithmetic, Edge, Graph, Groups, Level, Lowering, PassRow, Row, SumRow, pruned
from boundlab.expectation._walk import (
    LARGEST,
    SLOW,
    ExactValues,
    FloatValues,
    History,
    ListedValues,
    RecordedOutcome,
    Steps,
    VectorTable,
    Walk,
)
from boundlab.metrics import Enclosure, Metric
from boundlab.objective import NO_NOISY_PROX, Problem
from boundlab.randomness import Ints
from boundlab.tape import Initial, Tape

# Test of whether a run stays where a problem is a quadratic for all signs of its noise: its moments are then exact.
#
# Every register is an affine function of the signs drawn so far, as long as no step leaves the box where all f_i are
# quadratics; its extremes are sums of absolute values. Where several things can happen, what they lead to is taken
# together: the smallest box around it, whose coordinates are signs of their own.

_MANY = 1 << 16  # sequences of events, of which fewer are soon enumerated


def core_of(model: RationalProblem, everything: Callable[[], Graph[Scalar]]) -> Core | None:
    """Return the quadratic that the problem is wherever a run can come, or None: there is none, or runs may leave it.

    Parameters
    ----------
    everything
        Gives all that can happen. Where that is little and there is no noise, nobody looks: it is enumerated.
    """
    core, noise, best = model.core(), model.sign_noise(), model.minimum()
    if core is None or best is None:
        return None
    graph = everything()
    if noise is None and math.prod(max(map(len, level.edges)) for level in graph.levels) < _MANY:
        return None
    if not all(low <= x <= high for low, x, high in zip(core.low, best.x, core.high, strict=True)):
        return None
    try:
        held = _Boxes(model, core, noise or [])
        Walk(graph, held, exact=False).run(lambda _place, numbers_of, _weights, _whole: held.inside(numbers_of))
    except (UndecidedError, _LeavesError):
        return None
    return core


@final
@dataclass(frozen=True, slots=True)
class _Affine:
    """A vector as a function of signs: ``constant`` plus, for each sign drawn so far, ± its entry of ``signs``."""

    constant: Vector
    signs: dict[int, Vector]

    def scaled(self, share: Scalar) -> "_Affine":
        return _Affine(share * self.constant, {name: share * part for name, part in self.signs.items()})

    def plus(self, other: "_Affine") -> "_Affine":
        signs = dict(self.signs)
        for name, part in other.signs.items():
            signs[name] = signs[name] + part if name in signs else part
        return _Affine(self.constant + other.constant, signs)

    def reach(self) -> Vector:
        """Return how far each coordinate can be from its constant."""
        none = self.constant - self.constant
        return sum((part * EXACT.sign(part) for part in self.signs.values()), start=none)


class _LeavesError(Exception):
    """A step may begin outside the box."""


@final
class _Boxes(ListedValues[Scalar]):
    """All that registers can hold: affine functions of signs, one for all states of a control state."""

    def __init__(self, model: RationalProblem, core: Core, noise: list[Fraction]) -> None:
        super().__init__(id)
        self._noise, self._none = exact_array(noise), _Affine(exact_array([0] * model.d), {})
        self._A, self._b = exact_array(core.form.A), exact_array(core.form.b)
        self._low, self._high = exact_array(core.low), exact_array(core.high)
        self._drawn = 0
        self.start, self.zero = self._put(_Affine(exact_array(model.x0), {})), self._put(self._none)

    def combine(self, coefficients: Sequence[Scalar], terms: Ints) -> Ints:
        """Return Σ coefficient·vector."""
        found = []
        for row in terms.tolist():
            total = self._none
            for share, source in zip(coefficients, row, strict=True):
                total = total.plus(self.points[source].scaled(share))
            found.append(total)
        return self._numbers(found)

    def descend(self, client: int, size: Scalar, at: Ints) -> Ints:
        """Return x − size·(A(x − b) ± noise) for each x, which must be in the box."""
        A, b, found = self._A[client], self._b[client], []
        for x in self.inside(at):
            signs = {name: part - size * (A @ part) for name, part in x.signs.items()}
            if len(self._noise):
                signs[self._drawn] = size * self._noise
                self._drawn += 1
            found.append(_Affine(x.constant - size * (A @ (x.constant - b)), signs))
        return self._numbers(found)

    def joined(self, ids: Ints) -> Ints:
        """Return the smallest box around what each register can hold, for all states."""
        columns = (list(dict.fromkeys(column)) for column in ids.T.tolist())
        row = [one[0] if len(one) == 1 else self._put(self._box([self.points[n] for n in one])) for one in columns]
        return np.array([row] * len(ids))

    def inside(self, at: Ints) -> list[_Affine]:
        """Return vectors, all of which are in the box."""
        found = [self.points[number] for number in at.tolist()]
        for x in found:
            room = np.concatenate([x.constant - self._low, self._high - x.constant]) - np.tile(x.reach(), 2)
            if (EXACT.sign(room) < 0).any():
                raise _LeavesError
        return found

    def _box(self, some: list[_Affine]) -> _Affine:
        low, high = some[0].constant - some[0].reach(), some[0].constant + some[0].reach()
        for one in some[1:]:
            low = EXACT.minimum(low, one.constant - one.reach())
            high = -EXACT.minimum(-high, -one.constant - one.reach())
        signs = {self._drawn + j: row for j, row in enumerate(np.diag((high - low) / 2) + self._none.constant)}
        self._drawn += len(signs)
        return _Affine((low + high) / 2, signs)


# One schedule in place of random events: its tape, a few rows at a time, for the same engines.

Number = TypeVar("Number")


@final
class Schedule(Generic[Number]):
    """A tape cut before its local steps and behind its records; a record is copied to a register of its own.

    Parameters
    ----------
    sum
        That register.
    shown
        For each part whether it ends with a record.

    Raises
    ------
    AssumptionError
        If a step is implicit: there is nothing to average over then.
    """

    def __init__(self, tape: Tape, numbers: Numbers[Number], one: Number) -> None:
        self.sum = tape.registers
        self.initial = (*(Initial(value) for value in tape.initial.tolist()), Initial.UNWRITTEN)
        self._parts: list[tuple[Row[Number], ...]] = []
        self.shown: list[bool] = []
        own: list[Row[Number]] = []

        def cut(*, shown: bool) -> None:
            self._parts.append(tuple(own))
            self.shown.append(shown)
            own.clear()

        for row in rows(tape, numbers):
            match row:
                case Combine(dst, terms):
                    own.append(SumRow(dst, terms))
                case Update():
                    if row.implicit:
                        raise AssumptionError(NO_NOISY_PROX)
                    if own:  # noise of mini-batches depends on where it is drawn: that must be known by then
                        cut(shown=False)
                    own.append(PassRow(row.dst, row.src, row.client, row.sizes))
                case Show(_, src):
                    own.append(SumRow(self.sum, ((one, src),)))
                    cut(shown=True)

    def graph(self) -> Graph[Number]:
        """Return the schedule as all that can happen."""
        everything, none = frozenset(range(self.sum + 1)), cast(Groups, ())
        levels = [
            Level([[Edge(1, part, None, 0)]], [none], [everything], shown)
            for part, shown in zip(self._parts, self.shown, strict=True)
        ]
        terms = {place: Fraction(1) for place, shown in enumerate(self.shown) if shown}
        return Graph(self.initial, self.sum, levels, terms).seen(terms)

    def opening(self) -> tuple[tuple[Row[Number], ...], Control, None]:
        """Return the first part."""
        return self._parts[0], Control(), None

    def clock(self, number: int) -> int:
        """Return the part: each has rows of its own."""
        return number

    def edges(self, control: Control, number: int) -> tuple[list[tuple[Edge[Number], Control]], bool]:
        """Return the next part."""
        return [(Edge(1, self._parts[number + 1], None, 0), control)], self.shown[number + 1]


TOLD: Final = 20_000  # states of one event whose histories are kept


def in_floats(
    problem: Problem,
    arithmetic: Arithmetic[float],
    law: EventLaw[float],
    twins: Sequence[Sequence[int]],
    metric: Metric,
    ks: Ints,
    largest: int = LARGEST,
) -> Enclosure:
    """Return E metric at the sorted horizons ``ks``, shape (points,).

    Raises
    ------
    SpecError
        If there are too many states.
    UndecidedError
        If rounding could decide on which side of a kink an iterate lies.
    """
    graph = looked_at(arithmetic, law, twins, metric, ks)
    found, walk = _expectations(graph, FloatValues(problem), metric, ks, exact=False, largest=largest)
    value, low, high = np.array(found, dtype=np.float64).T
    # Weights are sums of products of positive numbers, and left sides are means by them.
    loss = EPS * (walk.added + 8.0 * len(metric.records(ks).at(int(ks[-1]))))
    known = np.isfinite(value) & np.isfinite(high)
    return Enclosure(value, np.where(known, low * (1.0 - loss), 0.0), np.where(known, high * (1.0 + loss), np.inf))


def distinct_outcomes(
    problem: Problem,
    arithmetic: Arithmetic[float],
    law: EventLaw[float],
    twins: Sequence[Sequence[int]],
    metric: Metric,
    k: int,
    largest: int = LARGEST,
) -> int:
    """Return between how many points all event sequences choose at the horizon ``k``, as floats tell them apart.

    Raises
    ------
    SpecError
        If there are too many states.
    UndecidedError
        If rounding could decide on which side of a kink an iterate lies.
    """
    graph, seen = looked_at(arithmetic, law, twins, metric, np.array([k])), [0]
    walk = Walk(graph, FloatValues(problem), exact=False, largest=largest)
    walk.run(lambda _place, number, _weights, _whole: seen.append(len(number)))
    return seen[-1]


def in_exact_numbers(
    model: RationalProblem,
    best: Minimum | None,
    unit: Scalar,
    graph: Graph[Scalar],
    metric: Metric,
    ks: Ints,
    largest: int = SLOW,
) -> list[Scalar]:
    """Return E metric at the sorted horizons ``ks`` in exact numbers.

    Parameters
    ----------
    unit
        1 in the numbers of the step sizes, so that equal vectors are of one kind.
    graph
        What can happen, as far as the metric looks at it: :func:`looked_at`, or a pruned :meth:`Schedule.graph`.

    Raises
    ------
    SpecError
        If there are too many states.
    UndecidedError
        If balls cannot tell on which side of a kink an iterate lies.
    """
    return _expectations(graph, ExactValues(model, best, unit), metric, ks, exact=True, largest=largest)[0]


def _expectations(
    graph: Graph[Number], held: VectorTable[Number], metric: Metric, ks: Ints, *, exact: bool, largest: int
) -> tuple[list[Any], Walk[Number]]:
    seen, walk = [], Walk(graph, held, exact=exact, largest=largest)

    def observe(place: int, number: Ints, weights: Any, whole: Any) -> None:
        seen.append(held.total(metric, number, weights, whole, graph.terms[place]))

    walk.run(observe)
    return folded(metric, ks, seen), walk


def outcomes(
    model: RationalProblem, best: Minimum | None, unit: Scalar, graph: Graph[Scalar]
) -> tuple[list[RecordedOutcome], list[Steps]]:
    """Return what :func:`in_exact_numbers` adds up: all that records can show, and what leads there.

    Parameters
    ----------
    graph
        As there, whose edges say which events they are: :func:`told`, or a pruned :meth:`Schedule.graph`.

    Returns
    -------
    The outcomes, and the local steps of all runs, of problems without noise.

    Raises
    ------
    SpecError, UndecidedError
        As there, of fewer states.
    """
    held = ExactValues(model, best, unit)
    found = Walk(graph, held, exact=True, largest=TOLD, past=History()).outcomes(held.points)
    return found, [] if held.noisy else held.steps()


def told(arithmetic: Arithmetic[Scalar], law: EventLaw[Fraction], metric: Metric, k: int) -> Graph[Scalar]:
    """Return all that can happen as far as a metric looks at it at the horizon ``k``, with the events.

    Where the metric looks at the average of the models before k, these are seen one by one.
    """
    graph = Lowering(arithmetic, law, (), average=False, told=True, point=metric.shows).graph(k)
    ends = list(graph.terms)
    seen = range(k + metric.over.weights.closed) if metric.over.averages_iterates else metric.records([k]).at(k)
    return pruned(graph.seen({ends[one]: Fraction(1) for one in seen}))


def looked_at(
    arithmetic: Arithmetic[Number], law: EventLaw[Any], twins: Sequence[Sequence[int]], metric: Metric, ks: Ints
) -> Graph[Number]:
    """Return all that can happen as far as a metric looks at it."""
    average, last, weights = metric.over.averages_iterates, int(ks[-1]), metric.over.weights
    graph = Lowering(arithmetic, law, twins, average=average, weights=weights, point=metric.shows).graph(last)
    ends = list(graph.terms)
    looks = metric.records(ks).at(last).tolist()
    return pruned(graph.seen({ends[k]: weights.total(k) if average else Fraction(1) for k in looks}))


def folded(metric: Metric, ks: Ints, seen: Sequence[Any]) -> list[Any]:
    """Return the left sides at ``ks`` from the expectation of each record that they take."""
    total, out = None, []
    ends = metric.over.complete(ks).tolist()
    for count, value in enumerate(seen, 1):
        total = metric.over.fold(total, value)
        out += [metric.over.read(total, count) for end in ends if end == count]
    return out
