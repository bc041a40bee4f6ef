"""AFL-DGA: anarchic federated learning with delayed gradient averaging (Li and Gong), Section 3.2 and Algorithm 1."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, final

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm, Draw
from boundlab.algorithms._option import Parameters
from boundlab.algorithms.afl_dga import _events, _sample, _statistics
from boundlab.algorithms.afl_dga._sample import DelayOptions
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import CaseError
from boundlab.events import Events
from boundlab.randomness import Streams
from boundlab.tape import Initial, RecordAt, Tape, Writer

Scaling = Literal["sum", "average", "analysis"]


@final
@dataclass(frozen=True, slots=True)
class AflDgaParameters(Parameters):
    """The parameters of AFL-DGA.

    ``eta``, unit (−1, 2), is the step size of clients and server. ``scaling`` is how a client corrects its model when
    ḡ^r arrives and it took K local steps in round r; only ``analysis`` follows Lemma 1's trajectory, and for K = 1 all
    are the same. With ``k-scaled`` all participants of round r must share K. ``schedule`` is what the sampled delay
    model draws.
    """

    eta: float = option.number("step size", above=0.0)
    scaling: Scaling = option.choice(
        "sum (default, Section 3.2: −ηKḡ + ηΣg), average (line 16: −ηḡ + ηΣg/K) or analysis (−ηḡ + ηΣg)",
        ("sum", "average", "analysis"),
    )
    server: Literal["plain", "k-scaled"] = option.choice(
        "plain (default: w − ηḡ) or k-scaled (w − ηKḡ, K the participants' number of local steps)",
        ("plain", "k-scaled"),
    )
    schedule: DelayOptions = option.part(DelayOptions)


@final
class AflDga(Algorithm[AflDgaParameters]):
    """The compiler of AFL-DGA; its iterations are the server's rounds."""

    id = "afl_dga"
    summary = "anarchic participation; clients replace their own steps by the delayed average of all gradients"
    parameter_type = AflDgaParameters
    step_size_symbols = ("eta",)
    single_client_values = MappingProxyType({"tau_max": 1})  # a gradient that is used at once has τ = 1
    redefines = frozenset({"tau_max"})
    draws = (
        Draw(
            "participation",
            "who takes part in each round",
            ("participation", "periods"),
            lambda parameters, _: not parameters.schedule.periods and min(parameters.schedule.participation) < 1.0,
        ),
        Draw(
            "local_steps",
            "how many local steps each client takes in a round",
            ("local_steps",),
            lambda parameters, _: len(set(parameters.schedule.local_steps)) > 1,
        ),
        Draw(
            "correction_delay",
            "how late averages reach each client",
            ("correction_delay",),
            lambda parameters, _: len(set(parameters.schedule.correction_delay)) > 1,
        ),
    )

    def schedule(
        self, parameters: AflDgaParameters, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        """Compile the first ``iterations`` rounds of the server, or as many as the events hold.

        Raises
        ------
        CaseError
            If the events cannot happen in this order, or server=k-scaled finds participants of one round with
            different numbers of local steps.
        """
        _events.check_order(events, clients, self.id)
        compiler = _Compiler(parameters, events, clients, Writer(events, clients, records, iterations))
        compiler.run()
        return compiler.writer.tape()

    def events_for(self, parameters: AflDgaParameters, clients: int, iterations: int) -> int:
        """Return a first guess: in a round everybody steps, sends and receives."""
        steps = parameters.schedule.local_steps
        return int(iterations * (1 + clients * (2 + (steps[0] + steps[1]) / 2))) + 8

    def sample(
        self,
        parameters: AflDgaParameters,
        delays: DelayModel,
        policy: ServerPolicy,
        streams: Streams,
        clients: int,
        count: int,
    ) -> Events:
        """Return the first ``count`` events of a trial of the sampled delay model; see :mod:`_sample`."""
        return _sample.sample(parameters.schedule, delays.clock(streams), streams, clients, count)

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read the events of a case file; see :mod:`_events`."""
        return _events.read(raw, clients, where)

    def quantities(
        self, parameters: AflDgaParameters, tape: Tape, until: int, settings: Mapping[str, float]
    ) -> dict[str, float]:
        """Return also what the theorems read off a tape; see :func:`_statistics.quantities`."""
        return {**super().quantities(parameters, tape, until, settings), **_statistics.quantities(tape, until)}

    def figures(self, parameters: AflDgaParameters, tape: Tape) -> dict[str, Any]:
        """Return K_m, D_m, participation, tau_max, S and M of a run."""
        return _statistics.figures(tape)


@dataclass(slots=True)
class _ClientRound:
    """One round of one client: its local steps, and the register of their sum −ηΣ_j g_j."""

    total: int
    runs: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _ClientState:
    """Registers and memory of a client.

    Parameters
    ----------
    model, spare
        Two registers that take turns holding w_i.
    stored
        Register of −η times the average gradient that it sent last.
    used
        The runs behind ``stored``.
    rounds
        Begun, and the average not yet received.
    sent_at
        Round → own local steps before it was sent; the average not yet received.
    held
        Server steps that w_i contains, and their numbers from the first missing one on.
    wrong, largest, oldest
        Of those that it contains with a coefficient c ≠ 1: Σ|1 − c|, max|1 − c|, and the first one's number.
    steps, over, kept
        Own local gradients taken; those of rounds whose average has come; what w_i still contains of them.
    """

    model: int
    spare: int
    stored: int
    used: list[int] = field(default_factory=list)
    rounds: dict[int, _ClientRound] = field(default_factory=dict)
    sent_at: dict[int, int] = field(default_factory=dict)
    held: int = 0
    ahead: set[int] = field(default_factory=set)
    missing: int = 0
    wrong: float = 0.0
    largest: float = 1.0
    oldest: int | None = None
    steps: int = 0
    over: int = 0
    kept: float = 0.0


class _Compiler:
    """Turns events into instructions, one after the other."""

    def __init__(self, parameters: AflDgaParameters, events: Events, clients: int, writer: Writer) -> None:
        self.parameters, self.events, self.n, self.writer = parameters, events, clients, writer
        first = writer.register(Initial.START, clients)
        spare = writer.register(count=clients)
        stored = writer.register(Initial.ZERO, clients)
        self.clients = [_ClientState(first + i, spare + i, stored + i) for i in range(clients)]
        self.free: list[int] = []
        self.average: dict[int, tuple[int, int]] = {}  # round → register of −ηḡ, number of the server step
        self.sent: dict[int, set[int]] = {}  # round → the numbers of local steps of its participants
        # A sum or an average is kept for as long as somebody will ask for it.
        self.asked: dict[int, int] = {}
        self.receives: set[tuple[int, int]] = set()
        for actor, (word, number) in zip(events.actor.tolist(), events.detail, strict=True):
            if word == "recv":
                self.asked[number] = self.asked.get(number, 0) + 1
                self.receives.add((actor, number))

    def run(self) -> None:
        """Write all events up to the one that completes the iterations."""
        writer = self.writer
        act = {"step": self._step, "send": self._send, "recv": self._receive}
        for event, (actor, (word, number)) in enumerate(
            zip(self.events.actor.tolist(), self.events.detail, strict=True)
        ):
            if writer.done:
                break
            writer.begin(event)
            if word == "aggregate":
                self._aggregate(number)
            else:
                act[word](actor, number)
            writer.note("event_event", word)
            writer.note("event_round", number)
            writer.end()
        for client in self.clients:
            writer.note("client_model", client.model)

    def _take(self) -> int:
        return self.free.pop() if self.free else self.writer.register()

    def _step(self, who: int, number: int) -> None:
        writer, client = self.writer, self.clients[who]
        begun = number in client.rounds
        here = client.rounds.setdefault(number, _ClientRound(-1))
        for name, value in (
            ("run_round", number),
            ("run_place", len(here.runs) + 1),
            ("run_held", client.held),
            ("run_wrong", client.wrong),
            ("run_oldest", client.missing if client.oldest is None else min(client.oldest, client.missing)),
            ("run_largest", client.largest),
            ("run_own", client.steps - client.over),
            ("run_kept", client.kept),
        ):
            writer.note(name, value)
        row = writer.descend(client.spare, client.model, who, 1, self.parameters.eta, version=client.held)
        if not begun:
            here.total = self._take()
        old = ((1.0, here.total),) if begun else ()
        writer.affine(here.total, *old, (1.0, client.spare), (-1.0, client.model))
        client.model, client.spare = client.spare, client.model
        here.runs.append(row)
        client.steps += 1
        writer.note("run_late", client.steps - min(client.sent_at.values(), default=client.steps))

    def _send(self, who: int, number: int) -> None:
        writer, client = self.writer, self.clients[who]
        here = client.rounds[number]
        count = len(here.runs)
        writer.affine(client.stored, (1.0 / count, here.total))
        for run in here.runs:
            writer.arrive(run)
        client.used = here.runs
        client.sent_at[number] = client.steps
        self.sent.setdefault(number, set()).add(count)
        writer.note("send_event", writer.event)
        writer.note("send_client", who)
        writer.note("send_steps", count)
        if (who, number) not in self.receives:
            self.free.append(here.total)

    def _aggregate(self, number: int) -> None:
        writer = self.writer
        scale = self._scale(number)
        for client in self.clients:
            for run in client.used:
                writer.use(run, scale / (self.n * len(client.used)))
        stored = [client.stored for client in self.clients if client.used]
        if self.asked.get(number, 0):
            average = self._take()
            writer.affine(average, *((1.0 / self.n, register) for register in stored))
            self.average[number] = (average, writer.version)
            writer.server_update((scale, average))
        else:
            writer.server_update(*((scale / self.n, register) for register in stored))

    def _scale(self, number: int) -> float:
        if self.parameters.server == "plain":
            return 1.0
        counts = sorted(self.sent.get(number, {1}))
        if len(counts) > 1:
            raise CaseError(
                f"afl_dga: server=k-scaled needs one number of local steps a round; the participants of round "
                f"{number} took {', '.join(map(str, counts))}"
            )
        return float(counts[0])

    def _receive(self, who: int, number: int) -> None:
        writer, client = self.writer, self.clients[who]
        average, version = self.average[number]
        scaling = self.parameters.scaling
        here = client.rounds.pop(number, None)
        weight = 1.0
        if here is None:
            writer.affine(client.model, (1.0, client.model), (1.0, average))
        else:
            count = len(here.runs)
            weight = float(count) if scaling == "sum" else 1.0
            back = 1.0 / count if scaling == "average" else 1.0
            writer.affine(client.model, (1.0, client.model), (weight, average), (-back, here.total))
            client.over += count
            client.kept += (1.0 - back) * count
            del client.sent_at[number]
            self.free.append(here.total)
        self._hold(client, version, weight)
        self.asked[number] -= 1
        if not self.asked[number]:
            self.free.append(average)

    @staticmethod
    def _hold(client: _ClientState, version: int, weight: float) -> None:
        """Remember that w_i now contains this server step with this coefficient."""
        client.held += 1
        client.ahead.add(version)
        while client.missing in client.ahead:
            client.ahead.remove(client.missing)
            client.missing += 1
        if weight != 1.0:
            client.wrong += abs(1.0 - weight)
            client.largest = max(client.largest, abs(1.0 - weight))
            client.oldest = version if client.oldest is None else min(client.oldest, version)


AFL_DGA = AflDga()
