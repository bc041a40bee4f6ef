"""(Stochastic) gradient descent, the subgradient method, synchronous mini-batches and local SGD: x ← x − α_k·g."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, final

import numpy as np

from boundlab.algorithms._algorithm import StepSize
from boundlab.algorithms._rounds import MeanStep, Rounds
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import SpecError
from boundlab.events import SERVER, Events, read_events
from boundlab.options import Options
from boundlab.randomness import Stream, Streams
from boundlab.tape import SERVER_MODEL, RecordAt, Tape, Writer

Sampling = Literal["all", "cyclic", "uniform"]
Decay = Literal["none", "sqrt", "linear"]


@final
@dataclass(frozen=True, slots=True)
class GdParameters:
    """The parameters of gradient descent.

    Parameters
    ----------
    step
        α, or α_k = c/(k+d), unit (−1, 2).
    M
        Local steps of an iteration.
    sampling
        Whose gradient an iteration takes: the mean of ``all``, or that of one client, in turns (``cyclic``) or
        drawn (``uniform``).
    decay
        ``sqrt``: α_k = α/√(k+1). ``linear``: α_k = α·(K − k)/(K + 1), 0 from K on.
    K
        The horizon of ``linear``.
    """

    step: StepSize
    M: int = 1
    sampling: Sampling = "all"
    decay: Decay = "none"
    K: int | None = None

    def at(self, k: int) -> float:
        """Return α_k."""
        if self.decay == "sqrt":
            return self.step.c / float(np.sqrt(k + 1.0))
        if self.decay == "linear" and self.K is not None:
            return self.step.c * max(self.K - k, 0) / (self.K + 1.0)
        return float(self.step.at(np.array(k)))


@final
@dataclass(frozen=True, slots=True)
class Gd(Rounds):
    """The compiler of gradient descent."""

    id: str = "gd"
    server: Literal["any", "count", "none"] = "none"
    summary: str = "(stochastic) gradient or subgradient descent on f, with the gradients of all clients or of one"
    parameters: Mapping[str, str] = field(
        default_factory=lambda: {
            "alpha": "constant step size, or the α of decay",
            "c": "with d: alpha_k = c/(k+d)",
            "d": "with c: alpha_k = c/(k+d)",
            "M": "local steps (default 1)",
            "sampling": "all (default), cyclic or uniform: whose gradient an iteration takes",
            "decay": "none (default), sqrt: alpha/√(k+1), or linear: alpha·(K−k)/(K+1)",
            "K": "horizon of decay=linear",
        }
    )

    def read(self, options: Options) -> GdParameters:
        """Read the parameters from options."""
        parameters = GdParameters(
            step=StepSize.read(options),
            M=options.integer("M", 1, minimum=1, maximum=10**6),
            sampling=options.choice("sampling", "all", ("all", "cyclic", "uniform")),  # type: ignore[arg-type]
            decay=options.choice("decay", "none", ("none", "sqrt", "linear")),  # type: ignore[arg-type]
            K=options.integer("K", 1, minimum=1) if options.has("K") else None,
        )
        if parameters.decay != "none" and parameters.step.d is not None:
            raise SpecError(f"{options.owner}: decay={parameters.decay} goes with alpha, not with c and d")
        if (parameters.decay == "linear") != (parameters.K is not None):
            raise SpecError(f"{options.owner}: decay=linear and its horizon K go together")
        options.finish()
        return parameters

    def schedule(
        self, parameters: GdParameters, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        """Compile; each event is one iteration, of all clients ("s") or of the one that it names.

        Raises
        ------
        SpecError
            If the events do not say what ``sampling`` does.
        """
        writer = Writer(events, clients, records, iterations)
        mean = MeanStep(writer, clients)
        for event, actor in enumerate(events.actor.tolist()):
            if writer.done:
                break
            if (actor == SERVER) != (parameters.sampling == "all"):
                raise SpecError(f"gd: sampling={parameters.sampling}, but event {event + 1} is {_named(actor)}")
            # An iteration begins where the one before ended.
            alpha = parameters.at(writer.version)
            if actor == SERVER:
                runs = mean.begin(SERVER_MODEL, alpha, parameters.M)
                writer.begin(event)
                mean.finish(runs)
                for run in runs:
                    writer.use(run, 1.0 / clients)
                writer.replace_model(*mean.terms)
            else:
                run = writer.descend(mean.first + actor, SERVER_MODEL, actor, parameters.M, alpha)
                writer.begin(event)
                writer.arrive(run)
                writer.use(run, 1.0)
                writer.replace_model((1.0, mean.first + actor))
            writer.end()
        return writer.tape()

    def sample(
        self,
        parameters: GdParameters,
        delays: DelayModel,
        policy: ServerPolicy,
        streams: Streams,
        clients: int,
        count: int,
    ) -> Events:
        """Return rounds, or who is asked one after the other."""
        if parameters.sampling == "all":
            # Not super(): zero-argument super() does not work in a dataclass with slots.
            return Rounds.sample(self, parameters, delays, policy, streams, clients, count)
        if parameters.sampling == "cyclic":
            actor = (np.arange(count) % clients).astype(np.int32)
        else:
            actor = np.floor(streams.uniforms(Stream.SCHEDULE, 0, 0, count)[0] * clients).astype(np.int32)
        clock = delays.clock(streams)
        now, times = 0.0, np.empty(count)
        for place, client in enumerate(actor.tolist()):
            now = times[place] = clock.arrival(client, now)
        return Events(times, actor)

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [[time, "s"], …] for sampling=all, [[time, client], …] for the others."""
        return read_events(raw, clients, where)


def _named(actor: int) -> str:
    return '"s"' if actor == SERVER else f"client {actor}"


GD = Gd()
