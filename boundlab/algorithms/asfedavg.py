"""AS-FedAvg: asynchronous FedAvg with a buffer, the baseline of AREA's Section 5."""

from dataclasses import dataclass
from typing import final

from boundlab.algorithms import _option as option
from boundlab.algorithms._buffer import Buffered, BufferParameters, Reply, reply_option
from boundlab.algorithms._option import LocalSteps, local_steps


@final
@dataclass(frozen=True, slots=True)
class AsFedAvgParameters(BufferParameters):
    """The parameters of AS-FedAvg: M local steps of size alpha, unit (−1, 2); ``reply`` defaults to that of AREA."""

    local: LocalSteps = local_steps("alpha", "M")
    count: int = option.integer("models in a full buffer (default 1)", 1, minimum=1, maximum=10**6)
    reply: Reply = reply_option("pre")


@final
class AsFedAvg(Buffered[AsFedAvgParameters]):
    """AS-FedAvg: the mean of the buffered local models replaces x_s."""

    id = "asfedavg"
    summary = "asynchronous FedAvg: the mean of every count local models replaces the server model"
    parameter_type = AsFedAvgParameters

    def models(self, parameters: AsFedAvgParameters) -> bool:
        """Return True."""
        return True


ASFEDAVG = AsFedAvg()
