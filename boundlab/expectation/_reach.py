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

import numpy as np

from boundlab.arithmetic.exactly import EXACT, exact_array
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import Core, RationalProblem, Vector
from boundlab.errors import UndecidedError
from boundlab.expectation._graph import Graph, Level, PassRow, Row, SumRow
from boundlab.tape import Initial

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
        return _Affine(share * self.constant, {name: share * part for name, part in self.signs.items()})

    def plus(self, other: "_Affine") -> "_Affine":
        signs = dict(self.signs)
        for name, part in other.signs.items():
            signs[name] = signs[name] + part if name in signs else part
        return _Affine(self.constant + other.constant, signs)

    def reach(self) -> Vector:
        """Return how far each coordinate can be from its constant."""
        none = self.constant - self.constant
        return sum((part * EXACT.sign(part) for part in self.signs.values()), start=none)


class _LeavesError(Exception):
    """A step may begin outside the box."""


@final
class _Runs:
    def __init__(self, model: RationalProblem, core: Core, noise: list[Fraction]) -> None:
        self._x0, self._noise, self._zero = exact_array(model.x0), exact_array(noise), exact_array([0] * model.d)
        self._A, self._b = exact_array(core.form.A), exact_array(core.form.b)
        self._low, self._high = exact_array(core.low), exact_array(core.high)
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
        low, high = some[0].constant - some[0].reach(), some[0].constant + some[0].reach()
        for one in some[1:]:
            low = EXACT.minimum(low, one.constant - one.reach())
            high = -EXACT.minimum(-high, -one.constant - one.reach())
        signs = {self._drawn + j: row for j, row in enumerate(np.diag((high - low) / 2) + self._zero)}
        self._drawn += len(signs)
        return _Affine((low + high) / 2, signs)

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
        signs = {name: part - size * (A @ part) for name, part in x.signs.items()}
        if len(self._noise):
            signs[self._drawn] = size * self._noise
            self._drawn += 1
        return _Affine(x.constant - size * (A @ (x.constant - b)), signs)

    def _require(self, x: _Affine) -> _Affine:
        room = np.concatenate([x.constant - self._low, self._high - x.constant]) - np.tile(x.reach(), 2)
        if (EXACT.sign(room) < 0).any():
            raise _LeavesError
        return x
