"""Read a tape row by row: the one place that knows how its arrays are laid out.

An arithmetic executes three kinds of rows; it gives the numbers of the tape in its own type, or takes the floats. The
executor of floats alone reads the arrays by itself, for speed, and a test holds it to the same program.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar, final

import numpy as np

from boundlab.randomness import Floats, Ints
from boundlab.tape import Initial, Op, Tape

Number = TypeVar("Number")
Register = TypeVar("Register")


@final
@dataclass(frozen=True, slots=True)
class Combine(Generic[Number]):
    """Register dst ← Σ coefficient·source over the terms; no terms means zero."""

    dst: int
    terms: tuple[tuple[Number, int], ...]


@final
@dataclass(frozen=True, slots=True)
class Update(Generic[Number]):
    """Register dst ← src, then one local step of ``client`` for each of the sizes.

    Parameters
    ----------
    row
        Row of :class:`boundlab.tape.Descend`.
    sizes
        One a local step, unit (−1, 2).
    implicit
        Whether each step is proximal: its (sub)gradient is that at the new point.
    """

    row: int
    dst: int
    src: int
    client: int
    sizes: tuple[Number, ...]
    implicit: bool


@final
@dataclass(frozen=True, slots=True)
class Show:
    """Register src is record ``row``."""

    row: int
    src: int


Row: TypeAlias = Combine[Number] | Update[Number] | Show


@final
@dataclass(frozen=True, slots=True)
class Numbers(Generic[Number]):
    """The numbers of a tape in an arithmetic of one's own.

    Parameters
    ----------
    coefficients
        One a term of Affine.
    step_sizes
        One a row of Descend.
    local
        Relative sizes of the local steps; empty where all are 1.
    """

    coefficients: Sequence[Number]
    step_sizes: Sequence[Number]
    local: Sequence[Number]


def own_numbers(tape: Tape) -> Numbers[float]:
    """Return the numbers of a tape as they are."""
    return Numbers(tape.affine.coef.tolist(), tape.descend.step_size.tolist(), tape.local.tolist())


def rows(tape: Tape, numbers: Numbers[Number]) -> Iterator[Row[Number]]:
    """Yield the rows in program order."""
    affine, descend = tape.affine, tape.descend
    target, start, source = _lists(affine.dst, affine.start, affine.src)
    dst, src, client, steps = _lists(descend.dst, descend.src, descend.client, descend.steps)
    shown = tape.record.src.tolist()
    implicit = tape.implicit.tolist() or [False] * len(dst)
    for op, row in zip(tape.op.tolist(), tape.row.tolist(), strict=True):
        match op:
            case Op.AFFINE:
                span = slice(start[row], start[row + 1])
                yield Combine(target[row], tuple(zip(numbers.coefficients[span], source[span], strict=True)))
            case Op.DESCEND:
                size = numbers.step_sizes[row]
                sizes = tuple(size * part for part in numbers.local) or (size,) * steps[row]
                yield Update(row, dst[row], src[row], client[row], sizes, implicit[row])
            case _:
                yield Show(row, shown[row])


def starts(tape: Tape, start: Register, zero: Register) -> list[Register | None]:
    """Return what each register holds before the first row; None where nothing may read it."""
    holds: dict[int, Register | None] = {Initial.START: start, Initial.ZERO: zero, Initial.UNWRITTEN: None}
    return [holds[value] for value in tape.initial.tolist()]


def _lists(*columns: Ints) -> tuple[list[int], ...]:
    return tuple(column.tolist() for column in columns)


def own_first(dst: Ints, start: Ints, src: Ints, coef: Floats) -> tuple[Ints, Ints, Floats]:
    """Return (row, source, coefficient) of the terms of combinations, each register's own old value first.

    So nothing reads it after it changed. Where it stands more than once it is multiplied by the sum, and by 0
    elsewhere; the other terms keep their order.

    Parameters
    ----------
    dst, start, src, coef
        As in :class:`boundlab.tape.Affine`, or a part of it: terms are counted from ``start[0]`` on.
    """
    row, first = np.repeat(np.arange(len(dst)), np.diff(start)), start[:-1] - start[0]
    order = np.lexsort((src != dst[row], row))  # stable
    src, coef = src[order], coef[order]
    own = np.flatnonzero(src == dst[row])
    again = own[own != first[row[own]]]
    if len(again):
        np.add.at(coef, first[row[again]], coef[again])
        coef[again] = 0.0
    return row, src, coef
