"""Second moments of AREA on quadratics: its passes, and how far floats are off."""

from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, final

import numpy as np

from boundlab.algorithms import EventLaw
from boundlab.algorithms.area import AreaParameters
from boundlab.expectation._recursion import EPS
from boundlab.expectation.moments import enclosing
from boundlab.metrics import Enclosure, Metric
from boundlab.objective import Problem
from boundlab.randomness import Floats, Ints

UNDERFLOW: Final = 1e-290  # more than an event's products that are 0 in floats add up to


# A quadratic in coordinates that do not mix: where its matrices are diagonal, moments take one number each.


@final
@dataclass(frozen=True, slots=True)
class Frame:
    """A quadratic in coordinates that do not mix, or in one block of all.

    Parameters
    ----------
    A
        Shape (c, n, e, e): c independent blocks of dimension e; c·e = d.
    b, x0, star
        The clients' minimisers, x0 and x*; shapes (c, n, e), (c, e), (c, e).
    noise
        Shape (c, e, e): the blocks of the covariance of the noise where its trace, E‖noise‖², is 1. Blocks may be
        correlated; what one block does, and what metrics see of it, depends on its own alone.
    """

    A: Floats
    b: Floats
    x0: Floats
    star: Floats
    noise: Floats

    @property
    def mean(self) -> Floats:
        """The Hessian of f, shape (c, e, e)."""
        out: Floats = self.A.mean(axis=1)
        return out

    def centred(self) -> "Frame":
        """Return the same relative to x*."""
        return replace(self, b=self.b - self.star[:, None], x0=self.x0 - self.star, star=np.zeros_like(self.star))


def frame(problem: Problem) -> Frame:
    """Return the quadratic coordinate by coordinate where all its matrices are diagonal.

    No other basis is looked for: turning to one would round.

    Raises
    ------
    AssumptionError
        If the problem gives no :meth:`boundlab.objective.Problem.quadratic`.
    """
    form = problem.require_quadratic("the moments")
    best, x0 = (np.asarray(one, dtype=np.float64) for one in (problem.optimum().x, problem.x0))
    one = replace(form, sigma=1.0)
    noise = one.covariance()
    if (form.A * (1.0 - np.eye(problem.d))).any():
        return Frame(form.A[None], form.b[None], x0[None], best[None], noise[None])
    diagonal = np.diagonal(form.A, axis1=1, axis2=2)
    return Frame(
        diagonal.T[:, :, None, None],
        form.b.T[:, :, None],
        x0[:, None],
        best[:, None],
        np.diagonal(noise)[:, None, None],
    )


class AreaPass(NamedTuple):
    """M local steps: x ← H x + c + noise of covariance V.

    ``both`` is (H_i | c_i), shape (c, 1, n, e, e + 1), ``matrix`` the same, shape (c, n·e, e + 1), ``noise`` is V,
    shape (c, n, e, e), ``groups`` (Σ H_i | Σ c_i)ᵀ over each group, shape (c, e + 1, G·e). ``rounding`` is 8ρ.
    ``error``, four times shape (c, G), or four numbers where that is one, says what β² is in an answer:
    (error₀·β_s + error₁·β_1)² + error₂·E‖x_s‖² + error₃, as a weighted mean over each group.
    """

    both: Floats
    matrix: Floats
    noise: Floats
    groups: Floats
    rounding: float
    error: Any


class AreaPasses:
    """M local steps of every client for any step sizes, from the eigenvalues of the A_i.

    Parameters
    ----------
    variance
        E‖noise‖².
    p
        Sorted probabilities of the clients: those of one probability are a group.
    largest, constant
        The largest step size, and whether all are. Where passes of this size expand, each client is a group.

    Attributes
    ----------
    first
        The first client of each group.
    weights
        Shape (c, n): 1/ω, what β² of a client is multiplied by in the means over groups.
    """

    def __init__(self, where: Frame, M: int, variance: float, p: Floats, largest: float, *, constant: bool) -> None:
        self.where, self.M = where, M
        self.values, self.basis = np.linalg.eigh(where.A)
        self.noise = variance * self._times(self._times(self.basis.swapaxes(2, 3), where.noise[:, None]), self.basis)
        self._sizes = [_norms(one) for one in (where.A, where.b, variance * where.noise[:, None])]
        left = np.abs(1.0 - largest * self.values).max(axis=2)
        expands = left.max() > 1.0 + 1e-9
        self.first: Ints = np.flatnonzero(np.append(True, np.diff(p) > 0.0) | expands)
        self._clients = np.diff(self.first, append=len(p))
        norm = left**M if constant else np.ones_like(left)
        shape = norm + self._spread(norm) / 3.0 + 1e-12
        self.weights = self._spread(shape) / shape

    def mean(self, of_clients: Floats) -> Floats:
        """Return weighted means over groups, along the last axis."""
        return np.asarray(np.add.reduceat(of_clients * self.weights, self.first, axis=-1) / self._clients)

    def _spread(self, of_clients: Floats) -> Floats:
        """Return for each client the mean over its group."""
        return np.repeat(np.add.reduceat(of_clients, self.first, axis=1) / self._clients, self._clients, axis=1)

    def _times(self, a: Floats, b: Floats) -> Floats:
        """Return the products of blocks, which NumPy multiplies one by one."""
        return a * b if self.values.shape[-1] == 1 else a @ b

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
        H = self._times(self.basis * power[..., None, :], turned)
        c = self.where.b - self._times(H, self.where.b[..., None])[..., 0]
        V = size[..., None] ** 2 * self._times(self._times(self.basis, self.noise * total), turned)
        off = self._off(sizes[:, None])
        norm = np.abs(power).max(axis=3) + off[0][:, None]
        shift = np.sqrt(np.square(c).sum(axis=3)) * (1.0 + 1e-12) + off[1][:, None]
        both = np.concatenate([H, c[..., None]], axis=4)
        m, blocks, n, e, _ = H.shape
        matrix = both.reshape(m, blocks, n * e, e + 1)
        groups = np.add.reduceat(both, self.first, axis=2).transpose(0, 1, 4, 2, 3).reshape(m, blocks, e + 1, -1)
        rounding = (n + 2 * e + 24) * EPS + (off[0][:, None] / np.maximum(norm, 1.0)).max(axis=(1, 2))
        error: Any = self._error(rounding[:, None, None], off[:, :, None], norm, shift)
        error = error.reshape(m, 4).tolist() if blocks * len(self.first) == 1 else error
        parts = both[:, :, None], matrix, V, groups, (8.0 * rounding).tolist(), error
        return [AreaPass(*one) for one in zip(*parts, strict=True)]

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

    def _error(self, rounding: Floats, off: Floats, norm: Floats, shift: Floats) -> Floats:
        """Return ``AreaPass.error``, shape (m, 4, c, parts)."""
        e = self.values.shape[-1]
        of_x = 16.0 * rounding * np.square(e**0.5 * norm + off[0] / rounding)
        of_one = 24.0 * rounding * np.square(shift + off[1] / rounding) + off[2] + UNDERFLOW
        # m² is at most what floats find and (e + 1)β² more.
        each = np.stack([np.square(norm) + (e + 1) * of_x, np.square(shift), of_x, of_one], axis=1)
        mean = self.mean(each)
        mean[:, :2] = np.sqrt(mean[:, :2])
        return np.asarray(mean * (1.0 + 16.0 * rounding[:, None]))


def _norms(blocks: Floats) -> Floats:
    """Return for each client the largest Frobenius norm of a block, from above, shape (n,)."""
    each = np.square(blocks).sum(axis=tuple(range(2, blocks.ndim)))
    return np.asarray(np.sqrt(each).max(axis=0) * (1.0 + 1e-12))


def _square(a: Floats) -> Floats:
    """Return the products of the entries along the last axis, shape (…, e, e)."""
    out: Floats = a[..., :, None] * a[..., None, :]
    return out


# The exact mean and second moment of AREA on quadratics, over independent events and additive noise.
#
# All states are taken relative to x*. Client i's answer is n_i = H_i x_s + c_i + noise with H_i = (I − αA_i)^M and
# c_i = (I − H_i)(b_i − x*); when it arrives, y_i ← x_i ← n_i, and an aggregation is x_s ← mean(y): second moments
# follow
# a linear recursion. Where all A_i commute, coordinates in their common basis do not mix and each has its own.
#
# Second moments of two clients are not followed one by one: clients that arrive equally often form a group, and
# E x_i(Σ x_j)ᵀ over the *other* clients j of a group obeys a recursion as E x_i x_jᵀ does, since p_j is one number
# there.
# Of client i with itself three moments are followed besides. So G groups take about 4nG numbers. All matrices are
# written
# in place, and an event takes few calls, which is what it costs where n is small.
#
# What floats lose
# ----------------
# Let each register a of (1, x_s, x_i, y_i, Σ x_s) have a number β_a so that what floats give for E a bᵀ is off by at
# most β_a·β_b in the Frobenius norm, and for sums over clients by the sum of that. An event keeps this with β'_a² = E
# β²
# of what a becomes: ‖H_i‖β_s + ‖c_i‖β_1 for an answer, the mean for a mean, the sum for a sum. For E a bᵀ becomes the
# mean over what can happen of E (new a)(new b)ᵀ, all of it linear, and E(β_new a·β_new b) ≤ β'_a·β'_b by Cauchy and
# Schwarz.
#
# An event's own rounding is at most ρ times the absolute values of what is added up, if ρ is at least EPS times the
# number of additions. With m_a² ≥ E‖a‖² in the place of β² that is by the same inequality at most η_a·η_b with η_a² =
# 2ρ(m_a² + p·m² of what a may become), and β'_a² grows by η_a². That H_i is off by δ adds δ/ρ to ‖H_i‖ there, and so
# for
# c_i. What client i takes away from a sum with itself in it loses up to 4ρ·p·m_i·m_n however small the others of its
# group are. Then the others stand for it: some constant in all their η² makes the product large enough, and it is at
# most
# a quarter of their mean if 2 becomes 4, since g clients of probability p each have g·p ≤ 1 and the largest of g
# numbers
# is at most g times their mean. So 8ρ(m_a² + …) is enough.
#
# Of β² of a group's x_i and y_i only a weighted mean is followed, with root mean squares of ‖H_i‖ and ‖c_i‖ so
# weighted,
# by Minkowski's inequality: (mean β)² ≤ mean(β²/ω) if mean ω = 1. Where ω_i is about ‖H_i‖, errors shrink as their mean
# does, not as its root mean square. For ω_i in proportion to ‖H_i‖ + mean‖H‖/3, as for constant steps, max ω·mean(1/ω)
# is
# at most 4(g − 1)²: 4 for g = 2, and at most 3g + 1. So what stands for client i is at most all of the mean in place of
# a
# quarter, and 4 becomes 8. For other steps ω is 1. Where a pass expands every client is a group by itself, since the
# growth of one need not be that of all.

_BATCH = 10_000  # entries of passes that are made at a time: they stay in the cache


def expectation(
    problem: Problem,
    parameters: AreaParameters,
    law: EventLaw[float],
    sigma: float,
    metric: Metric,
    ks: Ints,
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
            turn, answer = moments.turn(event), moments.pass_at(parameters.answers_with(event))
            errors.advance(turn, answer)
            moments.advance(turn, answer)
            if event + 1 in wanted:
                found[event + 1] = read(moments.second(event + 1), errors.second(event + 1))
    return Enclosure.of_means([found[k] for k in ks.tolist()], 1)


class _Chances(NamedTuple):
    """Probabilities at an event, p of each group and p_s, and what moments are multiplied by.

    ``own`` and ``stay``, shape (n, 1, 1), are p_i and 1 − p_i; ``keep``, ``rows`` and ``columns`` lie over parts of the
    table of :class:`_Moments`.
    """

    p: Floats
    p_s: float
    own: Floats
    stay: Floats
    keep: Floats
    rows: Floats
    columns: Floats


@final
class _OwnMoments:
    """Moments of one client's n, x, y with each other, ``table`` of shape (c, 3, 3, n, e, e); those of n are made anew.

    ``taken``, shape (c, 2, 2, n, e, e): what sums with the client itself in them would add to (x, y) against (X, Y).
    """

    def __init__(self, c: int, n: int, e: int) -> None:
        table = self.table = np.zeros((c, 3, 3, n, e, e))
        self._answers, self._squares, self.to_y = table[:, 0], table[:, 0, 0], table[:, 1:, 2]
        self._forward, self._turned = table[:, 0, 1:], table[:, 0, 1:].swapaxes(3, 4)
        self._back, self._before, self.state = table[:, 1:, 0], table[:, :2, :2], table[:, 1:, 1:]
        taken = self.taken = np.zeros((c, 2, 2, n, e, e))
        self._of_x, self._of_y, self._turned_y = taken[:, 0], taken[:, 1, 0], taken[:, 0, 1].swapaxes(2, 3)
        self._twice, self._turned_x = taken[:, 0, 0], taken[:, 0, 0].swapaxes(2, 3)

    def answer(self, both: Floats, with_server: Floats, noise: Floats) -> None:
        """Set the moments of the answers, from E (s, 1)(n, x, y)ᵀ, shape (c, 3, n, e + 1, e)."""
        np.matmul(both, with_server, out=self._answers)
        self._squares += noise
        self._back[...] = self._turned

    def take(self, p: Floats) -> Floats:
        """Return ``taken`` where clients of probabilities p are among the clients of sums."""
        np.multiply(self._forward, p, out=self._of_x)
        self._of_y[...] = self._turned_y
        self._twice += self._turned_x
        return self.taken

    def advance(self, p: Floats, stay: Floats) -> None:
        """Do y ← x ← n with probability p."""
        np.add(self.state * stay, self._before * p, out=self.state)


@final
class _Moments:
    """First and second moments of s = x_s, of x_i, y_i, and of t = Σ x_s,j.

    ``_table`` has rows n_1 … n_n, x_1 … x_n, y_1 … y_n and, for averages, t, and columns N_1 … N_G, X_1 … X_G,
    Y_1 … Y_G, s, 1: E of their product; capitals are sums over a group's other clients, and over all of it for t. n_i
    is what the answer would be. ``_top`` has rows s, 1 and the columns from X_1 on, over all clients.
    """

    def __init__(
        self, where: Frame, parameters: AreaParameters, law: EventLaw[float], variance: float, last: int, average: bool
    ) -> None:
        self.parameters, self.average, self._last = parameters, average, last
        order = np.argsort(law.p, kind="stable")
        self._p, self._p_s = law.p[order], law.p_s
        where = replace(where, A=where.A[:, order], b=where.b[:, order])
        largest = float(parameters.step.at(np.array(0)))
        self._passes = AreaPasses(where, parameters.M, variance, self._p, largest, constant=parameters.step.d is None)
        self.c, self.n, self.e = c, n, e = where.b.shape
        first = self.first = self._passes.first
        self.sizes, self.weights = np.diff(first, append=n), self._passes.weights
        self.mean_weight = self._passes.mean(np.ones((c, n)))
        tall, wide = self._tall, self._wide = n * e, len(first) * e
        self._group = np.repeat(np.arange(len(first)), self.sizes)
        self._ahead: dict[int, AreaPass] = {}
        self._turns: dict[bool, _Chances] = {}
        table = self._table = np.zeros((c, 3 * tall + e * average, 3 * wide + e + 1))
        self.own = _OwnMoments(c, n, e)
        self._top = np.zeros((c, e + 1, 2 * wide + e + 1))
        self._server = self._top[:, :, 2 * wide :]  # E (s, 1)(s, 1)ᵀ
        self.ss, self.tt = self._server[:, :e, :e], np.zeros((c, e, e))
        # Views, made once, since making one takes as long as a small sum
        self._answers, self._sums = table[:, :tall, wide:], table[:, tall:, :wide]
        self._from_rows, self._from_columns = table[:, : 2 * tall, wide:], table[:, tall:, : 2 * wide]
        self._state, self._to_server = table[:, tall:, wide:], table[:, tall:, 3 * wide :]
        self._of_clients, self._to_sums = self._state[:, : 2 * tall], self._state[:, :, : 2 * wide]
        self._of_total, self._of_s = self._state[:, 2 * tall :], self._top[:, :e]
        self._with_y = table[:, tall:, 2 * wide :]
        with_server = table[:, : 3 * tall, 3 * wide :].reshape(c, 3, n, e, e + 1)
        self._with_server, self._turned = with_server[:, 1:], with_server.swapaxes(3, 4)
        self._top_sums = self._top[:, :, : 2 * wide].reshape(c, e + 1, 2, len(first), e).transpose(0, 2, 3, 4, 1)
        self._flat, self._places, self._mine = table.reshape(-1), self._own_places(), table[:0]
        if len(first) == 1:  # then these are all places of X and Y
            sums = table[:, tall : 3 * tall, wide : 3 * wide].reshape(c, 2, n, e, 2, e)
            self._mine = sums.transpose(0, 1, 4, 2, 3, 5)
        # Sums over no other client
        self._alone = self._places[:, :, :, self.sizes[self._group] == 1].ravel()
        self._to_y = np.zeros((c, 2 * tall + e * average, e + 1))  # E z·(n ȳ, n)ᵀ
        self._own_to_y = self._to_y[:, : 2 * tall].reshape(c, 2, n, e, e + 1)[..., :e]
        self._y_to_y, self._new_s = self._to_y[:, tall : 2 * tall], self._server[:, :e]
        self._in_row, self._in_column = self._server[:, e, :e], self._server[:, :e, e]
        # Of columns Y_1 … Y_G, s, 1: n·ȳ and n; of rows y_1 … y_n: ȳ
        self._all = np.zeros((wide + e + 1, e + 1))
        self._all[:wide, :e], self._all[-1, -1] = np.tile(np.eye(e), (len(first), 1)), n
        self._mean = np.tile(np.eye(e) / n, n)
        self._begin(where.x0)

    def _own_places(self) -> Ints:
        """Return where the table has E x_i X_gᵀ, and so on, of i's own group, shape (c, 2, 2, n, e, e)."""
        c, n, e = self.c, self.n, self.e
        rows = self._tall + np.arange(2 * n * e).reshape(2, 1, n, e, 1)
        columns = self._wide * np.arange(1, 3)[:, None, None, None] + e * self._group[:, None, None] + np.arange(e)
        height, width = self._table.shape[1:]
        return np.asarray(height * width * np.arange(c).reshape(c, 1, 1, 1, 1, 1) + width * rows + columns)

    def _begin(self, start: Floats) -> None:
        """Set all moments before the first event; ``start`` is x_s, shape (c, e)."""
        c, n, e = self.c, self.n, self.e
        models = np.repeat(start[:, None], 2 * n, axis=1).reshape(c, 2, n, e)
        if self.parameters.start == "algorithm":
            first = self.pass_at(0)
            models[:, 0] = (first.both[:, 0, ..., :e] @ start[:, None, :, None])[..., 0] + first.both[:, 0, ..., e]
            self.own.state[:, 0, 0] = first.noise
        server = np.concatenate([start, np.ones((c, 1))], axis=1)
        sums = np.add.reduceat(models, self.first, axis=2).reshape(c, 2 * self._wide)
        seen = np.concatenate([sums, server], axis=1)
        self._of_clients[...] = models.reshape(c, -1, 1) * seen[:, None]
        self._server[...] = server[:, :, None] * server[:, None]
        own = models[:, :, None, :, :, None] * models[:, None, :, :, None]
        self.own.state += own
        self._flat[self._places] -= own

    def pass_at(self, k: int) -> AreaPass:
        """Return the pass with α_k; those of constant steps are one, others are made some at a time."""
        constant = self.parameters.step.d is None
        k = 0 if constant else k
        if k not in self._ahead:
            # No event before the last one takes a later step than that of its own number.
            most = 1 if constant else min(_BATCH // self._passes.noise.size, self._last + 1 - k)
            ks = np.arange(k, k + max(1, most))
            self._ahead = dict(zip(ks.tolist(), self._passes.at(self.parameters.step.at(ks)), strict=True))
        return self._ahead[k]

    def second(self, k: int) -> Floats:
        """Return E (x − x*)(x − x*)ᵀ of what a metric sees at iteration k, shape (c, e, e)."""
        return self.tt / k**2 if self.average else self.ss

    def turn(self, event: int) -> _Chances:
        """Return who may act at an event."""
        count = self.parameters.count
        kind = count is not None and (event + 1) % (count + 1) == 0
        if kind not in self._turns:
            if count is None:
                p, p_s = self._p, self._p_s
            else:
                p, p_s = (np.zeros(self.n), 1.0) if kind else (self._p / self._p.sum(), 0.0)
            self._turns[kind] = self._turn(p, p_s)
        return self._turns[kind]

    def _turn(self, p: Floats, p_s: float) -> _Chances:
        e, wide = self.e, self._wide
        rows = np.zeros((self._state.shape[1], 1))
        rows[: 2 * self._tall, 0] = np.tile(np.repeat(p, e), 2)
        columns = np.full(self._state.shape[2], p_s)
        columns[: 2 * wide] = np.tile(np.repeat(p[self.first], e), 2)
        own = p[:, None, None]
        keep = 1.0 - rows - columns
        return _Chances(p[self.first], p_s, own, 1.0 - own, keep, rows[: 2 * self._tall], columns[: 2 * wide])

    def advance(self, turn: _Chances, answer: AreaPass) -> None:
        """Do one event: E over everybody who may act."""
        own, state, to_y = self.own, self._state, self._to_y
        np.add.reduceat(self._with_server, self.first, axis=2, out=self._top_sums)
        if self.average:
            ts = self._of_total[:, :, -1 - self.e : -1]
            self.tt += ts + ts.swapaxes(1, 2) + self.ss
            self._of_total += self._of_s
        # What the answers would be, and their sums
        np.matmul(answer.matrix, self._top, out=self._answers)
        np.matmul(self._to_server, answer.groups, out=self._sums)
        own.answer(answer.both, self._turned, answer.noise)
        np.matmul(self._with_y, self._all, out=to_y)
        self._own_to_y += own.to_y
        to_y *= turn.p_s / self.n
        rows, columns = self._from_rows * turn.rows, self._from_columns * turn.columns
        state *= turn.keep
        self._of_clients += rows
        self._to_sums += columns
        self._to_server += to_y
        if len(self._mine):
            self._mine -= own.take(turn.own)
        elif len(self.first) < self.n:
            self._flat[self._places] -= own.take(turn.own)
        if len(self._alone):
            self._flat[self._alone] = 0.0
        own.advance(turn.own, turn.stay)
        self._new_s *= 1.0 - turn.p_s
        self._new_s += self._mean @ self._y_to_y
        self._in_row[...] = self._in_column


@final
class _Errors:
    """β² of x_s, of 1 and of t, and its means over groups, of x_i and of y_i.

    Shapes (c, 1) and (c, G); numbers where there is one of each, which Python adds up faster.
    """

    def __init__(self, moments: _Moments) -> None:
        self._of, c, n, e = moments, moments.c, moments.n, moments.e
        groups = len(moments.sizes)
        self._plain, self._shares = c * groups == 1, (moments.sizes / n)[:, None]
        mean = np.repeat(np.diag(1.0 / moments.sizes), moments.sizes, axis=0) * moments.weights[..., None]
        self._over, self._ones = np.repeat(mean, e, axis=1), np.ones(e)
        # Diagonals, as views: of own moments of x_i and y_i, of ss and of tt
        self._own = np.einsum("ckknii->ckni", moments.own.table)[:, 1:]
        self._server, self._total = (np.einsum("cii->ci", one) for one in (moments.ss, moments.tt))
        first = moments.pass_at(0)
        at_start = self._traces(self._server)
        self.one: Any = first.rounding
        self.s, self.t = at_start * first.rounding, 0.0 * at_start
        self.x = self.y = self.s * (moments.mean_weight.item() if self._plain else moments.mean_weight)
        if moments.parameters.start == "algorithm":
            norm, shift, of_x, of_one = first.error
            self.x = _squared(norm * self.s**0.5 + shift * self.one**0.5) + 4.0 * (of_x * at_start + of_one)

    def second(self, k: int) -> Floats:
        """Return what E (x − x*)(x − x*)ᵀ of what a metric sees at iteration k is at most off by, shape (c, e, e)."""
        of = self._of
        bound = np.reshape(self.t / k**2 if of.average else self.s, (of.c, 1, 1))
        return np.asarray(bound * np.eye(of.e))

    def advance(self, turn: _Chances, answer: AreaPass) -> None:
        """Do an event that the moments have yet to do."""
        of, rounding, p_s = self._of, answer.rounding, turn.p_s
        p = turn.p.item() if self._plain else turn.p
        norm, shift, of_x, of_one = answer.error
        more = (of.e + 1) * rounding  # what m² is more than floats find, and what this loses itself
        of_s, (x, y) = self._traces(self._server), self._clients()
        root = self.s**0.5
        if of.average:
            of_t = self._traces(self._total)
            self.t = _squared(self.t**0.5 + root) * (1.0 + 2.0 * more) + 2.0 * rounding * (of_t + of_s)
        answers = _squared(norm * root + shift * self.one**0.5) + of_x * of_s + of_one
        mean, of_mean = _squared(self._mean(self.y**0.5)), self._mean(y)
        self.y = (1.0 - p + more) * self.y + p * (1.0 + more) * self.x + rounding * (y + p * x)
        self.x = (1.0 - p + more) * self.x + p * answers + rounding * x
        self.s = (1.0 - p_s + more) * self.s + p_s * (1.0 + 2.0 * more) * mean + rounding * (of_s + p_s * of_mean)
        self.s += UNDERFLOW
        self.one += 2.0 * rounding

    def _traces(self, diagonals: Floats) -> Any:
        """Return the traces of blocks, from shape (c, e)."""
        traces = diagonals @ self._ones
        return traces.item() if self._plain else traces[:, None]

    def _clients(self) -> Any:
        """Return the means over groups of E‖x_i‖² and E‖y_i‖²."""
        of = self._of
        means = (self._own.reshape(of.c, 2, of.n * of.e) @ self._over).swapaxes(0, 1)
        return means.ravel().tolist() if self._plain else means

    def _mean(self, of_groups: Any) -> Any:
        """Return the mean over clients from the means over groups."""
        return of_groups if self._plain else of_groups @ self._shares


def _squared(number: Any) -> Any:
    """Return the square; powers of Python's floats raise where they leave them."""
    return number * number
