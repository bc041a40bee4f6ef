"""FedBuff: buffered asynchronous aggregation (Nguyen et al., AISTATS 2022)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from boundlab.algorithms._buffer import (
    REPLY,
    Arrival,
    Buffered,
    Reply,
    buffer_quantities,
    compile_buffer,
    read_reply,
)
from boundlab.algorithms._clients import LocalSteps
from boundlab.algorithms._staleness import FORMS, Staleness, read_staleness
from boundlab.events import Events
from boundlab.options import Options
from boundlab.tape import RecordAt, Tape


@final
@dataclass(frozen=True, slots=True)
class FedBuffParameters:
    """The parameters of FedBuff.

    Parameters
    ----------
    local
        M local steps of size eta_l, unit (−1, 2).
    eta_g
        Server rate, without units.
    count
        Updates in a full buffer.
    reply
        Who is answered when; see :data:`boundlab.algorithms._buffer.REPLY`.
    staleness
        s(τ), which multiplies an update that arrives τ versions late.
    """

    local: LocalSteps
    eta_g: float = 1.0
    count: int = 1
    reply: Reply = "post"
    staleness: Staleness = field(default_factory=Staleness)


@final
@dataclass(frozen=True, slots=True)
class FedBuff(Buffered):
    """The compiler of FedBuff: x_s ← x_s − eta_g·(1/count)·Σ s(τ)·(x − y)."""

    id: str = "fedbuff"
    summary: str = "buffered asynchronous aggregation: the mean of every count updates moves the server model"
    parameters: Mapping[str, str] = field(
        default_factory=lambda: {
            "eta_l": "local step size, or a list of one a local step",
            "eta_g": "server rate (default 1)",
            "M": "local steps (default 1, or as many as eta_l has entries)",
            "count": "updates in a full buffer (default 1)",
            "reply": REPLY,
            "staleness": f"{FORMS}; default constant",
        }
    )

    def read(self, options: Options) -> FedBuffParameters:
        """Read the parameters from options."""
        parameters = FedBuffParameters(
            local=LocalSteps.read(options, "eta_l", "M"),
            eta_g=options.number("eta_g", 1.0, above=0.0),
            count=options.integer("count", 1, minimum=1, maximum=10**6),
            reply=read_reply(options),
            staleness=read_staleness(options, "staleness"),
        )
        options.finish()
        return parameters

    def schedule(
        self, parameters: FedBuffParameters, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        """Compile; each aggregation is one iteration."""
        scale = parameters.eta_g / parameters.count

        def weights(buffer: Sequence[Arrival]) -> list[float]:
            return [scale * parameters.staleness(update.tau) for update in buffer]

        return compile_buffer(
            self.id, events, clients, records, iterations, parameters.local, parameters.count, parameters.reply, weights
        )

    def quantities(
        self, parameters: FedBuffParameters, tape: Tape, until: int, settings: Mapping[str, float]
    ) -> dict[str, float]:
        """Return tau_max, chi2, … as :func:`boundlab.algorithms._buffer.buffer_quantities`."""
        return buffer_quantities(tape, until, parameters.local.steps, parameters.eta_g, parameters.count)

    def figures(self, parameters: FedBuffParameters, tape: Tape) -> dict[str, Any]:
        """Return the spread of the shares π_i: chi² = n·Σ(π_i − 1/n)²."""
        if tape.iterations == 0:
            return {}
        found = buffer_quantities(tape, tape.iterations, parameters.local.steps, parameters.eta_g, parameters.count)
        return {key: found[key] for key in ("chi2", "chi2_path", "alpha2")}


FEDBUFF = FedBuff()
