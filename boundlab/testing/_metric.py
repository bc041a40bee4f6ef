"""All checks of one metric."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.case.build import build_problem
from boundlab.execute.floats import run
from boundlab.formulas.symbols import SYMBOLS
from boundlab.metrics import Certified, Metric, Series, Watch
from boundlab.objective import Problem
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.tape import Tape
from boundlab.testing._check import Check, at_most, equal, expect, named, spoken

Floats = NDArray[np.float64]
_HORIZON = 9
_BOWLS: dict[str, Any] = {"A": [[[2, 0], [0, 1]], [[1, 0], [0, 3]]], "b": [[0, 1], [3, -1]], "x0": [1, 2]}
_POINTS = ([1.0, 2.0], [-3.0, 0.5], [0.0, 0.0], [4.0, -5.0])


def checks(m: Metric) -> Iterator[Check]:
    """Return the checks."""
    return named(f"metric {m.id}", _CHECKS, m)


def _words(m: Metric) -> None:
    spoken(m, "id", "label", "symbol", "expectation", "latex")
    expect(m.counter in ("K", "T") and m.counter in SYMBOLS, f"counter must be K or T, got {m.counter!r}")
    expect(isinstance(m.first, int) and m.first >= 0, f"first must be an integer ≥ 0, got {m.first!r}")


@cache
def _problem(c: float = 1.0, s: float = 1.0) -> Problem:
    """Return c·f(x/s) from s·x0, of two bowls."""
    scaled = {"A": c / s**2 * np.array(_BOWLS["A"]), "b": s * np.array(_BOWLS["b"]), "x0": s * np.array(_BOWLS["x0"])}
    return build_problem("quadratic", {name: value.tolist() for name, value in scaled.items()})


def _tape(m: Metric, ks: list[int], step: float = 0.1) -> Tape:
    """Return a run of asynchronous SGD that shows what the left sides at ks need."""
    algorithm = lookup("algorithms", "async_sgd")
    events = algorithm.read_events([[time, (time * time) % 3 % 2] for time in range(1, _HORIZON + 1)], 2, m.id)
    tape: Tape = algorithm.schedule(algorithm.parameter_type(step), events, 2, m.records(ks), max(ks))
    return tape


def _left(m: Metric, ks: list[int], problem: Problem, step: float = 0.1) -> Floats:
    """Return the left sides at ks, shape (len(ks),)."""
    watch = Watch(m, problem, np.array(ks))
    run(_tape(m, ks, step), problem.x0, problem.oracle(Streams(0)), watch)
    expect(np.isfinite(watch.low).all(), f"a run of {max(ks)} iterations has no left side at {ks}")
    at_most("the lower end of the left side ≤ the upper end", watch.low, watch.high)
    return (watch.low + watch.high) / 2.0


def _horizon(m: Metric) -> list[int]:
    return sorted({m.first, m.first + 1, 4, _HORIZON})


def _records(m: Metric) -> None:
    """Check that a run shows as many records as left sides take, none of them after its horizon."""
    ks = _horizon(m)
    asked, complete = m.records(ks), m.over.complete(np.array(ks))
    expect(asked.average == m.over.averages_iterates, "averages_iterates is not what its records ask for")
    expect(np.shape(complete) == (len(ks),), f"complete() has shape {np.shape(complete)}, not (points,)")
    if m.over.one_record:
        places = list(range(1, len(ks) + 1))
        expect(complete.tolist() == places, f"one_record, but left sides take {complete.tolist()} records")


def _horizons(m: Metric) -> None:
    ks, problem = _horizon(m), _problem()
    together = _left(m, ks, problem)
    for k, found in zip(ks, together.tolist(), strict=True):
        alone = float(_left(m, [k], problem)[0])
        equal(f"the left side at {k} among others and in a run of its own", found, alone, scale=1e-3)


def _shares(m: Metric) -> None:
    """Check left sides against weighted sums of numbers that records might show."""
    expect(m.is_mean == (m.over.share(max(m.first, 1)) is not None), "is_mean does not say whether share() does")
    for k in _horizon(m):
        count = int(m.over.complete(np.array([k]))[0])
        values = np.random.Generator(np.random.Philox(k)).uniform(1.0, 2.0, size=count)
        series, doubled = Series(m, np.array([k])), Series(m, np.array([k]))
        for value in values:
            series.add(value)
            doubled.add(2.0 * value)
        equal(
            f"the left side at {k} of doubled records and twice that of the records",
            doubled.values,
            2.0 * series.values,
        )
        share = m.over.share(k) if m.is_mean else None
        if share is not None:
            what = f"the left side at {k} and share({k}) = {share} times the sum of its {count} records"
            equal(what, series.values[0], float(share) * values.sum())


def _quantity(m: Metric) -> None:
    """Compare the quantity at points and by second moments."""
    problem = _problem()
    center, hessian = problem.optimum().x, np.mean(_BOWLS["A"], axis=0)
    floats = Certified(problem)
    for x in map(np.array, _POINTS):
        low, high = m.at(floats, x)
        away = x - center
        moment = float(m.of_second_moment(hessian[None], np.outer(away, away)[None]))
        at_most(f"the quantity at {x.tolist()} from below ≤ by second moments", low, moment, scale=1.0)
        at_most(f"the quantity at {x.tolist()} by second moments ≤ from above", moment, high, scale=1.0)


def _units(m: Metric) -> None:
    """Check left sides under f → c·f and x → s·x, with steps that make the same run."""
    a, b = m.units
    ks = _horizon(m)
    plain = _left(m, ks, _problem())
    for c, s in ((3.0, 1.0), (1.0, 2.0), (0.25, 4.0)):
        found = _left(m, ks, _problem(c, s), 0.1 * s**2 / c)
        what = f"left sides for c·f(x/s), c = {c:g}, s = {s:g}, and c^{a}·s^{b} times those for f"
        equal(what, found, c**a * s**b * plain, rounding=1e-6)


_CHECKS: Mapping[str, Callable[[Metric], None]] = {
    "its words are there": _words,
    "a run shows the records that it asks for": _records,
    "each horizon has the left side of a run of its own": _horizons,
    "share gives the weights of the records": _shares,
    "points and second moments give one quantity": _quantity,
    "left sides change with the units of f and x": _units,
}
