"""What led to a state of an enumeration: which events and signs, and what metrics have seen on the way.

Histories share what they have in common: one is a list of pairs (history before, what came then), one pair for each of
the ways that have met in it.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Event
from boundlab.arithmetic.numbers import Scalar
from boundlab.events import SERVER

Ints = NDArray[np.int64]
Came = tuple[Event, ...] | int  # one of these events; or a sign, 1 or −1
LISTED: Final = 4096  # sequences that are written out
_SIGNS: Final = {1: "+", -1: "−"}


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """All that ends with the same records.

    Parameters
    ----------
    points
        What metrics see, one point a record: a model, or the average of those before.
    p
        Its probability.
    sequences
        How many sequences of events and signs there are.
    patterns
        These: ``01S`` for arrivals of client 0 and of client 1 and an aggregation, ``*`` for whatever comes,
        ``{0,1}`` for one of these, with the signs that an event draws behind it; in several words where names have
        several letters. None where there are more than :data:`LISTED`.
    """

    points: tuple[tuple[Scalar, ...], ...]
    p: Fraction
    sequences: int
    patterns: tuple[str, ...] | None


@final
@dataclass(frozen=True, slots=True)
class Steps:
    """Local steps of a client, one after the other, from the first of the points to the last."""

    client: int
    points: tuple[tuple[Scalar, ...], ...]


@final
class Past:
    """Histories under numbers 0, 1, …; 0 is that of the start."""

    def __init__(self) -> None:
        self._before: list[tuple[tuple[int, Came], ...]] = [()]
        self._count = [1]
        self._seen: list[int] = [0]  # of each history, the number of what was seen
        self._sights: list[tuple[int, ...]] = [()]
        self._sight: dict[tuple[int, ...], int] = {(): 0}
        self._events: set[Event] = set()

    def start(self) -> Ints:
        """Return the history of the one state at the start."""
        return np.zeros(1, dtype=np.int64)

    def after(self, histories: Ints, came: Came) -> Ints:
        """Return each history with what came then, in place of which several events may have come."""
        if not isinstance(came, int):
            self._events.update(came)
        many = 1 if isinstance(came, int) else max(len(came), 1)
        return self._each(histories, lambda old: self._put(((old, came),), many * self._count[old], self._seen[old]))

    def saw(self, histories: Ints, numbers: Ints) -> Ints:
        """Return each history with the number of what metrics see now."""

        def seen(old: int, number: int) -> int:
            sight = (*self._sights[self._seen[old]], number)
            place = self._sight.setdefault(sight, len(self._sights))
            if place == len(self._sights):
                self._sights.append(sight)
            return self._put(self._before[old], self._count[old], place)

        pairs = zip(histories.tolist(), numbers.tolist(), strict=True)
        return np.array([seen(old, number) for old, number in pairs], dtype=np.int64)

    def sights(self, histories: Ints) -> Ints:
        """Return numbers that are equal where metrics have seen the same."""
        return np.array(self._seen, dtype=np.int64)[histories]

    def joined(self, histories: Ints, which: Ints, classes: int) -> Ints:
        """Return the history of each class, all of whose members have seen the same."""
        members: list[list[int]] = [[] for _ in range(classes)]
        for old, name in zip(histories.tolist(), which.tolist(), strict=True):
            members[name].append(old)
        return np.array([self._union(each) for each in members], dtype=np.int64)

    def outcomes(
        self, histories: Ints, weights: Any, whole: int, points: Sequence[tuple[Scalar, ...]]
    ) -> list[Outcome]:
        """Return all outcomes, the likeliest first.

        Parameters
        ----------
        histories, weights
            Those of the last states, shape (S,) each.
        whole
            The sum of all weights.
        points
            What the numbers that were seen stand for.
        """
        groups: dict[int, list[int]] = {}
        share: dict[int, int] = {}
        for history, weight in zip(histories.tolist(), weights.tolist(), strict=True):
            name = self._seen[history]
            groups.setdefault(name, []).append(history)
            share[name] = share.get(name, 0) + weight
        found = []
        for name, members in groups.items():
            if not share[name]:
                continue  # of events that never come
            seen = tuple(points[number] for number in self._sights[name])
            history = self._union(members)
            few = self._count[history] <= LISTED
            patterns = tuple(sorted(self._patterns(history))) if few else None
            found.append(Outcome(seen, Fraction(share[name], whole), self._count[history], patterns))
        return sorted(found, key=lambda one: (-one.p, one.patterns or ()))

    def _put(self, before: tuple[tuple[int, Came], ...], count: int, seen: int) -> int:
        self._before.append(before)
        self._count.append(count)
        self._seen.append(seen)
        return len(self._before) - 1

    def _each(self, histories: Ints, make: Callable[[int], int]) -> Ints:
        return np.array([make(old) for old in histories.tolist()], dtype=np.int64)

    def _union(self, members: list[int]) -> int:
        if len(members) == 1:
            return members[0]
        before = tuple(pair for old in members for pair in self._before[old])
        return self._put(before, sum(self._count[old] for old in members), self._seen[members[0]])

    def _patterns(self, history: int) -> Iterator[str]:
        """Yield words for the sequences of a history, as few as the events allow."""
        known: dict[int, frozenset[tuple[Hashable, ...]]] = {}

        def sequences(place: int) -> frozenset[tuple[Hashable, ...]]:
            if place not in known:
                before = self._before[place]
                known[place] = frozenset(
                    (*front, one)
                    for old, came in before
                    for front in sequences(old)
                    for one in ([came] if isinstance(came, int) else came)
                ) or frozenset([()])
            return known[place]

        for pattern in _compact(sequences(history)):
            yield self._words(pattern)

    def _words(self, pattern: tuple[frozenset[Any], ...]) -> str:
        words: list[str] = []
        for came in pattern:
            if came <= {1, -1}:
                words.append("±" if len(came) == 2 else _SIGNS[next(iter(came))])
            elif came == self._events and len(came) > 1:
                words.append("*")
            else:
                names = sorted(map(_name, came), key=lambda name: (name == "S", len(name), name))
                words.append(names[0] if len(names) == 1 else f"{{{','.join(names)}}}")
        return ("" if all(len(word) == 1 or word[0] == "{" for word in words) else " ").join(words)


def _name(event: Event) -> str:
    names = ["S" if one == SERVER else str(one) for one in event]
    return names[0] if len(names) == 1 else f"({','.join(names)})"


def _compact(sequences: frozenset[tuple[Any, ...]]) -> Iterator[tuple[frozenset[Any], ...]]:
    """Yield patterns that together are the sequences, each once."""
    if () in sequences:
        yield ()
        return
    after: dict[Any, set[tuple[Any, ...]]] = {}
    for first, *rest in sequences:
        after.setdefault(first, set()).add(tuple(rest))
    firsts: dict[frozenset[tuple[Any, ...]], set[Any]] = {}
    for first, rests in after.items():
        firsts.setdefault(frozenset(rests), set()).add(first)
    for left, letters in firsts.items():
        for pattern in _compact(left):
            yield (frozenset(letters), *pattern)
