"""Problems around another one."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundlab.objective._constants import Array, Constant, GradientsOnSet, Optimum, StepBounds
from boundlab.objective._oracle import Oracle
from boundlab.objective._problem import Problem
from boundlab.randomness import Streams

if TYPE_CHECKING:
    from boundlab.arithmetic.compiled import Clients
    from boundlab.objective.simple import BoundedSet, ProxFunction


class Wrapped(Problem):
    """The clients of another problem: start, functions, steps, noise and data are theirs unless a class says else.

    Parameters
    ----------
    inner
        Whose clients they are.
    """

    inner: Problem

    @property
    def id(self) -> str:  # type: ignore[override]
        """Return the id of the clients' problem."""
        return self.inner.id

    @property
    def n(self) -> int:  # type: ignore[override]
        """Return the number of clients."""
        return self.inner.n

    @property
    def d(self) -> int:  # type: ignore[override]
        """Return the dimension."""
        return self.inner.d

    @property
    def x0(self) -> Array:  # type: ignore[override]
        """Return the start."""
        return self.inner.x0

    @property
    def dtype(self) -> type[np.floating[Any]]:  # type: ignore[override]
        """Return the iterates' type."""
        return self.inner.dtype

    @property
    def simple(self) -> "ProxFunction | None":
        """Return h."""
        return self.inner.simple

    @property
    def gradient_part(self) -> Problem:
        """Return that of the clients' problem where it has an h."""
        return self if self.simple is None else self.inner.gradient_part

    def client_value(self, client: int, x: Array) -> float:
        """Return f_client(x), unit (1, 0)."""
        return self.inner.client_value(client, x)

    def gradient(self, client: int, x: Array) -> Array:
        """Return a (sub)gradient of f_client, shape (d,), unit (1, −1)."""
        return self.inner.gradient(client, x)

    def gradients(self, client: int, X: Array) -> Array:
        """Return the (sub)gradients of f_client at each row of X, shape (S, d), unit (1, −1)."""
        return self.inner.gradients(client, X)

    def descend(self, client: int, x: Array, step_size: float) -> None:
        """Do x ← x − step_size·∇f_client(x) in place."""
        self.inner.descend(client, x, step_size)

    def prox(self, client: int, x: Array, step_size: float) -> Array:
        """Return the proximal point of f_client, shape (d,), unit (0, 1)."""
        return self.inner.prox(client, x, step_size)

    def oracle(self, streams: Streams) -> Oracle:
        """Return the oracle of the clients."""
        return self.inner.oracle(streams)

    def compiled(self) -> "Clients | None":
        """Return those of the clients' problem."""
        return self.inner.compiled()

    def near_kink(self, client: int, X: Array, room: float) -> NDArray[np.bool_]:
        """Return at which rows of X the gradient of f_client may jump within a distance of ``room``, shape (S,)."""
        return self.inner.near_kink(client, X, room)

    def step_bounds(self, client: int) -> StepBounds | None:
        """Return what local steps of f_client do to errors."""
        return self.inner.step_bounds(client)

    def gradients_on(self, region: "BoundedSet") -> GradientsOnSet | None:
        """Return how large the gradients of the f_i are on a bounded set."""
        return self.inner.gradients_on(region)

    def client_key(self, client: int) -> bytes | None:
        """Return what only clients with the same function share."""
        return self.inner.client_key(client)

    def claims(self) -> Mapping[str, Constant]:
        """Return what is somebody's word of the clients."""
        return self.inner.claims()

    def files(self) -> tuple[Path, ...]:
        """Return the files of the clients' data."""
        return self.inner.files()

    def data_sha256(self) -> str:
        """Return the SHA-256 of the clients' samples."""
        return self.inner.data_sha256()

    def spec(self) -> dict[str, Any]:
        """Return the JSON form of the clients' problem."""
        return self.inner.spec()


class SameObjective(Wrapped):
    """As :class:`Wrapped`, with the objective of the clients' problem: steps differ, or what is known."""

    def value(self, x: Array) -> float:
        """Return f(x), unit (1, 0)."""
        return self.inner.value(x)

    def values(self, X: Array) -> NDArray[np.float64]:
        """Return f at each row of X, shape (S,), unit (1, 0)."""
        return self.inner.values(X)

    def full_gradient(self, x: Array) -> NDArray[np.float64]:
        """Return ∇f(x), shape (d,), unit (1, −1)."""
        return self.inner.full_gradient(x)

    def full_gradients_at(self, X: Array) -> NDArray[np.float64]:
        """Return those of the clients' problem."""
        return self.inner.full_gradients_at(X)

    def roundings(self, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return those of the clients' problem."""
        return self.inner.roundings(X)

    def gradient_roundings(self, X: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return those of the clients' problem."""
        return self.inner.gradient_roundings(X)

    def optimum(self) -> Optimum:
        """Return x* and f* with their certificate."""
        return self.inner.optimum()

    def gradient_norms_at_optimum(self) -> NDArray[np.float64] | None:
        """Return upper bounds of ‖∇f_i(x*)‖, shape (n,), unit (1, −1)."""
        return self.inner.gradient_norms_at_optimum()

    def rounding(self, x: NDArray[np.float64]) -> tuple[float, float] | None:
        """Return how far rounding may put f and ∇f off at x."""
        return self.inner.rounding(x)

    def steepness(self) -> float:
        """Return the most by which f grows to first order where x* moves by 1, unit (1, −1)."""
        return self.inner.steepness()

    @property
    def sign_noise(self) -> NDArray[np.float64] | None:
        """The vector that the oracle adds with either sign."""
        return self.inner.sign_noise


@dataclass(slots=True)
class WrappedOracle(Oracle):
    """The random numbers of another oracle, for steps that a class makes of its steps."""

    inner: Oracle

    def draws(self, clients: NDArray[np.int64], updates: NDArray[np.int64], steps: int) -> Any:
        """Return the numbers of the clients' oracle."""
        return self.inner.draws(clients, updates, steps)

    def draw_size(self, steps: int) -> int:
        """Return what the clients' oracle says."""
        return self.inner.draw_size(steps)
