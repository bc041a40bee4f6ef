"""Draws that an algorithm does not declare: observed on runs, and never taken on trust."""

from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundlab.algorithms._algorithm import Algorithm
from boundlab.delays import Deterministic, Renewal
from boundlab.errors import BoundlabError
from boundlab.randomness import Stream, Streams

_EVENTS: Final = 64  # that each of two runs has


@final
@dataclass(frozen=True, slots=True)
class _Watched(Streams):
    """Streams that note how many numbers are asked for, durations apart."""

    drawn: list[int] = field(default_factory=list)

    def uniforms(self, stream: Stream, client: ArrayLike, update: ArrayLike, count: int) -> NDArray[np.float64]:
        found = Streams.uniforms(self, stream, client, update, count)
        if stream != Stream.DELAY:
            self.drawn.append(found.size)
        return found


def undeclared_draws(algorithm: Algorithm[Any], parameters: Any, clients: int) -> str:
    """Return '' if runs draw nothing but what ``draws`` says, else what they do, in words.

    Arrivals are certain here. Two seeds are compared: what differs depends on the streams. An algorithm that declares
    no draw at all may ask for no number either: a rare coin shows the same side in both.
    """
    if algorithm.server == "any" or any(one.when(parameters, clients) for one in algorithm.draws):
        return ""
    (first, numbers), (second, _) = (_run(algorithm, parameters, clients, seed) for seed in (0, 1))
    if first == second and (algorithm.draws or not numbers):
        return ""
    many = f"{numbers} numbers in {_EVENTS} events" if numbers else "at random"
    if numbers and numbers % _EVENTS == 0:
        each = numbers // _EVENTS
        try:
            more = _run(algorithm, parameters, clients + 1, 0)[1] // _EVENTS - each
        except BoundlabError:  # parameters of so many clients
            more = 0
        own, of_clients = each - more * clients, "n" if more == 1 else f"{more}·n"
        many = " + ".join([str(own)] * (own > 0 or not more) + [of_clients] * (more > 0))
        many += " numbers an event" if more or each > 1 else " number an event"
    return f"{algorithm.id} draws {many} and does not say so; its `draws` would have to declare what it draws"


def _run(algorithm: Algorithm[Any], parameters: Any, clients: int, seed: int) -> tuple[str, int]:
    """Return the events of a run, and how many numbers it drew."""
    delays, streams = (
        Renewal("deterministic", clients, Deterministic(1.0 / np.arange(1.0, clients + 1.0))),
        _Watched(seed),
    )
    run = algorithm.sample(parameters, delays, algorithm.policy(None, delays), streams, clients, _EVENTS)
    return repr((run.time.tolist(), run.actor.tolist(), run.detail)), sum(streams.drawn)
