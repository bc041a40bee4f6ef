"""The expectation of a left side over random events by enumeration, in floats, rationals or balls."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import X_S, EventLaw, EventProgram
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import Core, Minimum, RationalProblem
from boundlab.execute import Numbers
from boundlab.execute.enclosed import EPS
from boundlab.expectation._graph import Arithmetic, Graph, Lowering
from boundlab.expectation._history import History, RecordedOutcome, Steps
from boundlab.expectation._live import pruned
from boundlab.expectation._reach import core_of
from boundlab.expectation._schedule import Schedule
from boundlab.expectation._values import ExactValues, FloatValues, VectorTable
from boundlab.expectation._walk import LARGEST, SLOW, Walk
from boundlab.metrics import Enclosure, Metric
from boundlab.objective import Problem
from boundlab.tape import Tape

Number = TypeVar("Number")
Ints = NDArray[np.int64]
Marginal: TypeAlias = list[tuple[tuple[Scalar, ...], Fraction]]  # points with their probabilities
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
    found, walk = _expectations(
        arithmetic, law, twins, metric, ks, lambda: FloatValues(problem), exact=False, largest=largest
    )
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
    graph, shown, _ = looked_at(arithmetic, law, twins, metric, np.array([k]))
    seen = [0]
    walk = Walk(pruned(graph, shown), FloatValues(problem), shown, exact=False, largest=largest)
    walk.run(lambda _place, number, _weights, _whole: seen.append(len(number)))
    return seen[-1]


def in_exact_numbers(
    model: RationalProblem,
    best: Minimum | None,
    arithmetic: Arithmetic[Scalar],
    unit: Scalar,
    law: EventLaw[Fraction],
    twins: Sequence[Sequence[int]],
    metric: Metric,
    ks: Ints,
    largest: int = SLOW,
    merged: Callable[[int], object] = int,
) -> list[Scalar]:
    """Return E metric at the sorted horizons ``ks`` in the numbers of ``arithmetic``.

    Parameters
    ----------
    unit
        1 in the numbers of the step sizes, so that equal vectors are of one kind.
    merged
        Is told how many states there were after merging, over all events.

    Raises
    ------
    SpecError
        If there are too many states.
    UndecidedError
        If balls cannot tell on which side of a kink an iterate lies.
    """
    found, walk = _expectations(
        arithmetic, law, twins, metric, ks, lambda: ExactValues(model, best, unit), exact=True, largest=largest
    )
    merged(walk.merged)
    return found


def _expectations(
    arithmetic: Arithmetic[Number],
    law: EventLaw[Any],
    twins: Sequence[Sequence[int]],
    metric: Metric,
    ks: Ints,
    values: Callable[[], VectorTable[Number]],
    *,
    exact: bool,
    largest: int,
) -> tuple[list[Any], Walk[Number]]:
    graph, shown, terms = looked_at(arithmetic, law, twins, metric, ks)
    held, seen = values(), []

    def observe(place: int, number: Ints, weights: Any, whole: Any) -> None:
        seen.append(held.total(metric, number, weights, whole, terms[place]))

    walk = Walk(pruned(graph, shown), held, shown, exact=exact, largest=largest)
    walk.run(observe)
    return folded(metric, ks, seen), walk


def given_schedule(
    model: RationalProblem,
    best: Minimum | None,
    tape: Tape,
    of_tape: Numbers[Scalar],
    unit: Scalar,
    metric: Metric,
    k: int,
) -> Scalar:
    """Return E[metric | schedule] at the horizon ``k`` over signs of noise.

    Parameters
    ----------
    tape
        With the records that the metric asks for at ``k``.
    of_tape
        The numbers of the tape without rounding, or as balls.

    Raises
    ------
    SpecError
        If there are too many states.
    UndecidedError
        If balls cannot tell on which side of a kink an iterate lies.
    """
    graph, shown = _of_schedule(tape, of_tape, unit)
    held, seen = ExactValues(model, best, unit), []

    def observe(_: int, number: Ints, weights: Any, whole: Any) -> None:
        seen.append(held.total(metric, number, weights, whole, Fraction(1)))

    Walk(graph, held, shown, exact=True, largest=SLOW).run(observe)
    return folded(metric, np.array([k]), seen)[0]


def outcomes(
    model: RationalProblem,
    best: Minimum | None,
    arithmetic: Arithmetic[Scalar],
    unit: Scalar,
    law: EventLaw[Fraction],
    metric: Metric,
    k: int,
) -> tuple[list[RecordedOutcome], list[Steps]]:
    """Return what :func:`in_exact_numbers` adds up at the horizon ``k``: all that can be seen, and what leads there.

    Where the metric looks at the average of the models before k, these are seen one by one.

    Returns
    -------
    The outcomes, and the local steps of all runs, of problems without noise.

    Raises
    ------
    SpecError, UndecidedError
        As there, of fewer states.
    """
    graph = Lowering(arithmetic, law, (), average=False, told=True).graph(k)
    ends = _ends(graph)
    last = k + metric.over.weights.closed
    seen = range(last) if metric.over.averages_iterates else metric.records([k]).at(k).tolist()
    last = ends[max(seen)]
    shown = [place in {ends[one] for one in seen} for place in range(last + 1)]
    held = ExactValues(model, best, unit)
    graph = pruned(replace(graph, levels=graph.levels[:last]), shown)
    found = Walk(graph, held, shown, exact=True, largest=TOLD, past=History()).outcomes(held.points)
    return found, [] if held.noisy else held.steps()


def outcomes_of_schedule(
    model: RationalProblem, best: Minimum | None, tape: Tape, of_tape: Numbers[Scalar], unit: Scalar
) -> list[RecordedOutcome]:
    """Return what :func:`given_schedule` adds up: all that the records can show, and the signs that lead there.

    Raises
    ------
    SpecError, UndecidedError
        As there, of fewer states.
    """
    graph, shown = _of_schedule(tape, of_tape, unit)
    held = ExactValues(model, best, unit)
    return Walk(graph, held, shown, exact=True, largest=TOLD, past=History()).outcomes(held.points)


def marginals(
    model: RationalProblem,
    best: Minimum | None,
    arithmetic: Arithmetic[Scalar],
    unit: Scalar,
    law: EventLaw[Fraction],
    twins: Sequence[Sequence[int]],
    metric: Metric,
    k: int,
) -> list[Marginal]:
    """Return the law of what each record shows, without what leads there: as many states as the engine itself takes.

    Raises
    ------
    SpecError, UndecidedError
        As :func:`in_exact_numbers`.
    """
    graph, shown, terms = looked_at(arithmetic, law, twins, metric, np.array([k]))
    held = ExactValues(model, best, unit)
    return _marginals(Walk(pruned(graph, shown), held, shown, exact=True, largest=SLOW), held, terms)


def marginals_of_schedule(
    model: RationalProblem, best: Minimum | None, tape: Tape, of_tape: Numbers[Scalar], unit: Scalar
) -> list[Marginal]:
    """Return the law of what each record of a schedule shows.

    Raises
    ------
    SpecError, UndecidedError
        As :func:`given_schedule`.
    """
    graph, shown = _of_schedule(tape, of_tape, unit)
    held = ExactValues(model, best, unit)
    return _marginals(Walk(graph, held, shown, exact=True, largest=SLOW), held, {})


def _of_schedule(tape: Tape, of_tape: Numbers[Scalar], unit: Scalar) -> tuple[Graph[Scalar], list[bool]]:
    schedule = Schedule(tape, of_tape, unit)
    graph = schedule.graph()
    shown = schedule.shown[: len(graph.levels) + 1]
    return pruned(graph, shown), shown


def _marginals(walk: Walk[Scalar], held: ExactValues, terms: dict[int, Fraction]) -> list[Marginal]:
    found: list[Marginal] = []

    def observe(place: int, number: Ints, weights: Any, whole: Any) -> None:
        each = zip(number.tolist(), weights.tolist(), strict=True)
        found.append(
            [
                (_shared(held.points[one], terms.get(place, Fraction(1))), Fraction(weight, whole))
                for one, weight in each
            ]
        )

    walk.run(observe)
    return [sorted(one, key=lambda pair: -pair[1]) for one in found]


def _shared(point: tuple[Scalar, ...], terms: Fraction) -> tuple[Scalar, ...]:
    share = numbers.rational(1 / terms)
    return tuple(share * entry for entry in point)


def core_over_events(
    model: RationalProblem, arithmetic: Arithmetic[Scalar], law: EventLaw[Fraction], k: int
) -> Core | None:
    """Return the quadratic that the problem is wherever a run of ``k`` iterations can come, if it is one."""
    if model.core() is None:
        return None
    graph = Lowering(arithmetic, law, (), average=False).graph(k)
    return core_of(model, graph, X_S, [True, *(level.iteration for level in graph.levels)])


def core_of_schedule(model: RationalProblem, tape: Tape, of_tape: Numbers[Scalar], unit: Scalar) -> Core | None:
    """Return the quadratic that the problem is wherever the runs of a schedule can come, if it is one."""
    schedule = Schedule(tape, of_tape, unit)
    return core_of(model, schedule.graph(), schedule.sum, schedule.shown)


def looked_at(
    arithmetic: Arithmetic[Number],
    law: EventLaw[Any],
    twins: Sequence[Sequence[int]],
    metric: Metric,
    ks: Ints,
    *,
    told: bool = False,
) -> tuple[Graph[Number], list[bool], dict[int, Fraction]]:
    """Return all that can happen as far as a metric looks at it; ``told`` is that of :class:`Lowering`.

    Returns
    -------
    The graph; whether the metric looks after 0, 1, … events; and the weight of the sum that it then sees.
    """
    average, last, weights = metric.over.averages_iterates, int(ks[-1]), metric.over.weights
    if metric.shows is not None:
        twins = ()  # clients that change places would show each other's vectors
    graph = Lowering(arithmetic, law, twins, average=average, told=told, weights=weights).graph(last)
    if metric.shows is not None:
        graph = replace(graph, shown=register_of(arithmetic.program, metric))
    ends = _ends(graph)
    terms = {ends[k]: weights.total(k) if average else Fraction(1) for k in metric.records(ks).at(last).tolist()}
    shown = [place in terms for place in range(max(terms) + 1)]
    return replace(graph, levels=graph.levels[: len(shown) - 1]), shown, terms


def register_of(program: EventProgram, metric: Metric) -> int:
    """Return the register of a program that a metric looks at: the server's model, or a vector of a client."""
    return X_S if metric.shows is None else program.points[metric.shows[0]][metric.shows[1]]


def _ends(graph: Graph[Any]) -> list[int]:
    """Return after how many events the iterations 0, 1, … have ended."""
    return [0, *(place + 1 for place, level in enumerate(graph.levels) if level.iteration)]


def folded(metric: Metric, ks: Ints, seen: Sequence[Any]) -> list[Any]:
    """Return the left sides at ``ks`` from the expectation of each record that they take."""
    total, out = None, []
    ends = metric.over.complete(ks).tolist()
    for count, value in enumerate(seen, 1):
        total = metric.over.fold(total, value)
        out += [metric.over.read(total, count) for end in ends if end == count]
    return out
