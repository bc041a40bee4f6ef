"""The reference executor: registers are NumPy vectors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from boundlab.arithmetic.compiled import BATCHES, EXACT, SAMPLES, SEPARABLE, Clients, installed, machine_code
from boundlab.execute import _walk
from boundlab.execute._rows import own_first
from boundlab.execute._walk import Errors, Listing
from boundlab.execute.enclosed import norm as norm_up
from boundlab.objective import Array, Oracle, Problem, StepBounds
from boundlab.randomness import Floats, Ints, Streams
from boundlab.tape import Initial, Op, Tape

Observe = Callable[[int, Array], None]
_DRAWS = 1 << 18  # random numbers held at a time
_INSTRUCTIONS = 1 << 14  # that stand in lists at a time
_KEEP, _COPY, _SCALE, _CLEAR, _DESCEND, _RECORD = range(6)


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
    AssumptionError
        If a step is implicit and the oracle has noise, or the problem has no closed proximal step.
    """
    registers = _registers(tape, x0)
    # An iterate may overflow where a step size is too large; that is a result, not an accident.
    with np.errstate(over="ignore", invalid="ignore"):
        _execute(tape, registers, oracle, observe)
    return registers


def _execute(tape: Tape, registers: Array, oracle: Oracle, observe: Observe) -> None:
    from scipy.linalg import get_blas_funcs

    rows = list(registers)  # row views: indexing a list is cheaper than indexing an array
    shown = registers.view()
    shown.flags.writeable = False
    views = list(shown)
    # One pass over memory for out += weight·src, and less overhead than ufuncs.
    axpy, d = get_blas_funcs("axpy", dtype=registers.dtype), registers.shape[1]
    multiply, every = np.multiply, slice(None)
    step, implicit_step = oracle.step, oracle.implicit_step
    local = tape.local.tolist() if len(tape.local) else None
    drawn = draws(tape, oracle)
    for block in _blocks(tape):
        src, coef = block.src, block.coef
        next_affine, next_descend, next_record = block.affine.__next__, block.descend.__next__, block.record.__next__
        for what in block.ops:
            if what == _DESCEND:
                target, source, who, size, implicit = next_descend()
                out = rows[target]
                out[every] = rows[source]
                move = implicit_step if implicit else step
                if local is None:
                    for draw in next(drawn):
                        move(out, who, draw, size)
                else:
                    for draw, part in zip(next(drawn), local, strict=True):
                        move(out, who, draw, size * part)
            elif what == _RECORD:
                row, source = next_record()
                observe(row, views[source])
            else:
                target, first, last = next_affine()
                out = rows[target]
                if what == _SCALE:
                    multiply(rows[src[first]], coef[first], out)
                elif what == _COPY:
                    out[every] = rows[src[first]]
                elif what == _CLEAR:
                    out.fill(0.0)
                for term in range(first + 1, last):
                    axpy(rows[src[term]], out, d, coef[term])


@dataclass(frozen=True, slots=True)
class _Instructions:
    """Some instructions as lists.

    Parameters
    ----------
    ops
        What each does, and how a combination begins: its register is kept, copied from the first source, a multiple of
        it, or cleared. The other terms are added.
    affine, descend, record
        (target, first term, end of terms); (target, source, client, step size, implicit); (row, source).
    src, coef
        The terms; a register's own old value comes first, so that nothing reads it after it changed.
    """

    ops: list[int]
    affine: Iterator[tuple[int, int, int]]
    descend: Iterator[tuple[int, int, int, float, bool]]
    record: Iterator[tuple[int, int]]
    src: list[int]
    coef: list[float]


def _blocks(tape: Tape) -> Iterator[_Instructions]:
    """Yield the tape in blocks: lists of a long tape would take more memory than its arrays."""
    affine, descend, record = tape.affine, tape.descend, tape.record
    begins = np.zeros(len(Op), dtype=np.int64)
    for low in range(0, len(tape), _INSTRUCTIONS):
        op = tape.op[low : low + _INSTRUCTIONS]
        ends = begins + np.bincount(op, minlength=len(Op))
        part = {kind: slice(int(begins[kind]), int(ends[kind])) for kind in Op}
        start = affine.start[int(begins[Op.AFFINE]) : int(ends[Op.AFFINE]) + 1]
        terms = slice(int(start[0]), int(start[-1]))
        src, coef, how = _heads(affine.dst[part[Op.AFFINE]], start, affine.src[terms], affine.coef[terms])
        ops = np.where(op == Op.DESCEND, _DESCEND, _RECORD)
        ops[op == Op.AFFINE] = how
        first = (start - start[0]).tolist()
        down, shown = part[Op.DESCEND], part[Op.RECORD]
        implicit = tape.implicit[down].tolist() if len(tape.implicit) else repeat(False)
        columns = (descend.dst, descend.src, descend.client, descend.step_size)
        yield _Instructions(
            ops.tolist(),
            zip(affine.dst[part[Op.AFFINE]].tolist(), first[:-1], first[1:], strict=True),
            zip(*(column[down].tolist() for column in columns), implicit, strict=False),
            zip(range(shown.start, shown.stop), record.src[shown].tolist(), strict=True),
            src.tolist(),
            coef.tolist(),
        )
        begins = ends


def _heads(dst: Ints, start: Ints, src: Ints, coef: Floats) -> tuple[Ints, Floats, Ints]:
    """Return the terms of combinations with each register's own old value first, and how each combination begins."""
    row, src, coef = own_first(dst, start, src, coef)
    foreign, width, first = src != dst[row], np.diff(start), start[:-1] - start[0]
    some = np.flatnonzero(width)
    begin = first[some]
    how = np.full(len(dst), _CLEAR)
    how[some] = np.where(coef[begin] != 1.0, _SCALE, np.where(foreign[begin], _COPY, _KEEP))
    return src, coef, how


def draws(tape: Tape, oracle: Oracle) -> Iterator[Any]:
    """Yield the random numbers of each update, one a local step, drawn for a block of updates at a time."""
    for _, drawn in drawn_blocks(tape, oracle):
        yield from drawn


def drawn_blocks(tape: Tape, oracle: Oracle) -> Iterator[tuple[slice, Any]]:
    """Yield blocks of updates with equally many steps, and their random numbers."""
    descend = tape.descend
    stop = 0
    while stop < len(descend.steps):
        row, steps = stop, int(descend.steps[stop])
        room = max(1, _DRAWS // max(1, oracle.draw_size(steps)))
        other = np.flatnonzero(descend.steps[row : row + room] != steps)
        stop = row + int(other[0]) if len(other) else min(row + room, len(descend.steps))
        part = slice(row, stop)
        yield part, oracle.draws(descend.client[part], descend.update[part], steps)


# The executor in machine code, for tapes of many short updates: see :mod:`boundlab.arithmetic.compiled`.
#
# It does what :mod:`boundlab.execute.floats` does, up to the order of sums.

# Called as observe(rows, X, off): record rows[j] is X[j], and off[j] is how far that is off at most, where it is known.
ObserveMany = Callable[[Ints, Array, Floats], None]
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


def run_compiled(tape: Tape, x0: Array, clients: Clients, oracle: Oracle, observe: ObserveMany) -> Array:
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
