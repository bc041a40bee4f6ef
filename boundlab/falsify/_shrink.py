"""Greedy shrinking: fewer clients and iterations, smaller integers, simpler numbers, while the bound stays broken."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

from boundlab.errors import SpecError
from boundlab.falsify._candidate import Candidate, flat, shaped
from boundlab.falsify._judge import Judge, Score
from boundlab.falsify._size import Sizes, fine
from boundlab.options import numbers, parse_spec, typed

Accept = Callable[[Score], bool]
Move = Callable[[Candidate], Iterator[Candidate]]
Keep = Callable[[Candidate], bool]
_UNITS = range(-9, 10)  # powers of ten that function values and lengths are multiplied with
_READABLE = (1e-2, 1e3)


def shrink(
    score: Score,
    judge: Judge,
    over: Callable[[], bool],
    sizes: Sizes | None = None,
    keep: Keep = lambda _: True,
    accept: Accept = lambda _: True,
) -> Score:
    """Return a violation of which no single move makes a smaller one.

    Moves: noise of two signs for normal noise; one client less; fewer iterations; one row of data or one coordinate
    less; a smaller integer setting, an option less; simpler delays; a length or a weight of 1; a number with fewer
    digits. Smaller is :class:`boundlab.falsify._size.Sizes`.

    Parameters
    ----------
    keep
        What a smaller instance must still be.
    accept
        Whether a smaller violation takes the place of the one before.
    """
    order = sizes or Sizes(judge.theorem)
    best, changed, seen = score, True, {score.candidate.key()}
    while changed and not over():
        changed = False
        for move in _MOVES:
            again = True
            while again and not over():
                again = False
                for candidate in move(best.candidate):
                    if candidate.key() in seen or not keep(candidate) or not order.smaller(candidate, best.candidate):
                        continue
                    seen.add(candidate.key())
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
    for candidate in sorted(scaled, key=fine):
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
