"""Benchmarks: our time over the time of a bare loop that does only the unavoidable work, in one run."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from boundlab.algorithms import StepSize
from boundlab.algorithms.area import AREA, AreaParameters
from boundlab.build import build_delays, build_problem
from boundlab.delays import read_policy, sample_events
from boundlab.errors import SpecError
from boundlab.execute.floats import run
from boundlab.metrics import METRICS
from boundlab.objective import Problem
from boundlab.randomness import Streams
from boundlab.tape import RecordAt

_EVENTS = 10**6
_ITERATIONS = 1000  # of the moments


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement.

    Parameters
    ----------
    what, floor
        What is measured, and what the floor does.
    rate, floor_rate
        Units of work a second, the best of the repeats.
    """

    what: str
    floor: str
    rate: float
    floor_rate: float

    @property
    def ratio(self) -> float:
        """Our time over the floor's."""
        return self.floor_rate / self.rate

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "what": self.what, "floor": self.floor, "rate": self.rate, "floor_rate": self.floor_rate,
            "ratio": self.ratio,
        }  # fmt: skip


def measure(problem: Problem, updates: int, repeats: int) -> list[Row]:
    """Measure the executor on a problem with mini-batches, and the sampling of a million events.

    Raises
    ------
    SpecError
        If the problem is not softmax regression with mini-batches.
    """
    features, classes = getattr(problem, "X", None), getattr(problem, "classes", 1)
    if features is None or classes < 2 or not getattr(problem, "batch", 0):
        raise SpecError(f"bench needs softmax regression with mini-batches, got {problem.id}")
    delays = build_delays("exponential", {}, problem.n)
    policy = read_policy("poisson:rate=1", delays)
    events = sample_events(delays, policy, Streams(0), updates)
    tape = AREA.schedule(AreaParameters(StepSize(1e-3), start="analysis"), events, problem.n, RecordAt(), updates)
    count = len(tape.descend.client)
    drawn = problem.oracle(Streams(0)).draws(tape.descend.client, tape.descend.update, 1)
    batches = [np.asarray(rows[0]) for rows in drawn]
    model = np.zeros((features.shape[1], classes), dtype=features.dtype)

    def bare() -> None:
        gathered = np.empty((len(batches[0]), features.shape[1]), dtype=features.dtype)
        out, back = np.empty((len(batches[0]), classes), dtype=features.dtype), np.empty_like(model)
        for rows in batches:
            features.take(rows, 0, gathered, "clip")
            np.matmul(gathered, model, out)
            np.matmul(gathered.T, out, back)

    def ours() -> None:
        run(tape, problem.x0, problem.oracle(Streams(0)), lambda _row, _x: None)

    oracle, clients, state = problem.oracle(Streams(0)), tape.descend.client.tolist(), problem.x0.copy()

    def steps() -> None:
        for client, rows in zip(clients, drawn, strict=True):
            oracle.step(state, client, rows[0], 1e-3)

    arrivals = np.random.Generator(np.random.Philox(0)).random(_EVENTS)
    ours_time, bare_time, steps_time = _paired(repeats, ours, bare, steps)
    sample_time, sort_time = _paired(
        repeats,
        lambda: sample_events(delays, policy, Streams(0), _EVENTS),
        lambda: np.argsort(arrivals, kind="stable"),
    )
    shape = f"d = {problem.d}, b = {len(batches[0])}, {features.dtype}"
    return [
        Row(f"AREA updates ({shape})", "gather and two products", count / ours_time, count / bare_time),
        Row(f"AREA updates ({shape})", "the bare mini-batch steps", count / ours_time, count / steps_time),
        Row(f"sampled events ({_EVENTS})", "one stable argsort", _EVENTS / sample_time, _EVENTS / sort_time),
    ]


def measure_exact(repeats: int) -> list[Row]:
    """Measure the exact engines: 4^8 event sequences of three clients in rational numbers, and moments of 50 clients.

    Raises
    ------
    MissingExtraError
        If python-flint is not installed.
    """
    from boundlab.arithmetic.numbers import rational
    from boundlab.arithmetic.problem import Minimum
    from boundlab.expectation import EventLaw, Walk, by_moments

    quarter = Fraction(1, 4)
    losses = {"c": [[0], [1], [3]], "w": [[1], [2], [1]], "x0": 2}
    model = build_problem("huber", losses).rational(losses)
    assert model is not None  # noqa: S101  (for the type checker)
    parameters = AreaParameters(StepSize(1.0, 5.0), 3)
    best = Minimum([Fraction(1)], Fraction(2, 3))

    three = EventLaw(np.array([quarter] * 3), quarter)

    def enumerate_all() -> None:
        walk = Walk(model, parameters, three, lambda k: rational(Fraction(1, 5 + k)), [])
        walk.expectation(METRICS["ergodic-gap"], best, 8)

    factor = rational(Fraction(5, 7))

    def products() -> None:
        x = factor
        for _ in range(4**8):
            x = factor * factor
        del x

    problem = build_problem("quadratic", {"clients": 50, "dimension": 1, "sigma": 1.0, "x0": 1.0})
    law, last = EventLaw(np.full(50, 0.01), 0.5), np.array([_ITERATIONS])
    square = np.random.Generator(np.random.Philox(1)).random((50, 50))
    kept, out = 1.0 - square, np.empty((50, 50))

    def moments() -> None:
        by_moments(problem, parameters, law, 1.0, METRICS["squared-distance"], last)

    def passes() -> None:
        # What cannot be spared: each of three n×n blocks is scaled and gets one product added.
        for _ in range(3 * _ITERATIONS):
            np.multiply(square, kept, out=out)
            np.add(out, square, out=out)

    walks, multiplied, moved, passed = _paired(repeats, enumerate_all, products, moments, passes)
    return [
        Row("exact sequences (4^8, n = 3)", "one rational product each", 4**8 / walks, 4**8 / multiplied),
        Row("exact moments (n = 50)", "three n×n updates", _ITERATIONS / moved, _ITERATIONS / passed),
    ]


def _paired(repeats: int, *works: Callable[[], object]) -> list[float]:
    """Return the best time of each, measured in turns so that a busy machine slows all of them."""
    best = [float("inf")] * len(works)
    for _ in range(repeats + 1):  # the first round warms up caches and counts like any other: the best is kept
        for place, work in enumerate(works):
            begin = time.perf_counter()
            work()
            best[place] = min(best[place], time.perf_counter() - begin)
    return best
