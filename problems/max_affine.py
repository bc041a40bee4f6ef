"""Maxima of affine functions: f_i(x) = max_j (a_ij·x + b_ij)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.numbers import Operations
from boundlab.errors import SpecError
from boundlab.objective import Array, Constant, Floats, Optimum, StepBounds
from boundlab.options import Options
from boundlab.problems import bounds
from boundlab.problems.clients import Pieces
from boundlab.problems.common import EPS, check_shape, check_size, distance, key_of, norms_up, read_array, read_drawn
from boundlab.problems.heterogeneity import Reach
from boundlab.problems.noise import HEAD_OPTIONS, InEveryArithmetic, head_spec, read_head
from boundlab.problems.solvers import TIGHT, check_gap, clarabel, cvxpy, repair
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
            **bounds.noise(self._noise),
            **bounds.additive(norms, self.sigma, how),
            **bounds.heterogeneity(reach.deviations(), reach.mean_deviation(), "balls around each client's slopes"),
        }
        best = self._best
        if best is not None:
            size = float((np.abs(self.a) @ np.abs(self.x0) + np.abs(self.b)).max())
            start = self.value(self.x0) + (self.n + self.d + 8) * EPS * size
            out |= bounds.of_start(self.x0, start, best, None)
            out["R"] = Constant(distance(self.x0, best.x), "exact", bounds.COMPARISON)
        return bounds.of_alike(self, out)

    def _reach(self, norms: Floats) -> Reach:
        """Bound where the slopes of each client lie."""
        low, high = self.a.min(axis=1), self.a.max(axis=1)
        centre, up = (low + high) / 2.0, 1.0 + (self.d + 8) * EPS
        half = (high - low) / 2.0 + 4.0 * EPS * np.maximum(np.abs(low), np.abs(high))
        radius = np.linalg.norm(self.a - centre[:, None, :], axis=2).max(axis=1) * up + 4.0 * EPS * norms
        return Reach(centre[:, :, None], half, radius, norms)

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        return bounds.met(
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
