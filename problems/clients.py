"""Losses of one number and functions of clients, each one text for floats, tensors, rational numbers and balls.

The kernel of :mod:`boundlab.execute.kernels` and the loop of :mod:`boundlab.execute._walk` have texts of their own, and
are tested against these.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NoReturn, final, get_args

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic import compiled
from boundlab.arithmetic.compiled import POISSON, SOFTMAX
from boundlab.arithmetic.near import Near, sqrt
from boundlab.arithmetic.numbers import FLOATS, Numbers, Operations
from boundlab.errors import AssumptionError
from boundlab.objective import Array, Floats

if TYPE_CHECKING:
    from boundlab.arithmetic.numbers import BallSteps


Kind = Literal["huber", "pseudo-huber", "lad"]
Which = Any  # a client's number, an array of them, or a slice


Formula = Callable[..., Numbers]


def _no_prox(*_: Any) -> NoReturn:
    raise AssumptionError("this loss has no proximal step in closed form")


@final
@dataclass(frozen=True, eq=False)
class ScalarLoss:
    """A convex function φ of one number, as data: texts in the words of :class:`Operations`, and facts about them.

    Of losses of straight lines and parabolas, φ(r) = sup over u in [low, high] of u·(r − centre) − u²/(2·curvature),
    the last term without a kink alone: their dual problems need no more.

    Parameters
    ----------
    id, width
        Its name, and the |r| at which it turns linear, of quantile the fraction; None where there is nothing to say.
    number
        Which one it is in compiled loops; there the two squared hinges are one, which turns linear at 1 − width.
    low, high
        Between which numbers φ' lies.
    value, slope
        φ(r) and φ'(r) for an arithmetic, the latter 0 at a kink and with leave to overwrite r.
    curvature
        The largest φ''; None where φ' jumps.
    centre
        Where φ' jumps, or φ begins to grow.
    bend
        φ''(r) for an arithmetic, on either side of where it jumps, with leave to overwrite r.
    prox
        prox(r, a, arithmetic): argmin_s φ(s) + (s − r)²/(2a); an :class:`AssumptionError` without a closed form.
    """

    id: str
    width: Any
    number: int
    low: Any
    high: Any
    value: Formula
    slope: Formula
    curvature: float | None = 1.0
    centre: float = 0.0
    bend: Formula = lambda r, _: 0 * r + 1
    prox: Formula = _no_prox

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it by its name: texts of functions have none."""
        return loss_of, (self.id, self.width)

    @property
    def steepest(self) -> Any:
        """Return the largest |φ'|."""
        return max(-self.low, self.high)

    def from_kink(self, r: Array) -> Array:
        """Return how far r is from where φ' jumps, infinitely far where it does not."""
        return np.asarray(np.abs(r - (self.centre if self.curvature is None else math.inf)))


def _rounded(size: Numbers, width: Any, ops: Operations) -> Numbers:
    """Return size² up to a width, and the tangent beyond."""
    small = ops.minimum(size, width)
    return small * (2 * size - small)


def _huber(width: Any) -> ScalarLoss:
    """r²/2 for |r| ≤ width, width·(|r| − width/2) beyond."""
    return ScalarLoss(
        "huber", width, compiled.HUBER, -width, width,
        value=lambda r, ops: _rounded(ops.absolute(r), width, ops) / 2,
        slope=lambda r, ops: ops.clip(r, -width, width),
        bend=lambda r, ops: ops.where(ops.within(r, width), 0 * r + 1, 0 * r),
        prox=lambda r, a, ops: ops.where(
            ops.within(r, width * (1 + a)), r / (1 + a), ops.shrink(r, a * width)
        ),
    )  # fmt: skip


def _pseudo_huber(width: Any) -> ScalarLoss:
    """width²·(√(1 + (r/width)²) − 1), as r²/(1 + √(1 + (r/width)²)): without cancellation at small r."""
    return ScalarLoss(
        "pseudo-huber", width, compiled.PSEUDO_HUBER, -width, width,
        value=lambda r, ops: r * r / (1 + ops.slant(r / width)),
        slope=lambda r, ops: r / ops.slant(r / width),
    )  # fmt: skip


def _absolute(_: Any) -> ScalarLoss:
    """|r|; its proximal step is soft thresholding."""
    return ScalarLoss(
        "lad", None, compiled.ABSOLUTE, -1.0, 1.0,
        value=lambda r, ops: ops.absolute(r),
        slope=lambda r, ops: ops.sign(r),
        curvature=None,
        prox=lambda r, a, ops: ops.shrink(r, a),
    )  # fmt: skip


def _quantile(width: Any) -> ScalarLoss:
    """q·|r| for r < 0 and (1 − q)·|r| for r > 0, q the width: least where a fraction q of all targets lies below."""
    return ScalarLoss(
        "quantile", width, compiled.QUANTILE, -width, 1 - width,
        value=lambda r, ops: (1 - width) * ops.positive(r) + width * ops.positive(-r),
        slope=lambda r, ops: (1 - width) * ops.below(-r, 0) - width * ops.below(r, 0),
        curvature=None,
    )  # fmt: skip


def _square(_: Any) -> ScalarLoss:
    """r²/2."""
    return ScalarLoss(
        "square", None, compiled.SQUARE, -math.inf, math.inf, value=lambda r, _: r * r / 2, slope=lambda r, _: r
    )


def _hinge(_: Any) -> ScalarLoss:
    """max(0, 1 − r)."""
    return ScalarLoss(
        "hinge", None, compiled.HINGE, -1.0, 0.0,
        value=lambda r, ops: ops.positive(1 - r),
        slope=lambda r, ops: -ops.below(r, 1),
        curvature=None,
        centre=1.0,
    )  # fmt: skip


def _squared_hinge(_: Any) -> ScalarLoss:
    """max(0, 1 − r)²."""
    return ScalarLoss(
        "squared-hinge", math.inf, compiled.SQUARED_HINGE, -math.inf, 0.0,
        value=lambda r, ops: ops.positive(1 - r) ** 2,
        slope=lambda r, ops: -2 * ops.positive(1 - r),
        curvature=2.0,
        centre=1.0,
        bend=lambda r, ops: 2 * ops.below(r, 1),
    )  # fmt: skip


def _modified_huber(_: Any) -> ScalarLoss:
    """max(0, 1 − r)² for r ≥ −1, and its tangent −4r below."""
    return ScalarLoss(
        "modified-huber", 2.0, compiled.SQUARED_HINGE, -4.0, 0.0,
        value=lambda r, ops: _rounded(ops.positive(1 - r), 2, ops),
        slope=lambda r, ops: -2 * ops.clip(1 - r, 0, 2),
        curvature=2.0,
        centre=1.0,
        bend=lambda r, ops: 2 * (ops.below(r, 1) - ops.below(r, -1)),
    )  # fmt: skip


def _logistic(_: Any) -> ScalarLoss:
    """log(1 + e⁻ʳ); φ'' = σ(1 − σ) ≤ ¼."""
    return ScalarLoss(
        "logistic", None, compiled.LOGISTIC, -1.0, 0.0,
        value=lambda r, ops: ops.log_exp(-r),
        slope=lambda r, ops: ops.falling(r),
        curvature=0.25,
        bend=lambda r, ops: ops.falling(-r) * ops.falling(r),
    )  # fmt: skip


_LOSSES: dict[str, Callable[[Any], ScalarLoss]] = {
    "huber": _huber,
    "pseudo-huber": _pseudo_huber,
    "lad": _absolute,
    "quantile": _quantile,
    "square": _square,
    "hinge": _hinge,
    "squared-hinge": _squared_hinge,
    "modified-huber": _modified_huber,
    "logistic": _logistic,
}


def loss_of(kind: str, width: Any = None) -> ScalarLoss:
    """Return the loss of that name; only huber, pseudo-huber and quantile read the width."""
    return _LOSSES[kind](width)


class ClientFunctions(ABC):
    """f_1 … f_n in an arithmetic; a final class says what they are of its data, which have one row a client.

    Points have shape (d,). Many at a time are rows of (…, d): all of one client; each of its own, where clients are an
    array of as many numbers; or (…, 1, d) for a slice of clients, whose results then have the shape (…, clients, d).

    Parameters
    ----------
    by
        The arithmetic.
    n, held
        The number of clients, and how many numbers of a client's data a step reads.
    """

    by: Operations
    n: int
    held: int

    @abstractmethod
    def gradient(self, which: Which, x: Numbers) -> Numbers:
        """Return (sub)gradients, unit (1, −1)."""

    @abstractmethod
    def client_value(self, which: Which, x: Numbers) -> Numbers:
        """Return values, unit (1, 0), of the shape of x without its last axis."""

    def prox(self, which: Which, x: Numbers, size: Numbers) -> Numbers:
        """Return argmin_z f_i(z) + ‖z − x‖²/(2·size), of one size or one a point, shape (…, 1).

        Raises
        ------
        AssumptionError
            If it has no closed form.
        """
        raise AssumptionError("these functions have no proximal step in closed form")

    def descend(self, client: int, x: Numbers, size: Numbers) -> Numbers:
        """Return x − size·∇f_client(x)."""
        return x - size * self.gradient(client, x)

    def value(self, x: Numbers) -> Numbers:
        """Return f at each point."""
        return self._mean(self.client_value, x, -1)

    def full_gradient(self, x: Numbers) -> Numbers:
        """Return a (sub)gradient of f at each point."""
        return self._mean(self.gradient, x, -2)

    def _mean(self, of: Any, x: Numbers, axis: int) -> Numbers:
        few = self.by.together // max(1, prod(x.shape))
        if few < 8:
            return sum(of(client, x) for client in range(self.n)) / self.n
        total, points = 0, x[..., None, :]
        for first in range(0, self.n, few):
            total = total + of(slice(first, first + few), points).sum(axis)
        return total / self.n


@final
class Coordinates(ClientFunctions):
    """f_i(x) = Σ_j w_ij·φ(x_j − c_ij); w and c have the shape (n, d)."""

    def __init__(self, loss: ScalarLoss, w: Any, c: Any, by: Operations) -> None:
        self.loss, self.w, self.c, self.by = loss, by.array(w), by.array(c), by
        self.n, self.held = self.c.shape

    def gradient(self, which: Which, x: Numbers) -> Numbers:
        """Return w_i·φ'(x − c_i)."""
        return self.w[which] * self.loss.slope(x - self.c[which], self.by)

    def client_value(self, which: Which, x: Numbers) -> Numbers:
        """Return Σ_j w_ij·φ(x_j − c_ij)."""
        return inner(self.loss.value(x - self.c[which], self.by), self.w[which])

    def prox(self, which: Which, x: Numbers, size: Numbers) -> Numbers:
        """Return the proximal point of φ in each coordinate; pseudo-huber has none in closed form."""
        c = self.c[which]
        return c + self.loss.prox(x - c, size * self.w[which], self.by)

    def descend(self, client: int, x: Numbers, size: Numbers) -> Numbers:
        """Return x − size·∇f_client(x); on a quadratic part x enters once, so that balls shrink."""
        away = x - self.c[client]
        return self.by.moved(self.c[client], away, self.loss.slope(away, self.by), size * self.w[client])


@final
class Matrices(ClientFunctions):
    """f_i(x) = ½(x − b_i)ᵀA_i(x − b_i); A has the shape (n, d, d), b (n, d)."""

    def __init__(self, A: Any, b: Any, by: Operations) -> None:
        self.A, self.b, self.by = by.array(A), by.array(b), by
        self.n, d = self.b.shape
        self.held = d * d
        self._one = by.array([[int(j == k) for k in range(d)] for j in range(d)])

    def gradient(self, which: Which, x: Numbers) -> Numbers:
        """Return A_i(x − b_i)."""
        return times(self.A[which], x - self.b[which])

    def client_value(self, which: Which, x: Numbers) -> Numbers:
        """Return ½(x − b_i)ᵀA_i(x − b_i)."""
        away = x - self.b[which]
        return inner(away, times(self.A[which], away)) / 2

    def prox(self, which: Which, x: Numbers, size: Numbers) -> Numbers:
        """Return b_i + (I + size·A_i)⁻¹(x − b_i)."""
        b, size = self.b[which], size[..., None] if getattr(size, "ndim", 0) else size
        return b + self.by.solve(self._one + size * self.A[which], x - b)

    def descend(self, client: int, x: Numbers, size: Numbers) -> Numbers:
        """Return x − size·A_i(x − b_i), where balls enter only once."""
        return self._balls.step(client, x, size) if self.by.ball(size) else super().descend(client, x, size)

    @cached_property
    def _balls(self) -> "BallSteps":
        from boundlab.arithmetic.numbers import BallSteps

        return BallSteps(self.A, times(self.A, self.b))


@final
class Pieces(ClientFunctions):
    """f_i(x) = max_j (a_ij·x + b_ij); of several highest pieces the first gives the slope.

    a has the shape (n, m, d), b (n, m).
    """

    def __init__(self, a: Any, b: Any, by: Operations) -> None:
        self.a, self.b, self.by = by.array(a), by.array(b), by
        self.n, m, d = self.a.shape
        self.held, self._slopes, self._offsets = m * d, self.a.reshape(-1, d), self.b.reshape(-1)
        self._begin = by.places([m * client for client in range(self.n)])

    def _top(self, which: Which, x: Numbers) -> Numbers:
        return self._begin[which] + self.by.first(times(self.a[which], x) + self.b[which])

    def gradient(self, which: Which, x: Numbers) -> Numbers:
        """Return the slope of the first piece that attains the maximum."""
        return self._slopes[self._top(which, x)]

    def client_value(self, which: Which, x: Numbers) -> Numbers:
        """Return the maximum."""
        top = self._top(which, x)
        return inner(self._slopes[top], x) + self._offsets[top]


def times(A: Numbers, x: Numbers) -> Numbers:
    """Return A x of one matrix and all vectors, or of a matrix each."""
    return x @ A.T if A.ndim == 2 else (A @ x[..., None])[..., 0]


def inner(a: Numbers, b: Numbers) -> Numbers:
    """Return the inner products along the last axis."""
    return a @ b if b.ndim == 1 else (a * b).sum(-1)


# Losses of linear models: values, slopes and curvatures as functions of the margins z = ⟨a, x⟩.
#
# Margins have shape (s,), for ``softmax`` (s, classes). Targets are ±1 (signs), class numbers (softmax), real numbers,
# or
# pairs (poisson): a number y ≥ 0, and the margin beyond which eᶻ − y·z goes on as its tangent. The iterate is x, shape
# (p,), or the flattened p×classes matrix.

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


def values(loss: Loss, z: Any, y: Targets, ops: Operations = FLOATS) -> Any:
    """Return the losses, shape (s,), of floats or of such as carry their error."""
    if loss.id != "softmax":
        return scalar_values(loss, z, y, ops)
    top = _top(z)
    return ops.log(ops.exp(z - top[:, None]).sum(axis=1)) + top - z[np.arange(len(top)), y]


def slopes(loss: Loss, z: Any, y: Targets, ops: Operations = FLOATS) -> Any:
    """Return the derivatives in z, of the shape of z; 0 at a kink."""
    soft = loss.id == "softmax"
    found = probabilities(z, ops) - np.eye(z.shape[1])[y] if soft else scalar_slopes(loss, z, y, ops)
    return found.astype(z.dtype, copy=False) if ops is FLOATS else found


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
        return middle, float(sqrt(1.0 - 1.0 / Near(classes)).upper)
    low, high = loss.of.low, loss.of.high
    return np.asarray((low + high) / 2.0 * (y if loss.signed else np.ones(len(y))))[:, None], (high - low) / 2.0


def _top(z: Any) -> Array:
    """Return about the largest number of each row: exponentials are the same whatever is taken off."""
    return np.asarray((z.value if isinstance(z, Near) else z).max(axis=1))


def probabilities(z: Any, ops: Operations = FLOATS) -> Any:
    """Return the softmax of each row."""
    out = ops.exp(z - _top(z)[:, None])
    return out / out.sum(axis=1)[:, None]


def weights(loss: Loss, z: Any, y: Targets, ops: Operations = FLOATS) -> Any:
    """Return what the second derivative needs: that of one number, shape (s,), or the probabilities (s, classes)."""
    return probabilities(z, ops) if loss.of is None else loss.of.bend(loss.inner(z, y), ops)


def curve(loss: Loss, weight: Array, dz: Array) -> Array:
    """Return the second derivative applied to a change of the margins."""
    if loss.id == "softmax":
        out: Array = weight * dz
        out -= weight * out.sum(axis=1, keepdims=True)
        return out
    return weight * dz
