"""The invariants of a tape: always checked, vectorised, cheap."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.rational import ENGINE, rational
from boundlab.errors import TapeError
from boundlab.tape._tape import Initial, Op, Tape

Ints = NDArray[np.int64]
_AFFINE, _DESCEND, _RECORD = (int(op) for op in Op)


def verify(tape: Tape) -> None:
    """Check a tape.

    Time does not decrease; actors are clients or the server; nothing is read before it is written; versions
    do not go back; no update is computed from a model newer than its reader, arrives before it was begun, or
    is used before it arrived; coefficients, step sizes and weights are finite; relative sizes of local steps, where
    there are any, are as many as the steps of every update.

    Raises
    ------
    TapeError
        Naming the invariant and the first place that breaks it.
    """
    _events(tape)
    _finite(tape)
    at_affine = np.flatnonzero(tape.op == _AFFINE)
    at_descend = np.flatnonzero(tape.op == _DESCEND)
    at_record = np.flatnonzero(tape.op == _RECORD)
    _registers(tape)
    first_write = np.full(tape.registers, len(tape), dtype=np.int64)
    np.minimum.at(first_write, tape.affine.dst, at_affine)
    np.minimum.at(first_write, tape.descend.dst, at_descend)
    first_write[tape.initial != Initial.UNWRITTEN] = -1
    first_read = np.full(tape.registers, len(tape) + 1, dtype=np.int64)
    np.minimum.at(first_read, tape.affine.src, np.repeat(at_affine, tape.affine.start[1:] - tape.affine.start[:-1]))
    np.minimum.at(first_read, tape.descend.src, at_descend)
    np.minimum.at(first_read, tape.record.src, at_record)
    early = np.flatnonzero(first_write >= first_read)
    if len(early):
        raise TapeError(f"register {early[0]} is read before it is written")
    _versions(tape, at_descend)
    _uses(tape, at_descend)


def verify_identities(tape: Tape) -> None:
    """Check what a tape promises of its final registers, without rounding: a number stands for each local result.

    Raises
    ------
    TapeError
        If an identity does not hold, whatever the functions are.
    """
    if not tape.identities:
        return
    starts = {Initial.START: Fraction(_number(0)), Initial.ZERO: Fraction(0)}
    held = [starts.get(Initial(kind), Fraction(0)) for kind in tape.initial.tolist()]
    affine, descend = tape.affine, tape.descend
    weights = [_exact(one) for one in affine.coef.tolist()]
    for op, row in zip(tape.op.tolist(), tape.row.tolist(), strict=True):
        if op == Op.AFFINE:
            terms = range(affine.start[row], affine.start[row + 1])
            held[affine.dst[row]] = sum((weights[term] * held[affine.src[term]] for term in terms), Fraction(0))
        elif op == Op.DESCEND:
            held[descend.dst[row]] = Fraction(_number(row + 1))
    for identity in tape.identities:
        pairs = zip(identity.coef.tolist(), identity.register.tolist(), strict=True)
        if sum((_exact(share) * held[register] for share, register in pairs), Fraction(0)):
            raise TapeError(f"the tape breaks {identity.name}")


def _number(place: int) -> int:
    """Return a number that no others make by the few combinations of a tape."""
    return pow(3, place + 40, (1 << 61) - 1)


def _exact(weight: float) -> Fraction:
    found = rational(weight, ENGINE)
    return Fraction(weight) if found is None else found


def _events(tape: Tape) -> None:
    time, actor = tape.events.time, tape.events.actor
    if not np.isfinite(time).all() or (len(time) and time[0] < 0.0) or _falls(time):
        raise TapeError("event times must be finite, ≥ 0 and must not decrease")
    if ((actor < -1) | (actor >= tape.clients)).any():
        raise TapeError(f"an event names an actor outside -1…{tape.clients - 1}")


def _falls(column: NDArray[Any]) -> bool:
    return bool((column[1:] < column[:-1]).any())


def _finite(tape: Tape) -> None:
    if not np.isfinite(tape.affine.coef).all():
        raise TapeError("an affine coefficient is not finite")
    if not (np.isfinite(tape.descend.step_size) & (tape.descend.step_size >= 0.0)).all():
        raise TapeError("a step size is negative or not finite")
    if (tape.descend.steps < 1).any():
        raise TapeError("an update has no local steps")
    if len(tape.implicit) not in (0, len(tape.descend.dst)):
        raise TapeError("implicit must say for every update whether its steps are, or be empty")
    if not np.isfinite(tape.local).all():
        raise TapeError("a relative size of a local step is not finite")
    if len(tape.local) and (tape.descend.steps != len(tape.local)).any():
        raise TapeError(f"local gives {len(tape.local)} relative sizes, but an update has another number of steps")


def _registers(tape: Tape) -> None:
    affine, descend = tape.affine, tape.descend
    for kind, columns in (("written", (affine.dst, descend.dst)), ("read", (affine.src, descend.src, tape.record.src))):
        if any(len(column) and not (column.min() >= 0 and column.max() < tape.registers) for column in columns):
            raise TapeError(f"a register outside 0…{tape.registers - 1} is {kind}")


def _versions(tape: Tape, at_descend: Ints) -> None:
    if tape.version.shape != (len(tape.events) + 1,) or tape.version[0] != 0 or _falls(tape.version):
        raise TapeError(
            "server versions must start at 0 and must not go back, one after each event, which Writer.end() ends"
        )
    if len(tape.event) and tape.event.max() >= len(tape.events):
        raise TapeError(f"event {tape.event.max()} was begun and not ended: Writer.end() ends one")
    seen = tape.version[tape.event[at_descend] + 1]
    if (tape.descend.version > seen).any() or (tape.descend.version < 0).any():
        raise TapeError("an update is computed from a model version that does not exist yet")
    arrives = tape.descend.arrival
    if ((arrives >= 0) & (arrives <= tape.event[at_descend])).any() or (arrives >= len(tape.events)).any():
        raise TapeError("an update arrives before it is begun, or after the last event")
    if _falls(tape.record.iteration) or _falls(tape.record.version):
        raise TapeError("records go back in iteration or version")


def _uses(tape: Tape, at_descend: Ints) -> None:
    uses = tape.uses
    if not len(uses.update):
        return
    if not np.isfinite(uses.weight).all():
        raise TapeError("the weight of an update is not finite")
    if not (uses.update.min() >= 0 and uses.update.max() < len(at_descend)):
        raise TapeError("a server update uses a run that does not exist")
    last = int(tape.version[-1])
    if uses.version.min() < 0 or uses.version.max() >= last or _falls(uses.version):
        raise TapeError(f"updates must be used in the order of the server versions 0…{last - 1}")
    # Version t → t+1 happens in the first event after which the version is above t.
    when = np.searchsorted(tape.version, uses.version, side="right") - 1
    arrived = tape.descend.arrival[uses.update]
    if ((arrived < 0) | (arrived > when)).any():
        raise TapeError("a server update uses an update that has not arrived")
