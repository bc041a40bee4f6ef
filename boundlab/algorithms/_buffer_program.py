"""One event of the algorithms with a buffer: an arrival, and the aggregation where it fills the buffer."""

from collections.abc import Callable, Hashable, Sequence
from typing import Final, NamedTuple, final

from boundlab.algorithms._buffer import BufferParameters, check_wait
from boundlab.algorithms._program import ClientSlots, Control, Event, EventLaw, EventProgram, MoveRow, Row, Share, Step

_WAITS: Final = -1  # in place of an age: the client waits for the aggregation of its update


class Held(NamedTuple):
    """An update in the buffer: its staleness, and its client, −1 where weights do not ask for it."""

    tau: int
    client: int


# (memory, full buffer) → one weight an update, and the memory after this buffer.
Weigh = Callable[[Hashable, Sequence[Held]], tuple[Sequence[float], Hashable]]


@final
class BufferProgram(EventProgram):
    """The event of :class:`boundlab.algorithms._buffer.Buffered`.

    Control: the age of each client's model or that it waits, what is in the buffer, and the memory of the weights.

    Parameters
    ----------
    weigh
        The weights of a full buffer.
    memory
        What they remember at first.
    models
        Whether the mean of models replaces x_s.
    ages
        Whether weights depend on the staleness; else all ages count as 0.
    named
        Whether weights depend on whose an update is.

    Raises
    ------
    SpecError
        With reply=wait, if the buffer can never be filled.
    """

    def __init__(
        self,
        name: str,
        parameters: BufferParameters,
        clients: int,
        weigh: Weigh,
        *,
        memory: Hashable = None,
        models: bool = False,
        ages: bool = True,
        named: bool = False,
    ) -> None:
        local, count = parameters.local, parameters.count
        check_wait(name, parameters.reply, count, clients)
        self._parameters, self._clients, self._weigh, self._memory = parameters, clients, weigh, memory
        self._ages, self._named = ages, named
        self._desk = ClientSlots(clients, local.steps, local.first, models=models)
        self.initial, self.local = self._desk.initial(count), local.relative
        of_clients = [(self._desk.result(client),) for client in range(clients)]
        self.slots = (*of_clients, *((self._desk.held(place),) for place in range(count)))
        self.alike = (tuple(range(clients, clients + count)),)
        self.interchangeable = not named

    def opening(self) -> tuple[tuple[Row, ...], Control]:
        """Everybody works on x0, and the buffer is empty."""
        slots = (*[0] * self._clients, *[None] * self._parameters.count)
        return self._desk.begin_all(), Control(slots, self._memory)

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return the clients that do not wait."""
        return law.clients(i for i in range(self._clients) if control.slots[i] != _WAITS)

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Put the update into the buffer, and aggregate if that is full."""
        client, reply, desk = event[0], self._parameters.reply, self._desk
        ages = list(control.slots[: self._clients])
        buffer = [one for one in control.slots[self._clients :] if isinstance(one, Held)]
        rows: list[Row] = [MoveRow(desk.held(len(buffer)), desk.result(client))]
        age = ages[client]
        assert isinstance(age, int)  # noqa: S101  (for the type checker)
        buffer.append(Held(age, client if self._named else -1))
        full, memory = len(buffer) == self._parameters.count, control.shared
        ages[client] = _WAITS
        if reply == "pre" or (reply == "post" and not full):
            rows += desk.begin(client)
            ages[client] = 0
        if full:
            weights, memory = self._weigh(memory, buffer)
            rows.append(desk.server_update(*((float(weight), desk.held(j)) for j, weight in enumerate(weights))))
            if self._ages:
                ages = [one + 1 if isinstance(one, int) and one != _WAITS else one for one in ages]
            for waiting in [i for i, one in enumerate(ages) if one == _WAITS]:
                rows += desk.begin(waiting)
                ages[waiting] = 0
            buffer = []
        empty = [None] * (self._parameters.count - len(buffer))
        return Step(tuple(rows), Control((*ages, *buffer, *empty), memory), full)
