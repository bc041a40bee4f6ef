"""Structured families for theorems about i.i.d. events (AREA)."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Any

from boundlab.algorithms import Algorithm
from boundlab.falsify import _candidate as catalog
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._families import bounded, errors, noise_allowed, settings, steps
from boundlab.falsify._optimise import iid
from boundlab.instance.settings import open_rates
from boundlab.theorems import Theorem

_LOCAL = ("1", "2", "5", "20", "50", "3", "10")
_HORIZONS = (1, 3, 6, 2, 4, 8, 5, 12)
_LONG = (10, 1, 3, 100, 1000)
_SHARES = (0.5, 0.25, 0.75, 0.1)
_SIZES = (0.01, 0.02, 0.05, 0.1, 0.3, 1.0, 0.001, 2.0)
_OPTIONS = 8  # combinations of further options
_PASSES = 3  # batches before the one of long passes
_FORGOTTEN = 40  # iterations after which a start hardly counts


def candidates(theorem: Theorem) -> Iterator[list[Candidate]]:
    """Yield batches: few clients, few iterations and few local steps first, and early one of long passes."""
    algorithm = catalog.algorithm(theorem.algorithm)
    rough = "strongly-convex" not in theorem.core.assumed
    shapes = [one for one in (_rough(theorem) if rough else _smooth()) if noise_allowed(theorem) or not one[1]["sigma"]]
    horizons: Sequence[int] = _HORIZONS if rough else _LONG
    local = _LOCAL if theorem.core.varies("M") else ("1",)
    others = {n: _others(theorem, algorithm, n) for n in (1, 2, 3)}
    most = max(map(len, others.values()))
    axes = [range(len(axis)) for axis in (shapes, local, horizons, _SHARES)]
    places = sorted(product(*axes, range(most)), key=lambda place: (sum(place) + 2 * place[-1], place))
    for number, (shape, steps_, last, share, other) in enumerate(places):
        if number == _PASSES and rough and theorem.core.varies("M"):
            yield from filter(None, [_to_and_fro(theorem, others[1])])
        family, problem = shapes[shape]
        n = len(problem["c"])
        if other >= len(others[n]) or (rough and horizons[last] > 8 and n > 1):
            continue
        # All sequences of a noisy run are followed one by one, at every iteration up to the last.
        longest = {1: 8, 2: 5}.get(n, 0) if rough and problem["sigma"] else None
        if longest is not None and last:
            continue
        setting = {**others[n][other], **({"M": local[steps_]} if theorem.core.varies("M") else {})}
        for unequal in (False, True)[: min(n, 2)]:
            yield list(_batch(theorem, family, problem, setting, longest or horizons[last], _SHARES[share], unequal))


def _to_and_fro(theorem: Theorem, others: Sequence[dict[str, str]]) -> list[Candidate]:
    """Return |x| with steps that go just across the kink: passes of an even length end a step away, again and again.

    The start is forgotten by then, so that left sides are what the local steps do.
    """
    rates = open_rates(theorem)
    if len(rates) != 1 or not theorem.symbols[rates[0]].is_step_size or not others:
        return []
    problem = {"type": "lad", "c": [0.0], "w": [1.0], "x0": 1.0, "sigma": 0.0}
    return [
        Candidate(
            "|x|, to and fro", problem, iid([share]), {**others[0], "M": str(passes)}, {rates[0]: size}, _FORGOTTEN
        )
        for passes, size in ((2, 1.002), (4, 0.334), (10, 0.1114))
        for share in (0.72, 0.9)
    ]


def _others(theorem: Theorem, algorithm: Algorithm[Any], clients: int) -> list[dict[str, str]]:
    """Return combinations of the options beside the number of local steps."""
    found = [
        {name: value for name, value in one.items() if name != "M"}
        for one in islice(settings(theorem, algorithm, clients), 8 * _OPTIONS)
    ]
    return [dict(one) for one in dict.fromkeys(tuple(sorted(one.items())) for one in found)][:_OPTIONS]


def _batch(
    theorem: Theorem,
    family: str,
    problem: dict[str, Any],
    setting: dict[str, str],
    horizon: int,
    share: float,
    unequal: bool,
) -> Iterator[Candidate]:
    n = len(problem["c"])
    rest = 1.0 - share
    p = [rest / n] * n if not unequal else [*([rest / (n + 2)] * (n - 1)), 3.0 * rest / (n + 2)]
    for (weight, step), error in product(steps(theorem, horizon, _SIZES, default=True), errors(theorem)):
        w = [[weight * one for one in row] if isinstance(row, list) else weight * row for row in problem["w"]]
        yield Candidate(family, {**problem, "w": w, **error}, iid(p), setting, step, horizon)


def _rough(theorem: Theorem) -> Iterable[tuple[str, dict[str, Any]]]:
    one: dict[str, Any] = {"type": "lad", "c": [0.0], "w": [1.0], "x0": 1.0, "sigma": 0.0}
    two = {**one, "c": [0.0, 0.0], "w": [1.0, 1.0]}
    wide = {**one, "type": "huber", "delta": 1.0} if bounded(theorem) else {**one, "type": "quadratic"}
    return (
        ("|x|, one client", one),
        ("|x|, equal clients", two),
        ("noise at the minimiser, one client", {**wide, "x0": 0.0, "sigma": 100.0}),
        ("|x − c_i|, two centres", {**two, "c": [0.0, 1.0], "x0": 3.0}),
        ("Huber close to |x|, one client", {**one, "type": "huber", "delta": 0.05}),
        ("|x|, a flat client", {**two, "w": [1.0, 0.25]}),
        ("Huber close to |x|, two centres", {**two, "type": "huber", "delta": 0.1, "c": [0.0, 1.0], "x0": 2.0}),
        ("|x|, three clients", {**one, "c": [0.0, 0.0, 1.0], "w": [1.0, 1.0, 1.0], "x0": 2.0}),
        ("Huber, one client", {**one, "type": "huber", "delta": 1.0}),
        ("noise on the way, one client", {**wide, "sigma": 100.0}),
        ("noise, two clients", {**wide, "c": [0.0, 0.0], "w": [1.0, 1.0], "x0": 0.0, "sigma": 100.0}),
    )


def _smooth() -> Iterable[tuple[str, dict[str, Any]]]:
    one: dict[str, Any] = {"type": "quadratic", "c": [0.0], "w": [1.0], "x0": 1.0, "sigma": 0.0}
    two = {**one, "c": [0.0, 1.0], "w": [1.0, 1.0]}
    plane = {**one, "c": [[0.0, 0.0]], "w": [[0.1, 1.0]]}
    return (
        ("quadratic, one client", one),
        ("quadratic with noise, one client", {**one, "sigma": 1.0}),
        ("quadratics, two centres", two),
        ("quadratics with noise from the minimiser", {**two, "x0": 0.5, "sigma": 1.0}),
        ("quadratic of two curvatures, one client", {**plane, "x0": [1.0, 0.0]}),
        ("quadratics, two curvatures", {**two, "w": [1.0, 4.0], "x0": 0.0}),
        ("quadratics from the minimiser", {**two, "w": [1.0, 4.0], "x0": 0.8}),
        ("quadratics, two curvatures, noise", {**two, "w": [1.0, 4.0], "x0": 2.0, "sigma": 0.1}),
        ("noise in two directions, one client", {**plane, "x0": [0.0, 0.0], "sigma": 1.0}),
        ("quadratics, three clients", {**one, "c": [0.0, 1.0, -1.0], "w": [1.0, 2.0, 3.0], "x0": 2.0}),
    )
