"""Gradients with an error, in rational numbers."""

from dataclasses import dataclass
from typing import final

import numpy as np

from boundlab.arithmetic.numbers import InexactError, Numbers, Scalar, exact_array, fraction
from boundlab.arithmetic.problem import Constants, Minimum, RationalProblem, Vector, root
from boundlab.objective._oracle import NO_INEXACT_PROX, error_at
from boundlab.objective._wrapped import answered_by
from boundlab.objective._wrapped_rational import WrappedRational


@answered_by("inner", "value", "full_gradient")
@final
@dataclass(frozen=True, eq=False)
class RationalInexact(WrappedRational):
    """As :class:`boundlab.objective.inexact.Inexact`, without rounding: ``errors`` are rational numbers."""

    inner: RationalProblem
    errors: Numbers

    @property
    def gradient_part(self) -> RationalProblem:
        """Return the problem itself: it has no h."""
        return self

    def _error(self, client: int, x: Vector) -> Vector:
        relative = self.errors.ndim == 3
        return np.asarray(error_at(self.inner.gradient(client, x) if relative else x, self.errors[client]))

    def gradient(self, client: int, x: Vector) -> Vector:
        """Return ∇f_client(x) with its error."""
        return np.asarray(self.inner.gradient(client, x) + self._error(client, x))

    def descend(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return x − size·g, g the gradient with its error."""
        return np.asarray(self.inner.descend(client, x, size) - size * self._error(client, x))

    def prox(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return the proximal point of f_client + ⟨e_client, ·⟩.

        Raises
        ------
        SpecError
            If errors are relative.
        """
        if self.errors.ndim == 3:
            raise InexactError(NO_INEXACT_PROX)
        return self.inner.prox(client, np.asarray(x - size * self.errors[client]), size)

    def minimum(self) -> Minimum | None:
        """Return the minimum of f."""
        return self.inner.minimum()

    def constants(self) -> Constants:
        """Return those of the f_i and of f, and delta_g; eps_g where E_iᵀE_i are multiples of I; G is not known."""
        own = {name: value for name, value in self.inner.constants().items() if name != "G"}
        whole = self.errors.reshape(self.n, -1, self.d)
        squares = whole @ whole.transpose(0, 2, 1)
        unit = exact_array(np.eye(squares.shape[1]))
        if not (squares == squares[:, :1, :1] * unit).all():
            return own
        return {**own, ("eps_g" if self.errors.ndim == 3 else "delta_g"): root(max(map(fraction, squares[:, 0, 0])))}
