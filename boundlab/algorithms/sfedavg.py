"""S-FedAvg: synchronous FedAvg with sampled clients (McMahan et al., AISTATS 2017)."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import MemberRounds, drawn_subset, uniform_subset, uniform_subsets
from boundlab.algorithms._option import LocalSteps, Parameters, local_steps
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
from boundlab.delays import Clock, DelayModel, ServerPolicy
from boundlab.errors import CaseError, SpecError
from boundlab.events import Events, members_events, read_members
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.tape import Initial, Tape


def _read_weights(options: Options, name: str) -> tuple[float, ...]:
    weights = tuple(options.numbers(name)) if options.has(name) else ()
    if any(weight <= 0.0 for weight in weights):
        raise SpecError(f"{options.owner}: {name} must be > 0, got {min(weights):g}")
    return weights


@final
@dataclass(frozen=True, slots=True)
class SFedAvgParameters(Parameters):
    """The parameters of S-FedAvg: M local steps of size alpha, unit (−1, 2).

    ``weights`` are empty where all are equal, ``sampled`` is None where all clients are.
    """

    local: LocalSteps = local_steps("alpha", "M")
    weights: tuple[float, ...] = option.custom(
        "one number a client, normalised over a round (default equal)",
        _read_weights,
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

    def of_a_round(self, clients: int) -> int:
        """Return how many clients a round has.

        Raises
        ------
        SpecError
            If there are not as many.
        """
        size = clients if self.sampled is None else self.sampled
        if size > clients:
            raise SpecError(f"sfedavg: sampled={size}, but there are {clients} clients")
        return size


@final
class SFedAvg(MemberRounds[SFedAvgParameters]):
    """S-FedAvg: rounds that last as long as their slowest client."""

    id = "sfedavg"
    summary = "synchronous FedAvg: each round averages the local models of the sampled clients"
    parameter_type = SFedAvgParameters
    weighs = "weights"
    draws = (drawn_subset("sampled"),)
    takes_rounds = True

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
            return MemberRounds.sample(self, parameters, delays, policy, streams, clients, count)
        if parameters.sampled is not None or len(set(parameters.weights)) > 1:
            raise SpecError("sfedavg: the delays say who is in each round; leave sampled and weights out")
        if len(delays.rounds) < count:
            raise SpecError(f"delays {delays.id} say {len(delays.rounds)} rounds; {count} are asked for")
        return members_events(delays.rounds[:count])

    def members(self, parameters: SFedAvgParameters, streams: Streams, clients: int, turn: int) -> tuple[int, ...]:
        """Return who is sampled."""
        size = parameters.of_a_round(clients)
        if size == clients:
            return tuple(range(clients))
        return uniform_subset(streams, turn, clients, size)

    def end(self, clock: Clock, members: tuple[int, ...], start: float) -> float:
        """Return when the slowest client is done."""
        return max(clock.arrival(i, start) for i in members)

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [[round end, [clients]], …].

        Raises
        ------
        CaseError
            Naming the round by its place, counted from 1.
        """
        rows = read_members(raw, clients, where, "[round end, [clients]]", "[[1.5, [0, 2]]]")
        for place, (_, members) in enumerate(rows, 1):
            name = f"{where}: event {place}"
            if not members:
                raise CaseError(f"{name} must be [round end, [clients]], got the clients []")
            if len(set(members)) != len(members):
                raise CaseError(f"{name}: a client stands twice in {list(members)}")
        return members_events(rows)

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
        self._clients, self._size = clients, parameters.of_a_round(clients)
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
