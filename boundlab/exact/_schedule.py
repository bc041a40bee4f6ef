"""Explicit events of a case in words, folded where they repeat."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, final

_MOST = 24  # parts that are listed, and times in a turn
_NEAR = 1e-9


@final
@dataclass(frozen=True, slots=True)
class _Moment:
    """All that happens at one time: actors with what they do, and the numbers that are said with it."""

    time: float
    what: tuple[tuple[Any, ...], ...]
    numbers: tuple[int, ...]

    def __str__(self) -> str:
        left = iter(self.numbers)
        return f"at {_short(self.time)} {', '.join(_said(one, left) for one in self.what)}"


def _short(time: float) -> str:
    """Return a time with six digits, behind ≈ where it has more."""
    text = f"{time:.6g}"
    return text if abs(float(text) - time) <= _NEAR * max(1.0, abs(time)) else f"≈ {text}"


def _said(one: tuple[Any, ...], numbers: Any) -> str:
    who = "the server" if one[0] == "s" else f"client {one[0]}"
    return " ".join([who, *(str(next(numbers)) if part is None else str(part) for part in one[1:])])


def schedule(events: Sequence[Sequence[Any]]) -> str:
    """Return the events of a case file in words.

    Examples
    --------
    >>> schedule([[0.5, 0], [1.0, 0], [1.0, 1], [1.5, 0], [2.0, 0], [2.0, 1], [2.5, 0], [3.0, 0], [3.0, 1], [3.2, 1]])
    '[at 0.5 client 0; at 1 client 0, client 1] and 2 times again, each 1 later; at 3.2 client 1'
    """
    found = [_moment(time, [*own]) for time, own in groupby(events, key=lambda one: float(one[0]))]
    parts: list[str] = []
    place = 0
    while place < len(found) and len(parts) < _MOST:
        often = {turn: _times(found, place, turn) for turn in range(1, _MOST + 1)}
        turn = max(often, key=lambda one: (one * often[one], -one))
        listed = "; ".join(map(str, found[place : place + turn]))
        if often[turn] > 1:
            first, second = found[place], found[place + turn]
            by = _shift(first, second)
            more = f" with numbers {by} larger" if by else ""
            again = f"{often[turn]} times again, each {_short(second.time - first.time)} later{more}"
            parts.append(f"[{listed}] and {again}")
            place += turn * (often[turn] + 1)
        else:
            parts.append(str(found[place]))
            place += 1
    return "; ".join([*parts, *(["… as the case file has it"] if place < len(found) else [])])


def _moment(time: float, own: Sequence[Sequence[Any]]) -> _Moment:
    """Return what happens at a time; whole numbers behind the actor stand apart, as rounds go on."""
    numbers = tuple(part for one in own for part in one[2:] if isinstance(part, int))
    what = tuple((one[1], *(None if isinstance(part, int) else str(part) for part in one[2:])) for one in own)
    return _Moment(time, what, numbers)


def _shift(one: _Moment, other: _Moment) -> int:
    return other.numbers[0] - one.numbers[0] if one.numbers else 0


def _times(found: Sequence[_Moment], place: int, turn: int) -> int:
    """Return how often the moments of a turn come again at once, each by as much later."""
    if place + turn >= len(found):
        return 0
    later = found[place + turn].time - found[place].time
    by = _shift(found[place], found[place + turn])
    end = place + turn
    while end < len(found) and _same(found[end - turn], found[end], later, by):
        end += 1
    return (end - place) // turn - 1


def _same(one: _Moment, other: _Moment, later: float, by: int) -> bool:
    near = abs(other.time - one.time - later) <= _NEAR * max(1.0, abs(other.time))
    return near and one.what == other.what and all(b - a == by for a, b in zip(one.numbers, other.numbers, strict=True))
