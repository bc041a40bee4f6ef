"""The reference executor: registers are NumPy vectors."""

from collections.abc import Callable
from typing import Any

import numpy as np

from boundlab.errors import TapeError
from boundlab.objective import Array, Oracle
from boundlab.tape import Initial, Op, Tape

Observe = Callable[[int, Array], None]
_DRAWS = 1 << 18  # random numbers held at a time


def run(tape: Tape, x0: Array, oracle: Oracle, observe: Observe) -> Array:
    """Execute a tape.

    Parameters
    ----------
    tape
        The program.
    x0
        Shape (d,), unit (0, 1): what START registers hold. Its dtype is that of the registers.
    oracle
        Stochastic (sub)gradients of this trial.
    observe
        Called as observe(m, x) for record m with a read-only view of its register, shape (d,).

    Returns
    -------
    ndarray, shape (registers, d)
        The final registers.

    Raises
    ------
    TapeError
        If a finite run breaks an identity of its tape by more than rounding.
    AssumptionError
        If a step is implicit and the oracle has noise, or the problem has no closed proximal step.
    """
    registers = np.zeros((tape.registers, len(x0)), dtype=x0.dtype)
    registers[tape.initial == Initial.START] = x0
    # An iterate may overflow where a step size is too large; that is a result, not an accident.
    with np.errstate(over="ignore", invalid="ignore"):
        _execute(tape, registers, oracle, observe)
    check_identities(tape, registers)
    return registers


def _execute(tape: Tape, registers: Array, oracle: Oracle, observe: Observe) -> None:
    from scipy.linalg import get_blas_funcs

    rows = list(registers)  # row views: indexing a list is cheaper than indexing an array
    shown = registers.view()
    shown.flags.writeable = False
    views = list(shown)
    # One pass over memory for out += weight·src, and less overhead than two ufuncs.
    axpy = get_blas_funcs("axpy", dtype=registers.dtype)
    add, multiply, copyto = np.add, np.multiply, np.copyto
    dst, start = tape.affine.dst.tolist(), tape.affine.start.tolist()
    src, coef = tape.affine.src.tolist(), tape.affine.coef.tolist()
    to, source = tape.descend.dst.tolist(), tape.descend.src.tolist()
    client, alpha = tape.descend.client.tolist(), tape.descend.step_size.tolist()
    record = tape.record.src.tolist()
    local = tape.local.tolist() if len(tape.local) else None
    implicit = tape.implicit.tolist() if len(tape.implicit) else [False] * len(to)
    block = _Draws(tape, oracle)
    for op, row in zip(tape.op.tolist(), tape.row.tolist(), strict=True):
        if op == Op.AFFINE.value:
            target = dst[row]
            out = rows[target]
            first, last = start[row], start[row + 1]
            sources = src[first:last]
            if target in sources:
                # The register's own old value comes first, so that nothing reads it after it changed.
                own = first + sources.index(target)
                if coef[own] != 1.0:
                    multiply(out, coef[own], out=out)
            elif first == last:
                out.fill(0.0)
                continue
            else:
                own = first
                if coef[own] == 1.0:
                    copyto(out, rows[src[own]])
                else:
                    multiply(rows[src[own]], coef[own], out=out)
            for term in range(first, last):
                if term != own:
                    weight = coef[term]
                    if weight == 1.0:
                        add(out, rows[src[term]], out=out)
                    else:
                        axpy(rows[src[term]], out, a=weight)
        elif op == Op.DESCEND.value:
            out = rows[to[row]]
            copyto(out, rows[source[row]])
            who, size = client[row], alpha[row]
            step = oracle.implicit_step if implicit[row] else oracle.step
            if local is None:
                for draw in block.of(row):
                    step(out, who, draw, size)
            else:
                for draw, part in zip(block.of(row), local, strict=True):
                    step(out, who, draw, size * part)
        else:
            observe(row, views[record[row]])


class _Draws:
    """The random numbers of coming updates, fetched for a block of them at a time."""

    __slots__ = ("block", "first", "oracle", "stop", "tape")

    def __init__(self, tape: Tape, oracle: Oracle) -> None:
        self.tape, self.oracle = tape, oracle
        self.first = self.stop = 0
        self.block: Any = []

    def of(self, row: int) -> Any:
        """Return the draws of update ``row``, one a local step; rows are asked for in order."""
        if row >= self.stop:
            descend = self.tape.descend
            steps = int(descend.steps[row])
            room = max(1, _DRAWS // max(1, self.oracle.draw_size(steps)))
            other = np.flatnonzero(descend.steps[row : row + room] != steps)
            self.first, self.stop = (
                row,
                row + (int(other[0]) if len(other) else min(room, len(descend.steps) - row)),
            )
            part = slice(self.first, self.stop)
            self.block = self.oracle.draws(descend.client[part], descend.update[part], steps)
        return self.block[row - self.first]


def check_identities(tape: Tape, registers: Array) -> None:
    """Check what a tape promises of its final registers.

    Raises
    ------
    TapeError
        If a finite run breaks an identity by more than rounding.
    """
    if not np.isfinite(registers).all():
        return  # a diverged run: the metrics say so
    events = max(len(tape.events), 1)
    for identity in tape.identities:
        used = registers[identity.register]
        residual = np.abs(identity.coef @ used)
        scale = float(np.abs(used).max(initial=0.0)) + 1e-300
        # Rounding errors of a running sum add up to at most its length; sqrt is what happens, ×64 is room.
        allowed = 64.0 * np.sqrt(events) * float(np.finfo(registers.dtype).eps) * max(scale, 1.0)
        if float(residual.max(initial=0.0)) > allowed:
            raise TapeError(f"the run breaks {identity.name}: residual {residual.max():.3g}, allowed {allowed:.3g}")
