"""Heterogeneous quadratics: f_i(x) = ½(x − b_i)ᵀA_i(x − b_i) with additive noise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from boundlab.arithmetic.compiled import QUADRATIC, SQUARE, Clients
from boundlab.arithmetic.numbers import Operations
from boundlab.errors import SpecError
from boundlab.objective import EPS, Array, Constant, Floats, GradientsOnSet, Optimum, QuadraticForm
from boundlab.options import Options
from boundlab.problems import common
from boundlab.problems.clients import Matrices
from boundlab.problems.common import check_shape, check_size, clip_up, in_parts, key_of, read_array, read_drawn
from boundlab.problems.noise import HEAD_OPTIONS, InEveryArithmetic, head_spec, read_head
from boundlab.problems.risk import on_set, root_mean_square
from boundlab.randomness import Stream, Streams

if TYPE_CHECKING:
    from boundlab.objective.simple import BoundedSet
    from boundlab.problems.rational import RationalQuadratic

_DOUBLE = np.dtype(np.float64)
_DIFFERENT = "the A_i differ, so ∇f_i − ∇f is unbounded; give every client the same A, or try huber or logistic"
_UNBOUNDED = "the gradient of a quadratic is unbounded; try huber, lad or hinge"


@final
@dataclass(frozen=True, eq=False)
class Quadratic(InEveryArithmetic):
    """n quadratics f_i(x) = ½(x − b_i)ᵀA_i(x − b_i).

    Parameters
    ----------
    A
        Shape (n, d, d), symmetric positive semidefinite, unit (1, −2); their mean is positive definite.
    b
        Shape (n, d), unit (0, 1).
    x0
        Shape (d,), unit (0, 1).

    Raises
    ------
    SpecError
        If a matrix is asymmetric or indefinite, or f has no unique minimiser.
    """

    A: Floats
    b: Floats
    x0: Floats
    id = "quadratic"

    def __post_init__(self) -> None:
        for client, matrix in enumerate(self.A):
            scale = float(np.abs(matrix).max())
            if float(np.abs(matrix - matrix.T).max()) > 1e-12 * scale:
                raise SpecError(f"problem quadratic: A[{client}] is not symmetric")
        low, _ = self._range
        for client, smallest in enumerate(low):
            if smallest < -2.0 * self._slack[client]:
                raise SpecError(
                    f"problem quadratic: A[{client}] is indefinite, with smallest eigenvalue {smallest:.3g}; "
                    "every A_i must be positive semidefinite"
                )
        if self._mean_mu <= 0.0:
            raise SpecError("problem quadratic: the mean of the A_i is singular, so f has no unique minimiser")

    @property
    def _rows(self) -> Floats:
        return self.b

    @cached_property
    def _mean(self) -> Floats:
        mean = self.A.mean(axis=0)
        return np.asarray((mean + mean.T) / 2.0)

    @cached_property
    def _slack(self) -> Floats:
        # Backward error of a symmetric eigensolver: a modest multiple of d·eps·‖A‖ (LAPACK Users' Guide,
        # section 4.7); none is needed for diagonal matrices, whose eigenvalues are read off.
        off = self.A * (1.0 - np.eye(self.d))
        return np.where(np.abs(off).max(axis=(1, 2), initial=0.0) > 0.0, 4.0 * self.d * EPS * self._sizes, 0.0)

    @cached_property
    def _range(self) -> tuple[Floats, Floats]:
        """Eigenvalue ranges, two arrays of shape (n,), before the allowance for rounding."""
        values = np.linalg.eigvalsh((self.A + self.A.transpose(0, 2, 1)) / 2.0)
        diagonal = np.diagonal(self.A, axis1=1, axis2=2)
        exact = self._slack == 0.0
        low = np.where(exact, diagonal.min(axis=1), values[:, 0])
        high = np.where(exact, diagonal.max(axis=1), values[:, -1])
        return low, high

    @cached_property
    def _mean_mu(self) -> float:
        slack = (4.0 * self.d + self.n) * EPS * float(np.linalg.norm(self._mean))
        return float(np.linalg.eigvalsh(self._mean)[0]) - slack

    def functions(self, by: Operations) -> Matrices:
        """Return the functions in an arithmetic."""
        return Matrices(self.A, self.b, by)

    def descend(self, client: int, x: Array, step_size: float) -> None:
        """Do x ← x − step_size·A_i(x − b_i) in place, in one call of BLAS."""
        if x.dtype is not _DOUBLE or not x.flags.c_contiguous:
            super().descend(client, x, step_size)
            return
        gemv, matrices, centres = self._blas
        # y ← alpha·op(A)·x + beta·y with op the transpose (of the transpose), in place of y.
        gemv(-step_size, matrices[client], x - centres[client], 1.0, x, 0, 1, 0, 1, 1, 1)

    @cached_property
    def _blas(self) -> tuple[Callable[..., Any], list[Floats], list[Floats]]:
        """BLAS product, the A_i in the order of columns, as BLAS has them, and the b_i: lists are fast to index."""
        from scipy.linalg import get_blas_funcs

        return get_blas_funcs("gemv", dtype=_DOUBLE), [np.asfortranarray(matrix.T) for matrix in self.A], list(self.b)

    def scaled(self, factors: Sequence[Fraction]) -> "Quadratic":
        """Return the problem with matrices factor_i·A_i."""
        return replace(self, A=self.A * np.array([[[float(factor)]] for factor in factors]), source={})

    def client_key(self, client: int) -> bytes:
        """Return A_i and b_i."""
        return key_of(self.A[client], self.b[client])

    def quadratic(self) -> QuadraticForm:
        """Return A, b and the noise."""
        return QuadraticForm(self.A, self.b, self.sigma, self.direction)

    def rational(self, options: Mapping[str, Any]) -> "RationalQuadratic":
        """Return the same problem in rational numbers."""
        from boundlab.arithmetic.problem import Reader
        from boundlab.problems.rational import RationalQuadratic

        read = Reader(options)
        x0, sigma = read.vector("x0", self.x0), read.one("sigma", self.sigma)
        direction = read.direction(self.direction)
        return RationalQuadratic(read.cube("A", self.A), read.rows("b", self.b), x0, sigma, direction)

    def compiled(self) -> Clients:
        """Return the matrices and the b_i."""
        return self._drawing(Clients(QUADRATIC, SQUARE, 0.0, self._columns, self.b))

    @cached_property
    def _columns(self) -> Floats:
        """The columns of all A_i, one below the other."""
        return np.ascontiguousarray(self.A.transpose(0, 2, 1)).reshape(-1, self.d)

    @cached_property
    def _right(self) -> Floats:
        return np.asarray(np.einsum("nde,ne->d", self.A, self.b) / self.n)

    def full_gradient(self, x: Array) -> Floats:
        """Return mean(A_i)·x − mean(A_i·b_i), shape (d,), unit (1, −1)."""
        return self._mean @ x - self._right

    def gradients_on(self, region: "BoundedSet") -> GradientsOnSet:
        """Return bounds of A_i(x − b_i), and of its distance to the mean, where x is in a bounded set.

        They are attained in one dimension, on a box by diagonal matrices, and on a ball around b_i.
        """
        z, shared = region.centre, np.linalg.norm(self.A, axis=(1, 2))
        at, off = np.einsum("nde,ne->nd", self.A, z - self.b), self._rounding(z)
        uneven = np.linalg.norm(self.A - self.A.transpose(0, 2, 1), axis=(1, 2))
        norms = on_set(self.A, at, off, self._range[1] + self._slack + uneven, region)
        # The differences of A_i and of the gradients at z to their means, and what rounding does to them.
        more = (self.n + 8.0) * EPS
        off = off + off.mean() + more * (np.linalg.norm(at, axis=1) + np.linalg.norm(np.abs(at).mean(axis=0)))
        spread = self.A - self.A.mean(axis=0)
        slack = more * (shared + shared.mean())
        steepest = np.linalg.norm(spread, 2, axis=(1, 2)) * (1.0 + 4.0 * self.d * EPS) + slack
        off = off + slack * max(region.radius, float(np.linalg.norm(region.half)))
        apart = on_set(spread, at - at.mean(axis=0), off, steepest, region)
        return GradientsOnSet(norms, "the largest ‖A_i(x − b_i)‖ there", apart)

    def _rounding(self, x: Array) -> Floats:
        """Bound the rounding error of each ‖A_i(x − b_i)‖, shape (n,)."""
        return np.asarray((self.d + 4.0) * EPS * (self._sizes * np.linalg.norm(np.abs(x) + np.abs(self.b), axis=1)))

    def full_gradients_at(self, X: Array) -> Floats:
        """Return ∇f at each row of X, shape (S, d), unit (1, −1)."""
        return X @ self._mean.T - self._right

    def roundings(self, X: Floats) -> tuple[Floats, Floats]:
        """Return how far rounding may put values and gradients off at each row of X, shape (S,) each."""

        def of(some: Array) -> Floats:
            return np.asarray((self._sizes * np.linalg.norm(some[:, None] - self.b, axis=2) ** 2).mean(axis=1))

        return self._room * in_parts(of, X, self.b.size), self.gradient_roundings(X)

    def gradient_roundings(self, X: Floats) -> Floats:
        """Return how far rounding may put gradients off at each row of X, shape (S,)."""
        mean, far = float(self._sizes.mean()), float((self._sizes * np.linalg.norm(self.b, axis=1)).mean())
        return np.asarray(self._room * (mean * np.linalg.norm(X, axis=1) + far))

    @property
    def _room(self) -> float:
        return (self.n + 2.0 * self.d + 8.0) * EPS

    @cached_property
    def _sizes(self) -> Floats:
        return np.asarray(np.linalg.norm(self.A, axis=(1, 2)))

    def _solve(self) -> Optimum:
        """Solve mean(A_i)·x = mean(A_i·b_i), with its residual certificate."""
        x = np.linalg.solve(self._mean, self._right)
        for _ in range(2):  # iterative refinement
            x = x - np.linalg.solve(self._mean, np.einsum("nde,ne->d", self.A, x - self.b) / self.n)
        residual = float(np.linalg.norm(np.einsum("nde,ne->d", self.A, x - self.b) / self.n))
        residual += float(self._rounding(x).mean()) * (1.0 + self.n * EPS)
        if not np.ptp(self.b, axis=0).any():  # every f_i is least there
            x, residual = self.b[0].astype(np.float64), 0.0
        mu = self._mean_mu
        # Entries of opposite signs cancel in f(x): the error is relative to the norms, not to the value.
        gap = residual**2 / (2.0 * mu) + float(self.roundings(np.asarray(x[None]))[0][0])
        return Optimum(x, self.value(x), gap, residual / mu, "linear solve, ‖∇f‖/mu")

    def gradient_norms_at_optimum(self) -> Floats:
        """Return ‖A_i(x* − b_i)‖ from above, shape (n,), unit (1, −1)."""
        best = self.optimum()
        assert best.distance is not None  # noqa: S101  (a fact of _solve, for the type checker)
        gradients = np.einsum("nde,ne->nd", self.A, best.x - self.b)
        norms = np.linalg.norm(gradients, axis=1) * (1.0 + (self.d + 4) * EPS)
        return np.asarray(norms + (self._range[1] + self._slack) * best.distance + self._rounding(best.x))

    @cached_property
    def _mu(self) -> float:
        return float((self._range[0] - self._slack).min())

    def _find_constants(self) -> dict[str, Constant]:
        """Return L, sigma, R, F0; where every A_i is positive definite mu, zeta; where they are equal sigma_g."""
        exact = not self._slack.any()
        how = "diagonal entries" if exact else "eigenvalues, rounding allowed for"
        best = self.optimum()
        assert best.distance is not None  # noqa: S101
        top = Constant(float((self._range[1] + self._slack).max()), "exact" if exact else "upper", how)
        sizes = np.abs(self.x0 - self.b)
        size = float(np.einsum("nd,nde,ne->", sizes, np.abs(self.A), sizes, optimize=True)) / (2.0 * self.n)
        start = self.value(self.x0) + (self.n + 2 * self.d + 8) * EPS * size
        out = {
            **common.smoothness(top),
            **common.noise(self._noise),
            **common.of_start(self.x0, start, best, 0.0),
        }
        if self._equal:
            out |= self._heterogeneity()
        if self._mu > 0.0:
            out["mu"] = Constant(self._mu, "exact" if exact else "lower", how)
            away = float(np.linalg.norm(best.x - self.b, axis=1).max())
            out["zeta"] = common.zeta(clip_up(away, self.d + 4), best.distance, "closed form max‖x* − b_i‖")
        return common.of_alike(self, out)

    @cached_property
    def _equal(self) -> bool:
        return not np.ptp(self.A, axis=0).any()

    def _heterogeneity(self) -> dict[str, Constant]:
        """Return sigma_g and sigma_g_mean of quadratics with one A: ∇f_i − ∇f = A(mean(b) − b_i) at every x."""
        each = np.zeros(self.n)
        if np.ptp(self.b, axis=0).any():
            mean = self.b.mean(axis=0)
            rounding = (self.d + self.n + 8) * EPS * float(np.linalg.norm(self.A[0]))
            each = np.linalg.norm((mean - self.b) @ self.A[0].T, axis=1) * (1.0 + (self.d + 8) * EPS)
            each += rounding * (np.linalg.norm(self.b, axis=1) + np.linalg.norm(np.abs(self.b).mean(axis=0)))
        return common.heterogeneity(each, root_mean_square(each), "closed form ‖A(mean(b) − b_i)‖, as all A_i are A")

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        singular = "" if self._mu > 0.0 else "some A_i has the eigenvalue 0"
        different = "" if self._equal else _DIFFERENT
        return common.met(strongly_convex=singular, steep=_UNBOUNDED, spread=different)

    def _arrays(self) -> dict[str, Any]:
        return {"A": self.A.tolist(), "b": self.b.tolist()}


OPTIONS = {
    "A": "n×d×d matrices (JSON); without them the problem is generated",
    "b": "n×d minimisers (JSON)",
    "clients": "number of clients n of a generated problem (default 5)",
    "dimension": "dimension d of a generated problem (default 10)",
    "mu": "smallest eigenvalue of the generated A_i (default 1)",
    "L": "largest eigenvalue of the generated A_i (default 10)",
    "spread": "E‖b_i‖ about their mean is close to this (default 1)",
    "seed": "seed of the generated problem (default 0)",
    **HEAD_OPTIONS,
}


def build(options: Options) -> Quadratic:
    """Make a quadratic problem from explicit arrays, or a generated one.

    Raises
    ------
    SpecError
        If an option is wrong, the shapes do not fit, or a matrix is not positive semidefinite.
    """
    if options.has("A") or options.has("b"):
        A, b = read_array(options, "A", 3), read_array(options, "b", 2)
        if A.shape[1] != A.shape[2]:
            raise SpecError(f"{options.owner}: A must be n×d×d, got {'×'.join(map(str, A.shape))}")
        check_shape(options, "b", b, A.shape[:2], "n×d", "A")
        return Quadratic(A, b, **read_head(options, A.shape[1]))
    source = read_drawn(options, 10)
    n, d = source["clients"], source["dimension"]
    mu = options.number("mu", 1.0, above=0.0)
    L = options.number("L", max(10.0, mu), minimum=mu)
    check_size(options, n * d * d, "A")
    head = read_head(options, d)
    A, b = _generate(n, d, mu, L, source["spread"], Streams(source["seed"]))
    return Quadratic(A, b, source={**source, "mu": mu, "L": L, **head_spec(**head)}, **head)


def _generate(n: int, d: int, mu: float, L: float, spread: float, streams: Streams) -> tuple[Floats, Floats]:
    """Random orthogonal bases, log-uniform eigenvalues in [mu, L] with both ends attained."""
    clients = np.arange(n)
    frames = streams.normals(Stream.PARTITION, clients, 0, d * d).reshape(n, d, d)
    basis = np.linalg.qr(frames)[0]
    place = streams.uniforms(Stream.PARTITION, clients, 1, d)
    place[0, 0] = 0.0
    place[-1, -1] = 1.0
    values = mu * (L / mu) ** place
    A = (basis * values[:, None, :]) @ basis.transpose(0, 2, 1)
    b = streams.normals(Stream.PARTITION, clients, 2, d) * spread / np.sqrt(d)
    return (A + A.transpose(0, 2, 1)) / 2.0, b
