"""Arrivals one after the other: who works on which model, and what the server makes of results.

One text with two readers: Python runs it, and Numba compiles it where that is installed and there is
enough to do (:mod:`boundlab.arithmetic.compiled`). So it knows whole numbers and columns of them alone.
"""

from typing import Any, Final, NamedTuple

from boundlab.tape import SERVER_MODEL as _X_S
from boundlab.tape import Op

DONE: Final = 0  # all is written
NO_WORK: Final = 1  # the last event is of a client that has nothing to send
NO_ROOM: Final = 2  # there are more rows than the columns hold
POST, PRE, WAIT = 0, 1, 2  # who is answered when: see boundlab.algorithms._buffer.REPLY
AFFINE, DESCEND, RECORD = (int(op) for op in Op)
# What is counted; FREE are the registers that hold nothing, HELD the results that the server holds.
ROWS, COMBINED, TERMS, RUNS, USES, DROPPED, RECORDS, EVENTS, MOVES, FREE, HELD = range(11)


class Rules(NamedTuple):
    """An algorithm whose clients always work, and whose server moves at arrivals.

    Parameters
    ----------
    size, first
        How many results enter a server update, and the arrival, counted from 1, before which there is none.
    reply
        Who is answered when.
    stalest
        The largest staleness with which results enter; −1: all do.
    slides
        Whether the server moves with each result, and the oldest alone leaves what it holds.
    stops
        Whether clients whose results would be too stale begin anew at once.
    models, base
        Whether results are models and not differences; whether x_s stands first in the sum of a server update.
    """

    size: int
    first: int = 1
    reply: int = POST
    stalest: int = -1
    slides: bool = False
    stops: bool = False
    models: bool = False
    base: bool = True


class Asked(NamedTuple):
    """Which records are asked for.

    Parameters
    ----------
    iterations
        Server updates.
    every
        Whether x_s is shown after every event.
    shown, added
        Columns, one a version: which are recorded, and where x_s enters the sum of an average.
    total
        The register of that sum, which that of the mean follows; −1: x_s itself is shown.
    closed
        Whether the newest model counts in the average.
    """

    iterations: int
    every: bool
    shown: Any
    added: Any
    total: int
    closed: bool


class Busy(NamedTuple):
    """The clients' work at the moment, in columns.

    Parameters
    ----------
    free, held
        Registers that hold nothing; rows whose results the server holds, the oldest first.
    oldest, newest, updates
        One a client: its rows in work, −1 where it has none, and how many there were.
    later
        One a row: the next one of its client, or −1.
    """

    free: Any
    held: Any
    oldest: Any
    newest: Any
    updates: Any
    later: Any


class Sheet(NamedTuple):
    """Columns of the tape.

    Parameters
    ----------
    op, row, event
        Of all rows.
    dst, width, src, coef
        Of combinations, and of their terms; coefficients that are not ±1 are left at 0.
    to, client, update, version, arrival
        Of local steps.
    run, entered, term
        Of results that enter server updates: the row, the version, and which term it is.
    dropped, stopped
        Sheet that the server ignores, and whether they end before they are done.
    shows, of
        Registers of records, and their versions.
    versions
        After each event.
    """

    op: Any
    row: Any
    event: Any
    dst: Any
    width: Any
    src: Any
    coef: Any
    to: Any
    client: Any
    update: Any
    version: Any
    arrival: Any
    run: Any
    entered: Any
    term: Any
    dropped: Any
    stopped: Any
    shows: Any
    of: Any
    versions: Any


def arrivals(actor: Any, target: Any, rules: Rules, asked: Asked, work: Busy, rows: Sheet, count: Any) -> int:
    """Write the rows of a run, and return how it ended.

    Parameters
    ----------
    actor, target
        Who arrives in each event, and who gets the new model; the latter is empty where that is the same.
    count
        A column of zeros, but for FREE.
    """
    clients = len(work.oldest)
    most = 1 + max(rules.size, clients if rules.stops else 1)  # clients that begin in one event
    if not asked.every:
        _show(asked, rows, count, -1)
    for client in range(clients):
        _begin(rules, work, rows, count, client, -1)
    for now in range(len(actor)):
        if count[MOVES] >= asked.iterations:
            break
        if count[RUNS] + most > len(rows.to):
            return NO_ROOM
        client = actor[now]
        run = work.oldest[client]
        if run < 0:
            return NO_WORK
        work.oldest[client] = work.later[run]
        rows.arrival[run] = now
        if rules.stalest >= 0 and count[MOVES] - rows.version[run] > rules.stalest:
            _drop(work, rows, count, run, 0)
            _begin(rules, work, rows, count, client, now)
        else:
            _enter(rules, asked, work, rows, count, run, now, target[now] if len(target) else client)
        rows.versions[now] = count[MOVES]
        if asked.every:
            _record(rows, count, _X_S, now)
        count[EVENTS] += 1
    return DONE


def _enter(rules: Rules, asked: Asked, work: Busy, rows: Sheet, count: Any, run: int, now: int, answered: int) -> None:
    """Take a result, move the server where it is time, and answer."""
    held = work.held
    held[count[HELD]] = run
    count[HELD] += 1
    if rules.slides:
        moves = now + 1 >= rules.first
        if count[HELD] > rules.size:
            gone = held[0]
            for place in range(rules.size):
                held[place] = held[place + 1]
            count[HELD] -= 1
            if now + 1 == rules.first:  # no server update has seen it
                _drop(work, rows, count, gone, 0)
            else:
                _release(work, rows, count, gone)
    else:
        moves = count[HELD] == rules.size
        if rules.reply == PRE or (rules.reply == POST and not moves):
            _begin(rules, work, rows, count, answered, now)
    if moves:
        _move(rules, asked, work, rows, count, now)
    if rules.slides or (moves and rules.reply == POST):
        _begin(rules, work, rows, count, answered, now)
    elif moves and rules.reply == WAIT:
        for place in range(rules.size):
            _begin(rules, work, rows, count, rows.client[held[place]], now)
    if moves and not rules.slides:
        count[HELD] = 0
        if rules.stops:
            for other in range(len(work.oldest)):
                late = work.oldest[other]
                if count[MOVES] - rows.version[late] > rules.stalest:
                    work.oldest[other] = work.later[late]
                    rows.arrival[late] = now
                    _drop(work, rows, count, late, 1)
                    _begin(rules, work, rows, count, other, now)


def _move(rules: Rules, asked: Asked, work: Busy, rows: Sheet, count: Any, now: int) -> None:
    """Write x_s ← Σ of what the server holds, count it, and show what is asked for."""
    version = count[MOVES]
    if asked.total >= 0 and asked.added[version]:
        place = _combine(rows, count, now, asked.total, 2)
        rows.src[place], rows.coef[place] = asked.total, 1.0
        rows.src[place + 1] = _X_S
    place = _combine(rows, count, now, _X_S, rules.size + (1 if rules.base else 0))
    if rules.base:
        rows.src[place], rows.coef[place] = _X_S, 1.0
        place += 1
    for one in range(rules.size):
        run, use = work.held[one], count[USES]
        rows.src[place + one] = rows.to[run]
        rows.run[use], rows.entered[use], rows.term[use] = run, version, place + one
        count[USES] = use + 1
        if not rules.slides:
            _release(work, rows, count, run)
    count[MOVES] = version + 1
    if not asked.every:
        _show(asked, rows, count, now)


def _show(asked: Asked, rows: Sheet, count: Any, now: int) -> None:
    """Record the present version, or the average up to it, if that is wanted."""
    version = count[MOVES]
    if asked.shown[version]:
        if asked.total < 0:
            _record(rows, count, _X_S, now)
        else:
            mean = asked.total + 1
            place = _combine(rows, count, now, mean, 2 if asked.closed else 1)
            rows.src[place] = asked.total
            if asked.closed:
                rows.src[place + 1] = _X_S
            _record(rows, count, mean, now)


def _begin(rules: Rules, work: Busy, rows: Sheet, count: Any, client: int, now: int) -> None:
    """Hand the present model to a client."""
    count[FREE] -= 1
    run, to = count[RUNS], work.free[count[FREE]]
    count[RUNS] = run + 1
    _add(rows, count, DESCEND, run, now)
    rows.to[run], rows.client[run], rows.version[run], rows.arrival[run] = to, client, count[MOVES], -1
    rows.update[run] = work.updates[client]
    work.updates[client] += 1
    if not rules.models:
        place = _combine(rows, count, now, to, 2)
        rows.src[place], rows.coef[place] = to, 1.0
        rows.src[place + 1], rows.coef[place + 1] = _X_S, -1.0
    work.later[run] = -1
    if work.oldest[client] < 0:
        work.oldest[client] = run
    else:
        work.later[work.newest[client]] = run
    work.newest[client] = run


def _drop(work: Busy, rows: Sheet, count: Any, run: int, stopped: int) -> None:
    """Ignore a result."""
    rows.dropped[count[DROPPED]], rows.stopped[count[DROPPED]] = run, stopped
    count[DROPPED] += 1
    _release(work, rows, count, run)


def _release(work: Busy, rows: Sheet, count: Any, run: int) -> None:
    work.free[count[FREE]] = rows.to[run]
    count[FREE] += 1


def _combine(rows: Sheet, count: Any, now: int, dst: int, width: int) -> int:
    """Add a combination of so many terms, and return where these stand."""
    _add(rows, count, AFFINE, count[COMBINED], now)
    rows.dst[count[COMBINED]], rows.width[count[COMBINED]] = dst, width
    count[COMBINED] += 1
    count[TERMS] += width
    return int(count[TERMS] - width)


def _record(rows: Sheet, count: Any, register: int, now: int) -> None:
    _add(rows, count, RECORD, count[RECORDS], now)
    rows.shows[count[RECORDS]], rows.of[count[RECORDS]] = register, count[MOVES]
    count[RECORDS] += 1


def _add(rows: Sheet, count: Any, op: int, row: int, now: int) -> None:
    place = count[ROWS]
    rows.op[place], rows.row[place], rows.event[place] = op, row, now
    count[ROWS] = place + 1
