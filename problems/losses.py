"""Losses of linear models: values, slopes and curvatures as functions of the margins z = ⟨a, x⟩.

Margins have shape (s,), for ``softmax`` (s, classes). Targets are ±1 (signs), class numbers (softmax), real numbers, or
pairs (poisson): a number y ≥ 0, and the margin beyond which eᶻ − y·z goes on as its tangent. The iterate is x, shape
(p,), or the flattened p×classes matrix.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.compiled import POISSON, SOFTMAX
from boundlab.arithmetic.numbers import FLOATS, Numbers, Operations
from boundlab.objective import Array, Floats
from boundlab.problems.clients import ScalarLoss, loss_of
from boundlab.problems.common import EPS

LossId = Literal[
    "logistic",
    "softmax",
    "hinge",
    "squared-hinge",
    "modified-huber",
    "lad-regression",
    "quantile-regression",
    "huber-regression",
    "least-squares",
    "poisson",
]
Targets = NDArray[Any]
# Functions of one number, whether of y·z or of z − y, and their ``bending``.
_OF: dict[str, tuple[str, bool, float | None]] = {
    "logistic": ("logistic", True, 1.0),
    "hinge": ("hinge", True, None),
    "squared-hinge": ("squared-hinge", True, None),
    "modified-huber": ("modified-huber", True, None),
    "lad-regression": ("lad", False, None),
    "quantile-regression": ("quantile", False, None),
    "huber-regression": ("huber", False, None),
    "least-squares": ("square", False, None),
}


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
        The largest norm of the derivative in z; infinite for least squares, squared hinges and poisson.
        softmax: ‖p − e_y‖² ≤ 2.
    of
        The function of one number that it is, of y·z where it is ``signed``, else of z − y; None: it is none.
    steep
        Whether the slopes of single rows have no bound.
    bending
        How much faster than e^{−t} no second derivative falls while no margin moves by more than t; None: it may.
    """

    id: LossId
    curvature: float | None
    slope: float
    of: ScalarLoss | None = None
    signed: bool = False
    steep: bool = False
    bending: float | None = None

    @property
    def number(self) -> int:
        """Return which one it is in compiled loops."""
        return (SOFTMAX if self.id == "softmax" else POISSON) if self.of is None else self.of.number

    @property
    def smooth(self) -> bool:
        """Return whether the loss has a Lipschitz derivative."""
        return self.curvature is not None

    def inner(self, z: Numbers, y: Numbers) -> Numbers:
        """Return the number that the loss is a function of."""
        return y * z if self.signed else z - y


_OTHERS = {
    "softmax": Loss("softmax", 0.5, float(np.sqrt(2.0)), bending=2.0),
    "poisson": Loss("poisson", float("inf"), float("inf")),
}


def loss(name: LossId, width: Any = None) -> Loss:
    """Return a loss; of huber- and quantile-regression with their width."""
    if name in _OTHERS:
        return _OTHERS[name]
    of, signed, bending = _OF[name]
    one = loss_of(of, width)
    return Loss(name, one.curvature, one.steepest, one, signed, one.low == float("-inf"), bending)


WIDTHS = {"huber-regression": 1.0, "quantile-regression": 0.5}  # where none is given
LOSSES = {name: loss(name, WIDTHS.get(name)) for name in get_args(LossId)}


def scalar_values(loss: Loss, z: Numbers, y: Numbers, ops: Operations) -> Numbers:
    """Return the losses, of the shape of z, in any number system; not for softmax."""
    if loss.of is not None:
        return loss.of.value(loss.inner(z, y), ops)
    counts, top = ops.columns(y)
    inside = ops.minimum(z, top)
    return ops.exp(inside) * (1 + (z - inside)) - counts * z


def scalar_slopes(loss: Loss, z: Numbers, y: Numbers, ops: Operations) -> Numbers:
    """Return the derivatives in z, 0 at a kink, in any number system; not for softmax."""
    if loss.of is None:
        counts, top = ops.columns(y)
        return ops.exp(ops.minimum(z, top)) - counts
    found = loss.of.slope(loss.inner(z, y), ops)
    return found * y if loss.signed else found


def values(loss: Loss, z: Array, y: Targets) -> Array:
    """Return the losses, shape (s,)."""
    if loss.id != "softmax":
        return np.asarray(scalar_values(loss, z, y, FLOATS))
    top = z.max(axis=1)
    total = np.log(np.exp(z - top[:, None]).sum(axis=1))
    return np.asarray(total + top - z[np.arange(len(z)), y])


def slopes(loss: Loss, z: Array, y: Targets) -> Array:
    """Return the derivatives in z, of the shape of z; 0 at a kink."""
    if loss.id == "softmax":
        out = probabilities(z)
        out[np.arange(len(z)), y] -= 1.0
        return out
    found: Array = scalar_slopes(loss, z, y, FLOATS)
    return found.astype(z.dtype, copy=False) if loss.id == "hinge" else found


def middles(loss: Loss, y: Targets, classes: int) -> tuple[Floats, float]:
    """Return points m_j and a radius: the derivative in z is within the radius of m_j, whatever z is.

    Of a function of one number by the ends of its slopes; softmax: p − e_y with p in the simplex, the corners of which
    are √(1 − 1/classes) from its middle. Losses without a largest slope have no such ball, poisson one for each row.

    Returns
    -------
    tuple
        Shape (s, classes), and the radius.
    """
    if loss.of is None:
        middle = np.full((len(y), classes), 1.0 / classes)
        middle[np.arange(len(y)), y] -= 1.0
        return middle, float(np.sqrt(1.0 - 1.0 / classes)) * (1.0 + 4.0 * EPS)
    low, high = loss.of.low, loss.of.high
    return np.asarray((low + high) / 2.0 * (y if loss.signed else np.ones(len(y))))[:, None], (high - low) / 2.0


def probabilities(z: Array) -> Array:
    """Return the softmax of each row."""
    out: Array = z - z.max(axis=1, keepdims=True)
    np.exp(out, out=out)
    out /= out.sum(axis=1, keepdims=True)
    return out


def weights(loss: Loss, z: Array, y: Targets) -> Array:
    """Return what the second derivative needs: that of one number, shape (s,), or the probabilities (s, classes)."""
    return probabilities(z) if loss.of is None else loss.of.bend(loss.inner(z, y), FLOATS)


def curve(loss: Loss, weight: Array, dz: Array) -> Array:
    """Return the second derivative applied to a change of the margins."""
    if loss.id == "softmax":
        out: Array = weight * dz
        out -= weight * out.sum(axis=1, keepdims=True)
        return out
    return weight * dz
