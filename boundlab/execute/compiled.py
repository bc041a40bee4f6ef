"""The executor in machine code, for tapes of many short updates: see :mod:`boundlab.arithmetic.compiled`.

It does what :mod:`boundlab.execute.floats` does, up to the order of sums.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.compiled import BATCHES, EXACT, SAMPLES, SEPARABLE, Clients, installed, machine_code
from boundlab.execute import _walk
from boundlab.execute._walk import Errors, Listing
from boundlab.execute.enclosed import norm as norm_up
from boundlab.execute.floats import drawn_blocks
from boundlab.objective import Array, Oracle, Problem, StepBounds
from boundlab.randomness import Streams
from boundlab.tape import Initial, Tape

Floats = NDArray[np.float64]
# Called as observe(rows, X, off): record rows[j] is X[j], and off[j] is how far that is off at most, where it is known.
ObserveMany = Callable[[NDArray[np.int64], Array, Floats], None]
_SHOWN = 1 << 18  # numbers of records that are held at a time
_LAST = 1 << 62
_SHORT = 20_000


def clients_of(problem: Problem, tape: Tape) -> Clients | None:
    """Return the clients whose steps a tape makes; None where it makes others, the problem has none, or no Numba is."""
    if tape.implicit.any() or not installed():
        return None
    return problem.compiled()


def affordable(problem: Problem) -> bool:
    """Return whether a local step is so short that what calls of NumPy cost is most of it: fewer products than that."""
    clients = problem.compiled()
    if clients is None:
        return False
    rows = 5 if clients.kind == SEPARABLE else 4 * problem.d  # products of matrices are what BLAS is good at
    if clients.kind == SAMPLES:
        rows = 2 * (problem.oracle(Streams(0)).draw_size(1) or int(clients.size.max()))
    return rows * problem.d <= _SHORT


def run(tape: Tape, x0: Array, clients: Clients, oracle: Oracle, observe: ObserveMany) -> Array:
    """Execute a tape; see :func:`boundlab.execute.floats.run`."""
    registers = _registers(tape, x0)
    _go(tape, registers, clients, oracle, observe, None)
    return registers


def run_proved(
    tape: Tape, problem: Problem, clients: Clients, oracle: Oracle, observe: ObserveMany, steep: Floats | None = None
) -> bool:
    """Execute a tape with errors; return whether they are known to the end, or nothing that was observed counts.

    Parameters
    ----------
    steep
        Shape (2, rows of local steps), zeros, for the largest ‖g‖ of each; see :class:`boundlab.execute._walk.Errors`.
    """
    bounds = [problem.step_bounds(client) for client in range(problem.n)]
    known = [one for one in bounds if one is not None and not one.kinks and one.doubt is None]
    if len(known) < problem.n:
        return False
    return _go(tape, _registers(tape, problem.x0), clients, oracle, observe, known, steep)


def _registers(tape: Tape, x0: Array) -> Array:
    registers = np.zeros((tape.registers, len(x0)), dtype=x0.dtype)
    registers[tape.initial == Initial.START] = x0
    return registers


def _go(
    tape: Tape,
    registers: Array,
    clients: Clients,
    oracle: Oracle,
    observe: ObserveMany,
    bounds: list[StepBounds] | None,
    steep: Floats | None = None,
) -> bool:
    kind, d = registers.dtype, registers.shape[1]
    affine, descend = tape.affine, tape.descend
    sizes, local = descend.step_size.astype(kind), tape.local.astype(kind)
    combinations = affine.dst, affine.start, affine.src, affine.coef.astype(kind)
    steps = descend.dst, descend.src, descend.client, descend.steps, sizes, local
    program = Listing(tape.op, *combinations, *steps, tape.record.src)
    work = np.empty((3, max(d, clients.classes)), dtype=kind)
    shown = np.empty((min(max(1, len(tape.record.src)), max(1, _SHOWN // d)), d), dtype=kind)
    errors = _errors(tape, registers, len(shown), bounds, np.zeros((2, 0)) if steep is None else steep)
    at = np.zeros(8, dtype=np.int64)
    at[_walk.VALUES] = len(registers) + 1
    blocks, noise, batch = _drawn(tape, clients, oracle), np.empty((0, 0, 0), kind), np.empty((0, 0, 0), np.int64)
    walk = machine_code(_walk.walk)
    while True:
        ended = walk(program, clients, registers, noise, batch, shown, work, at, bounds is not None, errors)
        if ended == _walk.DRAW:
            at[_walk.DRAWN], at[_walk.UNTIL], noise, batch = next(blocks)
            continue
        seen = np.arange(at[_walk.SHOWN], at[_walk.RECORD])
        if len(seen) and ended != _walk.GAVE_UP:
            observe(seen, shown[: len(seen)], errors.shown[: len(seen)])
        if ended != _walk.SHOW:
            return bool(ended == _walk.DONE)
        at[_walk.SHOWN] = at[_walk.RECORD]


def _drawn(tape: Tape, clients: Clients, oracle: Oracle) -> Iterator[tuple[int, int, Any, Any]]:
    """Yield blocks of updates: the first, the one after the last, and noise or row numbers of each of their steps."""
    kind = clients.a.dtype
    if clients.drawn == EXACT:
        yield 0, _LAST, np.empty((0, 0, 0), kind), np.empty((0, 0, 0), np.int64)
        return
    for part, drawn in drawn_blocks(tape, oracle):
        rows, steps = part.stop - part.start, int(tape.descend.steps[part.start])
        if clients.drawn != BATCHES:
            yield part.start, part.stop, drawn.reshape(rows, steps, -1).astype(kind), np.empty((0, 0, 0), np.int64)
            continue
        batch = np.full((rows, steps, max(len(one[0]) for one in drawn)), -1)
        for row, one in enumerate(drawn):
            batch[row, :, : one.shape[1]] = one
        yield part.start, part.stop, np.empty((0, 0, 0), kind), batch


def _errors(tape: Tape, registers: Array, records: int, bounds: list[StepBounds] | None, steep: Floats) -> Errors:
    """Return what is proved at the start; empty columns where nothing is asked."""
    size, few = (len(registers), records) if bounds is not None else (0, 0)
    norm = np.array([norm_up(one) for one in registers[:size]])
    value = np.arange(1, size + 1)
    value[tape.initial[:size] == Initial.START] = 0
    mu, L, offset, slope = (
        np.array([getattr(one, name) for one in bounds or ()]) for name in ("mu", "L", "offset", "slope")
    )
    proximal = np.array([one.proximal for one in bounds or ()], dtype=np.bool_)
    began, moved, shown = np.full(size, -1), np.full(size, np.inf), np.zeros(few)
    ulp = float(np.finfo(registers.dtype).eps)
    return Errors(np.zeros(size), norm, value, began, moved, mu, L, offset, slope, proximal, shown, ulp, steep)
