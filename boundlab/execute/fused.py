"""The executor on tensors where kernels move the registers: see :mod:`boundlab.execute.kernels`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import final

import torch

from boundlab.arithmetic.tensors import Batched, Coordinatewise, Gathered
from boundlab.execute import kernels, linear_kernel
from boundlab.execute.device import Observe, local_steps
from boundlab.execute.kernels import Tables, padded
from boundlab.execute.packing import WIDTH, Program

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
        elif linear_kernel.known(own, d):
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
            kernels.launch(registers, tables, 0, end - begin, shown, self._local, own, self._X)
            return shown
        clients, counts = tables.rows[..., 4].long(), self._program.descents.steps[begin:end]
        draws = self._problem.draws(self._seed, self._trials, clients, tables.updates, counts)
        if own is not None:
            linear_kernel.launch(registers, tables, shown, self._local, own, draws, self._d)
            return shown
        flat = registers.view(-1, registers.shape[2])[:, : self._d]
        dst = tables.rows[..., 3].long() + torch.arange(len(registers), device=registers.device) * registers.shape[1]
        for now in range(end - begin):
            kernels.launch(registers, tables, now, 1, shown, self._local, None, self._X)
            if counts[now].any():
                implicit = bool(self._program.descents.implicit[begin + now].any())
                few = (clients[now], draws[now], tables.sizes[now], self._local, counts[now])
                flat.index_copy_(0, dst[now], local_steps(self._problem, self._X, *few, implicit=implicit))
        return shown
