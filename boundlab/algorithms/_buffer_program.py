"""One event of the algorithms with a buffer: an arrival, and the aggregation where it fills the buffer."""

import math
from collections.abc import Callable, Hashable, Sequence
from itertools import chain, combinations
from typing import Any, Final, NamedTuple, final

from boundlab.algorithms._buffer import BufferParameters, check_wait
from boundlab.algorithms._program import ClientSlots, Control, Event, EventLaw, EventProgram, MoveRow, Row, Share, Step
from boundlab.errors import SpecError

_WAITS: Final = -1  # in place of an age: the client waits for the aggregation of its update
_LATE: Final = 12  # clients whose updates would be ignored: any of them may come before one that counts


class Held(NamedTuple):
    """An update in the buffer: its staleness, and its client, −1 where weights do not ask for it."""

    tau: int
    client: int


# (memory, full buffer) → one weight an update, and the memory after this buffer.
Weigh = Callable[[Hashable, Sequence[Held]], tuple[Sequence[float], Hashable]]


@final
class BufferProgram(EventProgram):
    """The event of :class:`boundlab.algorithms._buffer.Buffered`.

    An event is the arrival of an update that counts, of the last client named, after those of other clients that are
    ignored: so there are equally many events between two aggregations, whatever happens. Whose updates are ignored
    works on the present model from then on, in whatever order they come, and the next one of that client counts.

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
    stalest
        The largest staleness of an update that counts; None: all do.
    stops
        Whether clients whose updates would be staler begin anew at once.

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
        stalest: int | None = None,
        stops: bool = False,
    ) -> None:
        local, count = parameters.local, parameters.count
        check_wait(name, parameters.reply, count, clients)
        self._parameters, self._clients, self._weigh, self._memory = parameters, clients, weigh, memory
        self._ages, self._named = ages or stalest is not None, named
        self._stalest, self._stops = stalest, stops
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
        """Return the clients that do not wait, each after any of those whose updates are ignored.

        Raises
        ------
        SpecError
            If there are too many of these.
        """
        arrive = law.clients(i for i in range(self._clients) if control.slots[i] != _WAITS)
        late = [i for i in range(self._clients) if self._late(control.slots[i])]
        if len(late) > _LATE:
            raise SpecError(
                f"any of {len(late)} updates may be ignored before the next that counts; at most {_LATE} are told apart"
            )
        share: dict[int, Any] = {client: one for (client,), one in arrive}
        found: list[tuple[Event, Share]] = []
        ignored: tuple[int, ...]
        for ignored in chain.from_iterable(combinations(late, size) for size in range(len(late) + 1)):
            # In any order: each comes once, since its next one counts.
            chance = math.prod((share[i] for i in ignored), start=math.factorial(len(ignored)))
            counts = [(client, one) for (client,), one in arrive if client in ignored or client not in late]
            found += [((*ignored, client), chance * one) for client, one in counts]
        return found

    def _late(self, age: Hashable) -> bool:
        return self._stalest is not None and isinstance(age, int) and age > self._stalest

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Put the update into the buffer, and aggregate if that is full."""
        ignored, client = event[:-1], event[-1]
        reply, desk = self._parameters.reply, self._desk
        ages = [0 if i in ignored else age for i, age in enumerate(control.slots[: self._clients])]
        buffer = [one for one in control.slots[self._clients :] if isinstance(one, Held)]
        rows: list[Row] = [row for other in ignored for row in desk.begin(other)]
        rows.append(MoveRow(desk.held(len(buffer)), desk.result(client)))
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
                ages = [self._older(one) for one in ages]
            for waiting in [i for i, one in enumerate(ages) if one == _WAITS]:
                rows += desk.begin(waiting)
                ages[waiting] = 0
            buffer = []
        empty = [None] * (self._parameters.count - len(buffer))
        return Step(tuple(rows), Control((*ages, *buffer, *empty), memory), full)

    def _older(self, age: Hashable) -> Hashable:
        """Return the age after an aggregation; what is too old is so for ever, or begins anew with those that wait."""
        if not isinstance(age, int) or age == _WAITS or self._late(age):
            return age
        return _WAITS if self._stops and self._late(age + 1) else age + 1
