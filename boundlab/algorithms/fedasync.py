"""FedAsync: every arriving model is mixed in at once (Xie, Koyejo, Gupta, 2019)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, final

from boundlab.algorithms import _option as option
from boundlab.algorithms._buffer import Buffered, BufferParameters, Reply
from boundlab.algorithms._option import LocalSteps, Staleness, local_steps, staleness_function
from boundlab.tape import Tape, arrivals


@final
@dataclass(frozen=True, slots=True)
class FedAsyncParameters(BufferParameters):
    """The parameters of FedAsync: β without units, and Q local steps of size eta_l, unit (−1, 2).

    An update has the weight β_t = β·s(τ + offset), with τ the server versions since the client's model; in the
    paper's own t − τ the freshest update has staleness 1. ``model``: x_s ← (1 − β_t)·x_s + β_t·y. ``delta``:
    x_s ← x_s + β_t·(y − x).
    """

    beta: float = option.number("mixing weight in (0, 1]", above=0.0, maximum=1.0)
    local: LocalSteps = local_steps("eta_l", "Q")
    s: Staleness = staleness_function()
    offset: int = option.integer("added to the staleness: 0 (default) or 1, the paper's own count", 0, maximum=10**6)
    mode: Literal["model", "delta"] = option.choice(
        "model (default): mix the models; delta: add the difference that the client made", ("model", "delta")
    )
    count: int = field(default=1, init=False)
    reply: Reply = field(default="post", init=False)


@final
class FedAsync(Buffered[FedAsyncParameters]):
    """FedAsync: a buffer of one update. Each arrival is one iteration, and its client gets the new model."""

    id = "fedasync"
    summary = "every arriving model is mixed into the server model at once, damped by its staleness"
    parameter_type = FedAsyncParameters
    step_size_symbols = ("eta_l",)
    server = "none"
    mixes = True
    rate, damped = "beta", "s"

    def models(self, parameters: FedAsyncParameters) -> bool:
        """Return what the mode says."""
        return parameters.mode == "model"

    def weight(self, parameters: FedAsyncParameters, tau: int) -> float:
        """Return β_t of an update that is τ versions old."""
        return parameters.beta * parameters.s(tau + parameters.offset)

    def quantities(
        self, parameters: FedAsyncParameters, tape: Tape, until: int, settings: Mapping[str, float]
    ) -> dict[str, float]:
        """Return no shares with mode=model, as what enters is no difference that a client made."""
        found = super().quantities(parameters, tape, until, settings)
        return found or {**arrivals(tape, until), "Q": parameters.local.steps, "b": 1}


FEDASYNC = FedAsync()
