"""The expectation over all that can happen: states with their probabilities, equal ones merged after every event."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any, Final, Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import MoveRow
from boundlab.errors import SpecError, UndecidedError
from boundlab.expectation._graph import Graph, Level, PassRow, Row, SumRow
from boundlab.expectation._history import History, RecordedOutcome
from boundlab.expectation._values import VectorTable
from boundlab.tape import Initial

Number = TypeVar("Number")
Ints = NDArray[np.int64]
LARGEST: Final = 10**7  # states of one event
SLOW: Final = 10**6  # the same where each is made of exact numbers: about a minute
ENTRIES: Final = 4 * 10**7  # their registers: 320 MB
_SHORT: Final = 1 << 62


def unique_rows(ids: Ints) -> tuple[Ints, Ints]:
    """Return the place of one row of each class of equal rows, shape (U,), and the class of every row, shape (S,)."""
    if len(ids) == 1:
        return np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    keys = (ids.astype(np.uint64) * _factors(ids.shape[1])).sum(axis=1, dtype=np.uint64)
    order = np.argsort(keys, kind="stable")
    differ = keys[order[1:]] != keys[order[:-1]]
    other = (ids[order[1:]] != ids[order[:-1]]).any(axis=1)
    if (other & ~differ).any():  # two rows share a key: sort by the entries
        order = np.lexsort(ids.T)
        other = (ids[order[1:]] != ids[order[:-1]]).any(axis=1)
    which = np.empty(len(ids), dtype=np.int64)
    which[order] = np.concatenate([[0], np.cumsum(other)])
    return order[np.concatenate([[True], other])], which


@lru_cache(maxsize=256)
def _factors(width: int) -> NDArray[np.uint64]:
    return np.random.Generator(np.random.Philox(1)).integers(0, 2**63, width, dtype=np.uint64) * 2 + 1


@final
@dataclass(slots=True)
class _StateBlock:
    """States with one control state.

    Parameters
    ----------
    ids
        Shape (S, registers): numbers of what registers hold; −1 where nothing reads it.
    weights
        Shape (S,): probabilities, or integers that are proportional to them.
    past
        Shape (S,): what led there, where somebody asks.
    """

    ids: Ints
    weights: Any
    past: Ints | None = None


@final
class Walk(Generic[Number]):
    """An enumeration.

    Parameters
    ----------
    graph
        As :func:`boundlab.expectation._live.pruned` gives it.
    shown
        As there.
    exact
        Whether probabilities are fractions; else they are floats.
    largest
        Most states of one event.
    past
        Where histories are kept, of a graph that says which event each edge is; states are then equal only if metrics
        have seen the same in them.
    """

    def __init__(
        self,
        graph: Graph[Number],
        values: VectorTable[Number],
        shown: Sequence[bool],
        *,
        exact: bool,
        largest: int = LARGEST,
        past: History | None = None,
    ) -> None:
        self.graph, self.values, self.shown, self.exact, self.largest = graph, values, shown, exact, largest
        self.past = past
        self.whole: Any = 1 if exact else 1.0
        self.merged = 0  # states after merging, over all events
        self.added = 0  # more than how often a weight was rounded

    def run(self, observe: Callable[[int, Ints, Any, Any], None]) -> None:
        """Follow all events.

        Parameters
        ----------
        observe
            Called as observe(events so far, numbers of what is shown, weights, sum of all weights).

        Raises
        ------
        SpecError
            If there are too many states.
        UndecidedError
            If on which side of a kink an iterate lies is not decided.
        """
        graph = self.graph
        held = {Initial.START: self.values.start, Initial.ZERO: self.values.zero, Initial.UNWRITTEN: -1}
        ids = np.array([[held[one] for one in graph.initial]], dtype=np.int64)
        opened = 2 ** self._splits(graph.opening)
        self._require_room(opened, 0)
        self._wider(opened)
        weights = np.ones(1, dtype=np.int64 if self.exact else np.float64)
        start = None if self.past is None else self.past.start()
        first = self._followed(_StateBlock(ids, weights, start), graph.opening)
        blocks = [first]
        if not self.exact:
            first.weights /= len(first.weights)
            self.whole = 1.0
        self._show(0, blocks, observe)
        for place, level in enumerate(graph.levels):
            try:
                blocks = self._advance(blocks, level, place)
            except UndecidedError as error:
                raise UndecidedError(str(error), place / len(graph.levels)) from None
            self._show(place + 1, blocks, observe)
            blocks = self._forget(blocks)

    def outcomes(self, points: Sequence[tuple[Number, ...]]) -> list[RecordedOutcome]:
        """Follow all events and return what metrics have seen at the end, with what led there; for exact numbers only.

        Parameters
        ----------
        points
            What numbers stand for.

        Raises
        ------
        SpecError, UndecidedError
            As :meth:`run`.
        """
        assert self.past is not None  # noqa: S101  (whoever asks keeps histories)
        self.run(lambda *_: None)
        histories = np.concatenate([block.past for block in self.last if block.past is not None])
        weights = np.concatenate([block.weights for block in self.last])
        return self.past.outcomes(histories, weights, self.whole, points)

    def _show(self, place: int, blocks: list[_StateBlock], observe: Callable[[int, Ints, Any, Any], None]) -> None:
        self.last = blocks
        if self.shown[place]:
            for block in blocks:
                if self.past is not None and block.past is not None:
                    block.past = self.past.saw(block.past, block.ids[:, self.graph.shown])
            numbers = np.concatenate([block.ids[:, self.graph.shown] for block in blocks])
            weights = np.concatenate([block.weights for block in blocks])
            number, which = _distinct(numbers, len(self.values))
            self.added += 2 * len(which) + 4
            observe(place, number, _added(which, weights, len(number)), self.whole)

    def _forget(self, blocks: list[_StateBlock]) -> list[_StateBlock]:
        """Let the values forget what no register holds any more; x0 and 0 are needed at the start only."""
        ever = np.unique(np.concatenate([block.ids.ravel() for block in blocks]))
        used = ever[ever >= 0]
        if self.past is not None or len(self.values) < 4 * len(used) + 1000:
            return blocks
        names = np.full(len(self.values) + 1, -1, dtype=np.int64)
        names[used] = np.arange(len(used))
        self.values.keep(used)
        return [_StateBlock(names[block.ids], block.weights) for block in blocks]

    def _advance(self, blocks: list[_StateBlock], level: Level[Number], place: int) -> list[_StateBlock]:
        self._require_room(self._reached(blocks, level), place + 1)
        each = [edge for own in level.edges for edge in own]
        common = lcm(*(Fraction(edge.share).denominator for edge in each)) if self.exact else 1
        most = max((self._splits(edge.rows) for edge in each), default=0)
        self._wider(common << most)
        found: list[list[_StateBlock]] = [[] for _ in level.reads]
        for block, own in zip(blocks, level.edges, strict=True):
            for edge in own:
                told = block
                if self.past is not None and block.past is not None and edge.events:
                    told = replace(block, past=self.past.after(block.past, edge.events))
                after, splits = self._followed(told, edge.rows), self._splits(edge.rows)
                ids = after.ids if edge.order is None else after.ids[:, list(edge.order)]
                weights = self._scaled(after.weights, edge.share, common, most, splits)
                found[edge.to].append(_StateBlock(ids, weights, after.past))
        out = []
        for parts, alike, reads in zip(found, level.alike, level.reads, strict=True):
            ids = np.concatenate([part.ids for part in parts])
            ids[:, [register for register in range(ids.shape[1]) if register not in reads]] = -1
            for group in alike:
                _sort_seats(ids, group)
            past = None if self.past is None else np.concatenate([part.past for part in parts if part.past is not None])
            first, which = unique_rows(ids if past is None else self._with_observations(ids, past))
            weights = _added(which, np.concatenate([part.weights for part in parts]), len(first))
            if self.past is not None and past is not None:
                past = self.past.joined(past, which, len(first))
            out.append(_StateBlock(ids[first], weights, past))
            self.merged += len(first)
            self.added += len(which) + 4
        return out

    def _reached(self, blocks: list[_StateBlock], level: Level[Number]) -> int:
        return sum(
            len(block.ids) << self._splits(edge.rows)
            for block, own in zip(blocks, level.edges, strict=True)
            for edge in own
        )

    def _require_room(self, reached: int, place: int) -> None:
        if reached > self.largest or reached * len(self.graph.initial) > ENTRIES:
            raise SpecError(
                f"enumeration reaches {reached} states at event {place}, which is too many; "
                "take fewer iterations, clients or local steps"
            )

    def _with_observations(self, ids: Ints, past: Ints) -> Ints:
        assert self.past is not None  # noqa: S101  (whoever has a past keeps it there)
        return np.concatenate([ids, self.past.observations(past)[:, None]], axis=1)

    def _splits(self, rows: tuple[Row[Number], ...]) -> int:
        """Return how often rows draw a sign."""
        return sum(len(row.sizes) for row in rows if isinstance(row, PassRow)) if self.values.noisy else 0

    def _wider(self, factor: int) -> None:
        if self.exact:
            self.whole *= factor

    def _scaled(self, weights: Any, share: Any, common: int, most: int, splits: int) -> Any:
        if not self.exact:
            return weights * (float(share) / 2.0**splits)
        # All weights together are ``whole``: where that is short, so are they.
        kind = np.int64 if self.whole < _SHORT else object
        return weights.astype(kind) * (int(share * common) << (most - splits))

    def _followed(self, block: _StateBlock, rows: tuple[Row[Number], ...]) -> _StateBlock:
        """Return the states after some rows; each sign that is drawn doubles them."""
        if not rows:
            return block
        values, out = self.values, replace(block, ids=block.ids.copy())
        for row in rows:
            match row:
                case SumRow(dst, terms):
                    if not terms:
                        out.ids[:, dst] = values.combine((), np.zeros((1, 0), dtype=np.int64))[0]
                        continue
                    columns = out.ids[:, [source for _, source in terms]]
                    first, which = unique_rows(columns)
                    out.ids[:, dst] = values.combine([share for share, _ in terms], columns[first])[which]
                case PassRow(dst, src, client, sizes):
                    out.ids[:, dst] = out.ids[:, src]
                    for size in sizes:
                        out = self._stepped(out, dst, client, size)
                case MoveRow(dst, src):
                    out.ids[:, dst] = out.ids[:, src]
        return out

    def _stepped(self, block: _StateBlock, register: int, client: int, size: Number) -> _StateBlock:
        number, which = _distinct(block.ids[:, register], len(self.values))
        after = self.values.descend(client, size, number)
        if not self.values.noisy:
            block.ids[:, register] = after[which]
            return block
        both = [self.values.noise(size, after, sign)[which] for sign in (1, -1)]
        out = _StateBlock(np.concatenate([block.ids, block.ids]), np.concatenate([block.weights, block.weights]))
        if self.past is not None and block.past is not None:
            out.past = np.concatenate([self.past.after(block.past, sign) for sign in (1, -1)])
        out.ids[:, register] = np.concatenate(both)
        return out


def _distinct(numbers: Ints, size: int) -> tuple[Ints, Ints]:
    """Return which of the numbers 0 … size − 1 there are, sorted, and the place of each among them."""
    there = np.zeros(size, dtype=np.bool_)
    there[numbers] = True
    found = np.flatnonzero(there)
    places = np.empty(size, dtype=np.int64)
    places[found] = np.arange(len(found))
    return found, places[numbers]


def _added(which: Ints, weights: Any, classes: int) -> Any:
    """Return the sum of the weights of each class."""
    if weights.dtype == np.float64:
        return np.bincount(which, weights, minlength=classes)
    out = np.zeros(classes, dtype=weights.dtype)
    np.add.at(out, which, weights)
    return out


def _sort_seats(ids: Ints, group: tuple[tuple[int, ...], ...]) -> None:
    """Bring slots that may change places into the order of what they hold, in each state by itself."""
    columns = np.array(group)  # (slots, registers of a slot)
    held = ids[:, columns]
    order = np.lexsort(held.transpose(2, 0, 1), axis=-1)
    ids[:, columns] = np.take_along_axis(held, order[:, :, None], axis=1)
