"""Randomness of an algorithm's own: shuffles, sampled clients, coins."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final


@final
@dataclass(frozen=True, slots=True)
class Draw:
    """A source of randomness of an algorithm's own, beside who arrives when and the noise of gradients.

    Parameters
    ----------
    id
        How statements list it: ``order``.
    words
        What is drawn.
    options
        The options that decide whether it is drawn.
    when
        when(parameters, clients) returns whether runs with these parameters draw it; clients is None where their
        number is not known: then whether some number of them makes it drawn.
    """

    id: str
    words: str
    options: tuple[str, ...]
    when: Callable[[Any, int | None], bool]


def several(clients: int | None) -> bool:
    """Return whether there may be more than one client to choose from."""
    return clients is None or clients > 1
