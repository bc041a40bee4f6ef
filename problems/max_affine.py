"""Maxima of affine functions: f_i(x) = max_j (a_ij·x + b_ij)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.near import NEAR, Near, distance, norm, norm_up, norms_up, singular, sqrt, stacked, strayed
from boundlab.arithmetic.numbers import Operations
from boundlab.errors import SpecError
from boundlab.objective import EPS, Array, Constant, Floats, Optimum, ProblemType, StepBounds
from boundlab.objective.facts import of_start
from boundlab.options import Options
from boundlab.problems import common
from boundlab.problems.clients import ClientFunctions, Pieces, Which, times
from boundlab.problems.common import (
    check_shape,
    check_size,
    key_of,
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

    @cached_property
    def near(self) -> "Enclosed":
        """Return the functions in floats that carry their error."""
        return Enclosed(self.a, self.b)

    def near_kink(self, client: int, X: Array, room: float) -> NDArray[np.bool_]:
        """Return where another piece may be the highest one, shape (S,)."""
        slopes = self.a[client]
        heights = self.near.heights(client, Near(X))
        apart = norm(slopes[heights.value.argmax(axis=1)][:, None, :] - Near(slopes)).upper
        gap = heights.max(1)[:, None] - heights
        return np.asarray(((gap.lower <= room * apart) & (apart > 0.0)).any(axis=1))

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
        shares = (Near(y) / (n * Near(y).sum(1)[:, None])).reshape(-1)
        rest, radius = rows.T @ shares, 10.0 * (1.0 + float(np.linalg.norm(best)) + distance(self.x0, best))
        lower = shares @ self.b.ravel() + rest @ best - norm(rest) * radius
        off = self.rounding(best)[0]
        gap = float((Near(NEAR.positive(self.near.value(Near(best)) - lower).upper) + off).upper)
        check_gap(gap, value, "problem max-affine")
        if self.minimiser is not None and self._stationary(best):
            return Optimum(best, value, off, 0.0, "the point given: slopes sum to 0 there, exactly")
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
            out |= of_start(self.x0, self.near.value(Near(self.x0)), best, None)
        return common.of_alike(self, out)

    def _reach(self, norms: Floats) -> Reach:
        """Bound where the slopes of each client lie."""
        low, high = self.a.min(axis=1), self.a.max(axis=1)
        centre, half = (Near(low) + high) / 2.0, ((Near(high) - low) / 2.0).upper
        radius = norm(self.a - centre[:, None, :]).upper.max(axis=1)
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


@final
class Enclosed(ClientFunctions):
    """Maxima of affine functions in floats that carry their error: where several pieces may be on top, all slopes."""

    by = NEAR

    def __init__(self, a: Floats, b: Floats) -> None:
        self.a, self.b, (self.n, m, d) = a, b, a.shape
        self._slopes, self._begin = a.reshape(-1, d), m * np.arange(self.n)

    def heights(self, which: Which, x: Near) -> Near:
        """Return the heights of all pieces, shape (…, m)."""
        raised: Near = times(Near(self.a[which]), x) + self.b[which]
        return raised

    def gradient(self, which: Which, x: Near) -> Near:
        """Return the slopes."""
        heights = self.heights(which, x)
        chosen = self._slopes[self._begin[which] + heights.value.argmax(-1)]
        maybe = heights.upper >= heights.lower.max(-1)[..., None]
        return Near(chosen, (maybe[..., None] * np.abs(self.a[which] - chosen[..., None, :])).max(-2))

    def client_value(self, which: Which, x: Near) -> Near:
        """Return the maxima."""
        return self.heights(which, x).max(-1)


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
        best: Floats = self.minimiser if self.minimiser is not None else self._search()
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
        gap += self.rounding(best)[0]
        check_gap(gap, value, f"problem {self.id}")
        return Optimum(best, value, gap, away, how)

    def _norms(self, x: Array) -> tuple[float, Floats]:
        """Return upper bounds of ‖∇f(x)‖, and of the clients' ‖∇f_i(x)‖, shape (n,); unit (1, −1)."""
        exact = [self._exactly(client, x) for client in range(self.n)]
        known = [entry for entry in exact if entry is not None]
        each = np.array([self._doubted(client, x) if own is None else norm_up(own) for client, own in enumerate(exact)])
        if len(known) < self.n:
            return float((norm(self.full_gradient(x)) + self.rounding(np.asarray(x, np.float64))[1]).upper), each
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
        return float((norm(self.gradient(client, x)) + self._doubt(client, x)).upper)

    def _doubt(self, client: int, x: Array) -> float:
        """Bound how far the ∇f_client(x) that floats give is from the true one, unit (1, −1).

        With s(λ) = Σ λ_j·a_j, ‖s(λ*) − s(λ)‖² ≤ width·(λ* − λ)·gain, at most width times what :meth:`_inner` says.
        Pieces that gain less by more than so long a way makes up for have no weight in λ*. If the slopes of the others
        are the corners of a simplex, with τ the smallest singular value of its edges, then ‖s(λ*) − s(λ)‖ is at least
        τ·‖λ* − λ‖, so that it is at most width/τ·‖differences of the others' gains‖.
        """
        slopes, width, weights = self.a[client], Near(self.L) - self.mu, self._weights(client, x)
        _, slope, gain, missed = self._inner(client, x)
        rounding = norm(strayed(self.gradient(client, x), slope + self.mu * Near(x)))
        off = sqrt(2.0 * width * missed)
        if not off.upper < math.inf:
            return float(off.upper)
        reach = 2.0 * (norm(slopes).max() * off / width).upper
        near = gain.upper >= gain.lower.max() - reach
        corners = slopes[near]
        if (weights[~near] > 0.0).any() or not 0 < len(corners) <= self.d + 1:
            return float((off + rounding).upper)
        if len(corners) == 1:
            return float(rounding.upper)
        least = float(singular(Near(corners[1:]) - corners[0])[-1].lower)
        by_gains = width * norm(gain[near] - gain[near][0]) / least if least > 0.0 else off
        return float((min(off, by_gains, key=lambda one: float(one.upper)) + rounding).upper)

    def _inner(self, client: int, x: Array) -> tuple[Near, Near, Near, float]:
        """Return the value and the slope of the inner maximum at x by the weights that were found, and the gains.

        The last number is by how much the maximum is missed at most: it is concave, so that other weights give at most
        what its linearisation at λ promises, the largest of the gains minus their mean. Units (1, 0), (1, −1) of shape
        (d,), (1, 0) of shape (m,), (1, 0).
        """
        slopes, width, weights = Near(self.a[client]), Near(self.L) - self.mu, Near(self._weights(client, x))
        weights = weights / weights.sum()
        slope, height = weights @ slopes, self.c[client] + slopes @ x
        gain = height - slopes @ slope / width
        missed = NEAR.positive(gain.max() - weights @ gain)
        return weights @ height - slope @ slope / (2.0 * width), slope, gain, float(missed.upper)

    def rounding(self, x: Floats) -> tuple[float, float]:
        """Return how far rounding and missed maxima may put the value and the gradient off."""
        values, slopes, _, missed = zip(*(self._inner(client, x) for client in range(self.n)), strict=True)
        bent = self.mu * Near(x)
        value, slope = stacked(values).mean() + bent @ x / 2.0, stacked(slopes).mean(0) + bent
        doubts = Near([self._doubt(client, x) for client in range(self.n)]).mean()
        lost = Near(missed).mean() + strayed(self.value(x), value)
        return float(lost.upper), float((norm(strayed(self.full_gradient(x), slope)) + doubts).upper)

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
        norms = norm(self.a).upper.max(axis=1)
        out = {**common.smoothness(Constant(self.L, "upper", "given")), **common.noise(self._noise)}
        if self.mu > 0.0:
            out["mu"] = Constant(self.mu, "lower", "given")
        else:
            # A rounded maximum has gradients that are means of its slopes.
            how = "closed form max‖a_ij‖"
            out |= {"B": Constant(float(norms.max()), "upper", how), **common.additive(norms, self.sigma, how)}
            away = norm(self.a - Near(self.a).mean((0, 1))).upper.max(axis=1)
            wide = (Near(away) + away.max()).upper if self.n > 1 else np.zeros(1)
            out |= common.heterogeneity(wide, float(wide.max()), "distances of the slopes from their mean")
        best = self._best
        if best is not None:
            start = Near(self.value(self.x0), self.rounding(self.x0)[0])
            out |= of_start(self.x0, start, best, None)
            if self.mu > 0.0:
                out["zeta"] = common.zeta(self._zeta(best), 0.0, "‖∇f_i(x*)‖/mu, and the certified ‖x − x*‖")
        return common.of_alike(self, out)

    def _zeta(self, best: Optimum) -> float:
        norms = self.gradient_norms_at_optimum()
        return 0.0 if norms is None or self.n == 1 else float((Near(norms.max()) / self.mu).upper)

    def gradient_norms_at_optimum(self) -> Floats | None:
        """Return upper bounds of ‖∇f_i(x*)‖, shape (n,)."""
        best = self._best
        if best is None or best.distance is None:
            return None
        return np.asarray((self._norms(best.x)[1] + self.L * Near(best.distance)).upper)

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


# The families, with instances of each that tests look at.

_MAXIMA = {
    "a": [[[1.0, 0.0], [-1.0, 0.5], [0.0, -1.0]]] * 2,
    "c": [[0.0, 0.1, 0.2]] * 2,
    "x0": [1.0, 2.0],
    "L": 2.0,
}

FAMILIES: tuple[ProblemType, ...] = (
    ProblemType("max-affine", "maxima of affine functions", build, OPTIONS, common.DRAWN),
    ProblemType(
        "smoothed-max-affine",
        "maxima of affine functions with rounded kinks",
        build_smoothed,
        SMOOTHED_OPTIONS,
        tuple({**_MAXIMA, "mu": mu} for mu in (0.0, 0.25)),
    ),
)
