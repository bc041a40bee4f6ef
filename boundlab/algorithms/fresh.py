"""SGD without gradients that are too old: Ringmaster ASGD, and Rennala SGD, whose batches are of one model."""

from abc import abstractmethod
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeVar, final

from boundlab.algorithms import _option as option
from boundlab.algorithms._buffer import Buffered, BufferParameters, Reply, reply_option
from boundlab.algorithms._option import LocalSteps, one_step
from boundlab.errors import SpecError


class FreshParameters(BufferParameters):
    """Parameters of one gradient step an update, with the word ``stops``: whether what is too old is stopped."""

    __slots__ = ()
    stops: bool


P = TypeVar("P", bound=FreshParameters)
_STOPS: Final = "no (default): what is too old is ignored on arrival; yes: stopped, and begun anew"


class _Fresh(Buffered[P]):
    """The mean of ``count`` gradients that are fresh enough moves the server model."""

    single_client_values = MappingProxyType({})

    @abstractmethod
    def stalest(self, parameters: P) -> int:
        """Return the largest staleness of a gradient that counts."""

    def stops(self, parameters: P) -> bool:
        """Return the option."""
        return parameters.stops


@final
@dataclass(frozen=True, slots=True)
class RingmasterParameters(FreshParameters):
    """The parameters of Ringmaster ASGD: α, unit (−1, 2), and its delay threshold, the paper's R.

    A gradient counts if the server made fewer than ``threshold`` updates since its model. The others are ignored when
    they arrive or, with ``stops``, not computed to the end; their clients go on from the newest model.
    """

    local: LocalSteps = one_step("alpha")
    threshold: int = option.integer(
        "server updates after which a gradient is too old; with 1 only fresh ones count", minimum=1, maximum=10**6
    )
    stops: bool = option.flag(_STOPS)
    count: int = field(default=1, init=False)
    reply: Reply = field(default="post", init=False)


@final
class Ringmaster(_Fresh[RingmasterParameters]):
    """Ringmaster ASGD: x_s ← x_s − α·g_i(stale model), or nothing (Maranjyan et al., ICML 2025)."""

    id = "ringmaster"
    summary = "asynchronous SGD without gradients that are as old as a threshold: they are ignored, or stopped"
    parameter_type = RingmasterParameters
    server = "none"

    def stalest(self, parameters: RingmasterParameters) -> int:
        """Return the largest delay below the threshold."""
        return parameters.threshold - 1


@final
@dataclass(frozen=True, slots=True)
class RennalaParameters(FreshParameters):
    """The parameters of Rennala SGD: α, unit (−1, 2), and the gradients in a batch, the paper's S.

    A gradient counts if it was taken at the present server model. The others are ignored when they arrive or, with
    ``stops``, not computed to the end; their clients go on from there.
    """

    local: LocalSteps = one_step("alpha")
    count: int = option.integer("gradients in a batch (default 1)", 1, minimum=1, maximum=10**6)
    reply: Reply = reply_option(words=("post", "pre"))
    stops: bool = option.flag(_STOPS)

    def check(self, owner: str) -> None:
        """Refuse reply=pre where all clients begin anew."""
        if self.stops and self.reply == "pre":
            raise SpecError(f"{owner}: with stops=yes everybody gets the new model; leave reply=pre out")


@final
class Rennala(_Fresh[RennalaParameters]):
    """Rennala SGD: x_s ← x_s − α·(1/count)·Σ g_i(x_s) (Tyurin and Richtárik, NeurIPS 2023)."""

    id = "rennala"
    summary = "minibatch SGD whose batch is filled by whoever is fast: gradients at older models are ignored"
    parameter_type = RennalaParameters

    def stalest(self, parameters: RennalaParameters) -> int:
        """Return 0."""
        return 0


RINGMASTER, RENNALA = Ringmaster(), Rennala()
