"""The same tape in fewer registers: one that is never read again is given to the next result."""

from collections.abc import Iterable
from dataclasses import replace
from typing import final

import numpy as np

from boundlab.tape._tape import Affine, Identity, Initial, Ints, Op, Tape

_NEVER = -1  # read


def recycle(tape: Tape) -> Tape:
    """Return a tape that shows the same records, to the last bit, in as few registers as hold what is read later.

    Registers that begin alike are one until they are written. The registers of identities and of x_s keep what they
    hold at the end.
    """
    affine, descend = tape.affine, tape.descend
    start, src, coef = affine.start.tolist(), affine.src.tolist(), affine.coef.tolist()
    to, down_to, down_from = affine.dst.tolist(), descend.dst.tolist(), descend.src.tolist()
    shown = tape.record.src.tolist()
    names = _Registers(tape)
    for at, (op, row) in enumerate(zip(tape.op.tolist(), tape.row.tolist(), strict=True)):
        if op == Op.AFFINE:
            part, target = slice(start[row], start[row + 1]), to[row]
            # Executors begin with a register's own old value: the sum keeps this order where the result lies elsewhere.
            terms = sorted(zip(src[part], coef[part], strict=True), key=lambda term: term[0] != target)
            src[part], coef[part] = names.read([register for register, _ in terms]), [weight for _, weight in terms]
            to[row] = names.write(at, target, src[part])
        elif op == Op.DESCEND:
            [down_from[row]] = names.read([down_from[row]])
            down_to[row] = names.write(at, down_to[row], [down_from[row]])
        else:
            [shown[row]] = names.read([shown[row]])
            names.free(at)
    identities = tuple(
        Identity(one.name, _ints(names.read(one.register.tolist())), one.coef) for one in tape.identities
    )
    return replace(
        tape,
        registers=len(names.initial),
        initial=np.array(names.initial, dtype=np.int8),
        affine=Affine(_ints(to), affine.start, _ints(src), np.array(coef, dtype=np.float64)),
        descend=replace(descend, dst=_ints(down_to), src=_ints(down_from)),
        record=replace(tape.record, src=_ints(shown)),
        identities=identities,
        server=names.read([tape.server])[0],
    )


@final
class _Registers:
    """Which register holds which value: x0, 0, or what an instruction wrote, in the order of writing."""

    def __init__(self, tape: Tape) -> None:
        self._last = _last_reads(tape)  # of each value
        self._value = _values(tape)  # that each register of the tape holds now
        self._count = 2
        self._place: dict[int, int] = {}
        self._unused: list[int] = []
        self._reading: list[int] = []
        self.initial: list[int] = []
        for value, initial in enumerate((Initial.START, Initial.ZERO)):
            if self._last[value] != _NEVER:
                self._place[value] = len(self.initial)
                self.initial.append(int(initial))

    def read(self, registers: Iterable[int]) -> list[int]:
        """Return where the present values of registers lie."""
        self._reading = [self._value[register] for register in registers]
        return [self._place[value] for value in self._reading]

    def write(self, at: int, register: int, sources: list[int]) -> int:
        """Return where instruction ``at`` writes: over its first source if nothing else reads that, or elsewhere."""
        value, self._count = self._count, self._count + 1
        if sources and self._last[self._reading[0]] == at and self._reading.count(self._reading[0]) == 1:
            place = self._place.pop(self._reading.pop(0))
        elif self._unused:
            place = self._unused.pop()
        else:
            place = len(self.initial)
            self.initial.append(int(Initial.UNWRITTEN))
        self.free(at)
        self._value[register], self._place[value] = value, place
        if self._last[value] == _NEVER:
            self._unused.append(self._place.pop(value))
        return place

    def free(self, at: int) -> None:
        """Give back the places of what was read for the last time."""
        for value in self._reading:
            if self._last[value] == at and value in self._place:
                self._unused.append(self._place.pop(value))
        self._reading = []


def _values(tape: Tape) -> list[int]:
    """Return which value each register begins with: 0 is x0, 1 is zero, −1 none."""
    found = {Initial.START: 0, Initial.ZERO: 1, Initial.UNWRITTEN: -1}
    return [found[Initial(value)] for value in tape.initial.tolist()]


def _last_reads(tape: Tape) -> list[int]:
    """Return the instruction that reads each value last, :data:`_NEVER`, or the length of the tape: it is kept."""
    start, src, to = tape.affine.start.tolist(), tape.affine.src.tolist(), tape.affine.dst.tolist()
    down_from, down_to, shown = tape.descend.src.tolist(), tape.descend.dst.tolist(), tape.record.src.tolist()
    holds, last = _values(tape), [_NEVER, _NEVER]
    for at, (op, row) in enumerate(zip(tape.op.tolist(), tape.row.tolist(), strict=True)):
        sources = src[start[row] : start[row + 1]] if op == Op.AFFINE else [(down_from, shown)[op == Op.RECORD][row]]
        for register in sources:
            last[holds[register]] = at
        if op != Op.RECORD:
            holds[to[row] if op == Op.AFFINE else down_to[row]] = len(last)
            last.append(_NEVER)
    for register in [tape.server, *(register for one in tape.identities for register in one.register.tolist())]:
        last[holds[register]] = len(tape)
    return last


def _ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)
