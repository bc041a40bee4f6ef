"""How far client gradients differ from their mean, for sums of one-dimensional losses: coordinate by coordinate.

With s_i(x) = w_i·φ'(x − c_i) in one coordinate and D_i = s_i − mean_k s_k: what is found are sup_x |D_i(x)| and
sup_x mean_i D_i(x)². The coordinates of w are free of each other, so the squares of the suprema add up.
"""

import numpy as np
from numpy.typing import NDArray

from boundlab.problems.common import EPS
from boundlab.problems.reach import against_mean

Floats = NDArray[np.float64]
Columns = tuple[Floats, Floats]
_ENTRIES = 1 << 22  # of a temporary
_RELATIVE, _ABSOLUTE = 1e-4, 1e-7  # how close smooth_columns comes to the supremum
_BENT = 1.5 * 1.25**-2.5  # max of |ψ''| for ψ(u) = u/√(1 + u²), at |u| = 1/2
_ROUNDS = 60


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
    out: Floats = u / np.hypot(1.0, u)
    return out
