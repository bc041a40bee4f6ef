"""A weighted empirical risk Σ_j ω_j·loss(a_j, y_j; x) + ν/2‖x‖² in float64, and its two derivatives."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boundlab.arithmetic.near import NEAR, Near, norm, sqrt, stacked, strayed
from boundlab.objective import Array, Floats, against_mean
from boundlab.problems import clients
from boundlab.problems.clients import Loss, Targets

if TYPE_CHECKING:
    from boundlab.objective.simple import BoundedSet


_CHUNK = 4096  # rows converted to float64 at a time
_BLOCK = 1 << 22  # entries of a temporary


@dataclass(frozen=True, slots=True)
class Risk:
    """A weighted empirical risk.

    Parameters
    ----------
    loss
        Which loss.
    X
        Shape (S, p).
    y
        Shape (S,).
    mass
        Shape (S,), not negative: ω with its error.
    pull
        Not negative: ν with its error.
    classes
        Number of classes for softmax, else 1; d = p·classes.
    free
        The last so many coordinates, those of an intercept, are not regularised.
    """

    loss: Loss
    X: Array
    y: Targets
    mass: Near
    pull: Near
    classes: int
    free: int = 0

    @property
    def omega(self) -> Floats:
        """Return ω, shape (S,)."""
        return self.mass.value

    @property
    def nu(self) -> float:
        """Return ν."""
        return float(self.pull.value)

    @property
    def ridge(self) -> Any:
        """Return ν of each coordinate, shape (d,), or of all of them."""
        return self.nu * (np.arange(self.d) < self.d - self.free) if self.free else self.nu

    @property
    def d(self) -> int:
        """Return the dimension of x."""
        return int(self.X.shape[1]) * self.classes

    def matrix(self, x: Any) -> Any:
        """Return x with the shape (p,) or (p, classes)."""
        return x if self.classes == 1 else x.reshape(self.X.shape[1], self.classes)

    def _chunks(self) -> Iterator[tuple[slice, Floats]]:
        if self.X.dtype == np.float64:
            yield slice(0, len(self.X)), self.X.astype(np.float64, copy=False)
            return
        for first in range(0, len(self.X), _CHUNK):
            part = slice(first, min(first + _CHUNK, len(self.X)))
            yield part, self.X[part].astype(np.float64)

    def value(self, x: Array) -> float:
        """Return the risk at x, shape (d,), unit (1, 0)."""
        total = 0.5 * float((self.ridge * x) @ x)
        for part, X in self._chunks():
            total += float(self.omega[part] @ clients.values(self.loss, X @ self.matrix(x), self.y[part]))
        return total

    def value_and_gradient(self, x: Array) -> tuple[float, Floats]:
        """Return the risk and a (sub)gradient, shape (d,)."""
        total = 0.5 * float((self.ridge * x) @ x)
        gradient: Floats = np.multiply(self.ridge, x, dtype=np.float64)
        for part, X in self._chunks():
            z = X @ self.matrix(x)
            total += float(self.omega[part] @ clients.values(self.loss, z, self.y[part]))
            gradient += (X.T @ self._scaled(clients.slopes(self.loss, z, self.y[part]), part)).ravel()
        return total, gradient

    def gradient(self, x: Array) -> Floats:
        """Return a (sub)gradient alone, shape (d,), in float64."""
        gradient: Floats = np.multiply(self.ridge, x, dtype=np.float64)
        for part, X in self._chunks():
            slopes = clients.slopes(self.loss, X @ self.matrix(x), self.y[part])
            gradient += (X.T @ self._scaled(slopes, part)).ravel()
        return gradient

    def _scaled(self, out: Array, part: slice) -> Array:
        out *= self.omega[part] if out.ndim == 1 else self.omega[part, None]
        return out

    def weights(self, x: Array) -> Array:
        """Return the losses' second-derivative weights at x, shape (S,) or (S, classes)."""
        parts = [clients.weights(self.loss, X @ self.matrix(x), self.y[part]) for part, X in self._chunks()]
        return np.concatenate(parts)

    def hessian_product(self, weight: Array, v: Array) -> Floats:
        """Return ∇²f·v, shape (d,), for the weights of a point."""
        out: Floats = np.multiply(self.ridge, v, dtype=np.float64)
        for part, X in self._chunks():
            turned = clients.curve(self.loss, weight[part], X @ self.matrix(v))
            out += (X.T @ self._scaled(turned, part)).ravel()
        return out

    def hessian(self, x: Array) -> Floats:
        """Return ∇²f(x), shape (d, d)."""
        p, q = self.X.shape[1], self.classes
        out = np.zeros((self.d, self.d))
        for part, X in self._chunks():
            weight = clients.weights(self.loss, X @ self.matrix(x), self.y[part])
            omega = self.omega[part]
            if q == 1:
                out += X.T @ (X * (omega * weight)[:, None])
                continue
            # Σ_j ω_j(diag(p_j) − p_j p_jᵀ)⊗a_j a_jᵀ in few large products: many small ones wait for threads.
            rows = max(1, _BLOCK // self.d)
            for first in range(0, len(X), rows):
                some = slice(first, first + rows)
                scaled = np.sqrt(omega[some])[:, None] * X[some]
                outer = (scaled[:, :, None] * weight[some][:, None, :]).reshape(len(scaled), self.d)
                out -= outer.T @ outer
            blocks = out.reshape(p, q, p, q)
            for k in range(q):
                blocks[:, k, :, k] += X.T @ (X * (omega * weight[:, k])[:, None])
        out[np.diag_indices(self.d)] += self.ridge
        return out

    def near(self, x: Array) -> tuple[Near, Near]:
        """Return the risk and a (sub)gradient, shape (d,), with their errors."""
        own = Near(x)
        gradient = self.pull * (np.arange(self.d) < self.d - self.free) * own
        value = gradient @ own / 2.0
        for first in range(0, len(self.X), _CHUNK):
            part = slice(first, first + _CHUNK)
            X, y, mass = Near(self.X[part]), self.y[part], self.mass[part]
            z = X @ self.matrix(own)
            value += mass @ clients.values(self.loss, z, y, NEAR)
            slopes = clients.slopes(self.loss, z, y, NEAR)
            gradient += (X.T @ (slopes * (mass if z.ndim == 1 else mass[:, None]))).reshape(-1)
        return value, gradient

    def steepness(self, x: Array) -> float:
        """Return the norm of the gradient, unit (1, −1), from above."""
        return float(norm(self.near(x)[1]).upper)

    def rounding(self, x: Floats) -> tuple[float, float]:
        """Return how far rounding may put the value and the gradient off."""
        value, gradient = self.near(x)
        return float(strayed(self.value(x), value)), float(norm(strayed(self.gradient(x), gradient)).upper)


# Bounds on gradients and on their distance to the mean, from where each client's gradient can be.
#
# sigma_g is sup_w max_i ‖∇f_i(w) − ∇f(w)‖, sigma_g_mean is sup_w √((1/n)Σ_i ‖∇f_i(w) − ∇f(w)‖²).
#
# Of sums of one-dimensional losses they are found coordinate by coordinate: with s_i(x) = w_i·φ'(x − c_i) in one
# coordinate and D_i = s_i − mean_k s_k, what is found are sup_x |D_i(x)| and sup_x mean_i D_i(x)². The coordinates of w
# are free of each other, so the squares of the suprema add up.

Columns = tuple[Floats, Floats]
_ENTRIES = 1 << 22  # of a temporary
_HELD = 1 << 16  # entries that stay in a processor's caches
_RELATIVE, _ABSOLUTE = 1e-4, 1e-7  # how close smooth_columns comes to the supremum
_FAR = 1e9  # from here on ψ is ±1 to the last digit
# max of |ψ''| for ψ(u) = u/√(1 + u²), at |u| = 1/2: 1.5·1.25^−2.5
_BENT = float((1.5 / (1.5625 * sqrt(Near(1.25)))).upper)
_ROUNDS = 60


@dataclass(frozen=True, slots=True)
class Reach:
    """Where the gradients of n clients can be: in balls around centres, block by block and as a whole.

    For all w and each client i: ‖∇f_i(w) − c_i‖ ≤ r_i, and each of its m blocks of coordinates is within h_ik of
    that block of c_i. Blocks are single coordinates, or for softmax the classes' weights of one feature.

    Parameters
    ----------
    centre
        c, shape (n, m, block), unit (1, −1).
    half
        h, shape (n, m).
    radius
        r, shape (n,).
    norms
        Shape (n,): ‖∇f_i(w)‖ is at most this by other means.
    """

    centre: Near
    half: Floats
    radius: Floats
    norms: Floats

    def gradient_norms(self) -> Floats:
        """Return bounds of ‖∇f_i(w)‖, shape (n,), unit (1, −1)."""
        blocks, whole = norm(norm(self.centre) + self.half), norm(self.centre, (1, 2)) + self.radius
        return np.minimum(np.minimum(blocks.upper, whole.upper), self.norms)

    def deviations(self) -> Floats:
        """Return bounds of ‖∇f_i(w) − ∇f(w)‖, shape (n,).

        ∇f_i − ∇f = (1 − 1/n)∇f_i − (1/n)Σ_{k≠i} ∇f_k, so radii add up with these weights.
        """
        blocks = norm(norm(self._away) + against_mean(self.half)).upper
        whole = (norm(self._away, (1, 2)) + against_mean(self.radius)).upper
        return np.minimum(np.minimum(blocks, whole), against_mean(self.gradient_norms()))

    def mean_deviation(self) -> float:
        """Return a bound of √((1/n)Σ_i ‖∇f_i(w) − ∇f(w)‖²), at most the largest of :meth:`deviations`.

        The left side is a seminorm of (∇f_1, …, ∇f_n) that is at most √((1/n)Σ_i ‖∇f_i‖²).
        """
        radius = Near(np.minimum(self.radius, norm(self.half).upper))
        split = root_mean_square(norm(self._away, (1, 2))) + root_mean_square(radius)
        each = (root_mean_square(Near(one)) for one in (self.deviations(), self.gradient_norms()))
        return min(float(one.upper) for one in (split, *each))

    @property
    def _away(self) -> Near:
        """The centres minus their mean."""
        return self.centre - self.centre.mean(0)


def root_mean_square(values: Near) -> Near:
    """Return √(mean of squares)."""
    return sqrt((values * values).mean())


def of_risks(of: Any) -> Reach:
    """Return the reach of w_i·(1/s_i)Σ_j v_j·∇loss_j, the gradients of empirical risks without regulariser.

    The derivative of a loss in its margins stays within rho of a middle m_j whatever the margins are, so with
    c_i = (w_i/s_i)Σ_j v_j·a_j⊗m_j the block of feature k stays within rho·(w_i/s_i)Σ_j v_j|a_jk| of that of c_i, and
    the whole within rho·w_i·√(λ_max(A_iᵀV_iA_i)/s_i). The middle halves what ‖a_j‖ times the largest slope would give.

    Parameters
    ----------
    of
        The :class:`boundlab.problems.linear_model.LinearModel`.
    """
    loss, X, y, classes, sizes = of.loss, of.X, of.y, of.classes, of.sizes
    n, p, centre = len(sizes), int(X.shape[1]), []
    half, norms = np.zeros((n, p)), np.zeros(n)
    for i, size in enumerate(sizes.tolist()):
        rows, own = of.rows(i), of.w[i] / size
        wide = Near(X[rows]) if of.relative is None else Near(X[rows]) * of.hefts[rows, None]
        middle, rho = clients.middles(loss, y[rows], classes)
        each = own * NEAR.absolute(wide).sum(0)
        centre.append(own * (wide.T @ middle))
        half[i], norms[i] = (rho * each).upper, (loss.slope * norm(each)).upper
    spectral = of.w * sqrt(Near(of.top) * of.means(of.hefts) / sizes)
    radius = np.minimum((rho * spectral).upper, norm(half).upper)
    return Reach(stacked(centre), half, radius, np.minimum(norms, (loss.slope * spectral).upper))


def on_set(
    A: Near,
    at: Near,
    steepest: Floats,
    region: "BoundedSet",
) -> Floats:
    """Return bounds of ‖at_i + A_i(x − z)‖ for the points x of a set with the centre z, shape (n,).

    By the triangle inequality, and entry by entry: |Σ_k A_jk(x_k − z_k)| ≤ Σ_k |A_jk|·half_k.

    Parameters
    ----------
    at
        Shape (n, d).
    steepest
        Shape (n,): the spectral norms, from above.
    """
    whole = norm(at) + Near(steepest) * region.radius
    each = norm(NEAR.absolute(at) + NEAR.absolute(A) @ region.half)
    return np.minimum(whole.upper, each.upper)


def piecewise_columns(c: Floats, w: Floats, delta: float | None) -> Columns:
    """Return the suprema for Huber's loss and the absolute value, exact to rounding.

    Between two break points |D_i| and Σ D_i² are convex, beyond the last ones constant, so the suprema are attained
    at break points, from their left or right. (The subgradient 0 at a kink lies in the middle of the two sides,
    so convexity covers it.)

    Parameters
    ----------
    c, w
        Shape (n, d).
    delta
        Huber's width, or None for the absolute value.

    Returns
    -------
    tuple
        sup_x |D_ij(x)|, shape (n, d), and sup_x mean_i D_ij(x)², shape (d,).
    """
    n, d = c.shape
    most, mean = np.zeros((n, d)), np.zeros(d)
    for j in range(d):
        centres, weights = Near(c[:, j]), w[:, j]
        if delta is None:
            breaks = Near(np.concatenate([[-np.inf], np.unique(c[:, j])]))
        else:
            ends = stacked([centres - delta, centres + delta]).reshape(-1)
            breaks = ends[np.unique(ends.value, return_index=True)[1]]
        step = max(1, _HELD // n)
        for first in range(0, len(breaks.value), step):
            points = breaks[first : first + step, None]
            if delta is None:
                slopes = Near(np.where(points.value >= c[:, j], 1.0, -1.0))
            else:
                slopes = NEAR.clip(points - centres, -delta, delta)
            slopes = slopes * weights
            away = NEAR.absolute(slopes - slopes.mean(1)[:, None])
            most[:, j] = np.maximum(most[:, j], away.upper.max(axis=0))
            mean[j] = max(mean[j], (away * away).mean(1).upper.max())
    return most, mean


def smooth_columns(c: Floats, w: Floats, delta: float) -> Columns:
    """Return upper bounds of the suprema for the pseudo-Huber loss, within about 1e-4 of them.

    Branch and bound over intervals. On [a, b] every s_i is increasing, so
    D_i ≤ (1 − 1/n)s_i(b) − (1/n)Σ_{k≠i} s_k(a); and |D_i| ≤ max(|D_i(a)|, |D_i(b)|) + (b − a)²/8·max |D_i''|, the
    error of linear interpolation, with |s_i''| ≤ w_i/delta·max |ψ''|. Intervals whose bound may matter are halved.

    Parameters and result are those of :func:`piecewise_columns`.
    """
    n, d = c.shape
    most, mean = np.zeros((n, d)), np.zeros(d)
    for j in range(d):
        if n > 1 and not ((c[:, j] == c[0, j]).all() and (w[:, j] == w[0, j]).all()):
            most[:, j], mean[j] = _smooth_column(c[:, j], w[:, j], delta)
    return most, mean


def _smooth_column(c: Floats, w: Floats, delta: float) -> tuple[Floats, float]:
    n = len(c)
    sizes = against_mean(w[:, None])[:, 0] * delta
    low, high = float(c.min()), float(c.max())
    inner = np.unique(np.concatenate([c - 2.0 * delta, c, c + 2.0 * delta]))
    ends = np.concatenate([[-np.inf], inner, [np.inf]])
    a, b = ends[:-1], ends[1:]
    best, best_mean = np.zeros(n), 0.0
    upper, upper_mean = np.zeros(n), 0.0
    for turn in range(_ROUNDS + 1):
        bound, left, right = _on_intervals(a, b, c, w, delta)
        best = np.maximum(best, np.maximum(left, right).max(axis=0))
        best_mean = max(best_mean, float((left**2).mean(axis=1).max()), float((right**2).mean(axis=1).max()))
        squares = (Near(bound) ** 2).mean(1).upper
        slack = _ABSOLUTE * sizes
        open_ = (bound > (1.0 + _RELATIVE) * best + slack).any(axis=1)
        open_ |= squares > (1.0 + _RELATIVE) * best_mean + float((slack**2).mean())
        last = turn == _ROUNDS or 2 * int(open_.sum()) * n > _ENTRIES
        done = np.ones(len(a), dtype=bool) if last else ~open_
        if done.any():
            upper = np.maximum(upper, bound[done].max(axis=0))
            upper_mean = max(upper_mean, float(squares[done].max()))
        if done.all():
            break
        a, b = a[open_], b[open_]
        beyond = np.where(np.isinf(a), 2.0 * b - high - delta, 2.0 * a - low + delta)
        middle = np.where(np.isinf(a) | np.isinf(b), beyond, (a + b) / 2.0)
        a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
    return upper, upper_mean


def _on_intervals(a: Floats, b: Floats, c: Floats, w: Floats, delta: float) -> tuple[Floats, Floats, Floats]:
    """Return bounds of |D_i| on m intervals and |D_i| at their ends, shape (m, n) each."""
    n, far = len(c), _FAR * delta + np.abs(c).max()
    lower, upper = (Near(w) * delta * _bounded(Near(np.clip(x, -far, far))[:, None] - c, delta) for x in (a, b))
    left, right = (NEAR.absolute(s - s.mean(1)[:, None]) for s in (lower, upper))
    own = Near(n - 1) / n
    rise = own * upper - (lower.sum(1)[:, None] - lower) / n
    fall = (upper.sum(1)[:, None] - upper) / n - own * lower
    monotone = np.maximum(rise.upper, fall.upper)
    # |ψ''| falls beyond 1/2, so the point of the interval closest to the centre bounds it.
    closest = np.maximum(((Near(a)[:, None] - c) / delta).lower, ((c - Near(b)[:, None]) / delta).lower)
    bend = np.where(closest <= 0.5, _BENT, (3.0 / (Near(np.maximum(closest, 0.5)) ** 2) ** 2).upper)
    closed = np.isfinite(a) & np.isfinite(b)
    width = Near(np.where(closed, b, 0.0)) - np.where(closed, a, 0.0)
    bent = against_mean((Near(w) / delta * bend).upper.T).T
    curved = (Near(np.maximum(left.upper, right.upper)) + (width * width / 8.0)[:, None] * bent).upper
    return np.where(closed[:, None], np.minimum(monotone, curved), monotone), left.lower, right.lower


def _bounded(r: Near, delta: float) -> Near:
    """Return ψ(r/delta) = (r/delta)/√(1 + (r/delta)²)."""
    slant: Near = NEAR.slant(r / delta)
    return r / delta / slant
