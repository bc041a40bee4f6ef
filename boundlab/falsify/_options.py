"""Settings to try: every option that the algorithm declares and that the theorem leaves open, and windows."""

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any

from boundlab.algorithms import Algorithm
from boundlab.errors import SpecError
from boundlab.falsify._rates import tried
from boundlab.instance.settings import options_of, parameters as read
from boundlab.registry import lookup
from boundlab.theorems import Theorem

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
    free = {*theorem.inputs(), *theorem.settable}
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
