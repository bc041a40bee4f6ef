"""Second moments of all registers over random events: E z zᵀ ← Σ p·T E[z zᵀ] Tᵀ + noise, one matrix a control state.

One recursion in two arithmetics: arrays of floats, and arrays of objects that are exact numbers. Entry 0 of z is 1, so
that the matrix holds probability and mean too.

Floats come with a proved error. An event is a completely positive map: what lies between −B and B in the order of
symmetric matrices is brought between the images of these. So a second recursion of the same maps, to which each event
adds what its own rounding can do as a diagonal matrix, bounds the error of all before it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import X_S, Control
from boundlab.expectation._compiled import LARGEST as COMPILED
from boundlab.expectation._compiled import Linear, Triangle, compiled
from boundlab.expectation._graph import Edge, EventChoices, all_end
from boundlab.expectation._live import lasting, slimmed
from boundlab.expectation._maps import Drawn, Maps, Place
from boundlab.expectation._passes import EPS, Passes, norm
from boundlab.tape import Initial

Number = TypeVar("Number")
Array = NDArray[Any]


@final
@dataclass(frozen=True, slots=True)
class BlockQuadratic:
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
@dataclass(frozen=True, slots=True)
class PassNoise:
    """Noise of one pass, as far as what an event writes holds it.

    Parameters
    ----------
    drawn
        The noise.
    moved
        Shape (c, written, e): how what is written depends on it.
    start, sources
        (1, where the pass begins) is ``start``, shape (c, 1 + e, sources), times these coordinates; where the noise
        depends on it.
    """

    drawn: Drawn
    moved: Array
    start: Array | None
    sources: NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True)
class Moved:
    """An event.

    Parameters
    ----------
    share
        Its probability, given the control state before.
    after
        The control state after it.
    written, sources
        Coordinates that change, and those that they are made of, 0 among them.
    T
        Shape (c, written, sources).
    spreads
        The noise.
    off
        Of floats, shape (2, written): how far T and its constant column are off, as norms of a register's rows.
    """

    share: Any
    after: Control
    written: NDArray[np.int64]
    sources: NDArray[np.int64]
    T: Array
    spreads: list[PassNoise]
    off: Array

    def unsure(self, rounding: float) -> float:
        """Return how far products are off, relatively: by rounding, or as T is."""
        return max(rounding, float(self.off[0].max(initial=0.0)))

    def lost(self, rounding: float) -> Array:
        """Return weights of a diagonal that bounds what floats lose, shape (c, written, sources).

        If V is no less than the diagonal of the second moments, entries (a, b) of T S Tᵀ + noise are off by at most the
        geometric mean of entries a and b of weights·V; where b is not written its entry is 2·unsure(rounding)·V_b.

        Parameters
        ----------
        rounding
            How far a sum of the products is off, relative to that of their absolute values.
        """
        many = float(len(self.sources))
        off = np.repeat(self.off[0][:, None], len(self.sources), axis=1)
        off[:, 0] = self.off[1]
        share = self.unsure(rounding)
        weights = 2.0 * many * (share * np.square(self.T) + np.square(off) / share)
        for spread in self.spreads:
            drawn, moved, e = spread.drawn, norm(spread.moved), spread.moved.shape[-1]
            wrong = float(self.off[0].max(initial=0.0))
            reach = (moved + wrong) ** 2
            turned = 2.0 * wrong * moved + wrong * wrong + (2 * e + 4 + len(self.spreads)) * EPS * reach
            V = norm(drawn.covariance)
            weights[:, :, 0] += turned * (V + drawn.off.covariance) + reach * drawn.off.covariance
            if spread.start is not None and drawn.depends is not None:
                D, G = norm(drawn.depends), norm(spread.start) + drawn.start.off + drawn.start.base
                ends = 2.0 * (drawn.start.off + drawn.start.base) * G + (3 * e * e + 8) * EPS * G * G
                total = (turned * G * G + reach * ends) * D + reach * G * G * (drawn.off.depends + turned * EPS)
                at = np.searchsorted(self.sources, spread.sources)
                assert (self.sources[at] == spread.sources).all()  # noqa: S101  (what is written follows the pass)
                weights[:, :, at] += total
        return np.asarray(weights)


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
        self,
        lowering: EventChoices[Number],
        initial: tuple[Initial, ...],
        where: BlockQuadratic,
        share: Callable[[Any], Any],
        *,
        shown: int,
        relative: int = -1,
    ) -> None:
        self._lowering, self._where, self._share, self._shown = lowering, where, share, shown
        c, self.e = where.x0.shape
        self._zero = where.one - where.one
        self._kept = lasting(lowering, frozenset((X_S, shown)), len(initial))
        self._place = {register: place for place, register in enumerate(sorted(self._kept))}
        self.size = 1 + len(self._kept) * self.e
        self.entries = 0  # that were computed
        models = {r: int(one is Initial.START) for r, one in enumerate(initial) if one is not Initial.UNWRITTEN}
        self._maps: Maps[Number] = Maps(where.passes, where.one, (c, self.e), where.star, models, relative)
        z = np.full((c, self.size), self._zero, dtype=where.x0.dtype)
        z[:, 0] = where.one
        away = where.x0 - where.star
        for register in self._kept:
            if initial[register] is Initial.START:
                z[:, self._rows(register)] = away
        rows, control, _ = lowering.opening()
        opening = self._moved(Edge(1, rows, None, 0), control)
        first = z[:, :, None] * z[:, None, :]
        self.states: dict[Control, Array] = {control: self._after(first, opening)}
        self.errors: dict[Control, Array] = {}
        if where.x0.dtype == np.float64:
            error = np.zeros_like(first)
            _diagonal(error)[:] = 4.0 * self.size * EPS * _diagonal(first)
            self.errors[control] = self._after(error, opening)
            _diagonal(self.errors[control])[:] += self._lost(first, error, opening)
        self.events = 0
        self._known: dict[Control, tuple[list[Moved], bool]] = {}
        self._clock: Any = None
        self._triangle = Triangle(c, self.size)
        self._sparse: dict[Control, list[tuple[Control, Any, Any]]] | None = {} if self._packs() else None
        if self._sparse is not None:
            both = self._triangle.pack(self.states[control]), self._triangle.pack(self.errors[control])
            self.states, self.errors = {control: both[0]}, {control: both[1]}

    def _packs(self) -> bool:
        """Return whether events are sparse matrices made once: floats, few, the same all the time."""
        c = self._where.x0.shape[0]
        constant = self._lowering.clock(0) == self._lowering.clock(1)
        few = c * self._triangle.each <= COMPILED and self._where.x0.dtype == np.float64
        return constant and few and not self._where.passes.by_batches

    def _rows(self, register: int) -> slice:
        place = self._place[register]
        return slice(1 + place * self.e, 1 + (place + 1) * self.e)

    def second(self, states: dict[Control, Array] | None = None) -> Array:
        """Return E (x − x*)(x − x*)ᵀ of what is shown, shape (c, e, e); of ``errors``, what it is at most off by."""
        shown, states = self._rows(self._shown), self.states if states is None else states
        if self._sparse is not None:
            rows = np.arange(self.size)[shown]
            return sum((self._triangle.entries(state, rows) for state in states.values()), start=self._zero)
        return sum((state[:, shown, shown] for state in states.values()), start=self._zero)

    def cross(self, one: int, other: int) -> Array:
        """Return E (z of a register)(z of another)ᵀ in exact numbers, shape (c, e, e); models are relative to x*."""
        a, b = self._rows(one), self._rows(other)
        return sum((state[:, a, b] for state in self.states.values()), start=self._zero)

    def mean(self, register: int) -> Array:
        """Return E (z of a register) in exact numbers, shape (c, e); models are relative to x*."""
        return sum((state[:, 0, self._rows(register)] for state in self.states.values()), start=self._zero)

    def advance(self) -> bool:
        """Do one event, and return whether an iteration ends."""
        clock = self._lowering.clock(self.events)
        if clock != self._clock:
            self._known, self._clock = {}, clock
        out: dict[Control, Array] = {}
        errors: dict[Control, Array] = {}
        each, parts = list[bool](), 0
        for control, state in self.states.items():
            events, ends = self._events(control)
            each.append(ends)
            for after, part, error in self._parts(control, state, events):
                out[after] = out[after] + part if after in out else part
                if error is not None:
                    errors[after] = errors[after] + error if after in errors else error
                parts += 1
        for control, error in errors.items():  # what adding up the parts loses
            size = self._on_diagonal(out[control]) + 3.0 * self._on_diagonal(error)
            self._add(error, self.size * EPS * (parts + 4.0) * size)
        self.states, self.errors = out, errors
        self.events += 1
        return all_end(each)

    def _parts(
        self, control: Control, state: Array, events: list[Moved]
    ) -> Iterator[tuple[Control, Array, Array | None]]:
        """Yield what one control state adds to those after the event, and to what they are off by."""
        error = self.errors.get(control)
        if self._sparse is None:
            for event in events:
                off = None
                if error is not None:
                    off = event.share * self._after(error, event)
                    _diagonal(off)[:] += event.share * self._lost(state, error, event)
                yield event.after, event.share * self._after(state, event), off
            return
        assert error is not None  # noqa: S101  (floats)
        if control not in self._sparse:
            self._sparse[control] = compiled([(self._linear(event), event.after) for event in events], self._triangle)
        reach = self._on_diagonal(state) + 3.0 * self._on_diagonal(error)
        for after, matrix, lost in self._sparse[control]:
            off = matrix @ error  # two products with one column each: SciPy takes three times as long for two columns
            self._add(off, self.size * (lost @ reach.ravel()).reshape(reach.shape))
            yield after, matrix @ state, off

    def _lost(self, state: Array, error: Array, event: Moved) -> Array:
        """Return a diagonal that bounds what floats lose at an event, shape (c, size)."""
        reach = _diagonal(state) + 3.0 * _diagonal(error)
        rounding = EPS * (2.0 * len(event.sources) + 8.0)
        out: Array = 2.0 * event.unsure(rounding) * reach
        if len(event.written):
            out[:, event.written] = (event.lost(rounding) @ reach[:, event.sources, None])[..., 0]
        return np.asarray(self.size * out)

    def _on_diagonal(self, state: Array) -> Array:
        """Return shape (c, size), of a matrix in either form."""
        if self._sparse is None:
            return _diagonal(state)
        return np.asarray(state.reshape(self._triangle.blocks, self._triangle.each)[:, self._triangle.diagonal])

    def _add(self, state: Array, diagonal: Array) -> None:
        """Add a diagonal to a matrix in either form."""
        if self._sparse is None:
            _diagonal(state)[:] += diagonal
        else:
            state.reshape(self._triangle.blocks, self._triangle.each)[:, self._triangle.diagonal] += diagonal

    def _linear(self, event: Moved) -> Linear:
        noise = np.zeros((event.T.shape[0], len(event.written), len(event.written)))
        for spread in event.spreads:
            noise += spread.moved @ spread.drawn.covariance @ spread.moved.swapaxes(1, 2)
        return Linear(event.share, event.written, event.sources, event.T, noise, event.unsure, event.lost)

    def _events(self, control: Control) -> tuple[list[Moved], bool]:
        if control not in self._known:
            edges, ends = self._lowering.edges(control, self.events)
            self._known[control] = [self._moved(edge, after) for edge, after in edges], ends
        return self._known[control]

    def _moved(self, edge: Edge[Number], after: Control) -> Moved:
        edge, _ = slimmed(edge, self._kept)
        event = self._maps.read(edge.rows, edge.order)
        written = {register: place for register, place in event.written.items() if register in self._kept}
        places = list(written.values())
        sources = sorted({name for place in places for name in place.linear})
        T = self._matrix(places, sources)
        spreads = []
        for number, drawn in enumerate(event.drawn):
            parts = [place.noise.get(number) for place in places]
            if any(part is not None for part in parts):
                nothing = self._where.passes.nothing
                moved = np.concatenate([nothing if part is None else part for part in parts], axis=1)
                spreads.append(self._spread(drawn, moved))
        off = np.array([[place.off, place.base] for place in places]).reshape(-1, 2).T
        return Moved(
            self._share(edge.share),
            after,
            self._coordinates(list(written)),
            self._coordinates(sources, one=True),
            T,
            spreads,
            np.repeat(off, self.e, axis=1),
        )

    def _coordinates(self, registers: list[int], *, one: bool = False) -> NDArray[np.int64]:
        every = np.arange(self.size)
        return np.concatenate([every[:one], *(every[self._rows(register)] for register in registers)]).astype(np.int64)

    def _spread(self, drawn: Drawn, moved: Array) -> PassNoise:
        if drawn.depends is None:
            return PassNoise(drawn, moved, None, np.empty(0, dtype=np.int64))
        sources = sorted(drawn.start.linear)
        G = self._matrix([drawn.start], sources)
        first = np.full((len(G), 1, G.shape[2]), self._zero, dtype=G.dtype)
        first[:, :, 0] = self._where.one
        return PassNoise(drawn, moved, np.concatenate([first, G], axis=1), self._coordinates(sources, one=True))

    def _after(self, state: Array, event: Moved) -> Array:
        """Return T S Tᵀ + noise: rows and columns of what is written change."""
        written = event.written
        if not len(written):
            return state
        self.entries += state.size
        crossed = event.T @ state[:, event.sources]  # E (new of what is written) zᵀ
        own = crossed[:, :, event.sources] @ event.T.swapaxes(1, 2)
        for spread in event.spreads:
            covariance = state[:, :1, :1] * spread.drawn.covariance
            if spread.start is not None and spread.drawn.depends is not None:
                there = state[:, spread.sources[:, None], spread.sources]
                at_start = spread.start @ there @ spread.start.swapaxes(1, 2)
                covariance = covariance + np.einsum("cijkl,ckl->cij", spread.drawn.depends, at_start)
            own = own + spread.moved @ covariance @ spread.moved.swapaxes(1, 2)
        out = state.copy()
        out[:, written] = crossed
        out[:, :, written] = crossed.swapaxes(1, 2)
        out[:, written[:, None], written] = own
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


def _diagonal(matrices: Array) -> Array:
    """Return the diagonals of matrices, shape (c, size), to be read and written."""
    out: Array = np.einsum("cii->ci", matrices)
    return out
