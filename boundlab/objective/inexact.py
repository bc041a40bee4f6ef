"""Gradients with an error that no mean takes away: steps go along ∇f_i + e_i, or ∇f_i + E_i∇f_i; what counts is f."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.near import Near, singular
from boundlab.arithmetic.numbers import InexactError, Numbers, Scalar, exact_array, fraction
from boundlab.arithmetic.problem import Constants, Minimum, RationalProblem, Vector, exact_numbers, root
from boundlab.assumptions import INEXACT, RELATIVE, UNBIASED
from boundlab.errors import AssumptionError, SpecError
from boundlab.objective import Array, Constant, FullGradients, Oracle, Problem, SameObjective, StepBounds, WrappedOracle
from boundlab.objective._constants import NO_INEXACT_PROX, error_at
from boundlab.objective._wrapped import WrappedRational, answered_by
from boundlab.objective.facts import above
from boundlab.randomness import Floats, Streams

if TYPE_CHECKING:
    from boundlab.arithmetic.problem import RationalProblem


_RELATIVE: Final = "relative:"


@final
@dataclass(frozen=True, eq=False)
class Inexact(SameObjective):
    """F = f of another problem, whose clients take g_i + e_i, or g_i + E_i∇f_i, in place of a stochastic gradient g_i.

    With vectors e_i a run is one on φ_i(x) = f_i(x) + ⟨e_i, x⟩, whose mean has another minimiser than f; with matrices
    E_i steps are longer, shorter or turned. The objective, its minimiser and what is known of the f_i are those of f;
    :meth:`gradient` and steps have the errors.

    Parameters
    ----------
    inner
        Whose f_i they are; it has no h.
    errors
        Fractions, shape (n, d): e_i, unit (1, −1). Shape (n, d, d): E_i, which have no unit.
    """

    inner: Problem
    errors: NDArray[Any]

    @cached_property
    def e(self) -> Floats:
        """The errors as floats."""
        return self.errors.astype(np.float64)

    @property
    def relative(self) -> bool:
        """True if they are multiples of the gradients."""
        return self.errors.ndim == 3

    def _error(self, client: int, x: Array) -> Array:
        """Return what is added at x, or at each row of x."""
        gradient = self.inner.gradient if x.ndim == 1 else self.inner.gradients
        own = self.e[client].astype(self.dtype)
        return np.asarray(error_at(gradient(client, x) if self.relative else x, own))

    def gradient(self, client: int, x: Array) -> Array:
        """Return ∇f_client(x), or a subgradient, with its error; shape (d,), unit (1, −1)."""
        return np.asarray(self.inner.gradient(client, x) + self._error(client, x))

    def gradients(self, client: int, X: Array) -> Array:
        """Return the same at each row of X, shape (S, d), unit (1, −1)."""
        return np.asarray(self.inner.gradients(client, X) + self._error(client, X))

    def descend(self, client: int, x: Array, step_size: float) -> None:
        """Do x ← x − step_size·g in place, g the gradient with its error."""
        error = self._error(client, x)
        self.inner.descend(client, x, step_size)
        x -= step_size * error

    def prox(self, client: int, x: Array, step_size: float) -> Array:
        """Return argmin_z f_client(z) + ⟨e_client, z⟩ + ‖z − x‖²/(2·step_size), shape (d,), unit (0, 1).

        Raises
        ------
        AssumptionError
            If errors are relative.
        """
        if self.relative:
            raise AssumptionError(NO_INEXACT_PROX)
        return self.inner.prox(client, np.asarray(x - step_size * self.e[client], dtype=x.dtype), step_size)

    def oracle(self, streams: Streams) -> Oracle:
        """Return the clients' oracle, whose steps have the errors."""
        inner = self.inner.oracle(streams)
        return FullGradients(self) if isinstance(inner, FullGradients) else _InexactSteps(inner, self)

    def compiled(self) -> None:
        """Return None: no compiled loop knows the errors."""

    def client_key(self, client: int) -> bytes | None:
        """Return what only clients with the same function and error share."""
        own = self.inner.client_key(client)
        return None if own is None else own + self.e[client].tobytes()

    @cached_property
    def _lengths(self) -> tuple[Floats, bool]:
        """Return ‖e_i‖ or ‖E_i‖ from above, and whether each is the size of an entry."""
        whole = self.e.reshape(self.n, -1, self.d)
        crowded = max(np.count_nonzero(whole, axis=axis).max() for axis in (1, 2)) > 1
        if not crowded:
            return abs(whole).max(axis=(1, 2)), True
        return np.array([singular(Near(one)).upper[0] for one in whole]), False

    def step_bounds(self, client: int) -> StepBounds | None:
        """Return what steps do to errors of x: the sum, and the product with a step, are rounded."""
        found, size = self.inner.step_bounds(client), self._lengths[0][client]
        if found is None or (self.relative and found.doubt is not None):
            return None
        if not self.relative:
            off = 4.0 * float(np.finfo(self.dtype).eps) * size
            return replace(found, offset=2.0 * found.offset + off, slope=2.0 * found.slope)
        # ‖x − y − s·(I + E)(∇f(x) − ∇f(y))‖ is no more than without E, and s·‖E‖·L·‖x − y‖.
        turned, times = size * found.L, (self.d**2 + 12.0) * (1.0 + size)
        mu, L = found.mu - turned, found.L + turned
        return replace(found, mu=mu, L=L, offset=times * found.offset, slope=times * found.slope)

    def rational(self, options: Mapping[str, Any]) -> "RationalProblem | None":
        """Return the same in rational numbers; None where the clients' problem has none."""
        from boundlab.arithmetic.numbers import exact_array

        inner = self.inner.rational(options)
        return None if inner is None else RationalInexact(inner, exact_array(self.errors if options else self.e))

    @cached_property
    def _constants(self) -> dict[str, Constant]:
        lengths, exact = self._lengths
        longest, found = float(lengths.max()), {**self.inner.constants()}
        symbol, over = ("eps_g", ", over its gradient") if self.relative else ("delta_g", "")
        if (G := found.get("G")) is not None:
            more = longest * Near(G.value) if self.relative else longest
            found["G"] = above(Near(G.value) + more, f"{G.how}; and {symbol}")
        return {
            **found,
            symbol: Constant(longest, "exact" if exact else "upper", f"the longest error of a client{over}"),
        }

    def constants(self) -> Mapping[str, Constant]:
        """Return those of the f_i, of f and of the noise, G with the errors, and delta_g or eps_g."""
        return self._constants

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        own = {UNBIASED: "its gradients have an error that stays; error=0 would fit"}
        if self.relative:
            own[INEXACT] = "its errors grow with the gradients; error=[…], which is added, would fit"
        else:
            own[RELATIVE] = "its errors do not shrink with the gradients; error=relative:… would fit"
        return {**self.inner.assumptions(), **own}

    def spec(self) -> dict[str, Any]:
        """Return the options that rebuild this problem."""
        listed = self.e.tolist()
        return {**self.inner.spec(), "error": f"{_RELATIVE}{json.dumps(listed)}" if self.relative else listed}


@final
@dataclass(slots=True)
class _InexactSteps(WrappedOracle):
    """Stochastic gradient steps with the errors of a problem."""

    problem: Inexact

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do x ← x − step_size·(g_client(x) + error) in place."""
        error = self.problem._error(client, x)
        self.inner.step(x, client, draw, step_size)
        x -= step_size * error


def with_error(problem: Problem, raw: Any) -> Problem:
    """Return the problem whose gradients have the errors of an option; the problem itself where they are 0.

    Parameters
    ----------
    raw
        A list of d numbers for every client, n such lists, or one number, which is along the first coordinate.
        ``relative:`` and a number, one a client, a matrix of d rows of d numbers, or one a client: these multiply
        gradients.

    Raises
    ------
    SpecError
        If it is none of these, or the problem has an h, whose steps are proximal.
    """
    what, n, d = f"problem {problem.id}: error", problem.n, problem.d
    if problem.simple is not None:
        raise SpecError(f"{what} goes with f alone; leave out {problem.simple.words}")
    relative = isinstance(raw, str) and raw.startswith(_RELATIVE)
    try:
        found = np.array(exact_numbers(raw.removeprefix(_RELATIVE) if relative else raw, what), dtype=object)
    except (json.JSONDecodeError, RecursionError) as error:
        raise SpecError(f"{what} must be numbers, got {raw!r}") from error
    unit = np.array([[Fraction(i == j) for j in range(d)] for i in range(d)], dtype=object)
    one = unit if relative else unit[0]
    if found.ndim == 0 or (relative and found.shape == (n,)):
        found = found.reshape(*found.shape, *(1,) * one.ndim) * one
    if found.shape not in (one.shape, (n, *one.shape)) or any(isinstance(entry, list) for entry in found.flat):
        fits = (
            f"relative:E, E a number, d = {d} rows of d numbers, or n = {n} numbers or n such lists of rows"
            if relative
            else f"a number, d = {d} of them, or n = {n} such lists"
        )
        raise SpecError(f"{what} must be {fits}, got {raw!r}")
    rows = np.broadcast_to(found, (n, *one.shape))
    return Inexact(problem, rows) if rows.any() else problem


# Gradients with an error, in rational numbers.


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
