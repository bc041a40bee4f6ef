"""A weighted empirical risk Σ_j ω_j·loss(a_j, y_j; x) + ν/2‖x‖² in float64, and its two derivatives."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boundlab.objective import EPS, Array, Floats, against_mean
from boundlab.problems import clients
from boundlab.problems.clients import Loss, Targets
from boundlab.problems.common import calm

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
    omega
        Shape (S,), not negative.
    nu
        Not negative.
    classes
        Number of classes for softmax, else 1; d = p·classes.
    free
        The last so many coordinates, those of an intercept, are not regularised.
    """

    loss: Loss
    X: Array
    y: Targets
    omega: Floats
    nu: float
    classes: int
    free: int = 0

    @property
    def ridge(self) -> Any:
        """Return ν of each coordinate, shape (d,), or of all of them."""
        return self.nu * (np.arange(self.d) < self.d - self.free) if self.free else self.nu

    @property
    def d(self) -> int:
        """Return the dimension of x."""
        return int(self.X.shape[1]) * self.classes

    def matrix(self, x: Array) -> Array:
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

    def sizes(self, x: Array) -> tuple[Floats, Floats, Floats]:
        """Return ‖a_j‖, how far rounding moves margins at most, and how steep losses are there at most, each (S,)."""
        norms = np.concatenate([np.linalg.norm(X, axis=1) for _, X in self._chunks()])
        given = 0.0 if self.loss.signed or self.classes > 1 else np.abs(self.y)
        moved = (self.X.shape[1] + 16) * EPS * (norms * float(np.linalg.norm(x)) + given)
        if not self.loss.steep:
            return norms, moved, np.full(len(norms), self.loss.slope)
        slopes = [np.abs(clients.slopes(self.loss, X @ x, self.y[part])) for part, X in self._chunks()]
        return norms, moved, np.concatenate(slopes) + (self.loss.curvature or 0.0) * moved

    def value_rounding(self, x: Array) -> float:
        """Bound the rounding error of the computed value, unit (1, 0).

        The margins' errors act through the largest slope; the losses' own, such as those of logarithms and
        exponentials, are of order 1 however small the loss is.
        """
        norms, moved, steep = self.sizes(x)
        own = 0.0 if self.loss.bending is None else float(self.omega.sum()) * (2.0 * self.classes + 16.0)
        total = (len(norms) + 32.0) * abs(self.value(x)) + own + (self.d + 8.0) * self.nu * float(x @ x)
        return EPS * total + float(self.omega @ (steep * moved))

    def rounding(self, x: Array) -> float:
        """Bound the rounding error of the computed gradient's norm, unit (1, −1)."""
        norms, moved, steep = self.sizes(x)
        # An error of a margin moves the slope by the curvature.
        each = (len(norms) + 16.0) * EPS * steep + (self.loss.curvature or 0.0) * moved
        return float((self.omega * norms) @ each) + 8.0 * EPS * self.nu * float(np.linalg.norm(x))


def largest_eigenvalue(X: Array) -> float:
    """Return λ_max(XᵀX) from above, by the smaller of the two Gram matrices in float64."""
    from scipy.linalg import eigh

    wide = X.astype(np.float64)
    gram = wide @ wide.T if len(wide) < wide.shape[1] else wide.T @ wide
    k = len(gram)
    with calm(k * k):
        top = float(eigh(gram, eigvals_only=True, subset_by_index=[k - 1, k - 1], check_finite=False)[0])
    return top + _rounding(k, max(X.shape), float(np.trace(gram)))


def smallest_eigenvalue(gram: Floats, rows: int) -> float:
    """Return the smallest eigenvalue of a sum of outer products from below, at least 0.

    Parameters
    ----------
    gram
        Shape (k, k): XᵀX as floats give it.
    rows
        How many rows X has.
    """
    from scipy.linalg import eigh

    k = len(gram)
    if rows < k:
        return 0.0
    with calm(k * k):
        low = float(eigh(gram, eigvals_only=True, subset_by_index=[0, 0], check_finite=False)[0])
    return max(low - _rounding(k, rows, float(np.trace(gram))), 0.0)


def _rounding(k: int, rows: int, trace: float) -> float:
    """Bound the rounding of a k×k Gram matrix of so many rows and of its eigenvalues, both relative to the trace."""
    return 4.0 * float(k + rows) * EPS * trace


# Bounds on gradients and on their distance to the mean, from where each client's gradient can be.
#
# sigma_g is sup_w max_i ‖∇f_i(w) − ∇f(w)‖, sigma_g_mean is sup_w √((1/n)Σ_i ‖∇f_i(w) − ∇f(w)‖²).
#
# Of sums of one-dimensional losses they are found coordinate by coordinate: with s_i(x) = w_i·φ'(x − c_i) in one
# coordinate and D_i = s_i − mean_k s_k, what is found are sup_x |D_i(x)| and sup_x mean_i D_i(x)². The coordinates of w
# are free of each other, so the squares of the suprema add up.

Columns = tuple[Floats, Floats]
_ENTRIES = 1 << 22  # of a temporary
_RELATIVE, _ABSOLUTE = 1e-4, 1e-7  # how close smooth_columns comes to the supremum
_BENT = 1.5 * 1.25**-2.5  # max of |ψ''| for ψ(u) = u/√(1 + u²), at |u| = 1/2
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

    centre: Floats
    half: Floats
    radius: Floats
    norms: Floats

    def gradient_norms(self) -> Floats:
        """Return bounds of ‖∇f_i(w)‖, shape (n,), unit (1, −1)."""
        blocks = np.linalg.norm(np.linalg.norm(self.centre, axis=2) + self.half, axis=1)
        whole = np.linalg.norm(self.centre, axis=(1, 2)) + self.radius
        return np.asarray(np.minimum(np.minimum(blocks, whole), self.norms) * self._up)

    def deviations(self) -> Floats:
        """Return bounds of ‖∇f_i(w) − ∇f(w)‖, shape (n,).

        ∇f_i − ∇f = (1 − 1/n)∇f_i − (1/n)Σ_{k≠i} ∇f_k, so radii add up with these weights.
        """
        away, slip = self._away()
        blocks = np.linalg.norm(np.linalg.norm(away, axis=2) + against_mean(self.half), axis=1)
        whole = np.linalg.norm(away, axis=(1, 2)) + against_mean(self.radius)
        return np.asarray(np.minimum(np.minimum(blocks, whole) + slip, against_mean(self.gradient_norms())) * self._up)

    def mean_deviation(self) -> float:
        """Return a bound of √((1/n)Σ_i ‖∇f_i(w) − ∇f(w)‖²), at most the largest of :meth:`deviations`.

        The left side is a seminorm of (∇f_1, …, ∇f_n) that is at most √((1/n)Σ_i ‖∇f_i‖²).
        """
        away, slip = self._away()
        radius = np.minimum(self.radius, np.linalg.norm(self.half, axis=1))
        split = root_mean_square(np.linalg.norm(away, axis=(1, 2))) + root_mean_square(radius) + slip
        return min(
            split * self._up, root_mean_square(self.deviations()), root_mean_square(self.gradient_norms()) * self._up
        )

    def _away(self) -> tuple[Floats, float]:
        """Return the centres minus their mean, and how far rounding moved each of these."""
        n = len(self.centre)
        if n == 1:
            return np.zeros_like(self.centre), 0.0
        slip = (n + 8) * EPS * float(np.linalg.norm(self.centre, axis=(1, 2)).max())
        return self.centre - self.centre.mean(axis=0), slip

    @property
    def _up(self) -> float:
        return 1.0 + 2.0 * (self.centre.size + 16) * EPS


def root_mean_square(values: Floats) -> float:
    """Return √(mean of squares), rounded up."""
    return float(np.sqrt((values**2).mean())) * (1.0 + (values.size + 8) * EPS)


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
    loss, X, y, classes, sizes, factors = of.loss, of.X, of.y, of.classes, of.sizes, of.factors
    n, p = len(sizes), int(X.shape[1])
    centre, half = np.zeros((n, p, classes)), np.zeros((n, p))
    norms = np.zeros(n)
    first = 0
    for i, size in enumerate(sizes.tolist()):
        rows = slice(first, first + size)
        wide = X[rows].astype(np.float64)
        if of.relative is not None:
            wide *= of.hefts[rows, None]
        middle, rho = clients.middles(loss, y[rows], classes)
        centre[i] = (factors[i] / size) * (wide.T @ middle)
        each = (factors[i] / size) * np.abs(wide).sum(axis=0) * (1.0 + (4 * size + 32) * EPS)
        half[i] = rho * each  # the allowance covers the rounding of the centre as well
        norms[i] = loss.slope * float(np.linalg.norm(each))
        first += size
    # The v_j are 1 on average, to rounding.
    mean = 0.0 if of.relative is None else 2.0 * float(sizes.max() + 8) * float(np.finfo(X.dtype).eps)
    spectral = factors * np.sqrt(of.top / sizes) * (1.0 + 16.0 * EPS + mean)
    radius = np.minimum(rho * spectral + float(2 * sizes.max() + 16) * EPS * norms, np.linalg.norm(half, axis=1))
    return Reach(centre, half, radius, np.minimum(norms, loss.slope * spectral))


def on_set(
    A: Floats,
    at: Floats,
    off: Floats,
    steepest: Floats,
    region: "BoundedSet",
) -> Floats:
    """Return bounds of ‖at_i + A_i(x − z)‖ for the points x of a set with the centre z, shape (n,).

    By the triangle inequality, and entry by entry: |Σ_k A_jk(x_k − z_k)| ≤ Σ_k |A_jk|·half_k.

    Parameters
    ----------
    at, off
        Shape (n, d), and how far rounding has put each of its rows off, shape (n,).
    steepest
        Shape (n,): the spectral norms, from above.
    """
    room = 1.0 + (at.shape[1] + 8) * EPS
    whole = np.linalg.norm(at, axis=1) + steepest * region.radius
    each = np.linalg.norm(np.abs(at) + np.abs(A) @ region.half, axis=1)
    return np.asarray((np.minimum(whole, each) + off) * room)


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
    sizes = against_mean(w)
    for j in range(d):
        centres, weights = c[:, j], w[:, j]
        if delta is None:
            points = np.concatenate([[-np.inf], np.unique(centres)])
            bound = (n + 16) * EPS * sizes[:, j]
        else:
            points = np.unique(np.concatenate([centres - delta, centres + delta]))
            # |D_i'| ≤ sizes: what it can gain within the rounding of the break points.
            shift = float(np.abs(centres).max()) + delta
            bound = EPS * sizes[:, j] * (2.0 * shift + (n + 16) * delta)
        step = max(1, _ENTRIES // n)
        squares = 0.0
        for first in range(0, len(points), step):
            r = points[first : first + step, None] - centres
            slopes = np.where(r >= 0.0, 1.0, -1.0) if delta is None else np.clip(r, -delta, delta)
            slopes *= weights
            slopes -= slopes.mean(axis=1, keepdims=True)
            size = np.abs(slopes) + bound
            most[:, j] = np.maximum(most[:, j], size.max(axis=0))
            squares = max(squares, float((size**2).mean(axis=1).max()))
        mean[j] = squares * (1.0 + (n + 8) * EPS)
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
    rounding = (8 * n + 64) * EPS * sizes
    low, high = float(c.min()), float(c.max())
    inner = np.unique(np.concatenate([c - 2.0 * delta, c, c + 2.0 * delta]))
    ends = np.concatenate([[-np.inf], inner, [np.inf]])
    a, b = ends[:-1], ends[1:]
    best, best_mean = np.zeros(n), 0.0
    upper, upper_mean = np.zeros(n), 0.0
    for turn in range(_ROUNDS + 1):
        bound, left, right = _on_intervals(a, b, c, w, delta)
        bound += rounding
        best = np.maximum(best, np.maximum(left, right).max(axis=0))
        best_mean = max(best_mean, float((left**2).mean(axis=1).max()), float((right**2).mean(axis=1).max()))
        squares = (bound**2).mean(axis=1)
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
    return upper, upper_mean * (1.0 + (n + 8) * EPS)


def _on_intervals(a: Floats, b: Floats, c: Floats, w: Floats, delta: float) -> tuple[Floats, Floats, Floats]:
    """Return bounds of |D_i| on m intervals and |D_i| at their ends, shape (m, n) each."""
    n = len(c)
    lower, upper = (w * delta * _bounded(x[:, None] - c, delta) for x in (a, b))
    left, right = (np.abs(s - s.mean(axis=1, keepdims=True)) for s in (lower, upper))
    own = 1.0 - 1.0 / n
    rise = own * upper - (lower.sum(axis=1, keepdims=True) - lower) / n
    fall = (upper.sum(axis=1, keepdims=True) - upper) / n - own * lower
    monotone = np.maximum(rise, fall)
    # |ψ''| falls beyond 1/2, so the point of the interval closest to the centre bounds it.
    near = np.maximum(np.maximum(a[:, None] - c, c - b[:, None]), 0.0) / delta
    bend = np.where(near <= 0.5, _BENT, 3.0 / np.maximum(near, 0.5) ** 4) * (1.0 + 16.0 * EPS)
    closed = np.isfinite(a) & np.isfinite(b)
    width = np.where(closed, b, 0.0) - np.where(closed, a, 0.0)
    curved = np.maximum(left, right) + width[:, None] ** 2 / 8.0 * against_mean((w / delta * bend).T).T
    return np.where(closed[:, None], np.minimum(monotone, curved), monotone), left, right


def _bounded(r: Floats, delta: float) -> Floats:
    """Return ψ(r/delta) = (r/delta)/√(1 + (r/delta)²), ±1 at ±∞."""
    u = np.clip(r / delta, -1e9, 1e9)  # beyond, ψ is ±1 in float64
    return u / np.hypot(1.0, u)
