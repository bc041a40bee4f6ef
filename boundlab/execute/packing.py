"""Tapes side by side: R of them packed into rounds that are executed in lock step, whatever algorithms wrote them.

A round of a tape is some linear combinations, then what is recorded, then one row of Descend. All tapes of a program
do their round t at the same time: the combinations slot by slot, the records, and one batch of local steps. A tape
that has nothing to do there sits it out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import TapeError
from boundlab.execute._rows import own_first
from boundlab.randomness import Floats, Ints
from boundlab.tape import Initial, Op, Tape

WIDTH = 8  # terms of a slot; longer combinations take several slots


@final
@dataclass(frozen=True, slots=True)
class Combinations:
    """In slot ``slot[j]`` of round ``round[j]``, tape ``tape[j]`` does dst ← Σ coef·src.

    Sorted by round, then slot, then tape; no register is in two slots of a tape's round out of program order. Terms
    are padded by 0 times the register that is always 0.

    Parameters
    ----------
    round, slot, tape, dst, terms
        Shape (A,); ``terms`` says how many are no padding.
    src, coef
        Shape (A, most terms), :data:`WIDTH` of them at most.
    """

    round: Ints
    slot: Ints
    tape: Ints
    dst: Ints
    terms: Ints
    src: Ints
    coef: Floats


@final
@dataclass(frozen=True, slots=True)
class Descents:
    """The local steps of each round, shape (rounds, places) each; ``steps`` is 0 where a tape has none.

    Then src is the register that is always 0, and dst the one that is never read. ``row`` is the tape's own row.
    """

    dst: Ints
    src: Ints
    client: Ints
    update: Ints
    steps: Ints
    step_size: Floats
    implicit: NDArray[np.bool_]
    row: Ints


@final
@dataclass(frozen=True, slots=True)
class RecordTable:
    """Records made after the combinations of a round: record ``row`` of ``tape`` is register src; shape (M,) each.

    A tape records once a round at most.
    Sorted by round, then tape.
    """

    round: Ints
    tape: Ints
    row: Ints
    src: Ints


@final
@dataclass(frozen=True, slots=True)
class Program:
    """Tapes in lock step.

    Parameters
    ----------
    registers
        How many each tape has. Two more follow them: one that is always 0, and one that is never read.
    start
        Shape (places, registers): whether a register begins at x0; all others begin at 0.
    local
        Relative sizes of the local steps, as in :class:`boundlab.tape.Tape`.
    """

    places: int
    rounds: int
    registers: int
    start: NDArray[np.bool_]
    combinations: Combinations
    descents: Descents
    shown: RecordTable
    local: Floats

    @property
    def zero(self) -> int:
        """The register that is always 0."""
        return self.registers


def pack(tapes: Sequence[Tape], size: int = 0) -> Program:
    """Put tapes side by side.

    Parameters
    ----------
    size
        How many places there are; those that no tape takes do nothing.

    Raises
    ------
    TapeError
        If there is none, or their local steps differ in relative size.
    """
    if not tapes:
        raise TapeError("there is no tape to pack")
    if any(not np.array_equal(tape.local, tapes[0].local) for tape in tapes):
        raise TapeError("tapes that run together need local steps of the same relative sizes")
    places, registers = max(size, len(tapes)), max(tape.registers for tape in tapes)
    rounds = [_rounds(tape) for tape in tapes]
    last = max((int(when[-1]) + 1 for when in rounds if len(when)), default=0)
    start = np.zeros((places, registers), dtype=np.bool_)
    for place, tape in enumerate(tapes):
        start[place, : tape.registers] = tape.initial == Initial.START
    return Program(
        places,
        last,
        registers,
        start,
        _combinations(tapes, rounds, registers),
        _descents(tapes, rounds, (last, places), registers),
        _shown(tapes, rounds),
        tapes[0].local,
    )


def _rounds(tape: Tape) -> Ints:
    """Return the round of each instruction: it ends with a Descend, or after a record that no Descend follows."""
    before, now = tape.op[:-1], tape.op[1:]
    begins = (before == Op.DESCEND) | ((before == Op.RECORD) & (now != Op.DESCEND))
    return np.concatenate([np.zeros(min(1, len(tape.op)), np.int64), np.cumsum(begins)])


def _descents(tapes: Sequence[Tape], rounds: Sequence[Ints], shape: tuple[int, int], registers: int) -> Descents:
    found = Descents(
        np.full(shape, registers + 1),
        np.full(shape, registers),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(shape),
        np.zeros(shape, np.bool_),
        np.zeros(shape, np.int64),
    )
    for place, (tape, when) in enumerate(zip(tapes, rounds, strict=True)):
        at, own = when[tape.op == Op.DESCEND], tape.descend
        for name in ("dst", "src", "client", "update", "steps", "step_size"):
            getattr(found, name)[at, place] = getattr(own, name)
        found.row[at, place] = np.arange(len(at))
        if len(tape.implicit):
            found.implicit[at, place] = tape.implicit
    return found


def _shown(tapes: Sequence[Tape], rounds: Sequence[Ints]) -> RecordTable:
    when = np.concatenate([own[tape.op == Op.RECORD] for tape, own in zip(tapes, rounds, strict=True)])
    owner = np.repeat(np.arange(len(tapes)), [len(tape.record.src) for tape in tapes])
    row = np.concatenate([np.arange(len(tape.record.src)) for tape in tapes])
    order = np.lexsort((row, owner, when))
    src = np.concatenate([tape.record.src for tape in tapes])
    return RecordTable(when[order], owner[order], row[order], src[order])


def _combinations(tapes: Sequence[Tape], rounds: Sequence[Ints], zero: int) -> Combinations:
    """Return all combinations, slot by slot."""
    parts = [_slots(tape, when[tape.op == Op.AFFINE], zero) for tape, when in zip(tapes, rounds, strict=True)]
    owner = np.repeat(np.arange(len(tapes)), [len(part[0]) for part in parts])
    most = max((int(part[3].max(initial=1)) for part in parts), default=1)
    when, slot, dst, terms = (np.concatenate([part[place] for part in parts]) for place in range(4))
    src = np.concatenate([_wide(part[4], most, zero) for part in parts])
    coef = np.concatenate([_wide(part[5], most, 0) for part in parts])
    order = np.lexsort((owner, slot, when))
    return Combinations(when[order], slot[order], owner[order], dst[order], terms[order], src[order], coef[order])


def _wide(columns: NDArray[Any], most: int, filling: int) -> NDArray[Any]:
    """Return so many columns: those that no combination needs are left out, those that are missing are filled."""
    if columns.shape[1] >= most:
        return columns[:, :most]
    return np.pad(columns, ((0, 0), (0, most - columns.shape[1])), constant_values=filling)


def _slots(tape: Tape, when: Ints, zero: int) -> tuple[Ints, Ints, Ints, Ints, Ints, Floats]:
    """Return (round, slot, dst, terms, src, coef) of a tape's combinations, those of one register made one."""
    affine = tape.affine
    alone = not ((when[1:] == when[:-1]) & (affine.dst[1:] == affine.dst[:-1])).any()
    # Room for what may be put together.
    width = min(WIDTH, max(1, int(np.diff(affine.start).max(initial=1)))) if alone else WIDTH
    piece, dst, terms, src, coef = _pieces(affine.dst, affine.start, affine.src, affine.coef, zero, width)
    when, places = when[piece], np.arange(width)
    count = len(dst)
    # A run is what follows one another in a round and writes the same register.
    goes_on = np.zeros(count, dtype=np.bool_)
    goes_on[1:] = (when[1:] == when[:-1]) & (dst[1:] == dst[:-1])
    place = np.arange(count) - np.maximum.accumulate(np.where(goes_on, 0, np.arange(count)))
    head = np.arange(count)
    for step in range(1, int(place.max(initial=0)) + 1):
        rows = np.flatnonzero(place == step)
        into = head[rows - 1]
        own = (src[rows] == dst[rows, None]) & (places < terms[rows, None])
        keeps = np.where(own, coef[rows], 0.0).sum(axis=1)
        rest = terms[rows] - own.sum(axis=1)
        # What the register held is gone where the row does not read it.
        kept = np.where(own.any(axis=1), terms[into], 0)
        fits = kept + rest <= WIDTH
        rows, into, own, keeps, kept, rest = (part[fits] for part in (rows, into, own, keeps, kept, rest))
        used = places < kept[:, None]
        src[into] = np.where(used, src[into], zero)
        coef[into] = np.where(used, coef[into] * keeps[:, None], 0.0)
        at, column = np.nonzero(~own & (places < terms[rows, None]))
        to = kept[at] + (np.cumsum(np.ones(len(at), np.int64)) - 1 - np.searchsorted(at, at))
        src[into[at], to], coef[into[at], to] = src[rows[at], column], coef[rows[at], column]
        terms[into] = kept + rest
        head[rows] = into
    heads = np.flatnonzero(head == np.arange(count))
    when, dst, terms, src, coef = when[heads], dst[heads], terms[heads], src[heads], coef[heads]
    first = np.searchsorted(when, when)
    return when, np.arange(len(heads)) - first, dst, terms, src, coef


def _pieces(
    dst: Ints, start: Ints, src: Ints, coef: Floats, zero: int, width: int
) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Return (row, dst, terms, src, coef) of the rows of Affine, long ones in pieces that add up.

    The first piece of a row has its own register's old value, if any; each other piece begins with the register.
    ``width`` is how many columns the terms get, as many as the longest piece has at least.
    """
    count = len(dst)
    widths = np.diff(start)
    row, src, coef = own_first(dst, start, src, coef)
    place = np.arange(len(src)) - start[row]
    number = np.where(place < WIDTH, 0, 1 + (place - WIDTH) // (WIDTH - 1))
    column = np.where(place < WIDTH, place, 1 + (place - WIDTH) % (WIDTH - 1))
    pieces = 1 + np.maximum(0, -(-(widths - WIDTH) // (WIDTH - 1)))
    begin = np.concatenate([[0], np.cumsum(pieces)])
    of = np.repeat(np.arange(count), pieces)
    later = np.arange(len(of)) > begin[of]
    out_src, out_coef = np.full((len(of), width), zero), np.zeros((len(of), width))
    out_src[later, 0], out_coef[later, 0] = dst[of[later]], 1.0
    at = begin[row] + number
    out_src[at, column], out_coef[at, column] = src, coef
    terms = np.bincount(at, minlength=len(of)) + later
    return of, dst[of], terms.astype(np.int64), out_src, out_coef
