"""Trials on tensors: tile after tile of them in lock step."""

from collections.abc import Iterator, Sequence
from typing import final

import numpy as np
import torch

from boundlab.arithmetic.tensors import Batched, Device, find_device
from boundlab.errors import SpecError
from boundlab.execute import lockstep
from boundlab.execute.device import Loop
from boundlab.execute.packing import pack
from boundlab.objective import Optimum, Problem
from boundlab.randomness import Ints
from boundlab.simulate.work import Result, Work, at_a_time, bytes_of, fitting
from boundlab.tape import Tape

LEAST, _MOST = 64, 1024  # trials in lock step
_REGISTERS = 1 << 25  # bytes of registers that a cache holds
_TAPES, _INSTRUCTION = 1 << 30, 256  # bytes of the tapes in lock step, and of an instruction, packed beside others
Pair = tuple[torch.Tensor, torch.Tensor]


@final
class CertifiedRows:
    """The quantities of a problem at many points, as intervals: what the certificate of its optimum allows.

    See :class:`boundlab.metrics.Certified`, which says it of one point.
    """

    def __init__(self, problem: Problem, batched: Batched, device: torch.device) -> None:
        self._problem, self._batched = problem, batched
        self._device = device
        self._known: tuple[Optimum, torch.Tensor] | None = None

    @property
    def _optimum(self) -> tuple[Optimum, torch.Tensor]:
        if self._known is None:
            optimum = self._problem.optimum()
            self._known = optimum, torch.as_tensor(optimum.x, device=self._device, dtype=torch.float64)
        return self._known

    def squared_distance(self, X: torch.Tensor) -> Pair:
        """Widen ‖x − x̂‖ by the certified ‖x̂ − x*‖ on both sides.

        Raises
        ------
        SpecError
            If the problem has no unique minimiser with a certified distance.
        """
        optimum, best = self._optimum
        if optimum.distance is None:
            raise SpecError(
                f"problem {self._problem.id} has no unique minimiser with a certified distance; use ergodic-gap"
            )
        away = torch.linalg.vector_norm(X.to(torch.float64) - best, dim=1)
        return (away - optimum.distance).clamp(min=0.0) ** 2, (away + optimum.distance) ** 2

    def gap(self, X: torch.Tensor) -> Pair:
        """Use f(x̂) − gap ≤ f* ≤ f(x̂)."""
        optimum, _ = self._optimum
        above = self._batched.values(X) - optimum.value
        return above.clamp(min=0.0), (above + optimum.gap).clamp(min=0.0)

    def squared_slope(self, X: torch.Tensor) -> Pair:
        """Return ‖∇f‖² twice: it is exact up to rounding."""
        gradient = self._batched.full_gradients(X)
        square = (gradient * gradient).sum(dim=1)
        square = torch.where(torch.isfinite(square), square, torch.inf)
        return square, square


def results(work: Work[Result], problem: Problem, seed: int, trials: Sequence[int], device: str) -> Iterator[Result]:
    """Yield the results of trials in their order.

    Raises
    ------
    SpecError
        If the registers of a single trial do not fit into the memory.
    """
    place = find_device(device)
    dtype = torch.float32 if problem.x0.dtype == np.float32 else torch.float64
    batched = tensors_of(problem, place.device, dtype)
    function = CertifiedRows(problem, batched, place.device)
    tile, done = 0, 0
    while done < len(trials):
        first = fitting(work.tape(trials[done]), problem)
        tile = tile or _that_fit(tile_of(first, problem, batched, len(trials)), first, problem, place)
        some = [trial for trial in trials[done:] if trial // tile == trials[done] // tile]
        tapes = [first, *(fitting(work.tape(trial), problem) for trial in some[1:])]
        yield from _run_tile(work, problem, batched, function, seed, some, tapes, tile, place, dtype)
        done += len(some)


def tensors_of(problem: Problem, device: torch.device, dtype: torch.dtype) -> Batched:
    """Return a problem on tensors, with its own oracles in a loop where it has nothing batched."""
    found = problem.tensors(device, dtype)
    return Loop(problem) if found is None else found


def tile_of(tape: Tape, problem: Problem, batched: Batched, trials: int) -> int:
    """Return how many of the trials run in lock step, by shapes alone: on another machine the same, for others round.

    They are split as evenly as goes into as few tiles as their registers and tapes leave: what a round costs beside its
    arithmetic is shared by 128 at least where tapes are not too long, and by more as far as registers stay in a cache.
    There it costs little to fill a tile up to a multiple of 64, so that fewer trials have the same shapes. Where 64 are
    more than a cache holds, none but a single one is filled up: a library makes single products in another way.
    """
    each = bytes_of(tape, problem) + batched.held * problem.x0.itemsize
    most = min(max(2 * LEAST, _REGISTERS // each), _TAPES // (_INSTRUCTION * max(1, len(tape.op))), _MOST)
    grain = LEAST if LEAST * each <= _REGISTERS else 1
    tiles = -(-trials // max(LEAST, most // grain * grain))
    return max(2, -(-trials // (tiles * grain)) * grain)


def _that_fit(tile: int, tape: Tape, problem: Problem, place: Device) -> int:
    """Return the tile, or the largest half, quarter, … of it that fits into the memory."""
    most = at_a_time(tape, problem, tile, place.free_bytes(), place.name)
    while tile > most:
        tile //= 2
    return tile


def _run_tile(
    work: Work[Result],
    problem: Problem,
    batched: Batched,
    function: CertifiedRows,
    seed: int,
    trials: Sequence[int],
    tapes: Sequence[Tape],
    tile: int,
    place: Device,
    dtype: torch.dtype,
) -> Iterator[Result]:
    shows = [np.empty((len(work.metrics), len(tape.record.src), 2)) for tape in tapes]

    def observe(owners: Ints, rows: Ints, X: torch.Tensor) -> None:
        ends = np.array([torch.stack(metric.at(function, X)).T.cpu().numpy() for metric in work.metrics])
        for at, (owner, row) in enumerate(zip(owners.tolist(), rows.tolist(), strict=True)):
            shows[owner][:, row] = ends[:, at]

    program = pack(tapes, tile)
    lockstep.run(program, problem.x0, batched, seed, trials, observe, place.device, dtype)
    for tape, seen in zip(tapes, shows, strict=True):
        yield work.end(tape, seen)
