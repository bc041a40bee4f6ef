"""Rounds of many tapes, local steps on a linear model included, as one Triton kernel.

A gradient of a linear model mixes all coordinates, so that one program takes a whole tape through its rounds. It reads
the rows of a mini-batch where the data lie and writes no batch: once for the margins, and once more, out of the caches,
for the step. What it holds beside the registers is one slope for each sample and class.
"""

from typing import TypeGuard

import torch
import triton
import triton.language as tl

from boundlab.arithmetic.tensors import Coordinatewise, Gathered
from boundlab.execute.kernels import BLOCK, Tables, until_steps

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


def known(problem: Coordinatewise | Gathered | None, d: int) -> TypeGuard[Gathered]:
    """Return whether the kernel is for this problem of dimension d: a linear model that is not too large for it."""
    return (
        isinstance(problem, Gathered)
        and problem.loss in _LOSSES
        and problem.classes <= _CLASSES
        and d <= _LONGEST
        and problem.most * problem.X.shape[1] <= _MOST
    )


def launch(
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
        As in :func:`boundlab.execute.kernels.launch`.
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
