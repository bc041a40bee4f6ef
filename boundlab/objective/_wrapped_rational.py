"""Problems around another one, in rational numbers."""

from fractions import Fraction

from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import RationalProblem, Vector
from boundlab.arithmetic.reasons import Reason

_OF_CLIENTS = frozenset({"B", "G", "G_sq", "L", "L_sq", "sigma", "sigma_l"})  # whatever is minimised


class WrappedRational(RationalProblem):
    """As :class:`boundlab.objective.Wrapped`, in rational numbers: start, steps and noise are those of the clients."""

    inner: RationalProblem

    @property
    def n(self) -> int:  # type: ignore[override]
        """Return the number of clients."""
        return self.inner.n

    @property
    def x0(self) -> list[Fraction]:  # type: ignore[override]
        """Return the start."""
        return self.inner.x0

    @property
    def gradient_part(self) -> RationalProblem:
        """Return that of the clients' problem."""
        return self.inner.gradient_part

    def reasons(self) -> dict[str, Reason]:
        """Return those of the clients' slopes and noise, and of the start."""
        own = {name: why for name, why in self.inner.reasons().items() if name in _OF_CLIENTS}
        return {**super().reasons(), **own}

    def proximal(self, x: Vector, size: Scalar) -> Vector:
        """Return what ends a step of the clients."""
        return self.inner.proximal(x, size)

    def gradient(self, client: int, x: Vector) -> Vector:
        """Return the (sub)gradient of f_client."""
        return self.inner.gradient(client, x)

    def descend(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Do one step of f_client."""
        return self.inner.descend(client, x, size)
