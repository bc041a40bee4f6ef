"""FedAsync: every arriving model is mixed in at once (Xie, Koyejo, Gupta, 2019)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, final

from boundlab.algorithms._algorithm import Algorithm
from boundlab.algorithms._buffer import buffer_quantities
from boundlab.algorithms._clients import LocalSteps, Workers
from boundlab.algorithms._staleness import FORMS, Staleness, read_staleness
from boundlab.events import Events
from boundlab.options import Options
from boundlab.tape import SERVER_MODEL, RecordAt, Tape, Writer


@final
@dataclass(frozen=True, slots=True)
class FedAsyncParameters:
    """The parameters of FedAsync.

    Parameters
    ----------
    beta
        Mixing weight in (0, 1], without units.
    local
        Q local steps of size eta_l, unit (−1, 2).
    s
        Staleness function; an update has weight β·s(τ + offset).
    offset
        0 counts the server versions since the client's model; 1 is the paper's own t − τ, in which the
        freshest update has staleness 1.
    mode
        ``model``: x_s ← (1 − β_t)·x_s + β_t·y. ``delta``: x_s ← x_s + β_t·(y − x).
    """

    beta: float
    local: LocalSteps
    s: Staleness = field(default_factory=Staleness)
    offset: int = 0
    mode: Literal["model", "delta"] = "model"


@final
@dataclass(frozen=True, slots=True)
class FedAsync(Algorithm):
    """The compiler of FedAsync."""

    id: str = "fedasync"
    summary: str = "every arriving model is mixed into the server model at once, damped by its staleness"
    parameters: Mapping[str, str] = field(
        default_factory=lambda: {
            "beta": "mixing weight in (0, 1]",
            "eta_l": "local step size, or a list of one a local step",
            "Q": "local steps (default 1, or as many as eta_l has entries)",
            "s": f"staleness function: {FORMS}; default constant",
            "offset": "added to the staleness: 0 (default) or 1, the paper's own count",
            "mode": "model (default): mix the models; delta: add the difference that the client made",
        }
    )

    def read(self, options: Options) -> FedAsyncParameters:
        """Read the parameters from options."""
        options.require("beta")
        parameters = FedAsyncParameters(
            beta=options.number("beta", 1.0, above=0.0, maximum=1.0),
            local=LocalSteps.read(options, "eta_l", "Q"),
            s=read_staleness(options, "s"),
            offset=options.integer("offset", 0, maximum=10**6),
            mode=options.choice("mode", "model", ("model", "delta")),  # type: ignore[arg-type]
        )
        options.finish()
        return parameters

    def schedule(
        self, parameters: FedAsyncParameters, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        """Compile; each arrival is one iteration, and its client gets the new model."""
        mix = parameters.mode == "model"
        writer = Writer(events, clients, records, iterations, parameters.local.relative)
        workers = Workers(writer, clients, parameters.local, 1, models=mix)
        for client in range(clients):
            workers.begin(client)
        for event, client in enumerate(events.actor.tolist()):
            if writer.done:
                break
            writer.begin(event)
            run, result, tau = workers.take(client)
            weight = parameters.beta * parameters.s(tau + parameters.offset)
            if mix:
                writer.replace_model((1.0 - weight, SERVER_MODEL), (weight, result))
            else:
                writer.use(run, weight)
                writer.server_update((weight, result))
            workers.release(result)
            workers.begin(client)
            writer.end()
        return writer.tape()

    def quantities(
        self, parameters: FedAsyncParameters, tape: Tape, until: int, settings: Mapping[str, float]
    ) -> dict[str, float]:
        """Return tau_max, chi2, … with a buffer of one update; mode=delta only."""
        if parameters.mode == "model":
            return {}
        return buffer_quantities(tape, until, parameters.local.steps, parameters.beta, 1)


FEDASYNC = FedAsync()
