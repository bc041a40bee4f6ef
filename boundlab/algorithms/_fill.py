"""The columns of a tape, filled code by code.

One text with two readers: Python runs it, and Numba compiles it where that is installed and there is enough to do
(:mod:`boundlab.arithmetic.compiled`). So it knows whole numbers and columns of them alone.
"""

from typing import Any, Final, NamedTuple

import numpy as np

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
_ROWS, _SUMS, _TERMS, _RUNS, _USES, _SHOWS, _DROPS, _FREE = range(8)  # what is counted


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
        The place of the first result in each queue, and of the one behind each, −1: none; places that hold nothing.
    count
        How much there is of everything.
    """

    at: Any
    holds: Any
    stamp: Any
    updates: Any
    first: Any
    behind: Any
    free: Any
    count: Any


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


def new_desk(registers: int, clients: int, queues: list[int]) -> Desk:
    """Return that every register lies at its own place, and queues are empty."""
    stamp, updates, count = (np.zeros(size, np.int64) for size in (registers, clients, KINDS))
    holds, first, behind, free = np.full((4, registers), -1)
    free[: len(queues)], count[_FREE] = queues, len(queues)
    return Desk(np.arange(registers), holds, stamp, updates, first, behind, free, count)


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
    at, holds, count = desk.at, desk.holds, desk.count
    for slot in range(len(versions)):
        version = versions[slot]
        for place in range(PLACES):
            part = slots[PLACES * slot + place]
            if part < 0:
                continue
            event = max(slot - (2 if place == 0 else 1), -1)
            for code in range(codes.start[part], codes.start[part + 1]):
                kind, register, other = codes.kind[code], codes.register[code], codes.other[code]
                lies = at[register]
                if kind == TERM:
                    term = count[_TERMS]
                    sheet.src[term], sheet.coef[term] = lies, codes.value[code]
                    sheet.role[term] = other
                    count[_TERMS] = term + 1
                elif kind == SUM:
                    if other >= 0:
                        desk.stamp[register] = version + other
                    number = count[_SUMS]
                    sheet.dst[number], sheet.start[number + 1] = lies, count[_TERMS]
                    _row(sheet, count, AFFINE, _SUMS, event)
                elif kind == BEGIN:
                    run, row = count[_RUNS], int(codes.value[code])
                    client, shift = codes.client[row], codes.shift[row]
                    sheet.to[run], sheet.origin[run], sheet.client[run] = lies, at[other], client
                    sheet.update[run], sheet.arrival[run] = desk.updates[client], -1
                    sheet.version[run] = desk.stamp[other] if shift < 0 else version + shift
                    sheet.begun[run], sheet.slot[run] = row, slot
                    desk.updates[client] += 1
                    holds[lies] = run
                    _row(sheet, count, DESCEND, _RUNS, event)
                elif kind == MOVE:
                    at[register] = at[other]
                    at[other] = lies
                elif kind == PUSH:
                    count[_FREE] -= 1
                    place_of = desk.free[count[_FREE]]
                    if desk.first[register] < 0:
                        desk.first[register] = place_of
                    else:
                        desk.behind[lies] = place_of
                    at[register], desk.behind[place_of] = place_of, -1
                elif kind == POP:
                    place_of = desk.first[other]
                    if place_of < 0:
                        return slot
                    desk.free[count[_FREE]] = lies
                    count[_FREE] += 1
                    at[register], desk.first[other] = place_of, desk.behind[place_of]
                    _arrive(sheet, holds[place_of], event)
                elif kind == SHOWN:
                    sheet.shown[count[_SHOWS]] = lies
                    _row(sheet, count, RECORD, _SHOWS, event)
                else:
                    run = holds[lies]
                    _arrive(sheet, run, event)
                    if kind == USED:
                        use = count[_USES]
                        sheet.used[use], sheet.entered[use], sheet.weight[use] = run, version, codes.value[code]
                        count[_USES] = use + 1
                    elif kind != CAME:
                        drop = count[_DROPS]
                        sheet.dropped[drop], sheet.stopped[drop] = run, 1 if kind == STOPPED else 0
                        count[_DROPS] = drop + 1
    return -1


def _arrive(sheet: Sheet, run: int, event: int) -> None:
    """Say that a result, if it is one, reaches the server, unless it has."""
    if run >= 0 and sheet.arrival[run] < 0:
        sheet.arrival[run] = max(event, 0)


def _row(sheet: Sheet, count: Any, op: int, table: int, event: int) -> None:
    """Add a row of one of the tables."""
    place = count[_ROWS]
    sheet.op[place], sheet.row[place], sheet.event[place] = op, count[table], event
    count[_ROWS] = place + 1
    count[table] += 1
