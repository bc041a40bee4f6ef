"""Structured families for theorems about i.i.d. events (AREA)."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from boundlab.falsify._candidate import Candidate
from boundlab.falsify._families import local_rates
from boundlab.falsify._optimise import iid
from boundlab.theorems import Theorem

_STEPS = ("1", "2", "5", "20", "50", "3", "10")
_HORIZONS = (1, 3, 6, 4, 8, 5, 12)
_LONG = (10, 100, 1000)
_SHARES = (0.5, 0.25, 0.75, 0.1)
_SIZES = (0.01, 0.02, 0.05, 0.1, 0.3, 1.0, 0.001)


def candidates(theorem: Theorem) -> Iterator[list[Candidate]]:
    """Yield batches: few clients, few iterations and few local steps first."""
    rough = "strongly-convex" not in theorem.assumptions
    shapes = list(_rough() if rough else _smooth())
    horizons: Sequence[int] = _HORIZONS if rough else _LONG
    axes = (range(len(shapes)), range(len(_STEPS)), range(len(horizons)), range(len(_SHARES)))
    places = sorted(product(*axes), key=lambda place: (sum(place), place))
    for shape, local, horizon, share in places:
        family, problem = shapes[shape]
        n = len(problem["c"])
        if rough and n > 1 and horizons[horizon] > 8:
            continue
        for unequal in (False, True)[: min(n, 2)]:
            yield list(_batch(theorem, family, problem, _STEPS[local], horizons[horizon], _SHARES[share], unequal))


def _batch(
    theorem: Theorem, family: str, problem: dict[str, Any], local: str, horizon: int, share: float, unequal: bool
) -> Iterator[Candidate]:
    n = len(problem["c"])
    rest = 1.0 - share
    p = [rest / n] * n if not unequal else [*([rest / (n + 2)] * (n - 1)), 3.0 * rest / (n + 2)]
    settings = {"M": local} if theorem.leaves_open("M") else {}
    rates = local_rates(theorem)
    sizes = _SIZES if rates else (1.0,)
    for size in sizes:
        step = dict.fromkeys(rates, size)
        yield Candidate(family, problem, iid(p), settings, step, horizon)


def _rough() -> Iterator[tuple[str, dict[str, Any]]]:
    one: dict[str, Any] = {"type": "lad", "c": [0.0], "w": [1.0], "x0": 1.0, "sigma": 0.0}
    two = {**one, "c": [0.0, 0.0], "w": [1.0, 1.0]}
    yield "|x|, one client", one
    yield "|x|, equal clients", two
    yield "|x − c_i|, two centres", {**two, "c": [0.0, 1.0], "x0": 3.0}
    yield "Huber close to |x|, one client", {**one, "type": "huber", "delta": 0.05}
    yield "|x|, a flat client", {**two, "w": [1.0, 0.25]}
    yield "Huber close to |x|, two centres", {**two, "type": "huber", "delta": 0.1, "c": [0.0, 1.0], "x0": 2.0}
    yield "|x|, three clients", {**one, "c": [0.0, 0.0, 1.0], "w": [1.0, 1.0, 1.0], "x0": 2.0}


def _smooth() -> Iterator[tuple[str, dict[str, Any]]]:
    one: dict[str, Any] = {"type": "quadratic", "c": [0.0], "w": [1.0], "x0": 1.0, "sigma": 0.0}
    two = {**one, "c": [0.0, 1.0], "w": [1.0, 1.0]}
    yield "quadratic, one client", one
    yield "quadratic with noise, one client", {**one, "sigma": 1.0}
    yield "quadratics, two centres", two
    yield "quadratics with noise from the minimiser", {**two, "x0": 0.5, "sigma": 1.0}
    yield "quadratics, two curvatures", {**two, "w": [1.0, 4.0], "x0": 0.0}
    yield "quadratics from the minimiser", {**two, "w": [1.0, 4.0], "x0": 0.8}
    yield "quadratics, two curvatures, noise", {**two, "w": [1.0, 4.0], "x0": 2.0, "sigma": 0.1}
    yield "quadratics, three clients", {**one, "c": [0.0, 1.0, -1.0], "w": [1.0, 2.0, 3.0], "x0": 2.0}
