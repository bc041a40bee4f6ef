"""Gradients with an error that no mean takes away: steps go along ∇f_i + e_i, and the objective stays f."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.problem import exact_numbers
from boundlab.assumptions import UNBIASED
from boundlab.errors import SpecError
from boundlab.objective import Array, Constant, FullGradients, Oracle, Problem, SameObjective, StepBounds, WrappedOracle
from boundlab.randomness import Streams

if TYPE_CHECKING:
    from boundlab.arithmetic.problem import RationalProblem, Rows

_EPS = float(np.finfo(np.float64).eps)


@final
@dataclass(frozen=True, eq=False)
class Inexact(SameObjective):
    """F = f of another problem, whose clients take g_i + e_i in place of the stochastic gradient g_i.

    That is one of φ_i(x) = f_i(x) + ⟨e_i, x⟩: a run is one on the φ_i, and their mean has another minimiser than f. The
    objective, its minimiser and what is known of the f_i are those of f; :meth:`gradient` and steps are those of φ_i.

    Parameters
    ----------
    inner
        Whose f_i they are; it has no h.
    errors
        e_i, n rows of d numbers, unit (1, −1).
    """

    inner: Problem
    errors: "Rows"

    @cached_property
    def e(self) -> NDArray[np.float64]:
        """The errors as floats, shape (n, d)."""
        return np.array(self.errors, dtype=np.float64)

    def gradient(self, client: int, x: Array) -> Array:
        """Return a (sub)gradient of φ_client at x, shape (d,), unit (1, −1)."""
        return np.asarray(self.inner.gradient(client, x) + self.e[client].astype(self.dtype))

    def gradients(self, client: int, X: Array) -> Array:
        """Return the (sub)gradients of φ_client at each row of X, shape (S, d), unit (1, −1)."""
        return np.asarray(self.inner.gradients(client, X) + self.e[client].astype(self.dtype))

    def descend(self, client: int, x: Array, step_size: float) -> None:
        """Do x ← x − step_size·∇φ_client(x) in place."""
        self.inner.descend(client, x, step_size)
        x -= step_size * self.e[client]

    def prox(self, client: int, x: Array, step_size: float) -> Array:
        """Return argmin_z φ_client(z) + ‖z − x‖²/(2·step_size), shape (d,), unit (0, 1)."""
        return self.inner.prox(client, np.asarray(x - step_size * self.e[client], dtype=x.dtype), step_size)

    def oracle(self, streams: Streams) -> Oracle:
        """Return the clients' oracle, whose steps have the errors."""
        inner = self.inner.oracle(streams)
        return FullGradients(self) if isinstance(inner, FullGradients) else _InexactSteps(inner, self.e)

    def compiled(self) -> None:
        """Return None: no compiled loop knows the errors."""

    def client_key(self, client: int) -> bytes | None:
        """Return what only clients with the same function and error share."""
        own = self.inner.client_key(client)
        return None if own is None else own + self.e[client].tobytes()

    def step_bounds(self, client: int) -> StepBounds | None:
        """Return what steps along ∇φ_client do to errors of x: the sum, and the product with a step, are rounded."""
        found, size = self.inner.step_bounds(client), float(np.linalg.norm(self.e[client]))
        off = 0.0 if found is None else 2.0 * found.offset + 4.0 * float(np.finfo(self.dtype).eps) * size
        return None if found is None else replace(found, offset=off, slope=2.0 * found.slope)

    def rational(self, options: Mapping[str, Any]) -> "RationalProblem | None":
        """Return the same in rational numbers; None where the clients' problem has none."""
        from boundlab.objective._inexact_rational import RationalInexact

        inner = self.inner.rational(options)
        errors = self.errors if options else [[Fraction(entry) for entry in row] for row in self.e.tolist()]
        return None if inner is None else RationalInexact(inner, errors)

    @cached_property
    def _constants(self) -> dict[str, Constant]:
        mixed = bool((np.count_nonzero(self.e, axis=1) > 1).any())  # else a norm is an entry
        longest = float(np.linalg.norm(self.e, axis=1).max()) * (1.0 + mixed * (self.d + 8) * _EPS)
        found = {**self.inner.constants()}
        if (G := found.get("G")) is not None:
            found["G"] = Constant((G.value + longest) * (1.0 + 4.0 * _EPS), "upper", f"{G.how}; and delta_g")
        longest_error = Constant(longest, "upper" if mixed else "exact", "the longest error of a client")
        return {**found, "delta_g": longest_error}

    def constants(self) -> Mapping[str, Constant]:
        """Return those of the f_i, of f and of the noise, G with the errors, and delta_g."""
        return self._constants

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        return {**self.inner.assumptions(), UNBIASED: "its gradients have an error that stays; error=0 would fit"}

    def spec(self) -> dict[str, Any]:
        """Return the options that rebuild this problem."""
        return {**self.inner.spec(), "error": self.e.tolist()}


@final
@dataclass(slots=True)
class _InexactSteps(WrappedOracle):
    """Stochastic gradient steps with errors ``e``, shape (n, d)."""

    e: NDArray[np.float64]

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do x ← x − step_size·(g_client(x) + e_client) in place."""
        self.inner.step(x, client, draw, step_size)
        x -= step_size * self.e[client]


def with_error(problem: Problem, raw: Any) -> Problem:
    """Return the problem whose gradients have the errors of an option; the problem itself where they are 0.

    Parameters
    ----------
    raw
        A list of d numbers for every client, n such lists, or one number, which is along the first coordinate.

    Raises
    ------
    SpecError
        If it is none of these, or the problem has an h, whose steps are proximal.
    """
    what = f"problem {problem.id}: error"
    if problem.simple is not None:
        raise SpecError(f"{what} goes with f alone; leave out {problem.simple.words}")
    try:
        found = exact_numbers(raw, what)
    except (json.JSONDecodeError, RecursionError) as error:
        raise SpecError(f"{what} must be numbers, got {raw!r}") from error
    own = found if isinstance(found, list) else [found] + [Fraction(0)] * (problem.d - 1)
    rows = own if any(isinstance(one, list) for one in own) else [own] * problem.n
    widths = [len(one) if isinstance(one, list) and not any(isinstance(x, list) for x in one) else 0 for one in rows]
    if widths != [problem.d] * problem.n:
        raise SpecError(f"{what} must be a number, d = {problem.d} of them, or n = {problem.n} such lists, got {raw!r}")
    return Inexact(problem, rows) if any(map(any, rows)) else problem
