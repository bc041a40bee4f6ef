"""Maxima of affine functions with rounded kinks: what interpolates finitely many gradients of a smooth function.

f_i(x) = mu/2·‖x‖² + min_y [max_j (c_ij + a_ij·y) + (L − mu)/2·‖x − y‖²] is L-smooth and mu-strongly convex, and
every set of points, gradients and values that an L-smooth mu-strongly convex function can have is that of one of
these (Taylor, Hendrickx and Glineur, Mathematical Programming 2017, Theorem 4 and its proof).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from boundlab.errors import SpecError
from boundlab.objective import Array, Constant, Floats, Optimum, StepBounds
from boundlab.options import Options
from boundlab.problems import bounds, max_affine
from boundlab.problems.common import (
    EPS,
    clip_up,
    distance,
    key_of,
    norm_up,
)
from boundlab.problems.noise import ArrayProblem
from boundlab.problems.polytope import dot, fractions, maximise, steepest_mean
from boundlab.problems.solvers import TIGHT, check_gap, clarabel, cvxpy

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
        out = {**bounds.smoothness(Constant(self.L, "upper", "given")), **bounds.noise(self._noise)}
        if self.mu > 0.0:
            out["mu"] = Constant(self.mu, "lower", "given")
        else:
            # A rounded maximum has gradients that are means of its slopes.
            how = "closed form max‖a_ij‖"
            out |= {"B": Constant(float(norms.max()), "upper", how), **bounds.additive(norms, self.sigma, how)}
            means = self.a.mean(axis=(0, 1))
            away = np.linalg.norm(self.a - means, axis=2).max(axis=1) * (1.0 + (self.d + 8) * EPS)
            wide = np.where(self.n > 1, away + away.max(), 0.0)
            out |= bounds.heterogeneity(wide, float(wide.max()), "distances of the slopes from their mean")
        best = self._best
        if best is not None:
            start = self.value(self.x0)
            size = float(np.abs(self.c).max() + (np.abs(self.a) @ np.abs(self.x0)).max()) + abs(start)
            out |= bounds.of_start(self.x0, start + (self.n + self.d + 8) * EPS * size, best, None)
            away_by = best.distance or 0.0
            out["R"] = Constant(
                clip_up(distance(self.x0, best.x) + away_by, 2), "upper" if away_by else "exact", best.how
            )
            if self.mu > 0.0:
                out["zeta"] = bounds.zeta(self._zeta(best), 0.0, "‖∇f_i(x*)‖/mu, and the certified ‖x − x*‖")
        return bounds.of_alike(self, out)

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
        return bounds.met(strongly_convex=flat, steep=steep, spread=spread, minimiser=self._no_minimiser)

    def _arrays(self) -> dict[str, Any]:
        arrays = {"a": self.a.tolist(), "c": self.c.tolist(), "x0": self.x0.tolist(), "L": self.L, "mu": self.mu}
        return arrays | max_affine.given_minimiser(self.minimiser)


OPTIONS = {
    "a": "n×m×d slopes (JSON); without them the problem is generated",
    "c": "n×m offsets (JSON)",
    "L": "smoothness (default 1)",
    "mu": "strong convexity, < L (default 0)",
    "minimiser": "x*, to be certified (default: Clarabel looks for it)",
    **max_affine.GENERATED,
}


def build(options: Options) -> SmoothedMaxAffine:
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
        pieces = max_affine.build(Options(options.owner, rest))
        given: dict[str, Any] = {"x0": pieces.x0, "sigma": pieces.sigma, "direction": pieces.direction}
        return SmoothedMaxAffine(pieces.a, pieces.b, L, mu, source={**pieces.source, "L": L, "mu": mu}, **given)
    a, c, given = max_affine.read_pieces(options, "c")
    return SmoothedMaxAffine(a, c, L, mu, **given)
