"""Second moments of all registers over random events: E z zᵀ ← Σ p·T E[z zᵀ] Tᵀ + noise, one matrix a control state.

One recursion in two arithmetics: arrays of floats, and arrays of objects that are exact numbers. Entry 0 of z is 1, so
that the matrix holds probability and mean too.

Floats come with a proved error. An event is a completely positive map: what lies between −B and B in the order of
symmetric matrices is brought between the images of these. So a second recursion of the same maps, to which each event
adds what its own rounding can do as a diagonal matrix, bounds the error of all before it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import X_S, Control, MoveRow
from boundlab.arithmetic.numbers import hashable
from boundlab.errors import SpecError
from boundlab.expectation._graph import COMPILED, Edge, EventChoices, PassRow, Row, SumRow, all_end, lasting, slimmed
from boundlab.tape import Initial

# Action of local steps of a quadratic on first and second moments, relative to x*: x ← H x + c + noise.

Array = NDArray[Any]
EPS: Final = float(np.finfo(np.float64).eps)
_KEPT = 1024  # passes that are remembered


def norm(x: Array) -> float:
    """Return the largest Frobenius norm of a block of floats, from above."""
    flat = x.reshape(len(x), -1)
    return math.sqrt(np.einsum("ij,ij->i", flat, flat).max(initial=0.0)) * (1.0 + 1e-12)


@final
@dataclass(frozen=True, slots=True)
class Off:
    """How far what floats give is at most from what it stands for, in Frobenius norms of a block.

    Parameters
    ----------
    H, c, covariance, depends
        As those of a pass: of the Hessian, the gradient at x*, the covariance and the tensor of one step, or of all.
    """

    H: float = 0.0
    c: float = 0.0
    covariance: float = 0.0
    depends: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class Pass:
    """Local steps x ← H x + c + noise.

    Parameters
    ----------
    H, c
        Shapes (c, e, e) and (c, e).
    covariance
        Of the noise, shape (c, e, e), as far as it depends on nothing.
    depends
        The rest of it, shape (c, e, e, e + 1, e + 1): applied to the second moment of (1, x) at the start; or None.
    off
        How far floats are off.
    """

    H: Array
    c: Array
    covariance: Array
    depends: Array | None
    off: Off


@final
@dataclass(frozen=True, slots=True)
class MinibatchNoise:
    """How the noise of a client's mini-batches depends on where they are drawn.

    Parameters
    ----------
    rows
        Shape (m, e): the a_j, scaled so that the gradient is their mean over j of a_j(a_jᵀx + residual_j).
    residuals
        Shape (m,): a_jᵀx* − y_j, scaled like them.
    share
        The covariance of a mini-batch's mean over that of one row.
    """

    rows: Array
    residuals: Array
    share: Any

    def tensor(self, one: Any) -> Array:
        """Return N, shape (e, e, e + 1, e + 1): gradients have covariance Σ_kl N[:, :, k, l]·(E (1, x)(1, x)ᵀ)_kl."""
        m = one * len(self.rows)
        both = np.concatenate([self.residuals[:, None], self.rows], axis=1)
        mean = self.rows.T @ both / m
        each = np.einsum("ji,jk,jl,jn->ikln", self.rows, self.rows, both, both) / m
        return np.asarray(self.share * (each - np.einsum("il,kn->ikln", mean, mean)))


@final
class Passes:
    """All passes of a problem.

    Parameters
    ----------
    A, g
        Hessians and the gradients at x*, shapes (c, n, e, e) and (c, n, e); floats, or objects of an exact arithmetic.
    covariance
        Shape (c, e, e): of the noise of each step.
    batches
        One a client where the noise is that of mini-batches; then c is 1.
    one
        1 in these numbers.
    off
        Of floats: how far those of each client are off.
    """

    def __init__(
        self,
        A: Array,
        g: Array,
        covariance: Array,
        batches: Sequence[MinibatchNoise],
        one: Any,
        off: Sequence[Off] = (),
    ) -> None:
        self._A, self._g, self._covariance, self._one, self._off = A, g, covariance, one, off
        self._tensors = [batch.tensor(one) for batch in batches]
        # Of floats: the norms of each client's Hessian, gradient and tensor, and of the covariance.
        tensors = self._tensors or [np.zeros(1)] * len(off)
        self._sizes = [(norm(A[:, i]), norm(g[:, i]), norm(tensors[i][None])) for i in range(len(off))]
        self._spread = norm(covariance) if off else 0.0
        e = A.shape[-1]
        self._eye = np.full((1, e, e), one - one, dtype=A.dtype)
        self._eye[:, range(e), range(e)] = one
        self._known: dict[Any, Pass] = {}

    @property
    def by_batches(self) -> bool:
        """True if the noise depends on where it is drawn."""
        return len(self._tensors) > 0

    @property
    def nothing(self) -> Array:
        """Return 0, shape (c, e, e)."""
        return np.asarray(0 * self._covariance)

    def of(self, client: int, sizes: tuple[Any, ...]) -> Pass:
        """Return what the client's steps of these sizes do."""
        key = client, tuple(map(hashable, sizes))
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known = {}
            self._known[key] = self._pass(client, sizes)
        return self._known[key]

    def _pass(self, client: int, sizes: tuple[Any, ...]) -> Pass:
        A, g = self._A[:, client], self._g[:, client]
        H, c, V = self._eye + 0 * A, 0 * g, 0 * self._covariance
        tensor = self._tensors[client] if self._tensors else None
        depends, off, growth = None if tensor is None else 0 * tensor, Off(), 0.0
        for place, size in enumerate(sizes):
            once = self._eye - size * A
            if self._off:
                if place == 0 or size != sizes[place - 1]:
                    growth = float(np.abs(np.linalg.eigvalsh(once)).max()) * (1.0 + 1e-9)
                off = self._after(off, client, size, growth, (once, H, c, V, depends))
            if tensor is not None and depends is not None:
                depends = _spread(once[0], tensor, depends, self._so_far(H[0], c[0]), size)
            V = once @ V @ once.swapaxes(1, 2) + (size * size) * self._covariance
            H, c = once @ H, (once @ c[..., None])[..., 0] - size * g
        return Pass(H, c, V, None if depends is None else depends[None], off)

    def _after(self, off: Off, client: int, size: float, growth: float, before: tuple[Any, ...]) -> Off:
        """Return how far floats are off after one more step, from what the step is and what was before it.

        Parameters
        ----------
        growth
            The spectral norm of the step.
        """
        wrong, e, (a, b, N) = self._off[client], self._A.shape[-1], self._sizes[client]
        once, H, c, V = map(norm, before[:4])
        D, noise = norm(before[4][None]) if self._tensors else 0.0, size * size * self._spread
        step = EPS * (np.sqrt(e) + 3.0 * abs(size) * a) + abs(size) * wrong.H
        g, P, ends = growth + step, H + c + 1.0, off.H + off.c
        new = Off(
            g * off.H + step * H + (e + 1) * EPS * once * H,
            g * off.c + step * c + (e + 3) * EPS * once * c + abs(size) * (wrong.c + 2.0 * EPS * b),
            g * g * off.covariance
            + 2.0 * step * g * V
            + (2 * e + 4) * EPS * once * once * V
            + size * size * wrong.covariance
            + 4.0 * EPS * noise,
            g * g * off.depends
            + 2.0 * step * g * D
            + (2 * e * e + 9) * EPS * once * once * D
            + size
            * size
            * (
                N * (2.0 * P * ends + ends * ends + off.depends)
                + wrong.depends * (P * P + D)
                + (2 * e * e + 12) * EPS * N * (P * P + D)
            ),
        )
        return Off(*(part * (1.0 + 1e-9) for part in (new.H, new.c, new.covariance, new.depends)))

    def _so_far(self, H: Array, c: Array) -> Array:
        """Return P with E (1, x now) = P (1, x at the start), shape (e + 1, e + 1)."""
        first = np.full((1, len(c) + 1), self._one - self._one, dtype=H.dtype)
        first[0, 0] = self._one
        return np.concatenate([first, np.concatenate([c[:, None], H], axis=1)])


def _spread(once: Array, tensor: Array, before: Array, P: Array, size: Any) -> Array:
    """Return the covariance after one more step, as a linear function of the second moment at the start of the pass."""
    fresh = np.einsum("ikuv,ul,vn->ikln", tensor, P, P) + np.einsum("ikuv,uvln->ikln", tensor[:, :, 1:, 1:], before)
    kept = np.einsum("iu,uvln,kv->ikln", once, before, once)
    return np.asarray(kept + (size * size) * fresh)


# Action of one event on registers of a quadratic: a random affine map, in floats or in exact numbers.
#
# A vector of registers moves by z ← T z + h + noise. Coordinates are relative to x*, so that a model is x − x* and a
# difference of models is itself: no digits are lost where iterates converge.

Number = TypeVar("Number")
_UP = 1.0 + 1e-9  # sums and products of a few norms, rounded up
ONE: Final = -1  # the name of the constant among the parts of a register
_WHOLE = 1e-12  # how far Σ coefficients may be from an integer by rounding


@final
@dataclass(frozen=True, slots=True)
class Place:
    """A register as an affine function of the registers before the event, and of noise drawn in it.

    Parameters
    ----------
    parts
        Shape (c, e, e) each: of a register before by its number, of pass j of the event by −2 − j; and the constant,
        shape (c, e, 1), by −1.
    off, base
        How far floats are off: each matrix, and the constant.
    """

    parts: dict[int, Array]
    off: float = 0.0
    base: float = 0.0

    @property
    def largest(self) -> float:
        """The largest norm of a matrix."""
        return max((norm(part) for name, part in self.parts.items() if name != ONE), default=0.0)


@final
class Maps(Generic[Number]):
    """Reads rows as maps.

    Parameters
    ----------
    passes
        What passes do.
    one
        The number 1; all others are of its kind.
    shape
        (c, e): how many blocks of coordinates there are, and how many coordinates a block has.
    star
        x*, shape (c, e).
    models
        Register → how often x* is in what it holds: 1 for a model, 0 for a difference; filled as rows are read.
    relative
        A register of sums of models, each relative to x*.
    """

    def __init__(
        self, passes: Passes, one: Any, shape: tuple[int, int], star: Array, models: dict[int, Any], relative: int
    ) -> None:
        self._passes, self._star, self.models, self._relative = passes, star, models, relative
        self._zero, (c, e) = one - one, shape
        self._eye = np.full((c, e, e), self._zero, dtype=star.dtype)
        self._eye[:, range(e), range(e)] = one
        self._none = np.full((c, e, 1), self._zero, dtype=star.dtype)
        self._floats = star.dtype == np.float64

    def read(
        self, rows: Sequence[Row[Number]], order: tuple[int, ...] | None
    ) -> tuple[dict[int, Place], list[tuple[Pass, Place]]]:
        """Return what an event writes, and its passes that draw noise, each with where it begins.

        Raises
        ------
        SpecError
            If a pass begins elsewhere than at a model.
        """
        now: dict[int, Place] = {}
        drawn: list[tuple[Pass, Place]] = []
        for row in rows:
            match row:
                case SumRow(dst, terms):
                    now[dst] = self._combined(dst, [(share, source, self._at(now, source)) for share, source in terms])
                case PassRow():
                    now[row.dst] = self._passed(row, self._at(now, row.src), drawn)
                case MoveRow(dst, src):
                    now[dst] = self._at(now, src)
                    self.models[dst] = self.models.get(src, 0)
        if order is not None:
            models = dict(self.models)
            now = {r: self._at(now, old) for r, old in enumerate(order) if old != r or r in now}
            self.models.update({r: models[old] for r, old in enumerate(order) if old in models})
        return now, drawn

    def _at(self, now: dict[int, Place], register: int) -> Place:
        return now.get(register) or Place({register: self._eye, ONE: self._none})

    def _combined(self, dst: int, terms: list[tuple[Any, int, Place]]) -> Place:
        parts, held, off, base = {ONE: self._none}, self._zero, 0.0, 0.0
        for share, source, place in terms:
            for name, part in place.parts.items():
                parts[name] = parts[name] + share * part if name in parts else share * part
            held = held + share * self.models.get(source, 0)
            if self._floats:
                rounded, size = (len(terms) + 2.0) * EPS, abs(float(share))
                off += size * (place.off + rounded * place.largest)
                base += size * (place.base + rounded * norm(place.parts[ONE]))
        if dst != self._relative:
            known = self.models.setdefault(dst, self._whole(held))
            # Σ of rounded coefficients misses an integer by rounding; what x* makes of it stays in the constant.
            parts[ONE] = parts[ONE] + (held - known) * self._star[..., None]
        return Place(parts, off * _UP, base * _UP)

    def _whole(self, held: Any) -> Any:
        if isinstance(held, float):
            return round(held) if abs(held - round(held)) < _WHOLE else held
        return held

    def _passed(self, row: PassRow[Number], start: Place, drawn: list[tuple[Pass, Place]]) -> Place:
        if self.models.get(row.src, 0) != 1:
            raise SpecError("moments need local steps that begin at a model, not at a difference of models")
        self.models[row.dst] = 1
        steps = self._passes.of(row.client, row.sizes)
        if steps.depends is not None and min(start.parts) < ONE:
            raise SpecError("moments need mini-batches that are drawn at a model from before the event")
        parts = {name: steps.H @ part for name, part in start.parts.items()}
        parts[ONE] = parts[ONE] + steps.c[..., None]
        if steps.depends is not None or steps.covariance.any():
            parts[ONE - 1 - len(drawn)] = self._eye
            drawn.append((steps, start))
        if not self._floats:
            return Place(parts)
        H, known, off, rounded = norm(steps.H), norm(start.parts[ONE]), steps.off, (len(self._eye[0]) + 2.0) * EPS
        return Place(
            parts,
            ((H + off.H) * start.off + (off.H + rounded * H) * start.largest) * _UP,
            ((H + off.H) * start.base + (off.H + rounded * H) * known + off.c + rounded * norm(steps.c)) * _UP,
        )


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
    steps, begins
        The pass, and where it begins.
    moved
        Shape (c, written, e): how what is written depends on it.
    start, sources
        (1, where the pass begins) is ``start``, shape (c, 1 + e, sources), times these coordinates; where the noise
        depends on it.
    """

    steps: Pass
    begins: Place
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
        Of floats, shape (written, sources): how far T is off, as norms of a register's rows in each register.
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
        return max(rounding, float(self.off[:, 1:].max(initial=0.0)))

    def lost(self, rounding: float) -> Array:
        """Return weights of a diagonal that bounds what floats lose, shape (c, written, sources).

        If V is no less than the diagonal of the second moments, entries (a, b) of T S Tᵀ + noise are off by at most the
        geometric mean of entries a and b of weights·V; where b is not written its entry is 2·unsure(rounding)·V_b.

        Parameters
        ----------
        rounding
            How far a sum of the products is off, relative to that of their absolute values.
        """
        many, share = float(len(self.sources)), self.unsure(rounding)
        weights = 2.0 * many * (share * np.square(self.T) + np.square(self.off) / share)
        for spread in self.spreads:
            steps, begins, moved, e = spread.steps, spread.begins, norm(spread.moved), spread.moved.shape[-1]
            wrong = float(self.off[:, 1:].max(initial=0.0))
            reach = (moved + wrong) ** 2
            turned = 2.0 * wrong * moved + wrong * wrong + (2 * e + 4 + len(self.spreads)) * EPS * reach
            V = norm(steps.covariance)
            weights[:, :, 0] += turned * (V + steps.off.covariance) + reach * steps.off.covariance
            if spread.start is not None and steps.depends is not None:
                D, G = norm(steps.depends), norm(spread.start) + begins.off + begins.base
                ends = 2.0 * (begins.off + begins.base) * G + (3 * e * e + 8) * EPS * G * G
                total = (turned * G * G + reach * ends) * D + reach * G * G * (steps.off.depends + turned * EPS)
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
        first = (z[:, :, None] * z[:, None, :])[None]
        self._floats = where.x0.dtype == np.float64
        if self._floats:
            error = np.zeros_like(first)
            _diagonal(error[0])[:] = 4.0 * self.size * EPS * _diagonal(first[0])
            first = np.concatenate([first, error])
        # Of each control state the moments, and in floats behind them what bounds how far they are off.
        self.states: dict[Control, Array] = {control: self._after(first, opening)}
        self.events = 0
        self._known: dict[Control, tuple[list[Moved], bool]] = {}
        self._clock: Any = None
        # Where events are the same all the time, and few, each control state moves by sparse matrices made once. They
        # know the upper triangle of a matrix alone.
        few = c * self.size * (self.size + 1) // 2 <= COMPILED and self._floats and not where.passes.by_batches
        self._once = few and lowering.clock(0) == lowering.clock(1)
        self._sparse: dict[Control, list[tuple[Control, Any, Any]]] = {}

    def _rows(self, register: int) -> slice:
        place = self._place[register]
        return slice(1 + place * self.e, 1 + (place + 1) * self.e)

    def second(self, *, off: bool = False) -> Array:
        """Return E (x − x*)(x − x*)ᵀ of what is shown, shape (c, e, e), or what that is at most off by in floats."""
        return self.of([self._shown], off=off)[:, 1:, 1:]

    def of_mean(self) -> Array:
        """Return E (x − x*) E (x − x*)ᵀ of what is shown, shape (c, e, e)."""
        mean = self.of([self._shown])[:, 0, 1:]
        return mean[:, :, None] * mean[:, None, :]

    def off_mean(self) -> Array:
        """Return a multiple of the identity that :meth:`of_mean` is at most off by in floats, shape (c, e, e)."""
        mean, error = self.of([self._shown])[:, 0, 1:], self.of([self._shown], off=True)
        # What moments are off by is between ± the matrix of errors: so much a row is off at most.
        off = np.sqrt(np.sum(error[:, 0, 0] * np.einsum("cii->c", error[:, 1:, 1:])))
        most = off * (2.0 * np.sqrt(np.sum(mean * mean)) + off)
        return np.array([most * np.eye(self.e)] * len(mean))

    def of(self, registers: Sequence[int], *, off: bool = False) -> Array:
        """Return E zzᵀ for z = (1, these registers), shape (c, 1 + m·e, 1 + m·e); models are relative to x*.

        Or, in floats, a matrix between plus and minus which it is off.
        """
        rows = np.r_[0, *(np.arange(self.size)[self._rows(register)] for register in registers)]
        low, high = np.minimum(rows[:, None], rows), np.maximum(rows[:, None], rows)
        total: Array = sum((both[int(off)][:, low, high] for both in self.states.values()), start=self._zero)
        return total

    def advance(self) -> bool:
        """Do one event, and return whether an iteration ends."""
        clock = self._lowering.clock(self.events)
        if clock != self._clock:
            self._known, self._clock = {}, clock
        out: dict[Control, Array] = {}
        each, parts = list[bool](), 0
        for control, both in self.states.items():
            events, ends = self._events(control)
            each.append(ends)
            for after, part in self._parts(control, both, events):
                out[after] = out[after] + part if after in out else part
                parts += 1
        if self._floats:  # what adding up the parts loses
            for both in out.values():
                _diagonal(both[1])[:] += self.size * EPS * (parts + 4.0) * _reach(both)
        self.states = out
        self.events += 1
        return all_end(each)

    def _parts(self, control: Control, both: Array, events: list[Moved]) -> Iterator[tuple[Control, Array]]:
        """Yield what one control state adds to those after the event."""
        if not self._once:
            yield from ((event.after, event.share * self._after(both, event)) for event in events)
            return
        if control not in self._sparse:
            self._sparse[control] = self._compiled(events)
        reach = _reach(both)
        for after, matrix, lost in self._sparse[control]:
            # Two products with one column each: SciPy takes three times as long for two columns.
            moved = np.array([(matrix @ one.ravel()).reshape(one.shape) for one in both])
            _diagonal(moved[1])[:] += self.size * (lost @ reach.ravel()).reshape(reach.shape)
            yield after, moved

    def _compiled(self, events: list[Moved]) -> list[tuple[Control, Any, Any]]:
        """Return for each control state that follows the sparse matrix that moves upper triangles to it.

        Beside it stands one that makes of diagonals, c times size entries, a diagonal that bounds what floats lose.
        """
        out = []
        for after in dict.fromkeys(event.after for event in events):
            mine = [event for event in events if event.after == after]
            stay = np.ones((len(mine), self.size))
            for event, kept in zip(mine, stay, strict=True):
                kept[event.written] = 0.0
            shares = np.array([event.share for event in mine])
            low, high = np.triu_indices(self.size)
            unchanged = low * self.size + high
            pieces = [(np.einsum("m,mi,mi->i", shares, stay[:, low], stay[:, high])[None], unchanged, unchanged)]
            pieces += [piece for event, kept in zip(mine, stay, strict=True) for piece in self._entries(event, kept)]
            matrix = self._joined(pieces, self.size**2)
            rounding = EPS * (int(np.diff(matrix.indptr).max(initial=0)) + 2 * len(mine) + 8.0)
            every, share = np.arange(self.size), shares * [2.0 * event.unsure(rounding) for event in mine]
            lost = [(event.share * event.lost(rounding), event.written[:, None], event.sources) for event in mine]
            out.append((after, matrix, self._joined([((share @ stay)[None], every, every), *lost], self.size)))
        return out

    def _entries(self, event: Moved, stay: Array) -> Iterator[tuple[Array, Any, Any]]:
        """Yield values (c, …), rows and columns of one event's matrix, as far as it concerns what is written."""

        def place(i: Any, j: Any) -> Any:
            return np.minimum(i, j) * self.size + np.maximum(i, j)

        written, sources, T = event.written, event.sources, event.share * event.T
        rest, (a, b) = np.flatnonzero(stay), np.triu_indices(len(written))
        yield T[..., None], place(written[:, None, None], rest), place(sources[:, None], rest)
        both = place(written[a], written[b])
        own = T[:, a, :, None] * event.T[:, b, None, :]
        yield own, both[:, None, None], place(sources[:, None], sources)
        for spread in event.spreads:
            noise = spread.moved @ spread.steps.covariance @ spread.moved.swapaxes(1, 2)
            yield event.share * noise[:, a, b], both, 0

    def _joined(self, pieces: Iterable[tuple[Array, Any, Any]], block: int) -> Any:
        """Return the sparse matrix of c blocks of this size from values, rows and columns in all of them."""
        from scipy.sparse import coo_array

        c = len(self._where.x0)
        shift = block * np.arange(c)
        parts = []
        for values, *places in pieces:
            every = np.broadcast_shapes(values.shape[1:], *(np.shape(one) for one in places))
            first = shift.reshape(-1, *[1] * len(every))
            where = (np.broadcast_to(first + one, (c, *every)).ravel() for one in places)
            parts.append((np.broadcast_to(values, (c, *every)).ravel(), *where))
        values, rows, columns = (np.concatenate(column) for column in zip(*parts, strict=True))
        kept = values != 0.0
        return coo_array((values[kept], (rows[kept], columns[kept])), shape=(c * block, c * block)).tocsr()

    def _lost(self, both: Array, event: Moved) -> Array:
        """Return a diagonal that bounds what floats lose at an event, shape (c, size)."""
        reach = _reach(both)
        rounding = EPS * (2.0 * len(event.sources) + 8.0)
        out: Array = 2.0 * event.unsure(rounding) * reach
        if len(event.written):
            out[:, event.written] = (event.lost(rounding) @ reach[:, event.sources, None])[..., 0]
        return np.asarray(self.size * out)

    def _events(self, control: Control) -> tuple[list[Moved], bool]:
        if control not in self._known:
            edges, ends = self._lowering.edges(control, self.events)
            self._known[control] = [self._moved(edge, after) for edge, after in edges], ends
        return self._known[control]

    def _moved(self, edge: Edge[Number], after: Control) -> Moved:
        edge, _ = slimmed(edge, self._kept)
        now, drawn = self._maps.read(edge.rows, edge.order)
        written = {register: place for register, place in now.items() if register in self._kept}
        places = list(written.values())
        sources = sorted({name for place in places for name in place.parts if name > ONE})
        T = self._matrix(places, sources)
        spreads = []
        for number, (steps, begins) in enumerate(drawn):
            parts = [place.parts.get(ONE - 1 - number) for place in places]
            if any(part is not None for part in parts):
                nothing = self._where.passes.nothing
                moved = np.concatenate([nothing if part is None else part for part in parts], axis=1)
                spreads.append(self._spread(steps, begins, moved))
        # What a register is not made of has the coefficient 0, and no rounding.
        off = np.array([[place.base, *(place.off * (one in place.parts) for one in sources)] for place in places])
        off = off.reshape(-1, 1 + len(sources)).repeat([1, *[self.e] * len(sources)], axis=1)
        return Moved(
            self._share(edge.share),
            after,
            self._coordinates(list(written)),
            self._coordinates(sources, one=True),
            T,
            spreads,
            off.repeat(self.e, axis=0),
        )

    def _coordinates(self, registers: list[int], *, one: bool = False) -> NDArray[np.int64]:
        every = np.arange(self.size)
        return np.concatenate([every[:one], *(every[self._rows(register)] for register in registers)]).astype(np.int64)

    def _spread(self, steps: Pass, begins: Place, moved: Array) -> PassNoise:
        if steps.depends is None:
            return PassNoise(steps, begins, moved, None, np.empty(0, dtype=np.int64))
        sources = sorted(name for name in begins.parts if name > ONE)
        G = self._matrix([begins], sources)
        first = np.full((len(G), 1, G.shape[2]), self._zero, dtype=G.dtype)
        first[:, :, 0] = self._where.one
        start = np.concatenate([first, G], axis=1)
        return PassNoise(steps, begins, moved, start, self._coordinates(sources, one=True))

    def _after(self, both: Array, event: Moved) -> Array:
        """Return T S Tᵀ + noise, and in floats what it is off by: rows and columns of what is written change."""
        written, out = event.written, both.copy()
        if len(written):
            self.entries += both[0].size
            crossed = event.T @ both[:, :, event.sources]  # E (new of what is written) zᵀ
            own = crossed[..., event.sources] @ event.T.swapaxes(1, 2)
            for spread in event.spreads:
                covariance = both[:, :, :1, :1] * spread.steps.covariance
                if spread.start is not None and spread.steps.depends is not None:
                    there = both[:, :, spread.sources[:, None], spread.sources]
                    at_start = spread.start @ there @ spread.start.swapaxes(1, 2)
                    covariance = covariance + np.einsum("cijkl,bckl->bcij", spread.steps.depends, at_start)
                own = own + spread.moved @ covariance @ spread.moved.swapaxes(1, 2)
            if self._floats:  # products are not quite symmetric, and what is not symmetric grows with the events
                own = (own + own.swapaxes(2, 3)) / 2.0
            out[:, :, written] = crossed
            out[..., written] = crossed.swapaxes(2, 3)
            out[:, :, written[:, None], written] = own
        if self._floats:
            _diagonal(out[1])[:] += self._lost(both, event)
        return out

    def _matrix(self, places: list[Place], sources: list[int]) -> Array:
        """Return T, shape (c, written coordinates, 1 + source coordinates)."""
        zero = self._where.passes.nothing
        rows = [[place.parts[ONE], *(place.parts.get(name, zero) for name in sources)] for place in places]
        if not rows:
            return np.zeros((len(zero), 0, 1 + len(sources) * self.e), dtype=zero.dtype)
        return np.concatenate([np.concatenate(row, axis=2) for row in rows], axis=1)


def _diagonal(matrices: Array) -> Array:
    """Return the diagonals of matrices, shape (c, size), to be read and written."""
    out: Array = np.einsum("cii->ci", matrices)
    return out


def _reach(both: Array) -> Array:
    """Return no less than the second moments of each coordinate, from moments and what these are off by."""
    return np.asarray(_diagonal(both[0]) + 3.0 * _diagonal(both[1]))
