"""The search: known witnesses, structured families and worst cases, then local optimisation, then shrinking."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, islice, product, zip_longest
from typing import Any, TypeAlias, final

import numpy as np

from boundlab.assumptions import BOUNDED_DOMAIN
from boundlab.errors import BoundlabError, MissingExtraError
from boundlab.falsify import _families
from boundlab.falsify._candidate import Candidate, iid
from boundlab.falsify._families import Schedule, edges, known_witnesses, noise_allowed, settings, sides
from boundlab.falsify._judge import FAILURES, Judge, Score, climb, optimise, perturbed, to_vector
from boundlab.falsify._shared_runs import SharedRun, at_once, constants_of, step_size, widest
from boundlab.falsify._shrink import CONVINCES, Accept, convincing, smallest
from boundlab.formulas.symbols import SYMBOLS
from boundlab.options import numbers, parse_spec, typed
from boundlab.simulate import Ahead
from boundlab.theorems import Theorem, over

# Instances that are made to meet a theorem's own inequalities, where structured ones hardly ever do.

FITTED = "made to meet the conditions"
_FACTORS = (10.0, 2.0, 1.1)  # by which numbers are moved: far first
_BASES = 40  # instances that are begun with
_NO_USE = 20  # of them, after which nothing seems to meet the conditions
_SCHEDULES = 100  # looked through for different ones
_LONG_AND_SHORT = (30, 3)
_LOOKS = 300  # at one of them
_LEAST = 1e-12  # how far apart sides are that logarithms do not tell from each other
_OPPOSITE = 50.0  # how far apart sides are, one of which is not positive: further than logarithms ever are
_FURTHEST = 10_000


# By the words of each condition that is not met, with both its numbers: ln(left/right), or more than any such where a
# side is not positive.
Gaps = dict[str, float]


def fitted(judge: Judge) -> tuple[list[Candidate], str]:
    """Return instances that meet the theorem's conditions; where there are none, what the nearest misses."""
    found: dict[tuple[Any, ...], Candidate] = {}
    nearest: Gaps | None = None
    for number, base in enumerate(islice(_bases(judge), _BASES)):
        if number >= _NO_USE and not found:
            break
        one, gaps = _moved(judge, base)
        if gaps is None:
            continue
        if not gaps:
            found.setdefault(one.key, replace(one, family=f"{FITTED}; {one.family}"))
        elif nearest is None or sum(gaps.values()) < sum(nearest.values()):
            nearest = gaps
    if found or nearest is None:
        return list(found.values()), ""
    return [], " and ".join(nearest)


def _bases(judge: Judge) -> Iterator[Candidate]:
    """Yield different problems on different schedules, in turns."""
    theorem = judge.theorem
    if judge.expectation:
        yield from (batch[0] for batch in _families.on_random_events(theorem))
        return
    schedules: dict[tuple[str, int], _families.Schedule] = {}
    for one in islice(_families.schedules(theorem, judge.algorithm), _SCHEDULES):
        schedules.setdefault((one[0], one[1]), one)
    rows = {
        last: [_of_each_family(theorem, one, last + int(one[3].get("N", "1")) - 1) for one in schedules.values()]
        for last in _LONG_AND_SHORT
    }
    most = max((len(row) for some in rows.values() for row in some), default=0)
    for pair in range(0, most, 2):  # without noise, and with it
        for some in rows.values():
            yield from (row[place] for place in (pair, pair + 1) for row in some if place < len(row))


def _of_each_family(theorem: Theorem, schedule: _families.Schedule, iterations: int) -> list[Candidate]:
    """Return one problem of each family, without noise and, where the theorem is about noise, with it in turns."""
    kinds: list[dict[str, Candidate]] = []
    for noise in (False, True)[: 1 + noise_allowed(theorem)]:
        kinds.append({})
        for one in _families.problems(theorem, schedule, iterations, 0, noise=noise):
            kinds[-1].setdefault(one.family, one)
    turns = zip_longest(*(kind.values() for kind in kinds))
    return [one for turn in turns for one in turn if one is not None]


def _moved(judge: Judge, base: Candidate) -> tuple[Candidate, Gaps | None]:
    """Return an instance near another with the smallest gaps that single moves lead to; None: nothing can be said."""
    best, gaps, looks = base, _gaps(judge, base), 0
    if gaps is None:
        return base, None
    for factor in _FACTORS:
        better = True
        while gaps and better and looks < _LOOKS:
            better, least = False, best
            for one in _moves(best, factor):
                looks += 1
                other = _gaps(judge, one)
                if other is not None and sum(other.values()) < sum(gaps.values()) * (1.0 - 1e-9):
                    least, gaps, better = one, other, True
                    if not other:
                        break
            best = least
    return best, gaps


def _gaps(judge: Judge, one: Candidate) -> Gaps | None:
    """Return by how much an instance misses each condition; None where they have no value."""
    theorem = judge.theorem
    try:
        shared = judge.shared(one, [one.horizon])
        own = constants_of(theorem, one)
        known: dict[str, Any] = {**shared.seen[-1], **shared.values, **shared.server, **own, **one.step}
        size = step_size(shared, one, own)
        known |= {theorem.horizon_symbol: one.horizon} | ({shared.rate: size} if math.isfinite(size) else {})
        known = {name: value for name, value in known.items() if name in theorem.symbols}
        found = [(float(left), float(right)) for left, right in sides(theorem, theorem.conditions, known)]
    except FAILURES:
        return None
    gaps = {
        f"{each.statement} (got {left:.6g} {'≥' if each.strict else '>'} {right:.6g})": _apart(left, right)
        for each, (left, right) in zip(theorem.conditions, found, strict=True)
        if not each.meets(left, right)
    }
    return gaps if all(map(math.isfinite, gaps.values())) else None


def _apart(left: float, right: float) -> float:
    if left > 0.0 and right > 0.0:
        return max(math.log(left) - math.log(right), _LEAST)
    return _OPPOSITE + math.log1p(left - right)


def _moves(one: Candidate, factor: float) -> Iterator[Candidate]:
    """Yield the instance with one of its numbers larger and smaller by a factor: steps, problem, integers, delays."""
    for by in (factor, 1.0 / factor):
        for name, value in one.step.items():
            yield replace(one, step={**one.step, name: value * by})
        if one.separable:
            yield from _problems(one, by)
        for name, word in one.settings.items():
            if word.isdigit() and (moved := _whole(int(word), by)) is not None:
                yield replace(one, settings={**one.settings, name: str(moved)})
        if (last := _whole(one.iterations, by)) is not None and last <= _FURTHEST:
            yield replace(one, iterations=last)
        yield from (replace(one, delays=delays) for delays in _delays(one, by))


def _problems(one: Candidate, by: float) -> Iterator[Candidate]:
    for name in ("delta", "sigma", "l1"):
        if one.problem.get(name):
            yield one.with_problem(**{name: one.problem[name] * by})
    weights, centres, start = one.rows("w"), one.rows("c"), one.start()

    yield one.with_arrays(weights * by)
    for place in range(weights.size if weights.size > 1 else 0):
        rows = weights.copy()
        rows.reshape(-1)[place] *= by
        yield one.with_arrays(rows)
    middle = centres.mean(axis=0)
    yield one.with_arrays(x0=middle + by * (start - middle))
    width = {"delta": one.problem["delta"] * by} if "delta" in one.problem else {}
    yield one.with_arrays(c=centres * by, x0=start * by).with_problem(**width)


def _whole(value: int, by: float) -> int | None:
    """Return a larger or a smaller integer, at least 1; None where that is the same one."""
    moved = max(value + 1, round(value * by)) if by > 1.0 else max(1, min(value - 1, round(value * by)))
    return None if moved == value else moved


def _delays(one: Candidate, by: float) -> Iterator[str]:
    """Yield delays whose last client is later, and i.i.d. events with more and less of the clients."""
    try:
        name, options = parse_spec(one.delays, "delays")
        if p := one.shares():
            odds = [by * share / (1.0 - sum(p)) for share in p]
            yield iid([each / (1.0 + sum(odds)) for each in odds])
        elif name == "deterministic" and one.clients > 1:
            rates = numbers(options["rates"], "rates") if "rates" in options else [1.0] * one.clients
            moved = [rate * by for rate in rates[:-1]]
            if max(moved) <= _FURTHEST and min(moved) >= rates[-1]:
                yield f"{name}:rates={typed([*moved, rates[-1]])}"
    except (BoundlabError, ArithmeticError):
        return


# Ask for the worst function of the theorem's class, and look at it as an instance like any other.

_APART = [name for name, info in SYMBOLS.items() if info.role == "heterogeneity" and not info.vector]
WORST = "worst function of the class"
_SMALL = (1, 2, 3, 5, 8)
_FLAT = (0.1, 0.5, 0.01)  # mu for L = 1
_SIZES = (1.0, 1.9, 0.5, 0.1, 3.0)
_MOST = 60
_NEAR = 1e-7  # of the solver's digits


@final
@dataclass(frozen=True, slots=True)
class Ask:
    """One worst case to compute: constants of the class, options of the algorithm, chosen rates, and the horizon."""

    constants: Mapping[str, str]
    setting: Mapping[str, str]
    step: Mapping[str, float]
    clients: int
    iterations: int


def worst_cases(judge: Judge) -> Iterator[Ask]:
    """Yield worst cases to compute, small ones first.

    None where the mean over schedules has no such program, or gradients have errors that nobody writes down.
    """
    theorem = judge.theorem
    mean = over(theorem)
    if theorem.core.errors or (mean.lawful and not mean.independent):
        return
    read = theorem.takes
    constants = [{"mu": typed(mu)} for mu in curvatures(theorem)] if "strongly-convex" in theorem.core.assumed else [{}]
    constants = [{**one, **{name: "1" for name in ("G", "G_sq") if name in read}} for one in constants]
    clients = (1, 2)
    some = {n: [one for one, _ in zip(settings(theorem, judge.algorithm, n), range(3), strict=False)] for n in clients}
    rates = _rates(theorem, {"L": 1.0, **{name: float(value) for name, value in constants[0].items()}})
    axes = (constants, rates, clients, _SMALL, range(3))
    places = sorted(product(*(range(len(axis)) for axis in axes)), key=lambda place: (sum(place), place))
    made = 0
    for a, b, c, d, e in places:
        n = clients[c]
        if e >= len(some[n]) or made >= _MOST:
            continue
        apart = {name: "1" for name in _APART if name in read and n > 1}
        shares = {"p": ",".join([typed(0.5 / n)] * n)} if "iid-events" in theorem.core.assumed else {}
        made += 1
        yield Ask({**constants[a], **apart, **shares}, some[n][e], rates[b], n, _SMALL[d])


def curvatures(theorem: Theorem) -> list[float]:
    """Return values of mu for L = 1: where a condition on the two ends, and others."""
    return [*(mu for mu in edges(theorem, "mu", {"L": 1.0}) if mu < 1.0), *_FLAT]


def _rates(theorem: Theorem, known: Mapping[str, float]) -> Sequence[dict[str, float]]:
    needed = [name for name in theorem.open_rates if name not in theorem.settable]
    offered = [name for name in theorem.open_rates if theorem.symbols[name].is_step_size and name in theorem.settable]
    found: list[dict[str, float]] = [] if needed else [{}]
    names = needed or offered[:1]
    more = [{name: size if theorem.symbols[name].is_step_size else 1.0 for name in names} for size in _SIZES if names]
    ends = [{name: value} for name in (names if len(names) == 1 else ()) for value in edges(theorem, name, known)]
    return [*found, *(one for one in ends if one not in more), *more]


def answer(judge: Judge, ask: Ask) -> Score | None:
    """Return the score of the worst function, None where it is not above the bound or none was found.

    Raises
    ------
    MissingExtraError
        If the solver is not installed.
    """
    from boundlab.worst_case import worst_case

    rates = {name: typed(value) for name, value in ask.step.items()}
    given = {**ask.constants, **ask.setting, **rates, "n": str(ask.clients)}
    if "p" in given:
        del given["n"]
    try:
        found = worst_case(judge.theorem, ask.iterations, given, certificates=False)
        judge.count_in(WORST, ask.clients)
        if not found.primal > found.bound * (1.0 + _NEAR):
            return None
        found = worst_case(judge.theorem, ask.iterations, given, find_function=True, certificates=False)
    except MissingExtraError:
        raise
    except FAILURES as error:
        judge.refuse(error)
        return None
    if found.function is None:
        judge.refuse(f"a worst function above the bound was not written down: {found.missing}")
        return None
    return judge.score(_candidate(found.function.spec(), ask))


def _candidate(spec: Mapping[str, Any], ask: Ask) -> Candidate:
    delays = f"iid:p=[{ask.constants['p']}]" if "p" in ask.constants else "deterministic"
    return Candidate(WORST, dict(spec), delays, ask.setting, ask.step, ask.iterations)


# Structured families, batch by batch: problems on schedules, and on random events.

Key = tuple[object, ...]
# Called with a judge and the runs that were looked at: which runs these are, empty where no others make the same, and
# the scores.
Batch = Callable[[Judge, set[Key]], tuple[Key, list[Score]]]
_HORIZONS = (30, 300, 3000, 30_000)  # shorter ones are looked at on the way
_OWN_HORIZONS = (3, 1, 10, 30, 2, 300, 5, 100, 1000, 3000)  # where the step size depends on the horizon
_DRAWN = {1: 30, 2: 8, 3: 5, 4: 4}  # horizons at which all sequences of that many clients can be looked at
_SLICE, _OWN_SLICE = 8, 2  # schedules looked at before the next horizon has its turn
_NOISY_RUN = 1000
_SIGNS = {1: 8, 2: 4, 3: 3, 4: 2}  # the same where all signs of noise are looked at, too
_LONGEST = 100_000  # server updates times clients: seconds
_DEVIATIONS = 5.5  # the quadratic part in standard deviations of the run


def batches(judge: Judge) -> Iterator[tuple[str, Batch]]:
    """Yield what is looked at, and what looks."""
    return _random(judge) if judge.expectation else _scheduled(judge)


def _random(judge: Judge) -> Iterator[tuple[str, Batch]]:
    for batch in _families.on_random_events(judge.theorem):
        yield batch[0].family, partial(_events, batch)


def _events(batch: Sequence[Candidate], judge: Judge, _seen: set[Key]) -> tuple[Key, list[Score]]:
    last = batch[0].iterations
    if batch[0].noisy:
        batch = _widened(judge, batch)
    # A whole run is looked at for the price of its end where events are enumerated.
    return (), judge.scores(batch, range(judge.theorem.first_iteration, last + 1) if last < 20 else None)


def _scheduled(judge: Judge) -> Iterator[tuple[str, Batch]]:
    """Go through schedules and horizons diagonally: few and short first, but each gets its turn."""
    theorem = judge.theorem
    source = _families.schedules(theorem, judge.algorithm)
    horizons = _OWN_HORIZONS if theorem.horizon == "fixed" else _HORIZONS
    slices: list[list[Schedule]] = []
    for turn in count():
        slices.append(list(islice(source, _OWN_SLICE if theorem.horizon == "fixed" else _SLICE)))
        work = [
            (level, last, slices[turn - place - 2 * level])
            for level in range(_families.LEVELS)
            for place, last in enumerate(horizons[: max(0, turn - 2 * level + 1)])
        ]
        if turn >= len(horizons) + 2 * _families.LEVELS and not any(part for _, _, part in work):
            return
        for level, last, part in work:
            for one in part:
                most = _most(theorem, one[1])
                if last * one[1] <= _LONGEST and (last <= most or last == horizons[0]):
                    yield f"T = {last}, {one[0]}", partial(_schedule, one, min(last, most), level)


def _most(theorem: Theorem, clients: int) -> int:
    """Return the longest horizon that is looked at with so many clients."""
    return _DRAWN.get(clients, 3) if over(theorem).drawn and clients > 1 else _LONGEST


def _schedule(schedule: Schedule, last: int, level: int, judge: Judge, seen: set[Key]) -> tuple[Key, list[Score]]:
    """Return the scores of all problems on one schedule: structured starts, points where runs settle, noise.

    Parameters
    ----------
    seen
        The runs that were looked at: some algorithms do not care who is late.
    """
    theorem = judge.theorem
    _, clients, _, setting = schedule
    iterations = last + int(setting.get("N", "1")) - 1
    quiet, noise = _families.problems(theorem, schedule, iterations, level), list[Candidate]()
    if clients <= len(_SIGNS) and last <= _NOISY_RUN and _families.noise_allowed(theorem):
        signs = BOUNDED_DOMAIN in theorem.core.assumed
        longest = iterations - last + min(last, _SIGNS[clients]) if signs else iterations
        noise = _families.problems(theorem, schedule, longest, level, noise=True)
    runs = _runs(judge, [*quiet, *noise])
    key = (level, *runs) if runs else ()
    if key in seen:
        return key, []
    scores = judge.scores(quiet)
    ranked = sorted(scores, key=lambda score: -score.ratio)[:8]
    again = (
        []
        if not level
        else [
            replace(one.candidate, family=f"orbit, {one.candidate.family}", iterations=iterations).with_arrays(
                x0=one.last
            )
            for one in ranked
            if len(one.last) and np.isfinite(one.last).all() and 1e-9 < np.abs(one.last).max() < 1e9
        ]
    )
    scores += judge.scores(again)
    return key, scores + judge.scores(_widened(judge, noise))


def _runs(judge: Judge, candidates: Sequence[Candidate]) -> Key:
    """Return what only schedules share that make the same runs; nothing where there are none."""
    if not candidates or not judge.speaks_of(candidates[0].clients):
        return ()
    try:
        return judge.fingerprint(candidates[0]), candidates[0].identity
    except FAILURES:
        return ()


def _widened(judge: Judge, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates with quadratic parts that their runs hardly ever leave, without those that have no such run."""
    spread = dict.fromkeys((place for place, one in enumerate(candidates) if one.tailed), np.nan)
    sized: dict[int, tuple[SharedRun, list[tuple[int, float]]]] = {}
    for place in spread:
        if judge.late:
            break
        try:
            shared = judge.shared(candidates[place])
            size = step_size(shared, candidates[place], constants_of(shared.theorem, candidates[place]))
        except FAILURES as error:
            judge.refuse(error)
            continue
        if np.isfinite(size):
            sized.setdefault(id(shared), (shared, []))[1].append((place, size))
    for shared, some in sized.values():
        width = at_once(shared)
        for part in (some[first : first + width] for first in range(0, len(some), width)):
            places, sizes = zip(*part, strict=True)
            try:
                found = widest(shared, [candidates[place] for place in places], np.array(sizes))
            except FAILURES as error:
                judge.refuse(error, len(part))
                continue
            spread |= zip(places, found.tolist(), strict=True)
    wide = ((one, spread.get(place)) for place, one in enumerate(candidates))
    usable = ((one, width) for one, width in wide if width is None or 0.0 < width < 1e6)
    return [one if width is None else _with_room(judge.theorem, one, width) for one, width in usable]


def _with_room(theorem: Theorem, candidate: Candidate, spread: float) -> Candidate:
    """Return a candidate whose quadratic part holds points with this standard deviation."""
    reach = float(np.abs(candidate.start() - candidate.rows("c")).max())
    delta = float(f"{reach + _DEVIATIONS * spread:.1e}")
    if _families.kind_of(theorem) == "huber":
        return candidate.with_problem(delta=delta)
    # Where only B counts, it stays: B = w·delta.
    weights = [float(f"{one * candidate.problem['delta'] / delta:.2e}") for one in candidate.problem["w"]]
    return candidate.with_problem(delta=delta, w=weights)


# Pieces of the search that processes do ahead of it: each has counts of its own, which are added in order.

_GENERATIONS = 8  # of a restart


@final
@dataclass(frozen=True, slots=True)
class Scan:
    """Look at one batch of the structured families."""

    index: int


@final
@dataclass(frozen=True, slots=True)
class Climb:
    """Optimise a score until a share of the budget is spent; ``before`` candidates were tried when it was said."""

    place: int
    score: Score
    before: int
    end: float


@final
@dataclass(frozen=True, slots=True)
class Restart:
    """Begin again near or far from one of the candidates."""

    number: int
    bases: Sequence[Candidate]
    before: int


Piece: TypeAlias = Scan | Climb | Restart


@final
@dataclass(frozen=True, slots=True)
class Done:
    """Outcome of a piece of work.

    Parameters
    ----------
    key, label
        Of a batch: which runs were looked at, empty where no others make the same, and in words.
    last
        Whether there is no such batch any more.
    """

    scores: list[Score] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    clients: int = 0
    best: Score | None = None
    key: Key = ()
    label: str = ""
    last: bool = False


@final
class Worker:
    """Does pieces of work; batches in the order of their numbers, some of which other processes may do.

    Parameters
    ----------
    judge
        Of the theorem; its counts are not touched.
    seed
        Of the random numbers: each piece has its own.
    """

    def __init__(self, judge: Judge, seed: int) -> None:
        self._judge, self._seed = judge, seed
        self._batches, self._next = batches(judge), 0
        self._seen: set[Key] = set()

    def __call__(self, piece: Piece) -> Done:
        """Do it."""
        if isinstance(piece, Scan):
            return self._scan(piece)
        judge = self._judge.aside(piece.before)
        score = self._climb(piece, judge) if isinstance(piece, Climb) else self._restart(piece, judge)
        return Done([] if score is None else [score], judge.tried, judge.refused, judge.clients, judge.best)

    def _scan(self, piece: Scan) -> Done:
        found = None
        while self._next <= piece.index:
            found, self._next = next(self._batches, None), self._next + 1
        if found is None:
            return Done(last=True)
        label, look = found
        judge = self._judge.aside(0)  # nobody knows what the batches before it have tried: each keeps the limit alone
        key, scores = look(judge, self._seen)
        if key:
            self._seen.add(key)
        return Done(scores, judge.tried, judge.refused, judge.clients, judge.best, key, label)

    def _climb(self, piece: Climb, judge: Judge) -> Score:
        over = partial(judge.spent, piece.end)
        return optimise(climb(piece.score, judge, over), judge, over, self._random(0, piece.place))

    def _restart(self, piece: Restart, judge: Judge) -> Score | None:
        random = self._random(1, piece.number)
        base = piece.bases[int(random.integers(len(piece.bases)))]
        start = judge.score(perturbed(base, random)) if len(to_vector(base)) else None
        if start is None:
            return None
        return optimise(start, judge, lambda: judge.spent(1.0), random, _GENERATIONS)

    def _random(self, kind: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, kind, number])


Progress = Callable[[str], None]
_BEFORE = 400  # candidates before the first worst case: the solver takes seconds to load
_BETWEEN = 60  # candidates from one worst case to the next
_CLEAR = 1.15  # left/right of a violation after which no clearer one is looked for
# Refused candidates, and how many for each that was tried, after which instances are made to meet the conditions.
_REFUSED, _FOR_EACH = 20, 10
_SCAN, _IMPROVE = 0.6, 0.75  # shares of the budget after which the next stage begins
_STARTS = 4  # violations from which one that a hand can check is looked for
_CLIMBS = 3  # closest instances from which local optimisation begins
_ROUND = 8  # restarts that begin from the same instances
_AFTER = 0.3  # of the candidates that led to a violation are looked at for a clearer one
_BASINS = 8  # closest instances from which the search begins again
_IDLE = 200  # restarts without a candidate after which it ends


@final
@dataclass
class _Best:
    """The best score of each family."""

    judge: Judge
    scores: dict[str, Score] = field(default_factory=dict)
    first: int | None = None
    small: Score | None = None

    def take(self, batch: list[Score]) -> None:
        """Keep what is better than before."""
        for score in batch:
            kept = self.scores.get(score.candidate.family)
            if kept is None or score.ratio > kept.ratio:
                self.scores[score.candidate.family] = score
        broken = [score for score in batch if score.violates]
        if self.first is None and broken:
            self.first = self.judge.count
        self.small = min(
            [*broken, *([self.small] if self.small else [])], key=lambda one: one.candidate.coarse, default=None
        )

    def join(self, done: Done) -> None:
        """Keep what a worker found."""
        self.judge.join(done.tried, done.refused, done.clients, done.best)
        self.take(done.scores)

    @property
    def largest(self) -> float:
        """The largest ratio."""
        return self.ranked[0].ratio if self.scores else 0.0

    def drop(self, family: str) -> None:
        """Forget what was found in a family: nothing confirms it."""
        del self.scores[family]
        self.first, self.small = None, None
        self.take([score for score in self.scores.values() if score.violates])

    @property
    def ranked(self) -> list[Score]:
        """The families' best, the best family first, of much the same ones the smallest."""

        def place(score: Score) -> tuple[float, int, int]:
            own = score.candidate
            return -float(f"{score.ratio:.3g}"), own.clients, own.dimension

        return sorted(self.scores.values(), key=place)

    @property
    def clear(self) -> Score | None:
        """The smallest of the families' best that is a clear violation."""
        return min(
            (one for one in self.scores.values() if one.ratio >= _CLEAR),
            key=lambda one: one.candidate.coarse,
            default=None,
        )

    @property
    def enough(self) -> bool:
        """True if a violation is clear, or has been the best for a long time."""
        if self.first is None:
            return False
        return self.ranked[0].ratio >= _CLEAR or self.judge.count > (1.0 + _AFTER) * self.first + 200


@final
@dataclass(frozen=True, slots=True)
class Found:
    """Finding to be confirmed.

    Parameters
    ----------
    score
        A violation, or one of the closest instances.
    clear
        Where the violation was shrunk, the one that it was made of: it breaks the bound by more.
    convincing
        A larger one that a hand can check, where the smallest one is none or breaks the bound by little.
    """

    score: Score
    clear: Score | None = None
    convincing: Score | None = None


def search(judge: Judge, seed: int, progress: Progress, by_hand: Accept, jobs: int = 1) -> Iterator[Found]:
    """Yield violations to be confirmed, each shrunk and as it was found, and at last the closest instances.

    Who takes another one has not confirmed the one before. The order of the candidates is determined by the theorem
    and the seed; the budget says how far it is followed.

    Parameters
    ----------
    by_hand
        Whether a hand can check a violation.
    jobs
        Processes that look at candidates; with a limit the answer does not depend on them.
    """
    found, rng, last = _Best(judge), np.random.default_rng(seed), judge.begin + 1.25 * judge.seconds
    found.take(judge.scores(known_witnesses(judge.theorem)))
    if found.enough:
        yield from _finalists(found, rng, progress, by_hand, last)
    with Ahead(Worker(judge, seed), jobs) as workers:
        for _ in _stages(found, workers, progress):
            if found.enough:
                yield from _finalists(found, rng, progress, by_hand, last)
    yield from _finalists(found, rng, progress, by_hand, max(last, time.monotonic() + 0.25 * judge.seconds))
    yield from [Found(score) for score in found.ranked[:_BASINS] if not score.violates]


def _finalists(
    found: _Best, rng: np.random.Generator, progress: Progress, by_hand: Accept, last: float
) -> Iterator[Found]:
    """Yield each violation made as small as can be and as it was found, and forget it if neither was confirmed."""

    def late() -> bool:
        return time.monotonic() >= last

    while found.scores and (best := found.ranked[0]).violates:
        # What shrinking looks at is not counted: the limit bounds the search, and shrinking ends by itself.
        judge = replace(found.judge.aside(found.judge.count), limit=None)
        near = best.ratio < CONVINCES
        clear = found.clear or (optimise(climb(best, judge, late), judge, late, rng) if near else best)
        progress(f"shrinking {clear.ratio:.4g}")
        seeds = [clear] if found.small is None or found.small is best else [clear, found.small]
        small = smallest(seeds, judge, late, rng)
        others = [one for one in found.ranked[:_STARTS] if one.violates and one is not clear]
        yield Found(small, clear, convincing([clear, *others], small, judge, late, by_hand))
        yield Found(clear)
        found.drop(best.candidate.family)


def _stages(found: _Best, workers: Ahead[Piece, Done], progress: Progress) -> Iterator[None]:
    """Look at structured families with worst cases in between, then search from the best ones."""
    judge = found.judge
    asks, asked, seen, fitted = worst_cases(judge), _BEFORE - _BETWEEN, set[Key](), False
    for done in workers.map(Scan(index) for index in count()):
        if done.last:
            break
        if done.key and done.key in seen:
            continue
        seen.add(done.key)
        found.join(done)
        progress(f"{judge.count} candidates, {done.label}, largest ratio {found.largest:.4g}")
        yield
        if not fitted and judge.theorem.conditions and judge.refused.total() >= _REFUSED + _FOR_EACH * judge.count:
            fitted = True
            _fit_conditions(found)
            yield
        if judge.count >= asked + _BETWEEN and not judge.spent(_SCAN):
            asked = judge.count
            _ask(found, asks)
            yield
        if judge.spent(_SCAN):
            break
    judge.forgiven = judge.refused.total() if fitted else 0
    while not judge.unmet and not judge.spent(_SCAN) and _ask(found, asks):
        yield
    before, some = judge.count, found.ranked[:_CLIMBS]
    ends = [_SCAN + (_IMPROVE - _SCAN) * (place + 1) / _CLIMBS for place in range(len(some))]
    for done in workers.map(Climb(place, score, before, ends[place]) for place, score in enumerate(some)):
        found.join(done)
        progress(f"{judge.count} candidates, local optimisation, largest ratio {found.largest:.4g}")
        yield
    idle, number = 0, 0
    while found.scores and not judge.spent(1.0) and idle < _IDLE:
        # Nothing yet: begin again from points near and far from the closest instances.
        before, bases = judge.count, [score.candidate for score in found.ranked[:_BASINS]]
        for done in workers.map(Restart(number + one, bases, before) for one in range(_ROUND)):
            found.join(done)
            progress(f"{judge.count} candidates, restarts, largest ratio {found.largest:.4g}")
            # What the theorem does not apply to counts for nothing.
            idle = 0 if done.tried else idle + 1
            yield
            if judge.spent(1.0):
                break
        number += _ROUND


def _fit_conditions(found: _Best) -> None:
    """Look at instances that are made to meet the conditions, or keep which ones nothing meets."""
    judge = found.judge
    some, judge.unmet = fitted(judge)
    judge.forgiven = judge.refused.total()
    found.take(judge.scores(some))


def _ask(found: _Best, asks: Iterator[Ask]) -> bool:
    """Answer the next worst case that has an answer; False if nothing is left to ask, or there is no solver."""
    judge = found.judge
    before = judge.tried[WORST]
    for ask in asks:
        try:
            score = answer(judge, ask)
        except MissingExtraError as error:
            judge.refuse(error)
            for _ in asks:
                pass
            return False
        found.take([] if score is None else [score])
        if judge.tried[WORST] > before:
            return True
    return False
