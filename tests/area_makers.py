"""AREA in a few lines of NumPy, with every event and every sign of the noise followed: no engine, no sampling.

Functions in the plane, heterogeneous and not quadratic, whose mean has its minimiser at 0. The noise of a gradient
at z is ±sigma times a unit vector that turns with z.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from boundlab.randomness import Floats


@dataclass(frozen=True)
class Clients:
    """f_i(z) = mu/2·‖z‖² + Σ_j c_ij·h(a_ij·z − o_ij) − t_i·z with h = |·| (bend 0) or huber; 0 minimises their mean.

    ``a`` has shape (n, j, 2), ``c`` and ``o`` (n, j), ``tilt`` (n, 2). ``L`` is inf for kinks, ``B`` inf where mu > 0.
    """

    a: Floats
    c: Floats
    o: Floats
    tilt: Floats
    bend: float
    mu: float = 0.0
    L: float = np.inf
    B: float = np.inf
    sigma: float = 0.0

    @property
    def n(self) -> int:
        return len(self.a)

    def value(self, i: int, z: Floats) -> Floats:
        """Return f_i, shape (...), at z, shape (..., 2)."""
        u = z @ self.a[i].T - self.o[i]
        size = np.abs(u)
        h = size if not self.bend else np.where(size <= self.bend, u * u / (2 * self.bend), size - self.bend / 2)
        return np.asarray(h @ self.c[i] - z @ self.tilt[i] + self.mu / 2 * (z * z).sum(-1))

    def slope(self, i: int, z: Floats) -> Floats:
        """Return the gradient, or a subgradient, same shape as z."""
        u = z @ self.a[i].T - self.o[i]
        dh = np.sign(u) if not self.bend else np.clip(u / self.bend, -1.0, 1.0)
        return np.asarray((self.c[i] * dh) @ self.a[i] - self.tilt[i] + self.mu * z)

    def mean_value(self, z: Floats) -> Floats:
        return np.mean([self.value(i, z) for i in range(self.n)], axis=0)

    def noise(self, z: Floats) -> Floats:
        """Return the noise of sign +, same shape as z."""
        angle = 1.7 * z[..., 0] - 0.9 * z[..., 1]
        return self.sigma * np.stack([np.cos(angle), np.sin(angle)], axis=-1)

    def zeta(self) -> float:
        """Return the largest ‖u_i*‖: the contraction of gradient steps is followed to its fixed point."""
        points = np.zeros((self.n, 2))
        for i in range(self.n):
            for _ in range(300):
                points[i] -= 2 / (self.mu + self.L) * self.slope(i, points[i])
        return float(squares(points).max()) ** 0.5


def squares(z: Floats) -> Floats:
    return np.asarray((z * z).sum(axis=-1))


def norms(z: Floats) -> Floats:
    return np.asarray(np.sqrt(squares(z)))


def _tilts(rng: np.random.Generator, n: int, size: float) -> Floats:
    t = size * rng.normal(size=(n, 2))
    return np.asarray(t - t.mean(axis=0))


def lipschitz(rng: np.random.Generator, n: int, sigma: float, *, kinks: bool) -> Clients:
    """Return convex functions with subgradients of norm at most B: absolute values, or Huber's function."""
    a, c = rng.normal(size=(n, 3, 2)), rng.uniform(0.1, 1.0, size=(n, 3))
    tilt = _tilts(rng, n, 0.5)
    B = float(((c * norms(a)).sum(axis=1) + norms(tilt)).max())
    return Clients(a, c, np.zeros((n, 3)), tilt, 0.0 if kinks else 0.5, B=B, sigma=sigma)


def strongly_convex(rng: np.random.Generator, n: int, sigma: float, mu: float = 0.2, L: float = 1.0) -> Clients:
    """Return mu-strongly convex functions with L-Lipschitz gradients that bend in two perpendicular directions."""
    angle = rng.uniform(0, 2 * np.pi, size=n)
    a = np.stack([np.stack([np.cos(angle), np.sin(angle)], -1), np.stack([-np.sin(angle), np.cos(angle)], -1)], 1)
    bend = 0.4
    c, o = bend * (L - mu) * rng.uniform(0.3, 1.0, size=(n, 2)), rng.normal(size=(n, 2))
    flat = Clients(a, c, o, np.zeros((n, 2)), bend, mu=mu, L=L, sigma=sigma)
    at_zero = np.array([flat.slope(i, np.zeros(2)) for i in range(n)])
    return replace(flat, tilt=at_zero + _tilts(rng, n, 0.7))


def parabola(mu: float, sigma: float) -> Clients:
    """Return mu/2·‖z‖², for which contraction and recursion are equalities."""
    nothing = np.zeros((1, 1))
    return Clients(np.zeros((1, 1, 2)), nothing, nothing, np.zeros((1, 2)), 1.0, mu=mu, L=mu, sigma=sigma)


def passes(f: Clients, i: int, x: Floats, step: float, M: int) -> list[Floats]:
    """Return z^0 … z^M for every sign of the noise, shapes (R, 2^m, 2), from x, shape (R, 2)."""
    path = [x[:, None, :]]
    for _ in range(M):
        z = path[-1]
        mean, noise = z - step * f.slope(i, z), step * f.noise(z)
        path.append(np.concatenate([mean - noise, mean + noise], axis=1))
    return path


def without_noise(f: Clients, i: int, step: float, M: int) -> Floats:
    """Return ẑ^0 … ẑ^M from x* = 0, shape (M + 1, 2)."""
    quiet = replace(f, sigma=0.0)
    return np.array([z[0, 0] for z in passes(quiet, i, np.zeros((1, 2)), step, M)])


@dataclass(frozen=True)
class States:
    """All states that AREA can be in: x_s (R, 2), x_i and y_i (R, n, 2), probability (R,), Σ of earlier x_s (R, 2)."""

    server: Floats
    x: Floats
    y: Floats
    probability: Floats
    total: Floats

    def mean(self, values: Floats) -> Floats:
        """Return the expectation of values, shape (R, ...)."""
        return np.asarray(np.tensordot(self.probability, values, axes=1))


def begin(f: Clients, x0: Floats, first_pass: float | None, M: int) -> States:
    """Return the start: all models at x0, or with the step ``first_pass`` one pass of each client from there."""
    state = States(x0[None], np.tile(x0, (1, f.n, 1)), np.tile(x0, (1, f.n, 1)), np.ones(1), np.zeros((1, 2)))
    if first_pass is not None:
        for i in range(f.n):
            state = _arrive(f, state, i, first_pass, M, x_only=True)
    return state


def _arrive(f: Clients, state: States, i: int, step: float, M: int, *, x_only: bool = False) -> States:
    ends = passes(f, i, state.server, step, M)[-1]
    times = ends.shape[1]
    server, x, y, total = (np.repeat(part, times, axis=0) for part in (state.server, state.x, state.y, state.total))
    if not x_only:
        y[:, i] = x[:, i]
    x[:, i] = ends.reshape(-1, 2)
    return States(server, x, y, np.repeat(state.probability / times, times), total)


def advance(f: Clients, state: States, p: Sequence[float], step: float, M: int) -> States:
    """Return the states after one more iteration; the server acts with the probability that p leaves."""
    state = replace(state, total=state.total + state.server)
    after = [_arrive(f, state, i, step, M) for i in range(f.n)]
    after.append(replace(state, server=state.y.mean(axis=1)))
    drawn = [share * one.probability for share, one in zip([*p, 1.0 - sum(p)], after, strict=True)]
    server, x, y, total = (
        np.concatenate([getattr(one, name) for one in after]) for name in ("server", "x", "y", "total")
    )
    return States(server, x, y, np.concatenate(drawn), total)
