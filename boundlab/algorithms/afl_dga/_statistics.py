"""Statistics that AFL-DGA's theorems read off a tape, exactly.

Everything is read over the first T server updates t = 0 … T−1 and the events up to the last of them: a theorem
about T rounds is about the run that stops there.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import AssumptionError
from boundlab.tape import Op, Tape

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_DISTANCE = ("held", "wrong", "own", "kept", "oldest", "largest")


def quantities(tape: Tape, until: int) -> dict[str, float]:
    """Return the statistics by symbol.

    ``n`` clients. ``K_m`` most local steps of a round that was sent. ``D_m`` most local steps that a client took
    after it sent a round and before that round's average reached it. ``tau_max`` = ``t_d`` = max τ, where τ_i^t is
    1 in the round in which client i's update is first used and 1 more in each round after; ``Q_age`` = max τ − 1;
    ``tau_sum`` = (1/T) Σ_t Σ_i (τ_i^t + τ_i^{t−τ_i^t} − 1), with τ = 1 before the first round. ``reuse`` =
    mean of τ − 1 over t and i; ``reuse_n`` = mean over t of Σ_a a·sqrt(#{i: τ_i^t − 1 = a})/n.

    ``S``, ``M_own``, ``SM2``: with w^t − w_ij = −η Σ_h s_h ḡ^h + η Σ m·g, the sums over the server steps h < t and
    over the own local gradients, for the point w_ij at which a gradient used in round t was taken: ``M_own`` is the
    largest Σ|m|; ``S`` the largest of Σ|s_h| and of max|s_h| times the age of the oldest h with s_h ≠ 0 (both
    rounded up to an integer); ``SM2`` the mean over t, i and local steps of (Σ|s_h| + Σ|m|)². Where own steps are
    undone and ηḡ applied (scaling=analysis, or K = 1), all s and m are 0 or 1: S is the number of missing server
    steps (if a client receives averages out of order, the age of the oldest missing one), and M_own the number of
    own gradients not yet undone, M_own ≤ K_m + D_m − 1. Otherwise they grow without bound, as the distance does.

    Parameters
    ----------
    tape
        Compiled from AFL-DGA.
    until
        T, 1 ≤ T ≤ the server updates of the tape.

    Raises
    ------
    AssumptionError
        If a client has not sent before the first aggregation: the server then averages in a 0 that is nobody's
        gradient, and τ is undefined.
    """
    n, use, at = tape.clients, tape.uses, tape.uses.version < until
    run, version = use.update[at], use.version[at]
    client = tape.descend.client[run]
    newest = _newest(tape, until)
    silent = np.flatnonzero(newest[0] < 0)
    if len(silent):
        raise AssumptionError(
            f"the theorems of afl_dga need a gradient of every client before the first aggregation; client "
            f"{silent[0]} has not sent one, so that the server averages in a 0 and tau is undefined "
            f"(sampled schedules: first_round=all)"
        )
    age = _age(newest)
    before = np.arange(until)[:, None] - age  # the round before the one of first use
    previous = np.where(before < 0, 1, np.take_along_axis(age, np.maximum(before, 0), axis=0))
    server, own, span = _distance(tape, run, version)
    key = version * n + client
    share = 1.0 / np.bincount(key, minlength=until * n)[key] / (until * n)
    last = int(np.searchsorted(tape.version, until))  # the events 0 … last−1 hold the first T updates
    steps, late = _before(tape, last)
    tau_max = float(age.max())
    return {
        "n": float(n),
        "K_m": float(steps.max(initial=0)),
        "D_m": float(late.max(initial=0)),
        "tau_max": tau_max,
        "t_d": tau_max,
        "Q_age": tau_max - 1.0,
        "tau_sum": float((age + previous - 1).sum()) / until,
        "reuse": float((age - 1).mean()),
        "reuse_n": _reuse_n(age - 1),
        "S": _up(max(float(server.max()), float(span.max()))),
        "M_own": _up(float(own.max())),
        "SM2": float(share @ (server + own) ** 2),
    }


def figures(tape: Tape) -> dict[str, Any]:
    """Return K_m, D_m, rounds sent by each client, and where they are defined tau_max, S and M.

    Here S counts the server steps that have not reached the client, and M its own gradients of rounds whose average
    has not, whatever ``scaling`` makes of the others.
    """
    until = int(tape.version[-1])
    steps, late = _before(tape, len(tape.events))
    sent = np.asarray(tape.notes.get("send_client", np.empty(0)), dtype=np.int64)
    newest = _newest(tape, until)
    heard = newest >= 0
    shown: dict[str, Any] = {
        "K_m": int(steps.max(initial=0)),
        "D_m": int(late.max(initial=0)),
        "rounds": until,
        "participation": np.bincount(sent, minlength=tape.clients).tolist(),
        "silent_at_first": np.flatnonzero(~heard[0]).tolist() if until else [],
        "tau_max": None,
        "S": None,
        "M": None,
    }
    if heard.any():
        run = tape.uses.update
        shown["tau_max"] = int(_age(newest)[heard].max())
        shown["S"] = int((tape.uses.version - tape.notes["run_held"][run]).max())
        shown["M"] = int(tape.notes["run_own"][run].max())
    return shown


def _newest(tape: Tape, until: int) -> Ints:
    """Return the first run of client i's update that enters server update t, shape (until, n); −1 if none does."""
    at = tape.uses.version < until
    run, version = tape.uses.update[at], tape.uses.version[at]
    out = np.full((until, tape.clients), -1, dtype=np.int64)
    out[version[::-1], tape.descend.client[run[::-1]]] = run[::-1]
    return out


def _age(newest: Ints) -> Ints:
    """Return τ_i^t, shape (T, n): 1 where an update is first used, 1 more in each round after."""
    rounds = np.arange(len(newest))[:, None]
    fresh = np.ones(newest.shape, dtype=bool)
    fresh[1:] = newest[1:] != newest[:-1]
    return np.asarray(rounds - np.maximum.accumulate(np.where(fresh, rounds, 0), axis=0) + 1, dtype=np.int64)


def _reuse_n(age: Ints) -> float:
    until, n = age.shape
    width = int(age.max()) + 1
    counts = np.bincount((np.arange(until)[:, None] * width + age).ravel(), minlength=until * width)
    mean = float((np.sqrt(counts.reshape(until, width)) @ np.arange(width)).mean())
    return mean / float(n)


def _distance(tape: Tape, run: Ints, version: Ints) -> tuple[Floats, Floats, Floats]:
    """Return Σ|s_h|, Σ|m| and max|s_h| · (age of the oldest h with s_h ≠ 0) for each use of a run."""
    note = {name: np.asarray(tape.notes[f"run_{name}"], dtype=np.float64)[run] for name in _DISTANCE}
    span = (version - note["oldest"]) * note["largest"]
    return version - note["held"] + note["wrong"], note["own"] + note["kept"], span


def _before(tape: Tape, last: int) -> tuple[Ints, Ints]:
    """Return the lengths of the rounds sent, and how late averages are at each local step, before event ``last``."""
    if not len(tape.descend.dst):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    at = tape.event[tape.op == Op.DESCEND]
    late = np.asarray(tape.notes["run_late"], dtype=np.int64)[at < last]
    if "send_event" not in tape.notes:
        return np.empty(0, np.int64), late
    return np.asarray(tape.notes["send_steps"], dtype=np.int64)[tape.notes["send_event"] < last], late


def _up(value: float) -> float:
    """Return the next integer, forgiving the rounding of a sum."""
    return float(math.ceil(value - 1e-9 * max(1.0, abs(value))))
