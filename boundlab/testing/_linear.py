"""Linear algebra of a tape: every register as a combination of x0 and of what single updates give.

Whatever the functions are, a register is c_0·x0 + Σ c_r·(move of update r), the move of an update being its end minus
its start; and also a combination of x0 and of the ends themselves. The coefficients are read off the program.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundlab.tape import Initial, Op, Tape

Floats = NDArray[np.float64]
NEGLIGIBLE = 1e-12  # a coefficient that rounding may have left of 0


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """The server's models as combinations.

    Parameters
    ----------
    models
        Shape (versions + 1, 1 + updates): the coefficients of x0 and of each row of ``descend``.
    read
        Shape (updates,): whether an instruction reads the update, or what was made of it, once it has arrived.
    held
        Shape (updates,): whether it stands in a register at the end.
    depth
        Shape (versions + 1,): the most local steps that lie behind each model, one after the other.
    """

    models: Floats
    read: NDArray[np.bool_]
    held: NDArray[np.bool_]
    depth: NDArray[np.int64]

    @property
    def entering(self) -> Floats:
        """The coefficients with which each update moves the model, shape (versions, updates)."""
        out: Floats = np.diff(self.models[:, 1:], axis=0)
        return out


def reading(tape: Tape, *, ends: bool = False) -> Reading:
    """Read a tape that records all iterations.

    Parameters
    ----------
    ends
        Whether the combinations are of the ends of updates in place of their moves.
    """
    rows = len(tape.descend.dst)
    unit = np.eye(1 + rows)
    first = {Initial.START: unit[0], Initial.ZERO: np.zeros(1 + rows)}
    registers: list[Floats | None] = [first.get(Initial(int(kind))) for kind in tape.initial]
    arrival = tape.descend.arrival
    read = np.zeros(rows, dtype=np.bool_)
    steps = np.zeros(1 + rows, dtype=np.int64)  # behind x0 and behind each end
    shown: list[Floats] = []

    def take(register: int, event: int) -> Floats:
        value = registers[register]
        assert value is not None, f"register {register} is read before it is written"  # noqa: S101
        read[(np.abs(value[1:]) > NEGLIGIBLE) & (arrival >= 0) & (arrival <= event)] = True
        return value

    for op, row, event in zip(tape.op.tolist(), tape.row.tolist(), tape.event.tolist(), strict=True):
        if op == Op.AFFINE:
            total = np.zeros(1 + rows)
            for term in range(tape.affine.start[row], tape.affine.start[row + 1]):
                total = total + tape.affine.coef[term] * take(tape.affine.src[term], event)
            registers[tape.affine.dst[row]] = total
        elif op == Op.DESCEND:
            source = take(tape.descend.src[row], event)
            steps[1 + row] = int(tape.descend.steps[row]) + _deepest(steps, source)
            registers[tape.descend.dst[row]] = unit[1 + row] if ends else source + unit[1 + row]
        else:
            shown.append(take(tape.record.src[row], event))
    versions = tape.record.version.tolist()
    models = np.array([shown[versions.index(version)] for version in range(int(tape.version[-1]) + 1)])
    held = np.zeros(rows, dtype=np.bool_)
    for value in registers:
        if value is not None:
            held |= np.abs(value[1:]) > NEGLIGIBLE
    return Reading(models, read, held, np.array([_deepest(steps, model) for model in models]))


def _deepest(steps: NDArray[np.int64], combination: Floats) -> int:
    return int(steps[np.abs(combination) > NEGLIGIBLE].max(initial=0))
