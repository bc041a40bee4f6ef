"""AS-FedAvg: asynchronous FedAvg with a buffer, the baseline of AREA's Section 5."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from boundlab.algorithms._buffer import REPLY, Arrival, Buffered, Reply, compile_buffer, read_reply
from boundlab.algorithms._clients import LocalSteps
from boundlab.events import Events
from boundlab.options import Options
from boundlab.tape import RecordAt, Tape


@final
@dataclass(frozen=True, slots=True)
class AsFedAvgParameters:
    """The parameters of AS-FedAvg.

    Parameters
    ----------
    local
        M local steps of size alpha, unit (−1, 2).
    count
        Models in a full buffer.
    reply
        Who is answered when; the default is ``pre``, as for AREA.
    """

    local: LocalSteps
    count: int = 1
    reply: Reply = "pre"


@final
@dataclass(frozen=True, slots=True)
class AsFedAvg(Buffered):
    """The compiler of AS-FedAvg: the mean of the buffered local models replaces x_s."""

    id: str = "asfedavg"
    summary: str = "asynchronous FedAvg: the mean of every count local models replaces the server model"
    parameters: Mapping[str, str] = field(
        default_factory=lambda: {
            "alpha": "local step size, or a list of one a local step",
            "M": "local steps (default 1, or as many as alpha has entries)",
            "count": "models in a full buffer (default 1)",
            "reply": REPLY.replace("post (default)", "post").replace("pre:", "pre (default):"),
        }
    )

    def read(self, options: Options) -> AsFedAvgParameters:
        """Read the parameters from options."""
        parameters = AsFedAvgParameters(
            local=LocalSteps.read(options, "alpha", "M"),
            count=options.integer("count", 1, minimum=1, maximum=10**6),
            reply=read_reply(options, "pre"),
        )
        options.finish()
        return parameters

    def schedule(
        self, parameters: AsFedAvgParameters, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        """Compile; each aggregation is one iteration."""

        def weights(buffer: Sequence[Arrival]) -> list[float]:
            return [1.0 / parameters.count] * len(buffer)

        return compile_buffer(
            self.id, events, clients, records, iterations, parameters.local, parameters.count, parameters.reply,
            weights, models=True,
        )  # fmt: skip


ASFEDAVG = AsFedAvg()
