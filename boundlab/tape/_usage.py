"""Statistics of the use table: how stale the used updates are, whose they are, and how many are in work meanwhile."""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from boundlab.errors import TapeError
from boundlab.randomness import Floats, Ints
from boundlab.tape._tape import Affine, Identity, Initial, Op, Tape

_BLOCK = 1 << 24  # weights of server updates by clients that are held at a time: 128 MB


@final
@dataclass(frozen=True, slots=True)
class Usage:
    """The updates that enter the first server updates t = 0, …, T−1.

    The weights a_i^t are the sums of client i's weights in server update t, divided by the server's rate.

    Parameters
    ----------
    versions
        T.
    staleness
        Shape (uses,): server versions between the model that an update started from and its use.
    shares
        Shape (n,): π_i, the mean over t of a_i^t.
    chi2_path
        Mean over t of n·Σ_i (a_i^t − 1/n)².
    alpha2
        Mean over t of the sum of the squared weights of single updates.
    working
        Shape (events,): client updates that have begun and not arrived, before each event up to server update T−1.
    """

    versions: int
    staleness: Ints
    shares: Floats
    chi2_path: float
    alpha2: float
    working: Ints

    def symbols(self) -> dict[str, float]:
        """Return what theorems read, by symbol."""
        n = len(self.shares)
        return {
            "n": n,
            **_delays(self.staleness, self.working),
            "chi2": n * float(((self.shares - 1.0 / n) ** 2).sum()),
            "chi2_path": self.chi2_path,
            "alpha2": self.alpha2,
            "pi_max": float(self.shares.max()),
        }


def usage(tape: Tape, until: int, rate: float | None = None) -> Usage | None:
    """Read the use table over the first ``until`` server updates; None where it says nothing about them.

    Parameters
    ----------
    rate
        What all weights are divided by; None: the mean over server updates of their sum, so that the shares sum to 1.
    """
    used = tape.uses.version < until
    run, version = tape.uses.update[used], tape.uses.version[used]
    if not len(run):
        return None
    weight = tape.uses.weight[used]
    scale = float(weight.sum()) / until if rate is None else rate
    alpha = weight / (scale or np.nan)  # what weighs nothing has no shares
    shares, chi2_path = _shares(tape.descend.client[run], version, alpha, tape.clients, until)
    return Usage(
        versions=until,
        staleness=version - tape.descend.version[run],
        shares=shares,
        chi2_path=chi2_path,
        alpha2=float((alpha**2).sum()) / until,
        working=_working(tape, until),
    )


def common_lag(version: Ints, staleness: Ints) -> int | None:
    """Return the lag that updates of server versions have in common; None where they differ.

    Before version 0 there is none: the first updates lag behind by as much as they can, as if x_(−j) were x0.
    """
    lag = int(staleness.max(initial=0))
    return lag if (staleness == np.minimum(version, lag)).all() else None


def constant_lag(tape: Tape, until: int) -> int | None:
    """Return the common lag of all that the first ``until`` server updates use; None where there is none, or no use.

    Before the first update every lag is one; then it is that of the whole tape.
    """
    used = tape.uses.version < (until or tape.iterations)
    version = tape.uses.version[used]
    return common_lag(version, version - tape.descend.version[tape.uses.update[used]]) if len(version) else None


def arrivals(tape: Tape, until: int) -> dict[str, float]:
    """Return what theorems read where each arrival is a server update, whatever it does with the model, by symbol.

    Nothing before the first one.

    Staleness counts as in :class:`Usage`: server versions between the model that a run started from and its arrival.
    """
    arrived = tape.descend.arrival >= 0
    version = tape.version[tape.descend.arrival[arrived]]
    staleness = (version - tape.descend.version[arrived])[version < until]
    return {"n": tape.clients, **_delays(staleness, _working(tape, until))} if len(staleness) else {}


def _delays(staleness: Ints, working: Ints) -> dict[str, float]:
    return {
        "tau_max": int(staleness.max(initial=0)),
        "tau_mean": float(staleness.mean()),
        "concurrency": int(working.max(initial=0)),
        "concurrency_mean": float(working.mean()),
    }


def _shares(client: Ints, version: Ints, alpha: Floats, n: int, until: int) -> tuple[Floats, float]:
    """Return π, shape (n,), and the mean of n·Σ_i (a_i − 1/n)², a block of server updates at a time."""
    total, path = np.zeros(n), 0.0
    rows = max(_BLOCK // n, 1)
    for low in range(0, until, rows):
        size = min(rows, until - low)
        mine = (version >= low) & (version < low + size)
        each = np.bincount((version[mine] - low) * n + client[mine], alpha[mine], size * n).reshape(size, n)
        total += each.sum(axis=0)
        path += float(((each - 1.0 / n) ** 2).sum(axis=1).sum())
    return total / until, n * (path / until)


def _working(tape: Tape, until: int) -> Ints:
    events = int(np.searchsorted(tape.version, until))  # the events 0 … events−1 hold the first T server updates
    began, arrival = tape.event[tape.op == Op.DESCEND], tape.descend.arrival
    most = len(tape.events) + 2
    begun, done = (np.bincount(one + 1, minlength=most) for one in (began, arrival[arrival >= 0]))
    return np.cumsum(begun - done)[:events]


# Statistics of what really happened, read off a tape exactly.


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts, frequencies and staleness of one run.

    Parameters
    ----------
    iterations, versions
        Events, and server updates.
    updates
        Shape (n,): arrivals of each client.
    p, p_s
        Observed fractions of the events that are arrivals of each client, shape (n,), and events of the server.
    staleness
        Shape (arrivals,): server versions between the model from which an arriving update was computed
        and its arrival.
    shares
        Shape (n,): the clients' parts of all aggregated weight; None where the tape does not say.
    time
        Time of the last event.
    """

    iterations: int
    versions: int
    updates: Ints
    p: Floats
    p_s: float
    staleness: Ints
    shares: Floats | None
    time: float

    @property
    def tau_max(self) -> int:
        """The largest staleness, 0 where nothing arrived."""
        return int(self.staleness.max(initial=0))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready figures."""
        return {
            "iterations": self.iterations,
            "versions": self.versions,
            "updates": self.updates.tolist(),
            "p": self.p.tolist(),
            "p_s": self.p_s,
            "tau_max": self.tau_max,
            "tau_mean": float(self.staleness.mean()) if len(self.staleness) else 0.0,
            "shares": None if self.shares is None else self.shares.tolist(),
            "time": self.time,
        }


def statistics(tape: Tape) -> Statistics:
    """Read the statistics off a tape."""
    actor = tape.events.actor
    total = max(len(actor), 1)
    updates = _updates(tape)
    return Statistics(
        iterations=len(actor),
        versions=int(tape.version[-1]),
        updates=updates,
        p=updates / total,
        p_s=int(np.count_nonzero(actor < 0)) / total,
        staleness=staleness(tape),
        shares=shares(tape),
        time=float(tape.events.time[-1]) if len(actor) else 0.0,
    )


def _updates(tape: Tape) -> Ints:
    actor = tape.events.actor
    if not tape.events.detail:
        return np.bincount(actor[actor >= 0], minlength=tape.clients)
    # Events with details are not simply arrivals: count who brought something, once an event.
    arrives = tape.descend.arrival >= 0
    pairs = np.unique(np.stack([tape.descend.client[arrives], tape.descend.arrival[arrives]]), axis=1)
    return np.bincount(pairs[0], minlength=tape.clients)


def shares(tape: Tape) -> Floats | None:
    """Return the clients' parts π_i of all the weight that server updates gave, shape (n,); they sum to 1."""
    weight = np.bincount(
        tape.descend.client[tape.uses.update], weights=np.abs(tape.uses.weight), minlength=tape.clients
    )
    total = float(weight.sum())
    return weight / total if total > 0.0 else None


def arrived(tape: Tape) -> Ints:
    """Return the rows of :class:`boundlab.tape.Descend` that arrive or are stopped, in this order."""
    rows = np.flatnonzero(tape.descend.arrival >= 0)
    return np.asarray(rows[np.argsort(tape.descend.arrival[rows], kind="stable")])


def staleness(tape: Tape) -> Ints:
    """Return, for each update that arrives, the server versions since its model was read, shape (arrivals,).

    In the order of arrival. What is stopped does not count, nor do AREA's first messages under start=analysis, which
    are 0, computed from no model.

    Raises
    ------
    TapeError
        If one is negative.
    """
    rows = arrived(tape)
    rows = rows[~np.isin(rows, np.asarray(tape.notes.get("stopped", ()), dtype=np.int64))]
    tau = tape.version[tape.descend.arrival[rows]] - tape.descend.version[rows]
    if (tau < 0).any():
        raise TapeError("an update is fresher than the model it was computed from")
    return np.asarray(tau, dtype=np.int64)


# The same tape in fewer registers: one that is never read again is given to the next result.

_NEVER = -1  # read


def recycle(tape: Tape) -> Tape:
    """Return a tape that shows the same records, to the last bit, in as few registers as hold what is read later.

    Registers that begin alike are one until they are written. The registers of identities and of x_s keep what they
    hold at the end.
    """
    affine, descend = tape.affine, tape.descend
    start, src, coef = affine.start.tolist(), affine.src.tolist(), affine.coef.tolist()
    reads = list[int](), descend.src.tolist(), tape.record.src.tolist()  # by kind of instruction
    writes = affine.dst.tolist(), descend.dst.tolist()
    lines = list(zip(tape.op.tolist(), tape.row.tolist(), strict=True))
    # Values: 0 is x0, 1 is zero, and then what instructions write, in their order; −1 is none.
    holds = [{Initial.START: 0, Initial.ZERO: 1}.get(Initial(kind), -1) for kind in tape.initial.tolist()]
    last, sources = [_NEVER, _NEVER], list[list[int]]()
    for at, (op, row) in enumerate(lines):
        if op == Op.AFFINE:
            part, own = slice(start[row], start[row + 1]), writes[op][row]
            if own in src[start[row] + 1 : start[row + 1]]:
                # Executors begin with a register's own old value: the sum keeps this order where the result lies
                # elsewhere.
                terms = sorted(zip(src[part], coef[part], strict=True), key=lambda term, own=own: term[0] != own)  # type: ignore[misc]
                src[part], coef[part] = [register for register, _ in terms], [weight for _, weight in terms]
            read = [holds[register] for register in src[part]]
        else:
            read = [holds[reads[op][row]]]
        sources.append(read)
        for one in read:
            last[one] = at
        if op != Op.RECORD:
            holds[writes[op][row]] = len(last)
            last.append(_NEVER)
    kept = [tape.server, *(register for one in tape.identities for register in one.register.tolist())]
    for register in kept:
        last[holds[register]] = len(tape)
    initial = [int(one) for value, one in enumerate((Initial.START, Initial.ZERO)) if last[value] != _NEVER]
    place = {value: number for number, value in enumerate(value for value in (0, 1) if last[value] != _NEVER)}
    unused, value = list[int](), 2
    for at, (op, row) in enumerate(lines):
        read, to = sources[at], _NEVER
        if op == Op.AFFINE:
            src[start[row] : start[row + 1]] = [place[one] for one in read]
        else:
            reads[op][row] = place[read[0]]
        if op != Op.RECORD:  # over its first source if nothing else reads that, or elsewhere
            if read and last[read[0]] == at and read.count(read[0]) == 1:
                to = place.pop(read[0])
            elif unused:
                to = unused.pop()
            else:
                to = len(initial)
                initial.append(int(Initial.UNWRITTEN))
        for one in read:
            if last[one] == at and one in place:
                unused.append(place.pop(one))
        if op != Op.RECORD:
            writes[op][row], place[value] = to, to
            if last[value] == _NEVER:
                unused.append(place.pop(value))
            value += 1
    lies = {register: place[holds[register]] for register in kept}
    return replace(
        tape,
        registers=len(initial),
        initial=np.array(initial, dtype=np.int8),
        affine=Affine(_ints(writes[0]), affine.start, _ints(src), np.array(coef, dtype=np.float64)),
        descend=replace(descend, dst=_ints(writes[1]), src=_ints(reads[1])),
        record=replace(tape.record, src=_ints(reads[2])),
        identities=tuple(
            Identity(one.name, _ints([lies[register] for register in one.register.tolist()]), one.coef)
            for one in tape.identities
        ),
        server=lies[tape.server],
    )


def _ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)
