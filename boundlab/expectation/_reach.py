"""Test of whether a run stays where a problem is a quadratic for all signs of its noise: its moments are then exact.

Every register is an affine function of the signs drawn so far, as long as no step leaves the box where all f_i are
quadratics; its extremes are sums of absolute values. Where several things can happen, what they lead to is taken
together: the smallest box around it, whose coordinates are signs of their own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar, sign
from boundlab.arithmetic.problem import Core, RationalProblem
from boundlab.errors import UndecidedError
from boundlab.expectation._graph import Graph, Level, PassRow, Row, SumRow
from boundlab.tape import Initial

Vector = list[Scalar]
_MANY = 1 << 16  # sequences of events, of which fewer are soon enumerated


def core_of(model: RationalProblem, graph: Graph[Scalar], looked_at: int, shown: Sequence[bool]) -> Core | None:
    """Return the quadratic that the problem is wherever a run can come, or None: there is none, or runs may leave it.

    Parameters
    ----------
    graph
        All that can happen. Where that is little and there is no noise, nobody looks: it is enumerated.
    looked_at
        The register whose contents metrics see, or an average of them.
    shown
        Whether they look after 0, 1, … events.
    """
    core, noise, best = model.core(), model.sign_noise(), model.minimum()
    branches = math.prod(max(map(len, level.edges)) for level in graph.levels)
    if core is None or best is None or (noise is None and branches < _MANY):
        return None
    if not all(low <= x <= high for low, x, high in zip(core.low, best.x, core.high, strict=True)):
        return None
    try:
        return core if _Runs(model, core, noise or []).stay(graph, looked_at, shown) else None
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

    def reach(self, j: int) -> Scalar:
        """Return how far a coordinate can be from its constant."""
        none = self.constant[j] - self.constant[j]
        return sum((part[j] * sign(part[j]) for part in self.signs.values()), start=none)


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
            nodes = {0: held}
            for level, seen in zip(graph.levels, shown[1:], strict=False):
                nodes = self._after(nodes, level)
                for node in nodes if seen else ():
                    self._require(nodes[node][looked_at])
        except _LeavesError:
            return False
        return True

    def _after(self, nodes: dict[int, list[_Affine]], level: Level[Scalar]) -> dict[int, list[_Affine]]:
        """Return what registers hold after an event, per control state."""
        found: dict[int, list[_Affine]] = {}
        for node, before in nodes.items():
            for edge in level.edges[node]:
                held = [*before]
                self._follow(held, edge.rows)
                held = held if edge.order is None else [held[register] for register in edge.order]
                other = found.get(edge.to, held)
                found[edge.to] = [
                    one if one is also else self._box(one, also) for one, also in zip(other, held, strict=True)
                ]
        return found

    def _box(self, *some: _Affine) -> _Affine:
        """Return the smallest box around what registers can hold."""
        half, middle, signs = numbers.rational(Fraction(1, 2)), [*self._zero], dict[int, Vector]()
        for j in range(len(middle)):
            ends = [(one.constant[j] - one.reach(j), one.constant[j] + one.reach(j)) for one in some]
            low, high = ends[0]
            for least, most in ends[1:]:
                low, high = least if sign(least - low) < 0 else low, most if sign(most - high) > 0 else high
            middle[j] = half * (low + high)
            signs[self._drawn] = [half * (high - low) if place == j else zero for place, zero in enumerate(self._zero)]
            self._drawn += 1
        return _Affine(middle, signs)

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
        if self._noise:
            signs[self._drawn] = [size * one for one in self._noise]
            self._drawn += 1
        return _Affine(constant, signs)

    def _require(self, x: _Affine) -> _Affine:
        for j, (low, middle, high) in enumerate(zip(self._low, x.constant, self._high, strict=True)):
            reach = x.reach(j)
            if sign(middle - reach - low) < 0 or sign(high - middle - reach) < 0:
                raise _LeavesError
        return x


def _sum(a: Vector, b: Vector) -> Vector:
    return [one + other for one, other in zip(a, b, strict=True)]


def _dot(a: Vector, b: Vector) -> Scalar:
    products = [one * other for one, other in zip(a, b, strict=True)]
    return sum(products[1:], start=products[0])
