"""Options of an algorithm to look at, drawn from the examples that it declares."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from boundlab.algorithms._algorithm import Algorithm, own_rates
from boundlab.errors import SpecError
from boundlab.options import Options

Setting = dict[str, str]
_RATE = "0.02"  # of local steps: small for L = 1, whatever else is drawn
_FALLING = {"c": "0.1", "d": "5"}  # alpha_k = c/(k + d)


def settings(who: str, a: Algorithm[Any], clients: int, drawn: int) -> list[Setting]:
    """Return the simplest setting, every example of every option in it, and drawn combinations of them.

    Step sizes are small ones. What options do not go with is left out.

    Raises
    ------
    AssertionError
        If the examples do not make a setting.
    """
    return [given for given in surroundings(who, a, clients, drawn) if readable(a, given)]


def surroundings(who: str, a: Algorithm[Any], clients: int, drawn: int) -> list[Setting]:
    """Return the same with those that may need another option, too."""
    simple = _simplest(who, a, clients)
    examples = {name: tuple(some) for name, some in a.examples(clients).items() if name not in own_rates(a)}
    falls = "c" in a.step_size_symbols and "d" in a.parameters
    found = [simple, *([_falling(a, simple)] if falls else [])]
    found += [{**simple, name: value} for name, some in examples.items() for value in some]
    generator = np.random.Generator(np.random.Philox(23))
    for number in range(drawn):
        chosen = {name: some[int(generator.integers(len(some)))] for name, some in examples.items() if some}
        mixed = {**simple, **chosen}
        found.append(_falling(a, mixed) if falls and number % 2 else mixed)
    given = ({name: value for name, value in one.items() if value} for one in found)
    return list({words(one): one for one in given}.values())


def readable(a: Algorithm[Any], given: Setting) -> bool:
    """Return whether options go together."""
    try:
        a.read(Options(a.id, given))
    except SpecError:
        return False
    return True


def words(given: Mapping[str, Any]) -> str:
    """Return options as they are typed."""
    return ",".join(f"{name}={value}" for name, value in given.items()).replace(" ", "")


def _falling(a: Algorithm[Any], given: Setting) -> Setting:
    """Return a setting with steps c/(k + d) in place of constant ones."""
    return {name: value for name, value in given.items() if name not in a.step_size_symbols} | _FALLING


def unknown_step(name: str) -> str:
    """Return what is wrong with a step that is no option of its algorithm, and what would be right."""
    return (
        f"step_size_symbols names {name or 'nothing'}, which is not an option; "
        'set step_size_symbols = ("eta",) for a step eta (docs/plugins.md)'
    )


def _simplest(who: str, a: Algorithm[Any], clients: int) -> Setting:
    """Return the options that cannot be left out, each with the first of its examples."""
    rate = next(iter(a.step_size_symbols), "")
    if rate not in a.parameters:
        raise AssertionError(f"{who}: {unknown_step(rate)}")
    given = {name: some[0] for name, some in a.examples(clients).items() if some and some[0]} | {rate: _RATE}
    try:
        a.read(Options(a.id, given))
    except SpecError as error:
        raise AssertionError(
            f"{who}: the first examples of its options, {words(given)}, are refused: {error}; declare examples of "
            "every option that is required, or give options"
        ) from error
    for name in [*given]:
        less = {key: value for key, value in given.items() if key != name}
        if name != rate and readable(a, less):
            given = less
    return given
