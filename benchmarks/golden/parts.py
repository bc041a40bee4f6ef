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
from benchmarks.golden.view import plain, rounded
from boundlab.errors import BoundlabError
from boundlab.options import Options

WINDOW = {"N": 2}
NEAR = 1e-6  # of a value: what a certificate of a minimum is held to


def usage(words: Sequence[str]) -> Any:
    """Return what theorems read off a run of some events, over its first server updates, and its statistics."""
    from boundlab.case.build import delays_from
    from boundlab.randomness import Streams
    from boundlab.registry import lookup
    from boundlab.tape import NOTHING, statistics

    name, options, kind, clients, iterations = words[0], json.loads(words[1]), words[2], int(words[3]), int(words[4])
    try:
        algorithm, delays = lookup("algorithms", name), delays_from(kind, clients)
        parameters = algorithm.read(Options(name, options))
        policy = algorithm.policy(None, delays)
        many = algorithm.events_for(parameters, clients, iterations) + clients
        events = algorithm.sample(parameters, delays, policy, Streams(5), clients, many)
        tape = algorithm.schedule(parameters, events, clients, NOTHING, iterations)
    except BoundlabError as error:
        return {"refused": type(error).__name__}
    last = int(tape.version[-1])

    def read(until: int) -> Callable[[], Any]:
        return lambda: sorted(algorithm.quantities(parameters, tape, until, WINDOW).items())

    found = {str(until): unless_refused(read(until)) for until in sorted({1, 2, last // 2, last} - {0})}
    virtual = algorithm.virtual_iterate(parameters, tape)
    held = None if virtual is None else [virtual.before, virtual.runs.tolist(), virtual.weights.tolist()]
    return rounded({"statistics": statistics(tape).as_dict(), "read": found, "virtual": held})


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


def _simple_at(h: Any, x: list[Fraction], slope: list[Fraction], size: Fraction, curvature: Fraction) -> Any:
    from boundlab.arithmetic import numbers

    d = len(x)
    at, along = np.array([float(one) for one in x]), np.array([float(one) for one in slope])
    pull = [numbers.ball(numbers.rational(one)) for one in slope]
    moved = at.copy()
    h.prox(moved, float(size))
    parts: dict[str, Callable[[], Any]] = {
        "value": lambda: [h.value(at), h.value(moved)],
        "moved": moved.tolist,
        "exactly": lambda: [text(one) for one in h.exact_prox(list(map(numbers.rational, x)), numbers.rational(size))],
        "shortest": lambda: [np.asarray(one).tolist() for one in h.shortest(moved, along)],
        "gap": lambda: h.duality_gap(moved, along, 0.25, 4.0),
        "support": lambda: h.support(np.stack([along, at])).tolist(),
        "set": lambda: None if (one := h.bounded_set(d)) is None else [one.diameter, one.farthest, one.radius],
        "holds": lambda: [h.holds_ball(moved, radius) for radius in (0.125, 1.0)],
        "rate": lambda: h.rate(d),
        "sharpness": lambda: h.sharpness(moved, along),
        "face": lambda: None if (one := h.face(moved)) is None else [sorted(one.fixed), list(map(str, one.slope))],
        "piece": lambda: None if (one := h.piece(moved)) is None else [end.tolist() for end in one],
        "lowest": lambda: float(h.lowest(pull, numbers.ball(numbers.rational(curvature)))),
        "shrink": lambda: float(h.shrink(pull)),
        "subgradient": lambda: h.holds_at([Fraction(float(one)) for one in moved], slope),
    }
    return {name: unless_refused(ask) for name, ask in parts.items()}


def weighted(words: Sequence[str]) -> Any:
    """Return constants and functions of Σ p_i f_i, as floats, on tensors and exactly."""
    from boundlab.case.build import problem_from
    from boundlab.objective.weighted import Weighted

    try:
        problem = problem_from(words[0])
        sizes = [1 + client % 4 for client in range(problem.n)][:: 1 if words[1] == "rising" else -1]
        p = tuple(Fraction(one, sum(sizes)) for one in sizes)
        scaled = problem.scaled([problem.n * one for one in p])
    except BoundlabError as error:
        return {"refused": type(error).__name__}
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
    """Return how well the minimum of a problem is certified, and whether it is a constant of the problem."""
    from boundlab.case.build import problem_from

    try:
        return plain(certified(problem_from(words[0])))
    except BoundlabError as error:
        return {"refused": type(error).__name__}
