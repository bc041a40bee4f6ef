"""FedAsync: every arriving model is mixed in at once (Xie, Koyejo, Gupta, 2019)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, final

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm
from boundlab.algorithms._arrivals import Arrivals, of_staleness
from boundlab.algorithms._buffer import why_not_stationary, why_not_uniform
from boundlab.algorithms._loop import Rules
from boundlab.algorithms._option import Parameters
from boundlab.algorithms._program import ClientSlots, Control, Event, EventLaw, EventProgram, Row, Share, Step
from boundlab.algorithms._staleness import Staleness, staleness_function
from boundlab.algorithms._steps import LocalSteps, local_steps
from boundlab.delays import DelayModel
from boundlab.events import Events
from boundlab.tape import SERVER_MODEL, RecordAt, Tape, arrivals


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
    """The compiler of FedAsync."""

    id = "fedasync"
    summary = "every arriving model is mixed into the server model at once, damped by its staleness"
    parameter_type = FedAsyncParameters
    step_size_symbols = ("eta_l",)

    def schedule(
        self, parameters: FedAsyncParameters, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        """Compile; each arrival is one iteration, and its client gets the new model."""
        rules = Rules(1, models=parameters.mode == "model")
        compiler = Arrivals(rules, parameters.local, 1, of_staleness(parameters.weight))
        return compiler.tape(self.id, events, clients, records, iterations)

    def program(self, parameters: FedAsyncParameters, clients: int) -> "FedAsyncProgram":
        """Return one arrival."""
        return FedAsyncProgram(parameters, clients)

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


@final
class FedAsyncProgram(EventProgram):
    """One arrival; control: the age of each client's model where weights depend on it."""

    def __init__(self, parameters: FedAsyncParameters, clients: int) -> None:
        local = parameters.local
        self._parameters, self._ages = parameters, parameters.s.kind != "constant"
        self._desk = ClientSlots(clients, local.steps, local.first, models=parameters.mode == "model")
        self.initial, self.local = self._desk.initial(0), local.relative
        self.slots = tuple((self._desk.result(client),) for client in range(clients))

    def opening(self) -> tuple[tuple[Row, ...], Control]:
        """Everybody works on x0."""
        return self._desk.begin_all(), Control((0,) * len(self.slots))

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return all clients."""
        return law.clients()

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Mix the update in, and answer."""
        client, desk = event[0], self._desk
        ages = [one for one in control.slots if isinstance(one, int)]
        weight, result = self._parameters.weight(ages[client]), desk.result(client)
        terms = (
            [(weight, result)] if self._parameters.mode == "delta" else [(1.0 - weight, SERVER_MODEL), (weight, result)]
        )
        ages = [age + 1 if self._ages else 0 for age in ages]
        ages[client] = 0
        return Step((desk.server_update(*terms), *desk.begin(client)), Control(tuple(ages)), True)


FEDASYNC = FedAsync()
