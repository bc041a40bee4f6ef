"""Problems given by arrays, and the noise that is added to their gradients: Gaussian, or a vector of either sign."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from boundlab.arithmetic.compiled import EXACT, GAUSSIAN, SIGNS, Clients
from boundlab.arithmetic.near import NEAR, Near, norm, strayed
from boundlab.arithmetic.numbers import FLOATS, Operations
from boundlab.errors import AssumptionError, SpecError
from boundlab.objective import Array, Constant, FullGradients, Oracle, Problem, along
from boundlab.objective.facts import SoughtMinimiser
from boundlab.options import Options
from boundlab.problems.clients import ClientFunctions
from boundlab.problems.common import START_OPTION, read_start, read_vector
from boundlab.randomness import Floats, Ints, Stream, Streams

if TYPE_CHECKING:
    import torch

    from boundlab.arithmetic.tensors import Batched

NOISE_OPTIONS = {
    "sigma": "standard deviation of the additive noise, E‖noise‖² = sigma² (default 0)",
    "noise": "gaussian: N(0, sigma²/d·I); sign: ±sigma·u, each with probability ½ (default gaussian)",
    "direction": "of noise=sign: a list of d numbers, u = direction/‖direction‖ (default the first coordinate)",
}
HEAD_OPTIONS = {**NOISE_OPTIONS, "x0": f"{START_OPTION} (default 0)"}


def read_noise(options: Options, d: int) -> tuple[float, Floats | None]:
    """Return sigma, and the direction of noise=sign, shape (d,), of any length; None for Gaussian noise.

    Raises
    ------
    SpecError
        If an option is wrong, the direction is 0, or belongs to no noise.
    """
    sigma = options.number("sigma", 0.0, minimum=0.0)
    if options.choice("noise", "gaussian", ("gaussian", "sign")) == "gaussian":
        if options.has("direction"):
            raise SpecError(f"{options.owner}: direction belongs to noise=sign; Gaussian noise has none")
        return sigma, None
    if not options.has("direction"):
        return sigma, np.eye(1, d)[0]
    direction = read_vector(options, "direction", d)
    if not direction.any():
        raise SpecError(f"{options.owner}: direction must not be 0")
    return sigma, direction


def read_head(options: Options, d: int, start: float = 0.0) -> dict[str, Any]:
    """Read the options of all problems given by arrays, which are the last ones.

    Returns
    -------
    dict
        x0, sigma and direction, as the classes take them.

    Raises
    ------
    SpecError
        If one is wrong, or an option is left that nobody reads.
    """
    x0 = read_start(options, d, start)
    sigma, direction = read_noise(options, d)
    options.finish()
    return {"x0": x0, "sigma": sigma, "direction": direction}


def head_spec(x0: Array, sigma: float, direction: Floats | None) -> dict[str, Any]:
    """Return the options that :func:`read_head` reads as these."""
    sign = {} if direction is None else {"noise": "sign", "direction": direction.tolist()}
    return {"sigma": sigma, **sign, "x0": x0.tolist()}


@dataclass(frozen=True, eq=False, kw_only=True)
class ArrayProblem(SoughtMinimiser):
    """A problem given by arrays, one row a client, with additive noise.

    A final class names the array whose first axis counts clients and whose last is the dimension.

    Parameters
    ----------
    sigma
        E‖noise‖² = sigma², unit (1, −1).
    source
        The options that rebuild the problem, or empty: then ``spec`` writes the arrays out.
    direction
        Shape (d,), not 0, of any length: the noise is ±sigma·direction/‖direction‖, each with probability ½; None: it
        is N(0, sigma²/d·I).
    """

    sigma: float = 0.0
    source: Mapping[str, Any] = field(default_factory=dict)
    direction: Floats | None = None

    @property
    @abstractmethod
    def _rows(self) -> Floats: ...

    @property
    def n(self) -> int:  # type: ignore[override]
        """Return the number of clients."""
        return int(self._rows.shape[0])

    @property
    def d(self) -> int:  # type: ignore[override]
        """Return the dimension."""
        return int(self._rows.shape[-1])

    @property
    def sign_noise(self) -> Floats | None:
        """Return sigma·u, shape (d,), unit (1, −1), or None: there is no noise, or it is Gaussian."""
        return None if self.direction is None or self.sigma == 0.0 else along(self.direction, self.sigma)

    @abstractmethod
    def _arrays(self) -> dict[str, Any]:
        """Return the options that give the functions; x0 follows unless it is among them."""

    def spec(self) -> dict[str, Any]:
        """Return the options that rebuild this problem."""
        written = self.source or {**self._arrays(), **head_spec(self.x0, self.sigma, self.direction)}
        return {"type": self.id, **written}

    def oracle(self, streams: Streams) -> Oracle:
        """Return the oracle with additive noise."""
        return additive_noise(self, self.sigma, streams)

    def _drawing(self, clients: Clients) -> Clients:
        """Return clients with the noise of the oracle."""
        if self.sign_noise is not None:
            return clients._replace(drawn=SIGNS, vector=self.sign_noise)
        return clients._replace(drawn=GAUSSIAN if self.sigma else EXACT)

    @property
    def _noise(self) -> Constant:
        kind = "Gaussian noise" if self.direction is None else "noise of either sign"
        return Constant(self.sigma, "exact", f"additive {kind}")


class InEveryArithmetic(ArrayProblem):
    """A problem whose clients' functions are written for all arithmetics."""

    @abstractmethod
    def functions(self, by: Operations) -> ClientFunctions:
        """Return the functions in an arithmetic."""

    @cached_property
    def clients(self) -> ClientFunctions:
        """Return the functions in floats."""
        return self.functions(FLOATS)

    @cached_property
    def near(self) -> ClientFunctions:
        """Return the functions in floats that carry their error."""
        return self.functions(NEAR)

    def value(self, x: Array) -> float:
        """Return f(x), unit (1, 0)."""
        return float(self.clients.value(x))

    def values(self, X: Array) -> Floats:
        """Return f at each row of X, shape (S,), unit (1, 0)."""
        return np.asarray(self.clients.value(X))

    def rounding(self, x: Floats) -> tuple[float, float]:
        """Return how far rounding may put the value and the gradient off."""
        away = norm(strayed(self.full_gradient(x), self.near.full_gradient(Near(x))))
        return self.value_rounding(x), float(away.upper)

    def value_rounding(self, x: Floats) -> float:
        """Return how far rounding may put the value off."""
        return float(strayed(self.value(x), self.near.value(Near(x))))

    def roundings(self, X: Floats) -> tuple[Floats, Floats]:
        """Return how far rounding may put values and gradients off at each row of X, shape (S,) each."""
        return strayed(self.values(X), self.near.value(Near(X))), self.gradient_roundings(X)

    def gradient_roundings(self, X: Floats) -> Floats:
        """Return how far rounding may put gradients off at each row of X, shape (S,)."""
        return np.asarray(norm(strayed(self.full_gradients_at(X), self.near.full_gradient(Near(X)))).upper)

    def client_value(self, client: int, x: Array) -> float:
        """Return f_client(x), unit (1, 0)."""
        return float(self.clients.client_value(client, x))

    def gradient(self, client: int, x: Array) -> Array:
        """Return the (sub)gradient of f_client at x, shape (d,), unit (1, −1)."""
        return np.asarray(self.clients.gradient(client, x))

    def gradients(self, client: int, X: Array) -> Array:
        """Return the (sub)gradients of f_client at each row of X, shape (S, d), unit (1, −1)."""
        return np.asarray(self.clients.gradient(client, X))

    def full_gradient(self, x: Array) -> Floats:
        """Return a (sub)gradient of f, shape (d,), unit (1, −1)."""
        return np.asarray(self.clients.full_gradient(np.asarray(x, dtype=np.float64)))

    def full_gradients_at(self, X: Array) -> Floats:
        """Return a (sub)gradient of f at each row of X, shape (S, d), unit (1, −1)."""
        return np.asarray(self.clients.full_gradient(np.asarray(X, dtype=np.float64)))

    def prox(self, client: int, x: Array, step_size: float) -> Array:
        """Return the proximal point, shape (d,), unit (0, 1), where it has a closed form."""
        try:
            return np.asarray(self.clients.prox(client, x, step_size))
        except AssumptionError:
            return super().prox(client, x, step_size)

    def tensors(self, device: "torch.device", dtype: "torch.dtype") -> "Batched":
        """Return the problem on tensors."""
        from boundlab.problems.batched import BatchedClients

        return BatchedClients(self.functions, self.d, self.sigma, self.sign_noise, device, dtype)


def additive_noise(problem: Problem, sigma: float, streams: Streams) -> Oracle:
    """Return the oracle g_i = ∇f_i + noise with E‖noise‖² = sigma²; without noise the oracle that draws nothing.

    The noise is ±:attr:`boundlab.objective.Problem.sign_noise` where the problem gives that, else N(0, sigma²/d·I).
    """
    return NoisyGradients(problem, sigma, problem.sign_noise, streams) if sigma else FullGradients(problem)


@final
@dataclass(slots=True)
class NoisyGradients(Oracle):
    """Exact (sub)gradients plus independent noise.

    Parameters
    ----------
    sigma
        Of Gaussian noise: E‖noise‖² = sigma², unit (1, −1).
    vector
        Shape (d,), unit (1, −1): plus or minus this is the noise, each with probability ½; None: it is Gaussian.
    """

    problem: Problem
    sigma: float
    vector: Floats | None
    streams: Streams

    def draws(self, clients: Ints, updates: Ints, steps: int) -> Any:
        """Return the noise vectors, shape (B, steps, d), unit (1, −1); of noise with two signs these, (B, steps)."""
        if self.vector is not None:
            return np.where(self.streams.uniforms(Stream.NOISE, clients, updates, steps) < 0.5, 1.0, -1.0)
        d = self.problem.d
        normal = self.streams.normals(Stream.NOISE, clients, updates, steps * d)
        normal *= self.sigma / np.sqrt(d)
        return normal.reshape(-1, steps, d)

    def draw_size(self, steps: int) -> int:
        """Return steps·d, or of noise with two signs steps."""
        return steps * self.problem.d if self.vector is None else steps

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one noisy (sub)gradient step in place."""
        noise = draw if self.vector is None else draw * self.vector
        x -= step_size * (self.problem.gradient(client, x) + noise)
