"""Action of one event on registers of a quadratic: a random affine map, in floats or in exact numbers.

A vector of registers moves by z ← T z + h + noise. Coordinates are relative to x*, so that a model is x − x* and a
difference of models is itself: no digits are lost where iterates converge.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import MoveRow
from boundlab.errors import SpecError
from boundlab.expectation._graph import PassRow, Row, SumRow
from boundlab.expectation._passes import EPS, Off, Passes, norm

Number = TypeVar("Number")
Array = NDArray[Any]
_UP = 1.0 + 1e-9  # sums and products of a few norms, rounded up
_WHOLE = 1e-12  # how far Σ coefficients may be from an integer by rounding


@final
@dataclass(frozen=True, slots=True)
class Place(Generic[Number]):
    """A register as an affine function of the registers before the event, and of noise drawn in it.

    Parameters
    ----------
    linear
        Register before → shape (c, e, e).
    constant
        Shape (c, e).
    noise
        Pass, counted within the event → shape (c, e, e).
    off, base
        How far floats are off: each matrix, and the constant.
    """

    linear: dict[int, Array]
    constant: Array
    noise: dict[int, Array]
    off: float = 0.0
    base: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class Drawn:
    """Noise of one pass: a constant covariance, or one that depends on where the pass begins, ``start``."""

    covariance: Array
    depends: Array | None
    start: Place[Any]
    off: Off


@final
@dataclass(frozen=True, slots=True)
class Map:
    """An event: what it writes, and the noise that it draws."""

    written: dict[int, Place[Any]]
    drawn: list[Drawn]


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
        self._none = np.full((c, e), self._zero, dtype=star.dtype)
        self._floats = star.dtype == np.float64

    def read(self, rows: Sequence[Row[Number]], order: tuple[int, ...] | None) -> Map:
        """Return the map of an event.

        Raises
        ------
        SpecError
            If a pass begins elsewhere than at a model.
        """
        now: dict[int, Place[Any]] = {}
        drawn: list[Drawn] = []
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
        return Map(now, drawn)

    def _at(self, now: dict[int, Place[Any]], register: int) -> Place[Any]:
        return now.get(register) or Place({register: self._eye}, self._none, {})

    def _combined(self, dst: int, terms: list[tuple[Any, int, Place[Any]]]) -> Place[Any]:
        linear: dict[int, Array] = {}
        noise: dict[int, Array] = {}
        constant, held = self._none, self._zero
        off = base = 0.0
        for share, source, place in terms:
            for into, parts in ((linear, place.linear), (noise, place.noise)):
                for name, part in parts.items():
                    into[name] = into[name] + share * part if name in into else share * part
            constant = constant + share * place.constant
            held = held + share * self.models.get(source, 0)
            if self._floats:
                rounded, size = (len(terms) + 2.0) * EPS, abs(float(share))
                off += size * (place.off + rounded * _largest(place))
                base += size * (place.base + rounded * norm(place.constant))
        if dst != self._relative:
            known = self.models.setdefault(dst, self._whole(held))
            # Σ of rounded coefficients misses an integer by rounding; what x* makes of it stays in the constant.
            constant = constant + (held - known) * self._star
        return Place(linear, constant, noise, off * _UP, base * _UP)

    def _whole(self, held: Any) -> Any:
        if isinstance(held, float):
            return round(held) if abs(held - round(held)) < _WHOLE else held
        return held

    def _passed(self, row: PassRow[Number], start: Place[Any], drawn: list[Drawn]) -> Place[Any]:
        if self.models.get(row.src, 0) != 1:
            raise SpecError("moments need local steps that begin at a model, not at a difference of models")
        self.models[row.dst] = 1
        steps = self._passes.of(row.client, row.sizes)
        if steps.depends is not None and start.noise:
            raise SpecError("moments need mini-batches that are drawn at a model from before the event")
        linear = {name: steps.H @ part for name, part in start.linear.items()}
        noise = {name: steps.H @ part for name, part in start.noise.items()}
        if steps.depends is not None or steps.covariance.any():
            noise[len(drawn)] = self._eye
            drawn.append(Drawn(steps.covariance, steps.depends, start, steps.off))
        constant = (steps.H @ start.constant[..., None])[..., 0] + steps.c
        if not self._floats:
            return Place(linear, constant, noise)
        H, known, off, rounded = norm(steps.H), norm(start.constant), steps.off, (constant.shape[-1] + 2.0) * EPS
        return Place(
            linear,
            constant,
            noise,
            ((H + off.H) * start.off + (off.H + rounded * H) * _largest(start)) * _UP,
            ((H + off.H) * start.base + (off.H + rounded * H) * known + off.c + rounded * norm(steps.c)) * _UP,
        )


def _largest(place: Place[Any]) -> float:
    return max((norm(part) for parts in (place.linear, place.noise) for part in parts.values()), default=0.0)
