"""The exact mean and second moment of AREA on quadratics, over independent events and additive noise.

All states are taken relative to x*. Client i's answer is x_i ← H_i x_s + c_i + noise with H_i = (I − αA_i)^M and
c_i = (I − H_i)(b_i − x*), an aggregation is x_s ← mean(y); so first and second moments follow linear recursions.
Where all A_i commute, coordinates in their common basis do not mix and each has a recursion of 2n+1 numbers squared.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import EventLaw
from boundlab.algorithms.area import AreaParameters
from boundlab.execute.coordinates import Frame, frame
from boundlab.metrics import Metric
from boundlab.objective import Problem

Floats = NDArray[np.float64]
_STRIP = 25_000  # entries


@final
@dataclass(slots=True)
class Pass:
    """M local steps: x ← H x + c + noise of covariance V; shapes (c, n, e, e), (c, n, e), (c, n, e, e)."""

    H: Floats
    c: Floats
    V: Floats


class Passes:
    """M local steps of every client for any step size, from the eigenvalues of the A_i.

    Parameters
    ----------
    variance
        E‖noise‖².
    """

    def __init__(self, where: Frame, M: int, variance: float) -> None:
        self.where, self.M = where, M
        self.values, self.basis = np.linalg.eigh(where.A)
        self.noise = variance * (self.basis.swapaxes(2, 3) @ where.noise[:, None] @ self.basis)

    def at(self, size: float) -> Pass:
        """Return what M steps of this size do."""
        one = 1.0 - size * self.values
        # Powers and Σ_{l<M} (one_j·one_k)^l by the binary digits of M; for j = k from sums of like signs only.
        power, total = np.ones_like(one), np.zeros_like(self.noise)
        for digit in f"{self.M:b}":
            total, power = total + _square(power) * total, power**2
            if digit == "1":
                total, power = total + _square(power), power * one
        turned = self.basis.swapaxes(2, 3)
        H = (self.basis * power[..., None, :]) @ turned
        shift = self.where.b - (H @ self.where.b[..., None])[..., 0]
        return Pass(H, shift, size**2 * (self.basis @ (self.noise * total) @ turned))


def expectation(
    problem: Problem,
    parameters: AreaParameters,
    law: EventLaw[float],
    sigma: float,
    metric: Metric,
    ks: NDArray[np.int64],
) -> Floats:
    """Return E metric after each of ``ks`` iterations, shape (points,)."""
    where = frame(problem).centred()
    moments = _Moments(where, parameters, law, sigma**2, average=metric.over.averages_iterates)
    found = {} if moments.average else {0: moments.read(metric, 0)}
    wanted = set(ks.tolist())
    for event in range(int(ks.max())):
        moments.advance(event)
        if event + 1 in wanted:
            found[event + 1] = moments.read(metric, event + 1)
    return np.array([found[k] for k in ks.tolist()])


class _Moments:
    """First and second moments of s = x_s, x = (x_1 … x_n), y, and t = Σ x_s,j.

    ``ss[c]`` is E s sᵀ (e×e), ``sx[c]`` E s xᵀ (e×ne), ``xy[c]`` E x yᵀ (ne×ne), and so on; E y yᵀ is
    ``half`` plus its transpose, which spares a transposition an event.
    """

    def __init__(
        self, where: Frame, parameters: AreaParameters, law: EventLaw[float], variance: float, average: bool
    ) -> None:
        self.where, self.parameters, self.law, self.average = where, parameters, law, average
        c, n, e = where.b.shape
        self.c, self.n, self.e = c, n, e
        self._passes = Passes(where, parameters.M, variance)
        self._last: tuple[float, Pass] | None = None
        start = where.x0
        every = np.tile(start, (1, n))  # (c, ne)
        self.s, self.y, self.x = start.copy(), every.copy(), every.copy()
        spread = np.zeros((c, n, e, e))
        if parameters.start == "algorithm":
            first = self._pass(0)
            self.x = ((first.H @ start[:, None, :, None])[..., 0] + first.c).reshape(c, n * e)
            spread = first.V
        self.ss, self.sx, self.sy = _outer(self.s, self.s), _outer(self.s, self.x), _outer(self.s, self.y)
        self.xx, self.xy, self.half = _outer(self.x, self.x), _outer(self.x, self.y), _outer(self.y, self.y) / 2.0
        self._blocks(self.xx)[...] += spread
        self.t = np.zeros_like(start)
        self.tt, self.ts = _outer(self.t, self.t), _outer(self.t, self.s)
        self.tx, self.ty = _outer(self.t, self.x), _outer(self.t, self.y)
        self._mean = np.tile(np.eye(e), (n, 1)) / n  # averages over clients by a product
        rows = max(1, _STRIP // (c * n * e))
        self._strips = [slice(first, first + rows) for first in range(0, n * e, rows)]
        self._scratch, self._crossed = np.empty((c, min(rows, n * e), n * e)), np.empty_like(self.xx)
        self._plans: dict[bool, tuple[Floats, float, Floats, Floats]] = {}

    def _pass(self, k: int) -> Pass:
        size = float(self.parameters.step.at(np.array(k)))
        if self._last is None or self._last[0] != size:
            self._last = size, self._passes.at(size)
        return self._last[1]

    def _blocks(self, matrix: Floats) -> Floats:
        """Return a view of the n diagonal e×e blocks, shape (c, n, e, e)."""
        c, n, e = self.c, self.n, self.e
        a, b, d = matrix.strides
        return np.lib.stride_tricks.as_strided(matrix, (c, n, e, e), (a, e * (b + d), b, d))

    def read(self, metric: Metric, k: int) -> float:
        """Return the metric at iteration k."""
        return float(metric.of_second_moment(self.where.mean, self.tt / k**2 if self.average else self.ss))

    def _plan(self, event: int) -> tuple[Floats, float, Floats, Floats]:
        """Return p, p_s, p by entry of x, and the probability that neither of two entries changes."""
        count = self.parameters.count
        kind = count is not None and (event + 1) % (count + 1) == 0
        if kind not in self._plans:
            if count is None:
                p, p_s = self.law.p, self.law.p_s
            else:
                p, p_s = (np.zeros(self.n), 1.0) if kind else (self.law.p / self.law.p.sum(), 0.0)
            each = np.repeat(p, self.e)
            self._plans[kind] = p, p_s, each, 1.0 - each[:, None] - each
        return self._plans[kind]

    def advance(self, event: int) -> None:
        """Do one event: E over everybody who may act."""
        p, p_s, each, keep = self._plan(event)
        answer = self._pass(self.parameters.answers_with(event))
        c, n, e = self.c, self.n, self.e
        if self.average:
            self.tt += self.ts + self.ts.transpose(0, 2, 1) + self.ss
            self.ts += self.ss
            self.tx += self.sx
            self.ty += self.sy
            self.t = self.t + self.s
        # p_i·(H_i | c_i) times (E s zᵀ over E zᵀ) gives p_i E[(H_i s + c_i) zᵀ] for every i at once.
        H = (p[:, None, None] * np.concatenate([answer.H, answer.c[..., None]], axis=3)).reshape(c, n * e, e + 1)
        answers_s = H @ _stack(self.ss, self.s)
        lose = p[:, None, None]
        own_xx, own_xy, own_yy = (self._blocks(matrix).copy() for matrix in (self.xx, self.xy, self.half))
        # E ȳ xᵀ, E ȳ yᵀ, E ȳ ȳᵀ before anything changes
        mean_x = (self.xy @ self._mean).transpose(0, 2, 1)
        mean_y = self._mean.T @ self.half + (self.half @ self._mean).transpose(0, 2, 1)
        mean_mean = mean_y @ self._mean
        self._scale_and_add(H, each, keep)
        self._blocks(self.half)[...] = (1.0 - lose) * own_yy + lose * own_xx / 2.0
        self._blocks(self.xy)[...] = (1.0 - lose) * own_xy + self._blocks(self._crossed)
        self.xx += self._crossed.transpose(0, 2, 1)
        # E of an answer squared: H E[ssᵀ] Hᵀ + H E[s]cᵀ + its transpose + c cᵀ + V
        mixed = answer.H @ self.s[:, None, :, None] @ answer.c[:, :, None, :]
        square = answer.H @ self.ss[:, None] @ answer.H.swapaxes(2, 3) + mixed + mixed.swapaxes(2, 3)
        square += answer.c[..., :, None] * answer.c[..., None, :] + answer.V
        self._blocks(self.xx)[...] = (1.0 - lose) * own_xx + lose * square

        stay = 1.0 - p_s - each  # of x_s and one x_i or y_i
        if self.average:
            answers_t = H @ _stack(self.ts.transpose(0, 2, 1), self.t)
            self.ts = (1.0 - p_s) * self.ts + p_s * self.ty.reshape(c, e, n, e).mean(axis=2)
            self.ty = (1.0 - each) * self.ty + each * self.tx
            self.tx = (1.0 - each) * self.tx + answers_t.transpose(0, 2, 1)
        sy = stay * self.sy + each * self.sx + p_s * mean_y
        self.sx = stay * self.sx + answers_s.transpose(0, 2, 1) + p_s * mean_x
        self.sy, self.ss = sy, (1.0 - p_s) * self.ss + p_s * mean_mean
        s = (1.0 - p_s) * self.s + p_s * self.y.reshape(c, n, e).mean(axis=1)
        self.y = (1.0 - each) * self.y + each * self.x
        self.x = (1.0 - each) * self.x + (H[..., :e] @ self.s[..., None] + H[..., e:])[..., 0]
        self.s = s

    def _scale_and_add(self, H: Floats, each: Floats, keep: Floats) -> None:
        """Do what two different clients' vectors need, in strips that stay in the cache, and leave ``_crossed``."""
        second_x, second_y = _stack(self.sx, self.x), _stack(self.sy, self.y)
        for rows in self._strips:
            xx, xy, half, crossed = (part[:, rows] for part in (self.xx, self.xy, self.half, self._crossed))
            scratch = self._scratch[:, : xx.shape[1]]
            np.multiply(each[rows, None], xy, out=scratch)
            half *= keep[rows]
            half += scratch
            np.multiply(xx, each, out=scratch)
            xy *= keep[rows]
            xy += scratch
            xy += np.matmul(H[:, rows], second_y, out=scratch)
            np.matmul(H[:, rows], second_x, out=crossed)
            xx *= keep[rows]
            xx += crossed


def _square(a: Floats) -> Floats:
    """Return the products of the entries along the last axis, shape (…, e, e)."""
    out: Floats = a[..., :, None] * a[..., None, :]
    return out


def _outer(a: Floats, b: Floats) -> Floats:
    return a[:, :, None] * b[:, None, :]


def _stack(second: Floats, first: Floats) -> Floats:
    """Put E zᵀ under E s zᵀ, shape (c, e + 1, ·)."""
    return np.concatenate([second, first[:, None, :]], axis=1)
