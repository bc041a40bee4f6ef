"""The runs behind a candidate: one tape, or one for each sequence of events, that serve many candidates."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import sha256
from itertools import chain, islice
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from boundlab.algorithms import Algorithm, Event
from boundlab.delays import frequencies
from boundlab.errors import AssumptionError, BoundlabError, SpecError, SymbolError
from boundlab.execute.floats import run
from boundlab.expectation import event_law, event_sequences, why_no_law
from boundlab.falsify import _candidate as catalog
from boundlab.falsify._candidate import (
    Candidate,
    Columns,
    Layout,
    local_rate,
    rounding,
    run_columns,
    server_rates,
)
from boundlab.falsify._families import sides
from boundlab.instance.applicability import check, deviations, looked_at
from boundlab.instance.plan import begun
from boundlab.instance.readings import formulas_at, left_side
from boundlab.instance.schedules import Schedules, at_options, filled, kept_by_all, own_parameters, split
from boundlab.metrics import Metric, Series, range_of, terms_of
from boundlab.objective import Array, Optimum, Oracle, Problem, by_client
from boundlab.options import number
from boundlab.randomness import Floats, Ints, Streams
from boundlab.simulate.work import compile_trial, spaced_iterations
from boundlab.tape import NOTHING, RecordAt, Tape
from boundlab.theorems import Theorem, over

SEQUENCES = 256  # event sequences that a mean is taken over


@final
@dataclass(frozen=True, slots=True)
class SharedRun:
    """Tapes of unit local steps with their probabilities, and what the theorem reads off them at several horizons.

    Parameters
    ----------
    left
        The left side, with the numbers of its weights.
    tapes
        One, or one for each sequence of independent events.
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
    left: Metric
    algorithm: Algorithm[Any]
    tapes: tuple[tuple[Tape, float], ...]
    ks: Ints
    seen: tuple[Mapping[str, float], ...]
    values: Mapping[str, Any]
    server: Mapping[str, float]

    @property
    def rate(self) -> str:
        """The name of the local step size."""
        return local_rate(self.theorem)

    @property
    def fingerprint(self) -> bytes:
        """Digest shared only by runs that do the same, at whatever times they do it."""
        read = repr((self.ks.tolist(), self.seen, sorted(self.server.items())))
        parts = [read.encode()]
        for tape, _ in self.tapes:
            of, at = tape.affine, tape.descend
            parts += [
                part.tobytes() for part in (tape.op, of.dst, of.start, of.src, of.coef, at.dst, at.src, at.client)
            ]
            parts += [part.tobytes() for part in (at.steps, at.step_size, tape.local, tape.record.src)]
        return sha256(b"".join(parts)).digest()


def make_shared_run(theorem: Theorem, candidate: Candidate, ks: Sequence[int] | None = None) -> SharedRun:
    """Compile the tapes of a candidate.

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
    problem = looked_at(theorem, candidate.build())
    options, symbols = split(theorem, algorithm, candidate.settings)
    values: dict[str, Any] = {"n": problem.n, **{name: int(number(value, name)) for name, value in symbols.items()}}
    delays, policy = catalog.delays(candidate.delays, problem.n, theorem.algorithm)
    first = Schedules(theorem, algorithm, problem.n, delays, policy, candidate.iterations, 0, dict(options))
    check(theorem, problem, algorithm, first.parameters, delays, policy, ())
    deviations(theorem, algorithm, options, ())
    if theorem.rule is not None:
        known = {**values, **problem_values(theorem, problem), **candidate.step}
        filled(theorem, algorithm, options, known, partial(first.measured, values))
        first = replace(first, chosen=dict(options))
    theorem = at_options(theorem, algorithm, options, first.one_tape)
    first = replace(first, theorem=theorem)
    horizon = first.horizon(values)
    if horizon < min(1, theorem.first_iteration):
        raise AssumptionError("the window is longer than the run")
    if algorithm.server == "any":
        values["p"], values["p_s"] = frequencies(delays, policy)
    shown = _shown(theorem, horizon, ks)
    events = None if algorithm.server == "any" else first.tape(0, shown)
    scheduled = {} if events is None else first.read(events, horizon, values)
    for parameter, (name, value) in own_parameters(theorem, algorithm, options, scheduled).items():
        options[parameter] = values[name] = value
    unread = theorem.unused(values)
    values = {name: value for name, value in values.items() if name not in unread}
    server = {}
    if server_rates(theorem):
        known = {**values, **problem_values(theorem, problem), **candidate.step, theorem.horizon_symbol: horizon}
        step = theorem.step_options({**scheduled, **known})
        server = {name: step[name] for name in server_rates(theorem)}
    behind = theorem.read_by(theorem.rule_reads, values) & scheduled.keys()
    schedules = replace(first, chosen={**options, **server}, pinned={name: scheduled[name] for name in behind})
    points = points_of(theorem, horizon, ks)
    left = left_side(theorem, partial(formulas_at, theorem, values, ()), int(points[-1]))
    points = begun(theorem, left, points)
    runs: tuple[tuple[Tape, float], ...]
    if events is None or shown is NOTHING or schedules.parameters != first.parameters or several(schedules):
        runs = tuple(tapes(schedules, left.records(points)))
    else:  # the run is the one that was made to read off it
        runs = ((events, 1.0),)
    if events is None:
        seen: tuple[Mapping[str, float], ...] = ({},) * len(points)
    else:
        # A statement about the mean over schedules takes limits that all of them keep.
        seen = tuple(kept_by_all(theorem, [schedules.read_at(tape, points, values) for tape, _ in runs]))
        seen = tuple({**own, **schedules.pins(own)} for own in seen)
    return SharedRun(theorem, left, algorithm, runs, points, seen, values, server)


def _shown(theorem: Theorem, horizon: int, ks: Sequence[int] | None) -> RecordAt:
    """Return what a run shall show; nothing where the left side reads numbers that come with the run."""
    left = theorem.left
    if range_of(left) is not None or terms_of(left):
        return NOTHING
    try:
        return left.records(begun(theorem, left, points_of(theorem, horizon, ks)))
    except SpecError:  # whoever asks for it once more says so
        return NOTHING


def points_of(theorem: Theorem, horizon: int, ks: Sequence[int] | None) -> Ints:
    """Return the horizons to look at, sorted.

    Raises
    ------
    SpecError
        If none is left.
    """
    if theorem.horizon == "fixed":
        return np.array([horizon])
    if ks is None:
        ks = spaced_iterations(max(1, horizon), theorem.first_iteration).tolist()
    found = np.array([k for k in ks if theorem.first_iteration <= k <= horizon], dtype=np.int64)
    if not len(found):
        raise SpecError("no horizon is left to look at")
    return found


def tapes(schedules: Schedules, records: RecordAt) -> Iterator[tuple[Tape, float]]:
    """Yield tapes with their probabilities: one where the theorem is about each schedule, or where there is one.

    Raises
    ------
    SpecError
        If events are not those of the algorithm's program, or there are too many sequences of them.
    """
    who, parameters, n, last = schedules.algorithm, schedules.parameters, schedules.clients, schedules.iterations
    delays, policy = schedules.delays, schedules.policy
    if not several(schedules):
        yield compile_trial(who, parameters, n, delays, policy, last, records, Streams(0, 0)), 1.0
        return
    program = who.program(parameters, n)
    reason = f"{who.id} has no one-event program" if program is None else ""
    if program is None or (reason := why_no_law(program, delays, policy)):
        raise SpecError(f"the mean over {over(schedules.theorem).words} is not enumerated: {reason}")
    sequences = list(islice(event_sequences(program, event_law(delays, policy), last), SEQUENCES + 1))
    if len(sequences) > SEQUENCES:
        raise SpecError(f"more than {SEQUENCES} sequences of events are too many for a search")
    asked = None if records.iterations is None else tuple(records.iterations.tolist())
    for events, weight in sequences:
        yield _drawn(who, parameters, n, last, tuple(events), asked, replace(records, iterations=None)), weight


@lru_cache(maxsize=2048)
def _drawn(
    who: Algorithm[Any],
    parameters: Any,
    clients: int,
    last: int,
    events: tuple[Event, ...],
    asked: tuple[int, ...] | None,
    records: RecordAt,
) -> Tape:
    """Compile a sequence of events, whatever its probability is; ``asked``: the iterations to show."""
    shown = replace(records, iterations=None if asked is None else np.array(asked, dtype=np.int64))
    return who.schedule(parameters, who.drawn_events(parameters, events), clients, shown, last)


def several(schedules: Schedules) -> bool:
    """Return whether the mean is one over several tapes; it is not where the order of arrivals has no influence.

    Where everybody waits for everybody, every order makes the same sums.
    """
    parameters = schedules.parameters
    together = getattr(parameters, "reply", "") == "wait" and getattr(parameters, "count", None) == schedules.clients
    return schedules.averaged and not together


def problem_values(theorem: Theorem, problem: Problem) -> dict[str, Any]:
    """Return the certified constants that the theorem reads."""
    read, found = theorem.takes, problem.constants()
    return {name: found[name].value for name in read if name in found} | by_client(problem, read)


def constants(theorem: Theorem, candidates: Sequence[Candidate]) -> list[tuple[dict[str, Any], Optimum]]:
    """Return the constants and the optimum of each candidate, computed once a problem."""
    problems = [one.build() for one in candidates]
    known: dict[int, tuple[dict[str, Any], Optimum]] = {}
    for one in problems:  # equal options make the same object
        if id(one) not in known:
            problem = looked_at(theorem, one)
            known[id(one)] = problem_values(theorem, problem), problem.optimum()
    return [known[id(one)] for one in problems]


# Gaussian noise on a tape, exactly: each register is a mean and the coefficients of all noise that entered it.
#
# On the quadratic part of a Huber function a run is linear in its noise. A run that leaves this part with a probability
# of at most P has E q(x) of at least (1 − √(3P)) times what the linear run has, where q is a square or a sum of squares
# of linear functions: a Gaussian y has E y⁴ ≤ 3(E y²)², so that E y²·1{left} ≤ √(3P)·E y² (Cauchy and Schwarz), and
# what the run does after it has left only adds. Noise of two signs has the same second moments; P is 0 or not known.

LARGEST = 400_000_000  # coefficients that all steps of a run change
_ENTRIES = 40_000_000  # the same of a run for many candidates


@final
@dataclass(slots=True)
class LinearRun(Oracle):
    """Gradients w_i·(x − c_i) + noise on C columns, each a mean and the coefficients of N noises of unit variance.

    Parameters
    ----------
    step_sizes, deviations
        Shape (C,): the step size, and the standard deviation of the noise in this coordinate.
    watch
        Is told each point at which a gradient is taken, with the centres of its client, shape (1, C); None: nobody
        asks.
    """

    layout: Layout
    step_sizes: Floats
    deviations: Floats
    watch: Callable[[Array, Floats], object] | None
    taken: int = 0

    def draws(self, clients: Ints, updates: Ints, steps: int) -> Any:
        """Return the number of each noise."""
        first = self.taken + 1
        self.taken += len(clients) * steps
        return np.arange(first, self.taken + 1).reshape(-1, steps)

    def draw_size(self, steps: int) -> int:
        """Return one number a step."""
        return steps

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one step, and remember how far from the centre its gradient was taken."""
        at = self.layout
        each = x.reshape(len(at.x0), -1)
        if self.watch is not None:
            self.watch(each, at.c[client : client + 1])
        a = step_size * self.step_sizes
        each *= (1.0 - a * at.w[client])[:, None]
        each[:, 0] += a * at.w[client] * at.c[client]
        each[:, int(draw)] -= a * self.deviations


def apart(each: Array, centres: Floats, *, signs: bool) -> list[Floats]:
    """Return |mean of x − centre| for some centres, each with the standard deviation of x, shape (3, C).

    Parameters
    ----------
    signs
        Whether the third row is what all noise of one sign adds; else nobody asks, and it is 0.
    """
    spread = deviation(each)
    most = np.abs(each[:, 1:]).sum(axis=1) if signs else np.zeros_like(spread)
    return [np.array([np.abs(each[:, 0] - centre), spread, most]) for centre in centres]


def deviation(each: Array) -> Floats:
    """Return the standard deviation of x, shape (C,)."""
    return np.asarray(np.sqrt((each[:, 1:] ** 2).sum(axis=1)))


def noisy_left_side(
    shared: SharedRun, candidates: Sequence[Candidate], layout: Layout, steps: Floats
) -> tuple[Floats, Floats]:
    """Return the left sides, from below, shape (points, B), and √(3P), shape (B,).

    Raises
    ------
    SpecError
        If a run is too long, or its left side is no mean of what the run shows.
    """
    metric, ks = shared.left, shared.ks
    if not (metric.from_expectations and metric.quantity.of_model):
        raise SpecError(
            f"{shared.theorem.metric} is not a mean of recorded quantities: moments do not determine its expectation"
        )
    if any(one.problem["type"] == "lad" for one in candidates) or any(len(tape.implicit) for tape, _ in shared.tapes):
        raise SpecError("noise is carried along on quadratic parts only")
    slope = layout.w.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.where(slope > 0.0, (layout.w * layout.c).sum(axis=0) / layout.w.sum(axis=0), 0.0)
    weight = metric.of_matrix(1.0, slope)
    signs = np.array([one.problem.get("noise") == "sign" for one in candidates])
    if any(one.dimension > 1 for one, sign in zip(candidates, signs, strict=True) if sign):
        raise SpecError("noise of two signs is carried along in one dimension only")
    total = np.zeros((len(ks), len(candidates)))
    most = np.zeros(len(candidates))
    watched = any(one.problem["type"] == "huber" for one in candidates)
    for tape, share in shared.tapes:
        series = Series(metric, ks, layout.first.shape)
        # The quadratic part must hold its own minimiser, too.
        still = np.zeros_like(centre)
        away = [np.array([np.abs(centre - one), still, still]) for one in layout.c]

        def watch(each: Array, centres: Floats, away: list[Floats] = away) -> None:
            away.extend(apart(each, centres, signs=bool(signs.any())))

        def observe(_row: int, x: Array, series: Series = series, watch=watch) -> None:  # type: ignore[no-untyped-def]
            each = x.reshape(len(layout.x0), -1)
            if watched:
                watch(each, layout.c)
            second = (each[:, 0] - centre) ** 2 + (each[:, 1:] ** 2).sum(axis=1)
            series.add(layout.each(weight * second))

        run(tape, _start(layout, tape), _linear(tape, candidates, layout, steps, watch if watched else None), observe)
        lost = _lost(np.array(away), layout, signs) if watched else np.zeros(len(candidates))
        total += share * series.values * np.maximum(0.0, 1.0 - lost)
        most = np.maximum(most, lost)
    return total, most


def widest(shared: SharedRun, candidates: Sequence[Candidate], sizes: Floats) -> Floats:
    """Return the largest standard deviation of a point at which a gradient is taken or a model shown, shape (B,).

    Raises
    ------
    SpecError
        If a run is too long for one of them.
    """
    layout = Layout.of(candidates)
    columns, found = len(layout.x0), np.zeros(len(candidates))
    for tape, _ in shared.tapes:
        spread = np.zeros(columns)

        def watch(each: Array, _: object, spread: Floats = spread) -> None:
            np.maximum(spread, deviation(each), out=spread)

        linear = _linear(tape, candidates, layout, sizes[layout.owner], watch)
        run(tape, _start(layout, tape), linear, lambda row, x, watch=watch: watch(x.reshape(columns, -1), row))  # type: ignore[misc]
        found = np.fmax(found, np.maximum.reduceat(spread, layout.first))
    return found


def at_once(shared: SharedRun) -> int:
    """Return with how many columns runs take little more time than with one."""
    return max(1, _ENTRIES // max(int(tape.descend.steps.sum()) ** 2 for tape, _ in shared.tapes))


def _linear(
    tape: Tape,
    candidates: Sequence[Candidate],
    layout: Layout,
    steps: Floats,
    watch: Callable[[Array, Floats], object] | None,
) -> LinearRun:
    noises = int(tape.descend.steps.sum())
    if noises**2 * len(layout.x0) > LARGEST:
        raise SpecError(f"{noises} noises are too many to keep apart")
    sizes = np.bincount(layout.owner)
    sigma = np.array([float(one.problem["sigma"]) for one in candidates])
    return LinearRun(layout, steps, (sigma / np.sqrt(sizes))[layout.owner], watch)


def _start(layout: Layout, tape: Tape) -> Floats:
    x0 = np.zeros((len(layout.x0), int(tape.descend.steps.sum()) + 1))
    x0[:, 0] = layout.x0
    return x0.reshape(-1)


def _lost(away: Floats, layout: Layout, signs: NDArray[np.bool_]) -> Floats:
    """Return √(3P), where P bounds the probability that a problem's run leaves its quadratic part.

    Parameters
    ----------
    signs
        Shape (B,): whether the noise has two signs, which a run may meet in any order; else it is normal.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        room = (layout.delta - away[:, 0]) / away[:, 1]
    # Without spread a point is within or it is not.
    room = np.where(np.isnan(room), -np.inf, room)
    tail = layout.each(np.asarray((2.0 * ndtr(-room)).sum(axis=0)))
    beyond = layout.each(np.asarray((away[:, 0] + away[:, 2] > layout.delta).any(axis=0), dtype=np.float64))
    return np.asarray(np.sqrt(3.0 * np.minimum(1.0, np.where(signs, beyond, tail))))


# Both sides of a bound for many candidates that share their runs.

# Ratios that are looked at closely: floats that are equal but for their last digits are not.
PROMISING = 1.0 + 1e-9
_LARGEST = 1e60  # of a left side: what a diverging run shows beyond is no number to compare with


@final
@dataclass(frozen=True, slots=True)
class CandidateSides:
    """Both sides of a bound for B candidates.

    Parameters
    ----------
    ks
        Shape (points,).
    left, right
        Shape (points, B); the right side is inf where the theorem claims nothing.
    last
        Where each run ended, one array a candidate; empty where there is no one run.
    lost
        Shape (B,): √(3P) where the left side is a lower limit, see :mod:`boundlab.falsify._shared_runs`; else 0.
    """

    ks: Ints
    left: Floats
    right: Floats
    last: Sequence[Floats]
    lost: Floats

    def best(self) -> tuple[Floats, Ints]:
        """Return the largest left/right of each candidate and the place of its horizon, shape (B,) each.

        The ratio is −1 where the theorem claims nothing at any horizon, inf where it claims something below 0. At K = 0
        no run is looked at, and many a bound is attained: beside other horizons it counts where the bound is exceeded.
        """
        told = np.isfinite(self.right) & (np.abs(self.left) < _LARGEST)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            ratio = np.maximum(self.left / self.right, 0.0)
        ratio = np.where(np.isnan(ratio), 0.0, ratio)
        # No left side is below 0.
        ratio = np.where(self.right < 0.0, np.inf, ratio)
        aside = (self.ks == 0)[:, None] & (len(self.ks) > 1) & (ratio <= PROMISING)
        ratio = np.where(told & ~aside, ratio, -1.0)
        place = ratio.argmax(axis=0)
        return ratio[place, np.arange(ratio.shape[1])], place


def evaluate(shared: SharedRun, candidates: Sequence[Candidate]) -> CandidateSides:
    """Return both sides for candidates that share their runs; all with noise, or all without.

    Raises
    ------
    BoundlabError
        If a left side is not known.
    """
    theorem = shared.theorem
    both = constants(theorem, candidates)
    known = [own for own, _ in both]
    if len({frozenset(own) for own in known}) > 1:
        raise SpecError("problems that have different constants are looked at one by one")
    sizes = np.array([step_size(shared, one, own) for one, own in zip(candidates, known, strict=True)])
    right = right_sides(shared, candidates, known, sizes)
    if theorem.read_by(theorem.step) & set(shared.seen[-1]):
        # The theorem's own step for the whole schedule is not the one for a part of it.
        right[:-1, [shared.rate not in one.step for one in candidates]] = np.inf
    left, lost = np.zeros_like(right), np.zeros(len(candidates))
    last = [np.empty(0)] * len(candidates)
    places = np.flatnonzero(np.isfinite(right).any(axis=0)).tolist()
    if places:  # only these are worth a run
        some = [candidates[place] for place in places]
        found = _left_sides(shared, some, sizes[places], [both[place][1] for place in places])
        left[:, places], lost[places], ends = found
        for place, end in zip(places, ends, strict=True):
            last[place] = end
    return CandidateSides(shared.ks, left, right, last, lost)


def _left_sides(
    shared: SharedRun, candidates: Sequence[Candidate], sizes: Floats, optima: Sequence[Optimum]
) -> tuple[Floats, Floats, Sequence[Floats]]:
    """Return left sides, shape (points, B), √(3P), shape (B,), and where each run ended."""
    metric, layout = shared.left, Layout.of(candidates)
    steps = sizes[layout.owner]
    ends = [np.empty(0)] * len(candidates)
    if candidates[0].noisy:
        return *noisy_left_side(shared, candidates, layout, steps), ends
    left = np.zeros((len(shared.ks), len(candidates)))
    for tape, weight in shared.tapes:
        each, end = run_columns(tape, Columns(layout, steps), metric, shared.ks, optima)
        left += weight * each
        ends = np.split(end, layout.first[1:]) if len(shared.tapes) == 1 else ends
    left -= np.array([rounding(metric, one, int(shared.ks[-1])) for one in candidates])
    return left, np.zeros(len(candidates)), ends


def right_sides(
    shared: SharedRun, candidates: Sequence[Candidate], known: Sequence[Mapping[str, Any]], sizes: Floats
) -> Floats:
    """Return the bound for problems with these constants and step sizes, shape (points, B); inf where there is none."""
    theorem = shared.theorem
    vectors = {name: value for name, value in known[0].items() if np.ndim(value)}
    if vectors and len(known) > 1:  # one number per client is no number per candidate
        apiece = zip(candidates, known, sizes.reshape(-1, 1), strict=True)
        return np.hstack([right_sides(shared, [one], [own], size) for one, own, size in apiece])
    points, count = len(shared.ks), len(sizes)
    own: dict[str, Any] = {name: np.array([one[name] for one in known]) for name in known[0].keys() - vectors}
    chosen = [name for name in candidates[0].step if name in theorem.open_rates]
    own |= {name: np.array([one.step[name] for one in candidates]) for name in chosen}
    if shared.rate in theorem.takes:
        own[shared.rate] = sizes
    # One column for each candidate at each horizon, horizon by horizon.
    seen = {name: [one.get(name, np.nan) for one in shared.seen] for name in dict.fromkeys(chain(*shared.seen))}
    read = {name: value for name, value in shared.server.items() if name in theorem.free()}
    base = {**shared.values, **vectors, **read}
    columns: dict[str, Any] = {name: np.repeat(value, count) for name, value in seen.items() if name not in base}
    columns |= {theorem.horizon_symbol: np.repeat(shared.ks, count)}
    columns |= {name: np.tile(value, points) for name, value in own.items()}
    base = {name: value for name, value in base.items() if name not in columns}
    usable = np.flatnonzero(np.isfinite(sizes))
    order = usable[np.argsort(sizes[usable], kind="stable")]
    order = (count * np.arange(points)[:, None] + order).reshape(-1)
    right = np.full(points * count, np.inf)
    _bounds(theorem, base, columns, order[_admissible(theorem, base, columns, order)], right)
    return right.reshape(points, count)


def _admissible(theorem: Theorem, base: Mapping[str, Any], arrays: Mapping[str, Any], order: Ints) -> NDArray[np.bool_]:
    """Return which columns meet the conditions, as far as these have a value."""
    met = np.ones(len(order), dtype=np.bool_)
    if not theorem.conditions:
        return met
    known = {**base, **{name: value[order] for name, value in arrays.items()}}
    try:
        for one, (quantity, limit) in zip(theorem.conditions, sides(theorem, theorem.conditions, known), strict=True):
            met &= one.meets(quantity, limit)
    except BoundlabError:
        return met  # the bound itself will say what is wrong
    return met


def constants_of(theorem: Theorem, candidate: Candidate) -> dict[str, Any]:
    """Return the certified constants of one candidate that the theorem reads."""
    return constants(theorem, [candidate])[0][0]


def step_size(shared: SharedRun, candidate: Candidate, own: Mapping[str, Any]) -> float:
    """Return the local step size: chosen, or the theorem's own for the longest horizon; nan where there is none."""
    theorem = shared.theorem
    known = {**shared.seen[-1], **shared.values, **own, theorem.horizon_symbol: int(shared.ks[-1])}
    known = {name: value for name, value in known.items() if name not in theorem.step or name == theorem.horizon_symbol}
    try:
        step = theorem.step_options({**known, **candidate.step})
    except BoundlabError:
        return float("nan")
    # Another problem may make other rates of the server, for which these tapes are not the ones.
    return step[shared.rate] if all(step[name] == value for name, value in shared.server.items()) else float("nan")


def _bounds(theorem: Theorem, base: Mapping[str, Any], arrays: Mapping[str, Any], order: Ints, out: Floats) -> None:
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
