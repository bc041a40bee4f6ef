"""Greedy shrinking: fewer clients and iterations, smaller integers, simpler numbers, while the bound stays broken."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, product
from typing import Any

import numpy as np

from boundlab.errors import BoundlabError, SpecError
from boundlab.expectation import distinct_outcomes
from boundlab.falsify import _candidate as catalog
from boundlab.falsify._candidate import Candidate, flat, iid, shaped
from boundlab.falsify._families import choices, readable
from boundlab.falsify._judge import Judge, Score, optimise, plan_of
from boundlab.options import numbers, parse_spec, typed
from boundlab.theorems import Theorem, once

# Which of two instances is smaller: what a referee has to follow by hand comes first.

_CERTAIN = "deterministic"  # delays of which there is nothing to draw


def smaller(theorem: Theorem, one: Candidate, other: Candidate) -> bool:
    """Return whether an instance of a theorem is smaller than another.

    Smaller is, in this order: decided in exact numbers; fewer clients; an earlier horizon; fewer sequences of events
    that matter; fewer dimensions and smaller integers; simpler numbers, which are short to write, near 1 in the end.
    """
    if one.coarse != other.coarse:
        return one.coarse < other.coarse
    return (sequences(theorem, one), *one.fine) < (sequences(theorem, other), *other.fine)


def sequences(theorem: Theorem, one: Candidate) -> int:
    """Return how many sequences of events matter: between so many points they choose at the horizon."""
    name = one.delays.partition(":")[0]
    if name == "iid":
        return _outcomes(theorem, one)
    return 1 if name == _CERTAIN else 2


@once(1 << 14)
def _outcomes(theorem: Theorem, one: Candidate) -> int:
    try:
        plan = plan_of(theorem, one)
        return distinct_outcomes(*plan.random_run, plan.iterations)
    except BoundlabError:
        return int((one.clients + 1) ** one.iterations)  # all there are


Accept = Callable[[Score], bool]
Move = Callable[[Candidate], Iterator[Candidate]]
Keep = Callable[[Candidate], bool]
_UNITS = range(-9, 10)  # powers of ten that function values and lengths are multiplied with
_READABLE = (1e-2, 1e3)


def shrink(
    score: Score,
    judge: Judge,
    over: Callable[[], bool],
    keep: Keep = lambda _: True,
    accept: Accept = lambda _: True,
) -> Score:
    """Return a violation of which no single move makes a smaller one.

    Moves: noise of two signs for normal noise; one client less; fewer iterations; one row of data or one coordinate
    less; a smaller integer setting, an option less; simpler delays; a length or a weight of 1; a number with fewer
    digits. Smaller is :func:`boundlab.falsify._shrink.smaller`.

    Parameters
    ----------
    keep
        What a smaller instance must still be.
    accept
        Whether a smaller violation takes the place of the one before.
    """
    theorem = judge.theorem
    best, changed, seen = score, True, {score.candidate.key}
    while changed and not over():
        changed = False
        for move in _MOVES:
            again = True
            while again and not over():
                again = False
                for candidate in move(best.candidate):
                    if candidate.key in seen or not keep(candidate) or not smaller(theorem, candidate, best.candidate):
                        continue
                    seen.add(candidate.key)
                    found = judge.score(candidate)
                    same = found is not None and found.candidate.iterations == candidate.iterations
                    if found is not None and same and found.violates and accept(found):
                        best, again, changed = found, True, True
                        break
                    if over():
                        break
    return best


def near_one(score: Score, judge: Judge, keep: Keep = lambda _: True) -> Score:
    """Return the violation in units in which both sides are numbers near 1, where the bound knows units."""
    one, (a, b) = score.candidate, judge.theorem.left.units
    if not one.separable or _READABLE[0] <= score.left < _READABLE[1]:
        return score
    choices = product(_UNITS, _UNITS)
    scaled = [one.in_units(10.0**i, 10.0**j) for i, j in choices if 0.1 <= score.left * 10.0 ** (a * i + b * j) < 100.0]
    for candidate in sorted(scaled, key=lambda one: one.fine):
        found = judge.score(candidate) if keep(candidate) else None
        if found is not None and found.violates and found.candidate.iterations == one.iterations:
            return found
    return score


def _own_units(one: Candidate) -> Iterator[Candidate]:
    """Make a length or a weight 1, with the others in proportion."""
    if not one.separable:
        return
    lengths = {abs(entry) for name in ("x0", "c") for entry in flat(one.problem[name])} - {0.0, 1.0}
    weights = set(flat(one.problem["w"])) - {0.0, 1.0}
    for digits in (1, 2, 3, 4):
        for weight in sorted(weights):
            yield one.in_units(1.0 / weight, 1.0, digits)
        for length in sorted(lengths):
            # Gradients keep their size, and so do the slopes of absolute values.
            yield one.in_units(1.0 / length, 1.0 / length, digits)


def _two_signs(one: Candidate) -> Iterator[Candidate]:
    """Noise of two signs in place of normal noise, with room enough that no run leaves the quadratic part."""
    if not one.tailed or one.problem["type"] != "huber" or one.dimension > 1:
        return
    for wider, slower in product((1.0, 2.0, 10.0, 100.0), (1.0, 0.1, 0.01)):
        steps = {name: value * slower for name, value in one.step.items()}
        yield replace(one, step=steps).with_problem(noise="sign", delta=one.problem["delta"] * wider)


def _fewer_clients(one: Candidate) -> Iterator[Candidate]:
    n = one.clients
    for gone in range(n if n > 1 else 0):
        problem = {**one.problem, **{name: _without(value, gone) for name, value in one.per_client().items()}}
        settings = {name: _listed(value, gone, n) for name, value in one.settings.items()}
        name, options = parse_spec(one.delays, "delays")
        parts = ",".join(f"{key}={_listed(value, gone, n)}" for key, value in options.items())
        yield replace(one, problem=problem, settings=settings, delays=f"{name}:{parts}" if parts else name)


def _fewer_rows(one: Candidate) -> Iterator[Candidate]:
    """Leave out a row of a client that has others."""
    for client, targets in enumerate(one.problem["y"] if one.sampled else ()):
        for gone in range(len(targets) if len(targets) > 1 else 0):
            rest = {name: list(one.problem[name]) for name in ("a", "y")}
            for some in rest.values():
                some[client] = _without(some[client], gone)
            yield one.with_problem(**rest)


def _fewer_dimensions(one: Candidate) -> Iterator[Candidate]:
    """Leave out a coordinate."""
    d = one.dimension if one.independent else 1
    points = [name for name in ("w", "c", "a", "x0") if name in one.problem]
    for gone in range(d if d > 1 else 0):
        yield one.with_problem(**{name: _thinner(one.problem[name], gone) for name in points})


def _thinner(points: Sequence[Any], gone: int) -> Any:
    """Return a point, or nested lists of points, without one coordinate; of one coordinate it is a number."""
    if isinstance(points[0], (list, tuple)):
        return [_thinner(one, gone) for one in points]
    rest = _without(points, gone)
    return rest if len(rest) > 1 else rest[0]


def _without(value: Sequence[Any], gone: int) -> list[Any]:
    return [entry for place, entry in enumerate(value) if place != gone]


def _listed(value: str, gone: int, n: int) -> str:
    """Return a list of one number a client without that of the client ``gone``."""
    if value.startswith("[") and value.count(",") == n - 1:
        return f"[{','.join(_without(value.strip('[]').split(','), gone))}]"
    return value


def _fewer_iterations(one: Candidate) -> Iterator[Candidate]:
    K = one.iterations
    for fewer in dict.fromkeys((0, 1, *(K * part // 100 for part in (25, 50, 75, 90, 95, 99)), K - 2, K - 1)):
        if 0 <= fewer < K:
            yield replace(one, iterations=fewer)


def _smaller_settings(one: Candidate) -> Iterator[Candidate]:
    for name, value in one.settings.items():
        if not str(value).isdigit():
            continue
        whole = int(value)
        for less in dict.fromkeys((0, 1, whole // 2, 3 * whole // 4, whole - 1)):
            if 0 <= less < whole:
                yield replace(one, settings={**one.settings, name: str(less)})
    yield from (one.with_problem(batch=less) for less in range(1, one.problem.get("batch", 1)))


def _fewer_options(one: Candidate) -> Iterator[Candidate]:
    """Leave out an option that is no count, or two of which one asks for the other."""
    names = [name for name, value in one.settings.items() if not str(value).isdigit()]
    for gone in (*combinations(names, 1), *combinations(names, 2)):
        yield replace(one, settings={name: value for name, value in one.settings.items() if name not in gone})


def _simpler_delays(one: Candidate) -> Iterator[Candidate]:
    name, options = parse_spec(one.delays, "delays")
    if name not in ("iid", "deterministic"):
        yield replace(one, delays="deterministic")
    if options and name != "iid":
        yield replace(one, delays=name)
    for key, value in options.items():
        try:
            entries = numbers(value, key)
        except SpecError:
            continue
        listed = value.startswith("[")
        for place, entry in enumerate(entries):
            for simple in _simpler(entry):
                other = [*entries[:place], simple, *entries[place + 1 :]]
                shown = typed(other) if listed else typed(simple)
                rest = {**options, key: shown}
                yield replace(one, delays=f"{name}:{','.join(f'{left}={right}' for left, right in rest.items())}")


def _simpler_numbers(one: Candidate) -> Iterator[Candidate]:
    for name, value in one.step.items():
        for simple in _simpler(value):
            yield replace(one, step={**one.step, name: simple})
    for name, value in one.problem.items():
        if isinstance(value, str) or value is None or name == "batch":
            continue
        if isinstance(value, (int, float)):
            for simple in _simpler(float(value)):
                yield one.with_problem(**{name: simple})
            continue
        each = [float(entry) for entry in flat(value)]
        if not one.independent:
            # Numbers of an interpolated function fit each other: they are rounded together.
            for places in (2, 3, 4, 6):
                yield one.with_problem(**{name: shaped(value, [float(f"{x:.{places}g}") for x in each])})
            continue
        for simple in dict.fromkeys(entry for whole in each for entry in _simpler(whole)):
            yield one.with_problem(**{name: shaped(value, [simple] * len(each))})
        for place, whole in enumerate(each):
            for simple in _simpler(whole):
                yield one.with_problem(**{name: shaped(value, [*each[:place], simple, *each[place + 1 :]])})


def _simpler(value: float) -> Iterator[float]:
    """Yield numbers near ``value`` that are shorter to write, the shortest first."""
    yield from (0.0, 1.0)
    if value < 0.0:
        yield -1.0
    size = 10.0 ** math.floor(math.log10(abs(value))) if value else 1.0
    for places in (1, 2, 3, 4):
        yield float(f"{value:.{places - 1}e}")
        unit = size / 10 ** (places - 1)
        for beside in (math.floor(value / unit), math.ceil(value / unit)):
            yield float(f"{beside * unit:.{places - 1}e}")
        for factor in (0.5, 2.0, 10.0, 100.0):
            yield float(f"{factor * value:.{places - 1}e}")


_MOVES: tuple[Move, ...] = (
    _two_signs,
    _fewer_clients,
    _fewer_iterations,
    _fewer_rows,
    _fewer_dimensions,
    _smaller_settings,
    _fewer_options,
    _simpler_delays,
    _own_units,
    _simpler_numbers,
)


# The smallest instance near a violation: shrunk move by move, then what single moves do not reach.

_SHORT = 24  # horizons of which every earlier one is tried
_LADDER = (1, 2, 3, 5, 10, 20, 50, 100, 1000)  # integer settings that take the place of iterations
_SHARES = (0.4, 0.5)  # of the server
_FEW = (2, 3, 5, 10)  # updates that another rate may make enough
_SERVER = (10.0, 100.0)  # rates of the server
_RATIOS = (2, 3, 5)  # between two clients
_NEAR = 0.95  # of the bound, from where its numbers are worth an optimisation
_GENERATIONS = 6
_MOST = 3000  # candidates after which it is small enough
CONVINCES = 1.05  # left/right from which nobody asks whether it is rounding


def smallest(
    scores: Sequence[Score],
    judge: Judge,
    over: Callable[[], bool],
    rng: np.random.Generator,
    keep: Keep = lambda _: True,
) -> Score:
    """Return a violation that is as small as this search can make it.

    Single moves come first (:func:`boundlab.falsify._shrink.shrink`), from each violation that is given. Then each
    earlier horizon and each smaller integer is tried with other integers in exchange and with numbers optimised for it,
    and single moves follow again.

    Parameters
    ----------
    keep
        What a smaller instance must still be.
    """
    most = judge.count + _MOST

    def late() -> bool:
        return over() or judge.count >= most

    theorem = judge.theorem
    best, again = shrink(scores[0], judge, late, keep), True
    for score in scores[1:]:
        other = shrink(score, judge, late, keep)
        best = other if smaller(theorem, other.candidate, best.candidate) else best
    while again and not late():
        again = False
        tried = chain(_sooner(theorem, best.candidate), _exchanges(best.candidate))
        for candidate in (one for one in tried if keep(one)):
            found = _broken(candidate, judge, late, rng)
            if found is not None and keep(found.candidate) and smaller(theorem, found.candidate, best.candidate):
                best, again = shrink(found, judge, late, keep), True
                break
            if late():
                break
    return near_one(best, judge, keep)


def convincing(
    scores: Sequence[Score], small: Score, judge: Judge, over: Callable[[], bool], by_hand: Accept
) -> Score | None:
    """Return a small violation that a hand can check and that breaks the bound by a twentieth, as far as there is room.

    None where the smallest one is such a violation, and where no single moves lead to one.

    Parameters
    ----------
    scores, small
        Violations where the moves may begin, and the smallest one.
    by_hand
        Whether a hand can check a violation: the engine that tells is slow, and asked of violations only.
    """
    least = min(CONVINCES, max(score.ratio for score in scores))
    if small.ratio >= least and by_hand(small):
        return None
    for score in scores:
        if score.ratio < least or over():
            continue
        checked = by_hand(score)

        def accept(found: Score) -> bool:
            nonlocal checked
            if found.ratio < least or (checked and not by_hand(found)):
                return False
            checked = checked or by_hand(found)
            return True

        best = shrink(score, judge, over, accept=accept)
        if checked:
            scaled = near_one(best, judge)
            return scaled if scaled is best or (scaled.ratio >= least and by_hand(scaled)) else best
    return None


def _earlier(last: int) -> list[int]:
    """Return earlier horizons: each of a short run, of a long one those from where it is worth beginning again."""
    if last <= _SHORT:
        return list(range(1, last))
    return list(dict.fromkeys((last // 2, 3 * last // 4, 9 * last // 10, 19 * last // 20, last - 1)))


def _exchanges(one: Candidate) -> Iterator[Candidate]:
    """Yield candidates with an earlier horizon and any integers, then with the same horizon and a smaller integer."""
    names = [name for name, value in one.settings.items() if value.isdigit() and name != "N"]
    for iterations in _earlier(one.iterations):
        yield replace(one, iterations=iterations)
        for name in names:
            for value in _LADDER:
                yield replace(one, iterations=iterations, settings={**one.settings, name: str(value)})
    for name in names:
        whole = int(one.settings[name])
        for less in dict.fromkeys((whole // 2, 3 * whole // 4, 9 * whole // 10, whole - 1)):
            if 0 < less < whole:
                yield replace(one, settings={**one.settings, name: str(less)})


def _sooner(theorem: Theorem, one: Candidate) -> Iterator[Candidate]:
    """Yield candidates with an earlier horizon, for which the server or the clients have another rate, or an option."""
    others, last = [*_other_rates(theorem, one), *_other_options(theorem, one)], one.iterations
    few = [iterations for iterations in _FEW if iterations < last]
    for iterations in dict.fromkeys((*few, *_earlier(last))):
        yield from (replace(other, iterations=iterations) for other in others)


def _other_rates(theorem: Theorem, one: Candidate) -> Iterator[Candidate]:
    """Yield candidates with a larger rate that is no step size, and with other ratios between two clients."""
    for name in theorem.open_rates:
        if not theorem.symbols[name].is_step_size and name in (*theorem.settable, *one.step):
            yield from (replace(one, step={**one.step, name: larger}) for larger in _SERVER)
    if one.clients == 2 and one.delays.startswith("deterministic:rates="):
        ratios = (f"deterministic:rates=[{ratio},1]" for ratio in _RATIOS)
        yield from (replace(one, delays=delays) for delays in ratios if delays != one.delays)


def _other_options(theorem: Theorem, one: Candidate) -> Iterator[Candidate]:
    """Yield candidates with another option that is no count, and with the option that it asks for beside it."""
    algorithm = catalog.algorithm(theorem.algorithm)
    found = choices(theorem, algorithm, one.clients).items()
    pairs = [(name, value) for name, some in found for value in some if value and not value.isdigit()]
    pairs = [pair for pair in pairs if one.settings.get(pair[0]) != pair[1]]
    for name, value in pairs:
        settings = {**one.settings, name: value}
        if readable(theorem, algorithm, settings):
            yield replace(one, settings=settings)
            continue
        both = ({**settings, other: beside} for other, beside in pairs if other != name)
        yield from (replace(one, settings=some) for some in both if readable(theorem, algorithm, some))


def _broken(one: Candidate, judge: Judge, over: Callable[[], bool], rng: np.random.Generator) -> Score | None:
    """Return a violation with the same discrete choices and with numbers near these, or None."""
    found = (score for score in map(judge.score, _starts(one)) if score is not None)
    same = (score for score in found if score.candidate.iterations == one.iterations)
    best = max(same, key=lambda score: score.ratio, default=None)
    if best is not None and best.ratio >= _NEAR and not best.violates:
        best = optimise(best, judge, over, rng, _GENERATIONS)
    return best if best is not None and best.violates else None


def _starts(one: Candidate) -> Iterator[Candidate]:
    yield one
    p = np.array(one.shares())
    for share in _SHARES if len(p) else ():
        yield replace(one, delays=iid((p / p.sum() * (1.0 - share)).round(12).tolist()))
