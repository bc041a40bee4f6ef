"""Problems around another one."""

from abc import update_abstractmethods
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import RationalProblem, Vector
from boundlab.arithmetic.writing import Reason
from boundlab.objective._constants import Optimum, Oracle
from boundlab.objective._problem import Problem
from boundlab.randomness import Array, Ints, Streams

# What a problem says of its objective, whoever its clients are.
OF_VALUES = (
    "value",
    "values",
    "full_gradient",
    "full_gradients_at",
    "optimum",
    "rounding",
    "roundings",
    "gradient_roundings",
    "steepness",
)


def answered_by(whom: str, *names: str) -> Callable[[type], type]:
    """Return a decorator of classes that leave members to another object, which one of their attributes is.

    Parameters
    ----------
    whom
        The attribute.
    names
        The members.
    """

    def leave(owner: type) -> type:
        for name in names:
            setattr(owner, name, property(attrgetter(f"{whom}.{name}"), doc=f"As ``{whom}`` has it."))
        return update_abstractmethods(owner)

    return leave


@answered_by(
    "inner",
    "id",
    "n",
    "d",
    "x0",
    "dtype",
    "simple",
    "client_value",
    "gradients",
    "descend",
    "prox",
    "compiled",
    "near_kink",
    "step_bounds",
    "gradients_on",
    "client_key",
    "sign_noise",
    "claims",
    "files",
    "data_sha256",
)
class Wrapped(Problem):
    """The clients of another problem: start, functions, steps, noise and data are theirs unless a class says else.

    Parameters
    ----------
    inner
        Whose clients they are.
    """

    inner: Problem

    @property
    def gradient_part(self) -> Problem:
        """Return that of the clients' problem where it has an h."""
        return self if self.simple is None else self.inner.gradient_part

    def value(self, x: Array) -> float:
        """Return f(x), unit (1, 0)."""
        return self.inner.value(x)

    def gradient(self, client: int, x: Array) -> Array:
        """Return a (sub)gradient of f_client, shape (d,), unit (1, −1)."""
        return self.inner.gradient(client, x)

    def oracle(self, streams: Streams) -> Oracle:
        """Return the oracle of the clients."""
        return self.inner.oracle(streams)

    def optimum(self) -> Optimum:
        """Return x* and f* with their certificate."""
        return self.inner.optimum()

    def spec(self) -> dict[str, Any]:
        """Return the JSON form of the clients' problem."""
        return self.inner.spec()


@answered_by("inner", *OF_VALUES, "gradient_norms_at_optimum")
class SameObjective(Wrapped):
    """As :class:`Wrapped`, with the objective of the clients' problem: steps differ, or what is known."""


@dataclass(slots=True)
class WrappedOracle(Oracle):
    """The random numbers of another oracle, for steps that a class makes of its steps."""

    inner: Oracle

    def draws(self, clients: Ints, updates: Ints, steps: int) -> Any:
        """Return the numbers of the clients' oracle."""
        return self.inner.draws(clients, updates, steps)

    def draw_size(self, steps: int) -> int:
        """Return what the clients' oracle says."""
        return self.inner.draw_size(steps)


# Problems around another one, in rational numbers.

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
