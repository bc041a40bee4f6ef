"""What parts of a comparison say by themselves: delays read off a tape, a simple term h, an objective that weighs.

A left side and a bound read few of these numbers at a time; asked here, each of them is an answer of its own.
"""

import json
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.golden.functions import on_tensors, said_of, text, unless_refused
from benchmarks.golden.view import rounded
from boundlab.options import Options

WINDOW = {"N": 2}
NEAR = 1e-6  # of a value: what a certificate of a minimum is held to


def usage(words: Sequence[str]) -> Any:
    """Return what theorems read off a run of some events, over its first server updates, and its statistics."""
    from boundlab.case import delays_from
    from boundlab.randomness import Streams
    from boundlab.registry import lookup
    from boundlab.tape import NOTHING, statistics

    name, options, kind, clients, iterations = words[0], json.loads(words[1]), words[2], int(words[3]), int(words[4])
    algorithm, delays = lookup("algorithms", name), delays_from(kind, clients)
    parameters = algorithm.read(Options(name, options))
    policy = algorithm.policy(None, delays)
    many = algorithm.events_for(parameters, clients, iterations) + clients
    events = algorithm.sample(parameters, delays, policy, Streams(5), clients, many)
    tape = algorithm.schedule(parameters, events, clients, NOTHING, iterations)
    last = int(tape.version[-1])

    def read(until: int) -> Callable[[], Any]:
        return lambda: sorted(algorithm.quantities(parameters, tape, until, WINDOW).items())

    found = {str(until): unless_refused(read(until)) for until in sorted({1, 2, last // 2, last} - {0})}
    virtual = algorithm.virtual_iterate(parameters, tape)
    held = None if virtual is None else [virtual.before, virtual.runs.tolist(), virtual.weights.tolist()]
    figures = unless_refused(lambda: algorithm.figures(parameters, tape))
    return rounded({"statistics": statistics(tape).as_dict(), "read": found, "virtual": held, "figures": figures})


def simple(words: Sequence[str]) -> Any:
    """Return what a simple term says at drawn points: values, steps, faces, and what a dual needs of it."""
    from boundlab.objective.simple import read_simple

    option, _, value = words[0].partition("=")
    h = read_simple(Options("h", {option: value}))
    draw, found = random.Random(words[0]), list[Any]()  # noqa: S311
    for place in range(12):
        d = 1 + place % 3
        x, slope = ([Fraction(draw.randrange(-12, 13), 4) for _ in range(d)] for _ in range(2))
        found.append(_simple_at(h, x, slope, Fraction(draw.randrange(1, 9), 4), Fraction(draw.randrange(3), 2)))
    return rounded(found)


def _face(low: Any, high: Any, rates: Any) -> Any:
    """Return which coordinates stand still, and the rates."""
    return [np.flatnonzero(low == high).tolist(), list(map(str, rates))]


def _simple_at(h: Any, x: list[Fraction], slope: list[Fraction], size: Fraction, curvature: Fraction) -> Any:
    from boundlab.arithmetic import numbers
    from boundlab.arithmetic.numbers import EXACT, exact_array

    d = len(x)
    at, along = np.array([float(one) for one in x]), np.array([float(one) for one in slope])
    pull = numbers.ball(1) * exact_array(slope)
    moved = h.prox(at.copy(), float(size))
    parts: dict[str, Callable[[], Any]] = {
        "value": lambda: [h.value(at), h.value(moved)],
        "moved": moved.tolist,
        "exactly": lambda: [text(one) for one in h.prox(exact_array(x), numbers.rational(size), EXACT)],
        "shortest": lambda: [np.asarray(getattr(one, "value", one)).tolist() for one in h.shortest(moved, along)],
        "gap": lambda: h.duality_gap(moved, along, 0.25, 4.0),
        "support": lambda: h.support(np.stack([along, at])).tolist(),
        "set": lambda: None if (one := h.bounded_set(d)) is None else [one.diameter, one.farthest, one.radius],
        "holds": lambda: [h.holds_ball(moved, radius) for radius in (0.125, 1.0)],
        "rate": lambda: h.rate(d),
        "sharpness": lambda: h.sharpness(moved, along),
        "face": lambda: None if (one := h.piece(moved, EXACT)) is None else _face(*one),
        "piece": lambda: None if (one := h.piece(moved)) is None else [end.tolist() for end in one],
        "lowest": lambda: float(h.lowest(pull, numbers.ball(numbers.rational(curvature)))),
        "shrink": lambda: float(h.shrink(pull)),
        "subgradient": lambda: h.holds_at(exact_array(moved.tolist()), exact_array(slope)),
    }
    return {name: unless_refused(ask) for name, ask in parts.items()}


def weighted(words: Sequence[str]) -> Any:
    """Return constants and functions of Σ p_i f_i, as floats, on tensors and exactly."""
    from boundlab.case import problem_from
    from boundlab.objective.weighted import Weighted

    problem = problem_from(words[0])
    sizes = [1 + client % 4 for client in range(problem.n)][:: 1 if words[1] == "rising" else -1]
    p = tuple(Fraction(one, sum(sizes)) for one in sizes)
    scaled = problem.scaled([problem.n * one for one in p])
    if scaled is None:
        return None
    found = Weighted(problem, scaled, p)
    parts: dict[str, Callable[[], Any]] = {
        "constants": lambda: {name: [one.value, one.side] for name, one in sorted(found.constants().items())},
        "assumptions": lambda: sorted(name for name, why in found.assumptions().items() if not why),
        "functions": lambda: said_of(found),
        "tensors": lambda: on_tensors(found),
        "certified": lambda: certified(found),
    }
    return rounded({name: unless_refused(ask) for name, ask in parts.items()})


def certified(problem: Any) -> Any:
    """Return whether the minimum is known to one part in 10⁶; None where that is nearly so."""
    best = problem.optimum()
    gap = best.gap / (NEAR * (1.0 + abs(best.value)))
    return None if 0.1 < gap < 10.0 else bool(gap < 1.0)


def near(words: Sequence[str]) -> Any:
    """Return how well the minimum of a problem is certified."""
    from boundlab.case import problem_from

    return certified(problem_from(words[0]))


def choices(words: Sequence[str]) -> Any:
    """Return which events of a program can come next, with their probabilities, exactly, along some drawn events."""
    from boundlab.registry import lookup

    name, options, clients = words[0], json.loads(words[1]), int(words[2])
    algorithm = lookup("algorithms", name)
    program = algorithm.program(algorithm.read(Options(name, options)), clients)
    return None if program is None else _walked(program, clients, random.Random(words[1]))  # noqa: S311


def _walked(program: Any, clients: int, draw: random.Random) -> Any:
    from boundlab.algorithms import EventLaw

    sizes = [Fraction(1 + place, (clients + 1) * (clients + 2) // 2) for place in range(clients + 1)]
    law = EventLaw(np.array(sizes[:-1], dtype=object), sizes[-1])
    control, found = program.opening()[1], list[Any]()
    for number in range(6):
        coming = program.choices(control, law)
        found.append([[list(event), str(share)] for event, share in coming])
        control = program.event(control, draw.choice(coming)[0], number).control
    return found


def surds(words: Sequence[str]) -> Any:
    """Return sums, products and quotients of drawn numbers a + b·√r."""
    from boundlab.arithmetic.numbers import Surd, rational

    draw, found = random.Random(23), list[Any]()  # noqa: S311
    for _ in range(int(words[0])):
        r = rational(Fraction(draw.choice((2, 3, 5, 7)), draw.choice((1, 3))))
        one, two = (
            Surd(*(rational(Fraction(draw.randrange(-6, 7), draw.randrange(1, 5))) for _ in "ab"), r) for _ in "xy"
        )
        parts = {"sum": lambda x, y: x + y, "less": lambda x, y: x - y, "times": lambda x, y: x * y}
        parts |= {"over": lambda x, y: x / y if y.a or y.b else x, "from": lambda x, _: 2 - x, "under": _under}
        each = {name: do(one, two) for name, do in parts.items()}
        found.append({name: [str(own.a), str(own.b)] for name, own in each.items()})
    return found


def _under(x: Any, _: Any) -> Any:
    return 3 / x if x.a or x.b else x
