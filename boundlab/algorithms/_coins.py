"""Methods that throw a coin in each iteration, and on heads bring clients and server together."""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm, Draw
from boundlab.algorithms._option import Parameters
from boundlab.errors import CaseError
from boundlab.events import SERVER, Events, read_client, read_rows

HEADS: Final = 1


@final
@dataclass(frozen=True, slots=True)
class CoinParameters(Parameters):
    """α, unit (−1, 2), and the probability p of heads."""

    alpha: float = option.number("step size", above=0.0)
    p_c: float = option.number("probability that an iteration's coin shows heads, in (0, 1]", above=0.0, maximum=1.0)


class CoinAlgorithm(Algorithm[CoinParameters]):
    """An algorithm whose event is the end of an iteration: who acts, and 1 for heads or 0 for tails.

    Parameters
    ----------
    names_client
        Whether each event names the client that its iteration asks; else all are asked ("s").
    """

    parameter_type = CoinParameters
    arrivals = False
    names_client: bool

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [[time, actor, coin], …].

        Raises
        ------
        CaseError
            Naming the event by its place, counted from 1.
        """
        who = "client" if self.names_client else '"s"'
        form = f"[time, {who}, 1 for heads or 0], e.g. [[1, {'0' if self.names_client else who}, 1]]"
        actors, coins = [], []
        rows = read_rows(raw, where, form, (3, 3))
        for place, (_, (actor, coin)) in enumerate(rows, 1):
            name = f"{where}: event {place}"
            if not self.names_client and actor != "s":
                raise CaseError(f'{name}: {self.id} asks all clients in every iteration; write "s", not {actor!r}')
            actors.append(read_client(actor, clients, name) if self.names_client else SERVER)
            if isinstance(coin, bool) or coin not in (0, HEADS):
                raise CaseError(f"{name}: the coin must be 1 (heads) or 0 (tails), got {coin!r}")
            coins.append((int(coin),))
        return Events(np.array([time for time, _ in rows]), np.array(actors, dtype=np.int32), tuple(coins))


def coin_drawn(words: str) -> Draw:
    """Return the draw of the coins, where both sides can show."""
    return Draw("coins", words, ("p_c",), lambda parameters, _: parameters.p_c < 1.0)
