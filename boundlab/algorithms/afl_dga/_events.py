"""AFL-DGA's events: their form in case files, and the order in which they can happen.

[t, i, "step", r]          one local iteration of client i in round r
[t, i, "send", r]          round r of client i ends: its average local gradient is the server's most recent one of i
[t, "s", "aggregate", r]   the server averages what it has, and moves
[t, i, "recv", r]          the average of round r reaches client i, which corrects its model
"""

from dataclasses import dataclass, field

import numpy as np

from boundlab.errors import CaseError
from boundlab.events import SERVER, Events, read_client, read_rows
from boundlab.options import nearest

WORDS = ("step", "send", "aggregate", "recv")
_FORM = '[time, client, "step" | "send" | "recv", round] or [time, "s", "aggregate", round]'


@dataclass(slots=True)
class _EventClient:
    round: int | None = None  # the round it is in: begun and not sent
    steps: int = 0
    sent: set[int] = field(default_factory=set)
    received: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Protocol:
    """State machine of the events that may happen next; :meth:`take` refuses everything else in one line."""

    clients: int
    state: list[_EventClient] = field(default_factory=list)
    done: set[int] = field(default_factory=set)
    last: int | None = None

    def __post_init__(self) -> None:
        self.state = [_EventClient() for _ in range(self.clients)]

    def take(self, actor: int, word: str, number: int, name: str) -> None:
        """Accept one event, or say why it cannot happen.

        Raises
        ------
        CaseError
            Naming the event by ``name``.
        """
        if (actor == SERVER) != (word == "aggregate"):
            wanted = (
                'the server "s" does nothing but aggregate' if actor == SERVER else 'only the server "s" aggregates'
            )
            raise CaseError(f"{name}: {wanted}, got {word!r}")
        if actor == SERVER:
            self._aggregate(number, name)
        else:
            {"step": self._step, "send": self._send, "recv": self._receive}[word](actor, number, name)

    def _aggregate(self, number: int, name: str) -> None:
        wanted = "0 or 1" if self.last is None else str(self.last + 1)
        if (self.last is None and number > 1) or (self.last is not None and number != self.last + 1):
            raise CaseError(f"{name}: the server aggregates its rounds one after the other: {wanted}, not {number}")
        self.last = number
        self.done.add(number)

    def _step(self, who: int, number: int, name: str) -> None:
        client = self.state[who]
        if client.round is not None and client.round != number:
            raise CaseError(f"{name}: client {who} is in round {client.round}; it must send it before round {number}")
        if number in client.sent:
            raise CaseError(f"{name}: client {who} has sent round {number}, which ended it")
        if number in client.received:
            raise CaseError(f"{name}: client {who} has received the average of round {number}, which ended it")
        if client.sent and number < max(client.sent):
            raise CaseError(f"{name}: client {who} has sent round {max(client.sent)}; it cannot go back to {number}")
        client.round = number
        client.steps += 1

    def _send(self, who: int, number: int, name: str) -> None:
        client = self.state[who]
        if number in client.sent:
            raise CaseError(f"{name}: client {who} sends round {number} twice")
        if client.round != number:
            raise CaseError(f"{name}: client {who} sends round {number} without a local step in it")
        client.sent.add(number)
        client.round, client.steps = None, 0

    def _receive(self, who: int, number: int, name: str) -> None:
        client = self.state[who]
        if number not in self.done:
            raise CaseError(f"{name}: client {who} receives the average of round {number} before it is aggregated")
        if number in client.received:
            raise CaseError(f"{name}: client {who} receives the average of round {number} twice")
        if client.round == number:
            raise CaseError(
                f"{name}: client {who} receives the average of round {number} while it is in that round; label its "
                f"steps with the round in which they are sent"
            )
        client.received.add(number)


def check_order(events: Events, clients: int, where: str) -> None:
    """Make sure that events are AFL-DGA's and can happen in this order.

    Raises
    ------
    CaseError
        Naming the first event that cannot, by its place, counted from 1.
    """
    if len(events.detail) != len(events):
        raise CaseError(f"{where}: afl_dga needs events of the form {_FORM}")
    protocol = Protocol(clients)
    for place, (actor, detail) in enumerate(zip(events.actor.tolist(), events.detail, strict=True), 1):
        protocol.take(actor, detail[0], detail[1], f"{where}: event {place}")


def read(raw: object, clients: int, where: str) -> Events:
    """Read the events of a case file.

    Raises
    ------
    CaseError
        Naming the event by its place, counted from 1: a wrong form, an unknown word, or an impossible order.
    """
    rows = read_rows(raw, where, _FORM, (4, 4))
    actors, details = [], []
    for place, (_, row) in enumerate(rows, 1):
        name = f"{where}: event {place}"
        who, word, number = row
        actors.append(read_client(who, clients, name, server=True))
        if not isinstance(word, str) or word not in WORDS:
            hint = nearest(word, WORDS) if isinstance(word, str) else f"known: {', '.join(WORDS)}"
            raise CaseError(f"{name}: unknown word {str(word)[:20]!r}; {hint}")
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise CaseError(f"{name}: the round must be an integer ≥ 0, got {str(number)[:20]!r}")
        details.append((word, number))
    time = np.array([time for time, _ in rows])
    events = Events(time, np.array(actors, dtype=np.int32), tuple(details))
    check_order(events, clients, where)
    return events
