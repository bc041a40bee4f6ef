"""Heterogeneous quadratics: f_i(x) = ½(x − b_i)ᵀA_i(x − b_i) with additive noise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from boundlab.arithmetic.compiled import QUADRATIC, SQUARE, Clients
from boundlab.arithmetic.near import NEAR, Near, eigenvalues, norm
from boundlab.arithmetic.numbers import Operations
from boundlab.errors import SpecError
from boundlab.objective import (
    Array,
    Constant,
    Floats,
    GradientsOnSet,
    Optimum,
    ProblemType,
    QuadraticForm,
    Sought,
    alike,
)
from boundlab.objective.facts import of_start, radius
from boundlab.options import Options
from boundlab.problems import common
from boundlab.problems.clients import Matrices
from boundlab.problems.common import check_shape, check_size, key_of, read_array, read_drawn
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
        for client, smallest in enumerate(self._curvatures[:, 0].value):
            if smallest < -2.0 * self._curvatures.off[client, 0]:
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
    def _curvatures(self) -> Near:
        """The eigenvalues of the A_i, shape (n, d)."""
        return eigenvalues(Near(self.A, np.abs(self.A - self.A.transpose(0, 2, 1))))

    @cached_property
    def _mean_mu(self) -> float:
        return float(eigenvalues(Near(self.A).mean(0)).lower[0])

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
        at, spread = self.near.gradient(slice(None), Near(region.centre)), Near(self.A) - Near(self.A).mean(0)
        norms = on_set(Near(self.A), at, self._curvatures[:, -1].upper, region)
        apart = on_set(spread, at - at.mean(0), NEAR.absolute(eigenvalues(spread)).upper.max(axis=1), region)
        return GradientsOnSet(norms, "the largest ‖A_i(x − b_i)‖ there", apart)

    def full_gradients_at(self, X: Array) -> Floats:
        """Return ∇f at each row of X, shape (S, d), unit (1, −1)."""
        return X @ self._mean.T - self._right

    def _solve(self) -> Optimum:
        """Solve mean(A_i)·x = mean(A_i·b_i), with its residual certificate."""
        x = np.asarray(np.linalg.solve(self._mean, self._right), dtype=np.float64)
        for _ in range(2):  # iterative refinement
            x -= np.linalg.solve(self._mean, np.einsum("nde,ne->d", self.A, x - self.b) / self.n)
        residual = Near(0.0)
        if not np.ptp(self.b, axis=0).any():  # every f_i is least there
            x = self.b[0].astype(np.float64)
        else:
            residual = Near(norm(self.near.full_gradient(Near(x))).upper)
        gap, away = residual**2 / (2.0 * self._mean_mu) + self.value_rounding(x), residual / self._mean_mu
        return Optimum(x, self.value(x), float(gap.upper), float(away.upper), "linear solve, ‖∇f‖/mu")

    def gradient_norms_at_optimum(self) -> Floats:
        """Return ‖A_i(x* − b_i)‖ from above, shape (n,), unit (1, −1)."""
        best = self.optimum()
        assert best.distance is not None  # noqa: S101  (a fact of _solve, for the type checker)
        there = norm(self.near.gradient(slice(None), Near(best.x)))
        return np.asarray((there + self._curvatures[:, -1].upper * Near(best.distance)).upper)

    @cached_property
    def _mu(self) -> float:
        return float(self._curvatures[:, 0].lower.min())

    def _find_constants(self) -> Sought:
        """Return L, sigma, R, F0; where every A_i is positive definite mu, zeta; where they are equal sigma_g."""
        exact = not self._curvatures.off.any()
        how = "diagonal entries" if exact else "eigenvalues, rounding allowed for"
        top = Constant(float(self._curvatures.upper.max()), "exact" if exact else "upper", how)
        least = {"mu": Constant(self._mu, "exact" if exact else "lower", how)} if self._mu > 0.0 else {}
        return Sought(
            {
                ("L", "L_sq"): lambda: common.smoothness(top),
                ("sigma", "sigma_l"): lambda: common.noise(self._noise),
                ("F0",): lambda: of_start(self.x0, self.near.value(Near(self.x0)), self.optimum(), 0.0, L=top.value),
                ("R",): lambda: {"R": radius(self.x0, self.optimum())},
                ("sigma_g", "sigma_g_mean"): self._heterogeneity,
                ("mu",): lambda: least,
                ("zeta",): self._zeta if least else dict,
            }
        )

    def _zeta(self) -> dict[str, Constant]:
        best = self.optimum()
        away = norm(Near(best.x) - self.b).max()
        return common.of_alike(self, {"zeta": common.zeta(away, best.distance, "closed form max‖x* − b_i‖")})

    @cached_property
    def _equal(self) -> bool:
        return not np.ptp(self.A, axis=0).any()

    def _heterogeneity(self) -> dict[str, Constant]:
        """Return sigma_g and sigma_g_mean of quadratics with one A: ∇f_i − ∇f = A(mean(b) − b_i) at every x."""
        if not self._equal:
            return {}
        if alike(self):
            return dict.fromkeys(("sigma_g", "sigma_g_mean"), common.SAME)
        each = norm((Near(self.b).mean(0) - self.b) @ Near(self.A[0]).T)
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


# The families, with instances of each that tests look at.

FAMILIES: tuple[ProblemType, ...] = (
    ProblemType(
        "quadratic",
        "heterogeneous quadratics with additive Gaussian noise",
        build,
        OPTIONS,
        common.DRAWN,
    ),
)
