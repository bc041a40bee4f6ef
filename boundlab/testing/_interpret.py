"""A second interpreter of tapes: the columns as they read, one instruction after the other.

It shares neither the decoder nor the loop of :mod:`boundlab.execute`.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from boundlab.objective import Array, Problem
from boundlab.objective.composite import Composite
from boundlab.tape import Initial, Op, Tape

Vectors = list[Array]


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
    """

    starts: Vectors
    ends: Vectors
    shown: Vectors

    def models(self, tape: Tape) -> Vectors:
        """Return the server's model of each version, from a tape that records all iterations."""
        versions = tape.record.version.tolist()
        return [self.shown[versions.index(version)] for version in range(int(tape.version[-1]) + 1)]


def interpret(tape: Tape, problem: Problem) -> Run:
    """Execute a tape.

    Raises
    ------
    AssertionError
        If an instruction is none of the three.
    """
    first = {Initial.START: problem.x0.astype(np.float64), Initial.ZERO: np.zeros(problem.d)}
    registers: list[Array | None] = [first.get(Initial(int(kind))) for kind in tape.initial]
    run = Run([], [], [])

    def read(register: int) -> Array:
        value = registers[register]
        assert value is not None, f"register {register} is read before it is written"  # noqa: S101
        return value

    for op, row in zip(tape.op.tolist(), tape.row.tolist(), strict=True):
        if op == Op.AFFINE:
            terms = range(tape.affine.start[row], tape.affine.start[row + 1])
            total = np.zeros(problem.d)
            for term in terms:
                total = total + tape.affine.coef[term] * read(tape.affine.src[term])
            registers[tape.affine.dst[row]] = total
        elif op == Op.DESCEND:
            x = read(tape.descend.src[row])
            run.starts.append(x)
            x = _descend(tape, row, x, problem)
            run.ends.append(x)
            registers[tape.descend.dst[row]] = x
        else:
            assert op == Op.RECORD, f"instruction {op} is none that this interpreter knows"  # noqa: S101
            run.shown.append(read(tape.record.src[row]))
    return run


def _descend(tape: Tape, row: int, x: Array, problem: Problem) -> Array:
    """Return the end of the local steps of one row."""
    client, steps = int(tape.descend.client[row]), int(tape.descend.steps[row])
    f = problem.inner if isinstance(problem, Composite) else problem
    for step in range(steps):
        size = float(tape.descend.step_size[row]) * (float(tape.local[step]) if len(tape.local) else 1.0)
        implicit = len(tape.implicit) and tape.implicit[row]
        x = problem.prox(client, x, size) if implicit else x - size * f.gradient(client, x)
        if problem.simple is not None and not implicit:
            problem.simple.prox(x, size)
    return x
