"""The executor on tensors where one kernel moves the registers: see :mod:`boundlab.execute.kernels`."""

from typing import final

import torch

from boundlab.arithmetic.tensors import Batched
from boundlab.execute._local import Observe, local_steps
from boundlab.execute.kernels import Tables, launch
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
    most
        Rounds of a block.
    """

    def __init__(
        self,
        program: Program,
        registers: torch.Tensor,
        problem: Batched,
        seed: int,
        trials: torch.Tensor,
        observe: Observe,
    ) -> None:
        self._program, self._registers, self._problem = program, registers, problem
        self._seed, self._trials, self._observe = seed, trials, observe
        own = None if program.descents.implicit.any() else problem.coordinatewise()
        self._own, device = own, registers.device
        self._local = torch.as_tensor(program.local, device=device).to(registers.dtype)
        places, _, d = registers.shape
        self._X = torch.empty((places if own is None else 1, d), dtype=registers.dtype, device=device)
        # All tapes may record in the same round.
        self.most = max(1, min(_ROUNDS, _SHOWN // max(1, places * d * registers.element_size())))

    def run(self, begin: int, end: int) -> None:
        """Run rounds ``begin`` … ``end`` − 1."""
        registers = self._registers
        tables = Tables.of(self._program, begin, end, registers.device, registers.dtype)
        count, d = len(tables.owners), registers.shape[2]
        shown = torch.empty((max(1, count), d), dtype=registers.dtype, device=registers.device)
        if self._own is not None:
            launch(registers, tables, 0, end - begin, shown, self._local, self._own, self._X)
        else:
            self._steps(tables, begin, end, shown)
        if count:
            self._observe(tables.owners, tables.rows, shown[:count])

    def _steps(self, tables: Tables, begin: int, end: int, shown: torch.Tensor) -> None:
        """Let the kernel and the problem take turns."""
        registers, down, X = self._registers, self._program.descents, self._X
        flat = registers.view(-1, registers.shape[2])
        base = torch.arange(registers.shape[0], device=registers.device) * registers.shape[1]
        _, dst, client, _, size = tables.step
        counts = down.steps[begin:end]
        clients = client.long()
        update = torch.as_tensor(down.update[begin:end], device=registers.device)
        draws = self._problem.draws(self._seed, self._trials, clients, update, counts)
        for now in range(end - begin):
            launch(registers, tables, now, 1, shown, self._local, None, X)
            if counts[now].any():
                implicit = bool(down.implicit[begin + now].any())
                x = local_steps(
                    self._problem, X, clients[now], draws[now], size[now], self._local, counts[now], implicit=implicit
                )
                flat.index_copy_(0, base + dst[now].long(), x)
