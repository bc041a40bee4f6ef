"""Losses of linear models: values, slopes and curvatures as functions of the margins z = ⟨a, x⟩.

Margins have shape (s,), for ``softmax`` (s, classes). Targets are ±1 (logistic, hinge), class numbers (softmax), real
numbers (lad-regression, least-squares), or pairs (poisson): a number y ≥ 0, and the margin beyond which eᶻ − y·z goes
on as its tangent. The iterate is x, shape (p,), or the flattened p×classes matrix.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.compiled import POISSON, SOFTMAX
from boundlab.arithmetic.numbers import FLOATS, Numbers, Operations
from boundlab.objective import Array, Floats
from boundlab.problems.clients import AbsoluteLoss, HingeLoss, LogisticLoss, ScalarLoss, SquareLoss
from boundlab.problems.common import EPS

LossId = Literal["logistic", "softmax", "hinge", "lad-regression", "least-squares", "poisson"]
Targets = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Loss:
    """Facts about a loss that yield the constants.

    Parameters
    ----------
    id
        Its name.
    curvature
        The largest eigenvalue of the second derivative in z, or None where there is a kink.
        softmax: λ_max(diag(p) − ppᵀ) ≤ 1/2. Infinite for poisson: each row has its own.
    slope
        The largest norm of the derivative in z; infinite for least squares and poisson. softmax: ‖p − e_y‖² ≤ 2.
    of
        The function of one number that it is, of y·z where it is ``signed``, else of z − y; None: it is none.
    """

    id: LossId
    curvature: float | None
    slope: float
    of: ScalarLoss | None = None
    signed: bool = False

    @property
    def number(self) -> int:
        """Return which one it is in compiled loops."""
        return (SOFTMAX if self.id == "softmax" else POISSON) if self.of is None else self.of.number

    @property
    def smooth(self) -> bool:
        """Return whether the loss has a Lipschitz derivative."""
        return self.curvature is not None


def _of(name: LossId, one: ScalarLoss, *, signed: bool) -> Loss:
    return Loss(name, one.curvature, one.steepest, one, signed)


LOSSES: dict[str, Loss] = {
    "logistic": _of("logistic", LogisticLoss(), signed=True),
    "softmax": Loss("softmax", 0.5, float(np.sqrt(2.0))),
    "hinge": _of("hinge", HingeLoss(), signed=True),
    "lad-regression": _of("lad-regression", AbsoluteLoss(), signed=False),
    "least-squares": _of("least-squares", SquareLoss(steepest=float("inf")), signed=False),
    "poisson": Loss("poisson", float("inf"), float("inf")),
}


def scalar_values(loss: Loss, z: Numbers, y: Numbers, ops: Operations) -> Numbers:
    """Return the losses, of the shape of z, in any number system; not for softmax."""
    if loss.of is not None:
        return loss.of.value(y * z if loss.signed else z - y, ops)
    counts, top = ops.columns(y)
    inside = ops.minimum(z, top)
    return ops.exp(inside) * (1 + (z - inside)) - counts * z


def scalar_slopes(loss: Loss, z: Numbers, y: Numbers, ops: Operations) -> Numbers:
    """Return the derivatives in z, 0 at a kink, in any number system; not for softmax."""
    if loss.of is None:
        counts, top = ops.columns(y)
        return ops.exp(ops.minimum(z, top)) - counts
    return loss.of.slope(y * z, ops) * y if loss.signed else loss.of.slope(z - y, ops)


def values(loss: Loss, z: Array, y: Targets) -> Array:
    """Return the losses, shape (s,)."""
    if loss.id != "softmax":
        return np.asarray(scalar_values(loss, z, y, FLOATS))
    top = z.max(axis=1)
    total = np.log(np.exp(z - top[:, None]).sum(axis=1))
    out: Array = total + top - z[np.arange(len(z)), y]
    return out


def slopes(loss: Loss, z: Array, y: Targets) -> Array:
    """Return the derivatives in z, of the shape of z; 0 at a kink."""
    if loss.id == "softmax":
        out = probabilities(z)
        out[np.arange(len(z)), y] -= 1.0
        return out
    found: Array = scalar_slopes(loss, z, y, FLOATS)
    return found.astype(z.dtype, copy=False) if loss.id == "hinge" else found


def from_kink(loss: Loss, z: Array, y: Targets) -> Array:
    """Return how far margins are from where the derivative of a loss that is not smooth jumps, of the shape of z.

    Parameters
    ----------
    z
        Shape (…, s).
    """
    assert loss.of is not None  # noqa: S101  (all losses with kinks are functions of one number)
    return loss.of.from_kink(y * z if loss.signed else z - y)


def middles(loss: Loss, y: Targets, classes: int) -> tuple[Floats, float]:
    """Return points m_j and a radius: the derivative in z is within the radius of m_j, whatever z is.

    logistic, hinge: −y·u with u in [0, 1]; lad-regression: u in [−1, 1]; softmax: p − e_y with p in the simplex, the
    corners of which are √(1 − 1/classes) from its middle. Least squares have no such ball, poisson one for each row.

    Returns
    -------
    tuple
        Shape (s, classes), and the radius.
    """
    if loss.id == "softmax":
        middle = np.full((len(y), classes), 1.0 / classes)
        middle[np.arange(len(y)), y] -= 1.0
        return middle, float(np.sqrt(1.0 - 1.0 / classes)) * (1.0 + 4.0 * EPS)
    if loss.id == "lad-regression":
        return np.zeros((len(y), 1)), 1.0
    return -0.5 * np.asarray(y, dtype=np.float64)[:, None], 0.5


def probabilities(z: Array) -> Array:
    """Return the softmax of each row."""
    out: Array = z - z.max(axis=1, keepdims=True)
    np.exp(out, out=out)
    out /= out.sum(axis=1, keepdims=True)
    return out


def weights(loss: Loss, z: Array) -> Array:
    """Return what the second derivative needs: σ(1 − σ) or 1, shape (s,), or the probabilities (s, classes)."""
    if loss.id == "softmax":
        return probabilities(z)
    if loss.id == "least-squares":
        return np.ones_like(z)
    half = np.tanh(0.5 * z)
    out: Array = 0.25 * (1.0 - half) * (1.0 + half)
    return out


def curve(loss: Loss, weight: Array, dz: Array) -> Array:
    """Return the second derivative applied to a change of the margins."""
    if loss.id == "softmax":
        out: Array = weight * dz
        out -= weight * out.sum(axis=1, keepdims=True)
        return out
    return weight * dz
