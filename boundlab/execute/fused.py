"""The executor on tensors where one kernel moves the registers: see :mod:`boundlab.execute.kernels`."""

from dataclasses import replace
from typing import final

import torch

from boundlab.arithmetic.tensors import Batched
from boundlab.execute._local import Observe, local_steps
from boundlab.execute.kernels import Tables, launch, padded
from boundlab.execute.packing import Program

_ROUNDS = 512  # of a block
_SHOWN = 1 << 28  # bytes of records that a block may keep, where a single round does not need more


@final
class Fused:
    """Blocks of rounds, the registers of which a kernel moves.

    A problem whose full gradients work coordinate by coordinate is done by the kernel, a whole block at a time; for any
    other one the kernel stops before each batch of local steps.

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
        self._program, self._registers, self._problem = program, registers, problem
        self._seed, self._trials, self._observe = seed, trials, observe
        own = None if program.descents.implicit.any() else problem.coordinatewise()
        self._own = None if own is None else replace(own, w=padded(own.w), c=padded(own.c))
        device, places = registers.device, len(registers)
        self._local = torch.as_tensor(program.local, device=device).to(registers.dtype)
        self._X = torch.empty((places if own is None else 1, d), dtype=registers.dtype, device=device)
        # All tapes may record in the same round.
        self.most = max(1, min(_ROUNDS, _SHOWN // max(1, registers[:, 0].nbytes)))

    def run(self, begin: int, end: int) -> None:
        """Run rounds ``begin`` … ``end`` − 1."""
        registers = self._registers
        tables = Tables.of(self._program, begin, end, registers.device, registers.dtype)
        count = len(tables.owners)
        shown = registers.new_empty((max(1, count), registers.shape[2]))
        if self._own is not None:
            launch(registers, tables, 0, end - begin, shown, self._local, self._own, self._X)
        else:
            self._steps(tables, begin, end, shown)
        if count:
            self._observe(tables.owners, tables.records, shown[:count, : self._X.shape[1]].contiguous())

    def _steps(self, tables: Tables, begin: int, end: int, shown: torch.Tensor) -> None:
        """Let the kernel and the problem take turns."""
        registers, down, X = self._registers, self._program.descents, self._X
        flat = registers.view(-1, registers.shape[2])[:, : X.shape[1]]
        base = torch.arange(registers.shape[0], device=registers.device) * registers.shape[1]
        dst, clients = tables.rows[..., 3].long() + base, tables.rows[..., 4].long()
        counts = down.steps[begin:end]
        update = torch.as_tensor(down.update[begin:end], device=registers.device)
        draws = self._problem.draws(self._seed, self._trials, clients, update, counts)
        for now in range(end - begin):
            launch(registers, tables, now, 1, shown, self._local, None, X)
            if counts[now].any():
                implicit = bool(down.implicit[begin + now].any())
                few = (clients[now], draws[now], tables.sizes[now], self._local, counts[now])
                flat.index_copy_(0, dst[now], local_steps(self._problem, X, *few, implicit=implicit))
