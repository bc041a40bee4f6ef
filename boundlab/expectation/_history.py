"""Histories of the states of an enumeration: which events and signs led there, and what metrics have seen on the way.

Histories share what they have in common: one is a list of pairs (history before, what came then), one pair for each of
the ways that have met in it.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Event
from boundlab.arithmetic.numbers import Scalar
from boundlab.events import SERVER

Ints = NDArray[np.int64]
Came = tuple[Event, ...] | int  # one of these events; or a sign, 1 or −1
LISTED: Final = 4096  # patterns that are written out
_SIGNS: Final = {1: "+", -1: "−"}


@final
@dataclass(frozen=True, slots=True)
class RecordedOutcome:
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
        several letters. None where these are more than :data:`LISTED`.
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
class History:
    """Histories under numbers 0, 1, …; 0 is that of the start."""

    def __init__(self) -> None:
        self._before: list[tuple[tuple[int, Came], ...]] = [()]
        self._count = [1]
        self._seen: list[int] = [0]  # of each history, the number of what was seen
        self._observed: list[tuple[int, ...]] = [()]
        self._places: dict[tuple[int, ...], int] = {(): 0}
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
            observed = (*self._observed[self._seen[old]], number)
            place = self._places.setdefault(observed, len(self._observed))
            if place == len(self._observed):
                self._observed.append(observed)
            return self._put(self._before[old], self._count[old], place)

        pairs = zip(histories.tolist(), numbers.tolist(), strict=True)
        return np.array([seen(old, number) for old, number in pairs], dtype=np.int64)

    def observations(self, histories: Ints) -> Ints:
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
    ) -> list[RecordedOutcome]:
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
            seen = tuple(points[number] for number in self._observed[name])
            history = self._union(members)
            patterns = tuple(islice(self._patterns(history), LISTED + 1))
            shown = tuple(sorted(patterns)) if len(patterns) <= LISTED else None
            found.append(RecordedOutcome(seen, Fraction(share[name], whole), self._count[history], shown))
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
        """Yield words for the sequences of a history: few, where what comes first matters less than what comes last."""
        words = _Words()

        def sequences(place: int) -> int:
            if place not in known:
                ways = self._before[place]
                known[place] = (
                    words.empty
                    if not ways
                    else words.united(
                        words.before(letter, sequences(old))
                        for old, came in ways
                        for letter in ([came] if isinstance(came, int) else came)
                    )
                )
            return known[place]

        known: dict[int, int] = {}
        for pattern in words.patterns(sequences(history)):
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


@final
class _Words:
    """Sets of words, read from their last letter, as the states of a minimal automaton: equal sets have one number."""

    def __init__(self) -> None:
        self._number: dict[tuple[bool, frozenset[tuple[Hashable, int]]], int] = {}
        self._after: list[tuple[bool, dict[Hashable, int]]] = []
        self._union: dict[tuple[int, int], int] = {}
        self.none = self._state(False, {})
        self.empty = self._state(True, {})

    def _state(self, ends: bool, after: dict[Hashable, int]) -> int:
        place = self._number.setdefault((ends, frozenset(after.items())), len(self._after))
        if place == len(self._after):
            self._after.append((ends, after))
        return place

    def before(self, last: Hashable, words: int) -> int:
        """Return the words with one more letter at their end."""
        return self._state(False, {last: words})

    def united(self, sets: Iterable[int]) -> int:
        """Return the union of sets of words."""
        found = self.none
        for one in sets:
            found = self._both(found, one)
        return found

    def _both(self, one: int, other: int) -> int:
        if one == other or other == self.none:
            return one
        if one == self.none:
            return other
        key = (min(one, other), max(one, other))
        if key not in self._union:
            (ends, after), (also, more) = self._after[one], self._after[other]
            both = {letter: self._both(after[letter], more[letter]) for letter in after.keys() & more.keys()}
            self._union[key] = self._state(ends or also, {**after, **more, **both})
        return self._union[key]

    def patterns(self, words: int) -> Iterator[tuple[frozenset[Any], ...]]:
        """Yield patterns that together are the words, each once: sets of letters, from the first to the last."""
        ends, after = self._after[words]
        if ends:
            yield ()
        alike: dict[int, set[Hashable]] = {}
        for letter, rest in after.items():
            alike.setdefault(rest, set()).add(letter)
        for rest, letters in alike.items():
            for front in self.patterns(rest):
                yield (*front, frozenset(letters))
