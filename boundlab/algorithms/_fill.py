"""The columns of a tape, filled code by code.

One text with two readers: Python runs it, and Numba compiles it where that is installed and there is enough to do
(:mod:`boundlab.arithmetic.compiled`). So it knows whole numbers and columns of them alone.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from boundlab.arithmetic.compiled import machine_code
from boundlab.tape import Op

# Codes: a term of a combination, and the combination; local steps; a change of names; a result that has arrived, is
# used, ignored, or stopped; a record; a place at the end of a queue, and the first result of one.
TERM, SUM, BEGIN, MOVE, CAME, USED, DROPPED, STOPPED, SHOWN, PUSH, POP = range(11)
KINDS: Final = 11
# Terms: with the coefficient that stands there, with the weight of a result, with what that leaves of 1, with another
# coefficient in every event.
FIXED, WEIGHT, REST, VARIES = range(4)
PLACES: Final = 5  # of parts in a slot; what stands in the first one belongs to the event before
AFFINE, DESCEND, RECORD = (int(op) for op in Op)


class Codes(NamedTuple):
    """Parts of events.

    Parameters
    ----------
    start
        Part p has the codes start[p] … start[p + 1] − 1.
    kind, register, other, value
        Of each code. TERM: which of the kinds, and the coefficient. SUM: the server updates before it in its event,
        where the register is a copy of the server model; else −1. BEGIN: where the steps begin, and which row of these
        they are. MOVE and POP: from where. USED: the weight.
    client, shift
        Of each row of local steps: whose they are, and the server updates before it in its event; −1: it begins at a
        copy.
    """

    start: Any
    kind: Any
    register: Any
    other: Any
    value: Any
    client: Any
    shift: Any


class Desk(NamedTuple):
    """Places, results and queues while columns are filled.

    Parameters
    ----------
    at, holds, stamp
        Where each register lies; the run whose result each place holds, or −1; the version that each copy is of.
    updates
        One a client.
    first, behind, free
        The place of the first result in each queue, and of the one behind each, −1: none; places that hold nothing, and
        last how many these are.
    """

    at: Any
    holds: Any
    stamp: Any
    updates: Any
    first: Any
    behind: Any
    free: Any


class Sheet(NamedTuple):
    """Columns of the tape.

    Parameters
    ----------
    op, row, event
        Of all rows.
    dst, start, src, coef, role
        Of combinations, and of their terms; which coefficients are still open.
    to, origin, client, update, version, arrival, begun, slot
        Of local steps; which row of codes they are, and in which slot.
    used, entered, weight
        Of results that enter server updates: the row of local steps, the version, and the weight.
    shown
        Registers of records.
    dropped, stopped
        Rows of local steps that the server ignores, and whether they end before they are done.
    """

    op: Any
    row: Any
    event: Any
    dst: Any
    start: Any
    src: Any
    coef: Any
    role: Any
    to: Any
    origin: Any
    client: Any
    update: Any
    version: Any
    arrival: Any
    begun: Any
    slot: Any
    used: Any
    entered: Any
    weight: Any
    shown: Any
    dropped: Any
    stopped: Any


def reader(loop: Callable[..., Any], *, compiled: bool) -> Callable[..., Any]:
    """Return a loop as machine code, or in Python, which reads views of columns as fast as lists."""
    return machine_code(loop) if compiled else lambda *tables: loop(*map(_viewed, tables))


def _viewed(table: Any) -> Any:
    if isinstance(table, tuple):
        return type(table)(*map(_viewed, table))
    return table if isinstance(table, int) else memoryview(table)


def new_desk(registers: int, clients: int, queues: list[int]) -> Desk:
    """Return that every register lies at its own place, and queues are empty."""
    stamp, updates = (np.zeros(size, np.int64) for size in (registers, clients))
    holds, first, behind, free = np.full((4, registers + 1), -1)
    free[: len(queues)], free[-1] = queues, len(queues)
    return Desk(np.arange(registers), holds, stamp, updates, first, behind, free)


def new_sheet(sizes: list[int]) -> Sheet:
    """Return columns with room for so many codes of each kind."""
    rows = sizes[SUM] + sizes[BEGIN] + sizes[SHOWN]

    def new(size: int, count: int, kind: Any = np.int64) -> list[Any]:
        return [np.empty(size, dtype=kind) for _ in range(count)]

    starts, terms = np.zeros(sizes[SUM] + 1, np.int64), sizes[TERM]
    combined = [*new(sizes[SUM], 1), starts, *new(terms, 1), *new(terms, 1, np.float64), *new(terms, 1, np.int8)]
    uses = [*new(sizes[USED], 2), *new(sizes[USED], 1, np.float64)]
    ends = [*new(sizes[SHOWN], 1), *new(sizes[DROPPED] + sizes[STOPPED], 2)]
    return Sheet(*new(rows, 1, np.int8), *new(rows, 2), *combined, *new(sizes[BEGIN], 8), *uses, *ends)


def follow(width: int, iterations: int, keys: Any, numbers: Any, states: Any, ends: Any, now: Any, found: Any) -> None:
    """Go from event to event as long as it is known what they do, and some iterations are left.

    Parameters
    ----------
    keys
        The kind of each event.
    numbers, states, ends
        In cell state·width + kind: the effect, −1 where it is not known, the state after it, the iterations that end.
    now
        The next event, the control state, and the iterations that have ended.
    """
    place, state, done = now[0], now[1], now[2]
    while place < len(keys) and done < iterations:
        cell = state * width + keys[place]
        if cell >= len(numbers) or numbers[cell] < 0:
            break
        found[place] = numbers[cell]
        state, done = states[cell], done + ends[cell]
        place += 1
    now[0], now[1], now[2] = place, state, done


def fill(slots: Any, versions: Any, codes: Codes, desk: Desk, sheet: Sheet) -> int:
    """Write the rows of a run, and return −1, or the slot whose queue is empty.

    Parameters
    ----------
    slots
        The parts of each slot, −1 where there is none; slot 0 is before the first event.
    versions
        Before each slot.
    """
    at, holds, start, kinds = desk.at, desk.holds, codes.start, codes.kind
    registers, others = codes.register, codes.other
    src, coef, role, values = sheet.src, sheet.coef, sheet.role, codes.value
    rows = sums = terms = runs = uses = shows = drops = 0
    empty = desk.free[len(desk.free) - 1]  # places that hold nothing
    for slot in range(len(versions)):
        version = versions[slot]
        for place in range(PLACES):
            part = slots[PLACES * slot + place]
            if part < 0:
                continue
            event = max(slot - (2 if place == 0 else 1), -1)
            for code in range(start[part], start[part + 1]):
                kind, register, other = kinds[code], registers[code], others[code]
                lies = at[register]
                if kind == TERM:
                    src[terms], coef[terms], role[terms] = lies, values[code], other
                    terms += 1
                elif kind == SUM:
                    if other >= 0:
                        desk.stamp[register] = version + other
                    sheet.op[rows], sheet.row[rows], sheet.event[rows] = AFFINE, sums, event
                    rows += 1
                    sheet.dst[sums], sheet.start[sums + 1] = lies, terms
                    sums += 1
                elif kind == BEGIN:
                    row = int(values[code])
                    client, shift = codes.client[row], codes.shift[row]
                    sheet.op[rows], sheet.row[rows], sheet.event[rows] = DESCEND, runs, event
                    rows += 1
                    sheet.to[runs], sheet.origin[runs], sheet.client[runs] = lies, at[other], client
                    sheet.update[runs], sheet.arrival[runs] = desk.updates[client], -1
                    sheet.version[runs] = desk.stamp[other] if shift < 0 else version + shift
                    sheet.begun[runs], sheet.slot[runs] = row, slot
                    desk.updates[client] += 1
                    holds[lies] = runs
                    runs += 1
                elif kind == MOVE:
                    at[register], desk.stamp[register] = at[other], desk.stamp[other]
                    at[other] = lies
                elif kind == PUSH:
                    empty -= 1
                    free = desk.free[empty]
                    if desk.first[register] < 0:
                        desk.first[register] = free
                    else:
                        desk.behind[lies] = free
                    at[register], desk.behind[free] = free, -1
                elif kind == POP:
                    first = desk.first[other]
                    if first < 0:
                        return slot
                    desk.free[empty] = lies
                    empty += 1
                    at[register], desk.first[other] = first, desk.behind[first]
                    sheet.arrival[holds[first]] = event
                elif kind == SHOWN:
                    sheet.op[rows], sheet.row[rows], sheet.event[rows] = RECORD, shows, event
                    rows += 1
                    sheet.shown[shows] = lies
                    shows += 1
                else:
                    run = holds[lies]
                    if run >= 0 and sheet.arrival[run] < 0:
                        sheet.arrival[run] = max(event, 0)
                    if kind == USED:
                        sheet.used[uses], sheet.entered[uses], sheet.weight[uses] = run, version, values[code]
                        uses += 1
                    elif kind != CAME:
                        sheet.dropped[drops], sheet.stopped[drops] = run, 1 if kind == STOPPED else 0
                        drops += 1
    return -1
