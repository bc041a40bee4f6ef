"""Empirical risk of linear models on data split over clients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import CertificateError
from boundlab.objective import Array, Constant, FullGradients, Optimum, Oracle, Problem
from boundlab.problems import bounds, losses, piecewise, smooth
from boundlab.problems import data as datasets
from boundlab.problems.common import EPS, calm, clip_up, distance, key_of
from boundlab.problems.confinement import OfRisk
from boundlab.problems.losses import LOSSES, Loss, LossId, Targets
from boundlab.problems.minibatch import MiniBatch
from boundlab.problems.reach import Reach, of_risks
from boundlab.problems.risk import Risk, largest_eigenvalue
from boundlab.problems.smooth import Solver
from boundlab.randomness import Streams

if TYPE_CHECKING:
    import torch

    from boundlab.tensors import Batched

Weights = Literal["equal", "size", "paper"]
_COMPARISON = "distance to the solver's point; its gap widens the comparison"


@final
@dataclass(frozen=True, eq=False)
class EmpiricalRisk(Problem):
    """f_i = w_i·f̂_i with f̂_i(x) = (1/s_i)·Σ_j loss(a_j, y_j; x) + ν/2‖x‖² over client i's samples.

    Parameters
    ----------
    id
        ``logistic``, ``softmax``, ``hinge`` or ``lad-regression``.
    X
        Shape (S, p), float32 or float64, rows sorted by client.
    y
        Shape (S,): ±1, class numbers or values.
    sizes
        Shape (n,): s_i ≥ 1.
    nu
        ν ≥ 0, unit (1, −2).
    weights
        ``equal``: w_i = 1; ``size``: n·s_i/S; ``paper``: s_i/S.
    batch, replacement
        Mini-batch size b, 0 for full gradients; whether a mini-batch may hold a sample twice.
    x0
        Shape (d,), of X's dtype.
    source, solver
        The options that rebuild the problem; see :func:`boundlab.problems.smooth.solve`.
    multipliers
        One more factor a client of its w_i, or none.
    """

    id: LossId
    X: Array
    y: Targets
    sizes: NDArray[np.int64]
    nu: float
    weights: Weights
    batch: int
    replacement: bool
    x0: Array
    source: Mapping[str, Any] = field(default_factory=dict)
    solver: Solver = "auto"
    multipliers: tuple[float, ...] = ()

    @property
    def n(self) -> int:  # type: ignore[override]
        """Return the number of clients."""
        return len(self.sizes)

    @property
    def d(self) -> int:  # type: ignore[override]
        """Return the dimension: features, times classes for softmax."""
        return int(self.X.shape[1]) * self.classes

    @property
    def dtype(self) -> type[np.floating[Any]]:  # type: ignore[override]
        """Return the iterates' type: that of the features."""
        return self.X.dtype.type

    @property
    def loss(self) -> Loss:
        """Return the loss."""
        return LOSSES[self.id]

    @cached_property
    def classes(self) -> int:
        """Return the number of classes for softmax, else 1."""
        return int(self.y.max()) + 1 if self.id == "softmax" else 1

    def scaled(self, factors: Sequence[Fraction]) -> "EmpiricalRisk":
        """Return the problem with factor_i·w_i in place of w_i."""
        return replace(self, multipliers=tuple(float(factor) for factor in factors))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Return each client's first row, shape (n,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    @cached_property
    def factors(self) -> NDArray[np.float64]:
        """Return the weights w_i of the f̂_i, shape (n,)."""
        shares = self.sizes / float(self.sizes.sum())
        own = {"equal": np.ones(self.n), "size": self.n * shares, "paper": shares}[self.weights]
        return own * np.array(self.multipliers) if self.multipliers else own

    @cached_property
    def total(self) -> Risk:
        """Return f as one weighted risk."""
        omega = np.repeat(self.factors / (self.n * self.sizes), self.sizes)
        return Risk(self.loss, self.X, self.y, omega, self.nu * float(self.factors.mean()), self.classes)

    def part(self, client: int) -> Risk:
        """Return f_client as a weighted risk."""
        rows, size, factor = self._rows(client), int(self.sizes[client]), float(self.factors[client])
        omega = np.full(size, factor / size)
        return Risk(self.loss, self.X[rows], self.y[rows], omega, self.nu * factor, self.classes)

    def _rows(self, client: int) -> slice:
        first = int(self.offsets[client])
        return slice(first, first + int(self.sizes[client]))

    def _matrix(self, x: Array) -> Array:
        return x if self.classes == 1 else x.reshape(-1, self.classes)

    def value(self, x: Array) -> float:
        """Return f(x), unit (1, 0); margins in the type of X, sums in float64."""
        each = losses.values(self.loss, self.X @ self._matrix(x), self.y)
        wide = np.asarray(x, dtype=np.float64)
        return float(self.total.omega @ each) + 0.5 * self.total.nu * float(wide @ wide)

    def client_value(self, client: int, x: Array) -> float:
        """Return f_client(x), unit (1, 0)."""
        return self.part(client).value(np.asarray(x, dtype=np.float64))

    def gradient(self, client: int, x: Array) -> Array:
        """Return a (sub)gradient of f_client, shape (d,), unit (1, −1); 0 is taken at a kink."""
        rows, factor = self._rows(client), float(self.factors[client])
        X = self.X[rows]
        slope = losses.slopes(self.loss, X @ self._matrix(x), self.y[rows])
        slope *= factor / len(X)
        out: Array = (X.T @ slope).reshape(-1)
        if self.nu:
            out += (factor * self.nu) * x
        return out

    def client_key(self, client: int) -> bytes:
        """Return the samples, in their order, and the weight."""
        rows = self._rows(client)
        return key_of(self.X[rows], self.y[rows], self.factors[client : client + 1])

    def near_kink(self, client: int, X: Array, room: float) -> NDArray[np.bool_]:
        """Return where a sample's margin may lie at its kink, shape (S,); nowhere for smooth losses."""
        if self.loss.smooth:
            return np.zeros(len(X), dtype=np.bool_)
        rows = self._rows(client)
        away = losses.from_kink(self.loss, X @ self.X[rows].T, self.y[rows])
        # Margins are rounded, too: by about as much as the points move them.
        return np.asarray((away <= 2.0 * room * np.linalg.norm(self.X[rows], axis=1)).any(axis=1))

    def full_gradient(self, x: Array) -> NDArray[np.float64]:
        """Return a (sub)gradient of f, shape (d,), unit (1, −1), in float64 by one pass over the data."""
        return self.total.gradient(np.asarray(x, dtype=np.float64))

    def oracle(self, streams: Streams) -> Oracle:
        """Return the mini-batch oracle, or exact (sub)gradients where b is 0."""
        if self.batch == 0:
            return FullGradients(self)
        return MiniBatch(
            self.id, self.X, self.y, self.offsets, self.sizes, self.factors, self.nu, self.classes,
            self.batch, self.replacement, streams,
        )  # fmt: skip

    def tensors(self, device: "torch.device", dtype: "torch.dtype") -> "Batched":
        """Return the problem on tensors."""
        from boundlab.problems.batched import BatchedRisk

        return BatchedRisk(self.total, self.sizes, self.factors, self.nu, self.batch, self.replacement, device, dtype)

    def confinement(self) -> OfRisk:
        """Return what no mini-batch changes: see :mod:`boundlab.problems.confinement`."""
        norm, factor = float(self._row_norms.max()), float(self.factors.max())
        data = self.loss, self.X, self.y, norm, factor, self.nu, self.classes, self.x0
        return OfRisk(*data, solved=lambda: self._optimum.x)

    @property
    def _what(self) -> str:
        return f"problem {self.id}"

    @cached_property
    def _attempt(self) -> Optimum | CertificateError:
        """The optimum, or why there is none: smooth losses without regulariser need not have a minimiser.

        All others have one; there a missing certificate is an error like any other.
        """
        try:
            return self._solve()
        except CertificateError as error:
            if self.nu > 0.0 or not self.loss.smooth:
                raise
            return error.with_traceback(None)

    @property
    def _optimum(self) -> Optimum:
        if isinstance(self._attempt, Optimum):
            return self._attempt
        raise CertificateError(str(self._attempt))

    def _solve(self) -> Optimum:
        with calm(len(self.X) * self.d):
            if self.loss.smooth:
                return smooth.solve(self.total, self.solver, self._what)
            start = np.asarray(self.x0, dtype=np.float64)
            return piecewise.solve(self.total, start, self.solver, self._what)

    def optimum(self) -> Optimum:
        """Return x* and f* with their certificate."""
        return self._optimum

    @cached_property
    def _smoothness(self) -> NDArray[np.float64]:
        """L_i = w_i·(c·λ_max(A_iᵀA_i/s_i) + ν), shape (n,)."""
        curvature = (self.loss.curvature or 0.0) * self._top / self.sizes
        out: NDArray[np.float64] = self.factors * (curvature + self.nu) * (1.0 + 8.0 * EPS)
        return out

    @cached_property
    def _top(self) -> NDArray[np.float64]:
        """λ_max(A_iᵀA_i), shape (n,)."""
        return np.array([largest_eigenvalue(self.X[self._rows(i)]) for i in range(self.n)])

    @cached_property
    def _reach(self) -> Reach:
        """Where the clients' gradients, without regulariser, can be."""
        return of_risks(self.loss, self.X, self.y, self.sizes, self.factors, self.classes, self._top)

    @cached_property
    def _row_norms(self) -> NDArray[np.float64]:
        squares = np.einsum("sp,sp->s", self.X, self.X, dtype=np.float64)
        out: NDArray[np.float64] = np.sqrt(squares) * (1.0 + (self.X.shape[1] + 4) * EPS)
        return out

    def _means(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        out: NDArray[np.float64] = np.add.reduceat(values, self.offsets) / self.sizes
        return out

    @cached_property
    def _second(self) -> NDArray[np.float64]:
        """Bounds of the mean squared gradient of a single sample's loss, shape (n,)."""
        return self.loss.slope**2 * self._means(self._row_norms**2)

    @cached_property
    def _share(self) -> NDArray[np.float64]:
        """Variance of a mini-batch's mean, as a share of that of a single sample, shape (n,)."""
        if self.batch == 0:
            return np.zeros(self.n)
        if self.replacement:
            return np.full(self.n, 1.0 / self.batch)
        b = np.minimum(self.batch, self.sizes)
        out: NDArray[np.float64] = (self.sizes - b) / (b * np.maximum(self.sizes - 1.0, 1.0))
        return out

    @cached_property
    def _sigma(self) -> Constant:
        if self.batch == 0:
            return Constant(0.0, "exact", "full gradients")
        value = float((self.factors * np.sqrt(self._second * self._share)).max())
        slope = "√2" if self.id == "softmax" else "1"
        kind = "with" if self.replacement else "without"
        return Constant(clip_up(value, 16), "upper", f"second moment, |loss'| ≤ {slope}, {kind} replacement")

    @cached_property
    def _gradient_norms(self) -> NDArray[np.float64]:
        best = self._optimum
        norms = []
        for client in range(self.n):
            part = self.part(client)
            _, gradient = part.value_and_gradient(best.x)
            norms.append(float(np.linalg.norm(gradient)) + part.rounding(best.x))
        out: NDArray[np.float64] = np.asarray(norms) + self._smoothness * (best.distance or 0.0)
        return out

    def gradient_norms_at_optimum(self) -> NDArray[np.float64] | None:
        """Return ‖∇f_i(x*)‖ from above, shape (n,), unit (1, −1); None where not smooth."""
        return self._gradient_norms if self.loss.smooth and isinstance(self._attempt, Optimum) else None

    @cached_property
    def minimisers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return points near the n local minimisers, shape (n, d), and bounds ‖∇f_i‖/μ_i on how near, (n,)."""
        order = np.argsort(-self._gradient_norms).tolist()
        return smooth.local_minimisers(self.part, order, np.asarray(self._optimum.x, dtype=np.float64))

    @cached_property
    def _zeta(self) -> Constant:
        points, errors = self.minimisers
        best = self._optimum
        away = np.linalg.norm(points - best.x, axis=1) * (1.0 + (self.d + 4) * EPS) + errors
        return Constant(float(away.max()) + (best.distance or 0.0), "upper", "n local minimisers, ‖∇f_i‖/mu")

    @cached_property
    def _constants(self) -> dict[str, Constant]:
        _ = self._attempt
        # Clients are looked at one by one.
        with calm(int(self.sizes.max()) * self.X.shape[1]):
            return bounds.alike(self, self._find_constants())

    def _find_constants(self) -> dict[str, Constant]:
        best = self._attempt if isinstance(self._attempt, Optimum) else None
        out = bounds.noise(self._sigma)
        if self.loss.smooth:
            how = f"{'¼' if self.id == 'logistic' else '½'}·λ_max(A_iᵀA_i/s_i) + nu"
            out |= bounds.smoothness(Constant(float(self._smoothness.max()), "upper", how))
        if self.nu > 0.0:
            out["mu"] = Constant(self.nu * float(self.factors.min()) * (1.0 - 4 * EPS), "lower", "nu·min w_i")
            if self.loss.smooth:
                out["zeta"] = self._zeta
        else:
            steep = float((self.factors * self.loss.slope * self._means(self._row_norms)).max())
            out["B"] = Constant(clip_up(steep, 16), "upper", "mean ‖a‖ times the largest |loss'|")
            norms = self._reach.gradient_norms()
            # E‖g‖² = ‖∇f_i‖² + share·(mean_j ‖∇loss_j‖² − ‖∇f_i‖²), with and without replacement.
            second = (1.0 - self._share) * norms**2 + self._share * self.factors**2 * self._second
            out |= bounds.gradients(norms, second * (1.0 + 16 * EPS), "range of the slopes, feature by feature")
        if self._cancels:
            how = "range of the slopes, feature by feature"
            out |= bounds.heterogeneity(self._reach.deviations(), self._reach.mean_deviation(), how)
        out |= bounds.start_gap(self._start_value(), best, 0.0)
        if best is None:
            return out
        start = distance(self.x0, best.x)
        if best.distance is None:
            out["R"] = Constant(start, "exact", _COMPARISON)
        else:
            out["R"] = Constant(start + best.distance, "upper", best.how)
        return out

    @property
    def _cancels(self) -> bool:
        """Whether the regulariser has the same gradient for all clients, so that ∇f_i − ∇f is free of it."""
        return self.nu == 0.0 or not np.ptp(self.factors)

    def _start_value(self) -> float:
        """Return f(x0), rounded up."""
        x = np.asarray(self.x0, dtype=np.float64)
        value = self.total.value(x)
        margins = self.loss.slope * float(self.total.omega @ self._row_norms) * float(np.linalg.norm(x))
        return float(value + EPS * ((len(self.X) + 32) * (value + 1.0) + (self.X.shape[1] + 16) * margins))

    def constants(self) -> Mapping[str, Constant]:
        """Return sigma and F0; with ν > 0 mu, with ν = 0 B and G; for smooth losses L, with ν > 0 also zeta.

        R where x* is certified; sigma_g with ν = 0, or where all clients have the same weight.
        """
        return self._constants

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        kink = f"{self.id} has a kink; try logistic or softmax"
        unbounded = "the regulariser's gradient is unbounded; set nu=0" if self.nu > 0.0 else ""
        differ = "clients of different weight pull differently by the regulariser; set nu=0 or weights=equal"
        # Only here may there be no minimiser; in all other cases nothing needs to be solved for the answer.
        sought = self.loss.smooth and self.nu == 0.0 and not isinstance(self._attempt, Optimum)
        return {
            "convex": "",
            "strongly-convex": "" if self.nu > 0.0 else "without regulariser it has no mu; set nu > 0",
            "smooth": "" if self.loss.smooth else kink,
            "lipschitz": unbounded,
            **dict.fromkeys(bounds.ALWAYS_BOUNDED, ""),
            "bounded-gradients": unbounded,
            "bounded-second-moment": unbounded,
            "bounded-heterogeneity": "" if self._cancels else differ,
            "minimiser": str(self._attempt).removeprefix(f"{self._what}: ") if sought else "",
        }

    def files(self) -> tuple[Path, ...]:
        """Return the files of the data."""
        return datasets.files_of(str(self.source.get("data", "")))

    def spec(self) -> dict[str, Any]:
        """Return the options that rebuild this problem."""
        return {"type": self.id, **self.source}
