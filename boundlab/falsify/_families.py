"""Structured families of schedules and of candidates on them."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from importlib import resources
from itertools import chain, combinations, islice, pairwise, product
from typing import Any

import numpy as np

from boundlab.algorithms import Algorithm
from boundlab.assumptions import BOUNDED_DOMAIN, COMPOSITE, RELATIVE
from boundlab.errors import BoundlabError, SpecError
from boundlab.falsify import _candidate as catalog
from boundlab.falsify._candidate import Candidate, iid, tried
from boundlab.formulas.floats import evaluate
from boundlab.formulas.symbols import names_of
from boundlab.instance.applicability import looked_at
from boundlab.instance.schedules import options_of, parameters as read
from boundlab.registry import lookup, registered
from boundlab.theorems import Condition, Theorem, derive, met, over

# The conditions of a theorem at numbers, and where they end: at the edge of what it claims it is false first.

_LOOKED_AT = np.geomspace(1e-4, 1e4, 161).tolist()  # by 12 % from one to the next
_HALVINGS = 60
_BESIDE = 1e-9  # a share of the edge: so far off is near enough, and sure to be on its side


def sides(theorem: Theorem, conditions: Iterable[Condition], known: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Return the values of both sides of conditions, floats or arrays of them.

    Raises
    ------
    BoundlabError
        If one has none.
    """
    both = [(one.quantity, one.limit) for one in conditions]
    found = derive(theorem, known, frozenset().union(*(names_of(side) for pair in both for side in pair)), 1)
    return [(evaluate(left, found, theorem.id), evaluate(right, found, theorem.id)) for left, right in both]


def edges(theorem: Theorem, name: str, known: Mapping[str, float]) -> list[float]:
    """Return the values of a symbol at which a condition on it and on known numbers just holds, in short decimals.

    Parameters
    ----------
    name
        Of a positive number, such as mu or alpha.
    known
        All other numbers that a condition may read to be looked at.
    """
    given = {*known, name}
    return list(dict.fromkeys(value for one in theorem.conditions for value in _ends(theorem, one, name, known, given)))


def _ends(theorem: Theorem, one: Condition, name: str, known: Mapping[str, float], given: set[str]) -> Iterator[float]:
    read = theorem.read_by(names_of(one.quantity) | names_of(one.limit), given)
    if name not in read or not read - theorem.defining().keys() <= given:
        return

    def meets(value: float) -> bool:
        try:
            return bool(one.meets(*sides(theorem, [one], {**known, name: value})[0]))
        except BoundlabError:
            return False

    looks = [(value, meets(value)) for value in _LOOKED_AT]
    for (inside, first), (outside, second) in pairwise(looks):
        if first == second:
            continue
        if second:
            inside, outside = outside, inside
        inwards = 1.0 + math.copysign(_BESIDE, inside - outside)
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2.0
            inside, outside = (middle, outside) if meets(middle) else (inside, middle)
        short = [
            value for digits in range(1, 6) if abs((value := float(f"{inside:.{digits}g}")) / inside - 1.0) < _BESIDE
        ]
        exact = {other: Fraction(number) for other, number in known.items()}
        yield next((value for value in short if met(theorem, one, {**exact, name: Fraction(value)})), inside * inwards)


# Settings to try: every option that the algorithm declares and that the theorem leaves open, and windows.

_WINDOWS = ("1", "2", "3", "6")
_ACCURACIES = ("0.5", "0.1", "2", "0.02", "10")
_AT_ONCE = 4  # options that differ from their simplest values at a time


def settings(theorem: Theorem, algorithm: Algorithm[Any], clients: int) -> Iterator[dict[str, str]]:
    """Yield combinations of settings, those with the fewest and smallest changes from the simplest first.

    Parameters
    ----------
    clients
        n, for options with one entry a client.
    """
    values = choices(theorem, algorithm, clients)
    names = list(values)
    first = {name: some[0] for name, some in values.items()}
    several = [name for name in names if len(values[name]) > 1]
    places = [
        dict(zip(changed, place, strict=True))
        for number in range(min(_AT_ONCE, len(several)) + 1)
        for changed in combinations(several, number)
        for place in product(*(range(1, min(len(values[name]), 1 + _reach(number))) for name in changed))
    ]
    for place in sorted(places, key=lambda one: (sum(one.values()), len(one))):
        chosen = first | {name: values[name][entry] for name, entry in place.items()}
        given = {name: value for name, value in chosen.items() if value}
        if readable(theorem, algorithm, given):
            yield given


def _reach(number: int) -> int:
    """Return how many values of each option are tried where so many change: all of few, few of many."""
    return {0: 1, 1: 9, 2: 4, 3: 2}.get(number, 1)


def choices(theorem: Theorem, algorithm: Algorithm[Any], clients: int) -> dict[str, tuple[str, ...]]:
    """Return the values to try of each option that is open, simplest first; '' leaves it out."""
    free = theorem.takes
    found: dict[str, tuple[str, ...]] = {"N": _WINDOWS} if "N" in free else {}
    found |= dict.fromkeys(tried(theorem), _ACCURACIES)
    own = options_of(theorem, algorithm)
    for name, some in algorithm.examples(clients).items():
        if name in own and theorem.core.varies(name):
            found[name] = tuple("" if _usual(theorem, algorithm, name, value) else value for value in some)
    return found


def unvaried(theorem: Theorem) -> dict[str, str]:
    """Return the algorithm's options that every search leaves at their defaults, with these; '' is an option left out.

    What the theorem fixes is part of its statement, and not among them.
    """
    algorithm = lookup("algorithms", theorem.algorithm)
    own, open_ones = options_of(theorem, algorithm), choices(theorem, algorithm, 2)
    return {
        one.id: one.value
        for one in theorem.core.options
        if one.id in own and one.how not in ("fixed", "unused") and len(open_ones.get(one.id, ())) < 2
    }


def _usual(theorem: Theorem, algorithm: Algorithm[Any], name: str, value: str) -> bool:
    """Return whether an option has this value where it is left out."""
    try:
        return bool(parameters(theorem, algorithm, {}) == parameters(theorem, algorithm, {name: value}))
    except SpecError:
        return False


def readable(theorem: Theorem, algorithm: Algorithm[Any], setting: Mapping[str, str]) -> bool:
    """Return whether options go together."""
    try:
        parameters(theorem, algorithm, setting)
    except SpecError:
        return False
    return True


def parameters(theorem: Theorem, algorithm: Algorithm[Any], setting: Mapping[str, str]) -> Any:
    """Return the algorithm's parameters with these settings and what the theorem fixes, and 1 in place of its rates.

    Raises
    ------
    SpecError
        If options do not go together.
    """
    known = {name: value for name, value in setting.items() if name in algorithm.parameters}
    return read(theorem, algorithm, {**theorem.core.fixed, **known})


def on_composite(theorem: Theorem, setting: Mapping[str, str], clients: int) -> str:
    """Return what a run on f + h is in place of the method that books call so; '' where it is that."""
    algorithm: Algorithm[Any] = lookup("algorithms", theorem.algorithm)
    return algorithm.on_composite(parameters(theorem, algorithm, setting), clients)


# Structured problems: the functions and starts on which bounds fail, for each kind of theorem.

Shape = tuple[str, dict[str, Any]]
# λ/L of the coordinate that a run moves in, where another one has the curvature L and rests.
_LOW = (0.5, 0.1, 0.01)
_UPHILL = (3.3, 1.2)  # starts beyond and before the flat step
# Radii of balls around 0, in units of the smallest that holds x0 and the centres or x0 alone.
_RADII = (1.0, 2.0)


def kind_of(theorem: Theorem) -> str:
    """Return which functions the theorem is about: quadratics where f must be strongly convex."""
    if "strongly-convex" in theorem.core.assumed:
        return "quadratic"
    return "huber" if "smooth" in theorem.core.assumed else "lad"


def kinds_of(theorem: Theorem) -> tuple[str, ...]:
    """Return all such functions: what holds at every x may hold of quadratics alone, or of others alone."""
    first = kind_of(theorem)
    return ("quadratic", first) if theorem.assume and first != "quadratic" and not bounded(theorem) else (first,)


def bounded(theorem: Theorem) -> bool:
    """Return whether the theorem asks for bounded (sub)gradients, which quadratics do not have."""
    return bool({"lipschitz", "bounded-gradients", "bounded-second-moment"} & theorem.core.assumed)


def errors(theorem: Theorem) -> Iterator[dict[str, Any]]:
    """Yield errors of gradients that the theorem allows, as options of a problem; none first."""
    yield {}
    if len(theorem.core.errors) == 1:  # no problem with errors is of both kinds
        for size in (0.1, -0.1, 0.5, -0.5):
            yield {"error": f"relative:{size}" if RELATIVE in theorem.core.errors else size}


def noise_allowed(theorem: Theorem) -> bool:
    """Return whether the theorem is about noisy gradients, too."""
    return not theorem.core.noiseless


def on_data(theorem: Theorem) -> bool:
    """Return whether the theorem is about functions that are drawn, such as the losses of rows of data."""
    return "sampled-functions" in theorem.core.assumed


def on_balls(shapes: Iterator[Shape]) -> Iterator[Shape]:
    """Yield problems on balls around 0 that hold their starts, small ones first: constants grow with the ball.

    Where start and centres are 0 the ball has the radius 1.
    """
    for words, shape in shapes:
        size = float(np.linalg.norm(np.atleast_1d(shape["x0"])))
        far = float(np.linalg.norm(np.array(shape["c"], dtype=np.float64).reshape(len(shape["c"]), -1), axis=1).max())
        for radius in dict.fromkeys(
            float(f"{times * one * (1.0 + 1e-3 * (np.size(shape['x0']) > 1)):.4g}")
            for one in (size or far or 1.0, max(size, far) or 1.0)
            for times in _RADII
        ):
            yield f"{words}, in a ball", {**shape, "ball": radius}


def quiet(theorem: Theorem, clients: int, lasts: Sequence[int]) -> Iterator[Shape]:
    """Yield problems without noise, on balls where the theorem is about a bounded set; see :func:`_everywhere`.

    None where functions are drawn: data of one row have no noise, and are among :func:`noisy`.
    """
    if on_data(theorem):
        return
    if BOUNDED_DOMAIN not in theorem.core.assumed:
        for kind in kinds_of(theorem):
            yield from _everywhere(theorem, kind, clients, lasts)
        return
    # On a ball quadratics have bounded gradients.
    strong = "strongly-convex" in theorem.core.assumed
    for kind in ("quadratic",) if strong else ("huber", "quadratic"):
        yield from on_balls(_everywhere(theorem, kind, clients, lasts))


def _everywhere(theorem: Theorem, kind: str, clients: int, lasts: Sequence[int]) -> Iterator[Shape]:
    """Yield (what it is, problem) without noise, from the minimiser if the centres differ, else from one unit away.

    Parameters
    ----------
    lasts
        Horizons for which the worst threshold of a Huber function is known: 1/(2K+1) for gradient descent.
    """
    base = _base(kind, clients)
    yield "equal functions", {**base, "c": [0.0] * clients, "x0": 1.0}
    if kind == "lad":
        yield "equal functions", {**base, "type": "huber", "delta": 0.1, "c": [0.0] * clients, "x0": 1.0}
    if kind == "huber" and clients == 1:
        for last in lasts:
            for delta in dict.fromkeys((1.0 / (2 * last + 1), 1.0 / (last + 1))):
                yield "equal functions, linear far out", {**base, "delta": delta, "c": [0.0] * clients, "x0": 1.0}
    if COMPOSITE in theorem.core.assumed and "constrained" not in theorem.core.assumed and kind != "lad":
        yield from _penalised(theorem, kind, base, clients, lasts)
    if clients > 1:
        yield from _apart(theorem, kind, base, clients)
    if clients == 1 or (clients == 2 and kind == "quadratic"):
        yield from _directions(theorem, kind, clients)


def _penalised(
    theorem: Theorem, kind: str, base: dict[str, Any], clients: int, lasts: Sequence[int]
) -> Iterator[Shape]:
    """Yield functions with a penalty: flat ones, of which only the penalty moves a run, and clients apart.

    K steps of 1/L along |x| times LR/(2K) end half way, at a gap of LR²/(4K): h = 0 leaves LR²/(4K + 2) at most.
    """
    for last in lasts if clients == 1 else ():
        whole = 1.0 / (2 * last)  # the slope of f and h together
        if kind == "huber":
            delta = 1e-3 * whole
            flat = {**base, "delta": delta, "l1": whole - delta, "c": [0.0], "x0": 1.0}
            yield "a penalty, nearly flat functions", flat
        for low in _LOW[1:] if kind == "quadratic" else (0.0,):
            flat = {**base, "w": [[low, 1.0]], "l1": whole, "c": [[0.0, 0.0]], "x0": [1.0, 0.0]}
            yield "a penalty, functions that are flat in one direction", flat
    if clients > 1 and "one-function" not in theorem.core.assumed:
        for weight in (0.1, 0.5):
            yield "two centres and a penalty", {**base, "c": [0.0] * (clients - 1) + [1.0], "l1": weight, "x0": 1.0}


def _base(kind: str, clients: int) -> dict[str, Any]:
    return {"type": kind, "sigma": 0.0, "w": [1.0] * clients} | _width(kind, 1.0)


def _width(kind: str, delta: float) -> dict[str, float]:
    return {"delta": delta} if kind == "huber" else {}


def _directions(theorem: Theorem, kind: str, clients: int) -> Iterator[Shape]:
    """Yield functions of several coordinates: one gives L, one mu, and a run moves in one of them or between."""
    flat = "quadratic" if kind == "huber" and not bounded(theorem) else kind
    base = {"type": flat, "sigma": 0.0, **_width(flat, 1.0)}
    for low in _LOW if kind == "quadratic" else _LOW[:2]:
        for start in ([1.0, 0.0], [0.0, 1.0], [1.0, 1.0]) if kind == "quadratic" else ([1.0, 0.0], [1.0, 1.0]):
            problem = {**base, "w": [[low, 1.0]] * clients, "c": [[0.0, 0.0]] * clients, "x0": start}
            yield f"two curvatures in two directions, ratio {1.0 / low:g}", problem
    for low, between in ((0.1, 0.75), (0.1, 0.5), (0.1, 0.25), (1e-4, 1e-2)) if kind == "quadratic" else ():
        problem = {**base, "c": [[0.0] * 3] * clients, "x0": [0.0, 1.0, 0.0]}
        yield "three curvatures", {**problem, "w": [[low, between, 1.0]] * clients}


def _apart(theorem: Theorem, kind: str, base: dict[str, Any], clients: int) -> Iterator[Shape]:
    """Yield clients that pull to different places."""
    last = [0.0] * (clients - 1) + [1.0]
    for delta in (1.0, 0.5, 0.25, 2.0) if kind == "huber" else (1.0,):
        yield "two centres", {**base, "c": last, **_width(kind, delta), "x0": 1.0 / clients}
    yield "two centres", {**base, "c": [0.0] + [1.0] * (clients - 1), "x0": 1.0 - 1.0 / clients}
    uneven = [1.0] * (clients - 1) + [0.25]
    yield "two curvatures", {**base, "c": last, "w": uneven, "x0": 0.25 / sum(uneven)}
    if clients == 2 and kind == "quadratic":
        # A client that is flat where the other is steep.
        yield (
            "crossed curvatures",
            {**base, "w": [[1.0, 0.1], [0.1, 1.0]], "c": [[0.0, 1.0], [1.0, 0.0]], "x0": [1.0 / 11.0, 1.0 / 11.0]},
        )
        if "strongly-convex" not in theorem.core.assumed:
            flat = {**base, "w": [[1.0, 0.0], [0.5, 1.0]], "c": [[0.0, 0.0], [1.0, 1.0]], "x0": [1.0, 1.0]}
            yield "one client is flat where the other one is not", flat


def staircases(theorem: Theorem) -> Iterator[Shape]:
    """Yield f of one coordinate with f' = x up to 1, the slope mu up to 2, and the slope 1 again: momentum may cycle.

    They are maxima of affine functions with rounded kinks, plus mu/2·x².
    """
    if kind_of(theorem) != "quadratic" or BOUNDED_DOMAIN in theorem.core.assumed or on_data(theorem):
        return
    for mu, x0 in product((*edges(theorem, "mu", {"L": 1.0}), *_LOW[1:]), _UPHILL):
        if mu < 1.0:
            rise = round(1.0 - mu, 12)
            steps = {"a": [[[-4.0 * rise], [rise], [5.0 * rise]]], "c": [[0.0, 0.0, -4.0 * rise]]}
            yield (
                "a flat step between steep ones",
                {"type": "smoothed-max-affine", **steps, "L": 1.0, "mu": mu, "x0": x0},
            )


def starts(shape: dict[str, Any]) -> tuple[Any, ...]:
    """Return start points besides the one that the shape has: kinks, a centre, and points further away."""
    if "ball" in shape and not isinstance(shape["x0"], list):
        return tuple(float(f"{part * shape['ball']:.4g}") for part in (-1.0, 0.0, 0.5, 1.0))
    if isinstance(shape["x0"], list) or shape.get("delta", 1.0) not in (1.0, 0.1):
        return ()
    if not any(shape["c"]):
        return 0.5, 2.0, 5.0
    return 0.0, 1.0, 1.0 / 3.0


def noisy(theorem: Theorem, clients: int) -> Iterator[Shape]:
    """Yield problems with noise, from the minimiser and from one unit away.

    Runs with noise are followed on quadratic parts; where gradients must be bounded, the quadratic part of a Huber
    function is made as wide as the run needs. On balls noise has two signs, of which all sequences are looked at, and
    where functions are drawn the noise is that of mini-batches.
    """
    if on_data(theorem):
        yield from _rows(clients)
        return
    if BOUNDED_DOMAIN in theorem.core.assumed:
        yield from on_balls(_signs(theorem, clients))
        return
    for kind in ("quadratic",) * (not bounded(theorem)) + ("huber",) * bool(bounded(theorem) or theorem.assume):
        yield from _with_noise(kind, clients)


def _with_noise(kind: str, clients: int) -> Iterator[Shape]:
    base: dict[str, Any] = {"type": kind, "c": [0.0] * clients, "w": [1.0] * clients, **_width(kind, 1.0)}
    yield "noise at the minimiser", {**base, "x0": 0.0, "sigma": 1.0}
    for sigma in (1.0, 0.1, 10.0, 100.0):
        yield "noise on the way", {**base, "x0": 1.0, "sigma": sigma}
    if kind == "quadratic":
        for low, start in product((0.5, 0.1), ([0.0, 0.0], [1.0, 0.0], [1.0, 1.0])):
            yield (
                "noise in two directions",
                {
                    **base,
                    "w": [[low, 1.0]] * clients,
                    "c": [[0.0, 0.0]] * clients,
                    "x0": start,
                    "sigma": 1.0,
                },
            )
    if clients > 1:
        apart = {**base, "c": [0.0] * (clients - 1) + [1.0]}
        yield "noise and two centres", {**apart, "x0": 1.0 / clients, "sigma": 0.5}
        yield "noise and two centres", {**apart, "x0": 0.0, "sigma": 0.1}


def _signs(theorem: Theorem, clients: int) -> Iterator[Shape]:
    """Yield problems with noise of two signs, which a projection cuts where it is large."""
    for kind in ("quadratic",) if "strongly-convex" in theorem.core.assumed else ("quadratic", "huber"):
        base = {**_base(kind, clients), "c": [0.0] * clients, "noise": "sign", "x0": 1.0}
        yield "noise at the minimiser", {**base, "x0": 0.0, "sigma": 1.0}
        for sigma in (1.0, 0.1, 2.0):
            yield "noise on the way", {**base, "sigma": sigma}
        if clients > 1:
            yield "noise and two centres", {**base, "c": [-1.0] * (clients - 1) + [1.0], "sigma": 1.0}


def _rows(clients: int) -> Iterator[Shape]:
    """Yield least squares on few rows, of which the steepest has the curvature 1, with mini-batches of one row or two.

    All clients have the same rows, of which gradients at the minimiser 0 differ; or others have other targets.
    """
    flat, tilted = [[1.0, 0.0], [0.0, 0.5]], [[1.0, 0.0], [0.6, 0.8]]
    alike: tuple[tuple[str, list[Any], list[float], tuple[Any, ...]], ...] = (
        ("one row", [1.0], [0.0], (1.0,)),
        ("rows of one curvature", [1.0, 1.0], [-1.0, 1.0], (0.0, 1.0)),
        ("rows of two curvatures", [1.0, 0.5], [-1.0, 2.0], (0.1, 1.0, -0.1)),
        ("rows of two curvatures", [1.0, 0.1], [-1.0, 10.0], (0.1, 1.0, -0.1)),
        ("three rows", [1.0, 1.0, 0.5], [-1.0, 0.0, 2.0], (0.1,)),
        ("a steep row of four", [1.0, 0.1, 0.1, 0.1], [-3.0, 10.0, 10.0, 10.0], (3.0,)),
        ("rows of two directions", tilted, [0.0, 0.0], ([-0.4, 0.8],)),
        ("rows of two directions", flat, [0.0, 0.0], ([1.0, 1.0],)),
        ("rows of two directions, noise in one", [flat[0], *flat], [-1.0, 1.0, 0.0], ([0.1, 0.0],)),
    )
    for words, rows, targets, of_start in alike:
        base: dict[str, Any] = {"type": "least-squares", "a": [rows] * clients, "y": [targets] * clients}
        for x0, batch in product(of_start, (1, 2) if len(rows) > 2 else (1,)):
            yield words, {**base, "batch": batch, "x0": x0}
    for shift in (1.0, 10.0) if clients > 1 else ():
        apart = [[target + shift * (client == clients - 1) for target in (-1.0, 1.0)] for client in range(clients)]
        base = {"type": "least-squares", "a": [[1.0, 1.0]] * clients, "y": apart, "batch": 1}
        for x0 in (shift / clients, 0.0):
            yield "clients with different rows", {**base, "x0": x0}


Schedule = tuple[str, int, str, dict[str, str]]
# η·L: where conditions end, beyond, and towards 0; a few for a first look, then those between.
FEW = (1.0, 0.1, 1e-4, 1.9, 2.5, 0.01)
SIZES = (0.5, 0.2, 1.5, 5.0, 0.05, 0.02, 0.001, 1e-5)
LEVELS = 2
# Rates without a unit: server rates, momentum, offsets.
NUMBERS = (1.0, 0.5, 2.0, 0.1, 0.9, 10.0)
_WIDTH = 4  # settings looked at on all schedules before the next ones
# Family, clients, delays: those of a line take turns, setting by setting.
_SIDE_BY_SIDE = (
    (("one client", 1, "deterministic"), ("two speeds", 2, "deterministic:rates=[2,1]")),
    (("two speeds", 2, "deterministic:rates=[5,1]"), ("equal speeds", 2, "deterministic")),
    (("one late client", 3, "deterministic:rates=[3,3,1]"), ("burst of equal clients", 8, "deterministic")),
    (
        ("almost absent client", 2, "deterministic:rates=[50,1]"),
        ("random arrivals", 2, "exponential:rates=[3,1]"),
        ("random arrivals", 3, "two-speed"),
        ("many equal clients", 40, "deterministic"),
    ),
)


def schedules(theorem: Theorem, algorithm: Algorithm) -> Iterator[Schedule]:  # type: ignore[type-arg]
    """Yield (family, clients, delays, settings): few clients and simple settings first."""
    mean = over(theorem)
    if mean.drawn:
        yield from _drawn(theorem, algorithm)
        return
    if mean.lawful:
        yield from _orderless(theorem, algorithm)
        return
    sources = {n: settings(theorem, algorithm, n) for _, n, _ in chain(*_SIDE_BY_SIDE)}
    while True:
        some = {n: [next(sources[n], None) for _ in range(_WIDTH)] for n in (1, 2, 3)}
        if not any(setting is not None for each in some.values() for setting in each):
            return
        for kinds, place in product(_SIDE_BY_SIDE, range(_WIDTH)):
            for family, n, delays in kinds:
                setting = some[n][place] if n in some else next(sources[n], None)
                if setting is not None:
                    yield family, n, delays, setting
        if (first := some[2][0]) is not None:
            yield from (("random arrivals", 2, f"{name}:rates=[3,1]", first) for name in laws())


def laws() -> list[str]:
    """Return the registered delay laws that rates are all there is to say of."""
    return sorted(name for name, kind in registered("delays").items() if "rates" in kind.options)


def _drawn(theorem: Theorem, algorithm: Algorithm) -> Iterator[Schedule]:  # type: ignore[type-arg]
    """Yield clients of whom each iteration draws one, without regard to delays."""
    for n in (1, 2, 3, 4):
        for place, setting in enumerate(settings(theorem, algorithm, n)):
            if place < _WIDTH:
                yield "one client" if n == 1 else f"one of {n} clients, drawn uniformly", n, "deterministic", setting


def _orderless(theorem: Theorem, algorithm: Algorithm) -> Iterator[Schedule]:  # type: ignore[type-arg]
    """Yield schedules on which the order of random arrivals has no influence, so that their mean is one tape.

    With one client there is one order; where everybody waits for everybody, the order does not matter.
    """
    for setting in settings(theorem, algorithm, 1):
        if setting.get("reply") != "wait" or setting.get("count") == "1":
            yield "one client", 1, "exponential", setting
        if setting.get("reply") == "wait" and setting.get("count") not in (None, "1"):
            yield "all together", int(setting["count"]), "exponential", setting


def problems(theorem: Theorem, schedule: Schedule, iterations: int, level: int, noise: bool = False) -> list[Candidate]:
    """Return candidates for one schedule.

    Parameters
    ----------
    level
        0: a few step sizes and starts for a first look; 1: the others.
    """
    family, clients, delays, setting = schedule
    found = []
    shapes = noisy(theorem, clients) if noise else quiet(theorem, clients, lasts(iterations))
    for (kind, plain), error in product(shapes, errors(theorem)):
        shape = {**plain, **error}
        others = () if noise else starts(shape)
        for number, sizes in enumerate((FEW, SIZES[:: 1 + noise])):
            begun = (shape["x0"],) * (number == level) + others * (level == 1)
            for weight, step in steps(theorem, iterations, sizes, default=number == 0):
                first = _steeper(Candidate(f"{kind}; {family}", shape, delays, setting, step, iterations), weight)
                found += [first.with_problem(x0=x) for x in begun]
    if level == 1 and not noise and clients == 1:
        found += _staircases(theorem, schedule, iterations)
    return found


def _staircases(theorem: Theorem, schedule: Schedule, iterations: int) -> Iterator[Candidate]:
    """Yield the candidates of piecewise quadratics with the theorem's own steps, or a few: L is 1."""
    family, _, delays, setting = schedule
    for kind, shape in staircases(theorem):
        for weight, step in steps(theorem, iterations, FEW, default=True):
            if weight == 1.0:
                yield Candidate(f"{kind}; {family}", shape, delays, setting, step, iterations)


def _steeper(one: Candidate, weight: float) -> Candidate:
    """Return the candidate with f times a weight; noise that is added to gradients stays what it is."""
    if one.sampled:
        return one if weight == 1.0 else one.in_units(weight, 1.0)
    return one.with_arrays(w=weight * one.rows("w"))


def lasts(iterations: int) -> Sequence[int]:
    """Return horizons up to that of a run for which worst functions are tried."""
    return tuple(dict.fromkeys(min(one, iterations) for one in (1, 3, iterations)))


def steps(
    theorem: Theorem, iterations: int, sizes: Sequence[float], *, default: bool
) -> Iterator[tuple[float, dict[str, float]]]:
    """Yield (weight of the clients, chosen rates).

    Parameters
    ----------
    default
        Whether the theorem's own rates are among them, where it has some.
    """
    needed = [name for name in theorem.open_rates if name not in theorem.settable]
    offered = [name for name in theorem.open_rates if name in theorem.settable]
    if not needed:
        # A rule that does not know how steep or curved f is: scale f instead, by as much as the rule leaves open.
        known = {"L", "B"} & theorem.read_by(theorem.step)
        for weight in ((1.0,) if default else ()) if known else [size * iterations for size in sizes]:
            yield weight, {}
    for names in dict.fromkeys((tuple(needed), *((*needed, name) for name in offered))):
        if names:
            yield from ((1.0, step) for step in _chosen(theorem, names, sizes, default=default))


def _chosen(
    theorem: Theorem, names: Sequence[str], sizes: Sequence[float], *, default: bool
) -> Iterator[dict[str, float]]:
    """Yield values of rates: step sizes together in 1/L, numbers beside them few at a time."""
    lengths = [name for name in names if theorem.symbols[name].is_step_size]
    numbers = [name for name in names if name not in lengths]
    places = sorted(product(range(len(NUMBERS)), repeat=len(numbers)), key=sum)
    for place in places[: 4 if lengths and default else 12 if default else 1 if lengths else 0]:
        rest = {name: NUMBERS[entry] for name, entry in zip(numbers, place, strict=True)}
        for size in sizes if lengths else (1.0,):
            # α_0 = c/d
            yield {name: size * (rest.get("d", 1.0) if name == "c" else 1.0) for name in lengths} | rest


# Known witnesses: small instances that refuted a theorem or a wrong form of one, tried before anything else.

_FILE = "witnesses.json"


@cache
def known() -> tuple[Mapping[str, Any], ...]:
    """Return the witnesses of the data file.

    Each has ``words`` (what it shows), ``algorithm`` (an id, or * for any), ``problem``, ``delays``, ``settings``,
    ``iterations``, and ``rates``: values for the rates that a theorem leaves open, in 1/L where they are step sizes,
    under ``length`` for step sizes of any name; empty where the theorem's own are taken.
    """
    text = resources.files("boundlab.falsify").joinpath(_FILE).read_text(encoding="utf-8")
    return tuple(json.loads(text))


def known_witnesses(theorem: Theorem) -> list[Candidate]:
    """Return the witnesses that can be looked at for a theorem, in the order of the file."""
    return [candidate for one in known() for candidate in _candidates(theorem, one)]


def _candidates(theorem: Theorem, witness: Mapping[str, Any]) -> Iterator[Candidate]:
    algorithm = catalog.algorithm(theorem.algorithm)
    if witness["algorithm"] not in ("*", theorem.algorithm):
        return
    settings = witness["settings"]
    if not all(name == "N" or theorem.core.varies(name) for name in settings):
        return
    free = theorem.takes
    if "N" in free:
        settings = {"N": "1", **settings}
    elif "N" in settings:
        return
    if (algorithm.server == "any") != witness["delays"].startswith("iid"):
        return
    step = _step(theorem, witness["rates"])
    if step is None or (witness["problem"]["sigma"] and not noise_allowed(theorem)):
        return
    family = f"known witness: {witness['words']}"
    found = Candidate(family, witness["problem"], witness["delays"], settings, step, witness["iterations"])
    problem = looked_at(theorem, found.build())
    if not any(problem.why_not(one.id) for one in theorem.core.asked if one.of == "functions"):
        yield found


def _step(theorem: Theorem, rates: Mapping[str, float]) -> dict[str, float] | None:
    """Return values of the open rates, None where the witness says none that the theorem needs."""
    found = {}
    for name in theorem.open_rates:
        key = name if name in rates else "length" if theorem.symbols[name].is_step_size else name
        if key in rates:
            found[name] = float(rates[key])
        elif name not in theorem.settable:
            return None
    return found


# Structured families for theorems about i.i.d. events (AREA).

_PASSES_OF_STEPS = ("1", "2", "5", "20", "50", "3", "10")
_HORIZONS = (1, 3, 6, 2, 4, 8, 5, 12)
_LONG = (10, 1, 3, 100, 1000)
_SHARES = (0.5, 0.25, 0.75, 0.1)
_SIZES = (0.01, 0.02, 0.05, 0.1, 0.3, 1.0, 0.001, 2.0)
_OPTIONS = 8  # combinations of further options
_PASSES = 3  # batches before the one of long passes
_FORGOTTEN = 40  # iterations after which a start hardly counts


def on_random_events(theorem: Theorem) -> Iterator[list[Candidate]]:
    """Yield batches: few clients, few iterations and few local steps first, and early one of long passes."""
    algorithm = catalog.algorithm(theorem.algorithm)
    rough = "strongly-convex" not in theorem.core.assumed
    shapes = [one for one in (_rough(theorem) if rough else _smooth()) if noise_allowed(theorem) or not one[1]["sigma"]]
    horizons: Sequence[int] = _HORIZONS if rough else _LONG
    local = _PASSES_OF_STEPS if theorem.core.varies("M") else ("1",)
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
    rates = theorem.open_rates
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
