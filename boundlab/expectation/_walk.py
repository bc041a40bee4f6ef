"""The expectation over all that can happen: states with their probabilities, equal ones merged after every event."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import lcm
from typing import Any, Final, Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Event, MoveRow
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar, exact_array, hashable
from boundlab.arithmetic.problem import AtMinimum, Minimum, OfClients, RationalProblem, Vector
from boundlab.errors import SpecError, UndecidedError
from boundlab.events import SERVER
from boundlab.execute.enclosed import EPS, TINY, UNKNOWN, UP
from boundlab.execute.iterates import CLOSE
from boundlab.expectation._graph import Graph, Level, PassRow, Row, SumRow
from boundlab.metrics import Certified, Metric, Proved
from boundlab.objective import Problem
from boundlab.randomness import Floats, Ints
from boundlab.tape import Initial

# Histories of the states of an enumeration: which events and signs led there, and what metrics have seen on the way.

Letter = Event | int  # what came: an event; or a sign, 1 or −1
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
    """Ways that lead to states, shape (S, 2): the number of a set of words, and of what metrics have seen.

    Sets of words, read from their last letter, are the states of a minimal automaton: equal sets have one number.
    """

    def __init__(self) -> None:
        self._number: dict[tuple[bool, frozenset[tuple[Letter, int]]], int] = {}
        self._after: list[tuple[bool, dict[Letter, int]]] = []
        self._count: list[int] = []
        self._union: dict[tuple[int, int], int] = {}
        self._none, self._empty = self._words(False, {}), self._words(True, {})
        self._places: dict[tuple[int, ...], int] = {(): 0}
        self._observed: list[tuple[int, ...]] = [()]
        self._events: set[Letter] = set()

    def start(self) -> Ints:
        """Return the history of the one state at the start."""
        return np.array([[self._empty, 0]])

    def after(self, past: Ints, came: Sequence[Letter]) -> Ints:
        """Return each history with what came then, in place of which several events may have come."""
        self._events.update(one for one in came if not isinstance(one, int))
        out = past.copy()
        out[:, 0] = [self._words(False, dict.fromkeys(came, old)) for old in past[:, 0].tolist()]
        return out

    def saw(self, past: Ints, numbers: Ints) -> Ints:
        """Return each history with the number of what metrics see now."""
        out = past.copy()
        for row, (old, number) in enumerate(zip(past[:, 1].tolist(), numbers.tolist(), strict=True)):
            observed = (*self._observed[old], number)
            out[row, 1] = self._places.setdefault(observed, len(self._observed))
            if out[row, 1] == len(self._observed):
                self._observed.append(observed)
        return out

    def joined(self, past: Ints, which: Ints, first: Ints) -> Ints:
        """Return the history of each class, all of whose members, of which one is ``first``, have seen the same."""
        out = past[first]
        for (words, _), name in zip(past.tolist(), which.tolist(), strict=True):
            out[name, 0] = self._united(int(out[name, 0]), words)
        return out

    def outcomes(
        self, past: Ints, weights: Any, whole: int, points: Sequence[tuple[Scalar, ...]]
    ) -> list[RecordedOutcome]:
        """Return all outcomes, the likeliest first.

        Parameters
        ----------
        past, weights
            Those of the last states, shapes (S, 2) and (S,).
        whole
            The sum of all weights.
        points
            What the numbers that were seen stand for.
        """
        groups: dict[int, tuple[int, int]] = {}
        for (words, seen), weight in zip(past.tolist(), weights.tolist(), strict=True):
            known, share = groups.get(seen, (self._none, 0))
            groups[seen] = self._united(known, words), share + weight
        found = []
        for name, (words, share) in groups.items():
            if share:  # else events that never come
                patterns = tuple(islice(self._patterns(words), LISTED + 1))
                shown = tuple(sorted(map(self._text, patterns))) if len(patterns) <= LISTED else None
                seen = tuple(points[number] for number in self._observed[name])
                found.append(RecordedOutcome(seen, Fraction(share, whole), self._count[words], shown))
        return sorted(found, key=lambda one: (-one.p, one.patterns or ()))

    def _words(self, ends: bool, after: dict[Letter, int]) -> int:
        """Return the number of a set: does it have the empty word, and what stands before each last letter."""
        place = self._number.setdefault((ends, frozenset(after.items())), len(self._after))
        if place == len(self._after):
            self._after.append((ends, after))
            self._count.append(ends + sum(self._count[rest] for rest in after.values()))
        return place

    def _united(self, one: int, other: int) -> int:
        if one == other or other == self._none:
            return one
        if one == self._none:
            return other
        key = (min(one, other), max(one, other))
        if key not in self._union:
            (ends, after), (also, more) = self._after[one], self._after[other]
            both = {letter: self._united(after[letter], more[letter]) for letter in after.keys() & more.keys()}
            self._union[key] = self._words(ends or also, {**after, **more, **both})
        return self._union[key]

    def _patterns(self, words: int) -> Iterator[tuple[frozenset[Letter], ...]]:
        """Yield patterns that together are the words, each once: sets of letters, from the first to the last.

        They are few, where what comes first matters less than what comes last.
        """
        ends, after = self._after[words]
        if ends:
            yield ()
        alike: dict[int, set[Letter]] = {}
        for letter, rest in after.items():
            alike.setdefault(rest, set()).add(letter)
        for rest, letters in alike.items():
            for front in self._patterns(rest):
                yield (*front, frozenset(letters))

    def _text(self, pattern: tuple[frozenset[Letter], ...]) -> str:
        words: list[str] = []
        for came in pattern:
            if came == self._events and len(came) > 1:
                words.append("*")
            else:
                names = sorted(map(_name, came), key=lambda name: (name == "S", len(name), name))
                words.append(names[0] if len(names) == 1 else "±" if names[0] in "+−" else f"{{{','.join(names)}}}")
        return ("" if all(len(word) == 1 or word[0] == "{" for word in words) else " ").join(words)


def _name(came: Letter) -> str:
    if isinstance(came, int):
        return _SIGNS[came]
    names = ["S" if one == SERVER else str(one) for one in came]
    return names[0] if len(names) == 1 else f"({','.join(names)})"


# Contents of registers in an enumeration: each vector once, under a number, so that equal states have equal numbers.
#
# Merging needs exact numbers: rationals are equal where they are, floats where their bits are, balls where middle and
# radius are.

Number = TypeVar("Number")
_TOLD: Final = 30_000  # points at which a left side is enclosed: about a second


class VectorTable(ABC, Generic[Number]):
    """Vectors under numbers 0, 1, …; all methods take arrays of numbers and give arrays of them.

    Parameters
    ----------
    start, zero
        The numbers of x0 and of 0, until the first :meth:`keep`.
    noisy
        Whether local steps draw a sign.
    """

    start: int
    zero: int
    noisy: bool

    @abstractmethod
    def __len__(self) -> int:
        """Return how many there are."""

    @abstractmethod
    def combine(self, coefficients: Sequence[Number], terms: Ints) -> Ints:
        """Return Σ coefficient·vector, shape (U,), of terms of shape (U, len(coefficients))."""

    @abstractmethod
    def descend(self, client: int, size: Number, at: Ints) -> Ints:
        """Return one local step from each vector; where there is noise without that, and without what follows it."""

    @abstractmethod
    def noise(self, size: Number, at: Ints, sign: int) -> Ints:
        """Return the end of a noisy local step: each vector less sign·size·σu, and on F = f + h the proximal map."""

    @abstractmethod
    def total(self, metric: Metric, at: Ints, weights: Any, whole: Any, terms: Fraction) -> Any:
        """Return Σ weight·metric(vector/terms), over ``whole``, which is the sum of all weights.

        Parameters
        ----------
        weights
            Shape (U,); floats, or integers of any length.
        """

    @abstractmethod
    def keep(self, used: Ints) -> None:
        """Forget all others; what was used[j] is called j from now on."""

    def joined(self, ids: Ints) -> Ints:
        """Return the states of a control state, shape (S, registers), as far as they are told apart."""
        return ids


@final
class FloatValues(VectorTable[float]):
    """Vectors of floats, and how far each is at most from all that it stands for."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self._proved = problem, Proved(problem)
        x0 = np.asarray(problem.x0, dtype=np.float64)
        self.points, self.errors = np.empty((64, problem.d)), np.zeros(64)
        self._number: dict[bytes, int] = {}
        self.start, self.zero = self._put(np.stack([x0, np.zeros(problem.d)]), np.zeros(2)).tolist()
        self._bounds = [problem.step_bounds(client) for client in range(problem.n)]
        self._noise = problem.sign_noise if not problem.noiseless else None
        self.noisy = self._noise is not None
        self._descending = problem.gradient_part if self.noisy else problem
        self._told = 0

    def __len__(self) -> int:
        return len(self._number)

    def _put(self, found: Floats, errors: Floats) -> Ints:
        found = found + 0.0  # −0 becomes 0
        rows = found.view(f"V{8 * found.shape[1]}").ravel().tolist()
        known, first = self._number, len(self._number)
        out = np.array([known.setdefault(row, len(known)) for row in rows], dtype=np.int64)
        if len(known) > len(self.points):
            wide, off = np.empty((2 * len(known), found.shape[1])), np.zeros(2 * len(known))
            wide[:first], off[:first] = self.points[:first], self.errors[:first]
            self.points, self.errors = wide, off
        new = out >= first
        self.points[out[new]] = found[new]
        np.maximum.at(self.errors, out, errors * UP + TINY)
        return out

    def combine(self, coefficients: Sequence[float], terms: Ints) -> Ints:
        """Return Σ coefficient·vector, term by term as an executor adds."""
        total, off = np.zeros((len(terms), self.points.shape[1])), np.zeros(len(terms))
        rounding = (len(coefficients) + 2.0) * EPS
        for coefficient, column in zip(coefficients, terms.T, strict=True):
            total += coefficient * self.points[column]
            off += abs(coefficient) * (self.errors[column] + rounding * _norms(self.points[column]))
        return self._put(total, off)

    def descend(self, client: int, size: float, at: Ints) -> Ints:
        """Return one step with the full gradient.

        Raises
        ------
        UndecidedError
            If rounding could decide on which side of a kink it is taken.
        """
        x, off, bounds = self.points[at], self.errors[at], self._bounds[client]
        before = _norms(x)
        if bounds is not None and bounds.kinks:
            room = float((off + (x.shape[1] + 8) * EPS * before).max(initial=0.0))
            if not room < UNKNOWN or self.problem.near_kink(client, x, room).any():
                raise UndecidedError(CLOSE)
        found, doubts, doubt = x.copy(), np.zeros(len(at)), None if bounds is None else bounds.doubt
        if self._descending.simple is None and doubt is None:
            found -= size * self._descending.gradients(client, x)
        else:
            for row, point in enumerate(found):
                doubts[row] = 0.0 if doubt is None else doubt(point)
                self._descending.descend(client, point, size)  # a proximal map may follow
        if bounds is None:
            return self._put(found, np.full(len(at), UNKNOWN))
        both = before + _norms(found)
        rounding = 8.0 * EPS * both + size * (bounds.offset + bounds.slope * both + doubts)
        return self._put(found, bounds.growth(size) * off + rounding)

    def noise(self, size: float, at: Ints, sign: int) -> Ints:
        """Return each vector less sign·size·σu, and where there is an h its proximal point: no error grows by that."""
        assert self._noise is not None  # noqa: S101  (only noisy problems are asked)
        x, h = self.points[at], self.problem.simple
        found = x - (sign * size) * self._noise
        rounding = 8.0 * EPS * (_norms(x) + abs(size) * float(np.linalg.norm(self._noise)))
        if h is not None:
            rounding += (found.shape[1] + 8) * EPS * _norms(found)
            found = h.prox(found, size)
        return self._put(found, self.errors[at] + rounding)

    def total(self, metric: Metric, at: Ints, weights: Any, whole: Any, terms: Fraction) -> Floats:
        """Return the mean in floating point, and between which ends it is proved to lie."""
        divisor = float(terms)
        points = self.points[at] / divisor
        self._told += len(at)
        if self._told > _TOLD:
            low, _ = metric.at(Certified(self.problem), points)
            return np.array([float(weights @ low) / float(whole), 0.0, np.inf])
        off = self.errors[at] / divisor + 4.0 * EPS * _norms(points)
        return np.asarray(weights @ self._proved.at(metric, points, off)) / float(whole)

    def keep(self, used: Ints) -> None:
        """Forget all others."""
        points, errors, self._number = self.points[used], self.errors[used], {}
        self.errors[:] = 0.0
        self._put(points, errors)


def _norms(points: Floats) -> Floats:
    return np.asarray(np.sqrt(np.square(points).sum(axis=1)) * (1.0 + (points.shape[1] + 8) * EPS))


class ListedValues(VectorTable[Number]):
    """Vectors in a list, each once; without noise and metrics.

    Attributes
    ----------
    points
        What numbers stand for.
    """

    noisy = False

    def __init__(self, name: Callable[[Any], Hashable]) -> None:
        self._name = name  # equal for equal points
        self.points: list[Any] = []
        self._number: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self.points)

    def _put(self, point: Any) -> int:
        number = self._number.setdefault(self._name(point), len(self.points))
        if number == len(self.points):
            self.points.append(point)
        return number

    def _numbers(self, points: Iterable[Any]) -> Ints:
        return np.array([self._put(point) for point in points], dtype=np.int64)

    def noise(self, size: Number, at: Ints, sign: int) -> Ints:
        """Return the vectors."""
        return at

    def total(self, metric: Metric, at: Ints, weights: Any, whole: Any, terms: Fraction) -> Any:
        """Return nothing."""
        return None

    def keep(self, used: Ints) -> None:
        """Forget all others."""
        points, self.points, self._number = [self.points[number] for number in used.tolist()], [], {}
        self._numbers(points)


@final
class ExactValues(ListedValues[Scalar]):
    """Vectors of rationals, surds or balls.

    Parameters
    ----------
    unit
        1 in the numbers of the step sizes, so that all vectors are of one kind.
    """

    def __init__(self, model: RationalProblem, best: Minimum | None, unit: Scalar) -> None:
        self.model, self._function = model, AtMinimum.of(model, best)
        super().__init__(lambda point: tuple(map(hashable, point)))
        self._zero = unit - unit
        self._steps: dict[Any, dict[int, int]] = {}
        noise = model.sign_noise()
        self.noisy = noise is not None
        self._descending = model.gradient_part if self.noisy else model
        self._noise = exact_array(noise or [])
        self.start = self._put(tuple(exact_array(model.x0) + self._zero))
        self.zero = self._put((self._zero,) * model.d)

    def _rows(self, at: Ints) -> Vector:
        return np.array([self.points[number] for number in at.tolist()], dtype=object).reshape(len(at), self.model.d)

    def combine(self, coefficients: Sequence[Scalar], terms: Ints) -> Ints:
        """Return Σ coefficient·vector."""
        total = np.full((len(terms), self.model.d), self._zero)
        for coefficient, column in zip(coefficients, terms.T, strict=True):
            total = total + coefficient * self._rows(column)
        return self._numbers(map(tuple, total))

    def descend(self, client: int, size: Scalar, at: Ints) -> Ints:
        """Return one step with the full gradient.

        Raises
        ------
        UndecidedError
            If a ball meets a kink.
        """
        known, model = self._steps.setdefault((client, hashable(size)), {}), self._descending
        new = [number for number in dict.fromkeys(at.tolist()) if number not in known]
        if new:
            moved = model.descend_each(client, self._rows(np.array(new)), size)
            known |= zip(new, self._numbers(map(tuple, moved)).tolist(), strict=True)
        return np.array([known[number] for number in at.tolist()], dtype=np.int64)

    def steps(self) -> list[Steps]:
        """Return all steps without noise since the last :meth:`keep`, as far as possible in a row; each step once."""
        found = []
        for (client, _), known in self._steps.items():
            left = dict(known)
            firsts = [number for number in known if number not in set(known.values())] or list(known)[:1]
            for first in (*firsts, *known):
                row = [first]
                while row[-1] in left:
                    row.append(left.pop(row[-1]))
                if len(row) > 1:
                    found.append(Steps(client, tuple(self.points[number] for number in row)))
        return found

    def noise(self, size: Scalar, at: Ints, sign: int) -> Ints:
        """Return each vector less sign·size·σu, and where there is an h its proximal point."""
        moved = self._rows(at) - sign * size * self._noise
        return self._numbers(tuple(self.model.proximal(x, size)) for x in moved)

    def total(self, metric: Metric, at: Ints, weights: Any, whole: Any, terms: Fraction) -> Scalar:
        """Return the mean without rounding."""
        X = numbers.rational(1 / terms) * self._rows(at)
        together = isinstance(self.model, OfClients)
        each = metric.at(self._function, X) if together else np.array([metric.at(self._function, x) for x in X])
        return exact_array(weights) @ each / numbers.rational(whole)

    def keep(self, used: Ints) -> None:
        """Forget all others."""
        super().keep(used)
        self._steps = {}


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
        Shape (S, 2): what led there; (S, 0) where nobody asks.
    """

    ids: Ints
    weights: Any
    past: Ints


@final
class Walk(Generic[Number]):
    """An enumeration.

    Parameters
    ----------
    graph
        As :func:`boundlab.expectation._graph.pruned` gives it.
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
        *,
        exact: bool,
        largest: int = LARGEST,
        past: History | None = None,
    ) -> None:
        self.graph, self.values, self.exact, self.largest = graph, values, exact, largest
        self.past = past
        self.whole: Any = 1 if exact else 1.0
        self.merged = 0  # states after merging, over all events
        self.added = 0  # more than how often a weight was rounded

    def run(self, observe: Callable[[int, Ints, Any, Any], object]) -> None:
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
        weights = np.ones(1, dtype=np.int64 if self.exact else np.float64)
        past = np.zeros((1, 0), dtype=np.int64) if self.past is None else self.past.start()
        blocks = [_StateBlock(ids, weights, past)]
        for place, level in enumerate(graph.levels):
            try:
                blocks = self._advance(blocks, level, place)
            except UndecidedError as error:
                raise UndecidedError(str(error), max(place - 1, 0) / max(len(graph.levels) - 1, 1)) from None
            self._show(place, blocks, observe)
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
        histories = np.concatenate([block.past for block in self.last])
        weights = np.concatenate([block.weights for block in self.last])
        return self.past.outcomes(histories, weights, self.whole, points)

    def _show(self, place: int, blocks: list[_StateBlock], observe: Callable[[int, Ints, Any, Any], object]) -> None:
        self.last = blocks
        if place in self.graph.terms:
            for block in blocks:
                if self.past is not None:
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
        return [_StateBlock(names[block.ids], block.weights, block.past) for block in blocks]

    def _advance(self, blocks: list[_StateBlock], level: Level[Number], place: int) -> list[_StateBlock]:
        self._require_room(self._reached(blocks, level), place)
        each = [edge for own in level.edges for edge in own]
        common = lcm(*(Fraction(edge.share).denominator for edge in each)) if self.exact else 1
        most = max((self._splits(edge.rows) for edge in each), default=0)
        self._wider(common << most)
        found: list[list[_StateBlock]] = [[] for _ in level.reads]
        for block, own in zip(blocks, level.edges, strict=True):
            for edge in own:
                told = block
                if self.past is not None and edge.events:
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
            ids = self.values.joined(ids)
            past = np.concatenate([part.past for part in parts])
            # States are equal only if metrics have seen the same in them.
            first, which = unique_rows(ids if self.past is None else np.concatenate([ids, past[:, 1:]], axis=1))
            weights = _added(which, np.concatenate([part.weights for part in parts]), len(first))
            past = past[first] if self.past is None else self.past.joined(past, which, first)
            out.append(_StateBlock(ids[first], weights, past))
            self.merged += len(first) if place else 0
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
        past = [block.past if self.past is None else self.past.after(block.past, [sign]) for sign in (1, -1)]
        ids, weights = np.concatenate([block.ids, block.ids]), np.concatenate([block.weights, block.weights])
        ids[:, register] = np.concatenate(both)
        return _StateBlock(ids, weights, np.concatenate(past))


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
