"""L-SVRG: SVRG without its outer loop (Kovalev, Horváth and Richtárik, ALT 2020)."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, final

import numpy as np

from boundlab.algorithms._algorithm import HEADS, CoinAlgorithm, CoinParameters, Draw, coin_drawn
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
from boundlab.randomness import Stream, Streams
from boundlab.tape import Initial, Tape


@final
class Lsvrg(CoinAlgorithm):
    """x ← x − α(∇f_i(x) − ∇f_i(w) + ∇f(w)); heads: w becomes the model that x was.

    With a = x − α∇f_i(x), b = w − α∇f_i(w) and z = w − α∇f(w) the new x is a − b + z. Where gradients have noise, each
    of them has its own, and ∇f(w) is taken once for each w.
    """

    id = "lsvrg"
    summary = "loopless SVRG: gradients of one client, corrected at a point that is renewed at random"
    single_client_values = MappingProxyType({})
    names_client = True
    points = MappingProxyType({"controls": "the gradients h_i = ∇f_i(w) of the clients at the reference point"})
    draws = (
        Draw("asked", "which client each iteration asks", (), lambda _, clients: clients is None or clients > 1),
        coin_drawn("in which iterations the reference point is renewed"),
    )

    def program(self, parameters: CoinParameters, clients: int) -> "LsvrgProgram":
        """Return one iteration."""
        return LsvrgProgram(parameters, clients)

    def drawn(self, parameters: CoinParameters, streams: Streams, clients: int, count: int) -> list[Event]:
        """Return who is asked, and the coins."""
        u = streams.uniforms(Stream.SCHEDULE, 0, 0, 2 * count)[0].reshape(count, 2)
        asked, heads = np.floor(u[:, 0] * clients).astype(np.int64), (u[:, 1] < parameters.p_c).astype(np.int64)
        return list(zip(asked.tolist(), heads.tolist(), strict=True))

    def asked(self, event: Event, place: int, clients: int) -> Sequence[int]:
        """Return all whose gradients are taken: everybody's at a new reference point, and at the first one."""
        return range(clients) if event[1] == HEADS or not place else event[:1]

    def figures(self, parameters: CoinParameters, tape: Tape) -> dict[str, Any]:
        """Return how often the reference point was renewed."""
        return {"renewals": sum(coin for (coin,) in tape.events.detail)}


@final
class LsvrgProgram(EventProgram):
    """One iteration; there is nothing to remember from one to the next but registers."""

    draws = True

    def __init__(self, parameters: CoinParameters, clients: int) -> None:
        self._alpha, self._p, self._clients = parameters.alpha, parameters.p_c, clients
        self._w, self._at_w, self._step, self._back, self._first = range(1, 6)
        self._controls = range(self._first + clients, self._first + 2 * clients)
        self.initial = (Initial.START, Initial.START, *[Initial.UNWRITTEN] * (3 + 2 * clients))
        self.points = {"controls": self._controls}

    def _full(self) -> tuple[list[Row], list[Row]]:
        """Return the steps of all clients from the model, and what is made of them once w is that model."""
        first, inverse = self._first, 1.0 / self._alpha
        steps: list[Row] = [DescendRow(first + i, X_S, i, 1, self._alpha) for i in range(self._clients)]
        mean = tuple((1.0 / self._clients, first + i) for i in range(self._clients))
        made = [AffineRow(h, ((inverse, self._w), (-inverse, first + i))) for i, h in enumerate(self._controls)]
        return steps, [AffineRow(self._at_w, mean), *made]

    def opening(self) -> tuple[tuple[Row, ...], Control]:
        """Return the full gradient at x_0."""
        steps, made = self._full()
        return (*steps, *made), Control()

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return anybody, with heads and with tails."""
        asked: list[tuple[Event, Share]] = law.equally([(i,) for i in range(self._clients)])
        coins: list[tuple[Event, Share]] = law.coin(self._p)
        return [(who + coin, first * second) for who, first in asked for coin, second in coins]

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Step, and renew the reference point on heads."""
        client, coin = event
        steps, made = self._full() if coin == HEADS else ([], [])
        rows: list[Row] = [
            DescendRow(self._step, X_S, client, 1, self._alpha),
            DescendRow(self._back, self._w, client, 1, self._alpha),
            *steps,
            AffineRow(self._step, ((1.0, self._step), (-1.0, self._back), (1.0, self._at_w))),
            *([AffineRow(self._w, ((1.0, X_S),))] if made else []),
            *made,
            AffineRow(X_S, ((1.0, self._step),)),
        ]
        return Step(tuple(rows), control, True)


LSVRG = Lsvrg()
