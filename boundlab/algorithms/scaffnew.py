"""Scaffnew: local steps with control variates, communication by a coin (Mishchenko et al., ICML 2022)."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Any, final

import numpy as np

from boundlab.algorithms._algorithm import HEADS, CoinAlgorithm, CoinParameters, coin_drawn
from boundlab.algorithms._program import (
    X_S,
    AffineRow,
    Control,
    DescendRow,
    Event,
    EventLaw,
    EventProgram,
    Row,
    Share,
    Step,
)
from boundlab.delays import Clock
from boundlab.events import SERVER
from boundlab.randomness import Stream, Streams
from boundlab.tape import Identity, Initial, Tape, Term


@final
class Scaffnew(CoinAlgorithm):
    """Scaffnew; the server's model is the mean of the clients' models, whether or not they send them.

    Kept is v_i = (α/p)·h_i, which starts at 0: a client's step ends at x̂_i = x_i − α∇f_i(x_i) + p·v_i, and on heads all
    x_i become the mean of x̂_j − v_j, and v_i grows by x_i − x̂_i. So no coefficient reads the step size.
    """

    id = "scaffnew"
    summary = "Scaffnew (ProxSkip): local steps corrected by control variates, models averaged at random"
    single_client_values = MappingProxyType({})
    names_client = False
    points = MappingProxyType(
        {"clients": "the models x_i of the clients", "controls": "the control variates h_i of the clients"}
    )
    draws = (coin_drawn("in which iterations the clients communicate"),)

    def program(self, parameters: CoinParameters, clients: int) -> "ScaffnewProgram":
        """Return one iteration."""
        return ScaffnewProgram(parameters, clients)

    def drawn(self, parameters: CoinParameters, streams: Streams, clients: int, count: int) -> list[Event]:
        """Return the coins."""
        heads = streams.uniforms(Stream.SCHEDULE, 0, 0, count)[0] < parameters.p_c
        return [(SERVER, int(one)) for one in heads.tolist()]

    def ends(self, drawn: Sequence[Event], clock: Clock, clients: int) -> Iterator[float]:
        """Yield when the last client has taken its step; clients wait for each other only where they communicate."""
        ready = [0.0] * clients
        for _, coin in drawn:
            ready = [clock.arrival(i, start) for i, start in enumerate(ready)]
            end = max(ready)
            ready = [end] * clients if coin == HEADS else ready
            yield end

    def figures(self, parameters: CoinParameters, tape: Tape) -> dict[str, Any]:
        """Return how often the clients communicated."""
        return {"communications": sum(coin for (coin,) in tape.events.detail)}


def _mean(models: range, minus: range = range(0)) -> list[Term]:
    """Return the mean of registers, less that of others."""
    share = 1.0 / len(models)
    return [*((share, one) for one in models), *((-share, one) for one in minus)]


@final
class ScaffnewProgram(EventProgram):
    """One iteration; there is nothing to remember from one to the next but each client's x and v."""

    draws = True

    def __init__(self, parameters: CoinParameters, clients: int) -> None:
        self._alpha, self._p = parameters.alpha, parameters.p_c
        self._x, self._v = range(1, 1 + clients), range(1 + clients, 1 + 2 * clients)
        self._h, self._mean = range(1 + 2 * clients, 1 + 3 * clients), 1 + 3 * clients
        self.initial = (
            Initial.START, *[Initial.START] * clients, *[Initial.ZERO] * (2 * clients), Initial.UNWRITTEN,
        )  # fmt: skip
        self.slots = tuple(zip(self._x, self._v, self._h, strict=True))
        self.points = {"clients": self._x, "controls": self._h}
        self.sums = (Identity("Σ_i h_i = 0", np.array(self._v), np.ones(clients)),)

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return heads and tails."""
        coins: list[tuple[Event, Share]] = law.coin(self._p)
        return [((SERVER, side[0]), share) for side, share in coins]

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Let every client step, and communicate on heads: then what was stepped to reaches the server."""
        pairs = list(zip(self._x, self._v, strict=True))
        rows: list[Row] = [DescendRow(x, x, i, 1, self._alpha) for i, x in enumerate(self._x)]
        rows += [AffineRow(x, ((1.0, x), (self._p, v))) for x, v in pairs]
        if event[1] == HEADS:
            rows.append(AffineRow(self._mean, tuple(_mean(self._x, self._v))))
            for (x, v), h in zip(pairs, self._h, strict=True):
                rows.append(AffineRow(v, ((1.0, v), (1.0, self._mean), (-1.0, x))))
                rows.append(AffineRow(x, ((1.0, self._mean),)))
                rows.append(AffineRow(h, ((self._p / self._alpha, v),)))
            rows.append(AffineRow(X_S, ((1.0, self._mean),)))
        else:
            rows.append(AffineRow(X_S, tuple(_mean(self._x))))
        return Step(tuple(rows), control, True, sent=event[1] == HEADS)


SCAFFNEW = Scaffnew()
