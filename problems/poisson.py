"""Poisson regression on a bounded set: f̂_i(x) = (1/s_i)·Σ_j [exp(a_jᵀx) − y_j·a_jᵀx] + ν/2‖x‖², y_j ≥ 0.

The derivative of exp is neither bounded nor Lipschitz on R, but on the set the margin a_jᵀx is at most t_j, the support
function of the set at a_j. Beyond t_j the loss goes on as its tangent. That changes nothing on the set, so that
F = f + h is Poisson regression on it, while slopes lie in [−y_j, e^{t_j} − y_j] and curvatures in [0, e^{t_j}] on all
of R^d. So constants are true wherever an algorithm takes its gradients, also where it leaves the set, as
extrapolations and sums of differences do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NoReturn, final

import numpy as np

from boundlab.errors import CertificateError, DataError, SpecError
from boundlab.objective import Array, Constant, Floats
from boundlab.objective.simple import ProxFunction, read_simple
from boundlab.options import Options
from boundlab.problems import bounds
from boundlab.problems.common import EPS, clip_up
from boundlab.problems.erm import BoundedSlopes
from boundlab.problems.heterogeneity import Reach
from boundlab.problems.risk import Risk

_STEEPEST: Final = 60.0  # e^60 = 1e26; beyond, 1/L is no step size
_OUTSIDE = "its minimum is sought on its box or ball; f alone need not have one"


def on_set(options: Options) -> ProxFunction:
    """Return the indicator of the set that the options name.

    Raises
    ------
    SpecError
        If there is none.
    """
    h = read_simple(options)
    if h is None or not h.bounded:
        raise SpecError(
            f"{options.owner} needs box=[low,high] or ball=r: its gradients are Lipschitz on bounded sets alone"
        )
    return h


def pairs(owner: str, X: Array, y: Floats, h: ProxFunction) -> Floats:
    """Return the targets beside the largest margins on the set, shape (S, 2), the latter as numbers of the type of X.

    Raises
    ------
    DataError
        If a target is negative.
    SpecError
        If margins are so large that their exponentials give no step size.
    """
    if y.min() < 0.0:
        raise DataError(f"{owner}: targets must be ≥ 0, got {float(y.min()):g}")
    top = np.nextafter(h.support(X).astype(X.dtype), X.dtype.type(np.inf)).astype(np.float64)
    if top.max() > _STEEPEST:
        raise SpecError(
            f"{owner}: margins reach {float(top.max()):g} in {h.words}, at most {_STEEPEST:g} are taken; "
            "a smaller set, or scale=range, would fit"
        )
    return np.stack([y, top], axis=1)


@final
@dataclass(frozen=True, eq=False)
class PoissonRegression(BoundedSlopes):
    """Exponentials of linear predictions, tangents beyond the margins of a set; ``y`` is what :func:`pairs` gives."""

    @cached_property
    def _rates(self) -> Floats:
        """e^{t_j}, from above: the largest rate that the model predicts for row j on the set, shape (S,)."""
        return np.exp(self.y[:, 1]) * (1.0 + 8.0 * EPS)

    @cached_property
    def _steepest(self) -> Floats:
        """‖∇loss_j‖ from above, shape (S,)."""
        slopes = np.maximum(self.y[:, 0], self._rates - self.y[:, 0])
        return slopes * self.pushes * (1.0 + 4.0 * EPS)

    @cached_property
    def smoothness(self) -> Floats:
        """L_i = w_i·(λ_max(A_iᵀ·diag(v·e^t)·A_i/s_i) + ν), shape (n,)."""
        top = self._largest(self._rates * self.hefts)
        return self.factors * (top / self.sizes + self.nu) * (1.0 + 16.0 * EPS)

    def _of_margins(self, rows: slice) -> tuple[float, float]:
        """Return the largest rate, and the largest slope."""
        return float(self._rates[rows].max()), float((self._rates + self.y[:, 0])[rows].max())

    @cached_property
    def _second(self) -> Floats:
        """Bounds of the mean squared gradient of a single sample's loss, shape (n,)."""
        return self.means(self._steepest**2) * (1.0 + float(self.sizes.max() + 8) * EPS)

    @cached_property
    def _sigma(self) -> Constant:
        return self._second_moment("second moment, largest margins on the set")

    @cached_property
    def _reach(self) -> Reach:
        """Where the clients' gradients, without regulariser, can be: slopes are within e^{t_j}/2 of e^{t_j}/2 − y_j."""
        p = int(self.X.shape[1])
        centre, half, norms = np.zeros((self.n, p, 1)), np.zeros((self.n, p)), np.zeros(self.n)
        radius = 0.5 * self._rates
        for client, size in enumerate(self.sizes.tolist()):
            rows, weight = self.rows(client), float(self.factors[client]) / size
            wide, y = self.X[rows] * self.hefts[rows, None], self.y[rows, 0]
            centre[client, :, 0] = weight * (wide.T @ (radius[rows] - y))
            slip = (4 * size + 32) * EPS  # rounding, of the centre as well
            half[client] = weight * (np.abs(wide).T @ (radius[rows] + slip * (radius[rows] + y))) * (1.0 + slip)
            norms[client] = weight * float(self._steepest[rows].sum()) * (1.0 + slip)
        return Reach(centre, half, np.linalg.norm(half, axis=1) * (1.0 + (p + 8) * EPS), norms)

    def _rounding(self, risk: Risk, x: Floats) -> tuple[float, float]:
        """Bound what rounding does to the value and to the gradient.

        A margin's error moves the loss by its slope, and its slope by the rate, both taken a little further on.
        """
        (S, p), size, (counts, top) = risk.X.shape, float(np.linalg.norm(x)), risk.y.T
        z, norms = risk.X @ x, np.linalg.norm(risk.X, axis=1) * (1.0 + (p + 4) * EPS)
        rate = np.exp(np.minimum(z, top)) * (1.0 + np.maximum(z - top, 0.0))
        off = (p + 16) * EPS * norms * size
        ahead = rate * np.exp(off)
        terms = ahead + counts * (np.abs(z) + 1.0)
        value = float(risk.omega @ ((ahead + counts) * off + (S + 48) * EPS * terms))
        slopes = ahead * off + (S + 32) * EPS * (ahead + counts)
        gradient = float(risk.omega @ (norms * slopes))
        nu = risk.nu * size
        return value + (self.d + 16) * EPS * nu * size, gradient + 8.0 * EPS * nu

    def _solve(self) -> NoReturn:
        """Refuse: the minimiser is that of F = f + h."""
        raise CertificateError(f"{self._what}: {_OUTSIDE}")

    def _find_constants(self) -> dict[str, Constant]:
        """Return L and sigma; with ν > 0 mu, with ν = 0 B and G; sigma_g with ν = 0, or with equal weights."""
        how = "λ_max(A_iᵀ·diag(e^t)·A_i/s_i) + nu with the largest margins t on the set"
        out = bounds.noise(self._sigma)
        out |= bounds.smoothness(Constant(float(self.smoothness.max()), "upper", how))
        how = "range of the slopes on the set, feature by feature"
        if self.nu == 0.0:
            out["B"] = Constant(clip_up(float(self._reach.gradient_norms().max()), 4), "upper", how)
        return out | self._of_slopes(how)

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        return bounds.met(**self._of_regulariser, minimiser=_OUTSIDE) | {"sampled-functions": _OUTSIDE}
