"""How many operations an exact engine will take, predicted from sizes alone: never a clock, never a trial run."""

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from boundlab.algorithms import X_S, AffineRow, Control, DescendRow, EventLaw, EventProgram
from boundlab.expectation._compiled import LARGEST as COMPILED
from boundlab.expectation._graph import Lowering, all_end, in_floats, lasting
from boundlab.expectation._walk import ENTRIES, LARGEST
from boundlab.objective import Problem

AFFORDABLE: Final = 3 * 10**9  # seconds, on one core
LARGEST_MOMENTS: Final = 4 * 10**6  # entries of a matrix of second moments, or of those of all control states
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


def compiles(program: EventProgram, width: int) -> bool:
    """Return whether second moments of so many coordinates move by sparse matrices that are made once."""
    return program.clock(0) == program.clock(1) and width * (width + 1) // 2 <= COMPILED


def moments_operations(
    problem: Problem, program: EventProgram, law: EventLaw[float], iterations: int, *, average: bool, mixing: bool
) -> float:
    """Return the operations of second moments of all registers: each choice copies the matrix and adds it up.

    Where events are the same all the time, and few, they are sparse matrices that are made once.

    Parameters
    ----------
    mixing
        Whether mini-batches mix all coordinates.
    """
    if next(events(program, law, 1), None) is None:  # before anybody writes down so many rows
        return math.inf
    lowering = Lowering(in_floats(program), law, (), average=average)
    seen = frozenset((X_S, lowering.sum)[: 1 + average])
    width = 1 + len(lasting(lowering, seen, lowering.sum + average)) * problem.d
    size, made = width**2, set[Event]()
    once = compiles(program, width) and not mixing
    total = problem.n * float(problem.d**4 if mixing else problem.d**3)
    for event in events(program, law, iterations):
        if event is None or event.controls * size > LARGEST_MOMENTS:
            return math.inf
        if once and event in made:
            total += _EVENT + 5.0 * event.controls * size
        else:
            total += _EVENT + event.edges * (_ROW * (10 * event.rows + event.steps) + 10.0 * size)
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
