"""Rounds of many tapes as Triton kernels: registers are read and written where they lie, and nothing is copied.

All that stands between two batches of gradients works coordinate by coordinate, and so does the gradient of a separable
problem: a program of the kernel takes some coordinates of one tape through many rounds and never waits for another one.

What changes from block to block is no constant of a kernel, so that few are compiled: one for each kind of gradient,
type, and power of two of terms. Products and sums are rounded one by one, whatever Triton's own choice is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, final

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray

from boundlab.arithmetic.compiled import ABSOLUTE, HUBER, PSEUDO_HUBER
from boundlab.arithmetic.tensors import Batched, Coordinatewise, Gathered
from boundlab.execute.device import Observe, local_steps
from boundlab.execute.packing import WIDTH, Program
from boundlab.randomness import Ints

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


# Local steps on a linear model inside the kernel.
#
# A gradient of a linear model mixes all coordinates, so that one program takes a whole tape through its rounds. It
# reads the rows of a mini-batch where the data lie and writes no batch: once for the margins, and once more, out of the
# caches, for the step. What it holds beside the registers is one slope for each sample and class.

_SAMPLES, _FEATURES = 32, 64  # of a tile of the data
_LONGEST = 1 << 16  # dimensions that one program takes through a round; more are spread over the device without it
_MOST = 1 << 20  # numbers of the data that one program reads a step
_CLASSES = 64
_LOSSES = {"logistic": 1, "least-squares": 2, "softmax": 3}


@triton.jit(do_not_specialize=["rounds", "places", "width", "slots", "steps", "batch", "most"])  # type: ignore[untyped-decorator]
def _linear_rounds(  # type: ignore[no-untyped-def]
    registers,
    combine,
    coef,
    rows,
    sizes,
    shown,
    local,
    draws,
    data,
    targets,
    offsets,
    samples,
    factors,
    nu,
    slopes,
    rounds,
    places,
    width,
    slots,
    row,
    steps,
    batch,
    most,
    features,
    stride,
    classes,
    TERMS: tl.constexpr,
    LOSS: tl.constexpr,
    LOCAL: tl.constexpr,
    BLOCK: tl.constexpr,
    SAMPLES: tl.constexpr,
    FEATURES: tl.constexpr,
    CLASSES: tl.constexpr,
):
    """Take one tape through rounds."""
    place = tl.program_id(0)
    own = registers + place.to(tl.int64) * width * row
    mine = slopes + place.to(tl.int64) * most * CLASSES
    s, f, c = tl.arange(0, SAMPLES), tl.arange(0, FEATURES), tl.arange(0, CLASSES)
    for t in range(rounds):
        for begin in range(0, row, BLOCK):
            j = begin + tl.arange(0, BLOCK)
            until_steps(own, combine, coef, rows, shown, t, place, places, slots, row, j, TERMS, BLOCK)
        tl.debug_barrier()
        this = rows + (t * places + place) * 6
        src, dst = tl.load(this + 2).to(tl.int64), tl.load(this + 3).to(tl.int64)
        client, count = tl.load(this + 4).to(tl.int64), tl.load(this + 5)
        offset, many = tl.load(offsets + client), tl.load(samples + client)
        for q in range(count):
            x, to = own + tl.where(q == 0, src, dst) * row, own + dst * row
            factor = tl.load(sizes + t * places + place) * tl.load(factors + client)
            if LOCAL:
                factor = factor * tl.load(local + q)
            drawn = draws + ((t * places + place).to(tl.int64) * steps + q) * batch
            for first in range(0, many, SAMPLES):
                there = first + s < many
                sample = offset + first + s
                if batch > 0:
                    sample = tl.load(drawn + first + s, mask=there, other=0)
                z = tl.zeros((SAMPLES, CLASSES), dtype=registers.dtype.element_ty)
                for begin in range(0, features, FEATURES):
                    A = _tile(data, sample, there, begin + f, stride)
                    B = _model(x, begin + f, c, features, classes)
                    if CLASSES == 1:
                        z += tl.sum(A * tl.trans(B), axis=1)[:, None]
                    else:
                        z = tl.dot(A, B, z, input_precision="ieee", out_dtype=z.dtype)
                y = tl.load(targets + sample, mask=there, other=0.0)[:, None]
                if LOSS == 1:  # logistic
                    z = -y / (1.0 + tl.exp(y * z))
                if LOSS == 2:  # least squares
                    z = z - y
                if LOSS == 3:  # softmax
                    z = tl.where((c < classes)[None, :], z, float("-inf"))
                    z = tl.exp(z - tl.max(z, axis=1)[:, None])
                    z = z / tl.sum(z, axis=1)[:, None] - tl.where(c[None, :] == y, 1.0, 0.0).to(z.dtype)
                z = z * (factor / many.to(z.dtype))
                tl.store(mine + (first + s)[:, None] * CLASSES + c[None, :], z, mask=there[:, None])
            tl.debug_barrier()
            shrink = 1.0 - factor * tl.load(nu)
            for begin in range(0, features, FEATURES):
                change = tl.zeros((FEATURES, CLASSES), dtype=registers.dtype.element_ty)
                for first in range(0, many, SAMPLES):
                    there = first + s < many
                    sample = offset + first + s
                    if batch > 0:
                        sample = tl.load(drawn + first + s, mask=there, other=0)
                    A = _tile(data, sample, there, begin + f, stride)
                    z = tl.load(mine + (first + s)[:, None] * CLASSES + c[None, :], mask=there[:, None], other=0.0)
                    if CLASSES == 1:
                        change += tl.sum(A * z, axis=0)[:, None]
                    else:
                        change = tl.dot(tl.trans(A), z, change, input_precision="ieee", out_dtype=z.dtype)
                at = (begin + f)[:, None] * classes + c[None, :]
                inside = (begin + f < features)[:, None] & (c < classes)[None, :]
                tl.store(to + at, tl.load(x + at, mask=inside, other=0.0) * shrink - change, mask=inside)
            tl.debug_barrier()


@triton.jit
def _tile(data, sample, there, feature, stride):  # type: ignore[no-untyped-def]
    """Return rows of the data, shape (samples, features)."""
    inside = there[:, None] & (feature < stride)[None, :]
    return tl.load(data + sample[:, None] * stride + feature[None, :], mask=inside, other=0.0)


@triton.jit
def _model(x, feature, c, features, classes):  # type: ignore[no-untyped-def]
    """Return a part of the iterate, shape (features, classes)."""
    inside = (feature < features)[:, None] & (c < classes)[None, :]
    return tl.load(x + feature[:, None] * classes + c[None, :], mask=inside, other=0.0)


def in_one_program(problem: Coordinatewise | Gathered | None, d: int) -> TypeGuard[Gathered]:
    """Return whether the kernel is for this problem of dimension d: a linear model that is not too large for it."""
    return (
        isinstance(problem, Gathered)
        and problem.loss in _LOSSES
        and problem.classes <= _CLASSES
        and d <= _LONGEST
        and problem.most * problem.X.shape[1] <= _MOST
    )


def launch_linear(
    registers: torch.Tensor,
    tables: Tables,
    shown: torch.Tensor,
    local: torch.Tensor,
    problem: Gathered,
    draws: torch.Tensor,
    d: int,
) -> None:
    """Run the rounds of a block.

    Parameters
    ----------
    registers, shown, local
        As in :func:`launch`.
    problem
        With rows of X that may be padded.
    draws
        Shape (rounds, places, steps, batch): row numbers.
    d
        The dimension.
    """
    places, width, row = registers.shape
    columns = 1 if problem.classes == 1 else max(16, triton.next_power_of_2(problem.classes))
    slopes = registers.new_empty((places, problem.most, columns))
    _linear_rounds[(places,)](
        registers,
        tables.combine,
        tables.coef,
        tables.rows,
        tables.sizes,
        shown,
        local,
        draws,
        problem.X,
        problem.y,
        problem.offsets,
        problem.samples,
        problem.factors,
        problem.nu,
        slopes,
        len(tables.sizes),
        places,
        width,
        tables.slots,
        row,
        draws.shape[2],
        problem.batch,
        problem.most,
        d // problem.classes,
        problem.X.shape[1],
        problem.classes,
        TERMS=tables.terms,
        LOSS=_LOSSES[problem.loss],
        LOCAL=len(local) > 0,
        BLOCK=BLOCK,
        SAMPLES=_SAMPLES,
        FEATURES=_FEATURES,
        CLASSES=columns,
        num_warps=8,
        num_stages=1,
        maxnreg=255,  # or the assembler spills to make room for more programs at a time
        enable_fp_fusion=True,
    )


# The executor whose registers the kernels move.

_ROUNDS = 512  # of a block
_SHOWN = 1 << 28  # bytes of records that a block may keep, where a single round does not need more
_TABLE = 1 << 26  # numbers of a table, likewise


@final
class Fused:
    """Blocks of rounds, the registers of which a kernel moves.

    Local steps that a kernel can do (:meth:`boundlab.arithmetic.tensors.Batched.in_kernel`) it does, a whole block at a
    time; for any other problem it stops before each batch of them.

    Parameters
    ----------
    registers
        Shape (places, width, row length).
    d
        The dimension.
    most
        Rounds of a block.
    """

    def __init__(
        self,
        program: Program,
        registers: torch.Tensor,
        d: int,
        problem: Batched,
        seed: int,
        trials: torch.Tensor,
        observe: Observe,
    ) -> None:
        self._program, self._registers, self._d, self._problem = program, registers, d, problem
        self._seed, self._trials, self._observe = seed, trials, observe
        self._local = torch.as_tensor(program.local, device=registers.device).to(registers.dtype)
        self._own: Coordinatewise | Gathered | None = None
        own = None if program.descents.implicit.any() else problem.in_kernel()
        if isinstance(own, Coordinatewise):
            self._own = replace(own, w=padded(own.w), c=padded(own.c))
        elif in_one_program(own, d):
            self._own = replace(own, X=padded(own.X))
        self._X = registers.new_empty((len(registers) if self._own is None else 1, d))
        # All tapes may record in the same round, and each may need all slots.
        each = (int(program.combinations.slot.max(initial=0)) + 1) * (2 + WIDTH) * len(registers)
        self.most = max(1, min(_ROUNDS, _SHOWN // registers[:, 0].nbytes, _TABLE // each))

    def run(self, blocks: Sequence[tuple[int, int]]) -> None:
        """Run rounds ``begin`` … ``end`` − 1 of each block."""
        tables = self._tables(blocks[0]) if blocks else None
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            assert tables is not None  # noqa: S101  (there is a block)
            now, shown = tables, self._launch(tables, *block)
            # The device is at work, and the host lays out what comes next: looking at records waits for the device.
            tables = None if following is None else self._tables(following)
            if len(now.owners):
                self._observe(now.owners, now.records, shown[:, : self._d].contiguous())

    def _tables(self, block: tuple[int, int]) -> Tables:
        return Tables.of(self._program, *block, self._registers.device, self._registers.dtype)

    def _launch(self, tables: Tables, begin: int, end: int) -> torch.Tensor:
        """Start the rounds of a block; return where its records are put."""
        registers, own = self._registers, self._own
        shown = registers.new_empty((len(tables.owners), registers.shape[2]))
        if isinstance(own, Coordinatewise):
            launch(registers, tables, 0, end - begin, shown, self._local, own, self._X)
            return shown
        clients, counts = tables.rows[..., 4].long(), self._program.descents.steps[begin:end]
        draws = self._problem.draws(self._seed, self._trials, clients, tables.updates, counts)
        if own is not None:
            launch_linear(registers, tables, shown, self._local, own, draws, self._d)
            return shown
        flat = registers.view(-1, registers.shape[2])[:, : self._d]
        dst = tables.rows[..., 3].long() + torch.arange(len(registers), device=registers.device) * registers.shape[1]
        for now in range(end - begin):
            launch(registers, tables, now, 1, shown, self._local, None, self._X)
            if counts[now].any():
                implicit = bool(self._program.descents.implicit[begin + now].any())
                few = (clients[now], draws[now], tables.sizes[now], self._local, counts[now])
                flat.index_copy_(0, dst[now], local_steps(self._problem, self._X, *few, implicit=implicit))
        return shown
