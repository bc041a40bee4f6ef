"""Gradients with an error, in rational numbers."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from boundlab.arithmetic.numbers import Scalar, exact_array
from boundlab.arithmetic.problem import Constants, Minimum, RationalProblem, Rows, Vector, norm_square, root
from boundlab.objective._wrapped_rational import WrappedRational


@final
@dataclass(frozen=True)
class RationalInexact(WrappedRational):
    """As :class:`boundlab.objective.inexact.Inexact`, without rounding: ``errors`` has a row a client."""

    inner: RationalProblem
    errors: Rows

    @property
    def gradient_part(self) -> RationalProblem:
        """Return the problem itself: it has no h."""
        return self

    def gradient(self, client: int, x: Vector) -> Vector:
        """Return ∇f_client(x) + e_client."""
        return np.asarray(self.inner.gradient(client, x) + exact_array(self.errors[client]))

    def descend(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return x − size·(∇f_client(x) + e_client)."""
        return np.asarray(self.inner.descend(client, x, size) - size * exact_array(self.errors[client]))

    def prox(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return the proximal point of f_client + ⟨e_client, ·⟩."""
        return self.inner.prox(client, np.asarray(x - size * exact_array(self.errors[client])), size)

    def sign_noise(self) -> list[Fraction] | None:
        """Return what the clients' oracle adds with either sign."""
        return self.inner.sign_noise()

    def value(self, x: Vector) -> Scalar:
        """Return f(x)."""
        return self.inner.value(x)

    def full_gradient(self, x: Vector) -> Vector:
        """Return ∇f(x)."""
        return self.inner.full_gradient(x)

    def minimum(self) -> Minimum | None:
        """Return the minimum of f."""
        return self.inner.minimum()

    def constants(self) -> Constants:
        """Return those of the f_i and of f, and delta_g; G is not known exactly."""
        own = {name: value for name, value in self.inner.constants().items() if name != "G"}
        return {**own, "delta_g": root(max(map(norm_square, self.errors)))}
