"""Maxima of affine functions: f_i(x) = max_j (a_ij·x + b_ij)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.numbers import Operations
from boundlab.errors import SpecError
from boundlab.objective import EPS, Array, Constant, Floats, Optimum, StepBounds
from boundlab.options import Options
from boundlab.problems import common
from boundlab.problems.clients import Pieces
from boundlab.problems.common import (
    check_shape,
    check_size,
    clip_up,
    distance,
    key_of,
    norm_up,
    norms_up,
    read_array,
    read_drawn,
)
from boundlab.problems.noise import HEAD_OPTIONS, ArrayProblem, InEveryArithmetic, head_spec, read_head
from boundlab.problems.risk import Reach
from boundlab.problems.solvers import TIGHT, check_gap, clarabel, cvxpy, dot, fractions, maximise, repair, steepest_mean
from boundlab.randomness import Stream, Streams

if TYPE_CHECKING:
    from boundlab.problems.rational import RationalMaxAffine


_LARGEST_PROGRAM = 5_000_000  # entries of the dual's equations


@final
@dataclass(frozen=True, eq=False)
class MaxAffine(InEveryArithmetic):
    """n polyhedral functions f_i(x) = max_j (a_ij·x + b_ij).

    Parameters
    ----------
    a
        Shape (n, m, d), unit (1, −1).
    b
        Shape (n, m), unit (1, 0).
    x0
        Shape (d,), unit (0, 1).
    minimiser
        Shape (d,), the x* to be certified where there are many; None: Clarabel's.
    """

    a: Floats
    b: Floats
    x0: Floats
    minimiser: Floats | None = None
    id = "max-affine"

    @property
    def _rows(self) -> Floats:
        return self.a

    def functions(self, by: Operations) -> Pieces:
        """Return the functions in an arithmetic."""
        return Pieces(self.a, self.b, by)

    def near_kink(self, client: int, X: Array, room: float) -> NDArray[np.bool_]:
        """Return where another piece may be the highest one, shape (S,)."""
        slopes = self.a[client]
        heights = X @ slopes.T + self.b[client]
        top = heights.argmax(axis=1)
        gap = heights.max(axis=1, keepdims=True) - heights
        apart = np.linalg.norm(slopes[top][:, None, :] - slopes[None, :, :], axis=2)
        # The heights themselves are rounded, by about as much as the points move them, and by their offsets.
        size, offset = np.linalg.norm(slopes, axis=1), (self.d + 4.0) * EPS * np.abs(self.b[client])
        moved = room * (apart + size[top][:, None] + size) + offset[top][:, None] + offset
        return np.asarray(((gap <= moved) & (apart > 0.0)).any(axis=1))

    def rounding(self, x: Floats) -> tuple[float, float]:
        """Return how far rounding may put the value off, and the slopes where it may choose another piece."""
        share, sizes = (self.n + self.d + 8) * EPS, (np.abs(self.a) @ np.abs(x) + np.abs(self.b)).max(axis=1)
        steepest = np.linalg.norm(self.a, axis=2).max(axis=1)
        unsure = np.array([self.near_kink(client, x[None], 0.0)[0] for client in range(self.n)])
        return share * float(sizes.mean()), float((steepest * (2.0 * unsure + share)).mean())

    def step_bounds(self, client: int) -> StepBounds:
        """Return no curvature, and the rounding of a step along a slope."""
        steepest = float(np.linalg.norm(self.a[client], axis=1).max())
        return StepBounds(0.0, 0.0, 4.0 * EPS * steepest, 0.0, kinks=True)

    def scaled(self, factors: Sequence[Fraction]) -> "MaxAffine":
        """Return the problem with slopes factor_i·a_i and offsets factor_i·b_i."""
        each = np.array([float(factor) for factor in factors])
        return replace(self, a=self.a * each[:, None, None], b=self.b * each[:, None], source={})

    def client_key(self, client: int) -> bytes:
        """Return the pieces a_i and b_i, in their order: it decides which subgradient is taken at a kink."""
        return key_of(self.a[client], self.b[client])

    def rational(self, options: Mapping[str, Any]) -> "RationalMaxAffine":
        """Return the same problem in rational numbers."""
        from boundlab.arithmetic.problem import Reader
        from boundlab.problems.rational import RationalMaxAffine

        read = Reader(options)
        x0 = read.vector("x0", self.x0)
        given = None if self.minimiser is None else read.vector("minimiser", self.minimiser)
        a, b, sigma = read.cube("a", self.a), read.rows("b", self.b), read.one("sigma", self.sigma)
        return RationalMaxAffine(a, b, x0, sigma, given, read.direction(self.direction))

    def _solve(self) -> Optimum:
        n, m, d = self.a.shape
        if (n + d) * n * m > _LARGEST_PROGRAM:
            raise SpecError(
                f"problem max-affine: x* is found for (n + d)·n·m ≤ {_LARGEST_PROGRAM}, got {(n + d) * n * m}"
            )
        cp = cvxpy()
        x, t = cp.Variable(d), cp.Variable(n)
        rows = self.a.reshape(n * m, d)
        above = np.kron(np.eye(n), np.ones((m, 1))) @ t >= rows @ x + self.b.ravel()
        program = cp.Problem(cp.Minimize(cp.sum(t) / n), [above])
        if clarabel(program, (TIGHT, 1e-7), "problem max-affine") == "unbounded":
            raise SpecError(
                "problem max-affine: f is unbounded below; 0 must be a mean of convex combinations of slopes"
            )
        best = np.asarray(x.value, dtype=np.float64) if self.minimiser is None else self.minimiser
        value = self.value(best)
        # Weak duality: for y ≥ 0 with Σ_j y_ij = 1/n, f(x*) ≥ Σ y_ij(a_ij·x* + b_ij).
        equal = np.vstack([np.kron(np.eye(n), np.ones(m)), rows.T])
        target = np.concatenate([np.full(n, 1.0 / n), np.zeros(d)])
        y = repair(np.asarray(above.dual_value), 0.0, 1.0 / n, equal, target).reshape(n, m)
        y /= n * y.sum(axis=1, keepdims=True)
        rest = rows.T @ y.ravel()
        radius = 10.0 * (1.0 + float(np.linalg.norm(best)) + distance(self.x0, best))
        # The sum behind rest has nm terms of total weight 1.
        slip = (n * m + d) * EPS * float(np.linalg.norm(rows, axis=1).max())
        lower = float((y * self.b).sum() + rest @ best) - (float(np.linalg.norm(rest)) + slip) * radius
        size = float(np.abs(self.b).max() + (np.abs(rows) @ np.abs(best)).max())
        gap = max(value - lower, 0.0) + (n * m + d + 8) * EPS * size
        check_gap(gap, value, "problem max-affine")
        if self.minimiser is not None and self._stationary(best):
            return Optimum(
                best, value, (n + m + d) * EPS * size, 0.0, "the point given: slopes sum to 0 there, exactly"
            )
        how = "Clarabel" if self.minimiser is None else "the point given"
        return Optimum(best, value, gap, None, f"{how}, dual bound over radius {radius:.3g}")

    def _stationary(self, x: Array) -> bool:
        """Return whether the highest pieces at x have slopes that sum to 0, in rational arithmetic."""
        from boundlab.arithmetic.numbers import EXACT, exact_array

        return not self.functions(EXACT).full_gradient(exact_array(x)).any()

    def _find_constants(self) -> dict[str, Constant]:
        """Return B, sigma, G, sigma_g and, where f is bounded below, R and F0."""
        norms = norms_up(self.a.reshape(-1, self.d)).reshape(self.a.shape[:2]).max(axis=1)
        how = "closed form max‖a_ij‖"
        reach = self._reach(norms)
        out = {
            "B": Constant(float(norms.max()), "upper", how),
            **common.noise(self._noise),
            **common.additive(norms, self.sigma, how),
            **common.heterogeneity(reach.deviations(), reach.mean_deviation(), "balls around each client's slopes"),
        }
        best = self._best
        if best is not None:
            size = float((np.abs(self.a) @ np.abs(self.x0) + np.abs(self.b)).max())
            start = self.value(self.x0) + (self.n + self.d + 8) * EPS * size
            out |= common.of_start(self.x0, start, best, None)
            out["R"] = Constant(distance(self.x0, best.x), "exact", common.COMPARISON)
        return common.of_alike(self, out)

    def _reach(self, norms: Floats) -> Reach:
        """Bound where the slopes of each client lie."""
        low, high = self.a.min(axis=1), self.a.max(axis=1)
        centre, up = (low + high) / 2.0, 1.0 + (self.d + 8) * EPS
        half = (high - low) / 2.0 + 4.0 * EPS * np.maximum(np.abs(low), np.abs(high))
        radius = np.linalg.norm(self.a - centre[:, None, :], axis=2).max(axis=1) * up + 4.0 * EPS * norms
        return Reach(centre[:, :, None], half, radius, norms)

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        return common.met(
            strongly_convex="maxima of affine functions have no mu; try quadratic or logistic with nu > 0",
            smooth="maxima of affine functions have kinks; try huber or logistic",
            minimiser=self._no_minimiser,
        )

    def _arrays(self) -> dict[str, Any]:
        arrays = {"a": self.a.tolist(), "b": self.b.tolist(), "x0": self.x0.tolist()}
        return arrays | given_minimiser(self.minimiser)


GENERATED = {
    "clients": "number of clients n of a generated problem (default 5)",
    "pieces": "affine pieces m a client (default 4)",
    "dimension": "dimension d of a generated problem (default 3)",
    "spread": "standard deviation of the generated offsets (default 1)",
    "seed": "seed of the generated problem (default 0)",
    **HEAD_OPTIONS,
}
OPTIONS = {
    "a": "n×m×d slopes (JSON); without them the problem is generated",
    "b": "n×m offsets (JSON)",
    "minimiser": "x* to be certified where there are many (default: Clarabel's)",
    **GENERATED,
}


def given_minimiser(x: Floats | None) -> dict[str, Any]:
    """Return the option minimiser, if there is one."""
    return {} if x is None else {"minimiser": x.tolist()}


def read_pieces(options: Options, key: str) -> tuple[Floats, Floats, dict[str, Any]]:
    """Read all that is left of explicit options; the offsets stand under a name of the family's own.

    Returns
    -------
    tuple
        Slopes (n, m, d), offsets (n, m), and what :func:`boundlab.problems.noise.read_head` returns, with a minimiser
        (d,) or None.

    Raises
    ------
    SpecError
        If an option is wrong or the shapes do not fit.
    """
    a, offsets = read_array(options, "a", 3), read_array(options, key, 2)
    check_shape(options, key, offsets, a.shape[:2], "n×m", "a")
    d = a.shape[2]
    minimiser = read_array(options, "minimiser", 1) if options.has("minimiser") else None
    if minimiser is not None and len(minimiser) != d:
        raise SpecError(f"{options.owner}: minimiser has {len(minimiser)} entries, the dimension is {d}")
    return a, offsets, {"minimiser": minimiser, **read_head(options, d)}


def build(options: Options) -> MaxAffine:
    """Make a max-of-affine problem from explicit arrays, or a generated one.

    Raises
    ------
    SpecError
        If an option is wrong or the shapes do not fit.
    """
    if options.has("a") or options.has("b"):
        a, b, rest = read_pieces(options, "b")
        return MaxAffine(a, b, **rest)
    source = {**read_drawn(options, 3), "pieces": options.integer("pieces", 4, minimum=2)}
    n, d, m = source["clients"], source["dimension"], source["pieces"]
    check_size(options, n * m * d, "a")
    head = read_head(options, d)
    streams, clients = Streams(source["seed"]), np.arange(n)
    a = streams.normals(Stream.PARTITION, clients, 0, m * d).reshape(n, m, d)
    a -= a.mean(axis=1, keepdims=True)  # 0 is a convex combination of the slopes: f_i is bounded below
    b = source["spread"] * streams.normals(Stream.PARTITION, clients, 1, m)
    return MaxAffine(a, b, source=source | head_spec(**head), **head)


# Maxima of affine functions with rounded kinks: what interpolates finitely many gradients of a smooth function.
#
# f_i(x) = mu/2·‖x‖² + min_y [max_j (c_ij + a_ij·y) + (L − mu)/2·‖x − y‖²] is L-smooth and mu-strongly convex, and
# every set of points, gradients and values that an L-smooth mu-strongly convex function can have is that of one of
# these (Taylor, Hendrickx and Glineur, Mathematical Programming 2017, Theorem 4 and its proof).

_TINY = 1e-290  # more than what underflow adds to a sum


@final
@dataclass(frozen=True, eq=False)
class SmoothedMaxAffine(ArrayProblem):
    """n functions f_i(x) = mu/2·‖x‖² + min_y [max_j (c_ij + a_ij·y) + (L − mu)/2·‖x − y‖²].

    Parameters
    ----------
    a
        Shape (n, m, d), unit (1, −1).
    c
        Shape (n, m), unit (1, 0).
    L, mu
        Smoothness and strong convexity, 0 ≤ mu < L, unit (1, −2).
    x0
        Shape (d,), unit (0, 1).
    minimiser
        Shape (d,), a point to be certified as x*; None: Clarabel looks for it.
    """

    a: Floats
    c: Floats
    L: float
    mu: float
    x0: Floats
    minimiser: Floats | None = None
    id = "smoothed-max-affine"

    @property
    def _rows(self) -> Floats:
        return self.a

    def _envelope(self, client: int, x: Array) -> tuple[float, Floats]:
        """Return the value and the gradient of the rounded maximum at x."""
        slopes, width = self.a[client], self.L - self.mu
        height, weights = self.c[client] + slopes @ x, self._weights(client, x)
        slope = weights @ slopes
        return float(weights @ height - slope @ slope / (2.0 * width)), slope

    def _weights(self, client: int, x: Array) -> Floats:
        """Return the weights of the inner maximum at x: one answer for the gradient there and for its error."""
        key = x.tobytes()
        if client not in self._last or self._last[client][0] != key:
            slopes = self.a[client]
            self._last[client] = key, maximise(self.c[client] + slopes @ x, slopes, self.L - self.mu)
        return self._last[client][1]

    @cached_property
    def _last(self) -> dict[int, tuple[bytes, Floats]]:
        return {}

    def value(self, x: Array) -> float:
        """Return f(x), unit (1, 0)."""
        return float(np.mean([self.client_value(client, x) for client in range(self.n)]))

    def client_value(self, client: int, x: Array) -> float:
        """Return f_client(x), unit (1, 0)."""
        return self._envelope(client, x)[0] + 0.5 * self.mu * float(x @ x)

    def gradient(self, client: int, x: Array) -> Array:
        """Return ∇f_client(x), shape (d,), unit (1, −1)."""
        return self._envelope(client, x)[1] + self.mu * x

    def client_key(self, client: int) -> bytes:
        """Return the pieces a_i and c_i."""
        return key_of(self.a[client], self.c[client])

    def prox(self, client: int, x: Array, step_size: float) -> Array:
        """Return argmin_z f_client(z) + ‖z − x‖²/(2·step_size), shape (d,), unit (0, 1)."""
        # For weights λ the inner minimum over y and z is closed, and concave in λ.
        slopes, shrink = self.a[client], 1.0 / (1.0 + step_size * self.mu)
        width = 1.0 / (1.0 / (self.L - self.mu) + step_size * shrink)
        weights = maximise(self.c[client] + slopes @ x * shrink, slopes, width)
        out: Array = (x - step_size * (weights @ slopes)) * shrink
        return out

    def _solve(self) -> Optimum:
        given = self.minimiser is not None
        best = self.minimiser if self.minimiser is not None else self._search()
        slope, _ = self._norms(best)
        value = self.value(best)
        away = slope / self.mu if self.mu > 0.0 else None
        how = "the point given, checked" if given else "Clarabel"
        if slope == 0.0:
            away, how = 0.0, f"{how} exactly"
        if away is None:
            # A convex f is at least f(x) − ‖∇f(x)‖·radius within the radius around x.
            radius = 10.0 * (1.0 + float(np.linalg.norm(best)) + distance(self.x0, best))
            gap, how = slope * radius, f"{how}, gradient bound over radius {radius:.3g}"
        else:
            gap = slope * away / 2.0
        steep = float(np.einsum("nmd,nmd->nm", self.a, self.a).max())
        size = float(np.abs(self.c).max() + (np.abs(self.a) @ np.abs(best)).max() + self.mu * (best @ best))
        size += steep / (self.L - self.mu)
        gap += (self.n + self.d + 8) * EPS * size
        check_gap(gap, value, f"problem {self.id}")
        return Optimum(best, value, gap, away, how)

    def _norms(self, x: Array) -> tuple[float, Floats]:
        """Return upper bounds of ‖∇f(x)‖, and of the clients' ‖∇f_i(x)‖, shape (n,); unit (1, −1)."""
        exact = [self._exactly(client, x) for client in range(self.n)]
        known = [entry for entry in exact if entry is not None]
        each = np.array([self._doubted(client, x) if own is None else norm_up(own) for client, own in enumerate(exact)])
        if len(known) < self.n:
            doubt = float(np.mean([self._doubt(client, x) for client in range(self.n)]))
            return clip_up(float(np.linalg.norm(self.full_gradient(x))), self.n + self.d + 4) + doubt, each
        return norm_up([sum(column, Fraction(0)) / self.n for column in zip(*known, strict=True)]), each

    def _exactly(self, client: int, x: Array) -> list[Fraction] | None:
        """Return ∇f_client(x) in rational numbers, or None where the pieces on top are not found."""
        at, width = fractions(x), Fraction(self.L) - Fraction(self.mu)
        slopes = [fractions(row) for row in self.a[client]]
        height = [own + dot(row, at) for own, row in zip(fractions(self.c[client]), slopes, strict=True)]
        weights = self._weights(client, x)
        slope = steepest_mean(height, slopes, width, np.flatnonzero(weights).tolist())
        if slope is None:
            return None
        mu = Fraction(self.mu)
        return [own + mu * entry for own, entry in zip(slope, at, strict=True)]

    def _doubted(self, client: int, x: Array) -> float:
        return clip_up(float(np.linalg.norm(self.gradient(client, x))), self.d + 4) + self._doubt(client, x)

    def _doubt(self, client: int, x: Array) -> float:
        """Bound how far the ∇f_client(x) that floats give is from the true one, unit (1, −1).

        With s(λ) = Σ λ_j·a_j, ‖s(λ*) − s(λ)‖² ≤ width·(λ* − λ)·gain, at most width times what :meth:`_missed` says.
        Pieces that gain less by more than so long a way makes up for have no weight in λ*. If the slopes of the others
        are the corners of a simplex, with τ the smallest singular value of its edges, then ‖s(λ*) − s(λ)‖ is at least
        τ·‖λ* − λ‖, so that it is at most width/τ·‖differences of the others' gains‖.
        """
        slopes, width, weights = self.a[client], self.L - self.mu, self._weights(client, x)
        missed, slack, gain = self._missed(client, x)
        steep, room = float(self._largest[0][client]), self._room(weights)
        off = math.sqrt(2.0 * width * missed)
        rounding = room * (steep + self.mu * float(np.linalg.norm(x)))
        if not off < math.inf:
            return off
        near = gain >= gain.max() - 2.0 * (steep * off / width + slack)
        corners = slopes[near]
        if (weights[~near] > 0.0).any() or not 0 < len(corners) <= self.d + 1:
            return off + rounding
        if len(corners) == 1:
            return rounding
        least = float(np.linalg.svd(corners[1:] - corners[0], compute_uv=False)[-1])
        least -= 16.0 * len(corners) * room * steep
        if not least > 0.0:
            return off + rounding
        uneven = float(np.linalg.norm(gain[near] - gain[near][0])) + 2.0 * len(corners) * slack
        return min(off, width * uneven / least * (1.0 + room)) + rounding

    def _missed(self, client: int, x: Array) -> tuple[float, float, Floats]:
        """Return by how much the inner maximum at x is missed at most, and the pieces' gains, each known up to a slack.

        The inner maximum is concave: other weights give at most what its linearisation at λ promises, the largest of
        the gains minus their mean. Units (1, 0), (1, 0), and (1, 0) of shape (m,).
        """
        slopes, width, weights = self.a[client], self.L - self.mu, self._weights(client, x)
        gain = self.c[client] + slopes @ x - slopes @ (weights @ slopes) / width
        slack = 4.0 * self._room(weights) * self._size(client, x) + _TINY * (1.0 + 1.0 / width)
        return max(float(gain.max() - weights @ gain), 0.0) + slack, slack, gain

    def _room(self, weights: Floats) -> float:
        """Return how far sums over pieces and coordinates, and weights whose sum is not 1, are off, relatively."""
        return (len(weights) + self.d + 8) * EPS + 4.0 * abs(1.0 - float(weights.sum()))

    def _size(self, client: int, x: Array) -> float:
        """Return no less than each term of the inner maximum at x, unit (1, 0)."""
        steep, top = (float(each[client]) for each in self._largest)
        return top + steep * float(np.linalg.norm(x)) + steep * steep / (self.L - self.mu)

    @cached_property
    def _largest(self) -> tuple[Floats, Floats]:
        """The clients' max_j ‖a_ij‖ and max_j |c_ij|, shape (n,) each."""
        return np.linalg.norm(self.a, axis=2).max(axis=1), np.abs(self.c).max(axis=1)

    def rounding(self, x: Floats) -> tuple[float, float]:
        """Return how far rounding and missed maxima may put the value and the gradient off."""
        bend, clients = self.mu * float(x @ x), range(self.n)
        sizes = [self._size(client, x) + bend for client in clients]
        value = [
            sum(self._missed(client, x)[:2]) + (self.n + self.d + 8) * EPS * size
            for client, size in zip(clients, sizes, strict=True)
        ]
        slope = float(self._largest[0].mean()) + self.mu * float(np.linalg.norm(x))
        away = float(np.mean([self._doubt(client, x) for client in clients])) + (self.n + self.d + 8) * EPS * slope
        return clip_up(float(np.mean(value)), self.n + 4), clip_up(away, self.n + 4)

    def step_bounds(self, client: int) -> StepBounds:
        """Return mu and L, and at each point how far the weights that were found are from the best ones."""
        return StepBounds(self.mu, self.L, 0.0, 0.0, doubt=partial(self._doubt, client))

    def _search(self) -> Floats:
        cp = cvxpy()
        n, d = self.n, self.d
        x, y, t = cp.Variable(d), cp.Variable((n, d)), cp.Variable(n)
        rounding = sum(cp.sum_squares(x - y[i]) for i in range(n)) * ((self.L - self.mu) / (2.0 * n))
        rows = [t[i] >= self.a[i] @ y[i] + self.c[i] for i in range(n)]
        goal = cp.sum(t) / n + rounding + 0.5 * self.mu * cp.sum_squares(x)
        if clarabel(cp.Problem(cp.Minimize(goal), rows), (TIGHT, 1e-7), f"problem {self.id}") == "unbounded":
            raise SpecError(f"problem {self.id}: f is unbounded below; 0 must be a mean of combinations of slopes")
        return np.asarray(x.value, dtype=np.float64)

    def _find_constants(self) -> dict[str, Constant]:
        """Return L, and mu or the bounds on gradients, and, where x* is certified, R and F0."""
        norms = np.linalg.norm(self.a, axis=2).max(axis=1) * (1.0 + (self.d + 4) * EPS)
        out = {**common.smoothness(Constant(self.L, "upper", "given")), **common.noise(self._noise)}
        if self.mu > 0.0:
            out["mu"] = Constant(self.mu, "lower", "given")
        else:
            # A rounded maximum has gradients that are means of its slopes.
            how = "closed form max‖a_ij‖"
            out |= {"B": Constant(float(norms.max()), "upper", how), **common.additive(norms, self.sigma, how)}
            means = self.a.mean(axis=(0, 1))
            away = np.linalg.norm(self.a - means, axis=2).max(axis=1) * (1.0 + (self.d + 8) * EPS)
            wide = np.where(self.n > 1, away + away.max(), 0.0)
            out |= common.heterogeneity(wide, float(wide.max()), "distances of the slopes from their mean")
        best = self._best
        if best is not None:
            start = self.value(self.x0)
            size = float(np.abs(self.c).max() + (np.abs(self.a) @ np.abs(self.x0)).max()) + abs(start)
            out |= common.of_start(self.x0, start + (self.n + self.d + 8) * EPS * size, best, None)
            away_by = best.distance or 0.0
            out["R"] = Constant(
                clip_up(distance(self.x0, best.x) + away_by, 2), "upper" if away_by else "exact", best.how
            )
            if self.mu > 0.0:
                out["zeta"] = common.zeta(self._zeta(best), 0.0, "‖∇f_i(x*)‖/mu, and the certified ‖x − x*‖")
        return common.of_alike(self, out)

    def _zeta(self, best: Optimum) -> float:
        norms = self.gradient_norms_at_optimum()
        return 0.0 if norms is None or self.n == 1 else clip_up(float(norms.max()) / self.mu, 4)

    def gradient_norms_at_optimum(self) -> Floats | None:
        """Return upper bounds of ‖∇f_i(x*)‖, shape (n,)."""
        best = self._best
        if best is None or best.distance is None:
            return None
        return np.asarray(self._norms(best.x)[1] + self.L * best.distance)

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        flat = "" if self.mu > 0.0 else "mu = 0; give mu > 0"
        steep = "strongly convex functions have unbounded gradients; mu=0 would fit" if self.mu > 0.0 else ""
        spread = steep if self.n > 1 else ""
        return common.met(strongly_convex=flat, steep=steep, spread=spread, minimiser=self._no_minimiser)

    def _arrays(self) -> dict[str, Any]:
        arrays = {"a": self.a.tolist(), "c": self.c.tolist(), "x0": self.x0.tolist(), "L": self.L, "mu": self.mu}
        return arrays | given_minimiser(self.minimiser)


SMOOTHED_OPTIONS = {
    "a": "n×m×d slopes (JSON); without them the problem is generated",
    "c": "n×m offsets (JSON)",
    "L": "smoothness (default 1)",
    "mu": "strong convexity, < L (default 0)",
    "minimiser": "x*, to be certified (default: Clarabel looks for it)",
    **GENERATED,
}


def build_smoothed(options: Options) -> SmoothedMaxAffine:
    """Make the problem from explicit arrays, or from the pieces of a generated max-affine problem.

    Raises
    ------
    SpecError
        If an option is wrong or the shapes do not fit.
    """
    L = options.number("L", 1.0, above=0.0)
    mu = options.number("mu", 0.0, minimum=0.0)
    if not mu < L:
        raise SpecError(f"{options.owner}: mu must be < L = {L:g}, got {mu:g}")
    if not (options.has("a") or options.has("c")):
        rest = {name: value for name, value in options.values.items() if name not in ("L", "mu")}
        pieces = build(Options(options.owner, rest))
        given: dict[str, Any] = {"x0": pieces.x0, "sigma": pieces.sigma, "direction": pieces.direction}
        return SmoothedMaxAffine(pieces.a, pieces.b, L, mu, source={**pieces.source, "L": L, "mu": mu}, **given)
    a, c, given = read_pieces(options, "c")
    return SmoothedMaxAffine(a, c, L, mu, **given)
