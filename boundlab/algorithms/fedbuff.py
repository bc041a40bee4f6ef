"""FedBuff: buffered asynchronous aggregation (Nguyen et al., AISTATS 2022)."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

from boundlab.algorithms import _option as option
from boundlab.algorithms._buffer import Buffered, BufferParameters, Reply, reply_option
from boundlab.algorithms._option import FORMS, LocalSteps, Staleness, local_steps, staleness_function
from boundlab.tape import Tape


@final
@dataclass(frozen=True, slots=True)
class FedBuffParameters(BufferParameters):
    """The parameters of FedBuff: M local steps of size eta_l, unit (−1, 2), and eta_g without units.

    ``staleness`` is s(τ), which multiplies an update that arrives τ versions late.
    """

    local: LocalSteps = local_steps("eta_l", "M")
    eta_g: float = option.number("server rate (default 1)", 1.0, above=0.0)
    count: int = option.integer("updates in a full buffer (default 1)", 1, minimum=1, maximum=10**6)
    reply: Reply = reply_option()
    staleness: Staleness = staleness_function(f"{FORMS}; default constant")


@final
class FedBuff(Buffered[FedBuffParameters]):
    """FedBuff: x_s ← x_s − eta_g·(1/count)·Σ s(τ)·(x − y)."""

    id = "fedbuff"
    summary = "buffered asynchronous aggregation: the mean of every count updates moves the server model"
    parameter_type = FedBuffParameters
    step_size_symbols = ("eta_l",)
    single_client_values = MappingProxyType({})
    rate, damped = "eta_g", "staleness"

    def weight(self, parameters: FedBuffParameters, tau: int) -> float:
        """Return eta_g·s(τ)/count."""
        return parameters.eta_g / parameters.count * parameters.staleness(tau)

    def heaviest(self, parameters: FedBuffParameters) -> float:
        """Return eta_g/count: s(τ) ≤ 1."""
        return self.weight(parameters, 0)

    def figures(self, parameters: FedBuffParameters, tape: Tape) -> dict[str, Any]:
        """Return the spread of the shares."""
        return self.spread(parameters, tape)


FEDBUFF = FedBuff()
