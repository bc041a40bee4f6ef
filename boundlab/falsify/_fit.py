"""Instances that are made to meet a theorem's own inequalities, where structured ones hardly ever do."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import Any, final

from boundlab.errors import BoundlabError
from boundlab.falsify import _families, _random_events
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._edges import sides
from boundlab.falsify._expectation import horizon
from boundlab.falsify._families import noise_allowed
from boundlab.falsify._judge import FAILURES, Judge
from boundlab.falsify._optimise import iid
from boundlab.falsify._sides import constants_of, step_size
from boundlab.options import numbers, parse_spec, typed
from boundlab.theorems import Theorem

FAMILY = "made to meet the conditions"
_FACTORS = (10.0, 2.0, 1.1)  # by which numbers are moved: far first
_BASES = 40  # instances that are begun with
_HOPELESS = 20  # of them, after which nothing seems to meet the conditions
_SCHEDULES = 100  # looked through for different ones
_HORIZONS = (30, 3)
_LOOKS = 300  # at one of them
_LEAST = 1e-12  # how far apart sides are that logarithms do not tell from each other
_OPPOSITE = 50.0  # how far apart sides are, one of which is not positive: further than logarithms ever are
_LONGEST = 10_000


@final
@dataclass(frozen=True, slots=True)
class Gap:
    """A condition that is not met.

    Parameters
    ----------
    size
        ln(left/right), or more than any such where a side is not positive.
    words
        The condition with both its numbers.
    """

    size: float
    words: str


def fitted(judge: Judge) -> tuple[list[Candidate], str]:
    """Return instances that meet the theorem's conditions; where there are none, what the nearest misses."""
    found: dict[tuple[Any, ...], Candidate] = {}
    nearest: Sequence[Gap] | None = None
    for number, base in enumerate(islice(_bases(judge), _BASES)):
        if number >= _HOPELESS and not found:
            break
        one, gaps = _moved(judge, base)
        if gaps is None:
            continue
        if not gaps:
            found.setdefault(one.key(), replace(one, family=f"{FAMILY}; {one.family}"))
        elif nearest is None or _total(gaps) < _total(nearest):
            nearest = gaps
    if found or nearest is None:
        return list(found.values()), ""
    return [], " and ".join(gap.words for gap in nearest)


def _bases(judge: Judge) -> Iterator[Candidate]:
    """Yield different problems on different schedules, in turns."""
    theorem = judge.theorem
    if judge.expectation:
        yield from (batch[0] for batch in _random_events.candidates(theorem))
        return
    schedules: dict[tuple[str, int], _families.Schedule] = {}
    for one in islice(_families.schedules(theorem, judge.algorithm), _SCHEDULES):
        schedules.setdefault((one[0], one[1]), one)
    rows = {
        last: [_of_each_family(theorem, one, last + int(one[3].get("N", "1")) - 1) for one in schedules.values()]
        for last in _HORIZONS
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


def _total(gaps: Sequence[Gap]) -> float:
    return sum(gap.size for gap in gaps)


def _moved(judge: Judge, base: Candidate) -> tuple[Candidate, Sequence[Gap] | None]:
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
                if other is not None and _total(other) < _total(gaps) * (1.0 - 1e-9):
                    least, gaps, better = one, other, True
                    if not other:
                        break
            best = least
    return best, gaps


def _gaps(judge: Judge, one: Candidate) -> Sequence[Gap] | None:
    """Return by how much an instance misses each condition; None where they have no value."""
    theorem = judge.theorem
    try:
        shared = judge.shared(one, [horizon(one)])
        own = constants_of(theorem, one)
        known: dict[str, Any] = {**shared.seen[-1], **shared.values, **shared.server, **own, **one.step}
        size = step_size(shared, one, own)
        known |= {theorem.horizon_symbol: horizon(one)} | ({shared.rate: size} if math.isfinite(size) else {})
        known = {name: value for name, value in known.items() if name in theorem.symbols}
        found = [(float(left), float(right)) for left, right in sides(theorem, theorem.conditions, known)]
    except FAILURES:
        return None
    gaps = [
        Gap(_apart(left, right), f"{each.statement} (got {left:.6g} {'≥' if each.strict else '>'} {right:.6g})")
        for each, (left, right) in zip(theorem.conditions, found, strict=True)
        if not each.meets(left, right)
    ]
    return gaps if all(math.isfinite(gap.size) for gap in gaps) else None


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
        if (last := _whole(one.iterations, by)) is not None and last <= _LONGEST:
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
            if max(moved) <= _LONGEST and min(moved) >= rates[-1]:
                yield f"{name}:rates={typed([*moved, rates[-1]])}"
    except (BoundlabError, ArithmeticError):
        return
