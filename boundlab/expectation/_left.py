"""The exact left side of a theorem in floating point, by whichever engine applies, and what it will cost."""

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundlab.algorithms import X_S, AffineRow, Algorithm, Control, DescendRow, EventLaw, EventProgram
from boundlab.arithmetic.numbers import InexactError, Scalar, ball, float_ends, rational
from boundlab.arithmetic.rational import shortest_decimal, stands_for
from boundlab.arithmetic.recurrence import EQUAL
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import MissingExtraError, SpecError, UndecidedError
from boundlab.expectation import _enumeration
from boundlab.expectation._graph import (
    COMPILED,
    LARGEST_MOMENTS,
    WIDEST,
    Arithmetic,
    Lowering,
    all_end,
    by_batches,
    event_law,
    in_exact_numbers,
    in_floats,
    lasting,
    twins,
    why_no_law,
)
from boundlab.expectation._walk import ENTRIES, LARGEST
from boundlab.metrics import Enclosure, Metric, Quantity, metric as metric_of, summands, terms_of
from boundlab.objective import Problem
from boundlab.registry import lookup
from boundlab.theorems import Theorem

AFFORDABLE: Final = 3 * 10**9  # seconds, on one core
# What the interpreter costs beside the arithmetic, in operations: of an event, of a row, and of a call of a gradient.
_EVENT, _ROW, _CALL = 10**5, 10**4, 10**4
_CONTROLS = 20_000  # control states and events that are looked at to predict


class Event(NamedTuple):
    """Cost of an event.

    Parameters
    ----------
    controls, edges
        Control states before it, and what can happen in all of them together.
    choices
        The most that can happen in one.
    rows, steps
        Rows and local steps of one choice.
    """

    controls: int
    edges: int
    choices: int
    rows: int
    steps: int


def events(program: EventProgram, law: EventLaw[float], iterations: int) -> Iterator[Event | None]:
    """Yield what each event takes until so many iterations are done; None and no more where nobody can tell.

    Where control states come back, so does what follows.
    """
    states: frozenset[Control] = frozenset([program.opening()[1]])
    known: dict[frozenset[Control], tuple[Event, frozenset[Control], bool]] = {}
    done = looked = 0
    while done < iterations:
        if states not in known:
            after, edges, most, rows, steps, each = set(), 0, 0, 0, 0, list[bool]()
            for control in states:
                choices = program.choices(control, law)
                most, edges = max(most, len(choices)), edges + len(choices)
                looked += len(choices)
                if looked > _CONTROLS:
                    yield None
                    return
                for event, _ in choices:
                    written, to, ends, *_ = program.event(control, event, looked)
                    after.add(to)
                    each.append(ends)
                    rows = max(rows, sum(isinstance(row, (AffineRow, DescendRow)) for row in written))
                    steps = max(steps, sum(row.steps for row in written if isinstance(row, DescendRow)))
            known[states] = Event(len(states), edges, most, rows, steps), frozenset(after), all_end(each)
        found, states, ends = known[states]
        yield found
        done += ends


def area_moments_operations(problem: Problem, iterations: int) -> float:
    """Return the operations of the moments of AREA: some forty passes over all second moments an event.

    As many as where no two clients arrive equally often. Infinite where so many would take too much memory.
    """
    n, d = problem.n, problem.d
    if (n * d) ** 2 > LARGEST_MOMENTS:
        return math.inf
    # Where the matrices commute there are fewer; telling costs as much as an event.
    entries = (n * d) ** 2 + n * d**3
    return iterations * (_EVENT + 40 * entries)


def moments_operations(
    problem: Problem, program: EventProgram, law: EventLaw[float], iterations: int, *, average: bool
) -> float:
    """Return the operations of second moments of all registers: each choice copies the matrix and adds it up.

    Where events are the same all the time, and few, they are sparse matrices that are made once.
    """
    if next(events(program, law, 1), None) is None:  # before anybody writes down so many rows
        return math.inf
    lowering, mixing = Lowering(in_floats(program), law, (), average=average), by_batches(problem)
    seen = frozenset((X_S, lowering.shown))
    width = 1 + len(lasting(lowering, seen, lowering.sum + average)) * problem.d
    size, made = width**2, set[Event]()
    once = program.clock(0) == program.clock(1) and width * (width + 1) // 2 <= COMPILED and not mixing
    total = problem.n * float(problem.d**4 if mixing else problem.d**3)
    for event in events(program, law, iterations):
        if event is None or event.controls * size > LARGEST_MOMENTS:
            return math.inf
        if once and event in made:
            total += _EVENT + 5.0 * event.controls * size
        else:
            total += _EVENT + event.edges * (_ROW * (6 * event.rows + event.steps) + 10.0 * size)
        made.add(event)
        if total > 1e3 * AFFORDABLE:
            return math.inf
    return total


def enumeration_operations(
    problem: Problem, program: EventProgram, law: EventLaw[float], iterations: int, *, average: bool
) -> float:
    """Return the operations of enumerating all that can happen as if no two states were equal.

    Infinite where so many states would not fit into memory, and where the problem does not take many points at a time:
    then nobody knows what one of its gradients costs.
    """
    if type(problem).gradients is Problem.gradients:
        return math.inf
    width = (len(program.initial) + average) * problem.d
    signs = problem.sign_noise is not None and not problem.noiseless
    states, total = 1.0, 0.0
    for event in events(program, law, iterations):
        if event is None:
            return math.inf
        choices = event.choices * (2.0**event.steps if signs else 1.0)
        reached = states * choices
        if reached * width > ENTRIES or reached > LARGEST:
            return math.inf
        # Every local step takes gradients of all states at once; then equal states are looked for.
        total += _EVENT + event.edges * (event.rows * _ROW + event.steps * _CALL)
        total += choices * event.steps * 100 * states * problem.d + 50 * reached * width
        states = reached
        if total > AFFORDABLE:
            return math.inf
    return total


# The exact left side of a theorem in floating point, by whichever engine applies.


ENUMERATION = "enumeration of all event sequences, equal states merged"
MOMENTS = "first and second moments by linear recursion"
_LATEST, _WIDEST_LATE = 4, 40  # under drawn staleness: versions of an enumeration; versions·d of moments
_FRACTIONS = 40_000  # most states of one event in fractions: about a second


def engine(
    metric: Theorem | Metric | str,
    algorithm: Algorithm[Any] | str,
    problem: Problem,
    parameters: Any,
    delays: DelayModel,
    policy: ServerPolicy,
) -> tuple[str, str]:
    """Return the engine's description and '', or '' and why none applies."""
    left, who = _metric(metric), _algorithm(algorithm)
    if terms_of(left):
        each = [engine(one, who, problem, parameters, delays, policy) for _, one in summands(left, problem.n)]
        why = next((reason for _, reason in each if reason), "")
        return "" if why else "; ".join(dict.fromkeys(how for how, _ in each)), why
    if not (left.from_expectations or left.over.at_mean):
        return "", f"the expectation of {left.id}, which is not a mean of recorded quantities, has no exact engine"
    program = who.under(parameters, problem.n, delays)
    if program is None:
        return "", f"{who.id} has no one-event program; replace delays by events"
    reason = why_no_law(program, delays, policy)
    if reason:
        return "", reason
    if not left.quantity.of_moments:
        if problem.noiseless:
            return ENUMERATION, ""
        return "", f"the mean of {left.id} over noise has no exact engine: it is no quantity of the server model alone"
    late = len(delays.ages) if who.follows(parameters, delays) else 0
    batches = by_batches(problem)
    if batches and problem.d > WIDEST:
        return "", f"moments under mini-batches take at most {WIDEST} coordinates, got {problem.d}"
    if batches or problem.quadratic() is not None:
        wide = late * problem.d
        why = f"moments under drawn staleness take versions times coordinates up to {_WIDEST_LATE}, got {wide}"
        return ("", why) if wide > _WIDEST_LATE else (MOMENTS, "")
    if left.over.at_mean:
        return "", f"{left.id} is computed by moments, and problem {problem.id} is no quadratic"
    if problem.simple is not None and left.quantity is Quantity.SLOPE:
        return "", f"problem {problem.id} with {problem.simple.words} has no gradient norm"
    if not problem.noiseless and problem.sign_noise is None:
        return "", (
            f"problem {problem.id} with noise: moments need a quadratic, enumeration needs full gradients or noise=sign"
        )
    if left.quantity is Quantity.DISTANCE and problem.optimum().distance is None:
        return "", f"problem {problem.id} has no unique minimiser with a certified distance"
    if late > _LATEST + 1:
        return "", f"enumeration takes a staleness of at most {_LATEST}, and delays say up to {late - 1}"
    return ENUMERATION, ""


def _metric(metric: Theorem | Metric | str) -> Metric:
    if isinstance(metric, Theorem):
        return metric.left
    return metric if isinstance(metric, Metric) else metric_of(metric)


def _algorithm(algorithm: Algorithm[Any] | str) -> Algorithm[Any]:
    found: Algorithm[Any] = lookup("algorithms", algorithm) if isinstance(algorithm, str) else algorithm
    return found


def _asked(
    metric: Theorem | Metric | str,
    algorithm: Algorithm[Any] | str,
    problem: Problem,
    parameters: Any,
    delays: DelayModel,
    policy: ServerPolicy,
) -> tuple[Metric, str, EventProgram, EventLaw[float]]:
    """Return the left side, its engine, one event as a program, and the law of events.

    Raises
    ------
    SpecError
        If no engine applies.
    """
    how, reason = engine(metric, algorithm, problem, parameters, delays, policy)
    if reason:
        raise SpecError(f"no exact engine applies: {reason}")
    program = _algorithm(algorithm).under(parameters, problem.n, delays)
    assert program is not None  # noqa: S101  (there is an engine)
    return _metric(metric), how, program, event_law(delays, policy)


def applicable(
    metric: Theorem | Metric | str,
    algorithm: Algorithm[Any] | str,
    problem: Problem,
    parameters: Any,
    delays: DelayModel,
    policy: ServerPolicy,
    iterations: int = 1,
) -> str:
    """Return '' if :func:`left_side` has an engine, else the reason why not.

    Enumeration may still find too many states: how many differ is known only when they are made.
    """
    left = _metric(metric)
    if iterations < left.first:
        return f"{left.id} begins at iteration {left.first}"
    return engine(metric, algorithm, problem, parameters, delays, policy)[1]


def operations(
    metric: Theorem | Metric | str,
    algorithm: Algorithm[Any] | str,
    problem: Problem,
    parameters: Any,
    delays: DelayModel,
    policy: ServerPolicy,
    iterations: int,
) -> float:
    """Return how many operations :func:`left_side` will take at most, predicted; infinite if no engine applies.

    Moments and enumeration of the last horizon give all earlier ones by the way.
    """
    left = _metric(metric)
    if terms_of(left):
        each = (one for _, one in summands(left, problem.n))
        return sum(operations(one, algorithm, problem, parameters, delays, policy, iterations) for one in each)
    try:
        _, how, program, law = _asked(metric, algorithm, problem, parameters, delays, policy)
        if how == MOMENTS and _fast(problem, parameters, left):
            return area_moments_operations(problem, iterations)
        predicted = enumeration_operations if how == ENUMERATION else moments_operations
        return predicted(problem, program, law, iterations, average=left.over.averages_iterates)
    except SpecError:  # no engine, or more can happen at one event than a program goes through
        return float("inf")


def _fast(problem: Problem, parameters: Any, left: Metric) -> bool:
    """Return whether the moments of AREA by themselves take the place of those of all programs, for speed."""
    from boundlab.algorithms.area import AreaParameters

    if (
        not isinstance(parameters, AreaParameters)
        or parameters.reply != "pre"
        or not left.over.one_record
        or left.over.at_mean
        or left.shows is not None
    ):
        return False
    if left.over.weights != EQUAL:
        return False
    return not by_batches(problem)


def left_side(
    metric: Theorem | Metric | str,
    algorithm: Algorithm[Any] | str,
    problem: Problem,
    parameters: Any,
    delays: DelayModel,
    policy: ServerPolicy,
    iterations: int,
    ks: ArrayLike | None = None,
) -> Enclosure:
    """Return the left side of a theorem without sampling, in floating point.

    Parameters
    ----------
    metric
        The theorem, or a key of :data:`boundlab.metrics.METRICS`.
    parameters
        As the algorithm reads them.
    iterations, ks
        The horizon, and the sorted iterations to look at, shape (points,); by default the horizon alone.

    Returns
    -------
    Enclosure
        Shape (points,), in the units of the metric: E over all events and all noise.

    Raises
    ------
    SpecError
        If no exact engine applies, or there are too many different states.
    UndecidedError
        If rounding could decide on which side of a kink an iterate lies, and fractions do not reach.
    """
    run = algorithm, problem, parameters, delays, policy
    left, how, program, law = _asked(metric, *run)
    first = left.first
    points = np.array([iterations]) if ks is None else np.asarray(ks, dtype=np.int64)
    if points.size == 0 or points.min() < first or points.max() > iterations:
        raise SpecError(f"iterations must be between {first} and {iterations}")
    if terms_of(left):
        parts = [(share, left_side(one, *run, iterations, points)) for share, one in summands(left, problem.n)]
        return Enclosure.weighted(parts)
    if how == MOMENTS and _fast(problem, parameters, left):
        from boundlab.expectation import _area_moments

        sigma = problem.require_quadratic("the moments").sigma
        return _area_moments.expectation(problem, parameters, law, sigma, left, points)
    if how == MOMENTS:
        from boundlab.expectation import moments

        return moments.in_floats(problem, in_floats(program), law, left, points)
    try:
        return _enumeration.in_floats(problem, in_floats(program), law, twins(problem, law.p), left, points)
    except UndecidedError as error:
        known = _asked(metric, algorithm, problem, parameters.known(), delays, policy)[2]
        return _in_fractions(problem, in_exact_numbers(known), law, left, points, str(error))


def distinct_outcomes(
    metric: Theorem | Metric | str,
    algorithm: Algorithm[Any] | str,
    problem: Problem,
    parameters: Any,
    delays: DelayModel,
    policy: ServerPolicy,
    iterations: int,
) -> int:
    """Return between how many points all event sequences choose at the horizon; 1 where moments spare the question.

    Raises
    ------
    SpecError
        If no exact engine applies, or there are too many different states.
    UndecidedError
        If rounding could decide on which side of a kink an iterate lies.
    """
    left, how, program, law = _asked(metric, algorithm, problem, parameters, delays, policy)
    if how == MOMENTS:
        return 1
    return _enumeration.distinct_outcomes(problem, in_floats(program), law, twins(problem, law.p), left, iterations)


def _in_fractions(
    problem: Problem,
    arithmetic: Arithmetic[Scalar],
    law: EventLaw[float],
    left: Metric,
    points: NDArray[np.int64],
    why: str,
) -> Enclosure:
    """Return what floats cannot: each number is taken as the decimal that it prints as, as in a case file."""
    try:
        model = problem.rational(problem.spec())
        best = None if model is None else model.minimum()
        if model is None or best is None:
            raise InexactError(f"problem {problem.id} is not evaluated in rational numbers")
        shares = np.array([shortest_decimal(one) for one in law.p.tolist()], dtype=object)
        known = EventLaw(shares, shortest_decimal(law.p_s), tuple(map(stands_for, law.ages)))
        graph = _enumeration.looked_at(arithmetic, known, twins(problem, law.p), left, points)
        found = _enumeration.in_exact_numbers(model, best, rational(1), graph, left, points, _FRACTIONS)
        return Enclosure(*np.array([float_ends(ball(value)) for value in found]).T)
    except (SpecError, MissingExtraError) as error:
        raise UndecidedError(f"{why}, and {error}") from None
