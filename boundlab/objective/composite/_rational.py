"""A composite objective in rational numbers."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from boundlab.arithmetic.numbers import EXACT, InexactError, Scalar, exact_array, fractions
from boundlab.arithmetic.problem import Constants, Minimum, RationalProblem, Vector
from boundlab.arithmetic.writing import Sentence, words
from boundlab.objective import OF_OBJECTIVE, Floats
from boundlab.objective._wrapped import WrappedRational
from boundlab.objective.simple import ProxFunction


@final
@dataclass(frozen=True)
class RationalComposite(WrappedRational):
    """F = f + h without rounding.

    Parameters
    ----------
    inner
        f.
    h
        The simple part.
    near
        A point near the minimiser of F, shape (d,): it says on which face of h that lies. None: it is not looked for.
    there
        The constants that the problem has on the set of h: those on all of R^d are other numbers.
    along_mean
        Whether every step is along the mean of all gradients.
    """

    inner: RationalProblem
    h: ProxFunction
    near: Floats | None
    there: frozenset[str] = frozenset()
    along_mean: bool = False

    def described(self) -> list[Sentence]:
        """Return the functions of the clients, and what is added to their mean."""
        found = self.inner.described()
        return [*found, words(f"and F = f + h in place of f, with {self.h.words}")] if found else []

    def gradient(self, client: int, x: Vector) -> Vector:
        """Refuse: F has no gradient.

        Raises
        ------
        InexactError
            Always.
        """
        raise InexactError(f"with {self.h.words} there are no gradients, but proximal gradient steps")

    @property
    def gradient_part(self) -> RationalProblem:
        """Return f."""
        return self.inner

    def proximal(self, x: Vector, size: Scalar) -> Vector:
        """Return prox_{size·h}(x)."""
        return np.asarray(self.h.prox(x, size, EXACT))

    def descend(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return prox_{size·h}(x − size·∇f_client(x)), or with ∇f in place of ∇f_client."""
        if self.along_mean:
            return self.proximal(x - size * self.inner.full_gradient(x), size)
        return self.proximal(self.inner.descend(client, x, size), size)

    def value(self, x: Vector) -> Scalar:
        """Return F(x)."""
        return self.inner.value(x) + self.h.values(x, EXACT)

    @cached_property
    def _minimum(self) -> Minimum | None:
        """The minimiser on the face that floats show, if it is one: −∇f is a subgradient of h there."""
        own = self.inner.minimum()
        candidates = [] if own is None else [exact_array(own.x)]
        piece = None if self.near is None else self.h.piece(self.near, EXACT)
        if piece is not None and (found := self._on(*piece)) is not None:
            candidates.append(found)
        for x in candidates:
            if self.h.holds_at(x, -self.inner.full_gradient(x)):
                return self.at(fractions(x))
        return None

    def _on(self, low: Vector, high: Vector, rates: Vector) -> Vector | None:
        """Return where f + h is stationary on a face; None where it is no corner, and f no quadratic or flat there."""
        x, free = np.where(low == high, low, 0 * rates), np.flatnonzero(low != high)
        if not len(free):
            return np.asarray(x)
        form = self.inner.quadratic()
        if form is None:
            return None
        mean, pull = exact_array(form.mean()), -self.inner.full_gradient(x) - rates
        try:
            x[free] = EXACT.solve(mean[np.ix_(free, free)], pull[free])
        except ZeroDivisionError:
            return None
        return np.asarray(x)

    def minimum(self) -> Minimum | None:
        """Return the minimum of F, where its face is found and f is a quadratic, or h does not matter."""
        return self._minimum

    def constants(self) -> Constants:
        """Return those of the f_i and their gradients, and R and F0 of F."""
        found = {name: one for name, one in self.inner.constants().items() if name not in OF_OBJECTIVE | self.there}
        return found | self.start_constants()
