"""Losses of one number and functions of clients, each one text for floats, tensors, rational numbers and balls.

The kernel of :mod:`boundlab.execute.kernels` and the loop of :mod:`boundlab.execute._walk` have texts of their own, and
are tested against these.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from boundlab.arithmetic import compiled
from boundlab.arithmetic.numbers import Numbers, Operations
from boundlab.errors import AssumptionError
from boundlab.objective import Array

if TYPE_CHECKING:
    from boundlab.arithmetic.numbers import BallSteps

Kind = Literal["huber", "pseudo-huber", "lad"]
Which = Any  # a client's number, an array of them, or a slice


@dataclass(frozen=True)
class ScalarLoss(ABC):
    """A convex function φ of one number.

    A class says what its largest φ'' is, None where there is a kink, and where that lies.

    Parameters
    ----------
    width
        The |r| at which it turns linear; None: it has no such parameter.
    steepest
        The largest |φ'|.
    """

    width: Any = None
    steepest: Any = 1.0
    curvature: ClassVar[float | None] = 1.0
    kink: ClassVar[float] = math.nan
    number: ClassVar[int]  # of the same φ in compiled loops

    @abstractmethod
    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r)."""

    @abstractmethod
    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r), 0 at a kink; r may be overwritten."""

    def prox(self, r: Numbers, a: Numbers, ops: Operations) -> Numbers:
        """Return argmin_s φ(s) + (s − r)²/(2a).

        Raises
        ------
        AssumptionError
            If it has no closed form.
        """
        raise AssumptionError("this loss has no proximal step in closed form")

    def from_kink(self, r: Array) -> Array:
        """Return how far r is from where φ' jumps."""
        out: Array = np.abs(r - self.kink)
        return out


@final
class HuberLoss(ScalarLoss):
    """r²/2 for |r| ≤ width, width·(|r| − width/2) beyond."""

    number = compiled.HUBER

    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r)."""
        size = ops.absolute(r)
        small = ops.minimum(size, self.width)
        return small * (size - small / 2)

    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r)."""
        return ops.clip(r, -self.width, self.width)

    def prox(self, r: Numbers, a: Numbers, ops: Operations) -> Numbers:
        """Return the proximal point."""
        inside = ops.within(r, self.width * (1 + a))
        return ops.where(inside, r / (1 + a), ops.shrink(r, a * self.width))


@final
class PseudoHuberLoss(ScalarLoss):
    """width²·(√(1 + (r/width)²) − 1)."""

    number = compiled.PSEUDO_HUBER

    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r), as r²/(1 + √(1 + (r/width)²)): without cancellation at small r."""
        return r * r / (1 + ops.slant(r / self.width))

    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r)."""
        return r / ops.slant(r / self.width)


@final
class AbsoluteLoss(ScalarLoss):
    """|r|."""

    number = compiled.ABSOLUTE
    curvature, kink = None, 0.0

    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r)."""
        return ops.absolute(r)

    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r)."""
        return ops.sign(r)

    def prox(self, r: Numbers, a: Numbers, ops: Operations) -> Numbers:
        """Return the proximal point: soft thresholding."""
        return ops.shrink(r, a)


@final
class SquareLoss(ScalarLoss):
    """r²/2."""

    number = compiled.SQUARE

    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r)."""
        return r * r / 2

    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r)."""
        return r


@final
class HingeLoss(ScalarLoss):
    """max(0, 1 − r)."""

    number = compiled.HINGE
    curvature, kink = None, 1.0

    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r)."""
        return ops.positive(1 - r)

    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r)."""
        return -ops.below(r, 1)


@final
class LogisticLoss(ScalarLoss):
    """log(1 + e⁻ʳ); φ'' = σ(1 − σ) ≤ ¼."""

    number = compiled.LOGISTIC
    curvature = 0.25

    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r)."""
        return ops.log_exp(-r)

    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r)."""
        return ops.falling(r)


def loss_of(kind: Kind, width: Any) -> ScalarLoss:
    """Return the loss of separable problems; lad does not read the width."""
    if kind == "lad":
        return AbsoluteLoss()
    return HuberLoss(width, width) if kind == "huber" else PseudoHuberLoss(width, width)


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
