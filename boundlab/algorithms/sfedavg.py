"""S-FedAvg: synchronous FedAvg with sampled clients (McMahan et al., AISTATS 2017)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import MemberRounds, drawn_subset, subset_size, uniform_subset, uniform_subsets
from boundlab.algorithms._option import LocalSteps, Parameters, local_steps, positive_if_given
from boundlab.algorithms._program import (
    X_S,
    AffineRow,
    Control,
    DescendRow,
    Event,
    EventLaw,
    EventProgram,
    Share,
    Step,
)
from boundlab.arithmetic.rational import shortest_decimal
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import SpecError
from boundlab.events import SERVER, Events, events_of
from boundlab.randomness import Streams
from boundlab.tape import Initial, Tape


@final
@dataclass(frozen=True, slots=True)
class SFedAvgParameters(Parameters):
    """The parameters of S-FedAvg: M local steps of size alpha, unit (−1, 2).

    ``weights`` are empty where all are equal, ``sampled`` is None where all clients are.
    """

    local: LocalSteps = local_steps("alpha", "M")
    weights: tuple[float, ...] = option.custom(
        "one number a client, normalised over a round (default equal)",
        lambda options, name: positive_if_given(options, name) or (),
        (),
        {"": lambda clients: ("", f"[{','.join(['3', *['1'] * (clients - 1)])}]")},
    )
    sampled: int | None = option.integer(
        "clients of a round, drawn uniformly without replacement (default all)", None, minimum=1
    )

    def of_clients(self, clients: int) -> tuple[float, ...]:
        """Return one weight a client.

        Raises
        ------
        SpecError
            If there are not as many, or they differ while a round has fewer clients: its mean over these is then no
            mean with the weights, and no objective is known of which the runs are about.
        """
        if self.weights and len(self.weights) != clients:
            raise SpecError(f"sfedavg: {len(self.weights)} weights for {clients} clients; give one a client")
        if len(set(self.weights)) > 1 and self.sampled is not None and self.sampled < clients:
            raise SpecError(
                f"sfedavg: weights with sampled={self.sampled} of {clients} clients minimise no Σ p_i f_i that is "
                "known: the weights are normalised over each round; leave weights or sampled out"
            )
        return self.weights or (1.0,) * clients


@final
class SFedAvg(MemberRounds[SFedAvgParameters]):
    """S-FedAvg: rounds that last as long as their slowest client."""

    id = "sfedavg"
    summary = "synchronous FedAvg: each round averages the local models of the sampled clients"
    parameter_type = SFedAvgParameters
    weighs = "weights"
    draws = (drawn_subset("sampled"),)
    takes_rounds = True
    form, example = "[round end, [clients]]", "[[1.5, [0, 2]]]"

    def program(self, parameters: SFedAvgParameters, clients: int) -> "SFedAvgProgram":
        """Return one round."""
        return SFedAvgProgram(parameters, clients)

    def sample(
        self,
        parameters: SFedAvgParameters,
        delays: DelayModel,
        policy: ServerPolicy,
        streams: Streams,
        clients: int,
        count: int,
    ) -> Events:
        """Return the rounds that the delay model says, or drawn ones.

        Raises
        ------
        SpecError
            If there are fewer, or the parameters say something else of who is in a round.
        """
        if delays.rounds is None:
            return super().sample(parameters, delays, policy, streams, clients, count)
        if parameters.sampled is not None or len(set(parameters.weights)) > 1:
            raise SpecError("sfedavg: the delays say who is in each round; leave sampled and weights out")
        if len(delays.rounds) < count:
            raise SpecError(f"delays {delays.id} say {len(delays.rounds)} rounds; {count} are asked for")
        rounds = delays.rounds[:count]
        return events_of(np.array([end for end, _ in rounds]), [(SERVER, *who) for _, who in rounds])

    def drawn(self, parameters: SFedAvgParameters, streams: Streams, clients: int, count: int) -> list[Event]:
        """Return who is sampled."""
        size = subset_size("sfedavg", parameters.sampled, clients)
        if size == clients:
            return [tuple(range(clients))] * count
        return [uniform_subset(streams, turn, clients, size) for turn in range(count)]

    def wrong(self, members: Sequence[int], clients: int) -> str:
        """Say so of nobody, and of a client that stands there twice."""
        if not members:
            return f" must be {self.form}, got the clients []"
        return "" if len({*members}) == len(members) else f": a client stands twice in {members}"

    def quantities(
        self, parameters: SFedAvgParameters, tape: Tape, until: int, settings: Mapping[str, float]
    ) -> dict[str, float]:
        """Return also Q, and b, the sampled clients."""
        found = super().quantities(parameters, tape, until, settings)
        return {**found, "Q": parameters.local.steps, "b": parameters.sampled or tape.clients}

    def objective_weights(self, parameters: SFedAvgParameters, clients: int) -> tuple[Fraction, ...]:
        """Return the weights as shares: with all clients in every round, fixed points for small steps minimise this."""
        each = tuple(shortest_decimal(one) for one in parameters.of_clients(clients))
        return tuple(one / sum(each, Fraction(0)) for one in each)

    def server_rate(self, parameters: SFedAvgParameters) -> float:
        """Return 1: the weights of a round sum to 1."""
        return 1.0


@final
class SFedAvgProgram(EventProgram):
    """One round; there is nothing to remember from one to the next."""

    draws = True

    def __init__(self, parameters: SFedAvgParameters, clients: int) -> None:
        self._local, self._weight = parameters.local, parameters.of_clients(clients)
        self._clients, self._size = clients, subset_size("sfedavg", parameters.sampled, clients)
        self.initial, self.local = (Initial.START, *[Initial.UNWRITTEN] * clients), parameters.local.relative

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return all subsets of the sampled size.

        Raises
        ------
        SpecError
            If there are too many.
        """
        return law.equally(uniform_subsets("sfedavg", self._clients, self._size))

    def possible(self, control: Control, event: Event, clients: int) -> bool:
        """Return whether as many clients are in the round as are sampled."""
        return len(event) == self._size

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Average the models of the members."""
        local, total = self._local, sum(self._weight[i] for i in event)
        passes = [DescendRow(1 + i, X_S, i, local.steps, local.first) for i in event]
        mean = AffineRow(X_S, tuple((self._weight[i] / total, 1 + i) for i in event))
        return Step((*passes, mean), control, True, tuple((1 + i, self._weight[i] / total) for i in event))


SFEDAVG = SFedAvg()
