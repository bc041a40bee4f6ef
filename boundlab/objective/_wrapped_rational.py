"""Problems around another one, in rational numbers."""

from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import RationalProblem, Vector
from boundlab.arithmetic.writing import Reason
from boundlab.objective._wrapped import answered_by

_OF_CLIENTS = frozenset({"B", "G", "G_sq", "L", "L_sq", "sigma", "sigma_l"})  # whatever is minimised


@answered_by("inner", "n", "x0", "gradient_part", "proximal", "descend", "sign_noise")
class WrappedRational(RationalProblem):
    """As :class:`boundlab.objective.Wrapped`, in rational numbers: start, steps and noise are those of the clients."""

    inner: RationalProblem

    def reasons(self) -> dict[str, Reason]:
        """Return those of the clients' slopes and noise, and of the start."""
        own = {name: why for name, why in self.inner.reasons().items() if name in _OF_CLIENTS}
        return {**super().reasons(), **own}

    def gradient(self, client: int, x: Vector) -> Vector:
        """Return the (sub)gradient of f_client."""
        return self.inner.gradient(client, x)

    def value(self, x: Vector) -> Scalar:
        """Return f(x)."""
        return self.inner.value(x)
