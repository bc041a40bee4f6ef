"""Rounds of many tapes as one Triton kernel: registers are read and written where they lie, and nothing is copied.

All that stands between two batches of gradients works coordinate by coordinate, and so does the gradient of a separable
problem: a program of the kernel takes some coordinates of one tape through many rounds and never waits for another one.

What changes from block to block is no constant of a kernel, so that few are compiled: one for each kind of gradient,
type, and power of two of terms. Products and sums are rounded one by one, whatever Triton's own choice is.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray

from boundlab.arithmetic.compiled import ABSOLUTE, HUBER, PSEUDO_HUBER
from boundlab.arithmetic.tensors import Coordinatewise
from boundlab.execute.packing import Program

Ints = NDArray[np.int64]
BLOCK = 1024  # coordinates of a program
_ALIGNED = 16  # numbers: where rows begin at multiples of it, Triton loads and stores 16 bytes at a time


def row_length(d: int) -> int:
    """Return how many numbers the row of a register of dimension d takes; beyond d they are 0, and stay 0.

    Rows are made longer by an eighth at most.
    """
    length = triton.cdiv(d, _ALIGNED) * _ALIGNED
    return length if 8 * length <= 9 * d else d


def padded(rows: torch.Tensor) -> torch.Tensor:
    """Return rows, shape (…, d), with zeros up to :func:`row_length`."""
    d = rows.shape[-1]
    return torch.nn.functional.pad(rows, (0, row_length(d) - d)).contiguous()


@triton.jit  # type: ignore[untyped-decorator]
def until_steps(  # type: ignore[no-untyped-def]
    own, combine, coef, rows, shown, t, place, places, slots, row, j, TERMS: tl.constexpr, BLOCK: tl.constexpr
):
    """Combine coordinates j of a tape's registers as round t does, slot by slot, and show what it shows."""
    for s in range(slots):
        at = (t * slots + s) * places + place
        dst = tl.load(combine + at * (2 + TERMS)).to(tl.int64)
        terms = tl.load(combine + at * (2 + TERMS) + 1)
        total = tl.zeros((BLOCK,), dtype=own.dtype.element_ty)
        for q in tl.static_range(TERMS):
            source = tl.load(combine + at * (2 + TERMS) + 2 + q).to(tl.int64)
            share = tl.load(coef + at * TERMS + q)
            total += share * tl.load(own + source * row + j, mask=j < tl.where(terms > q, row, 0), other=0.0)
        tl.store(own + dst * row + j, total, mask=j < tl.where(dst >= 0, row, 0))
        tl.debug_barrier()
    this = rows + (t * places + place) * 6
    source, to = tl.load(this).to(tl.int64), tl.load(this + 1).to(tl.int64)
    value = tl.load(own + source * row + j, mask=j < tl.where(to >= 0, row, 0), other=0.0)
    tl.store(shown + to * row + j, value, mask=j < tl.where(to >= 0, row, 0))


@triton.jit(do_not_specialize=["first", "rounds", "places", "width", "slots"])  # type: ignore[untyped-decorator]
def _rounds(  # type: ignore[no-untyped-def]
    registers,
    combine,
    coef,
    rows,
    sizes,
    shown,
    local,
    weight,
    centre,
    delta,
    X,
    first,
    rounds,
    places,
    width,
    slots,
    row,
    d,
    TERMS: tl.constexpr,
    KIND: tl.constexpr,
    LOCAL: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take BLOCK coordinates of one tape through rounds; KIND 0 stops before the local steps and leaves x in X."""
    j = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    place = tl.program_id(1)
    own = registers + place.to(tl.int64) * width * row
    for t in range(first, first + rounds):
        until_steps(own, combine, coef, rows, shown, t, place, places, slots, row, j, TERMS, BLOCK)
        this = rows + (t * places + place) * 6
        source, dst = tl.load(this + 2).to(tl.int64), tl.load(this + 3).to(tl.int64)
        client, count = tl.load(this + 4).to(tl.int64), tl.load(this + 5)
        x = tl.load(own + source * row + j, mask=j < tl.where(count > 0, row, 0), other=0.0)
        if KIND == 0:
            tl.store(X + place.to(tl.int64) * d + j, x, mask=j < d)
        else:
            w = tl.load(weight + client * row + j, mask=j < tl.where(count > 0, row, 0), other=0.0)
            c = tl.load(centre + client * row + j, mask=j < tl.where(count > 0, row, 0), other=0.0)
            size = tl.load(sizes + t * places + place)
            bend = tl.load(delta)
            for q in range(count):
                away = x - c
                if KIND == 1:  # huber
                    away = tl.minimum(tl.maximum(away, -bend), bend)
                if KIND == 2:  # lad
                    away = tl.where(away > 0.0, 1.0, tl.where(away < 0.0, -1.0, 0.0)).to(x.dtype)
                if KIND == 3:  # pseudo-huber
                    away = away / tl.sqrt(1.0 + (away / bend) * (away / bend))
                share = size
                if LOCAL:
                    share = size * tl.load(local + q)
                x = x - share * (w * away)
            tl.store(own + dst * row + j, x, mask=j < tl.where(count > 0, row, 0))
            tl.debug_barrier()


@final
@dataclass(frozen=True, slots=True)
class Tables:
    """The rounds of a block on the device.

    Parameters
    ----------
    slots, terms
        The largest number of slots in this block, and a power of two that no combination has more terms than.
    combine
        Shape (rounds, slots, places, 2 + terms), int32: register, terms and their registers; the register is −1 where a
        place has nothing to do.
    coef
        Shape (rounds, slots, places, terms).
    rows
        Shape (rounds, places, 6), int32: which register is shown, as which of the block's records, −1 for none; from
        which register local steps begin and in which they end, of which client, and how many.
    sizes, updates
        Shape (rounds, places): of the steps, and which of the client's updates each is, int64.
    owners, records
        The tapes and rows of what is shown, in its order.
    """

    slots: int
    terms: int
    combine: torch.Tensor
    coef: torch.Tensor
    rows: torch.Tensor
    sizes: torch.Tensor
    updates: torch.Tensor
    owners: Ints
    records: Ints

    @classmethod
    def of(cls, program: Program, begin: int, end: int, device: torch.device, dtype: torch.dtype) -> "Tables":
        """Lay out the rounds ``begin`` … ``end`` − 1."""

        def put(array: NDArray[Any], kind: torch.dtype = torch.int32) -> torch.Tensor:
            host = torch.as_tensor(np.ascontiguousarray(array)).to(kind)
            # A copy from memory that may be swapped would wait for the kernel that runs.
            return (host.pin_memory() if device.type == "cuda" else host).to(device, non_blocking=True)

        of, seen, down = program.combinations, program.shown, program.descents
        low, high = np.searchsorted(of.round, [begin, end])
        part, shape = slice(low, high), (end - begin, program.places)
        slots = int(of.slot[part].max(initial=0)) + 1
        terms = triton.next_power_of_2(max(1, int(of.terms[part].max(initial=1))))
        many = (shape[0], slots, shape[1])
        # What is there is put where it belongs on the device: most of the table is empty.
        at = put(np.ravel_multi_index((of.round[part] - begin, of.slot[part], of.tape[part]), many), torch.int64)
        used = min(terms, of.src.shape[1])
        combine = torch.full((*many, 2 + terms), -1, dtype=torch.int32, device=device)
        found = put(np.column_stack((of.dst[part], of.terms[part], of.src[part, :used])))
        combine.view(-1, 2 + terms)[:, : 2 + used].index_copy_(0, at, found)
        coef = torch.zeros((*many, terms), dtype=dtype, device=device)
        coef.view(-1, terms)[:, :used].index_copy_(0, at, put(of.coef[part, :used], dtype))
        low, high = np.searchsorted(seen.round, [begin, end])
        part, within = slice(low, high), slice(begin, end)
        rows = np.zeros((*shape, 6), dtype=np.int32)
        rows[..., 1] = -1
        rows[seen.round[part] - begin, seen.tape[part], 0] = seen.src[part]
        rows[seen.round[part] - begin, seen.tape[part], 1] = np.arange(high - low)
        for place, column in enumerate((down.src, down.dst, down.client, down.steps), 2):
            rows[..., place] = column[within]
        sizes, updates = put(down.step_size[within], dtype), put(down.update[within], torch.int64)
        return cls(slots, terms, combine, coef, put(rows), sizes, updates, seen.tape[part], seen.row[part])


_KINDS = {HUBER: 1, ABSOLUTE: 2, PSEUDO_HUBER: 3}


def launch(
    registers: torch.Tensor,
    tables: Tables,
    first: int,
    count: int,
    shown: torch.Tensor,
    local: torch.Tensor,
    problem: Coordinatewise | None,
    X: torch.Tensor,
) -> None:
    """Run ``count`` rounds of a block from ``first`` on; without a problem one, up to its local steps.

    Parameters
    ----------
    registers
        Shape (places, width, row length), contiguous.
    shown
        Shape (records of the block, row length): where they are put.
    problem
        With rows of this length.
    X
        Shape (places, d): what the local steps begin with, where they are done elsewhere.
    """
    places, width, row = registers.shape
    kind, weight, centre, delta = 0, X, X, X
    if problem is not None:
        kind, weight, centre, delta = _KINDS[problem.kind], problem.w, problem.c, problem.delta
    _rounds[triton.cdiv(row, BLOCK), places](
        registers,
        tables.combine,
        tables.coef,
        tables.rows,
        tables.sizes,
        shown,
        local,
        weight,
        centre,
        delta,
        X,
        first,
        count,
        places,
        width,
        tables.slots,
        row,
        X.shape[1],
        TERMS=tables.terms,
        KIND=kind,
        LOCAL=len(local) > 0,
        BLOCK=BLOCK,
        num_stages=1,
        enable_fp_fusion=False,
    )
