"""Rounds of many tapes as one Triton kernel: registers are read and written where they lie, and nothing is copied.

All that stands between two batches of gradients works coordinate by coordinate, and so does the gradient of a separable
problem: a program of the kernel takes some coordinates of one tape through many rounds and never waits for another one.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray

from boundlab.arithmetic.tensors import Coordinatewise
from boundlab.execute.packing import Program

Ints = NDArray[np.int64]
BLOCK = 1024  # coordinates of a program


@triton.jit  # type: ignore[untyped-decorator]
def _rounds(  # type: ignore[no-untyped-def]
    registers,
    combine_dst,
    combine_terms,
    combine_src,
    combine_coef,
    shown_src,
    shown_at,
    shown,
    step_src,
    step_dst,
    step_client,
    step_count,
    step_size,
    local,
    weight,
    centre,
    delta,
    X,
    rounds,
    places,
    width,
    d,
    SLOTS: tl.constexpr,
    TERMS: tl.constexpr,
    KIND: tl.constexpr,
    STEPS: tl.constexpr,
    LOCAL: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take BLOCK coordinates of one tape through rounds; KIND 0 stops before the local steps and leaves x in X."""
    j = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    place = tl.program_id(1)
    inside = j < d
    own = registers + place.to(tl.int64) * width * d + j
    for t in range(rounds):
        row = t * places + place
        for s in tl.static_range(SLOTS):
            at = (t * SLOTS + s) * places + place
            dst = tl.load(combine_dst + at)
            terms = tl.load(combine_terms + at)
            total = tl.zeros((BLOCK,), dtype=registers.dtype.element_ty)
            for q in tl.static_range(TERMS):
                source = tl.load(combine_src + at * TERMS + q).to(tl.int64)
                coef = tl.load(combine_coef + at * TERMS + q)
                total += coef * tl.load(own + source * d, mask=j < tl.where(terms > q, d, 0), other=0.0)
            tl.store(own + dst.to(tl.int64) * d, total, mask=j < tl.where(dst >= 0, d, 0))
            tl.debug_barrier()
        to = tl.load(shown_at + row).to(tl.int64)
        seen = tl.load(shown_src + row).to(tl.int64)
        value = tl.load(own + seen * d, mask=j < tl.where(to >= 0, d, 0), other=0.0)
        tl.store(shown + to * d + j, value, mask=j < tl.where(to >= 0, d, 0))
        source = tl.load(step_src + row).to(tl.int64)
        count = tl.load(step_count + row)
        x = tl.load(own + source * d, mask=j < tl.where(count > 0, d, 0), other=0.0)
        if KIND == 0:
            tl.store(X + place.to(tl.int64) * d + j, x, mask=inside)
        else:
            client = tl.load(step_client + row).to(tl.int64)
            w = tl.load(weight + client * d + j, mask=j < tl.where(count > 0, d, 0), other=0.0)
            c = tl.load(centre + client * d + j, mask=j < tl.where(count > 0, d, 0), other=0.0)
            size = tl.load(step_size + row)
            bend = tl.load(delta)
            for q in range(STEPS):
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
                x = tl.where(count > q, x - share * (w * away), x)
            dst = tl.load(step_dst + row).to(tl.int64)
            tl.store(own + dst * d, x, mask=j < tl.where(count > 0, d, 0))
            tl.debug_barrier()


@final
@dataclass(frozen=True, slots=True)
class Tables:
    """The rounds of a block on the device, one entry a round, slot and place; −1 where a place has nothing to do.

    Parameters
    ----------
    slots, terms
        The largest numbers in this block.
    owners, rows
        Of what is shown, in the order of ``shown_at``.
    """

    slots: int
    terms: int
    combine_dst: torch.Tensor
    combine_terms: torch.Tensor
    combine_src: torch.Tensor
    combine_coef: torch.Tensor
    shown_src: torch.Tensor
    shown_at: torch.Tensor
    owners: Ints
    rows: Ints
    step: tuple[torch.Tensor, ...]

    @classmethod
    def of(cls, program: Program, begin: int, end: int, device: torch.device, dtype: torch.dtype) -> "Tables":
        """Lay out the rounds ``begin`` … ``end`` − 1."""
        of, seen, down, places = program.combinations, program.shown, program.descents, program.places
        low, high = np.searchsorted(of.round, [begin, end])
        part = slice(low, high)
        slots, terms = int(of.slot[part].max(initial=0)) + 1, max(1, int(of.terms[part].max(initial=1)))
        at = (of.round[part] - begin, of.slot[part], of.tape[part])
        count = end - begin
        dst, used = np.full((count, slots, places), -1), np.zeros((count, slots, places), np.int64)
        src, coef = np.zeros((count, slots, places, terms), np.int64), np.zeros((count, slots, places, terms))
        dst[at], used[at], src[at], coef[at] = of.dst[part], of.terms[part], of.src[part, :terms], of.coef[part, :terms]
        low, high = np.searchsorted(seen.round, [begin, end])
        part = slice(low, high)
        shown_src, shown_at = np.zeros((count, places), np.int64), np.full((count, places), -1)
        shown_src[seen.round[part] - begin, seen.tape[part]] = seen.src[part]
        shown_at[seen.round[part] - begin, seen.tape[part]] = np.arange(high - low)

        def put(array: NDArray[Any], kind: torch.dtype = torch.int32) -> torch.Tensor:
            return torch.as_tensor(np.ascontiguousarray(array), device=device).to(kind)

        rows = slice(begin, end)
        step = (
            put(down.src[rows]),
            put(down.dst[rows]),
            put(down.client[rows]),
            put(down.steps[rows]),
            put(down.step_size[rows], dtype),
        )
        return cls(
            slots,
            terms,
            put(dst),
            put(used),
            put(src),
            put(coef, dtype),
            put(shown_src),
            put(shown_at),
            seen.tape[part],
            seen.row[part],
            step,
        )


_KINDS = {"huber": 1, "lad": 2, "pseudo-huber": 3}


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
        Shape (places, width, d), contiguous.
    shown
        Shape (records of the block, d): where they are put.
    X
        Shape (places, d): what the local steps begin with, where they are done elsewhere.
    """
    places, width, d = registers.shape
    part = slice(first, first + count)
    kind, weight, centre, delta, steps = 0, X, X, X, 0
    if problem is not None:
        kind, weight, centre, delta = _KINDS[problem.kind], problem.w, problem.c, problem.delta
        steps = int(tables.step[3][part].max())
    grid = (triton.cdiv(d, BLOCK), places)
    _rounds[grid](
        registers,
        tables.combine_dst[part],
        tables.combine_terms[part],
        tables.combine_src[part],
        tables.combine_coef[part],
        tables.shown_src[part],
        tables.shown_at[part],
        shown,
        *(column[part] for column in tables.step),
        local,
        weight,
        centre,
        delta,
        X,
        count,
        places,
        width,
        d,
        SLOTS=tables.slots,
        TERMS=tables.terms,
        KIND=kind,
        STEPS=steps,
        LOCAL=len(local) > 0,
        BLOCK=BLOCK,
    )
