"""The executor on tensors: R tapes in lock step, on a CPU or a GPU."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray

from boundlab.arithmetic.tensors import Batched
from boundlab.execute.device import Batches, Combine, Observe, RowByRow, local_steps
from boundlab.execute.packing import Program
from boundlab.randomness import Ints

_DRAWS = 1 << 22  # random numbers held at a time
_WIDE = 2048  # dimensions from which a CPU combines registers one by one: they stay in its caches
_TRITON = (3, 6)  # the oldest that pyproject.toml allows tests
_ROUNDS = 4096  # rounds whose tables are on the device at a time


def run(
    program: Program,
    x0: NDArray[np.floating],
    problem: Batched,
    seed: int,
    trials: Sequence[int],
    observe: Observe,
    device: torch.device,
    dtype: torch.dtype,
    fused: bool | None = None,
) -> torch.Tensor:
    """Execute the tapes of a program.

    Parameters
    ----------
    x0
        Shape (d,), unit (0, 1): what START registers hold.
    problem
        On the same device, with gradients of the same type.
    seed, trials
        Tape j draws the numbers of ``Streams(seed, trials[j])``.
    observe
        Called with what is recorded, in the order of the rounds.
    fused
        Whether a Triton kernel moves the registers; None: on a GPU, where Triton is there.

    Returns
    -------
    Tensor, shape (R, registers + 2, d)
        The final registers; the last two are no tape's own.
    """
    fused = (device.type == "cuda" and has_triton()) if fused is None else fused
    first = torch.as_tensor(np.asarray(x0), device=device).to(dtype)
    if fused:
        from boundlab.execute.kernels import Fused, padded

        first = padded(first)
    registers = torch.zeros((program.places, program.registers + 2, len(first)), device=device, dtype=dtype)
    registers[:, : program.registers][torch.as_tensor(program.start, device=device)] = first
    who = torch.zeros(program.places, dtype=torch.int64, device=device)
    who[: len(trials)] = torch.as_tensor(np.asarray(trials, dtype=np.int64))
    with torch.no_grad():
        if fused:
            rounds = Fused(program, registers, len(x0), problem, seed, who, observe)
            rounds.run(_blocks(program, problem, rounds.most))
            return registers[..., : len(x0)]
        flat = registers.view(-1, len(x0))
        table = _DeviceTable(program, flat)
        for begin, end in _blocks(program, problem, _ROUNDS):
            _rounds(flat, table, table.block(begin, end), problem, seed, who, observe)
    return registers


def has_triton() -> bool:
    """Return whether there is a Triton that can compile the kernels."""
    try:
        import triton
    except ImportError:
        return False
    major, minor, *_ = triton.__version__.split(".")
    return (int(major), int(minor)) >= _TRITON


def _blocks(program: Program, problem: Batched, most_rounds: int) -> list[tuple[int, int]]:
    """Return ranges of rounds whose random numbers are drawn at a time."""
    steps = program.descents.steps.max(axis=1, initial=0)
    cost = np.maximum(1, [problem.draw_size(int(most)) for most in np.unique(steps)])
    each = cost[np.searchsorted(np.unique(steps), steps)] * program.places
    found, begin, held = [], 0, 0
    for now, size in enumerate(each.tolist()):
        if now > begin and (held + size > _DRAWS or now - begin >= most_rounds):
            found.append((begin, now))
            begin, held = now, 0
        held += size
    return [*found, (begin, program.rounds)] if program.rounds else []


@final
@dataclass(frozen=True, slots=True)
class _Round:
    """One round: its combinations, what is shown (flat registers, tapes, rows), and the local steps."""

    combine: Sequence[Combine]
    shown: tuple[torch.Tensor, Ints, Ints] | None
    steps: Ints
    implicit: bool


@final
class _DeviceTable:
    """The program with registers of all tapes in one row of numbers."""

    def __init__(self, program: Program, flat: torch.Tensor) -> None:
        self.program, self.device, self.dtype = program, flat.device, flat.dtype
        self.width = program.registers + 2
        wide = flat.device.type == "cpu" and flat.shape[1] >= _WIDE
        self.combinations: Batches | RowByRow = (RowByRow if wide else Batches)(program.combinations, flat, self.width)

    def block(self, begin: int, end: int) -> tuple[list[_Round], list[torch.Tensor]]:
        """Put rounds on the device: themselves, and src, dst, client, update and size, shape (T, R) each."""
        down, part, base = self.program.descents, slice(begin, end), np.arange(self.program.places) * self.width
        columns = (down.src + base, down.dst + base, down.client, down.update, down.step_size)
        *whole, size = (self._put(column[part]) for column in columns)
        return self._rounds(begin, end), [*whole, size.to(self.dtype)]

    def _put(self, array: NDArray[np.generic]) -> torch.Tensor:
        return torch.as_tensor(np.ascontiguousarray(array), device=self.device)

    def _rounds(self, begin: int, end: int) -> list[_Round]:
        seen, down, combine = self.program.shown, self.program.descents, self.combinations.rounds(begin, end)
        low, high = np.searchsorted(seen.round, [begin, end])
        shown: list[tuple[torch.Tensor, Ints, Ints] | None] = [None] * (end - begin)
        for now in np.unique(seen.round[low:high]).tolist():
            own = slice(*np.searchsorted(seen.round, [now, now + 1]))
            where = self._put(seen.src[own] + seen.tape[own] * self.width)
            shown[now - begin] = where, seen.tape[own], seen.row[own]
        return [
            _Round(combine[now - begin], shown[now - begin], down.steps[now], bool(down.implicit[now].any()))
            for now in range(begin, end)
        ]


def _rounds(
    flat: torch.Tensor,
    table: _DeviceTable,
    block: tuple[list[_Round], list[torch.Tensor]],
    problem: Batched,
    seed: int,
    trials: torch.Tensor,
    observe: Observe,
) -> None:
    rounds, (sources, targets, clients, updates, sizes) = block
    draws = problem.draws(seed, trials, clients, updates, np.array([one.steps for one in rounds]))
    columns = (sources, targets, clients, sizes, draws)
    local = torch.as_tensor(table.program.local, device=flat.device).to(flat.dtype)
    for now, src, dst, client, size, drawn in zip(rounds, *(one.unbind(0) for one in columns), strict=True):
        for combine in now.combine:
            combine()
        if now.shown is not None:
            where, tapes, rows = now.shown
            observe(tapes, rows, flat.index_select(0, where))
        if not now.steps.any():
            continue
        X = flat.index_select(0, src)
        X = local_steps(problem, X, client, drawn, size, local, now.steps, implicit=now.implicit)
        flat.index_copy_(0, dst, X)
