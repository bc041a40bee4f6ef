"""Structured families of schedules and of candidates on them."""

from collections.abc import Iterator, Sequence
from itertools import product

from boundlab.algorithms import Algorithm
from boundlab.falsify import _problem_families
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._options import settings
from boundlab.instance.settings import open_rates
from boundlab.registry import registered
from boundlab.theorems import Theorem, over

Schedule = tuple[str, int, str, dict[str, str]]
# η·L: where conditions end, beyond, and towards 0; a few for a first look, then those between.
FEW = (1.0, 0.1, 1e-4, 1.9, 2.5, 0.01)
SIZES = (0.5, 0.2, 1.5, 5.0, 0.05, 0.02, 0.001, 1e-5)
LEVELS = 2
# Rates without a unit: server rates, momentum, offsets.
NUMBERS = (1.0, 0.5, 2.0, 0.1, 0.9, 10.0)
_WIDTH = 4  # settings looked at on all schedules before the next ones


def schedules(theorem: Theorem, algorithm: Algorithm) -> Iterator[Schedule]:  # type: ignore[type-arg]
    """Yield (family, clients, delays, settings): few clients and simple settings first."""
    mean = over(theorem)
    if mean.drawn:
        yield from _drawn(theorem, algorithm)
        return
    if mean.lawful:
        yield from _orderless(theorem, algorithm)
        return
    rows = [iter(settings(theorem, algorithm, n)) for n in range(4)]
    eight, forty = settings(theorem, algorithm, 8), settings(theorem, algorithm, 40)
    while True:
        one, two, three = ([next(source, None) for _ in range(_WIDTH)] for source in rows[1:4])
        if all(setting is None for setting in one + two + three):
            return
        for first, second in zip(one, two, strict=True):
            yield from _some("one client", 1, "deterministic", first)
            yield from _some("two speeds", 2, "deterministic:rates=[2,1]", second)
        for second in two:
            yield from _some("two speeds", 2, "deterministic:rates=[5,1]", second)
            yield from _some("equal speeds", 2, "deterministic", second)
        for third in three:
            yield from _some("one late client", 3, "deterministic:rates=[3,3,1]", third)
            yield from _some("burst of equal clients", 8, "deterministic", next(eight, None))
        for second, third in zip(two, three, strict=True):
            yield from _some("almost absent client", 2, "deterministic:rates=[50,1]", second)
            yield from _some("random arrivals", 2, "exponential:rates=[3,1]", second)
            yield from _some("random arrivals", 3, "two-speed", third)
            yield from _some("many equal clients", 40, "deterministic", next(forty, None))
        for name in laws():
            yield from _some("random arrivals", 2, f"{name}:rates=[3,1]", two[0])


def _some(family: str, clients: int, delays: str, setting: dict[str, str] | None) -> Iterator[Schedule]:
    if setting is not None:
        yield family, clients, delays, setting


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
    of = _problem_families
    shapes = of.noisy(theorem, clients) if noise else of.quiet(theorem, clients, lasts(iterations))
    for (kind, plain), error in product(shapes, of.errors(theorem)):
        shape = {**plain, **error}
        others = () if noise else _problem_families.starts(shape)
        for number, sizes in enumerate((FEW, SIZES[:: 1 + noise])):
            starts = (shape["x0"],) * (number == level) + others * (level == 1)
            for weight, step in steps(theorem, iterations, sizes, default=number == 0):
                first = _steeper(Candidate(f"{kind}; {family}", shape, delays, setting, step, iterations), weight)
                found += [first.with_problem(x0=x) for x in starts]
    if level == 1 and not noise and clients == 1:
        found += _staircases(theorem, schedule, iterations)
    return found


def _staircases(theorem: Theorem, schedule: Schedule, iterations: int) -> Iterator[Candidate]:
    """Yield the candidates of piecewise quadratics with the theorem's own steps, or a few: L is 1."""
    family, _, delays, setting = schedule
    for kind, shape in _problem_families.staircases(theorem):
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
    needed = [name for name in open_rates(theorem) if name not in theorem.settable]
    offered = [name for name in open_rates(theorem) if name in theorem.settable]
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
