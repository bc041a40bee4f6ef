"""Theorems that are read off schedules: one tape without noise is one instance, and one tape serves many of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Algorithm
from boundlab.errors import AssumptionError, BoundlabError, SpecError, SymbolError
from boundlab.falsify import _catalog as catalog
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._columns import Columns, rounding, run_columns
from boundlab.formulas.floats import evaluate as expression_value
from boundlab.formulas.symbols import names_of
from boundlab.instance.applicability import check, deviations
from boundlab.instance.schedules import Schedules
from boundlab.instance.settings import own_parameters, split
from boundlab.objective import Optimum, Problem
from boundlab.options import number
from boundlab.randomness import Streams
from boundlab.simulate.trial import compile_trial, spaced_iterations
from boundlab.tape import Tape
from boundlab.theorems import Theorem, derive

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class Bench:
    """One tape of unit local steps, with what the theorem reads off it at several horizons.

    Parameters
    ----------
    ks
        Sorted horizons, shape (points,).
    seen
        What is read off the tape at each of them.
    values
        Symbols that neither problem nor step size changes.
    server
        Rates that are part of the tape.
    """

    theorem: Theorem
    algorithm: Algorithm[Any]
    schedules: Schedules
    tape: Tape
    ks: NDArray[np.int64]
    seen: tuple[dict[str, float], ...]
    values: Mapping[str, Any]
    server: Mapping[str, float]

    @property
    def rate(self) -> str:
        """The name of the local step size."""
        return local_rate(self.theorem)


@final
@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of a bound for B candidates.

    Parameters
    ----------
    ks
        Shape (points,).
    left, right
        Shape (points, B); the right side is inf where the theorem claims nothing.
    last
        Shape (B,): the last server model.
    """

    ks: NDArray[np.int64]
    left: Floats
    right: Floats
    last: Floats

    def best(self) -> tuple[Floats, NDArray[np.int64]]:
        """Return the largest left/right of each candidate and the place of its horizon, shape (B,) each."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(np.isfinite(self.right) & ~np.isnan(self.left), self.left / self.right, 0.0)
        ratio = np.where(np.isnan(ratio), 0.0, ratio)
        place = ratio.argmax(axis=0)
        return ratio[place, np.arange(ratio.shape[1])], place


def local_rate(theorem: Theorem) -> str:
    """Return the symbol of the local step size.

    Raises
    ------
    SpecError
        If the theorem sets none that is known here.
    """
    known = catalog.algorithm(theorem.algorithm).local_rates
    for name in theorem.step:
        if name in known:
            return name
    raise SpecError(
        f"{theorem.id} sets {', '.join(theorem.step)}; the search knows local step sizes named {', '.join(known)}"
    )


def server_rates(theorem: Theorem) -> list[str]:
    """Return the rates that the theorem sets and that are part of the tape."""
    local = catalog.algorithm(theorem.algorithm).local_rates
    return [name for name in theorem.step if name not in local]


def make_bench(theorem: Theorem, candidate: Candidate, ks: Sequence[int] | None = None) -> Bench:
    """Compile the tape of a candidate's schedule.

    Parameters
    ----------
    ks
        Horizons; by default about a dozen, or the longest alone where the theorem is about one.

    Raises
    ------
    AssumptionError
        If problem, delays or options do not fit the theorem.
    BoundlabError
        If settings, delays and clients do not fit each other.
    """
    algorithm = catalog.algorithm(theorem.algorithm)
    problem = candidate.build()
    chosen, symbols = split(theorem, algorithm, candidate.settings)
    values: dict[str, Any] = {"n": problem.n, **{name: int(number(value, name)) for name, value in symbols.items()}}
    for parameter, (name, value) in own_parameters(theorem, algorithm, chosen, {}).items():
        chosen[parameter] = values[name] = value
    delays, policy = catalog.delays(candidate.delays, problem.n, algorithm)
    first = Schedules(theorem, algorithm, problem.n, delays, policy, candidate.iterations, 0, chosen)
    check(theorem, problem, algorithm, first.parameters, delays, policy, ())
    deviations(theorem, algorithm, chosen, ())
    horizon = first.horizon(values)
    if horizon < 1:
        raise AssumptionError("the window is longer than the run")
    server = {}
    if server_rates(theorem):
        known = {**values, **_problem_values(theorem, problem), theorem.counter: horizon}
        step = theorem.step_options({**first.read(first.tape(0), horizon, values), **known})
        server = {name: step[name] for name in server_rates(theorem)}
    schedules = replace(first, chosen={**chosen, **server})
    start = theorem.start
    if theorem.horizon == "fixed":
        points = np.array([horizon])
    elif ks is None:
        points = spaced_iterations(horizon, 1)
    else:
        points = np.array([k for k in ks if start <= k <= horizon], dtype=np.int64)
    tape = compile_trial(
        algorithm, schedules.parameters, problem.n, delays, policy, candidate.iterations,
        theorem.left.records(points), Streams(0, 0),
    )  # fmt: skip
    seen = tuple(schedules.read_at(tape, points, values))
    return Bench(theorem, algorithm, schedules, tape, points, seen, values, server)


def _problem_values(theorem: Theorem, problem: Problem) -> dict[str, float]:
    """Return the certified constants that the theorem reads."""
    read = {*theorem.inputs(), *theorem.settable}
    return {name: one.value for name, one in problem.constants().items() if name in read}


def _constants(theorem: Theorem, candidates: Sequence[Candidate]) -> list[tuple[dict[str, float], Optimum]]:
    """Return the constants and the optimum of each candidate, computed once a problem."""
    known: dict[str, tuple[dict[str, float], Optimum]] = {}
    for one in candidates:
        key = one.problem_spec()
        if key not in known:
            problem = one.build()
            known[key] = _problem_values(theorem, problem), problem.optimum()
    return [known[one.problem_spec()] for one in candidates]


def evaluate(bench: Bench, candidates: Sequence[Candidate]) -> Sides:
    """Return both sides for candidates without noise that share the schedule of a bench."""
    theorem = bench.theorem
    both = _constants(theorem, candidates)
    known = [own for own, _ in both]
    sizes = np.array([step_size(bench, one, own) for one, own in zip(candidates, known, strict=True)])
    columns = Columns.of([one.problem for one in candidates], np.where(np.isfinite(sizes), sizes, 0.0))
    x0 = np.array([float(one.problem["x0"]) for one in candidates])
    left, last = run_columns(bench.tape, columns, x0, theorem.left, bench.ks, [best for _, best in both])
    left -= np.array([rounding(theorem.left, one.problem, int(bench.ks[-1])) for one in candidates])
    return Sides(bench.ks, left, right_sides(bench, known, sizes), last)


def right_sides(bench: Bench, known: Sequence[Mapping[str, float]], sizes: Floats) -> Floats:
    """Return the bound for problems with these constants and step sizes, shape (points, B); inf where there is none."""
    theorem = bench.theorem
    arrays: dict[str, Any] = {name: np.array([own[name] for own in known]) for name in known[0]}
    if bench.rate in theorem.settable or bench.rate in theorem.inputs():
        arrays[bench.rate] = sizes
    right = np.full((len(bench.ks), len(sizes)), np.inf)
    usable = np.flatnonzero(np.isfinite(sizes))
    order = usable[np.argsort(sizes[usable], kind="stable")]
    for row, k in enumerate(bench.ks.tolist()):
        base = {**bench.seen[row], **bench.values, theorem.counter: k}
        _bounds(theorem, base, arrays, order[_admissible(theorem, base, arrays, order)], right[row])
    return right


def _admissible(
    theorem: Theorem, base: Mapping[str, Any], arrays: Mapping[str, Any], order: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which columns meet the conditions, as far as these have a value."""
    met = np.ones(len(order), dtype=np.bool_)
    known = {**base, **{name: value[order] for name, value in arrays.items()}}
    try:
        names = set().union(*(names_of(one.quantity) | names_of(one.limit) for one in theorem.conditions))
        found = derive(theorem, known, names, 1)
        for one in theorem.conditions:
            sides = (expression_value(side, found, one.statement) for side in (one.quantity, one.limit))
            quantity, limit = (np.broadcast_to(side, met.shape) for side in sides)
            met &= ~(quantity > limit * (1.0 + 1e-12))
    except BoundlabError:
        return met  # the bound itself will say what is wrong
    return met


def step_size(bench: Bench, candidate: Candidate, own: Mapping[str, float]) -> float:
    """Return the local step size: chosen, or the theorem's own for the longest horizon; nan where there is none."""
    theorem = bench.theorem
    if not bench.server and bench.rate in candidate.step:
        return candidate.step[bench.rate]
    known = {**bench.seen[-1], **bench.values, **own, theorem.counter: int(bench.ks[-1])}
    try:
        step = theorem.step_options({**known, **candidate.step})
    except BoundlabError:
        return float("nan")
    # Another problem may make other rates of the server, for which this tape is not the one.
    return step[bench.rate] if all(step[name] == value for name, value in bench.server.items()) else float("nan")


def _bounds(
    theorem: Theorem, base: Mapping[str, Any], arrays: Mapping[str, Any], order: NDArray[np.int64], out: Floats
) -> None:
    """Fill in the right side, halving the columns until those that break a condition stand alone."""
    if not len(order):
        return
    try:
        columns = {name: value[order] for name, value in arrays.items()}
        found = theorem.evaluate({**base, **columns}, exactly=True)
    except (AssumptionError, SymbolError):
        if len(order) > 1:
            half = len(order) // 2
            _bounds(theorem, base, arrays, order[:half], out)
            _bounds(theorem, base, arrays, order[half:], out)
        return
    out[order] = np.broadcast_to(found.total, order.shape)
