"""Problems given by arrays, and the noise that is added to their gradients: Gaussian, or a vector of either sign."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.objective import Array, Constant, FullGradients, Oracle, Problem, along
from boundlab.options import Options
from boundlab.problems.common import read_vector
from boundlab.randomness import Stream, Streams

Floats = NDArray[np.float64]
NOISE_OPTIONS = {
    "sigma": "standard deviation of the additive noise, E‖noise‖² = sigma² (default 0)",
    "noise": "gaussian: N(0, sigma²/d·I); sign: ±sigma·u, each with probability ½ (default gaussian)",
    "direction": "of noise=sign: a list of d numbers, u = direction/‖direction‖ (default the first coordinate)",
}


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


def noise_spec(sigma: float, direction: Floats | None) -> dict[str, Any]:
    """Return the options that :func:`read_noise` reads as these."""
    return {"sigma": sigma} | ({} if direction is None else {"noise": "sign", "direction": direction.tolist()})


class ArrayProblem(Problem):
    """A problem given by arrays, one row a client, with additive noise.

    A final class names the array whose first axis counts clients and whose last is the dimension. ``direction`` is that
    of noise with two signs, shape (d,), of any length; None: the noise is Gaussian.
    """

    sigma: float
    direction: Floats | None

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

    def oracle(self, streams: Streams) -> Oracle:
        """Return the oracle with additive noise."""
        return additive_noise(self, self.sigma, streams)

    @property
    def _noise(self) -> Constant:
        kind = "Gaussian noise" if self.direction is None else "noise of either sign"
        return Constant(self.sigma, "exact", f"additive {kind}")


def additive_noise(problem: Problem, sigma: float, streams: Streams) -> Oracle:
    """Return the oracle g_i = ∇f_i + noise with E‖noise‖² = sigma²; without noise the oracle that draws nothing.

    The noise is ±:attr:`boundlab.objective.Problem.sign_noise` where the problem gives that, else N(0, sigma²/d·I).
    """
    if sigma == 0.0:
        return FullGradients(problem)
    vector = problem.sign_noise
    return GaussianNoise(problem, sigma, streams) if vector is None else SignNoise(problem, vector, streams)


@final
@dataclass(slots=True)
class GaussianNoise(Oracle):
    """Exact (sub)gradients plus independent Gaussian noise with E‖noise‖² = sigma²."""

    problem: Problem
    sigma: float
    streams: Streams

    def draws(self, clients: NDArray[np.int64], updates: NDArray[np.int64], steps: int) -> Any:
        """Return the noise vectors, shape (B, steps, d), unit (1, −1)."""
        d = self.problem.d
        normal = self.streams.normals(Stream.NOISE, clients, updates, steps * d)
        normal *= self.sigma / np.sqrt(d)
        return normal.reshape(-1, steps, d)

    def draw_size(self, steps: int) -> int:
        """Return steps·d."""
        return steps * self.problem.d

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one noisy (sub)gradient step in place."""
        x -= step_size * (self.problem.gradient(client, x) + draw)


@final
@dataclass(slots=True)
class SignNoise(Oracle):
    """Exact (sub)gradients plus or minus one vector, shape (d,), unit (1, −1), each with probability ½."""

    problem: Problem
    vector: Floats
    streams: Streams

    def draws(self, clients: NDArray[np.int64], updates: NDArray[np.int64], steps: int) -> Any:
        """Return the signs, shape (B, steps)."""
        return np.where(self.streams.uniforms(Stream.NOISE, clients, updates, steps) < 0.5, 1.0, -1.0)

    def draw_size(self, steps: int) -> int:
        """Return steps."""
        return steps

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one noisy (sub)gradient step in place."""
        x -= step_size * (self.problem.gradient(client, x) + draw * self.vector)
