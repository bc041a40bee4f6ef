"""The exact mean and second moment of AREA on quadratics, over independent events and additive noise.

All states are taken relative to x*. Client i's answer is x_i ← H_i x_s + c_i + noise with H_i = (I − αA_i)^M and
c_i = (I − H_i)(b_i − x*), an aggregation is x_s ← mean(y); so first and second moments follow linear recursions.
Where all A_i commute, coordinates in their common basis do not mix and each has a recursion of 2n+1 numbers squared.
"""

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import EventLaw
from boundlab.algorithms.area import AreaParameters
from boundlab.execute.coordinates import Frame, frame
from boundlab.expectation._passes import EPS
from boundlab.expectation._second_moments import enclosing, from_ends
from boundlab.metrics import Enclosure, Metric
from boundlab.objective import Problem

Floats = NDArray[np.float64]
_STRIP = 25_000  # entries


@final
@dataclass(slots=True)
class Pass:
    """M local steps: x ← H x + c + noise of covariance V; shapes (c, n, e, e), (c, n, e), (c, n, e, e).

    ``off``, shape (3, n): how far these are off, in Frobenius norms of a block. ``norm``, shape (c, n): at least ‖H‖.
    """

    H: Floats
    c: Floats
    V: Floats
    off: Floats
    norm: Floats


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
        self._sizes = [_norms(one) for one in (where.A, where.b, variance * where.noise[:, None])]

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
        V, off = size**2 * (self.basis @ (self.noise * total) @ turned), self._off(size)
        return Pass(H, shift, V, off, np.abs(power).max(axis=2) + off[0])

    def _off(self, size: float) -> Floats:
        # An eigensolver finds those of a matrix that is off by about d·EPS of its norm (LAPACK Users' Guide, 4.7), here
        # four times as much; a function of symmetric matrices is as Lipschitz as on the eigenvalues.
        (A, b, N), e, M = self._sizes, self.values.shape[-1], self.M
        growth = np.abs(1.0 - size * self.values).max(axis=(0, 2))
        power = np.maximum(growth, 1.0) ** M * (1.0 + 1e-9)
        steep = M * EPS * (8.0 * e * abs(size) * A + 4.0 * (1.0 + abs(size) * A))
        H = power * (steep + 16.0 * EPS * e**1.5)
        c = b * (H + (e + 4) * EPS * (1.0 + power * e**0.5))
        V = size**2 * N * M * power**2 * (64.0 * EPS * e**1.5 + 4.0 * steep + 8.0 * M * EPS)
        return np.array([H, c, V])


def expectation(
    problem: Problem,
    parameters: AreaParameters,
    law: EventLaw[float],
    sigma: float,
    metric: Metric,
    ks: NDArray[np.int64],
) -> Enclosure:
    """Return E metric after each of ``ks`` iterations, shape (points,)."""
    where = frame(problem).centred()
    moments = _Moments(where, parameters, law, sigma**2, average=metric.over.averages_iterates)
    errors = _Errors(moments)
    read = enclosing(problem, metric, where.mean, 0.0)
    found = {} if moments.average else {0: read(moments.ss, errors.second(0))}
    wanted = set(ks.tolist())
    with np.errstate(over="ignore", invalid="ignore"):
        for event in range(int(ks.max())):
            errors.advance(event)
            moments.advance(event)
            if event + 1 in wanted:
                found[event + 1] = read(moments.second(event + 1), errors.second(event + 1))
    return from_ends([found[k] for k in ks.tolist()], 1)


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
            first = self.pass_at(0)
            self.x = ((first.H @ start[:, None, :, None])[..., 0] + first.c).reshape(c, n * e)
            spread = first.V
        self.ss, self.sx, self.sy = _outer(self.s, self.s), _outer(self.s, self.x), _outer(self.s, self.y)
        self.xx, self.xy, self.half = _outer(self.x, self.x), _outer(self.x, self.y), _outer(self.y, self.y) / 2.0
        self.blocks(self.xx)[...] += spread
        self.t = np.zeros_like(start)
        self.tt, self.ts = _outer(self.t, self.t), _outer(self.t, self.s)
        self.tx, self.ty = _outer(self.t, self.x), _outer(self.t, self.y)
        self._mean = np.tile(np.eye(e), (n, 1)) / n  # averages over clients by a product
        rows = max(1, _STRIP // (c * n * e))
        self._strips = [slice(first, first + rows) for first in range(0, n * e, rows)]
        self._scratch, self._crossed = np.empty((c, min(rows, n * e), n * e)), np.empty_like(self.xx)
        self._plans: dict[bool, tuple[Floats, float, Floats, Floats]] = {}

    def pass_at(self, k: int) -> Pass:
        size = float(self.parameters.step.at(np.array(k)))
        if self._last is None or self._last[0] != size:
            self._last = size, self._passes.at(size)
        return self._last[1]

    def blocks(self, matrix: Floats) -> Floats:
        """Return a view of the n diagonal e×e blocks, shape (c, n, e, e)."""
        c, n, e = self.c, self.n, self.e
        a, b, d = matrix.strides
        return np.lib.stride_tricks.as_strided(matrix, (c, n, e, e), (a, e * (b + d), b, d))

    def second(self, k: int) -> Floats:
        """Return E (x − x*)(x − x*)ᵀ of what a metric sees at iteration k, shape (c, e, e)."""
        return self.tt / k**2 if self.average else self.ss

    def plan(self, event: int) -> tuple[Floats, float, Floats, Floats]:
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
        p, p_s, each, keep = self.plan(event)
        answer = self.pass_at(self.parameters.answers_with(event))
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
        own_xx, own_xy, own_yy = (self.blocks(matrix).copy() for matrix in (self.xx, self.xy, self.half))
        # E ȳ xᵀ, E ȳ yᵀ, E ȳ ȳᵀ before anything changes
        mean_x = (self.xy @ self._mean).transpose(0, 2, 1)
        mean_y = self._mean.T @ self.half + (self.half @ self._mean).transpose(0, 2, 1)
        mean_mean = mean_y @ self._mean
        self._scale_and_add(H, each, keep)
        self.blocks(self.half)[...] = (1.0 - lose) * own_yy + lose * own_xx / 2.0
        self.blocks(self.xy)[...] = (1.0 - lose) * own_xy + self.blocks(self._crossed)
        self.xx += self._crossed.transpose(0, 2, 1)
        # E of an answer squared: H E[ssᵀ] Hᵀ + H E[s]cᵀ + its transpose + c cᵀ + V
        mixed = answer.H @ self.s[:, None, :, None] @ answer.c[:, :, None, :]
        square = answer.H @ self.ss[:, None] @ answer.H.swapaxes(2, 3) + mixed + mixed.swapaxes(2, 3)
        square += answer.c[..., :, None] * answer.c[..., None, :] + answer.V
        self.blocks(self.xx)[...] = (1.0 - lose) * own_xx + lose * square

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


class _Diagonal(NamedTuple):
    """Diagonals of second moments of s, x, y and t, shapes (c, e), (c, n, e), (c, n, e), (c, e)."""

    s: Floats
    x: Floats
    y: Floats
    t: Floats


@final
class _Errors:
    """What bounds how far the moments are off, with those of 1: −B ⪯ error ⪯ B in the order of symmetric matrices.

    An event brings B between its images (:mod:`boundlab.expectation._recursion`) and adds what floats lose. Of B the
    traces of the diagonal blocks are enough here, shapes (c,) and (c, n): answers contract and aggregations are means,
    so that by Minkowski's inequality nothing grows.
    """

    def __init__(self, moments: _Moments) -> None:
        self._of = moments
        c, n, e = moments.c, moments.n, moments.e
        self._many = 2.0 * (1.0 + (2.0 * n + 2.0) * e)
        first, rounding = self._diagonal(), 8.0 * EPS * self._many
        self.one, self.t = np.full(c, rounding), np.zeros(c)
        self.s, self.x, self.y = (rounding * one.sum(axis=-1) for one in first[:3])
        if moments.parameters.start == "algorithm":
            reach = first._replace(s=np.square(moments.where.x0))
            self.x = self.x + self._many * self._weights(reach, moments.pass_at(0), np.ones((c, 1))).sum(axis=2)

    def second(self, k: int) -> Floats:
        """Return what E (x − x*)(x − x*)ᵀ of what a metric sees at iteration k is at most off by, shape (c, e, e)."""
        trace = self.t / k**2 if self._of.average else self.s
        return trace[:, None, None] * np.eye(self._of.e)

    def advance(self, event: int) -> None:
        """Do an event that the moments have yet to do."""
        of = self._of
        p, p_s, *_ = of.plan(event)
        answer = of.pass_at(of.parameters.answers_with(event))
        lost, one = self._lost(p, p_s, answer)
        length = np.sqrt(np.square(answer.c).sum(axis=2)) * (1.0 + 1e-12) + answer.off[1]
        root, share = np.sqrt(self.s), np.sqrt(self.one)[:, None]
        if of.average:
            self.t = np.square(np.sqrt(self.t) + root) + lost.t.sum(axis=1)
        mean, answers = np.sqrt(self.y).mean(axis=1), answer.norm * root[:, None] + length * share
        self.y = (1.0 - p) * self.y + p * self.x + lost.y.sum(axis=2)
        self.x = (1.0 - p) * self.x + p * np.square(answers) + lost.x.sum(axis=2)
        self.s = (1.0 - p_s) * self.s + p_s * np.square(mean) + lost.s.sum(axis=1)
        self.one = self.one + one

    def _diagonal(self) -> _Diagonal:
        of = self._of
        ss, tt = (np.einsum("cii->ci", matrix) for matrix in (of.ss, of.tt))
        xx, half = (np.einsum("cnii->cni", of.blocks(matrix)) for matrix in (of.xx, of.half))
        return _Diagonal(ss, xx, 2.0 * half, tt)

    def _weights(self, reach: _Diagonal, answer: Pass, mass: Floats) -> Floats:
        """Return what floats lose of the answers, shape (c, n, e)."""
        e, (H, c, V) = self._of.e, answer.off
        share = max((self._of.n * e + 2 * e + 24) * EPS, float(H.max()))
        size = (np.square(answer.H) @ reach.s[:, None, :, None])[..., 0] + np.square(answer.c) * mass[..., None]
        apart = np.square(H) * reach.s.sum(axis=1)[:, None] + np.square(c) * mass
        lost = 2.0 * (e + 1.0) * (share * size + (apart / share)[..., None]) + (V * mass)[..., None]
        return np.asarray(lost)

    def _lost(self, p: Floats, p_s: float, answer: Pass) -> tuple[_Diagonal, Floats]:
        """Return a diagonal that bounds what floats lose at an event, and its entry for 1, shape (c,)."""
        of, mass = self._of, 1.0 + 3.0 * self.one
        off = (self.s[:, None], self.x[..., None], self.y[..., None], self.t[:, None])
        reach = _Diagonal(*(one + 3.0 * other for one, other in zip(self._diagonal(), off, strict=True)))
        rounding, each = 2.0 * (of.n * of.e + 2 * of.e + 24) * EPS, p[:, None]
        q = _Diagonal(
            rounding * (reach.s + p_s * reach.y.mean(axis=1)),
            rounding * reach.x + each * self._weights(reach, answer, mass[:, None]),
            rounding * (reach.y + each * reach.x),
            2.0 * rounding * (reach.t + reach.s),
        )
        return _Diagonal(*(self._many * one for one in q)), self._many * rounding * mass


def _norms(blocks: Floats) -> Floats:
    """Return for each client the largest Frobenius norm of a block, from above, shape (n,)."""
    each = np.square(blocks).sum(axis=tuple(range(2, blocks.ndim)))
    return np.asarray(np.sqrt(each).max(axis=0) * (1.0 + 1e-12))


def _square(a: Floats) -> Floats:
    """Return the products of the entries along the last axis, shape (…, e, e)."""
    out: Floats = a[..., :, None] * a[..., None, :]
    return out


def _outer(a: Floats, b: Floats) -> Floats:
    return a[:, :, None] * b[:, None, :]


def _stack(second: Floats, first: Floats) -> Floats:
    """Put E zᵀ under E s zᵀ, shape (c, e + 1, ·)."""
    return np.concatenate([second, first[:, None, :]], axis=1)
