"""Counts the work that a file asks for, about a step for each product of two terms: no clock decides anything.

What stands in a file many times is worked out once, and counted once.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

# More than ten times what the longest proof that is shipped needs.
MOST = 500_000_000
_SPENT: ContextVar[list[int] | None] = ContextVar("steps", default=None)
_MADE: ContextVar[dict[tuple[str, str], Any] | None] = ContextVar("made", default=None)


class TooMuchError(Exception):
    """More steps are asked for than there are."""


def begin() -> None:
    """Begin to count anew."""
    _SPENT.set([0])
    _MADE.set({})


def once(kind: str, text: str, make: Callable[[], T]) -> T:
    """Return what is made of a text: what was made of it since :func:`begin`, or what is made of it now."""
    made = _MADE.get()
    if made is None:
        return make()
    found: T | None = made.get((kind, text))
    if found is None:
        found = made[kind, text] = make()
    return found


def spent() -> int:
    """Return how many steps were taken since :func:`begin`."""
    now = _SPENT.get()
    return 0 if now is None else now[0]


def spend(steps: int) -> None:
    """Count steps before they are taken; raises :class:`TooMuchError` if there are too many."""
    now = _SPENT.get()
    if now is not None:
        now[0] += steps
        if now[0] > MOST:
            raise TooMuchError(f"more than {MOST} steps of work")


def terms_of_power(terms: int, count: int) -> int:
    """Return how many terms a power of a polynomial may have, at most, or a number above MOST."""
    found = 1
    for place in range(1, min(terms, count + 1)):
        # A binomial coefficient of terms − 1 + count.
        found = found * (max(terms - 1, count) + place) // place
        if found > MOST:
            return found
    return found
