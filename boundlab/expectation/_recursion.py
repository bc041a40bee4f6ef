"""Second moments of all registers over random events: E z zᵀ ← Σ p·T E[z zᵀ] Tᵀ + noise, one matrix a control state.

One recursion in two arithmetics: arrays of floats, and arrays of objects that are exact numbers. Entry 0 of z is 1, so
that the matrix holds probability and mean too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Control
from boundlab.expectation._graph import Edge, Row
from boundlab.expectation._maps import Drawn, Map, Maps, Place
from boundlab.expectation._passes import Passes
from boundlab.tape import Initial

Number = TypeVar("Number")
Array = NDArray[Any]


class Events(Protocol[Number]):
    """What can happen: of random events, or of one schedule."""

    def opening(self) -> tuple[tuple[Row[Number], ...], Control, tuple[int, ...] | None]:
        """Return the rows before the first event, the control state after them, and new names of registers."""

    def clock(self, number: int) -> Any:
        """Return what the edges read off the number of events before."""

    def edges(self, control: Control, number: int) -> tuple[list[tuple[Edge[Number], Control]], bool]:
        """Return what can happen next, each with the control state after it, and whether an iteration ends."""


@final
@dataclass(frozen=True, slots=True)
class Quadratic:
    """A quadratic in coordinates of which blocks do not mix.

    Parameters
    ----------
    passes
        What local steps do, relative to x*.
    x0, star
        Shape (c, e) each; floats, or objects of an exact arithmetic.
    one
        1 in these numbers.
    """

    passes: Passes
    x0: Array
    star: Array
    one: Any


@final
class Recursion(Generic[Number]):
    """Second moments event by event.

    Parameters
    ----------
    initial
        What each register holds at first.
    share
        Makes a probability a number.
    shown
        The register that metrics see.
    relative
        A register of sums of models, each relative to x*.
    """

    def __init__(
        self, lowering: Events[Number], initial: tuple[Initial, ...], where: Quadratic, share: Callable[[Any], Any],
        *, shown: int, relative: int = -1,
    ) -> None:  # fmt: skip
        self._lowering, self._where, self._share, self._shown = lowering, where, share, shown
        c, self.e = where.x0.shape
        self._zero = where.one - where.one
        self.size = 1 + len(initial) * self.e
        self.entries = 0  # that were computed
        models = {r: int(one is Initial.START) for r, one in enumerate(initial) if one is not Initial.UNWRITTEN}
        self._maps: Maps[Number] = Maps(where.passes, where.one, (c, self.e), where.star, models, relative)
        z = np.full((c, self.size), self._zero, dtype=where.x0.dtype)
        z[:, 0] = where.one
        away = where.x0 - where.star
        for register, one in enumerate(initial):
            if one is Initial.START:
                z[:, self._rows(register)] = away
        rows, control, _ = lowering.opening()
        start = z[:, :, None] * z[:, None, :]
        self.states: dict[Control, Array] = {control: self._after(start, self._maps.read(rows, None))}
        self.events = 0
        self._known: dict[Control, tuple[list[tuple[Any, Map, Control]], bool]] = {}
        self._clock: Any = None

    def _rows(self, register: int) -> slice:
        return slice(1 + register * self.e, 1 + (register + 1) * self.e)

    def second(self) -> Array:
        """Return E (x − x*)(x − x*)ᵀ of what is shown, shape (c, e, e)."""
        shown = self._rows(self._shown)
        return sum((state[:, shown, shown] for state in self.states.values()), start=self._zero)

    def advance(self) -> bool:
        """Do one event, and return whether an iteration ends."""
        clock = self._lowering.clock(self.events)
        if clock != self._clock:
            self._known, self._clock = {}, clock
        out: dict[Control, Array] = {}
        ends = False
        for control, state in self.states.items():
            edges, ends = self._edges(control)
            for share, event, after in edges:
                part = share * self._after(state, event)
                out[after] = out[after] + part if after in out else part
        self.states = out
        self.events += 1
        return ends

    def _edges(self, control: Control) -> tuple[list[tuple[Any, Map, Control]], bool]:
        if control not in self._known:
            edges, ends = self._lowering.edges(control, self.events)
            read = [(self._share(edge.share), self._maps.read(edge.rows, edge.order), after) for edge, after in edges]
            self._known[control] = read, ends
        return self._known[control]

    def _after(self, state: Array, event: Map) -> Array:
        """Return T S Tᵀ + noise: rows and columns of what is written change."""
        if not event.written:
            return state
        self.entries += state.size
        written = list(event.written)
        sources = sorted({name for place in event.written.values() for name in place.linear})
        columns = np.concatenate([[0], *(np.arange(self.size)[self._rows(name)] for name in sources)]).astype(np.int64)
        T = self._matrix([event.written[register] for register in written], sources)
        crossed = T @ state[:, columns]  # E (new of what is written) zᵀ
        own = crossed[:, :, columns] @ T.swapaxes(1, 2)
        for number, drawn in enumerate(event.drawn):
            moved = [event.written[register].noise.get(number) for register in written]
            if any(part is not None for part in moved):
                own = own + self._spread(state, drawn, moved)
        rows = np.concatenate([np.arange(self.size)[self._rows(register)] for register in written])
        out = state.copy()
        out[:, rows] = crossed
        out[:, :, rows] = crossed.swapaxes(1, 2)
        out[:, rows[:, None], rows] = own
        return out

    def _matrix(self, places: list[Place[Any]], sources: list[int]) -> Array:
        """Return T, shape (c, written coordinates, 1 + source coordinates)."""
        c, e = self._where.x0.shape
        T = np.full((c, len(places) * e, 1 + len(sources) * e), self._zero, dtype=self._where.x0.dtype)
        at = {name: slice(1 + place * e, 1 + (place + 1) * e) for place, name in enumerate(sources)}
        for row, place in enumerate(places):
            here = slice(row * e, (row + 1) * e)
            T[:, here, 0] = place.constant
            for name, part in place.linear.items():
                T[:, here, at[name]] = part
        return T

    def _spread(self, state: Array, drawn: Drawn, moved: list[Array | None]) -> Array:
        """Return what one pass's noise adds to the second moments of what is written."""
        c, e = self._where.x0.shape
        covariance = state[:, :1, :1] * drawn.covariance
        if drawn.depends is not None:
            sources = sorted(drawn.start.linear)
            columns = np.concatenate([[0], *(np.arange(self.size)[self._rows(name)] for name in sources)]).astype(
                np.int64
            )
            G = self._matrix([drawn.start], sources)
            first = np.full((c, 1, G.shape[2]), self._zero, dtype=G.dtype)
            first[:, :, 0] = self._where.one
            G = np.concatenate([first, G], axis=1)
            at_start = G @ state[:, columns[:, None], columns] @ G.swapaxes(1, 2)
            covariance = covariance + np.einsum("cijkl,ckl->cij", drawn.depends, at_start)
        none = np.full((c, e, e), self._zero, dtype=state.dtype)
        N = np.concatenate([none if part is None else part for part in moved], axis=1)
        return np.asarray(N @ covariance @ N.swapaxes(1, 2))
