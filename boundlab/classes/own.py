"""An algorithm's own runs, which are to be in the class that proofs about it speak of.

A proof begins from what its class says. Here the algorithm is asked whether it does so: its tapes and its program, for
one, two and three clients, with every word of its options that the proofs know.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from boundlab.algorithms import Algorithm, EventLaw
from boundlab.algorithms.example_options import readable, settings
from boundlab.classes.formal import Formal, drawn, of_program, of_tape
from boundlab.classes.known import class_of, known
from boundlab.errors import SpecError
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.tape import NOTHING

_CLIENTS: Final = (1, 2, 3)
_ITERATIONS: Final = 8
_EVENTS: Final = 24  # of a program
_DELAYS: Final[tuple[tuple[str, dict[str, str]], ...]] = (("exponential", {"spread": "5"}), ("iid", {}))


def outside(name: str, fixed: Mapping[str, str | None] = MappingProxyType({})) -> str:
    """Return where an algorithm's own runs are otherwise than its class says; empty where all are in it.

    Parameters
    ----------
    fixed
        Options with the one word that is looked at; None: the default.
    """
    algorithm = lookup("algorithms", name)
    return _outside(name, tuple(sorted(fixed.items())), algorithm.schedule, algorithm.program)


def described(name: str) -> str:
    """Return the class that proofs about an algorithm speak of, in words."""
    algorithm = lookup("algorithms", name)
    given = settings(name, algorithm, 2, 0)[0]
    own = class_of(algorithm, algorithm.read(Options(name, given)), 2)
    return f"class {own.id}: {type(own).__doc__ or ''}".partition("\n")[0]


@cache
def _outside(
    name: str, fixed: tuple[tuple[str, str | None], ...], _schedule: Callable[..., Any], _program: Callable[..., Any]
) -> str:
    algorithm, looked, kept = lookup("algorithms", name), 0, dict(fixed)
    for clients in _CLIENTS:
        for given in settings(name, algorithm, clients, 4):
            chosen = {**given, **kept}
            given = {option: value for option, value in chosen.items() if value is not None}
            if not readable(algorithm, given) or not known(name, parameters := algorithm.read(Options(name, given))):
                continue
            own = class_of(algorithm, parameters, clients)
            for run in own_runs(algorithm, parameters, clients):
                looked += 1
                for why in own.why_not(run):
                    options = ", ".join(f"{option}={value}" for option, value in given.items())
                    return f"with {options} and {clients} clients it leaves the class {own.id}: {why}"
    return "" if looked else "it has no run with options that proofs know"


def own_runs(algorithm: Algorithm[Any], parameters: Any, clients: int) -> Iterator[Formal]:
    """Yield an algorithm's tapes for a few delays, and its program for drawn events, as algebra."""
    parameters = parameters.known()
    for kind, options in _DELAYS:
        try:
            delays = lookup("delays", kind).build(Options(f"delays {kind}", dict(options)), clients)
            policy, streams = algorithm.policy(None, delays), Streams(2)
            many = algorithm.events_for(parameters, clients, _ITERATIONS) + clients
            events = algorithm.sample(parameters, delays, policy, streams, clients, many)
            tape = algorithm.schedule(parameters, events, clients, NOTHING, _ITERATIONS)
        except SpecError:  # such delays do not go with it, or so many events hold no iteration
            continue
        yield of_tape(tape)
    try:
        program = algorithm.program(parameters, clients)
    except SpecError:
        return
    if program is not None:
        share = 1.0 / (clients + 1)
        law = EventLaw(np.full(clients, share), share)
        yield of_program(program, clients, drawn(program, law, _EVENTS, 1))
