"""FedAsync: every arriving model is mixed in at once (Xie, Koyejo, Gupta, 2019)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, final

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm
from boundlab.algorithms._buffer import BufferProgram, by_staleness, why_not_stationary, why_not_uniform
from boundlab.algorithms._fold import Weigh, of_staleness
from boundlab.algorithms._option import LocalSteps, Parameters, Staleness, local_steps, staleness_function
from boundlab.delays import DelayModel
from boundlab.events import Events, aged, read_aged
from boundlab.tape import Tape, arrivals


@final
@dataclass(frozen=True, slots=True)
class FedAsyncParameters(Parameters):
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

    def weight(self, tau: int) -> float:
        """Return β_t of an update that is τ versions old."""
        return self.beta * self.s(tau + self.offset)


@final
class FedAsync(Algorithm[FedAsyncParameters]):
    """FedAsync: each arrival is one iteration, and its client gets the new model."""

    id = "fedasync"
    summary = "every arriving model is mixed into the server model at once, damped by its staleness"
    parameter_type = FedAsyncParameters
    step_size_symbols = ("eta_l",)

    def weights(self, parameters: FedAsyncParameters, clients: int) -> Weigh | None:
        """Return β_t."""
        return None if parameters.s.kind == "constant" else of_staleness(parameters.weight)

    def program(self, parameters: FedAsyncParameters, clients: int) -> BufferProgram:
        """Return one arrival: a buffer of one update."""
        mix = parameters.mode == "model"
        return BufferProgram(
            self.id,
            parameters.local,
            1,
            "post",
            clients,
            by_staleness(parameters.weight),
            models=mix,
            mixes=mix,
            ages=parameters.s.kind != "constant",
        )

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [time, client], or [time, client, staleness]."""
        return read_aged(raw, clients, where) if aged(raw) else super().read_events(raw, clients, where)

    def updates_a_version(self, parameters: FedAsyncParameters) -> int | None:
        """Return 1."""
        return 1

    def why_not(self, assumption: str, parameters: FedAsyncParameters, delays: DelayModel) -> str:
        """Say how the arrivals, buffers of one update, come about."""
        if assumption == "stationary-participation":
            return why_not_stationary(delays, "" if parameters.s.kind == "constant" else "s=constant")
        if assumption == "uniform-buffer":
            return why_not_uniform(delays, twice=False)
        return super().why_not(assumption, parameters, delays)

    def quantities(
        self, parameters: FedAsyncParameters, tape: Tape, until: int, settings: Mapping[str, float]
    ) -> dict[str, float]:
        """Return also Q and b = 1; with mode=model no shares, as what enters is no difference that a client made."""
        mix = parameters.mode == "model"
        found = arrivals(tape, until) if mix else super().quantities(parameters, tape, until, settings)
        return {**found, "Q": parameters.local.steps, "b": 1}

    def stays_feasible(self, parameters: FedAsyncParameters, clients: int) -> bool:
        """Return whether models are mixed, with weights of at most β ≤ 1; differences lead anywhere."""
        return parameters.mode == "model"

    def stays_on_set(self, parameters: FedAsyncParameters, clients: int) -> bool:
        """Return whether models are mixed: passes begin at server models."""
        return self.stays_feasible(parameters, clients)

    def server_rate(self, parameters: FedAsyncParameters) -> float:
        """Return β."""
        return parameters.beta


FEDASYNC = FedAsync()
