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


def drawn_with(name: str, words: str, option: str, value: str) -> Draw:
    """Return what is drawn with ``option=value``, where there may be more than one client to choose from."""

    def when(parameters: Any, clients: int | None) -> bool:
        return getattr(parameters, option) == value and (clients is None or clients > 1)

    return Draw(name, words, (option,), when)
