"""Clients that always work on one update: what the arrival-driven algorithms share."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.options import Options
from boundlab.tape import SERVER_MODEL, Writer


@final
@dataclass(frozen=True, slots=True)
class LocalSteps:
    """Q local steps of sizes eta[0], …, eta[Q−1], unit (−1, 2)."""

    eta: tuple[float, ...]

    @property
    def steps(self) -> int:
        """Q."""
        return len(self.eta)

    @property
    def first(self) -> float:
        """The size of the first step, in which the others are counted."""
        return self.eta[0]

    @property
    def relative(self) -> NDArray[np.float64]:
        """Shape (Q,), or (0,) where all steps are equal."""
        if len(set(self.eta)) == 1:
            return np.empty(0)
        return np.array(self.eta) / self.eta[0]

    @classmethod
    def read(cls, options: Options, rate: str, steps: str) -> "LocalSteps":
        """Read a rate, or a list of one rate a local step, and the number of steps.

        Raises
        ------
        SpecError
            If a rate is not positive, or there are not as many as local steps.
        """
        options.require(rate)
        rates = options.numbers(rate)
        if min(rates) <= 0.0:
            raise SpecError(f"{options.owner}: {rate} must be > 0, got {min(rates):g}")
        count = options.integer(steps, len(rates), minimum=1, maximum=10**6)
        if len(rates) not in (1, count):
            raise SpecError(
                f"{options.owner}: {rate} has {len(rates)} entries for {count} local steps; give one, or one a step"
            )
        return cls(tuple(rates) if len(rates) == count else (rates[0],) * count)


class Workers:
    """One update in work for each client; results lie in registers that change hands instead of being copied.

    Parameters
    ----------
    spare
        How many results the server may hold at a time.
    models
        Whether a result is the client's model y, or the difference y − x to the model x it started from.
    """

    def __init__(self, writer: Writer, clients: int, local: LocalSteps, spare: int, *, models: bool = False) -> None:
        self.writer, self.local, self.models = writer, local, models
        first = writer.register(count=clients + spare)
        self.free = list(range(first, first + clients + spare))[::-1]
        self.result = [-1] * clients
        self.run = [-1] * clients
        self.version = [0] * clients

    def begin(self, client: int) -> None:
        """Hand the present model to a client."""
        writer, to = self.writer, self.free.pop()
        self.run[client] = writer.descend(to, SERVER_MODEL, client, self.local.steps, self.local.first)
        if not self.models:
            writer.affine(to, (1.0, to), (-1.0, SERVER_MODEL))
        self.result[client], self.version[client] = to, writer.version

    def take(self, client: int) -> tuple[int, int, int]:
        """Receive the client's update: return its run, the register of the result, and its staleness."""
        run, register = self.run[client], self.result[client]
        self.run[client] = -1
        self.writer.arrive(run)
        return run, register, self.writer.version - self.version[client]

    def release(self, register: int) -> None:
        """Give a register back."""
        self.free.append(register)
