"""The exact mean and second moment of AREA on quadratics, over independent events and additive noise.

All states are taken relative to x*. Client i's answer is x_i ← H_i x_s + c_i + noise with H_i = (I − αA_i)^M and
c_i = (I − H_i)(b_i − x*), an aggregation is x_s ← mean(y); so first and second moments follow linear recursions.
Where all A_i commute, coordinates in their common basis do not mix and each has a recursion of 2n+1 numbers squared.
"""

from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import EventLaw
from boundlab.algorithms.area import AreaParameters
from boundlab.execute.coordinates import Frame, frame
from boundlab.expectation._passes import EPS
from boundlab.expectation._second_moments import enclosing
from boundlab.metrics import Enclosure, Metric
from boundlab.objective import Problem

Floats = NDArray[np.float64]
_STRIP = 25_000  # entries


class AreaPass(NamedTuple):
    """M local steps: x ← H x + c + noise of covariance V; shapes (c, n, e, e), (c, n, e), (c, n, e, e).

    ``norm`` and ``shift``, shape (c, n): at least ‖H‖ and ‖c‖. ``lost``, shape (2, c, n): what floats lose of the
    second moment of (x, 1), as a trace, is at most this times (E‖x‖², 1).
    """

    H: Floats
    c: Floats
    V: Floats
    norm: Floats
    shift: Floats
    lost: Floats


class AreaPasses:
    """M local steps of every client for any step sizes, from the eigenvalues of the A_i.

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

    def at(self, sizes: Floats) -> list[AreaPass]:
        """Return what M steps of each of these sizes do."""
        size = sizes[:, None, None, None]
        one = 1.0 - size * self.values
        # Powers and Σ_{l<M} (one_j·one_k)^l by the binary digits of M; for j = k from sums of like signs only.
        power, total = np.ones_like(one), np.zeros((*one.shape, one.shape[-1]))
        for digit in f"{self.M:b}":
            total, power = total + _square(power) * total, power**2
            if digit == "1":
                total, power = total + _square(power), power * one
        turned = self.basis.swapaxes(2, 3)
        H = (self.basis * power[..., None, :]) @ turned
        c = self.where.b - (H @ self.where.b[..., None])[..., 0]
        V = size[..., None] ** 2 * (self.basis @ (self.noise * total) @ turned)
        off = self._off(sizes[:, None])
        norm = np.abs(power).max(axis=3) + off[0][:, None]
        shift = np.sqrt(np.square(c).sum(axis=3)) * (1.0 + 1e-12)
        lost = self._lost(off, norm, shift)
        return [AreaPass(*one) for one in zip(H, c, V, norm, shift + off[1][:, None], lost.swapaxes(0, 1), strict=True)]

    def _off(self, size: Floats) -> Floats:
        """Return how far H, c and V are off for sizes (m, 1), in Frobenius norms of a block, shape (3, m, n)."""
        # An eigensolver finds those of a matrix that is off by about d·EPS of its norm (LAPACK Users' Guide, 4.7), here
        # four times as much; a function of symmetric matrices is as Lipschitz as on the eigenvalues.
        (A, b, N), e, M = self._sizes, self.values.shape[-1], self.M
        growth = np.abs(1.0 - size[..., None, None] * self.values).max(axis=(1, 3))
        power = np.maximum(growth, 1.0) ** M * (1.0 + 1e-9)
        steep = M * EPS * (8.0 * e * abs(size) * A + 4.0 * (1.0 + abs(size) * A))
        H = power * (steep + 16.0 * EPS * e**1.5)
        c = b * (H + (e + 4) * EPS * (1.0 + power * e**0.5))
        V = size**2 * N * M * power**2 * (64.0 * EPS * e**1.5 + 4.0 * steep + 8.0 * M * EPS)
        return np.array([H, c, V])

    def _lost(self, off: Floats, norm: Floats, shift: Floats) -> Floats:
        """Return what floats lose of what answers add to second moments, shape (2, m, c, n)."""
        _, n, e = self.values.shape
        H, c, V = off[:, :, None]
        share = np.maximum(_rounding(n, e), H.max(axis=-1, keepdims=True))
        of_x, of_one = share * norm**2 + e * H**2 / share, share * shift**2 + e * c**2 / share
        return np.array([2.0 * (e + 1.0) * of_x, 2.0 * (e + 1.0) * of_one + e * V])


def _rounding(n: int, e: int) -> float:
    """Return how far a sum of products of an event is off, relative to that of their absolute values."""
    return (n * e + 2 * e + 24) * EPS


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
    last = int(ks.max())
    moments = _Moments(where, parameters, law, sigma**2, last, average=metric.over.averages_iterates)
    errors = _Errors(moments)
    read = enclosing(problem, metric, where.mean, 0.0)
    found = {} if moments.average else {0: read(moments.ss, errors.second(0))}
    wanted = set(ks.tolist())
    with np.errstate(over="ignore", invalid="ignore"):
        for event in range(last):
            errors.advance(event)
            moments.advance(event)
            if event + 1 in wanted:
                found[event + 1] = read(moments.second(event + 1), errors.second(event + 1))
    return Enclosure.of_means([found[k] for k in ks.tolist()], 1)


class _Moments:
    """First and second moments of s = x_s, x = (x_1 … x_n), y, and t = Σ x_s,j.

    ``ss[c]`` is E s sᵀ (e×e), ``sx[c]`` E s xᵀ (e×ne), ``xy[c]`` E x yᵀ (ne×ne), and so on; E y yᵀ is
    ``half`` plus its transpose, which spares a transposition an event.
    """

    def __init__(
        self, where: Frame, parameters: AreaParameters, law: EventLaw[float], variance: float, last: int, average: bool
    ) -> None:
        self.where, self.parameters, self.law, self.average, self._last = where, parameters, law, average, last
        c, n, e = where.b.shape
        self.c, self.n, self.e = c, n, e
        self._passes = AreaPasses(where, parameters.M, variance)
        self._ahead: dict[int, AreaPass] = {}
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
        self.own_xx, self.own_xy, self.own_half = map(self._blocks, (self.xx, self.xy, self.half))
        self.own_xx += spread
        self.t = np.zeros_like(start)
        self.tt, self.ts = _outer(self.t, self.t), _outer(self.t, self.s)
        self.tx, self.ty = _outer(self.t, self.x), _outer(self.t, self.y)
        self._mean = np.tile(np.eye(e), (n, 1)) / n  # averages over clients by a product
        rows = max(1, _STRIP // (c * n * e))
        self._strips = [slice(first, first + rows) for first in range(0, n * e, rows)]
        self._scratch, self._crossed = np.empty((c, min(rows, n * e), n * e)), np.empty_like(self.xx)
        self._own_crossed = self._blocks(self._crossed)
        self._plans: dict[bool, tuple[Floats, float, Floats, Floats]] = {}

    def pass_at(self, k: int) -> AreaPass:
        """Return the pass with α_k; those of constant steps are one, others are made some at a time."""
        constant = self.parameters.step.d is None
        k = 0 if constant else k
        if k not in self._ahead:
            # No event before the last one takes a later step than that of its own number.
            most = 1 if constant else min(_STRIP // self._passes.noise.size, self._last + 1 - k)
            ks = np.arange(k, k + max(1, most))
            self._ahead = dict(zip(ks.tolist(), self._passes.at(self.parameters.step.at(ks)), strict=True))
        return self._ahead[k]

    def _blocks(self, matrix: Floats) -> Floats:
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
        own_xx, own_xy, own_yy = (own.copy() for own in (self.own_xx, self.own_xy, self.own_half))
        # E ȳ xᵀ, E ȳ yᵀ, E ȳ ȳᵀ before anything changes
        mean_x = (self.xy @ self._mean).transpose(0, 2, 1)
        mean_y = self._mean.T @ self.half + (self.half @ self._mean).transpose(0, 2, 1)
        mean_mean = mean_y @ self._mean
        self._scale_and_add(H, each, keep)
        self.own_half[...] = (1.0 - lose) * own_yy + lose * own_xx / 2.0
        self.own_xy[...] = (1.0 - lose) * own_xy + self._own_crossed
        self.xx += self._crossed.transpose(0, 2, 1)
        # E of an answer squared: H E[ssᵀ] Hᵀ + H E[s]cᵀ + its transpose + c cᵀ + V
        mixed = answer.H @ self.s[:, None, :, None] @ answer.c[:, :, None, :]
        square = answer.H @ self.ss[:, None] @ answer.H.swapaxes(2, 3) + mixed + mixed.swapaxes(2, 3)
        square += answer.c[..., :, None] * answer.c[..., None, :] + answer.V
        self.own_xx[...] = (1.0 - lose) * own_xx + lose * square

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


@final
class _Errors:
    """Bounds on the errors of the moments, with those of 1: −B ⪯ error ⪯ B in the order of symmetric matrices.

    An event brings B between its images (:mod:`boundlab.expectation._recursion`) and adds what floats lose. Of B the
    traces of the diagonal blocks are enough here, shapes (c,) and (c, n): answers contract and aggregations are means,
    so that by Minkowski's inequality nothing grows.
    """

    def __init__(self, moments: _Moments) -> None:
        self._of = moments
        c, n, e = moments.c, moments.n, moments.e
        self._many, self._rounding = 2.0 * (1.0 + (2.0 * n + 2.0) * e), 2.0 * _rounding(n, e)
        first = 8.0 * EPS * self._many
        self.one, self.t = np.full(c, first), np.zeros(c)
        self.s, self.x, self.y, _ = (first * trace for trace in self._traces())
        if moments.parameters.start == "algorithm":
            of_x, of_one = moments.pass_at(0).lost
            self.x = self.x + self._many * (of_x * np.square(moments.where.x0).sum(axis=1)[:, None] + of_one)

    def second(self, k: int) -> Floats:
        """Return what E (x − x*)(x − x*)ᵀ of what a metric sees at iteration k is at most off by, shape (c, e, e)."""
        trace = self.t / k**2 if self._of.average else self.s
        return trace[:, None, None] * np.eye(self._of.e)

    def advance(self, event: int) -> None:
        """Do an event that the moments have yet to do."""
        of, rounding, many = self._of, self._rounding, self._many
        p, p_s, *_ = of.plan(event)
        answer = of.pass_at(of.parameters.answers_with(event))
        off = self.s, self.x, self.y, self.t
        s, x, y, t = (trace + 3.0 * wrong for trace, wrong in zip(self._traces(), off, strict=True))
        mass, root = 1.0 + 3.0 * self.one, np.sqrt(self.s)
        of_x, of_one = answer.lost
        if of.average:
            self.t = np.square(np.sqrt(self.t) + root) + many * 2.0 * rounding * (t + s)
        mean = np.sqrt(self.y).sum(axis=1) / of.n
        answers = answer.norm * root[:, None] + answer.shift * np.sqrt(self.one)[:, None]
        self.y = (1.0 - p) * self.y + p * self.x + many * rounding * (y + p * x)
        new = rounding * x + p * (of_x * s[:, None] + of_one * mass[:, None])
        self.x = (1.0 - p) * self.x + p * np.square(answers) + many * new
        self.s = (1.0 - p_s) * self.s + p_s * np.square(mean) + many * rounding * (s + p_s * y.sum(axis=1) / of.n)
        self.one = self.one + many * rounding * mass

    def _traces(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return those of the diagonal blocks of the second moments of s, x, y and t."""
        of = self._of
        x, y = (np.einsum("cnii->cn", blocks) for blocks in (of.own_xx, of.own_half))
        return np.einsum("cii->c", of.ss), x, 2.0 * y, np.einsum("cii->c", of.tt)


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
