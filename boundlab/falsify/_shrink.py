"""Greedy shrinking: fewer clients and iterations, smaller integers, simpler numbers, while the bound stays broken."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from boundlab.errors import SpecError
from boundlab.falsify._candidate import Candidate, complexity, text
from boundlab.falsify._judge import Judge, Score
from boundlab.options import numbers, parse_spec

Move = Callable[[Candidate], Iterator[Candidate]]
CLEAR = 1.15  # a shrunk instance breaks the bound by at least this much where the search found as much


def threshold(ratio: float) -> float:
    """Return what a shrunk instance must keep of the largest ratio that was found."""
    return CLEAR if ratio >= CLEAR else 1.0 + (ratio - 1.0) / 2.0


def shrink(score: Score, judge: Judge, over: Callable[[], bool]) -> Score:
    """Return a violation of which no single move makes a smaller one.

    Moves: one client less; fewer iterations; a smaller integer setting; simpler delays; a number with fewer digits.
    Smaller is :func:`boundlab.falsify._candidate.complexity`, compared in this order.
    """
    need = threshold(score.ratio)
    best, changed, seen = score, True, {score.candidate.key()}
    while changed and not over():
        changed = False
        for move in _MOVES:
            again = True
            while again and not over():
                again = False
                for candidate in move(best.candidate):
                    if candidate.key() in seen or complexity(candidate) >= complexity(best.candidate):
                        continue
                    seen.add(candidate.key())
                    found = judge.score(candidate)
                    if found is not None and found.ratio >= need and found.candidate.iterations == candidate.iterations:
                        best, again, changed = found, True, True
                        break
                    if over():
                        break
    return best


def _fewer_clients(one: Candidate) -> Iterator[Candidate]:
    n = one.clients
    for gone in range(n if n > 1 else 0):
        arrays = ("c", "w", "A", "b", "a") if one.separable or one.problem["type"] != "quadratic" else ("A", "b")
        problem = {name: _without(value, gone, n) if name in arrays else value for name, value in one.problem.items()}
        settings = {name: _listed(value, gone, n) for name, value in one.settings.items()}
        name, options = parse_spec(one.delays, "delays")
        parts = ",".join(f"{key}={_listed(value, gone, n)}" for key, value in options.items())
        yield replace(one, problem=problem, settings=settings, delays=f"{name}:{parts}" if parts else name)


def _fewer_dimensions(one: Candidate) -> Iterator[Candidate]:
    """Leave out a coordinate."""
    d = len(one.start()) if one.separable else 1
    for gone in range(d if d > 1 else 0):
        rest = {name: np.delete(one.rows(name), gone, axis=1) for name in ("w", "c")}
        start = np.delete(one.start(), gone)
        if d > 2:
            yield one.with_problem(w=rest["w"].tolist(), c=rest["c"].tolist(), x0=start.tolist())
        else:
            w, c = (rest[name][:, 0].tolist() for name in ("w", "c"))
            yield one.with_problem(w=w, c=c, x0=float(start[0]))


def _without(value: Any, gone: int, n: int) -> Any:
    if isinstance(value, (list, tuple)) and len(value) == n:
        return [entry for place, entry in enumerate(value) if place != gone]
    return value


def _listed(value: str, gone: int, n: int) -> str:
    """Return a list of one number a client without that of the client ``gone``."""
    if value.startswith("[") and value.count(",") == n - 1:
        entries = value.strip("[]").split(",")
        return f"[{','.join(entry for place, entry in enumerate(entries) if place != gone)}]"
    return value


def _fewer_iterations(one: Candidate) -> Iterator[Candidate]:
    K = one.iterations
    for fewer in dict.fromkeys((1, K // 4, K // 2, 3 * K // 4, 9 * K // 10, 19 * K // 20, K - 2, K - 1)):
        if 1 <= fewer < K:
            yield replace(one, iterations=fewer)


def _smaller_settings(one: Candidate) -> Iterator[Candidate]:
    for name, value in one.settings.items():
        if not str(value).isdigit():
            continue
        whole = int(value)
        for less in dict.fromkeys((0, 1, whole // 2, 3 * whole // 4, whole - 1)):
            if 0 <= less < whole:
                yield replace(one, settings={**one.settings, name: str(less)})


def _simpler_delays(one: Candidate) -> Iterator[Candidate]:
    name, options = parse_spec(one.delays, "delays")
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
                shown = text(other) if listed else text(simple)
                rest = {**options, key: shown}
                yield replace(one, delays=f"{name}:{','.join(f'{left}={right}' for left, right in rest.items())}")


def _simpler_numbers(one: Candidate) -> Iterator[Candidate]:
    for name, value in one.step.items():
        for simple in _simpler(value):
            yield replace(one, step={**one.step, name: simple})
    for name, value in one.problem.items():
        if name == "type" or value is None:
            continue
        if isinstance(value, (int, float)):
            for simple in _simpler(float(value)):
                yield one.with_problem(**{name: simple})
            continue
        flat = np.array(value, dtype=np.float64)
        if not one.separable:
            # Numbers of an interpolated function fit each other: they are rounded together.
            for places in (2, 3, 4, 6):
                yield one.with_problem(**{name: np.vectorize(lambda x, p=places: float(f"{x:.{p}g}"))(flat).tolist()})
            continue
        for simple in dict.fromkeys(entry for whole in flat.reshape(-1).tolist() for entry in _simpler(whole)):
            yield one.with_problem(**{name: np.full_like(flat, simple).tolist()})
        for place in np.ndindex(flat.shape):
            for simple in _simpler(float(flat[place])):
                other = flat.copy()
                other[place] = simple
                yield one.with_problem(**{name: other.tolist()})


def _simpler(value: float) -> Iterator[float]:
    """Yield numbers near ``value`` that are shorter to write, the shortest first."""
    yield from (0.0, 1.0)
    if value < 0.0:
        yield -1.0
    for places in (1, 2, 3, 4):
        yield float(f"{value:.{places - 1}e}")
        for factor in (0.5, 2.0, 10.0, 100.0):
            yield float(f"{factor * value:.{places - 1}e}")


_MOVES: tuple[Move, ...] = (
    _fewer_clients, _fewer_iterations, _fewer_dimensions, _smaller_settings, _simpler_delays, _simpler_numbers,
)  # fmt: skip
