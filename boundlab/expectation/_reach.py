"""Test of whether a run stays where a problem is a quadratic for all signs of its noise: its moments are then exact.

Every register is an affine function of the signs drawn so far, as long as no step leaves the box where all f_i are
quadratics; its extremes are sums of absolute values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar, sign
from boundlab.arithmetic.problem import Core, RationalProblem
from boundlab.errors import UndecidedError
from boundlab.expectation._graph import Graph, PassRow, Row, SumRow
from boundlab.tape import Initial

Vector = list[Scalar]


def core_of(model: RationalProblem, graph: Graph[Scalar], looked_at: int, shown: Sequence[bool]) -> Core | None:
    """Return the quadratic that the problem is wherever a run can come, or None: there is none, or runs may leave it.

    Parameters
    ----------
    graph
        All that can happen; where there is more than one thing, nobody looks.
    looked_at
        The register whose contents metrics see, or an average of them.
    shown
        Whether they look after 0, 1, … events.
    """
    core, noise, best = model.core(), model.sign_noise(), model.minimum()
    if core is None or noise is None or best is None:
        return None
    if not all(low <= x <= high for low, x, high in zip(core.low, best.x, core.high, strict=True)):
        return None
    if any(len(own) > 1 for level in graph.levels for own in level.edges):
        return None
    try:
        return core if _Runs(model, core, noise).stay(graph, looked_at, shown) else None
    except UndecidedError:
        return None


@final
@dataclass(frozen=True, slots=True)
class _Affine:
    """A vector as a function of signs: ``constant`` plus, for each sign drawn so far, ± its entry of ``signs``."""

    constant: Vector
    signs: dict[int, Vector]

    def scaled(self, share: Scalar) -> "_Affine":
        return _Affine(
            [share * one for one in self.constant],
            {name: [share * one for one in part] for name, part in self.signs.items()},
        )

    def plus(self, other: "_Affine") -> "_Affine":
        signs = dict(self.signs)
        for name, part in other.signs.items():
            signs[name] = _sum(signs[name], part) if name in signs else part
        return _Affine(_sum(self.constant, other.constant), signs)


class _LeavesError(Exception):
    """A step may begin outside the box."""


@final
class _Runs:
    def __init__(self, model: RationalProblem, core: Core, noise: list[Fraction]) -> None:
        self._x0 = [numbers.rational(entry) for entry in model.x0]
        self._A = [[[numbers.rational(entry) for entry in row] for row in one] for one in core.form.A]
        self._b = [[numbers.rational(entry) for entry in row] for row in core.form.b]
        self._low, self._high = ([numbers.rational(entry) for entry in side] for side in (core.low, core.high))
        self._noise = [numbers.rational(entry) for entry in noise]
        self._zero = [numbers.rational(0)] * model.d
        self._drawn = 0

    def stay(self, graph: Graph[Scalar], looked_at: int, shown: Sequence[bool]) -> bool:
        """Return whether every step begins in the box, and ``looked_at`` is there whenever it is shown."""
        start, none = _Affine(self._x0, {}), _Affine(self._zero, {})
        held = [start if one is Initial.START else none for one in graph.initial]
        try:
            self._follow(held, graph.opening)
            if shown[0]:
                self._require(held[looked_at])
            node = 0
            for level, seen in zip(graph.levels, shown[1:], strict=False):
                edge = level.edges[node][0]
                self._follow(held, edge.rows)
                held = held if edge.order is None else [held[register] for register in edge.order]
                node = edge.to
                if seen:
                    self._require(held[looked_at])
        except _LeavesError:
            return False
        return True

    def _follow(self, held: list[_Affine], rows: tuple[Row[Scalar], ...]) -> None:
        for row in rows:
            match row:
                case SumRow(dst, terms):
                    total = _Affine(self._zero, {})
                    for share, source in terms:
                        total = total.plus(held[source].scaled(share))
                    held[dst] = total
                case PassRow(dst, src, client, sizes):
                    x = held[src]
                    for size in sizes:
                        x = self._stepped(self._require(x), client, size)
                    held[dst] = x
                case _:
                    held[row.dst] = held[row.src]

    def _stepped(self, x: _Affine, client: int, size: Scalar) -> _Affine:
        """Return x − size·(A(x − b) ± noise)."""
        A, b = self._A[client], self._b[client]
        away = [one - centre for one, centre in zip(x.constant, b, strict=True)]
        constant = [one - size * _dot(row, away) for one, row in zip(x.constant, A, strict=True)]
        signs = {
            name: [one - size * _dot(row, part) for one, row in zip(part, A, strict=True)]
            for name, part in x.signs.items()
        }
        signs[self._drawn] = [size * one for one in self._noise]
        self._drawn += 1
        return _Affine(constant, signs)

    def _require(self, x: _Affine) -> _Affine:
        for j, (low, middle, high) in enumerate(zip(self._low, x.constant, self._high, strict=True)):
            reach = self._zero[j]
            for part in x.signs.values():
                reach = reach + part[j] * sign(part[j])
            if sign(middle - reach - low) < 0 or sign(high - middle - reach) < 0:
                raise _LeavesError
        return x


def _sum(a: Vector, b: Vector) -> Vector:
    return [one + other for one, other in zip(a, b, strict=True)]


def _dot(a: Vector, b: Vector) -> Scalar:
    products = [one * other for one, other in zip(a, b, strict=True)]
    return sum(products[1:], start=products[0])
