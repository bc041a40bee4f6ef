"""A second interpreter of tapes: the columns as they read, one instruction after the other.

It shares neither the decoder nor the loop of :mod:`boundlab.execute`. Its vectors are those of a problem, or
coefficients: whatever the functions are, a register is c_0·x0 + Σ c_r·(move of update r), the move of an update being
its end minus its start; and also a combination of x0 and of the ends themselves.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundlab.objective import Array, Problem
from boundlab.objective.composite import Composite
from boundlab.tape import Initial, Op, Tape

Floats = NDArray[np.float64]
Vectors = list[Array]
NEGLIGIBLE = 1e-12  # a coefficient that rounding may have left of 0


@final
@dataclass(frozen=True, slots=True)
class Run:
    """Run of a tape with full gradients.

    Parameters
    ----------
    starts, ends
        The models before and after the local steps of each row of ``descend``, shape (d,) each.
    shown
        What each row of ``record`` shows, shape (d,) each.
    reads
        What each instruction reads, with its event.
    registers
        The final registers; None: never written.
    """

    starts: Vectors
    ends: Vectors
    shown: Vectors
    reads: list[tuple[int, Array]]
    registers: list[Array | None]

    def models(self, tape: Tape) -> Vectors:
        """Return the server's model of each version, from a tape that records all iterations."""
        versions = tape.record.version.tolist()
        return [self.shown[versions.index(version)] for version in range(int(tape.version[-1]) + 1)]


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


def interpret(tape: Tape, problem: Problem) -> Run:
    """Execute a tape.

    Raises
    ------
    AssertionError
        If an instruction is none of the three, or reads what nobody has written.
    """
    table = tape.descend

    def descend(row: int, x: Array) -> Array:
        sizes = float(table.step_size[row]) * (tape.local if len(tape.local) else np.ones(table.steps[row]))
        implicit = bool(len(tape.implicit) and tape.implicit[row])
        return local_steps(problem, int(table.client[row]), x, sizes.tolist(), implicit=implicit)

    return _run(tape, problem.x0.astype(np.float64), descend)


def reading(tape: Tape, *, ends: bool = False) -> Reading:
    """Read a tape that records all iterations.

    Parameters
    ----------
    ends
        Whether the combinations are of the ends of updates in place of their moves.
    """
    arrival = tape.descend.arrival
    unit = np.eye(1 + len(arrival))
    run = _run(tape, unit[0], lambda row, x: unit[1 + row] if ends else x + unit[1 + row])
    read, held = np.zeros((2, len(arrival)), dtype=np.bool_)
    for event, value in run.reads:
        read |= _holds(value)[1:] & (arrival >= 0) & (arrival <= event)
    for register in run.registers:
        held |= False if register is None else _holds(register)[1:]
    steps = np.zeros(1 + len(arrival), dtype=np.int64)  # behind x0 and behind each end
    for row, start in enumerate(run.starts):
        steps[1 + row] = tape.descend.steps[row] + steps[_holds(start)].max(initial=0)
    models = run.models(tape)
    return Reading(np.array(models), read, held, np.array([steps[_holds(one)].max(initial=0) for one in models]))


def _holds(combination: Array) -> NDArray[np.bool_]:
    """Return which coefficients are not 0."""
    return np.abs(combination) > NEGLIGIBLE


def _run(tape: Tape, start: Array, descend: Callable[[int, Array], Array]) -> Run:
    """Execute a tape from a vector, with a function of the row and its vector for the local steps."""
    registers = initial(tape.initial, start)
    run = Run([], [], [], [], registers)

    def read(register: int, event: int) -> Array:
        value = registers[register]
        assert value is not None, f"register {register} is read before it is written"  # noqa: S101
        run.reads.append((event, value))
        return value

    for op, row, event in zip(tape.op.tolist(), tape.row.tolist(), tape.event.tolist(), strict=True):
        if op == Op.AFFINE:
            total = np.zeros_like(start)
            for term in range(tape.affine.start[row], tape.affine.start[row + 1]):
                total = total + tape.affine.coef[term] * read(tape.affine.src[term], event)
            registers[tape.affine.dst[row]] = total
        elif op == Op.DESCEND:
            run.starts.append(read(tape.descend.src[row], event))
            run.ends.append(descend(row, run.starts[-1]))
            registers[tape.descend.dst[row]] = run.ends[-1]
        else:
            assert op == Op.RECORD, f"instruction {op} is none that this interpreter knows"  # noqa: S101
            run.shown.append(read(tape.record.src[row], event))
    return run


def initial(kinds: Iterable[int], start: Array) -> list[Array | None]:
    """Return what registers hold at first; None: nothing may read it."""
    first = {Initial.START: start, Initial.ZERO: np.zeros_like(start)}
    return [first.get(Initial(int(kind))) for kind in kinds]


def local_steps(problem: Problem, client: int, x: Array, sizes: Iterable[float], *, implicit: bool = False) -> Array:
    """Return where a client's local steps end."""
    f = problem.inner if isinstance(problem, Composite) else problem
    for size in sizes:
        x = problem.prox(client, x, size) if implicit else x - size * f.gradient(client, x)
        if problem.simple is not None and not implicit:
            x = problem.simple.prox(x, size)
    return x
